//! Unit tests of the set commands.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};

use crate::base::Rand;
use crate::cmd::testing::Space;
use crate::db::value::ValueRef;

/// The bulk strings in a reply.
fn bulks(reply: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = reply.split("\r\n").collect();
    lines.windows(2).filter(|pair| pair[0].starts_with('$')).map(|pair| pair[1].to_owned()).collect()
}

#[test]
fn members_come_and_go() {
    let mut space = Space::new();
    space.script(
        "SADD s 3 1 2 3 => :3
         SADD s 1 => :0
         SCARD s => :3
         SMEMBERS s => *3 $1 1 $1 2 $1 3
         SISMEMBER s 2 => :1
         SISMEMBER s 02 => :0
         SMISMEMBER s 1 9 => *2 :1 :0
         SREM s 1 9 1 => :1
         SREM s 2 3 4 => :2
         EXISTS s => :0
         SREM s 2 => :0
         SCARD s => :0
         SMEMBERS s => *0
         SISMEMBER s 2 => :0
         SMISMEMBER s 1 9 => *2 :0 :0",
    );
    assert_eq!(space.events(), ["new s", "sadd s", "srem s", "srem s", "del s"]);
    assert_eq!(space.dirty(), 6);
}

#[test]
fn encodings_follow_the_members() {
    let mut space = Space::new();
    space.script("SADD s 1 2 => :2");
    assert_eq!(space.encoding("s"), "intset");
    space.script("SADD s a => :1");
    assert_eq!(space.encoding("s"), "listpack");
    let many: Vec<String> = (0..200).map(|i| format!("m{i}")).collect();
    let mut args = vec!["SADD", "s"];
    args.extend(many.iter().map(String::as_str));
    assert_eq!(space.run(&args), ":200\r\n");
    assert_eq!(space.encoding("s"), "hashtable");
}

#[test]
fn wrong_types_and_arguments_change_nothing() {
    let mut space = Space::new();
    space.line("SET str x");
    space.line("SADD s a");
    let (dirty, wrong) =
        (space.dirty(), "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    for call in [
        "SADD str a",
        "SREM str a",
        "SCARD str",
        "SMEMBERS str",
        "SISMEMBER str a",
        "SMISMEMBER str a",
        "SPOP str",
        "SPOP str 1",
        "SRANDMEMBER str",
        "SRANDMEMBER str 1",
        "SMOVE str s a",
        "SMOVE s str a",
        "SSCAN str 0",
        "SINTER s str",
        "SINTER none str",
        "SINTERCARD 2 none str",
        "SUNION s str",
        "SDIFF none str",
        "SINTERSTORE s s str",
        "SUNIONSTORE s none str",
        "SDIFFSTORE s str s",
    ] {
        assert_eq!(space.line(call), wrong, "{call}");
    }
    space.script(
        "SPOP s -1 => -ERR value is out of range, must be positive
         SPOP s x => -ERR value is out of range, must be positive
         SPOP s 1 2 => -ERR syntax error
         SRANDMEMBER s x => -ERR value is not an integer or out of range
         SRANDMEMBER s -9223372036854775808 => -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
         SRANDMEMBER s 1 2 => -ERR syntax error
         SINTERCARD 0 s => -ERR numkeys should be greater than 0
         SINTERCARD x s => -ERR numkeys should be greater than 0
         SINTERCARD 2 s => -ERR Number of keys can't be greater than number of args
         SINTERCARD 1 s LIMIT -1 => -ERR LIMIT can't be negative
         SINTERCARD 1 s LIMIT => -ERR syntax error
         SINTERCARD 1 s s => -ERR syntax error
         SSCAN s x => -ERR invalid cursor
         SSCAN s 0 COUNT 0 => -ERR syntax error
         SSCAN s 0 COUNT x => -ERR value is not an integer or out of range
         SSCAN s 0 NOVALUES => -ERR NOVALUES option can only be used in HSCAN
         SSCAN none 0 NOSUCH => *2 $1 0 *0",
    );
    assert_eq!(space.dirty(), dirty);
}

