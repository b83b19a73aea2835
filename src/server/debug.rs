//! DEBUG: what tests and tools use to look inside the server and to set up states that are hard to reach otherwise. Behind
//! the option `enable-debug-command`. Sub-commands that would switch parts of Redis which this server does not have are
//! accepted and do nothing; those that need parts which it lacks so far say so.

use std::time::Duration;

use crate::base::config::Rewrite;
use crate::base::error::CmdError;
use crate::base::glob;
use crate::base::num::{parse_f64, parse_i64, parse_memory};
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group};
use crate::db::keyspace::EventClass;
use crate::db::value::Value;
use crate::net::room::RoomPolicy;
use crate::proto::reply::Reply;

use super::{Server, ServerFn, random_id};

#[path = "debug/digest.rs"]
mod digest;
#[path = "debug/inside.rs"]
mod inside;

use digest::Digest;

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "debug",
    summary: "Groups the commands for testing and debugging the server.",
    since: "1.0.0",
    group: Group::Server,
    complexity: "Depends on the sub-command.",
    arity: -2,
    flags: Flags::ADMIN
        .or(Flags::NOSCRIPT)
        .or(Flags::LOADING)
        .or(Flags::STALE)
        .or(Flags::PROTECTED)
        .or(Flags::SYSCMD),
    handler: Some(debug),
    ..CommandSpec::DEFAULT
}];

const fn sub(
    name: &'static str,
    arity: i32,
    syntax: &'static str,
    summary: &'static str,
    run: ServerFn,
) -> Sub {
    CommandSpec { name, arity, syntax, summary, handler: Some(run), ..CommandSpec::DEFAULT }
}

/// The sub-commands are not commands of their own to COMMAND and ACL, as in Redis, but are declared alike.
type Sub = CommandSpec<ServerFn>;

/// Parts of Redis that there is nothing of here, and with which nothing is wrong because of that.
const NOTHING_TO_SWITCH: &str = "Accepted, and without effect.";

const ROOM_TO_SWITCH: &str = "Sets how the sizes of reply buffers in CLIENT LIST follow use.";

const SUBS: &[Sub] = &[
    sub("change-repl-id", 2, "", "Gives the server a new replication id.", change_repl_id),
    sub("client-enforce-reply-list", 3, "zero-or-one", NOTHING_TO_SWITCH, accept),
    sub("client-eviction", 2, "", "Shows how many clients take how much memory.", inside::client_eviction),
    sub("config-rewrite-force-all", 2, "", "Writes all options into the configuration file.", rewrite_config),
    sub("dict-resizing", 3, "zero-or-one", NOTHING_TO_SWITCH, accept),
    sub("digest", 2, "", "Shows a fingerprint of all data, the same for equal data.", digest_all),
    sub("digest-value", -2, "[key...]", "Shows the fingerprints of the values of keys.", digest_values),
    sub("error", 3, "message", "Answers with this error.", error),
    sub("htstats", 3, "dbid", "Shows how full the hash tables of a database are.", inside::htstats),
    sub("htstats-key", 3, "key", "Shows how full the hash table in a key is.", inside::htstats_key),
    sub("listpack", 3, "key", "Describes a listpack in the log.", inside::listpack),
    sub("log", 3, "message", "Writes a message into the log.", log),
    sub("object", 3, "key", "Shows how a value is stored.", inside::object),
    sub("pause-cron", 3, "zero-or-one", "Stops the regular chores, or lets them go on.", pause_cron),
    sub("populate", -3, "count [prefix] [size]", "Makes keys with made-up values.", populate),
    sub("protocol", 3, "type", "Answers with a value of this type of the protocol.", protocol),
    sub("quicklist", -3, "key [detail]", "Describes a quicklist in the log.", inside::quicklist),
    sub("quicklist-packed-threshold", 3, "size", LARGE_TO_SWITCH, packed_threshold),
    sub("replybuffer", 4, "setting(PEAK-RESET-TIME|RESIZING) value", ROOM_TO_SWITCH, reply_buffer),
    sub("sdslen", 3, "key", "Shows how much memory a string and its key take.", inside::sdslen),
    sub(
        "set-active-expire",
        3,
        "zero-or-one",
        "Stops removing expired keys unasked, or goes on.",
        active_expire,
    ),
    sub("set-skip-checksum-validation", 3, "zero-or-one", NOTHING_TO_SWITCH, accept),
    sub("sleep", 3, "seconds", "Does nothing at all for a while.", sleep),
    sub("stringmatch-len", 4, "pattern string", "Matches a string with a glob-style pattern.", match_pattern),
    sub("structsize", 2, "", "Shows the sizes of data structures.", inside::structsize),
];

