//! SLOWLOG: reading and emptying the log of slow commands.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group};

use super::{Server, ServerFn};

/// Entries that SLOWLOG GET shows unless asked for more.
const SHOWN: i64 = 10;

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "slowlog",
    summary: "Groups the commands about the log of slow commands.",
    since: "2.2.12",
    group: Group::Server,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "get",
            summary: "Lists the latest slow commands.",
            since: "2.2.12",
            group: Group::Server,
            complexity: "O(N) for N entries.",
            arity: -2,
            flags: Flags::ADMIN.or(Flags::LOADING).or(Flags::STALE),
            syntax: "[count:int]",
            tips: &["request_policy:all_nodes", "nondeterministic_output"],
            handler: Some(slowlog_get),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "6.2.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            handler: Some(slowlog_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "len",
            summary: "Counts the entries of the slow log.",
            since: "2.2.12",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::LOADING).or(Flags::STALE),
            tips: &["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
            handler: Some(slowlog_len),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "reset",
            summary: "Empties the slow log.",
            since: "2.2.12",
            group: Group::Server,
            complexity: "O(N) for N entries.",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::LOADING).or(Flags::STALE),
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(slowlog_reset),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

fn slowlog_get(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let count = match &args[2..] {
        [] => SHOWN,
        [count] => parse_i64(count).filter(|&count| count >= -1).ok_or(CmdError::SLOWLOG_COUNT)?,
        _ => return Err(CmdError::subcommand_syntax("slowlog", args[1])),
    };
    let shown = usize::try_from(count).unwrap_or(usize::MAX).min(server.slowlog.len());
    let entries: Vec<_> = server.slowlog.iter().take(shown).cloned().collect();
    let mut out = server.reply(slot);
    out.array(entries.len());
    for entry in entries {
        out.array(6);
        out.int(entry.id as i64);
        out.int(entry.time_secs);
        out.int(entry.duration_us as i64);
        out.array(entry.args.len());
        entry.args.iter().for_each(|arg| out.bulk(arg));
        out.bulk(entry.client.as_bytes());
        out.bulk(&entry.client_name);
    }
    Ok(())
}

fn slowlog_len(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let len = server.slowlog.len();
    server.reply(slot).len(len);
    Ok(())
}

fn slowlog_reset(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.slowlog.clear();
    server.reply(slot).ok();
    Ok(())
}

fn slowlog_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("slowlog", SPECS[0].subcommands));
    Ok(())
}
