//! The sorted half of a big sorted set: a B+tree that orders (score, member) and counts what lies below each branch.
//! Touches `types::thin` only.
//!
//! Entries are ordered as Redis's skip list orders them: by score, then by member bytes. NaN must not enter;
//! -0.0 and 0.0 are the same score. Every position is a rank (0 is the smallest), so a range query is two
//! counts and a walk.
//!
//! ```text
//! Inner   scores[i], refs[i]   the smallest entry below child i: what separates it from child i - 1. Slot 0
//!                              separates nothing and may be stale, even dangling: it is never looked at,
//!                              only moved and overwritten.
//!         counts[i]            entries below child i
//!         nodes[i]             the child, Leaf or Inner; all leaves have the same depth
//! Leaf    scores[i], refs[i]   the entries themselves, sorted. 63 of them and a header are just below 1 KiB.
//! ```
//!
//! An entry is a [`Thin`] that somebody else (the hash table of the sorted set) owns: the score's 8 bytes,
//! then the member. The tree keeps a bare pointer to it, 8 bytes, in a [`Ref`].
//!
//! Insertion makes room on the way down: a full child first gives entries to a neighbour that has space (this
//! is what keeps random insertion at about 80 % fill), else it is split, unevenly at either end of the tree
//! so that ascending and descending insertion leave full nodes behind. Removal repairs on the way back up.
//!
//! # Safety
//! This module trusts its caller, `types::rankset`, in one thing: **an entry must stay allocated for as long
//! as the tree refers to it**. `Thin` never moves its bytes unless it is resized, and nobody resizes an
//! entry.
#![allow(unsafe_code)]

use crate::types::thin::Thin;
use std::ptr::{self, NonNull};

/// Entries of a leaf.
pub(super) const LEAF: usize = 63;
/// Children of an inner node.
const FAN: usize = 38;
/// Levels of inner nodes that a walk can remember. Nodes away from the edges keep a third of their children,
/// so this many levels are more than any memory holds.
const HEIGHT_MAX: usize = 12;

/// Bytes of the score in front of the member.
pub(super) const SCORE_BYTES: usize = size_of::<f64>();

/// A pointer to an entry that the tree does not own.
#[derive(Clone, Copy)]
pub(super) struct Ref(NonNull<u8>);

// SAFETY: a Ref is used as a shared reference to plain bytes, and those may go to and be read from any thread.
unsafe impl Send for Ref {}
// SAFETY: as above.
unsafe impl Sync for Ref {}

impl Ref {
    /// A reference to `entry`, which must hold a score and a member.
    ///
    /// # Safety
    /// The entry must outlive every use of the result, and of each tree that it is put into.
    pub(super) unsafe fn new(entry: &Thin) -> Self {
        debug_assert!(entry.len() >= SCORE_BYTES);
        // SAFETY: Thin is `repr(transparent)` around its one pointer. Copying the pointer does not copy the
        // ownership.
        Self(unsafe { ptr::from_ref(entry).cast::<NonNull<u8>>().read() })
    }

    /// The member's bytes.
    #[inline]
    pub(super) fn member(&self) -> &[u8] {
        // SAFETY: the same layout as in `new`; the entry is alive by the contract there, and only borrowed here.
        let entry = unsafe { &*ptr::from_ref(&self.0).cast::<Thin>() };
        &entry.as_slice()[SCORE_BYTES..]
    }
}