/// Sub-commands of Redis that this version cannot follow, and what it would take.
const MISSING: &[(&str, &str)] = &[
    ("aof-flush-sleep", "persistence"),
    ("assert", "crash reports"),
    ("crash-and-recover", "persistence"),
    ("leak", "crash reports"),
    ("loadaof", "persistence"),
    ("oom", "crash reports"),
    ("panic", "crash reports"),
    ("reload", "persistence"),
    ("replicate", "replication"),
    ("restart", "persistence"),
    ("segfault", "crash reports"),
];

const LARGE_TO_SWITCH: &str = "Sets from which size on an element of a list has a node of its own.";

/// What DEBUG has switched.
#[derive(Debug)]
pub(super) struct Switches {
    /// Expired keys are removed though nobody asks for them.
    pub active_expire: bool,
    /// The regular chores rest.
    pub cron_paused: bool,
}

impl Default for Switches {
    fn default() -> Switches {
        Switches { active_expire: true, cron_paused: false }
    }
}

fn debug(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let is = |name: &str| args[1].eq_ignore_ascii_case(name.as_bytes());
    if is("help") && args.len() == 2 {
        super::write_help(server, slot, help::lines("debug", SUBS));
        return Ok(());
    }
    if let Some((name, needed)) = MISSING.iter().find(|(name, _)| is(name)) {
        return Err(CmdError::debug_not_available(name, needed));
    }
    let wanted = SUBS.iter().find(|sub| is(sub.name) && fits(sub.arity, args.len()));
    let run =
        wanted.and_then(|sub| sub.handler).ok_or_else(|| CmdError::subcommand_syntax("debug", args[1]))?;
    run(server, slot, args)
}

fn fits(arity: i32, argc: usize) -> bool {
    let least = arity.unsigned_abs() as usize;
    if arity > 0 { argc == least } else { argc >= least }
}

/// A switch as C's `atoi` reads it: what is no number is 0.
fn switch(word: &[u8]) -> bool {
    parse_i64(word).is_some_and(|n| n != 0)
}

fn accept(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.reply(slot).ok();
    Ok(())
}

fn active_expire(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.debug.active_expire = switch(args[2]);
    accept(server, slot, args)
}

fn pause_cron(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.debug.cron_paused = switch(args[2]);
    accept(server, slot, args)
}

fn packed_threshold(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    match parse_memory(args[2]) {
        // 0 goes back to the size that the options of lists say.
        Some(size @ ..=0xffff_ffff) => {
            server.engine.ks.large_from = size as u32;
            accept(server, slot, args)
        }
        _ => Err(CmdError::fixed("ERR argument must be a memory value bigger than 1 and smaller than 4gb")),
    }
}

fn reply_buffer(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let is = |at: usize, word: &str| args[at].eq_ignore_ascii_case(word.as_bytes());
    let policy = &mut server.reply_room;
    if is(2, "peak-reset-time") {
        policy.peak_reset_ms = if is(3, "never") {
            None
        } else if is(3, "reset") {
            RoomPolicy::default().peak_reset_ms
        } else {
            Some(parse_i64(args[3]).ok_or(CmdError::NOT_INTEGER)?)
        };
    } else if is(2, "resizing") {
        policy.resizing = switch(args[3]);
    } else {
        return Err(CmdError::subcommand_syntax("debug", args[1]));
    }
    accept(server, slot, args)
}

fn change_repl_id(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.log.warning("Changing replication IDs after receiving DEBUG change-repl-id");
    server.repl_id = random_id(&mut server.engine.rng);
    accept(server, slot, args)
}

fn rewrite_config(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.rewrite_config(slot, Rewrite::Everything)
}

fn error(_: &mut Server, _: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    Err(CmdError::new(args[2]))
}

fn log(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    server.log.warning(&format!("DEBUG LOG: {}", String::from_utf8_lossy(args[2])));
    accept(server, slot, args)
}

fn sleep(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let seconds = parse_f64(args[2]).unwrap_or(0.0);
    if let Ok(time) = Duration::try_from_secs_f64(seconds) {
        std::thread::sleep(time);
    }
    // Whatever runs in the same turn has to see that time has passed.
    server.refresh_time();
    accept(server, slot, args)
}

