//! Taking members out of sorted sets, picking some at random, and ZSCAN. Touches db, types, proto and base.

use crate::base::error::CmdError;
use crate::base::glob;
use crate::base::num::{format_f64, format_f64_17g, parse_i64, parse_u64_loose};
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::cmd::zsets;
use crate::db::keyspace::EventClass;
use crate::proto::reply::Reply;
use crate::types::Item;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "zmpop",
        summary: "Pops members from the first sorted set that has any.",
        since: "7.0.0",
        group: Group::SortedSet,
        complexity: "O(K)+O(M*log(N)) for K keys and M members popped from a set of N.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::MOVABLEKEYS),
        acl: Acl::SORTEDSET,
        keys: &[KeySpec::counted(1, KeyFlags::RW_ACCESS_DELETE)],
        syntax: "numkeys:int key... where(MIN|MAX) [COUNT count:int]",
        handler: Some(zmpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zpopmax",
        summary: "Pops the members with the highest scores.",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(M*log(N)) for M members popped from a set of N.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::TAKE,
        syntax: "key [count:int]",
        handler: Some(zpopmax),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zpopmin",
        summary: "Pops the members with the lowest scores.",
        since: "5.0.0",
        group: Group::SortedSet,
        complexity: "O(M*log(N)) for M members popped from a set of N.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::SORTEDSET,
        keys: KeySpec::TAKE,
        syntax: "key [count:int]",
        handler: Some(zpopmin),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zrandmember",
        summary: "Picks members of a sorted set at random.",
        since: "6.2.0",
        group: Group::SortedSet,
        complexity: "O(N) for N returned members.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key [options{count:int [WITHSCORES]}]",
        tips: &["nondeterministic_output"],
        handler: Some(zrandmember),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "zscan",
        summary: "Walks through the members of a sorted set step by step.",
        since: "2.8.0",
        group: Group::SortedSet,
        complexity: "O(1) a call; O(N) for a whole walk through N members.",
        arity: -3,
        flags: Flags::READONLY,
        acl: Acl::SORTEDSET,
        keys: KeySpec::READ,
        syntax: "key cursor:int [MATCH pattern:pattern] [COUNT count:int]",
        tips: &["nondeterministic_output"],
        handler: Some(zscan),
        ..CommandSpec::DEFAULT
    },
];

/// Which end of a sorted set members are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The lowest score.
    Min,
    /// The highest score.
    Max,
}

/// How popped members are laid out in the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Members and scores in turn.
    Flat,
    /// A list of pairs.
    Pairs,
    /// The key, then members and scores in turn: BZPOPMIN.
    KeyFlat,
    /// The key and a list of pairs: ZMPOP.
    KeyPairs,
}

/// Pops up to `count` members of one key and replies. Writes nothing and returns `false` if the key is missing.
pub fn pop(ctx: &mut Ctx, key: &[u8], end: End, count: usize, layout: Layout) -> Result<bool, CmdError> {
    let db = ctx.db();
    let Some(zset) = zsets::write(ctx.ks, db, key)? else {
        return Ok(false);
    };
    let (count, out) = (count.min(zset.len()), &mut ctx.out);
    if count == 0 {
        out.array(0);
        return Ok(true);
    }
    match layout {
        Layout::Flat => out.array(count * 2),
        Layout::Pairs => out.array(count),
        Layout::KeyFlat => {
            out.array(count * 2 + 1);
            out.bulk(key);
        }
        Layout::KeyPairs => {
            out.array(2);
            out.bulk(key);
            out.array(count);
        }
    }
    let nested = matches!(layout, Layout::Pairs | Layout::KeyPairs);
    zset.pop(end == End::Min, count, |member, score| {
        if nested {
            out.array(2);
        }
        zsets::put_member(out, member);
        zsets::put_score(out, score);
    });
    let emptied = zset.is_empty();
    let event = if end == End::Min { "zpopmin" } else { "zpopmax" };
    ctx.changed(key, EventClass::ZSET, event, count as u64);
    if emptied {
        ctx.delete_emptied(key);
    }
    Ok(true)
}

fn zpopmin(ctx: &mut Ctx) -> CmdResult {
    pop_one_key(ctx, End::Min)
}

fn zpopmax(ctx: &mut Ctx) -> CmdResult {
    pop_one_key(ctx, End::Max)
}

fn pop_one_key(ctx: &mut Ctx, end: End) -> CmdResult {
    let (count, layout) = match ctx.args.len() {
        2 => (1, Layout::Flat),
        3 if ctx.out.resp3() => (ctx.count(2)?, Layout::Pairs),
        3 => (ctx.count(2)?, Layout::Flat),
        _ => return Err(CmdError::SYNTAX),
    };
    if !pop(ctx, ctx.args[1], end, count, layout)? {
        ctx.out.array(0);
    }
    Ok(Outcome::Done)
}

/// What ZMPOP and BZMPOP ask for.
pub struct MultiPop<'s, 'a> {
    /// The keys, tried in this order.
    pub keys: &'s [&'a [u8]],
    /// Where to take from.
    pub end: End,
    /// How many at most.
    pub count: usize,
}

