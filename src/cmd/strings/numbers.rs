//! INCR and its kin: strings as numbers. Touches db, types, proto and base.
//!
//! An integer is stored as one, and changed where it stands. A sum of floating point numbers is stored as its text; it
//! is computed as Redis does on x86, see `base::longdouble`.

use crate::base::error::CmdError;
use crate::base::longdouble::LongDouble;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::db::keyspace::EventClass;
use crate::db::value::{Value, ValueRef};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "decr",
        summary: "Subtracts one from a number.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::MODIFY,
        syntax: "key",
        handler: Some(decr),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "decrby",
        summary: "Subtracts an amount from a number.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::MODIFY,
        syntax: "key decrement:int",
        handler: Some(decrby),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "incr",
        summary: "Adds one to a number.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::MODIFY,
        syntax: "key",
        handler: Some(incr),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "incrby",
        summary: "Adds an amount to a number.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::MODIFY,
        syntax: "key increment:int",
        handler: Some(incrby),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "incrbyfloat",
        summary: "Adds an amount to a floating-point number.",
        since: "2.6.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::MODIFY,
        syntax: "key increment:double",
        handler: Some(incrbyfloat),
        ..CommandSpec::DEFAULT
    },
];

fn incr(ctx: &mut Ctx) -> CmdResult {
    add(ctx, 1)
}

fn decr(ctx: &mut Ctx) -> CmdResult {
    add(ctx, -1)
}

fn incrby(ctx: &mut Ctx) -> CmdResult {
    let delta = ctx.int(2)?;
    add(ctx, delta)
}

fn decrby(ctx: &mut Ctx) -> CmdResult {
    let delta = ctx.int(2)?.checked_neg().ok_or(CmdError::DECREMENT_OVERFLOW)?;
    add(ctx, delta)
}

#[inline]
fn add(ctx: &mut Ctx, delta: i64) -> CmdResult {
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let sum = match ctx.ks.write(db, key) {
        Some(mut entry) => {
            let old = match entry.get().value() {
                ValueRef::Int(n) => n,
                ValueRef::Str(text) => parse_i64(text).ok_or(CmdError::NOT_INTEGER)?,
                _ => return Err(CmdError::WRONG_TYPE),
            };
            let sum = old.checked_add(delta).ok_or(CmdError::OVERFLOW)?;
            entry.set_int(sum);
            sum
        }
        None => {
            ctx.ks.set(db, key, Value::Int(delta), false);
            delta
        }
    };
    ctx.ks.changed(db, key, EventClass::STRING, "incrby", 1);
    ctx.out.int(sum);
    Ok(Outcome::Done)
}

fn incrbyfloat(ctx: &mut Ctx) -> CmdResult {
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let text = match ctx.ks.write(db, key) {
        Some(mut entry) => {
            let old = match entry.get().value() {
                ValueRef::Int(n) => LongDouble::from_i64(n),
                ValueRef::Str(text) => LongDouble::parse(text).ok_or(CmdError::NOT_FLOAT)?,
                _ => return Err(CmdError::WRONG_TYPE),
            };
            let text = float_sum(old, ctx.args[2])?;
            entry.set_value(Value::Bytes { bytes: &text, raw: false });
            text
        }
        None => {
            let text = float_sum(LongDouble::from_i64(0), ctx.args[2])?;
            ctx.ks.set(db, key, Value::Bytes { bytes: &text, raw: false }, false);
            text
        }
    };
    ctx.ks.changed(db, key, EventClass::STRING, "incrbyfloat", 1);
    ctx.out.bulk(&text);
    Ok(Outcome::Done)
}

fn float_sum(old: LongDouble, delta: &[u8]) -> Result<Vec<u8>, CmdError> {
    let delta = LongDouble::parse(delta).ok_or(CmdError::NOT_FLOAT)?;
    let sum = old + delta;
    if !sum.is_finite() {
        return Err(CmdError::NAN_OR_INFINITY);
    }
    let mut text = Vec::with_capacity(32);
    sum.to_human(&mut text);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn integers_count_in_place_and_from_any_encoding() {
        let mut space = Space::new();
        space.script(
            "INCR n => :1
             INCRBY n 41 => :42
             DECR n => :41
             DECRBY n 50 => :-9
             GET n => $2 -9
             SET s 10 => +OK
             APPEND s 0 => :3
             INCR s => :101",
        );
        assert_eq!((space.encoding("n"), space.encoding("s")), ("int", "int"));
        let want = ["new n", "incrby n", "incrby n", "incrby n", "incrby n"];
        assert_eq!(space.events()[..5], want);
    }

    #[test]
    fn integers_refuse_what_does_not_fit() {
        let mut space = Space::new();
        space.script(
            "SET n 9223372036854775807 => +OK
             INCR n => -ERR increment or decrement would overflow
             DECRBY n -1 => -ERR increment or decrement would overflow
             DECRBY n -9223372036854775808 => -ERR decrement would overflow
             INCRBY n 1x => -ERR value is not an integer or out of range
             GET n => $19 9223372036854775807
             SET s 01 => +OK
             INCR s => -ERR value is not an integer or out of range
             SET s 9223372036854775808 => +OK
             INCR s => -ERR value is not an integer or out of range",
        );
        assert_eq!(space.dirty(), 3);
    }

    #[test]
    fn an_expiry_survives_counting() {
        let mut space = Space::new();
        space.script("SET n 5 EX 100 => +OK\nINCR n => :6\nINCRBYFLOAT n 0.5 => $3 6.5");
        assert_eq!(space.ttl_ms("n"), Some(100_000));
        space.advance_ms(100_001);
        space.script("INCR n => :1");
        assert_eq!(space.ttl_ms("n"), None);
    }

    #[test]
    fn floats_are_stored_as_text() {
        let mut space = Space::new();
        space.script(
            "INCRBYFLOAT f 10.50 => $4 10.5
             INCRBYFLOAT f 0.1 => $4 10.6
             INCRBYFLOAT f -5.6 => $1 5
             INCRBYFLOAT f 5.0e3 => $4 5005
             INCRBYFLOAT f abc => -ERR value is not a valid float
             INCRBYFLOAT f inf => -ERR increment would produce NaN or Infinity
             SET t x => +OK
             INCRBYFLOAT t 1 => -ERR value is not a valid float",
        );
        assert_eq!(space.encoding("f"), "embstr");
        assert_eq!(space.events()[..2], ["new f", "incrbyfloat f"]);
    }
}