/// A boundary between entries: everything before it is smaller.
#[derive(Clone, Copy, Debug)]
pub(super) enum Probe<'a> {
    /// Before the entry with this score and member, which may be absent.
    Entry(f64, &'a [u8]),
    /// Before the entry with this score and member, which is in the tree: one less look at members.
    Present(f64, &'a [u8]),
    /// Before all entries with this score.
    BelowScore(f64),
    /// Behind all entries with this score.
    UpToScore(f64),
    /// Before this member, where all scores are equal.
    BelowMember(&'a [u8]),
    /// Behind this member, where all scores are equal.
    UpToMember(&'a [u8]),
}

fn member_at(slot: &Option<Ref>) -> &[u8] {
    slot.as_ref().expect("slots in use hold an entry").member()
}

/// How many scores pass. Not a binary search, although they are sorted: a few dozen comparisons without a
/// branch, several an instruction, cost less than the chain of cache misses that a binary search makes in a
/// cold node.
#[inline]
fn count(scores: &[f64], passes: impl Fn(f64) -> bool) -> usize {
    scores.iter().map(|&s| u64::from(passes(s))).sum::<u64>() as usize
}

impl Probe<'_> {
    /// How many of the sorted entries lie before the boundary. `equal_too` counts the probed entry itself as
    /// before it.
    #[inline]
    fn position(&self, scores: &[f64], refs: &[Option<Ref>], equal_too: bool) -> usize {
        match *self {
            Probe::Entry(score, member) | Probe::Present(score, member) => {
                let low = count(scores, |s| s < score);
                if scores.get(low) != Some(&score) {
                    return low;
                }
                let ties = count(&scores[low..], |s| s == score);
                if ties == 1 && !equal_too && matches!(self, Probe::Present(..)) {
                    return low;
                }
                low + refs[low..low + ties].partition_point(|r| {
                    let other = member_at(r);
                    if equal_too { other <= member } else { other < member }
                })
            }
            Probe::BelowScore(score) => count(scores, |s| s < score),
            Probe::UpToScore(score) => count(scores, |s| s <= score),
            Probe::BelowMember(member) => refs.partition_point(|r| member_at(r) < member),
            Probe::UpToMember(member) => refs.partition_point(|r| member_at(r) <= member),
        }
    }
}

/// Moves items between two neighbouring arrays, of which the first `left_len` and `right_len` are in use, so
/// that the left one has `new_left` of them and the right one the rest, in the same order.
fn flow<T>(left: &mut [T], left_len: usize, right: &mut [T], right_len: usize, new_left: usize) {
    if new_left < left_len {
        let moved = left_len - new_left;
        right[..right_len + moved].rotate_right(moved);
        left[new_left..left_len].swap_with_slice(&mut right[..moved]);
    } else {
        let moved = new_left - left_len;
        left[left_len..new_left].swap_with_slice(&mut right[..moved]);
        right[..right_len].rotate_left(moved);
    }
}

/// The sorted part that leaves and inner nodes have in common. Scores lie apart from the references so that a
/// search, which mostly needs scores, touches few cache lines.
struct Keys<const N: usize> {
    len: u16,
    scores: [f64; N],
    refs: [Option<Ref>; N],
}

type Leaf = Keys<LEAF>;

const _: () = assert!(size_of::<Leaf>() <= 1024, "a leaf must fit the allocator's 1 KiB class");
const _: () = assert!(size_of::<Inner>() <= 1536, "an inner node must fit the 1.5 KiB class");

impl<const N: usize> Keys<N> {
    fn new() -> Self {
        Self { len: 0, scores: [0.0; N], refs: [None; N] }
    }

    #[inline]
    fn len(&self) -> usize {
        usize::from(self.len)
    }

    #[inline]
    fn position(&self, probe: &Probe<'_>) -> usize {
        let len = self.len();
        probe.position(&self.scores[..len], &self.refs[..len], false)
    }

    #[inline]
    fn entry(&self, i: usize) -> (&[u8], f64) {
        (member_at(&self.refs[i]), self.scores[i])
    }

    fn insert(&mut self, i: usize, score: f64, key: Option<Ref>) {
        let len = self.len();
        self.scores.copy_within(i..len, i + 1);
        self.refs.copy_within(i..len, i + 1);
        self.scores[i] = score;
        self.refs[i] = key;
        self.len += 1;
    }

    fn remove(&mut self, from: usize, to: usize) {
        let len = self.len();
        self.scores.copy_within(to..len, from);
        self.refs.copy_within(to..len, from);
        self.len -= (to - from) as u16;
    }

    fn flow(&mut self, right: &mut Self, new_left: usize) {
        let (left_len, right_len) = (self.len(), right.len());
        let (from, to) = (&mut self.scores, &mut right.scores);
        flow(from, left_len, to, right_len, new_left);
        let (from, to) = (&mut self.refs, &mut right.refs);
        flow(from, left_len, to, right_len, new_left);
        self.len = new_left as u16;
        right.len = (left_len + right_len - new_left) as u16;
    }

    /// Moves the entry at `i` to before the one now at `to`, with a new score.
    fn shift(&mut self, i: usize, to: usize, score: f64) {
        let at = if to > i {
            self.scores[i..to].rotate_left(1);
            self.refs[i..to].rotate_left(1);
            to - 1
        } else {
            self.scores[to..=i].rotate_right(1);
            self.refs[to..=i].rotate_right(1);
            to
        };
        self.scores[at] = score;
    }
}

struct Inner {
    keys: Keys<FAN>,
    counts: [u64; FAN],
    nodes: [Option<Node>; FAN],
}

enum Node {
    Leaf(Box<Leaf>),
    Inner(Box<Inner>),
}

impl Node {
    fn is_leaf(&self) -> bool {
        matches!(self, Node::Leaf(_))
    }

    /// Entries of a leaf, or children of an inner node.
    fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Inner(inner) => inner.len(),
        }
    }

    fn capacity(&self) -> usize {
        if self.is_leaf() { LEAF } else { FAN }
    }

    /// Entries below this node.
    fn count(&self) -> u64 {
        match self {
            Node::Leaf(leaf) => leaf.len() as u64,
            Node::Inner(inner) => inner.counts[..inner.len()].iter().sum(),
        }
    }

    /// The smallest entry below this node.
    fn first(&self) -> (f64, Option<Ref>) {
        let mut node = self;
        loop {
            match node {
                Node::Leaf(leaf) => return (leaf.scores[0], leaf.refs[0]),
                Node::Inner(inner) => node = inner.node(0),
            }
        }
    }

    fn empty_like(&self) -> Node {
        match self {
            Node::Leaf(_) => Node::Leaf(Box::new(Leaf::new())),
            Node::Inner(_) => Node::Inner(Inner::new()),
        }
    }
}

