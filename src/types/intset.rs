//! `Intset`: a sorted set of integers in one allocation, all as wide as the widest needs. Touches `base::Rand`,
//! `types::{thin, listpack}`.
//!
//! ```text
//! Thin payload: | width u32: 2, 4 or 8 | count u32 | count * width bytes, ascending, little-endian | spare |
//! ```
//!
//! Without the spare room these are the bytes of Redis's intset, so a dump carries them as they are. Like there, the width
//! grows when a wider member comes and never shrinks.

use rand::Rng;

use crate::base::Rand;
use crate::types::listpack::size_class;
use crate::types::thin::Thin;

/// Bytes in front of the members.
const HEADER: usize = 8;

/// Sorted integers. One pointer wide.
#[derive(Clone)]
pub struct Intset(Thin);

/// The bytes are not an intset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid;

/// The bytes that a member of this value needs.
fn width_of(value: i64) -> usize {
    if i16::try_from(value).is_ok() {
        2
    } else if i32::try_from(value).is_ok() {
        4
    } else {
        8
    }
}

/// The payload length to allocate for `count` members: what is spare is lost to the allocator's rounding otherwise.
fn payload_for(count: usize, width: usize) -> usize {
    const THIN_HEADER: usize = size_of::<u32>();
    size_class(THIN_HEADER + HEADER + count * width) - THIN_HEADER
}

