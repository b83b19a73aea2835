//! CLIENT: who is connected, and what a connection may set about itself.

use std::fmt::Write;
use std::net::SocketAddr;

use crate::base::error::{CmdError, shown};
use crate::base::limits::REPLY_CHUNK_BYTES;
use crate::base::num::{decimal_len, parse_i64};
use crate::base::session::{Session, SessionFlags};
use crate::cmd::help;
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group};
use crate::net::clients::Client;
use crate::registry::pubsub::Kind;

use super::{Server, ServerFn, tracking};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "client",
    summary: "Groups the commands about connections.",
    since: "2.4.0",
    group: Group::Connection,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "caching",
            summary: "Tells whether the keys of the next command are to be tracked.",
            since: "6.0.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "mode(YES|NO)",
            handler: Some(tracking::client_caching),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "getname",
            summary: "Tells the name of this connection.",
            since: "2.6.9",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(client_getname),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "getredir",
            summary: "Tells the client that receives this connection's invalidations.",
            since: "6.0.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(tracking::client_getredir),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "5.0.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(client_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "id",
            summary: "Tells the id of this connection.",
            since: "5.0.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(client_id),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "info",
            summary: "Describes this connection.",
            since: "6.2.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            tips: &["nondeterministic_output"],
            handler: Some(client_info),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "kill",
            summary: "Closes connections.",
            since: "2.4.0",
            group: Group::Connection,
            complexity: "O(N) for N connections.",
            arity: -3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "filter(old-format\"ip:port\"!2.8.12|new-format([ID client-id:int@2.8.12]|\
                    [TYPE client-type(NORMAL|MASTER@3.2.0|SLAVE|REPLICA@5.0.0|PUBSUB)@2.8.12]|\
                    [USER username]|[ADDR addr\"ip:port\"]|[LADDR laddr\"ip:port\"@6.2.0]|\
                    [SKIPME skipme(YES|NO)]|[MAXAGE maxage:int@7.4.0])...)",
            handler: Some(client_kill),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "list",
            summary: "Describes the connections.",
            since: "2.4.0",
            group: Group::Connection,
            complexity: "O(N) for N connections.",
            arity: -2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "[TYPE client-type(NORMAL|MASTER|REPLICA|PUBSUB)@5.0.0] [ID client-id:int...@6.2.0]",
            tips: &["nondeterministic_output"],
            handler: Some(client_list),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "no-evict",
            summary: "Protects this connection from client eviction, or no longer.",
            since: "7.0.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "enabled(ON|OFF)",
            handler: Some(client_no_evict),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "no-touch",
            summary: "Stops this connection's commands from counting as key accesses, or no longer.",
            since: "7.2.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "enabled(ON|OFF)",
            handler: Some(client_no_touch),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "pause",
            summary: "Holds back the commands of all clients for a while.",
            since: "3.0.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: -3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "timeout:int [mode(WRITE|ALL)@6.2.0]",
            handler: Some(client_pause),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "reply",
            summary: "Switches replies to this connection on or off, or off for one command.",
            since: "3.2.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "action(ON|OFF|SKIP)",
            handler: Some(client_reply),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "setinfo",
            summary: "Records which client library uses this connection.",
            since: "7.2.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 4,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "attr(LIB-NAME libname|LIB-VER libver)",
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(client_setinfo),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "setname",
            summary: "Names this connection.",
            since: "2.6.9",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "connection-name",
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(client_setname),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "tracking",
            summary: "Switches the invalidation messages for client-side caching on or off.",
            since: "6.0.0",
            group: Group::Connection,
            complexity: "O(1), more with some options.",
            arity: -3,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "status(ON|OFF) [REDIRECT client-id:int] [PREFIX... prefix] [BCAST] [OPTIN] \
                    [OPTOUT] [NOLOOP]",
            handler: Some(tracking::client_tracking),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "trackinginfo",
            summary: "Describes this connection's client-side caching.",
            since: "6.2.0",
            group: Group::Connection,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(tracking::client_trackinginfo),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "unblock",
            summary: "Wakes a client that waits in a blocking command.",
            since: "5.0.0",
            group: Group::Connection,
            complexity: "O(log(N)) for N connections.",
            arity: -3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "client-id:int [unblock-type(TIMEOUT|ERROR)]",
            handler: Some(client_unblock),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "unpause",
            summary: "Lets paused clients go on.",
            since: "6.2.0",
            group: Group::Connection,
            complexity: "O(N) for N paused clients.",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(client_unpause),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

/// A name or attribute that fits the one-line format of CLIENT LIST: printable ASCII without blanks.
pub(super) fn valid_name(name: &[u8]) -> Result<(), CmdError> {
    if name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
        Ok(())
    } else {
        Err(CmdError::CLIENT_NAME_CHARS)
    }
}

