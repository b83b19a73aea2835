//! Tests of `List`: random operations against a `VecDeque`, and the moments at which Redis changes the encoding.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};

use super::*;
use crate::base::Rand;

const DEFAULT: ListLimits = ListLimits { max_listpack_size: -2, compress_depth: 0, large_from: 0 };

fn texts(list: &List) -> Vec<Vec<u8>> {
    texts_from(list, 0, usize::MAX, false)
}

fn texts_from(list: &List, start: usize, n: usize, reverse: bool) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    list.walk_items(start, n, reverse, |item| {
        texts.push(item.to_vec());
        ControlFlow::Continue(())
    });
    texts
}

fn list_of(values: &[&[u8]], limits: &ListLimits) -> List {
    let mut list = List::new();
    values.iter().for_each(|value| list.push(value, false, limits));
    list
}

fn random_value(rng: &mut Rand) -> Vec<u8> {
    let len = match rng.random_range(0..60) {
        0 => rng.random_range(8100..8300),
        1 => rng.random_range(3900..4200),
        2..10 => rng.random_range(100..1000),
        10..30 => return rng.random_range(-5..300).to_string().into_bytes(),
        30..40 => rng.random_range(0..64),
        _ => rng.random_range(0..3),
    };
    (0..len).map(|_| rng.random_range(b'a'..b'c')).collect()
}

/// The model's LREM.
fn remove_matching(model: &mut VecDeque<Vec<u8>>, count: i64, text: &[u8]) -> usize {
    let most = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
    let mut hits: Vec<usize> = (0..model.len()).filter(|&index| model[index] == text).collect();
    if count < 0 {
        hits.reverse();
    }
    hits.truncate(most);
    hits.sort_unstable();
    hits.iter().rev().for_each(|&index| drop(model.remove(index)));
    hits.len()
}

fn change(rng: &mut Rand, list: &mut List, model: &mut VecDeque<Vec<u8>>, limits: &ListLimits) {
    let value = random_value(rng);
    let index = rng.random_range(0..model.len().max(1));
    let known = model.get(index).cloned().unwrap_or_default();
    match rng.random_range(0..20) {
        0..4 => {
            list.push(&value, false, limits);
            model.push_back(value);
        }
        4..8 => {
            list.push(&value, true, limits);
            model.push_front(value);
        }
        8 => assert_eq!(list.pop(true, limits, |item| item.to_vec()), model.pop_front()),
        9 => assert_eq!(list.pop(false, limits, |item| item.to_vec()), model.pop_back()),
        10..14 => {
            let before = rng.random();
            let at = model.iter().position(|other| *other == known);
            assert_eq!(list.insert(&known, &value, before, limits), at.is_some());
            if let Some(at) = at {
                model.insert(if before { at } else { at + 1 }, value);
            }
        }
        14..17 => {
            let from_tail = index as i64 - model.len() as i64;
            let done = list.set(if rng.random() { index as i64 } else { from_tail }, &value, limits);
            assert_eq!(done, !model.is_empty());
            if done {
                model[index] = value;
            }
        }
        17 => {
            let count = rng.random_range(-3..4);
            assert_eq!(list.remove_matching(count, &known, limits), remove_matching(model, count, &known));
        }
        18 => {
            let n = rng.random_range(0..30);
            let end = model.len().min(index + n);
            let removed = list.remove_range(index, n, limits);
            assert_eq!(removed, model.drain(index.min(end)..end).count());
        }
        _ => {
            let (start, stop) = (rng.random_range(-3..3), rng.random_range(-3..400));
            list.trim(start, stop, limits);
            let len = model.len() as i64;
            let absolute = |index: i64| if index < 0 { index + len } else { index };
            let keep = absolute(start).max(0)..=absolute(stop);
            let mut index = -1;
            model.retain(|_| {
                index += 1;
                keep.contains(&index)
            });
        }
    }
}

