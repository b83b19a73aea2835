//! What observers of commands may not see: passwords in the arguments. The slow log and MONITOR show a command as it is
//! given back here.

use crate::base::config::{flags, lookup};
use crate::base::num::parse_i64;

const HIDDEN: &[u8] = b"(redacted)";

/// The arguments of a command with the secret ones replaced. `name` is its full name, like `config|set`.
///
/// Which arguments are secret follows no rule that the declarations of commands could express, so it is decided by name.
pub fn redacted<'a>(name: &str, args: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let mut shown = args.to_vec();
    match name {
        // Forms that are refused before anybody looks at their arguments are shown as they are, as in Redis.
        "auth" if args.len() <= 3 => hide(&mut shown, 1, 2),
        "acl|setuser" => hide(&mut shown, 2, usize::MAX),
        "hello" => hide_in_hello(&mut shown),
        "migrate" => hide_after_words(&mut shown, 6, &[("auth", 1), ("auth2", 2)]),
        "config|set" if args.len().is_multiple_of(2) => {
            for at in (2..args.len().saturating_sub(1)).step_by(2) {
                if lookup(args[at]).is_some_and(|option| option.has(flags::SENSITIVE)) {
                    hide(&mut shown, at + 1, 1);
                }
            }
        }
        _ => {}
    }
    shown
}

fn hide(args: &mut [&[u8]], from: usize, count: usize) {
    args.iter_mut().skip(from).take(count).for_each(|arg| *arg = HIDDEN);
}

/// Hides the login of a HELLO as far as HELLO reads on: up to what it refuses.
fn hide_in_hello(args: &mut [&[u8]]) {
    if !args.get(1).is_some_and(|version| matches!(parse_i64(version), Some(2..=3))) {
        return;
    }
    let mut at = 2;
    while at < args.len() {
        let is = |word: &[u8], values: usize| args[at].eq_ignore_ascii_case(word) && at + values < args.len();
        if is(b"auth", 2) {
            hide(args, at + 1, 2);
            at += 3;
        } else if is(b"setname", 1) {
            at += 2;
        } else {
            return;
        }
    }
}

/// Hides as many arguments as given with each word, behind that word, wherever it stands from `start` on.
fn hide_after_words(args: &mut [&[u8]], start: usize, words: &[(&str, usize)]) {
    let mut at = start;
    while at < args.len() {
        let found = words.iter().find(|(word, _)| args[at].eq_ignore_ascii_case(word.as_bytes()));
        // With too few behind it, the word is no option.
        if let Some(&(_, count)) = found.filter(|(_, count)| at + count < args.len()) {
            hide(args, at + 1, count);
            at += count;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, line: &str) -> String {
        let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        String::from_utf8(redacted(name, &args).join(&b' ')).expect("ascii")
    }

    #[test]
    fn secrets_are_hidden_and_nothing_else() {
        assert_eq!(shown("auth", "AUTH pass"), "AUTH (redacted)");
        assert_eq!(shown("auth", "AUTH user pass more"), "AUTH user pass more");
        assert_eq!(shown("config|set", "CONFIG SET masterauth x hz"), "CONFIG SET masterauth x hz");
        assert_eq!(shown("auth", "AUTH user pass"), "AUTH (redacted) (redacted)");
        assert_eq!(
            shown("acl|setuser", "acl setuser joe on >x"),
            "acl setuser (redacted) (redacted) (redacted)"
        );
        assert_eq!(
            shown("hello", "HELLO 3 auth a b SETNAME n"),
            "HELLO 3 auth (redacted) (redacted) SETNAME n"
        );
        assert_eq!(shown("hello", "HELLO"), "HELLO");
        assert_eq!(shown("hello", "HELLO 3 AUTH a"), "HELLO 3 AUTH a");
        assert_eq!(shown("hello", "HELLO 4 AUTH a b"), "HELLO 4 AUTH a b");
        assert_eq!(shown("hello", "HELLO 3 SETNAME AUTH a b"), "HELLO 3 SETNAME AUTH a b");
        assert_eq!(
            shown("hello", "HELLO 2 SETNAME AUTH AUTH a b"),
            "HELLO 2 SETNAME AUTH AUTH (redacted) (redacted)"
        );
        assert_eq!(
            shown("config|set", "config set MASTERAUTH x maxmemory 1"),
            "config set MASTERAUTH (redacted) maxmemory 1"
        );
        assert_eq!(
            shown("migrate", "migrate h 1 auth 0 9 AUTH2 u p KEYS k"),
            "migrate h 1 auth 0 9 AUTH2 (redacted) (redacted) KEYS k"
        );
        assert_eq!(shown("set", "set auth auth"), "set auth auth");
    }
}
