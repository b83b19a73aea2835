//! Lists among several keys: LMOVE, RPOPLPUSH and LMPOP. Touches db, types, proto and base.

use super::{End, note_removed, pop_range};
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeyFlags, KeySpec};
use crate::db::keyspace::EventClass;
use crate::db::value::Value;
use crate::types::list::List;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "lmove",
        summary: "Moves an element from one end of a list to an end of another.",
        since: "6.2.0",
        group: Group::List,
        complexity: "O(1)",
        arity: 5,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::LIST,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE), KeySpec::one(KeyFlags::RW_INSERT).at(2)],
        syntax: "source:key destination:key wherefrom(LEFT|RIGHT) whereto(LEFT|RIGHT)",
        handler: Some(lmove),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lmpop",
        summary: "Pops elements from the first list that has any.",
        since: "7.0.0",
        group: Group::List,
        complexity: "O(N+M) for N keys and M popped elements.",
        arity: -4,
        flags: Flags::WRITE.or(Flags::MOVABLEKEYS),
        acl: Acl::LIST,
        keys: &[KeySpec::counted(1, KeyFlags::RW_ACCESS_DELETE)],
        syntax: "numkeys:int key... where(LEFT|RIGHT) [COUNT count:int]",
        handler: Some(lmpop),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "rpoplpush",
        summary: "Moves the tail of a list to the head of another.",
        since: "1.2.0",
        group: Group::List,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::LIST,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE), KeySpec::one(KeyFlags::RW_INSERT).at(2)],
        syntax: "source:key destination:key",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`LMOVE` from `RIGHT` to `LEFT`" }),
        handler: Some(rpoplpush),
        ..CommandSpec::DEFAULT
    },
];

fn lmove(ctx: &mut Ctx) -> CmdResult {
    let from = End::named(ctx.args[3])?;
    let to = End::named(ctx.args[4])?;
    move_element(ctx, from, to)
}

fn rpoplpush(ctx: &mut Ctx) -> CmdResult {
    move_element(ctx, End::Right, End::Left)
}

/// Moves an element from the list at the first argument to the one at the second, which may be the same, and replies
/// with it.
pub(super) fn move_element(ctx: &mut Ctx, from: End, to: End) -> CmdResult {
    let (db, source, target) = (ctx.session.db, ctx.args[1], ctx.args[2]);
    let limits = ctx.list_limits();
    match ctx.ks.write(db, source) {
        Some(entry) => {
            entry.list()?;
        }
        None => {
            ctx.out.null();
            return Ok(Outcome::Done);
        }
    }
    if let Some(entry) = ctx.ks.write(db, target) {
        entry.list()?;
    }
    let list = ctx.ks.write_again(db, source).ok_or(CmdError::NO_SUCH_KEY)?.list()?;
    let popped = list.pop(from.is_front(), &limits, |item| item.to_vec());
    let text = popped.expect("no list in a database is empty");
    // An emptied source stays until the element is in the target, which may be the same list.
    let emptied = list.is_empty() && source != target;
    match ctx.ks.write_again(db, target) {
        Some(entry) => entry.list()?.push(&text, to.is_front(), &limits),
        None => {
            let mut list = List::new();
            list.push(&text, to.is_front(), &limits);
            ctx.ks.set(db, target, Value::List(list), false);
        }
    }
    ctx.changed(target, EventClass::LIST, to.push_event(), 0);
    note_removed(ctx, source, from.pop_event(), 1, emptied);
    ctx.out.bulk(&text);
    Ok(Outcome::Done)
}

/// What LMPOP and BLMPOP ask for.
pub(super) struct PopMany<'a> {
    /// The keys, tried in this order.
    pub keys: &'a [&'a [u8]],
    end: End,
    count: usize,
}

