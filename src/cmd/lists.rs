//! Lists: the ends, indexes and ranges of one list. Touches db, types, proto and base.
//!
//! The hot ones (LPUSH, RPUSH, LPOP, RPOP, LRANGE) hash their key once and copy an element once: into the list's packed
//! node, or from there into the reply. Searching for elements is in `by_value`, what moves or picks among several lists
//! in `moves`.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::db::keyspace::EventClass;
use crate::db::value::{Value, ValueRef};
use crate::proto::reply::Reply;
use crate::types::Item;
use crate::types::list::{List, Run};

pub mod blocking;
pub mod by_value;
pub mod moves;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "lindex",
        summary: "Reads the element at an index of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N), N being the distance from the nearer end.",
        arity: 3,
        flags: Flags::READONLY,
        acl: Acl::LIST,
        keys: KeySpec::READ,
        syntax: "key index:int",
        handler: Some(lindex),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "llen",
        summary: "Tells the length of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::STAT,
        syntax: "key",
        handler: Some(llen),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lpop",
        summary: "Pops elements from the head of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) for N popped elements.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::TAKE,
        syntax: "key [count:int@6.2.0]",
        handler: Some(lpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lpush",
        summary: "Puts elements at the head of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) for N elements.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::INSERT,
        syntax: "key element...",
        handler: Some(lpush),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lpushx",
        summary: "Puts elements at the head of a list that exists.",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(N) for N elements.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::INSERT,
        syntax: "key element...",
        handler: Some(lpushx),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lrange",
        summary: "Reads the elements between two indexes of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(S+N), S being the distance to the first element and N the number of elements.",
        arity: 4,
        flags: Flags::READONLY,
        acl: Acl::LIST,
        keys: KeySpec::READ,
        syntax: "key start:int stop:int",
        handler: Some(lrange),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lset",
        summary: "Replaces the element at an index of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N), N being the distance from the nearer end.",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::LIST,
        keys: KeySpec::UPDATE,
        syntax: "key index:int element",
        handler: Some(lset),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "ltrim",
        summary: "Keeps only the elements between two indexes of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) for N removed elements.",
        arity: 4,
        flags: Flags::WRITE,
        acl: Acl::LIST,
        keys: KeySpec::DELETE,
        syntax: "key start:int stop:int",
        handler: Some(ltrim),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "rpop",
        summary: "Pops elements from the tail of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) for N popped elements.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::TAKE,
        syntax: "key [count:int@6.2.0]",
        handler: Some(rpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "rpush",
        summary: "Puts elements at the tail of a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N) for N elements.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::INSERT,
        syntax: "key element...",
        handler: Some(rpush),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "rpushx",
        summary: "Puts elements at the tail of a list that exists.",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(N) for N elements.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::LIST,
        keys: KeySpec::INSERT,
        syntax: "key element...",
        handler: Some(rpushx),
        ..CommandSpec::DEFAULT
    },
];

/// An end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

impl End {
    /// The end that LEFT or RIGHT names.
    fn named(word: &[u8]) -> Result<End, CmdError> {
        if word.eq_ignore_ascii_case(b"LEFT") {
            Ok(End::Left)
        } else if word.eq_ignore_ascii_case(b"RIGHT") {
            Ok(End::Right)
        } else {
            Err(CmdError::SYNTAX)
        }
    }

    #[inline]
    fn is_front(self) -> bool {
        self == End::Left
    }

    #[inline]
    fn push_event(self) -> &'static str {
        if self.is_front() { "lpush" } else { "rpush" }
    }

    #[inline]
    fn pop_event(self) -> &'static str {
        if self.is_front() { "lpop" } else { "rpop" }
    }
}

#[inline]
fn reply_item(out: &mut Reply, item: Item) {
    match item {
        Item::Str(text) => out.bulk(text),
        Item::Int(value) => out.bulk_int(value),
    }
}

/// Takes note that `count` elements have gone from an end of a list, or from inside it under another event name, and
/// deletes the key if that was the last.
#[inline]
fn note_removed(ctx: &mut Ctx, key: &[u8], event: &'static str, count: usize, emptied: bool) {
    ctx.changed(key, EventClass::LIST, event, count as u64);
    if emptied {
        ctx.delete_emptied(key);
    }
}

fn lpush(ctx: &mut Ctx) -> CmdResult {
    push(ctx, End::Left, false)
}

fn rpush(ctx: &mut Ctx) -> CmdResult {
    push(ctx, End::Right, false)
}

fn lpushx(ctx: &mut Ctx) -> CmdResult {
    push(ctx, End::Left, true)
}

fn rpushx(ctx: &mut Ctx) -> CmdResult {
    push(ctx, End::Right, true)
}