/// Which end of the whole tree an insertion goes to, if any.
#[derive(Clone, Copy)]
struct Edges {
    left: bool,
    right: bool,
}

/// What a removal should take out: from this position on.
#[derive(Clone, Copy)]
enum Target<'a> {
    Rank(usize),
    Entry(f64, &'a [u8]),
}

/// What a removal below a node did.
struct Removed {
    count: usize,
    /// The smallest entry below the node was among them.
    first: bool,
}

impl Inner {
    fn new() -> Box<Self> {
        Box::new(Self { keys: Keys::new(), counts: [0; FAN], nodes: [const { None }; FAN] })
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn node(&self, i: usize) -> &Node {
        self.nodes[i].as_ref().expect("slots in use hold a node")
    }

    fn node_mut(&mut self, i: usize) -> &mut Node {
        self.nodes[i].as_mut().expect("slots in use hold a node")
    }

    /// The child in which the boundary lies; the one that starts with the probed entry if there is one.
    #[inline]
    fn child_of(&self, probe: &Probe<'_>) -> usize {
        let len = self.len();
        probe.position(&self.keys.scores[1..len], &self.keys.refs[1..len], true)
    }

    /// The child that holds the entry with this rank, and the rank in that child.
    #[inline]
    fn child_at(&self, rank: usize) -> (usize, usize) {
        let mut left = rank as u64;
        let last = self.len() - 1;
        for (i, &count) in self.counts[..last].iter().enumerate() {
            if left < count {
                return (i, left as usize);
            }
            left -= count;
        }
        (last, left as usize)
    }

    fn insert_child(&mut self, i: usize, node: Node) {
        let len = self.len();
        self.keys.insert(i, 0.0, None);
        self.counts.copy_within(i..len, i + 1);
        self.counts[i] = 0;
        self.nodes[i..=len].rotate_right(1);
        self.nodes[i] = Some(node);
    }

    fn remove_child(&mut self, i: usize) {
        let len = self.len();
        self.keys.remove(i, i + 1);
        self.counts.copy_within(i + 1..len, i);
        self.nodes[i] = None;
        self.nodes[i..len].rotate_left(1);
    }

    /// Distributes what children `i` and `i + 1` hold so that the first has `new_left`; an emptied right one
    /// is removed.
    fn level(&mut self, i: usize, new_left: usize) {
        let separator = (self.keys.scores[i + 1], self.keys.refs[i + 1]);
        let (head, tail) = self.nodes.split_at_mut(i + 1);
        let left = head[i].as_mut().expect("slots in use hold a node");
        let right = tail[0].as_mut().expect("slots in use hold a node");
        let new_first = match (&mut *left, &mut *right) {
            (Node::Leaf(left), Node::Leaf(right)) => {
                left.flow(right, new_left);
                (right.scores[0], right.refs[0])
            }
            (Node::Inner(left), Node::Inner(right)) => {
                // Slot 0 of the right node is about to separate something, so it must be made true first.
                (right.keys.scores[0], right.keys.refs[0]) = separator;
                let (left_len, right_len) = (left.len(), right.len());
                flow(&mut left.counts, left_len, &mut right.counts, right_len, new_left);
                flow(&mut left.nodes, left_len, &mut right.nodes, right_len, new_left);
                left.keys.flow(&mut right.keys, new_left);
                (right.keys.scores[0], right.keys.refs[0])
            }
            _ => unreachable!("children of one node are of one kind"),
        };
        self.counts[i] = left.count();
        self.counts[i + 1] = right.count();
        if right.len() == 0 {
            self.remove_child(i + 1);
        } else {
            (self.keys.scores[i + 1], self.keys.refs[i + 1]) = new_first;
        }
    }

    /// Makes the full child `i` not full, on behalf of an insertion at `probe`. There must be room for one
    /// more child.
    fn make_room(&mut self, i: usize, probe: &Probe<'_>, edges: Edges) {
        let node = self.node(i);
        let (len, position) = match node {
            Node::Leaf(leaf) => (leaf.len(), leaf.position(probe)),
            Node::Inner(inner) => (inner.len(), inner.child_of(probe)),
        };
        let last = if node.is_leaf() { len } else { len - 1 };
        let keep = if edges.right && i + 1 == self.len() && position == last {
            len - 1
        } else if edges.left && i == 0 && position == 0 {
            1
        } else {
            if let Some(left) = self.neighbour_with_space(i) {
                let total = self.node(left).len() + self.node(left + 1).len();
                return self.level(left, total / 2);
            }
            len / 2
        };
        let right = node.empty_like();
        self.insert_child(i + 1, right);
        self.level(i, keep);
    }

    /// The left one of child `i` and a neighbour to it that is at most three quarters full.
    fn neighbour_with_space(&self, i: usize) -> Option<usize> {
        let roomy = |j: usize| {
            let node = self.node(j);
            node.len() <= node.capacity() * 3 / 4
        };
        if i > 0 && roomy(i - 1) {
            Some(i - 1)
        } else if i + 1 < self.len() && roomy(i + 1) {
            Some(i)
        } else {
            None
        }
    }

    /// Repairs child `i` after a removal below it.
    fn mend(&mut self, i: usize, removed: &Removed) {
        let (len, capacity) = (self.node(i).len(), self.node(i).capacity());
        if len == 0 {
            return self.remove_child(i);
        }
        if removed.first && i > 0 {
            (self.keys.scores[i], self.keys.refs[i]) = self.node(i).first();
        }
        if len >= capacity / 3 || self.len() == 1 {
            return;
        }
        let left = if i + 1 < self.len() { i } else { i - 1 };
        let total = self.node(left).len() + self.node(left + 1).len();
        // Not filled to the brim, else the next insertion would split what was just merged.
        let merged = total <= capacity * 3 / 4;
        self.level(left, if merged { total } else { total / 2 });
    }

    /// Removes at most `max` entries from `target` on that lie in the same leaf, and hands them to `out`.
    fn remove(&mut self, target: Target<'_>, max: usize, out: &mut impl FnMut(Ref)) -> Removed {
        let (i, target) = match target {
            Target::Rank(rank) => {
                let (i, rank) = self.child_at(rank);
                (i, Target::Rank(rank))
            }
            Target::Entry(score, member) => (self.child_of(&Probe::Present(score, member)), target),
        };
        let removed = remove_below(self.node_mut(i), target, max, out);
        self.counts[i] -= removed.count as u64;
        self.mend(i, &removed);
        Removed { first: removed.first && i == 0, ..removed }
    }
}

fn remove_below(node: &mut Node, target: Target<'_>, max: usize, out: &mut impl FnMut(Ref)) -> Removed {
    let leaf = match node {
        Node::Inner(inner) => return inner.remove(target, max, out),
        Node::Leaf(leaf) => leaf,
    };
    let from = match target {
        Target::Rank(rank) => rank,
        Target::Entry(score, member) => {
            let at = leaf.position(&Probe::Present(score, member));
            debug_assert!(at < leaf.len() && leaf.entry(at) == (member, score));
            at
        }
    };
    let to = leaf.len().min(from.saturating_add(max));
    leaf.refs[from..to].iter().flatten().for_each(|&key| out(key));
    leaf.remove(from, to);
    Removed { count: to - from, first: from == 0 }
}

/// The tree. See the head of this file for its contract.
#[derive(Default)]
pub(super) struct RankTree {
    root: Option<Node>,
    len: usize,
}

/// The nodes of a tree that is being freed bit by bit, see [`RankTree::into_drain`].
pub(super) struct TreeDrain(Vec<Node>);

impl TreeDrain {
    /// Frees up to `nodes` nodes. Says whether there is more to do.
    pub(super) fn step(&mut self, nodes: usize) -> bool {
        for _ in 0..nodes {
            match self.0.pop() {
                None => return false,
                Some(Node::Leaf(_)) => {}
                Some(Node::Inner(inner)) => self.0.extend(inner.nodes.into_iter().flatten()),
            }
        }
        !self.0.is_empty()
    }

