//! LATENCY: the spikes that the latency monitor has recorded, and how long commands take.

use std::fmt::Write;

use crate::base::error::CmdError;
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group};
use crate::registry::latency::{Sample, Series};

use super::{Server, ServerFn};

/// Columns of a graph; more samples go on below.
const GRAPH_COLUMNS: usize = 80;

/// Rows of a graph, above the labels.
const GRAPH_ROWS: usize = 4;

/// What one character of a graph can look like, from low to high; below them all is filled up.
const GRAPH_STEPS: [char; 3] = ['_', 'o', '#'];

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "latency",
    summary: "Groups the commands about latency spikes and latency statistics.",
    since: "2.8.13",
    group: Group::Server,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "doctor",
            summary: "Comments on the recorded latency spikes.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
            handler: Some(latency_doctor),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "graph",
            summary: "Draws the latency spikes of an event.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "event",
            tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
            handler: Some(latency_graph),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            handler: Some(latency_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "histogram",
            summary: "Returns how the durations of commands are distributed.",
            since: "7.0.0",
            group: Group::Server,
            complexity: "O(N) for N commands.",
            arity: -2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "[command...]",
            tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
            handler: Some(latency_histogram),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "history",
            summary: "Lists the latency spikes of an event.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "event",
            tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
            handler: Some(latency_history),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "latest",
            summary: "Returns the latest latency spike of each event.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
            handler: Some(latency_latest),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "reset",
            summary: "Forgets the latency spikes of some or all events.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: -2,
            flags: Flags::ADMIN.or(Flags::NOSCRIPT).or(Flags::LOADING).or(Flags::STALE),
            syntax: "[event...]",
            tips: &["request_policy:all_nodes", "response_policy:agg_sum"],
            handler: Some(latency_reset),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

fn now_secs(server: &Server) -> i64 {
    server.clock.wall_us() / 1_000_000
}

fn latency_latest(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let latest: Vec<(&str, Sample, u64)> = server
        .latency
        .events()
        .iter()
        .filter_map(|(name, series)| series.samples().last().map(|last| (*name, *last, series.worst_ms)))
        .collect();
    let mut out = server.reply(slot);
    out.array(latest.len());
    for (name, last, worst_ms) in latest {
        out.array(4);
        out.bulk(name.as_bytes());
        out.int(last.time_secs);
        out.int(last.latency_ms as i64);
        out.int(worst_ms as i64);
    }
    Ok(())
}

fn latency_history(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let samples = server.latency.get(args[2]).map_or(Vec::new(), |(_, series)| series.samples().to_vec());
    let mut out = server.reply(slot);
    out.array(samples.len());
    for sample in samples {
        out.array(2);
        out.int(sample.time_secs);
        out.int(sample.latency_ms as i64);
    }
    Ok(())
}

fn latency_reset(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let gone = match &args[2..] {
        [] => server.latency.clear(),
        events => events.iter().filter(|event| server.latency.forget(event)).count(),
    };
    server.reply(slot).len(gone);
    Ok(())
}

fn latency_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("latency", SPECS[0].subcommands));
    Ok(())
}

fn latency_histogram(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let registry = &server.engine.registry;
    let wanted: Vec<u16> = match &args[2..] {
        [] => registry.iter().map(|(index, _)| index).collect(),
        names => {
            let found = names.iter().filter_map(|name| registry.find_full(name));
            found.flat_map(|index| [&[index], registry.get(index).subcommands.as_slice()].concat()).collect()
        }
    };
    let shown: Vec<_> = wanted
        .into_iter()
        .filter_map(|index| {
            server.engine.stats[index as usize].histogram.as_ref().map(|histogram| (index, histogram))
        })
        .map(|(index, histogram)| {
            let levels = histogram.levels(|ticks| server.engine.nanoseconds(ticks));
            (registry.get(index).full_name.clone(), histogram.total(), levels)
        })
        .collect();
    let mut out = server.reply(slot);
    out.map(shown.len());
    for (name, calls, levels) in shown {
        out.bulk(name.as_bytes());
        out.map(2);
        out.bulk(b"calls");
        out.int(calls as i64);
        out.bulk(b"histogram_usec");
        out.map(levels.len());
        for (us, count) in levels {
            out.int(us as i64);
            out.int(count as i64);
        }
    }
    Ok(())
}

