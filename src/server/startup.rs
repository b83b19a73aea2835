//! From the command line to a listening server: configuration, limits of the process, sockets, signals.
//! Touches base and net.

use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::ae::Id;
use crate::base::config::{CommandLine, Config, Directive, Directives, args_to_config_lines};
use crate::base::limits::RESERVED_FILES;
use crate::cmd::registry::RenameError;
use crate::net::listen::{ListenError, Listener, listen_tcp, listen_unix};

use super::files::{path_of, reason};
use super::log::Log;
use super::title::Title;
use super::{Listening, REDIS_VERSION, Server};

/// What a server is started with.
pub struct Startup {
    /// The options.
    pub config: Config,
    /// The full path of the configuration file.
    pub file: Option<String>,
    /// The `user` lines.
    pub users: Vec<Directive>,
    /// The `rename-command` lines.
    pub renames: Vec<Directive>,
}

/// Reads the configuration that the arguments name. An error is the whole text for the user.
pub fn configure(args: &[Vec<u8>]) -> Result<Startup, String> {
    let line: CommandLine = args_to_config_lines(args);
    let file = match &line.file {
        Some(path) => {
            let shown = String::from_utf8_lossy(path).into_owned();
            let text = std::fs::read(path_of(path))
                .map_err(|error| format!("Fatal error, can't open config file '{shown}': {error}"))?;
            Some((shown, text))
        }
        None => None,
    };
    let mut stdin = Vec::new();
    if line.stdin {
        io::stdin()
            .read_to_end(&mut stdin)
            .map_err(|error| format!("Fatal error, can't read stdin: {error}"))?;
    }
    let mut config = Config::default();
    let mut directives = Directives::default();
    let text = line.text(file.as_ref().map_or(&[], |(_, text)| text), &stdin);
    let mut include = |path: &[u8]| -> Result<Vec<u8>, String> {
        std::fs::read(path_of(path)).map_err(|error| {
            format!("Fatal error, can't open config file '{}': {error}", String::from_utf8_lossy(path))
        })
    };
    config
        .parse_file_text(&text, &mut directives, &mut include)
        .and_then(|()| config.finish_startup())
        .map_err(|error| error.report(REDIS_VERSION))?;
    refuse_unsupported(&directives)?;
    let file = file.map(|(path, _)| std::fs::canonicalize(&path).map_or(path, |p| p.display().to_string()));
    Ok(Startup { config, file, users: directives.users, renames: directives.renames })
}

/// Directives that redae does not carry out must not be passed over in silence.
fn refuse_unsupported(directives: &Directives) -> Result<(), String> {
    let refused = [
        (&directives.modules, "modules are not supported"),
        (&directives.module_options, "modules are not supported"),
    ];
    for (lines, reason) in refused {
        if let Some(line) = lines.first() {
            return Err(line.error(reason).report(REDIS_VERSION));
        }
    }
    Ok(())
}

/// Makes sure of a file for every client that `maxclients` allows, or lowers it. Returns a message for the log if it
/// had to.
fn fit_maxclients(config: &mut Config) -> Option<String> {
    let wanted = config.maxclients as u64 + RESERVED_FILES;
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= wanted {
        return None;
    }
    let raised = limit.maximum.unwrap_or(u64::MAX).min(wanted);
    let new = Rlimit { current: Some(raised), maximum: limit.maximum };
    let got = if setrlimit(Resource::Nofile, new).is_ok() { raised } else { current };
    if got >= wanted {
        return None;
    }
    let possible = got.saturating_sub(RESERVED_FILES).max(1);
    let asked = config.maxclients;
    config.maxclients = possible as i64;
    Some(format!(
        "maxclients lowered from {asked} to {possible}: the process may open {got} files. Raise 'ulimit -n' for more."
    ))
}

/// Makes `dir` the working directory, and spells it out in full.
pub(super) fn enter_dir(config: &mut Config) -> Result<(), String> {
    std::env::set_current_dir(path_of(&config.dir)).map_err(|error| reason(&error))?;
    if let Ok(full) = std::env::current_dir() {
        config.dir = full.into_os_string().into_vec();
    }
    Ok(())
}

/// Listens on the TCP addresses of a configuration.
fn listen_as(config: &Config) -> Result<Vec<Listener>, ListenError> {
    if config.port == 0 {
        return Ok(Vec::new());
    }
    let addresses: Vec<&str> = config.bind.iter().map(String::as_str).collect();
    listen_tcp(&addresses, config.port as u16, config.tcp_backlog as i32)
}

/// What to say when an address cannot be listened on.
pub fn listen_failure(error: &ListenError) -> String {
    match error.cause.kind() {
        io::ErrorKind::AddrInUse => format!(
            "redae: Failed listening on {}: in use by another server. Stop it, or choose another port with --port \
             <number>.",
            error.address
        ),
        _ => format!("redae: Failed listening on {}: {}", error.address, error.cause),
    }
}

