//! `Quicklist`: a deque of nodes, each a listpack of elements or one element too large to share. Touches
//! `types::{item, listpack, thin, list}`.
//!
//! ```text
//! VecDeque<Node>: | pack, 1630 | pack, 1630 | plain, 1 | pack, 12 |
//!
//! with list-compress-depth 1:  | pack, 1630 | squeezed, 1630 | squeezed, 1 | pack, 12 |
//! ```
//!
//! The count beside each node makes finding an index a walk over one array, without a look into the packs. A node may be
//! filled until its allocation reaches the limit, so that a full node of 8 KiB is one block of exactly that class.
//!
//! With `list-compress-depth` n, all but the n nodes at either end are compressed as they come to lie inside, if that
//! makes them smaller. Who reads one decompresses it into memory of its own; who changes one opens it first and leaves it
//! to `settle` to compress again what has been touched. Lists that exist when the option changes follow bit by bit, so an
//! end may be compressed too: it is opened when somebody pushes or pops there.
//!
//! Invariants, asserted by `check`: no node is empty, counts are right and add up to `len`, and no plain node holds the
//! text of an integer.

use std::collections::VecDeque;
use std::ops::Range;

use super::squeezed::{Content, Squeezed};
use super::{ListLimits, Part};
use crate::types::item::{Item, MAX_INT_TEXT};
use crate::types::listpack::{Listpack, Needle, Pos};
use crate::types::thin::Thin;

/// What a pack's allocation has beyond `byte_len`: its headers are that much longer than Redis's.
const NODE_OVERHEAD: usize = 9;
/// From this many nodes on, a new node at an end is allocated at its full size at once: its empty part is then small
/// beside the whole, and filling it copies nothing.
const FULL_SIZE_FROM: usize = 8;

/// A node.
#[derive(Clone)]
struct Node {
    body: Body,
    count: u32,
}

/// What a node holds.
#[derive(Clone)]
enum Body {
    Packed(Listpack),
    Plain(Thin),
    /// One of the above, compressed.
    Squeezed(Squeezed),
}

impl From<Content> for Body {
    fn from(content: Content) -> Self {
        match content {
            Content::Packed(pack) => Body::Packed(pack),
            Content::Plain(text) => Body::Plain(text),
        }
    }
}

impl Body {
    /// The content of a body that is not compressed.
    fn part(&self) -> Option<Part<'_>> {
        match self {
            Body::Packed(pack) => Some(Part::Packed(pack)),
            Body::Plain(text) => Some(Part::Plain(text.as_slice())),
            Body::Squeezed(_) => None,
        }
    }
}

/// Where an element is: its node, and its place in the node's pack. In a plain node `pos` means nothing.
#[derive(Clone, Copy)]
pub(super) struct Place {
    node: usize,
    pos: Pos,
}

/// A list of many elements.
#[derive(Clone)]
pub(super) struct Quicklist {
    nodes: VecDeque<Node>,
    len: usize,
}

/// The most bytes that a text of this length takes as an entry.
#[inline]
fn entry_bound(len: usize) -> usize {
    len + match len {
        0..64 => 2,
        64..4096 => 4,
        _ => 10,
    }
}

impl Node {
    fn packed(pack: Listpack) -> Self {
        let count = pack.len() as u32;
        Self { body: Body::Packed(pack), count }
    }

    /// A node with one element.
    fn single(text: &[u8], limits: ListLimits) -> Self {
        if limits.is_large(text.len()) {
            return Self::alone(text);
        }
        let mut pack = Listpack::new();
        pack.push_back(text);
        Self::packed(pack)
    }

    /// A plain node, if the text cannot be that of an integer: those go into a pack, the only place where elements are
    /// compared as such.
    fn alone(text: &[u8]) -> Self {
        if text.len() > MAX_INT_TEXT {
            return Self { body: Body::Plain(Thin::new(text)), count: 1 };
        }
        let mut pack = Listpack::new();
        pack.push_back(text);
        Self::packed(pack)
    }

    /// Decompresses the node, if it is compressed, and says whether it was.
    #[inline]
    fn open(&mut self) -> bool {
        if let Body::Squeezed(squeezed) = &self.body {
            self.body = squeezed.open().into();
            return true;
        }
        false
    }

    /// Compresses the node if that makes it smaller.
    fn squeeze(&mut self) {
        if let Some(squeezed) = self.body.part().and_then(|part| Squeezed::new(part)) {
            self.body = Body::Squeezed(squeezed);
        }
    }

