//! Sorted sets: what is asked about single members, and how many there are. Touches db, types, proto and base.
//!
//! By theme: `write` (ZADD and removal by name or range), `pick` (popping, random members, ZSCAN), `range` (ZRANGE and
//! its older forms), `combine` (unions, intersections and differences). The helpers they share are here.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::base::error::CmdError;
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::Value;
use crate::proto::reply::Reply;
use crate::types::Item;
use crate::types::zrange::{LexRange, ScoreRange};
use crate::types::zset::ZSet;

pub mod blocking;
pub mod combine;
pub mod pick;
pub mod range;
pub mod write;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "zcard",
        summary: "Tells the size of a sorted set.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::STAT,
        syntax: "key",
        handler: Some(zcard),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zcount",
        summary: "Counts the members between two scores.",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: 4,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key min:double max:double",
        handler: Some(zcount),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zlexcount",
        summary: "Counts the members between two names.",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: 4,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key min max",
        handler: Some(zlexcount),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zmscore",
        summary: "Tells the scores of several members.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N) for N given members.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key member...",
        handler: Some(zmscore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrank",
        summary: "Tells the rank of a member, counted from the lowest score.",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key member [WITHSCORE]",
        handler: Some(zrank),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrevrank",
        summary: "Tells the rank of a member, counted from the highest score.",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key member [WITHSCORE]",
        handler: Some(zrevrank),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zscore",
        summary: "Tells the score of a member.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key member",
        handler: Some(zscore),
        ..CommandSpec::DEFAULT
    },
];

/// The sorted set at a key, for reading; `None` if the key is missing.
#[inline]
pub(super) fn read<'k>(ks: &'k mut Keyspace, db: usize, key: &[u8]) -> Result<Option<&'k ZSet>, CmdError> {
    ks.read(db, key).map(|entry| entry.value().zset()).transpose()
}

/// As `read`, for picking elements at random; see [`Keyspace::read_to_pick`].
pub(super) fn read_to_pick<'k>(
    ks: &'k mut Keyspace,
    db: usize,
    key: &[u8],
) -> Result<Option<&'k ZSet>, CmdError> {
    ks.read_to_pick(db, key).map(|entry| entry.value().zset()).transpose()
}

/// The sorted set at a key, for changing; `None` if the key is missing.
#[inline]
pub(super) fn write<'k>(
    ks: &'k mut Keyspace,
    db: usize,
    key: &[u8],
) -> Result<Option<&'k mut ZSet>, CmdError> {
    match ks.write(db, key) {
        None => Ok(None),
        Some(entry) => entry.zset().map(Some),
    }
}

/// Writes a member.
#[inline]
pub(super) fn put_member(out: &mut Reply, member: Item<'_>) {
    match member {
        Item::Str(bytes) => out.bulk(bytes),
        Item::Int(value) => out.bulk_int(value),
    }
}

/// Whole numbers up to this print as integers do.
const PLAIN_INTEGER_MAX: f64 = 1e15;

/// Writes a score. Most are small integers, which need no formatting of a double.
#[inline]
pub(super) fn put_score(out: &mut Reply, score: f64) {
    let whole = score as i64;
    let plain =
        whole as f64 == score && score.abs() < PLAIN_INTEGER_MAX && (whole != 0 || score.is_sign_positive());
    if plain && !out.resp3() { out.bulk_int(whole) } else { out.double(score) }
}

/// Writes the head of a list of `count` members with scores: flat in RESP2, pairs in RESP3.
pub(super) fn put_scored_head(out: &mut Reply, count: usize) {
    out.array(if out.resp3() { count } else { count.saturating_mul(2) });
}

/// Writes an element of such a list.
#[inline]
pub(super) fn put_scored(out: &mut Reply, member: Item<'_>, score: f64) {
    if out.resp3() {
        out.array(2);
    }
    put_member(out, member);
    put_score(out, score);
}

/// Makes a sorted set the value of a key, which counts as `dirty` changes, or deletes the key if the set is empty.
/// Replies with the size.
pub(super) fn store(ctx: &mut Ctx, key: &[u8], zset: ZSet, event: &'static str, dirty: u64) -> CmdResult {
    let (db, len) = (ctx.db(), zset.len());
    if len == 0 {
        ctx.ks.delete(db, key);
    } else {
        ctx.ks.set(db, key, Value::ZSet(zset), false);
        ctx.changed(key, EventClass::ZSET, event, dirty);
    }
    ctx.out.len(len);
    Ok(Outcome::Done)
}

/// Parses a range of scores.
pub(super) fn score_range(min: &[u8], max: &[u8]) -> Result<ScoreRange, CmdError> {
    ScoreRange::parse(min, max).ok_or(CmdError::MIN_MAX_NOT_FLOAT)
}

/// Parses a range of members.
pub(super) fn lex_range<'t>(min: &'t [u8], max: &'t [u8]) -> Result<LexRange<'t>, CmdError> {
    LexRange::parse(min, max).ok_or(CmdError::MIN_MAX_NOT_STRING)
}

fn zcard(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let len = read(ctx.ks, db, ctx.args[1])?.map_or(0, ZSet::len);
    ctx.out.len(len);
    Ok(Outcome::Done)
}

fn zcount(ctx: &mut Ctx) -> CmdResult {
    let range = score_range(ctx.args[2], ctx.args[3])?;
    let db = ctx.db();
    let count = read(ctx.ks, db, ctx.args[1])?.map_or(0, |zset| zset.count_in(&range));
    ctx.out.len(count);
    Ok(Outcome::Done)
}

fn zlexcount(ctx: &mut Ctx) -> CmdResult {
    let range = lex_range(ctx.args[2], ctx.args[3])?;
    let db = ctx.db();
    let count = read(ctx.ks, db, ctx.args[1])?.map_or(0, |zset| zset.count_in_lex(&range));
    ctx.out.len(count);
    Ok(Outcome::Done)
}

fn put_score_or_null(out: &mut Reply, score: Option<f64>) {
    match score {
        Some(score) => put_score(out, score),
        None => out.null(),
    }
}

fn zscore(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let score = read(ctx.ks, db, ctx.args[1])?.and_then(|zset| zset.score(ctx.args[2]));
    put_score_or_null(&mut ctx.out, score);
    Ok(Outcome::Done)
}

fn zmscore(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let zset = read(ctx.ks, db, ctx.args[1])?;
    let members = &ctx.args[2..];
    ctx.out.array(members.len());
    for member in members {
        put_score_or_null(&mut ctx.out, zset.and_then(|zset| zset.score(member)));
    }
    Ok(Outcome::Done)
}

fn zrank(ctx: &mut Ctx) -> CmdResult {
    rank(ctx, "zrank", false)
}

fn zrevrank(ctx: &mut Ctx) -> CmdResult {
    rank(ctx, "zrevrank", true)
}

fn rank(ctx: &mut Ctx, name: &str, reverse: bool) -> CmdResult {
    let with_score = match ctx.args.len() {
        3 => false,
        4 if ctx.is_word(3, "withscore") => true,
        4 => return Err(CmdError::SYNTAX),
        _ => return Err(CmdError::arity(name)),
    };
    let db = ctx.db();
    let found = read(ctx.ks, db, ctx.args[1])?.and_then(|zset| zset.rank(ctx.args[2], reverse));
    match found {
        Some((rank, score)) if with_score => {
            ctx.out.array(2);
            ctx.out.len(rank);
            put_score(&mut ctx.out, score);
        }
        Some((rank, _)) => ctx.out.len(rank),
        None if with_score => ctx.out.null_array(),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests;
