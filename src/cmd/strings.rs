//! SET, GET and their kin: commands that store or read whole strings. Touches db, types, proto and base.
//!
//! The hot ones (SET, GET, MSET, MGET) hash their key once and copy nothing but the value itself: into its key's
//! allocation, or from there into the reply. Parts of strings are in `ranges`, numbers in `numbers`, LCS in `lcs`.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeyFlags, KeySpec};
use crate::base::error::CmdError;
use crate::db::keyspace::EventClass;
use crate::db::value::{Value, ValueRef};
use crate::proto::reply::Reply;

pub mod lcs;
pub mod numbers;
pub mod ranges;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "get",
        summary: "Reads a string.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::READ,
        syntax: "key",
        handler: Some(get),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "getdel",
        summary: "Reads a string and deletes its key.",
        since: "6.2.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::TAKE,
        syntax: "key",
        handler: Some(getdel),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "getex",
        summary: "Reads a string and sets or removes its expiry.",
        since: "6.2.0",
        group: Group::String,
        complexity: "O(1)",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_UPDATE).notes("Written because the expiry can change.")],
        syntax: "key [expiration(EX seconds:int|PX milliseconds:int|EXAT unix-time-seconds:unix-time|PXAT \
            unix-time-milliseconds:unix-time|PERSIST)]",
        handler: Some(getex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "getset",
        summary: "Replaces a string and replies with the old one.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST).or(Flags::ADOPTS_VALUE),
        acl: Acl::STRING,
        keys: KeySpec::MODIFY,
        syntax: "key value",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`SET` with `GET`" }),
        handler: Some(getset),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "mget",
        summary: "Reads the strings of several keys.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(N) for N keys.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::RO_ACCESS).to(-1)],
        syntax: "key...",
        tips: &["request_policy:multi_shard"],
        handler: Some(mget),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "mset",
        summary: "Sets the strings of several keys in one step.",
        since: "1.0.1",
        group: Group::String,
        complexity: "O(N) for N keys.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE).to(-1).step(2)],
        syntax: "data{key value}...",
        tips: &["request_policy:multi_shard", "response_policy:all_succeeded"],
        handler: Some(mset),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "msetnx",
        summary: "Sets several strings, but only if none of the keys exists.",
        since: "1.0.1",
        group: Group::String,
        complexity: "O(N) for N keys.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::OW.or(KeyFlags::INSERT)).to(-1).step(2)],
        syntax: "data{key value}...",
        handler: Some(msetnx),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "psetex",
        summary: "Sets a string that expires after some milliseconds.",
        since: "2.6.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::ADOPTS_VALUE),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE)],
        syntax: "key milliseconds:int value",
        deprecated: Some(Deprecated { since: "2.6.12", replaced_by: "`SET` with `PX`" }),
        handler: Some(psetex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "set",
        summary: "Sets a string, whatever the key held before.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::ADOPTS_VALUE),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_UPDATE.or(KeyFlags::VARIABLE_FLAGS))
            .notes("Read when GET is given.")],
        syntax: "key value [condition(NX|XX)@2.6.12] [GET@6.2.0] \
            [expiration(EX seconds:int@2.6.12|PX milliseconds:int@2.6.12|EXAT \
            unix-time-seconds:unix-time@6.2.0|PXAT unix-time-milliseconds:unix-time@6.2.0|KEEPTTL@6.0.0)]",
        handler: Some(set),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "setex",
        summary: "Sets a string that expires after some seconds.",
        since: "2.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::ADOPTS_VALUE),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE)],
        syntax: "key seconds:int value",
        deprecated: Some(Deprecated { since: "2.6.12", replaced_by: "`SET` with `EX`" }),
        handler: Some(setex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "setnx",
        summary: "Sets a string unless the key exists.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST).or(Flags::ADOPTS_VALUE),
        acl: Acl::STRING,
        keys: &[KeySpec::one(KeyFlags::OW.or(KeyFlags::INSERT))],
        syntax: "key value",
        deprecated: Some(Deprecated { since: "2.6.12", replaced_by: "`SET` with `NX`" }),
        handler: Some(setnx),
        ..CommandSpec::DEFAULT
    },
];

