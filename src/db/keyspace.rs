//! The numbered databases: look-up, change, deletion and expiry of keys. Touches base, types and its siblings.
//!
//! Every access goes through here, so that a key past its expiry is never seen, and every change is reported through
//! [`Keyspace::changed`] or one of the functions that call it: the one place that counts changes and raises events.
//!
//! Invariants of a database: `expires` holds a reference to exactly those entries of `keys` that have an expiry; a
//! collection in it is never empty.

use crate::base::Rand;
use crate::base::error::CmdError;
use crate::base::limits::REHASH_BUCKETS_PER_PICK;
use crate::db::access::Frequency;
pub use crate::db::database::Db;
use crate::db::entry::{EntryRef, KeyEntry};
pub use crate::db::signals::{Cause, EventClass, KeyEvent, Signals, Touched};
use crate::db::trash::{LazyRemovals, Trash};
use crate::db::value::Value;
use crate::types::hash::Hash;
use crate::types::list::List;
use crate::types::set::Set;
use crate::types::table::{Element, Seed, Table};
use crate::types::zset::ZSet;

/// Counters that INFO shows.
#[derive(Debug, Default, Clone)]
pub struct KeyspaceStats {
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Keys that went by expiry.
    pub expired: u64,
    /// Keys that went because memory was short.
    pub evicted: u64,
    /// Fields of hashes that went by expiry.
    pub expired_fields: u64,
    /// Times the expiry cycle used up its budget.
    pub expire_cycle_capped: u64,
    /// Estimated share of expired keys still in memory, 0 to 1.
    pub expired_stale_share: f64,
}

/// All databases.
pub struct Keyspace {
    dbs: Vec<Db>,
    seed: Seed,
    /// The time of the running command in milliseconds since the epoch; expiry is judged by it.
    pub now_ms: i64,
    /// The 24-bit access clock that looked-up keys are stamped with.
    pub access_clock: u32,
    /// How accesses are counted; `None` while keys are stamped with the access clock instead.
    pub frequency: Option<Frequency>,
    /// Whether reads of the running command leave access clocks alone.
    pub no_touch: bool,
    /// Length from which on an element of a list has a node of its own whatever the options say, if not 0: by DEBUG.
    pub large_from: u32,
    /// Whether expired keys stay where they are; readers do not see them all the same. Writers still remove them.
    pub keep_expired: bool,
    /// Which removals leave their rubbish in `trash`.
    pub lazy: LazyRemovals,
    /// Large things that the owner of the databases is to take away and free.
    pub trash: Trash,
    /// See [`Signals`].
    pub signals: Signals,
    /// See [`KeyspaceStats`].
    pub stats: KeyspaceStats,
}

impl Keyspace {
    /// `count` empty databases. `seed` makes the order of keys unpredictable.
    pub fn new(count: usize, seed: Seed) -> Keyspace {
        Keyspace {
            dbs: (0..count).map(|_| Db::new(seed)).collect(),
            seed,
            now_ms: 0,
            access_clock: 0,
            frequency: None,
            no_touch: false,
            large_from: 0,
            keep_expired: false,
            lazy: LazyRemovals::default(),
            trash: Trash::default(),
            signals: Signals::default(),
            stats: KeyspaceStats::default(),
        }
    }

    /// The seed for tables inside values.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// How many databases there are.
    pub fn count(&self) -> usize {
        self.dbs.len()
    }

    /// One database. `db` is below [`Keyspace::count`].
    pub fn db(&self, db: usize) -> &Db {
        &self.dbs[db]
    }

    /// One database, for maintenance.
    pub fn db_mut(&mut self, db: usize) -> &mut Db {
        &mut self.dbs[db]
    }

    /// The access state of a key that comes into being.
    #[inline]
    fn fresh_access(&self) -> u32 {
        match self.frequency {
            None => self.access_clock,
            Some(_) => Frequency::fresh(self.now_ms),
        }
    }

