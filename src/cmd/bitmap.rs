//! Strings as bit maps: SETBIT, GETBIT, BITCOUNT, BITPOS, BITOP. Touches db, types, proto and base.
//!
//! Bit 0 is the highest bit of the first byte. Whole words are looked at where it pays: counting and searching go eight
//! bytes at a time, and BITOP's byte loops are plain enough for the compiler to widen. BITFIELD is in `bitfield`.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use super::strings::ranges::{byte_range, clamped_range};
use super::strings::string_bytes;
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::db::keyspace::EventClass;
use crate::db::value::Value;

pub mod bitfield;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "bitcount",
        summary: "Counts the set bits of a string.",
        since: "2.6.0",
        group: Group::Bitmap,
        complexity: "O(N), N being the length of the string.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::BITMAP,
        keys: KeySpec::READ,
        syntax: "key [range{start:int end:int [unit(BYTE|BIT)@7.0.0]}]",
        handler: Some(bitcount),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "bitop",
        summary: "Combines strings bit by bit and stores the result.",
        since: "2.6.0",
        group: Group::Bitmap,
        complexity: "O(N), N being the length of the longest string.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::BITMAP,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE).at(2), KeySpec::one(KeyFlags::RO_ACCESS).at(3).to(-1)],
        syntax: "operation(AND|OR|XOR|NOT) destkey:key key...",
        handler: Some(bitop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "bitpos",
        summary: "Finds the first set or clear bit of a string.",
        since: "2.8.7",
        group: Group::Bitmap,
        complexity: "O(N), N being the length of the string.",
        arity: -3,
        flags: Flags::READONLY,
        acl: Acl::BITMAP,
        keys: KeySpec::READ,
        syntax: "key bit:int [range{start:int [end-unit-block{end:int [unit(BYTE|BIT)@7.0.0]}]}]",
        handler: Some(bitpos),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "getbit",
        summary: "Reads a bit of a string.",
        since: "2.2.0",
        group: Group::Bitmap,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::BITMAP,
        keys: KeySpec::READ,
        syntax: "key offset:int",
        handler: Some(getbit),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "setbit",
        summary: "Sets or clears a bit of a string and returns the old one.",
        since: "2.2.0",
        group: Group::Bitmap,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::BITMAP,
        keys: KeySpec::MODIFY,
        syntax: "key offset:int value:int",
        handler: Some(setbit),
        ..CommandSpec::DEFAULT
    },
];

/// Reads a bit offset. `field_bits` lets it be given as `#n`, meaning the n-th field of that width. `bytes_max` is
/// `proto-max-bulk-len`.
fn parse_offset(text: &[u8], field_bits: Option<u32>, bytes_max: u64) -> Result<u64, CmdError> {
    let (text, factor) = match (text, field_bits) {
        ([b'#', rest @ ..], Some(bits)) => (rest, i64::from(bits)),
        _ => (text, 1),
    };
    parse_i64(text)
        // Far out, the numbers of fields start again, as they do in Redis.
        .map(|number| number.wrapping_mul(factor))
        .and_then(|offset| u64::try_from(offset).ok())
        .filter(|offset| offset >> 3 < bytes_max)
        .ok_or(CmdError::BIT_OFFSET)
}

/// The byte that a bit is in, and the bit's value there.
fn place(offset: u64) -> (usize, u8) {
    ((offset >> 3) as usize, 0x80 >> (offset & 7))
}

