//! `List`: the Redis list. Small ones are one listpack, larger ones a quicklist: a deque of listpacks, in which an element
//! too large to share a pack has a node of its own (`list/quicklist.rs`). Touches `types::{item, listpack, thin}`.
//!
//! When the encodings change into each other is visible to clients, so it follows Redis 7.4: a pack becomes a quicklist
//! before a command would take it past the limit, counting the texts to add at their full length; a quicklist becomes a
//! pack when a removal leaves one packed node of at most half the limit.

#[path = "list/quicklist.rs"]
mod quicklist;

use crate::types::item::Item;
use crate::types::listpack::{self, Listpack, Needle};
pub use quicklist::ListDrain;
use quicklist::Quicklist;

/// Bytes that a node may have for `max_listpack_size` = -1, -2, ... -5.
const BYTE_CLASSES: [usize; 5] = [4096, 8192, 16384, 32768, 65536];
/// Bytes that a node may have when the limit is a number of elements.
const SAFETY_BYTES: usize = 8192;

/// The options that shape a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLimits {
    /// `list-max-listpack-size`: a number of elements, or -1 to -5 for 4, 8, 16, 32, 64 KiB.
    pub max_listpack_size: i32,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self { max_listpack_size: -2 }
    }
}

impl ListLimits {
    /// The most bytes and the most elements that a node may have.
    #[inline]
    fn node(self) -> (usize, usize) {
        match self.max_listpack_size {
            size @ 0.. => (SAFETY_BYTES, size.max(1) as usize),
            class => {
                let class = class.unsigned_abs() as usize - 1;
                (BYTE_CLASSES[class.min(BYTE_CLASSES.len() - 1)], usize::MAX)
            }
        }
    }

    #[inline]
    fn allow(self, bytes: usize, count: usize) -> bool {
        let (max_bytes, max_count) = self.node();
        bytes <= max_bytes && count <= max_count
    }

    /// Whether a text of `len` bytes must have a node of its own.
    #[inline]
    fn is_large(self, len: usize) -> bool {
        len > self.node().0
    }

    /// Whether one node like this is small enough to be the whole list, by itself or after a removal.
    fn allow_pack(self, pack: &Listpack, shrinking: bool) -> bool {
        let (max_bytes, max_count) = self.node();
        // With a limit in elements Redis does not look at the bytes here.
        let max_bytes = if self.max_listpack_size < 0 { max_bytes } else { usize::MAX };
        let divisor = if shrinking { 2 } else { 1 };
        pack.byte_len() <= max_bytes / divisor && pack.len() <= max_count / divisor
    }
}

/// A Redis list.
#[derive(Clone)]
pub struct List(Repr);

#[derive(Clone)]
enum Repr {
    Pack(Listpack),
    Quick(Box<Quicklist>),
}

