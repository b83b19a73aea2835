//! The hash table of the keyspace and of big sets, hashes and sorted sets. Touches `base` and its own buckets.
//!
//! The design is that of Valkey's `hashtable.c` (cache-line buckets with one tag byte a slot, overflow chains, two tables
//! while rehashing), which in turn takes rehashing and SCAN from Redis's `dict.c`. What differs here:
//!
//! - **Segments.** A table of more than `SEGMENT_BUCKETS` buckets is a directory of separately allocated segments.
//!   Those of the new table appear when rehashing reaches them and those of the old one go as it leaves them, so that no
//!   call ever allocates, zeroes or frees one huge block, and a growing table never owns much more than the larger of
//!   the two.
//! - **One place for a key.** While rehashing, old bucket `i` has been moved if `i < moved`. A key lives in the old
//!   table exactly if its old bucket has not been moved; new keys follow the same rule. A look-up probes one chain only.
//!
//! ```text
//! rehashing, old of 4 buckets, new of 8, moved = 1:
//!     old   [ gone ][  1  ][  2  ][  3  ]          hash & 3 == 0 → new, else old
//!     new   [  0 ][    ][    ][    ][  4 ][    ][    ][    ]
//! ```
//!
//! Costs: a look-up reads a directory entry (none in a small table), the bucket, and the element it finds. Every call
//! that changes the table moves a few buckets, and [`Table::rehash_step`] moves more from a timer. No call visits more
//! than a bounded number of buckets, whatever the size, but for those that say so.
//!
//! [`Table::scan`] gives Redis's SCAN guarantee: an element that is in the table from the first call to the last is
//! reported at least once, across any growing and shrinking in between. The cursor counts bucket numbers with their bits
//! reversed, so that the buckets into which a finished one has been split, or merged, count as finished too.

use std::hash::Hasher;

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;
use rand::Rng;

use crate::base::Rand;

#[path = "table/bucket.rs"]
mod bucket;
#[path = "table/segments.rs"]
mod segments;
use bucket::{Bucket, ChainIter, SLOTS, Tag};
use segments::Buckets;

/// What a table holds: a type one pointer wide (checked when compiling) that knows its key.
///
/// The key must stay the same while the element is in a table, also through [`Table::find_mut`]; otherwise the element
/// is not found any more (nothing worse). The table drops its elements. A non-owning element, such as a reference to
/// something that another table owns, is fine: its type makes sure that the thing outlives it, by a lifetime or by
/// `unsafe` code of its own, and its drop does nothing.
pub trait Element {
    /// The bytes that identify the element.
    fn key(&self) -> &[u8];
}

impl Element for super::thin::Thin {
    #[inline]
    fn key(&self) -> &[u8] {
        self.as_slice()
    }
}

/// What makes hashes unpredictable to clients: random, one a server.
#[derive(Clone, Copy, Debug)]
pub struct Seed(pub u64);

/// The hash of a key, as every table with this seed computes it.
#[inline]
#[must_use]
pub fn hash(seed: Seed, key: &[u8]) -> u64 {
    let mut hasher = FoldHasher::with_seed(seed.0, SharedSeed::global_fixed());
    hasher.write(key);
    hasher.finish()
}

/// A table grows when it would hold more than this many elements a bucket. Measured for 5, 6 and 7: bytes an element,
/// averaged over a doubling, 18.2, 15.9, 14.6; buckets with a child just before growing, 13 %, 26 %, 40 %.
const GROW_PER_BUCKET: usize = 6;
/// A table shrinks when it holds fewer elements than buckets, to a size with at most `SHRUNK_PER_BUCKET` a bucket.
const SHRUNK_PER_BUCKET: usize = 3;
/// Shrinking divides by this at most, which bounds the buckets that one `scan` visits. The next removal goes on.
const SHRINK_FACTOR_MAX: usize = 8;
/// Up to this many old buckets are moved at once, so that small tables never keep two arrays.
const REHASH_WHOLE_BUCKETS: usize = if cfg!(miri) { 4 } else { 32 };
/// Buckets that each changing call moves.
const REHASH_PER_CALL: usize = 2;
/// `random` draws a slot of this many from a bucket's chain: more than a chain nearly ever holds.
const RANDOM_SLOTS: usize = 16;
/// `scan_some` visits up to this many buckets for each element asked for.
const SCAN_BUCKETS_PER_ELEMENT: usize = 10;
/// How often `random` draws before it is content with a less even choice.
const RANDOM_TRIES: usize = 256;

