//! Tests of the hash table: a model test against `HashMap`, SCAN's guarantee, evenness of `random`, drops.

use super::segments::SEGMENT_BUCKETS;
use super::*;
use crate::types::thin::Thin;
use rand::SeedableRng;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Miri is so slow that sizes are divided by this; segments are smaller under it too.
const SCALE: u64 = if cfg!(miri) { 64 } else { 1 };

/// Eight bytes of key, then a value.
struct Pair(Thin);

impl Pair {
    fn new(key: u64, value: u64) -> Self {
        Self(Thin::concat(&[&key.to_le_bytes(), &value.to_le_bytes()]))
    }

    fn value(&self) -> u64 {
        u64::from_le_bytes(self.0.as_slice()[8..].try_into().expect("eight bytes"))
    }

    fn id(&self) -> u64 {
        u64::from_le_bytes(self.key().try_into().expect("eight bytes"))
    }
}

impl Element for Pair {
    fn key(&self) -> &[u8] {
        &self.0.as_slice()[..8]
    }
}

/// Recounts what the table counts as it goes.
fn check(table: &Table<Pair>) {
    let stats = table.stats();
    assert_eq!(stats.iter().map(|one| one.elements).sum::<usize>(), table.len());
    let children = |one: &TableStats| one.chains.iter().zip(0..).map(|(n, k)| n * k).sum::<usize>();
    assert_eq!(stats.iter().map(children).sum::<usize>(), table.children);
    assert_eq!(table.iter().count(), table.len());
}

fn model_run(run_seed: u64, operations: usize, key_range: u64) {
    let mut rng = Rand::seed_from_u64(run_seed);
    let mut table: Table<Pair> = Table::new(Seed(run_seed));
    let mut model: HashMap<u64, u64> = HashMap::new();
    let mut removal_percent = 20;
    for step in 0..operations {
        if step % (operations / 8) == 0 {
            removal_percent = [5, 40, 80][rng.random_range(0..3)];
        }
        let context = format!("seed {run_seed} step {step}");
        let key = rng.random_range(0..key_range);
        let bytes = key.to_le_bytes();
        match rng.random_range(0..100) {
            n if n < removal_percent => {
                let removed = table.remove(&bytes).map(|pair| pair.value());
                assert_eq!(removed, model.remove(&key), "{context}");
            }
            98 => {
                let popped = table.pop_random(&mut rng).map(|pair| (pair.id(), pair.value()));
                assert_eq!(popped, popped.and_then(|(id, _)| model.remove_entry(&id)), "{context}");
                assert!(popped.is_some() || model.is_empty(), "{context}");
            }
            99 => {
                table.rehash_step(rng.random_range(0..20));
            }
            n if n < 90 => {
                let old = table.insert(Pair::new(key, step as u64)).map(|pair| pair.value());
                assert_eq!(old, model.insert(key, step as u64), "{context}");
            }
            _ => {
                if let Some(pair) = table.find_mut(&bytes) {
                    *pair = Pair::new(key, 7);
                    model.insert(key, 7);
                }
            }
        }
        assert_eq!(table.len(), model.len(), "{context}");
        let found = table.find(&bytes).map(Pair::value);
        assert_eq!(found, model.get(&key).copied(), "{context}");
    }
    check(&table);
    let all: HashMap<u64, u64> = table.iter().map(|pair| (pair.id(), pair.value())).collect();
    assert_eq!(all, model, "seed {run_seed}");
}

#[test]
fn behaves_like_a_map() {
    if cfg!(miri) {
        return model_run(7, 1500, 600);
    }
    for seed in 0..20 {
        model_run(seed, 4000, 1 << (2 + seed % 10));
    }
    model_run(100, 200_000, 60_000);
}

