//! Commands that work on keys whatever they hold: DEL, EXISTS, TYPE and their kin. Touches db, proto and base.
//!
//! By theme: `expiry`, `scan` (walking through a database), `object` (looking inside a value), `transfer` (renaming,
//! copying, moving), `sort`, `databases` (whole databases, and the clock).

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};

pub mod databases;
pub mod expiry;
pub mod object;
pub mod scan;
pub mod sort;
pub mod transfer;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "del",
        summary: "Deletes keys.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N) for N keys, plus O(M) for each collection of M elements.",
        arity: -2,
        flags: Flags::WRITE,
        acl: Acl::KEYSPACE,
        keys: &[KeySpec::one(KeyFlags::RM.or(KeyFlags::DELETE)).to(-1)],
        syntax: "key...",
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        handler: Some(del),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "exists",
        summary: "Counts how many of the given keys exist.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N) for N keys.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: &[KeySpec::one(KeyFlags::RO).to(-1)],
        syntax: "key...",
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        handler: Some(exists),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "touch",
        summary: "Marks keys as just accessed and counts those that exist.",
        since: "3.2.1",
        group: Group::Generic,
        complexity: "O(N) for N keys.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: &[KeySpec::one(KeyFlags::RO).to(-1)],
        syntax: "key...",
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        handler: Some(touch),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "type",
        summary: "Names the type of a value.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::STAT,
        syntax: "key",
        handler: Some(type_),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "unlink",
        summary: "Deletes keys and leaves freeing the memory for later.",
        since: "4.0.0",
        group: Group::Generic,
        complexity: "O(1) a key, plus O(N) later to free N allocations.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: &[KeySpec::one(KeyFlags::RM.or(KeyFlags::DELETE)).to(-1)],
        syntax: "key...",
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        handler: Some(unlink),
        ..CommandSpec::DEFAULT
    },
];

fn del(ctx: &mut Ctx) -> CmdResult {
    delete(ctx, ctx.config.lazyfree_lazy_user_del)
}

fn unlink(ctx: &mut Ctx) -> CmdResult {
    delete(ctx, true)
}

fn delete(ctx: &mut Ctx, lazily: bool) -> CmdResult {
    let db = ctx.db();
    let gone = ctx.args[1..].iter().filter(|key| ctx.ks.delete_with(db, key, lazily)).count();
    ctx.out.len(gone);
    Ok(Outcome::Done)
}

fn exists(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let found = ctx.args[1..].iter().filter(|key| ctx.ks.read_unstamped(db, key).is_some()).count();
    ctx.out.len(found);
    Ok(Outcome::Done)
}

/// Stamps access times even for a client that said CLIENT NO-TOUCH: that is what it is for.
fn touch(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let no_touch = std::mem::replace(&mut ctx.ks.no_touch, false);
    let found = ctx.args[1..].iter().filter(|key| ctx.ks.read(db, key).is_some()).count();
    ctx.ks.no_touch = no_touch;
    ctx.out.len(found);
    Ok(Outcome::Done)
}

fn type_(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let name = ctx.ks.read_unstamped(db, ctx.args[1]).map_or("none", |entry| entry.type_of().name());
    ctx.out.simple(name);
    Ok(Outcome::Done)
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn deleting_counts_keys_that_existed() {
        let mut space = Space::new();
        space.script(
            "MSET a 1 b 2 c 3 => +OK
             DEL a x a => :1
             UNLINK b c b => :2
             EXISTS a b c => :0",
        );
        assert_eq!(
            space.events(),
            ["new a", "set a", "new b", "set b", "new c", "set c", "del a", "del b", "del c"]
        );
        assert_eq!(space.dirty(), 6);
    }

    #[test]
    fn exists_and_touch_count_a_key_as_often_as_it_is_named() {
        let mut space = Space::new();
        space.script(
            "MSET a 1 b 2 => +OK
             EXISTS a a b x => :3
             TOUCH a a b x => :3
             TYPE a => +string
             TYPE x => +none",
        );
        assert_eq!((space.ks.stats.hits, space.ks.stats.misses), (7, 3));
    }

    #[test]
    fn touch_stamps_what_reads_without_trace_do_not() {
        let mut space = Space::new();
        space.line("SET a 1");
        space.ks.access_clock = 9;
        space.ks.no_touch = true;
        for line in ["EXISTS a", "TYPE a", "TTL a", "OBJECT ENCODING a"] {
            space.line(line);
        }
        assert_eq!(space.ks.peek(0, b"a").expect("set").access(), 0);
        space.line("TOUCH a");
        assert_eq!(space.ks.peek(0, b"a").expect("set").access(), 9);
        assert!(space.ks.no_touch);
    }
}
