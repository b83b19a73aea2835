//! What has been taken out of the databases but is too large to be taken apart on the spot. Touches its siblings.
//!
//! Freeing a collection of a million elements takes longer than any command should. With the options `lazyfree-lazy-*`, and
//! for UNLINK and FLUSHALL ASYNC, such a thing is put here, and whoever runs the commands carries it away ([`Trash::take`])
//! to free it where it keeps nobody waiting.

use crate::db::entry::KeyEntry;
use crate::db::keyspace::Db;

/// What is to be freed with less effort than this is freed at once: handing it over would cost more.
const EFFORT_MIN: usize = 65;

/// Which removals are lazy, as the options say. UNLINK and FLUSHALL say so themselves.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LazyRemovals {
    /// Keys whose time is over.
    pub expired: bool,
    /// Keys that have to go because memory is short.
    pub evicted: bool,
    /// Values that a command replaces, or removes as a part of what it does.
    pub replaced: bool,
}

/// Something to free by dropping it.
pub enum Rubbish {
    /// A key with its value.
    Entry(KeyEntry),
    /// A whole database.
    Database(Box<Db>),
}

impl Rubbish {
    /// How many objects it counts as in INFO.
    pub fn objects(&self) -> usize {
        match self {
            Rubbish::Entry(_) => 1,
            Rubbish::Database(db) => db.len(),
        }
    }
}

/// What waits to be freed.
#[derive(Default)]
pub struct Trash(Vec<Rubbish>);

impl Trash {
    /// Frees a key: later, if its value is large and `lazily` allows it.
    #[inline]
    pub fn put(&mut self, entry: KeyEntry, lazily: bool) {
        if lazily && entry.free_effort() >= EFFORT_MIN {
            self.0.push(Rubbish::Entry(entry));
        }
    }

    /// Frees a database.
    pub fn put_database(&mut self, db: Db, lazily: bool) {
        if lazily && !db.is_empty() {
            self.0.push(Rubbish::Database(Box::new(db)));
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Objects that wait.
    pub fn objects(&self) -> usize {
        self.0.iter().map(Rubbish::objects).sum()
    }

    /// Hands over everything that waits.
    pub fn take(&mut self) -> Vec<Rubbish> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::db::keyspace::Keyspace;
    use crate::db::trash::LazyRemovals;
    use crate::db::value::Value;
    use crate::types::set::{Set, SetLimits};
    use crate::types::table::Seed;

    fn set_of(members: usize) -> Value<'static> {
        let mut set = Set::new(Seed(3));
        for i in 0..members {
            set.add(format!("member{i}").as_bytes(), &SetLimits::default());
        }
        Value::Set(set)
    }

    #[test]
    fn only_what_is_large_and_may_wait_waits() {
        let mut ks = Keyspace::new(2, Seed(9));
        let fill = |ks: &mut Keyspace| {
            ks.set(0, b"large", set_of(1_000), false);
            ks.set(0, b"packed", set_of(100), false);
            ks.set(0, b"text", Value::string(&[b'x'; 100_000]), false);
        };
        fill(&mut ks);
        for key in [&b"packed"[..], b"text", b"large"] {
            assert!(ks.trash.is_empty());
            ks.delete_with(0, key, true);
        }
        assert_eq!(ks.trash.objects(), 1);
        ks.trash.take();
        fill(&mut ks);
        ks.set(0, b"large", Value::Int(1), false);
        ks.set(0, b"large", set_of(1_000), false);
        ks.delete(0, b"large");
        ks.set(0, b"large", set_of(1_000), false);
        ks.set_expire(0, b"large", Some(5));
        ks.now_ms = 6;
        assert!(ks.peek(0, b"large").is_none() && ks.trash.is_empty());
        ks.lazy = LazyRemovals { expired: true, evicted: true, replaced: true };
        for _ in 0..2 {
            ks.set(0, b"large", set_of(1_000), false);
        }
        ks.delete(0, b"large");
        ks.set(0, b"large", set_of(1_000), false);
        ks.set(0, b"other", Value::Int(1), false);
        ks.transfer((0, b"other"), (0, b"large"));
        ks.set(0, b"large", set_of(1_000), false);
        ks.set_expire(0, b"large", Some(5));
        assert!(ks.peek(0, b"large").is_none());
        assert_eq!(ks.trash.objects(), 4);
        ks.flush(None, true);
        assert_eq!(ks.trash.objects(), 4 + 2, "the other two keys");
        assert_eq!(ks.trash.take().len(), 5);
        assert!(ks.db(0).is_empty() && ks.trash.is_empty());
    }
}
