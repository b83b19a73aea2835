//! Connection commands that need no more than the session: PING, ECHO, SELECT.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group};
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::base::session::SessionFlags;

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
        flags: Flags::FAST.or(Flags::WHEN_SUBSCRIBED),
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
    if ctx.args.len() > 2 {
        return Err(CmdError::arity("ping"));
    }
    if ctx.session.flags.any(SessionFlags::SUBSCRIBED) && !ctx.out.resp3() {
        // A subscriber that speaks RESP2 expects nothing but messages, so the answer looks like one.
        ctx.out.array(2);
        ctx.out.bulk(b"pong");
        ctx.out.bulk(ctx.args.get(1).copied().unwrap_or_default());
        return Ok(Outcome::Done);
    }
    match ctx.args {
        [_, message] => ctx.out.bulk(message),
        _ => ctx.out.simple("PONG"),
    }
    Ok(Outcome::Done)
}

fn select(ctx: &mut Ctx) -> CmdResult {
    let db = parse_i64(ctx.args[1]).ok_or(CmdError::NOT_INTEGER)?;
    if i32::try_from(db).is_err() {
        return Err(CmdError::NOT_INT32);
    }
    if db < 0 || db >= ctx.ks.count() as i64 {
        return Err(CmdError::DB_OUT_OF_RANGE);
    }
    ctx.session.db = db as usize;
    ctx.out.ok();
    Ok(Outcome::Done)
}