pub(super) fn set_name(server: &mut Server, slot: usize, name: &[u8]) -> Result<(), CmdError> {
    valid_name(name)?;
    server.clients.get_mut(slot).session.name = name.to_vec();
    Ok(())
}

fn session(server: &mut Server, slot: usize) -> &mut Session {
    &mut server.clients.get_mut(slot).session
}

fn client_id(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let id = session(server, slot).id;
    server.reply(slot).int(id as i64);
    Ok(())
}

fn client_getname(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let name = session(server, slot).name.clone();
    let mut out = server.reply(slot);
    if name.is_empty() {
        out.null()
    } else {
        out.bulk(&name)
    }
    Ok(())
}

fn client_setname(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    set_name(server, slot, args[2])?;
    server.reply(slot).ok();
    Ok(())
}

fn client_setinfo(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let value = args[3];
    let session = session(server, slot);
    let (field, word) = if args[2].eq_ignore_ascii_case(b"lib-name") {
        (&mut session.lib_name, "lib-name")
    } else if args[2].eq_ignore_ascii_case(b"lib-ver") {
        (&mut session.lib_ver, "lib-ver")
    } else {
        let mut text = b"ERR Unrecognized option '".to_vec();
        text.extend_from_slice(shown(args[2], usize::MAX));
        text.push(b'\'');
        return Err(CmdError::new(text));
    };
    if valid_name(value).is_err() {
        let text = format!("ERR {word} cannot contain spaces, newlines or special characters.");
        return Err(CmdError::new(text));
    }
    *field = value.to_vec();
    server.reply(slot).ok();
    Ok(())
}

fn client_reply(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let flags = &mut session(server, slot).flags;
    let mode = args[2];
    if mode.eq_ignore_ascii_case(b"on") {
        flags.set(SessionFlags::REPLY_OFF.or(SessionFlags::REPLY_SKIP), false);
        server.reply(slot).ok();
    } else if mode.eq_ignore_ascii_case(b"off") {
        flags.set(SessionFlags::REPLY_OFF, true);
    } else if mode.eq_ignore_ascii_case(b"skip") {
        if !flags.any(SessionFlags::REPLY_OFF) {
            flags.set(SessionFlags::REPLY_SKIP_NEXT, true);
        }
    } else {
        return Err(CmdError::SYNTAX);
    }
    Ok(())
}

fn on_or_off(word: &[u8]) -> Result<bool, CmdError> {
    if word.eq_ignore_ascii_case(b"on") {
        Ok(true)
    } else if word.eq_ignore_ascii_case(b"off") {
        Ok(false)
    } else {
        Err(CmdError::SYNTAX)
    }
}

fn set_flag(server: &mut Server, slot: usize, flag: SessionFlags, word: &[u8]) -> Result<(), CmdError> {
    let on = on_or_off(word)?;
    session(server, slot).flags.set(flag, on);
    server.reply(slot).ok();
    Ok(())
}

fn client_no_evict(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    set_flag(server, slot, SessionFlags::NO_EVICT, args[2])
}

fn client_no_touch(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    set_flag(server, slot, SessionFlags::NO_TOUCH, args[2])
}