    /// The pack, if a text of `len` bytes may be added to it, or put in the place of `freed` bytes.
    #[inline]
    fn pack_with_room(&mut self, len: usize, freed: usize, limits: ListLimits) -> Option<&mut Listpack> {
        let Body::Packed(pack) = &mut self.body else {
            return None;
        };
        if limits.large_from != 0 && limits.is_large(len) {
            return None;
        }
        let bytes = pack.byte_len() + NODE_OVERHEAD + entry_bound(len) - freed;
        let count = self.count as usize + usize::from(freed == 0);
        limits.allow(bytes, count).then_some(pack)
    }

    /// Adds an element at an edge if the node has room.
    fn push(&mut self, text: &[u8], front: bool, limits: ListLimits) -> bool {
        let Some(pack) = self.pack_with_room(text.len(), 0, limits) else {
            return false;
        };
        if front {
            pack.push_front(text);
        } else {
            pack.push_back(text);
        }
        self.count += 1;
        true
    }

    /// Where an element is that matches. The node is open then.
    fn find(&mut self, needle: &Needle<'_>) -> Option<Pos> {
        match &self.body {
            Body::Packed(pack) => pack.find_needle(needle, pack.first()?, 0),
            Body::Plain(text) => needle.is(text.as_slice()).then(Pos::default),
            Body::Squeezed(squeezed) => {
                let mut opened = Node { body: squeezed.open().into(), count: self.count };
                let found = opened.find(needle)?;
                *self = opened;
                Some(found)
            }
        }
    }

    /// Removes up to `most` matching elements; returns how many.
    fn remove_matching(&mut self, needle: &Needle<'_>, most: usize, reverse: bool) -> usize {
        let removed = match &mut self.body {
            Body::Packed(pack) => remove_from_pack(pack, needle, most, reverse),
            Body::Plain(text) => usize::from(needle.is(text.as_slice())),
            Body::Squeezed(squeezed) => {
                let mut opened = Node { body: squeezed.open().into(), count: self.count };
                let removed = opened.remove_matching(needle, most, reverse);
                if removed > 0 {
                    opened.squeeze();
                    *self = opened;
                }
                return removed;
            }
        };
        self.count -= removed as u32;
        removed
    }
}

/// Removes up to `most` matching entries, from the tail on if `reverse`; returns how many.
pub(super) fn remove_from_pack(
    pack: &mut Listpack,
    needle: &Needle<'_>,
    most: usize,
    reverse: bool,
) -> usize {
    let mut removed = 0;
    let mut at = if reverse { pack.last() } else { pack.first() };
    while let Some(pos) = at
        && removed < most
    {
        if !reverse {
            let Some(found) = pack.find_needle(needle, pos, 0) else {
                break;
            };
            at = pack.remove(found);
            removed += 1;
        } else if pack.is_at(needle, pos) {
            // The entry behind the removed one, or else the end, is where the walk to the head goes on from.
            at = match pack.remove(pos) {
                Some(next) => pack.prev(next),
                None => pack.last(),
            };
            removed += 1;
        } else {
            at = pack.prev(pos);
        }
    }
    removed
}

