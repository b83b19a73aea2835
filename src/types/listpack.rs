//! `Listpack`: a sequence of small strings and integers packed into one allocation. The entries have exactly Redis's
//! format (see `listpack/entry.rs`), so a dump can carry them as they are. Touches `base::Rand`, `types::{thin, item}`.
//!
//! ```text
//! Thin payload: | start u32 | end u32 | count u32 | front gap | entries ... | back gap |
//!                                                 12          start         end       capacity
//! ```
//!
//! The gap in front makes a push or a removal at the head as cheap as one at the tail. The allocation is rounded up to the
//! allocator's size classes (multiples of 16 up to 128 bytes, then four classes per doubling), which is all the slack a
//! growing pack gets: small ones stay tight, large ones grow by 14 to 25 %. The gap moves to the side that asks for it.
//!
//! Invariants, asserted by `check`: entries are valid and canonical, tile `start..end`, and are `count` in number.
//! A `Pos` is good until the next change of the pack; changing functions return the new one where it makes sense.

#[path = "listpack/emit.rs"]
mod emit;
#[path = "listpack/entry.rs"]
mod entry;

use rand::Rng;

use crate::base::Rand;
use crate::types::item::Item;
use crate::types::thin::Thin;
pub use emit::{Bulks, push_bulk, push_item_bulk};
use entry::Encoded;

/// Bytes of our header in front of the entries.
const HEADER: usize = 12;
/// What an empty pack without an allocation reads as: start = end = 12, count = 0.
const EMPTY: [u8; HEADER] = [HEADER as u8, 0, 0, 0, HEADER as u8, 0, 0, 0, 0, 0, 0, 0];
/// Bytes of Redis's header: total bytes u32, element count u16.
const REDIS_HEADER: usize = 6;
/// The count in Redis's header that means "walk to know".
const REDIS_COUNT_UNKNOWN: usize = u16::MAX as usize;
/// A pack may be added to until it would exceed this many bytes (1 GiB, as in Redis).
const SAFE_BYTES: usize = 1 << 30;
/// Untrusted packs above this are refused: rounded up to its size class, one must stay below 4 GiB.
const MAX_REDIS_BYTES: usize = 2 << 30;
/// Packs up to this many bytes are shifted without further thought: a move costs no more than the bookkeeping.
const CHEAP_MOVE: usize = 128;
/// An allocation is given back when less than one in this many of its bytes is used.
const SHRINK_FACTOR: usize = 4;

/// A packed sequence of strings and integers. One pointer wide; an empty new one owns no memory.
#[derive(Clone, Default)]
pub struct Listpack(Option<Thin>);

/// The place of an entry. Valid until the pack changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos(u32);

/// The bytes are not a listpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid;

/// A text prepared for many comparisons with entries.
#[derive(Clone, Copy)]
pub struct Needle<'a>(Encoded<'a>);

impl<'a> Needle<'a> {
    /// Prepares `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self(Encoded::new(text))
    }

    /// Whether this is `text`, which must not be a canonical integer: those are compared as entries.
    #[inline]
    #[must_use]
    pub fn is(&self, text: &[u8]) -> bool {
        self.0.is_text(text)
    }
}

/// The header, decoded.
#[derive(Clone, Copy)]
struct Head {
    start: usize,
    end: usize,
    count: usize,
}

impl Head {
    #[inline]
    fn used(self) -> usize {
        self.end - self.start
    }
}

/// The number of bytes to request so that `bytes` fit and nothing is lost to the allocator's rounding.
pub(super) fn size_class(bytes: usize) -> usize {
    if bytes <= 128 {
        return bytes.next_multiple_of(16);
    }
    let step = 1 << ((bytes - 1).ilog2() - 2);
    bytes.next_multiple_of(step)
}

/// The payload length of an allocation that holds `used` bytes of entries.
fn payload_for(used: usize) -> usize {
    const THIN_HEADER: usize = size_of::<u32>();
    size_class(THIN_HEADER + HEADER + used) - THIN_HEADER
}

