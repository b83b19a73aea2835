//! Expiry of single fields of hashes: the removal of fields whose time is over. Touches its siblings and types.
//!
//! Whoever changes a hash in place reports the change to the index (`field_index.rs`) with
//! [`Keyspace::reschedule_fields`]; the functions that add, replace and remove whole keys see to the rest.
//!
//! A field that is due stays until a command asks for it by name, or until [`cycle`] comes by. Commands that visit all
//! fields pass over those that are due.

use crate::db::entry::KeyEntry;
use crate::db::field_index::is_over;
use crate::db::keyspace::{EventClass, Keyspace};
use crate::types::hash::Hash;

/// Fields taken out of one hash before [`cycle`] asks for the time again.
const FIELDS_PER_STEP: usize = 200;

impl Keyspace {
    /// Whether any hash of a database has a field that is due.
    #[inline]
    pub fn has_due_fields(&self, db: usize) -> bool {
        is_over(self.db(db).field_expiries.first_ms(), self.now_ms)
    }

    /// Takes note that the first field of a hash to expire does so at another time, by [`Hash::min_expire`].
    #[inline]
    pub fn reschedule_fields(&mut self, db: usize, key: &[u8], before: Option<i64>, after: Option<i64>) {
        if before != after {
            self.move_in_index(db, key, before, after);
        }
    }

    #[cold]
    fn move_in_index(&mut self, db: usize, key: &[u8], before: Option<i64>, after: Option<i64>) {
        self.db_mut(db).field_expiries.reschedule(key, before, after);
    }

    /// Takes those of the named fields that are due out of a hash, if the key holds one. The event is `hexpired`; a hash
    /// that becomes empty is deleted. Returns how many went.
    #[cold]
    pub fn expire_named_fields(&mut self, db: usize, key: &[u8], fields: &[&[u8]]) -> usize {
        let now = self.now_ms;
        self.expire_some_fields(db, key, |hash| {
            let is_due = |hash: &Hash, field| is_over(hash.expire_of(field).flatten(), now);
            fields.iter().filter(|field| is_due(hash, field) && hash.remove(field)).count()
        })
    }

    /// Takes fields that are due out of a hash, up to `max` of them, if the key holds one. The event is `hexpired`; a hash
    /// that becomes empty is deleted. Returns how many went.
    pub fn expire_fields(&mut self, db: usize, key: &[u8], max: usize) -> usize {
        let now = self.now_ms;
        self.expire_some_fields(db, key, |hash| hash.pop_expired(now, max, |_| {}))
    }

    fn expire_some_fields(
        &mut self,
        db: usize,
        key: &[u8],
        expire: impl FnOnce(&mut Hash) -> usize,
    ) -> usize {
        let Some(hash) = self.db_mut(db).keys.find_mut(key).and_then(KeyEntry::hash_mut) else {
            return 0;
        };
        let before = hash.min_expire();
        let gone = expire(hash);
        let (after, emptied) = (hash.min_expire(), hash.is_empty());
        if gone == 0 {
            return 0;
        }
        self.reschedule_fields(db, key, before, after);
        self.stats.expired_fields += gone as u64;
        // Time passing is no change that a save would count.
        self.changed(db, key, EventClass::HASH, "hexpired", 0);
        if emptied && self.take(db, key).is_some() {
            self.changed(db, key, EventClass::GENERIC, "del", 0);
        }
        gone
    }
}