    /// Removes the key if its time is over. Returns whether it did.
    #[inline]
    fn expire_if_due(&mut self, db: usize, hash: u64, key: &[u8]) -> bool {
        let space = &self.dbs[db];
        if space.expires.is_empty() {
            return false;
        }
        let due = space.keys.find_hashed(hash, key).is_some_and(|entry| entry.is_expired(self.now_ms));
        if due {
            self.expire_now(db, hash, key);
        }
        due
    }

    /// Whether the time of the key is over, for those who only read it. Removes it then, unless it is to stay.
    #[inline]
    fn is_over(&mut self, db: usize, hash: u64, key: &[u8]) -> bool {
        if self.keep_expired { self.has_expired(db, key) } else { self.expire_if_due(db, hash, key) }
    }

    #[cold]
    pub(super) fn expire_now(&mut self, db: usize, hash: u64, key: &[u8]) {
        let gone = self.dbs[db].remove(hash, key).expect("who says that a key is due has found it");
        self.trash.put(gone, self.lazy.expired);
        self.stats.expired += 1;
        // Time passing is no change that a save would count.
        self.changed(db, key, EventClass::EXPIRED, "expired", 0);
    }

    /// Looks a key up for reading: counts a hit or a miss and stamps the access clock.
    #[inline]
    pub fn read(&mut self, db: usize, key: &[u8]) -> Option<&KeyEntry> {
        self.read_mut(db, key).map(|entry| &*entry)
    }

    /// As [`Keyspace::read`], for picking elements of a collection at random. That may be all that happens to it from
    /// now on, so whatever rehashing is left over from its last changes goes on here.
    pub fn read_to_pick(&mut self, db: usize, key: &[u8]) -> Option<&KeyEntry> {
        let entry = self.read_mut(db, key)?;
        entry.rehash_step(REHASH_BUCKETS_PER_PICK);
        Some(entry)
    }

    #[inline]
    fn read_mut(&mut self, db: usize, key: &[u8]) -> Option<&mut KeyEntry> {
        let hash = self.dbs[db].keys.hash_of(key);
        if self.is_over(db, hash, key) {
            self.stats.misses += 1;
            self.signals.missed(db, key);
            return None;
        }
        match self.dbs[db].keys.find_mut_hashed(hash, key) {
            Some(entry) => {
                self.stats.hits += 1;
                if !self.no_touch {
                    stamp(entry, self.access_clock, &mut self.frequency, self.now_ms);
                }
                Some(entry)
            }
            None => {
                self.stats.misses += 1;
                self.signals.missed(db, key);
                None
            }
        }
    }

    /// Looks a key up for a fact about it: counts a hit or a miss but leaves the access clock alone.
    #[inline]
    pub fn read_unstamped(&mut self, db: usize, key: &[u8]) -> Option<&KeyEntry> {
        self.find_counted(db, key, Signals::missed)
    }

    /// Looks a key up for what is stored where: as [`Keyspace::read_unstamped`], but nobody hears of a miss.
    pub fn inspect(&mut self, db: usize, key: &[u8]) -> Option<&KeyEntry> {
        self.find_counted(db, key, |_, _, _| {})
    }

    #[inline]
    fn find_counted(
        &mut self,
        db: usize,
        key: &[u8],
        on_miss: impl Fn(&mut Signals, usize, &[u8]),
    ) -> Option<&KeyEntry> {
        let hash = self.dbs[db].keys.hash_of(key);
        let over = self.is_over(db, hash, key);
        let entry = if over { None } else { self.dbs[db].keys.find_hashed(hash, key) };
        match entry {
            Some(_) => self.stats.hits += 1,
            None => {
                self.stats.misses += 1;
                on_miss(&mut self.signals, db, key);
            }
        }
        entry
    }

