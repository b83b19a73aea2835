//! Finds the keys in a command line by the command's key specifications, or by hand where those do not tell all.
//! Touches its siblings' declarations only.

use crate::base::num::parse_i64;
use crate::cmd::registry::Command;
use crate::cmd::spec::{Begin, Find, KeyFlags, KeySpec};

/// The place of a key among the arguments, and what the command does with it.
pub type Key = (usize, KeyFlags);

/// The keys in `args`, the command's name included. `None` if the line does not fit the specifications.
pub fn keys_of(command: &Command, args: &[&[u8]]) -> Option<Vec<Key>> {
    if command.keys.iter().any(is_vague)
        && let Some(keys) = by_hand(command, args)
    {
        return Some(keys);
    }
    let mut keys = Vec::new();
    for spec in command.keys {
        if spec.flags.any(KeyFlags::NOT_KEY) {
            continue;
        }
        let Some(begin) = begin(spec, args) else { continue };
        if find(spec, args, begin, &mut keys).is_none() {
            return loosely_counted(command, args);
        }
    }
    Some(keys)
}

/// The keys of a command that counts them, when the specifications do not fit the line. As in Redis their count may then
/// be anything that C's `atoi` reads, a destination comes last, and there are no flags.
fn loosely_counted(command: &Command, args: &[&[u8]]) -> Option<Vec<Key>> {
    let counted = command.keys.iter().find_map(|spec| match (spec.begin, spec.find) {
        (Begin::Index(begin), Find::KeyNum { at, first, step: 1 }) => {
            Some((begin as usize + at as usize, begin as usize + first as usize))
        }
        _ => None,
    });
    let (at, first) = counted?;
    let count = usize::try_from(leading_int(args.get(at)?)).ok()?;
    if count == 0 || first + count > args.len() {
        return None;
    }
    let other = command.keys.iter().find_map(|spec| match (spec.begin, spec.find) {
        (Begin::Index(begin), Find::Range { .. }) => Some(begin as usize),
        _ => None,
    });
    Some((first..first + count).chain(other).map(|index| (index, KeyFlags::NONE)).collect())
}

/// The number at the beginning of a text, behind white space; 0 if there is none.
fn leading_int(text: &[u8]) -> i64 {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    let text = &text[blanks..];
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let value =
        digits.fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if negative { -value } else { value }
}

/// Whether the command may touch keys whose names its line does not show.
pub fn has_hidden_keys(command: &Command) -> bool {
    command.keys.iter().any(|spec| matches!(spec.begin, Begin::Unknown))
}

/// Whether a specification does not find all keys, or not what happens to them.
fn is_vague(spec: &KeySpec) -> bool {
    spec.flags.any(KeyFlags::VARIABLE_FLAGS.or(KeyFlags::INCOMPLETE)) || matches!(spec.begin, Begin::Unknown)
}

/// The keys of the commands with vague specifications. The line is not checked: what is wrong with it is for the
/// command to say.
fn by_hand(command: &Command, args: &[&[u8]]) -> Option<Vec<Key>> {
    if args.len() < 2 {
        return None;
    }
    match command.full_name.as_str() {
        "set" => Some(vec![(1, set_flags(args))]),
        "bitfield" => Some(vec![(1, bitfield_flags(args))]),
        "sort" => Some(sort_keys(args)),
        "sort_ro" => Some(vec![(1, KeyFlags::RO_ACCESS)]),
        "migrate" => Some(migrate_keys(args)),
        _ => None,
    }
}

fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// SET reads the old value only with GET.
fn set_flags(args: &[&[u8]]) -> KeyFlags {
    let reads = args.iter().skip(3).any(|arg| is(arg, "get"));
    if reads { KeyFlags::RW_ACCESS_UPDATE } else { KeyFlags::OW_UPDATE }
}

/// BITFIELD with nothing but GET changes nothing.
fn bitfield_flags(args: &[&[u8]]) -> KeyFlags {
    let mut rest = &args[2..];
    loop {
        rest = match rest {
            [] => return KeyFlags::RO_ACCESS,
            [word, _, _, rest @ ..] if is(word, "get") => rest,
            [word, _, rest @ ..] if is(word, "overflow") => rest,
            _ => return KeyFlags::RW_ACCESS_UPDATE,
        };
    }
}

/// SORT may store: the last STORE counts.
fn sort_keys(args: &[&[u8]]) -> Vec<Key> {
    let mut keys = vec![(1, KeyFlags::RO_ACCESS)];
    let mut index = 2;
    while index < args.len() {
        let word = args[index];
        if is(word, "limit") {
            index += 2;
        } else if is(word, "get") || is(word, "by") {
            index += 1;
        } else if is(word, "store") && index + 1 < args.len() {
            keys.truncate(1);
            keys.push((index + 1, KeyFlags::OW_UPDATE));
        }
        index += 1;
    }
    keys
}

