//! Tests of `Listpack`: the entry format byte by byte, random operations against a `VecDeque`, hostile bytes.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};

use super::*;

fn texts(pack: &Listpack) -> Vec<Vec<u8>> {
    pack.iter().map(|item| item.to_vec()).collect()
}

fn redis_bytes(pack: &Listpack) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack.to_redis_bytes(&mut bytes);
    bytes
}

fn pack_of(values: &[&[u8]]) -> Listpack {
    let mut pack = Listpack::new();
    values.iter().for_each(|value| pack.push_back(value));
    pack
}

/// A value of any class, short ones most often.
fn random_value(rng: &mut Rand) -> Vec<u8> {
    let len = match rng.random_range(0..40) {
        0 => rng.random_range(4000..5000),
        1 => rng.random_range(60..140),
        2 => rng.random_range(16_300..16_400),
        3..10 => rng.random_range(0..64),
        10..20 => return ((rng.random::<u64>() as i64) >> rng.random_range(0..64)).to_string().into_bytes(),
        20..25 => return rng.random_range(0..130).to_string().into_bytes(),
        _ => rng.random_range(0..4),
    };
    (0..len).map(|_| rng.random_range(b'a'..b'd')).collect()
}

#[test]
fn entries_have_the_bytes_of_redis() {
    let cases: [(&[u8], &[u8]); 16] = [
        (b"0", &[0, 1]),
        (b"127", &[127, 1]),
        (b"128", &[0xC0, 0x80, 2]),
        (b"-1", &[0xDF, 0xFF, 2]),
        (b"4095", &[0xCF, 0xFF, 2]),
        (b"-4096", &[0xD0, 0x00, 2]),
        (b"4096", &[0xF1, 0x00, 0x10, 3]),
        (b"-32768", &[0xF1, 0x00, 0x80, 3]),
        (b"32768", &[0xF2, 0x00, 0x80, 0x00, 4]),
        (b"-8388608", &[0xF2, 0x00, 0x00, 0x80, 4]),
        (b"8388608", &[0xF3, 0x00, 0x00, 0x80, 0x00, 5]),
        (b"2147483648", &[0xF4, 0, 0, 0, 0x80, 0, 0, 0, 0, 9]),
        (b"-9223372036854775808", &[0xF4, 0, 0, 0, 0, 0, 0, 0, 0x80, 9]),
        (b"", &[0x80, 1]),
        (b"ab", &[0x82, b'a', b'b', 3]),
        (b"01", &[0x82, b'0', b'1', 3]),
    ];
    for (text, bytes) in cases {
        let pack = pack_of(&[text]);
        let whole = redis_bytes(&pack);
        assert_eq!(&whole[6..whole.len() - 1], bytes, "{}", text.escape_ascii());
        assert_eq!(whole.len(), pack.byte_len());
        assert_eq!(texts(&pack), [text]);
        assert_eq!(Listpack::entry_size_of(text), bytes.len());
    }
    let mid = redis_bytes(&pack_of(&[&[b'x'; 300]]));
    assert_eq!((&mid[6..9], &mid[308..310]), (&[0xE1, 0x2C, b'x'][..], &[2, 0x80 | 46][..]));
    let long = redis_bytes(&pack_of(&[&[b'x'; 16_400]]));
    assert_eq!(&long[6..12], &[0xF0, 0x10, 0x40, 0, 0, b'x']);
    assert_eq!(&long[long.len() - 4..], &[1, 0x80, 0x80 | 21, 0xFF]);
}

#[test]
fn backlen_sizes_change_where_redis_changes_them() {
    for (len, size) in
        [(127, 1), (128, 2), (16_382, 2), (16_383, 3), (2_097_150, 3), (2_097_151, 4), (268_435_455, 5)]
    {
        assert_eq!(entry::backlen_size(len), size, "{len}");
    }
    for len in [125, 126, 127, 16_377, 16_378, 16_379, 2_097_145, 2_097_146, 2_097_147] {
        let pack = pack_of(&[b"a", &vec![b'x'; len], b"b"]);
        pack.check();
        assert_eq!(pack.iter().rev().map(|item| item.text_len()).collect::<Vec<_>>(), [1, len, 1]);
        assert_eq!(texts(&Listpack::from_redis_bytes(&redis_bytes(&pack)).expect("valid")), texts(&pack));
    }
}

#[test]
fn an_empty_pack_owns_nothing_and_answers() {
    let pack = Listpack::new();
    assert_eq!((pack.len(), pack.byte_len(), pack.mem_size()), (0, 7, 0));
    assert_eq!((pack.first(), pack.last(), pack.seek(0), pack.seek(-1)), (None, None, None, None));
    assert_eq!(redis_bytes(&pack), [7, 0, 0, 0, 0, 0, 0xFF]);
    assert!(Listpack::from_redis_bytes(&[7, 0, 0, 0, 0, 0, 0xFF]).is_ok_and(|pack| pack.is_empty()));
    assert_eq!(size_of::<Listpack>(), size_of::<usize>());
}