fn compare_reads(rng: &mut Rand, list: &List, model: &VecDeque<Vec<u8>>, seed: u64) {
    let len = model.len();
    let start = rng.random_range(0..len.max(1));
    let forth = texts_from(list, start, usize::MAX, false);
    assert!(forth.iter().eq(model.iter().skip(start)), "seed {seed}");
    let back = texts_from(list, start, usize::MAX, true);
    assert!(back.iter().eq(model.iter().take(start + 1).rev()), "seed {seed}");
    let index = rng.random_range(-3..len as i64 + 3);
    let at = if index < 0 { index + len as i64 } else { index };
    let expected = usize::try_from(at).ok().and_then(|at| model.get(at));
    assert_eq!(list.get(index, |item| item.to_vec()).as_ref(), expected, "seed {seed}");

    let (reverse, n) = (rng.random(), rng.random_range(0..200));
    let (mut out, mut expected) = (Vec::new(), Vec::new());
    let mut piece = Vec::with_capacity(rng.random_range(0..3000));
    let capacity = piece.capacity();
    list.runs(start, n, reverse, |run| match run {
        Run::Packed(mut bulks) => loop {
            let waiting = bulks.fill(&mut piece);
            assert_eq!(piece.capacity(), capacity, "seed {seed}");
            out.append(&mut piece);
            let Some(item) = waiting else { break };
            listpack::push_item_bulk(item, &mut out);
        },
        Run::Plain(text) => listpack::push_item_bulk(Item::Str(text), &mut out),
    });
    texts_from(list, start, n, reverse)
        .iter()
        .for_each(|text| listpack::push_item_bulk(Item::classify(text), &mut expected));
    assert!(out == expected, "seed {seed} start {start} n {n} reverse {reverse}");

    let Some(known) = model.get(start) else { return };
    let (rank, count) = (rng.random_range(1..4), rng.random_range(0..4));
    let hits = (0..len).filter(|&index| model[index] == *known);
    let most = if count == 0 { usize::MAX } else { count };
    let (mut found, mut found_back) = (Vec::new(), Vec::new());
    list.positions(known, rank, count, 0, |index| found.push(index));
    list.positions(known, -rank, count, 0, |index| found_back.push(index));
    let skip = rank as usize - 1;
    assert!(hits.clone().skip(skip).take(most).eq(found), "seed {seed}");
    assert!(hits.rev().skip(skip).take(most).eq(found_back), "seed {seed}");
}

#[test]
fn behaves_like_a_deque() {
    let sizes = [-1, -2, -5, -9, 0, 1, 2, 3, 16, 128];
    for seed in 0..100 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut limits = ListLimits { max_listpack_size: sizes[seed as usize % sizes.len()], ..DEFAULT };
        let (mut list, mut model) = (List::new(), VecDeque::new());
        for round in 0..500 {
            if rng.random_range(0..50) == 0 {
                // Options change at any time.
                limits.compress_depth = [0, 0, 1, 2, 5][rng.random_range(0..5)];
                limits.large_from = [0, 0, 0, 1, 200][rng.random_range(0..5)];
            }
            change(&mut rng, &mut list, &mut model, &limits);
            list.check();
            assert!(texts(&list).iter().eq(&model), "seed {seed} round {round}");
            compare_reads(&mut rng, &list, &model, seed);
        }
        let mut copy = List::new();
        list.each_part(|part| match part {
            Part::Packed(pack) => copy.append_packed(pack.clone()),
            Part::Plain(text) => copy.append_plain(text),
        });
        copy.loaded(&limits);
        copy.check();
        assert!(texts(&copy).iter().eq(&model), "seed {seed}");
    }
}

#[test]
fn positions_stop_after_max_len_comparisons() {
    let list = list_of(&[b"a", b"b", b"a", b"c", b"a"], &DEFAULT);
    let positions = |rank, count, max_len| {
        let mut found = Vec::new();
        list.positions(b"a", rank, count, max_len, |index| found.push(index));
        found
    };
    assert_eq!(positions(1, 0, 3), [0, 2]);
    assert_eq!(positions(-1, 0, 4), [4, 2]);
    assert_eq!(positions(2, 1, 2), []);
    assert_eq!(positions(i64::MIN, 0, 0), []);
}

