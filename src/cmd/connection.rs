//! Connection commands that need no more than the session: PING, ECHO, SELECT.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group};
use crate::base::error::CmdError;
use crate::base::num::parse_i64;

/// The family's commands.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "echo",
        summary: "Replies with its argument.",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::LOADING.or(Flags::STALE).or(Flags::FAST),
        acl: Acl::CONNECTION,
        syntax: "message",
        handler: Some(echo),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "ping",
        summary: "Replies at once, as a sign of life.",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        arity: -1,
        flags: Flags::FAST,
        acl: Acl::CONNECTION,
        syntax: "[message]",
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        handler: Some(ping),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "select",
        summary: "Chooses the database that this connection works on.",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::LOADING.or(Flags::STALE).or(Flags::FAST),
        acl: Acl::CONNECTION,
        syntax: "index:int",
        handler: Some(select),
        ..CommandSpec::DEFAULT
    },
];

fn echo(ctx: &mut Ctx) -> CmdResult {
    ctx.out.bulk(ctx.args[1]);
    Ok(Outcome::Done)
}

fn ping(ctx: &mut Ctx) -> CmdResult {
    match ctx.args {
        [_] => ctx.out.simple("PONG"),
        [_, message] => ctx.out.bulk(message),
        _ => return Err(CmdError::arity("ping")),
    }
    Ok(Outcome::Done)
}

fn select(ctx: &mut Ctx) -> CmdResult {
    let db = parse_i64(ctx.args[1]).ok_or(CmdError::NOT_INTEGER)?;
    if db < 0 || db >= ctx.ks.count() as i64 {
        return Err(CmdError::DB_OUT_OF_RANGE);
    }
    ctx.session.db = db as usize;
    ctx.out.ok();
    Ok(Outcome::Done)
}