#[test]
fn small_packs_take_few_bytes() {
    assert_eq!(pack_of(&[b"abc"]).mem_size(), 32);
    assert_eq!(pack_of(&[&b"abc"[..]; 10]).mem_size(), 80);
    assert_eq!(
        [16, 17, 129, 160, 161, 257, 8192, 8193].map(size_class),
        [16, 32, 160, 160, 192, 320, 8192, 10240]
    );
}

#[test]
fn find_looks_at_every_second_entry_and_compares_values() {
    let pack = pack_of(&[b"f1", b"v", b"12", b"f2", b"f2", b"012", b"0", b"x"]);
    let first = pack.first().expect("not empty");
    let index = |text: &[u8], skip| {
        let pos = pack.find(text, first, skip)?;
        (0..8).find(|&index| pack.seek(index) == Some(pos))
    };
    assert_eq!((index(b"f2", 1), index(b"f2", 0)), (Some(4), Some(3)));
    assert_eq!((index(b"12", 1), index(b"012", 1), index(b"012", 0)), (Some(2), None, Some(5)));
    assert_eq!((index(b"v", 1), index(b"v", 0), index(b"", 0)), (None, Some(1), None));
}

#[test]
fn a_queue_does_not_grow_and_a_drained_pack_gives_memory_back() {
    let mut pack = Listpack::new();
    (0..1000).for_each(|_| pack.push_back(b"0123456789abcdef"));
    let full = pack.mem_size();
    for round in 0..20_000 {
        pack.push_back(b"0123456789abcdef");
        pack.remove(pack.first().expect("not empty"));
        assert!(pack.mem_size() <= full * 5 / 4, "round {round}: {}", pack.mem_size());
    }
    pack.remove_range(0, 995);
    assert!(pack.mem_size() <= 160, "{}", pack.mem_size());
    pack.check();
}

/// One random change to both the pack and the model.
fn change(rng: &mut Rand, pack: &mut Listpack, model: &mut VecDeque<Vec<u8>>) {
    let value = random_value(rng);
    let index = rng.random_range(0..model.len().max(1));
    let pos = pack.seek(index as i64);
    match (rng.random_range(0..16), pos) {
        (0..3, _) => {
            pack.push_back(&value);
            model.push_back(value);
        }
        (3..6, _) => {
            pack.push_front(&value);
            model.push_front(value);
        }
        (6..8, Some(pos)) => {
            let at = pack.insert_before(pos, &value);
            assert!(pack.get(at).eq_bytes(&value));
            model.insert(index, value);
        }
        (8, Some(pos)) => {
            let at = pack.insert_after(pos, &value);
            assert!(pack.get(at).eq_bytes(&value));
            model.insert(index + 1, value);
        }
        (9..11, Some(pos)) => {
            let at = pack.replace(pos, &value);
            assert!(pack.get(at).eq_bytes(&value));
            model[index] = value;
        }
        (11..14, Some(pos)) => {
            let next = pack.remove(pos);
            model.remove(index);
            assert_eq!(next, pack.seek(index as i64));
        }
        (14, Some(_)) => {
            let n = rng.random_range(0..20);
            let from_tail = index as i64 - model.len() as i64;
            let removed = pack.remove_range(if rng.random() { index as i64 } else { from_tail }, n);
            let end = model.len().min(index + n);
            assert_eq!(removed, model.drain(index..end).count());
        }
        (15, Some(pos)) => {
            let tail = pack.split_off(pos);
            tail.check();
            assert_eq!((pack.len(), tail.len()), (index, model.len() - index));
            if rng.random() {
                pack.append(&tail);
            } else {
                let mut whole = tail;
                whole.append(pack);
                *pack = whole;
                model.rotate_left(index);
            }
        }
        _ => {}
    }
}

#[test]
fn behaves_like_a_deque() {
    for seed in 0..60 {
        let mut rng = Rand::seed_from_u64(seed);
        let (mut pack, mut model) = (Listpack::new(), VecDeque::new());
        let target = [5, 50, 400][seed as usize % 3];
        for round in 0..600 {
            change(&mut rng, &mut pack, &mut model);
            if model.len() > target {
                let keep = rng.random_range(0..target);
                pack.remove_range(keep as i64, usize::MAX);
                model.truncate(keep);
            }
            pack.check();
            assert!(texts(&pack).iter().eq(model.iter()), "seed {seed} round {round}");
        }
        let backwards: Vec<_> = pack.iter().rev().map(|item| item.to_vec()).collect();
        assert!(backwards.iter().eq(model.iter().rev()), "seed {seed}");
        for (index, value) in model.iter().enumerate() {
            let pos = pack.seek(index as i64).expect("inside");
            assert_eq!(pack.seek(index as i64 - model.len() as i64), Some(pos), "seed {seed}");
            let found = pack.find(value, pack.first().expect("not empty"), 0);
            let expected = model.iter().position(|other| other == value).expect("present");
            assert_eq!(found, pack.seek(expected as i64), "seed {seed}");
        }
        let copy = Listpack::from_redis_bytes(&redis_bytes(&pack)).expect("own bytes are valid");
        assert!(texts(&copy).iter().eq(model.iter()), "seed {seed}");
        assert_eq!(pack.random(&mut rng).is_none(), model.is_empty());
    }
}

