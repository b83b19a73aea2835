//! When fields of hashes expire: setting, telling and removing that. Touches db, types, proto and base.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::hashes;
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::db::field_index::is_over;
use crate::db::keyspace::EventClass;
use crate::types::hash::Hash;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "hexpire",
        summary: "Makes fields of a hash expire after some seconds.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -6,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key seconds:int [condition(NX|XX|GT|LT)] FIELDS fields{numfields:int field...}",
        handler: Some(hexpire),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hexpireat",
        summary: "Makes fields of a hash expire at a Unix time in seconds.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -6,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key unix-time-seconds:unix-time [condition(NX|XX|GT|LT)] FIELDS \
            fields{numfields:int field...}",
        handler: Some(hexpireat),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hexpiretime",
        summary: "Tells the Unix times in seconds at which fields of a hash expire.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key FIELDS fields{numfields:int field...}",
        handler: Some(hexpiretime),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hpersist",
        summary: "Removes the expiry of fields of a hash.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key FIELDS fields{numfields:int field...}",
        handler: Some(hpersist),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hpexpire",
        summary: "Makes fields of a hash expire after some milliseconds.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -6,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key milliseconds:int [condition(NX|XX|GT|LT)] FIELDS fields{numfields:int field...}",
        handler: Some(hpexpire),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hpexpireat",
        summary: "Makes fields of a hash expire at a Unix time in milliseconds.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -6,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key unix-time-milliseconds:unix-time [condition(NX|XX|GT|LT)] FIELDS \
            fields{numfields:int field...}",
        handler: Some(hpexpireat),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hpexpiretime",
        summary: "Tells the Unix times in milliseconds at which fields of a hash expire.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key FIELDS fields{numfields:int field...}",
        handler: Some(hpexpiretime),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hpttl",
        summary: "Tells how many milliseconds fields of a hash have left.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key FIELDS fields{numfields:int field...}",
        tips: &["nondeterministic_output"],
        handler: Some(hpttl),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "httl",
        summary: "Tells how many seconds fields of a hash have left.",
        since: "7.4.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key FIELDS fields{numfields:int field...}",
        tips: &["nondeterministic_output"],
        handler: Some(httl),
        ..CommandSpec::DEFAULT
    },
];

/// The latest time at which a field can expire, in milliseconds since the epoch: Redis keeps 46 bits.
const EXPIRE_MAX_MS: i64 = (1 << 46) - 1;

/// What is told of a field that does not exist.
const NO_FIELD: i64 = -2;
/// What is told of a field that does not expire.
const NO_EXPIRY: i64 = -1;

/// How a command's times count.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// What the time is added to, in milliseconds since the epoch.
    pub(super) base_ms: i64,
    /// Milliseconds in its unit.
    pub(super) unit_ms: i64,
}

impl Clock {
    /// Parses when a field is to expire; the result is in milliseconds since the epoch.
    pub(super) fn parse(self, text: &[u8], command: &str) -> Result<i64, CmdError> {
        let time = parse_i64(text).ok_or(CmdError::NOT_INTEGER)?;
        if time < 0 {
            return Err(CmdError::EXPIRE_NEGATIVE);
        }
        let at = time.checked_mul(self.unit_ms).and_then(|ms| ms.checked_add(self.base_ms));
        at.filter(|&at| at <= EXPIRE_MAX_MS).ok_or_else(|| CmdError::invalid_expire(command))
    }

    /// The clock of an option EX, PX, EXAT or PXAT.
    pub(super) fn by_option(option: &[u8], now_ms: i64) -> Option<Clock> {
        let (base_ms, unit_ms) = match option.to_ascii_lowercase().as_slice() {
            b"ex" => (now_ms, 1_000),
            b"px" => (now_ms, 1),
            b"exat" => (0, 1_000),
            b"pxat" => (0, 1),
            _ => return None,
        };
        Some(Clock { base_ms, unit_ms })
    }
}

