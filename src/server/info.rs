//! INFO: the state of the server in lines of `name:value`, grouped under headings that programs look for.

use std::fmt::Write;

use crate::base::error::CmdError;
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group};

use super::{Server, ServerFn};

#[path = "info/about.rs"]
mod about;
#[path = "info/commands.rs"]
mod commands;
#[path = "info/counters.rs"]
mod counters;

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
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
}];

/// A section: its names in lower case, its heading, whether INFO shows it without being asked, and what writes it.
struct Section {
    names: &'static [&'static str],
    heading: &'static str,
    default: bool,
    write: fn(&Server, &mut String),
}

const fn section(
    names: &'static [&'static str],
    heading: &'static str,
    default: bool,
    write: fn(&Server, &mut String),
) -> Section {
    Section { names, heading, default, write }
}

/// In Redis's order: programs read INFO from top to bottom.
const SECTIONS: &[Section] = &[
    section(&["server"], "Server", true, about::server),
    section(&["clients"], "Clients", true, about::clients),
    section(&["memory"], "Memory", true, super::memory::section),
    section(&["persistence"], "Persistence", true, counters::persistence),
    section(&["stats"], "Stats", true, counters::stats),
    section(&["replication"], "Replication", true, about::replication),
    section(&["cpu"], "CPU", true, about::cpu),
    section(&["modules", "module_list"], "Modules", true, about::modules),
    section(&["commandstats"], "Commandstats", false, commands::command_stats),
    section(&["errorstats"], "Errorstats", true, commands::error_stats),
    section(&["latencystats"], "Latencystats", false, commands::latency_stats),
    section(&["cluster"], "Cluster", true, about::cluster),
    section(&["keyspace"], "Keyspace", true, about::keyspace),
];

/// Shown to those who name it only: `all` and `everything` leave it out.
const DEBUG: Section = section(&["debug"], "Debug", false, counters::debug);

fn info(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let all = args[1..].iter().any(|word| is(word, "all") || is(word, "everything"));
    let defaults = args.len() == 1 || args[1..].iter().any(|word| is(word, "default"));
    let mut text = String::with_capacity(4_096);
    for section in SECTIONS.iter().chain([&DEBUG]) {
        let named = args[1..].iter().any(|word| section.names.iter().any(|name| is(word, name)));
        let all = all && section.heading != DEBUG.heading;
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
