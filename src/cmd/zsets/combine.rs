//! Unions, intersections and differences of sorted sets and sets. Touches db, types, proto and base.
//!
//! A result is first collected with members borrowed from the sources, then ordered, and at last replied or stored, so
//! a destination may be one of the sources. A plain set counts as a sorted set with all scores 1.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::base::error::CmdError;
use crate::base::num::{parse_f64, parse_i64};
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::cmd::zsets;
use crate::db::keyspace::Keyspace;
use crate::db::value::{Type, ValueRef};
use crate::types::Item;
use crate::types::set::Set;
use crate::types::table::Seed;
use crate::types::zset::ZSet;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "zdiff",
        summary: "Lists the members of the first sorted set that no other one has.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(L+(N-K)*log(N)), L being the members of all sets together, N the size of the first \
            and K that of the result.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::counted(1, KeyFlags::RO_ACCESS)],
        syntax: "numkeys:int key... [WITHSCORES]",
        handler: Some(zdiff),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zdiffstore",
        summary: "Stores the members of the first sorted set that no other one has.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(L+(N-K)*log(N)), L being the members of all sets together, N the size of the first \
            and K that of the result.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::counted(2, KeyFlags::RO_ACCESS)],
        syntax: "destination:key numkeys:int key...",
        handler: Some(zdiffstore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zinter",
        summary: "Lists the members that all sorted sets share.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N*K)+O(M*log(M)), N being the size of the smallest set, K the number of sets and M \
            the size of the result.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::counted(1, KeyFlags::RO_ACCESS)],
        syntax: "numkeys:int key... [WEIGHTS weight:int...] [AGGREGATE aggregate(SUM|MIN|MAX)] [WITHSCORES]",
        handler: Some(zinter),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zintercard",
        summary: "Counts the members that all sorted sets share.",
        since: "7.0.0",
        group: Group::SortedSet,
        complexity: "O(N*K), N being the size of the smallest set and K the number of sets.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::counted(1, KeyFlags::RO_ACCESS)],
        syntax: "numkeys:int key... [LIMIT limit:int]",
        handler: Some(zintercard),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zinterstore",
        summary: "Stores the members that all sorted sets share.",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(N*K)+O(M*log(M)), N being the size of the smallest set, K the number of sets and M \
            the size of the result.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::counted(2, KeyFlags::RO_ACCESS)],
        syntax: "destination:key numkeys:int key... [WEIGHTS weight:int...] \
            [AGGREGATE aggregate(SUM|MIN|MAX)]",
        handler: Some(zinterstore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zunion",
        summary: "Lists the members of all sorted sets together.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N)+O(M*log(M)), N being the members of all sets together and M the size of the \
            result.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::counted(1, KeyFlags::RO_ACCESS)],
        syntax: "numkeys:int key... [WEIGHTS weight:int...] [AGGREGATE aggregate(SUM|MIN|MAX)] [WITHSCORES]",
        handler: Some(zunion),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zunionstore",
        summary: "Stores the members of all sorted sets together.",
        since: "2.0.0",
        group: Group::SortedSet,
        complexity: "O(N)+O(M*log(M)), N being the members of all sets together and M the size of the \
            result.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::counted(2, KeyFlags::RO_ACCESS)],
        syntax: "destination:key numkeys:int key... [WEIGHTS weight:int...] \
            [AGGREGATE aggregate(SUM|MIN|MAX)]",
        handler: Some(zunionstore),
        ..CommandSpec::DEFAULT
    },
];

/// Which operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Union,
    Inter,
    Diff,
}

/// How the scores of a member in several sources become one.
#[derive(Clone, Copy)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn join(self, a: f64, b: f64) -> f64 {
        match self {
            Aggregate::Sum => number(a + b),
            // Not `f64::min`: of two equal scores, or with a NaN, the first stays.
            Aggregate::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Aggregate::Max => {
                if b > a {
                    b
                } else {
                    a
                }
            }
        }
    }
}

/// NaN, as from infinities that cancel out, counts as 0.
fn number(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// What a source key holds.
#[derive(Clone, Copy)]
enum Source<'k> {
    Missing,
    Set(&'k Set),
    ZSet(&'k ZSet),
}

impl<'k> Source<'k> {
    fn len(self) -> usize {
        match self {
            Source::Missing => 0,
            Source::Set(set) => set.len(),
            Source::ZSet(zset) => zset.len(),
        }
    }

    fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            Source::Missing => None,
            Source::Set(set) => set.contains(member).then_some(1.0),
            Source::ZSet(zset) => zset.score(member),
        }
    }

    /// Gives every member to `each` until that returns `false`.
    fn walk(self, mut each: impl FnMut(Item<'k>, f64) -> bool) {
        match self {
            Source::Missing => {}
            Source::Set(set) => {
                let _ = set.iter().all(|member| each(member, 1.0));
            }
            Source::ZSet(zset) => {
                let _ = zset.iter().all(|(member, score)| each(member, score));
            }
        }
    }
}

/// A source with its weight.
#[derive(Clone, Copy)]
struct Weighted<'k> {
    source: Source<'k>,
    weight: f64,
}

