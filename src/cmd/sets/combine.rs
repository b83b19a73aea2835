//! Unions, intersections and differences of sets. Touches db, types, proto and base.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::sets::{self, put_item};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::{Value, ValueRef};
use crate::proto::reply::Reply;
use crate::types::Item;
use crate::types::set::{Set, SetLimits};
use crate::types::table::Seed;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "sdiff",
        summary: "Lists the members of the first set that no other set has.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N), N being the members of all sets together.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::RO_ACCESS).to(-1)],
        syntax: "key...",
        tips: &["nondeterministic_output_order"],
        handler: Some(sdiff),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sdiffstore",
        summary: "Stores the members of the first set that no other set has.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N), N being the members of all sets together.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::one(KeyFlags::RO_ACCESS).at(2).to(-1)],
        syntax: "destination:key key...",
        handler: Some(sdiffstore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sinter",
        summary: "Lists the members that all sets share.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N*M), N being the size of the smallest set and M the number of sets.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::RO_ACCESS).to(-1)],
        syntax: "key...",
        tips: &["nondeterministic_output_order"],
        handler: Some(sinter),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sintercard",
        summary: "Counts the members that all sets share.",
        since: "7.0.0",
        group: Group::Set,
        complexity: "O(N*M), N being the size of the smallest set and M the number of sets.",
        arity: -3,
        flags: Flags::READONLY.or(Flags::MOVABLEKEYS),
        acl: Acl::SET,
        keys: &[KeySpec::counted(1, KeyFlags::RO_ACCESS)],
        syntax: "numkeys:int key... [LIMIT limit:int]",
        handler: Some(sintercard),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sinterstore",
        summary: "Stores the members that all sets share.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N*M), N being the size of the smallest set and M the number of sets.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::one(KeyFlags::RO_ACCESS).at(2).to(-1)],
        syntax: "destination:key key...",
        handler: Some(sinterstore),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sunion",
        summary: "Lists the members of all sets together.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N), N being the members of all sets together.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::RO_ACCESS).to(-1)],
        syntax: "key...",
        tips: &["nondeterministic_output_order"],
        handler: Some(sunion),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sunionstore",
        summary: "Stores the members of all sets together.",
        since: "1.0.0",
        group: Group::Set,
        complexity: "O(N), N being the members of all sets together.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::SET,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::one(KeyFlags::RO_ACCESS).at(2).to(-1)],
        syntax: "destination:key key...",
        handler: Some(sunionstore),
        ..CommandSpec::DEFAULT
    },
];

/// The sets at some keys, each looked up as a read is; `None` for a missing one. All types are checked.
fn read_all<'k>(ks: &'k mut Keyspace, db: usize, keys: &[&[u8]]) -> Result<Vec<Option<&'k Set>>, CmdError> {
    for key in keys {
        sets::read(ks, db, key)?;
    }
    let space = ks.db(db);
    let find = |key: &&[u8]| match space.find(key).map(|entry| entry.value()) {
        Some(ValueRef::Set(set)) => Some(set),
        _ => None,
    };
    Ok(keys.iter().map(find).collect())
}

/// Makes a set the value of a key, or deletes the key if the set is empty. Replies with the size.
fn store(ctx: &mut Ctx, key: &[u8], set: Set, event: &'static str) -> CmdResult {
    let (db, len) = (ctx.db(), set.len());
    if len == 0 {
        ctx.ks.delete(db, key);
    } else {
        ctx.ks.set(db, key, Value::Set(set), false);
        ctx.changed(key, EventClass::SET, event, 1);
    }
    ctx.out.len(len);
    Ok(Outcome::Done)
}

/// The sets to intersect, the smallest first; `None` if one is missing, and so the intersection is empty.
fn by_size(sets: Vec<Option<&Set>>) -> Option<Vec<&Set>> {
    let mut sets: Vec<&Set> = sets.into_iter().collect::<Option<_>>()?;
    sets.sort_by_key(|set| set.len());
    Some(sets)
}

/// What all sets share, in the order of the first.
fn shared<'s>(sets: &'s [&Set]) -> impl Iterator<Item = Item<'s>> {
    let (first, others) = sets.split_first().expect("a command names a set");
    first.iter().filter(|member| others.iter().all(|set| set.contains_item(*member)))
}

fn sinter(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let Some(sets) = by_size(read_all(ctx.ks, db, &ctx.args[1..])?) else {
        ctx.out.set(0);
        return Ok(Outcome::Done);
    };
    let reply = ctx.out.deferred();
    let mut found = 0;
    for member in shared(&sets) {
        put_item(&mut ctx.out, member);
        found += 1;
    }
    ctx.out.end_set(reply, found);
    Ok(Outcome::Done)
}

fn sinterstore(ctx: &mut Ctx) -> CmdResult {
    let (db, limits, seed) = (ctx.db(), ctx.set_limits(), ctx.ks.seed());
    let mut result = Set::new(seed);
    if let Some(sets) = by_size(read_all(ctx.ks, db, &ctx.args[2..])?) {
        if sets[0].intset().is_some() {
            result = Set::new_intset(seed);
        }
        for member in shared(&sets) {
            result.add_item(member, &limits);
        }
        result.try_intset(&limits);
    }
    store(ctx, ctx.args[1], result, "sinterstore")
}