fn client_pause(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let all = match &args[3..] {
        [] => true,
        [mode] if mode.eq_ignore_ascii_case(b"all") => true,
        [mode] if mode.eq_ignore_ascii_case(b"write") => false,
        [_, _, ..] => return Err(CmdError::subcommand_syntax("client", args[1])),
        [_] => return Err(CmdError::fixed("ERR CLIENT PAUSE mode must be WRITE or ALL")),
    };
    let ms = parse_i64(args[2]).ok_or(CmdError::TIMEOUT_NOT_INTEGER)?;
    if ms < 0 {
        return Err(CmdError::TIMEOUT_NEGATIVE);
    }
    let until = server.engine.ks.now_ms.checked_add(ms).ok_or(CmdError::TIMEOUT_OUT_OF_RANGE)?;
    server.pause.begin(until, all);
    server.engine.ks.keep_expired = true;
    server.reply(slot).ok();
    Ok(())
}

fn client_unpause(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.end_pause();
    server.reply(slot).ok();
    Ok(())
}

fn client_unblock(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let with_error = match &args[3..] {
        [] => false,
        [mode] if mode.eq_ignore_ascii_case(b"timeout") => false,
        [mode] if mode.eq_ignore_ascii_case(b"error") => true,
        [_, _, ..] => return Err(CmdError::subcommand_syntax("client", args[1])),
        [_] => return Err(CmdError::fixed("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
    };
    let id = parse_i64(args[2]).ok_or(CmdError::NOT_INTEGER)?;
    let freed = server.free_blocked(id as u64, with_error);
    server.reply(slot).int(i64::from(freed));
    Ok(())
}

fn client_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("client", SPECS[0].subcommands));
    Ok(())
}

/// `127.0.0.1:6379`, `[::1]:6379`, or the path of the Unix socket with `:0`.
pub(super) fn address(server: &Server, client: &Client, address: Option<SocketAddr>) -> String {
    match address {
        Some(address) => address.to_string(),
        None if client.session.flags.any(SessionFlags::UNIX_SOCKET) => {
            format!("{}:0", String::from_utf8_lossy(&server.engine.config.unixsocket))
        }
        None => "?:0".to_owned(),
    }
}

/// The line of CLIENT LIST about one client, without line end. The fields and their order are Redis's: programs split
/// it at blanks.
pub(super) fn describe(server: &Server, slot: usize) -> String {
    describe_while(server, slot, &[])
}

/// The same of the client whose request is running: to Redis the request is still in its input.
fn describe_while(server: &Server, slot: usize, request: &[&[u8]]) -> String {
    let client = server.clients.get(slot);
    let session = &client.session;
    let now = server.engine.ks.now_ms;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // While a transaction runs, its EXEC is the command.
    let in_exec = session.flags.any(SessionFlags::IN_EXEC);
    let in_multi = in_exec || session.flags.any(SessionFlags::MULTI);
    let last = session.last_command.map_or("NULL", |c| server.engine.registry.get(c).full_name.as_str());
    let last = if in_exec { "exec" } else { last };
    let (input, input_free) = input_room(client, request);
    let args_len = client.arguments.bytes_len() + request.iter().map(|arg| arg.len()).sum::<usize>();
    let mut line = String::with_capacity(400);
    // Writing into a String cannot fail.
    let _ = write!(
        line,
        "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db={} sub={} psub={} ssub={} multi={} watch={} \
         qbuf={input} qbuf-free={input_free} argv-mem={args_len} multi-mem={} rbs={} rbp={} obl={} oll={} omem={} \
         tot-mem={} events={} cmd={last} user={} redir={} resp={} lib-name={} lib-ver={}",
        session.id,
        address(server, client, client.addresses.0),
        address(server, client, client.addresses.1),
        client.fd(),
        text(&session.name),
        (now - session.connected_ms) / 1_000,
        (now - session.active_ms) / 1_000,
        flag_letters(server, session),
        session.db,
        server.pubsub.count_of(Kind::Channel, session.id),
        server.pubsub.count_of(Kind::Pattern, session.id),
        server.pubsub.count_of(Kind::Shard, session.id),
        if in_multi { session.queue.len() as i64 } else { -1 },
        server.watches.count_of(session.id),
        session.queue_bytes,
        client.room.size(),
        client.room.peak(),
        // The first chunk of replies is what Redis keeps in its fixed buffer.
        if client.output.chunks() == 0 { client.output.tail_len() } else { REPLY_CHUNK_BYTES },
        client.output.chunks(),
        client.output.excess_bytes(),
        server.client_bytes(slot),
        if client.waits_for_room() { "rw" } else { "r" },
        text(&session.user),
        server.tracking_redirect(slot),
        if session.resp3() { 3 } else { 2 },
        text(&session.lib_name),
        text(&session.lib_ver),
    );
    line
}

