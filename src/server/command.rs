//! COMMAND: what the server can do, derived from the registry for client libraries and redis-cli's hints.

use crate::base::error::CmdError;
use crate::base::glob;
use crate::cmd::help;
use crate::cmd::keys_of::{self, keys_of};
use crate::cmd::spec::{Acl, Begin, CommandSpec, Find, Flags, Group, KeyFlags, KeySpec};
use crate::cmd::syntax::{self, Arg};
use crate::exec::registry::{Command, Registry};
use crate::proto::reply::Reply;

use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "command",
    summary: "Describes all commands to client libraries.",
    since: "2.8.13",
    group: Group::Server,
    complexity: "O(N) for N commands.",
    arity: -1,
    flags: Flags::LOADING.or(Flags::STALE),
    acl: Acl::CONNECTION,
    tips: &["nondeterministic_output_order"],
    subcommands: &[
        CommandSpec {
            name: "count",
            summary: "Counts the commands.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            handler: Some(command_count),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "docs",
            summary: "Returns the documentation of commands.",
            since: "7.0.0",
            group: Group::Server,
            complexity: "O(N) for N commands.",
            arity: -2,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "[command-name...]",
            tips: &["nondeterministic_output_order"],
            handler: Some(command_docs),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "getkeys",
            summary: "Finds the keys in a full command line.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(N) for N arguments.",
            arity: -3,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "command [arg...]",
            handler: Some(command_getkeys),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "getkeysandflags",
            summary: "Finds the keys in a full command line, and how each is accessed.",
            since: "7.0.0",
            group: Group::Server,
            complexity: "O(N) for N arguments.",
            arity: -3,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "command [arg...]",
            handler: Some(command_getkeysandflags),
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
            acl: Acl::CONNECTION,
            handler: Some(command_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "info",
            summary: "Describes the given commands to client libraries.",
            since: "2.8.13",
            group: Group::Server,
            complexity: "O(N) for N commands.",
            arity: -2,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "[command-name...]",
            tips: &["nondeterministic_output_order"],
            handler: Some(command_info),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "list",
            summary: "Lists the names of commands.",
            since: "7.0.0",
            group: Group::Server,
            complexity: "O(N) for N commands.",
            arity: -2,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::CONNECTION,
            syntax: "[FILTERBY filterby(MODULE module-name|ACLCAT category|PATTERN pattern:pattern)]",
            tips: &["nondeterministic_output_order"],
            handler: Some(command_list),
            ..CommandSpec::DEFAULT
        },
    ],
    handler: Some(command),
    ..CommandSpec::DEFAULT
}];

/// The registry beside the reply writer of a client.
fn parts(server: &mut Server, slot: usize) -> (&Registry, Reply<'_>) {
    let client = server.clients.output(slot);
    let resp3 = client.session.resp3();
    let sink = if client.session.muted() { &mut server.discard } else { &mut client.output };
    (&server.engine.registry, Reply::new(sink, resp3))
}

fn command(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let (registry, mut out) = parts(server, slot);
    out.array(registry.top_level().len());
    for &index in registry.top_level() {
        write_info(registry, registry.get(index), &mut out);
    }
    Ok(())
}

fn command_count(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let (registry, mut out) = parts(server, slot);
    out.len(registry.top_level().len());
    Ok(())
}

fn command_info(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    if args.len() == 2 {
        return command(server, slot, args);
    }
    let (registry, mut out) = parts(server, slot);
    out.array(args.len() - 2);
    for name in &args[2..] {
        match registry.find_full(name) {
            Some(index) => write_info(registry, registry.get(index), &mut out),
            None => out.null_array(),
        }
    }
    Ok(())
}

fn command_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("command", SPECS[0].subcommands));
    Ok(())
}

fn command_list(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let filter: Box<dyn Fn(&Command) -> bool> = match &args[2..] {
        [] => Box::new(|_| true),
        [by, kind, value] if by.eq_ignore_ascii_case(b"filterby") => {
            if kind.eq_ignore_ascii_case(b"module") {
                // There are no modules, so no command comes from one.
                Box::new(|_| false)
            } else if kind.eq_ignore_ascii_case(b"aclcat") {
                let category =
                    Acl::WORDS.iter().find(|(_, word)| word.as_bytes().eq_ignore_ascii_case(value));
                let bit = category.map_or(Acl::NONE, |(bit, _)| *bit);
                Box::new(move |command| command.acl.any(bit))
            } else if kind.eq_ignore_ascii_case(b"pattern") {
                let pattern = value.to_vec();
                Box::new(move |command| glob::matches(&pattern, command.full_name.as_bytes(), true))
            } else {
                return Err(CmdError::SYNTAX);
            }
        }
        _ => return Err(CmdError::SYNTAX),
    };
    let (registry, mut out) = parts(server, slot);
    let listed = registry.iter().filter(|(_, command)| filter(command));
    let names: Vec<&str> = listed.map(|(_, c)| c.full_name.as_str()).collect();
    out.array(names.len());
    for name in names {
        out.bulk(name.as_bytes());
    }
    Ok(())
}

