//! Picking fields of hashes at random, and HSCAN. Touches db, types, proto and base.

use crate::base::error::CmdError;
use crate::base::num::parse_u64_loose;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::hashes;
use crate::cmd::sets::{ScanOptions, begin_scan, end_scan, put_item};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::db::field_index::is_over;
use crate::db::keyspace::Keyspace;
use crate::types::Item;
use crate::types::hash::Hash;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "hrandfield",
        summary: "Picks fields of a hash at random.",
        since: "6.2.0",
        group: Group::Hash,
        complexity: "O(N) for N returned fields.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key [options{count:int [WITHVALUES]}]",
        tips: &["nondeterministic_output"],
        handler: Some(hrandfield),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "hscan",
        summary: "Walks through the fields of a hash step by step.",
        since: "2.8.0",
        group: Group::Hash,
        complexity: "O(1) a call; O(N) for a whole walk through N fields.",
        arity: -3,
        flags: Flags::READONLY,
        acl: Acl::HASH,
        keys: KeySpec::READ,
        syntax: "key cursor:int [MATCH pattern:pattern] [COUNT count:int] [NOVALUES]",
        tips: &["nondeterministic_output"],
        handler: Some(hscan),
        ..CommandSpec::DEFAULT
    },
];

/// The hash of HRANDFIELD, of which every field may be picked: those that are due go first.
fn read_swept<'k>(ks: &'k mut Keyspace, db: usize, key: &[u8]) -> Result<Option<&'k Hash>, CmdError> {
    if ks.has_due_fields(db) {
        ks.expire_fields(db, key, usize::MAX);
    }
    hashes::read_to_pick(ks, db, key)
}

fn hrandfield(ctx: &mut Ctx) -> CmdResult {
    if ctx.args.len() > 2 {
        return random_fields(ctx);
    }
    let db = ctx.db();
    match read_swept(ctx.ks, db, ctx.args[1])?.and_then(|hash| hash.random(ctx.rng)) {
        Some((field, _)) => put_item(&mut ctx.out, field),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

/// HRANDFIELD with a count: that many different fields or, if it is negative, that many picks.
fn random_fields(ctx: &mut Ctx) -> CmdResult {
    let (db, count) = (ctx.db(), ctx.int(2)?);
    if count == i64::MIN {
        return Err(CmdError::BELOW_NEGATED_MAX);
    }
    let with_values = match ctx.args.len() {
        3 => false,
        4 if ctx.is_word(3, "withvalues") => true,
        _ => return Err(CmdError::SYNTAX),
    };
    if with_values && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(CmdError::OUT_OF_RANGE);
    }
    let bytes_max = ctx.reply_bytes_max();
    let Some(hash) = read_swept(ctx.ks, db, ctx.args[1])? else {
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let (out, wanted) = (&mut ctx.out, count.unsigned_abs() as usize);
    let replied = if count < 0 { wanted } else { wanted.min(hash.len()) };
    let in_pairs = with_values && out.resp3();
    out.array(if with_values && !in_pairs { replied * 2 } else { replied });
    let mut put = |field: Item<'_>, value: Item<'_>| {
        if in_pairs {
            out.array(2);
        }
        put_item(out, field);
        if with_values {
            put_item(out, value);
        }
        out.pending()
    };
    if count >= 0 {
        hash.sample_distinct(ctx.rng, replied, |field, value| {
            put(field, value);
        });
        return Ok(Outcome::Done);
    }
    for _ in 0..wanted {
        let (field, value) = hash.random(ctx.rng).expect("a hash in the keyspace has fields");
        if put(field, value) > bytes_max {
            break;
        }
    }
    Ok(Outcome::Done)
}

fn hscan(ctx: &mut Ctx) -> CmdResult {
    let cursor = parse_u64_loose(ctx.args[2]).ok_or(CmdError::INVALID_CURSOR)?;
    let (db, now) = (ctx.db(), ctx.now_ms());
    let Some(hash) = hashes::read(ctx.ks, db, ctx.args[1])? else {
        ctx.out.array(2);
        ctx.out.bulk(b"0");
        ctx.out.array(0);
        return Ok(Outcome::Done);
    };
    let options = ScanOptions::parse(&ctx.args[3..], true)?;
    let head = begin_scan(&mut ctx.out);
    let mut found = 0;
    let mut report = |field: Item<'_>, value: Item<'_>| {
        if options.fits(field) {
            put_item(&mut ctx.out, field);
            found += 1;
            if !options.no_values {
                put_item(&mut ctx.out, value);
                found += 1;
            }
        }
    };
    let next = if !is_over(hash.min_expire(), now) {
        hash.scan(cursor, options.count, report)
    } else if hash.listpack().is_some() {
        hashes::live(hash, now).for_each(|(field, value)| report(field, value));
        0
    } else {
        hash.scan(cursor, options.count, |field, value| {
            let expiry = hash.expire_of(field.bytes(&mut itoa::Buffer::new())).flatten();
            if !is_over(expiry, now) {
                report(field, value);
            }
        })
    };
    end_scan(&mut ctx.out, head, next, found);
    Ok(Outcome::Done)
}
