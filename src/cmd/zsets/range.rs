//! Ranges of sorted sets: ZRANGE in all its forms, its older special cases, and ZRANGESTORE. Touches db, types, proto
//! and base.

use std::ops::Range;

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeyFlags, KeySpec};
use crate::cmd::zsets;
use crate::proto::reply::Reply;
use crate::types::zrange::{LexRange, ScoreRange};
use crate::types::zset::{RangeIter, ZSet};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "zrange",
        summary: "Lists members of a sorted set by rank, score or name.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key start stop [sortby(BYSCORE|BYLEX)@6.2.0] [REV@6.2.0] \
            [LIMIT limit{offset:int count:int}@6.2.0] [WITHSCORES]",
        handler: Some(zrange),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrangebylex",
        summary: "Lists the members between two names.",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key min max [LIMIT limit{offset:int count:int}]",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `BYLEX`" }),
        handler: Some(zrangebylex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrangebyscore",
        summary: "Lists the members between two scores.",
        since: "1.0.5",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key min:double max:double [WITHSCORES@2.0.0] [LIMIT limit{offset:int count:int}]",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `BYSCORE`" }),
        handler: Some(zrangebyscore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrangestore",
        summary: "Stores a range of a sorted set in another key.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::one(KeyFlags::RO_ACCESS).at(2)],
        syntax: "dst:key src:key min max [sortby(BYSCORE|BYLEX)] [REV] [LIMIT limit{offset:int count:int}]",
        handler: Some(zrangestore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrevrange",
        summary: "Lists members by rank, highest score first.",
        since: "1.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key start:int stop:int [WITHSCORES]",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `REV`" }),
        handler: Some(zrevrange),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrevrangebylex",
        summary: "Lists the members between two names in reverse order.",
        since: "2.8.9",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key max min [LIMIT limit{offset:int count:int}]",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `BYLEX` and `REV`" }),
        handler: Some(zrevrangebylex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrevrangebyscore",
        summary: "Lists the members between two scores, highest first.",
        since: "2.2.0",
        group: Group::SortedSet,
        complexity: "O(log(N)+M) for M members out of a set of N.",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key max:double min:double [WITHSCORES] [LIMIT limit{offset:int count:int}]",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `BYSCORE` and `REV`" }),
        handler: Some(zrevrangebyscore),
        ..CommandSpec::DEFAULT
    },
];

/// What a range is counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Lex,
}

/// What the name of the command leaves open.
#[derive(Clone, Copy)]
struct Form {
    /// `None`: an option may say so, and it is by rank if none does.
    by: Option<By>,
    /// `None`: an option may say so, and it is rising if none does.
    reverse: Option<bool>,
    /// Whether the result is stored, with its scores.
    store: bool,
}

impl Form {
    const OPEN: Form = Form { by: None, reverse: None, store: false };

    const fn fixed(by: By, reverse: bool) -> Form {
        Form { by: Some(by), reverse: Some(reverse), store: false }
    }
}

/// The ends of a range.
enum Ends<'a> {
    /// Inclusive; negative ones are counted from the end.
    Rank(i64, i64),
    Score(ScoreRange),
    Lex(LexRange<'a>),
}

/// A parsed request for a range.
struct Query<'a> {
    ends: Ends<'a>,
    reverse: bool,
    with_scores: bool,
    /// Members left out at the beginning; negative: all of them.
    offset: i64,
    /// Members at most; negative: no limit.
    limit: i64,
}