fn setbit(ctx: &mut Ctx) -> CmdResult {
    let (byte, mask) = place(parse_offset(ctx.args[2], None, ctx.config.proto_max_bulk_len)?);
    let on = match ctx.args[3] {
        b"0" => false,
        b"1" => true,
        _ => return Err(CmdError::BIT_VALUE),
    };
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let (was, changed) = match ctx.ks.write(db, key) {
        Some(mut entry) => {
            let string = entry.string_mut().ok_or(CmdError::WRONG_TYPE)?;
            let grown = string.len() <= byte;
            if grown {
                string.resize(byte + 1, 0);
            }
            let was = string[byte] & mask != 0;
            string[byte] = if on { string[byte] | mask } else { string[byte] & !mask };
            (was, grown || was != on)
        }
        None => {
            let mut string = vec![0; byte + 1];
            string[byte] = if on { mask } else { 0 };
            ctx.ks.set(db, key, Value::Owned(string), false);
            (false, true)
        }
    };
    if changed {
        ctx.ks.changed(db, key, EventClass::STRING, "setbit", 1);
    }
    ctx.out.int(i64::from(was));
    Ok(Outcome::Done)
}

fn getbit(ctx: &mut Ctx) -> CmdResult {
    let (byte, mask) = place(parse_offset(ctx.args[2], None, ctx.config.proto_max_bulk_len)?);
    let on = match ctx.ks.read(ctx.session.db, ctx.args[1]) {
        Some(entry) => {
            let mut buffer = itoa::Buffer::new();
            string_bytes(entry.value(), &mut buffer)?.get(byte).is_some_and(|byte| byte & mask != 0)
        }
        None => false,
    };
    ctx.out.int(i64::from(on));
    Ok(Outcome::Done)
}

/// Whether the indices of BITCOUNT and BITPOS count bits; argument `index` says so, or that they count bytes.
fn counts_bits(ctx: &Ctx, index: usize) -> Result<bool, CmdError> {
    if index >= ctx.args.len() || ctx.is_word(index, "BYTE") {
        Ok(false)
    } else if ctx.is_word(index, "BIT") {
        Ok(true)
    } else {
        Err(CmdError::SYNTAX)
    }
}

fn bitcount(ctx: &mut Ctx) -> CmdResult {
    let range = match ctx.args.len() {
        2 => (0, -1, false),
        4 | 5 => (ctx.int(2)?, ctx.int(3)?, counts_bits(ctx, 4)?),
        _ => return Err(CmdError::SYNTAX),
    };
    let count = match ctx.ks.read(ctx.session.db, ctx.args[1]) {
        Some(entry) => {
            let mut buffer = itoa::Buffer::new();
            let bytes = string_bytes(entry.value(), &mut buffer)?;
            bit_range(byte_range, range, bytes.len())
                .map_or(0, |(first, last)| count_ones(bytes, first, last))
        }
        None => 0,
    };
    ctx.out.int(count as i64);
    Ok(Outcome::Done)
}

/// The first and last bit of a range in a string of `len` bytes, given as start, end and whether those count bits.
/// `range` is how positions are made of indices.
fn bit_range(
    range: fn(i64, i64, usize) -> Option<(usize, usize)>,
    (start, end, in_bits): (i64, i64, bool),
    len: usize,
) -> Option<(usize, usize)> {
    if in_bits {
        range(start, end, len * 8)
    } else {
        range(start, end, len).map(|(first, last)| (first * 8, last * 8 + 7))
    }
}

/// The bits of a byte from `first` on, and those up to `last`, as masks.
fn edge_masks(first: usize, last: usize) -> (u8, u8) {
    (0xff >> (first & 7), 0xff << (7 - (last & 7)))
}

/// Set bits from bit `first` to bit `last`, both within `bytes`.
fn count_ones(bytes: &[u8], first: usize, last: usize) -> u64 {
    let inside = &bytes[first >> 3..=last >> 3];
    let (words, rest) = inside.as_chunks::<8>();
    let in_words: u64 = words.iter().map(|word| u64::from(u64::from_ne_bytes(*word).count_ones())).sum();
    let in_rest: u64 = rest.iter().map(|byte| u64::from(byte.count_ones())).sum();
    let (head, tail) = edge_masks(first, last);
    let outside = (inside[0] & !head).count_ones() + (inside[inside.len() - 1] & !tail).count_ones();
    in_words + in_rest - u64::from(outside)
}

