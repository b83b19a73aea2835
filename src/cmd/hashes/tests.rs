//! Unit tests of the hash commands.

use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, SeedableRng};

use crate::base::Rand;
use crate::cmd::testing::{START_MS, Space};
use crate::db::field_expiry;

/// The bulk strings in a reply, in order.
fn bulks(reply: &str) -> Vec<String> {
    let lines: Vec<&str> = reply.split("\r\n").collect();
    lines.windows(2).filter(|pair| pair[0].starts_with('$')).map(|pair| pair[1].to_owned()).collect()
}

/// Runs the test with hashes in their compact encodings, and in tables.
fn in_both_encodings(test: impl Fn(&mut Space)) {
    for entries in [128, 0] {
        let mut space = Space::new();
        space.config.hash_max_listpack_entries = entries;
        test(&mut space);
    }
}

#[test]
fn fields_come_and_go() {
    in_both_encodings(|space| {
        space.script(
            "HSET h a 1 b two => :2
             HSET h a 3 c 4 c 5 => :1
             HGET h a => $1 3
             HGET h x => $-1
             HMGET h a x c => *3 $1 3 $-1 $1 5
             HMSET h b 2 => +OK
             HLEN h => :3
             HEXISTS h b => :1
             HEXISTS h x => :0
             HSTRLEN h b => :1
             HSTRLEN h x => :0
             HSETNX h a 9 => :0
             HSETNX h d 9 => :1
             HDEL h a x => :1
             HDEL h b c d => :3
             EXISTS h => :0
             HDEL h a => :0
             HGET h a => $-1
             HMGET h a b => *2 $-1 $-1
             HGETALL h => *0
             HKEYS h => *0
             HVALS h => *0
             HLEN h => :0
             HSETNX h a 9 => :1
             HGETALL h => *2 $1 a $1 9
             HKEYS h => *1 $1 a
             HVALS h => *1 $1 9",
        );
        let want =
            ["new h", "hset h", "hset h", "hset h", "hset h", "hdel h", "hdel h", "del h", "new h", "hset h"];
        assert_eq!(space.events(), want);
        assert_eq!(space.dirty(), 2 + 3 + 1 + 1 + 1 + 3 + 1);
    });
}

#[test]
fn numbers_count_in_fields() {
    in_both_encodings(|space| {
        space.script(
            "HINCRBY h n 5 => :5
             HINCRBY h n -7 => :-2
             HSET h s x big 9223372036854775807 => :2
             HINCRBY h s 1 => -ERR hash value is not an integer
             HINCRBY h big 1 => -ERR increment or decrement would overflow
             HINCRBY h n x => -ERR value is not an integer or out of range
             HINCRBYFLOAT h n 1.5 => $4 -0.5
             HINCRBYFLOAT h f 3.0e3 => $4 3000
             HINCRBYFLOAT h s 1 => -ERR hash value is not a float
             HINCRBYFLOAT h n x => -ERR value is not a valid float
             HINCRBYFLOAT h n inf => -ERR value is NaN or Infinity
             HINCRBY h n 1 => -ERR hash value is not an integer
             HINCRBYFLOAT new f 0.10 => $3 0.1
             HINCRBY new2 n 3 => :3",
        );
        assert_eq!(space.events()[..3], ["new h", "hincrby h", "hincrby h"]);
    });
}