/// MIGRATE moves one key, or, if that one is empty, those behind KEYS.
fn migrate_keys(args: &[&[u8]]) -> Vec<Key> {
    let mut index = 6;
    while index < args.len() {
        let word = args[index];
        if is(word, "keys") {
            let several = args[3].is_empty();
            let keys = if several { index + 1..args.len() } else { 0..0 };
            return keys.map(|index| (index, KeyFlags::RW_ACCESS_DELETE)).collect();
        }
        index += if is(word, "auth") {
            2
        } else if is(word, "auth2") {
            3
        } else {
            1
        };
    }
    if args.len() > 3 { vec![(3, KeyFlags::RW_ACCESS_DELETE)] } else { Vec::new() }
}

fn begin(spec: &KeySpec, args: &[&[u8]]) -> Option<usize> {
    match spec.begin {
        Begin::Index(index) => Some(index as usize),
        Begin::Keyword { word, start_from } => {
            let is = |&index: &usize| args[index].eq_ignore_ascii_case(word.as_bytes());
            let found = if start_from > 0 {
                (start_from as usize..args.len()).find(is)
            } else {
                let from = args.len().checked_sub(start_from.unsigned_abs() as usize)?;
                (1..=from).rev().find(is)
            };
            found.map(|index| index + 1)
        }
        Begin::Unknown => None,
    }
}

fn find(spec: &KeySpec, args: &[&[u8]], begin: usize, keys: &mut Vec<Key>) -> Option<()> {
    let (first, last, step) = match spec.find {
        Find::Range { last, step, limit } => {
            let last = if last >= 0 {
                begin + last as usize
            } else if limit <= 1 {
                args.len().checked_sub(last.unsigned_abs() as usize)?
            } else {
                begin + (args.len() - begin.min(args.len())) / limit as usize - last.unsigned_abs() as usize
            };
            (begin, last, step)
        }
        Find::KeyNum { at, first, step } => {
            let count = parse_i64(args.get(begin + at as usize)?).filter(|&n| n >= 0)? as usize;
            if count == 0 {
                return Some(());
            }
            let first = begin + first as usize;
            let span = (count - 1).checked_mul(step as usize)?;
            (first, first.checked_add(span)?, step)
        }
        Find::Unknown => return Some(()),
    };
    if last >= args.len() || last < first {
        return None;
    }
    keys.extend((first..=last).step_by(step.max(1) as usize).map(|index| (index, spec.flags)));
    Some(())
}

/// First key, last key and step, as clients older than key specifications know them; zeros where no such range says
/// it all.
pub fn legacy_range(specs: &[KeySpec]) -> (i64, i64, i64) {
    let ranges: Vec<(i64, i64, i64)> = specs.iter().filter_map(plain_range).collect();
    match ranges.as_slice() {
        [] => (0, 0, 0),
        [one] if specs.len() == 1 => *one,
        _ => {
            // Several: only those that follow each other without a gap, one key a step.
            let (mut first, mut last) = (0, 0);
            for &(begin, end, step) in &ranges {
                if step != 1 || (last != 0 && begin != last + 1) {
                    continue;
                }
                if first == 0 {
                    first = begin;
                }
                last = end;
            }
            if first == 0 { (0, 0, 0) } else { (first, last, 1) }
        }
    }
}

fn plain_range(spec: &KeySpec) -> Option<(i64, i64, i64)> {
    match (spec.begin, spec.find) {
        (Begin::Index(begin), Find::Range { last, step, .. }) => {
            let begin = i64::from(begin);
            let last = if last >= 0 { begin + i64::from(last) } else { i64::from(last) };
            Some((begin, last, i64::from(step)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::registry::Registry;
    use crate::cmd::spec::CommandSpec;

    fn places(line: &str) -> Option<Vec<usize>> {
        let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let none: &[&'static [CommandSpec<()>]] = &[];
        let (registry, _) = Registry::new(crate::cmd::FAMILIES, none);
        let command = registry.get(registry.find(args[0]).expect("a command"));
        Some(keys_of(command, &args)?.into_iter().map(|(at, _)| at).collect())
    }

    #[test]
    fn a_line_that_ends_before_its_keys_fits_no_specification() {
        assert_eq!(places("PFMERGE to from more"), Some(vec![1, 2, 3]));
        assert_eq!(places("PFMERGE to"), None);
        assert_eq!(places("BITOP AND to"), None);
        assert_eq!(places("ZUNIONSTORE to 2 a b"), Some(vec![1, 3, 4]));
        assert_eq!(places("ZUNIONSTORE to 3 a b"), None);
        assert_eq!(places("MSET a 1 b 2"), Some(vec![1, 3]));
    }
}