fn sintercard(ctx: &mut Ctx) -> CmdResult {
    let numkeys = parse_i64(ctx.args[1]).filter(|&n| n > 0).ok_or(CmdError::NUMKEYS_NOT_POSITIVE)?;
    let rest = &ctx.args[2..];
    let split = usize::try_from(numkeys).ok().and_then(|numkeys| rest.split_at_checked(numkeys));
    let (keys, mut options) = split.ok_or(CmdError::NUMKEYS_TOO_BIG)?;
    let mut limit = 0;
    while let [word, value, more @ ..] = options
        && word.eq_ignore_ascii_case(b"limit")
    {
        limit = parse_i64(value).filter(|&n| n >= 0).ok_or(CmdError::LIMIT_NEGATIVE)? as usize;
        options = more;
    }
    if !options.is_empty() {
        return Err(CmdError::SYNTAX);
    }
    let db = ctx.db();
    let enough = if limit == 0 { usize::MAX } else { limit };
    let sets = by_size(read_all(ctx.ks, db, keys)?);
    let count = sets.map_or(0, |sets| shared(&sets).take(enough).count());
    ctx.out.len(count);
    Ok(Outcome::Done)
}

fn sunion(ctx: &mut Ctx) -> CmdResult {
    let (db, limits, seed) = (ctx.db(), ctx.set_limits(), ctx.ks.seed());
    let sets = read_all(ctx.ks, db, &ctx.args[1..])?;
    let result = union(&sets, scratch(&sets, seed), &limits);
    put_set(&mut ctx.out, &result);
    Ok(Outcome::Done)
}

fn sunionstore(ctx: &mut Ctx) -> CmdResult {
    let (db, limits, seed) = (ctx.db(), ctx.set_limits(), ctx.ks.seed());
    let sets = read_all(ctx.ks, db, &ctx.args[2..])?;
    let result = union(&sets, Set::new_intset(seed), &limits);
    store(ctx, ctx.args[1], result, "sunionstore")
}

/// An empty set for a result that is only shown: a table, unless all members are integers.
fn scratch(sets: &[Option<&Set>], seed: Seed) -> Set {
    let all_ints = sets.iter().flatten().all(|set| set.intset().is_some());
    if all_ints { Set::new_intset(seed) } else { Set::new_table(seed, 0) }
}

fn put_set(out: &mut Reply, set: &Set) {
    out.set(set.len());
    set.iter().for_each(|member| put_item(out, member));
}

/// Adds the members of all sets to `result`.
fn union(sets: &[Option<&Set>], mut result: Set, limits: &SetLimits) -> Set {
    for member in sets.iter().flatten().flat_map(|set| set.iter()) {
        result.add_item(member, limits);
    }
    result
}

fn sdiff(ctx: &mut Ctx) -> CmdResult {
    let (db, limits, seed) = (ctx.db(), ctx.set_limits(), ctx.ks.seed());
    let sets = read_all(ctx.ks, db, &ctx.args[1..])?;
    let result = difference(&sets, scratch(&sets, seed), &limits);
    put_set(&mut ctx.out, &result);
    Ok(Outcome::Done)
}

fn sdiffstore(ctx: &mut Ctx) -> CmdResult {
    let (db, limits, seed) = (ctx.db(), ctx.set_limits(), ctx.ks.seed());
    let sets = read_all(ctx.ks, db, &ctx.args[2..])?;
    let result = difference(&sets, Set::new_intset(seed), &limits);
    store(ctx, ctx.args[1], result, "sdiffstore")
}

/// Adds the members of the first set that no other has to `result`, in the cheaper of two ways: looking each of them up
/// in the other sets, the biggest first, or copying the first set and removing the members of the others from it.
fn difference(sets: &[Option<&Set>], mut result: Set, limits: &SetLimits) -> Set {
    let Some((Some(first), others)) = sets.split_first() else {
        return result;
    };
    let mut others: Vec<&Set> = others.iter().copied().flatten().collect();
    if others.iter().any(|other| std::ptr::eq(*other, *first)) {
        return result;
    }
    let visited = others.iter().map(|set| set.len()).sum::<usize>() + first.len();
    // Half, since a look-up costs less than adding and removing, and the first hit ends the search.
    if first.len() * (others.len() + 1) / 2 <= visited {
        others.sort_by_key(|set| std::cmp::Reverse(set.len()));
        for member in first.iter().filter(|member| !others.iter().any(|set| set.contains_item(*member))) {
            result.add_item(member, limits);
        }
        return result;
    }
    for member in first.iter() {
        result.add_item(member, limits);
    }
    for member in others.iter().flat_map(|set| set.iter()) {
        if result.is_empty() {
            break;
        }
        result.remove(member.bytes(&mut itoa::Buffer::new()));
    }
    result
}