/// A member of the result.
struct Scored<'k> {
    member: Cow<'k, [u8]>,
    score: f64,
}

/// A member's bytes; only one that is stored as an integer needs memory for them.
fn text(member: Item<'_>) -> Cow<'_, [u8]> {
    match member {
        Item::Str(bytes) => Cow::Borrowed(bytes),
        Item::Int(_) => Cow::Owned(member.to_vec()),
    }
}

/// A parsed request.
struct Request<'s, 'a> {
    keys: &'s [&'a [u8]],
    /// One a key.
    weights: Vec<f64>,
    aggregate: Aggregate,
    with_scores: bool,
    /// ZINTERCARD stops counting here; 0: never.
    limit: usize,
}

/// Which options a command takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// WEIGHTS and AGGREGATE unless it is a difference, and WITHSCORES.
    Reply,
    /// WEIGHTS and AGGREGATE unless it is a difference.
    Store,
    /// LIMIT.
    Count,
}

impl<'s, 'a> Request<'s, 'a> {
    /// Parses `numkeys key… options`. The types of the sources are checked on the way: a wrong one is reported before
    /// a wrong option.
    fn parse(
        ks: &mut Keyspace,
        db: usize,
        args: &'s [&'a [u8]],
        command: (&str, Op, Form),
    ) -> Result<Request<'s, 'a>, CmdError> {
        let (name, op, form) = command;
        let numkeys = parse_i64(args[0]).ok_or(CmdError::NOT_INTEGER)?;
        if numkeys < 1 {
            return Err(CmdError::no_input_keys(name));
        }
        let split = usize::try_from(numkeys).ok().and_then(|n| args[1..].split_at_checked(n));
        let Some((keys, options)) = split else {
            return Err(CmdError::SYNTAX);
        };
        for key in keys {
            let kind = ks.read(db, key).map(|entry| entry.type_of());
            if !matches!(kind, None | Some(Type::Set | Type::ZSet)) {
                return Err(CmdError::WRONG_TYPE);
            }
        }
        let weights = vec![1.0; keys.len()];
        let mut request = Request { keys, weights, aggregate: Aggregate::Sum, with_scores: false, limit: 0 };
        request.parse_options(options, op, form)?;
        Ok(request)
    }

    fn parse_options(&mut self, options: &[&[u8]], op: Op, form: Form) -> Result<(), CmdError> {
        let weighable = op != Op::Diff && form != Form::Count;
        let mut rest = options;
        while let [option, more @ ..] = rest {
            rest = more;
            match (option.to_ascii_lowercase().as_slice(), more) {
                (b"weights", _) if weighable && more.len() >= self.keys.len() => {
                    let (weights, behind) = more.split_at(self.keys.len());
                    for (weight, text) in self.weights.iter_mut().zip(weights) {
                        *weight = parse_f64(text).ok_or(CmdError::WEIGHT_NOT_FLOAT)?;
                    }
                    rest = behind;
                }
                (b"aggregate", [word, behind @ ..]) if weighable => {
                    self.aggregate = match word.to_ascii_lowercase().as_slice() {
                        b"sum" => Aggregate::Sum,
                        b"min" => Aggregate::Min,
                        b"max" => Aggregate::Max,
                        _ => return Err(CmdError::SYNTAX),
                    };
                    rest = behind;
                }
                (b"withscores", _) if form == Form::Reply => self.with_scores = true,
                (b"limit", [limit, behind @ ..]) if form == Form::Count => {
                    let limit = parse_i64(limit).and_then(|n| usize::try_from(n).ok());
                    self.limit = limit.ok_or(CmdError::LIMIT_NEGATIVE)?;
                    rest = behind;
                }
                _ => return Err(CmdError::SYNTAX),
            }
        }
        Ok(())
    }

    /// The sources as they stand, after [`Request::parse`] has dealt with their expiry.
    fn sources<'k>(&self, ks: &'k Keyspace, db: usize) -> Vec<Weighted<'k>> {
        let space = ks.db(db);
        let source = |key: &[u8]| match space.find(key).map(|entry| entry.value()) {
            Some(ValueRef::Set(set)) => Source::Set(set),
            Some(ValueRef::ZSet(zset)) => Source::ZSet(zset),
            _ => Source::Missing,
        };
        self.keys
            .iter()
            .zip(&self.weights)
            .map(|(key, &weight)| Weighted { source: source(key), weight })
            .collect()
    }

    /// The members of the result, in order.
    fn run<'k>(&self, ks: &'k Keyspace, db: usize, op: Op) -> Vec<Scored<'k>> {
        let sources = self.sources(ks, db);
        let mut result = match op {
            Op::Union => union(by_size(sources), self.aggregate, ks.seed()),
            Op::Diff => difference(&sources),
            Op::Inter => {
                let mut shared = Vec::new();
                intersect(&by_size(sources), self.aggregate, |member, score| {
                    shared.push(Scored { member: text(member), score });
                    true
                });
                shared
            }
        };
        result.sort_unstable_by(|a, b| in_order(a.score, b.score).then_with(|| a.member.cmp(&b.member)));
        result
    }
}

