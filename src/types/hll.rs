//! HyperLogLog: estimates how many different elements were added, in Redis's format byte by byte, as it is an ordinary
//! string to GET, SET and dumps. Pure functions over those bytes; touches `base::Rand` only.
//!
//! ```text
//!  0      4          5          8                 16
//!  | HYLL | encoding | 3 unused | cached count u64 | registers … |
//!           0 dense               little-endian; top bit set: out of date
//!           1 sparse
//! ```
//! There are 16384 registers of 6 bits. An element belongs to the register that the low 14 bits of its hash name, which
//! keeps the largest position of the lowest set bit among the other 50 bits, from 1; 0 means no element yet.
//!
//! Dense: all registers, four in three bytes, the first in the lowest bits: `11000000 22221111 33333322`.
//!
//! Sparse: runs of equal registers, which cover all 16384 of them:
//! ```text
//! 00llllll           l+1 registers are 0                     (ZERO)
//! 01llllll llllllll  l+1 registers are 0, high bits first    (XZERO)
//! 1vvvvvll           l+1 registers are v+1                   (VAL)
//! ```
//! How runs are split and joined on a change is part of the format: it decides when a sparse one reaches the size at
//! which it becomes dense. Runs of zeros are never joined.
//!
//! The count is estimated from how often each register value occurs: Otmar Ertl, "New cardinality estimation algorithms
//! for HyperLogLog sketches", arXiv:1702.01284.

use rand::Rng;

use crate::base::Rand;

/// The number of registers.
pub const REGISTERS: usize = 1 << INDEX_BITS;
/// The largest value that a register can hold.
pub const REGISTER_MAX: u8 = 63;
/// The size of a dense one.
pub const DENSE_BYTES: usize = HEADER + REGISTERS * 6 / 8;

const INDEX_BITS: u32 = 14;
/// Bits of a hash beyond the index: what a register's value counts in.
const RANK_BITS: u32 = 64 - INDEX_BITS;
const HEADER: usize = 16;
const MAGIC: &[u8; 4] = b"HYLL";
const ENCODING_AT: usize = 4;
const CACHE_AT: usize = 8;
/// In the last byte of the cached count: it is out of date.
const CACHE_STALE: u8 = 0x80;

const XZERO: u8 = 0x40;
const VAL: u8 = 0x80;
const ZERO_LEN_MAX: usize = 64;
const VAL_LEN_MAX: usize = 4;
const VAL_MAX: u8 = 32;
/// Runs looked at for joining after a change, from the one in front of it on.
const JOIN_RUNS: usize = 5;

/// The limit of 1/(2 ln 2) that the estimate is scaled with.
const ALPHA_INF: f64 = 0.721_347_520_444_481_7;
const HASH_SEED: u64 = 0xadc8_3b19;

/// The bytes do not have the header of a HyperLogLog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHll;

/// The runs of a sparse HyperLogLog do not cover its registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt;

/// How the registers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Six bits each.
    Dense,
    /// In runs of equal values.
    Sparse,
}

/// One run of a sparse HyperLogLog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// What all its registers hold.
    pub value: u8,
    /// The number of registers.
    pub len: usize,
    /// Whether it is stored as an XZERO.
    pub long: bool,
}

impl Run {
    /// The run at the front of `bytes`, which are not empty.
    #[inline]
    fn read(bytes: &[u8]) -> Run {
        let first = bytes[0];
        if first & VAL != 0 {
            Run { value: (first >> 2 & 31) + 1, len: usize::from(first & 3) + 1, long: false }
        } else if first & XZERO == 0 {
            Run { value: 0, len: usize::from(first) + 1, long: false }
        } else {
            // A cut-off one reads as if a zero followed; the runs cannot add up then.
            let low = bytes.get(1).copied().unwrap_or(0);
            Run { value: 0, len: (usize::from(first & 63) << 8 | usize::from(low)) + 1, long: true }
        }
    }

    /// Bytes that it takes.
    fn size(self) -> usize {
        1 + usize::from(self.long)
    }

    /// Appends a run of `len` registers, if that is any.
    fn push(out: &mut Vec<u8>, value: u8, len: usize) {
        match (value, len) {
            (_, 0) => {}
            (0, ..=ZERO_LEN_MAX) => out.push((len - 1) as u8),
            (0, _) => out.extend_from_slice(&[XZERO | ((len - 1) >> 8) as u8, (len - 1) as u8]),
            _ => out.push(VAL | (value - 1) << 2 | (len - 1) as u8),
        }
    }
}