    /// Whether all nodes are gone.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl RankTree {
    /// For freeing the nodes bit by bit. What the tree refers to may be gone by then.
    pub(super) fn into_drain(self) -> TreeDrain {
        TreeDrain(self.root.into_iter().collect())
    }

    /// Adds an entry that is not in the tree. `score` must be the one it holds.
    pub(super) fn insert(&mut self, score: f64, key: Ref) {
        let root = self.root.get_or_insert_with(|| Node::Leaf(Box::new(Leaf::new())));
        let probe = Probe::Entry(score, key.member());
        let mut edges = Edges { left: true, right: true };
        if root.len() == root.capacity() {
            let mut top = Inner::new();
            let old = std::mem::replace(root, Node::Leaf(Box::new(Leaf::new())));
            top.insert_child(0, old);
            top.counts[0] = self.len as u64;
            top.make_room(0, &probe, edges);
            *root = Node::Inner(top);
        }
        self.len += 1;
        let mut node = root;
        loop {
            let inner = match node {
                Node::Leaf(leaf) => {
                    let at = leaf.position(&probe);
                    return leaf.insert(at, score, Some(key));
                }
                Node::Inner(inner) => inner,
            };
            let mut i = inner.child_of(&probe);
            let child = inner.node(i);
            if child.len() == child.capacity() {
                inner.make_room(i, &probe, edges);
                i = inner.child_of(&probe);
            }
            inner.counts[i] += 1;
            edges.left &= i == 0;
            edges.right &= i + 1 == inner.len();
            node = inner.node_mut(i);
        }
    }