#[test]
fn pop_takes_out_what_it_returns() {
    let mut space = Space::new();
    let mut all: BTreeSet<String> = (0..300).map(|i| format!("m{i}")).collect();
    for member in &all {
        space.run(&["SADD", "s", member]);
    }
    space.events();
    while all.len() > 10 {
        let popped = bulks(&space.line("SPOP s"));
        assert!(popped.len() == 1 && popped.is_subset(&all), "{popped:?}");
        all = &all - &popped;
    }
    space.script("SPOP s 0 => *0");
    let popped = bulks(&space.line("SPOP s 4"));
    assert!(popped.len() == 4 && popped.is_subset(&all), "{popped:?}");
    all = &all - &popped;
    let dirty = space.dirty();
    space.events();
    assert_eq!(bulks(&space.line("SPOP s 100")), all);
    assert_eq!((space.events(), space.dirty() - dirty), (vec!["spop s".to_owned(), "del s".to_owned()], 6));
    space.script("SPOP s => $-1\nSPOP s 3 => *0\nSADD s 7 => :1\nSPOP s => $1 7");
    assert_eq!(space.events(), ["new s", "sadd s", "spop s", "del s"]);
}

#[test]
fn random_members_leave_the_set_alone() {
    for members in [&["1", "2", "3"][..], &["a", "b", "3"]] {
        let mut space = Space::new();
        let all: BTreeSet<String> = members.iter().map(|member| (*member).to_owned()).collect();
        space.run(&[&["SADD", "s"], members].concat());
        let dirty = space.dirty();
        let picked: BTreeSet<String> = (0..100).flat_map(|_| bulks(&space.line("SRANDMEMBER s"))).collect();
        assert_eq!(picked, all);
        assert_eq!(bulks(&space.line("SRANDMEMBER s 9")), all);
        assert_eq!(bulks(&space.line("SRANDMEMBER s 2")).len(), 2);
        let reply = space.line("SRANDMEMBER s -50");
        assert!(reply.starts_with("*50\r\n") && bulks(&reply) == all, "{reply}");
        space.script("SRANDMEMBER s 0 => *0\nSRANDMEMBER n 5 => *0\nSRANDMEMBER n => $-1");
        assert_eq!(space.dirty(), dirty);
    }
}

#[test]
fn move_takes_a_member_along() {
    let mut space = Space::new();
    space.script(
        "SADD a 1 x => :2
         SADD b x => :1
         SMOVE a b 9 => :0
         SMOVE none b 9 => :0
         SMOVE a a x => :1
         SMOVE a a 9 => :0
         SMOVE a b x => :1
         SMOVE a c 1 => :1
         EXISTS a => :0
         SMEMBERS b => *1 $1 x
         SMEMBERS c => *1 $1 1",
    );
    assert_eq!(space.encoding("c"), "intset");
    let events = space.events();
    assert_eq!(events[4..], ["srem a", "srem a", "del a", "new c", "sadd c"]);
    // Three for SADD, one for the member that was there already, two for the other.
    assert_eq!(space.dirty(), 6);
}

#[test]
fn resp3_has_sets() {
    let mut space = Space::new();
    space.resp3(true);
    space.script(
        "SADD s 1 2 => :2
         SMEMBERS s => ~2 $1 1 $1 2
         SMEMBERS n => ~0
         SINTER s s => ~2 $1 1 $1 2
         SINTER s n => ~0
         SUNION s n => ~2 $1 1 $1 2
         SDIFF s n => ~2 $1 1 $1 2
         SRANDMEMBER s 5 => *2 $1 1 $1 2
         SRANDMEMBER n => _
         SPOP s 9 => ~2 $1 1 $1 2
         SPOP s 9 => ~0
         SPOP s => _",
    );
}

#[test]
fn a_walk_sees_every_member() {
    let mut space = Space::new();
    let all: BTreeSet<String> = (0..1_000).map(|i| format!("m{i}")).collect();
    for member in &all {
        space.run(&["SADD", "s", member]);
    }
    let mut walk = |options: &[&str]| {
        let (mut cursor, mut seen, mut calls) = ("0".to_owned(), BTreeSet::new(), 0);
        loop {
            let reply = space.run(&[&["SSCAN", "s", &cursor], options].concat());
            cursor = reply.split("\r\n").nth(2).expect("a cursor").to_owned();
            let (_, members) =
                reply.split_once('*').and_then(|(_, rest)| rest.split_once('*')).expect("members");
            seen.extend(bulks(members));
            calls += 1;
            if cursor == "0" {
                return (seen, calls);
            }
        }
    };
    let (seen, calls) = walk(&[]);
    assert!(seen == all && calls > 20, "{} in {calls} calls", seen.len());
    let (seen, calls) = walk(&["COUNT", "100000"]);
    assert!(seen == all && calls == 1, "{} in {calls} calls", seen.len());
    assert_eq!(walk(&["MATCH", "m1?", "COUNT", "50"]).0.len(), 10);
}

