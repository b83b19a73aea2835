//! A big sorted set: a hash table that owns the entries and finds them by member, and a tree that keeps them
//! in order. Touches `types::{ranktree, table, thin, zrange}`.
//!
//! ```text
//! Table slot ──►┐
//!               ├──► Thin [ score: f64, native byte order | member ]     one allocation an entry
//! tree slot  ──►┘
//! ```
//!
//! This file keeps the promise that `ranktree` needs: an entry is in both parts or in neither, it leaves the
//! tree before the table's handle is dropped, and it is never resized.
#![allow(unsafe_code)]

use std::ops::Range;

use super::ranktree::{LEAF, Probe, RankTree, Ref, SCORE_BYTES, TreeDrain, Walk};
use super::table::{Drain, Element, Seed, Table, TableStats};
use super::thin::Thin;
use super::zrange::{LexBound, LexRange, ScoreRange};

/// A set that is being freed bit by bit.
pub struct RankDrain {
    tree: TreeDrain,
    entries: Drain<Entry>,
}

impl RankDrain {
    /// Whether everything is gone.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty() && self.entries.is_empty()
    }

    /// Frees the tree's next nodes, then the entries of the next `buckets` buckets. Says whether there is more to do.
    pub fn step(&mut self, buckets: usize) -> bool {
        self.tree.step(buckets) || self.entries.step(buckets, drop)
    }
}

/// A member with its score, on the heap.
pub struct Entry(Thin);

impl Entry {
    fn new(score: f64, member: &[u8]) -> Self {
        Self(Thin::concat(&[&score.to_ne_bytes(), member]))
    }

    /// The member's bytes.
    #[inline]
    #[must_use]
    pub fn member(&self) -> &[u8] {
        &self.0.as_slice()[SCORE_BYTES..]
    }

    /// The member's score.
    #[inline]
    #[must_use]
    pub fn score(&self) -> f64 {
        let (score, _) = self.0.as_slice().split_first_chunk().expect("entries begin with a score");
        f64::from_ne_bytes(*score)
    }

    fn set_score(&mut self, score: f64) {
        self.0.as_mut_slice()[..SCORE_BYTES].copy_from_slice(&score.to_ne_bytes());
    }

    fn reference(&self) -> Ref {
        // SAFETY: only the functions below call this, for an entry that is in the table or about to be. The
        // table drops an entry in `remove` and `remove_ranks`, which take it out of the tree first, and when
        // the whole set goes.
        unsafe { Ref::new(&self.0) }
    }
}

impl Element for Entry {
    #[inline]
    fn key(&self) -> &[u8] {
        self.member()
    }
}

/// A sorted set of any size.
pub(super) struct RankSet {
    /// Declared first, so that it is dropped before the entries it refers to.
    tree: RankTree,
    table: Table<Entry>,
    /// Bytes requested for entries.
    entry_bytes: usize,
}