// Reading.
impl Quicklist {
    /// A quicklist of the entries of a pack.
    pub(super) fn from_pack(pack: Listpack) -> Self {
        let mut quick = Self { nodes: VecDeque::new(), len: 0 };
        quick.append_pack(pack);
        quick
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn mem_size(&self) -> usize {
        let bodies = self.nodes.iter().map(|node| match &node.body {
            Body::Packed(pack) => pack.mem_size(),
            Body::Plain(text) => text.alloc_size(),
            Body::Squeezed(squeezed) => squeezed.mem_size(),
        });
        self.nodes.capacity() * size_of::<Node>() + bodies.sum::<usize>()
    }

    /// Shows the content of node `index`; one that is compressed is decompressed for that long.
    #[inline]
    pub(super) fn with_part<R>(&self, index: usize, show: impl FnOnce(Part<'_>) -> R) -> Option<R> {
        match &self.nodes.get(index)?.body {
            Body::Packed(pack) => Some(show(Part::Packed(pack))),
            Body::Plain(text) => Some(show(Part::Plain(text.as_slice()))),
            Body::Squeezed(squeezed) => Body::from(squeezed.open()).part().map(show),
        }
    }

    /// The node of element `index` and the element's number in it, found from the nearer end.
    pub(super) fn locate(&self, index: usize) -> Option<(usize, usize)> {
        if index >= self.len {
            return None;
        }
        if index <= self.len / 2 {
            let mut rest = index;
            for (at, node) in self.nodes.iter().enumerate() {
                if rest < node.count as usize {
                    return Some((at, rest));
                }
                rest -= node.count as usize;
            }
            return None;
        }
        let mut behind = self.len - index;
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if behind <= node.count as usize {
                return Some((at, node.count as usize - behind));
            }
            behind -= node.count as usize;
        }
        None
    }

    /// The place of element `index`, for changing it: its node is open then.
    pub(super) fn place(&mut self, index: usize) -> Option<Place> {
        let (node, within) = self.locate(index)?;
        self.nodes[node].open();
        let pos = match &self.nodes[node].body {
            Body::Packed(pack) => pack.seek(within as i64)?,
            _ => Pos::default(),
        };
        Some(Place { node, pos })
    }

    /// The first element that matches, for changing what is there: its node is open then.
    pub(super) fn find(&mut self, needle: &Needle<'_>) -> Option<Place> {
        let mut nodes = self.nodes.iter_mut().enumerate();
        nodes.find_map(|(node, content)| content.find(needle).map(|pos| Place { node, pos }))
    }

    /// The pack of the only node, if there is just one and it is packed.
    #[inline]
    pub(super) fn only_pack(&mut self) -> Option<&mut Listpack> {
        if self.nodes.len() != 1 {
            return None;
        }
        let node = self.nodes.front_mut()?;
        node.open();
        match &mut node.body {
            Body::Packed(pack) => Some(pack),
            _ => None,
        }
    }

    /// Panics unless the invariants hold.
    pub(super) fn check(&self) {
        let mut len = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            assert!(node.count > 0);
            let checked = self.with_part(at, |part| match part {
                Part::Packed(pack) => {
                    pack.check();
                    assert_eq!(pack.len(), node.count as usize);
                }
                Part::Plain(text) => {
                    assert_eq!(node.count, 1);
                    assert!(text.len() > MAX_INT_TEXT);
                }
            });
            assert_eq!(checked, Some(()));
            len += node.count as usize;
        }
        assert_eq!(len, self.len);
    }

    /// Which nodes are compressed.
    #[cfg(test)]
    pub(super) fn squeezed(&self) -> Vec<bool> {
        self.nodes.iter().map(|node| matches!(node.body, Body::Squeezed(_))).collect()
    }
}

/// A list that is being freed bit by bit, see [`super::List::into_drain`].
pub struct ListDrain(VecDeque<Node>);

impl ListDrain {
    /// Whether everything is gone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Frees up to `nodes` nodes. Says whether there is more to do.
    pub fn step(&mut self, nodes: usize) -> bool {
        self.0.truncate(self.0.len().saturating_sub(nodes));
        !self.0.is_empty()
    }
}

// Changing.
impl Quicklist {
    pub(super) fn into_drain(self) -> ListDrain {
        ListDrain(self.nodes)
    }

    /// Adds a node of these entries at the tail.
    pub(super) fn append_pack(&mut self, pack: Listpack) {
        if !pack.is_empty() {
            self.len += pack.len();
            self.nodes.push_back(Node::packed(pack));
        }
    }

    /// Adds a node of one element at the tail.
    pub(super) fn append_plain(&mut self, text: &[u8]) {
        self.nodes.push_back(Node::alone(text));
        self.len += 1;
    }

    /// Compresses what `limits` wants to be, in a list whose nodes have been appended.
    pub(super) fn loaded(&mut self, limits: ListLimits) {
        self.settle(0..self.nodes.len(), limits);
    }

    /// After a change: opens the nodes at the ends, and compresses those nodes of `touched` that lie inside.
    #[inline]
    fn settle(&mut self, touched: Range<usize>, limits: ListLimits) {
        if limits.compress_depth > 0 {
            self.settle_to(touched, limits.compress_depth as usize);
        }
    }

    #[cold]
    fn settle_to(&mut self, touched: Range<usize>, depth: usize) {
        let len = self.nodes.len();
        for at in 0..depth.min(len) {
            self.nodes[at].open();
            self.nodes[len - 1 - at].open();
        }
        for at in touched.start.max(depth)..touched.end.min(len.saturating_sub(depth)) {
            self.nodes[at].squeeze();
        }
    }

    /// As `settle`, after a change around node `at` that may have moved the nodes of one end.
    fn settle_around(&mut self, at: usize, limits: ListLimits) {
        let depth = limits.compress_depth as usize;
        if depth > 0 {
            self.settle_to(at.saturating_sub(2)..at + 6, depth);
            let last = self.nodes.len().saturating_sub(depth + 1);
            self.settle_to(depth..depth + 2, depth);
            self.settle_to(last.saturating_sub(1)..last + 1, depth);
        }
    }

