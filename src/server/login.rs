//! Logging in and out, and agreeing on a protocol: AUTH, HELLO, RESET, QUIT.

use crate::acl::DEFAULT_USER;
use crate::base::error::{CmdError, shown};
use crate::base::num::parse_i64;
use crate::base::session::SessionFlags;
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group};

use super::client::{set_name, valid_name};
use super::{REDIS_VERSION, Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "auth",
        summary: "Logs the connection in.",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(N) for a user with N passwords.",
        arity: -2,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::NO_AUTH)
            .or(Flags::ALLOW_BUSY),
        acl: Acl::CONNECTION,
        syntax: "[username@6.0.0] password",
        handler: Some(auth),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hello",
        summary: "Chooses the protocol version; can also log in and name the connection.",
        since: "6.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        arity: -1,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::NO_AUTH)
            .or(Flags::ALLOW_BUSY),
        acl: Acl::CONNECTION,
        syntax: "[arguments{protover:int [AUTH auth{username password}] [SETNAME clientname]}]",
        handler: Some(hello),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "quit",
        summary: "Closes this connection.",
        since: "1.0.0",
        group: Group::Connection,
        complexity: "O(1)",
        arity: -1,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::NO_AUTH)
            .or(Flags::ALLOW_BUSY)
            .or(Flags::NOT_QUEUED)
            .or(Flags::WHEN_SUBSCRIBED),
        acl: Acl::CONNECTION,
        deprecated: Some(Deprecated { since: "7.2.0", replaced_by: "closing the connection" }),
        handler: Some(quit),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "reset",
        summary: "Brings this connection back to its initial state.",
        since: "6.2.0",
        group: Group::Connection,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::NO_AUTH)
            .or(Flags::ALLOW_BUSY)
            .or(Flags::NOT_QUEUED)
            .or(Flags::WHEN_SUBSCRIBED),
        acl: Acl::CONNECTION,
        handler: Some(reset),
        ..CommandSpec::DEFAULT
    },
];

fn auth(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let (user, password) = match args {
        [_, password] => {
            if server.engine.acl.users.default_user().has_no_password() {
                return Err(CmdError::AUTH_WITHOUT_PASSWORD);
            }
            (DEFAULT_USER, *password)
        }
        [_, user, password] => (*user, *password),
        _ => return Err(CmdError::SYNTAX),
    };
    server.log_in(slot, user, password, args[0])?;
    server.reply(slot).ok();
    Ok(())
}

/// What HELLO asks for beside the version.
#[derive(Default)]
struct HelloOptions<'a> {
    login: Option<(&'a [u8], &'a [u8])>,
    name: Option<&'a [u8]>,
}

fn hello_options<'a>(args: &[&'a [u8]]) -> Result<HelloOptions<'a>, CmdError> {
    let mut options = HelloOptions::default();
    let mut rest = args;
    while let Some((&word, values)) = rest.split_first() {
        rest = match values {
            [user, password, rest @ ..] if word.eq_ignore_ascii_case(b"AUTH") => {
                options.login = Some((user, password));
                rest
            }
            [name, rest @ ..] if word.eq_ignore_ascii_case(b"SETNAME") => {
                valid_name(name)?;
                options.name = Some(name);
                rest
            }
            _ => {
                let mut text = b"ERR Syntax error in HELLO option '".to_vec();
                text.extend_from_slice(shown(word, usize::MAX));
                text.push(b'\'');
                return Err(CmdError::new(text));
            }
        };
    }
    Ok(options)
}

fn hello(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let version = match args.get(1) {
        None => None,
        Some(word) => match parse_i64(word).ok_or(CmdError::PROTO_NOT_INTEGER)? {
            version @ 2..=3 => Some(version),
            _ => return Err(CmdError::NO_PROTO),
        },
    };
    let options = hello_options(args.get(2..).unwrap_or_default())?;
    if let Some((user, password)) = options.login {
        server.log_in(slot, user, password, args[0])?;
    }
    if !server.clients.get(slot).session.authenticated {
        return Err(CmdError::HELLO_NO_AUTH);
    }
    if let Some(name) = options.name {
        set_name(server, slot, name)?;
    }
    if let Some(version) = version {
        server.clients.get_mut(slot).session.flags.set(SessionFlags::RESP3, version == 3);
    }
    introduce(server, slot);
    Ok(())
}

/// HELLO's reply. Clients read its fields by type: `proto` and `id` are integers.
fn introduce(server: &mut Server, slot: usize) {
    let id = server.clients.get(slot).session.id;
    let mut out = server.reply(slot);
    let proto = if out.resp3() { 3 } else { 2 };
    out.map(7);
    out.bulk(b"server");
    out.bulk(b"redis");
    out.bulk(b"version");
    out.bulk(REDIS_VERSION.as_bytes());
    out.bulk(b"proto");
    out.int(proto);
    out.bulk(b"id");
    out.int(id as i64);
    out.bulk(b"mode");
    out.bulk(b"standalone");
    out.bulk(b"role");
    out.bulk(b"master");
    out.bulk(b"modules");
    out.array(0);
}

fn quit(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.reply(slot).ok();
    server.clients.get_mut(slot).session.flags.set(SessionFlags::CLOSE_AFTER_REPLY, true);
    Ok(())
}

/// Puts the connection back to how it was when it had just been made.
fn reset(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.leave_multi(slot);
    server.unsubscribe_all(slot);
    let client = server.clients.get(slot).session.id;
    server.stop_monitoring(client);
    server.become_default(slot);
    let session = &mut server.clients.get_mut(slot).session;
    let kept = SessionFlags::UNIX_SOCKET.or(SessionFlags::REPLY_SKIP).or(SessionFlags::RESTRICTED);
    session.flags = session.flags.only(kept);
    server.stop_tracking(slot);
    let session = &mut server.clients.get_mut(slot).session;
    session.db = 0;
    session.name.clear();
    server.reply(slot).simple("RESET");
    Ok(())
}
