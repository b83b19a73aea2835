//! What fits no family: SHUTDOWN, MODULE (there are none), LOLWUT, TIME.

use rand::Rng;

use crate::base::config::Permission;
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::base::session::SessionFlags;
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group};
use crate::exec::registry::Command;

use super::{REDIS_VERSION, Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "lolwut",
        summary: "Shows a piece of computer art and the version.",
        since: "5.0.0",
        group: Group::Server,
        arity: -1,
        flags: Flags::READONLY.or(Flags::FAST),
        syntax: "[VERSION version:int]",
        handler: Some(lolwut),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "module",
        summary: "Groups the commands about modules.",
        since: "4.0.0",
        group: Group::Server,
        complexity: "Depends on the sub-command.",
        arity: -2,
        subcommands: &[
            CommandSpec {
                name: "help",
                summary: "Describes the sub-commands.",
                since: "5.0.0",
                group: Group::Server,
                complexity: "O(1)",
                arity: 2,
                flags: Flags::LOADING.or(Flags::STALE),
                handler: Some(module_help),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "list",
                summary: "Lists the loaded modules.",
                since: "4.0.0",
                group: Group::Server,
                complexity: "O(N) for N modules.",
                arity: 2,
                flags: Flags::ADMIN.or(Flags::NOSCRIPT),
                tips: &["nondeterministic_output_order"],
                handler: Some(module_list),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "load",
                summary: "Loads a module from a file.",
                since: "4.0.0",
                group: Group::Server,
                complexity: "O(1)",
                arity: -3,
                flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::PROTECTED).or(Flags::NO_ASYNC_LOADING),
                syntax: "path [arg...]",
                handler: Some(module_load),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "loadex",
                summary: "Loads a module with configuration parameters.",
                since: "7.0.0",
                group: Group::Server,
                complexity: "O(1)",
                arity: -3,
                flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::PROTECTED).or(Flags::NO_ASYNC_LOADING),
                syntax: "path [CONFIG... configs{name value}] [ARGS args...]",
                handler: Some(module_load),
                ..CommandSpec::DEFAULT
            },
            CommandSpec {
                name: "unload",
                summary: "Takes a loaded module out again.",
                since: "4.0.0",
                group: Group::Server,
                complexity: "O(1)",
                arity: 3,
                flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::PROTECTED).or(Flags::NO_ASYNC_LOADING),
                syntax: "name",
                handler: Some(module_unload),
                ..CommandSpec::DEFAULT
            },
        ],
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "shutdown",
        summary: "Stops the server, saving the databases first if so configured.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(N) for N keys when it saves, otherwise O(1).",
        arity: -1,
        flags: Flags::ADMIN
            .or(Flags::NOSCRIPT)
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::NO_MULTI)
            .or(Flags::ALLOW_BUSY),
        syntax: "[save-selector(NOSAVE|SAVE)] [NOW@7.0.0] [FORCE@7.0.0] [ABORT@7.0.0]",
        handler: Some(shutdown),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "time",
        summary: "Tells the server's clock.",
        since: "2.6.0",
        group: Group::Server,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::LOADING.or(Flags::STALE).or(Flags::FAST),
        tips: &["nondeterministic_output"],
        handler: Some(time),
        ..CommandSpec::DEFAULT
    },
];

/// Columns and rows of LOLWUT's picture, and what a caller may ask for at most.
const PICTURE: (usize, usize) = (66, 8);
const PICTURE_MAX: i64 = 1_000;

fn shutdown(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let mut given = [false; 5];
    for arg in &args[1..] {
        let words = ["nosave", "save", "now", "force", "abort"];
        let at = words
            .iter()
            .position(|word| arg.eq_ignore_ascii_case(word.as_bytes()))
            .ok_or(CmdError::SYNTAX)?;
        given[at] = true;
    }
    let [nosave, save, now, force, abort] = given;
    if (nosave && save) || (abort && (nosave || save || now || force)) {
        return Err(CmdError::SYNTAX);
    }
    if abort {
        // Nothing is ever waited for, so there is nothing to abort.
        return Err(CmdError::NO_SHUTDOWN);
    }
    if save && !force {
        // What is in memory cannot be saved in this version: whoever asks for it must not lose it.
        server
            .log
            .warning("SHUTDOWN SAVE refused: this version cannot save. SHUTDOWN NOSAVE ends the server.");
        return Err(CmdError::SHUTDOWN_FAILED);
    }
    server.log.notice("User requested shutdown...");
    server.stopping = true;
    // No reply: the end of the connection is the answer. What else the client has sent is not run.
    server.clients.get_mut(slot).session.flags.set(SessionFlags::CLOSE_AFTER_REPLY, true);
    Ok(())
}

fn module_list(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.reply(slot).array(0);
    Ok(())
}

fn module_load(server: &mut Server, _: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let path = String::from_utf8_lossy(args[2]);
    server.log.warning(&format!("Module {path} not loaded: this server has no modules"));
    Err(CmdError::fixed("ERR Error loading the extension. Please check the server logs."))
}

fn module_unload(_: &mut Server, _: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    Err(CmdError::fixed("ERR Error unloading module: no such module with that name"))
}

fn module_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("module", SPECS[1].subcommands));
    Ok(())
}

/// Asks the clock itself: the time of the turn, which commands over data see, has no microseconds and stands still.
fn time(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let now_us = server.clock.wall_us();
    let mut out = server.reply(slot);
    out.array(2);
    out.bulk_int(now_us / 1_000_000);
    out.bulk_int(now_us % 1_000_000);
    Ok(())
}

/// A maze of the kind that home computers drew: each place is one of the two diagonals, by chance.
fn lolwut(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let sizes = match &args[1..] {
        [word, version, sizes @ ..] if word.eq_ignore_ascii_case(b"version") => {
            // Only the pictures of these versions have sizes; what follows is not looked at.
            let sizes = match parse_i64(version).ok_or(CmdError::NOT_INTEGER)? {
                5 => &sizes[..sizes.len().min(3)],
                6 => &sizes[..sizes.len().min(2)],
                _ => &[],
            };
            sizes
                .iter()
                .map(|size| parse_i64(size).ok_or(CmdError::NOT_INTEGER))
                .collect::<Result<Vec<i64>, _>>()?
        }
        _ => Vec::new(),
    };
    let size =
        |at: usize, default: usize| sizes.get(at).map_or(default, |n| (*n).clamp(1, PICTURE_MAX) as usize);
    let (columns, rows) = (size(0, PICTURE.0), size(1, PICTURE.1));
    let mut text = String::with_capacity((columns * 3 + 1) * rows + 32);
    for _ in 0..rows {
        text.extend((0..columns).map(|_| if server.engine.rng.random() { '╱' } else { '╲' }));
        text.push('\n');
    }
    text.push_str(&format!("\nRedis ver. {REDIS_VERSION}\n"));
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

impl Server {
    /// Whether a client may run a command that is protected from whoever is not on this machine.
    pub(super) fn check_protected(&self, slot: usize, command: &Command) -> Result<(), CmdError> {
        let config = &self.engine.config;
        let (name, option, permission): (_, _, Permission) = if command.full_name == "debug" {
            ("DEBUG", "enable-debug-command", config.enable_debug_command)
        } else {
            ("MODULE", "enable-module-command", config.enable_module_command)
        };
        if permission.allows(super::config::is_local(self, slot)) {
            return Ok(());
        }
        Err(CmdError::protected_command(name, option))
    }
}