/// Orders scores, none of which is NaN; 0 and -0 are the same.
fn in_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).expect("scores are numbers")
}

/// The order in which Redis goes through the sources; it decides how sums are rounded.
fn by_size(mut sources: Vec<Weighted<'_>>) -> Vec<Weighted<'_>> {
    sources.sort_by_key(|weighted| weighted.source.len());
    sources
}

fn union(sources: Vec<Weighted<'_>>, aggregate: Aggregate, seed: Seed) -> Vec<Scored<'_>> {
    // The largest source comes last, and the union is at least as large.
    let least = sources.last().map_or(0, |last| last.source.len());
    let mut sums = HashMap::with_capacity_and_hasher(least, FixedState::with_seed(seed.0));
    for Weighted { source, weight } in sources {
        source.walk(|member, score| {
            let score = number(weight * score);
            let known = sums.entry(text(member));
            known.and_modify(|sum| *sum = aggregate.join(*sum, score)).or_insert(score);
            true
        });
    }
    sums.into_iter().map(|(member, score)| Scored { member, score }).collect()
}

/// Gives every member that all sources share to `each`, until that returns `false`. The smallest source comes first.
fn intersect<'k>(
    sources: &[Weighted<'k>],
    aggregate: Aggregate,
    mut each: impl FnMut(Item<'k>, f64) -> bool,
) {
    let Some((first, others)) = sources.split_first() else {
        return;
    };
    first.source.walk(|member, score| {
        let mut buffer = itoa::Buffer::new();
        let bytes = member.bytes(&mut buffer);
        let mut sum = number(first.weight * score);
        for other in others {
            let Some(score) = other.source.score(bytes) else {
                return true;
            };
            sum = aggregate.join(sum, other.weight * score);
        }
        each(member, sum)
    });
}

/// The members of the first source that no other one has.
fn difference<'k>(sources: &[Weighted<'k>]) -> Vec<Scored<'k>> {
    let mut left = Vec::new();
    if let Some((first, others)) = sources.split_first() {
        first.source.walk(|member, score| {
            let mut buffer = itoa::Buffer::new();
            let bytes = member.bytes(&mut buffer);
            if !others.iter().any(|other| other.source.score(bytes).is_some()) {
                left.push(Scored { member: text(member), score });
            }
            true
        });
    }
    left
}

fn list(ctx: &mut Ctx, name: &str, op: Op) -> CmdResult {
    let db = ctx.db();
    let request = Request::parse(ctx.ks, db, &ctx.args[1..], (name, op, Form::Reply))?;
    let result = request.run(ctx.ks, db, op);
    let out = &mut ctx.out;
    if request.with_scores {
        zsets::put_scored_head(out, result.len());
        result.iter().for_each(|scored| zsets::put_scored(out, Item::Str(&scored.member), scored.score));
    } else {
        out.array(result.len());
        result.iter().for_each(|scored| out.bulk(&scored.member));
    }
    Ok(Outcome::Done)
}

/// `name` is both the command and its event.
fn store(ctx: &mut Ctx, name: &'static str, op: Op) -> CmdResult {
    let (db, limits) = (ctx.db(), ctx.zset_limits());
    let request = Request::parse(ctx.ks, db, &ctx.args[2..], (name, op, Form::Store))?;
    let result = request.run(ctx.ks, db, op);
    let longest = result.iter().map(|scored| scored.member.len()).max().unwrap_or(0);
    let mut zset = ZSet::for_members(result.len(), longest, &limits, ctx.ks.seed());
    for scored in &result {
        zset.set(&scored.member, scored.score, &limits);
    }
    drop(result);
    zsets::store(ctx, ctx.args[1], zset, name, 1)
}

fn zunion(ctx: &mut Ctx) -> CmdResult {
    list(ctx, "zunion", Op::Union)
}

fn zinter(ctx: &mut Ctx) -> CmdResult {
    list(ctx, "zinter", Op::Inter)
}

fn zdiff(ctx: &mut Ctx) -> CmdResult {
    list(ctx, "zdiff", Op::Diff)
}

fn zunionstore(ctx: &mut Ctx) -> CmdResult {
    store(ctx, "zunionstore", Op::Union)
}

fn zinterstore(ctx: &mut Ctx) -> CmdResult {
    store(ctx, "zinterstore", Op::Inter)
}

fn zdiffstore(ctx: &mut Ctx) -> CmdResult {
    store(ctx, "zdiffstore", Op::Diff)
}

fn zintercard(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let request = Request::parse(ctx.ks, db, &ctx.args[1..], ("zintercard", Op::Inter, Form::Count))?;
    let mut count = 0;
    intersect(&by_size(request.sources(ctx.ks, db)), Aggregate::Sum, |_, _| {
        count += 1;
        count != request.limit
    });
    ctx.out.len(count);
    Ok(Outcome::Done)
}
