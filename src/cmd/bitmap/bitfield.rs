//! BITFIELD: integers of 1 to 64 bits anywhere inside a string. Touches db, types, proto and base.
//!
//! A field lies in at most nine bytes. Those are loaded into the top of a 128-bit number, so that reading is two shifts
//! and writing is one mask:
//!
//! ```text
//!   | offset & 7 | field: `bits`        | rest of the window …                    |
//!   127                                                                          0
//! ```
//! Sums are computed in 128 bits, where nothing overflows, and then fitted into the field.

use super::parse_offset;
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::cmd::strings::string_bytes;
use crate::db::keyspace::EventClass;
use crate::db::value::Value;
use crate::proto::reply::Reply;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "bitfield",
        summary: "Reads and writes integers of any width inside a string.",
        since: "3.2.0",
        group: Group::Bitmap,
        complexity: "O(1) for each operation.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::BITMAP,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_UPDATE.or(KeyFlags::VARIABLE_FLAGS))
            .notes("Read or written, as the operations say.")],
        syntax: "key [operation(GET get-block{encoding offset:int}|\
            write{[OVERFLOW overflow-block(WRAP|SAT|FAIL)] \
            write-operation(SET set-block{encoding offset:int value:int}|INCRBY \
            incrby-block{encoding offset:int increment:int})})...]",
        handler: Some(bitfield),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "bitfield_ro",
        summary: "Reads integers of any width inside a string.",
        since: "6.0.0",
        group: Group::Bitmap,
        complexity: "O(1) for each operation.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::BITMAP,
        keys: KeySpec::READ,
        syntax: "key [GET... get-block{encoding offset:int}]",
        handler: Some(bitfield_ro),
        ..CommandSpec::DEFAULT
    },
];

/// Most bytes that a field touches.
const WINDOW_BYTES: usize = 9;

const WINDOW_BITS: u32 = u128::BITS;

#[derive(Debug, Clone, Copy)]
struct Field {
    signed: bool,
    bits: u32,
    offset: u64,
}

impl Field {
    /// A type like `i16` or `u8` and an offset.
    fn parse(kind: &[u8], offset: &[u8], bytes_max: u64) -> Result<Field, CmdError> {
        let (signed, digits, widest) = match kind {
            [b'i', digits @ ..] => (true, digits, 64),
            [b'u', digits @ ..] => (false, digits, 63),
            _ => return Err(CmdError::BITFIELD_TYPE),
        };
        let bits =
            parse_i64(digits).filter(|bits| (1..=widest).contains(bits)).ok_or(CmdError::BITFIELD_TYPE)?;
        let bits = bits as u32;
        Ok(Field { signed, bits, offset: parse_offset(offset, Some(bits), bytes_max)? })
    }

    /// The bytes it lies in.
    fn bytes(self) -> std::ops::Range<usize> {
        (self.offset >> 3) as usize..((self.offset + u64::from(self.bits) + 7) >> 3) as usize
    }

    fn skipped_bits(self) -> u32 {
        (self.offset & 7) as u32
    }

    /// What stands there; past the end of the string there are zeros.
    fn read(self, string: &[u8]) -> i64 {
        let there = string.get(self.bytes().start..).unwrap_or(b"");
        let there = &there[..there.len().min(WINDOW_BYTES)];
        let top = load(there) << self.skipped_bits();
        let unused = WINDOW_BITS - self.bits;
        if self.signed { (top.cast_signed() >> unused) as i64 } else { (top >> unused) as i64 }
    }

    /// Writes the lowest bits of `value` there. The string is long enough.
    fn write(self, string: &mut [u8], value: i64) {
        let there = &mut string[self.bytes()];
        let shift = WINDOW_BITS - self.skipped_bits() - self.bits;
        let mask = ((1 << self.bits) - 1) << shift;
        let window = (load(there) & !mask) | ((u128::from(value.cast_unsigned()) << shift) & mask);
        there.copy_from_slice(&window.to_be_bytes()[..there.len()]);
    }

