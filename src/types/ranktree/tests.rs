//! Tests of the tree against a sorted vector.
#![allow(unsafe_code)]

use super::*;
use rand::{Rng, SeedableRng, rngs::SmallRng};

fn entry(score: f64, member: &[u8]) -> Thin {
    Thin::concat(&[&score.to_ne_bytes(), member])
}

fn member(entry: &Thin) -> &[u8] {
    &entry.as_slice()[SCORE_BYTES..]
}

/// Tests keep every entry in `owner` until the tree is gone, hence this may claim the contract.
fn insert(tree: &mut RankTree, owner: &[Thin], score: f64, i: usize) {
    // SAFETY: `owner` is declared before the tree in every test and drops its entries after the tree's last use.
    tree.insert(score, unsafe { Ref::new(&owner[i]) });
}

fn numbered(n: usize) -> Vec<Thin> {
    (0..n).map(|i| entry(0.0, format!("member:{i:08}").as_bytes())).collect()
}

fn order(a: &(f64, usize), b: &(f64, usize), owner: &[Thin]) -> std::cmp::Ordering {
    let scores = a.0.partial_cmp(&b.0).expect("no NaN");
    scores.then_with(|| member(&owner[a.1]).cmp(member(&owner[b.1])))
}

const fn size(full: usize, miri: usize) -> usize {
    if cfg!(miri) { miri } else { full }
}

#[test]
fn ordered_insertion_fills_leaves() {
    let n = size(20_000, 1_000);
    let owner = numbered(n);
    for descending in [false, true] {
        let mut tree = RankTree::default();
        for step in 0..n {
            let i = if descending { n - 1 - step } else { step };
            insert(&mut tree, &owner, i as f64, i);
        }
        let leaves = tree.check();
        assert!(leaves * (LEAF - 2) <= n + LEAF, "{leaves} leaves for {n}, descending: {descending}");
    }
}

#[test]
fn random_insertion_fills_most_of_a_leaf() {
    let n = size(20_000, 1_000);
    let owner = numbered(n);
    let mut rng = SmallRng::seed_from_u64(1);
    let mut tree = RankTree::default();
    for i in 0..n {
        insert(&mut tree, &owner, rng.random::<f64>(), i);
    }
    let leaves = tree.check();
    assert!(leaves * LEAF * 75 / 100 <= n, "{leaves} leaves for {n}");
}

#[test]
fn walks_cut_at_the_ends() {
    let owner = numbered(500);
    let mut tree = RankTree::default();
    for i in 0..500 {
        insert(&mut tree, &owner, 1.0, i);
    }
    assert_eq!(tree.walk(490, 100, false).count(), 10);
    assert_eq!(tree.walk(9, 100, true).count(), 10);
    assert_eq!(tree.walk(500, 1, false).count(), 0);
    assert_eq!(tree.walk(500, 1, true).count(), 0);
    assert_eq!(tree.walk(0, 0, false).count(), 0);
    let back: Vec<_> = tree.walk(499, 500, true).map(|(m, _)| m.to_vec()).collect();
    let mut forth: Vec<_> = tree.walk(0, 500, false).map(|(m, _)| m.to_vec()).collect();
    forth.reverse();
    assert_eq!(back, forth);
}

/// A tree, the entries it refers to, and a sorted vector of (score, index into the entries) to compare with.
struct Pair<'a> {
    tree: RankTree,
    model: Vec<(f64, usize)>,
    owner: &'a [Thin],
    present: Vec<bool>,
}

impl<'a> Pair<'a> {
    /// The first `n` of the entries, all with score 0 or each with its own.
    fn new(owner: &'a [Thin], n: usize, distinct: bool) -> Self {
        let mut tree = RankTree::default();
        let score = |i: usize| if distinct { (i * 7919 % n) as f64 } else { 0.0 };
        let mut model: Vec<_> = (0..n).map(|i| (score(i), i)).collect();
        model.iter().for_each(|&(score, i)| insert(&mut tree, owner, score, i));
        model.sort_by(|a, b| order(a, b, owner));
        let present = (0..owner.len()).map(|i| i < n).collect();
        Self { tree, model, owner, present }
    }

    fn add(&mut self, score: f64, i: usize) {
        let at = self.model.partition_point(|x| order(x, &(score, i), self.owner).is_lt());
        self.model.insert(at, (score, i));
        self.present[i] = true;
    }