impl RankSet {
    pub(super) fn with_capacity(seed: Seed, capacity: usize) -> Self {
        Self { tree: RankTree::default(), table: Table::with_capacity(seed, capacity), entry_bytes: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    #[inline]
    pub(super) fn score(&self, member: &[u8]) -> Option<f64> {
        self.table.find(member).map(Entry::score)
    }

    /// Looks `member` up and gives its score to `decide`, which says the new score or that nothing should
    /// change. Returns the old score and what was decided.
    #[inline]
    pub(super) fn update(
        &mut self,
        member: &[u8],
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> (Option<f64>, Option<f64>) {
        let hash = self.table.hash_of(member);
        let Some(entry) = self.table.find_mut_hashed(hash, member) else {
            let new = decide(None);
            if let Some(score) = new {
                self.add(hash, member, score);
            }
            return (None, new);
        };
        let old = entry.score();
        let new = decide(Some(old));
        if let Some(score) = new
            && score != old
        {
            self.tree.rescore(old, score, entry.reference());
            entry.set_score(score);
        }
        (Some(old), new)
    }

    fn add(&mut self, hash: u64, member: &[u8], score: f64) {
        debug_assert!(!score.is_nan());
        let entry = Entry::new(score, member);
        self.entry_bytes += entry.0.alloc_size();
        let reference = entry.reference();
        self.table.insert_unique_hashed(hash, entry);
        self.tree.insert(score, reference);
    }

    /// Adds a member that is not in the set.
    pub(super) fn add_unique(&mut self, member: &[u8], score: f64) {
        self.add(self.table.hash_of(member), member, score);
    }

    pub(super) fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let entry = self.table.remove(member)?;
        let score = entry.score();
        self.tree.remove(score, member);
        self.entry_bytes -= entry.0.alloc_size();
        Some(score)
    }

    pub(super) fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        let score = self.score(member)?;
        Some((self.tree.count_before(&Probe::Present(score, member)), score))
    }

    pub(super) fn ranks_by_score(&self, range: &ScoreRange) -> Range<usize> {
        let (min, max) = (range.min, range.max);
        let start = if min.exclusive { Probe::UpToScore(min.value) } else { Probe::BelowScore(min.value) };
        let end = if max.exclusive { Probe::BelowScore(max.value) } else { Probe::UpToScore(max.value) };
        let start = self.tree.count_before(&start);
        start..self.tree.count_before(&end).max(start)
    }

    pub(super) fn ranks_by_lex(&self, range: &LexRange<'_>) -> Range<usize> {
        let rank = |probe: Probe<'_>| self.tree.count_before(&probe);
        let start = match range.min {
            LexBound::First => 0,
            LexBound::Last => self.len(),
            LexBound::Inclusive(member) => rank(Probe::BelowMember(member)),
            LexBound::Exclusive(member) => rank(Probe::UpToMember(member)),
        };
        let end = match range.max {
            LexBound::First => 0,
            LexBound::Last => self.len(),
            LexBound::Inclusive(member) => rank(Probe::UpToMember(member)),
            LexBound::Exclusive(member) => rank(Probe::BelowMember(member)),
        };
        start..end.max(start)
    }

    pub(super) fn walk(&self, rank: usize, count: usize, reverse: bool) -> Walk<'_> {
        self.tree.walk(rank, count, reverse)
    }

    /// Removes the entries with these ranks in rising order and gives each to `gone`.
    pub(super) fn remove_ranks(&mut self, ranks: Range<usize>, mut gone: impl FnMut(&[u8], f64)) -> usize {
        let mut removed = 0;
        while removed < ranks.len() {
            // Collected first: the tree may look at a leaf's entries until it has mended itself.
            let mut run = [None; LEAF];
            let mut found = 0;
            self.tree.remove_run(ranks.start, ranks.len() - removed, |key| {
                run[found] = Some(key);
                found += 1;
            });
            for key in run[..found].iter().flatten() {
                let entry = self.table.remove(key.member()).expect("the tree holds what the table owns");
                self.entry_bytes -= entry.0.alloc_size();
                gone(entry.member(), entry.score());
            }
            if found == 0 {
                break;
            }
            removed += found;
        }
        removed
    }

    pub(super) fn scan(&self, cursor: u64, mut report: impl FnMut(&[u8], f64)) -> u64 {
        self.table.scan(cursor, |entry| report(entry.member(), entry.score()))
    }

    pub(super) fn rehash_step(&mut self, buckets: usize) -> bool {
        self.table.rehash_step(buckets)
    }

    pub(super) fn table_stats(&self) -> Vec<TableStats> {
        self.table.stats()
    }

    pub(super) fn mem_size(&self) -> usize {
        size_of::<Self>() + self.table.mem_size() + self.tree.alloc_size() + self.entry_bytes
    }

    /// For freeing it bit by bit.
    pub(super) fn into_drain(self) -> RankDrain {
        RankDrain { tree: self.tree.into_drain(), entries: self.table.into_drain() }
    }

    /// Asserts that both parts hold the same.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.tree.check();
        let mut bytes = 0;
        for (member, score) in self.walk(0, self.len(), false) {
            let entry = self.table.find(member).expect("the table holds what the tree does");
            assert_eq!(entry.score(), score);
            bytes += entry.0.alloc_size();
        }
        assert_eq!(self.walk(0, usize::MAX, false).count(), self.table.len());
        assert_eq!(bytes, self.entry_bytes);
    }
}
