//! CONFIG: reading and changing options at run time, and writing them to their file.

use std::io;

use crate::base::config::{Config, ConfigError, OptionSpec, Origin, Rewrite};
use crate::base::error::CmdError;
use crate::base::session::SessionFlags;
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group};

use super::files::{self, path_of, reason};
use super::startup::enter_dir;
use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "config",
    summary: "Groups the commands about the configuration.",
    since: "2.0.0",
    group: Group::Server,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "get",
            summary: "Reads configuration parameters.",
            since: "2.0.0",
            group: Group::Server,
            complexity: "O(N) for N parameters.",
            arity: -3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "parameter...",
            handler: Some(config_get),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "5.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            handler: Some(config_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "resetstat",
            summary: "Sets the statistics back to zero.",
            since: "2.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(config_resetstat),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "rewrite",
            summary: "Writes the current configuration to its file.",
            since: "2.8.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(config_rewrite),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "set",
            summary: "Changes configuration parameters of the running server.",
            since: "2.0.0",
            group: Group::Server,
            complexity: "O(N) for N parameters.",
            arity: -4,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "data{parameter value}...",
            tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
            handler: Some(config_set),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

fn wire(error: &ConfigError) -> CmdError {
    CmdError::new(format!("ERR {}", error.text))
}

fn config_get(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let found = server.engine.config.get(&args[2..]);
    let mut out = server.reply(slot);
    out.map(found.len());
    for (name, value) in found {
        out.bulk(&name);
        out.bulk(&value);
    }
    Ok(())
}

fn config_set(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    if !args.len().is_multiple_of(2) {
        return Err(CmdError::SYNTAX);
    }
    let pairs: Vec<(&[u8], &[u8])> = args[2..].chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let origin = Origin::Client { local: is_local(server, slot) };
    let (config, changed) = server.engine.config.staged(&pairs, origin).map_err(|e| wire(&e))?;
    server.apply(config, &changed)?;
    server.reply(slot).ok();
    Ok(())
}

/// Whether the client is on this machine, for options that are protected from others.
pub(super) fn is_local(server: &Server, slot: usize) -> bool {
    let client = server.clients.get(slot);
    client.session.flags.any(SessionFlags::UNIX_SOCKET)
        || client.addresses.0.is_some_and(|address| address.ip().to_canonical().is_loopback())
}

fn config_resetstat(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.engine.reset_stats();
    server.stats.reset();
    server.reclaim.reset_stats(server.clock.mono_us());
    server.engine.ks.trash.reset_stats();
    server.clients.reset_counts();
    server.reply(slot).ok();
    Ok(())
}

fn config_rewrite(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    server.rewrite_config(slot, Rewrite::Changes)
}

fn config_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("config", SPECS[0].subcommands));
    Ok(())
}

impl Server {
    /// Brings the configuration file up to date, and tells the client.
    pub(super) fn rewrite_config(&mut self, slot: usize, which: Rewrite) -> Result<(), CmdError> {
        let path = self.config_file.as_deref().ok_or(CmdError::NO_CONFIG_FILE)?;
        if let Err(error) = self.write_config_file(path, which) {
            let reason = reason(&error);
            self.log.warning(&format!("CONFIG REWRITE failed: {reason}"));
            return Err(CmdError::new(format!("ERR Rewriting config file: {reason}")));
        }
        self.log.notice("CONFIG REWRITE executed with success.");
        self.reply(slot).ok();
        Ok(())
    }

    /// One that has gone is made anew.
    fn write_config_file(&self, path: &str, which: Rewrite) -> io::Result<()> {
        let old = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let config = &self.engine.config;
        let users: Option<Vec<Vec<u8>>> =
            config.aclfile.is_empty().then(|| self.engine.acl.users.lines().collect());
        let text = config.rewritten(&old, users.as_deref(), which);
        files::replace(path.as_bytes(), &text, self.engine.ks.now_ms)
    }

    /// Puts a new configuration in force: first what may fail, so that an error leaves the old one whole.
    fn apply(&mut self, mut config: Config, changed: &[&'static OptionSpec]) -> Result<(), CmdError> {
        let touched = |name: &str| changed.iter().any(|option| option.name == name);
        if touched("dir") {
            enter_dir(&mut config).map_err(|reason| wire(&ConfigError::failed(b"dir", &reason)))?;
        }
        if let Err(error) = self.listen_as_configured(&config) {
            // Back to where we were; if that has gone, there is nowhere to go.
            let _ = std::env::set_current_dir(path_of(&self.engine.config.dir));
            return Err(error);
        }
        if touched("loglevel") {
            self.set_log_level(config.loglevel);
        }
        for option in changed.iter().filter(|option| option.has(crate::base::config::flags::INERT)) {
            self.log.warning(&format!("Option '{}' is accepted without effect in this version", option.name));
        }
        self.engine.config = config;
        self.note_memory_options();
        if touched("maxmemory") {
            self.maxmemory_changed();
        }
        if touched("maxmemory-clients") {
            self.client_memory_changed();
        }
        if touched("tracking-table-max-keys") {
            self.bound_tracking();
        }
        self.note_wanted_events();
        self.note_observers();
        if touched("bind") || touched("port") || touched("proc-title-template") {
            self.show_title();
        }
        if touched("requirepass") {
            self.apply_requirepass();
        }
        Ok(())
    }

    fn listen_as_configured(&mut self, config: &Config) -> Result<(), CmdError> {
        let before = &self.engine.config;
        if config.bind != before.bind {
            self.listen_anew(config, "bind", "Failed to bind to specified addresses.")
        } else if config.port != before.port {
            self.listen_anew(config, "port", "Unable to listen on this port. Check server logs.")
        } else {
            Ok(())
        }
    }

    fn listen_anew(&mut self, config: &Config, option: &str, failure: &str) -> Result<(), CmdError> {
        self.replace_tcp_listeners(config).map_err(|_| wire(&ConfigError::failed(option.as_bytes(), failure)))
    }
}