#[test]
fn wrong_types_and_arguments_change_nothing() {
    let mut space = Space::new();
    space.line("SET str x");
    space.line("HSET h a 1");
    let (dirty, wrong) =
        (space.dirty(), "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    for call in [
        "HSET str a 1",
        "HMSET str a 1",
        "HSETNX str a 1",
        "HGET str a",
        "HMGET str a",
        "HGETALL str",
        "HKEYS str",
        "HVALS str",
        "HLEN str",
        "HSTRLEN str a",
        "HEXISTS str a",
        "HDEL str a",
        "HINCRBY str a 1",
        "HINCRBYFLOAT str a 1",
        "HRANDFIELD str",
        "HRANDFIELD str 1",
        "HSCAN str 0",
        "HEXPIRE str x y z u",
        "HPERSIST str x 1 a",
        "HTTL str x 1 a",
        "HGETDEL str x 1 a",
        "HGETEX str x 1 a",
        "HSETEX str FIELDS 1 a 1",
    ] {
        assert_eq!(space.line(call), wrong, "{call}");
    }
    space.script(
        "HSET h a => -ERR wrong number of arguments for 'hset' command
         HSET h a 1 b => -ERR wrong number of arguments for 'hset' command
         HMSET h a 1 b => -ERR wrong number of arguments for 'hmset' command
         HRANDFIELD h x => -ERR value is not an integer or out of range
         HRANDFIELD h -9223372036854775808 => -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
         HRANDFIELD h 1 x => -ERR syntax error
         HRANDFIELD h 1 WITHVALUES x => -ERR syntax error
         HRANDFIELD h 4611686018427387904 WITHVALUES => -ERR value is out of range
         HSCAN h x => -ERR invalid cursor
         HSCAN h 0 COUNT 0 => -ERR syntax error
         HEXPIRE h x FIELDS 1 a => -ERR value is not an integer or out of range
         HEXPIRE h -1 FIELDS 1 a => -ERR invalid expire time, must be >= 0
         HEXPIRE h 281474976710 FIELDS 1 a => -ERR invalid expire time in 'hexpire' command
         HPEXPIRE h 70368744177664 FIELDS 1 a => -ERR invalid expire time in 'hpexpire' command
         HPEXPIREAT h 70368744177664 FIELDS 1 a => -ERR invalid expire time in 'hpexpireat' command
         HEXPIRE h 1 QQ FIELDS 1 a => -ERR Mandatory argument FIELDS is missing or not at the right position
         HEXPIRE h 1 NX 1 a b => -ERR Mandatory argument FIELDS is missing or not at the right position
         HEXPIRE h 1 FIELDS 0 a => -ERR Parameter `numFields` should be greater than 0
         HEXPIRE h 1 NX FIELDS 2 a => -ERR The `numfields` parameter must match the number of arguments
         HTTL h FIELDS 0 a => -ERR Number of fields must be a positive integer
         HTTL h FIELDS 2 a => -ERR The `numfields` parameter must match the number of arguments
         HPERSIST h FIELD 1 a => -ERR Mandatory argument FIELDS is missing or not at the right position
         HGETDEL h FIELDS x a => -ERR Number of fields must be a positive integer
         HGETEX h PX -1 FIELDS 1 a => -ERR invalid expire time, must be >= 0
         HGETEX h EX 5 FIELDS => -ERR The `numfields` parameter must match the number of arguments
         HGETEX h PERSIST 1 FIELDS 1 a => -ERR Mandatory argument FIELDS is missing or not at the right position
         HSETEX h FIELDS 2 a b c => -ERR wrong number of arguments for 'hsetex' command
         HSETEX h FIELDS 0 a b => -ERR invalid number of fields
         HSETEX h NX FIELDS 1 a b => -ERR unknown argument: NX
         HSETEX h FXX FNX FIELDS 1 a b => -ERR Only one of FXX or FNX arguments can be specified
         HSETEX h KEEPTTL PX 1 FIELDS 1 a b => -ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
         HSETEX h PX 1 EX FIELDS 1 a b => -ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
         HSETEX h EX FIELDS 1 a b => -ERR value is not an integer or out of range",
    );
    assert_eq!(space.dirty(), dirty);
}

#[test]
fn resp3_has_maps_and_pairs() {
    let mut space = Space::new();
    space.resp3(true);
    space.script(
        "HSET h a 1 => :1
         HGETALL h => %1 $1 a $1 1
         HGETALL n => %0
         HGET n a => _
         HKEYS h => *1 $1 a
         HRANDFIELD h 5 WITHVALUES => *1 *2 $1 a $1 1
         HRANDFIELD h -2 WITHVALUES => *2 *2 $1 a $1 1 *2 $1 a $1 1
         HRANDFIELD n => _
         HRANDFIELD n 1 WITHVALUES => *0
         HSCAN h 0 => *2 $1 0 *2 $1 a $1 1
         HSCAN h 0 NOVALUES => *2 $1 0 *1 $1 a
         HGETDEL h FIELDS 2 a b => *2 $1 1 _",
    );
}