/// A stretch of a list as it is stored, for those who save and load lists.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// Elements in a pack.
    Packed(&'a Listpack),
    /// One large element.
    Plain(&'a [u8]),
}

impl Default for List {
    fn default() -> Self {
        Self::new()
    }
}

// Reading.
impl List {
    /// An empty list. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(Repr::Pack(Listpack::new()))
    }

    /// The number of elements.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Pack(pack) => pack.len(),
            Repr::Quick(quick) => quick.len(),
        }
    }

    /// Whether there is no element.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What OBJECT ENCODING calls it.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        match &self.0 {
            Repr::Pack(_) => "listpack",
            Repr::Quick(_) => "quicklist",
        }
    }

    /// The number of nodes; 1 for a pack.
    #[must_use]
    pub fn node_count(&self) -> usize {
        match &self.0 {
            Repr::Pack(_) => 1,
            Repr::Quick(quick) => quick.node_count(),
        }
    }

    /// For freeing a quicklist bit by bit. A pack is freed at once and gives `None`.
    #[must_use]
    pub fn into_drain(self) -> Option<ListDrain> {
        match self.0 {
            Repr::Pack(_) => None,
            Repr::Quick(quick) => Some(quick.into_drain()),
        }
    }

    /// Heap bytes owned.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        match &self.0 {
            Repr::Pack(pack) => pack.mem_size(),
            Repr::Quick(quick) => size_of::<Quicklist>() + quick.mem_size(),
        }
    }

    /// Part number `index` of the stored list.
    #[inline]
    fn part(&self, index: usize) -> Option<Part<'_>> {
        match &self.0 {
            Repr::Pack(pack) => (index == 0).then_some(Part::Packed(pack)),
            Repr::Quick(quick) => quick.part(index),
        }
    }

    /// The parts of the list in order, as they are stored.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        (0..self.node_count()).filter_map(|index| self.part(index))
    }

    /// A Redis index (negative: from the tail) as one from the head.
    #[inline]
    fn absolute(&self, index: i64) -> Option<usize> {
        let len = self.len() as i64;
        let index = if index < 0 { index + len } else { index };
        (0..len).contains(&index).then_some(index as usize)
    }

    /// The part that holds element `index`, and the element's number in it.
    #[inline]
    fn locate(&self, index: usize) -> Option<(usize, usize)> {
        match &self.0 {
            Repr::Pack(pack) => (index < pack.len()).then_some((0, index)),
            Repr::Quick(quick) => quick.locate(index),
        }
    }

    /// The element at `index`, negative ones counted from the tail.
    #[must_use]
    pub fn get(&self, index: i64) -> Option<Item<'_>> {
        let (part, within) = self.locate(self.absolute(index)?)?;
        match self.part(part)? {
            Part::Packed(pack) => Some(pack.get(pack.seek(within as i64)?)),
            Part::Plain(text) => Some(Item::Str(text)),
        }
    }

    /// Up to `n` elements from number `start` on, towards the head if `reverse`, to be written as RESP bulk strings.
    #[inline]
    #[must_use]
    pub fn bulks(&self, start: usize, n: usize, reverse: bool) -> Bulks<'_> {
        let mut bulks = Bulks { list: self, part: 0, packed: None, plain: None, left: n, reverse };
        if n > 0
            && let Some((part, within)) = self.locate(start)
        {
            bulks.enter(part, Some(within));
        }
        bulks
    }

    /// The elements from number `start` to the tail, or to the head if `reverse`.
    #[must_use]
    pub fn iter_from(&self, start: usize, reverse: bool) -> Iter<'_> {
        let mut iter = Iter { list: self, part: usize::MAX, within: Within::Plain(None), reverse };
        if let Some((part, within)) = self.locate(start) {
            iter.enter(part, Some(within));
        }
        iter
    }

    /// All elements.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0, false)
    }

    /// LPOS: hands the indices of elements that equal `text` to `found`. The search begins at the head for a positive
    /// `rank`, else at the tail, and leaves out the first |rank| - 1 matches. It ends after `count` matches or `max_len`
    /// comparisons; 0 means no such bound.
    pub fn positions(
        &self,
        text: &[u8],
        rank: i64,
        count: usize,
        max_len: usize,
        mut found: impl FnMut(usize),
    ) {
        let reverse = rank < 0;
        let len = self.len();
        let start = if reverse { len.saturating_sub(1) } else { 0 };
        let wanted = Item::classify(text);
        let mut skip = rank.unsigned_abs().saturating_sub(1);
        let mut matches = 0;
        let bound = if max_len == 0 { usize::MAX } else { max_len };
        for (distance, item) in self.iter_from(start, reverse).take(bound).enumerate() {
            if item != wanted {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            found(if reverse { len - 1 - distance } else { distance });
            matches += 1;
            if matches == count {
                return;
            }
        }
    }
}

// Changing.
impl List {
    /// Turns a pack into a quicklist if `count` more elements of `bytes` together would take it past the limit.
    #[inline]
    fn prepare_growth(&mut self, bytes: usize, count: usize, limits: &ListLimits) {
        if let Repr::Pack(pack) = &mut self.0
            && !limits.allow(pack.byte_len().saturating_add(bytes), pack.len() + count)
        {
            let pack = std::mem::take(pack);
            self.0 = Repr::Quick(Box::new(Quicklist::from_pack(pack)));
        }
    }

    /// Turns a quicklist that has become small into a pack.
    #[inline]
    fn after_removal(&mut self, limits: &ListLimits) {
        self.try_pack(limits, true);
    }

    fn try_pack(&mut self, limits: &ListLimits, shrinking: bool) {
        if let Repr::Quick(quick) = &mut self.0
            && let Some(pack) = quick.only_pack()
            && limits.allow_pack(pack, shrinking)
        {
            self.0 = Repr::Pack(std::mem::take(pack));
        }
    }

    /// Adds an element at the head or the tail.
    #[inline]
    pub fn push(&mut self, text: &[u8], front: bool, limits: &ListLimits) {
        self.prepare_growth(text.len(), 1, limits);
        self.push_prepared(text, front, limits);
    }

    /// Adds the elements of one command in turn. Whether the encoding changes depends on their sum, not on what each of
    /// them then takes in the pack.
    #[inline]
    pub fn push_all(&mut self, texts: &[&[u8]], front: bool, limits: &ListLimits) {
        self.prepare_growth(texts.iter().map(|text| text.len()).sum(), texts.len(), limits);
        for text in texts {
            self.push_prepared(text, front, limits);
        }
    }

