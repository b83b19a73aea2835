//! List commands that wait for an element: each is its sibling that does not wait, and waits where that finds nothing.
//! Touches db, types, proto and base.

use super::moves::{self, PopMany};
use super::{End, pop_one};
use crate::cmd::ctx::{Block, CmdResult, Ctx, DataFn, Otherwise, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeyFlags, KeySpec};
use crate::db::value::Type;
use crate::proto::reply::Reply;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "blmove",
        summary: "Moves an element from one list to another, waiting for one if need be.",
        since: "6.2.0",
        group: Group::List,
        complexity: "O(1)",
        arity: 6,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::BLOCKING),
        acl: Acl::LIST,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE), KeySpec::one(KeyFlags::RW_INSERT).at(2)],
        syntax: "source:key destination:key wherefrom(LEFT|RIGHT) whereto(LEFT|RIGHT) timeout:double",
        handler: Some(blmove),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "blmpop",
        summary: "Pops elements from the first list that has any, waiting if none has.",
        since: "7.0.0",
        group: Group::List,
        complexity: "O(N+M) for N keys and M popped elements.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::BLOCKING).or(Flags::MOVABLEKEYS),
        acl: Acl::LIST,
        keys: &[KeySpec::counted(2, KeyFlags::RW_ACCESS_DELETE)],
        syntax: "timeout:double numkeys:int key... where(LEFT|RIGHT) [COUNT count:int]",
        handler: Some(blmpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "blpop",
        summary: "Pops the head of the first list that has one, waiting if none has.",
        since: "2.0.0",
        group: Group::List,
        complexity: "O(N) for N keys.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::BLOCKING),
        acl: Acl::LIST,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE).to(-2)],
        syntax: "key... timeout:double",
        handler: Some(blpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "brpop",
        summary: "Pops the tail of the first list that has one, waiting if none has.",
        since: "2.0.0",
        group: Group::List,
        complexity: "O(N) for N keys.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::BLOCKING),
        acl: Acl::LIST,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE).to(-2)],
        syntax: "key... timeout:double",
        handler: Some(brpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "brpoplpush",
        summary: "Moves the tail of a list to the head of another, waiting for one if need be.",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::BLOCKING),
        acl: Acl::LIST,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE), KeySpec::one(KeyFlags::RW_INSERT).at(2)],
        syntax: "source:key destination:key timeout:double",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`BLMOVE` from `RIGHT` to `LEFT`" }),
        handler: Some(brpoplpush),
        ..CommandSpec::DEFAULT
    },
];

fn wait(keys: &[&[u8]], deadline_ms: Option<i64>, otherwise: Otherwise) -> CmdResult {
    let keys = keys.iter().map(|key| key.to_vec()).collect();
    Ok(Outcome::Block(Box::new(Block { keys, wants: Some(Type::List), deadline_ms, otherwise })))
}

fn blpop(ctx: &mut Ctx) -> CmdResult {
    pop(ctx, End::Left)
}

fn brpop(ctx: &mut Ctx) -> CmdResult {
    pop(ctx, End::Right)
}

fn pop(ctx: &mut Ctx, end: End) -> CmdResult {
    let (timeout, keys) = ctx.args[1..].split_last().expect("the arity asks for a key and a time-out");
    let deadline_ms = ctx.deadline(timeout)?;
    for key in keys {
        let head = |out: &mut Reply| {
            out.array(2);
            out.bulk(key);
        };
        if pop_one(ctx, key, end, head)? {
            return Ok(Outcome::Done);
        }
    }
    wait(keys, deadline_ms, Otherwise::NullArray)
}

fn blmpop(ctx: &mut Ctx) -> CmdResult {
    // Redis reads the time-out last.
    let request = PopMany::parse(&ctx.args[2..])?;
    let deadline_ms = ctx.deadline(ctx.args[1])?;
    if moves::pop_many(ctx, &request)? {
        return Ok(Outcome::Done);
    }
    wait(request.keys, deadline_ms, Otherwise::NullArray)
}

fn blmove(ctx: &mut Ctx) -> CmdResult {
    let from = End::named(ctx.args[3])?;
    let to = End::named(ctx.args[4])?;
    let deadline_ms = ctx.deadline(ctx.args[5])?;
    move_or_wait(ctx, from, to, deadline_ms)
}

fn brpoplpush(ctx: &mut Ctx) -> CmdResult {
    let deadline_ms = ctx.deadline(ctx.args[3])?;
    move_or_wait(ctx, End::Right, End::Left, deadline_ms)
}

fn move_or_wait(ctx: &mut Ctx, from: End, to: End, deadline_ms: Option<i64>) -> CmdResult {
    let source = ctx.args[1];
    if ctx.ks.write(ctx.session.db, source).is_none() {
        return wait(&[source], deadline_ms, Otherwise::NullMove);
    }
    moves::move_element(ctx, from, to)
}