/// The hash table, see the head of the file. An empty one allocates nothing.
pub struct Table<E> {
    seed: Seed,
    len: usize,
    /// Overflow buckets in both tables.
    children: usize,
    /// How many of the old table's buckets have been moved to `new`; 0 when not rehashing.
    moved: usize,
    /// The only table, or the old one while rehashing.
    main: Buckets<E>,
    /// None when not rehashing.
    new: Buckets<E>,
}

/// Where an element is: the table, the bucket, and its rank in the bucket's chain.
#[derive(Clone, Copy)]
struct Spot {
    in_new: bool,
    index: usize,
    nth: usize,
}

/// The tag of a hash: its top bits, for bucket numbers come from the bottom.
#[inline]
fn tag_of(hash: u64) -> Tag {
    Tag::new((hash >> 56) as u8).unwrap_or(Tag::MIN)
}

/// The next SCAN cursor under `mask`: one is added to the bits above, reversed.
fn next_cursor(cursor: usize, mask: usize) -> usize {
    (cursor | !mask).reverse_bits().wrapping_add(1).reverse_bits()
}

/// The fewest buckets that hold `len` elements at no more than `per_bucket` each.
fn buckets_for(len: usize, per_bucket: usize) -> usize {
    len.div_ceil(per_bucket).max(1).next_power_of_two()
}

impl<E: Element> Table<E> {
    /// An empty table.
    #[must_use]
    pub const fn new(seed: Seed) -> Self {
        Self { seed, len: 0, children: 0, moved: 0, main: Buckets::NONE, new: Buckets::NONE }
    }

    /// An empty table with buckets for `capacity` elements, for a load whose size is known.
    #[must_use]
    pub fn with_capacity(seed: Seed, capacity: usize) -> Self {
        let mut table = Self::new(seed);
        if capacity > 0 {
            table.main = Buckets::new(buckets_for(capacity, GROW_PER_BUCKET));
        }
        table
    }

    /// Number of elements.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The seed that the table hashes with.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The hash of `key`, for the `_hashed` calls.
    #[inline]
    #[must_use]
    pub fn hash_of(&self, key: &[u8]) -> u64 {
        hash(self.seed, key)
    }

    /// The table and number of the one bucket whose chain holds keys with this hash.
    #[inline]
    fn home(&self, hash: u64) -> (bool, usize) {
        let old = hash as usize & self.main.mask;
        if old < self.moved { (true, hash as usize & self.new.mask) } else { (false, old) }
    }

    #[inline]
    fn home_bucket(&self, hash: u64) -> Option<&Bucket<E>> {
        let (in_new, index) = self.home(hash);
        self.table(in_new).get(index)
    }

    #[inline]
    fn home_bucket_mut(&mut self, hash: u64) -> Option<&mut Bucket<E>> {
        let (in_new, index) = self.home(hash);
        self.table_mut(in_new).get_mut(index)
    }

    #[inline]
    fn table(&self, new: bool) -> &Buckets<E> {
        if new { &self.new } else { &self.main }
    }

    #[inline]
    fn table_mut(&mut self, new: bool) -> &mut Buckets<E> {
        if new { &mut self.new } else { &mut self.main }
    }

    /// The element with this key.
    #[inline]
    #[must_use]
    pub fn find(&self, key: &[u8]) -> Option<&E> {
        self.find_hashed(self.hash_of(key), key)
    }

    /// As [`find`](Self::find), with the key's hash at hand.
    #[inline]
    #[must_use]
    pub fn find_hashed(&self, hash: u64, key: &[u8]) -> Option<&E> {
        self.find_where(hash, |elem| elem.key() == key)
    }

    /// The element with this key, to change. Its key must stay the same.
    #[inline]
    #[must_use]
    pub fn find_mut(&mut self, key: &[u8]) -> Option<&mut E> {
        self.find_mut_hashed(self.hash_of(key), key)
    }

    /// As [`find_mut`](Self::find_mut), with the key's hash at hand.
    #[inline]
    #[must_use]
    pub fn find_mut_hashed(&mut self, hash: u64, key: &[u8]) -> Option<&mut E> {
        self.rehash_a_little();
        self.home_bucket_mut(hash)?.find_mut(tag_of(hash), |elem| elem.key() == key)
    }

