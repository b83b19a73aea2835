//! Hashes: reading and writing fields. Touches db, types, proto and base.
//!
//! By theme: `pick` (HRANDFIELD, HSCAN), `expiry` (when fields expire), `combined` (reading or writing fields and their
//! expiry or deletion in one). The helpers they share are here.
//!
//! Fields that are due but still there: a command that asks for fields by name removes those first, one that visits all
//! passes over them. HSET, HDEL and HLEN do not look, as in Redis: they overwrite, delete and count them.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::sets::put_item;
use super::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeySpec};
use crate::base::error::CmdError;
use crate::base::longdouble::LongDouble;
use crate::base::num::parse_i64;
use crate::db::field_index::is_over;
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::Value;
use crate::proto::reply::Reply;
use crate::types::Item;
use crate::types::hash::{Hash, HashLimits};

pub mod combined;
pub mod expiry;
pub mod pick;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "hdel",
        summary: "Deletes fields of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N fields.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::DELETE,
        syntax: "key field...",
        handler: Some(hdel),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hexists",
        summary: "Tells whether a hash has a field.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::STAT,
        syntax: "key field",
        handler: Some(hexists),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hget",
        summary: "Reads a field of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key field",
        handler: Some(hget),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hgetall",
        summary: "Lists all fields of a hash with their values.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N fields.",
        arity: 2,
        flags: Flags::READONLY,
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key",
        tips: &["nondeterministic_output_order"],
        handler: Some(hgetall),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hincrby",
        summary: "Adds an amount to a number in a field of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::MODIFY,
        syntax: "key field increment:int",
        handler: Some(hincrby),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hincrbyfloat",
        summary: "Adds an amount to a floating-point number in a field of a hash.",
        since: "2.6.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::MODIFY,
        syntax: "key field increment:double",
        handler: Some(hincrbyfloat),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hkeys",
        summary: "Lists the fields of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N fields.",
        arity: 2,
        flags: Flags::READONLY,
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key",
        tips: &["nondeterministic_output_order"],
        handler: Some(hkeys),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hlen",
        summary: "Counts the fields of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::STAT,
        syntax: "key",
        handler: Some(hlen),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hmget",
        summary: "Reads several fields of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key field...",
        handler: Some(hmget),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hmset",
        summary: "Sets several fields of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N given fields.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key data{field value}...",
        deprecated: Some(Deprecated { since: "4.0.0", replaced_by: "`HSET` with several fields" }),
        handler: Some(hmset),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hset",
        summary: "Sets fields of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N fields.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::UPDATE,
        syntax: "key data{field value}...",
        handler: Some(hset),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hsetnx",
        summary: "Sets a field of a hash unless it exists.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::INSERT,
        syntax: "key field value",
        handler: Some(hsetnx),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hstrlen",
        summary: "Tells the length of the value in a field of a hash.",
        since: "3.2.0",
        group: Group::Hash,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::HASH,
        keys: KeySpec::STAT,
        syntax: "key field",
        handler: Some(hstrlen),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hvals",
        summary: "Lists the values of a hash.",
        since: "2.0.0",
        group: Group::Hash,
        complexity: "O(N) for N fields.",
        arity: 2,
        flags: Flags::READONLY,
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key",
        tips: &["nondeterministic_output_order"],
        handler: Some(hvals),
        ..CommandSpec::DEFAULT
    },
];

/// The hash at a key, for reading; `None` if the key is missing.
#[inline]
pub(super) fn read<'k>(ks: &'k mut Keyspace, db: usize, key: &[u8]) -> Result<Option<&'k Hash>, CmdError> {
    ks.read(db, key).map(|entry| entry.value().hash()).transpose()
}

/// As `read`, for picking elements at random; see [`Keyspace::read_to_pick`].
pub(super) fn read_to_pick<'k>(
    ks: &'k mut Keyspace,
    db: usize,
    key: &[u8],
) -> Result<Option<&'k Hash>, CmdError> {
    ks.read_to_pick(db, key).map(|entry| entry.value().hash()).transpose()
}

/// The hash at a key, for changing; `None` if the key is missing.
#[inline]
pub(super) fn write<'k>(
    ks: &'k mut Keyspace,
    db: usize,
    key: &[u8],
) -> Result<Option<&'k mut Hash>, CmdError> {
    match ks.write(db, key) {
        None => Ok(None),
        Some(entry) => entry.hash().map(Some),
    }
}

/// As [`read`], after those of `fields` that are due are gone.
#[inline]
pub(super) fn read_fields<'k>(
    ks: &'k mut Keyspace,
    db: usize,
    key: &[u8],
    fields: &[&[u8]],
) -> Result<Option<&'k Hash>, CmdError> {
    if ks.has_due_fields(db) {
        ks.expire_named_fields(db, key, fields);
    }
    read(ks, db, key)
}

