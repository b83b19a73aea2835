//! Sets: what is asked of one set, and what changes it. Touches db, types, proto and base.
//!
//! Unions, intersections and differences are in `combine`. The options and the reply of a scan, which hashes share, are
//! here.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::base::error::CmdError;
use crate::base::glob;
use crate::base::num::{parse_i64, parse_u64_loose};
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::Value;
use crate::proto::reply::Reply;
use crate::proto::sink::Mark;
use crate::types::Item;
use crate::types::set::{Set, SetLimits};

pub mod combine;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "sadd",
        summary: "Adds members to a set.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) for N members.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::SET,
        keys: KeySpec::INSERT,
        syntax: "key member...",
        handler: Some(sadd),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "scard",
        summary: "Tells the size of a set.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SET,
        keys: KeySpec::STAT,
        syntax: "key",
        handler: Some(scard),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sismember",
        summary: "Tells whether a set has a member.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SET,
        keys: KeySpec::STAT,
        syntax: "key member",
        handler: Some(sismember),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "smembers",
        summary: "Lists all members of a set.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) for N members.",
        arity: 2,
        flags: Flags::READONLY,
        acl: Acl::SET,
        keys: KeySpec::READ,
        syntax: "key",
        tips: &["nondeterministic_output_order"],
        handler: Some(smembers),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "smismember",
        summary: "Tells of each given member whether a set has it.",
        since: "6.2.0",
        group: Group::Set,
        complexity: "O(N) for N given members.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::SET,
        keys: KeySpec::READ,
        syntax: "key member...",
        handler: Some(smismember),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "smove",
        summary: "Takes a member out of one set and puts it into another.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1)",
        arity: 4,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE), KeySpec::one(KeyFlags::RW_INSERT).at(2)],
        syntax: "source:key destination:key member",
        handler: Some(smove),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "spop",
        summary: "Removes members of a set at random and returns them.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1), or O(N) with a count of N.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::SET,
        keys: KeySpec::TAKE,
        syntax: "key [count:int@3.2.0]",
        tips: &["nondeterministic_output"],
        handler: Some(spop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "srandmember",
        summary: "Picks members of a set at random.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(1), or O(N) with a count of N.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::SET,
        keys: KeySpec::READ,
        syntax: "key [count:int@2.6.0]",
        tips: &["nondeterministic_output"],
        handler: Some(srandmember),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "srem",
        summary: "Removes members from a set.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N) for N members.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::SET,
        keys: KeySpec::DELETE,
        syntax: "key member...",
        handler: Some(srem),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sscan",
        summary: "Walks through the members of a set step by step.",
        since: "2.8.0",
        group: Group::Set,
        complexity: "O(1) a call; O(N) for a whole walk through N members.",
        arity: -3,
        flags: Flags::READONLY,
        acl: Acl::SET,
        keys: KeySpec::READ,
        syntax: "key cursor:int [MATCH pattern:pattern] [COUNT count:int]",
        tips: &["nondeterministic_output"],
        handler: Some(sscan),
        ..CommandSpec::DEFAULT
    },
];

/// Members that a call of SSCAN or HSCAN without COUNT reports, about.
const SCAN_COUNT_DEFAULT: usize = 10;

/// The set at a key, for reading; `None` if the key is missing.
#[inline]
pub(super) fn read<'k>(ks: &'k mut Keyspace, db: usize, key: &[u8]) -> Result<Option<&'k Set>, CmdError> {
    ks.read(db, key).map(|entry| entry.value().set()).transpose()
}

/// As `read`, for picking elements at random; see [`Keyspace::read_to_pick`].
fn read_to_pick<'k>(ks: &'k mut Keyspace, db: usize, key: &[u8]) -> Result<Option<&'k Set>, CmdError> {
    ks.read_to_pick(db, key).map(|entry| entry.value().set()).transpose()
}

/// The set at a key, for changing; `None` if the key is missing.
#[inline]
fn write<'k>(ks: &'k mut Keyspace, db: usize, key: &[u8]) -> Result<Option<&'k mut Set>, CmdError> {
    match ks.write(db, key) {
        None => Ok(None),
        Some(entry) => entry.set().map(Some),
    }
}

/// Writes what a compact collection yields.
#[inline]
pub(super) fn put_item(out: &mut Reply, item: Item<'_>) {
    match item {
        Item::Str(bytes) => out.bulk(bytes),
        Item::Int(value) => out.bulk_int(value),
    }
}

fn sadd(ctx: &mut Ctx) -> CmdResult {
    let (db, key, members, limits) = (ctx.db(), ctx.args[1], &ctx.args[2..], ctx.set_limits());
    let added = match write(ctx.ks, db, key)? {
        Some(set) => {
            set.expect(members.len(), &limits);
            add_all(set, members, &limits)
        }
        None => {
            let mut set = Set::for_members(members[0], members.len(), &limits, ctx.ks.seed());
            let added = add_all(&mut set, members, &limits);
            ctx.ks.set(db, key, Value::Set(set), false);
            added
        }
    };
    if added > 0 {
        ctx.changed(key, EventClass::SET, "sadd", added as u64);
    }
    ctx.out.len(added);
    Ok(Outcome::Done)
}