fn match_pattern(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let fits = glob::matches(args[2], args[3], false);
    server.reply(slot).int(i64::from(fits));
    Ok(())
}

fn digest_all(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let digest = digest::of_everything(&server.engine.ks);
    server.reply(slot).simple(&digest.hex());
    Ok(())
}

fn digest_values(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let db = server.engine.ks.db(server.clients.get(slot).session.db);
    let of = |key: &&[u8]| db.find(key).map_or(Digest::default(), digest::of_value);
    let digests: Vec<Digest> = args[2..].iter().map(of).collect();
    let mut out = server.reply(slot);
    out.array(digests.len());
    digests.iter().for_each(|digest| out.simple(&digest.hex()));
    Ok(())
}

/// The form of DEBUG POPULATE's values and keys is that of Redis, which tests know.
fn populate(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    if args.len() > 5 {
        return Err(CmdError::subcommand_syntax("debug", args[1]));
    }
    let natural = |at: usize| parse_i64(args[at]).filter(|&n| n >= 0).ok_or(CmdError::NOT_POSITIVE);
    let count = natural(2)?;
    let prefix = args.get(3).copied().unwrap_or(b"key");
    let size = if args.len() == 5 { natural(4)? as usize } else { 0 };
    let db = server.clients.get(slot).session.db;
    let ks = &mut server.engine.ks;
    for at in 0..count {
        let key = [prefix, format!(":{at}").as_bytes()].concat();
        if ks.peek(db, &key).is_some() {
            continue;
        }
        let mut value = format!("value:{at}").into_bytes();
        if size > 0 {
            value.resize(size, 0);
        }
        ks.set(db, &key, Value::Bytes { bytes: &value, raw: false }, false);
        // Whoever watches the key is told; a save would not count it.
        ks.changed(db, &key, EventClass(0), "", 0);
    }
    accept(server, slot, args)
}

#[allow(clippy::approx_constant, reason = "the test value of Redis, not a rounded pi")]
fn protocol(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let kind = args[2].to_ascii_lowercase();
    let mut out = server.reply(slot);
    let resp3 = out.resp3();
    match kind.as_slice() {
        b"string" => out.bulk(b"Hello World"),
        b"integer" => out.int(12_345),
        b"double" => out.double(3.141),
        b"null" => out.null(),
        b"array" => {
            out.array(3);
            (0..3).for_each(|n| out.int(n));
        }
        b"set" => {
            out.set(3);
            (0..3).for_each(|n| out.int(n));
        }
        b"map" => {
            out.map(3);
            for n in 0..3 {
                out.int(n);
                out.boolean(n == 1);
            }
        }
        b"bignum" if resp3 => out.sink().put(b"(1234567999999999999999999999999999999\r\n"),
        b"bignum" => out.bulk(b"1234567999999999999999999999999999999"),
        b"attrib" => {
            if resp3 {
                out.sink().put(b"|1\r\n");
                out.bulk(b"key-popularity");
                out.array(2);
                out.bulk(b"key:123");
                out.int(90);
            }
            // An attribute is no reply by itself.
            out.bulk(b"Some real reply following the attribute");
        }
        b"push" if resp3 => {
            // Nor is a push: CLIENT REPLY does not keep it back.
            let mut push = Reply::new(&mut server.clients.output(slot).output, resp3);
            push.push(2);
            push.bulk(b"server-cpu-usage");
            push.int(42);
            server.reply(slot).bulk(b"Some real reply following the push reply");
        }
        b"push" => return Err(CmdError::fixed("ERR RESP2 is not supported by this command")),
        b"verbatim" => out.verbatim("txt", b"This is a verbatim\nstring"),
        b"true" => out.boolean(true),
        b"false" => out.boolean(false),
        _ => return Err(CmdError::DEBUG_PROTOCOL_TYPE),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::syntax;

    #[test]
    fn sub_commands_are_found_in_order_and_help_can_be_made() {
        assert!(SUBS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(MISSING.iter().all(|(name, _)| SUBS.iter().all(|sub| sub.name != *name)));
        let lines = help::lines("debug", SUBS);
        assert_eq!(lines.len(), 3 + 2 * SUBS.len());
        for sub in SUBS {
            assert!(syntax::parse(sub.syntax).is_ok(), "{}: {}", sub.name, sub.syntax);
        }
    }
}
