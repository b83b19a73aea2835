//! Commands on parts of strings: APPEND, GETRANGE, SETRANGE, STRLEN. Touches db, types, proto and base.
//!
//! What an edit leaves behind is a growable buffer, which Redis calls the encoding `raw`.

use super::string_bytes;
use crate::base::error::CmdError;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeySpec};
use crate::db::keyspace::EventClass;
use crate::db::value::Value;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "append",
        summary: "Adds bytes to the end of a string, creating it if need be.",
        since: "2.0.0",
        group: Group::String,
        complexity: "O(1), amortised over the growth of the string.",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::INSERT,
        syntax: "key value",
        handler: Some(append),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "getrange",
        summary: "Reads part of a string, given by its first and last byte.",
        since: "2.4.0",
        group: Group::String,
        complexity: "O(N), N being the length of the reply.",
        arity: 4,
        flags: Flags::READONLY,
        acl: Acl::STRING,
        keys: KeySpec::READ,
        syntax: "key start:int end:int",
        handler: Some(getrange),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "setrange",
        summary: "Overwrites part of a string from an offset on, padding with zero bytes.",
        since: "2.2.0",
        group: Group::String,
        complexity: "O(M), M being the length of the new part.",
        arity: 4,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::STRING,
        keys: KeySpec::UPDATE,
        syntax: "key offset:int value",
        handler: Some(setrange),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "strlen",
        summary: "Tells the length of a string.",
        since: "2.2.0",
        group: Group::String,
        complexity: "O(1)",
        arity: 2,
        flags: Flags::READONLY.or(Flags::FAST),
        acl: Acl::STRING,
        keys: KeySpec::STAT,
        syntax: "key",
        handler: Some(strlen),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "substr",
        summary: "Reads part of a string, under the old name of GETRANGE.",
        since: "1.0.0",
        group: Group::String,
        complexity: "O(N), N being the length of the reply.",
        arity: 4,
        flags: Flags::READONLY,
        acl: Acl::STRING,
        keys: KeySpec::READ,
        syntax: "key start:int end:int",
        deprecated: Some(Deprecated { since: "2.0.0", replaced_by: "`GETRANGE`" }),
        handler: Some(substr),
        ..CommandSpec::DEFAULT
    },
];

/// Refuses a string of `at` bytes and `more` behind them if that is past `bytes_max`, which is `proto-max-bulk-len`.
fn check_length(bytes_max: u64, at: usize, more: usize) -> Result<(), CmdError> {
    match at.checked_add(more) {
        Some(total) if total as u64 <= bytes_max => Ok(()),
        _ => Err(CmdError::STRING_TOO_LONG),
    }
}

fn append(ctx: &mut Ctx) -> CmdResult {
    let (db, key, more) = (ctx.session.db, ctx.args[1], ctx.args[2]);
    let len = match ctx.ks.write(db, key) {
        Some(mut entry) => {
            let len = string_bytes(entry.get().value(), &mut itoa::Buffer::new())?.len();
            check_length(ctx.config.proto_max_bulk_len, len, more.len())?;
            let string = entry.string_mut().expect("the value is a string");
            string.extend_from_slice(more);
            string.len()
        }
        None => {
            ctx.ks.set(db, key, Value::string(more), false);
            more.len()
        }
    };
    ctx.ks.changed(db, key, EventClass::STRING, "append", 1);
    ctx.out.len(len);
    Ok(Outcome::Done)
}

fn setrange(ctx: &mut Ctx) -> CmdResult {
    let (db, key, part) = (ctx.session.db, ctx.args[1], ctx.args[3]);
    let offset = usize::try_from(ctx.int(2)?).map_err(|_| CmdError::OFFSET_OUT_OF_RANGE)?;
    let limit = ctx.config.proto_max_bulk_len;
    let len = match ctx.ks.write(db, key) {
        Some(mut entry) => {
            let old_len = string_bytes(entry.get().value(), &mut itoa::Buffer::new())?.len();
            if part.is_empty() {
                ctx.out.len(old_len);
                return Ok(Outcome::Done);
            }
            check_length(limit, offset, part.len())?;
            let string = entry.string_mut().expect("the value is a string");
            overwrite(string, offset, part);
            string.len()
        }
        None if part.is_empty() => {
            ctx.out.int(0);
            return Ok(Outcome::Done);
        }
        None => {
            check_length(limit, offset, part.len())?;
            // A fresh vector of zeros costs nothing for the part that is never written.
            let mut string = vec![0; offset + part.len()];
            overwrite(&mut string, offset, part);
            let len = string.len();
            ctx.ks.set(db, key, Value::Owned(string), false);
            len
        }
    };
    ctx.ks.changed(db, key, EventClass::STRING, "setrange", 1);
    ctx.out.len(len);
    Ok(Outcome::Done)
}