#[test]
fn a_pack_becomes_a_quicklist_before_it_passes_the_limit() {
    let limits = ListLimits { max_listpack_size: 4, ..DEFAULT };
    let mut list = list_of(&[b"a", b"b", b"c", b"d"], &limits);
    assert_eq!(list.encoding(), "listpack");
    list.push(b"e", false, &limits);
    assert_eq!((list.encoding(), list.node_count(), list.len()), ("quicklist", 2, 5));

    // 7 + 5 * 1002 + text bytes against 8192.
    let long = [b'x'; 998];
    let mut list = list_of(&[&long[..]; 5], &DEFAULT);
    list.prepare_growth(8192 - 7 - 5 * 1002, 1, &DEFAULT);
    assert_eq!(list.encoding(), "listpack");
    list.prepare_growth(8192 - 7 - 5 * 1002 + 1, 1, &DEFAULT);
    assert_eq!((list.encoding(), list.node_count()), ("quicklist", 1));

    // Replacing counts as adding, and even a set that fails has prepared for it.
    let mut list = list_of(&[b"a", b"b", b"c", b"d"], &limits);
    assert!(!list.set(9, b"x", &limits));
    assert_eq!(list.encoding(), "quicklist");
}

#[test]
fn a_quicklist_becomes_a_pack_at_half_the_limit() {
    let limits = ListLimits { max_listpack_size: 4, ..DEFAULT };
    let mut list = list_of(&[b"a", b"b", b"c", b"d", b"e"], &limits);
    let mut encodings = Vec::new();
    while list.pop(false, &limits, |_| ()).is_some() {
        encodings.push((list.len(), list.encoding()));
    }
    let expected = [(4, "quicklist"), (3, "quicklist"), (2, "listpack"), (1, "listpack"), (0, "listpack")];
    assert_eq!(encodings, expected);

    // What is loaded may use the whole limit.
    let mut list = List::new();
    let mut pack = Listpack::new();
    (0..4).for_each(|value| pack.push_back_int(value));
    list.append_packed(pack);
    assert_eq!(list.encoding(), "quicklist");
    list.loaded(&limits);
    assert_eq!(list.encoding(), "listpack");
}

#[test]
fn large_elements_have_nodes_of_their_own() {
    let large = vec![b'x'; 8193];
    let mut list = list_of(&[b"a", &large, b"b", b"c"], &DEFAULT);
    assert_eq!((list.encoding(), list.node_count()), ("quicklist", 3));
    assert!(list.insert(b"b", &large, false, &DEFAULT));
    assert_eq!(list.node_count(), 5);
    assert!(list.set(1, b"small", &DEFAULT) && list.set(0, &large, &DEFAULT));
    list.check();
    let lens: Vec<_> = texts(&list).iter().map(Vec::len).collect();
    assert_eq!(lens, [8193, 5, 1, 8193, 1]);
    assert_eq!(list.remove_matching(0, &large, &DEFAULT), 2);
    list.check();
    assert_eq!(texts(&list), [&b"small"[..], b"b", b"c"]);
}

#[test]
fn inserts_inside_do_not_leave_small_nodes_behind() {
    let mut list = List::new();
    (0..5000).for_each(|value: i32| list.push(value.to_string().as_bytes(), false, &DEFAULT));
    for value in 0..3000 {
        assert!(list.insert(b"2500", value.to_string().as_bytes(), false, &DEFAULT));
    }
    list.check();
    let bytes: usize = texts(&list).iter().map(|text| text.len() + 2).sum();
    assert!(list.node_count() <= 2 * bytes / 8192 + 4, "{} nodes of {bytes} bytes", list.node_count());
}

#[test]
fn full_nodes_waste_nothing() {
    for front in [false, true] {
        let mut list = List::new();
        (0..100_000).for_each(|_| list.push(b"abc", front, &DEFAULT));
        list.check();
        let per_element = list.mem_size() as f64 / 100_000.0;
        assert!(per_element < 5.15, "{per_element} bytes for an entry of 5");
    }
}

#[test]
fn a_list_is_small() {
    assert_eq!(size_of::<List>(), 16);
    assert_eq!(size_of::<Option<List>>(), 16);
    assert_eq!(list_of(&[b"abc"], &DEFAULT).mem_size(), 32);
}