    /// Looks a key up without a trace: no statistics, no access time. An expired key is still removed.
    pub fn peek(&mut self, db: usize, key: &[u8]) -> Option<&KeyEntry> {
        let hash = self.dbs[db].keys.hash_of(key);
        if self.is_over(db, hash, key) {
            return None;
        }
        self.dbs[db].keys.find_hashed(hash, key)
    }

    /// Whether the key is there and not expired; leaves no trace.
    pub fn contains(&self, db: usize, key: &[u8]) -> bool {
        let entry = self.dbs[db].keys.find(key);
        entry.is_some_and(|entry| !entry.is_expired(self.now_ms))
    }

    /// Whether the key is there but past its expiry; leaves no trace.
    pub fn has_expired(&self, db: usize, key: &[u8]) -> bool {
        let entry = self.dbs[db].keys.find(key);
        entry.is_some_and(|entry| entry.is_expired(self.now_ms))
    }

    /// Looks a key up for changing its value in place. The entry must not be replaced or given an expiry through this;
    /// [`Keyspace::set`] and [`Keyspace::set_expire`] do that.
    #[inline]
    pub fn write(&mut self, db: usize, key: &[u8]) -> Option<WriteEntry<'_>> {
        let hash = self.dbs[db].keys.hash_of(key);
        self.expire_if_due(db, hash, key);
        let space = &mut self.dbs[db];
        let entry = space.keys.find_mut_hashed(hash, key)?;
        if !self.no_touch {
            stamp(entry, self.access_clock, &mut self.frequency, self.now_ms);
        }
        Some(WriteEntry { entry, expires: &mut space.expires, hash })
    }

    /// Looks a key up once more for changing it: the command has had it before, so that this is no further access.
    pub fn write_again(&mut self, db: usize, key: &[u8]) -> Option<WriteEntry<'_>> {
        let space = &mut self.dbs[db];
        let hash = space.keys.hash_of(key);
        let entry = space.keys.find_mut_hashed(hash, key)?;
        Some(WriteEntry { entry, expires: &mut space.expires, hash })
    }

    /// Looks a key up for changing, creating it with the value that `make` gives if it is missing. The flag says
    /// whether it was created; that raises the event `new`.
    pub fn write_or_create<'k>(
        &'k mut self,
        db: usize,
        key: &[u8],
        make: impl FnOnce(Seed) -> Value<'static>,
    ) -> (WriteEntry<'k>, bool) {
        let hash = self.dbs[db].keys.hash_of(key);
        self.expire_if_due(db, hash, key);
        let created = self.dbs[db].keys.find_hashed(hash, key).is_none();
        if created {
            let entry = KeyEntry::new(key, make(self.seed), self.fresh_access());
            self.dbs[db].keys.insert_unique_hashed(hash, entry);
            self.changed(db, key, EventClass::NEW, "new", 0);
        }
        let space = &mut self.dbs[db];
        let entry = space.keys.find_mut_hashed(hash, key).expect("found or just created");
        if !self.no_touch && !created {
            stamp(entry, self.access_clock, &mut self.frequency, self.now_ms);
        }
        (WriteEntry { entry, expires: &mut space.expires, hash }, created)
    }

    /// Gives a key a value, whatever it held before; its expiry goes unless `keep_ttl`. Raises no event but `new`, and
    /// `expired` if the time of the old value was over.
    #[inline]
    pub fn set(&mut self, db: usize, key: &[u8], value: Value, keep_ttl: bool) {
        let hash = self.dbs[db].keys.hash_of(key);
        self.expire_if_due(db, hash, key);
        let is_hash = matches!(value, Value::Hash(_));
        let access = self.fresh_access();
        let space = &mut self.dbs[db];
        let Some(entry) = space.keys.find_mut_hashed(hash, key) else {
            let entry = KeyEntry::new(key, value, access);
            if is_hash {
                space.field_expiries.add(&entry);
            }
            space.keys.insert_unique_hashed(hash, entry);
            self.changed(db, key, EventClass::NEW, "new", 0);
            return;
        };
        space.field_expiries.remove(entry);
        if !keep_ttl && entry.expire_ms().is_some() {
            space.expires.remove_hashed(hash, key);
            entry.set_expire(None);
        }
        stamp(entry, self.access_clock, &mut self.frequency, self.now_ms);
        let old = entry.set_value(value);
        if is_hash {
            space.field_expiries.add(entry);
        }
        let old = WriteEntry { entry, expires: &mut space.expires, hash }.renew(old);
        if let Some(old) = old {
            self.trash.put(old, self.lazy.replaced);
        }
    }

    /// Sets or clears the expiry of an existing key. Returns whether the key exists.
    pub fn set_expire(&mut self, db: usize, key: &[u8], expire_ms: Option<i64>) -> bool {
        let space = &mut self.dbs[db];
        let hash = space.keys.hash_of(key);
        let Some(entry) = space.keys.find_mut_hashed(hash, key) else {
            return false;
        };
        let had = entry.expire_ms().is_some();
        match expire_ms {
            None if had => {
                space.expires.remove_hashed(hash, key);
                entry.set_expire(None);
            }
            None => {}
            Some(_) if entry.set_expire(expire_ms) => {
                space.expires.insert_unique_hashed(hash, entry.reference());
            }
            Some(_) => {}
        }
        true
    }

    /// Removes a key and hands it over. An expired key counts as missing. Raises no event.
    pub fn take(&mut self, db: usize, key: &[u8]) -> Option<KeyEntry> {
        let hash = self.dbs[db].keys.hash_of(key);
        if self.expire_if_due(db, hash, key) {
            return None;
        }
        self.dbs[db].remove(hash, key)
    }

    /// Deletes a key with the event `del`. Returns whether it existed.
    pub fn delete(&mut self, db: usize, key: &[u8]) -> bool {
        self.delete_with(db, key, self.lazy.replaced)
    }

    /// As [`Keyspace::delete`]; with `lazily`, a large value goes into the trash.
    pub fn delete_with(&mut self, db: usize, key: &[u8], lazily: bool) -> bool {
        let Some(gone) = self.take(db, key) else {
            return false;
        };
        self.trash.put(gone, lazily);
        self.changed(db, key, EventClass::GENERIC, "del", 1);
        true
    }

    /// Removes a key for lack of memory. `freed` is called when it is gone and the event `evicted` not yet raised.
    pub(super) fn evict(&mut self, db: usize, key: &[u8], freed: impl FnOnce()) {
        let hash = self.dbs[db].keys.hash_of(key);
        if let Some(gone) = self.dbs[db].remove(hash, key) {
            self.trash.put(gone, self.lazy.evicted);
            freed();
            self.stats.evicted += 1;
            self.changed(db, key, EventClass::EVICTED, "evicted", 0);
        }
    }

    /// Hands a key over to another name or database: value, expiry and access clock stay as they are, and a key that
    /// is there goes. Both are a database and a key, and differ. Raises no event but `new`. Returns whether the key
    /// existed.
    pub fn transfer(&mut self, from: (usize, &[u8]), to: (usize, &[u8])) -> bool {
        debug_assert!(from != to);
        let Some(entry) = self.take(from.0, from.1) else {
            return false;
        };
        self.put(to.0, if from.1 == to.1 { entry } else { entry.renamed(to.1) });
        true
    }

    /// As [`Keyspace::transfer`], but leaves the key in place and makes a copy.
    pub fn copy(&mut self, from: (usize, &[u8]), to: (usize, &[u8])) -> bool {
        debug_assert!(from != to);
        let access = self.fresh_access();
        let Some(entry) = self.peek(from.0, from.1) else {
            return false;
        };
        let mut copy = KeyEntry::new(to.1, entry.copied_value(), access);
        copy.set_expire(entry.expire_ms());
        self.put(to.0, copy);
        true
    }

    /// Puts an entry where its key says, in the place of one that is there.
    fn put(&mut self, db: usize, entry: KeyEntry) {
        if let Some(old) = self.take(db, entry.key()) {
            self.trash.put(old, self.lazy.replaced);
        }
        self.changed(db, entry.key(), EventClass::NEW, "new", 0);
        let space = &mut self.dbs[db];
        let hash = space.keys.hash_of(entry.key());
        let reference = entry.expire_ms().map(|_| entry.reference());
        space.field_expiries.add(&entry);
        space.keys.insert_unique_hashed(hash, entry);
        if let Some(reference) = reference {
            space.expires.insert_unique_hashed(hash, reference);
        }
    }

    /// Lets two databases change places.
    pub fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        self.touch_exchanged(a, b);
        self.touch_exchanged(b, a);
        self.dbs.swap(a, b);
        self.signals.swapped.extend([a, b]);
    }

    /// Empties one database, or all; with `lazily`, the old ones go into the trash. Returns how many keys went.
    pub fn flush(&mut self, db: Option<usize>, lazily: bool) -> usize {
        let range = db.map_or(0..self.dbs.len(), |db| db..db + 1);
        self.touch_watched(range.clone());
        self.signals.flushed = true;
        let mut gone = 0;
        for space in &mut self.dbs[range] {
            gone += space.len();
            let old = std::mem::replace(space, Db::new(self.seed));
            self.trash.put_database(old, lazily);
        }
        gone
    }

    /// A random key that has not expired. Gives up after some tries in a database of mostly expired keys, as Redis
    /// does, and then answers one of those.
    pub fn random_key(&mut self, db: usize, rng: &mut Rand) -> Option<Vec<u8>> {
        for _ in 0..100 {
            let space = &self.dbs[db];
            let entry = space.keys.random(rng)?;
            let key = entry.key().to_vec();
            if !entry.is_expired(self.now_ms) {
                return Some(key);
            }
            if !self.keep_expired {
                let hash = space.keys.hash_of(&key);
                self.expire_now(db, hash, &key);
            }
        }
        self.dbs[db].keys.random(rng).map(|entry| entry.key().to_vec())
    }

    /// Takes note of a change: counts it as `dirty` changes and raises the event if anybody wants it.
    #[inline]
    pub fn changed(&mut self, db: usize, key: &[u8], class: EventClass, name: &'static str, dirty: u64) {
        self.signals.dirty += dirty;
        if self.signals.wanted & class.0 != 0 || self.signals.listening {
            self.raise(db, key, class, name);
        }
    }

    #[cold]
    fn raise(&mut self, db: usize, key: &[u8], class: EventClass, name: &'static str) {
        if self.signals.wanted & class.0 != 0 {
            self.signals.events.push(KeyEvent { db, class, name, key: key.to_vec() });
        }
        if !self.signals.listening {
            return;
        }
        // The event `new` comes before the change that makes the key: that one is the change.
        if class == EventClass::NEW {
            self.signals.created.push((db, key.to_vec()));
        } else {
            let server = class == EventClass::EXPIRED || class == EventClass::EVICTED;
            let cause = if server { Cause::Server } else { Cause::Command };
            self.signals.touched.push(Touched { db, key: key.to_vec(), cause });
        }
    }

    /// Whether there is anything for the executor to pass on.
    #[inline]
    pub fn has_signals(&self) -> bool {
        let signals = &self.signals;
        !signals.events.is_empty()
            || !signals.touched.is_empty()
            || !signals.created.is_empty()
            || signals.flushed
            || !signals.swapped.is_empty()
    }

    /// Touches the watched keys that exist in one of `dbs`, under the name that they have in each of them.
    fn touch_watched(&mut self, dbs: std::ops::Range<usize>) {
        let watched = self.take_watched();
        for (db, key) in &watched {
            if dbs.contains(db) && self.dbs[*db].keys.find(key).is_some() {
                self.signals.touched.push(Touched { db: *db, key: key.clone(), cause: Cause::Database });
            }
        }
        self.signals.watched = watched;
    }

    /// The watched keys, each once: what two clients watch is listed twice.
    fn take_watched(&mut self) -> Vec<(usize, Vec<u8>)> {
        let mut watched = std::mem::take(&mut self.signals.watched);
        watched.sort_unstable();
        watched.dedup();
        watched
    }

    /// Touches the watched keys of database `at` that exist there or in `other`, which is about to take its place.
    fn touch_exchanged(&mut self, at: usize, other: usize) {
        let watched = self.take_watched();
        for (_, key) in watched.iter().filter(|(db, _)| *db == at) {
            let cause = match (self.dbs[at].keys.find(key), self.dbs[other].keys.find(key)) {
                (None, None) => continue,
                (None, Some(entry)) if entry.is_expired(self.now_ms) => Cause::AppearedExpired,
                _ => Cause::Database,
            };
            self.signals.touched.push(Touched { db: at, key: key.clone(), cause });
        }
        self.signals.watched = watched;
    }
}