/// Bytes in a client's input, and room for more. A request that is running counts as if it were still there.
fn input_room(client: &Client, request: &[&[u8]]) -> (usize, usize) {
    let (used, free) = client.input_room();
    match request_bytes(request) {
        0 => (used, free),
        running => (used + running, free.saturating_sub(running)),
    }
}

/// Bytes of a request on the wire.
fn request_bytes(args: &[&[u8]]) -> usize {
    let header = |n: usize| 3 + decimal_len(n as u64);
    if args.is_empty() {
        0
    } else {
        header(args.len()) + args.iter().map(|arg| header(arg.len()) + arg.len() + 2).sum::<usize>()
    }
}

fn flag_letters(server: &Server, session: &Session) -> String {
    let tracker = server.tracking.get(session.id);
    let has = |flag: SessionFlags| session.flags.any(flag);
    let letters = [
        (has(SessionFlags::MONITOR), 'O'),
        (has(SessionFlags::SUBSCRIBED), 'P'),
        (has(SessionFlags::MULTI.or(SessionFlags::IN_EXEC)), 'x'),
        (has(SessionFlags::BLOCKED), 'b'),
        (tracker.is_some(), 't'),
        (tracker.is_some_and(|tracker| tracker.broken), 'R'),
        (tracker.is_some_and(|tracker| tracker.options.bcast), 'B'),
        (server.watches.failed(session.id), 'd'),
        (has(SessionFlags::CLOSE_AFTER_REPLY), 'c'),
        (has(SessionFlags::UNIX_SOCKET), 'U'),
        (has(SessionFlags::NO_EVICT), 'e'),
        (has(SessionFlags::NO_TOUCH), 'T'),
    ];
    let set: String = letters.iter().filter(|(on, _)| *on).map(|(_, letter)| *letter).collect();
    if set.is_empty() { "N".to_owned() } else { set }
}

fn client_info(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let line = describe_while(server, slot, args) + "\n";
    server.reply(slot).verbatim("txt", line.as_bytes());
    Ok(())
}

/// The classes of clients that filters name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Normal,
    Pubsub,
    /// Replication links, of which there are none.
    Other,
}

fn class(word: &[u8]) -> Result<Class, CmdError> {
    let known: [(&[u8], Class); 5] = [
        (b"normal", Class::Normal),
        (b"master", Class::Other),
        (b"replica", Class::Other),
        (b"slave", Class::Other),
        (b"pubsub", Class::Pubsub),
    ];
    let found = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
    found.map(|(_, class)| *class).ok_or_else(|| {
        let mut text = b"ERR Unknown client type '".to_vec();
        text.extend_from_slice(shown(word, usize::MAX));
        text.push(b'\'');
        CmdError::new(text)
    })
}

fn class_of(session: &Session) -> Class {
    if session.flags.any(SessionFlags::SUBSCRIBED) { Class::Pubsub } else { Class::Normal }
}