#[inline]
fn push(ctx: &mut Ctx, end: End, only_existing: bool) -> CmdResult {
    let (db, key, texts) = (ctx.session.db, ctx.args[1], &ctx.args[2..]);
    let limits = ctx.list_limits();
    let len = match ctx.ks.write(db, key) {
        Some(entry) => {
            let list = entry.list()?;
            list.push_all(texts, end.is_front(), &limits);
            list.len()
        }
        None if only_existing => {
            ctx.out.int(0);
            return Ok(Outcome::Done);
        }
        None => {
            let mut list = List::new();
            list.push_all(texts, end.is_front(), &limits);
            let len = list.len();
            ctx.ks.set(db, key, Value::List(list), false);
            len
        }
    };
    ctx.ks.changed(db, key, EventClass::LIST, end.push_event(), texts.len() as u64);
    ctx.out.len(len);
    Ok(Outcome::Done)
}

fn lpop(ctx: &mut Ctx) -> CmdResult {
    pop(ctx, End::Left)
}

fn rpop(ctx: &mut Ctx) -> CmdResult {
    pop(ctx, End::Right)
}

#[inline]
fn pop(ctx: &mut Ctx, end: End) -> CmdResult {
    if ctx.args.len() > 2 {
        return pop_counted(ctx, end);
    }
    if !pop_one(ctx, ctx.args[1], end, |_| {})? {
        ctx.out.null();
    }
    Ok(Outcome::Done)
}

/// Pops one element of an existing list and replies with it, behind what `head` writes. Writes nothing and returns
/// `false` if the key is missing.
#[inline]
fn pop_one(ctx: &mut Ctx, key: &[u8], end: End, head: impl FnOnce(&mut Reply)) -> Result<bool, CmdError> {
    let limits = ctx.list_limits();
    let Some(entry) = ctx.ks.write(ctx.session.db, key) else {
        return Ok(false);
    };
    let list = entry.list()?;
    head(&mut ctx.out);
    let popped = list.pop(end.is_front(), &limits, |item| reply_item(&mut ctx.out, item));
    debug_assert!(popped.is_some(), "no list in a database is empty");
    let emptied = list.is_empty();
    note_removed(ctx, key, end.pop_event(), 1, emptied);
    Ok(true)
}

/// LPOP and RPOP with a count: the reply is an array.
fn pop_counted(ctx: &mut Ctx, end: End) -> CmdResult {
    if ctx.args.len() > 3 {
        return Err(CmdError::arity(if end.is_front() { "lpop" } else { "rpop" }));
    }
    let count = ctx.count(2)?;
    let (db, key) = (ctx.session.db, ctx.args[1]);
    match ctx.ks.write(db, key) {
        Some(entry) => {
            entry.list()?;
        }
        None => {
            ctx.out.null_array();
            return Ok(Outcome::Done);
        }
    }
    if count == 0 {
        ctx.out.array(0);
    } else {
        pop_range(ctx, key, end, count)?;
    }
    Ok(Outcome::Done)
}

/// Replies with an array of up to `count` elements from an end of a list that the command has looked up, and removes
/// them.
fn pop_range(ctx: &mut Ctx, key: &[u8], end: End, count: usize) -> Result<(), CmdError> {
    let limits = ctx.list_limits();
    let list = ctx.ks.write_again(ctx.session.db, key).ok_or(CmdError::NO_SUCH_KEY)?.list()?;
    let (len, reverse) = (list.len(), !end.is_front());
    let count = count.min(len);
    let first = if reverse { len - 1 } else { 0 };
    reply_range(&mut ctx.out, list, first, count, reverse);
    list.remove_range(if reverse { len - count } else { 0 }, count, &limits);
    note_removed(ctx, key, end.pop_event(), count, count == len);
    Ok(())
}

fn llen(ctx: &mut Ctx) -> CmdResult {
    match ctx.ks.read(ctx.session.db, ctx.args[1]).map(|entry| entry.value()) {
        Some(ValueRef::List(list)) => ctx.out.len(list.len()),
        Some(_) => return Err(CmdError::WRONG_TYPE),
        None => ctx.out.int(0),
    }
    Ok(Outcome::Done)
}

fn lindex(ctx: &mut Ctx) -> CmdResult {
    let Some(entry) = ctx.ks.read(ctx.session.db, ctx.args[1]) else {
        ctx.out.null();
        return Ok(Outcome::Done);
    };
    let ValueRef::List(list) = entry.value() else {
        return Err(CmdError::WRONG_TYPE);
    };
    let index = parse_i64(ctx.args[2]).ok_or(CmdError::NOT_INTEGER)?;
    if list.get(index, |item| reply_item(&mut ctx.out, item)).is_none() {
        ctx.out.null();
    }
    Ok(Outcome::Done)
}