    /// Removes the entry `key`, whose score is `score`; it must be in the tree.
    pub(super) fn remove(&mut self, score: f64, member: &[u8]) {
        self.remove_target(Target::Entry(score, member), 1, &mut |_| ());
    }

    /// Removes up to `max` entries, the first of rank `rank`, and hands them to `out` in rising order: as
    /// many as lie in one leaf, so at least one if there is any, at most [`LEAF`]. `out` must not free them:
    /// the tree still looks at them.
    pub(super) fn remove_run(&mut self, rank: usize, max: usize, mut out: impl FnMut(Ref)) {
        if rank < self.len && max > 0 {
            self.remove_target(Target::Rank(rank), max, &mut out);
        }
    }

    fn remove_target(&mut self, target: Target<'_>, max: usize, out: &mut impl FnMut(Ref)) {
        let Some(root) = self.root.as_mut() else {
            return;
        };
        self.len -= remove_below(root, target, max, out).count;
        while let Some(Node::Inner(top)) = &mut self.root
            && top.len() <= 1
        {
            self.root = top.nodes[0].take();
        }
        if self.len == 0 {
            self.root = None;
        }
    }

    /// Changes an entry's score (its own copy of the score is the caller's to change).
    pub(super) fn rescore(&mut self, old: f64, new: f64, key: Ref) {
        if !self.rescore_in_leaf(old, new, key) {
            self.remove(old, key.member());
            self.insert(new, key);
        }
    }