    fn step(&mut self, rng: &mut SmallRng, grow: bool) {
        let scores = [1usize, 3, 1000][rng.random_range(0..3)];
        let score = rng.random_range(0..scores) as f64 - 1.0;
        let roll = rng.random_range(0..100);
        if roll < if grow { 80 } else { 25 } {
            let i = rng.random_range(0..self.owner.len());
            if !self.present[i] {
                insert(&mut self.tree, self.owner, score, i);
                self.add(score, i);
            }
        } else if self.model.is_empty() {
        } else if roll < 95 {
            let (old, i) = self.model.remove(rng.random_range(0..self.model.len()));
            if roll % 2 == 0 {
                let new = if roll % 4 == 0 { score } else { old + 1.0 };
                // SAFETY: as in `insert`.
                self.tree.rescore(old, new, unsafe { Ref::new(&self.owner[i]) });
                self.add(new, i);
            } else {
                self.tree.remove(old, member(&self.owner[i]));
                self.present[i] = false;
            }
        } else {
            let len = self.model.len();
            let rank = [0, len - 1, rng.random_range(0..len)][rng.random_range(0..3)];
            let max = [1, 3, if grow { 1 } else { 100 }][rng.random_range(0..3)];
            let mut run = Vec::new();
            self.tree.remove_run(rank, max, |key| run.push(key.member().to_vec()));
            assert!(!run.is_empty() && run.len() <= max);
            for gone in run {
                let (_, i) = self.model.remove(rank);
                assert_eq!(gone, member(&self.owner[i]));
                self.present[i] = false;
            }
        }
    }

    fn compare(&self, rng: &mut SmallRng, seed: u64) {
        let (tree, model) = (&self.tree, &self.model);
        tree.check();
        let all: Vec<_> = tree.walk(0, usize::MAX, false).collect();
        let want: Vec<_> = model.iter().map(|&(s, i)| (member(&self.owner[i]), s)).collect();
        assert!(all == want, "seed {seed}: {} entries", want.len());
        let score = rng.random_range(-2..5) as f64;
        let below = model.partition_point(|x| x.0 < score);
        let up_to = model.partition_point(|x| x.0 <= score);
        assert_eq!(tree.count_before(&Probe::BelowScore(score)), below, "seed {seed}");
        assert_eq!(tree.count_before(&Probe::UpToScore(score)), up_to, "seed {seed}");
        if model.is_empty() {
            return;
        }
        let rank = rng.random_range(0..model.len());
        let (score, i) = model[rank];
        let probe = Probe::Entry(score, member(&self.owner[i]));
        assert_eq!(tree.count_before(&probe), rank, "seed {seed}");
        let back: Vec<_> = tree.walk(rank, 70, true).collect();
        let want: Vec<_> = want[..=rank].iter().rev().take(70).copied().collect();
        assert_eq!(back, want, "seed {seed}");
    }
}

/// Runs `rounds` random steps, growing and shrinking in turn; returns the largest size.
fn run(seed: u64, owner: &[Thin], prefill: usize, rounds: usize, every: usize) -> usize {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut pair = Pair::new(owner, prefill, seed.is_multiple_of(2));
    let mut largest = 0;
    for round in 0..rounds {
        pair.step(&mut rng, (round / 2000) % 2 == 0);
        largest = largest.max(pair.model.len());
        if round % every == 0 {
            pair.compare(&mut rng, seed);
        }
    }
    pair.compare(&mut rng, seed);
    largest
}

#[test]
fn agrees_with_a_sorted_vector() {
    for seed in 0..size(40, 2) as u64 {
        let owner = numbered(if seed.is_multiple_of(4) { 300 } else { 5000 });
        let largest = run(seed, &owner, 0, size(8000, 500), 50);
        assert!(cfg!(miri) || largest > if seed.is_multiple_of(4) { 200 } else { 1000 }, "{largest}");
    }
}

/// Three levels of inner nodes.
#[test]
fn agrees_with_a_sorted_vector_when_tall() {
    let owner = numbered(size(100_000, 3000));
    for seed in 100..102 {
        run(seed, &owner, owner.len() * 9 / 10, size(20_000, 200), size(1000, 100));
    }
}

#[test]
fn member_bounds_where_scores_are_equal() {
    let owner = numbered(1000);
    let mut tree = RankTree::default();
    for i in (0..1000).rev() {
        insert(&mut tree, &owner, 0.0, i);
    }
    let probe = b"member:00000400";
    assert_eq!(tree.count_before(&Probe::BelowMember(probe)), 400);
    assert_eq!(tree.count_before(&Probe::UpToMember(probe)), 401);
    assert_eq!(tree.count_before(&Probe::BelowMember(b"")), 0);
    assert_eq!(tree.count_before(&Probe::UpToMember(b"n")), 1000);
}
