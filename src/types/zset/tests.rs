//! Tests of sorted sets: both encodings against a sorted vector, and the corner cases of scores.

use super::*;
use crate::types::zrange::{LexBound, ScoreBound};
use rand::SeedableRng;

const SEED: Seed = Seed(7);

fn limits(entries: usize) -> ZsetLimits {
    ZsetLimits { max_listpack_entries: entries, max_listpack_value: 64 }
}

fn listed(set: &ZSet) -> Vec<(Vec<u8>, f64)> {
    set.iter().map(|(member, score)| (member.to_vec(), score)).collect()
}

/// The naive model: a vector in order.
#[derive(Default)]
struct Model(Vec<(Vec<u8>, f64)>);

impl Model {
    fn position(&self, member: &[u8]) -> Option<usize> {
        self.0.iter().position(|entry| entry.0 == member)
    }

    fn set(&mut self, member: &[u8], score: f64) -> Change {
        let change = match self.position(member) {
            Some(at) if self.0[at].1 == score => return Change::Same,
            Some(at) => {
                self.0.remove(at);
                Change::Updated
            }
            None => Change::Added,
        };
        self.0.push((member.to_vec(), score));
        self.0.sort_by(|a, b| a.1.partial_cmp(&b.1).expect("no NaN").then_with(|| a.0.cmp(&b.0)));
        change
    }
}

fn random_member(rng: &mut Rand, space: usize) -> Vec<u8> {
    let n = rng.random_range(0..space);
    match n % 4 {
        0 => n.to_string().into_bytes(),
        1 => format!("member:{n}").into_bytes(),
        2 => format!("-{n}").into_bytes(),
        _ => [b"x\0\xff", n.to_string().as_bytes()].concat(),
    }
}

fn random_score(rng: &mut Rand) -> f64 {
    match rng.random_range(0..8) {
        0 => 0.0,
        1 => [f64::INFINITY, f64::NEG_INFINITY, 1e300, -1.5e-300, 1e18, 5e18][rng.random_range(0..6)],
        2 | 3 => rng.random_range(-3..3) as f64 / 2.0,
        4 => rng.random::<f64>(),
        _ => rng.random_range(-1000..1000) as f64,
    }
}

fn random_range(rng: &mut Rand) -> ScoreRange {
    let mut bound = || ScoreBound { value: random_score(rng), exclusive: rng.random() };
    ScoreRange { min: bound(), max: bound() }
}

fn in_range(range: &ScoreRange, score: f64) -> bool {
    range.reaches_min(score) && range.within_max(score)
}

/// One random change to both; `gone` must be alike.
fn change(rng: &mut Rand, set: &mut ZSet, model: &mut Model, limits: &ZsetLimits, shrink: bool) {
    let space = 4 * limits.max_listpack_entries.max(300);
    let member = match model.0.len() {
        len if len > 0 && rng.random_range(0..3) == 0 => model.0[rng.random_range(0..len)].0.clone(),
        _ => random_member(rng, space),
    };
    let mut gone = Vec::new();
    let mut note = |member: Item<'_>, score| gone.push((member.to_vec(), score));
    let roll = rng.random_range(0..100);
    let expected: Vec<_> = match roll {
        _ if roll < if shrink { 30 } else { 80 } => {
            let score = random_score(rng);
            assert_eq!(set.set(&member, score, limits), model.set(&member, score));
            vec![]
        }
        80..85 => {
            let step = rng.random_range(-3..3) as f64;
            let update = set.update(&member, limits, |old| old.map(|score| score + step));
            assert_eq!(update.old, model.position(&member).map(|at| model.0[at].1));
            if let Some(score) = update.new {
                model.set(&member, score);
            }
            vec![]
        }
        85..87 if shrink => {
            let range = random_range(rng);
            set.remove_by_score(&range, &mut note);
            let (out, kept) = model.0.drain(..).partition(|entry| in_range(&range, entry.1));
            model.0 = kept;
            out
        }
        85..90 => {
            let (min, n) = (rng.random(), rng.random_range(0..4));
            let popped = set.pop(min, n, &mut note);
            assert_eq!(popped, n.min(model.0.len()));
            if !min {
                model.0.reverse();
            }
            let out = model.0.drain(..popped).collect();
            if !min {
                model.0.reverse();
            }
            out
        }
        90..93 => {
            let start = rng.random_range(0..model.0.len() + 2);
            let end = start + rng.random_range(0..if shrink { 100 } else { 5 });
            set.remove_ranks(start..end, &mut note);
            let end = end.min(model.0.len());
            model.0.drain(start.min(end)..end).collect()
        }
        _ => {
            let at = model.position(&member);
            assert_eq!(set.remove(&member), at.map(|at| model.0.remove(at).1));
            vec![]
        }
    };
    assert_eq!(gone, expected);
}