#[inline]
fn add_all(set: &mut Set, members: &[&[u8]], limits: &SetLimits) -> usize {
    members.iter().filter(|member| set.add(member, limits)).count()
}

fn srem(ctx: &mut Ctx) -> CmdResult {
    let (db, key) = (ctx.db(), ctx.args[1]);
    let Some(set) = write(ctx.ks, db, key)? else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    let removed = ctx.args[2..].iter().filter(|member| set.remove(member)).count();
    let emptied = set.is_empty();
    if removed > 0 {
        ctx.changed(key, EventClass::SET, "srem", removed as u64);
    }
    if emptied {
        ctx.delete_emptied(key);
    }
    ctx.out.len(removed);
    Ok(Outcome::Done)
}

fn smove(ctx: &mut Ctx) -> CmdResult {
    let (db, [from, to, member]) = (ctx.db(), [ctx.args[1], ctx.args[2], ctx.args[3]]);
    // Both count as accessed, whatever comes of it. Without a source, the type of the target does not matter.
    let has_source = ctx.ks.write(db, from).is_some();
    let target = ctx.ks.write(db, to).map(|entry| entry.set().map(drop)).transpose();
    if !has_source {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    }
    let source = ctx.ks.write_again(db, from).ok_or(CmdError::NO_SUCH_KEY)?.set()?;
    let has_target = target?.is_some();
    if from == to {
        let found = source.contains(member);
        ctx.out.int(found.into());
        return Ok(Outcome::Done);
    }
    if !source.remove(member) {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    }
    let emptied = source.is_empty();
    ctx.changed(from, EventClass::SET, "srem", 1);
    if emptied {
        ctx.delete_emptied(from);
    }
    let limits = ctx.set_limits();
    let entry = if has_target {
        ctx.ks.write_again(db, to).ok_or(CmdError::NO_SUCH_KEY)?
    } else {
        ctx.ks.write_or_create(db, to, |seed| Value::Set(Set::for_members(member, 1, &limits, seed))).0
    };
    if entry.set()?.add(member, &limits) {
        ctx.changed(to, EventClass::SET, "sadd", 1);
    }
    ctx.out.int(1);
    Ok(Outcome::Done)
}

fn scard(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let len = read(ctx.ks, db, ctx.args[1])?.map_or(0, Set::len);
    ctx.out.len(len);
    Ok(Outcome::Done)
}

fn sismember(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let found = read(ctx.ks, db, ctx.args[1])?.is_some_and(|set| set.contains(ctx.args[2]));
    ctx.out.int(found.into());
    Ok(Outcome::Done)
}

fn smismember(ctx: &mut Ctx) -> CmdResult {
    let (db, members) = (ctx.db(), &ctx.args[2..]);
    let set = read(ctx.ks, db, ctx.args[1])?;
    ctx.out.array(members.len());
    for member in members {
        ctx.out.int(set.is_some_and(|set| set.contains(member)).into());
    }
    Ok(Outcome::Done)
}

fn smembers(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let Some(set) = read(ctx.ks, db, ctx.args[1])? else {
        ctx.out.set(0);
        return Ok(Outcome::Done);
    };
    ctx.out.set(set.len());
    set.iter().for_each(|member| put_item(&mut ctx.out, member));
    Ok(Outcome::Done)
}

fn spop(ctx: &mut Ctx) -> CmdResult {
    match ctx.args.len() {
        2 => {}
        3 => return pop_many(ctx),
        _ => return Err(CmdError::SYNTAX),
    }
    let (db, key) = (ctx.db(), ctx.args[1]);
    let Some(set) = write(ctx.ks, db, key)? else {
        ctx.out.null();
        return Ok(Outcome::Done);
    };
    let popped = set.pop(ctx.rng).expect("a set in the keyspace has members");
    let emptied = set.is_empty();
    put_item(&mut ctx.out, popped.item());
    ctx.changed(key, EventClass::SET, "spop", 1);
    if emptied {
        ctx.delete_emptied(key);
    }
    Ok(Outcome::Done)
}

/// SPOP with a count.
fn pop_many(ctx: &mut Ctx) -> CmdResult {
    let (db, key, count) = (ctx.db(), ctx.args[1], ctx.count(2)?);
    let Some(set) = write(ctx.ks, db, key)? else {
        ctx.out.set(0);
        return Ok(Outcome::Done);
    };
    let count = count.min(set.len());
    ctx.out.set(count);
    if count == 0 {
        return Ok(Outcome::Done);
    }
    if count == set.len() {
        set.iter().for_each(|member| put_item(&mut ctx.out, member));
        // Redis answers with SUNION here, and so counts a read.
        ctx.ks.stats.hits += 1;
        ctx.ks.take(db, key);
        ctx.changed(key, EventClass::SET, "spop", count as u64);
        ctx.changed(key, EventClass::GENERIC, "del", 0);
        return Ok(Outcome::Done);
    }
    for _ in 0..count {
        let popped = set.pop(ctx.rng).expect("fewer are wanted than there are");
        put_item(&mut ctx.out, popped.item());
    }
    ctx.changed(key, EventClass::SET, "spop", count as u64);
    Ok(Outcome::Done)
}