fn client_list(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let slots = match &args[2..] {
        [] => server.clients.slots_by_id(),
        [word, name] if word.eq_ignore_ascii_case(b"type") => {
            let wanted = class(name)?;
            let mut slots = server.clients.slots_by_id();
            slots.retain(|&other| class_of(&server.clients.get(other).session) == wanted);
            slots
        }
        [word, ids @ ..] if word.eq_ignore_ascii_case(b"id") && !ids.is_empty() => {
            let ids: Option<Vec<i64>> = ids.iter().map(|id| parse_i64(id)).collect();
            let ids = ids.ok_or_else(|| CmdError::fixed("ERR Invalid client ID"))?;
            ids.into_iter().filter_map(|id| server.clients.slot_of(id as u64)).collect()
        }
        _ => return Err(CmdError::SYNTAX),
    };
    let mut text = String::new();
    for other in slots {
        text.push_str(&describe_while(server, other, if other == slot { args } else { &[] }));
        text.push('\n');
    }
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

/// Which clients CLIENT KILL means. A filter that is not given fits all.
#[derive(Default)]
struct KillFilter {
    id: Option<u64>,
    class: Option<Class>,
    user: Option<Vec<u8>>,
    addr: Option<String>,
    laddr: Option<String>,
    max_age_secs: Option<i64>,
    spare_me: bool,
}

impl KillFilter {
    fn parse(server: &Server, args: &[&[u8]]) -> Result<KillFilter, CmdError> {
        let mut filter = KillFilter { spare_me: true, ..KillFilter::default() };
        let mut rest = args;
        while let [word, value, more @ ..] = rest {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            let text = || String::from_utf8_lossy(value).into_owned();
            if is("id") {
                let id = parse_i64(value).filter(|&id| id > 0);
                let id = id.ok_or_else(|| CmdError::fixed("ERR client-id should be greater than 0"))?;
                filter.id = Some(id as u64);
            } else if is("type") {
                filter.class = Some(class(value)?);
            } else if is("user") {
                if server.engine.acl.users.get(value).is_none() {
                    let mut text = b"ERR No such user '".to_vec();
                    text.extend_from_slice(shown(value, usize::MAX));
                    text.push(b'\'');
                    return Err(CmdError::new(text));
                }
                filter.user = Some(value.to_vec());
            } else if is("addr") {
                filter.addr = Some(text());
            } else if is("laddr") {
                filter.laddr = Some(text());
            } else if is("maxage") {
                let age = parse_i64(value)
                    .ok_or_else(|| CmdError::fixed("ERR maxage is not an integer or out of range"))?;
                if age <= 0 {
                    return Err(CmdError::fixed("ERR maxage should be greater than 0"));
                }
                filter.max_age_secs = Some(age);
            } else if is("skipme") && value.eq_ignore_ascii_case(b"yes") {
                filter.spare_me = true;
            } else if is("skipme") && value.eq_ignore_ascii_case(b"no") {
                filter.spare_me = false;
            } else {
                return Err(CmdError::SYNTAX);
            }
            rest = more;
        }
        if rest.is_empty() { Ok(filter) } else { Err(CmdError::SYNTAX) }
    }

    fn fits(&self, server: &Server, slot: usize) -> bool {
        let client = server.clients.get(slot);
        let session = &client.session;
        let age_secs = (server.engine.ks.now_ms - session.connected_ms) / 1_000;
        self.id.is_none_or(|id| id == session.id)
            && self.class.is_none_or(|class| class == class_of(session))
            && self.user.as_ref().is_none_or(|user| *user == session.user)
            && self.addr.as_ref().is_none_or(|a| *a == address(server, client, client.addresses.0))
            && self.laddr.as_ref().is_none_or(|a| *a == address(server, client, client.addresses.1))
            && self.max_age_secs.is_none_or(|max| age_secs >= max)
    }
}

fn client_kill(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let old_form = args.len() == 3;
    let filter = if old_form {
        let addr = Some(String::from_utf8_lossy(args[2]).into_owned());
        KillFilter { addr, ..KillFilter::default() }
    } else {
        KillFilter::parse(server, &args[2..])?
    };
    let mut killed = 0;
    for other in server.clients.slots_by_id() {
        if (other == slot && filter.spare_me) || !filter.fits(server, other) {
            continue;
        }
        killed += 1;
        if other == slot {
            // The caller gets its answer before it goes.
            session(server, slot).flags.set(SessionFlags::CLOSE_AFTER_REPLY, true);
        } else {
            server.clients.close(other);
        }
    }
    match (old_form, killed) {
        (true, 0) => return Err(CmdError::NO_SUCH_CLIENT),
        (true, _) => server.reply(slot).ok(),
        (false, _) => server.reply(slot).int(killed),
    }
    Ok(())
}
