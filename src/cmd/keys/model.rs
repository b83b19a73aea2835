//! Test: random commands of this family on a few keys in a few databases against maps that expire by looking.
//! Compiled for tests only.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};

use crate::base::Rand;
use crate::cmd::testing::Space;

const DATABASES: usize = 3;

/// Value and expiry of each key.
type Map = BTreeMap<String, (String, Option<i64>)>;

struct Model {
    dbs: Vec<Map>,
    db: usize,
    now: i64,
}

impl Model {
    fn here(&mut self) -> &mut Map {
        &mut self.dbs[self.db]
    }

    /// Moves or copies over whatever is there; the reply.
    fn put(&mut self, from: &str, (db, to): (usize, &str), keep: bool) {
        let entry = self.here()[from].clone();
        if !keep {
            self.here().remove(from);
        }
        self.dbs[db].insert(to.to_owned(), entry);
    }

    fn expire(&mut self, key: &str, at: i64) -> &'static str {
        let now = self.now;
        let Some(entry) = self.here().get_mut(key) else { return ":0" };
        entry.1 = Some(at);
        if at <= now {
            self.here().remove(key);
        }
        ":1"
    }

    fn advance(&mut self, ms: i64) {
        self.now += ms;
        let now = self.now;
        for db in &mut self.dbs {
            db.retain(|_, (_, at)| at.is_none_or(|at| at >= now));
        }
    }
}

/// A random command and what it must answer.
fn step(rng: &mut Rand, model: &mut Model, space: &mut Space) -> (String, String) {
    let [a, b] = [(); 2].map(|()| ["", "k", "key:2", "a:somewhat:longer:key:3"][rng.random_range(0..4)]);
    let (a, b) = (format!("x{a}"), format!("x{b}"));
    let other = rng.random_range(0..DATABASES);
    let has = |model: &mut Model, key: &str| model.here().contains_key(key);
    let (line, want): (String, &str) = match rng.random_range(0..12) {
        0 | 1 => {
            let value = "v".repeat(rng.random_range(1..300));
            model.here().insert(a.clone(), (value.clone(), None));
            (format!("SET {a} {value}"), "+OK")
        }
        2 | 3 => {
            let ms = rng.random_range(-5..50);
            let at = model.now + ms;
            (format!("PEXPIRE {a} {ms}"), model.expire(&a, at))
        }
        4 => {
            let had = model.here().get_mut(&a).and_then(|entry| entry.1.take()).is_some();
            (format!("PERSIST {a}"), if had { ":1" } else { ":0" })
        }
        5 | 6 => {
            let line = format!("RENAME {a} {b}");
            if !has(model, &a) {
                (line, "-ERR no such key")
            } else {
                let db = model.db;
                model.put(&a, (db, &b), false);
                (line, "+OK")
            }
        }
        7 | 8 if (model.db, &a) != (other, &b) => {
            let replace = rng.random_bool(0.5);
            let line = format!("COPY {a} {b} DB {other}{}", if replace { " REPLACE" } else { "" });
            let copies = has(model, &a) && (replace || !model.dbs[other].contains_key(&b));
            if copies {
                model.put(&a, (other, &b), true);
            }
            (line, if copies { ":1" } else { ":0" })
        }
        9 if model.db != other => {
            let moves = has(model, &a) && !model.dbs[other].contains_key(&a);
            if moves {
                model.put(&a, (other, &a), false);
            }
            (format!("MOVE {a} {other}"), if moves { ":1" } else { ":0" })
        }
        10 => {
            let db = model.db;
            model.dbs.swap(db, other);
            (format!("SWAPDB {db} {other}"), "+OK")
        }
        _ if rng.random_bool(0.03) => {
            model.here().clear();
            ("FLUSHDB".to_owned(), "+OK")
        }
        _ => {
            let ms = rng.random_range(0..20);
            model.advance(ms);
            space.advance_ms(ms);
            model.db = other;
            (format!("SELECT {other}"), "+OK")
        }
    };
    (line, format!("{want}\r\n"))
}

#[test]
fn random_commands_agree_with_maps() {
    for seed in 0..150 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut space = Space::new();
        let mut model = Model { dbs: vec![Map::new(); DATABASES], db: 0, now: space.ks.now_ms };
        for round in 0..200 {
            let (line, want) = step(&mut rng, &mut model, &mut space);
            assert_eq!(space.line(&line), want, "seed {seed} round {round}: {line}");
        }
        for (db, map) in model.dbs.iter().enumerate() {
            space.line(&format!("SELECT {db}"));
            for (key, (value, at)) in map {
                let got = space.line(&format!("GET {key}"));
                assert_eq!(got, format!("${}\r\n{value}\r\n", value.len()), "seed {seed}: {db} {key}");
                let at = at.unwrap_or(-1);
                assert_eq!(
                    space.line(&format!("PEXPIRETIME {key}")),
                    format!(":{at}\r\n"),
                    "seed {seed}: {key}"
                );
            }
            // A walk removes what has expired unseen.
            space.line("SCAN 0 COUNT 1000");
            let with_expiry = map.values().filter(|(_, at)| at.is_some()).count();
            let space = space.ks.db(db);
            assert_eq!((space.len(), space.expires_len()), (map.len(), with_expiry), "seed {seed}: {db}");
        }
    }
}

#[test]
fn an_expiry_before_an_error_is_no_change() {
    let mut space = Space::new();
    space.line("SET a 1 PX 10");
    space.advance_ms(11);
    let dirty = space.dirty();
    space.script("RENAME a b => -ERR no such key");
    assert_eq!(space.dirty(), dirty);
}