/// COMMAND INFO of one command: ten fields, the last its sub-commands.
fn write_info(registry: &Registry, command: &Command, out: &mut Reply) {
    let (first, last, step) = keys_of::legacy_range(command.keys);
    out.array(10);
    out.bulk(command.full_name.as_bytes());
    out.int(i64::from(command.arity));
    let words: Vec<&str> = command.flags.words().collect();
    out.set(words.len());
    words.iter().for_each(|word| out.simple(word));
    out.int(first);
    out.int(last);
    out.int(step);
    let categories: Vec<&str> = command.acl.words().collect();
    out.set(categories.len());
    categories.iter().for_each(|word| out.simple(&format!("@{word}")));
    out.set(command.tips.len());
    command.tips.iter().for_each(|tip| out.bulk(tip.as_bytes()));
    out.set(command.keys.len());
    command.keys.iter().for_each(|spec| write_key_spec(spec, out));
    // A set only where there are none, as in Redis.
    match command.subcommands.len() {
        0 => out.set(0),
        count => out.array(count),
    }
    for &sub in &command.subcommands {
        write_info(registry, registry.get(sub), out);
    }
}

fn field(out: &mut Reply, name: &str, value: &str) {
    out.bulk(name.as_bytes());
    out.bulk(value.as_bytes());
}

fn int_field(out: &mut Reply, name: &str, value: i64) {
    out.bulk(name.as_bytes());
    out.int(value);
}

fn write_key_spec(spec: &KeySpec, out: &mut Reply) {
    out.map(if spec.notes.is_empty() { 3 } else { 4 });
    if !spec.notes.is_empty() {
        field(out, "notes", spec.notes);
    }
    out.bulk(b"flags");
    let words: Vec<&str> = spec.flags.words().collect();
    out.set(words.len());
    words.iter().for_each(|word| out.simple(word));
    out.bulk(b"begin_search");
    out.map(2);
    match spec.begin {
        Begin::Index(index) => {
            field(out, "type", "index");
            out.bulk(b"spec");
            out.map(1);
            int_field(out, "index", i64::from(index));
        }
        Begin::Keyword { word, start_from } => {
            field(out, "type", "keyword");
            out.bulk(b"spec");
            out.map(2);
            field(out, "keyword", word);
            int_field(out, "startfrom", i64::from(start_from));
        }
        Begin::Unknown => write_unknown(out),
    }
    out.bulk(b"find_keys");
    out.map(2);
    match spec.find {
        Find::Range { last, step, limit } => {
            field(out, "type", "range");
            out.bulk(b"spec");
            out.map(3);
            int_field(out, "lastkey", i64::from(last));
            int_field(out, "keystep", i64::from(step));
            int_field(out, "limit", i64::from(limit));
        }
        Find::KeyNum { at, first, step } => {
            field(out, "type", "keynum");
            out.bulk(b"spec");
            out.map(3);
            int_field(out, "keynumidx", i64::from(at));
            int_field(out, "firstkey", i64::from(first));
            int_field(out, "keystep", i64::from(step));
        }
        Find::Unknown => write_unknown(out),
    }
}

fn write_unknown(out: &mut Reply) {
    field(out, "type", "unknown");
    out.bulk(b"spec");
    out.map(0);
}

fn command_docs(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let (registry, mut out) = parts(server, slot);
    let wanted: Vec<u16> = if args.len() == 2 {
        registry.top_level().to_vec()
    } else {
        args[2..].iter().filter_map(|name| registry.find_full(name)).collect()
    };
    out.map(wanted.len());
    for index in wanted {
        write_docs(registry, registry.get(index), &mut out);
    }
    Ok(())
}