    /// Opens the nodes that an element which is inserted into node `at` may go into, or that may be joined for it. At most
    /// two nodes come in addition.
    fn open_around(&mut self, at: usize) {
        let nodes = self.nodes.iter_mut().skip(at.saturating_sub(1)).take(4);
        nodes.for_each(|node| {
            node.open();
        });
    }

    #[inline]
    pub(super) fn push(&mut self, text: &[u8], front: bool, limits: ListLimits) {
        self.len += 1;
        let edge = if front { self.nodes.front_mut() } else { self.nodes.back_mut() };
        if !edge.is_some_and(|node| node.push(text, front, limits)) {
            self.push_node(text, front, limits);
        }
    }

    /// Adds a node of one element at an end.
    #[cold]
    fn push_node(&mut self, text: &[u8], front: bool, limits: ListLimits) {
        let edge = if front { self.nodes.front_mut() } else { self.nodes.back_mut() };
        if edge.is_some_and(|edge| edge.open() && edge.push(text, front, limits)) {
            return;
        }
        let node = if self.nodes.len() < FULL_SIZE_FROM
            || limits.max_listpack_size >= 0
            || limits.is_large(text.len())
        {
            Node::single(text, limits)
        } else {
            let mut pack = Listpack::with_room(limits.node().0.saturating_sub(NODE_OVERHEAD + 7), front);
            if front {
                pack.push_front(text)
            } else {
                pack.push_back(text)
            }
            Node::packed(pack)
        };
        // One node comes to lie inside.
        let depth = limits.compress_depth as usize;
        let inside = if front {
            self.nodes.push_front(node);
            depth
        } else {
            self.nodes.push_back(node);
            self.nodes.len().saturating_sub(depth + 1)
        };
        self.settle(inside..inside + 1, limits);
    }