// Reading.
impl Listpack {
    /// An empty pack. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    #[inline]
    fn raw(&self) -> &[u8] {
        match &self.0 {
            Some(thin) => thin.as_slice(),
            None => &EMPTY,
        }
    }

    #[inline]
    fn head(&self) -> Head {
        let raw = self.raw().first_chunk::<HEADER>().unwrap_or(&EMPTY);
        let field = |at: usize| u32::from_le_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]) as usize;
        Head { start: field(0), end: field(4), count: field(8) }
    }

    /// The number of entries.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.head().count
    }

    /// Whether there is no entry.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size Redis reports for this pack in bytes: a header of 6, the entries, a terminator.
    #[inline]
    #[must_use]
    pub fn byte_len(&self) -> usize {
        REDIS_HEADER + self.head().used() + 1
    }

    /// Heap bytes owned.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        self.0.as_ref().map_or(0, Thin::alloc_size)
    }

    /// Whether `extra` more bytes keep the pack below the 1 GiB at which Redis stops adding.
    #[must_use]
    pub fn safe_to_add(&self, extra: usize) -> bool {
        self.byte_len().saturating_add(extra) <= SAFE_BYTES
    }

    /// The bytes that `text` would take as an entry.
    #[inline]
    #[must_use]
    pub fn entry_size_of(text: &[u8]) -> usize {
        Encoded::new(text).size()
    }

    /// The first entry.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<Pos> {
        let head = self.head();
        (head.count > 0).then_some(Pos(head.start as u32))
    }

    /// The last entry.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Option<Pos> {
        let head = self.head();
        (head.count > 0).then(|| self.before(head.end))
    }

    /// The entry that ends at `end`.
    #[inline]
    fn before(&self, end: usize) -> Pos {
        Pos((end - entry::size_before(self.raw(), end).expect("own entries are valid")) as u32)
    }

    /// The entry behind `pos`.
    #[inline]
    #[must_use]
    pub fn next(&self, pos: Pos) -> Option<Pos> {
        let at = self.end_of(pos);
        (at < self.head().end).then_some(Pos(at as u32))
    }

    /// The entry in front of `pos`.
    #[inline]
    #[must_use]
    pub fn prev(&self, pos: Pos) -> Option<Pos> {
        let at = pos.0 as usize;
        (at > self.head().start).then(|| self.before(at))
    }

    #[inline]
    fn end_of(&self, pos: Pos) -> usize {
        pos.0 as usize + self.entry_size(pos)
    }

    /// The bytes that the entry at `pos` takes.
    #[inline]
    #[must_use]
    pub fn entry_size(&self, pos: Pos) -> usize {
        entry::size_at(self.raw(), pos.0 as usize)
    }

    /// The value at `pos`.
    #[inline]
    #[must_use]
    pub fn get(&self, pos: Pos) -> Item<'_> {
        entry::decode(self.raw(), pos.0 as usize)
    }

    /// The entry number `index`, counted from 0 at the head or from -1 at the tail, walking from the nearer end.
    #[must_use]
    pub fn seek(&self, index: i64) -> Option<Pos> {
        let head = self.head();
        let count = head.count as i64;
        let index = if index < 0 { index + count } else { index };
        if !(0..count).contains(&index) {
            return None;
        }
        let raw = self.raw();
        if index <= count / 2 {
            let at = (0..index).fold(head.start, |at, _| at + entry::size_at(raw, at));
            return Some(Pos(at as u32));
        }
        let back = (index..count - 1).fold(head.end, |end, _| self.before(end).0 as usize);
        Some(self.before(back))
    }

    /// A random entry, each with the same chance.
    #[must_use]
    pub fn random(&self, rng: &mut Rand) -> Option<Pos> {
        let count = self.len();
        if count == 0 {
            return None;
        }
        self.seek(rng.random_range(0..count) as i64)
    }

    /// The first entry with this text among `from`, and then every one that `skip` entries lie in front of: with fields
    /// and values alternating, `skip` = 1 looks at fields only.
    #[must_use]
    pub fn find(&self, text: &[u8], from: Pos, skip: usize) -> Option<Pos> {
        self.find_needle(&Needle::new(text), from, skip)
    }

    /// `find` with a prepared text.
    #[must_use]
    pub fn find_needle(&self, needle: &Needle<'_>, from: Pos, skip: usize) -> Option<Pos> {
        let entries = self.raw().get(..self.head().end)?;
        let (first, last, len) = (needle.0.first_byte(), needle.0.last_byte(), needle.0.encoded_len());
        let mut at = from.0 as usize;
        while at < entries.len() {
            // Fields of one length often differ in their last byte only.
            if entries[at] == first
                && entries.get(at + len - 1) == Some(&last)
                && needle.0.matches(entries, at)
            {
                return Some(Pos(at as u32));
            }
            at += entry::size_at(entries, at);
            for _ in 0..skip {
                if at >= entries.len() {
                    return None;
                }
                at += entry::size_at(entries, at);
            }
        }
        None
    }

    /// Whether the entry at `pos` has the needle's text.
    #[inline]
    #[must_use]
    pub fn is_at(&self, needle: &Needle<'_>, pos: Pos) -> bool {
        needle.0.matches(self.raw(), pos.0 as usize)
    }

    /// All entries, from either end.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        let head = self.head();
        Iter { raw: self.raw(), front: head.start, back: head.end }
    }

    /// The entries from `pos` to the tail, from either end.
    #[must_use]
    pub fn iter_from(&self, pos: Pos) -> Iter<'_> {
        Iter { raw: self.raw(), front: pos.0 as usize, back: self.head().end }
    }

    /// The entries from the head up to and including `pos`, from either end.
    #[must_use]
    pub fn iter_to(&self, pos: Pos) -> Iter<'_> {
        Iter { raw: self.raw(), front: self.head().start, back: self.end_of(pos) }
    }

    /// Hands up to `n` entries from `pos` on to `each`; returns how many there were.
    #[inline]
    pub fn for_each_from<'a>(&'a self, pos: Pos, n: usize, mut each: impl FnMut(Item<'a>)) -> usize {
        let mut seen = 0;
        for item in self.iter_from(pos).take(n) {
            each(item);
            seen += 1;
        }
        seen
    }
}