#[test]
fn random_fields_have_their_values() {
    in_both_encodings(|space| {
        space.line("HSET h a 1 b 2 c 3");
        let picked: BTreeSet<String> = (0..100).flat_map(|_| bulks(&space.line("HRANDFIELD h"))).collect();
        assert_eq!(picked.len(), 3);
        for (call, len) in [
            ("HRANDFIELD h 2 WITHVALUES", 2),
            ("HRANDFIELD h 9 WITHVALUES", 3),
            ("HRANDFIELD h -9 WITHVALUES", 9),
        ] {
            let got = bulks(&space.line(call));
            assert_eq!(got.len(), len * 2, "{call}");
            for pair in got.chunks(2) {
                assert_eq!(pair[0].as_bytes()[0] - b'a', pair[1].as_bytes()[0] - b'1', "{call}: {got:?}");
            }
        }
        assert_eq!(bulks(&space.line("HRANDFIELD h 3")).into_iter().collect::<BTreeSet<_>>(), picked);
        space.script("HRANDFIELD h 0 => *0");
    });
}

#[test]
fn a_walk_sees_every_field() {
    let mut space = Space::new();
    for i in 0..1_000 {
        space.run(&["HSET", "h", &format!("f{i}"), &format!("v{i}")]);
    }
    let (mut cursor, mut seen, mut calls) = ("0".to_owned(), BTreeMap::new(), 0);
    loop {
        let mut got = bulks(&space.run(&["HSCAN", "h", &cursor, "COUNT", "20"])).into_iter();
        cursor = got.next().expect("a cursor");
        seen.extend(got.collect::<Vec<_>>().chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())));
        calls += 1;
        if cursor == "0" {
            break;
        }
    }
    assert!(calls > 20 && seen.len() == 1_000, "{} in {calls} calls", seen.len());
    assert!(seen.iter().all(|(field, value)| field[1..] == value[1..]));
    let names = bulks(&space.line("HSCAN h 0 MATCH f1? COUNT 5000 NOVALUES"));
    assert_eq!(names.len(), 11);
}

#[test]
fn expiries_are_set_told_and_removed() {
    in_both_encodings(|space| {
        space.script(
            "HSET h a 1 b 2 c 3 => :3
             HEXPIRE h 10 FIELDS 2 a x => *2 :1 :-2
             HPEXPIRE h 1500 NX FIELDS 2 a b => *2 :0 :1
             HTTL h FIELDS 4 a b c x => *4 :10 :2 :-1 :-2
             HPTTL h FIELDS 2 a b => *2 :10000 :1500
             HEXPIRETIME h FIELDS 2 a b => *2 :1700000010 :1700000002
             HPEXPIRETIME h FIELDS 2 a b => *2 :1700000010000 :1700000001500
             HPEXPIRE h 5000 GT FIELDS 3 a b c => *3 :0 :1 :0
             HPEXPIRE h 6000 LT FIELDS 3 a b c => *3 :1 :0 :1
             HPEXPIRE h 7000 XX FIELDS 2 c x => *2 :1 :-2
             HPTTL h FIELDS 3 a b c => *3 :6000 :5000 :7000
             HPERSIST h FIELDS 3 a c x => *3 :1 :1 :-2
             HPERSIST h FIELDS 1 a => *1 :-1
             HEXPIREAT h 1700000000 FIELDS 1 c => *1 :2
             HPEXPIREAT h 1700000000001 FIELDS 1 a => *1 :1
             HGETALL h => *4 $1 a $1 1 $1 b $1 2
             HEXPIRE none 1 FIELDS 2 a b => *2 :-2 :-2
             HTTL none FIELDS 1 a => *1 :-2
             HPERSIST none FIELDS 1 a => *1 :-2
             HINCRBY h b 5 => :7
             HPTTL h FIELDS 1 b => *1 :5000
             HSET h b 1 => :0
             HPTTL h FIELDS 1 b => *1 :-1
             HEXPIRE h 0 FIELDS 2 a b => *2 :2 :2
             EXISTS h => :0",
        );
        let events = space.events();
        assert_eq!(events[2..7], ["hexpire h"; 5]);
        assert_eq!(
            events[7..],
            ["hpersist h", "hdel h", "hexpire h", "hincrby h", "hset h", "hdel h", "del h"]
        );
        assert_eq!(space.ks.db(0).field_expiries_len(), 0);
    });
}

