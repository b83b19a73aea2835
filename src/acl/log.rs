//! What ACL LOG shows: denials, the newest first, repeated ones counted together. Touches nothing.

use std::collections::VecDeque;

use super::Reason;

/// Denials this far apart are not the same event, in milliseconds.
const GROUPING_MS_MAX: i64 = 60_000;

/// How many of the newest entries are looked at for one that is alike.
const LOOKED_AT_MAX: usize = 10;

/// What was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// A command of a client.
    Toplevel,
    /// A command in a transaction.
    Multi,
    /// A command of a script.
    Lua,
}

impl Context {
    /// Its word in ACL LOG.
    pub fn word(self) -> &'static str {
        match self {
            Context::Toplevel => "toplevel",
            Context::Multi => "multi",
            Context::Lua => "lua",
        }
    }
}

impl Reason {
    /// Its word in ACL LOG.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Command => "command",
            Reason::Key => "key",
            Reason::Auth => "auth",
            Reason::Channel => "channel",
        }
    }
}

/// A denial to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Why.
    pub reason: Reason,
    /// Where.
    pub context: Context,
    /// The command, key or channel.
    pub object: Vec<u8>,
    /// The user, or the name that was tried.
    pub user: Vec<u8>,
    /// The line of CLIENT LIST about the client.
    pub client: String,
}

/// Denials that are alike.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The last of them.
    pub event: Event,
    /// How many.
    pub count: u64,
    /// Its number; later entries have higher ones.
    pub id: u64,
    /// When the first happened, in milliseconds since the epoch.
    pub created_ms: i64,
    /// When the last happened, in milliseconds since the epoch.
    pub updated_ms: i64,
}

/// The record of denials.
#[derive(Debug, Default)]
pub struct Log {
    entries: VecDeque<Entry>,
    next_id: u64,
    counts: [u64; 4],
}

impl Log {
    /// Notes a denial. At most `len_max` entries are kept.
    pub fn add(&mut self, event: Event, now_ms: i64, len_max: usize) {
        self.counts[event.reason as usize] += 1;
        if len_max == 0 {
            self.entries.clear();
            return;
        }
        let alike = |entry: &Entry| {
            let old = &entry.event;
            (old.reason, old.context, &old.object, &old.user)
                == (event.reason, event.context, &event.object, &event.user)
                && now_ms.abs_diff(entry.updated_ms) <= GROUPING_MS_MAX as u64
        };
        let entry = match self.entries.iter().take(LOOKED_AT_MAX).position(alike) {
            Some(at) => {
                let known = self.entries.remove(at).expect("a place just found");
                Entry { event, count: known.count + 1, updated_ms: now_ms, ..known }
            }
            None => {
                self.next_id += 1;
                Entry { event, count: 1, id: self.next_id - 1, created_ms: now_ms, updated_ms: now_ms }
            }
        };
        self.entries.push_front(entry);
        self.entries.truncate(len_max);
    }

    /// The entries, the newest first.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Forgets the entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Denials so far, for INFO.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counts[reason as usize]
    }

    /// Counts from zero again.
    pub fn reset_counts(&mut self) {
        self.counts = [0; 4];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(object: &str) -> Event {
        Event {
            reason: Reason::Key,
            context: Context::Toplevel,
            object: object.into(),
            user: b"u".to_vec(),
            client: String::new(),
        }
    }

    fn shown(log: &Log) -> String {
        let show = |e: &Entry| format!("{}:{}x{}", e.id, String::from_utf8_lossy(&e.event.object), e.count);
        log.entries().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn like_events_are_counted_together() {
        let mut log = Log::default();
        for (at, object) in ["a", "b", "a", "a"].iter().enumerate() {
            log.add(event(object), at as i64, 128);
        }
        assert_eq!(shown(&log), "0:ax3 1:bx1");
        // Each one moves the end of the time of grace.
        log.add(event("a"), 60_003, 128);
        assert_eq!(shown(&log), "0:ax4 1:bx1");
        log.add(event("a"), 120_004, 128);
        assert_eq!(shown(&log), "2:ax1 0:ax4 1:bx1");
        log.add(Event { context: Context::Lua, ..event("a") }, 120_004, 128);
        assert_eq!(shown(&log), "3:ax1 2:ax1 0:ax4 1:bx1");
        assert_eq!((log.count(Reason::Key), log.count(Reason::Command)), (7, 0));
        let first = log.entries().nth(2).expect("an entry");
        assert_eq!((first.created_ms, first.updated_ms), (0, 60_003));
    }

    #[test]
    fn only_the_newest_ten_are_compared_and_len_max_are_kept() {
        let mut log = Log::default();
        for object in 0..11 {
            log.add(event(&object.to_string()), 0, 128);
        }
        log.add(event("0"), 0, 128);
        assert_eq!(log.entries().len(), 12);
        log.add(event("x"), 0, 3);
        assert_eq!(shown(&log), "12:xx1 11:0x1 10:10x1");
        log.add(event("x"), 0, 0);
        assert_eq!((log.entries().len(), log.count(Reason::Key)), (0, 14));
    }
}