fn bitpos(ctx: &mut Ctx) -> CmdResult {
    let bit = match ctx.int(2)? {
        0 => false,
        1 => true,
        _ => return Err(CmdError::BIT_ARGUMENT),
    };
    let argc = ctx.args.len();
    if argc > 6 {
        return Err(CmdError::SYNTAX);
    }
    let start = if argc > 3 { ctx.int(3)? } else { 0 };
    let in_bits = counts_bits(ctx, 5)?;
    let end = if argc > 4 { ctx.int(4)? } else { -1 };
    let position = match ctx.ks.read(ctx.session.db, ctx.args[1]) {
        Some(entry) => {
            let mut buffer = itoa::Buffer::new();
            let bytes = string_bytes(entry.value(), &mut buffer)?;
            match bit_range(clamped_range, (start, end, in_bits), bytes.len()) {
                Some((first, last)) => match find_bit(bytes, first, last, bit) {
                    // Without a given end, a string goes on with zeros for ever.
                    None if !bit && argc < 5 => bytes.len() as i64 * 8,
                    found => found.map_or(-1, |position| position as i64),
                },
                None => -1,
            }
        }
        // So does a missing one.
        None => -i64::from(bit),
    };
    ctx.out.int(position);
    Ok(Outcome::Done)
}

/// The first bit equal to `bit` from bit `first` to bit `last`, both within `bytes`.
fn find_bit(bytes: &[u8], first: usize, last: usize, bit: bool) -> Option<usize> {
    // Looks for ones; if zeros are wanted, in the complement.
    let flip = if bit { 0 } else { 0xff };
    let (head, _) = edge_masks(first, last);
    let (first_byte, last_byte) = (first >> 3, last >> 3);
    let in_byte = |at: usize, byte: u8| at * 8 + byte.leading_zeros() as usize;
    let found = match (bytes[first_byte] ^ flip) & head {
        0 => {
            let rest = &bytes[first_byte + 1..=last_byte];
            let (words, _) = rest.as_chunks::<8>();
            let dull = [flip; 8];
            let skipped = words.iter().take_while(|word| **word == dull).count() * 8;
            let at = skipped + rest[skipped..].iter().position(|&byte| byte != flip)?;
            in_byte(first_byte + 1 + at, rest[at] ^ flip)
        }
        byte => in_byte(first_byte, byte),
    };
    (found <= last).then_some(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Not,
}

impl Operation {
    fn named(word: &[u8]) -> Option<Operation> {
        const WORDS: [(&str, Operation); 4] = [
            ("AND", Operation::And),
            ("OR", Operation::Or),
            ("XOR", Operation::Xor),
            ("NOT", Operation::Not),
        ];
        WORDS
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()))
            .map(|&(_, operation)| operation)
    }

    /// Combines what the sources so far came to with one more. The shorter one goes on with zeros.
    fn fold(self, sum: &mut Vec<u8>, source: &[u8]) {
        if sum.len() < source.len() {
            sum.resize(source.len(), 0);
        }
        let (both, beyond) = sum.split_at_mut(source.len());
        match self {
            Operation::And => {
                both.iter_mut().zip(source).for_each(|(byte, other)| *byte &= other);
                beyond.fill(0);
            }
            Operation::Or => both.iter_mut().zip(source).for_each(|(byte, other)| *byte |= other),
            Operation::Xor => both.iter_mut().zip(source).for_each(|(byte, other)| *byte ^= other),
            Operation::Not => debug_assert!(false, "NOT has one source"),
        }
    }
}

