//! Whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB. Touches db, proto and base.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "dbsize",
        summary: "Counts the keys of the database.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        tips: &["request_policy:all_shards", "response_policy:agg_sum"],
        handler: Some(dbsize),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "flushall",
        summary: "Deletes the keys of all databases.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) for N keys.",
        arity: -1,
        flags: Flags::WRITE,
        acl: Acl::KEYSPACE.or(Acl::DANGEROUS),
        syntax: "[flush-type(ASYNC@4.0.0|SYNC@6.2.0)]",
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        handler: Some(flushall),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "flushdb",
        summary: "Deletes the keys of the current database.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) for N keys.",
        arity: -1,
        flags: Flags::WRITE,
        acl: Acl::KEYSPACE.or(Acl::DANGEROUS),
        syntax: "[flush-type(ASYNC@4.0.0|SYNC@6.2.0)]",
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        handler: Some(flushdb),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "swapdb",
        summary: "Swaps two databases.",
        since: "4.0.0",
        group: Group::Server,
        complexity: "O(N) for N clients that watch or wait for keys of either.",
        arity: 3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE.or(Acl::DANGEROUS),
        syntax: "index1:int index2:int",
        handler: Some(swapdb),
        ..CommandSpec::DEFAULT
    },
];

fn dbsize(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    ctx.out.len(ctx.ks.db(db).len());
    Ok(Outcome::Done)
}

fn flush(ctx: &mut Ctx, db: Option<usize>) -> CmdResult {
    let lazily = match ctx.args[1..] {
        [] => ctx.config.lazyfree_lazy_user_flush,
        [how] if how.eq_ignore_ascii_case(b"async") => true,
        [how] if how.eq_ignore_ascii_case(b"sync") => false,
        _ => return Err(CmdError::SYNTAX),
    };
    let gone = ctx.ks.flush(db, lazily);
    ctx.ks.signals.dirty += gone as u64;
    ctx.out.ok();
    Ok(Outcome::Done)
}

fn flushall(ctx: &mut Ctx) -> CmdResult {
    flush(ctx, None)
}

fn flushdb(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    flush(ctx, Some(db))
}

fn swapdb(ctx: &mut Ctx) -> CmdResult {
    let index = |at: usize| parse_i64(ctx.args[at]).filter(|&n| i32::try_from(n).is_ok());
    let first = index(1).ok_or(CmdError::INVALID_FIRST_DB)?;
    let second = index(2).ok_or(CmdError::INVALID_SECOND_DB)?;
    let all = 0..ctx.ks.count() as i64;
    if !all.contains(&first) || !all.contains(&second) {
        return Err(CmdError::DB_OUT_OF_RANGE);
    }
    ctx.ks.swap(first as usize, second as usize);
    ctx.ks.signals.dirty += 1;
    ctx.out.ok();
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn flushing_empties_one_database_or_all() {
        let mut space = Space::new();
        space.script(
            "MSET a 1 b 2 => +OK
             SELECT 3 => +OK
             SET c 3 EX 100 => +OK
             DBSIZE => :1
             FLUSHDB ASYNC => +OK
             DBSIZE => :0
             SET c 3 EX 100 => +OK
             SELECT 0 => +OK
             DBSIZE => :2
             FLUSHALL x => -ERR syntax error
             FLUSHALL ASYNC SYNC => -ERR syntax error
             FLUSHALL sync => +OK
             DBSIZE => :0",
        );
        assert_eq!(space.dirty(), 4 + 1 + 3);
        assert_eq!((space.ks.db(3).len(), space.ks.db(3).expires_len()), (0, 0));
    }

    #[test]
    fn swapping_takes_expiries_along() {
        let mut space = Space::new();
        space.script(
            "SET a 1 EX 100 => +OK
             SET b 1 => +OK
             SWAPDB 0 5 => +OK
             DBSIZE => :0
             SELECT 5 => +OK
             TTL a => :100
             TTL b => :-1
             SWAPDB x 5 => -ERR invalid first DB index
             SWAPDB 99999999999 5 => -ERR invalid first DB index
             SWAPDB 5 x => -ERR invalid second DB index
             SWAPDB 5 16 => -ERR DB index is out of range
             SWAPDB -1 5 => -ERR DB index is out of range
             SWAPDB 5 5 => +OK
             PERSIST a => :1",
        );
    }
}