#[test]
fn grows_and_shrinks_through_segments() {
    let mut table = Table::new(Seed(1));
    assert_eq!(table.mem_size(), 0);
    let count = 40_000 / SCALE;
    for key in 0..count {
        table.insert_unique(Pair::new(key, key));
    }
    while table.rehash_step(100) {}
    check(&table);
    assert!(table.main.count() > 4 * SEGMENT_BUCKETS);
    assert!((0..count).all(|key| table.find(&key.to_le_bytes()).is_some_and(|p| p.value() == key)));
    for key in 1..count {
        assert!(table.remove(&key.to_le_bytes()).is_some());
    }
    assert_eq!(table.len(), 1);
    check(&table);
    assert!(table.mem_size() <= 2 * 64, "{} bytes for one element", table.mem_size());
    let (seed, mut rng) = (table.seed(), Rand::seed_from_u64(1));
    assert!(table.pop_random(&mut rng).is_some() && table.pop_random(&mut rng).is_none());
    table.clear();
    assert_eq!((table.seed().0, table.mem_size()), (seed.0, 0));
}

/// One walk during which the table is changed between any two calls; `stable` keys are never touched.
fn scan_run(run_seed: u64) {
    let mut rng = Rand::seed_from_u64(run_seed);
    let mut table: Table<Pair> = Table::new(Seed(run_seed));
    let stable = 1 + rng.random_range(0..3000 / SCALE);
    let mut next_key = stable;
    (0..stable).for_each(|key| table.insert_unique(Pair::new(key, 0)));
    let mut others = Vec::new();
    let mut seen = HashSet::new();
    let (mut cursor, mut calls) = (0, 0);
    loop {
        cursor = table.scan(cursor, |pair| {
            seen.insert(pair.id());
        });
        calls += 1;
        assert!(cursor < 1 << 48 && calls < 100_000, "seed {run_seed}");
        if cursor == 0 {
            break;
        }
        match rng.random_range(0..100) {
            0 if others.len() < 30_000 => {
                let (more, until_rehashing) = (rng.random_range(0..20_000 / SCALE), rng.random::<bool>());
                for step in 0.. {
                    if step >= more && (table.is_rehashing() || !until_rehashing) {
                        break;
                    }
                    table.insert_unique(Pair::new(next_key, 0));
                    others.push(next_key);
                    next_key += 1;
                }
            }
            1 | 2 => {
                let keep = rng.random_range(0..=others.len());
                let stop_when_rehashing = rng.random::<bool>();
                while others.len() > keep && !(stop_when_rehashing && table.is_rehashing()) {
                    let key = others.swap_remove(rng.random_range(0..others.len()));
                    assert!(table.remove(&key.to_le_bytes()).is_some());
                }
            }
            n if n < 30 => {
                table.rehash_step(n * 10);
            }
            _ => {}
        }
    }
    for key in 0..stable {
        assert!(seen.contains(&key), "seed {run_seed}: key {key} of {stable} not reported");
    }
}

#[test]
fn scan_reports_what_stays() {
    (0..if cfg!(miri) { 3 } else { 25 }).for_each(scan_run);
    let empty = Table::<Pair>::new(Seed(1));
    assert_eq!(empty.scan(0, |_| panic!("empty")), 0);
    assert_eq!(empty.scan(u64::MAX, |_| panic!("empty")), 0);
}

#[test]
#[cfg_attr(miri, ignore = "too many draws")]
fn random_is_even() {
    let mut rng = Rand::seed_from_u64(5);
    let mut table = Table::new(Seed(9));
    (0..200).for_each(|key| table.insert_unique(Pair::new(key, 0)));
    let mut counts = [0u32; 200];
    for _ in 0..200 * 400 {
        counts[table.random(&mut rng).expect("not empty").id() as usize] += 1;
    }
    let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - 400.0).powi(2) / 400.0).sum();
    assert!(chi_square < 270.0, "{chi_square} with 199 degrees of freedom");
    let mut sampled = HashSet::new();
    table.sample(&mut rng, 20, |pair| assert!(sampled.insert(pair.id()), "reported twice"));
    assert!(sampled.len() >= 20);
}

#[test]
fn random_finds_the_last_ones() {
    let mut rng = Rand::seed_from_u64(5);
    let mut table = Table::with_capacity(Seed(9), 500_000 / SCALE as usize);
    assert!(table.random(&mut rng).is_none());
    table.insert_unique(Pair::new(1, 2));
    assert_eq!(table.random(&mut rng).map(Pair::value), Some(2));
    assert_eq!(table.pop_random(&mut rng).map(|pair| pair.value()), Some(2));
}

