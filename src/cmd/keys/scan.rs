//! Walking through the keys of a database: KEYS, SCAN, RANDOMKEY. Touches db, proto and base.

use crate::base::error::CmdError;
use crate::base::glob;
use crate::base::num::{parse_i64, parse_u64_loose};
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group};
use crate::db::value::Type;
use crate::types::table::Element;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "keys",
        summary: "Lists the keys that match a pattern.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N), N being the number of keys in the database.",
        arity: 2,
        flags: Flags::READONLY,
        acl: Acl::KEYSPACE.or(Acl::DANGEROUS),
        syntax: "pattern:pattern",
        tips: &["request_policy:all_shards", "nondeterministic_output_order"],
        handler: Some(keys),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "randomkey",
        summary: "Picks a key of the database at random.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::READONLY.or(Flags::TOUCHES_ARBITRARY_KEYS),
        acl: Acl::KEYSPACE,
        tips: &["request_policy:all_shards", "response_policy:special", "nondeterministic_output"],
        handler: Some(randomkey),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "scan",
        summary: "Walks through the keys of the database step by step.",
        since: "2.8.0",
        group: Group::Generic,
        complexity: "O(1) a call; O(N) for a whole walk through N keys.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::TOUCHES_ARBITRARY_KEYS),
        acl: Acl::KEYSPACE,
        syntax: "cursor:int [MATCH pattern:pattern] [COUNT count:int] [TYPE type@6.0.0]",
        tips: &["nondeterministic_output", "request_policy:special", "response_policy:special"],
        handler: Some(scan),
        ..CommandSpec::DEFAULT
    },
];

/// Keys that a call of SCAN without COUNT looks at, about.
const COUNT_DEFAULT: usize = 10;

/// Buckets that a call of SCAN looks at for each key wanted, at most: in a sparse table many are empty.
const BUCKETS_PER_COUNT: usize = 10;

/// A pattern as KEYS and MATCH take it; `None` fits every key, the empty one too, which the glob `*` does not.
fn pattern(text: &[u8]) -> Option<&[u8]> {
    (text != b"*").then_some(text)
}

fn fits(pattern: Option<&[u8]>, key: &[u8]) -> bool {
    pattern.is_none_or(|pattern| glob::matches(pattern, key, false))
}

fn keys(ctx: &mut Ctx) -> CmdResult {
    let (pattern, now, db) = (pattern(ctx.args[1]), ctx.now_ms(), ctx.db());
    let bytes_max = ctx.reply_bytes_max();
    let reply = ctx.out.deferred();
    let mut found = 0;
    for entry in ctx.ks.db(db).iter() {
        if fits(pattern, entry.key()) && !entry.is_expired(now) {
            ctx.out.bulk(entry.key());
            found += 1;
            if ctx.out.pending() > bytes_max {
                break;
            }
        }
    }
    ctx.out.end_array(reply, found);
    Ok(Outcome::Done)
}

