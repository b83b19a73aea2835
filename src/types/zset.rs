//! Sorted sets: members with a score, ordered by (score, member bytes). Touches `types` and `base::{num, Rand}`.
//!
//! Two encodings under Redis's names:
//! - `listpack`, while small: `member score member score …` in order. A score is stored as Redis stores it,
//!   as an integer when it is one (so -0 becomes 0), else as text.
//! - `skiplist`, beyond the limits: what Redis calls so is here a hash table and a B+tree, see `rankset` and
//!   `ranktree`.
//!
//! A set never goes back to `listpack` by itself. Positions are ranks, 0 for the smallest; a range by score
//! or member is translated into ranks first. NaN must never be given as a score. A score of 0.0 and one of
//! -0.0 are the same: setting the one where the other is changes nothing.

use std::cmp::Ordering;
use std::ops::Range;

use rand::Rng;

use super::item::Item;
use super::listpack::{self, Listpack, Pos};
use super::rankset::{RankDrain, RankSet};
use super::ranktree::Walk;
use super::table::{Seed, TableStats};
use super::zrange::{LexRange, ScoreRange};
use crate::base::Rand;
use crate::base::num::{MAX_F64_CHARS, format_f64, parse_f64};

/// How large a set may be and still be a listpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZsetLimits {
    /// `zset-max-listpack-entries`: members.
    pub max_listpack_entries: usize,
    /// `zset-max-listpack-value`: bytes of a member.
    pub max_listpack_value: usize,
}

impl Default for ZsetLimits {
    fn default() -> Self {
        Self { max_listpack_entries: 128, max_listpack_value: 64 }
    }
}

/// What setting a score did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The member is new.
    Added,
    /// The member had another score.
    Updated,
    /// The member had this score already.
    Same,
}

/// What [`ZSet::update`] found and did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// The score before; none if the member was not there.
    pub old: Option<f64>,
    /// The score that was asked for; none if nothing was to be changed.
    pub new: Option<f64>,
}

impl Update {
    /// The effect in one word. Nothing asked for is [`Change::Same`].
    #[must_use]
    pub fn change(&self) -> Change {
        match (self.old, self.new) {
            (_, None) => Change::Same,
            (None, Some(_)) => Change::Added,
            (Some(old), Some(new)) if old == new => Change::Same,
            _ => Change::Updated,
        }
    }
}

/// A sorted set.
pub struct ZSet {
    repr: Repr,
    /// For the table of the `skiplist` encoding.
    seed: Seed,
}

enum Repr {
    Pack(PackSet),
    Ranked(Box<RankSet>),
}