impl<'a> Query<'a> {
    /// Parses two ends and options.
    fn parse(args: &[&'a [u8]], form: Form) -> Result<Query<'a>, CmdError> {
        let (mut by, mut reverse, mut with_scores) = (form.by, form.reverse, false);
        let (mut offset, mut limit) = (0, -1);
        let mut rest = &args[2..];
        while let [option, more @ ..] = rest {
            rest = more;
            match option.to_ascii_lowercase().as_slice() {
                b"withscores" if !form.store => with_scores = true,
                b"limit" if more.len() >= 2 => {
                    offset = parse_i64(more[0]).ok_or(CmdError::NOT_INTEGER)?;
                    limit = parse_i64(more[1]).ok_or(CmdError::NOT_INTEGER)?;
                    rest = &more[2..];
                }
                // Given twice or with a fixed form, these are unknown words.
                b"rev" if reverse.is_none() => reverse = Some(true),
                b"bylex" if by.is_none() => by = Some(By::Lex),
                b"byscore" if by.is_none() => by = Some(By::Score),
                _ => return Err(CmdError::SYNTAX),
            }
        }
        let (by, reverse) = (by.unwrap_or(By::Rank), reverse.unwrap_or(false));
        if limit != -1 && by == By::Rank {
            return Err(CmdError::LIMIT_BY_RANK);
        }
        if with_scores && by == By::Lex {
            return Err(CmdError::WITHSCORES_BYLEX);
        }
        let (min, max) = if reverse { (args[1], args[0]) } else { (args[0], args[1]) };
        let ends = match by {
            By::Rank => {
                let end = |text: &[u8]| parse_i64(text).ok_or(CmdError::NOT_INTEGER);
                Ends::Rank(end(args[0])?, end(args[1])?)
            }
            By::Score => Ends::Score(zsets::score_range(min, max)?),
            By::Lex => Ends::Lex(zsets::lex_range(min, max)?),
        };
        Ok(Query { ends, reverse, with_scores, offset, limit })
    }

    /// The members asked for, in order.
    fn run<'z>(&self, zset: &'z ZSet) -> RangeIter<'z> {
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        match &self.ends {
            Ends::Rank(start, stop) => {
                let ranks = ranks(*start, *stop, zset.len());
                zset.range_by_rank(ranks.start, ranks.len(), self.reverse)
            }
            Ends::Score(range) => zset.range_by_score(range, self.reverse, offset, limit),
            Ends::Lex(range) => zset.range_by_lex(range, self.reverse, offset, limit),
        }
    }
}

/// The ranks from `start` to `stop`, both inclusive and counted from the end if negative, in a set of `len` members.
pub(super) fn ranks(start: i64, stop: i64, len: usize) -> Range<usize> {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { index + len } else { index };
    let start = from_end(start).clamp(0, len);
    let end = from_end(stop).min(len - 1) + 1;
    start as usize..end.max(start) as usize
}

fn put_members(out: &mut Reply, members: RangeIter<'_>, with_scores: bool) {
    if with_scores {
        zsets::put_scored_head(out, members.len());
        members.for_each(|(member, score)| zsets::put_scored(out, member, score));
    } else {
        out.array(members.len());
        members.for_each(|(member, _)| zsets::put_member(out, member));
    }
}

fn list(ctx: &mut Ctx, form: Form) -> CmdResult {
    let query = Query::parse(&ctx.args[2..], form)?;
    let db = ctx.db();
    match zsets::read(ctx.ks, db, ctx.args[1])? {
        Some(zset) => put_members(&mut ctx.out, query.run(zset), query.with_scores),
        None => ctx.out.array(0),
    }
    Ok(Outcome::Done)
}

fn zrange(ctx: &mut Ctx) -> CmdResult {
    list(ctx, Form::OPEN)
}

fn zrevrange(ctx: &mut Ctx) -> CmdResult {
    list(ctx, Form::fixed(By::Rank, true))
}

fn zrangebyscore(ctx: &mut Ctx) -> CmdResult {
    list(ctx, Form::fixed(By::Score, false))
}

fn zrevrangebyscore(ctx: &mut Ctx) -> CmdResult {
    list(ctx, Form::fixed(By::Score, true))
}

fn zrangebylex(ctx: &mut Ctx) -> CmdResult {
    list(ctx, Form::fixed(By::Lex, false))
}

fn zrevrangebylex(ctx: &mut Ctx) -> CmdResult {
    list(ctx, Form::fixed(By::Lex, true))
}

fn zrangestore(ctx: &mut Ctx) -> CmdResult {
    let query = Query::parse(&ctx.args[3..], Form { store: true, ..Form::OPEN })?;
    let (db, limits, seed) = (ctx.db(), ctx.zset_limits(), ctx.ks.seed());
    let mut result = ZSet::new(seed);
    if let Some(zset) = zsets::read(ctx.ks, db, ctx.args[2])? {
        let members = query.run(zset);
        result = ZSet::for_members(members.len(), 0, &limits, seed);
        for (member, score) in members {
            result.set(member.bytes(&mut itoa::Buffer::new()), score, &limits);
        }
    }
    zsets::store(ctx, ctx.args[1], result, "zrangestore", 1)
}
