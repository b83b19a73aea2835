//! Tests of the commands on whole strings, and the model test of all string commands.

use std::collections::HashMap;

use rand::{Rng, SeedableRng};

use crate::base::Rand;
use crate::cmd::testing::{START_MS, Space};

#[test]
fn set_stores_in_the_encoding_that_fits() {
    let mut space = Space::new();
    space.script(
        "SET a 12 => +OK
         SET b 012 => +OK
         SET c xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx => +OK
         GET a => $2 12
         GET b => $3 012
         GET none => $-1",
    );
    assert_eq!((space.encoding("a"), space.encoding("b"), space.encoding("c")), ("int", "embstr", "raw"));
    assert_eq!(space.events()[..2], ["new a", "set a"]);
    assert_eq!(space.dirty(), 3);
    assert_eq!((space.ks.stats.hits, space.ks.stats.misses), (2, 1));
}

#[test]
fn a_big_value_is_taken_over() {
    let big = "v".repeat(100_000);
    let mut space = Space::new();
    for set in
        [&["SET", "k"][..], &["SETNX", "k"], &["SETEX", "k", "9"], &["PSETEX", "k", "9"], &["GETSET", "k"]]
    {
        space.ks.delete(0, b"k");
        space.run(&[set, &[&big]].concat());
        assert_eq!(space.run(&["GET", "k"]), format!("$100000\r\n{big}\r\n"), "{set:?}");
        assert_eq!(space.encoding("k"), "raw");
    }
    assert_eq!(space.run(&["SET", "k", &big, "XX"]), "+OK\r\n");
    assert_eq!(space.run(&["STRLEN", "k"]), ":100000\r\n");
    assert_eq!(space.run(&["SET", "k", "v", &big]), "-ERR syntax error\r\n");
}

#[test]
fn set_conditions_and_get() {
    let mut space = Space::new();
    space.script(
        "SET a 1 XX => $-1
         SET a 1 NX => +OK
         SET a 2 NX => $-1
         SET a 3 XX GET => $1 1
         SET a 4 NX GET => $1 3
         SET b 5 NX GET => $-1
         SET c 6 XX GET => $-1
         MGET a b c => *3 $1 3 $1 5 $-1
         SET a 7 NX XX => -ERR syntax error
         SET a 7 NX NX GET GET => $1 3
         SETNX a 8 => :0
         SETNX d 8 => :1
         GETSET d 9 => $1 8
         GETSET e 1 => $-1",
    );
    assert_eq!(space.dirty(), 6);
}

#[test]
fn set_expiry_options() {
    let mut space = Space::new();
    for (line, want) in [
        ("SET a 1 EX 10", 10_000),
        ("SET a 1 px 10", 10),
        ("SET a 1 EXAT 1700000005", 5_000),
        ("SET a 1 PXAT 1700000000007", 7),
        ("SET a 1 EX 1 EX 2", 2_000),
        ("SET a 1 KEEPTTL", 2_000),
        ("SETEX a 7 1", 7_000),
        ("PSETEX a 7 1", 7),
    ] {
        assert_eq!(space.line(line), "+OK\r\n", "{line}");
        assert_eq!(space.ttl_ms("a"), Some(want), "{line}");
    }
    assert_eq!(space.events()[..4], ["new a", "set a", "expire a", "set a"]);
    space.script("SET a 2 => +OK");
    assert_eq!(space.ttl_ms("a"), None);
    space.script("SET a 2 EXAT 1 => +OK\nGET a => $-1");
}

#[test]
fn set_refuses_odd_expiries_and_changes_nothing() {
    let mut space = Space::new();
    space.script("SET a 1 => +OK");
    for line in [
        "SET a 1 EX 0",
        "SET a 1 EX -1",
        "SET a 1 EX 9223372036854775807",
        "SET a 1 PX 9223372036854775807",
        "SET a 1 EX 9223372036854775",
        "SET a 1 PXAT 0",
        "SETEX a 0 1",
        "PSETEX a -5 1",
        "GETEX a EX 0",
    ] {
        let name = line.split(' ').next().expect("a name").to_ascii_lowercase();
        assert_eq!(space.line(line), format!("-ERR invalid expire time in '{name}' command\r\n"), "{line}");
    }
    for line in [
        "SET a 1 EX",
        "SET a 1 EX 1 PX 1",
        "SET a 1 EX 1 EXAT 1",
        "SET a 1 EX 1 KEEPTTL",
        "SET a 1 KEEPTTL EX 1",
        "SET a 1 PERSIST",
        "SET a 1 FOO",
        "GETEX a KEEPTTL",
        "GETEX a EX 1 PERSIST",
        "GETEX a NX",
        "GETEX a PX",
    ] {
        assert_eq!(space.line(line), "-ERR syntax error\r\n", "{line}");
    }
    space.script(
        "SET a 1 PX 1x => -ERR value is not an integer or out of range
         SETEX a x 1 => -ERR value is not an integer or out of range
         GETEX none EX 0 => $-1
         MSET a 1 b => -ERR wrong number of arguments for 'mset' command
         MSETNX a 1 b => -ERR wrong number of arguments for 'msetnx' command",
    );
    assert_eq!(space.dirty(), 1);
}