#[test]
fn a_due_field_is_gone_for_those_who_ask() {
    in_both_encodings(|space| {
        space.script(
            "HSET h a 1 b 2 c 3 d 4 e 5 f 6 => :6
             HPEXPIRE h 10 FIELDS 5 a b c d e => *5 :1 :1 :1 :1 :1",
        );
        space.advance_ms(10);
        space.script("HGET h a => $1 1");
        space.advance_ms(1);
        space.events();
        space.script(
            "HLEN h => :6
             HGETALL h => *2 $1 f $1 6
             HKEYS h => *1 $1 f
             HVALS h => *1 $1 6
             HSCAN h 0 => *2 $1 0 *2 $1 f $1 6
             HTTL h FIELDS 1 a => *1 :-2
             HLEN h => :6",
        );
        assert_eq!(space.events(), [""; 0]);
        space.script(
            "HGET h a => $-1
             HLEN h => :5
             HEXISTS h b => :0
             HINCRBY h c 7 => :7
             HPTTL h FIELDS 1 c => *1 :-1
             HSETNX h d x => :1
             HDEL h e => :1
             HLEN h => :3",
        );
        let want = ["hexpired h", "hexpired h", "hexpired h", "hincrby h", "hexpired h", "hset h", "hdel h"];
        assert_eq!((space.events(), space.ks.stats.expired_fields), (want.map(str::to_owned).to_vec(), 4));
    });
}

#[test]
fn a_hash_goes_with_its_last_field() {
    in_both_encodings(|space| {
        for call in [
            "HGET h a",
            "HMGET h a b",
            "HRANDFIELD h",
            "HSTRLEN h a",
            "HGETEX h FIELDS 1 a",
            "HSETEX h FXX FIELDS 1 a 1",
        ] {
            space.script("HSET h a 1 => :1\nHPEXPIRE h 1 FIELDS 1 a => *1 :1");
            space.advance_ms(2);
            space.script("EXISTS h => :1");
            space.events();
            space.line(call);
            assert_eq!(space.events(), ["hexpired h", "del h"], "{call}");
            space.script("EXISTS h => :0");
        }
    });
}

#[test]
fn reading_and_expiring_in_one() {
    in_both_encodings(|space| {
        space.script(
            "HSET h a 1 b 2 => :2
             HGETEX h FIELDS 2 a x => *2 $1 1 $-1
             HGETEX h EX 10 FIELDS 2 a x => *2 $1 1 $-1
             HPTTL h FIELDS 2 a b => *2 :10000 :-1
             HGETEX h PERSIST FIELDS 2 a b => *2 $1 1 $1 2
             HPTTL h FIELDS 1 a => *1 :-1
             HGETEX h PXAT 1 FIELDS 1 a => *1 $1 1
             HGETEX none EX 1 FIELDS 1 a => *1 $-1
             HGETDEL h FIELDS 3 b b a => *3 $1 2 $-1 $-1
             HGETDEL h FIELDS 1 b => *1 $-1",
        );
        assert_eq!(space.events()[2..], ["hexpire h", "hpersist h", "hdel h", "hdel h", "del h"]);
        assert_eq!(space.dirty(), 2 + 1 + 1 + 1 + 1);
    });
}

#[test]
fn setting_and_expiring_in_one() {
    in_both_encodings(|space| {
        space.script(
            "HSETEX h FXX FIELDS 1 a 1 => :0
             HSETEX h FNX PX 500 FIELDS 2 a 1 b 2 => :1
             HSETEX h FNX FIELDS 2 b 9 c 9 => :0
             HSETEX h FXX FIELDS 2 b 9 c 9 => :0
             HPTTL h FIELDS 3 a b c => *3 :500 :500 :-2
             HSETEX h KEEPTTL FIELDS 2 a 3 c 4 => :1
             HPTTL h FIELDS 2 a c => *2 :500 :-1
             HSETEX h FIELDS 1 a 5 => :1
             HPTTL h FIELDS 1 a => *1 :-1
             HGET h a => $1 5
             HSETEX h EXAT 1 FIELDS 2 a 1 d 2 => :1
             HMGET h a b c d => *4 $-1 $1 2 $1 4 $-1
             HSETEX n EXAT 1 FIELDS 1 a 1 => :1
             EXISTS n => :0",
        );
        let want = [
            "new h",
            "hset h",
            "hexpire h",
            "hset h",
            "hset h",
            "hset h",
            "hdel h",
            "new n",
            "hset n",
            "hdel n",
            "del n",
        ];
        assert_eq!(space.events(), want);
        assert_eq!(space.ks.db(0).field_expiries_len(), 1);
    });
}

/// What a field holds and when it expires.
type Fields = BTreeMap<String, (String, Option<i64>)>;

