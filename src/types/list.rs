//! `List`: the Redis list. Small ones are one listpack, larger ones a quicklist: a deque of listpacks, in which an element
//! too large to share a pack has a node of its own (`list/quicklist.rs`). Touches `types::{item, listpack, thin}`.
//!
//! When the encodings change into each other is visible to clients, so it follows Redis 7.4: a pack becomes a quicklist
//! before a command would take it past the limit, counting the texts to add at their full length; a quicklist becomes a
//! pack when a removal leaves one packed node of at most half the limit.

#[path = "list/quicklist.rs"]
mod quicklist;
#[path = "list/squeezed.rs"]
mod squeezed;

use std::ops::ControlFlow;

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
    /// `list-compress-depth`: nodes at either end that are not compressed; 0 compresses none.
    pub compress_depth: u32,
    /// Length from which on an element of a quicklist has a node of its own, if not 0: for tests, by DEBUG.
    pub large_from: u32,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self { max_listpack_size: -2, compress_depth: 0, large_from: 0 }
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
        if self.large_from != 0 { len >= self.large_from as usize } else { len > self.node().0 }
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

/// Elements of one part on their way into a reply.
pub enum Run<'a> {
    /// Elements in a pack.
    Packed(listpack::Bulks<'a>),
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

    /// Shows part number `index` of the stored list. What is compressed is decompressed for that long.
    #[inline]
    fn with_part<R>(&self, index: usize, show: impl FnOnce(Part<'_>) -> R) -> Option<R> {
        match &self.0 {
            Repr::Pack(pack) => (index == 0).then(|| show(Part::Packed(pack))),
            Repr::Quick(quick) => quick.with_part(index, show),
        }
    }

    /// Shows the parts of the list in order.
    pub fn each_part(&self, mut show: impl FnMut(Part<'_>)) {
        for index in 0..self.node_count() {
            self.with_part(index, &mut show);
        }
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

    /// Shows the element at `index`, negative ones counted from the tail.
    pub fn get<R>(&self, index: i64, show: impl FnOnce(Item<'_>) -> R) -> Option<R> {
        let (part, within) = self.locate(self.absolute(index)?)?;
        self.with_part(part, |part| match part {
            Part::Packed(pack) => Some(show(pack.get(pack.seek(within as i64)?))),
            Part::Plain(text) => Some(show(Item::Str(text))),
        })?
    }

    /// Shows the parts that hold the `n` elements from number `start` on, towards the head if `reverse`, each with the
    /// number of its first element that is meant and how many there are, until `show` breaks.
    #[inline]
    fn walk(
        &self,
        start: usize,
        n: usize,
        reverse: bool,
        mut show: impl FnMut(Part<'_>, usize, usize) -> ControlFlow<()>,
    ) {
        let Some((mut index, within)) = self.locate(start) else {
            return;
        };
        let (mut within, mut left) = (Some(within), n);
        while left > 0 {
            let shown = self.with_part(index, |part| {
                let len = match part {
                    Part::Packed(pack) => pack.len(),
                    Part::Plain(_) => 1,
                };
                let first = within.take().unwrap_or(if reverse { len - 1 } else { 0 });
                let count = left.min(if reverse { first + 1 } else { len - first });
                left -= count;
                show(part, first, count)
            });
            let next = index.checked_add_signed(if reverse { -1 } else { 1 });
            match (shown, next) {
                (Some(ControlFlow::Continue(())), Some(next)) => index = next,
                _ => return,
            }
        }
    }

    /// Up to `n` elements from number `start` on, towards the head if `reverse`, to be written as RESP bulk strings, run by
    /// run: close to a copy of the packs.
    #[inline]
    pub fn runs(&self, start: usize, n: usize, reverse: bool, mut write: impl FnMut(Run<'_>)) {
        self.walk(start, n, reverse, |part, first, count| {
            match part {
                Part::Packed(pack) => {
                    if let Some(pos) = pack.seek(first as i64) {
                        write(Run::Packed(pack.bulks(pos, count, reverse)));
                    }
                }
                Part::Plain(text) => write(Run::Plain(text)),
            }
            ControlFlow::Continue(())
        });
    }

    /// Shows up to `n` elements from number `start` on, towards the head if `reverse`, until `show` breaks.
    pub fn walk_items(
        &self,
        start: usize,
        n: usize,
        reverse: bool,
        mut show: impl FnMut(Item<'_>) -> ControlFlow<()>,
    ) {
        self.walk(start, n, reverse, |part, first, count| match part {
            Part::Packed(pack) => {
                let Some(pos) = pack.seek(first as i64) else {
                    return ControlFlow::Break(());
                };
                if reverse {
                    pack.iter_to(pos).rev().take(count).try_for_each(&mut show)
                } else {
                    pack.iter_from(pos).take(count).try_for_each(&mut show)
                }
            }
            Part::Plain(text) => show(Item::Str(text)),
        });
    }

    /// Shows all elements.
    pub fn for_each(&self, mut show: impl FnMut(Item<'_>)) {
        self.walk_items(0, usize::MAX, false, |item| {
            show(item);
            ControlFlow::Continue(())
        });
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
        let mut distance = 0;
        self.walk_items(start, bound, reverse, |item| {
            let here = distance;
            distance += 1;
            if item != wanted {
                return ControlFlow::Continue(());
            }
            if skip > 0 {
                skip -= 1;
                return ControlFlow::Continue(());
            }
            found(if reverse { len - 1 - here } else { here });
            matches += 1;
            if matches == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
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
                let taken = quick.pop(front, *limits, take);
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
                let removed = quick.remove_matching(&needle, most, count < 0, *limits);
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
                quick.remove_range(start, n, *limits);
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
        if let Repr::Quick(quick) = &mut self.0 {
            quick.loaded(*limits);
        }
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

#[cfg(test)]
#[path = "list/tests.rs"]
mod tests;