/// Puts `part` at `offset`, with zero bytes in between if that is past the end.
fn overwrite(string: &mut Vec<u8>, offset: usize, part: &[u8]) {
    let end = offset + part.len();
    if string.len() < end {
        string.resize(end, 0);
    }
    string[offset..end].copy_from_slice(part);
}

fn strlen(ctx: &mut Ctx) -> CmdResult {
    let len = match ctx.ks.read(ctx.session.db, ctx.args[1]) {
        Some(entry) => string_bytes(entry.value(), &mut itoa::Buffer::new())?.len(),
        None => 0,
    };
    ctx.out.len(len);
    Ok(Outcome::Done)
}

fn substr(ctx: &mut Ctx) -> CmdResult {
    getrange(ctx)
}

fn getrange(ctx: &mut Ctx) -> CmdResult {
    let (start, end) = (ctx.int(2)?, ctx.int(3)?);
    let Some(entry) = ctx.ks.read(ctx.session.db, ctx.args[1]) else {
        ctx.out.bulk(b"");
        return Ok(Outcome::Done);
    };
    let mut buffer = itoa::Buffer::new();
    let bytes = string_bytes(entry.value(), &mut buffer)?;
    ctx.out.bulk(match byte_range(start, end, bytes.len()) {
        Some((first, last)) => &bytes[first..=last],
        None => b"",
    });
    Ok(Outcome::Done)
}

/// The first and last position that two indices, negative ones counted from the end, mean among `len`; `None` if that
/// is an empty range. As in Redis, an end before the beginning means the first position, unless the start is still
/// further behind it.
pub fn byte_range(start: i64, end: i64, len: usize) -> Option<(usize, usize)> {
    if start < 0 && end < 0 && start > end {
        return None;
    }
    clamped_range(start, end, len)
}

/// As [`byte_range`], but two indices before the beginning always mean the first position.
pub fn clamped_range(start: i64, end: i64, len: usize) -> Option<(usize, usize)> {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { (len + index).max(0) } else { index };
    let (first, last) = (from_end(start), from_end(end).min(len - 1));
    (first <= last).then_some((first as usize, last as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::testing::Space;

    #[test]
    fn ranges_are_redis_s() {
        let cases = [
            ((0, 3), Some((0, 3))),
            ((-4, -1), Some((7, 10))),
            ((5, 3), None),
            ((5, 5_000), Some((5, 10))),
            ((-5_000, 10_000), Some((0, 10))),
            ((0, -100), Some((0, 0))),
            ((1, -100), None),
            ((-1, -100), None),
            ((-100, -99), Some((0, 0))),
            ((-100, -101), None),
            ((11, 20), None),
            ((i64::MIN, i64::MAX), Some((0, 10))),
        ];
        for ((start, end), want) in cases {
            assert_eq!(byte_range(start, end, 11), want, "{start} {end}");
        }
        assert_eq!(byte_range(0, -1, 0), None);
    }

    #[test]
    fn append_encodes_only_what_it_creates() {
        let mut space = Space::new();
        space.script(
            "APPEND a 12 => :2\nAPPEND a 3 => :3\nGET a => $3 123\nAPPEND b x => :1\nAPPEND b \"\" => :1",
        );
        assert_eq!((space.encoding("a"), space.encoding("b")), ("raw", "raw"));
        assert_eq!(space.events()[..3], ["new a", "append a", "append a"]);
        assert_eq!(space.dirty(), 4);
    }

    #[test]
    fn setrange_pads_with_zeros() {
        let mut space = Space::new();
        space.script(
            "SETRANGE a 3 \"\" => :0
             SETRANGE a 2 xy => :4
             GET a => $4 \0\0xy
             SETRANGE a 1 AB => :4
             SETRANGE a 9 \"\" => :4
             SET n 1234 => +OK
             SETRANGE n 2 x => :4
             GET n => $4 12x4
             SETRANGE n -1 x => -ERR offset is out of range
             SETRANGE n 536870911 xx => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
             SETRANGE new 536870911 xx => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
             SETRANGE n 9223372036854775807 xx => -ERR string exceeds maximum allowed size (proto-max-bulk-len)
             GETRANGE n 1 2 => $2 2x
             SUBSTR n 1 -1 => $3 2x4
             GETRANGE none 0 -1 => $0
             STRLEN n => :4
             STRLEN none => :0",
        );
        assert_eq!(space.dirty(), 4);
    }
}