impl ZSet {
    /// An empty set, as a listpack.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self { repr: Repr::Pack(PackSet(Listpack::new())), seed }
    }

    /// An empty set in the encoding that fits `count` members, the first of `first_len` bytes: what a command
    /// that is about to add them to a new key should begin with.
    #[must_use]
    pub fn for_members(count: usize, first_len: usize, limits: &ZsetLimits, seed: Seed) -> Self {
        if count <= limits.max_listpack_entries && first_len <= limits.max_listpack_value {
            return Self::new(seed);
        }
        Self { repr: Repr::Ranked(Box::new(RankSet::with_capacity(seed, count))), seed }
    }

    /// A set from a loaded listpack of members and scores. `None` unless these come in pairs, scores are
    /// numbers and no member occurs twice. Wrong order is repaired; a pack beyond the limits is converted.
    #[must_use]
    pub fn from_listpack(pack: Listpack, limits: &ZsetLimits, seed: Seed) -> Option<Self> {
        let sorted = PackSet::validate(&pack)?;
        let mut set = Self { repr: Repr::Pack(PackSet(pack)), seed };
        let fits = set.len() <= limits.max_listpack_entries;
        if !(sorted && fits) {
            let mut rebuilt = Self::for_members(if fits { 0 } else { set.len() }, 0, limits, seed);
            for (member, score) in set.iter() {
                rebuilt.set(member.bytes(&mut itoa::Buffer::new()), score, limits);
            }
            set = rebuilt;
        }
        Some(set)
    }

    /// The number of members.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Pack(pack) => pack.len(),
            Repr::Ranked(set) => set.len(),
        }
    }

    /// Whether there are no members.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The encoding's name for OBJECT ENCODING.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        match &self.repr {
            Repr::Pack(_) => "listpack",
            Repr::Ranked(_) => "skiplist",
        }
    }

    /// The listpack, if that is the encoding: what an RDB file stores.
    #[must_use]
    pub fn listpack(&self) -> Option<&Listpack> {
        match &self.repr {
            Repr::Pack(pack) => Some(&pack.0),
            Repr::Ranked(_) => None,
        }
    }

    /// Counts of the table for people, if there is one. Visits every bucket.
    #[must_use]
    pub fn table_stats(&self) -> Option<Vec<TableStats>> {
        match &self.repr {
            Repr::Pack(_) => None,
            Repr::Ranked(set) => Some(set.table_stats()),
        }
    }

    /// Heap bytes owned.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        match &self.repr {
            Repr::Pack(pack) => pack.0.mem_size(),
            Repr::Ranked(set) => set.mem_size(),
        }
    }

    /// The member's score.
    #[inline]
    #[must_use]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match &self.repr {
            Repr::Pack(pack) => pack.score_at(pack.find(member)?),
            Repr::Ranked(set) => set.score(member),
        }
    }

    /// Sets the member's score, adding the member if need be.
    #[inline]
    pub fn set(&mut self, member: &[u8], score: f64, limits: &ZsetLimits) -> Change {
        self.update(member, limits, |_| Some(score)).change()
    }

    /// Looks `member` up, gives its score to `decide`, and sets the score that it returns, if any. One
    /// look-up for what ZADD's options and ZINCRBY do.
    #[inline]
    pub fn update(
        &mut self,
        member: &[u8],
        limits: &ZsetLimits,
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> Update {
        let pack = match &mut self.repr {
            Repr::Ranked(set) => {
                let (old, new) = set.update(member, decide);
                return Update { old, new };
            }
            Repr::Pack(pack) => pack,
        };
        let found = pack.find(member);
        let old = found.and_then(|pos| pack.score_at(pos));
        let new = decide(old);
        if let Some(score) = new
            && new != old
        {
            debug_assert!(!score.is_nan());
            match found {
                Some(pos) => pack.rescore(pos, member, score),
                None if pack.has_room_for(member, limits) => pack.insert(member, score),
                None => self.convert().add_unique(member, score),
            }
        }
        Update { old, new }
    }

    /// Changes to `skiplist` if the set would not stay a listpack with `count` members: what a command that is about to
    /// set so many should begin with.
    pub fn expect(&mut self, count: usize, limits: &ZsetLimits) {
        if count > limits.max_listpack_entries {
            self.make_skiplist();
        }
    }

    /// Changes to `skiplist`.
    pub fn make_skiplist(&mut self) {
        self.convert();
    }

    /// Turns a listpack into the other encoding.
    fn convert(&mut self) -> &mut RankSet {
        if let Repr::Pack(pack) = &self.repr {
            let mut set = Box::new(RankSet::with_capacity(self.seed, pack.len() + 1));
            for (member, score) in pack.walk(0, pack.len(), false) {
                set.add_unique(member.bytes(&mut itoa::Buffer::new()), score);
            }
            self.repr = Repr::Ranked(set);
        }
        match &mut self.repr {
            Repr::Ranked(set) => set,
            Repr::Pack(_) => unreachable!("converted above"),
        }
    }

    /// Turns the set into a listpack if it fits the limits, as is due when a command has built it as a whole.
    pub fn compact(&mut self, limits: &ZsetLimits) {
        let Repr::Ranked(set) = &self.repr else {
            return;
        };
        let short = |(member, _): (&[u8], f64)| member.len() <= limits.max_listpack_value;
        if set.len() > limits.max_listpack_entries || !set.walk(0, set.len(), false).all(short) {
            return;
        }
        let mut pack = PackSet(Listpack::new());
        for (member, score) in set.walk(0, set.len(), false) {
            if !pack.0.safe_to_add(member.len()) {
                return;
            }
            pack.push(member, score);
        }
        pack.0.shrink_to_fit();
        self.repr = Repr::Pack(pack);
    }

    /// Removes a member; returns its score.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        match &mut self.repr {
            Repr::Ranked(set) => set.remove(member),
            Repr::Pack(pack) => {
                let pos = pack.find(member)?;
                let score = pack.score_at(pos);
                pack.0.remove_n(pos, 2);
                score
            }
        }
    }

    /// The member's rank, counted from the largest if `reverse`, and its score.
    #[must_use]
    pub fn rank(&self, member: &[u8], reverse: bool) -> Option<(usize, f64)> {
        let (rank, score) = match &self.repr {
            Repr::Ranked(set) => set.rank(member)?,
            Repr::Pack(pack) => pack.rank(member)?,
        };
        Some((if reverse { self.len() - 1 - rank } else { rank }, score))
    }

    /// The ranks of the members with a score in `range`.
    #[must_use]
    pub fn ranks_by_score(&self, range: &ScoreRange) -> Range<usize> {
        match &self.repr {
            Repr::Ranked(set) => set.ranks_by_score(range),
            Repr::Pack(pack) => {
                pack.ranks_where(|_, score| range.reaches_min(score), |_, score| range.within_max(score))
            }
        }
    }

    /// The ranks of the members in `range`. Meant for sets in which all scores are equal; in others, some range: for a
    /// listpack the one that Redis's search from the small end finds.
    #[must_use]
    pub fn ranks_by_lex(&self, range: &LexRange<'_>) -> Range<usize> {
        match &self.repr {
            Repr::Ranked(set) => set.ranks_by_lex(range),
            Repr::Pack(pack) => pack.lex_window(range, false, 0),
        }
    }

    /// How many members have a score in `range`.
    #[must_use]
    pub fn count_in(&self, range: &ScoreRange) -> usize {
        self.ranks_by_score(range).len()
    }

    /// How many members lie in `range`.
    #[must_use]
    pub fn count_in_lex(&self, range: &LexRange<'_>) -> usize {
        self.ranks_by_lex(range).len()
    }

    /// The members with these ranks, falling if `reverse`. Ranks beyond the end are ignored.
    #[must_use]
    pub fn range(&self, ranks: Range<usize>, reverse: bool) -> RangeIter<'_> {
        let end = ranks.end.min(self.len());
        let count = end.saturating_sub(ranks.start);
        let first = if reverse && count > 0 { end - 1 } else { ranks.start };
        RangeIter(match &self.repr {
            Repr::Ranked(set) => Source::Ranked(set.walk(first, count, reverse)),
            Repr::Pack(pack) => Source::Pack(pack.walk(first, count, reverse)),
        })
    }

    /// Up to `count` members from number `start` on, counted from the largest and falling if `reverse`.
    #[must_use]
    pub fn range_by_rank(&self, start: usize, count: usize, reverse: bool) -> RangeIter<'_> {
        self.range(window(0..self.len(), reverse, start, count), reverse)
    }

    /// The members with a score in `range`, without the first `offset` and then up to `limit` of them.
    #[must_use]
    pub fn range_by_score(
        &self,
        range: &ScoreRange,
        reverse: bool,
        offset: usize,
        limit: usize,
    ) -> RangeIter<'_> {
        self.range(window(self.ranks_by_score(range), reverse, offset, limit), reverse)
    }

    /// The members in `range`, without the first `offset` and then up to `limit` of them.
    #[must_use]
    pub fn range_by_lex(
        &self,
        range: &LexRange<'_>,
        reverse: bool,
        offset: usize,
        limit: usize,
    ) -> RangeIter<'_> {
        let ranks = match &self.repr {
            Repr::Ranked(set) => window(set.ranks_by_lex(range), reverse, offset, limit),
            Repr::Pack(pack) => window(pack.lex_window(range, reverse, offset), reverse, 0, limit),
        };
        self.range(ranks, reverse)
    }

    /// All members, rising.
    #[must_use]
    pub fn iter(&self) -> RangeIter<'_> {
        self.range(0..self.len(), false)
    }

    /// Removes the members with these ranks and gives each to `gone`, rising; returns how many.
    pub fn remove_ranks(&mut self, ranks: Range<usize>, mut gone: impl FnMut(Item<'_>, f64)) -> usize {
        let ranks = ranks.start..ranks.end.min(self.len());
        if ranks.is_empty() {
            return 0;
        }
        match &mut self.repr {
            Repr::Ranked(set) => set.remove_ranks(ranks, |member, score| gone(Item::Str(member), score)),
            Repr::Pack(pack) => {
                for (member, score) in pack.walk(ranks.start, ranks.len(), false) {
                    gone(member, score);
                }
                pack.0.remove_range(2 * ranks.start as i64, 2 * ranks.len()) / 2
            }
        }
    }

    /// Removes the members with a score in `range`, as [`remove_ranks`](Self::remove_ranks) does.
    pub fn remove_by_score(&mut self, range: &ScoreRange, gone: impl FnMut(Item<'_>, f64)) -> usize {
        self.remove_ranks(self.ranks_by_score(range), gone)
    }

    /// Removes the members in `range`, as [`remove_ranks`](Self::remove_ranks) does.
    pub fn remove_by_lex(&mut self, range: &LexRange<'_>, gone: impl FnMut(Item<'_>, f64)) -> usize {
        self.remove_ranks(self.ranks_by_lex(range), gone)
    }

    /// Removes up to `count` members from the smallest on, rising, or (`min` false) from the largest on,
    /// falling; gives each to `gone` and returns how many.
    pub fn pop(&mut self, min: bool, count: usize, mut gone: impl FnMut(Item<'_>, f64)) -> usize {
        let count = count.min(self.len());
        if min {
            return self.remove_ranks(0..count, gone);
        }
        for _ in 0..count {
            let last = self.len() - 1;
            self.remove_ranks(last..last + 1, &mut gone);
        }
        count
    }

    /// A member, each with the same chance.
    #[must_use]
    pub fn random(&self, rng: &mut Rand) -> Option<(Item<'_>, f64)> {
        if self.is_empty() {
            return None;
        }
        self.range_by_rank(rng.random_range(0..self.len()), 1, false).next()
    }

    /// Gives `count` different members to `each`, or all if there are no more, every choice with the same
    /// chance, in order of rank.
    pub fn random_distinct(&self, rng: &mut Rand, count: usize, mut each: impl FnMut(Item<'_>, f64)) {
        let len = self.len();
        if count.saturating_mul(8) >= len {
            // Selection sampling: take each with the chance (still wanted) / (still to come).
            let mut wanted = count.min(len);
            for (seen, (member, score)) in self.iter().enumerate() {
                if rng.random_range(0..len - seen) < wanted {
                    wanted -= 1;
                    each(member, score);
                }
            }
            return;
        }
        // At most one in eight is wanted, so few draws hit a rank that was drawn before.
        let mut ranks = Vec::with_capacity(count);
        while ranks.len() < count {
            ranks.extend((ranks.len()..count).map(|_| rng.random_range(0..len)));
            ranks.sort_unstable();
            ranks.dedup();
        }
        for rank in ranks {
            for (member, score) in self.range_by_rank(rank, 1, false) {
                each(member, score);
            }
        }
    }

    /// Reports about `count` members and returns the cursor to go on with, 0 at the end. With Redis's
    /// guarantee: a member that is there all the time is reported at least once. A listpack is reported as a
    /// whole.
    pub fn scan(&self, cursor: u64, count: usize, mut report: impl FnMut(Item<'_>, f64)) -> u64 {
        let set = match &self.repr {
            Repr::Ranked(set) => set,
            Repr::Pack(_) => {
                self.iter().for_each(|(member, score)| report(member, score));
                return 0;
            }
        };
        let (mut cursor, mut reported) = (cursor, 0);
        // As in Redis, a sparse table ends the call early rather than making it long.
        for _ in 0..count.max(1).saturating_mul(10) {
            cursor = set.scan(cursor, |member, score| {
                reported += 1;
                report(Item::Str(member), score);
            });
            if cursor == 0 || reported >= count {
                break;
            }
        }
        cursor
    }

    /// Moves up to `buckets` buckets if the table is being resized. Says whether there is more to do.
    pub fn rehash_step(&mut self, buckets: usize) -> bool {
        match &mut self.repr {
            Repr::Ranked(set) => set.rehash_step(buckets),
            Repr::Pack(_) => false,
        }
    }

    /// For freeing a big set bit by bit. A listpack is freed at once and gives `None`.
    #[must_use]
    pub fn into_drain(self) -> Option<RankDrain> {
        match self.repr {
            Repr::Ranked(set) => Some(set.into_drain()),
            Repr::Pack(_) => None,
        }
    }

    /// Asserts the invariants. For tests.
    #[cfg(test)]
    fn check(&self) {
        match &self.repr {
            Repr::Ranked(set) => set.check(),
            Repr::Pack(pack) => {
                pack.0.check();
                assert_eq!(PackSet::validate(&pack.0), Some(true));
            }
        }
    }
}

impl Clone for ZSet {
    fn clone(&self) -> Self {
        let repr = match &self.repr {
            Repr::Pack(pack) => Repr::Pack(PackSet(pack.0.clone())),
            Repr::Ranked(set) => {
                let mut copy = RankSet::with_capacity(self.seed, set.len());
                for (member, score) in set.walk(0, set.len(), false) {
                    copy.add_unique(member, score);
                }
                Repr::Ranked(Box::new(copy))
            }
        };
        Self { repr, seed: self.seed }
    }
}

/// What is left of `ranks` without the first `offset` (the last if `reverse`) and then beyond `limit`.
fn window(ranks: Range<usize>, reverse: bool, offset: usize, limit: usize) -> Range<usize> {
    let left = ranks.len().saturating_sub(offset);
    let count = left.min(limit);
    if reverse {
        let end = ranks.start + left;
        return end - count..end;
    }
    let start = ranks.end - left;
    start..start + count
}

/// Members with their scores, see [`ZSet::range`].
pub struct RangeIter<'a>(Source<'a>);

enum Source<'a> {
    Pack(PackWalk<'a>),
    Ranked(Walk<'a>),
}

impl<'a> Iterator for RangeIter<'a> {
    type Item = (Item<'a>, f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Pack(walk) => walk.next(),
            Source::Ranked(walk) => walk.next().map(|(member, score)| (Item::Str(member), score)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.0 {
            Source::Pack(walk) => walk.left,
            Source::Ranked(walk) => walk.len(),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for RangeIter<'_> {}

/// The small encoding: members and scores in turn, in order.
struct PackSet(Listpack);

/// The integer that Redis stores instead of this score: it must be whole and at most half of the 64-bit range.
fn as_integer(score: f64) -> Option<i64> {
    const LIMIT: f64 = (i64::MAX / 2) as f64;
    let whole = (-LIMIT..=LIMIT).contains(&score) && score.trunc() == score;
    whole.then_some(score as i64)
}

/// Calls `with` with the text that a listpack should hold for this score.
fn with_text<R>(score: f64, with: impl FnOnce(&[u8]) -> R) -> R {
    if let Some(integer) = as_integer(score) {
        return with(itoa::Buffer::new().format(integer).as_bytes());
    }
    let mut text = Vec::with_capacity(MAX_F64_CHARS);
    format_f64(score, &mut text);
    with(&text)
}

fn parse_score(item: Item<'_>) -> Option<f64> {
    match item {
        Item::Int(value) => Some(value as f64),
        Item::Str(text) => parse_f64(text),
    }
}

fn score_of(item: Item<'_>) -> f64 {
    parse_score(item).expect("scores of a listpack are numbers")
}

/// How the entry `a` compares with the score and member of `b`.
fn order(a: (Item<'_>, f64), member: &[u8], score: f64) -> Ordering {
    let scores = a.1.partial_cmp(&score).unwrap_or(Ordering::Equal);
    scores.then_with(|| a.0.bytes(&mut itoa::Buffer::new()).cmp(member))
}

impl PackSet {
    /// Checks a pack of unknown origin: `None` if it cannot be a sorted set, else whether it is in order.
    fn validate(pack: &Listpack) -> Option<bool> {
        let items: Vec<_> = pack.iter().collect();
        let (pairs, rest) = items.as_chunks::<2>();
        let mut members = Vec::with_capacity(pairs.len());
        let mut sorted = rest.is_empty();
        for (i, &[member, score]) in pairs.iter().enumerate() {
            let score = parse_score(score)?;
            if i > 0 {
                let last = (pairs[i - 1][0], score_of(pairs[i - 1][1]));
                sorted &= order(last, &member.to_vec(), score).is_lt();
            }
            members.push(member.to_vec());
        }
        members.sort_unstable();
        let distinct = members.windows(2).all(|pair| pair[0] != pair[1]);
        (rest.is_empty() && distinct).then_some(sorted)
    }

    fn len(&self) -> usize {
        self.0.len() / 2
    }

    fn find(&self, member: &[u8]) -> Option<Pos> {
        self.0.find(member, self.0.first()?, 1)
    }

    /// The score of the member at `pos`.
    fn score_at(&self, pos: Pos) -> Option<f64> {
        Some(score_of(self.0.get(self.0.next(pos)?)))
    }

    fn entry_at(&self, pos: Pos) -> Option<(Item<'_>, f64)> {
        Some((self.0.get(pos), self.score_at(pos)?))
    }

    fn has_room_for(&self, member: &[u8], limits: &ZsetLimits) -> bool {
        self.len() < limits.max_listpack_entries
            && member.len() <= limits.max_listpack_value
            && self.0.safe_to_add(member.len())
    }

    /// Adds behind everything.
    fn push(&mut self, member: &[u8], score: f64) {
        self.0.push_back(member);
        with_text(score, |text| self.0.push_back(text));
    }

    /// Adds a member that is not there.
    fn insert(&mut self, member: &[u8], score: f64) {
        match self.place_for(member, score) {
            None => self.push(member, score),
            Some(pos) => {
                let pos = self.0.insert_before(pos, member);
                with_text(score, |text| self.0.insert_after(pos, text));
            }
        }
    }

    /// The first entry that comes after this one. `None` if there is none.
    fn place_for(&self, member: &[u8], score: f64) -> Option<Pos> {
        let is_after = |pos| {
            let entry = self.entry_at(pos);
            entry.is_some_and(|entry| order(entry, member, score).is_gt())
        };
        // Scores often rise with time.
        let last = self.0.prev(self.0.last()?)?;
        if !is_after(last) {
            return None;
        }
        let mut items = self.0.iter();
        while let Some(pos) = items.pos() {
            let entry = (items.next()?, score_of(items.next()?));
            if order(entry, member, score).is_gt() {
                return Some(pos);
            }
        }
        None
    }

    fn pair_after(&self, pos: Pos) -> Option<Pos> {
        self.0.next(self.0.next(pos)?)
    }

    fn pair_before(&self, pos: Pos) -> Option<Pos> {
        self.0.prev(self.0.prev(pos)?)
    }

    /// Changes the score of the member at `pos` and moves the member to its new place.
    fn rescore(&mut self, pos: Pos, member: &[u8], score: f64) {
        let compare = |pos| self.entry_at(pos).map(|entry| order(entry, member, score));
        let below = self.pair_before(pos).and_then(compare);
        let above = self.pair_after(pos).and_then(compare);
        let stays = below.is_none_or(Ordering::is_lt) && above.is_none_or(Ordering::is_gt);
        match self.0.next(pos) {
            Some(place) if stays => {
                with_text(score, |text| self.0.replace(place, text));
            }
            _ => {
                self.0.remove_n(pos, 2);
                self.insert(member, score);
            }
        }
    }

    fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        let mut walk = self.walk(0, self.len(), false);
        let rank = walk.position(|(item, _)| item.eq_bytes(member))?;
        let (_, score) = self.walk(rank, 1, false).next()?;
        Some((rank, score))
    }

    /// The ranks from the first entry for which `starts` holds up to the first behind it for which `goes_on`
    /// does not.
    fn ranks_where(
        &self,
        mut starts: impl FnMut(&[u8], f64) -> bool,
        mut goes_on: impl FnMut(&[u8], f64) -> bool,
    ) -> Range<usize> {
        let mut start = None;
        for (rank, (member, score)) in self.walk(0, self.len(), false).enumerate() {
            let mut buf = itoa::Buffer::new();
            let member = member.bytes(&mut buf);
            if start.is_none() && starts(member, score) {
                start = Some(rank);
            }
            if let Some(start) = start
                && !goes_on(member, score)
            {
                return start..rank;
            }
        }
        start.unwrap_or(self.len())..self.len()
    }

    /// Whether a search for `range` may find anything: it looks at the ends of the set first.
    fn may_reach_into(&self, range: &LexRange<'_>) -> bool {
        let last = self.len().saturating_sub(1);
        let (Some(first), Some(last)) = (self.walk(0, 1, false).next(), self.walk(last, 1, true).next())
        else {
            return false;
        };
        range.reaches_min(last.0.bytes(&mut itoa::Buffer::new()))
            && range.within_max(first.0.bytes(&mut itoa::Buffer::new()))
    }

    /// What is in `range` behind its first `skip` entries, its last ones if `reverse`. With unequal scores that is what
    /// Redis's search gives: it goes from one end to the first entry that is not outside at that end, skips without
    /// looking, and takes what follows up to the first entry that is outside at the other end.
    fn lex_window(&self, range: &LexRange<'_>, reverse: bool, skip: usize) -> Range<usize> {
        if !self.may_reach_into(range) {
            return 0..0;
        }
        let (len, first) = (self.len(), if reverse { self.len() - 1 } else { 0 });
        // Of each entry, whether the range may begin and whether it goes on there.
        let mut marks = self.walk(first, len, reverse).map(|(member, _)| {
            let mut buf = itoa::Buffer::new();
            let member = member.bytes(&mut buf);
            let (above_min, below_max) = (range.reaches_min(member), range.within_max(member));
            if reverse { (below_max, above_min) } else { (above_min, below_max) }
        });
        let Some((at, (_, true))) = marks.by_ref().enumerate().find(|(_, (begins, _))| *begins) else {
            return 0..0;
        };
        let goes_on = |&(_, goes_on): &(bool, bool)| goes_on;
        let count = match skip.checked_sub(1) {
            None => 1 + marks.take_while(goes_on).count(),
            Some(skip) => marks.skip(skip).take_while(goes_on).count(),
        };
        let start = at.saturating_add(skip).min(len - count);
        if reverse { len - start - count..len - start } else { start..start + count }
    }

    /// Walks `count` entries from `rank` on.
    fn walk(&self, rank: usize, count: usize, reverse: bool) -> PackWalk<'_> {
        let at = 2 * rank + usize::from(reverse);
        let Some(pos) = self.0.seek(at as i64) else {
            return PackWalk { items: self.0.iter(), left: 0, reverse };
        };
        let items = if reverse { self.0.iter_to(pos) } else { self.0.iter_from(pos) };
        let left = count.min(if reverse { rank + 1 } else { self.len() - rank });
        PackWalk { items, left, reverse }
    }
}

struct PackWalk<'a> {
    items: listpack::Iter<'a>,
    left: usize,
    reverse: bool,
}

impl<'a> Iterator for PackWalk<'a> {
    type Item = (Item<'a>, f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let (member, score) = if self.reverse {
            let score = self.items.next_back()?;
            (self.items.next_back()?, score)
        } else {
            (self.items.next()?, self.items.next()?)
        };
        Some((member, score_of(score)))
    }
}

#[cfg(test)]
#[path = "zset/tests.rs"]
mod tests;