fn bitop(ctx: &mut Ctx) -> CmdResult {
    let operation = Operation::named(ctx.args[1]).ok_or(CmdError::SYNTAX)?;
    let (db, target, sources) = (ctx.session.db, ctx.args[2], &ctx.args[3..]);
    if operation == Operation::Not && sources.len() != 1 {
        return Err(CmdError::BITOP_NOT_SINGLE);
    }
    let mut result = Vec::new();
    for (i, key) in sources.iter().enumerate() {
        let mut buffer = itoa::Buffer::new();
        let source = match ctx.ks.read(db, key) {
            Some(entry) => string_bytes(entry.value(), &mut buffer)?,
            None => b"",
        };
        match i {
            0 => result.extend_from_slice(source),
            _ => operation.fold(&mut result, source),
        }
    }
    if operation == Operation::Not {
        result.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let len = result.len();
    if len == 0 {
        ctx.ks.delete(db, target);
    } else {
        ctx.ks.set(db, target, Value::Owned(result), false);
        ctx.ks.changed(db, target, EventClass::STRING, "set", 1);
    }
    ctx.out.len(len);
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::base::Rand;
    use crate::cmd::testing::Space;

    #[test]
    fn setbit_and_getbit() {
        let mut space = Space::new();
        space.script(
            "SETBIT a 7 1 => :0
             SETBIT a 7 1 => :1
             SETBIT a 7 0 => :1
             SETBIT a 23 0 => :0
             GET a => $3 \0\0\0
             SET n 1 => +OK
             SETBIT n 6 1 => :0
             GET n => $1 3
             SET n 12 => +OK
             GETBIT n 7 => :1
             GETBIT n 99 => :0
             GETBIT none 0 => :0
             SETBIT a -1 1 => -ERR bit offset is not an integer or out of range
             SETBIT a 4294967296 1 => -ERR bit offset is not an integer or out of range
             SETBIT a #1 1 => -ERR bit offset is not an integer or out of range
             SETBIT a 1 2 => -ERR bit is not an integer or out of range
             SETBIT a x 2 => -ERR bit offset is not an integer or out of range
             GETBIT a x => -ERR bit offset is not an integer or out of range",
        );
        assert_eq!(space.events()[..4], ["new a", "setbit a", "setbit a", "setbit a"]);
        assert_eq!((space.dirty(), space.encoding("a")), (6, "raw"));
        space.script("SETBIT c 4294967295 1 => :0\nSTRLEN c => :536870912\nBITPOS c 1 => :4294967295");
    }

    #[test]
    fn bitcount_arguments() {
        let mut space = Space::new();
        space.script(
            "SET s foobar => +OK
             BITCOUNT s => :26
             BITCOUNT s 0 0 => :4
             BITCOUNT s 1 1 BYTE => :6
             BITCOUNT s 5 30 bit => :17
             BITCOUNT s -2 -1 => :7
             BITCOUNT s -2 -3 => :0
             BITCOUNT s 0 -100 => :4
             BITCOUNT s 0 -100 BIT => :0
             BITCOUNT none => :0
             BITCOUNT none 0 x => -ERR value is not an integer or out of range
             BITCOUNT none 0 1 x => -ERR syntax error
             BITCOUNT s 0 => -ERR syntax error
             BITCOUNT s 0 1 BIT x => -ERR syntax error",
        );
    }

    #[test]
    fn bitpos_arguments() {
        let mut space = Space::new();
        space.run_bytes(&[b"SET", b"s", b"\xff\xf0\x00"]);
        space.run_bytes(&[b"SET", b"ones", b"\xff\xff"]);
        space.script(
            "BITPOS s 0 => :12
             BITPOS s 1 2 => :-1
             BITPOS s 0 0 0 => :-1
             BITPOS s 1 -1 => :-1
             BITPOS s 0 -100 -101 => :-1
             BITPOS s 1 7 15 BIT => :7
             BITPOS s 0 0 11 BIT => :-1
             BITPOS s 0 9 => :-1
             BITPOS ones 0 => :16
             BITPOS ones 0 1 => :16
             BITPOS ones 0 0 -1 => :-1
             BITPOS none 0 => :0
             BITPOS none 1 => :-1
             BITPOS none 2 => -ERR The bit argument must be 1 or 0.
             BITPOS none x => -ERR value is not an integer or out of range
             BITPOS none 1 x 1 y => -ERR value is not an integer or out of range
             BITPOS none 1 0 x y => -ERR syntax error
             BITPOS none 1 0 x BIT => -ERR value is not an integer or out of range
             BITPOS none 1 0 1 BIT y => -ERR syntax error
             SET empty \"\" => +OK
             BITPOS empty 0 => :-1",
        );
    }

    #[test]
    fn bitop_stores_or_deletes() {
        let mut space = Space::new();
        space.script(
            "MSET a abc b 1 => +OK
             BITOP AND d a b => :3
             GET d => $3 !\0\0
             BITOP or d a b none => :3
             GET d => $3 qbc
             BITOP XOR d a a a => :3
             GET d => $3 abc
             BITOP AND a a none => :3
             GET a => $3 \0\0\0
             BITOP NOT d none => :0
             BITOP NOT d none => :0
             GET d => $-1
             BITOP NOT d a b => -ERR BITOP NOT must be called with a single source key.
             BITOP NAND d a b => -ERR syntax error",
        );
        let want = ["new d", "set d", "set d", "set d", "set a", "del d"];
        assert_eq!(space.events()[4..], want);
        assert_eq!(space.dirty(), 7);
    }

    type Combine = fn(u8, u8) -> u8;

    fn bit_at(bytes: &[u8], at: usize) -> bool {
        bytes[at / 8] >> (7 - at % 8) & 1 == 1
    }

    #[test]
    fn counting_and_searching_agree_with_single_bits() {
        for seed in 0..3_000 {
            let mut rng = Rand::seed_from_u64(seed);
            let len = rng.random_range(1..40);
            let usual = [0, 0xff, rng.random()][rng.random_range(0..3)];
            let mut bytes = vec![usual; len];
            for _ in 0..rng.random_range(0..3) {
                bytes[rng.random_range(0..len)] = rng.random();
            }
            let first = rng.random_range(0..len * 8);
            let last = rng.random_range(first..len * 8);
            let ones = (first..=last).filter(|&at| bit_at(&bytes, at)).count() as u64;
            assert_eq!(count_ones(&bytes, first, last), ones, "seed {seed}");
            for bit in [false, true] {
                let want = (first..=last).find(|&at| bit_at(&bytes, at) == bit);
                assert_eq!(find_bit(&bytes, first, last, bit), want, "seed {seed} {bit}");
            }
        }
    }

    #[test]
    fn bitop_agrees_with_single_bytes() {
        for seed in 0..500 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut space = Space::new();
            let sources: Vec<Vec<u8>> = (0..rng.random_range(1..5))
                .map(|_| (0..rng.random_range(1..70)).map(|_| rng.random()).collect())
                .collect();
            let names: Vec<String> = (0..sources.len()).map(|i| format!("s{i}")).collect();
            for (name, source) in names.iter().zip(&sources) {
                space.run_bytes(&[b"SET", name.as_bytes(), source]);
            }
            let len = sources.iter().map(Vec::len).max().expect("a source");
            let byte = |source: &Vec<u8>, at: usize| source.get(at).copied().unwrap_or(0);
            let ops: [(&str, Combine); 3] =
                [("AND", |a, b| a & b), ("OR", |a, b| a | b), ("XOR", |a, b| a ^ b)];
            for (word, op) in ops {
                let mut args = vec![&b"BITOP"[..], word.as_bytes(), b"d"];
                args.extend(names.iter().map(|name| name.as_bytes()));
                assert_eq!(space.run_bytes(&args), format!(":{len}\r\n").into_bytes(), "seed {seed}");
                let want: Vec<u8> = (0..len)
                    .map(|at| sources[1..].iter().fold(byte(&sources[0], at), |acc, s| op(acc, byte(s, at))))
                    .collect();
                let got = space.run_bytes(&[b"GET", b"d"]);
                assert!(got.ends_with(&[&want[..], b"\r\n"].concat()), "seed {seed} {word}");
            }
        }
    }
}