    /// The common case of a small step: the entry stays in its leaf, so neither counts nor separators change.
    fn rescore_in_leaf(&mut self, old: f64, new: f64, key: Ref) -> bool {
        let member = key.member();
        let (from, to) = (Probe::Present(old, member), Probe::Entry(new, member));
        let (mut leftmost, mut rightmost) = (true, true);
        let mut next = self.root.as_mut();
        while let Some(node) = next {
            match node {
                Node::Inner(inner) => {
                    let i = inner.child_of(&from);
                    leftmost &= i == 0;
                    rightmost &= i + 1 == inner.len();
                    next = inner.nodes[i].as_mut();
                }
                Node::Leaf(leaf) => {
                    let (i, to) = (leaf.position(&from), leaf.position(&to));
                    let stays = (leftmost || (i > 0 && to > 0)) && (rightmost || to < leaf.len());
                    if stays {
                        leaf.shift(i, to, new);
                    }
                    return stays;
                }
            }
        }
        false
    }

    /// How many entries lie before the boundary: the rank of the first one behind it.
    pub(super) fn count_before(&self, probe: &Probe<'_>) -> usize {
        let mut before = 0;
        let mut next = self.root.as_ref();
        while let Some(node) = next {
            match node {
                Node::Leaf(leaf) => return before as usize + leaf.position(probe),
                Node::Inner(inner) => {
                    let i = inner.child_of(probe);
                    before += inner.counts[..i].iter().sum::<u64>();
                    next = inner.nodes[i].as_ref();
                }
            }
        }
        0
    }

    /// Walks `count` entries, the first of rank `rank`, then with rising ranks, or with falling ones if
    /// `reverse`. A count that reaches beyond the end is cut.
    pub(super) fn walk(&self, rank: usize, count: usize, reverse: bool) -> Walk<'_> {
        let mut walk = Walk { path: [None; HEIGHT_MAX], depth: 0, leaf: None, at: rank, left: 0, reverse };
        if rank >= self.len {
            return walk;
        }
        walk.left = count.min(if reverse { rank + 1 } else { self.len - rank });
        let mut next = self.root.as_ref();
        while let Some(node) = next {
            match node {
                Node::Leaf(leaf) => {
                    walk.leaf = Some(leaf);
                    break;
                }
                Node::Inner(inner) => {
                    let (i, rest) = inner.child_at(walk.at);
                    walk.at = rest;
                    walk.push(inner, i);
                    next = inner.nodes[i].as_ref();
                }
            }
        }
        walk
    }

    /// Bytes requested for nodes.
    pub(super) fn alloc_size(&self) -> usize {
        fn below(node: &Node) -> usize {
            let Node::Inner(inner) = node else {
                return size_of::<Leaf>();
            };
            let nodes = &inner.nodes[..inner.len()];
            let children = match nodes.first() {
                Some(Some(Node::Leaf(_))) => nodes.len() * size_of::<Leaf>(),
                _ => nodes.iter().flatten().map(below).sum(),
            };
            size_of::<Inner>() + children
        }
        self.root.as_ref().map_or(0, below)
    }
}

