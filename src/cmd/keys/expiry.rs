//! When keys expire: EXPIRE and TTL with their kin. Touches db and base.

use crate::base::error::CmdError;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::db::keyspace::EventClass;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "expire",
        summary: "Makes a key expire after some seconds.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::UPDATE,
        syntax: "key seconds:int [condition(NX|XX|GT|LT)@7.0.0]",
        handler: Some(expire),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "expireat",
        summary: "Makes a key expire at a Unix time in seconds.",
        since: "1.2.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::UPDATE,
        syntax: "key unix-time-seconds:unix-time [condition(NX|XX|GT|LT)@7.0.0]",
        handler: Some(expireat),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "expiretime",
        summary: "Tells the Unix time in seconds at which a key expires.",
        since: "7.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::READ,
        syntax: "key",
        handler: Some(expiretime),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "persist",
        summary: "Removes the expiry of a key.",
        since: "2.2.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::UPDATE,
        syntax: "key",
        handler: Some(persist),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pexpire",
        summary: "Makes a key expire after some milliseconds.",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::UPDATE,
        syntax: "key milliseconds:int [condition(NX|XX|GT|LT)@7.0.0]",
        handler: Some(pexpire),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pexpireat",
        summary: "Makes a key expire at a Unix time in milliseconds.",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::UPDATE,
        syntax: "key unix-time-milliseconds:unix-time [condition(NX|XX|GT|LT)@7.0.0]",
        handler: Some(pexpireat),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pexpiretime",
        summary: "Tells the Unix time in milliseconds at which a key expires.",
        since: "7.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::READ,
        syntax: "key",
        handler: Some(pexpiretime),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pttl",
        summary: "Tells how many milliseconds a key has left.",
        since: "2.6.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::READ,
        syntax: "key",
        tips: &["nondeterministic_output"],
        handler: Some(pttl),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "ttl",
        summary: "Tells how many seconds a key has left.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::READ,
        syntax: "key",
        tips: &["nondeterministic_output"],
        handler: Some(ttl),
        ..CommandSpec::DEFAULT
    },
];

/// Milliseconds in the unit of a command's times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Second = 1_000,
    Millisecond = 1,
}

/// What must hold of a key's expiry for a new one to be set.
#[derive(Clone, Copy, Default)]
struct Condition {
    none_yet: bool,
    some: bool,
    later: bool,
    earlier: bool,
}

impl Condition {
    fn parse(options: &[&[u8]]) -> Result<Condition, CmdError> {
        let mut condition = Condition::default();
        for option in options {
            match option.to_ascii_lowercase().as_slice() {
                b"nx" => condition.none_yet = true,
                b"xx" => condition.some = true,
                b"gt" => condition.later = true,
                b"lt" => condition.earlier = true,
                _ => return Err(CmdError::unsupported_option(option)),
            }
        }
        if condition.none_yet && (condition.some || condition.later || condition.earlier) {
            return Err(CmdError::EXPIRE_NX_COMBINED);
        }
        if condition.later && condition.earlier {
            return Err(CmdError::EXPIRE_GT_LT);
        }
        Ok(condition)
    }

    /// No expiry counts as one that never comes.
    fn allows(self, current: Option<i64>, new: i64) -> bool {
        (!self.none_yet || current.is_none())
            && (!self.some || current.is_some())
            && (!self.later || current.is_some_and(|at| new > at))
            && (!self.earlier || current.is_none_or(|at| new < at))
    }
}

/// Sets the expiry to `base_ms` plus the argument. A time that is over deletes the key.
fn set_expiry(ctx: &mut Ctx, base_ms: i64, unit: Unit, command: &str) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let condition = Condition::parse(&ctx.args[3..])?;
    let time = ctx.int(2)?.checked_mul(unit as i64).and_then(|ms| ms.checked_add(base_ms));
    let at = time.ok_or_else(|| CmdError::invalid_expire(command))?;
    let Some(entry) = ctx.ks.write(db, key) else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    if !condition.allows(entry.get().expire_ms(), at) {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    }
    if at <= ctx.now_ms() {
        ctx.ks.delete(db, key);
    } else {
        ctx.ks.set_expire(db, key, Some(at));
        ctx.changed(key, EventClass::GENERIC, "expire", 1);
    }
    ctx.out.int(1);
    Ok(Outcome::Done)
}

fn expire(ctx: &mut Ctx) -> CmdResult {
    set_expiry(ctx, ctx.now_ms(), Unit::Second, "expire")
}

fn pexpire(ctx: &mut Ctx) -> CmdResult {
    set_expiry(ctx, ctx.now_ms(), Unit::Millisecond, "pexpire")
}

fn expireat(ctx: &mut Ctx) -> CmdResult {
    set_expiry(ctx, 0, Unit::Second, "expireat")
}

fn pexpireat(ctx: &mut Ctx) -> CmdResult {
    set_expiry(ctx, 0, Unit::Millisecond, "pexpireat")
}