// Changing.
impl Listpack {
    #[inline]
    fn set_head(raw: &mut [u8], head: Head) {
        if let Some(bytes) = raw.first_chunk_mut::<HEADER>() {
            bytes[0..4].copy_from_slice(&(head.start as u32).to_le_bytes());
            bytes[4..8].copy_from_slice(&(head.end as u32).to_le_bytes());
            bytes[8..12].copy_from_slice(&(head.count as u32).to_le_bytes());
        }
    }

    #[inline]
    fn raw_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Some(thin) => thin.as_mut_slice(),
            None => &mut [],
        }
    }

    /// An empty pack with room for `bytes` of entries, in front or behind.
    pub(super) fn with_room(bytes: usize, front: bool) -> Self {
        let payload = payload_for(bytes);
        let start = if front { payload } else { HEADER };
        let head = Head { start, end: start, count: 0 };
        Self(Some(Thin::filled(payload, |raw| Self::set_head(raw, head))))
    }

    /// Adds an entry at the tail.
    #[inline]
    pub fn push_back(&mut self, text: &[u8]) {
        self.push_back_encoded(&Encoded::new(text));
    }

    /// Adds an integer at the tail.
    #[inline]
    pub fn push_back_int(&mut self, value: i64) {
        self.push_back_encoded(&Encoded::int(value));
    }

    /// Adds an item at the tail.
    #[inline]
    pub fn push_back_item(&mut self, item: Item<'_>) {
        self.push_back_encoded(&Encoded::item(item));
    }

    #[inline]
    fn push_back_encoded(&mut self, value: &Encoded<'_>) {
        let size = value.size();
        let mut head = self.head();
        if self.raw().len() - head.end < size {
            self.make_room(size, false);
            head = self.head();
        }
        let raw = self.raw_mut();
        value.write(&mut raw[head.end..head.end + size]);
        head.end += size;
        head.count += 1;
        Self::set_head(raw, head);
    }

    /// Adds an entry at the head.
    #[inline]
    pub fn push_front(&mut self, text: &[u8]) {
        let value = Encoded::new(text);
        let size = value.size();
        let mut head = self.head();
        if head.start - HEADER < size {
            self.make_room(size, true);
            head = self.head();
        }
        let raw = self.raw_mut();
        head.start -= size;
        head.count += 1;
        value.write(&mut raw[head.start..head.start + size]);
        Self::set_head(raw, head);
    }

    /// Makes the front or back gap at least `extra` bytes, by moving the entries if that is cheap for the room it
    /// yields, else with a larger allocation.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, extra: usize, front: bool) {
        let head = self.head();
        let used = head.used();
        let free = self.raw().len() - HEADER - used;
        // A move must yield room in proportion to the bytes moved, or a long run of pushes would turn quadratic.
        if free >= extra && (used <= CHEAP_MOVE || free >= used / 8) {
            // Half of the room stays on the other side, for those who push there too.
            let gap = extra.max(free / 2);
            let start = if front { HEADER + gap } else { HEADER + free - gap };
            return self.move_entries(start);
        }
        let payload = payload_for(used + extra);
        match &mut self.0 {
            Some(thin) => thin.resize(payload),
            None => self.0 = Some(Thin::filled(payload, |_| ())),
        }
        Self::set_head(self.raw_mut(), head);
        self.move_entries(if front { payload - used } else { HEADER });
    }

    /// Moves all entries so that they begin at `start`.
    fn move_entries(&mut self, start: usize) {
        let head = self.head();
        let raw = self.raw_mut();
        raw.copy_within(head.start..head.end, start);
        Self::set_head(raw, Head { start, end: start + head.used(), count: head.count });
    }

    /// Resizes the bytes `at..at + old` to `new` bytes by moving the shorter side of the pack; their content is then
    /// unspecified. Returns where they begin now. The count is the caller's business.
    fn splice(&mut self, at: usize, old: usize, new: usize) -> usize {
        let mut head = self.head();
        let mut at = at;
        let grow = new.saturating_sub(old);
        let mut move_front = at - head.start < head.end - (at + old);
        if grow > 0 {
            let front_fits = head.start - HEADER >= grow;
            let back_fits = self.raw().len() - head.end >= grow;
            if !(if move_front { front_fits } else { back_fits }) {
                if (front_fits || back_fits) && head.used() <= CHEAP_MOVE {
                    move_front = front_fits;
                } else {
                    let offset = at - head.start;
                    self.make_room(grow, move_front);
                    head = self.head();
                    at = head.start + offset;
                }
            }
        }
        let raw = self.raw_mut();
        if move_front {
            let start = head.start + old - new;
            raw.copy_within(head.start..at, start);
            head.start = start;
            at = at + old - new;
        } else {
            let end = head.end + new - old;
            raw.copy_within(at + old..head.end, at + new);
            head.end = end;
        }
        Self::set_head(raw, head);
        at
    }

    fn add_count(&mut self, delta: isize) {
        let mut head = self.head();
        head.count = head.count.wrapping_add_signed(delta);
        Self::set_head(self.raw_mut(), head);
    }

    /// Inserts an entry in front of `pos`; returns its place.
    pub fn insert_before(&mut self, pos: Pos, text: &[u8]) -> Pos {
        self.insert_at(pos.0 as usize, text)
    }

    /// Inserts an entry behind `pos`; returns its place.
    pub fn insert_after(&mut self, pos: Pos, text: &[u8]) -> Pos {
        self.insert_at(self.end_of(pos), text)
    }

    fn insert_at(&mut self, at: usize, text: &[u8]) -> Pos {
        let value = Encoded::new(text);
        let size = value.size();
        let at = self.splice(at, 0, size);
        value.write(&mut self.raw_mut()[at..at + size]);
        self.add_count(1);
        Pos(at as u32)
    }

    /// Replaces the entry at `pos`; returns its new place. In place when the sizes agree.
    pub fn replace(&mut self, pos: Pos, text: &[u8]) -> Pos {
        self.replace_encoded(pos, &Encoded::new(text))
    }

    /// `replace` with an integer.
    pub fn replace_int(&mut self, pos: Pos, value: i64) -> Pos {
        self.replace_encoded(pos, &Encoded::int(value))
    }

    fn replace_encoded(&mut self, pos: Pos, value: &Encoded<'_>) -> Pos {
        let (old, new) = (self.end_of(pos) - pos.0 as usize, value.size());
        let mut at = pos.0 as usize;
        if old != new {
            at = self.splice(at, old, new);
        }
        value.write(&mut self.raw_mut()[at..at + new]);
        Pos(at as u32)
    }

    /// Removes the entry at `pos`; returns the place of the one behind it.
    pub fn remove(&mut self, pos: Pos) -> Option<Pos> {
        self.remove_bytes(pos.0 as usize, self.end_of(pos), 1)
    }

    /// Removes `n` entries from `pos` on, or as many as there are; returns the place of the one behind them.
    pub fn remove_n(&mut self, pos: Pos, n: usize) -> Option<Pos> {
        let mut entries = self.iter_from(pos);
        let removed = entries.by_ref().take(n).count();
        let end = entries.front;
        self.remove_bytes(pos.0 as usize, end, removed)
    }

    /// Removes up to `n` entries from number `index` on (negative: counted from the tail); returns how many.
    pub fn remove_range(&mut self, index: i64, n: usize) -> usize {
        let Some(pos) = self.seek(index) else {
            return 0;
        };
        let count = self.len();
        let index = if index < 0 { (index + count as i64) as usize } else { index as usize };
        if n >= count - index {
            self.remove_bytes(pos.0 as usize, self.head().end, count - index);
            return count - index;
        }
        self.remove_n(pos, n);
        n
    }

    fn remove_bytes(&mut self, at: usize, end: usize, entries: usize) -> Option<Pos> {
        if entries == 0 {
            return (at < self.head().end).then_some(Pos(at as u32));
        }
        let at = self.splice(at, end - at, 0);
        self.add_count(-(entries as isize));
        let offset = at - self.head().start;
        self.give_back();
        let head = self.head();
        (offset < head.used()).then_some(Pos((head.start + offset) as u32))
    }

    /// Shrinks an allocation that is mostly empty. Keeps some room, so that a pack that hovers does not pay each time.
    fn give_back(&mut self) {
        let (used, capacity) = (self.head().used(), self.raw().len());
        if capacity > CHEAP_MOVE && used * SHRINK_FACTOR < capacity {
            self.fit(used + used / 4);
        }
    }

    /// Shrinks the allocation to what the entries need.
    pub fn shrink_to_fit(&mut self) {
        self.fit(self.head().used());
    }

    fn fit(&mut self, room: usize) {
        let payload = payload_for(room);
        if payload < self.raw().len() {
            self.move_entries(HEADER);
            if let Some(thin) = &mut self.0 {
                thin.resize(payload);
            }
        }
    }

    /// Moves the entries from `pos` on into a pack of their own.
    #[must_use]
    pub fn split_off(&mut self, pos: Pos) -> Listpack {
        let at = pos.0 as usize;
        let end = self.head().end;
        let count = self.iter_from(pos).count();
        let mut tail = Listpack::new();
        tail.append_bytes(&self.raw()[at..end], count);
        self.remove_bytes(at, end, count);
        tail
    }

    /// Adds all entries of `other` at the tail.
    pub fn append(&mut self, other: &Listpack) {
        let head = other.head();
        if head.count > 0 {
            self.append_bytes(&other.raw()[head.start..head.end], head.count);
        }
    }

    fn append_bytes(&mut self, entries: &[u8], count: usize) {
        let mut head = self.head();
        if self.raw().len() - head.end < entries.len() {
            self.make_room(entries.len(), false);
            head = self.head();
        }
        let raw = self.raw_mut();
        raw[head.end..head.end + entries.len()].copy_from_slice(entries);
        head.end += entries.len();
        head.count += count;
        Self::set_head(raw, head);
    }

    /// Panics unless the invariants hold. For tests and fuzzing.
    pub fn check(&self) {
        let head = self.head();
        assert!(HEADER <= head.start && head.start <= head.end && head.end <= self.raw().len());
        let mut entries = &self.raw()[head.start..head.end];
        let mut count = 0;
        while !entries.is_empty() {
            let checked = entry::check(entries).expect("entry is valid");
            assert!(checked.canonical, "entry {count} is canonical");
            entries = &entries[checked.size..];
            count += 1;
        }
        assert_eq!(count, head.count);
    }
}