fn latency_graph(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let now = now_secs(server);
    let Some((event, series)) = server.latency.get(args[2]) else {
        return Err(CmdError::no_latency_samples(args[2]));
    };
    let text = graph(event, series, now);
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

/// The samples of an event as a picture of characters, each with its age below it.
fn graph(event: &str, series: &Series, now_secs: i64) -> String {
    let summary = series.summary(now_secs);
    let (low, high) = (summary.least_ms, summary.most_ms);
    // Writing into a String cannot fail, here and below.
    let mut text = format!("{event} - high {high} ms, low {low} ms (all time high {} ms)\n", series.worst_ms);
    text.push_str(&"-".repeat(GRAPH_COLUMNS));
    text.push('\n');
    for (block, samples) in series.samples().chunks(GRAPH_COLUMNS).enumerate() {
        if block > 0 {
            text.push('\n');
        }
        draw(&mut text, samples, low, high, now_secs);
    }
    text
}

fn draw(text: &mut String, samples: &[Sample], low: u64, high: u64, now_secs: i64) {
    let steps = GRAPH_ROWS * GRAPH_STEPS.len();
    let height = |sample: &Sample| {
        let share = (sample.latency_ms - low) as usize * steps / ((high - low).max(1) as usize);
        share.min(steps - 1)
    };
    for row in (0..GRAPH_ROWS).rev() {
        let base = row * GRAPH_STEPS.len();
        let character = |sample: &Sample| match height(sample).checked_sub(base) {
            None => ' ',
            Some(step) => GRAPH_STEPS.get(step).copied().unwrap_or('|'),
        };
        text.extend(samples.iter().map(character));
        text.push('\n');
    }
    let labels: Vec<Vec<char>> =
        samples.iter().map(|s| age(now_secs - s.time_secs).chars().collect()).collect();
    let longest = labels.iter().map(Vec::len).max().unwrap_or(0);
    text.push_str(&" ".repeat(samples.len()));
    text.push('\n');
    for line in 0..longest {
        text.extend(labels.iter().map(|label| label.get(line).copied().unwrap_or(' ')));
        text.push('\n');
    }
}

fn age(secs: i64) -> String {
    match secs {
        ..60 => format!("{secs}s"),
        60..3_600 => format!("{}m", secs / 60),
        3_600..86_400 => format!("{}h", secs / 3_600),
        _ => format!("{}d", secs / 86_400),
    }
}

fn latency_doctor(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let text = report(server);
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

/// What can be said about the recorded spikes, and what may help.
fn report(server: &Server) -> String {
    let (events, threshold_ms) = (server.latency.events(), server.engine.config.latency_monitor_threshold);
    if events.is_empty() && threshold_ms == 0 {
        return "The latency monitor is off, so there is nothing to tell. Switch it on with CONFIG SET \
                latency-monitor-threshold <milliseconds>, and come back later.\n"
            .to_owned();
    }
    if events.is_empty() {
        return format!(
            "Nothing has taken {threshold_ms} ms or longer since the records begin. All is well.\n"
        );
    }
    let now = now_secs(server);
    let mut text = String::from("Some things took longer than they should:\n\n");
    for (at, (name, series)) in events.iter().enumerate() {
        let summary = series.summary(now);
        let _ = writeln!(
            text,
            "{}. {name}: {} latency spikes (average {}ms, mean deviation {}ms, period {:.2} sec). Worst all time \
             event {}ms.",
            at + 1,
            summary.count,
            summary.mean_ms,
            summary.mean_deviation_ms,
            summary.span_secs as f64 / summary.count as f64,
            series.worst_ms
        );
    }
    let advice = advice(server);
    text.push_str(if advice.is_empty() {
        "\nThere is no simple advice for these.\n"
    } else {
        "\nWhat may help:\n\n"
    });
    for line in advice {
        let _ = writeln!(text, "- {line}");
    }
    text
}

fn advice(server: &Server) -> Vec<String> {
    let config = &server.engine.config;
    let occurred = |event: &str| server.latency.events().contains_key(event);
    let threshold_us = config.latency_monitor_threshold.saturating_mul(1_000);
    let mut lines = Vec::new();
    if occurred("command") {
        if config.slowlog_log_slower_than < 0 {
            lines.push(format!(
                "The slow log is off. CONFIG SET slowlog-log-slower-than {threshold_us} makes it show which commands \
                 are slow."
            ));
        } else if config.slowlog_log_slower_than > threshold_us {
            lines.push(format!(
                "The slow log misses some of these commands. CONFIG SET slowlog-log-slower-than {threshold_us} makes \
                 it show all of them."
            ));
        }
        lines.push(
            "SLOWLOG GET lists the slow commands. Commands over whole keys, like KEYS, SMEMBERS or HGETALL, \
             take time with the size of the key: ask for parts, or use the SCAN family."
                .to_owned(),
        );
    }
    if occurred("fast-command") {
        lines.push("Commands that touch a single element were slow: most likely the process did not get the processor. \
             Look for other load on this machine, and compare with redis-cli --intrinsic-latency 100."
            .to_owned());
    }
    if occurred("expire-cycle") {
        lines.push(
            "Many keys, or large ones, expire at the same time. Spread their times to live, or lower \
             active-expire-effort."
                .to_owned(),
        );
    }
    if occurred("eviction-cycle") {
        lines.push(
            "Keys are evicted in bursts: raise maxmemory, or avoid commands that need much memory at once."
                .to_owned(),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::latency::LatencyMonitor;

    #[test]
    fn graph_shows_heights_and_ages() {
        let mut monitor = LatencyMonitor::default();
        for (time, ms) in [(100, 10), (4_000, 400), (4_050, 200), (4_090, 100)] {
            monitor.add("command", time, ms);
        }
        let text = graph("command", &monitor.events()["command"], 4_100);
        let want = [
            "command - high 400 ms, low 10 ms (all time high 400 ms)".to_owned(),
            "-".repeat(80),
            " #  ".to_owned(),
            " |  ".to_owned(),
            " |# ".to_owned(),
            "_||#".to_owned(),
            "    ".to_owned(),
            "1151".to_owned(),
            "hm00".to_owned(),
            "  ss".to_owned(),
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), want);
    }
}
