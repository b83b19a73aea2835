//! Lists by value: LINSERT, LREM and LPOS look for an element that equals an argument. Touches db, types, proto and base.

use super::note_removed;
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use crate::db::keyspace::EventClass;
use crate::db::value::ValueRef;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "linsert",
        summary: "Inserts an element before or after another one.",
        since: "2.2.0",
        group: Group::List,
        complexity: "O(N), N being the number of elements before the pivot.",
        arity: 5,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::LIST,
        keys: KeySpec::INSERT,
        syntax: "key where(BEFORE|AFTER) pivot element",
        handler: Some(linsert),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lpos",
        summary: "Finds the indexes of an element in a list.",
        since: "6.0.6",
        group: Group::List,
        complexity: "O(N) for N elements; less when the search is limited or ends early.",
        arity: -3,
        flags: Flags::READONLY,
        acl: Acl::LIST,
        keys: KeySpec::READ,
        syntax: "key element [RANK rank:int] [COUNT num-matches:int] [MAXLEN len:int]",
        handler: Some(lpos),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "lrem",
        summary: "Removes occurrences of an element from a list.",
        since: "1.0.0",
        group: Group::List,
        complexity: "O(N+M) for a list of N elements of which M are removed.",
        arity: 4,
        flags: Flags::WRITE,
        acl: Acl::LIST,
        keys: KeySpec::DELETE,
        syntax: "key count:int element",
        handler: Some(lrem),
        ..CommandSpec::DEFAULT
    },
];

fn linsert(ctx: &mut Ctx) -> CmdResult {
    let before = ctx.is_word(2, "BEFORE");
    if !before && !ctx.is_word(2, "AFTER") {
        return Err(CmdError::SYNTAX);
    }
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let limits = ctx.list_limits();
    let Some(entry) = ctx.ks.write(db, key) else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    let list = entry.list()?;
    if list.insert(ctx.args[3], ctx.args[4], before, &limits) {
        ctx.out.len(list.len());
        ctx.changed(key, EventClass::LIST, "linsert", 1);
    } else {
        ctx.out.int(-1);
    }
    Ok(Outcome::Done)
}

fn lrem(ctx: &mut Ctx) -> CmdResult {
    let count = negatable(ctx.args[2])?;
    let (db, key) = (ctx.session.db, ctx.args[1]);
    let limits = ctx.list_limits();
    let Some(entry) = ctx.ks.write(db, key) else {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    };
    let list = entry.list()?;
    let removed = list.remove_matching(count, ctx.args[3], &limits);
    let emptied = list.is_empty();
    if removed > 0 {
        note_removed(ctx, key, "lrem", removed, emptied);
    }
    ctx.out.len(removed);
    Ok(Outcome::Done)
}

/// An integer whose opposite is one too.
fn negatable(text: &[u8]) -> Result<i64, CmdError> {
    match parse_i64(text) {
        Some(i64::MIN) => Err(CmdError::NOT_NEGATABLE),
        Some(number) => Ok(number),
        None => Err(CmdError::NOT_INTEGER),
    }
}

/// What follows the element of LPOS.
struct Search {
    /// The first match to report: 1 the first from the head, -1 the first from the tail.
    rank: i64,
    /// Matches to report, 0 for all; without it the reply is no array but the first match.
    count: Option<usize>,
    /// Elements to compare, 0 for all.
    max_len: usize,
}

impl Search {
    fn parse(ctx: &Ctx) -> Result<Search, CmdError> {
        let mut search = Search { rank: 1, count: None, max_len: 0 };
        let mut options = ctx.args[3..].iter();
        while let Some(word) = options.next() {
            let number = options.next().ok_or(CmdError::SYNTAX)?;
            let not_negative = |error| parse_i64(number).and_then(|n| usize::try_from(n).ok()).ok_or(error);
            if word.eq_ignore_ascii_case(b"RANK") {
                search.rank = negatable(number)?;
                if search.rank == 0 {
                    return Err(CmdError::LPOS_RANK_ZERO);
                }
            } else if word.eq_ignore_ascii_case(b"COUNT") {
                search.count = Some(not_negative(CmdError::LPOS_COUNT_NEGATIVE)?);
            } else if word.eq_ignore_ascii_case(b"MAXLEN") {
                search.max_len = not_negative(CmdError::LPOS_MAXLEN_NEGATIVE)?;
            } else {
                return Err(CmdError::SYNTAX);
            }
        }
        Ok(search)
    }
}

fn lpos(ctx: &mut Ctx) -> CmdResult {
    let Search { rank, count, max_len } = Search::parse(ctx)?;
    let list = match ctx.ks.read(ctx.session.db, ctx.args[1]).map(|entry| entry.value()) {
        Some(ValueRef::List(list)) => Some(list),
        Some(_) => return Err(CmdError::WRONG_TYPE),
        None => None,
    };
    let mut found = Vec::new();
    if let Some(list) = list {
        list.positions(ctx.args[2], rank, count.unwrap_or(1), max_len, |index| found.push(index));
    }
    match (count, found.first()) {
        (Some(_), _) => {
            ctx.out.array(found.len());
            found.into_iter().for_each(|index| ctx.out.len(index));
        }
        (None, Some(&index)) => ctx.out.len(index),
        (None, None) => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn inserting_and_removing_by_value() {
        let mut space = Space::new();
        space.script(
            "RPUSH l a b 7 a b 7 a => :7
             LINSERT l BEFORE 7 x => :8
             LINSERT l after a 7 => :9
             LRANGE l 0 4 => *5 $1 a $1 7 $1 b $1 x $1 7
             LINSERT l AFTER none x => :-1
             LINSERT none AFTER a x => :0
             LINSERT l UPON a x => -ERR syntax error
             LREM l -2 7 => :2
             LREM l 1 a => :1
             LRANGE l 0 -1 => *6 $1 7 $1 b $1 x $1 a $1 b $1 a
             LREM l 0 a => :2
             LREM l 0 none => :0
             LREM none 0 a => :0
             LREM l -9223372036854775808 a => -ERR value is out of range, value must between \
             -9223372036854775807 and 9223372036854775807
             LREM l x a => -ERR value is not an integer or out of range
             LREM l 3 b => :2
             LREM l 3 x => :1
             LREM l 3 7 => :1
             LLEN l => :0",
        );
        assert!(space.events().ends_with(&["lrem l".to_string(), "del l".to_string()]));
    }

    #[test]
    fn positions() {
        let mut space = Space::new();
        space.script(
            "RPUSH l a b c 1 2 3 c c => :8
             LPOS l c => :2
             LPOS l 1 => :3
             LPOS l c RANK 2 => :6
             LPOS l c RANK -1 => :7
             LPOS l c COUNT 0 => *3 :2 :6 :7
             LPOS l c RANK -1 COUNT 2 => *2 :7 :6
             LPOS l c RANK -2 COUNT 0 MAXLEN 3 => *1 :6
             LPOS l c RANK 1 COUNT 0 MAXLEN 7 => *2 :2 :6
             LPOS l x => $-1
             LPOS l x COUNT 1 => *0
             LPOS none x => $-1
             LPOS none x COUNT 1 => *0
             LPOS l c RANK 0 => -ERR RANK can't be zero: use 1 to start from the first match, 2 from the second \
             ... or use negative to start from the end of the list
             LPOS l c COUNT -1 => -ERR COUNT can't be negative
             LPOS l c MAXLEN -1 => -ERR MAXLEN can't be negative
             LPOS l c RANK => -ERR syntax error
             LPOS l c ROW 1 => -ERR syntax error",
        );
    }
}
