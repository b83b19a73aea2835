//! The slow log: the latest commands that took long, newest first. Touches base only.

use std::collections::VecDeque;

/// Arguments kept of a command; the last place then tells how many more there were.
const ARGUMENTS_MAX: usize = 32;

/// Bytes kept of an argument.
pub const ARGUMENT_BYTES_MAX: usize = 128;

/// One slow command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Counts up over the life of the server, also across a reset.
    pub id: u64,
    /// When it was logged, in seconds since the epoch.
    pub time_secs: i64,
    /// How long it ran, in microseconds.
    pub duration_us: u64,
    /// The command with its arguments, shortened.
    pub args: Vec<Vec<u8>>,
    /// The address of its client.
    pub client: String,
    /// What that client calls itself.
    pub client_name: Vec<u8>,
}

/// The log itself.
#[derive(Debug, Default)]
pub struct SlowLog {
    entries: VecDeque<Entry>,
    next_id: u64,
}

impl SlowLog {
    /// Adds an entry and drops the oldest beyond `len_max`. `entry` gets its id here.
    pub fn push(&mut self, mut entry: Entry, len_max: usize) {
        entry.id = self.next_id;
        self.next_id += 1;
        self.entries.push_front(entry);
        self.entries.truncate(len_max);
    }

    /// Entries in it.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The entries, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}

/// A command's arguments as the log keeps them: not too many, and none too long. Each comes with its whole length; of a
/// long one, the beginning is enough.
pub fn shorten<'a>(args: impl ExactSizeIterator<Item = (&'a [u8], usize)>) -> Vec<Vec<u8>> {
    let count = args.len();
    let kept = if count > ARGUMENTS_MAX { ARGUMENTS_MAX - 1 } else { count };
    // Not `collect`, which could keep the memory of all the arguments that it comes from.
    let mut shown = Vec::with_capacity(kept + 1);
    shown.extend(args.take(kept).map(shorten_argument));
    if kept < count {
        shown.push(format!("... ({} more arguments)", count - kept).into_bytes());
    }
    shown
}

fn shorten_argument((arg, whole_len): (&[u8], usize)) -> Vec<u8> {
    if whole_len <= ARGUMENT_BYTES_MAX {
        return arg.to_vec();
    }
    let mut shown = arg[..ARGUMENT_BYTES_MAX.min(arg.len())].to_vec();
    shown.extend_from_slice(format!("... ({} more bytes)", whole_len - ARGUMENT_BYTES_MAX).as_bytes());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time_secs: i64) -> Entry {
        Entry {
            id: 0,
            time_secs,
            duration_us: 1,
            args: Vec::new(),
            client: String::new(),
            client_name: Vec::new(),
        }
    }

    #[test]
    fn newest_entries_stay_and_ids_go_on() {
        let mut log = SlowLog::default();
        (0..10).for_each(|time| log.push(entry(time), 3));
        let kept: Vec<(u64, i64)> = log.iter().map(|e| (e.id, e.time_secs)).collect();
        assert_eq!(kept, [(9, 9), (8, 8), (7, 7)]);
        log.clear();
        log.push(entry(50), 3);
        assert_eq!((log.len(), log.iter().next().map(|e| e.id)), (1, Some(10)));
        log.push(entry(51), 0);
        assert!(log.is_empty());
    }

    #[test]
    fn arguments_are_shortened_as_redis_does() {
        let words: Vec<String> = (0..33).map(|i| i.to_string()).collect();
        let all: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let shorten = |args: &[&[u8]]| shorten(args.iter().map(|arg| (*arg, arg.len())));
        let shown = shorten(&all);
        assert_eq!((shown.len(), shown[31].as_slice()), (32, b"... (2 more arguments)".as_slice()));
        assert_eq!(shorten(&all[..32]), all[..32]);
        let long = [b'A'; 129];
        let text = [&long[..128], b"... (1 more bytes)"].concat();
        assert_eq!(shorten(&[&long, &long[..128]]), [text, long[..128].to_vec()]);
    }
}