impl Server {
    /// A server as its configuration says, listening. An error is the whole text for the user.
    pub fn start(startup: Startup, seed: u64) -> Result<Server, String> {
        let Startup { mut config, file, users, renames } = startup;
        let log = Log::new(config.loglevel, &config.logfile)
            .map_err(|error| format!("redae: cannot open the log file: {error}"))?;
        // While the working directory is the one in which the program was called.
        let title = config.set_proc_title.then(Title::claim).flatten();
        enter_dir(&mut config).map_err(|error| {
            format!("redae: cannot change to dir '{}': {error}", String::from_utf8_lossy(&config.dir))
        })?;
        if config.disable_thp {
            // Zeroing a huge page when it is first touched stalls a small allocation for milliseconds. A kernel
            // without the switch is a kernel without the pages.
            let _ = rustix::thread::disable_transparent_huge_pages(true);
        }
        // Naps of some microseconds must not become the 50 µs more that the kernel adds by default; without the
        // switch they do, which is slow but not wrong.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let lowered = fit_maxclients(&mut config);
        let inert = config.inert_in_use();
        let mut server =
            Server::new(config, log, seed).map_err(|error| format!("redae: cannot start: {error}"))?;
        server.config_file = file;
        server.rename_commands(&renames)?;
        server.load_users(&users)?;
        server.note_memory_options();
        server.note_wanted_events();
        server.note_observers();
        if let Some(message) = lowered {
            server.log.warning(&message);
        }
        if !inert.is_empty() {
            server.log.warning(&format!("Accepted without effect in this version: {}", inert.join(", ")));
        }
        server.listen()?;
        server.title = title;
        server.show_title();
        server.write_pid_file();
        server.watch_signals().map_err(|error| format!("redae: cannot handle signals: {error}"))?;
        Ok(server)
    }

    fn rename_commands(&mut self, lines: &[Directive]) -> Result<(), String> {
        for line in lines {
            self.engine.registry.rename(&line.args[1], &line.args[2]).map_err(|error| {
                let reason = match error {
                    RenameError::NoSuchCommand => "No such command in rename-command",
                    RenameError::NameTaken => "Target command name already exists",
                };
                line.error(reason).report(REDIS_VERSION)
            })?;
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<(), String> {
        let config = &self.engine.config;
        let mut listeners = listen_as(config).map_err(|e| listen_failure(&e))?;
        if !config.unixsocket.is_empty() {
            let backlog = config.tcp_backlog as i32;
            let unix = listen_unix(path_of(&config.unixsocket), config.unixsocketperm, backlog);
            listeners.push(unix.map_err(|e| listen_failure(&e))?);
        }
        if listeners.is_empty() {
            return Err(
                "redae: configured to not listen anywhere. Give a --port or a --unixsocket.".to_owned()
            );
        }
        for listener in listeners {
            self.add_listener(listener).map_err(|error| format!("redae: cannot listen: {error}"))?;
        }
        let (version, port, pid) = (env!("CARGO_PKG_VERSION"), self.engine.config.port, std::process::id());
        self.log
            .notice(&format!("redae {version}, Redis {REDIS_VERSION} compatible, Port: {port}, PID: {pid}"));
        // In Redis's words: scripts and test harnesses wait for these lines.
        self.log.notice("Server initialized");
        let of_kind =
            |unix: bool| self.listening.iter().any(|l| matches!(l.listener, Listener::Unix(_)) == unix);
        for (kind, unix) in [("tcp", false), ("unix", true)] {
            if of_kind(unix) {
                self.log.notice(&format!("Ready to accept connections {kind}"));
            }
        }
        Ok(())
    }

    fn add_listener(&mut self, mut listener: Listener) -> io::Result<()> {
        let id = Id::Listener(self.listening.len());
        match &mut listener {
            Listener::Tcp(l) => self.poller.watch(l, id)?,
            Listener::Unix(l) => self.poller.watch(l, id)?,
        }
        self.listening.push(Listening { listener, retry: false });
        Ok(())
    }

    /// Listens on the addresses of another configuration instead of today's, or, if that fails, on today's as before.
    /// The Unix socket stays.
    pub(super) fn replace_tcp_listeners(&mut self, config: &Config) -> Result<(), ListenError> {
        // The old ones go first: some of their addresses may be among the new.
        let mut unix = Vec::new();
        for mut listening in std::mem::take(&mut self.listening) {
            match &mut listening.listener {
                Listener::Tcp(l) => drop(self.poller.forget(l)),
                Listener::Unix(l) => {
                    drop(self.poller.forget(l));
                    unix.push(listening.listener);
                }
            }
        }
        let (new, failure) = match listen_as(config) {
            Ok(new) => (new, None),
            Err(failure) => {
                let before = listen_as(&self.engine.config).unwrap_or_else(|error| {
                    self.log.warning(&listen_failure(&error));
                    Vec::new()
                });
                (before, Some(failure))
            }
        };
        for listener in new.into_iter().chain(unix) {
            let address = listener.port().map_or("unix socket".to_owned(), |port| format!("port {port}"));
            self.add_listener(listener).map_err(|cause| ListenError { address, cause })?;
        }
        failure.map_or(Ok(()), Err)
    }

    /// Tells scripts and supervisors the process id. Without the file the server is as good.
    fn write_pid_file(&self) {
        let path = &self.engine.config.pidfile;
        if !path.is_empty()
            && let Err(error) = std::fs::write(path_of(path), format!("{}\n", std::process::id()))
        {
            self.log.warning(&format!("Failed to write PID file: {}", reason(&error)));
        }
    }

    /// SIGINT and SIGTERM wake the loop through a pipe, and it stops cleanly.
    fn watch_signals(&mut self) -> io::Result<()> {
        let (reader, writer) = std::os::unix::net::UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        }
        let mut reader = mio::net::UnixStream::from_std(reader);
        self.poller.watch(&mut reader, Id::Signals)?;
        self.signals = Some(reader);
        Ok(())
    }

    /// Ends what outlives the process: the files of the Unix socket and of the process id.
    pub fn close(&mut self) {
        let config = &self.engine.config;
        for path in [&config.unixsocket, &config.pidfile].into_iter().filter(|path| !path.is_empty()) {
            // Nobody is left to tell about a failure.
            let _ = std::fs::remove_file(path_of(path));
        }
        self.log.notice("redae is now ready to exit, bye bye...");
    }
}
