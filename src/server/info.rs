//! INFO: the state of the server in lines of `name:value`, grouped under headings that programs look for.

use std::fmt::Write;

use crate::acl::Reason;
use crate::base::error::CmdError;
use crate::base::num::format_human_bytes;
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group};
use crate::registry::pubsub::Kind;

use super::{REDIS_VERSION, Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "info",
        summary: "Returns statistics and facts about the server.",
        since: "1.0.0",
        group: Group::Server,
        complexity: "O(1)",
        arity: -1,
        flags: Flags::LOADING.or(Flags::STALE),
        acl: Acl::DANGEROUS,
        syntax: "[section...]",
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        handler: Some(info),
        ..CommandSpec::DEFAULT
    },
];

/// A section: its name in lower case, its heading, whether INFO shows it without being asked, and what writes it.
struct Section {
    name: &'static str,
    heading: &'static str,
    default: bool,
    write: fn(&Server, &mut String),
}

const SECTIONS: &[Section] = &[
    Section { name: "server", heading: "Server", default: true, write: server_section },
    Section { name: "clients", heading: "Clients", default: true, write: clients_section },
    Section { name: "memory", heading: "Memory", default: true, write: memory_section },
    Section { name: "stats", heading: "Stats", default: true, write: stats_section },
    Section { name: "cpu", heading: "CPU", default: true, write: cpu_section },
    Section { name: "commandstats", heading: "Commandstats", default: false, write: command_stats_section },
    Section { name: "errorstats", heading: "Errorstats", default: true, write: error_stats_section },
    Section { name: "keyspace", heading: "Keyspace", default: true, write: keyspace_section },
];