#[test]
fn getex_and_getdel() {
    let mut space = Space::new();
    space.script(
        "MSET a 1 b x => +OK
         GETEX a PERSIST => $1 1
         GETEX a EX 10 => $1 1
         GETEX a => $1 1",
    );
    assert_eq!((space.ttl_ms("a"), space.dirty()), (Some(10_000), 3));
    space.events();
    space.script(
        "GETEX a PERSIST => $1 1
         GETEX a PXAT 1700000000000 => $1 1
         GET a => $-1
         GETDEL b => $1 x
         GETDEL b => $-1",
    );
    assert_eq!(space.events(), ["persist a", "del a", "del b"]);
    assert_eq!(space.dirty(), 6);
}

#[test]
fn msetnx_is_all_or_nothing() {
    let mut space = Space::new();
    space.script(
        "MSETNX a 1 b 2 a 3 => :1
         MSETNX c 1 b 2 => :0
         MGET a b c => *3 $1 3 $1 2 $-1",
    );
    assert_eq!(space.events(), ["new a", "set a", "new b", "set b", "set a"]);
    assert_eq!(space.dirty(), 3);
}

#[test]
fn other_types_are_refused() {
    use crate::db::value::Value;
    use crate::types::zset::ZSet;
    let mut space = Space::new();
    let zset = ZSet::new(space.ks.seed());
    space.ks.set(0, b"z", Value::ZSet(zset), false);
    for line in [
        "GET z",
        "GETDEL z",
        "GETEX z EX 0",
        "GETSET z 1",
        "SET z 1 GET",
        "SET z 1 NX GET",
        "APPEND z 1",
        "STRLEN z",
        "GETRANGE z 0 1",
        "SETRANGE z 0 \"\"",
        "SETRANGE z 536870912 x",
        "INCR z",
        "INCRBYFLOAT z x",
    ] {
        let want = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
        assert_eq!(space.line(line), want, "{line}");
    }
    space.script(
        "MGET z none => *2 $-1 $-1
         LCS z a => -ERR The specified keys must contain string values
         LCS a z FOO => -ERR The specified keys must contain string values
         SET z 1 => +OK",
    );
}

/// Strings and expiries as std containers.
#[derive(Default)]
struct Model {
    keys: HashMap<String, (Vec<u8>, Option<i64>)>,
    now: i64,
}

fn bulk(value: Option<&[u8]>) -> String {
    match value {
        None => "$-1\r\n".into(),
        Some(bytes) => {
            let text: String = bytes.iter().copied().map(char::from).collect();
            format!("${}\r\n{text}\r\n", bytes.len())
        }
    }
}

impl Model {
    fn get(&mut self, key: &str) -> Option<Vec<u8>> {
        let now = self.now;
        self.keys.retain(|_, (_, expire)| expire.is_none_or(|at| at >= now));
        self.keys.get(key).map(|(bytes, _)| bytes.clone())
    }

    fn set(&mut self, key: &str, bytes: &[u8], expire: Option<i64>) {
        self.keys.insert(key.into(), (bytes.to_vec(), expire));
    }

    /// Replaces the bytes and keeps the expiry.
    fn edit(&mut self, key: &str, edit: impl FnOnce(&mut Vec<u8>)) -> String {
        let slot = self.keys.entry(key.into()).or_default();
        edit(&mut slot.0);
        format!(":{}\r\n", slot.0.len())
    }

