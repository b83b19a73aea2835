//! Changing sorted sets: ZADD, ZINCRBY, ZREM and removal by range. Touches db, types, proto and base.

use std::ops::Range;

use crate::base::error::CmdError;
use crate::base::num::parse_f64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::cmd::zsets;
use crate::db::keyspace::EventClass;
use crate::db::value::Value;
use crate::types::zset::{Change, ZSet};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "zadd",
        summary: "Adds members to a sorted set or changes their scores.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) a member, N being the size of the set.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::UPDATE,
        syntax: "key [condition(NX|XX)@3.0.2] [comparison(GT|LT)@6.2.0] [change=CH@3.0.2] \
            [increment=INCR@3.0.2] data{score:double member}...",
        handler: Some(zadd),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zincrby",
        summary: "Adds an amount to the score of a member.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)) for a set of N members.",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::MODIFY,
        syntax: "key increment:int member",
        handler: Some(zincrby),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrem",
        summary: "Removes members from a sorted set.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(M*log(N)) for M members out of a set of N.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::DELETE,
        syntax: "key member...",
        handler: Some(zrem),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zremrangebylex",
        summary: "Removes the members between two names.",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: 4,
        flags: Flags::WRITE,
        acl: Acl::SORTEDSET,
        keys: KeySpec::DELETE,
        syntax: "key min max",
        handler: Some(zremrangebylex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zremrangebyrank",
        summary: "Removes the members between two ranks.",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: 4,
        flags: Flags::WRITE,
        acl: Acl::SORTEDSET,
        keys: KeySpec::DELETE,
        syntax: "key start:int stop:int",
        handler: Some(zremrangebyrank),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zremrangebyscore",
        summary: "Removes the members between two scores.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: 4,
        flags: Flags::WRITE,
        acl: Acl::SORTEDSET,
        keys: KeySpec::DELETE,
        syntax: "key min:double max:double",
        handler: Some(zremrangebyscore),
        ..CommandSpec::DEFAULT
    },
];

/// What may come before the scores of ZADD.
#[derive(Default, Clone, Copy)]
pub(in crate::cmd) struct AddOptions {
    /// Adds members only.
    pub(in crate::cmd) nx: bool,
    /// Changes members only.
    pub(in crate::cmd) xx: bool,
    /// Changes a member only to a higher score.
    gt: bool,
    /// Changes a member only to a lower score.
    lt: bool,
    /// Replies with the number of added and changed members, not just the added.
    pub(in crate::cmd) ch: bool,
    /// Adds to the score.
    incr: bool,
}

impl AddOptions {
    /// Takes the options at the beginning of `args`; what is left are the pairs.
    fn parse<'s, 'a>(mut self, args: &'s [&'a [u8]]) -> Result<(AddOptions, &'s [&'a [u8]]), CmdError> {
        let mut rest = args;
        while let [word, more @ ..] = rest
            && self.take(word)
        {
            rest = more;
        }
        if rest.is_empty() || !rest.len().is_multiple_of(2) {
            return Err(CmdError::SYNTAX);
        }
        if self.nx && self.xx {
            return Err(CmdError::NX_XX);
        }
        if self.nx && (self.gt || self.lt) || self.gt && self.lt {
            return Err(CmdError::GT_LT_NX);
        }
        if self.incr && rest.len() > 2 {
            return Err(CmdError::INCR_ONE_PAIR);
        }
        Ok((self, rest))
    }

    /// Sets the option of that name. `false` if there is none.
    #[inline]
    fn take(&mut self, word: &[u8]) -> bool {
        // Scores begin with a digit or a sign, nearly always.
        if !word.first().is_some_and(u8::is_ascii_alphabetic) {
            return false;
        }
        let flag = match word.to_ascii_lowercase().as_slice() {
            b"nx" => &mut self.nx,
            b"xx" => &mut self.xx,
            b"gt" => &mut self.gt,
            b"lt" => &mut self.lt,
            b"ch" => &mut self.ch,
            b"incr" => &mut self.incr,
            _ => return false,
        };
        *flag = true;
        true
    }

    /// The new score of a member that has the score `old`; `None` to leave it. With `incr` it may be NaN.
    #[inline]
    fn decide(&self, old: Option<f64>, given: f64) -> Option<f64> {
        let Some(old) = old else {
            return (!self.xx).then_some(given);
        };
        if self.nx {
            return None;
        }
        let new = if self.incr { old + given } else { given };
        let refused = self.gt && new <= old || self.lt && new >= old;
        (!refused).then_some(new)
    }
}

fn zadd(ctx: &mut Ctx) -> CmdResult {
    let (options, pairs) = AddOptions::default().parse(&ctx.args[2..])?;
    add_pairs(ctx, options, pairs)
}

/// As in Redis, the options of ZADD are looked for here too.
fn zincrby(ctx: &mut Ctx) -> CmdResult {
    let (options, pairs) = AddOptions { incr: true, ..AddOptions::default() }.parse(&ctx.args[2..])?;
    add_pairs(ctx, options, pairs)
}