fn srandmember(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    match ctx.args.len() {
        2 => {}
        3 => return random_members(ctx),
        _ => return Err(CmdError::SYNTAX),
    }
    match read_to_pick(ctx.ks, db, ctx.args[1])?.and_then(|set| set.random(ctx.rng)) {
        Some(member) => put_item(&mut ctx.out, member),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

/// SRANDMEMBER with a count: that many different members or, if it is negative, that many picks.
fn random_members(ctx: &mut Ctx) -> CmdResult {
    let (db, count) = (ctx.db(), ctx.int(2)?);
    if count == i64::MIN {
        return Err(CmdError::BELOW_NEGATED_MAX);
    }
    let bytes_max = ctx.reply_bytes_max();
    let Some(set) = read_to_pick(ctx.ks, db, ctx.args[1])? else {
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let wanted = count.unsigned_abs() as usize;
    if count < 0 {
        ctx.out.array(wanted);
        for _ in 0..wanted {
            let member = set.random(ctx.rng).expect("a set in the keyspace has members");
            put_item(&mut ctx.out, member);
            if ctx.out.pending() > bytes_max {
                break;
            }
        }
    } else {
        ctx.out.array(wanted.min(set.len()));
        set.sample_distinct(ctx.rng, wanted, |member| put_item(&mut ctx.out, member));
    }
    Ok(Outcome::Done)
}

/// The options of SSCAN and HSCAN.
pub(super) struct ScanOptions<'a> {
    /// `None` fits everything.
    pattern: Option<&'a [u8]>,
    /// About how many elements to look at.
    pub(super) count: usize,
    /// NOVALUES, which only HSCAN has.
    pub(super) no_values: bool,
}

impl<'a> ScanOptions<'a> {
    /// Parses what follows the cursor.
    pub(super) fn parse(args: &[&'a [u8]], of_hash: bool) -> Result<ScanOptions<'a>, CmdError> {
        let mut options = ScanOptions { pattern: None, count: SCAN_COUNT_DEFAULT, no_values: false };
        let mut rest = args;
        while let [name, more @ ..] = rest {
            rest = match (name.to_ascii_lowercase().as_slice(), more) {
                (b"match", [pattern, more @ ..]) => {
                    options.pattern = (*pattern != b"*").then_some(*pattern);
                    more
                }
                (b"count", [count, more @ ..]) => {
                    let count = parse_i64(count).ok_or(CmdError::NOT_INTEGER)?;
                    options.count = usize::try_from(count).ok().filter(|&n| n > 0).ok_or(CmdError::SYNTAX)?;
                    more
                }
                (b"novalues", more) => {
                    options.no_values = true;
                    more
                }
                _ => return Err(CmdError::SYNTAX),
            }
        }
        if options.no_values && !of_hash {
            return Err(CmdError::NOVALUES_ONLY_HSCAN);
        }
        Ok(options)
    }

    /// Whether an element is wanted.
    pub(super) fn fits(&self, element: Item<'_>) -> bool {
        let mut buffer = itoa::Buffer::new();
        self.pattern.is_none_or(|pattern| glob::matches(pattern, element.bytes(&mut buffer), false))
    }
}

fn sscan(ctx: &mut Ctx) -> CmdResult {
    let cursor = parse_u64_loose(ctx.args[2]).ok_or(CmdError::INVALID_CURSOR)?;
    let db = ctx.db();
    let Some(set) = read(ctx.ks, db, ctx.args[1])? else {
        ctx.out.array(2);
        ctx.out.bulk(b"0");
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let options = ScanOptions::parse(&ctx.args[3..], false)?;
    let head = begin_scan(&mut ctx.out);
    let mut found = 0;
    let next = set.scan(cursor, options.count, |member| {
        if options.fits(member) {
            put_item(&mut ctx.out, member);
            found += 1;
        }
    });
    end_scan(&mut ctx.out, head, next, found);
    Ok(Outcome::Done)
}

/// Begins the reply of a scan: the cursor and the number of elements come first but are known last.
pub(super) fn begin_scan(out: &mut Reply) -> Mark {
    out.array(2);
    out.sink().mark()
}

/// Puts the next cursor and the number of elements in front of what a scan found.
pub(super) fn end_scan(out: &mut Reply, head: Mark, cursor: u64, found: usize) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(cursor);
    let text = format!("${}\r\n{digits}\r\n*{found}\r\n", digits.len());
    out.sink().insert(head, text.as_bytes());
}

#[cfg(test)]
mod tests;