/// The bytes of a string. `buffer` takes the digits if it is stored as an integer.
#[inline]
pub fn string_bytes<'b>(value: ValueRef<'b>, buffer: &'b mut itoa::Buffer) -> Result<&'b [u8], CmdError> {
    match value {
        ValueRef::Str(bytes) => Ok(bytes),
        ValueRef::Int(n) => Ok(buffer.format(n).as_bytes()),
        _ => Err(CmdError::WRONG_TYPE),
    }
}

/// Replies with a string; nothing is written if the value is none.
#[inline]
fn reply_string(out: &mut Reply, value: ValueRef) -> Result<(), CmdError> {
    match value {
        ValueRef::Str(bytes) => out.bulk(bytes),
        ValueRef::Int(n) => out.bulk_int(n),
        _ => return Err(CmdError::WRONG_TYPE),
    }
    Ok(())
}

/// Replies with the string at the key that is the first argument, or with nothing. Returns whether there is one.
#[inline]
fn reply_stored(ctx: &mut Ctx) -> Result<bool, CmdError> {
    let Some(entry) = ctx.ks.read(ctx.session.db, ctx.args[1]) else {
        ctx.out.null();
        return Ok(false);
    };
    reply_string(&mut ctx.out, entry.value())?;
    Ok(true)
}

fn get(ctx: &mut Ctx) -> CmdResult {
    reply_stored(ctx)?;
    Ok(Outcome::Done)
}

fn mget(ctx: &mut Ctx) -> CmdResult {
    let keys = &ctx.args[1..];
    ctx.out.array(keys.len());
    for key in keys {
        let value = ctx.ks.read(ctx.session.db, key).map(|entry| entry.value());
        // A key of another type counts as one without a string.
        if value.is_none_or(|value| reply_string(&mut ctx.out, value).is_err()) {
            ctx.out.null();
        }
    }
    Ok(Outcome::Done)
}

fn getdel(ctx: &mut Ctx) -> CmdResult {
    if reply_stored(ctx)? {
        ctx.ks.delete(ctx.session.db, ctx.args[1]);
    }
    Ok(Outcome::Done)
}

/// Stores a string with the events of SET, and its expiry if it gets one.
#[inline]
fn store(ctx: &mut Ctx, value: Value, keep_ttl: bool, expire_ms: Option<i64>) {
    let (db, key) = (ctx.session.db, ctx.args[1]);
    // An expiry that is about to be replaced stays until then, so that its place can be reused.
    ctx.ks.set(db, key, value, keep_ttl || expire_ms.is_some());
    ctx.ks.changed(db, key, EventClass::STRING, "set", 1);
    if expire_ms.is_some() {
        ctx.ks.set_expire(db, key, expire_ms);
        ctx.ks.changed(db, key, EventClass::GENERIC, "expire", 0);
    }
}

/// When the key of SET or GETEX is to expire: a number of the request that is not looked at yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Deadline {
    seconds: bool,
    absolute: bool,
    index: usize,
}

impl Deadline {
    /// The deadline that an option asks for, its number being argument `index`.
    fn named(word: &[u8], index: usize) -> Option<Deadline> {
        const WORDS: [(&str, bool, bool); 4] =
            [("EX", true, false), ("PX", false, false), ("EXAT", true, true), ("PXAT", false, true)];
        let (_, seconds, absolute) =
            *WORDS.iter().find(|(name, ..)| word.eq_ignore_ascii_case(name.as_bytes()))?;
        Some(Deadline { seconds, absolute, index })
    }

