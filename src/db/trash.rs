//! What has been taken out of the databases but is too large to be freed on the spot. Touches its siblings and types.
//!
//! Freeing a collection of a million elements takes longer than any command should. With the options `lazyfree-lazy-*`, and
//! for UNLINK and FLUSHALL ASYNC, such a thing is put here, and whoever runs the commands frees it bit by bit
//! ([`Trash::step`]) while nobody waits for long. `docs/decisions/011-lazy-freeing.md` says why no other thread does it.

use std::collections::VecDeque;

use crate::db::database::Db;
use crate::db::entry::{EntryRef, KeyEntry};
use crate::db::field_index::FieldExpiries;
use crate::db::value::Value;
use crate::types::hash::HashDrain;
use crate::types::list::ListDrain;
use crate::types::rankset::RankDrain;
use crate::types::table::Drain;
use crate::types::thin::Thin;

/// What is to be freed with less effort than this, in small allocations, is freed at once.
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

/// Something that is being freed.
enum Rubbish {
    List(ListDrain),
    Set(Drain<Thin>),
    Hash(HashDrain),
    ZSet(RankDrain),
    Database(Box<DbDrain>),
}

struct DbDrain {
    expires: Drain<EntryRef>,
    field_expiries: FieldExpiries,
    keys: Drain<KeyEntry>,
}

impl Rubbish {
    /// A value that is worth it; others are freed here and now.
    fn of(value: Value) -> Option<Rubbish> {
        match value {
            Value::List(list) => list.into_drain().map(Rubbish::List),
            Value::Set(set) => set.into_drain().map(Rubbish::Set),
            Value::Hash(hash) => hash.into_drain().map(Rubbish::Hash),
            Value::ZSet(zset) => zset.into_drain().map(Rubbish::ZSet),
            Value::Int(_) | Value::Bytes { .. } | Value::Owned(_) => None,
        }
    }
}

impl DbDrain {
    /// Frees the next `buckets` buckets; keys that take longer go to `large`. Says whether there is more to do.
    fn step(&mut self, buckets: usize, freed: &mut u64, large: &mut Vec<KeyEntry>) -> bool {
        if self.expires.step(buckets, drop) || self.field_expiries.shorten(buckets) {
            return true;
        }
        self.keys.step(buckets, |entry| {
            if entry.free_effort() >= EFFORT_MIN {
                large.push(entry);
            } else {
                *freed += 1;
            }
        })
    }
}

/// What waits to be freed, in the order in which it came.
#[derive(Default)]
pub struct Trash {
    queue: VecDeque<Rubbish>,
    freed: u64,
}

impl Trash {
    /// Frees a key: later, if its value is large and `lazily` allows it.
    #[inline]
    pub fn put(&mut self, entry: KeyEntry, lazily: bool) {
        if lazily && entry.free_effort() >= EFFORT_MIN {
            self.queue.extend(Rubbish::of(entry.into_value()));
        }
    }

    /// Frees a database.
    pub fn put_database(&mut self, db: Db, lazily: bool) {
        if lazily && !db.is_empty() {
            let (keys, expires, field_expiries) =
                (db.keys.into_drain(), db.expires.into_drain(), db.field_expiries);
            self.queue.push_back(Rubbish::Database(Box::new(DbDrain { expires, field_expiries, keys })));
        }
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Keys that wait to be freed.
    pub fn pending(&self) -> usize {
        let objects = self.queue.iter().map(|rubbish| match rubbish {
            Rubbish::Database(db) => db.keys.len(),
            _ => 1,
        });
        objects.sum()
    }

    /// Keys that were freed lazily.
    pub fn freed(&self) -> u64 {
        self.freed
    }

    /// Sets the count of [`Trash::freed`] back.
    pub fn reset_stats(&mut self) {
        self.freed = 0;
    }

    /// Frees what is in the next `buckets` buckets, or as many parts of other kinds. Says whether there is more to do.
    pub fn step(&mut self, buckets: usize) -> bool {
        let mut large = Vec::new();
        let Some(first) = self.queue.front_mut() else { return false };
        let (more, object) = match first {
            Rubbish::List(drain) => (drain.step(buckets), 1),
            Rubbish::Set(drain) => (drain.step(buckets, drop), 1),
            Rubbish::Hash(drain) => (drain.step(buckets), 1),
            Rubbish::ZSet(drain) => (drain.step(buckets), 1),
            Rubbish::Database(db) => (db.step(buckets, &mut self.freed, &mut large), 0),
        };
        if !more {
            self.queue.pop_front();
            self.freed += object;
        }
        self.queue.extend(large.into_iter().filter_map(|entry| Rubbish::of(entry.into_value())));
        !self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::keyspace::Keyspace;
    use crate::types::hash::{Hash, HashLimits};
    use crate::types::list::{List, ListLimits};
    use crate::types::set::{Set, SetLimits};
    use crate::types::table::Seed;
    use crate::types::zset::{ZSet, ZsetLimits};

    const SEED: Seed = Seed(0x9e37_79b9_7f4a_7c15);

    fn set_of(members: usize) -> Value<'static> {
        let mut set = Set::new(SEED);
        for i in 0..members {
            set.add(format!("member{i}").as_bytes(), &SetLimits::default());
        }
        Value::Set(set)
    }

    fn hash_of(fields: usize) -> Value<'static> {
        let mut hash = Hash::new(SEED);
        for i in 0..fields {
            let name = format!("field{i}");
            hash.set(name.as_bytes(), b"v", &HashLimits::default());
            hash.set_expire(name.as_bytes(), Some(5_000 + i as i64));
        }
        Value::Hash(hash)
    }