    /// Adds an element; one with the same key is replaced and returned.
    pub fn insert(&mut self, elem: E) -> Option<E> {
        let hash = self.hash_of(elem.key());
        if let Some(found) = self.find_mut_hashed(hash, elem.key()) {
            return Some(std::mem::replace(found, elem));
        }
        self.insert_unique_hashed(hash, elem);
        None
    }

    /// Adds an element whose key is not in the table: the caller knows, nothing looks.
    pub fn insert_unique(&mut self, elem: E) {
        self.insert_unique_hashed(self.hash_of(elem.key()), elem);
    }

    /// As [`insert_unique`](Self::insert_unique), with the key's hash at hand. After a
    /// [`find_mut_hashed`](Self::find_mut_hashed) without result this is a cheap "find or insert": the key is hashed
    /// once and its bucket is in the cache.
    #[inline]
    pub fn insert_unique_hashed(&mut self, hash: u64, elem: E) {
        debug_assert!(hash == self.hash_of(elem.key()));
        self.rehash_a_little();
        self.grow_if_full();
        let (in_new, index) = self.home(hash);
        let added_child = self.table_mut(in_new).get_or_alloc(index).insert(tag_of(hash), elem);
        self.children += usize::from(added_child);
        self.len += 1;
    }

    /// Takes the element with this key out.
    pub fn remove(&mut self, key: &[u8]) -> Option<E> {
        self.remove_hashed(self.hash_of(key), key)
    }

    /// As [`remove`](Self::remove), with the key's hash at hand.
    #[inline]
    pub fn remove_hashed(&mut self, hash: u64, key: &[u8]) -> Option<E> {
        self.remove_where(hash, |elem| elem.key() == key)
    }

    /// An element that passes the test, among those whose keys have this hash and perhaps a few others.
    #[inline]
    #[must_use]
    pub fn find_where(&self, hash: u64, is_it: impl Fn(&E) -> bool) -> Option<&E> {
        self.home_bucket(hash)?.find(tag_of(hash), is_it)
    }

    /// Takes out what [`find_where`](Self::find_where) finds.
    #[inline]
    pub fn remove_where(&mut self, hash: u64, is_it: impl Fn(&E) -> bool) -> Option<E> {
        self.rehash_a_little();
        let removed = self.home_bucket_mut(hash)?.remove(tag_of(hash), is_it)?;
        Some(self.count_removed(removed))
    }

    fn count_removed(&mut self, (elem, freed_child): (E, bool)) -> E {
        self.children -= usize::from(freed_child);
        self.len -= 1;
        self.shrink_if_sparse();
        elem
    }

    /// Drops all elements and frees all buckets, at once: slow for a big table, see [`Table::into_drain`].
    pub fn clear(&mut self) {
        *self = Self::new(self.seed);
    }

    /// For taking the table apart bit by bit.
    #[must_use]
    pub fn into_drain(self) -> Drain<E> {
        Drain { table: self, next: 0 }
    }

    /// Hint: keys with this hash are about to be looked up. Brings their bucket into the cache.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.home_bucket(hash) {
            bucket.prefetch();
        }
    }

    /// Hint: as [`prefetch`](Self::prefetch), but for the element; worth it once the bucket has arrived.
    #[inline]
    pub fn prefetch_element(&self, hash: u64) {
        if let Some(bucket) = self.home_bucket(hash) {
            bucket.prefetch_tagged(tag_of(hash));
        }
    }

    /// Bytes of buckets and directories, the elements' own memory not included.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        let arrays = self.main.mem_size() + self.new.mem_size();
        arrays + self.children * size_of::<Bucket<E>>()
    }

    /// The part of them that goes when rehashing is over.
    #[must_use]
    pub fn passing_mem_size(&self) -> usize {
        if self.is_rehashing() { self.main.mem_size() } else { 0 }
    }
}

/// Growing, shrinking, rehashing.
impl<E: Element> Table<E> {
    /// Whether two bucket arrays exist, and rehashing has work to do.
    #[inline]
    #[must_use]
    pub fn is_rehashing(&self) -> bool {
        self.new.count() > 0
    }