#[test]
fn combinations_of_small_sets() {
    let mut space = Space::new();
    space.script(
        "SADD a 1 2 3 4 => :4
         SADD b 3 4 5 => :3
         SADD c 4 x => :2
         SINTER a b c => *1 $1 4
         SINTER a none => *0
         SINTERCARD 2 a b => :2
         SINTERCARD 2 a b LIMIT 1 => :1
         SINTERCARD 2 a b LIMIT 0 => :2
         SINTERCARD 2 a none => :0
         SUNION a b none => *5 $1 1 $1 2 $1 3 $1 4 $1 5
         SDIFF a b c => *2 $1 1 $1 2
         SDIFF none a => *0
         SDIFF a a => *0
         SDIFF a b b b b b a => *0
         SINTERSTORE d a b => :2
         SINTERSTORE d a none => :0
         EXISTS d => :0
         SUNIONSTORE d a c => :5
         SDIFFSTORE d d c => :3
         SMEMBERS d => *3 $1 1 $1 2 $1 3
         SUNIONSTORE none none => :0",
    );
    let events = space.events();
    assert_eq!(
        events[6..],
        ["new d", "sinterstore d", "del d", "new d", "sunionstore d", "sdiffstore d"],
        "{events:?}"
    );
    assert_eq!(space.dirty(), 9 + 4);
}

/// Random combinations of sets of all encodings against `BTreeSet`.
#[test]
fn combinations_agree_with_a_model() {
    for seed in 0..60 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut space = Space::new();
        let mut model = Vec::new();
        for key in 0..4 {
            let scale = [3, 30, 300][rng.random_range(0..3)];
            let (size, kind) = (rng.random_range(0..scale), rng.random_range(0..3));
            let member = |n: u32| {
                if kind == 0 || (kind == 1 && n.is_multiple_of(2)) { n.to_string() } else { format!("m{n}") }
            };
            let members: BTreeSet<String> =
                (0..size).map(|_| member(rng.random_range(0..size * 2))).collect();
            for member in &members {
                space.run(&["SADD", &key.to_string(), member]);
            }
            model.push(members);
        }
        for round in 0..40 {
            let keys: Vec<usize> = (0..rng.random_range(1..6)).map(|_| rng.random_range(0..4)).collect();
            let names = keys.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
            let operation = ["INTER", "UNION", "DIFF"][rng.random_range(0..3)];
            let combine = |all: BTreeSet<String>, key: &usize| match operation {
                "INTER" => &all & &model[*key],
                "UNION" => &all | &model[*key],
                _ => &all - &model[*key],
            };
            let want = keys[1..].iter().fold(model[keys[0]].clone(), combine);
            let context = format!("seed {seed}, round {round}: {operation} {names}");
            assert_eq!(bulks(&space.line(&format!("S{operation} {names}"))), want, "{context}");
            if operation == "INTER" {
                let count = space.line(&format!("SINTERCARD {} {names} LIMIT 7", keys.len()));
                assert_eq!(count, format!(":{}\r\n", want.len().min(7)), "{context}");
            }
            let count = space.line(&format!("S{operation}STORE d {names}"));
            assert_eq!(count, format!(":{}\r\n", want.len()), "{context}");
            assert_eq!(bulks(&space.line("SMEMBERS d")), want, "{context}");
            let all_ints = want.iter().all(|member| member.parse::<i64>().is_ok());
            if operation == "INTER" && !want.is_empty() {
                assert_eq!(space.encoding("d") == "intset", all_ints, "{context}");
            }
        }
    }
}

#[test]
fn picking_members_ends_rehashing() {
    let mut space = Space::new();
    let rehashing = |space: &Space| match space.ks.db(0).find(b"s").map(|entry| entry.value()) {
        Some(ValueRef::Set(set)) => set.table().expect("a hash table").is_rehashing(),
        _ => unreachable!("a set"),
    };
    let mut members = 0;
    while members < 1000 || !rehashing(&space) {
        space.run(&["SADD", "s", &format!("m{members}")]);
        members += 1;
    }
    for _ in 0..members {
        space.line("SRANDMEMBER s");
    }
    assert!(!rehashing(&space));
}