/// Parses `FIELDS numfields field…` at the end of a command.
pub(super) fn parse_fields<'s, 'a>(args: &'s [&'a [u8]], none: CmdError) -> Result<&'s [&'a [u8]], CmdError> {
    let Some((word, rest)) = args.split_first() else { return Err(CmdError::FIELDS_MISSING) };
    if !word.eq_ignore_ascii_case(b"fields") {
        return Err(CmdError::FIELDS_MISSING);
    }
    let Some((count, fields)) = rest.split_first() else { return Err(CmdError::NUMFIELDS_MISMATCH) };
    let count = parse_i64(count).filter(|&n| n > 0).ok_or(none)?;
    if count as usize == fields.len() { Ok(fields) } else { Err(CmdError::NUMFIELDS_MISMATCH) }
}

/// What must hold of a field's expiry for a new one to be set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    NoneYet,
    Some,
    Later,
    Earlier,
}

impl Condition {
    fn parse(word: &[u8]) -> Option<Condition> {
        match word.to_ascii_lowercase().as_slice() {
            b"nx" => Some(Condition::NoneYet),
            b"xx" => Some(Condition::Some),
            b"gt" => Some(Condition::Later),
            b"lt" => Some(Condition::Earlier),
            _ => None,
        }
    }

    /// No expiry counts as one that never comes.
    fn allows(self, current: Option<i64>, new: i64) -> bool {
        match self {
            Condition::Always => true,
            Condition::NoneYet => current.is_none(),
            Condition::Some => current.is_some(),
            Condition::Later => current.is_some_and(|at| new > at),
            Condition::Earlier => current.is_none_or(|at| new < at),
        }
    }
}

/// What HEXPIRE and its kin ask for.
struct Request<'s, 'a> {
    at_ms: i64,
    condition: Condition,
    fields: &'s [&'a [u8]],
}

impl<'s, 'a> Request<'s, 'a> {
    /// Parses what follows the key.
    fn parse(args: &'s [&'a [u8]], clock: Clock, command: &str) -> Result<Request<'s, 'a>, CmdError> {
        let at_ms = clock.parse(args[0], command)?;
        let condition = Condition::parse(args[1]);
        let rest = if condition.is_some() { &args[2..] } else { &args[1..] };
        let fields = parse_fields(rest, CmdError::NUMFIELDS_ZERO)?;
        Ok(Request { at_ms, condition: condition.unwrap_or(Condition::Always), fields })
    }
}

/// What became of a field that was to be given an expiry; the number is what HEXPIRE answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    NoField = NO_FIELD as isize,
    ConditionNotMet = 0,
    Set = 1,
    /// The time was over: the field is deleted.
    Deleted = 2,
}

/// Gives a field an expiry, if it exists and the condition holds.
fn expire_field(hash: &mut Hash, field: &[u8], request: &Request, now_ms: i64) -> Answer {
    let Some(current) = hash.expire_of(field) else { return Answer::NoField };
    if !request.condition.allows(current, request.at_ms) {
        return Answer::ConditionNotMet;
    }
    if set_expiry_or_delete(hash, field, request.at_ms, now_ms) { Answer::Set } else { Answer::Deleted }
}

/// Gives an existing field an expiry or, if that time is over, deletes it and returns `false`.
pub(super) fn set_expiry_or_delete(hash: &mut Hash, field: &[u8], at_ms: i64, now_ms: i64) -> bool {
    let comes = at_ms > now_ms;
    let exists = if comes { hash.set_expire(field, Some(at_ms)) } else { hash.remove(field) };
    debug_assert!(exists);
    comes
}

/// The fields to look at of a request that may be wrong; the key's type is to be judged before that.
pub(super) fn fields_or_none<'s, 'a>(fields: Option<&'s [&'a [u8]]>) -> &'s [&'a [u8]] {
    fields.unwrap_or_default()
}