    #[inline]
    fn push_prepared(&mut self, text: &[u8], front: bool, limits: &ListLimits) {
        match &mut self.0 {
            Repr::Pack(pack) if front => pack.push_front(text),
            Repr::Pack(pack) => pack.push_back(text),
            Repr::Quick(quick) => quick.push(text, front, *limits),
        }
    }

    /// Removes the element at the head or the tail, after showing it to `take`. None from an empty list.
    #[inline]
    pub fn pop<R>(
        &mut self,
        front: bool,
        limits: &ListLimits,
        take: impl FnOnce(Item<'_>) -> R,
    ) -> Option<R> {
        match &mut self.0 {
            Repr::Pack(pack) => {
                let pos = if front { pack.first() } else { pack.last() }?;
                let taken = take(pack.get(pos));
                pack.remove(pos);
                Some(taken)
            }
            Repr::Quick(quick) => {
                let taken = quick.pop(front, take);
                self.after_removal(limits);
                taken
            }
        }
    }

    /// Replaces the element at `index`, negative ones counted from the tail; false if there is none.
    pub fn set(&mut self, index: i64, text: &[u8], limits: &ListLimits) -> bool {
        self.prepare_growth(text.len(), 1, limits);
        let Some(index) = self.absolute(index) else {
            return false;
        };
        match &mut self.0 {
            Repr::Pack(pack) => {
                if let Some(pos) = pack.seek(index as i64) {
                    pack.replace(pos, text);
                }
            }
            Repr::Quick(quick) => {
                if let Some(place) = quick.place(index) {
                    quick.replace(place, text, *limits);
                }
                self.after_removal(limits);
            }
        }
        true
    }

    /// Inserts an element in front of or behind the first that equals `pivot`; false if there is none.
    pub fn insert(&mut self, pivot: &[u8], text: &[u8], before: bool, limits: &ListLimits) -> bool {
        self.prepare_growth(text.len(), 1, limits);
        let pivot = Needle::new(pivot);
        match &mut self.0 {
            Repr::Pack(pack) => {
                let Some(pos) = pack.first().and_then(|first| pack.find_needle(&pivot, first, 0)) else {
                    return false;
                };
                if before {
                    pack.insert_before(pos, text);
                } else {
                    pack.insert_after(pos, text);
                }
            }
            Repr::Quick(quick) => {
                let Some(place) = quick.find(&pivot) else {
                    return false;
                };
                quick.insert(place, !before, text, *limits);
            }
        }
        true
    }

    /// LREM: removes elements that equal `text`: the first `count` from the head, the first -`count` from the tail, or with
    /// 0 all. Returns how many.
    pub fn remove_matching(&mut self, count: i64, text: &[u8], limits: &ListLimits) -> usize {
        let most = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
        let needle = Needle::new(text);
        match &mut self.0 {
            Repr::Pack(pack) => quicklist::remove_from_pack(pack, &needle, most, count < 0),
            Repr::Quick(quick) => {
                let removed = quick.remove_matching(&needle, most, count < 0);
                if removed > 0 {
                    self.after_removal(limits);
                }
                removed
            }
        }
    }

    /// Removes up to `n` elements from number `start` on; returns how many.
    pub fn remove_range(&mut self, start: usize, n: usize, limits: &ListLimits) -> usize {
        let n = n.min(self.len().saturating_sub(start));
        if n == 0 {
            return 0;
        }
        match &mut self.0 {
            Repr::Pack(pack) => {
                pack.remove_range(start as i64, n);
            }
            Repr::Quick(quick) => {
                quick.remove_range(start, n);
                self.after_removal(limits);
            }
        }
        n
    }

    /// LTRIM: keeps the elements `start..=stop`, negative numbers counted from the tail. Returns how many were removed.
    pub fn trim(&mut self, start: i64, stop: i64, limits: &ListLimits) -> usize {
        let len = self.len() as i64;
        let clamped = |index: i64| if index < 0 { index.saturating_add(len) } else { index };
        let (start, stop) = (clamped(start).max(0), clamped(stop).min(len - 1));
        if start > stop {
            return self.remove_range(0, usize::MAX, limits);
        }
        let behind = self.remove_range(stop as usize + 1, usize::MAX, limits);
        let before = self.remove_range(0, start as usize, limits);
        // Redis looks at the encoding even if nothing went.
        self.after_removal(limits);
        behind + before
    }

    /// Adds a pack as it is behind the last element, as a loader does. Call `loaded` after the last part.
    pub fn append_packed(&mut self, pack: Listpack) {
        self.as_quick().append_pack(pack);
    }

    /// Adds one element as a part of its own. Call `loaded` after the last part.
    pub fn append_plain(&mut self, text: &[u8]) {
        self.as_quick().append_plain(text);
    }

    /// Chooses the encoding of a list whose parts have been appended.
    pub fn loaded(&mut self, limits: &ListLimits) {
        self.try_pack(limits, false);
    }

    fn as_quick(&mut self) -> &mut Quicklist {
        if let Repr::Pack(pack) = &mut self.0 {
            let pack = std::mem::take(pack);
            self.0 = Repr::Quick(Box::new(Quicklist::from_pack(pack)));
        }
        match &mut self.0 {
            Repr::Quick(quick) => quick,
            Repr::Pack(_) => unreachable!("converted above"),
        }
    }

    /// Panics unless the invariants hold. For tests and fuzzing.
    pub fn check(&self) {
        match &self.0 {
            Repr::Pack(pack) => pack.check(),
            Repr::Quick(quick) => quick.check(),
        }
    }
}

/// Elements of a list on their way into a reply, written piece by piece as there is room: close to a copy of the packs.
pub struct Bulks<'a> {
    list: &'a List,
    part: usize,
    /// The rest of the part, if it is packed.
    packed: Option<listpack::Bulks<'a>>,
    /// The part, if it is a large element.
    plain: Option<&'a [u8]>,
    /// Elements beyond the part.
    left: usize,
    reverse: bool,
}

