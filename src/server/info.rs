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

/// Who sees a section without naming it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    /// Nobody.
    WhenNamed,
    /// Who asks for `all` or `everything`.
    ToAll,
    /// Everybody.
    ByDefault,
}

use Shown::{ByDefault, ToAll, WhenNamed};

/// A section: its names in lower case, its heading, who sees it, and what writes it.
struct Section {
    names: &'static [&'static str],
    heading: &'static str,
    shown: Shown,
    write: fn(&Server, &mut String),
}

const fn section(
    names: &'static [&'static str],
    heading: &'static str,
    shown: Shown,
    write: fn(&Server, &mut String),
) -> Section {
    Section { names, heading, shown, write }
}

/// In Redis's order: programs read INFO from top to bottom.
const SECTIONS: &[Section] = &[
    section(&["server"], "Server", ByDefault, about::server),
    section(&["clients"], "Clients", ByDefault, about::clients),
    section(&["memory"], "Memory", ByDefault, super::memory::section),
    section(&["persistence"], "Persistence", ByDefault, counters::persistence),
    section(&["stats"], "Stats", ByDefault, counters::stats),
    section(&["replication"], "Replication", ByDefault, about::replication),
    section(&["cpu"], "CPU", ByDefault, about::cpu),
    section(&["modules", "module_list"], "Modules", ByDefault, about::modules),
    section(&["commandstats"], "Commandstats", ToAll, commands::command_stats),
    section(&["errorstats"], "Errorstats", ByDefault, commands::error_stats),
    section(&["latencystats"], "Latencystats", ToAll, commands::latency_stats),
    section(&["cluster"], "Cluster", ByDefault, about::cluster),
    section(&["keyspace"], "Keyspace", ByDefault, about::keyspace),
    section(&["debug"], "Debug", WhenNamed, counters::debug),
];

fn info(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let all = args[1..].iter().any(|word| is(word, "all") || is(word, "everything"));
    let default = args.len() == 1 || args[1..].iter().any(|word| is(word, "default"));
    let mut text = String::with_capacity(4_096);
    for section in SECTIONS {
        let named = args[1..].iter().any(|word| section.names.iter().any(|name| is(word, name)));
        if !(named || (all && section.shown >= ToAll) || (default && section.shown == ByDefault)) {
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