// Redis's serialised form.
impl Listpack {
    /// Appends the pack as Redis serialises it: `total bytes u32 | count u16 | entries | 0xFF`, little-endian, with a
    /// count of 65535 standing for that and more.
    pub fn to_redis_bytes(&self, out: &mut Vec<u8>) {
        let head = self.head();
        let count = head.count.min(REDIS_COUNT_UNKNOWN) as u16;
        out.reserve(self.byte_len());
        out.extend_from_slice(&(self.byte_len() as u32).to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&self.raw()[head.start..head.end]);
        out.push(entry::TERMINATOR);
    }

    /// A pack from its serialised form, every entry validated. Valid entries that Redis itself would have encoded in
    /// another way are re-encoded.
    pub fn from_redis_bytes(bytes: &[u8]) -> Result<Self, Invalid> {
        let (header, rest) = bytes.split_first_chunk::<REDIS_HEADER>().ok_or(Invalid)?;
        let [t0, t1, t2, t3, c0, c1] = *header;
        let (last, entries) = rest.split_last().ok_or(Invalid)?;
        let total = u32::from_le_bytes([t0, t1, t2, t3]) as usize;
        if total != bytes.len() || total > MAX_REDIS_BYTES || *last != entry::TERMINATOR {
            return Err(Invalid);
        }
        let (mut at, mut count, mut canonical) = (0, 0, true);
        while at < entries.len() {
            let checked = entry::check(&entries[at..]).ok_or(Invalid)?;
            at += checked.size;
            count += 1;
            canonical &= checked.canonical;
        }
        let stated = usize::from(u16::from_le_bytes([c0, c1]));
        if stated != count && stated != REDIS_COUNT_UNKNOWN {
            return Err(Invalid);
        }
        let mut pack = Listpack::new();
        if canonical && count > 0 {
            pack.append_bytes(entries, count);
        } else {
            let foreign = Iter { raw: entries, front: 0, back: entries.len() };
            foreign.for_each(|item| pack.push_back_item(item));
        }
        Ok(pack)
    }
}

/// Entries of a pack in order; double-ended.
#[derive(Clone)]
pub struct Iter<'a> {
    raw: &'a [u8],
    front: usize,
    back: usize,
}

impl Iter<'_> {
    /// The place of the entry that `next` will give.
    #[inline]
    #[must_use]
    pub fn pos(&self) -> Option<Pos> {
        (self.front < self.back).then_some(Pos(self.front as u32))
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        if self.front >= self.back {
            return None;
        }
        let item = entry::decode(self.raw, self.front);
        self.front += entry::size_at(self.raw, self.front);
        Some(item)
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        self.back -= entry::size_before(self.raw, self.back).expect("own entries are valid");
        Some(entry::decode(self.raw, self.back))
    }
}

impl<'a> IntoIterator for &'a Listpack {
    type Item = Item<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl std::fmt::Debug for Listpack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
#[path = "listpack/tests.rs"]
mod tests;
