//! Sorted set commands that wait for a member: each is its sibling that does not wait, and waits where that finds
//! nothing. Touches db, types, proto and base.

use super::pick::{End, Layout, MultiPop, pop};
use crate::cmd::ctx::{Block, CmdResult, Ctx, DataFn, Otherwise, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::value::Type;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "bzmpop",
        summary: "Pops members from the first sorted set that has any, waiting if none has.",
        since: "7.0.0",
        group: Group::SortedSet,
        complexity: "O(K)+O(M*log(N)) for K keys and M members popped from a set of N.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::BLOCKING).or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::counted(2, KeyFlags::RW_ACCESS_DELETE)],
        syntax: "timeout:double numkeys:int key... where(MIN|MAX) [COUNT count:int]",
        handler: Some(bzmpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "bzpopmax",
        summary: "Pops the member with the highest score of the first sorted set that has one, waiting if \
            none has.",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::BLOCKING).or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE).to(-2)],
        syntax: "key... timeout:double",
        handler: Some(bzpopmax),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "bzpopmin",
        summary: "Pops the member with the lowest score of the first sorted set that has one, waiting if \
            none has.",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::BLOCKING).or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE).to(-2)],
        syntax: "key... timeout:double",
        handler: Some(bzpopmin),
        ..CommandSpec::DEFAULT
    },
];

fn wait(keys: &[&[u8]], deadline_ms: Option<i64>) -> CmdResult {
    let keys = keys.iter().map(|key| key.to_vec()).collect();
    let otherwise = Otherwise::NullArray;
    Ok(Outcome::Block(Box::new(Block { keys, wants: Some(Type::ZSet), deadline_ms, otherwise })))
}

fn bzpopmin(ctx: &mut Ctx) -> CmdResult {
    pop_or_wait(ctx, End::Min)
}

fn bzpopmax(ctx: &mut Ctx) -> CmdResult {
    pop_or_wait(ctx, End::Max)
}

fn pop_or_wait(ctx: &mut Ctx, end: End) -> CmdResult {
    let (timeout, keys) = ctx.args[1..].split_last().expect("the arity asks for a key and a time-out");
    let deadline_ms = ctx.deadline(timeout)?;
    for key in keys {
        if pop(ctx, key, end, 1, Layout::KeyFlat)? {
            return Ok(Outcome::Done);
        }
    }
    wait(keys, deadline_ms)
}

fn bzmpop(ctx: &mut Ctx) -> CmdResult {
    // Redis reads the time-out last.
    let request = MultiPop::parse(&ctx.args[2..])?;
    let deadline_ms = ctx.deadline(ctx.args[1])?;
    for key in request.keys {
        if pop(ctx, key, request.end, request.count, Layout::KeyPairs)? {
            return Ok(Outcome::Done);
        }
    }
    wait(request.keys, deadline_ms)
}