    /// The least and the greatest number it can hold.
    fn limits(self) -> (i128, i128) {
        if self.signed {
            (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        }
    }

    /// The number that SET asks for, as Redis takes it. What is too far below counts as far above the greatest, which
    /// saturation shows: anything below zero for an unsigned field, and what is 2^63 or more below the greatest for a
    /// signed one.
    fn as_set(self, number: i64) -> i128 {
        let too_low = if self.signed {
            let greatest = i64::MAX >> (64 - self.bits);
            greatest.checked_sub(number).is_none() && self.bits < 64
        } else {
            number < 0
        };
        i128::from(number) + if too_low { 1 << 64 } else { 0 }
    }

    /// The number to store for `wanted`; `None` if it does not fit and that is a failure.
    fn fit(self, wanted: i128, overflow: Overflow) -> Option<i64> {
        let (least, greatest) = self.limits();
        if (least..=greatest).contains(&wanted) {
            return Some(wanted as i64);
        }
        let unused = WINDOW_BITS - self.bits;
        match overflow {
            Overflow::Fail => None,
            Overflow::Saturate => Some(wanted.clamp(least, greatest) as i64),
            Overflow::Wrap if self.signed => Some(((wanted << unused) >> unused) as i64),
            Overflow::Wrap => Some((wanted & greatest) as i64),
        }
    }
}

/// Up to nine bytes at the top of a window, zeros below.
fn load(bytes: &[u8]) -> u128 {
    let mut window = [0; size_of::<u128>()];
    window[..bytes.len()].copy_from_slice(bytes);
    u128::from_be_bytes(window)
}

#[derive(Debug, Clone, Copy)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Get,
    Set(i64),
    Add(i64),
}

struct Operation {
    field: Field,
    action: Action,
    overflow: Overflow,
}

impl Operation {
    fn writes(&self) -> bool {
        !matches!(self.action, Action::Get)
    }

    /// Does it and replies. Returns whether the string changed; `grown` says that it already did by getting longer.
    fn apply(&self, string: &mut [u8], grown: bool, out: &mut Reply) -> bool {
        let field = self.field;
        let old = field.read(string);
        let wanted = match self.action {
            Action::Get => {
                out.int(old);
                return false;
            }
            Action::Set(number) => field.as_set(number),
            Action::Add(number) => i128::from(old) + i128::from(number),
        };
        let Some(new) = field.fit(wanted, self.overflow) else {
            out.null();
            return false;
        };
        field.write(string, new);
        out.int(if matches!(self.action, Action::Set(_)) { old } else { new });
        grown || old != new
    }
}

fn parse(ctx: &Ctx) -> Result<Vec<Operation>, CmdError> {
    let mut operations = Vec::new();
    let mut overflow = Overflow::Wrap;
    let mut rest = &ctx.args[2..];
    while let [word, after @ ..] = rest {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("OVERFLOW") && !after.is_empty() {
            overflow = parse_overflow(after[0])?;
            rest = &after[1..];
            continue;
        }
        let operands = match () {
            () if is("GET") => 2,
            () if is("SET") || is("INCRBY") => 3,
            () => return Err(CmdError::SYNTAX),
        };
        let (operands, after) = after.split_at_checked(operands).ok_or(CmdError::SYNTAX)?;
        let field = Field::parse(operands[0], operands[1], ctx.config.proto_max_bulk_len)?;
        let action = match operands.get(2) {
            None => Action::Get,
            Some(number) => {
                let number = parse_i64(number).ok_or(CmdError::NOT_INTEGER)?;
                if is("SET") { Action::Set(number) } else { Action::Add(number) }
            }
        };
        operations.push(Operation { field, action, overflow });
        rest = after;
    }
    Ok(operations)
}

fn parse_overflow(word: &[u8]) -> Result<Overflow, CmdError> {
    const WORDS: [(&str, Overflow); 3] =
        [("WRAP", Overflow::Wrap), ("SAT", Overflow::Saturate), ("FAIL", Overflow::Fail)];
    let found = WORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
    found.map(|&(_, overflow)| overflow).ok_or(CmdError::BITFIELD_OVERFLOW)
}