/// Counts live clones through the reference count; the key is the same for all or each its own.
struct Counted(Box<(Rc<()>, u64)>);

impl Element for Counted {
    fn key(&self) -> &[u8] {
        if self.0.1 == 0 { b"same" } else { bytes_of(&self.0.1) }
    }
}

/// A lone byte is enough of a key for the few elements that ask for one.
fn bytes_of(number: &u64) -> &[u8] {
    const ALL: [u8; 256] = {
        let mut all = [0; 256];
        let mut n = 0;
        while n < 256 {
            all[n] = n as u8;
            n += 1;
        }
        all
    };
    std::slice::from_ref(&ALL[*number as usize])
}

#[test]
fn drops_each_element_once() {
    let counter = Rc::new(());
    let mut table = Table::new(Seed(3));
    for key in 1..=200 {
        table.insert(Counted(Box::new((Rc::clone(&counter), key))));
    }
    for key in 1..=50 {
        table.insert(Counted(Box::new((Rc::clone(&counter), key))));
    }
    assert_eq!(Rc::strong_count(&counter), 201);
    drop(table.remove(bytes_of(&9)));
    assert_eq!(Rc::strong_count(&counter), 200);
    let mut drain = table.into_drain();
    let mut steps = 0;
    while drain.step(1, drop) {
        steps += 1;
        assert_eq!(Rc::strong_count(&counter), drain.len() + 1);
        if steps == 20 {
            break;
        }
    }
    assert!(!drain.is_empty());
    drop(drain);
    assert_eq!(Rc::strong_count(&counter), 1);
}

#[test]
fn long_chains_work() {
    // Equal keys have equal hashes, so that insert_unique makes one long chain of them.
    let counter = Rc::new(());
    let mut table = Table::new(Seed(3));
    for _ in 0..1000 {
        table.insert_unique(Counted(Box::new((Rc::clone(&counter), 0))));
    }
    let longest = table.stats().iter().map(|one| one.longest).max();
    assert_eq!(longest, Some(1000));
    assert_eq!(table.scan(0, |_| ()), table.scan(0, |_| ()));
    for left in (100..1000).rev() {
        assert!(table.remove(b"same").is_some());
        assert_eq!((table.len(), Rc::strong_count(&counter)), (left, left + 1));
    }
    let mut rng = Rand::seed_from_u64(1);
    for left in (10..100).rev() {
        assert!(table.pop_random(&mut rng).is_some());
        assert_eq!(Rc::strong_count(&counter), left + 1);
    }
    drop(table);
    assert_eq!(Rc::strong_count(&counter), 1);
}

#[test]
fn drain_gives_everything() {
    let mut table = Table::new(Seed(3));
    (0..25_000 / SCALE).for_each(|key| table.insert_unique(Pair::new(key, 0)));
    assert!(table.is_rehashing(), "the test wants both arrays");
    assert!((1..table.mem_size()).contains(&table.passing_mem_size()), "one of the arrays goes");
    let mut drain = table.into_drain();
    let mut seen = HashSet::new();
    while drain.step(64, |pair| assert!(seen.insert(pair.id()))) {}
    assert_eq!((seen.len(), drain.len()), (25_000 / SCALE as usize, 0));
}

/// An index that does not own what it points to.
struct Borrowed<'a>(&'a (String, u64));

impl Element for Borrowed<'_> {
    fn key(&self) -> &[u8] {
        self.0.0.as_bytes()
    }
}

#[test]
fn elements_may_be_references() {
    let owned: Vec<(String, u64)> = (0..100).map(|n| (format!("k{n}"), n)).collect();
    let mut index = Table::new(Seed(4));
    owned.iter().for_each(|pair| index.insert_unique(Borrowed(pair)));
    assert!(owned.iter().all(|pair| index.find(pair.0.as_bytes()).is_some_and(|e| e.0.1 == pair.1)));
}