/// An empty one: sparse, one run.
#[must_use]
pub fn new() -> Vec<u8> {
    let mut hll = vec![0; HEADER];
    hll[..MAGIC.len()].copy_from_slice(MAGIC);
    hll[ENCODING_AT] = 1;
    Run::push(&mut hll, 0, REGISTERS);
    hll
}

/// Checks the header. All other functions take bytes that have passed this.
pub fn encoding(hll: &[u8]) -> Result<Encoding, NotHll> {
    if hll.len() < HEADER || !hll.starts_with(MAGIC) {
        return Err(NotHll);
    }
    match hll[ENCODING_AT] {
        0 if hll.len() == DENSE_BYTES => Ok(Encoding::Dense),
        1 => Ok(Encoding::Sparse),
        _ => Err(NotHll),
    }
}

fn is_sparse(hll: &[u8]) -> bool {
    hll[ENCODING_AT] == 1
}

/// The count that was last stored, unless registers have changed since.
pub fn cached_count(hll: &[u8]) -> Option<u64> {
    let bytes = hll[CACHE_AT..].first_chunk()?;
    (bytes[7] & CACHE_STALE == 0).then(|| u64::from_le_bytes(*bytes))
}

/// Stores the count.
pub fn cache_count(hll: &mut [u8], count: u64) {
    hll[CACHE_AT..HEADER].copy_from_slice(&count.to_le_bytes());
}

/// Marks the stored count as out of date.
pub fn mark_changed(hll: &mut [u8]) {
    hll[HEADER - 1] |= CACHE_STALE;
}

/// Adds an element. Returns whether that changed a register. `sparse_bytes_max` is the size up to which it may stay
/// sparse.
pub fn add(hll: &mut Vec<u8>, element: &[u8], sparse_bytes_max: usize) -> Result<bool, Corrupt> {
    let hash = murmur64a(element, HASH_SEED);
    let index = hash as usize % REGISTERS;
    // A bit beyond the last one ends the search.
    let rank = (hash >> INDEX_BITS | 1 << RANK_BITS).trailing_zeros() as u8 + 1;
    raise(hll, index, rank, sparse_bytes_max)
}

/// Lets register `index` be at least `value`, which is not 0.
fn raise(hll: &mut Vec<u8>, index: usize, value: u8, sparse_bytes_max: usize) -> Result<bool, Corrupt> {
    if is_sparse(hll) {
        raise_sparse(hll, index, value, sparse_bytes_max)
    } else {
        Ok(raise_dense(&mut hll[HEADER..], index, value))
    }
}

/// Four registers as a number, the first lowest.
#[inline]
fn word(four: [u8; 3]) -> u32 {
    u32::from_le_bytes([four[0], four[1], four[2], 0])
}

fn raise_dense(registers: &mut [u8], index: usize, value: u8) -> bool {
    let Some(four) = registers[index / 4 * 3..].first_chunk_mut::<3>() else {
        return false;
    };
    let shift = index % 4 * 6;
    let old = word(*four);
    if old >> shift & 63 >= u32::from(value) {
        return false;
    }
    let new = old & !(63 << shift) | u32::from(value) << shift;
    four.copy_from_slice(&new.to_le_bytes()[..3]);
    true
}

fn raise_sparse(hll: &mut Vec<u8>, index: usize, value: u8, bytes_max: usize) -> Result<bool, Corrupt> {
    if value > VAL_MAX {
        return raise_as_dense(hll, index, value);
    }
    let (mut at, mut first, mut previous) = (HEADER, 0, HEADER);
    let run = loop {
        if at >= hll.len() {
            return Err(Corrupt);
        }
        let run = Run::read(&hll[at..]);
        if index < first + run.len {
            break run;
        }
        previous = at;
        at += run.size();
        first += run.len;
    };
    if run.value >= value {
        return Ok(false);
    }
    let mut parts = Vec::with_capacity(5);
    Run::push(&mut parts, run.value, index - first);
    Run::push(&mut parts, value, 1);
    Run::push(&mut parts, run.value, first + run.len - 1 - index);
    if parts.len() > run.size() && hll.len() + parts.len() - run.size() > bytes_max {
        return raise_as_dense(hll, index, value);
    }
    let end = (at + run.size()).min(hll.len());
    hll.splice(at..end, parts);
    join_runs(hll, previous);
    mark_changed(hll);
    Ok(true)
}

/// Joins neighbouring runs of one value among the next few.
fn join_runs(hll: &mut Vec<u8>, from: usize) {
    let mut at = from;
    for _ in 0..JOIN_RUNS {
        if at >= hll.len() {
            return;
        }
        let run = Run::read(&hll[at..]);
        let next = hll.get(at + 1..).filter(|rest| !rest.is_empty()).map(Run::read);
        match next {
            Some(next) if run.value != 0 && next.value == run.value && run.len + next.len <= VAL_LEN_MAX => {
                hll.remove(at);
                hll[at] = VAL | (run.value - 1) << 2 | (run.len + next.len - 1) as u8;
            }
            _ => at += run.size(),
        }
    }
}

