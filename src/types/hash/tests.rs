//! Tests of hashes: encodings, expiry, and a model test against `BTreeMap`.

use super::*;
use rand::SeedableRng;
use std::collections::BTreeMap;

const SEED: Seed = Seed(5);
const LIMITS: HashLimits = HashLimits { listpack_entries: 6, listpack_value: 10 };

type Model = BTreeMap<Vec<u8>, (Vec<u8>, Option<i64>)>;

fn content(hash: &Hash) -> Model {
    hash.entries().map(|(name, value, expiry)| (name.to_vec(), (value.to_vec(), expiry))).collect()
}

fn hash_of(count: usize) -> Hash {
    let mut hash = Hash::new(SEED);
    for n in 0..count {
        assert!(hash.set(format!("f{n}").as_bytes(), n.to_string().as_bytes(), &LIMITS));
    }
    hash
}

fn names(hash: &Hash) -> Vec<String> {
    hash.iter().map(|(name, _)| String::from_utf8(name.to_vec()).expect("ASCII")).collect()
}

#[test]
fn converts_as_redis_does() {
    assert_eq!(hash_of(0).mem_size(), 0);
    assert_eq!(hash_of(6).encoding(), "listpack");
    assert_eq!(hash_of(7).encoding(), "hashtable");
    let mut hash = hash_of(1);
    hash.set(b"0123456789", b"0123456789", &LIMITS);
    assert_eq!(hash.encoding(), "listpack");
    let (mut long_name, mut long_value) = (hash.clone(), hash);
    assert!(long_name.set(b"0123456789a", b"", &LIMITS));
    assert!(!long_value.set(b"f0", b"0123456789a", &LIMITS));
    assert_eq!((long_name.encoding(), long_value.encoding()), ("hashtable", "hashtable"));
    assert_eq!((long_name.len(), long_value.len()), (3, 2));
    let mut expecting = hash_of(1);
    expecting.expect(6, &LIMITS);
    assert_eq!(expecting.encoding(), "listpack");
    expecting.expect(7, &LIMITS);
    assert_eq!((expecting.encoding(), expecting.len()), ("hashtable", 1));
}

#[test]
fn expiry_orders_a_listpack() {
    let mut hash = hash_of(4);
    assert!(!hash.set_expire(b"none", Some(5)) && hash.set_expire(b"f0", None));
    assert_eq!((hash.encoding(), hash.may_expire(), hash.min_expire()), ("listpack", false, None));
    assert!(hash.set_expire(b"f1", Some(30)));
    assert_eq!(
        (hash.encoding(), names(&hash)),
        ("listpackex", ["f1", "f0", "f2", "f3"].map(String::from).to_vec())
    );
    assert!(hash.set_expire(b"f3", Some(10)) && hash.set_expire(b"f0", Some(20)));
    assert_eq!(names(&hash), ["f3", "f0", "f1", "f2"]);
    assert_eq!((hash.min_expire(), hash.get(b"f3")), (Some(10), Some(Item::Int(3))));
    assert_eq!(
        (hash.expire_of(b"f0"), hash.expire_of(b"f2"), hash.expire_of(b"x")),
        (Some(Some(20)), Some(None), None)
    );
    // A new value takes the expiry away and moves the field behind all others; or keeps both.
    assert!(!hash.set(b"f3", b"new", &LIMITS));
    assert!(!hash.set_keeping_expiry(b"f0", b"kept", &LIMITS));
    assert_eq!(names(&hash), ["f0", "f1", "f2", "f3"]);
    assert_eq!((hash.min_expire(), hash.get(b"f0")), (Some(20), Some(Item::Str(b"kept"))));
    assert!(hash.set_expire(b"f0", None));
    assert_eq!(
        (names(&hash), hash.encoding()),
        (["f1", "f2", "f3", "f0"].map(String::from).to_vec(), "listpackex")
    );
    let mut popped = Vec::new();
    assert_eq!(hash.pop_expired(30, 9, |_| panic!("30 is not over at 30")), 0);
    assert_eq!(hash.pop_expired(31, 9, |name| popped.push(name.to_vec())), 1);
    assert_eq!((popped, hash.len(), hash.min_expire()), (vec![b"f1".to_vec()], 3, None));
}

#[test]
fn expiry_moves_into_the_table() {
    let mut hash = hash_of(6);
    for n in [3, 1, 4] {
        assert!(hash.set_expire(format!("f{n}").as_bytes(), Some(n * 10)));
    }
    assert!(hash.set(b"f6", b"", &LIMITS));
    assert_eq!((hash.encoding(), hash.len(), hash.min_expire()), ("hashtable", 7, Some(10)));
    assert!(hash.set_expire(b"f6", Some(40)) && hash.set_expire(b"f1", Some(50)));
    assert!(hash.remove(b"f3") && !hash.remove(b"f3"));
    assert_eq!((hash.min_expire(), hash.clone().min_expire()), (Some(40), Some(40)));
    let mut popped = Vec::new();
    assert_eq!(hash.pop_expired(1000, 1, |name| popped.push(name.to_vec())), 1);
    assert_eq!(hash.pop_expired(50, 9, |name| popped.push(name.to_vec())), 1);
    popped.sort();
    assert_eq!(popped, [b"f4", b"f6"]);
    assert_eq!((hash.len(), hash.min_expire(), hash.may_expire()), (4, Some(50), true));
    assert!(!hash.set(b"f1", b"", &LIMITS));
    assert_eq!((hash.min_expire(), hash.may_expire()), (None, false));
    let mut drain = hash.into_drain().expect("a hash table");
    while drain.step(1) {}
    assert!(drain.is_empty());
}

