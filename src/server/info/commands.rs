//! INFO about commands: how often they ran, how long they took, what errors they gave.

use std::fmt::Write;

use super::super::Server;

pub(super) fn command_stats(server: &Server, text: &mut String) {
    for (index, command) in server.engine.registry.iter() {
        let stats = &server.engine.stats[index as usize];
        if stats.calls == 0 && stats.rejected == 0 && stats.failed == 0 {
            continue;
        }
        let us = server.engine.nanoseconds(stats.ticks) as f64 / 1_000.0;
        let mean = if stats.calls == 0 { 0.0 } else { us / stats.calls as f64 };
        // Writing into a String cannot fail, here and below.
        let _ = write!(
            text,
            "cmdstat_{}:calls={},usec={},usec_per_call={mean:.2},rejected_calls={},failed_calls={}\r\n",
            command.full_name, stats.calls, us as u64, stats.rejected, stats.failed
        );
    }
}

pub(super) fn error_stats(server: &Server, text: &mut String) {
    for (code, count) in server.engine.errors.iter() {
        // Characters that have a meaning in this format are replaced, as in Redis.
        let code: String = String::from_utf8_lossy(code)
            .chars()
            .map(|c| if "#:\n\r".contains(c) { '_' } else { c })
            .collect();
        let _ = write!(text, "errorstat_{code}:count={count}\r\n");
    }
}

/// Percentiles come from ranges of durations, see [`crate::base::histogram`]: they are up to an eighth too large.
pub(super) fn latency_stats(server: &Server, text: &mut String) {
    let config = &server.engine.config;
    if !config.latency_tracking {
        return;
    }
    for (index, command) in server.engine.registry.iter() {
        let Some(histogram) = &server.engine.stats[index as usize].histogram else { continue };
        let _ = write!(text, "latency_percentiles_usec_{}:", command.full_name);
        for (at, percent) in config.latency_tracking_info_percentiles.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let us = server.engine.nanoseconds(histogram.percentile(*percent)) as f64 / 1_000.0;
            let _ = write!(text, "{comma}p{percent}={us:.3}");
        }
        text.push_str("\r\n");
    }
}