/// A random call, what it does to the model, and the reply to expect, if that can be known.
fn random_call(rng: &mut Rand, now: i64, model: &mut BTreeMap<String, Fields>) -> (String, Option<String>) {
    let key = format!("h{}", rng.random_range(0..3));
    let field = format!("f{}", rng.random_range(0..6));
    let value = if rng.random_bool(0.1) { "long".repeat(30) } else { rng.random_range(0..100).to_string() };
    let fields = model.entry(key.clone()).or_default();
    fields.retain(|_, (_, at)| at.is_none_or(|at| at >= now));
    let at = now + [-5, 0, 3, 20, 200][rng.random_range(0..5)];
    let old = fields.get(&field).cloned();
    let bulk = |value: Option<&(String, _)>| {
        value.map_or("$-1".into(), |(value, _)| format!("${} {value}", value.len()))
    };
    match rng.random_range(0..9) {
        0 => {
            fields.insert(field.clone(), (value.clone(), None));
            (format!("HSET {key} {field} {value}"), None)
        }
        1 => {
            fields.remove(&field);
            (format!("HDEL {key} {field}"), None)
        }
        2 | 3 => {
            if at <= now {
                fields.remove(&field);
            } else if let Some((_, expiry)) = fields.get_mut(&field) {
                *expiry = Some(at);
            }
            let answer = if old.is_none() { -2 } else { 1 + i64::from(at <= now) };
            (format!("HPEXPIREAT {key} {at} FIELDS 1 {field}"), Some(format!("*1 :{answer}")))
        }
        4 => {
            if let Some((_, expiry)) = fields.get_mut(&field) {
                *expiry = None;
            }
            let answer = old.map_or(-2, |(_, at)| if at.is_some() { 1 } else { -1 });
            (format!("HPERSIST {key} FIELDS 1 {field}"), Some(format!("*1 :{answer}")))
        }
        5 => (format!("HGET {key} {field}"), Some(bulk(old.as_ref()))),
        6 => {
            if at > now {
                fields.insert(field.clone(), (value.clone(), Some(at)));
            } else {
                fields.remove(&field);
            }
            (format!("HSETEX {key} PXAT {at} FIELDS 1 {field} {value}"), Some(":1".into()))
        }
        7 => {
            fields.remove(&field);
            (format!("HGETDEL {key} FIELDS 1 {field}"), Some(format!("*1 {}", bulk(old.as_ref()))))
        }
        _ => {
            let answer = old.map_or(-2, |(_, at)| at.unwrap_or(-1));
            (format!("HPEXPIRETIME {key} FIELDS 1 {field}"), Some(format!("*1 :{answer}")))
        }
    }
}

/// Random commands and passing time against a plain map, with hashes that change their encoding on the way.
#[test]
fn expiry_agrees_with_a_model() {
    for seed in 0..150 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut space = Space::new();
        space.config.hash_max_listpack_entries = [128, 3, 0][seed as usize % 3];
        let (mut now, mut model) = (START_MS, BTreeMap::new());
        for round in 0..200 {
            if rng.random_bool(0.1) {
                let ms = rng.random_range(0..30);
                space.advance_ms(ms);
                now += ms;
                if rng.random_bool(0.5) {
                    field_expiry::cycle(&mut space.ks, 0, || false);
                }
            }
            let (call, want) = random_call(&mut rng, now, &mut model);
            let context = format!("seed {seed}, round {round}: {call}");
            let got = space.line(&call);
            if let Some(want) = want {
                assert_eq!(got.trim_end().replace("\r\n", " "), want, "{context}");
            }
            for (key, fields) in &model {
                let live = fields.iter().filter(|(_, (_, at))| at.is_none_or(|at| at >= now));
                let want: BTreeMap<_, _> =
                    live.map(|(field, (value, _))| (field.clone(), value.clone())).collect();
                let got = bulks(&space.run(&["HGETALL", key]));
                let got: BTreeMap<_, _> =
                    got.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                assert_eq!(got, want, "{context}");
            }
            assert!(space.ks.db(0).iter().all(|entry| !entry.value().is_empty()), "{context}");
        }
        // When all time is over, only fields without expiry are left, and the index is empty.
        space.advance_ms(1_000);
        field_expiry::cycle(&mut space.ks, 0, || false);
        assert_eq!(space.ks.db(0).field_expiries_len(), 0, "seed {seed}");
        let left =
            model.values().filter(|fields: &&Fields| fields.values().any(|(_, at)| at.is_none())).count();
        assert_eq!(space.ks.db(0).len(), left, "seed {seed}");
    }
}