    /// In milliseconds since the epoch. It is in the future unless it was given as a point in time.
    fn resolve(self, ctx: &Ctx, command: &str) -> Result<i64, CmdError> {
        let number = ctx.int(self.index)?;
        let base = if self.absolute { 0 } else { ctx.now_ms() };
        Some(number)
            .filter(|&number| number > 0)
            .and_then(|number| number.checked_mul(if self.seconds { 1_000 } else { 1 }))
            .and_then(|ms| ms.checked_add(base))
            .ok_or_else(|| CmdError::invalid_expire(command))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expiry {
    /// Nothing was said about it: SET clears it, GETEX leaves it alone.
    Unsaid,
    Keep,
    Persist,
    At(Deadline),
}

impl Expiry {
    /// Takes the option at `*index`, and its number with it, if it is one about the expiry that can stand beside what
    /// was said before: nothing, or the same with perhaps another number. `word` is the command's own option without a
    /// number, and `meaning` what that says.
    fn take(&mut self, ctx: &Ctx, index: &mut usize, word: &str, meaning: Expiry) -> bool {
        let said = if ctx.is_word(*index, word) {
            meaning
        } else if *index + 1 < ctx.args.len()
            && let Some(deadline) = Deadline::named(ctx.args[*index], *index + 1)
        {
            *index += 1;
            Expiry::At(deadline)
        } else {
            return false;
        };
        let fits = match (*self, said) {
            (Expiry::Unsaid, _) => true,
            (Expiry::At(old), Expiry::At(new)) => (old.seconds, old.absolute) == (new.seconds, new.absolute),
            (old, new) => old == new,
        };
        *self = said;
        fits
    }

    fn resolve(self, ctx: &Ctx, command: &str) -> Result<Option<i64>, CmdError> {
        match self {
            Expiry::At(deadline) => deadline.resolve(ctx, command).map(Some),
            _ => Ok(None),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    IfMissing,
    IfExists,
}

/// What follows the value of SET.
struct SetOptions {
    condition: Condition,
    get: bool,
    expiry: Expiry,
}

impl SetOptions {
    fn parse(ctx: &Ctx) -> Result<SetOptions, CmdError> {
        let mut options = SetOptions { condition: Condition::Always, get: false, expiry: Expiry::Unsaid };
        let mut index = 3;
        while index < ctx.args.len() {
            if ctx.is_word(index, "NX") && options.condition != Condition::IfExists {
                options.condition = Condition::IfMissing;
            } else if ctx.is_word(index, "XX") && options.condition != Condition::IfMissing {
                options.condition = Condition::IfExists;
            } else if ctx.is_word(index, "GET") {
                options.get = true;
            } else if !options.expiry.take(ctx, &mut index, "KEEPTTL", Expiry::Keep) {
                return Err(CmdError::SYNTAX);
            }
            index += 1;
        }
        Ok(options)
    }
}

#[inline]
fn set(ctx: &mut Ctx) -> CmdResult {
    if ctx.args.len() > 3 {
        return set_with_options(ctx);
    }
    let value = ctx.take_value(2);
    store(ctx, value, false, None);
    ctx.out.ok();
    Ok(Outcome::Done)
}

fn set_with_options(ctx: &mut Ctx) -> CmdResult {
    let options = SetOptions::parse(ctx)?;
    let expire_ms = options.expiry.resolve(ctx, "set")?;
    if options.get {
        reply_stored(ctx)?;
    }
    if options.condition != Condition::Always {
        let (db, key) = (ctx.session.db, ctx.args[1]);
        if ctx.ks.contains(db, key) != (options.condition == Condition::IfExists) {
            // An access all the same. What is stored counts as one by itself.
            ctx.ks.write(db, key);
            if !options.get {
                ctx.out.null();
            }
            return Ok(Outcome::Done);
        }
    }
    store(ctx, Value::string(ctx.args[2]), options.expiry == Expiry::Keep, expire_ms);
    if !options.get {
        ctx.out.ok();
    }
    Ok(Outcome::Done)
}

fn setnx(ctx: &mut Ctx) -> CmdResult {
    let exists = ctx.ks.write(ctx.session.db, ctx.args[1]).is_some();
    if !exists {
        let value = ctx.take_value(2);
        store(ctx, value, false, None);
    }
    ctx.out.int(i64::from(!exists));
    Ok(Outcome::Done)
}

fn setex(ctx: &mut Ctx) -> CmdResult {
    set_expiring(ctx, true, "setex")
}

fn psetex(ctx: &mut Ctx) -> CmdResult {
    set_expiring(ctx, false, "psetex")
}

fn set_expiring(ctx: &mut Ctx, seconds: bool, command: &str) -> CmdResult {
    let expire_ms = Deadline { seconds, absolute: false, index: 2 }.resolve(ctx, command)?;
    let value = ctx.take_value(3);
    store(ctx, value, false, Some(expire_ms));
    ctx.out.ok();
    Ok(Outcome::Done)
}

fn getset(ctx: &mut Ctx) -> CmdResult {
    reply_stored(ctx)?;
    let value = ctx.take_value(2);
    store(ctx, value, false, None);
    Ok(Outcome::Done)
}

fn getex(ctx: &mut Ctx) -> CmdResult {
    let mut expiry = Expiry::Unsaid;
    let mut index = 2;
    while index < ctx.args.len() {
        if !expiry.take(ctx, &mut index, "PERSIST", Expiry::Persist) {
            return Err(CmdError::SYNTAX);
        }
        index += 1;
    }
    // Only a string brings to light that the number is wrong, so it is judged before the look-up and reported after.
    let resolved = expiry.resolve(ctx, "getex");
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let Some(entry) = ctx.ks.read(db, key) else {
        ctx.out.null();
        return Ok(Outcome::Done);
    };
    let (value, had_expiry) = (entry.value(), entry.expire_ms().is_some());
    if !matches!(value, ValueRef::Str(_) | ValueRef::Int(_)) {
        return Err(CmdError::WRONG_TYPE);
    }
    let expire_ms = resolved?;
    reply_string(&mut ctx.out, value)?;
    if expire_ms.is_some_and(|at| at <= ctx.ks.now_ms) {
        ctx.ks.delete(db, key);
    } else if expire_ms.is_some() {
        ctx.ks.set_expire(db, key, expire_ms);
        ctx.ks.changed(db, key, EventClass::GENERIC, "expire", 1);
    } else if expiry == Expiry::Persist && had_expiry {
        ctx.ks.set_expire(db, key, None);
        ctx.ks.changed(db, key, EventClass::GENERIC, "persist", 1);
    }
    Ok(Outcome::Done)
}

/// The keys and values of MSET and MSETNX.
fn pairs<'a>(ctx: &Ctx<'a>, command: &str) -> Result<&'a [[&'a [u8]; 2]], CmdError> {
    let (pairs, rest) = ctx.args[1..].as_chunks();
    if rest.is_empty() { Ok(pairs) } else { Err(CmdError::arity(command)) }
}

fn set_pairs(ctx: &mut Ctx, pairs: &[[&[u8]; 2]]) {
    let db = ctx.session.db;
    for [key, value] in pairs {
        ctx.ks.set(db, key, Value::string(value), false);
        ctx.ks.changed(db, key, EventClass::STRING, "set", 1);
    }
}

fn mset(ctx: &mut Ctx) -> CmdResult {
    let pairs = pairs(ctx, "mset")?;
    set_pairs(ctx, pairs);
    ctx.out.ok();
    Ok(Outcome::Done)
}

fn msetnx(ctx: &mut Ctx) -> CmdResult {
    let pairs = pairs(ctx, "msetnx")?;
    let db = ctx.session.db;
    let all_missing = pairs.iter().all(|[key, _]| ctx.ks.write(db, key).is_none());
    if all_missing {
        set_pairs(ctx, pairs);
    }
    ctx.out.int(i64::from(all_missing));
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests;
