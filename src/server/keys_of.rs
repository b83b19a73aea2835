//! Finds the keys in a command line by the command's key specifications. Touches cmd's declarations only.

use crate::base::num::parse_i64;
use crate::cmd::spec::{Begin, Find, KeyFlags, KeySpec};
use crate::exec::registry::Command;

/// The place of a key among the arguments, and what the command does with it.
pub type Key = (usize, KeyFlags);

/// The keys in `args`, the command's name included. `None` if the line does not fit the specifications.
pub fn keys_of(command: &Command, args: &[&[u8]]) -> Option<Vec<Key>> {
    let mut keys = Vec::new();
    for spec in command.keys {
        if spec.flags.any(KeyFlags::NOT_KEY) {
            continue;
        }
        let Some(begin) = begin(spec, args) else { continue };
        find(spec, args, begin, &mut keys)?;
    }
    Some(keys)
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
    if last >= args.len() {
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