/// Iterates over entries in either direction. Made by [`RankTree::walk`].
pub(super) struct Walk<'a> {
    /// The inner nodes above the leaf, from the root down, and which child was taken in each.
    path: [Option<(&'a Inner, u16)>; HEIGHT_MAX],
    depth: usize,
    leaf: Option<&'a Leaf>,
    at: usize,
    left: usize,
    reverse: bool,
}

impl<'a> Walk<'a> {
    fn push(&mut self, inner: &'a Inner, i: usize) {
        self.path[self.depth] = Some((inner, i as u16));
        self.depth += 1;
    }

    /// Steps to the neighbouring leaf in the direction of the walk; there must be one.
    #[cold]
    fn next_leaf(&mut self) {
        let mut next = None;
        while next.is_none() && self.depth > 0 {
            self.depth -= 1;
            let (inner, i) = self.path[self.depth].expect("levels above depth are filled");
            let i = usize::from(i);
            let sibling =
                if self.reverse { i.checked_sub(1) } else { Some(i + 1).filter(|&i| i < inner.len()) };
            if let Some(i) = sibling {
                self.push(inner, i);
                next = Some(inner.node(i));
            }
        }
        while let Some(Node::Inner(inner)) = next {
            let i = if self.reverse { inner.len() - 1 } else { 0 };
            self.push(inner, i);
            next = Some(inner.node(i));
        }
        self.leaf = match next {
            Some(Node::Leaf(leaf)) => Some(leaf),
            _ => None,
        };
        self.at = match self.leaf {
            Some(leaf) if self.reverse => leaf.len() - 1,
            _ => 0,
        };
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let leaf = self.leaf?;
        let entry = leaf.entry(self.at);
        let at_end = if self.reverse { self.at == 0 } else { self.at + 1 == leaf.len() };
        if !at_end {
            self.at = if self.reverse { self.at - 1 } else { self.at + 1 };
        } else if self.left > 0 {
            self.next_leaf();
        }
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Walk<'_> {}

#[cfg(test)]
impl RankTree {
    /// Asserts order, separators, counts, depth and fill; returns the number of leaves.
    pub(super) fn check(&self) -> usize {
        let Some(root) = &self.root else {
            assert_eq!(self.len, 0);
            return 0;
        };
        assert_eq!(root.count(), self.len as u64, "the root's counts add up");
        assert!(root.is_leaf() || root.len() > 1, "a root with one child is replaced by it");
        let mut depths = Vec::new();
        check_below(root, 0, &mut depths);
        assert!(depths.iter().all(|&depth| depth == depths[0]), "all leaves have the same depth");
        let all: Vec<_> = self.walk(0, self.len, false).collect();
        assert_eq!(all.len(), self.len);
        let sorted = all.windows(2).all(|pair| (pair[0].1, pair[0].0) < (pair[1].1, pair[1].0));
        assert!(sorted, "entries rise strictly");
        depths.len()
    }
}

#[cfg(test)]
fn check_below(node: &Node, depth: usize, depths: &mut Vec<usize>) {
    assert!((1..=node.capacity()).contains(&node.len()), "no node is empty");
    let Node::Inner(inner) = node else {
        return depths.push(depth);
    };
    for i in 0..inner.len() {
        let child = inner.node(i);
        assert_eq!(child.is_leaf(), inner.node(0).is_leaf());
        assert_eq!(child.count(), inner.counts[i], "counts agree with the child");
        if i > 0 {
            let (score, key) = child.first();
            assert_eq!(inner.keys.scores[i], score, "a separator is the child's first entry");
            assert_eq!(inner.keys.refs[i].map(|r| r.0), key.map(|r| r.0));
        }
        check_below(child, depth + 1, depths);
    }
    assert!(inner.nodes[inner.len()..].iter().all(Option::is_none));
}

#[cfg(test)]
#[path = "ranktree/tests.rs"]
mod tests;