fn info(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let all = args[1..].iter().any(|word| is(word, "all") || is(word, "everything"));
    let defaults = args.len() == 1 || args[1..].iter().any(|word| is(word, "default"));
    let mut text = String::with_capacity(4_096);
    for section in SECTIONS {
        let named = args[1..].iter().any(|word| is(word, section.name));
        if !(all || named || (defaults && section.default)) {
            continue;
        }
        if !text.is_empty() {
            text.push_str("\r\n");
        }
        // Writing into a String cannot fail, here and below.
        let _ = write!(text, "# {}\r\n", section.heading);
        (section.write)(server, &mut text);
    }
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

fn line(text: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = write!(text, "{name}:{value}\r\n");
}

fn server_section(server: &Server, text: &mut String) {
    let uname = rustix::system::uname();
    let word = |c: &std::ffi::CStr| c.to_string_lossy().into_owned();
    let uptime = (server.engine.ks.now_ms - server.stats.started_ms) / 1_000;
    line(text, "redis_version", REDIS_VERSION);
    line(text, "redis_git_sha1", "00000000");
    line(text, "redis_git_dirty", 0);
    line(text, "redis_build_id", "0");
    line(text, "redis_mode", "standalone");
    line(
        text,
        "os",
        format_args!("{} {} {}", word(uname.sysname()), word(uname.release()), word(uname.machine())),
    );
    line(text, "arch_bits", usize::BITS);
    line(text, "monotonic_clock", "POSIX clock_gettime");
    line(text, "multiplexing_api", "epoll");
    line(text, "process_id", std::process::id());
    line(text, "process_supervised", "no");
    line(text, "run_id", &server.run_id);
    line(text, "tcp_port", server.engine.config.port);
    line(text, "server_time_usec", server.clock.wall_us());
    line(text, "uptime_in_seconds", uptime);
    line(text, "uptime_in_days", uptime / 86_400);
    line(text, "hz", server.engine.config.hz);
    line(text, "configured_hz", server.engine.config.hz);
    line(text, "lru_clock", server.engine.ks.access_clock);
    let executable = std::env::current_exe().map(|path| path.display().to_string());
    line(text, "executable", executable.unwrap_or_default());
    line(text, "config_file", server.config_file.as_deref().unwrap_or_default());
    line(text, "redae_version", env!("CARGO_PKG_VERSION"));
}

fn clients_section(server: &Server, text: &mut String) {
    let largest_input = server.clients.iter().map(|(_, client)| client.input_bytes()).max().unwrap_or(0);
    let largest_output = server.clients.iter().map(|(_, client)| client.output.len()).max().unwrap_or(0);
    line(text, "connected_clients", server.clients.len());
    line(text, "maxclients", server.engine.config.maxclients);
    line(text, "client_recent_max_input_buffer", largest_input);
    line(text, "client_recent_max_output_buffer", largest_output);
    line(text, "blocked_clients", server.blocked.len());
}

/// Resident memory of the process in bytes, as the kernel counts it.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()));
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

fn memory_section(server: &Server, text: &mut String) {
    let resident = resident_bytes();
    let maxmemory = server.engine.config.maxmemory;
    line(text, "used_memory_rss", resident);
    line(text, "used_memory_rss_human", format_human_bytes(resident));
    line(text, "maxmemory", maxmemory);
    line(text, "maxmemory_human", format_human_bytes(maxmemory));
    line(text, "maxmemory_policy", server.engine.config.maxmemory_policy.name());
    line(text, "mem_allocator", "mimalloc");
}

fn stats_section(server: &Server, text: &mut String) {
    let (stats, engine, clients) = (&server.stats, &server.engine, &server.clients);
    line(text, "total_connections_received", stats.connections_received);
    line(text, "total_commands_processed", engine.commands_processed);
    line(text, "instantaneous_ops_per_sec", stats.ops.per_second());
    line(text, "total_net_input_bytes", clients.bytes_in);
    line(text, "total_net_output_bytes", clients.bytes_out);
    line(text, "instantaneous_input_kbps", format_args!("{:.2}", stats.input.per_second() as f64 / 1_024.0));
    line(text, "instantaneous_output_kbps", format_args!("{:.2}", stats.output.per_second() as f64 / 1_024.0));
    line(text, "rejected_connections", stats.connections_rejected);
    line(text, "expired_keys", engine.ks.stats.expired);
    line(
        text,
        "expired_stale_perc",
        format_args!("{:.2}", engine.ks.stats.expired_stale_share * 100.0),
    );
    line(text, "expired_time_cap_reached_count", engine.ks.stats.expire_cycle_capped);
    line(text, "keyspace_hits", engine.ks.stats.hits);
    line(text, "keyspace_misses", engine.ks.stats.misses);
    line(text, "pubsub_channels", server.pubsub.len(Kind::Channel));
    line(text, "pubsub_patterns", server.pubsub.len(Kind::Pattern));
    line(text, "pubsubshard_channels", server.pubsub.len(Kind::Shard));
    line(text, "total_error_replies", engine.error_replies);
    line(text, "client_query_buffer_limit_disconnections", stats.query_buffer_limit_disconnections);
    line(text, "client_output_buffer_limit_disconnections", stats.output_buffer_limit_disconnections);
    for reason in [Reason::Auth, Reason::Command, Reason::Key, Reason::Channel] {
        let word = if reason == Reason::Command { "cmd" } else { reason.word() };
        line(text, &format!("acl_access_denied_{word}"), engine.acl.log.count(reason));
    }
}

fn cpu_section(_: &Server, text: &mut String) {
    let usage = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields are counted behind the command name, which may hold blanks: user and system time are the 12th and 13th.
    let fields: Vec<&str> = usage.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let seconds = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0) / ticks;
    line(text, "used_cpu_sys", format_args!("{:.6}", seconds(12)));
    line(text, "used_cpu_user", format_args!("{:.6}", seconds(11)));
}

fn command_stats_section(server: &Server, text: &mut String) {
    let per_us = server.clock.ticks_per_us();
    for (index, command) in server.engine.registry.iter() {
        let stats = server.engine.stats[index as usize];
        if stats.calls == 0 && stats.rejected == 0 && stats.failed == 0 {
            continue;
        }
        let us = stats.ticks as f64 / per_us;
        let mean = if stats.calls == 0 { 0.0 } else { us / stats.calls as f64 };
        let _ = write!(
            text,
            "cmdstat_{}:calls={},usec={},usec_per_call={mean:.2},rejected_calls={},failed_calls={}\r\n",
            command.full_name, stats.calls, us as u64, stats.rejected, stats.failed
        );
    }
}

fn error_stats_section(server: &Server, text: &mut String) {
    for (code, count) in &server.engine.errors {
        let _ = write!(text, "errorstat_{}:count={count}\r\n", String::from_utf8_lossy(code));
    }
}

fn keyspace_section(server: &Server, text: &mut String) {
    for index in 0..server.engine.ks.count() {
        let db = server.engine.ks.db(index);
        if !db.is_empty() {
            let (keys, expires) = (db.len(), db.expires_len());
            let _ = write!(text, "db{index}:keys={keys},expires={expires},avg_ttl={}\r\n", db.avg_ttl_ms);
        }
    }
}
