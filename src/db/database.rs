//! One numbered database: its keys, their expiries, and the index of its hashes whose fields expire. Touches types and the
//! entry.

use crate::db::entry::{EntryRef, KeyEntry};
use crate::db::field_index::FieldExpiries;
use crate::types::table::{Seed, Table, TableStats};

/// One numbered database.
pub struct Db {
    pub(super) keys: Table<KeyEntry>,
    pub(super) expires: Table<EntryRef>,
    pub(super) field_expiries: FieldExpiries,
    /// Where the expiry cycle goes on.
    pub(super) expire_cursor: u64,
    /// Running mean of the time to live of keys with an expiry, in milliseconds.
    pub avg_ttl_ms: i64,
}

impl Db {
    pub(super) fn new(seed: Seed) -> Db {
        Db {
            keys: Table::new(seed),
            expires: Table::new(seed),
            field_expiries: FieldExpiries::default(),
            expire_cursor: 0,
            avg_ttl_ms: 0,
        }
    }

    /// Keys in it, expired ones that nobody has noticed included.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys with an expiry.
    pub fn expires_len(&self) -> usize {
        self.expires.len()
    }

    /// Hashes with fields that expire.
    pub fn field_expiries_len(&self) -> usize {
        self.field_expiries.len()
    }

    /// One step of a scan: reports the keys of one bucket and gives the next cursor, 0 at the end.
    pub fn scan(&self, cursor: u64, report: impl FnMut(&KeyEntry)) -> u64 {
        self.keys.scan(cursor, report)
    }

    /// One key, even if its time is over: for a second look-up in the same command, after one that has judged that.
    pub fn find(&self, key: &[u8]) -> Option<&KeyEntry> {
        self.keys.find(key)
    }

    /// All keys, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &KeyEntry> {
        self.keys.iter()
    }

    /// Goes on with the rehashing of the tables.
    pub fn rehash_step(&mut self, buckets: usize) {
        self.keys.rehash_step(buckets);
        self.expires.rehash_step(buckets);
    }

    /// Counts of the tables of keys and of expiries, for people. Visits every bucket.
    pub fn table_stats(&self) -> [Vec<TableStats>; 2] {
        [self.keys.stats(), self.expires.stats()]
    }

    /// Bytes that the table of keys, without the keys themselves, and the index of expiries take.
    pub fn table_bytes(&self) -> (usize, usize) {
        (self.keys.mem_size(), self.expires.mem_size())
    }

    /// How many of the two tables are between two sizes, and the bytes that they will need no more.
    pub fn rehashing(&self) -> (usize, usize) {
        let tables = usize::from(self.keys.is_rehashing()) + usize::from(self.expires.is_rehashing());
        (tables, self.keys.passing_mem_size() + self.expires.passing_mem_size())
    }

    /// Hint that this key is going to be looked up.
    pub fn prefetch(&self, key: &[u8]) {
        self.keys.prefetch(self.keys.hash_of(key));
    }

    /// Takes a key out of all tables.
    pub(super) fn remove(&mut self, hash: u64, key: &[u8]) -> Option<KeyEntry> {
        if !self.expires.is_empty() {
            // The reference goes first: it must not outlive its entry.
            self.expires.remove_hashed(hash, key);
        }
        let entry = self.keys.remove_hashed(hash, key)?;
        self.field_expiries.remove(&entry);
        Some(entry)
    }
}