    /// Moves up to `buckets` buckets to the new table. Says whether there is more to do.
    pub fn rehash_step(&mut self, buckets: usize) -> bool {
        for _ in 0..buckets {
            if !self.is_rehashing() {
                break;
            }
            self.move_bucket();
        }
        self.is_rehashing()
    }

    #[inline]
    fn rehash_a_little(&mut self) {
        if self.is_rehashing() {
            self.rehash_step(REHASH_PER_CALL);
        }
    }

    #[inline]
    fn grow_if_full(&mut self) {
        if self.len >= self.main.count() * GROW_PER_BUCKET && !self.is_rehashing() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let count = self.main.count();
        if count <= 1 && self.len < count * SLOTS {
            return; // A lone bucket may as well be filled.
        }
        self.resize(if count == 0 { 1 } else { count * 2 });
    }

    #[inline]
    fn shrink_if_sparse(&mut self) {
        if self.len < self.main.count() && !self.is_rehashing() && self.main.count() > 1 {
            let wanted = buckets_for(self.len, SHRUNK_PER_BUCKET);
            let least = (self.main.count() / SHRINK_FACTOR_MAX).max(1);
            self.resize(wanted.max(least));
        }
    }

    /// Begins to rehash to `count` buckets, unless already rehashing, and ends it at once in a small table.
    fn resize(&mut self, count: usize) {
        if self.is_rehashing() || count == self.main.count() {
            return;
        }
        if self.main.count() == 0 {
            self.main = Buckets::new(count);
            return;
        }
        self.new = Buckets::new(count);
        if self.main.count() <= REHASH_WHOLE_BUCKETS {
            self.rehash_step(REHASH_WHOLE_BUCKETS);
        }
    }

    /// Moves the old table's next bucket.
    fn move_bucket(&mut self) {
        let index = self.moved;
        let growing = self.new.mask > self.main.mask;
        if let Some(soon) = self.main.get(index + 2 * REHASH_PER_CALL) {
            soon.prefetch();
        }
        if growing && let Some(next) = self.main.get(index + REHASH_PER_CALL) {
            next.prefetch_elements();
        }
        if let Some(bucket) = self.main.get_mut(index) {
            let (seed, new) = (self.seed, &mut self.new);
            let mut added = 0;
            let freed = bucket.drain(|tag, elem| {
                // Shrinking drops bits off the old number, and needs neither the key nor its hash.
                let bits = if growing { hash(seed, elem.key()) as usize } else { index };
                added += usize::from(new.get_or_alloc(bits & new.mask).insert(tag, elem));
            });
            self.children = self.children + added - freed;
        }
        self.moved += 1;
        self.main.free_behind(index);
        if self.moved == self.main.count() {
            self.main = std::mem::replace(&mut self.new, Buckets::NONE);
            self.moved = 0;
        }
    }
}

/// Walking and choosing.
impl<E: Element> Table<E> {
    /// Reports the elements of the cursor's bucket (while rehashing: of the corresponding buckets in both tables, eight
    /// in the larger at most) and returns the next cursor. Begin with 0; the walk is over when 0 comes back. Elements
    /// may be reported twice. Any cursor is valid.
    pub fn scan(&self, cursor: u64, mut report: impl FnMut(&E)) -> u64 {
        let cursor = cursor as usize;
        let mut visit = |table: &Buckets<E>, index: usize| {
            table.get(index & table.mask).into_iter().flat_map(Bucket::iter).for_each(&mut report);
        };
        if !self.is_rehashing() {
            visit(&self.main, cursor);
            return next_cursor(cursor, self.main.mask) as u64;
        }
        let main_is_smaller = self.main.mask < self.new.mask;
        let (small, large) = (self.table(!main_is_smaller), self.table(main_is_smaller));
        visit(small, cursor);
        // All buckets of the larger table that agree with the small one's number in its bits.
        let mut at = cursor;
        loop {
            visit(large, at);
            at = next_cursor(at, large.mask);
            if at & (small.mask ^ large.mask) == 0 {
                return at as u64;
            }
        }
    }