/// The part of `0..len` that two Redis indexes span: where it starts, and how many elements it has.
#[inline]
fn span(start: i64, stop: i64, len: usize) -> (usize, usize) {
    let len = len as i64;
    let from_head = |index: i64| if index < 0 { index.saturating_add(len) } else { index };
    let (start, stop) = (from_head(start).max(0), from_head(stop).min(len - 1));
    if start > stop { (0, 0) } else { (start as usize, (stop - start + 1) as usize) }
}

#[inline]
fn lrange(ctx: &mut Ctx) -> CmdResult {
    let (start, stop) = (ctx.int(2)?, ctx.int(3)?);
    match ctx.ks.read(ctx.session.db, ctx.args[1]).map(|entry| entry.value()) {
        Some(ValueRef::List(list)) => {
            let (first, count) = span(start, stop, list.len());
            reply_range(&mut ctx.out, list, first, count, false);
        }
        Some(_) => return Err(CmdError::WRONG_TYPE),
        None => ctx.out.array(0),
    }
    Ok(Outcome::Done)
}

/// Replies with an array of the `count` elements from number `first` on, towards the head if `reverse`. They exist.
#[inline]
fn reply_range(out: &mut Reply, list: &List, first: usize, count: usize, reverse: bool) {
    out.array(count);
    list.runs(first, count, reverse, |run| match run {
        // The rest of the chunk being filled is used first; the element that no longer fits opens the next chunk.
        Run::Packed(mut bulks) => {
            while let Some(item) = bulks.fill(out.sink().room(0)) {
                reply_item(out, item);
            }
        }
        Run::Plain(text) => out.bulk(text),
    });
}

fn lset(ctx: &mut Ctx) -> CmdResult {
    let (db, key, text) = (ctx.session.db, ctx.args[1], ctx.args[3]);
    let limits = ctx.list_limits();
    let list = ctx.ks.write(db, key).ok_or(CmdError::NO_SUCH_KEY)?.list()?;
    let index = parse_i64(ctx.args[2]).ok_or(CmdError::NOT_INTEGER)?;
    if !list.set(index, text, &limits) {
        return Err(CmdError::INDEX_OUT_OF_RANGE);
    }
    ctx.changed(key, EventClass::LIST, "lset", 1);
    ctx.out.ok();
    Ok(Outcome::Done)
}