/// As [`write`], after those of `fields` that are due are gone.
#[inline]
pub(super) fn write_fields<'k>(
    ks: &'k mut Keyspace,
    db: usize,
    key: &[u8],
    fields: &[&[u8]],
) -> Result<Option<&'k mut Hash>, CmdError> {
    if ks.has_due_fields(db) {
        ks.expire_named_fields(db, key, fields);
    }
    write(ks, db, key)
}

/// The fields of a hash that are not over, with their values.
pub(super) fn live(hash: &Hash, now_ms: i64) -> impl Iterator<Item = (Item<'_>, Item<'_>)> {
    hash.entries().filter(move |(_, _, at)| !is_over(*at, now_ms)).map(|(field, value, _)| (field, value))
}

/// Writes a value, or nothing in its place.
#[inline]
pub(super) fn put_value(out: &mut Reply, value: Option<Item<'_>>) {
    match value {
        Some(value) => put_item(out, value),
        None => out.null(),
    }
}

fn hset(ctx: &mut Ctx) -> CmdResult {
    let created = set_pairs(ctx, "hset")?;
    ctx.out.len(created);
    Ok(Outcome::Done)
}

fn hmset(ctx: &mut Ctx) -> CmdResult {
    set_pairs(ctx, "hmset")?;
    ctx.out.ok();
    Ok(Outcome::Done)
}

/// Sets fields to values; returns how many are new.
#[inline]
fn set_pairs(ctx: &mut Ctx, command: &str) -> Result<usize, CmdError> {
    let (db, key, pairs, limits) = (ctx.db(), ctx.args[1], &ctx.args[2..], ctx.hash_limits());
    if pairs.len() % 2 == 1 {
        return Err(CmdError::arity(command));
    }
    let created = match write(ctx.ks, db, key)? {
        Some(hash) => {
            let before = hash.min_expire();
            let created = set_all(hash, pairs, &limits);
            if before.is_some() {
                let after = hash.min_expire();
                ctx.ks.reschedule_fields(db, key, before, after);
            }
            created
        }
        None => {
            let mut hash = Hash::new(ctx.ks.seed());
            let created = set_all(&mut hash, pairs, &limits);
            ctx.ks.set(db, key, Value::Hash(hash), false);
            created
        }
    };
    ctx.changed(key, EventClass::HASH, "hset", pairs.len() as u64 / 2);
    Ok(created)
}

#[inline]
fn set_all(hash: &mut Hash, pairs: &[&[u8]], limits: &HashLimits) -> usize {
    hash.expect(pairs.len() / 2, limits);
    pairs.chunks_exact(2).filter(|pair| hash.set(pair[0], pair[1], limits)).count()
}

fn hsetnx(ctx: &mut Ctx) -> CmdResult {
    let (db, key, field, value) = (ctx.db(), ctx.args[1], ctx.args[2], ctx.args[3]);
    let limits = ctx.hash_limits();
    match write_fields(ctx.ks, db, key, &[field])? {
        Some(hash) if hash.contains(field) => {
            ctx.out.int(0);
            return Ok(Outcome::Done);
        }
        Some(hash) => {
            hash.set(field, value, &limits);
        }
        None => create(ctx, key, field, value),
    }
    ctx.changed(key, EventClass::HASH, "hset", 1);
    ctx.out.int(1);
    Ok(Outcome::Done)
}

/// Makes a hash of one field the value of a key.
fn create(ctx: &mut Ctx, key: &[u8], field: &[u8], value: &[u8]) {
    let (db, limits) = (ctx.db(), ctx.hash_limits());
    let mut hash = Hash::new(ctx.ks.seed());
    hash.set(field, value, &limits);
    ctx.ks.set(db, key, Value::Hash(hash), false);
}

fn hincrby(ctx: &mut Ctx) -> CmdResult {
    let (db, key, field, delta) = (ctx.db(), ctx.args[1], ctx.args[2], ctx.int(3)?);
    let limits = ctx.hash_limits();
    let mut digits = itoa::Buffer::new();
    let sum = match write_fields(ctx.ks, db, key, &[field])? {
        Some(hash) => {
            let old = match hash.get(field) {
                None => 0,
                Some(Item::Int(value)) => value,
                Some(Item::Str(text)) => parse_i64(text).ok_or(CmdError::HASH_NOT_INTEGER)?,
            };
            let sum = old.checked_add(delta).ok_or(CmdError::OVERFLOW)?;
            hash.set_keeping_expiry(field, digits.format(sum).as_bytes(), &limits);
            sum
        }
        None => {
            create(ctx, key, field, digits.format(delta).as_bytes());
            delta
        }
    };
    ctx.changed(key, EventClass::HASH, "hincrby", 1);
    ctx.out.int(sum);
    Ok(Outcome::Done)
}