fn write_docs(registry: &Registry, command: &Command, out: &mut Reply) {
    let arguments = syntax::parse(command.syntax).expect("a test parses the syntax of every command");
    out.bulk(command.full_name.as_bytes());
    let doc_flags: Vec<&str> =
        [(command.deprecated.is_some(), "deprecated"), (command.flags.any(Flags::SYSCMD), "syscmd")]
            .into_iter()
            .filter_map(|(on, word)| on.then_some(word))
            .collect();
    let fields = 3
        + usize::from(!command.complexity.is_empty())
        + usize::from(!doc_flags.is_empty())
        + if command.deprecated.is_some() { 2 } else { 0 }
        + usize::from(!arguments.is_empty())
        + usize::from(command.is_container());
    out.map(fields);
    field(out, "summary", command.summary);
    field(out, "since", command.since);
    field(out, "group", command.group.name());
    if !command.complexity.is_empty() {
        field(out, "complexity", command.complexity);
    }
    if !doc_flags.is_empty() {
        out.bulk(b"doc_flags");
        out.set(doc_flags.len());
        doc_flags.iter().for_each(|word| out.simple(word));
    }
    if let Some(deprecated) = command.deprecated {
        field(out, "deprecated_since", deprecated.since);
        field(out, "replaced_by", deprecated.replaced_by);
    }
    if !arguments.is_empty() {
        out.bulk(b"arguments");
        write_arguments(&arguments, out);
    }
    if command.is_container() {
        out.bulk(b"subcommands");
        out.map(command.subcommands.len());
        for &sub in &command.subcommands {
            write_docs(registry, registry.get(sub), out);
        }
    }
}

fn write_arguments(arguments: &[Arg], out: &mut Reply) {
    out.array(arguments.len());
    for arg in arguments {
        write_argument(arg, out);
    }
}

fn write_argument(arg: &Arg, out: &mut Reply) {
    let flags: Vec<&str> =
        [(arg.optional, "optional"), (arg.multiple, "multiple"), (arg.multiple_token, "multiple_token")]
            .into_iter()
            .filter_map(|(on, word)| on.then_some(word))
            .collect();
    let texts = [
        ("display_text", arg.display_text()),
        ("token", arg.token),
        ("since", arg.since),
        ("deprecated_since", arg.deprecated_since),
    ];
    let [display, token, since, deprecated] = texts;
    let count = 2
        + texts.iter().filter(|(_, text)| text.is_some()).count()
        + usize::from(arg.key_spec_index.is_some())
        + usize::from(!flags.is_empty())
        + usize::from(!arg.children.is_empty());
    out.map(count);
    field(out, "name", &arg.name);
    field(out, "type", arg.kind.name());
    let text = |out: &mut Reply, (name, text): (&str, Option<&str>)| {
        if let Some(text) = text {
            field(out, name, text);
        }
    };
    text(out, display);
    if let Some(index) = arg.key_spec_index {
        int_field(out, "key_spec_index", i64::from(index));
    }
    text(out, token);
    text(out, since);
    text(out, deprecated);
    if !flags.is_empty() {
        out.bulk(b"flags");
        out.set(flags.len());
        flags.iter().for_each(|word| out.simple(word));
    }
    if !arg.children.is_empty() {
        out.bulk(b"arguments");
        write_arguments(&arg.children, out);
    }
}

fn command_getkeys(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let keys = keys_in(server, &args[2..])?;
    let mut out = server.reply(slot);
    out.array(keys.len());
    for (index, _) in keys {
        out.bulk(args[2 + index]);
    }
    Ok(())
}

fn command_getkeysandflags(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let keys = keys_in(server, &args[2..])?;
    let mut out = server.reply(slot);
    out.array(keys.len());
    for (index, flags) in keys {
        out.array(2);
        out.bulk(args[2 + index]);
        let words: Vec<&str> = flags.words().collect();
        out.set(words.len());
        words.iter().for_each(|word| out.simple(word));
    }
    Ok(())
}

/// Places and flags of the keys in a full command line.
fn keys_in(server: &Server, line: &[&[u8]]) -> Result<Vec<keys_of::Key>, CmdError> {
    let registry = &server.engine.registry;
    let command = registry.get(registry.resolve(line).map_err(|_| CmdError::INVALID_COMMAND)?);
    if command.keys.iter().all(|spec| spec.flags.any(KeyFlags::NOT_KEY)) {
        return Err(CmdError::NO_KEY_ARGUMENTS);
    }
    if !command.fits(line.len()) {
        return Err(CmdError::INVALID_COMMAND_ARGUMENTS);
    }
    let keys = keys_of(command, line)
        .ok_or_else(|| CmdError::fixed("ERR Invalid arguments specified for command"))?;
    if keys.is_empty() && !command.flags.any(Flags::NO_MANDATORY_KEYS) {
        return Err(CmdError::fixed("ERR Invalid arguments specified for command"));
    }
    Ok(keys)
}