/// Takes out fields that are due, the earliest first, until none is left or `out_of_time` says so. `start` is the
/// database to begin with; the one to begin with next time is returned.
pub fn cycle(ks: &mut Keyspace, start: usize, mut out_of_time: impl FnMut() -> bool) -> usize {
    let count = ks.count();
    for offset in 0..count {
        let db = (start + offset) % count;
        while ks.has_due_fields(db) {
            let key = ks.db(db).field_expiries.first_key().unwrap_or_default();
            let gone = ks.expire_fields(db, &key, FIELDS_PER_STEP);
            debug_assert!(gone > 0, "the index names a hash with a field that is due");
            if gone == 0 {
                ks.db_mut(db).field_expiries.forget_first();
            }
            if out_of_time() {
                return db;
            }
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::field_index::FieldExpiries;
    use crate::db::value::Value;
    use crate::types::hash::HashLimits;
    use crate::types::table::Seed;

    fn hash_with(fields: usize, at_ms: impl Fn(usize) -> Option<i64>) -> Value<'static> {
        let mut hash = Hash::new(Seed(5));
        for i in 0..fields {
            let name = format!("f{i}");
            hash.set(name.as_bytes(), b"v", &HashLimits::default());
            hash.set_expire(name.as_bytes(), at_ms(i));
        }
        Value::Hash(hash)
    }

    /// The index as it should be.
    fn expected(ks: &Keyspace, db: usize) -> FieldExpiries {
        let mut index = FieldExpiries::default();
        ks.db(db).iter().for_each(|entry| index.add(entry));
        index
    }

    #[test]
    fn the_index_follows_keys_wherever_they_go() {
        let mut ks = Keyspace::new(2, Seed(9));
        for i in 0..30i64 {
            let at = (i % 3 > 0).then_some(1_000 + i);
            ks.set(0, format!("k{i}").as_bytes(), hash_with(3, |_| at), false);
        }
        assert_eq!(ks.db(0).field_expiries_len(), 20);
        ks.set(0, b"k1", Value::Int(1), false);
        ks.set(0, b"k2", hash_with(2, |_| Some(7)), false);
        ks.delete(0, b"k4");
        ks.transfer((0, b"k5"), (0, b"renamed"));
        ks.transfer((0, b"k7"), (1, b"k7"));
        ks.copy((0, b"k8"), (1, b"k8"));
        ks.transfer((0, b"k0"), (0, b"k10"));
        for db in 0..2 {
            assert_eq!(ks.db(db).field_expiries, expected(&ks, db), "database {db}");
        }
        assert_eq!((ks.db(0).field_expiries_len(), ks.db(1).field_expiries_len()), (16, 2));
        ks.swap(0, 1);
        assert_eq!((ks.db(0).field_expiries_len(), ks.db(1).field_expiries_len()), (2, 16));
        ks.flush(None, false);
        assert_eq!(ks.db(1).field_expiries_len(), 0);
    }

    #[test]
    fn cycle_takes_out_what_is_due_and_nothing_else() {
        let mut ks = Keyspace::new(3, Seed(9));
        ks.signals.wanted = EventClass::HASH.0 | EventClass::GENERIC.0;
        for db in 0..3 {
            ks.set(db, b"all", hash_with(1_000, |i| Some(i as i64 + 1)), false);
            ks.set(db, b"half", hash_with(10, |i| (i % 2 == 0).then_some(500)), false);
            ks.set(db, b"none", hash_with(10, |_| None), false);
        }
        ks.now_ms = 701;
        assert_eq!(cycle(&mut ks, 1, || false), 1);
        let len = |ks: &Keyspace, key: &[u8]| ks.db(2).find(key).map(|entry| entry.value().len());
        assert_eq!((len(&ks, b"all"), len(&ks, b"half"), len(&ks, b"none")), (Some(300), Some(5), Some(10)));
        assert_eq!(ks.stats.expired_fields, 3 * 705);
        ks.now_ms = 1_001;
        cycle(&mut ks, 0, || false);
        assert_eq!(len(&ks, b"all"), None);
        assert_eq!((0..3).map(|db| ks.db(db).field_expiries_len()).sum::<usize>(), 0);
        assert_eq!(ks.signals.events.last().map(|event| event.name), Some("del"));
    }

    #[test]
    fn cycle_stops_when_its_time_is_over() {
        let mut ks = Keyspace::new(2, Seed(9));
        ks.set(1, b"h", hash_with(1_000, |_| Some(1)), false);
        ks.now_ms = 5;
        assert_eq!(cycle(&mut ks, 0, || true), 1);
        assert_eq!(ks.stats.expired_fields, FIELDS_PER_STEP as u64);
        assert!(ks.has_due_fields(1));
    }
}