fn bitfield(ctx: &mut Ctx) -> CmdResult {
    let operations = parse(ctx)?;
    if operations.iter().any(Operation::writes) { edit(ctx, &operations) } else { look(ctx, &operations) }
}

fn bitfield_ro(ctx: &mut Ctx) -> CmdResult {
    let operations = parse(ctx)?;
    if operations.iter().any(Operation::writes) {
        return Err(CmdError::BITFIELD_READ_ONLY);
    }
    look(ctx, &operations)
}

/// Runs operations that only read.
fn look(ctx: &mut Ctx, operations: &[Operation]) -> CmdResult {
    let mut buffer = itoa::Buffer::new();
    let string = match ctx.ks.read(ctx.session.db, ctx.args[1]) {
        Some(entry) => string_bytes(entry.value(), &mut buffer)?,
        None => b"",
    };
    ctx.out.array(operations.len());
    for operation in operations {
        ctx.out.int(operation.field.read(string));
    }
    Ok(Outcome::Done)
}

/// Runs operations of which some write: the string is made long enough for all of those first.
fn edit(ctx: &mut Ctx, operations: &[Operation]) -> CmdResult {
    let writing = operations.iter().filter(|operation| operation.writes());
    let needed = writing.map(|operation| operation.field.bytes().end).max().unwrap_or(0);
    let (db, key, out) = (ctx.session.db, ctx.args[1], &mut ctx.out);
    let mut run = |string: &mut [u8], grown: bool| -> u64 {
        out.array(operations.len());
        operations.iter().map(|operation| u64::from(operation.apply(string, grown, out))).sum()
    };
    let changes = match ctx.ks.write(db, key) {
        Some(mut entry) => {
            let string = entry.string_mut().ok_or(CmdError::WRONG_TYPE)?;
            let grown = string.len() < needed;
            if grown {
                string.resize(needed, 0);
            }
            run(string, grown)
        }
        None => {
            let mut string = vec![0; needed];
            let changes = run(&mut string, true);
            ctx.ks.set(db, key, Value::Owned(string), false);
            changes
        }
    };
    if changes > 0 {
        ctx.ks.changed(db, key, EventClass::STRING, "setbit", changes);
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::base::Rand;
    use crate::cmd::testing::Space;

    #[test]
    fn operations_and_overflows() {
        let mut space = Space::new();
        space.script(
            "BITFIELD f SET u8 0 255 GET u8 0 => *2 :0 :255
             BITFIELD f INCRBY u8 0 10 => *1 :9
             BITFIELD f OVERFLOW SAT INCRBY u8 0 300 OVERFLOW FAIL INCRBY u8 0 1 => *2 :255 $-1
             BITFIELD f SET i5 100 -17 GET i5 100 => *2 :0 :15
             BITFIELD f OVERFLOW SAT SET i5 100 -17 GET i5 100 => *2 :15 :-16
             BITFIELD f OVERFLOW SAT SET u4 0 -1 GET u8 0 => *2 :15 :255
             BITFIELD f SET i64 3 -2 GET i64 3 => *2 :-576460752303423488 :-2
             BITFIELD f OVERFLOW SAT INCRBY i64 3 -9223372036854775808 => *1 :-9223372036854775808
             BITFIELD f SET u8 #20 7 GET u8 160 => *2 :0 :7
             STRLEN f => :21
             BITFIELD none GET u8 0 GET i64 99 => *2 :0 :0
             BITFIELD none => *0
             BITFIELD_RO f GET u8 #20 => *1 :7
             BITFIELD n OVERFLOW FAIL SET u1 7 5 => *1 $-1
             STRLEN n => :1",
        );
        assert_eq!(space.events()[..3], ["new f", "setbit f", "setbit f"]);
        // The failed ones and the value that stayed the same do not count.
        assert_eq!(space.dirty(), 8);
    }

    #[test]
    fn a_set_far_below_saturates_at_the_greatest() {
        let mut space = Space::new();
        space.script(
            "BITFIELD f OVERFLOW SAT SET i8 0 -9223372036854775681 GET i8 0 => *2 :0 :127
             BITFIELD f OVERFLOW SAT SET i8 0 -9223372036854775680 GET i8 0 => *2 :127 :-128
             BITFIELD f OVERFLOW WRAP SET i8 0 -9223372036854775807 GET i8 0 => *2 :-128 :1
             BITFIELD f OVERFLOW FAIL SET i8 0 -9223372036854775807 => *1 $-1
             BITFIELD f OVERFLOW SAT SET i64 8 -9223372036854775808 GET i64 8 => *2 :0 :-9223372036854775808",
        );
    }

    #[test]
    fn the_numbers_of_fields_start_again_far_out() {
        let mut space = Space::new();
        space.script(
            "SET f foobar => +OK
             BITFIELD f GET i8 #-9223372036854775807 GET i8 #1 => *2 :111 :111
             BITFIELD f GET i8 #-9223372036854775808 => *1 :102
             BITFIELD f GET i8 #-1 => -ERR bit offset is not an integer or out of range",
        );
    }

    #[test]
    fn errors_in_order() {
        let mut space = Space::new();
        space.script(
            "BITFIELD f GET u8 x => -ERR bit offset is not an integer or out of range
             BITFIELD f SET u8 # x => -ERR bit offset is not an integer or out of range
             BITFIELD f SET u8 #9223372036854775807 x => -ERR bit offset is not an integer or out of range
             BITFIELD f SET u8 0 x => -ERR value is not an integer or out of range
             BITFIELD f OVERFLOW x => -ERR Invalid OVERFLOW type specified
             BITFIELD f OVERFLOW => -ERR syntax error
             BITFIELD f GET u8 => -ERR syntax error
             BITFIELD f GET u8 0 FOO => -ERR syntax error
             BITFIELD_RO f OVERFLOW FAIL SET u8 0 1 => -ERR BITFIELD_RO only supports the GET subcommand
             BITFIELD_RO f SET u8 0 x => -ERR value is not an integer or out of range",
        );
        for kind in ["u64", "i65", "u0", "i-1", "i", "x8", "U8", "\"\""] {
            let reply = space.line(&format!("BITFIELD f GET {kind} x"));
            assert!(reply.starts_with("-ERR Invalid bitfield type."), "{kind}: {reply}");
        }
        assert_eq!(space.dirty(), 0);
    }

    #[test]
    fn reading_and_writing_agree_with_single_bits() {
        for seed in 0..20_000 {
            let mut rng = Rand::seed_from_u64(seed);
            let signed = rng.random();
            let bits = rng.random_range(1..=if signed { 64 } else { 63 });
            let field = Field { signed, bits, offset: rng.random_range(0..80) };
            let mut string: Vec<u8> = (0..18).map(|_| rng.random()).collect();
            let before = string.clone();
            let value = rng.random::<i64>();
            field.write(&mut string, value);
            let bit = |bytes: &[u8], at: u64| bytes[at as usize / 8] >> (7 - at % 8) & 1;
            for at in 0..18 * 8 {
                let inside = (field.offset..field.offset + u64::from(bits)).contains(&at);
                let want = match inside {
                    true => (value >> (u64::from(bits) - 1 - (at - field.offset)) & 1) as u8,
                    false => bit(&before, at),
                };
                assert_eq!(bit(&string, at), want, "seed {seed} bit {at}");
            }
            let cut = 64 - bits;
            let want = if signed { value << cut >> cut } else { ((value as u64) << cut >> cut) as i64 };
            assert_eq!(field.read(&string), want, "seed {seed}");
            let short = &string[..rng.random_range(0..18)];
            let mut padded = short.to_vec();
            padded.resize(18, 0);
            assert_eq!(field.read(short), field.read(&padded), "seed {seed}");
        }
    }
}