fn raise_as_dense(hll: &mut Vec<u8>, index: usize, value: u8) -> Result<bool, Corrupt> {
    make_dense(hll)?;
    Ok(raise_dense(&mut hll[HEADER..], index, value))
}

/// The runs of a sparse one, right or not.
pub fn runs(hll: &[u8]) -> impl Iterator<Item = Run> {
    let mut rest = &hll[HEADER..];
    std::iter::from_fn(move || {
        let run = (!rest.is_empty()).then(|| Run::read(rest))?;
        rest = rest.get(run.size()..).unwrap_or_default();
        Some(run)
    })
}

/// Hands the runs of a sparse one to `each`, with the number of the first register. Fails unless they cover all.
fn for_each_run(hll: &[u8], mut each: impl FnMut(usize, Run)) -> Result<(), Corrupt> {
    let mut first = 0;
    for run in runs(hll) {
        if first + run.len > REGISTERS {
            return Err(Corrupt);
        }
        each(first, run);
        first += run.len;
    }
    if first == REGISTERS { Ok(()) } else { Err(Corrupt) }
}

/// Turns a sparse one into a dense one. Returns whether it was sparse.
pub fn make_dense(hll: &mut Vec<u8>) -> Result<bool, Corrupt> {
    if !is_sparse(hll) {
        return Ok(false);
    }
    let mut dense = vec![0; DENSE_BYTES];
    dense[..HEADER].copy_from_slice(&hll[..HEADER]);
    dense[ENCODING_AT] = 0;
    let registers = &mut dense[HEADER..];
    for_each_run(hll, |first, run| {
        if run.value > 0 {
            for index in first..first + run.len {
                raise_dense(registers, index, run.value);
            }
        }
    })?;
    *hll = dense;
    Ok(true)
}

/// The registers of a dense one.
fn dense_registers(hll: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    hll[HEADER..].as_chunks::<3>().0.iter().map(|&four| {
        let word = word(four);
        [0, 6, 12, 18].map(|shift| (word >> shift & 63) as u8)
    })
}

/// How many registers hold each value.
type Histogram = [u32; REGISTER_MAX as usize + 1];

/// The estimated number of different elements.
pub fn count(hll: &[u8]) -> Result<u64, Corrupt> {
    let mut histogram = [0; 64];
    if is_sparse(hll) {
        for_each_run(hll, |_, run| histogram[usize::from(run.value)] += run.len as u32)?;
    } else {
        // Equal values one after another would wait for each other in one table.
        let mut tables: [Histogram; 4] = [[0; 64]; 4];
        for four in dense_registers(hll) {
            for (table, value) in tables.iter_mut().zip(four) {
                table[usize::from(value & REGISTER_MAX)] += 1;
            }
        }
        for (value, sum) in histogram.iter_mut().enumerate() {
            *sum = tables.iter().map(|table| table[value]).sum();
        }
    }
    Ok(estimate(&histogram))
}

fn estimate(histogram: &Histogram) -> u64 {
    let all = REGISTERS as f64;
    let full = f64::from(histogram[RANK_BITS as usize + 1]);
    let mut z = all * tau((all - full) / all);
    for &count in histogram[1..=RANK_BITS as usize].iter().rev() {
        z = (z + f64::from(count)) * 0.5;
    }
    z += all * sigma(f64::from(histogram[0]) / all);
    (ALPHA_INF * all * all / z).round() as u64
}

/// σ of the paper: the share of registers without elements, corrected.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

/// τ of the paper: the share of registers that are not full, corrected.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

/// The registers of a union, a byte each.
pub struct Union(Box<[u8; REGISTERS]>);

impl Default for Union {
    fn default() -> Self {
        Self::new()
    }
}

impl Union {
    /// The union of nothing.
    #[must_use]
    pub fn new() -> Union {
        Union(Box::new([0; REGISTERS]))
    }

    /// Adds a HyperLogLog.
    pub fn merge(&mut self, hll: &[u8]) -> Result<(), Corrupt> {
        if is_sparse(hll) {
            return for_each_run(hll, |first, run| {
                for register in &mut self.0[first..first + run.len] {
                    *register = run.value.max(*register);
                }
            });
        }
        let groups = self.0.as_chunks_mut::<4>().0.iter_mut();
        for (registers, four) in groups.zip(dense_registers(hll)) {
            for (register, value) in registers.iter_mut().zip(four) {
                *register = value.max(*register);
            }
        }
        Ok(())
    }

