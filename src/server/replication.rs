//! The commands about replication, of a server that is a master without replicas and cannot be anything else so far.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group};

use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "failover",
        summary: "Hands the role of master over to a replica in good order.",
        since: "6.2.0",
        group: Group::Server,
        complexity: "O(1)",
        arity: -1,
        flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::STALE),
        syntax: "[TO target{host port:int [FORCE]}] [ABORT] [TIMEOUT milliseconds:int]",
        handler: Some(failover),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "replicaof",
        summary: "Makes this server a replica of another, or a master again.",
        since: "5.0.0",
        group: Group::Server,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
        syntax: "args(host-port{host port:int}|no-one{NO ONE})",
        handler: Some(replicaof),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "role",
        summary: "Tells whether this server is a master or a replica, and of whom.",
        since: "2.8.12",
        group: Group::Server,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE).or(Flags::FAST),
        acl: Acl::ADMIN.or(Acl::DANGEROUS),
        handler: Some(role),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "slaveof",
        summary: "Makes this server a replica of another, under the old name of REPLICAOF.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::STALE).or(Flags::NO_ASYNC_LOADING),
        syntax: "args(host-port{host port:int}|no-one{NO ONE})",
        deprecated: Some(Deprecated { since: "5.0.0", replaced_by: "`REPLICAOF`" }),
        handler: Some(replicaof),
        ..CommandSpec::DEFAULT
    },
];

/// The highest TCP port.
const PORT_MAX: i64 = 65_535;

fn role(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let mut out = server.reply(slot);
    out.array(3);
    out.bulk(b"master");
    out.int(0);
    out.array(0);
    Ok(())
}

fn replicaof(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    if args[1].eq_ignore_ascii_case(b"no") && args[2].eq_ignore_ascii_case(b"one") {
        server.reply(slot).ok();
        return Ok(());
    }
    let port = parse_i64(args[2]).filter(|port| (0..=PORT_MAX).contains(port));
    port.ok_or_else(|| CmdError::fixed("ERR Invalid master port"))?;
    Err(CmdError::fixed("ERR This version cannot be a replica"))
}

fn failover(_: &mut Server, _: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let mut rest = &args[1..];
    if let [word] = rest
        && word.eq_ignore_ascii_case(b"abort")
    {
        return Err(CmdError::fixed("ERR No failover in progress."));
    }
    let (mut timeout, mut target, mut force) = (false, false, false);
    while let [word, more @ ..] = rest {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        rest = match more {
            [ms, more @ ..] if is("timeout") && !timeout => {
                if parse_i64(ms).ok_or(CmdError::NOT_INTEGER)? <= 0 {
                    return Err(CmdError::fixed("ERR FAILOVER timeout must be greater than 0"));
                }
                timeout = true;
                more
            }
            [_, port, more @ ..] if is("to") && !target => {
                parse_i64(port).ok_or(CmdError::NOT_INTEGER)?;
                target = true;
                more
            }
            more if is("force") && !force => {
                force = true;
                more
            }
            _ => return Err(CmdError::SYNTAX),
        };
    }
    Err(CmdError::fixed("ERR FAILOVER requires connected replicas."))
}
