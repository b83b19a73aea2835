//! Reading fields of hashes and deleting them or changing when they expire, and setting fields together with that. Touches
//! db, types, proto and base.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::hashes::expiry::{Clock, fields_or_none, parse_fields, set_expiry_or_delete};
use crate::cmd::hashes::{self, put_value};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::keyspace::EventClass;
use crate::db::value::Value;
use crate::types::hash::{Hash, HashLimits};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "hgetdel",
        summary: "Reads fields of a hash and deletes them.",
        since: "8.0.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::TAKE,
        syntax: "key FIELDS fields{numfields:int field...}",
        handler: Some(hgetdel),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hgetex",
        summary: "Reads fields of a hash and sets or removes their expiry.",
        since: "8.0.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_UPDATE).notes("Written because expiries can change.")],
        syntax: "key [expiration(EX seconds:int|PX milliseconds:int|EXAT unix-time-seconds:unix-time|PXAT \
            unix-time-milliseconds:unix-time|PERSIST)] FIELDS fields{numfields:int field...}",
        handler: Some(hgetex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hsetex",
        summary: "Sets fields of a hash together with their expiry.",
        since: "8.0.0",
        group: Group::Hash,
        complexity: "O(N) for N fields.",
        arity: -6,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key [condition(FNX|FXX)] [expiration(EX seconds:int|PX milliseconds:int|EXAT \
            unix-time-seconds:unix-time|PXAT unix-time-milliseconds:unix-time|KEEPTTL)] FIELDS \
            fields{numfields:int data{field value}...}",
        handler: Some(hsetex),
        ..CommandSpec::DEFAULT
    },
];

fn hgetdel(ctx: &mut Ctx) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let fields = parse_fields(&ctx.args[2..], CmdError::NUMFIELDS_NOT_POSITIVE);
    let hash = hashes::write_fields(ctx.ks, db, key, fields_or_none(fields.as_ref().ok().copied()))?;
    let fields = fields?;
    ctx.out.array(fields.len());
    let Some(hash) = hash else {
        fields.iter().for_each(|_| ctx.out.null());
        return Ok(Outcome::Done);
    };
    let before = hash.min_expire();
    let mut deleted = 0;
    for field in fields {
        put_value(&mut ctx.out, hash.get(field));
        deleted += u64::from(hash.remove(field));
    }
    let (after, emptied) = (hash.min_expire(), hash.is_empty());
    ctx.ks.reschedule_fields(db, key, before, after);
    if deleted > 0 {
        ctx.changed(key, EventClass::HASH, "hdel", deleted);
    }
    if emptied {
        ctx.delete_emptied(key);
    }
    Ok(Outcome::Done)
}

/// What HGETEX does to the fields it reads.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    ExpireAt(i64),
    Persist,
}

/// Parses what follows the key of HGETEX: what to do, and the fields.
fn parse_hgetex<'s, 'a>(args: &'s [&'a [u8]], now_ms: i64) -> Result<(Then, &'s [&'a [u8]]), CmdError> {
    let (then, rest) = if let Some(clock) = Clock::by_option(args[0], now_ms) {
        (Then::ExpireAt(clock.parse(args[1], "hgetex")?), &args[2..])
    } else if args[0].eq_ignore_ascii_case(b"persist") {
        (Then::Persist, &args[1..])
    } else {
        (Then::Nothing, args)
    };
    Ok((then, parse_fields(rest, CmdError::NUMFIELDS_NOT_POSITIVE)?))
}

fn hgetex(ctx: &mut Ctx) -> CmdResult {
    let (db, key, now) = (ctx.db(), ctx.args[1], ctx.now_ms());
    let request = parse_hgetex(&ctx.args[2..], now);
    let named = fields_or_none(request.as_ref().ok().map(|request| request.1));
    let hash = hashes::write_fields(ctx.ks, db, key, named)?;
    let (then, fields) = request?;
    ctx.out.array(fields.len());
    let Some(hash) = hash else {
        fields.iter().for_each(|_| ctx.out.null());
        return Ok(Outcome::Done);
    };
    let before = hash.min_expire();
    let (mut updated, mut deleted) = (0, 0);
    for field in fields {
        put_value(&mut ctx.out, hash.get(field));
        match (then, hash.expire_of(field)) {
            (Then::ExpireAt(at), Some(_)) => {
                let set = set_expiry_or_delete(hash, field, at, now);
                if set { updated += 1 } else { deleted += 1 }
            }
            (Then::Persist, Some(Some(_))) => {
                hash.set_expire(field, None);
                updated += 1;
            }
            _ => {}
        }
    }
    let (after, emptied) = (hash.min_expire(), hash.is_empty());
    ctx.ks.reschedule_fields(db, key, before, after);
    let event = match then {
        _ if deleted > 0 => "hdel",
        Then::Persist => "hpersist",
        _ => "hexpire",
    };
    if updated + deleted > 0 {
        ctx.changed(key, EventClass::HASH, event, updated + deleted);
    }
    if emptied {
        ctx.delete_emptied(key);
    }
    Ok(Outcome::Done)
}