    /// The estimated number of different elements.
    #[must_use]
    pub fn count(&self) -> u64 {
        let mut histogram = [0; 64];
        self.0.iter().for_each(|&value| histogram[usize::from(value & REGISTER_MAX)] += 1);
        estimate(&histogram)
    }

    /// Adds the union to a HyperLogLog, whose stored count is then out of date.
    pub fn store(&self, hll: &mut Vec<u8>, sparse_bytes_max: usize) -> Result<(), Corrupt> {
        for (index, &value) in self.0.iter().enumerate() {
            if value > 0 {
                raise(hll, index, value, sparse_bytes_max)?;
            }
        }
        mark_changed(hll);
        Ok(())
    }

    /// The register values.
    #[must_use]
    pub fn registers(&self) -> &[u8; REGISTERS] {
        &self.0
    }
}

/// MurmurHash64A by Austin Appleby, reading little-endian words on every machine.
fn murmur64a(data: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = seed ^ (data.len() as u64).wrapping_mul(M);
    let (words, rest) = data.as_chunks::<8>();
    for word in words {
        let mut k = u64::from_le_bytes(*word).wrapping_mul(M);
        k = (k ^ k >> R).wrapping_mul(M);
        hash = (hash ^ k).wrapping_mul(M);
    }
    if !rest.is_empty() {
        let last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        hash = (hash ^ last).wrapping_mul(M);
    }
    hash = (hash ^ hash >> R).wrapping_mul(M);
    hash ^ hash >> R
}

/// What PFSELFTEST runs: register access against plain bytes, then counts of known sets, dense and sparse ones alike.
/// Takes some tenths of a second. An error says what is wrong.
pub fn self_test(rng: &mut Rand, sparse_bytes_max: usize) -> Result<(), String> {
    let mut dense = new();
    make_dense(&mut dense).map_err(|_| "a new one is corrupt".to_string())?;
    let mut plain = [0; REGISTERS];
    for _ in 0..10 * REGISTERS {
        let (index, value) = (rng.random_range(0..REGISTERS), rng.random_range(1..=REGISTER_MAX));
        raise_dense(&mut dense[HEADER..], index, value);
        plain[index] = value.max(plain[index]);
    }
    for (index, (value, want)) in dense_registers(&dense).flatten().zip(plain).enumerate() {
        if value != want {
            return Err(format!("Register {index} should be {want} but is {value}"));
        }
    }
    dense[HEADER..].fill(0);
    let mut sparse = new();
    let seed: u64 = rng.random();
    let mut checkpoint = 1;
    for n in 1..=1_000_000u64 {
        let element = (n ^ seed).to_le_bytes();
        let added = [add(&mut dense, &element, 0), add(&mut sparse, &element, sparse_bytes_max)];
        if added.contains(&Err(Corrupt)) {
            return Err("an addition found a corrupt one".to_string());
        }
        if n == checkpoint {
            check_estimate(n, &dense, &sparse, n < sparse_bytes_max as u64 / 2)?;
            checkpoint *= 10;
        }
    }
    Ok(())
}