    #[inline]
    pub(super) fn pop<R>(
        &mut self,
        front: bool,
        limits: ListLimits,
        take: impl FnOnce(Item<'_>) -> R,
    ) -> Option<R> {
        let node = if front { self.nodes.front_mut() } else { self.nodes.back_mut() }?;
        node.open();
        let taken = match &mut node.body {
            Body::Packed(pack) => {
                let pos = if front { pack.first() } else { pack.last() }?;
                let taken = take(pack.get(pos));
                if node.count > 1 {
                    pack.remove(pos);
                }
                taken
            }
            Body::Plain(text) => take(Item::Str(text.as_slice())),
            Body::Squeezed(_) => return None,
        };
        self.len -= 1;
        node.count -= 1;
        if node.count == 0 {
            if front {
                self.nodes.pop_front();
            } else {
                self.nodes.pop_back();
            }
            self.settle(0..0, limits);
        }
        Some(taken)
    }

    /// Inserts an element beside the one at `place`.
    pub(super) fn insert(&mut self, place: Place, after: bool, text: &[u8], limits: ListLimits) {
        self.len += 1;
        let at = place.node;
        self.open_around(at);
        let node = &mut self.nodes[at];
        let mut split = None;
        if let Body::Packed(pack) = &node.body {
            split = if after {
                pack.next(place.pos)
            } else {
                Some(place.pos).filter(|pos| pack.first() != Some(*pos))
            };
        }
        if let Some(pack) = node.pack_with_room(text.len(), 0, limits) {
            if after {
                pack.insert_after(place.pos, text);
            } else {
                pack.insert_before(place.pos, text);
            }
            node.count += 1;
        } else if let Some(split) = split {
            self.insert_inside(at, split, text, limits);
        } else {
            self.insert_between(at + usize::from(after), text, limits);
        }
        self.settle_around(at, limits);
    }

    /// Inserts an element between the nodes `at - 1` and `at`: into one of them, or else as a node.
    fn insert_between(&mut self, at: usize, text: &[u8], limits: ListLimits) {
        let left = at.checked_sub(1).and_then(|left| self.nodes.get_mut(left));
        if left.is_some_and(|node| node.push(text, false, limits)) {
            return;
        }
        if !self.nodes.get_mut(at).is_some_and(|node| node.push(text, true, limits)) {
            self.nodes.insert(at, Node::single(text, limits));
        }
    }

    /// Splits the packed node `at` in front of `split` and inserts an element between the halves.
    fn insert_inside(&mut self, at: usize, split: Pos, text: &[u8], limits: ListLimits) {
        let node = &mut self.nodes[at];
        let Body::Packed(pack) = &mut node.body else {
            return;
        };
        let tail = Node::packed(pack.split_off(split));
        node.count -= tail.count;
        self.nodes.insert(at + 1, tail);
        self.insert_between(at + 1, text, limits);
        // Repeated inserts must not leave a trail of small nodes. There are two or three new ones; join them outwards.
        for left in (at.saturating_sub(1)..=at + 2).rev() {
            self.try_merge(left, limits);
        }
    }

    /// Joins node `left` and the one behind it if one pack may hold both.
    fn try_merge(&mut self, left: usize, limits: ListLimits) {
        let (Some(a), Some(b)) = (self.nodes.get(left), self.nodes.get(left + 1)) else {
            return;
        };
        let (Body::Packed(pack_a), Body::Packed(pack_b)) = (&a.body, &b.body) else {
            return;
        };
        let bytes = pack_a.byte_len() + pack_b.byte_len() + NODE_OVERHEAD;
        if !limits.allow(bytes, (a.count + b.count) as usize) {
            return;
        }
        let Some(Node { body: Body::Packed(tail), .. }) = self.nodes.remove(left + 1) else {
            return;
        };
        if let Body::Packed(pack) = &mut self.nodes[left].body {
            pack.append(&tail);
            self.nodes[left].count += tail.len() as u32;
        }
    }

    /// Replaces the element at `place`.
    pub(super) fn replace(&mut self, place: Place, text: &[u8], limits: ListLimits) {
        let node = &mut self.nodes[place.node];
        let old = match &node.body {
            Body::Packed(pack) => pack.entry_size(place.pos),
            _ => 0,
        };
        if let Some(pack) = node.pack_with_room(text.len(), old, limits) {
            pack.replace(place.pos, text);
        } else if node.count == 1 {
            *node = Node::single(text, limits);
        } else {
            self.open_around(place.node);
            let index_after = self.remove_at(place);
            self.len += 1;
            match index_after {
                Some(pos) => self.insert_inside_or_front(place.node, pos, text, limits),
                None => self.insert_between(place.node + 1, text, limits),
            }
        }
        self.settle_around(place.node, limits);
    }

    /// Inserts an element in front of the entry at `pos` of node `at`, which has no room for it.
    fn insert_inside_or_front(&mut self, at: usize, pos: Pos, text: &[u8], limits: ListLimits) {
        let is_first = matches!(&self.nodes[at].body, Body::Packed(pack) if pack.first() == Some(pos));
        if is_first {
            self.insert_between(at, text, limits);
        } else {
            self.insert_inside(at, pos, text, limits);
        }
    }

    /// Removes one entry of a packed node that keeps others; returns the place of the one behind it in that node.
    fn remove_at(&mut self, place: Place) -> Option<Pos> {
        let node = &mut self.nodes[place.node];
        let Body::Packed(pack) = &mut node.body else {
            return None;
        };
        node.count -= 1;
        self.len -= 1;
        pack.remove(place.pos)
    }

    /// Removes up to `most` matching elements, from the tail on if `reverse`; returns how many.
    pub(super) fn remove_matching(
        &mut self,
        needle: &Needle<'_>,
        most: usize,
        reverse: bool,
        limits: ListLimits,
    ) -> usize {
        let mut left = most;
        let remove = |node: &mut Node| {
            if left > 0 {
                left -= node.remove_matching(needle, left, reverse);
            }
        };
        if reverse {
            self.nodes.iter_mut().rev().for_each(remove);
        } else {
            self.nodes.iter_mut().for_each(remove);
        }
        let removed = most - left;
        if removed > 0 {
            self.nodes.retain(|node| node.count > 0);
            self.len -= removed;
            self.settle(0..0, limits);
        }
        removed
    }

    /// Removes the `n` elements from number `start` on, which must exist.
    pub(super) fn remove_range(&mut self, start: usize, n: usize, limits: ListLimits) {
        let Some((mut at, within)) = self.locate(start) else {
            return;
        };
        let first = at;
        self.len -= n;
        let mut left = n;
        if within > 0 {
            left -= self.remove_inside(at, within, left);
            at += 1;
        }
        let mut whole = 0;
        while let Some(node) = self.nodes.get(at + whole)
            && node.count as usize <= left
        {
            left -= node.count as usize;
            whole += 1;
        }
        self.nodes.drain(at..at + whole);
        if left > 0 {
            self.remove_inside(at, 0, left);
        }
        self.settle(first..first + 2, limits);
    }

    /// Removes up to `n` elements of one packed node, not all of it; returns how many.
    fn remove_inside(&mut self, at: usize, within: usize, n: usize) -> usize {
        let node = &mut self.nodes[at];
        node.open();
        let Body::Packed(pack) = &mut node.body else {
            return 0;
        };
        let removed = pack.remove_range(within as i64, n);
        node.count -= removed as u32;
        removed
    }
}