fn hincrbyfloat(ctx: &mut Ctx) -> CmdResult {
    let (db, key, field) = (ctx.db(), ctx.args[1], ctx.args[2]);
    let delta = LongDouble::parse(ctx.args[3]).ok_or(CmdError::NOT_FLOAT)?;
    if !delta.is_finite() {
        return Err(CmdError::INCREMENT_NAN_OR_INFINITY);
    }
    let limits = ctx.hash_limits();
    let mut text = Vec::with_capacity(32);
    match write_fields(ctx.ks, db, key, &[field])? {
        Some(hash) => {
            let old = match hash.get(field) {
                None => LongDouble::from_i64(0),
                Some(Item::Int(value)) => LongDouble::from_i64(value),
                Some(Item::Str(text)) => LongDouble::parse(text).ok_or(CmdError::HASH_NOT_FLOAT)?,
            };
            let sum = old + delta;
            if !sum.is_finite() {
                return Err(CmdError::NAN_OR_INFINITY);
            }
            sum.to_human(&mut text);
            hash.set_keeping_expiry(field, &text, &limits);
        }
        None => {
            delta.to_human(&mut text);
            create(ctx, key, field, &text);
        }
    }
    ctx.changed(key, EventClass::HASH, "hincrbyfloat", 1);
    ctx.out.bulk(&text);
    Ok(Outcome::Done)
}

fn hdel(ctx: &mut Ctx) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let Some(hash) = write(ctx.ks, db, key)? else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    let before = hash.min_expire();
    let deleted = ctx.args[2..].iter().filter(|field| hash.remove(field)).count();
    let (after, emptied) = (hash.min_expire(), hash.is_empty());
    ctx.ks.reschedule_fields(db, key, before, after);
    if deleted > 0 {
        ctx.changed(key, EventClass::HASH, "hdel", deleted as u64);
    }
    if emptied {
        ctx.delete_emptied(key);
    }
    ctx.out.len(deleted);
    Ok(Outcome::Done)
}

fn hget(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let value = read_fields(ctx.ks, db, ctx.args[1], &ctx.args[2..])?.and_then(|hash| hash.get(ctx.args[2]));
    put_value(&mut ctx.out, value);
    Ok(Outcome::Done)
}

fn hmget(ctx: &mut Ctx) -> CmdResult {
    let (db, fields) = (ctx.db(), &ctx.args[2..]);
    let hash = read_fields(ctx.ks, db, ctx.args[1], fields)?;
    ctx.out.array(fields.len());
    for field in fields {
        put_value(&mut ctx.out, hash.and_then(|hash| hash.get(field)));
    }
    Ok(Outcome::Done)
}

fn hexists(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let found =
        read_fields(ctx.ks, db, ctx.args[1], &ctx.args[2..])?.is_some_and(|hash| hash.contains(ctx.args[2]));
    ctx.out.int(found.into());
    Ok(Outcome::Done)
}

fn hstrlen(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let value = read_fields(ctx.ks, db, ctx.args[1], &ctx.args[2..])?.and_then(|hash| hash.get(ctx.args[2]));
    ctx.out.len(value.map_or(0, |value| value.text_len()));
    Ok(Outcome::Done)
}

fn hlen(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let len = read(ctx.ks, db, ctx.args[1])?.map_or(0, Hash::len);
    ctx.out.len(len);
    Ok(Outcome::Done)
}

fn hgetall(ctx: &mut Ctx) -> CmdResult {
    let (db, now) = (ctx.db(), ctx.now_ms());
    let Some(hash) = read(ctx.ks, db, ctx.args[1])? else {
        ctx.out.map(0);
        return Ok(Outcome::Done);
    };
    let out = &mut ctx.out;
    let put = |out: &mut Reply, (field, value): (Item<'_>, Item<'_>)| {
        put_item(out, field);
        put_item(out, value);
    };
    if is_over(hash.min_expire(), now) {
        out.map(live(hash, now).count());
        live(hash, now).for_each(|pair| put(out, pair));
    } else {
        out.map(hash.len());
        hash.iter().for_each(|pair| put(out, pair));
    }
    Ok(Outcome::Done)
}

fn hkeys(ctx: &mut Ctx) -> CmdResult {
    list(ctx, |field, _| field)
}

fn hvals(ctx: &mut Ctx) -> CmdResult {
    list(ctx, |_, value| value)
}

/// Lists fields or values, as `part` chooses.
fn list(ctx: &mut Ctx, part: impl for<'i> Fn(Item<'i>, Item<'i>) -> Item<'i>) -> CmdResult {
    let (db, now) = (ctx.db(), ctx.now_ms());
    let Some(hash) = read(ctx.ks, db, ctx.args[1])? else {
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let out = &mut ctx.out;
    if is_over(hash.min_expire(), now) {
        out.array(live(hash, now).count());
        live(hash, now).for_each(|(field, value)| put_item(out, part(field, value)));
    } else {
        out.array(hash.len());
        hash.iter().for_each(|(field, value)| put_item(out, part(field, value)));
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests;
