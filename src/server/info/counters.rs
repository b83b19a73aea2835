//! INFO about what has happened: counters since the start or the last CONFIG RESETSTAT, and persistence.

use crate::acl::Reason;
use crate::cmd::spec::Flags;
use crate::registry::pubsub::Kind;

use super::super::Server;
use super::line;

/// Nothing is loaded or saved in this version; what is said about that is what Redis says with `save ""`.
pub(super) fn persistence(server: &Server, text: &mut String) {
    line(text, "loading", 0);
    line(text, "async_loading", 0);
    line(text, "current_cow_peak", 0);
    line(text, "current_cow_size", 0);
    line(text, "current_cow_size_age", 0);
    line(text, "current_fork_perc", "0.00");
    line(text, "current_save_keys_processed", 0);
    line(text, "current_save_keys_total", 0);
    line(text, "rdb_changes_since_last_save", server.engine.ks.signals.dirty);
    line(text, "rdb_bgsave_in_progress", 0);
    line(text, "rdb_last_save_time", server.stats.started_ms / 1_000);
    line(text, "rdb_last_bgsave_status", "ok");
    line(text, "rdb_last_bgsave_time_sec", -1);
    line(text, "rdb_current_bgsave_time_sec", -1);
    line(text, "rdb_saves", 0);
    line(text, "rdb_last_cow_size", 0);
    line(text, "rdb_last_load_keys_expired", 0);
    line(text, "rdb_last_load_keys_loaded", 0);
    line(text, "aof_enabled", 0);
    line(text, "aof_rewrite_in_progress", 0);
    line(text, "aof_rewrite_scheduled", 0);
    line(text, "aof_last_rewrite_time_sec", -1);
    line(text, "aof_current_rewrite_time_sec", -1);
    line(text, "aof_last_bgrewrite_status", "ok");
    line(text, "aof_rewrites", 0);
    line(text, "aof_rewrites_consecutive_failures", 0);
    line(text, "aof_last_write_status", "ok");
    line(text, "aof_last_cow_size", 0);
    line(text, "module_fork_in_progress", 0);
    line(text, "module_fork_last_cow_size", 0);
}

pub(super) fn stats(server: &Server, text: &mut String) {
    traffic(server, text);
    keys(server, text);
    not_here(
        text,
        &["latest_fork_usec", "total_forks", "migrate_cached_sockets", "slave_expires_tracked_keys"],
    );
    not_here(text, &["active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits"]);
    not_here(text, &["active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time"]);
    line(text, "tracking_total_keys", server.tracking.keys_len());
    line(text, "tracking_total_items", server.tracking.items_len());
    line(text, "tracking_total_prefixes", server.tracking.prefixes_len());
    line(text, "unexpected_error_replies", 0);
    line(text, "total_error_replies", server.engine.error_replies);
    line(text, "dump_payload_sanitizations", 0);
    line(text, "total_reads_processed", server.clients.reads);
    line(text, "total_writes_processed", server.clients.writes);
    not_here(text, &["io_threaded_reads_processed", "io_threaded_writes_processed"]);
    line(text, "client_query_buffer_limit_disconnections", server.stats.query_buffer_limit_disconnections);
    line(text, "client_output_buffer_limit_disconnections", server.stats.output_buffer_limit_disconnections);
    line(text, "reply_buffer_shrinks", server.stats.reply_buffer_shrinks);
    line(text, "reply_buffer_expands", server.stats.reply_buffer_expands);
    event_loop(server, text);
    for reason in [Reason::Auth, Reason::Command, Reason::Key, Reason::Channel] {
        let word = if reason == Reason::Command { "cmd" } else { reason.word() };
        line(text, &format!("acl_access_denied_{word}"), server.engine.acl.log.count(reason));
    }
}

/// Counters of things that this server does not do.
fn not_here(text: &mut String, names: &[&str]) {
    names.iter().for_each(|name| line(text, name, 0));
}