impl<'s, 'a> MultiPop<'s, 'a> {
    /// Parses `numkeys key… MIN|MAX [COUNT count]`.
    pub fn parse(args: &'s [&'a [u8]]) -> Result<MultiPop<'s, 'a>, CmdError> {
        let positive = |text: &[u8]| parse_i64(text).filter(|&n| n > 0).map(|n| n as usize);
        let numkeys = positive(args[0]).ok_or(CmdError::NUMKEYS_NOT_POSITIVE)?;
        let Some((keys, [end, options @ ..])) = args[1..].split_at_checked(numkeys) else {
            return Err(CmdError::SYNTAX);
        };
        let end = match end.to_ascii_lowercase().as_slice() {
            b"min" => End::Min,
            b"max" => End::Max,
            _ => return Err(CmdError::SYNTAX),
        };
        let count = match options {
            [] => 1,
            [word, count, more @ ..] if word.eq_ignore_ascii_case(b"count") => {
                let count = positive(count).ok_or(CmdError::COUNT_NOT_POSITIVE)?;
                if !more.is_empty() {
                    return Err(CmdError::SYNTAX);
                }
                count
            }
            _ => return Err(CmdError::SYNTAX),
        };
        Ok(MultiPop { keys, end, count })
    }
}

fn zmpop(ctx: &mut Ctx) -> CmdResult {
    let request = MultiPop::parse(&ctx.args[1..])?;
    for key in request.keys {
        if pop(ctx, key, request.end, request.count, Layout::KeyPairs)? {
            return Ok(Outcome::Done);
        }
    }
    ctx.out.null_array();
    Ok(Outcome::Done)
}

fn zrandmember(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    if ctx.args.len() > 2 {
        return random_members(ctx);
    }
    match zsets::read_to_pick(ctx.ks, db, ctx.args[1])?.and_then(|zset| zset.random(ctx.rng)) {
        Some((member, _)) => zsets::put_member(&mut ctx.out, member),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

/// ZRANDMEMBER with a count: that many different members or, if it is negative, that many picks.
fn random_members(ctx: &mut Ctx) -> CmdResult {
    let count = ctx.int(2)?;
    if count == i64::MIN {
        return Err(CmdError::BELOW_NEGATED_MAX);
    }
    let with_scores = match ctx.args.len() {
        3 => false,
        4 if ctx.is_word(3, "withscores") => true,
        _ => return Err(CmdError::SYNTAX),
    };
    if with_scores && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(CmdError::OUT_OF_RANGE);
    }
    let (db, bytes_max) = (ctx.db(), ctx.reply_bytes_max());
    let Some(zset) = zsets::read_to_pick(ctx.ks, db, ctx.args[1])? else {
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let (out, wanted) = (&mut ctx.out, count.unsigned_abs() as usize);
    let replied = if count < 0 { wanted } else { wanted.min(zset.len()) };
    if with_scores {
        zsets::put_scored_head(out, replied)
    } else {
        out.array(replied)
    }
    let mut put = |member: Item<'_>, score| {
        if with_scores {
            zsets::put_scored(out, member, score)
        } else {
            zsets::put_member(out, member)
        }
        out.pending()
    };
    if count < 0 {
        for _ in 0..wanted {
            let (member, score) = zset.random(ctx.rng).expect("a sorted set in the keyspace has members");
            if put(member, score) > bytes_max {
                break;
            }
        }
    } else {
        zset.random_distinct(ctx.rng, replied, |member, score| {
            put(member, score);
        });
    }
    Ok(Outcome::Done)
}

/// Members that a call of ZSCAN without COUNT reports, about.
const SCAN_COUNT_DEFAULT: usize = 10;

struct ScanOptions<'a> {
    /// `None` fits every member.
    pattern: Option<&'a [u8]>,
    count: usize,
}

impl<'a> ScanOptions<'a> {
    fn parse(args: &[&'a [u8]]) -> Result<ScanOptions<'a>, CmdError> {
        let mut options = ScanOptions { pattern: None, count: SCAN_COUNT_DEFAULT };
        let mut rest = args;
        while let [name, more @ ..] = rest {
            match (name.to_ascii_lowercase().as_slice(), more) {
                (b"match", [pattern, ..]) => {
                    options.pattern = (*pattern != b"*").then_some(*pattern);
                    rest = &more[1..];
                }
                (b"count", [count, ..]) => {
                    let count = parse_i64(count).ok_or(CmdError::NOT_INTEGER)?;
                    options.count = usize::try_from(count).ok().filter(|&n| n > 0).ok_or(CmdError::SYNTAX)?;
                    rest = &more[1..];
                }
                (b"novalues", _) => return Err(CmdError::NOVALUES_ONLY_HSCAN),
                _ => return Err(CmdError::SYNTAX),
            }
        }
        Ok(options)
    }
}

fn zscan(ctx: &mut Ctx) -> CmdResult {
    let cursor = parse_u64_loose(ctx.args[2]).ok_or(CmdError::INVALID_CURSOR)?;
    let db = ctx.db();
    let Some(zset) = zsets::read(ctx.ks, db, ctx.args[1])? else {
        put_scan_head(&mut ctx.out, 0);
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let options = ScanOptions::parse(&ctx.args[3..])?;
    // As Redis stores it in a listpack, and as it prints what it holds as a double: with 17 digits.
    let format = if zset.listpack().is_some() { format_f64 } else { format_f64_17g };
    let mut found = Vec::new();
    let next = zset.scan(cursor, options.count, |member, score| {
        let member = member.to_vec();
        if options.pattern.is_none_or(|pattern| glob::matches(pattern, &member, false)) {
            found.push((member, score));
        }
    });
    put_scan_head(&mut ctx.out, next);
    ctx.out.array(found.len() * 2);
    let mut text = Vec::new();
    for (member, score) in &found {
        text.clear();
        format(*score, &mut text);
        ctx.out.bulk(member);
        ctx.out.bulk(&text);
    }
    Ok(Outcome::Done)
}

fn put_scan_head(out: &mut Reply, cursor: u64) {
    out.array(2);
    out.bulk(itoa::Buffer::new().format(cursor).as_bytes());
}