fn set_expiries(ctx: &mut Ctx, clock: Clock, command: &str) -> CmdResult {
    let (db, key, now) = (ctx.db(), ctx.args[1], ctx.now_ms());
    let request = Request::parse(&ctx.args[2..], clock, command);
    let named = fields_or_none(request.as_ref().ok().map(|request| request.fields));
    let hash = hashes::write_fields(ctx.ks, db, key, named)?;
    let request = request?;
    ctx.out.array(request.fields.len());
    let Some(hash) = hash else {
        request.fields.iter().for_each(|_| ctx.out.int(NO_FIELD));
        return Ok(Outcome::Done);
    };
    let before = hash.min_expire();
    let (mut set, mut deleted) = (0, 0);
    for field in request.fields {
        let answer = expire_field(hash, field, &request, now);
        set += u64::from(answer == Answer::Set);
        deleted += u64::from(answer == Answer::Deleted);
        ctx.out.int(answer as i64);
    }
    let (after, emptied) = (hash.min_expire(), hash.is_empty());
    ctx.ks.reschedule_fields(db, key, before, after);
    if set + deleted > 0 {
        let event = if deleted > 0 { "hdel" } else { "hexpire" };
        ctx.changed(key, EventClass::HASH, event, set + deleted);
    }
    if emptied {
        ctx.delete_emptied(key);
    }
    Ok(Outcome::Done)
}

fn hexpire(ctx: &mut Ctx) -> CmdResult {
    set_expiries(ctx, Clock { base_ms: ctx.now_ms(), unit_ms: 1_000 }, "hexpire")
}

fn hpexpire(ctx: &mut Ctx) -> CmdResult {
    set_expiries(ctx, Clock { base_ms: ctx.now_ms(), unit_ms: 1 }, "hpexpire")
}

fn hexpireat(ctx: &mut Ctx) -> CmdResult {
    set_expiries(ctx, Clock { base_ms: 0, unit_ms: 1_000 }, "hexpireat")
}

fn hpexpireat(ctx: &mut Ctx) -> CmdResult {
    set_expiries(ctx, Clock { base_ms: 0, unit_ms: 1 }, "hpexpireat")
}

/// Tells the expiries less the clock's base, in its unit, rounded up.
fn tell_expiries(ctx: &mut Ctx, clock: Clock) -> CmdResult {
    let (db, now) = (ctx.db(), ctx.now_ms());
    let hash = hashes::read(ctx.ks, db, ctx.args[1])?;
    let fields = parse_fields(&ctx.args[2..], CmdError::NUMFIELDS_NOT_POSITIVE)?;
    ctx.out.array(fields.len());
    for field in fields {
        ctx.out.int(match hash.and_then(|hash| hash.expire_of(field)) {
            None => NO_FIELD,
            Some(None) => NO_EXPIRY,
            Some(at) if is_over(at, now) => NO_FIELD,
            Some(Some(at)) => (at - clock.base_ms + clock.unit_ms - 1) / clock.unit_ms,
        });
    }
    Ok(Outcome::Done)
}

fn httl(ctx: &mut Ctx) -> CmdResult {
    tell_expiries(ctx, Clock { base_ms: ctx.now_ms(), unit_ms: 1_000 })
}

fn hpttl(ctx: &mut Ctx) -> CmdResult {
    tell_expiries(ctx, Clock { base_ms: ctx.now_ms(), unit_ms: 1 })
}

fn hexpiretime(ctx: &mut Ctx) -> CmdResult {
    tell_expiries(ctx, Clock { base_ms: 0, unit_ms: 1_000 })
}

fn hpexpiretime(ctx: &mut Ctx) -> CmdResult {
    tell_expiries(ctx, Clock { base_ms: 0, unit_ms: 1 })
}

fn hpersist(ctx: &mut Ctx) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let fields = parse_fields(&ctx.args[2..], CmdError::NUMFIELDS_NOT_POSITIVE);
    let hash = hashes::write_fields(ctx.ks, db, key, fields_or_none(fields.as_ref().ok().copied()))?;
    let fields = fields?;
    ctx.out.array(fields.len());
    let Some(hash) = hash else {
        fields.iter().for_each(|_| ctx.out.int(NO_FIELD));
        return Ok(Outcome::Done);
    };
    let before = hash.min_expire();
    let mut persisted = false;
    for field in fields {
        ctx.out.int(match hash.expire_of(field) {
            None => NO_FIELD,
            Some(None) => NO_EXPIRY,
            Some(Some(_)) => {
                persisted = hash.set_expire(field, None);
                1
            }
        });
    }
    if persisted {
        let after = hash.min_expire();
        ctx.ks.reschedule_fields(db, key, before, after);
        ctx.changed(key, EventClass::HASH, "hpersist", 1);
    }
    Ok(Outcome::Done)
}