    /// Calls [`scan`](Self::scan) till it has reported `count` elements or more, the walk is over, or many buckets turned
    /// out empty: what one call of SCAN and its kind does.
    pub fn scan_some(&self, mut cursor: u64, count: usize, mut report: impl FnMut(&E)) -> u64 {
        let mut reported = 0;
        for _ in 0..count.saturating_mul(SCAN_BUCKETS_PER_ELEMENT).max(1) {
            cursor = self.scan(cursor, |elem| {
                reported += 1;
                report(elem);
            });
            if cursor == 0 || reported >= count {
                break;
            }
        }
        cursor
    }

    /// All elements, in no order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, E> {
        Iter { table: self, next: self.moved, chain: None, left: self.len }
    }

    /// An element, each about equally likely. None when there are none.
    pub fn random(&self, rng: &mut Rand) -> Option<&E> {
        let spot = self.random_spot(rng)?;
        self.table(spot.in_new).get(spot.index)?.iter().nth(spot.nth)
    }

    /// Takes an element out, each about equally likely.
    pub fn pop_random(&mut self, rng: &mut Rand) -> Option<E> {
        self.rehash_a_little();
        let spot = self.random_spot(rng)?;
        let bucket = self.table_mut(spot.in_new).get_mut(spot.index)?;
        let removed = bucket.remove_nth(spot.nth)?;
        Some(self.count_removed(removed))
    }

    /// Buckets of both tables that may hold elements, counted through by `place`.
    fn live_buckets(&self) -> usize {
        self.main.count() - self.moved + self.new.count()
    }

    /// The table and number of the `nth` live bucket: the old table's rest comes first.
    fn place(&self, nth: usize) -> (bool, usize) {
        let old = self.main.count() - self.moved;
        if nth < old { (false, self.moved + nth) } else { (true, nth - old) }
    }

    /// Draws a bucket and a slot till something is there: every element is as likely as any other. (In a chain longer
    /// than `RANDOM_SLOTS` one is less likely than elsewhere, which is too rare to matter.)
    fn random_spot(&self, rng: &mut Rand) -> Option<Spot> {
        if self.len == 0 {
            return None;
        }
        let live = self.live_buckets();
        for _ in 0..RANDOM_TRIES {
            let (in_new, index) = self.place(rng.random_range(0..live));
            let nth = rng.random_range(0..RANDOM_SLOTS);
            let Some(bucket) = self.table(in_new).get(index) else { continue };
            let (count, _) = bucket.measure();
            if nth < count {
                let nth = if count > RANDOM_SLOTS { rng.random_range(0..count) } else { nth };
                return Some(Spot { in_new, index, nth });
            }
        }
        self.spot_from(rng.random_range(0..live), rng)
    }

    /// One of the elements in the first bucket from the `start`th on that has any.
    fn spot_from(&self, start: usize, rng: &mut Rand) -> Option<Spot> {
        let live = self.live_buckets();
        (start..live).chain(0..start).find_map(|nth| {
            let (in_new, index) = self.place(nth);
            let (count, _) = self.table(in_new).get(index)?.measure();
            (count > 0).then(|| Spot { in_new, index, nth: rng.random_range(0..count) })
        })
    }

    /// Reports about `n` elements that lie together at a random place: cheap, all different, but far from independent.
    /// May report fewer, where the table is sparse, and up to a bucket's worth more.
    pub fn sample(&self, rng: &mut Rand, n: usize, mut report: impl FnMut(&E)) {
        let live = self.live_buckets();
        if self.len == 0 {
            return;
        }
        let start = rng.random_range(0..live);
        let mut left = n;
        for nth in (start..live).chain(0..start).take(n.saturating_mul(10)) {
            let (in_new, index) = self.place(nth);
            for elem in self.table(in_new).get(index).into_iter().flat_map(Bucket::iter) {
                report(elem);
                left = left.saturating_sub(1);
            }
            if left == 0 {
                break;
            }
        }
    }

    /// Reports `count` different elements (all, if there are not so many), each such choice about equally likely, in no
    /// order.
    pub fn sample_distinct<'a>(&'a self, rng: &mut Rand, count: usize, mut report: impl FnMut(&'a E)) {
        // Drawing one by one gets slow when the same come again and again. Redis's factor.
        const DRAW_BELOW: usize = 3;
        if count.saturating_mul(DRAW_BELOW) > self.len {
            select(self.iter(), rng, count, report);
            return;
        }
        let mut drawn = Table::with_capacity(self.seed, count);
        while drawn.len() < count {
            let Some(elem) = self.random(rng) else { return };
            let hash = self.hash_of(elem.key());
            if drawn.find_hashed(hash, elem.key()).is_none() {
                drawn.insert_unique_hashed(hash, Drawn(elem));
                report(elem);
            }
        }
    }

    /// Counts for people, for each of the two tables that exists. Visits every bucket.
    #[must_use]
    pub fn stats(&self) -> Vec<TableStats> {
        let tables = [&self.main, &self.new].into_iter().filter(|table| table.count() > 0);
        tables.map(TableStats::of).collect()
    }
}

