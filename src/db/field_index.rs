//! The index of hashes with fields that expire, which every database has. Touches the entry and its value.
//!
//! It orders the hashes by when their first field expires, as pairs of that time and the key, and is exact: nothing needs
//! to look into a hash to know that no field is due.

use std::collections::BTreeSet;

use crate::db::entry::KeyEntry;
use crate::db::value::ValueRef;
use crate::types::table::Element;

/// When the first field of a hash expires, and the key of the hash, for every hash of a database that has such fields.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FieldExpiries(BTreeSet<(i64, Box<[u8]>)>);

impl FieldExpiries {
    /// Hashes in it.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// When the first field of all expires.
    #[inline]
    pub(super) fn first_ms(&self) -> Option<i64> {
        self.0.first().map(|first| first.0)
    }

    /// The hash whose field that is.
    pub(super) fn first_key(&self) -> Option<Box<[u8]>> {
        self.0.first().map(|(_, key)| key.clone())
    }

    /// Forgets that hash.
    pub(super) fn forget_first(&mut self) {
        self.0.pop_first();
    }

    /// Forgets up to `max` hashes, for a database that is being freed. Says whether there are more.
    pub(super) fn shorten(&mut self, max: usize) -> bool {
        for _ in 0..max {
            self.0.pop_last();
        }
        !self.0.is_empty()
    }

    /// Takes note that the first field of a hash expires at another time.
    pub(super) fn reschedule(&mut self, key: &[u8], before: Option<i64>, after: Option<i64>) {
        if let Some(at) = before {
            self.0.remove(&(at, key.into()));
        }
        self.0.extend(after.map(|at| (at, key.into())));
    }

    /// Takes note of a key that came into the database.
    pub(super) fn add(&mut self, entry: &KeyEntry) {
        if let Some(at) = first_field_expiry(entry) {
            self.0.insert((at, entry.key().into()));
        }
    }

    /// Takes note of a key whose value is about to go.
    #[inline]
    pub(super) fn remove(&mut self, entry: &KeyEntry) {
        if self.0.is_empty() {
            return;
        }
        if let Some(at) = first_field_expiry(entry) {
            self.0.remove(&(at, entry.key().into()));
        }
    }
}

fn first_field_expiry(entry: &KeyEntry) -> Option<i64> {
    match entry.value() {
        ValueRef::Hash(hash) => hash.min_expire(),
        _ => None,
    }
}

/// A field that expires at this time has had it.
pub fn is_over(expire_ms: Option<i64>, now_ms: i64) -> bool {
    expire_ms.is_some_and(|at| at < now_ms)
}
