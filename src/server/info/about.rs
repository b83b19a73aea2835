//! INFO about the server, its clients, replication, modules, cluster and key space, and the processor time it took.

use std::fmt::Write;

use rustix::time::{ClockId, clock_gettime};

use crate::base::session::SessionFlags;

use super::super::{REDIS_VERSION, Server};
use super::line;

/// A replication id that stands for none.
const NO_REPL_ID: &str = "0000000000000000000000000000000000000000";

pub(super) fn server(server: &Server, text: &mut String) {
    let uname = rustix::system::uname();
    let word = |c: &std::ffi::CStr| c.to_string_lossy().into_owned();
    let uptime_secs = (server.engine.ks.now_ms - server.stats.started_ms) / 1_000;
    let config = &server.engine.config;
    let executable = std::env::current_exe().map(|path| path.display().to_string());
    line(text, "redis_version", REDIS_VERSION);
    line(text, "redis_git_sha1", "00000000");
    line(text, "redis_git_dirty", 0);
    line(text, "redis_build_id", "0");
    line(text, "redis_mode", "standalone");
    let system = [word(uname.sysname()), word(uname.release()), word(uname.machine())];
    line(text, "os", system.join(" "));
    line(text, "arch_bits", usize::BITS);
    line(text, "monotonic_clock", "POSIX clock_gettime");
    line(text, "multiplexing_api", "epoll");
    line(text, "atomicvar_api", "c11-builtin");
    line(text, "gcc_version", "0.0.0");
    line(text, "process_id", std::process::id());
    line(text, "process_supervised", "no");
    line(text, "run_id", &server.run_id);
    line(text, "tcp_port", config.port);
    line(text, "server_time_usec", server.clock.wall_us());
    line(text, "uptime_in_seconds", uptime_secs);
    line(text, "uptime_in_days", uptime_secs / 86_400);
    line(text, "hz", server.hz());
    line(text, "configured_hz", config.hz);
    line(text, "lru_clock", server.engine.ks.access_clock);
    line(text, "executable", executable.unwrap_or_default());
    line(text, "config_file", server.config_file.as_deref().unwrap_or_default());
    line(text, "io_threads_active", 0);
    listeners(server, text);
    line(text, "redae_version", env!("CARGO_PKG_VERSION"));
}

fn listeners(server: &Server, text: &mut String) {
    let config = &server.engine.config;
    let mut shown = 0;
    if config.port != 0 {
        let binds: String = config.bind.iter().map(|address| format!(",bind={address}")).collect();
        line(text, "listener0", format_args!("name=tcp{binds},port={}", config.port));
        shown += 1;
    }
    if !config.unixsocket.is_empty() {
        let path = String::from_utf8_lossy(&config.unixsocket);
        line(text, &format!("listener{shown}"), format_args!("name=unix,bind={path}"));
    }
}

pub(super) fn clients(server: &Server, text: &mut String) {
    let all = || server.clients.iter().map(|(_, client)| client);
    let subscribers = all().filter(|client| client.session.flags.any(SessionFlags::SUBSCRIBED)).count();
    line(text, "connected_clients", server.clients.len());
    line(text, "cluster_connections", 0);
    line(text, "maxclients", server.engine.config.maxclients);
    let (inputs, outputs) = &server.stats.recent_buffers;
    line(text, "client_recent_max_input_buffer", inputs.get());
    line(text, "client_recent_max_output_buffer", outputs.get());
    line(text, "blocked_clients", server.blocked.len());
    line(text, "tracking_clients", server.tracking.clients_len());
    line(text, "pubsub_clients", subscribers);
    line(text, "watching_clients", server.watches.clients_len());
    line(text, "clients_in_timeout_table", server.blocked.deadlines_len());
    line(text, "total_watched_keys", server.watches.keys_len());
    line(text, "total_blocking_keys", server.blocked.keys_len());
    line(text, "total_blocking_keys_on_nokey", 0);
}

pub(super) fn replication(server: &Server, text: &mut String) {
    line(text, "role", "master");
    line(text, "connected_slaves", 0);
    line(text, "master_failover_state", "no-failover");
    line(text, "master_replid", &server.repl_id);
    line(text, "master_replid2", NO_REPL_ID);
    line(text, "master_repl_offset", 0);
    line(text, "second_repl_offset", -1);
    line(text, "repl_backlog_active", 0);
    line(text, "repl_backlog_size", server.engine.config.repl_backlog_size);
    line(text, "repl_backlog_first_byte_offset", 0);
    line(text, "repl_backlog_histlen", 0);
}

/// Processor time in seconds: in the kernel, and outside.
struct CpuTime {
    system: f64,
    user: f64,
}

/// The times in one of the kernel's `stat` files: own ones, and those of children that have ended. They are as coarse as
/// the kernel's ticks.
fn read_times(path: &str) -> (CpuTime, CpuTime) {
    let stat = std::fs::read_to_string(path).unwrap_or_default();
    // Fields are counted behind the command name, which may hold blanks.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let per_sec = rustix::param::clock_ticks_per_second() as f64;
    let seconds = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0) / per_sec;
    (CpuTime { user: seconds(11), system: seconds(12) }, CpuTime { user: seconds(13), system: seconds(14) })
}

/// A precise sum, divided as the kernel's ticks are.
fn divide(clock: ClockId, coarse: &CpuTime) -> CpuTime {
    let now = clock_gettime(clock);
    let total = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
    let ticks = coarse.system + coarse.user;
    let share = if ticks > 0.0 { coarse.system / ticks } else { 0.5 };
    CpuTime { system: total * share, user: total * (1.0 - share) }
}

pub(super) fn cpu(_: &Server, text: &mut String) {
    let (process, children) = read_times("/proc/self/stat");
    let (thread, _) = read_times("/proc/thread-self/stat");
    let process = divide(ClockId::ProcessCPUTime, &process);
    let thread = divide(ClockId::ThreadCPUTime, &thread);
    for (times, suffix) in [(process, ""), (children, "_children"), (thread, "_main_thread")] {
        line(text, &format!("used_cpu_sys{suffix}"), format_args!("{:.6}", times.system));
        line(text, &format!("used_cpu_user{suffix}"), format_args!("{:.6}", times.user));
    }
}

/// There are no modules.
pub(super) fn modules(_: &Server, _: &mut String) {}

pub(super) fn cluster(_: &Server, text: &mut String) {
    line(text, "cluster_enabled", 0);
}

pub(super) fn keyspace(server: &Server, text: &mut String) {
    for index in 0..server.engine.ks.count() {
        let db = server.engine.ks.db(index);
        if !db.is_empty() {
            let (keys, expires, fields) = (db.len(), db.expires_len(), db.field_expiries_len());
            // Writing into a String cannot fail.
            let _ = write!(
                text,
                "db{index}:keys={keys},expires={expires},avg_ttl={},subexpiry={fields}\r\n",
                db.avg_ttl_ms
            );
        }
    }
}