#[test]
fn loads_what_is_valid() {
    let load = |texts: &[&str], with_expiry| {
        let mut pack = Listpack::new();
        texts.iter().for_each(|text| pack.push_back(text.as_bytes()));
        Hash::from_listpack(pack, with_expiry, &LIMITS, SEED)
    };
    let two = load(&["a", "1", "b", "2"], false).expect("valid");
    assert_eq!((two.encoding(), two.len(), two.get(b"b")), ("listpack", 2, Some(Item::Int(2))));
    assert!(load(&["a", "1", "b"], false).is_none(), "a field without value");
    assert!(load(&["a", "1", "a", "2"], false).is_none(), "a field twice");
    let three = load(&["a", "1", "5", "b", "2", "7", "c", "3", "0"], true).expect("valid");
    assert_eq!((three.encoding(), three.len(), three.min_expire()), ("listpackex", 3, Some(5)));
    assert!(load(&["a", "1", "-5"], true).is_none() && load(&["a", "1", "x"], true).is_none());
    let unordered = load(&["a", "1", "0", "b", "2", "7"], true).expect("usable");
    assert_eq!((unordered.encoding(), unordered.min_expire()), ("hashtable", Some(7)));
    let many: Vec<String> = (0..14).map(|n| n.to_string()).collect();
    let many = load(&many.iter().map(String::as_str).collect::<Vec<_>>(), false).expect("valid");
    assert_eq!((many.encoding(), many.len(), many.get(b"12")), ("hashtable", 7, Some(Item::Str(b"13"))));
}

#[test]
fn behaves_like_a_map() {
    for seed in 0..40 {
        let mut rng = Rand::seed_from_u64(seed);
        let limits = HashLimits { listpack_entries: [5, 30, 512][rng.random_range(0..3)], ..LIMITS };
        let expiry_percent = [0, 30][rng.random_range(0..2)];
        let value_len_max = [10, 40][rng.random_range(0..2)];
        let (mut hash, mut model, mut now) = (Hash::new(SEED), Model::new(), 1);
        for step in 0..1500 {
            let context = format!("seed {seed} step {step}");
            let name = rng.random_range(0..60).to_string().into_bytes();
            let value = vec![b'v'; rng.random_range(0..value_len_max)];
            match rng.random_range(0..10) {
                0..4 => {
                    let created = hash.set(&name, &value, &limits);
                    assert_eq!(created, model.insert(name.clone(), (value, None)).is_none(), "{context}");
                }
                4 => {
                    let expiry = model.get(&name).and_then(|old| old.1);
                    let created = hash.set_keeping_expiry(&name, &value, &limits);
                    assert_eq!(created, model.insert(name.clone(), (value, expiry)).is_none(), "{context}");
                }
                5..7 => assert_eq!(hash.remove(&name), model.remove(&name).is_some(), "{context}"),
                7 if rng.random_range(0..100) < expiry_percent => {
                    let at = rng.random::<bool>().then(|| now + rng.random_range(0..50));
                    let old = model.get_mut(&name);
                    assert_eq!(hash.set_expire(&name, at), old.is_some(), "{context}");
                    old.into_iter().for_each(|old| old.1 = at);
                }
                8 => {
                    now += rng.random_range(0..5);
                    let mut popped = 0;
                    let count = hash.pop_expired(now, 100, |name| {
                        let gone = model.remove(&name.to_vec()).and_then(|old| old.1);
                        assert!(gone.is_some_and(|at| at < now), "{context}");
                        popped += 1;
                    });
                    assert_eq!(count, popped, "{context}");
                    assert!(model.values().all(|old| old.1.is_none_or(|at| at >= now)), "{context}");
                }
                _ => {}
            }
            let found = hash.get(&name).map(|item| item.to_vec());
            assert_eq!(found.as_ref(), model.get(&name).map(|entry| &entry.0), "{context}");
            assert_eq!(hash.contains(&name), model.contains_key(&name), "{context}");
            assert_eq!(hash.len(), model.len(), "{context}");
            let min = model.values().filter_map(|entry| entry.1).min();
            assert_eq!(hash.min_expire(), min, "{context}");
            let random = hash.random(&mut rng).map(|(name, value)| (name.to_vec(), value.to_vec()));
            assert!(
                random
                    .map_or(model.is_empty(), |(name, value)| model.get(&name).is_some_and(|e| e.0 == value)),
                "{context}"
            );
        }
        assert_eq!(content(&hash), model, "seed {seed}");
        assert_eq!(content(&hash.clone()), model, "seed {seed}");
    }
}

#[test]
fn scan_and_samples_report_pairs() {
    let mut rng = Rand::seed_from_u64(1);
    for count in [5, 400] {
        let hash = hash_of(count);
        let (mut seen, mut cursor) = (BTreeMap::new(), 0);
        loop {
            cursor = hash.scan(cursor, 10, |name, value| {
                assert!(seen.insert(name.to_vec(), value.to_vec()).is_none());
            });
            if cursor == 0 {
                break;
            }
        }
        assert_eq!(seen.len(), count);
        for wanted in [1, 4, count, count + 1] {
            let mut sampled = BTreeMap::new();
            hash.sample_distinct(&mut rng, wanted, |name, value| {
                assert_eq!(seen.get(&name.to_vec()), Some(&value.to_vec()));
                assert!(sampled.insert(name.to_vec(), ()).is_none());
            });
            assert_eq!(sampled.len(), wanted.min(count));
        }
    }
}