/// Checks the counts of two that hold the same `n` elements.
fn check_estimate(n: u64, dense: &[u8], sparse: &[u8], few: bool) -> Result<(), String> {
    if few && !is_sparse(sparse) {
        return Err("sparse encoding not used".to_string());
    }
    let (Ok(count), Ok(other)) = (count(dense), count(sparse)) else {
        return Err("counting found a corrupt one".to_string());
    };
    if count != other {
        return Err("dense/sparse disagree".to_string());
    }
    // Six times the standard error of 1.04 / sqrt(registers); two of ten elements may well collide, but not three.
    let error_max = if n == 10 { 1.0 } else { (1.04 / 128.0 * 6.0 * n as f64).ceil() };
    let error = count.abs_diff(n);
    if error as f64 > error_max {
        return Err(format!("Too big error. card:{n} abserr:{error}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// The registers of one in any encoding.
    fn registers(hll: &[u8]) -> Vec<u8> {
        let mut union = Union::new();
        union.merge(hll).expect("a sound one");
        union.registers().to_vec()
    }

    #[test]
    fn a_new_one_is_one_run() {
        let hll = new();
        assert_eq!(hll, b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\0\x7f\xff");
        assert_eq!((encoding(&hll), cached_count(&hll), count(&hll)), (Ok(Encoding::Sparse), Some(0), Ok(0)));
    }

    #[test]
    fn elements_go_where_redis_puts_them() {
        let shape = |elements: &[&str]| {
            let mut hll = new();
            for element in elements {
                add(&mut hll, element.as_bytes(), 3000).expect("sound");
            }
            let shown = runs(&hll).map(|run| match run.value {
                0 => run.len.to_string(),
                value => format!("v{value}x{}", run.len),
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        // What PFDEBUG DECODE of a Redis shows.
        assert_eq!(shape(&["foo", "bar"]), "7348 v5x1 2658 v1x1 6376");
        assert_eq!(
            shape(&["", "a", "abcdefgh", "abcdefghijk", "0123456789abcdef"]),
            "1383 v1x1 4554 v2x1 10 v1x1 6761 v2x1 1409 v1x1 2262"
        );
    }

    #[test]
    fn sparse_registers_behave_like_bytes() {
        for seed in 0..60 {
            let mut rng = Rand::seed_from_u64(seed);
            let (mut hll, mut plain) = (new(), vec![0; REGISTERS]);
            let (near, value_max) = (rng.random_range(2..REGISTERS), rng.random_range(1..8));
            for round in 0..1_500 {
                let value = rng.random_range(1..=value_max + 30 * u8::from(round == 1_400 && seed % 3 == 0));
                let index = rng.random_range(0..near);
                let changed = raise(&mut hll, index, value, 3000).expect("sound");
                assert_eq!(changed, value > plain[index], "seed {seed} round {round}");
                plain[index] = value.max(plain[index]);
                if round % 100 == 0 {
                    assert!(registers(&hll) == plain, "seed {seed} round {round}");
                }
            }
            let before = (registers(&hll), count(&hll));
            assert!(before.0 == plain, "seed {seed}");
            make_dense(&mut hll).expect("sound");
            assert_eq!(encoding(&hll), Ok(Encoding::Dense));
            assert!((registers(&hll), count(&hll)) == before, "seed {seed}");
        }
    }

    #[test]
    fn runs_are_split_and_joined_as_in_redis() {
        let mut hll = new();
        let mut shape = |index, value| {
            raise(&mut hll, index, value, 3000).expect("sound");
            runs(&hll).map(|run| format!("{}x{}", run.value, run.len)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shape(100, 2), "0x100 2x1 0x16283");
        assert_eq!(shape(101, 2), "0x100 2x2 0x16282");
        assert_eq!(shape(103, 2), "0x100 2x2 0x1 2x1 0x16280");
        assert_eq!(shape(102, 2), "0x100 2x4 0x16280");
        assert_eq!(shape(104, 2), "0x100 2x4 2x1 0x16279");
        assert_eq!(shape(101, 5), "0x100 2x1 5x1 2x2 2x1 0x16279".replace("2x2 2x1", "2x3").as_str());
        assert_eq!(shape(0, 1), "1x1 0x99 2x1 5x1 2x3 0x16279");
        assert_eq!(shape(16383, 1), "1x1 0x99 2x1 5x1 2x3 0x16278 1x1");
    }

    #[test]
    fn it_becomes_dense_at_the_limit_or_by_a_large_value() {
        let mut hll = new();
        let mut n = 0u32;
        while encoding(&hll) == Ok(Encoding::Sparse) {
            assert!(hll.len() <= 100);
            add(&mut hll, &n.to_le_bytes(), 100).expect("sound");
            n += 1;
        }
        assert!((25..60).contains(&n), "{n}");
        let mut hll = new();
        raise(&mut hll, 5, 33, 3000).expect("sound");
        assert_eq!((encoding(&hll), registers(&hll)[5]), (Ok(Encoding::Dense), 33));
    }

    #[test]
    fn the_self_test_passes() {
        for seed in 0..3 {
            assert_eq!(self_test(&mut Rand::seed_from_u64(seed), 3000), Ok(()), "seed {seed}");
        }
    }

    #[test]
    fn hostile_bytes_do_no_harm() {
        let mut corrupt = 0;
        for seed in 0..3_000 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut hll = new();
            for n in 0..rng.random_range(0..50u32) {
                add(&mut hll, &n.to_le_bytes(), 3000).expect("sound");
            }
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(HEADER..hll.len());
                hll[at] = rng.random();
            }
            hll.truncate(rng.random_range(HEADER..=hll.len()));
            let mut results = vec![count(&hll).is_err(), Union::new().merge(&hll).is_err()];
            results.push(add(&mut hll, &seed.to_le_bytes(), 60).is_err());
            results.push(make_dense(&mut hll).is_err());
            corrupt += usize::from(results.contains(&true));
        }
        assert!(corrupt > 1_000, "{corrupt}");
    }
}