/// An entry of the index of what `sample_distinct` has drawn.
struct Drawn<'a, E>(&'a E);

impl<E: Element> Element for Drawn<'_, E> {
    fn key(&self) -> &[u8] {
        self.0.key()
    }
}

/// Reports `count` of `all`, or all of them, each such choice equally likely: one walk that takes each with the chance
/// (still wanted / still to come).
pub fn select<T>(
    all: impl ExactSizeIterator<Item = T>,
    rng: &mut Rand,
    count: usize,
    mut report: impl FnMut(T),
) {
    let mut to_come = all.len();
    let mut wanted = count.min(to_come);
    for one in all {
        if wanted == 0 {
            break;
        }
        if rng.random_range(0..to_come) < wanted {
            report(one);
            wanted -= 1;
        }
        to_come -= 1;
    }
}

/// Counts of one of a table's bucket arrays, see [`Table::stats`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    /// Buckets, without overflow buckets.
    pub buckets: usize,
    /// Elements.
    pub elements: usize,
    /// Buckets with an element.
    pub used_buckets: usize,
    /// `chains[n]`: how many buckets have `n` overflow buckets, longer chains counting with the last.
    pub chains: [usize; 8],
    /// Elements in the fullest chain.
    pub longest: usize,
}

impl TableStats {
    fn of<E>(table: &Buckets<E>) -> Self {
        let mut stats = Self { buckets: table.count(), ..Self::default() };
        for index in 0..table.count() {
            let (elements, children) = table.get(index).map_or((0, 0), Bucket::measure);
            stats.elements += elements;
            stats.used_buckets += usize::from(elements > 0);
            stats.chains[children.min(stats.chains.len() - 1)] += 1;
            stats.longest = stats.longest.max(elements);
        }
        stats
    }
}

/// All elements of a table, see [`Table::iter`].
pub struct Iter<'a, E> {
    table: &'a Table<E>,
    /// The next bucket: first the main table's, from `moved` on, then the new one's.
    next: usize,
    chain: Option<ChainIter<'a, E>>,
    left: usize,
}

impl<'a, E> Iterator for Iter<'a, E> {
    type Item = &'a E;

    fn next(&mut self) -> Option<&'a E> {
        if self.left == 0 {
            return None;
        }
        loop {
            if let Some(elem) = self.chain.as_mut().and_then(Iterator::next) {
                self.left -= 1;
                return Some(elem);
            }
            let main_count = self.table.main.count();
            let (buckets, index) = match self.next.checked_sub(main_count) {
                None => (&self.table.main, self.next),
                Some(index) => (&self.table.new, index),
            };
            self.next += 1;
            self.chain = buckets.get(index).map(Bucket::iter);
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<E> ExactSizeIterator for Iter<'_, E> {}

/// A table that is being taken apart, so that dropping millions of elements can be spread over many turns.
pub struct Drain<E> {
    table: Table<E>,
    next: usize,
}

impl<E> Drain<E> {
    /// Elements left, or a little more.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len
    }

    /// Whether all elements are gone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives the elements of the next `buckets` buckets to `sink`. Says whether there is more to do.
    pub fn step(&mut self, buckets: usize, mut sink: impl FnMut(E)) -> bool {
        let table = &mut self.table;
        for _ in 0..buckets {
            let main_count = table.main.count();
            if self.next >= main_count + table.new.count() {
                return false;
            }
            let (buckets, index) = match self.next.checked_sub(main_count) {
                None => (&mut table.main, self.next),
                Some(index) => (&mut table.new, index),
            };
            if let Some(bucket) = buckets.get_mut(index) {
                bucket.drain(|_, elem| {
                    table.len -= 1;
                    sink(elem);
                });
            }
            buckets.free_behind(index);
            self.next += 1;
        }
        true
    }
}

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;