fn add_pairs(ctx: &mut Ctx, options: AddOptions, pairs: &[&[u8]]) -> CmdResult {
    let parse = |text: &[u8]| parse_f64(text).ok_or(CmdError::NOT_FLOAT);
    if let [score, member] = pairs {
        return add(ctx, options, std::iter::once((parse(score)?, *member)));
    }
    let scores = pairs.iter().step_by(2).map(|text| parse(text)).collect::<Result<Vec<f64>, _>>()?;
    add(ctx, options, scores.iter().copied().zip(pairs.iter().skip(1).step_by(2).copied()))
}

/// ZADD and what is built on it: sets these scores and replies.
#[inline]
pub(in crate::cmd) fn add<'m>(
    ctx: &mut Ctx,
    options: AddOptions,
    mut pairs: impl ExactSizeIterator<Item = (f64, &'m [u8])> + Clone,
) -> CmdResult {
    let (key, db, limits) = (ctx.args[1], ctx.db(), ctx.zset_limits());
    let zset = match ctx.ks.write(db, key) {
        Some(entry) => {
            let zset = entry.zset()?;
            zset.expect(pairs.len(), &limits);
            zset
        }
        None if options.xx => return reply_added(ctx, options, 0, 0, None),
        None => {
            let first_len = pairs.clone().next().map_or(0, |(_, member)| member.len());
            let make = |seed| Value::ZSet(ZSet::for_members(pairs.len(), first_len, &limits, seed));
            ctx.ks.write_or_create(db, key, make).0.zset()?
        }
    };
    let (mut added, mut updated, mut new) = (0, 0, None);
    for (score, member) in &mut pairs {
        let mut nan = false;
        let update = zset.update(member, &limits, |old| {
            options.decide(old, score).filter(|new| {
                nan = new.is_nan();
                !nan
            })
        });
        if nan {
            // Only an increment can bring this about, and there is but one of those.
            return Err(CmdError::SCORE_NAN);
        }
        match update.change() {
            Change::Added => added += 1,
            Change::Updated => updated += 1,
            Change::Same => {}
        }
        new = update.new;
    }
    if added + updated > 0 {
        let event = if options.incr { "zincr" } else { "zadd" };
        ctx.changed(key, EventClass::ZSET, event, (added + updated) as u64);
    }
    reply_added(ctx, options, added, updated, new)
}

fn reply_added(
    ctx: &mut Ctx,
    options: AddOptions,
    added: usize,
    updated: usize,
    new: Option<f64>,
) -> CmdResult {
    match new {
        Some(score) if options.incr => zsets::put_score(&mut ctx.out, score),
        None if options.incr => ctx.out.null(),
        _ if options.ch => ctx.out.len(added + updated),
        _ => ctx.out.len(added),
    }
    Ok(Outcome::Done)
}

fn zrem(ctx: &mut Ctx) -> CmdResult {
    let (key, db) = (ctx.args[1], ctx.db());
    let Some(zset) = zsets::write(ctx.ks, db, key)? else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    let mut gone = 0;
    for member in &ctx.args[2..] {
        gone += usize::from(zset.remove(member).is_some());
        if zset.is_empty() {
            break;
        }
    }
    let emptied = zset.is_empty();
    report_removed(ctx, "zrem", gone, emptied)
}

/// Raises the events of a removal from the first argument's key and replies with the number of removed members.
fn report_removed(ctx: &mut Ctx, event: &'static str, gone: usize, emptied: bool) -> CmdResult {
    if gone > 0 {
        ctx.changed(ctx.args[1], EventClass::ZSET, event, gone as u64);
        if emptied {
            ctx.delete_emptied(ctx.args[1]);
        }
    }
    ctx.out.len(gone);
    Ok(Outcome::Done)
}

fn zremrangebyrank(ctx: &mut Ctx) -> CmdResult {
    let (start, stop) = (ctx.int(2)?, ctx.int(3)?);
    remove_ranks(ctx, "zremrangebyrank", |zset| super::range::ranks(start, stop, zset.len()))
}

fn zremrangebyscore(ctx: &mut Ctx) -> CmdResult {
    let range = zsets::score_range(ctx.args[2], ctx.args[3])?;
    remove_ranks(ctx, "zremrangebyscore", |zset| zset.ranks_by_score(&range))
}

fn zremrangebylex(ctx: &mut Ctx) -> CmdResult {
    let range = zsets::lex_range(ctx.args[2], ctx.args[3])?;
    remove_ranks(ctx, "zremrangebylex", |zset| zset.ranks_by_lex(&range))
}

fn remove_ranks(ctx: &mut Ctx, event: &'static str, choose: impl FnOnce(&ZSet) -> Range<usize>) -> CmdResult {
    let db = ctx.db();
    let Some(zset) = zsets::write(ctx.ks, db, ctx.args[1])? else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    let ranks = choose(zset);
    let gone = zset.remove_ranks(ranks, |_, _| {});
    let emptied = zset.is_empty();
    report_removed(ctx, event, gone, emptied)
}