fn compare(rng: &mut Rand, set: &ZSet, model: &Model) {
    set.check();
    assert_eq!(listed(set), model.0);
    assert_eq!(set.len(), model.0.len());
    let range = random_range(rng);
    let (reverse, offset, limit) = (rng.random(), rng.random_range(0..5), rng.random_range(0..50));
    let mut inside: Vec<_> = model.0.iter().filter(|entry| in_range(&range, entry.1)).cloned().collect();
    assert_eq!(set.count_in(&range), inside.len());
    if reverse {
        inside.reverse();
    }
    let got: Vec<_> =
        set.range_by_score(&range, reverse, offset, limit).map(|(m, s)| (m.to_vec(), s)).collect();
    assert_eq!(got, inside.into_iter().skip(offset).take(limit).collect::<Vec<_>>());
    let (start, count) = (rng.random_range(0..model.0.len() + 2), rng.random_range(0..200));
    let walk = set.range_by_rank(start, count, reverse);
    let got: Vec<_> = walk.map(|(m, s)| (m.to_vec(), s)).collect();
    let mut want = model.0.clone();
    if reverse {
        want.reverse();
    }
    assert_eq!(got, want.into_iter().skip(start).take(count).collect::<Vec<_>>());
    for (rank, (member, score)) in model.0.iter().enumerate().step_by(17) {
        assert_eq!(set.score(member), Some(*score));
        assert_eq!(set.rank(member, false), Some((rank, *score)));
        assert_eq!(set.rank(member, true), Some((model.0.len() - 1 - rank, *score)));
    }
    assert_eq!(set.score(b"no such member"), None);
    assert_eq!(set.rank(b"no such member", false), None);
}

fn run(seed: u64, entries: usize, rounds: usize) -> (usize, &'static str) {
    let mut rng = Rand::seed_from_u64(seed);
    let limits = limits(entries);
    let mut set = ZSet::new(SEED);
    let mut model = Model::default();
    let mut largest = 0;
    for round in 0..rounds {
        change(&mut rng, &mut set, &mut model, &limits, (round / 400) % 3 == 2);
        largest = largest.max(set.len());
        if round % 20 == 0 {
            compare(&mut rng, &set, &model);
        }
    }
    compare(&mut rng, &set, &model);
    (largest, set.encoding())
}

#[test]
fn agrees_with_a_sorted_vector() {
    let (seeds, rounds) = if cfg!(miri) { (1, 300) } else { (12, 3000) };
    for seed in 0..seeds {
        for entries in [0, 30, 128, 100_000] {
            let done = std::panic::catch_unwind(|| run(seed, entries, rounds));
            let Ok((largest, encoding)) = done else {
                panic!("seed {seed}, {entries} entries");
            };
            assert_eq!(encoding == "listpack", largest <= entries, "seed {seed}, {entries} entries");
        }
    }
}

#[test]
fn limits_decide_the_encoding() {
    let limits = ZsetLimits { max_listpack_entries: 2, max_listpack_value: 5 };
    let encoding = |count, len| ZSet::for_members(count, len, &limits, SEED).encoding();
    assert_eq!((encoding(2, 5), encoding(3, 5), encoding(1, 6)), ("listpack", "skiplist", "skiplist"));
    let mut set = ZSet::new(SEED);
    set.set(b"abcde", 1.0, &limits);
    set.set(b"b", 2.0, &limits);
    set.set(b"b", 3.0, &limits);
    assert_eq!(set.encoding(), "listpack");
    set.set(b"c", 2.0, &limits);
    assert_eq!(set.encoding(), "skiplist");
    set.compact(&limits);
    assert_eq!(set.encoding(), "skiplist");
    set.remove(b"b");
    set.compact(&limits);
    assert_eq!(set.encoding(), "listpack");
    set.remove(b"c");
    set.set(b"abcdef", 0.0, &limits);
    assert_eq!(set.encoding(), "skiplist");
    assert_eq!(listed(&set), [(b"abcdef".to_vec(), 0.0), (b"abcde".to_vec(), 1.0)]);
    set.compact(&limits);
    assert_eq!(set.encoding(), "skiplist");
}