impl<'a> PopMany<'a> {
    /// Parses `numkeys key… LEFT|RIGHT [COUNT count]`.
    pub fn parse(args: &'a [&'a [u8]]) -> Result<PopMany<'a>, CmdError> {
        let at_least_1 = |text, error| parse_i64(text).filter(|&n| n > 0).map(|n| n as usize).ok_or(error);
        let keys = at_least_1(args[0], CmdError::NUMKEYS_NOT_POSITIVE)?;
        let Some((keys, [word, options @ ..])) = args[1..].split_at_checked(keys) else {
            return Err(CmdError::SYNTAX);
        };
        let end = End::named(word)?;
        let count = match options {
            [] => 1,
            [word, number, rest @ ..] if word.eq_ignore_ascii_case(b"COUNT") => {
                let count = at_least_1(number, CmdError::COUNT_NOT_POSITIVE)?;
                if !rest.is_empty() {
                    return Err(CmdError::SYNTAX);
                }
                count
            }
            _ => return Err(CmdError::SYNTAX),
        };
        Ok(PopMany { keys, end, count })
    }
}

/// Pops from the first key that holds a list, and replies. Writes nothing and returns `false` if none does.
pub(super) fn pop_many(ctx: &mut Ctx, request: &PopMany) -> Result<bool, CmdError> {
    for key in request.keys {
        let Some(entry) = ctx.ks.write(ctx.session.db, key) else {
            continue;
        };
        entry.list()?;
        ctx.out.array(2);
        ctx.out.bulk(key);
        pop_range(ctx, key, request.end, request.count)?;
        return Ok(true);
    }
    Ok(false)
}

fn lmpop(ctx: &mut Ctx) -> CmdResult {
    let request = PopMany::parse(&ctx.args[1..])?;
    if !pop_many(ctx, &request)? {
        ctx.out.null_array();
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn elements_move_between_lists_and_within_one() {
        let mut space = Space::new();
        space.script(
            "RPUSH a 1 2 3 => :3
             LMOVE a b LEFT RIGHT => $1 1
             RPOPLPUSH a b => $1 3
             LRANGE b 0 -1 => *2 $1 3 $1 1
             LMOVE b b right left => $1 1
             LRANGE b 0 -1 => *2 $1 1 $1 3
             LMOVE a a LEFT LEFT => $1 2
             SET s x => +OK
             LMOVE a s LEFT LEFT => -WRONGTYPE Operation against a key holding the wrong kind of value
             LMOVE s a LEFT LEFT => -WRONGTYPE Operation against a key holding the wrong kind of value
             LMOVE none s LEFT LEFT => $-1
             LMOVE a b UP LEFT => -ERR syntax error",
        );
        space.events();
        let dirty = space.dirty();
        space.line("LMOVE a c LEFT RIGHT");
        assert_eq!(space.events(), ["new c", "rpush c", "lpop a", "del a"]);
        assert_eq!(space.dirty(), dirty + 1);
    }

    #[test]
    fn the_first_list_with_elements_is_popped() {
        let mut space = Space::new();
        space.script(
            "RPUSH b 1 2 3 4 => :4
             LMPOP 2 a b LEFT => *2 $1 b *1 $1 1
             LMPOP 2 a b RIGHT COUNT 2 => *2 $1 b *2 $1 4 $1 3
             LMPOP 1 b left COUNT 10 => *2 $1 b *1 $1 2
             LMPOP 1 b left => *-1
             LMPOP 0 b left => -ERR numkeys should be greater than 0
             LMPOP x b left => -ERR numkeys should be greater than 0
             LMPOP 2 b left => -ERR syntax error
             LMPOP 9223372036854775807 b left => -ERR syntax error
             LMPOP 1 b left COUNT 0 => -ERR count should be greater than 0
             LMPOP 1 b left COUNT 1 COUNT 1 => -ERR syntax error
             LMPOP 1 b left COUNT => -ERR syntax error
             SET s x => +OK
             LMPOP 2 b s left => -WRONGTYPE Operation against a key holding the wrong kind of value",
        );
    }
}
