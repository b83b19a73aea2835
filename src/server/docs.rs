//! The generated reference page of all commands, from the registry and from the list of those to come. Kept fresh by
//! `tests/docs.rs`.

use std::fmt::Write;

use crate::cmd::spec::Group;
use crate::cmd::syntax;
use crate::exec::registry::{Command, Registry};

mod later;

use later::LATER;

/// docs/commands.md: a table for each family.
pub fn commands_markdown() -> String {
    let (registry, _) = Registry::new(crate::cmd::FAMILIES, super::FAMILIES);
    let total = registry.len();
    let mut page = format!(
        "# Commands\n\nGenerated from the command table by `make docs`; do not edit. {} commands, {total} with \
         sub-commands. {} of Redis 7.4 are still to come; they are marked with what they wait for.\n",
        registry.top_level().len(),
        LATER.len()
    );
    for group in GROUPS {
        let here = registry.iter().filter(|(_, command)| command.group == *group);
        let mut rows: Vec<(String, String)> = here.map(|(_, command)| row(command)).collect();
        rows.extend(LATER.iter().filter(|later| later.group == *group).map(|later| {
            let text = format!(
                "| *{}* | | {} | {} **Later: {}.** |",
                later.name, later.since, later.summary, later.awaits
            );
            (later.name.to_owned(), text)
        }));
        if rows.is_empty() {
            continue;
        }
        rows.sort();
        // Writing into a String cannot fail, here and below.
        let _ = write!(page, "\n## {}\n\n", group.name());
        page.push_str("| Command | Arguments | Since | Summary |\n|---|---|---|---|\n");
        for (_, row) in rows {
            let _ = writeln!(page, "{row}");
        }
    }
    page
}

const GROUPS: &[Group] = &[
    Group::Generic,
    Group::String,
    Group::Bitmap,
    Group::List,
    Group::Set,
    Group::SortedSet,
    Group::Hash,
    Group::Stream,
    Group::Hyperloglog,
    Group::Geo,
    Group::Pubsub,
    Group::Transactions,
    Group::Scripting,
    Group::Connection,
    Group::Server,
    Group::Cluster,
];

/// The name to sort by, and the row.
fn row(command: &Command) -> (String, String) {
    let arguments = syntax::parse(command.syntax).expect("a test parses the syntax of every command");
    let name = command.full_name.to_uppercase().replace('|', " ");
    // A bar would end the cell.
    let synopsis = syntax::synopsis(&arguments).replace('|', "\\|");
    let synopsis = if synopsis.is_empty() { String::new() } else { format!("`{synopsis}`") };
    let text = format!("| {name} | {synopsis} | {} | {} |", command.since, command.summary);
    (name, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::spec::{Flags, KeyFlags};

    fn registry() -> Registry {
        Registry::new(crate::cmd::FAMILIES, super::super::FAMILIES).0
    }

    /// Redis 7.4.0 answers 250 to COMMAND COUNT: 240 of 7.0, WAITAOF, and nine about the expiry of fields. HGETDEL,
    /// HGETEX and HSETEX are 8.0's.
    #[test]
    fn no_command_of_redis_is_missing_from_the_page() {
        let registry = registry();
        let names: Vec<String> =
            registry.iter().map(|(_, command)| command.full_name.to_uppercase().replace('|', " ")).collect();
        for later in LATER {
            assert!(
                !names.iter().any(|name| name == later.name),
                "{} is there: take its row away",
                later.name
            );
            assert!(GROUPS.contains(&later.group) && later.summary.ends_with('.'), "{}", later.name);
        }
        let to_come = LATER.iter().filter(|later| !later.name.contains(' ')).count();
        assert_eq!(registry.top_level().len() + to_come, 250 + 3);
    }

    #[test]
    fn every_declaration_is_whole() {
        for (_, command) in registry().iter() {
            let name = &command.full_name;
            assert_eq!(command.name, command.name.to_lowercase(), "{name}");
            assert!(command.summary.ends_with('.'), "{name}: a summary is a sentence");
            assert!(!command.since.is_empty(), "{name}");
            assert_ne!(command.arity, 0, "{name}");
            assert!(GROUPS.contains(&command.group), "{name}");
            let both = command.flags.any(Flags::WRITE) && command.flags.any(Flags::READONLY);
            assert!(!both, "{name} cannot both write and only read");
        }
    }

    #[test]
    fn names_are_unique() {
        let registry = registry();
        let mut names: Vec<&str> = registry.iter().map(|(_, command)| command.full_name.as_str()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_syntax_line_parses_and_names_existing_key_specs() {
        fn check(args: &[syntax::Arg], specs: usize, name: &str) {
            for arg in args {
                assert!(
                    arg.key_spec_index.is_none_or(|index| (index as usize) < specs),
                    "{name}: {}",
                    arg.name
                );
                check(&arg.children, specs, name);
            }
        }
        for (_, command) in registry().iter() {
            let args = syntax::parse(command.syntax);
            let args = args.unwrap_or_else(|error| panic!("{}: {error}", command.full_name));
            check(&args, command.keys.len(), &command.full_name);
        }
    }

    #[test]
    fn commands_that_write_keys_say_so() {
        for (_, command) in registry().iter() {
            let changes = KeyFlags::RW.or(KeyFlags::OW).or(KeyFlags::RM);
            if command.keys.iter().any(|spec| spec.flags.any(changes)) {
                // PFCOUNT caches its result in the key and calls that no write.
                let writes = command.flags.any(Flags::WRITE.or(Flags::MAY_REPLICATE));
                assert!(writes, "{} changes keys but is no write", command.full_name);
            }
        }
    }

    #[test]
    fn look_up_ignores_case_and_knows_every_name() {
        let registry = registry();
        for (index, command) in registry.iter() {
            assert_eq!(registry.find_full(command.full_name.to_uppercase().as_bytes()), Some(index));
        }
        assert_eq!(registry.find(b"nosuchcommand"), None);
        assert_eq!(registry.find(b""), None);
    }
}