/// As Redis 7.0 answers.
#[test]
fn minus_zero() {
    let mut set = ZSet::new(SEED);
    set.set(b"a", -0.0, &limits(128));
    assert!(set.score(b"a").is_some_and(f64::is_sign_positive), "an integer in a listpack");
    let mut set = ZSet::new(SEED);
    assert_eq!(set.set(b"a", -0.0, &limits(0)), Change::Added);
    assert_eq!(set.set(b"a", 0.0, &limits(0)), Change::Same);
    assert!(set.score(b"a").is_some_and(f64::is_sign_negative));
    set.set(b"b", 0.0, &limits(0));
    set.set(b"Z", 0.0, &limits(0));
    assert_eq!(set.rank(b"a", false).map(|r| r.0), Some(1));
}

#[test]
fn scores_in_a_listpack_have_redis_forms() {
    let mut set = ZSet::new(SEED);
    let scores = [(3.0, "3"), (1.5, "1.5"), (1e-9, "1e-9"), (0.1, "0.1"), (f64::INFINITY, "inf")];
    for (score, text) in scores {
        set.set(text.as_bytes(), score, &limits(128));
    }
    let pack = set.listpack().expect("small");
    let items: Vec<_> = pack.iter().map(|item| item.to_vec()).collect();
    assert_eq!(items.len(), 10);
    for pair in items.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    assert!(pack.iter().any(|item| item == Item::Int(3)));
    assert_eq!(as_integer(5e18), None);
    assert_eq!(as_integer(4e18), Some(4_000_000_000_000_000_000));
    assert_eq!(as_integer(f64::NEG_INFINITY), None);
}

#[test]
fn ranges_by_member() {
    for entries in [0, 128] {
        let mut set = ZSet::new(SEED);
        for member in ["a", "b", "bb", "c", "d", "7"] {
            set.set(member.as_bytes(), 1.0, &limits(entries));
        }
        let texts = |min: &[u8], max: &[u8], reverse, offset, limit| {
            let range = LexRange::parse(min, max).expect("well-formed");
            let walk = set.range_by_lex(&range, reverse, offset, limit);
            let found: Vec<_> = walk.map(|(m, _)| String::from_utf8(m.to_vec()).expect("ASCII")).collect();
            found.join(" ")
        };
        let all = usize::MAX;
        assert_eq!(texts(b"-", b"+", false, 0, all), "7 a b bb c d");
        assert_eq!(texts(b"[b", b"(c", false, 0, all), "b bb");
        assert_eq!(texts(b"(b", b"[c", true, 0, all), "c bb");
        assert_eq!(texts(b"-", b"+", true, 1, 2), "c bb");
        assert_eq!(texts(b"-", b"+", false, 6, 2), "");
        assert_eq!(texts(b"+", b"-", false, 0, all), "");
        assert_eq!(texts(b"-", b"-", false, 0, all), "");
        assert_eq!(texts(b"+", b"+", false, 0, all), "");
        assert_eq!(texts(b"(b", b"(b", false, 0, all), "");
        assert_eq!(texts(b"[d", b"[a", false, 0, all), "");
        let range = LexRange { min: LexBound::Inclusive(b"b"), max: LexBound::Last };
        assert_eq!(set.count_in_lex(&range), 4);
        let mut gone = 0;
        assert_eq!(set.remove_by_lex(&range, |_, _| gone += 1), 4);
        assert_eq!((set.len(), gone), (2, 4));
        set.check();
    }
}