/// Takes note of an access to a key.
#[inline]
fn stamp(entry: &mut KeyEntry, clock: u32, frequency: &mut Option<Frequency>, now_ms: i64) {
    match frequency {
        None => entry.set_access(clock),
        Some(frequency) => entry.set_access(frequency.touched(entry.access(), now_ms)),
    }
}

/// An existing key that may be changed in place. Keeps the index of expiries right when the entry moves.
pub struct WriteEntry<'k> {
    entry: &'k mut KeyEntry,
    expires: &'k mut Table<EntryRef>,
    hash: u64,
}

impl<'k> WriteEntry<'k> {
    /// The entry for reading.
    pub fn get(&self) -> &KeyEntry {
        self.entry
    }

    /// The list in it, for changing in place.
    pub fn list(self) -> Result<&'k mut List, CmdError> {
        self.entry.list_mut().ok_or(CmdError::WRONG_TYPE)
    }

    /// The set in it, for changing in place.
    pub fn set(self) -> Result<&'k mut Set, CmdError> {
        self.entry.set_mut().ok_or(CmdError::WRONG_TYPE)
    }

    /// The hash in it, for changing in place.
    pub fn hash(self) -> Result<&'k mut Hash, CmdError> {
        self.entry.hash_mut().ok_or(CmdError::WRONG_TYPE)
    }

    /// The sorted set in it, for changing in place.
    pub fn zset(self) -> Result<&'k mut ZSet, CmdError> {
        self.entry.zset_mut().ok_or(CmdError::WRONG_TYPE)
    }

    /// The integer, if the string is stored as one.
    #[inline]
    pub fn int(&self) -> Option<i64> {
        self.entry.int()
    }

    /// Replaces the value by an integer, keeps the expiry.
    #[inline]
    pub fn set_int(&mut self, n: i64) {
        let old = self.entry.set_int(n);
        self.renew(old);
    }

    /// Replaces the value, keeps the expiry.
    #[inline]
    pub fn set_value(&mut self, value: Value) {
        let old = self.entry.set_value(value);
        self.renew(old);
    }

    /// The string as a growable buffer; `None` if the value is no string.
    pub fn string_mut(&mut self) -> Option<&mut Vec<u8>> {
        let old = self.entry.make_growable();
        self.renew(old);
        self.entry.string_mut()
    }

    /// Lets the index of expiries point to where the entry is now. `old` is still alive: its key is read on the way. Hands
    /// it back to be freed.
    #[inline]
    fn renew(&mut self, old: Option<KeyEntry>) -> Option<KeyEntry> {
        if old.is_some() && self.entry.expire_ms().is_some() {
            let found = self.expires.find_mut_hashed(self.hash, self.entry.key());
            *found.expect("an entry with an expiry is in the index") = self.entry.reference();
        }
        old
    }
}
