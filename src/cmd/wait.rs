//! Waiting for replicas, of which there are none: WAIT and WAITAOF wait as asked and then say so.

use super::ctx::{Block, CmdResult, Ctx, DataFn, Otherwise, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group};
use crate::base::error::CmdError;
use crate::base::num::parse_i64;

/// The family's commands.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "wait",
        summary: "Waits until replicas have received the connection's writes.",
        since: "3.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::BLOCKING,
        acl: Acl::CONNECTION,
        syntax: "numreplicas:int timeout:int",
        tips: &["request_policy:all_shards", "response_policy:agg_min"],
        handler: Some(wait),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "waitaof",
        summary: "Waits until the connection's writes are safe in append-only files, here or on replicas.",
        since: "7.2.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::BLOCKING,
        acl: Acl::CONNECTION,
        syntax: "numlocal:int numreplicas:int timeout:int",
        tips: &["request_policy:all_shards", "response_policy:agg_min"],
        handler: Some(waitaof),
        ..CommandSpec::DEFAULT
    },
];

fn deadline_ms(ctx: &Ctx, text: &[u8]) -> Result<Option<i64>, CmdError> {
    let timeout = parse_i64(text).ok_or(CmdError::TIMEOUT_NOT_INTEGER)?;
    if timeout < 0 {
        return Err(CmdError::TIMEOUT_NEGATIVE);
    }
    ctx.deadline_after(timeout as f64)
}

fn wait(ctx: &mut Ctx) -> CmdResult {
    let replicas = ctx.int(1)?;
    let deadline_ms = deadline_ms(ctx, ctx.args[2])?;
    if replicas <= 0 {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Block(Box::new(Block {
        keys: vec![],
        wants: None,
        deadline_ms,
        otherwise: Otherwise::Int(0),
    })))
}

fn waitaof(ctx: &mut Ctx) -> CmdResult {
    let local = ctx.int(1)?;
    if !(0..=1).contains(&local) {
        return Err(CmdError::fixed("ERR value is out of range, must be between 0 and 1"));
    }
    let replicas = ctx.count(2)?;
    let deadline_ms = deadline_ms(ctx, ctx.args[3])?;
    if local > 0 {
        return Err(CmdError::fixed(
            "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
        ));
    }
    if replicas == 0 {
        Otherwise::Ints(0, 0).write(false, &mut ctx.out);
        return Ok(Outcome::Done);
    }
    let otherwise = Otherwise::Ints(0, 0);
    Ok(Outcome::Block(Box::new(Block { keys: vec![], wants: None, deadline_ms, otherwise })))
}