fn traffic(server: &Server, text: &mut String) {
    let (stats, clients) = (&server.stats, &server.clients);
    let kbps = |bytes_per_sec: u64| format!("{:.2}", bytes_per_sec as f64 / 1_024.0);
    line(text, "total_connections_received", stats.connections_received);
    line(text, "total_commands_processed", server.engine.commands_processed);
    line(text, "instantaneous_ops_per_sec", stats.ops.per_second());
    line(text, "total_net_input_bytes", clients.bytes_in);
    line(text, "total_net_output_bytes", clients.bytes_out);
    not_here(text, &["total_net_repl_input_bytes", "total_net_repl_output_bytes"]);
    line(text, "instantaneous_input_kbps", kbps(stats.input.per_second()));
    line(text, "instantaneous_output_kbps", kbps(stats.output.per_second()));
    line(text, "instantaneous_input_repl_kbps", "0.00");
    line(text, "instantaneous_output_repl_kbps", "0.00");
    line(text, "rejected_connections", stats.connections_rejected);
    not_here(text, &["sync_full", "sync_partial_ok", "sync_partial_err"]);
}

fn keys(server: &Server, text: &mut String) {
    let stats = &server.engine.ks.stats;
    line(text, "expired_subkeys", stats.expired_fields);
    line(text, "expired_keys", stats.expired);
    line(text, "expired_stale_perc", format_args!("{:.2}", stats.expired_stale_share * 100.0));
    line(text, "expired_time_cap_reached_count", stats.expire_cycle_capped);
    line(text, "expire_cycle_cpu_milliseconds", server.stats.expire_cycle_us / 1_000);
    line(text, "evicted_keys", stats.evicted);
    line(text, "evicted_clients", server.reclaim.evicted_clients);
    not_here(text, &["evicted_scripts"]);
    let (exceeded_us, exceeded_now_us) = server.reclaim.exceeded_us(server.clock.mono_us());
    line(text, "total_eviction_exceeded_time", exceeded_us / 1_000);
    line(text, "current_eviction_exceeded_time", exceeded_now_us / 1_000);
    line(text, "keyspace_hits", stats.hits);
    line(text, "keyspace_misses", stats.misses);
    line(text, "pubsub_channels", server.pubsub.len(Kind::Channel));
    line(text, "pubsub_patterns", server.pubsub.len(Kind::Pattern));
    line(text, "pubsubshard_channels", server.pubsub.len(Kind::Shard));
}

/// There is no append-only file in this version that would take time.
pub(super) fn debug(server: &Server, text: &mut String) {
    let stats = &server.stats;
    line(text, "eventloop_duration_aof_sum", 0);
    line(text, "eventloop_duration_cron_sum", stats.cron_us);
    line(text, "eventloop_duration_max", server.engine.nanoseconds(stats.turn_ticks_max) / 1_000);
    line(text, "eventloop_cmd_per_cycle_max", stats.turn_commands_max);
}

fn event_loop(server: &Server, text: &mut String) {
    let us = |ticks: u64| server.engine.nanoseconds(ticks) / 1_000;
    let stats = &server.stats;
    // EXEC takes as long as what it runs, which is counted by itself.
    let commands = server.engine.registry.iter().filter(|(_, command)| !command.flags.any(Flags::RUNS_QUEUE));
    let command_ticks: u64 = commands.map(|(index, _)| server.engine.stats[index as usize].ticks).sum();
    line(text, "eventloop_cycles", stats.turns);
    line(text, "eventloop_duration_sum", us(stats.busy_ticks));
    line(text, "eventloop_duration_cmd_sum", us(command_ticks));
    line(text, "instantaneous_eventloop_cycles_per_sec", stats.turn_rate.per_second());
    let mean_ticks = stats.busy_rate.per_second().checked_div(stats.turn_rate.per_second());
    line(text, "instantaneous_eventloop_duration_usec", us(mean_ticks.unwrap_or(0)));
}