#[test]
fn emission_equals_element_by_element() {
    for seed in 0..300 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut pack = Listpack::new();
        let alike = random_value(&mut rng);
        for _ in 0..rng.random_range(1..400) {
            let value =
                if rng.random_range(0..3) > seed % 4 { alike.clone() } else { random_value(&mut rng) };
            pack.push_back(&value);
        }
        if rng.random() {
            pack.shrink_to_fit();
        }
        for _ in 0..5 {
            let pos = pack.seek(rng.random_range(0..pack.len()) as i64).expect("inside");
            let n = rng.random_range(0..pack.len() + 2);
            for reverse in [false, true] {
                let mut out = b"before".to_vec();
                let count = pack.emit_resp_bulks(pos, n, reverse, &mut out);
                let mut expected = b"before".to_vec();
                let bulk = |item: Item<'_>| emit::push_item_bulk(item, &mut expected);
                let wanted = if reverse {
                    pack.iter_to(pos).rev().take(n).map(bulk).count()
                } else {
                    pack.for_each_from(pos, n, bulk)
                };
                assert_eq!(count, wanted, "seed {seed}");
                assert!(out == expected, "seed {seed} n {n} reverse {reverse}");
            }
        }
    }
}

#[test]
fn bulk_strings_are_spelled_as_resp() {
    let pack = pack_of(&[b"a", b"7", b"10", b"127", b"-5", b"123456789", b"0123456789", b""]);
    let mut out = Vec::new();
    assert_eq!(pack.emit_resp_bulks(pack.first().expect("not empty"), 100, false, &mut out), 8);
    let expected = "$1|a|$1|7|$2|10|$3|127|$2|-5|$9|123456789|$10|0123456789|$0||".replace('|', "\r\n");
    assert_eq!(String::from_utf8_lossy(&out), expected);
}

#[test]
fn foreign_encodings_are_made_canonical() {
    // "5" as a string, 5 as a 16-bit integer, "ab" with a 12-bit length.
    let entries = [0x81, b'5', 2, 0xF1, 5, 0, 3, 0xE0, 2, b'a', b'b', 4];
    let mut bytes = vec![7 + entries.len() as u8, 0, 0, 0, 3, 0];
    bytes.extend_from_slice(&entries);
    bytes.push(0xFF);
    let pack = Listpack::from_redis_bytes(&bytes).expect("valid");
    pack.check();
    assert_eq!(texts(&pack), [&b"5"[..], b"5", b"ab"]);
    bytes[4] = 2;
    assert_eq!(Listpack::from_redis_bytes(&bytes).err(), Some(Invalid));
    bytes[4..6].copy_from_slice(&[0xFF, 0xFF]);
    assert!(Listpack::from_redis_bytes(&bytes).is_ok_and(|pack| pack.len() == 3));
}

#[test]
fn hostile_bytes_are_refused_or_yield_a_sound_pack() {
    let mut accepted = 0;
    for seed in 0..40_000 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut bytes = if seed % 2 == 0 {
            let mut pack = Listpack::new();
            (0..rng.random_range(0..6)).for_each(|_| pack.push_back(&random_value(&mut rng)));
            redis_bytes(&pack)
        } else {
            (0..rng.random_range(0..40)).map(|_| rng.random()).collect()
        };
        for _ in 0..rng.random_range(0..3) {
            let at = rng.random_range(0..bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = if rng.random() { rng.random() } else { *byte ^ (1 << rng.random_range(0..8)) };
            }
        }
        if rng.random() && bytes.len() >= 6 {
            // Right totals let the damage reach the entries.
            let total = bytes.len() as u32;
            bytes[..4].copy_from_slice(&total.to_le_bytes());
            bytes[4..6].copy_from_slice(&[0xFF, 0xFF]);
            if let Some(last) = bytes[6..].last_mut() {
                *last = 0xFF;
            }
        }
        if let Ok(mut pack) = Listpack::from_redis_bytes(&bytes) {
            pack.check();
            accepted += 1;
            let again = Listpack::from_redis_bytes(&redis_bytes(&pack)).expect("own bytes are valid");
            assert_eq!(texts(&again), texts(&pack), "seed {seed}");
            while let Some(last) = pack.last() {
                pack.remove(last);
            }
        }
    }
    assert!(accepted > 1000, "the test must reach the good path: {accepted}");
}