/// Which nodes of the list are compressed; none of a pack.
fn squeezed(list: &List) -> Vec<bool> {
    match &list.0 {
        Repr::Pack(_) => vec![false],
        Repr::Quick(quick) => quick.squeezed(),
    }
}

#[test]
fn nodes_inside_are_compressed_and_those_at_the_ends_are_not() {
    for seed in 0..60 {
        let mut rng = Rand::seed_from_u64(seed);
        let depth = rng.random_range(1..4);
        let limits = ListLimits {
            max_listpack_size: [1, 3, -1][rng.random_range(0..3)],
            compress_depth: depth as u32,
            large_from: [0, 700][rng.random_range(0..2)],
        };
        let (mut list, mut model) = (List::new(), VecDeque::new());
        for round in 0..300 {
            let value = vec![rng.random_range(b'a'..b'e'); rng.random_range(100..900)];
            let index = rng.random_range(0..model.len().max(1));
            let known = model.get(index).cloned().unwrap_or_default();
            match rng.random_range(0..12) {
                0..3 => {
                    list.push(&value, true, &limits);
                    model.push_front(value);
                }
                3..6 => {
                    list.push(&value, false, &limits);
                    model.push_back(value);
                }
                6..8 => {
                    if list.insert(&known, &value, true, &limits) {
                        let at = model.iter().position(|other| *other == known).expect("it was there");
                        model.insert(at, value);
                    }
                }
                8 => {
                    if list.set(index as i64, &value, &limits) {
                        model[index] = value;
                    }
                }
                9 => drop((list.pop(true, &limits, |_| ()), model.pop_front())),
                10 => {
                    let removed = list.remove_matching(1, &known, &limits);
                    assert_eq!(removed, remove_matching(&mut model, 1, &known));
                }
                _ => {
                    let removed = list.remove_range(index, 3, &limits);
                    model.drain(index..index + removed);
                }
            }
            list.check();
            assert!(texts(&list).iter().eq(&model), "seed {seed} round {round}");
            let nodes = list.node_count();
            let inside = |at: usize| (depth..nodes.saturating_sub(depth)).contains(&at);
            assert!(squeezed(&list).into_iter().eq((0..nodes).map(inside)), "seed {seed} round {round}");
        }
    }
}

#[test]
fn compression_makes_lists_smaller_and_needs_no_new_list() {
    let fill = |list: &mut List, limits: &ListLimits| {
        (0..5_000).for_each(|n: i32| list.push(format!("user:{n}:name").as_bytes(), false, limits));
    };
    let (mut open, mut deep) = (List::new(), List::new());
    let limits = ListLimits { compress_depth: 1, ..DEFAULT };
    fill(&mut open, &DEFAULT);
    fill(&mut deep, &limits);
    assert!(deep.mem_size() < open.mem_size() / 2, "{} of {} bytes", deep.mem_size(), open.mem_size());
    assert_eq!((deep.encoding(), deep.node_count()), (open.encoding(), open.node_count()));

    // From now on new nodes are compressed, the old ones are not.
    let old = open.node_count();
    fill(&mut open, &limits);
    let nodes = squeezed(&open);
    assert!(nodes[..old - 1].iter().all(|squeezed| !squeezed), "{nodes:?}");
    assert!(nodes[old..nodes.len() - 1].iter().all(|squeezed| *squeezed), "{nodes:?}");
    assert!(!nodes[nodes.len() - 1]);

    // And the other way: an end that is compressed opens when it is needed.
    while deep.pop(true, &DEFAULT, |_| ()).is_some() {
        deep.check();
    }
    assert!(deep.is_empty());
}

#[test]
fn elements_have_nodes_of_their_own_from_the_size_that_debug_says() {
    let limits = ListLimits { max_listpack_size: 2, large_from: 1, ..DEFAULT };
    let text = [b'x'; 30];
    let mut list = list_of(&[b"9", b"7", &text, &text, b"9", b"8"], &limits);
    assert_eq!(list.node_count(), 5);
    assert_eq!(list.remove_matching(0, b"9", &limits), 2);
    let mut found = Vec::new();
    list.positions(b"8", -1, 0, 0, |index| found.push(index));
    assert_eq!((found, list.node_count()), (vec![3], 4));
    list.check();
}