#[inline]
fn u32_at(raw: &[u8], at: usize) -> usize {
    raw.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

/// Member `index` among `members`.
#[inline]
fn read(members: &[u8], width: usize, index: usize) -> Option<i64> {
    Some(match width {
        2 => i64::from(i16::from_le_bytes(*members.as_chunks().0.get(index)?)),
        4 => i64::from(i32::from_le_bytes(*members.as_chunks().0.get(index)?)),
        _ => i64::from_le_bytes(*members.as_chunks().0.get(index)?),
    })
}

/// Writes a member; `width` low bytes of the value are its two's complement in that width.
#[inline]
fn write(members: &mut [u8], width: usize, index: usize, value: i64) {
    members[index * width..(index + 1) * width].copy_from_slice(&value.to_le_bytes()[..width]);
}

impl Default for Intset {
    fn default() -> Self {
        Self::new()
    }
}

impl Intset {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::with_room(2, 0)
    }

    fn with_room(width: usize, count: usize) -> Self {
        Self(Thin::filled(payload_for(count, width), |raw| raw[0] = width as u8))
    }

    #[inline]
    fn width(&self) -> usize {
        u32_at(self.0.as_slice(), 0)
    }

    /// The number of members.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        u32_at(self.0.as_slice(), 4)
    }

    /// Whether there is no member.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn set_len(&mut self, count: usize) {
        self.0.as_mut_slice()[4..HEADER].copy_from_slice(&(count as u32).to_le_bytes());
    }

    #[inline]
    fn members(&self) -> &[u8] {
        &self.0.as_slice()[HEADER..HEADER + self.len() * self.width()]
    }

    /// Heap bytes owned.
    #[must_use]
    pub fn mem_size(&self) -> usize {
        self.0.alloc_size()
    }

    /// Bytes of the serialised form.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        HEADER + self.members().len()
    }

    /// The member number `index` in ascending order.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<i64> {
        read(self.members(), self.width(), index)
    }

    /// The smallest member.
    #[must_use]
    pub fn min(&self) -> Option<i64> {
        self.get(0)
    }

    /// The largest member.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        self.len().checked_sub(1).and_then(|last| self.get(last))
    }

    /// A random member, each with the same chance.
    #[must_use]
    pub fn random(&self, rng: &mut Rand) -> Option<i64> {
        let count = self.len();
        if count == 0 { None } else { self.get(rng.random_range(0..count)) }
    }

    /// Where the value is, or else where it would go.
    fn search(&self, value: i64) -> Result<usize, usize> {
        let members = self.members();
        // Growing sequences of ids are common: look at the end first.
        if self.max().is_none_or(|max| value > max) {
            return Err(self.len());
        }
        match self.width() {
            2 => {
                members.as_chunks().0.binary_search_by(|raw| i64::from(i16::from_le_bytes(*raw)).cmp(&value))
            }
            4 => {
                members.as_chunks().0.binary_search_by(|raw| i64::from(i32::from_le_bytes(*raw)).cmp(&value))
            }
            _ => members.as_chunks().0.binary_search_by(|raw| i64::from_le_bytes(*raw).cmp(&value)),
        }
    }

    /// Whether the value is a member.
    #[inline]
    #[must_use]
    pub fn contains(&self, value: i64) -> bool {
        self.search(value).is_ok()
    }

    /// Adds a member; false if it was there.
    pub fn insert(&mut self, value: i64) -> bool {
        let Err(index) = self.search(value) else {
            return false;
        };
        if width_of(value) > self.width() {
            self.widen(width_of(value));
        }
        let (count, width) = (self.len(), self.width());
        if HEADER + (count + 1) * width > self.0.len() {
            self.0.resize(payload_for(count + 1, width));
        }
        let members = &mut self.0.as_mut_slice()[HEADER..];
        members.copy_within(index * width..count * width, (index + 1) * width);
        write(members, width, index, value);
        self.set_len(count + 1);
        true
    }

    /// Makes all members `width` bytes wide, with room for one more.
    fn widen(&mut self, width: usize) {
        let mut wide = Self::with_room(width, self.len() + 1);
        for (index, member) in self.iter().enumerate() {
            write(&mut wide.0.as_mut_slice()[HEADER..], width, index, member);
        }
        wide.set_len(self.len());
        *self = wide;
    }

    /// Removes a member; false if it was not there.
    pub fn remove(&mut self, value: i64) -> bool {
        let Ok(index) = self.search(value) else {
            return false;
        };
        let (count, width) = (self.len(), self.width());
        self.0.as_mut_slice()[HEADER..].copy_within((index + 1) * width..count * width, index * width);
        self.set_len(count - 1);
        let payload = payload_for(count - 1, width);
        if payload < self.0.len() / 2 {
            self.0.resize(payload);
        }
        true
    }

    /// The members in ascending order, from either end.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter { members: self.members(), width: self.width(), range: 0..self.len() }
    }

    /// Appends the set as Redis serialises it.
    pub fn to_redis_bytes(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.as_slice()[..self.byte_len()]);
    }

    /// A set from its serialised form: a known width, the stated count, at least one member, strictly ascending.
    pub fn from_redis_bytes(bytes: &[u8]) -> Result<Self, Invalid> {
        let members = bytes.get(HEADER..).ok_or(Invalid)?;
        let (width, count) = (u32_at(bytes, 0), u32_at(bytes, 4));
        if !matches!(width, 2 | 4 | 8) || count == 0 || count.checked_mul(width) != Some(members.len()) {
            return Err(Invalid);
        }
        let set = Iter { members, width, range: 0..count };
        if !set.is_sorted_by(|a, b| a < b) {
            return Err(Invalid);
        }
        let payload = payload_for(count, width);
        if payload >= u32::MAX as usize - HEADER {
            return Err(Invalid);
        }
        Ok(Self(Thin::filled(payload, |raw| raw[..bytes.len()].copy_from_slice(bytes))))
    }
}

/// Members in ascending order.
#[derive(Clone)]
pub struct Iter<'a> {
    members: &'a [u8],
    width: usize,
    range: std::ops::Range<usize>,
}

