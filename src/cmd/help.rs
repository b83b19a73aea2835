//! What `<container> HELP` answers, derived from the declarations of the sub-commands. Touches its siblings only.

use super::spec::CommandSpec;
use super::syntax;

/// The lines of the answer, each to be sent as a status: a headline, then the sub-commands by name, each with its
/// arguments and, indented below, what it does; HELP itself comes last.
pub fn lines<F>(container: &str, subs: &[CommandSpec<F>]) -> Vec<String> {
    let mut sorted: Vec<&CommandSpec<F>> = subs.iter().filter(|sub| sub.name != "help").collect();
    sorted.sort_unstable_by_key(|sub| sub.name);
    let container = container.to_ascii_uppercase();
    let mut lines = vec![format!("{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")];
    for sub in sorted {
        lines.push(usage(sub));
        lines.push(format!("    {}", sub.summary));
    }
    lines.extend(["HELP".to_owned(), "    Print this help.".to_owned()]);
    lines
}

fn usage<F>(sub: &CommandSpec<F>) -> String {
    let args = syntax::parse(sub.syntax).unwrap_or_default();
    let usage = format!("{} {}", sub.name.to_ascii_uppercase(), syntax::synopsis(&args));
    usage.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBS: &[CommandSpec<()>] = &[
        CommandSpec { name: "set", summary: "Sets it.", syntax: "key value [NX]", ..CommandSpec::DEFAULT },
        CommandSpec { name: "help", summary: "Describes the sub-commands.", ..CommandSpec::DEFAULT },
        CommandSpec { name: "count", summary: "Counts them.", ..CommandSpec::DEFAULT },
    ];

    #[test]
    fn sub_commands_are_sorted_and_help_is_last() {
        let want = [
            "THING <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
            "COUNT",
            "    Counts them.",
            "SET key value [NX]",
            "    Sets it.",
            "HELP",
            "    Print this help.",
        ];
        assert_eq!(lines("thing", SUBS), want);
    }
}