#[test]
fn random_choices_are_fair_and_different() {
    for (entries, len) in [(0, 500), (1000, 500), (0, 3)] {
        let mut rng = Rand::seed_from_u64(5);
        let mut set = ZSet::new(SEED);
        for i in 0..len {
            set.set(i.to_string().as_bytes(), i as f64, &limits(entries));
        }
        for count in [0, 1, 2, 30, 400, 500, 1000] {
            let mut picked = Vec::new();
            set.random_distinct(&mut rng, count, |_, score| picked.push(score));
            assert_eq!(picked.len(), count.min(len));
            assert!(picked.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let mut hits = vec![0; len];
        for _ in 0..20 * len {
            hits[set.random(&mut rng).expect("not empty").1 as usize] += 1;
        }
        assert!(hits.iter().all(|&n| (2..60).contains(&n)), "{hits:?}");
    }
    assert!(ZSet::new(SEED).random(&mut Rand::seed_from_u64(1)).is_none());
}

#[test]
fn scan_reports_everything_and_clones_are_equal() {
    let mut set = ZSet::new(SEED);
    for i in 0..1000 {
        set.set(format!("m{i}").as_bytes(), (i % 10) as f64, &ZsetLimits::default());
    }
    let (mut cursor, mut seen, mut calls) = (0, Vec::new(), 0);
    loop {
        cursor = set.scan(cursor, 10, |member, score| seen.push((member.to_vec(), score)));
        calls += 1;
        if cursor == 0 {
            break;
        }
    }
    assert!(calls > 20, "{calls} calls");
    seen.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    seen.dedup();
    assert_eq!(seen, listed(&set));
    let copy = set.clone();
    copy.check();
    assert_eq!(listed(&copy), listed(&set));
    let mut drain = set.into_drain().expect("big");
    let mut steps = 0;
    while drain.step(10) {
        steps += 1;
    }
    assert!(drain.is_empty() && (15..150).contains(&steps), "{steps} steps");
}

#[test]
fn loaded_listpacks_are_checked() {
    let load = |texts: &[&str], entries| {
        let mut pack = Listpack::new();
        texts.iter().for_each(|text| pack.push_back(text.as_bytes()));
        ZSet::from_listpack(pack, &limits(entries), SEED)
    };
    let good = load(&["a", "1", "b", "1.5"], 2).expect("valid");
    assert_eq!((good.encoding(), good.len()), ("listpack", 2));
    let big = load(&["a", "1", "b", "1.5"], 1).expect("valid");
    assert_eq!((big.encoding(), big.len()), ("skiplist", 2));
    let unsorted = load(&["b", "2", "a", "1"], 2).expect("repaired");
    assert_eq!(listed(&unsorted), [(b"a".to_vec(), 1.0), (b"b".to_vec(), 2.0)]);
    assert_eq!(unsorted.encoding(), "listpack");
    for bad in [&["a"][..], &["a", "x"], &["a", "nan"], &["a", "1", "a", "2"], &["a", "1", "b"]] {
        assert!(load(bad, 128).is_none(), "{bad:?}");
    }
}

/// What Redis 7.0 answers: it searches a listpack from one end and does not expect unequal scores.
#[test]
fn a_range_by_member_over_unequal_scores_is_redis_s_search() {
    let mut set = ZSet::new(SEED);
    for (member, score) in [("b", 1.0), ("e", 1.0), ("c", 2.0), ("a", 3.0), ("d", 10.0)] {
        set.set(member.as_bytes(), score, &limits(128));
    }
    let texts = |min: &str, max: &str, reverse, offset, limit| {
        let range = LexRange::parse(min.as_bytes(), max.as_bytes()).expect("well-formed");
        let walk = set.range_by_lex(&range, reverse, offset, limit);
        let found: Vec<_> = walk.map(|(m, _)| String::from_utf8(m.to_vec()).expect("ASCII")).collect();
        found.join(" ")
    };
    let all = usize::MAX;
    assert_eq!(texts("(a", "[c", false, 0, all), "b");
    assert_eq!(texts("[c", "[c", false, 0, all), "");
    assert_eq!(texts("(a", "[c", false, 2, all), "c a", "the skipped ones are not looked at");
    assert_eq!(texts("-", "+", false, 1, 2), "e c");
    assert_eq!(texts("(a", "[b", false, 4, 9), "");
    assert_eq!(texts("(a", "[b", false, all, all), "");
    assert_eq!(texts("[b", "[c", true, 0, all), "");
    assert_eq!(texts("[b", "[e", true, 0, all), "d");
    assert_eq!(texts("[e", "+", false, 0, all), "", "the last member is below the range");
    let range = LexRange::parse(b"[b", b"[c").expect("well-formed");
    assert_eq!(set.ranks_by_lex(&range), 0..1);
}

#[test]
fn an_expected_number_of_members_decides_the_encoding() {
    let mut set = ZSet::new(SEED);
    set.set(b"a", 1.0, &limits(4));
    set.expect(4, &limits(4));
    assert_eq!(set.encoding(), "listpack");
    set.expect(5, &limits(4));
    assert_eq!((set.encoding(), listed(&set)), ("skiplist", vec![(b"a".to_vec(), 1.0)]));
    let mut set = ZSet::new(SEED);
    set.set(b"a", 1.0, &limits(4));
    set.make_skiplist();
    assert_eq!((set.encoding(), set.len()), ("skiplist", 1));
}