    fn zset_of(members: usize) -> Value<'static> {
        let mut zset = ZSet::new(SEED);
        for i in 0..members {
            zset.set(format!("member{i}").as_bytes(), i as f64, &ZsetLimits::default());
        }
        Value::ZSet(zset)
    }

    fn list_of(elements: usize) -> Value<'static> {
        let mut list = List::new();
        let limits = ListLimits { max_listpack_size: 8, ..ListLimits::default() };
        for i in 0..elements {
            list.push(format!("element{i}").as_bytes(), false, &limits);
        }
        Value::List(list)
    }

    /// Frees everything; returns in how many steps.
    fn empty(trash: &mut Trash) -> usize {
        let mut steps = 1;
        while trash.step(4) {
            steps += 1;
        }
        assert!(trash.is_empty() && trash.pending() == 0);
        steps
    }

    #[test]
    fn only_what_is_large_and_may_wait_waits() {
        let mut ks = Keyspace::new(2, SEED);
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
        assert_eq!(ks.trash.pending(), 1);
        empty(&mut ks.trash);
        fill(&mut ks);
        ks.set(0, b"large", Value::Int(1), false);
        ks.set(0, b"large", set_of(1_000), false);
        ks.delete(0, b"large");
        ks.set(0, b"large", set_of(1_000), false);
        ks.set_expire(0, b"large", Some(5));
        ks.now_ms = 6;
        assert!(ks.peek(0, b"large").is_none() && ks.trash.is_empty());
    }

    #[test]
    fn every_way_to_go_can_be_lazy() {
        let mut ks = Keyspace::new(2, SEED);
        ks.now_ms = 6;
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
        ks.set(0, b"large", set_of(1_000), false);
        ks.evict(0, b"large", || {});
        assert_eq!(ks.trash.pending(), 5);
        empty(&mut ks.trash);
        assert_eq!(ks.trash.freed(), 5);
    }

    #[test]
    fn every_kind_is_freed_bit_by_bit() {
        for (value, least) in
            [(set_of(2_000), 60), (hash_of(2_000), 60), (zset_of(2_000), 60), (list_of(2_000), 60)]
        {
            let mut ks = Keyspace::new(1, SEED);
            ks.set(0, b"k", value, false);
            assert!(ks.delete_with(0, b"k", true));
            let steps = empty(&mut ks.trash);
            assert!((least..1_000).contains(&steps), "{steps} steps");
            assert_eq!(ks.trash.freed(), 1);
        }
    }

    #[test]
    fn whole_databases_are_freed_bit_by_bit() {
        let mut ks = Keyspace::new(3, SEED);
        for i in 0..3_000usize {
            let (db, key) = (i % 2, format!("key{i}"));
            ks.set(db, key.as_bytes(), Value::Int(1), false);
            ks.set_expire(db, key.as_bytes(), (i % 3 == 0).then_some(9_000));
        }
        ks.set(1, b"set", set_of(1_000), false);
        ks.set(1, b"hash", hash_of(1_000), false);
        assert_eq!(ks.flush(None, true), 3_002);
        assert!((0..3).all(|db| ks.db(db).is_empty()));
        assert_eq!(ks.trash.pending(), 3_002);
        let steps = empty(&mut ks.trash);
        assert!(steps > 300, "{steps} steps");
        assert_eq!(ks.trash.freed(), 3_002);
        ks.flush(None, true);
        assert!(ks.trash.is_empty());
    }
}