/// What happens to the expiry of a field that HSETEX sets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expiry {
    Discard,
    Keep,
    At(i64),
}

/// What HSETEX asks for.
struct Setting<'s, 'a> {
    /// `Some(true)`: only if all fields exist; `Some(false)`: only if none does.
    if_exist: Option<bool>,
    expiry: Expiry,
    /// Fields and values in turn.
    pairs: &'s [&'a [u8]],
}

impl<'s, 'a> Setting<'s, 'a> {
    /// Parses what follows the key.
    fn parse(args: &'s [&'a [u8]], now_ms: i64) -> Result<Setting<'s, 'a>, CmdError> {
        let mut setting = Setting { if_exist: None, expiry: Expiry::Discard, pairs: &[] };
        let mut rest = args;
        while let [word, more @ ..] = rest {
            let lower = word.to_ascii_lowercase();
            rest = more;
            if lower == b"fields" {
                setting.pairs = Self::parse_pairs(more)?;
                return Ok(setting);
            } else if lower == b"fxx" || lower == b"fnx" {
                if setting.if_exist.replace(lower == b"fxx").is_some() {
                    return Err(CmdError::FNX_FXX);
                }
                continue;
            }
            let clock = Clock::by_option(word, now_ms);
            if clock.is_none() && lower != b"keepttl" {
                return Err(CmdError::unknown_argument(word));
            }
            if setting.expiry != Expiry::Discard {
                return Err(CmdError::HSETEX_EXPIRIES);
            }
            setting.expiry = match (clock, more) {
                (None, _) => Expiry::Keep,
                (Some(_), []) => return Err(CmdError::EXPIRE_MISSING),
                (Some(clock), [time, more @ ..]) => {
                    rest = more;
                    Expiry::At(clock.parse(time, "hsetex")?)
                }
            };
        }
        Err(CmdError::arity("hsetex"))
    }

    /// Parses `numfields field value…`.
    fn parse_pairs(args: &'s [&'a [u8]]) -> Result<&'s [&'a [u8]], CmdError> {
        let [count, pairs @ ..] = args else { return Err(CmdError::arity("hsetex")) };
        if pairs.len() < 2 {
            return Err(CmdError::arity("hsetex"));
        }
        let count = parse_i64(count).filter(|n| (1..=i64::from(i32::MAX)).contains(n));
        let count = count.ok_or(CmdError::NUMFIELDS_INVALID)? as usize;
        if pairs.len() == count * 2 { Ok(pairs) } else { Err(CmdError::arity("hsetex")) }
    }

    fn fields(&self) -> impl Iterator<Item = &'a [u8]> {
        self.pairs.iter().copied().step_by(2)
    }

    /// Sets the fields. Returns how many were deleted because their time was over.
    fn apply(&self, hash: &mut Hash, limits: &HashLimits, now_ms: i64) -> u64 {
        hash.expect(self.pairs.len() / 2, limits);
        let mut deleted = 0;
        for pair in self.pairs.chunks_exact(2) {
            match self.expiry {
                Expiry::Discard => {
                    hash.set(pair[0], pair[1], limits);
                }
                Expiry::Keep => {
                    hash.set_keeping_expiry(pair[0], pair[1], limits);
                }
                Expiry::At(at) => {
                    hash.set_keeping_expiry(pair[0], pair[1], limits);
                    deleted += u64::from(!set_expiry_or_delete(hash, pair[0], at, now_ms));
                }
            }
        }
        deleted
    }
}

fn hsetex(ctx: &mut Ctx) -> CmdResult {
    let (db, key, now, limits) = (ctx.db(), ctx.args[1], ctx.now_ms(), ctx.hash_limits());
    let setting = Setting::parse(&ctx.args[2..], now)?;
    if ctx.ks.has_due_fields(db) {
        let names: Vec<&[u8]> = setting.fields().collect();
        ctx.ks.expire_named_fields(db, key, &names);
    }
    let hash = hashes::write(ctx.ks, db, key)?;
    if let Some(wanted) = setting.if_exist {
        let exists = |field: &[u8]| hash.as_ref().is_some_and(|hash| hash.contains(field));
        if setting.fields().any(|field| exists(field) != wanted) {
            ctx.out.int(0);
            return Ok(Outcome::Done);
        }
    }
    let (entry, _) = ctx.ks.write_or_create(db, key, |seed| Value::Hash(Hash::new(seed)));
    let hash = entry.hash()?;
    let before = hash.min_expire();
    let deleted = setting.apply(hash, &limits, now);
    let (after, emptied) = (hash.min_expire(), hash.is_empty());
    ctx.ks.reschedule_fields(db, key, before, after);
    ctx.changed(key, EventClass::HASH, "hset", setting.pairs.len() as u64 / 2);
    if matches!(setting.expiry, Expiry::At(_)) {
        ctx.changed(key, EventClass::HASH, if deleted > 0 { "hdel" } else { "hexpire" }, 0);
    }
    if emptied {
        ctx.delete_emptied(key);
    }
    ctx.out.int(1);
    Ok(Outcome::Done)
}