    /// One command; its reply.
    fn run(&mut self, args: &[&str]) -> String {
        let key = args[1];
        let old = self.get(key);
        let expire = self.keys.get(key).and_then(|(_, expire)| *expire);
        match args[0] {
            "SET" if args.len() == 3 => self.set(key, args[2].as_bytes(), None),
            "SET" if args[3] == "PX" => {
                let ms: i64 = args[4].parse().expect("a number");
                self.set(key, args[2].as_bytes(), Some(self.now + ms));
            }
            "SET" if args[3] == "KEEPTTL" => self.set(key, args[2].as_bytes(), expire),
            "SET" if old.is_some() => return bulk(None),
            "SET" => self.set(key, args[2].as_bytes(), None),
            "GET" => return bulk(old.as_deref()),
            "GETSET" => {
                self.set(key, args[2].as_bytes(), None);
                return bulk(old.as_deref());
            }
            "GETDEL" => {
                self.keys.remove(key);
                return bulk(old.as_deref());
            }
            "GETEX" => {
                if let Some(slot) = self.keys.get_mut(key) {
                    slot.1 = None;
                }
                return bulk(old.as_deref());
            }
            "APPEND" => return self.edit(key, |bytes| bytes.extend_from_slice(args[2].as_bytes())),
            "SETRANGE" if args[3].is_empty() => {
                return format!(":{}\r\n", old.map_or(0, |bytes| bytes.len()));
            }
            "SETRANGE" => {
                let at: usize = args[2].parse().expect("a number");
                return self.edit(key, |bytes| {
                    let end = at + args[3].len();
                    bytes.resize(bytes.len().max(end), 0);
                    bytes[at..end].copy_from_slice(args[3].as_bytes());
                });
            }
            "INCRBY" => return self.incr(key, old, args[2]),
            _ => return format!(":{}\r\n", old.map_or(0, |bytes| bytes.len())),
        }
        "+OK\r\n".into()
    }

    fn incr(&mut self, key: &str, old: Option<Vec<u8>>, delta: &str) -> String {
        let text = old.map_or("0".into(), |bytes| bytes.iter().copied().map(char::from).collect::<String>());
        let number = text.parse::<i64>().ok().filter(|n| n.to_string() == text);
        let Some(number) = number else {
            return "-ERR value is not an integer or out of range\r\n".into();
        };
        let Some(sum) = number.checked_add(delta.parse().expect("a number")) else {
            return "-ERR increment or decrement would overflow\r\n".into();
        };
        self.edit(key, |bytes| *bytes = sum.to_string().into_bytes());
        format!(":{sum}\r\n")
    }
}

fn random_value(rng: &mut Rand) -> String {
    match rng.random_range(0..6) {
        0 => rng.random::<i64>().to_string(),
        1 => rng.random_range(-20..300).to_string(),
        2 => format!("0{}", rng.random_range(0..9)),
        3 => "w".repeat(rng.random_range(0..260)),
        4 => "v".repeat(rng.random_range(40_000..40_003)),
        _ => "u".repeat(rng.random_range(0..12)),
    }
}

fn random_command(rng: &mut Rand) -> Vec<String> {
    let value = random_value(rng);
    let small = rng.random_range(0..300).to_string();
    let tail: Vec<&str> = match rng.random_range(0..15) {
        0 | 1 => vec!["SET", &value],
        2 => vec!["SET", &value, "PX", "30"],
        3 => vec!["SET", &value, "KEEPTTL"],
        4 => vec!["SET", &value, "NX"],
        5 => vec!["GETSET", &value],
        6 => vec!["GETDEL"],
        7 => vec!["GETEX", "PERSIST"],
        8 => vec!["APPEND", &value],
        9 => vec!["SETRANGE", &small, &value],
        10 => vec!["INCRBY", &small],
        11 => vec!["INCRBY", "9223372036854775000"],
        12 => vec!["STRLEN"],
        _ => vec!["GET"],
    };
    let mut command: Vec<String> = tail.into_iter().map(str::to_owned).collect();
    command.insert(1, format!("k{}", rng.random_range(0..8)));
    command
}

#[test]
fn random_commands_agree_with_the_model() {
    for seed in 0..40 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut space = Space::new();
        let mut model = Model { now: START_MS, ..Model::default() };
        for step in 0..600 {
            let ms = rng.random_range(0..4);
            space.advance_ms(ms);
            model.now += ms;
            let command = random_command(&mut rng);
            let args: Vec<&str> = command.iter().map(String::as_str).collect();
            let (got, want) = (space.run(&args), model.run(&args));
            assert!(got == want, "seed {seed} step {step}: {args:.60?}\n{got:.200}\n{want:.200}");
            let expire = model.keys.get(args[1]).and_then(|(_, expire)| *expire).map(|at| at - model.now);
            assert_eq!(space.ttl_ms(args[1]), expire, "seed {seed} step {step}: {args:.60?}");
        }
    }
}