impl Iterator for Iter<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.range.next().and_then(|index| read(self.members, self.width, index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<i64> {
        self.range.next_back().and_then(|index| read(self.members, self.width, index))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Intset {
    type Item = i64;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl std::fmt::Debug for Intset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;

    fn redis_bytes(set: &Intset) -> Vec<u8> {
        let mut bytes = Vec::new();
        set.to_redis_bytes(&mut bytes);
        bytes
    }

    #[test]
    fn has_the_bytes_of_redis() {
        let mut set = Intset::new();
        assert_eq!(redis_bytes(&set), [2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(set.insert(5) && set.insert(-1) && !set.insert(5));
        assert_eq!(redis_bytes(&set), [2, 0, 0, 0, 2, 0, 0, 0, 0xFF, 0xFF, 5, 0]);
        assert!(set.insert(-0x8001));
        let wide = [4, 0, 0, 0, 3, 0, 0, 0, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 5, 0, 0, 0];
        assert_eq!(redis_bytes(&set), wide);
        assert!(set.insert(1 << 40) && set.remove(1 << 40));
        assert_eq!((set.byte_len(), set.min(), set.max()), (8 + 3 * 8, Some(-0x8001), Some(5)));
        assert_eq!(size_of::<Option<Intset>>(), size_of::<usize>());
    }

    #[test]
    fn behaves_like_a_btree_set() {
        for seed in 0..60 {
            let mut rng = Rand::seed_from_u64(seed);
            let (mut set, mut model) = (Intset::new(), BTreeSet::new());
            let bits = [10, 15, 16, 17, 31, 32, 33, 63, 64][seed as usize % 9];
            for round in 0..800 {
                let value = (rng.random::<u64>() as i64) >> (64 - bits) >> rng.random_range(0..4);
                if rng.random_range(0..5) < if round < 400 { 4 } else { 1 } {
                    assert_eq!(set.insert(value), model.insert(value), "seed {seed}");
                } else {
                    let near = model.range(value..).next().copied().unwrap_or(value);
                    assert_eq!(set.remove(near), model.remove(&near), "seed {seed}");
                }
                assert_eq!(set.contains(value), model.contains(&value), "seed {seed}");
                assert!(set.iter().eq(model.iter().copied()), "seed {seed} round {round}");
            }
            assert!(set.iter().rev().eq(model.iter().rev().copied()), "seed {seed}");
            assert_eq!((set.min(), set.max()), (model.first().copied(), model.last().copied()));
            assert_eq!(set.get(model.len()), None);
            assert!(set.random(&mut rng).is_none_or(|member| model.contains(&member)));
            assert!(set.mem_size() <= 2 * set.byte_len() + 32, "seed {seed}: {}", set.mem_size());
            let copy = Intset::from_redis_bytes(&redis_bytes(&set));
            assert!(model.is_empty() || copy.is_ok_and(|copy| copy.iter().eq(model)), "seed {seed}");
        }
    }

    #[test]
    fn hostile_bytes_are_refused_or_yield_a_sound_set() {
        let good = [2u8, 0, 0, 0, 2, 0, 0, 0, 1, 0, 5, 0];
        assert!(Intset::from_redis_bytes(&good).is_ok());
        for (at, byte) in [(0, 3), (0, 4), (4, 1), (4, 3), (7, 0x80), (8, 5), (8, 6), (3, 1)] {
            let mut bad = good;
            bad[at] = byte;
            assert_eq!(Intset::from_redis_bytes(&bad).err(), Some(Invalid), "byte {at} = {byte}");
        }
        for len in 0..good.len() {
            assert!(Intset::from_redis_bytes(&good[..len]).is_err(), "{len}");
        }
        assert!(Intset::from_redis_bytes(&[2, 0, 0, 0, 0, 0, 0, 0]).is_err(), "an empty set is never stored");
        for seed in 0..20_000 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut bytes: Vec<u8> = (0..rng.random_range(0..40)).map(|_| rng.random()).collect();
            if let Some(header) = bytes.first_chunk_mut::<8>() {
                *header = [1 << rng.random_range(0..5), 0, 0, 0, rng.random_range(0..8), 0, 0, 0];
            }
            if let Ok(mut set) = Intset::from_redis_bytes(&bytes) {
                assert_eq!(redis_bytes(&set), bytes, "seed {seed}");
                set.insert(i64::MIN);
                assert!(set.iter().is_sorted_by(|a, b| a < b), "seed {seed}");
            }
        }
    }
}
