//! The generated reference pages: every command from the registry. Kept fresh by `tests/docs.rs`.

use std::fmt::Write;

use crate::cmd::spec::Group;
use crate::cmd::syntax;
use crate::exec::registry::{Command, Registry};

/// docs/commands.md: a table for each family.
pub fn commands_markdown() -> String {
    let (registry, _) = Registry::new(crate::cmd::FAMILIES, super::FAMILIES);
    let total = registry.len();
    let mut page = format!(
        "# Commands\n\nGenerated from the command table by `make docs`; do not edit. {} commands, {total} with \
         sub-commands.\n",
        registry.top_level().len()
    );
    for group in GROUPS {
        let mut commands: Vec<&Command> =
            registry.iter().map(|(_, command)| command).filter(|command| command.group == *group).collect();
        if commands.is_empty() {
            continue;
        }
        commands.sort_by(|a, b| a.full_name.cmp(&b.full_name));
        // Writing into a String cannot fail, here and below.
        let _ = write!(page, "\n## {}\n\n", group.name());
        page.push_str("| Command | Arguments | Since | Summary |\n|---|---|---|---|\n");
        for command in commands {
            let _ = writeln!(page, "{}", row(command));
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

fn row(command: &Command) -> String {
    let arguments = syntax::parse(command.syntax).expect("a test parses the syntax of every command");
    let name = command.full_name.to_uppercase().replace('|', " ");
    // A bar would end the cell.
    let synopsis = syntax::synopsis(&arguments).replace('|', "\\|");
    let synopsis = if synopsis.is_empty() { String::new() } else { format!("`{synopsis}`") };
    format!("| {name} | {synopsis} | {} | {} |", command.since, command.summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::spec::{Flags, KeyFlags};

    fn registry() -> Registry {
        Registry::new(crate::cmd::FAMILIES, super::super::FAMILIES).0
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