impl<'a> Bulks<'a> {
    /// Goes to a part: to element number `start`, or to the edge that comes first. False if there is no such part.
    fn enter(&mut self, part: usize, start: Option<usize>) -> bool {
        (self.packed, self.plain) = (None, None);
        self.part = part;
        match self.list.part(part) {
            Some(Part::Packed(pack)) => {
                let len = pack.len();
                let start = start.unwrap_or(if self.reverse { len.saturating_sub(1) } else { 0 });
                let n = self.left.min(if self.reverse { start + 1 } else { len - start });
                self.packed = pack.seek(start as i64).map(|pos| pack.bulks(pos, n, self.reverse));
                self.left -= n;
                true
            }
            Some(Part::Plain(text)) => {
                self.plain = Some(text);
                self.left -= 1;
                true
            }
            None => false,
        }
    }

    /// Appends elements to `out` as RESP bulk strings until its capacity is used up; it does not grow. Returns the element
    /// that found no room, which the caller writes by other means before the next call; None when all are written.
    #[inline]
    pub fn fill(&mut self, out: &mut Vec<u8>) -> Option<Item<'a>> {
        loop {
            let waiting = match &mut self.packed {
                Some(packed) => packed.fill(out),
                None => self.plain.take().map(Item::Str),
            };
            if waiting.is_some() || self.left == 0 {
                return waiting;
            }
            let part = self.part.checked_add_signed(if self.reverse { -1 } else { 1 })?;
            if !self.enter(part, None) {
                return None;
            }
        }
    }
}

/// Elements of a list in one direction.
#[derive(Clone)]
pub struct Iter<'a> {
    list: &'a List,
    part: usize,
    within: Within<'a>,
    reverse: bool,
}

/// What is left of the part that an `Iter` is in.
#[derive(Clone)]
enum Within<'a> {
    Packed(listpack::Iter<'a>),
    Plain(Option<&'a [u8]>),
}

impl Iter<'_> {
    /// Goes to a part: to element number `start`, or to the edge that comes first. False if there is no such part.
    fn enter(&mut self, part: usize, start: Option<usize>) -> bool {
        self.part = part;
        self.within = match self.list.part(part) {
            Some(Part::Packed(pack)) => {
                Within::Packed(match start.and_then(|start| pack.seek(start as i64)) {
                    None => pack.iter(),
                    Some(pos) if self.reverse => pack.iter_to(pos),
                    Some(pos) => pack.iter_from(pos),
                })
            }
            Some(Part::Plain(text)) => Within::Plain(Some(text)),
            None => return false,
        };
        true
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        loop {
            let item = match &mut self.within {
                Within::Packed(iter) if self.reverse => iter.next_back(),
                Within::Packed(iter) => iter.next(),
                Within::Plain(text) => text.take().map(Item::Str),
            };
            if item.is_some() {
                return item;
            }
            let part = self.part.checked_add_signed(if self.reverse { -1 } else { 1 })?;
            if !self.enter(part, None) {
                return None;
            }
        }
    }
}

#[cfg(test)]
#[path = "list/tests.rs"]
mod tests;