fn randomkey(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    match ctx.ks.random_key(db, ctx.rng) {
        Some(key) => ctx.out.bulk(&key),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

/// What a call of SCAN asks for.
struct Wanted<'a> {
    pattern: Option<&'a [u8]>,
    count: usize,
    /// `Some(None)` is a type that does not exist: nothing has it.
    kind: Option<Option<Type>>,
}

impl<'a> Wanted<'a> {
    fn parse(options: &[&'a [u8]]) -> Result<Wanted<'a>, CmdError> {
        let mut wanted = Wanted { pattern: None, count: COUNT_DEFAULT, kind: None };
        for option in options.chunks(2) {
            let [name, value] = option else { return Err(CmdError::SYNTAX) };
            match name.to_ascii_lowercase().as_slice() {
                b"match" => wanted.pattern = pattern(value),
                b"count" => match parse_i64(value).ok_or(CmdError::NOT_INTEGER)? {
                    n if n > 0 => wanted.count = n as usize,
                    _ => return Err(CmdError::SYNTAX),
                },
                b"type" => wanted.kind = Some(Type::by_name(value)),
                _ => return Err(CmdError::SYNTAX),
            }
        }
        Ok(wanted)
    }
}

/// Goes on from bucket to bucket until it has looked at as many keys as COUNT says, or at many buckets. A key that fits
/// but has expired is removed.
fn scan(ctx: &mut Ctx) -> CmdResult {
    let mut cursor = parse_u64_loose(ctx.args[1]).ok_or(CmdError::INVALID_CURSOR)?;
    let wanted = Wanted::parse(&ctx.args[2..])?;
    let (now, db) = (ctx.now_ms(), ctx.db());
    ctx.out.array(2);
    // The cursor comes first in the reply but is known last.
    let mark = ctx.out.sink().mark();
    let (mut seen, mut found) = (0, 0);
    let mut expired: Vec<Vec<u8>> = Vec::new();
    for _ in 0..wanted.count.saturating_mul(BUCKETS_PER_COUNT) {
        cursor = ctx.ks.db(db).scan(cursor, |entry| {
            seen += 1;
            if !fits(wanted.pattern, entry.key()) {
                return;
            }
            if entry.is_expired(now) {
                expired.push(entry.key().to_vec());
            } else if wanted.kind.is_none_or(|kind| kind == Some(entry.type_of())) {
                ctx.out.bulk(entry.key());
                found += 1;
            }
        });
        if cursor == 0 || seen >= wanted.count {
            break;
        }
    }
    let cursor = cursor.to_string();
    let head = format!("${}\r\n{cursor}\r\n*{found}\r\n", cursor.len());
    ctx.out.sink().insert(mark, head.as_bytes());
    for key in expired {
        // Looking an expired key up removes it.
        ctx.ks.peek(db, &key);
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::cmd::testing::Space;

    /// The bulk strings in a reply, in order.
    fn bulks(reply: &str) -> Vec<String> {
        let mut lines = reply.split("\r\n");
        let mut bulks = Vec::new();
        while let Some(line) = lines.next() {
            if line.starts_with('$') {
                bulks.push(lines.next().expect("a body").to_owned());
            }
        }
        bulks
    }

    /// A whole walk with these options.
    fn walk(space: &mut Space, options: &[&str]) -> BTreeSet<String> {
        let mut cursor = "0".to_owned();
        let mut all = BTreeSet::new();
        loop {
            let args = [&["SCAN", cursor.as_str()], options].concat();
            let mut got = bulks(&space.run(&args)).into_iter();
            cursor = got.next().expect("a cursor");
            all.extend(got);
            if cursor == "0" {
                return all;
            }
        }
    }

    fn filled(space: &mut Space, keys: usize) -> BTreeSet<String> {
        let names: BTreeSet<String> = (0..keys).map(|i| format!("key:{i}")).collect();
        for name in &names {
            space.run(&["SET", name, "1"]);
        }
        names
    }

    #[test]
    fn a_walk_sees_every_key() {
        let mut space = Space::new();
        let names = filled(&mut space, 2_000);
        for options in [&[][..], &["COUNT", "1"], &["COUNT", "77"], &["COUNT", "9223372036854775807"]] {
            assert_eq!(walk(&mut space, options), names, "{options:?}");
        }
        assert_eq!(bulks(&space.line("KEYS *")).into_iter().collect::<BTreeSet<_>>(), names);
    }

    #[test]
    fn a_call_looks_at_about_as_many_keys_as_asked() {
        let mut space = Space::new();
        filled(&mut space, 2_000);
        for count in [1usize, 10, 100] {
            let got = bulks(&space.run(&["SCAN", "0", "COUNT", &count.to_string()])).len() - 1;
            assert!((count..count + 40).contains(&got), "{got} for {count}");
        }
    }

    #[test]
    fn patterns_and_types_filter() {
        let mut space = Space::new();
        filled(&mut space, 100);
        space.line("SET  x");
        let nine: BTreeSet<String> = (10..20).map(|i| format!("key:{i}")).collect();
        assert_eq!(walk(&mut space, &["MATCH", "key:1?"]), nine);
        assert_eq!(walk(&mut space, &["match", "key:1?", "TYPE", "STRING", "COUNT", "3"]), nine);
        assert_eq!(walk(&mut space, &["TYPE", "hash"]).len(), 0);
        assert_eq!(walk(&mut space, &["TYPE", "nosuch"]).len(), 0);
        assert_eq!(walk(&mut space, &["MATCH", "*"]).len(), 101, "the empty key too");
        assert_eq!(bulks(&space.line("KEYS key:1?")).len(), 10);
    }

    #[test]
    fn expired_keys_are_not_shown() {
        let mut space = Space::new();
        filled(&mut space, 50);
        for i in 0..20 {
            space.run(&["PEXPIRE", &format!("key:{i}"), "10"]);
        }
        space.advance_ms(11);
        assert_eq!(bulks(&space.line("KEYS *")).len(), 30);
        assert_eq!(space.ks.db(0).len(), 50);
        assert_eq!(walk(&mut space, &[]).len(), 30);
        assert_eq!((space.ks.db(0).len(), space.ks.stats.expired), (30, 20));
        assert_eq!(space.events().iter().filter(|event| event.starts_with("expired")).count(), 20);
    }

    #[test]
    fn random_keys_are_those_there_are() {
        let mut space = Space::new();
        assert_eq!(space.line("RANDOMKEY"), "$-1\r\n");
        let names = filled(&mut space, 5);
        let got: BTreeSet<String> = (0..200).flat_map(|_| bulks(&space.line("RANDOMKEY"))).collect();
        assert_eq!(got, names);
    }

    #[test]
    fn bad_calls() {
        let mut space = Space::new();
        space.script(
            "SCAN x => -ERR invalid cursor
             SCAN -1 => -ERR invalid cursor
             SCAN 18446744073709551616 => -ERR invalid cursor
             SCAN 0 MATCH => -ERR syntax error
             SCAN 0 COUNT 0 => -ERR syntax error
             SCAN 0 COUNT x => -ERR value is not an integer or out of range
             SCAN 0 NOVALUES x => -ERR syntax error
             SCAN 18446744073709551615 => *2 $1 0 *0",
        );
    }
}