fn ltrim(ctx: &mut Ctx) -> CmdResult {
    let (start, stop) = (ctx.int(2)?, ctx.int(3)?);
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let limits = ctx.list_limits();
    if let Some(entry) = ctx.ks.write(db, key) {
        let list = entry.list()?;
        let removed = list.trim(start, stop, &limits);
        let emptied = list.is_empty();
        // The event comes even if nothing was outside the range.
        note_removed(ctx, key, "ltrim", removed, emptied);
    }
    ctx.out.ok();
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::base::Rand;
    use crate::cmd::testing::Space;

    #[test]
    fn ends_and_indexes() {
        let mut space = Space::new();
        space.script(
            "RPUSH l a b 3 => :3
             LPUSH l x y => :5
             LRANGE l 0 -1 => *5 $1 y $1 x $1 a $1 b $1 3
             LRANGE l -2 99 => *2 $1 b $1 3
             LRANGE l 5 9 => *0
             LRANGE none 0 -1 => *0
             LINDEX l 4 => $1 3
             LINDEX l -6 => $-1
             LINDEX none x => $-1
             LINDEX l x => -ERR value is not an integer or out of range
             LLEN l => :5
             LLEN none => :0
             LSET l -1 last => +OK
             LSET l 5 x => -ERR index out of range
             LSET none x x => -ERR no such key
             LPOP l => $1 y
             RPOP l => $4 last
             LPOP l 2 => *2 $1 x $1 a
             RPOP l 9 => *1 $1 b
             LPOP l => $-1
             LPOP l 1 => *-1
             LPUSHX l a => :0
             RPUSH l a b c d => :4
             RPUSHX l e => :5
             RPOP l 0 => *0
             RPOP l 2 => *2 $1 e $1 d
             LPOP l -1 => -ERR value is out of range, must be positive
             LPOP l 1 2 => -ERR wrong number of arguments for 'lpop' command
             LTRIM l 1 1 => +OK
             LRANGE l 0 -1 => *1 $1 b
             LTRIM l 5 9 => +OK
             LLEN l => :0
             SET s v => +OK
             LPUSH s a => -WRONGTYPE Operation against a key holding the wrong kind of value
             LRANGE s 0 -1 => -WRONGTYPE Operation against a key holding the wrong kind of value
             LRANGE s x -1 => -ERR value is not an integer or out of range",
        );
    }

    #[test]
    fn events_and_changes_are_counted_as_in_redis() {
        let mut space = Space::new();
        for (line, events, dirty) in [
            ("RPUSH l a b c d e", "new l,rpush l", 5),
            ("LPUSHX none a", "", 0),
            ("LPOP l", "lpop l", 1),
            ("LPOP l 0", "", 0),
            ("RPOP l 2", "rpop l", 2),
            ("LTRIM l 0 -1", "ltrim l", 0),
            ("LSET l 0 x", "lset l", 1),
            ("LSET l 9 x", "", 0),
            ("LTRIM l 7 8", "ltrim l,del l", 2),
            ("LPUSH l a", "new l,lpush l", 1),
            ("RPOP l", "rpop l,del l", 1),
        ] {
            let before = space.dirty();
            space.line(line);
            assert_eq!(
                (space.events().join(",").as_str(), space.dirty() - before),
                (events, dirty),
                "{line}"
            );
        }
    }

    #[test]
    fn many_short_elements_in_one_command_count_by_their_texts() {
        let mut space = Space::new();
        let mut command = vec!["RPUSH", "l"];
        command.resize(3_002, "ab");
        space.run(&command);
        assert_eq!(space.encoding("l"), "listpack");
        space.run(&["RPUSH", "l", "ab"]);
        assert_eq!(space.encoding("l"), "quicklist");
    }

    fn bulks(texts: &[Vec<u8>]) -> Vec<u8> {
        let mut reply = format!("*{}\r\n", texts.len()).into_bytes();
        for text in texts {
            reply.extend_from_slice(format!("${}\r\n", text.len()).as_bytes());
            reply.extend_from_slice(text);
            reply.extend_from_slice(b"\r\n");
        }
        reply
    }

    fn random_text(rng: &mut Rand) -> Vec<u8> {
        match rng.random_range(0..20) {
            0 => vec![b'L'; rng.random_range(0..20_000)],
            1..6 => rng.random_range(-300..300_000).to_string().into_bytes(),
            _ => vec![rng.random_range(b'a'..b'f'); rng.random_range(0..5)],
        }
    }

    #[test]
    fn behaves_like_a_deque() {
        for seed in 0..40 {
            let mut rng = Rand::seed_from_u64(seed);
            let (mut space, mut model) = (Space::new(), VecDeque::new());
            for round in 0..400 {
                let note = format!("seed {seed} round {round}");
                match rng.random_range(0..10) {
                    0..4 => {
                        let texts: Vec<_> =
                            (0..rng.random_range(1..40)).map(|_| random_text(&mut rng)).collect();
                        let front = rng.random();
                        let mut args: Vec<&[u8]> = vec![if front { b"LPUSH" } else { b"RPUSH" }, b"l"];
                        args.extend(texts.iter().map(Vec::as_slice));
                        space.run_bytes(&args);
                        for text in texts {
                            if front { model.push_front(text) } else { model.push_back(text) }
                        }
                    }
                    4..6 => {
                        let front = rng.random();
                        let count = rng.random_range(1..60usize);
                        let take = count.min(model.len());
                        let end = if front { 0..take } else { model.len() - take..model.len() };
                        let mut gone: Vec<_> = model.drain(end).collect();
                        if !front {
                            gone.reverse();
                        }
                        let name: &[u8] = if front { b"LPOP" } else { b"RPOP" };
                        let reply = space.run_bytes(&[name, b"l", count.to_string().as_bytes()]);
                        let want = if take == 0 { b"*-1\r\n".to_vec() } else { bulks(&gone) };
                        assert!(reply == want, "{note}");
                    }
                    6 => {
                        let (start, keep) = (rng.random_range(0..40), rng.random_range(100..900));
                        space.line(&format!("LTRIM l {start} {}", start + keep - 1));
                        model.drain(..start.min(model.len()));
                        model.truncate(keep);
                    }
                    _ => {
                        let len = model.len() as i64;
                        let start = rng.random_range(-len - 2..len + 2);
                        let stop = rng.random_range(-len - 2..len + 2);
                        let line = format!("LRANGE l {start} {stop}");
                        let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
                        let (first, count) = span(start, stop, model.len());
                        let want: Vec<_> = model.iter().skip(first).take(count).cloned().collect();
                        assert!(space.run_bytes(&args) == bulks(&want), "{note}: {line}");
                    }
                }
                assert_eq!(space.line("LLEN l"), format!(":{}\r\n", model.len()), "{note}");
            }
        }
    }
}