/// Answers the expiry less `base_ms`, -1 without one, -2 without a key. Seconds are rounded.
fn tell_expiry(ctx: &mut Ctx, base_ms: i64, unit: Unit) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let answer = match ctx.ks.read_unstamped(db, key).map(|entry| entry.expire_ms()) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => {
            let unit = unit as u64;
            let ms = at.saturating_sub(base_ms).max(0) as u64;
            ((ms + unit / 2) / unit) as i64
        }
    };
    ctx.out.int(answer);
    Ok(Outcome::Done)
}

fn ttl(ctx: &mut Ctx) -> CmdResult {
    tell_expiry(ctx, ctx.now_ms(), Unit::Second)
}

fn pttl(ctx: &mut Ctx) -> CmdResult {
    tell_expiry(ctx, ctx.now_ms(), Unit::Millisecond)
}

fn expiretime(ctx: &mut Ctx) -> CmdResult {
    tell_expiry(ctx, 0, Unit::Second)
}

fn pexpiretime(ctx: &mut Ctx) -> CmdResult {
    tell_expiry(ctx, 0, Unit::Millisecond)
}

fn persist(ctx: &mut Ctx) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let had_expiry = ctx.ks.write(db, key).is_some_and(|entry| entry.get().expire_ms().is_some());
    if had_expiry {
        ctx.ks.set_expire(db, key, None);
        ctx.changed(key, EventClass::GENERIC, "persist", 1);
    }
    ctx.out.int(i64::from(had_expiry));
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::{START_MS, Space};

    #[test]
    fn times_are_told_in_the_unit_asked_for() {
        let mut space = Space::new();
        space.script(
            "TTL a => :-2
             SET a 1 => +OK
             TTL a => :-1
             PEXPIRE a 1500 => :1
             TTL a => :2
             PTTL a => :1500
             EXPIRE a 100 => :1
             PTTL a => :100000
             EXPIREAT a 1700000050 => :1
             PTTL a => :50000
             PEXPIREAT a 1700000000499 => :1
             TTL a => :0
             EXPIRETIME a => :1700000000
             PEXPIRETIME a => :1700000000499",
        );
        space.advance_ms(499);
        space.script("PTTL a => :0");
        space.advance_ms(1);
        space.script("PTTL a => :-2");
        assert_eq!(space.events().last().map(String::as_str), Some("expired a"));
    }

    #[test]
    fn persist_takes_the_expiry_away() {
        let mut space = Space::new();
        space.script(
            "SET a 1 => +OK
             PERSIST a => :0
             EXPIRE a 5 => :1
             PERSIST a => :1
             TTL a => :-1
             PERSIST x => :0",
        );
        assert_eq!(space.events(), ["new a", "set a", "expire a", "persist a"]);
        assert_eq!(space.dirty(), 3);
    }

    #[test]
    fn a_time_that_is_over_deletes() {
        let mut space = Space::new();
        let now = START_MS.to_string();
        for [command, time] in [
            ["EXPIRE", "0"],
            ["EXPIRE", "-9223372036854775"],
            ["PEXPIRE", "-9223372036854775808"],
            ["EXPIREAT", "5"],
            ["PEXPIREAT", &now],
        ] {
            space.line("SET a 1");
            space.events();
            assert_eq!(space.run(&[command, "a", time]), ":1\r\n");
            assert_eq!(space.events(), ["del a"], "{command} {time}");
            assert!(space.ks.db(0).is_empty());
        }
    }

    #[test]
    fn conditions_compare_with_the_expiry_there_is() {
        let mut space = Space::new();
        space.script(
            "SET a 1 => +OK
             EXPIRE a 100 XX => :0
             EXPIRE a 100 GT => :0
             EXPIRE a 100 NX => :1
             EXPIRE a 200 NX => :0
             EXPIRE a 100 GT => :0
             EXPIRE a 101 gt xx => :1
             EXPIRE a 101 LT => :0
             EXPIRE a 50 LT => :1
             EXPIRE a 60 xx => :1
             TTL a => :60
             PERSIST a => :1
             EXPIRE a 60 LT XX => :0
             EXPIRE a 60 LT => :1
             EXPIRE x 60 LT => :0
             EXPIRE a -1 GT => :0
             EXPIRE a -1 LT => :1
             EXISTS a => :0",
        );
    }

    #[test]
    fn errors_in_redis_order() {
        let mut space = Space::new();
        space.script(
            "EXPIRE x 1 NX XX => -ERR NX and XX, GT or LT options at the same time are not compatible
             EXPIRE x 1 NX LT => -ERR NX and XX, GT or LT options at the same time are not compatible
             EXPIRE x 1 LT GT => -ERR GT and LT options at the same time are not compatible
             EXPIRE x y foo => -ERR Unsupported option foo
             EXPIRE x y => -ERR value is not an integer or out of range
             EXPIRE x 9223372036854775 => -ERR invalid expire time in 'expire' command
             EXPIRE x -9223372036854776 => -ERR invalid expire time in 'expire' command
             PEXPIRE x 9223372036854775807 => -ERR invalid expire time in 'pexpire' command
             EXPIREAT x 9223372036854776 => -ERR invalid expire time in 'expireat' command
             PEXPIREAT x 9223372036854775807 => :0
             SET x 1 => +OK
             PEXPIREAT x 9223372036854775807 => :1
             EXPIRETIME x => :9223372036854776",
        );
    }
}
