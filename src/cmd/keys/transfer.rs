//! Keys that get another name, another database or a twin: RENAME, MOVE, COPY. Touches db and base.

use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::keyspace::EventClass;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "copy",
        summary: "Copies a value to another key.",
        since: "6.2.0",
        group: Group::Generic,
        complexity: "O(N), N being the number of elements; O(1) for a string.",
        arity: -3,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::KEYSPACE,
        keys: &[KeySpec::one(KeyFlags::RO_ACCESS), KeySpec::one(KeyFlags::OW_UPDATE).at(2)],
        syntax: "source:key destination:key [DB destination-db:int] [REPLACE]",
        handler: Some(copy),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "move",
        summary: "Hands a key over to another database.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: KeySpec::MODIFY,
        syntax: "key db:int",
        handler: Some(move_),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "rename",
        summary: "Renames a key, replacing any key of the new name.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE,
        acl: Acl::KEYSPACE,
        keys: &[KeySpec::one(KeyFlags::RW_ACCESS_DELETE), KeySpec::one(KeyFlags::OW_UPDATE).at(2)],
        syntax: "key newkey:key",
        handler: Some(rename),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "renamenx",
        summary: "Renames a key unless the new name is taken.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(1)",
        arity: 3,
        flags: Flags::WRITE.or(Flags::FAST),
        acl: Acl::KEYSPACE,
        keys: &[
            KeySpec::one(KeyFlags::RW_ACCESS_DELETE),
            KeySpec::one(KeyFlags::OW.or(KeyFlags::INSERT)).at(2),
        ],
        syntax: "key newkey:key",
        handler: Some(renamenx),
        ..CommandSpec::DEFAULT
    },
];

fn rename(ctx: &mut Ctx) -> CmdResult {
    give_name(ctx, true)
}

fn renamenx(ctx: &mut Ctx) -> CmdResult {
    give_name(ctx, false)
}

fn give_name(ctx: &mut Ctx, replace: bool) -> CmdResult {
    let (db, from, to) = (ctx.db(), ctx.args[1], ctx.args[2]);
    if ctx.ks.write(db, from).is_none() {
        return Err(CmdError::NO_SUCH_KEY);
    }
    if !replace && (from == to || ctx.ks.write(db, to).is_some()) {
        ctx.out.int(0);
        return Ok(Outcome::Done);
    }
    if from != to {
        ctx.ks.transfer((db, from), (db, to));
        ctx.changed(from, EventClass::GENERIC, "rename_from", 0);
        ctx.changed(to, EventClass::GENERIC, "rename_to", 1);
    }
    match replace {
        true => ctx.out.ok(),
        false => ctx.out.int(1),
    }
    Ok(Outcome::Done)
}

/// The database that an argument names.
fn database(ctx: &Ctx, index: usize) -> Result<usize, CmdError> {
    let db = parse_i64(ctx.args[index]).ok_or(CmdError::NOT_INTEGER)?;
    if i32::try_from(db).is_err() {
        return Err(CmdError::NOT_INT32);
    }
    if db < 0 || db >= ctx.ks.count() as i64 {
        return Err(CmdError::DB_OUT_OF_RANGE);
    }
    Ok(db as usize)
}

fn move_(ctx: &mut Ctx) -> CmdResult {
    let (from, key) = (ctx.db(), ctx.args[1]);
    let to = database(ctx, 2)?;
    if from == to {
        return Err(CmdError::SAME_OBJECT);
    }
    let moves = ctx.ks.write(from, key).is_some() && ctx.ks.write(to, key).is_none();
    if moves {
        ctx.ks.transfer((from, key), (to, key));
        ctx.ks.changed(from, key, EventClass::GENERIC, "move_from", 0);
        ctx.ks.changed(to, key, EventClass::GENERIC, "move_to", 1);
    }
    ctx.out.int(i64::from(moves));
    Ok(Outcome::Done)
}

/// Where COPY puts the twin, and whether over a key that is there.
struct CopyOptions {
    db: usize,
    replace: bool,
}

impl CopyOptions {
    fn parse(ctx: &Ctx) -> Result<CopyOptions, CmdError> {
        let mut options = CopyOptions { db: ctx.db(), replace: false };
        let mut at = 3;
        while at < ctx.args.len() {
            if ctx.is_word(at, "replace") {
                options.replace = true;
            } else if ctx.is_word(at, "db") && at + 1 < ctx.args.len() {
                at += 1;
                options.db = database(ctx, at)?;
            } else {
                return Err(CmdError::SYNTAX);
            }
            at += 1;
        }
        Ok(options)
    }
}

fn copy(ctx: &mut Ctx) -> CmdResult {
    let (db, key, new_key) = (ctx.db(), ctx.args[1], ctx.args[2]);
    let to = CopyOptions::parse(ctx)?;
    if db == to.db && key == new_key {
        return Err(CmdError::SAME_OBJECT);
    }
    let copies = ctx.ks.read(db, key).is_some() && (ctx.ks.write(to.db, new_key).is_none() || to.replace);
    if copies {
        ctx.ks.copy((db, key), (to.db, new_key));
        ctx.ks.changed(to.db, new_key, EventClass::GENERIC, "copy_to", 1);
    }
    ctx.out.int(i64::from(copies));
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn renaming_takes_value_and_expiry_along() {
        let mut space = Space::new();
        space.script(
            "SET a 1 EX 100 => +OK
             SET b 2 EX 7 => +OK
             RENAME a b => +OK
             EXISTS a => :0
             GET b => $1 1
             TTL b => :100
             RENAME b b => +OK
             RENAMENX b b => :0
             SET c 3 => +OK
             RENAMENX b c => :0
             RENAMENX b a-longer-name => :1
             TTL a-longer-name => :100
             RENAME c a-longer-name => +OK
             TTL a-longer-name => :-1
             GET a-longer-name => $1 3
             RENAME x y => -ERR no such key
             RENAMENX x x => -ERR no such key",
        );
        assert_eq!((space.ks.db(0).len(), space.ks.db(0).expires_len()), (1, 0));
        let events = space.events();
        let first = events.iter().position(|event| event == "rename_from a").expect("renamed");
        assert_eq!(events[first - 1..first + 2], ["new b", "rename_from a", "rename_to b"]);
    }

    #[test]
    fn moving_goes_to_another_database_only() {
        let mut space = Space::new();
        space.script(
            "SET a 1 EX 100 => +OK
             MOVE a 0 => -ERR source and destination objects are the same
             MOVE a x => -ERR value is not an integer or out of range
             MOVE a 99999999999 => -ERR value is out of range, value must between -2147483648 and 2147483647
             MOVE a 16 => -ERR DB index is out of range
             MOVE x 1 => :0
             MOVE a 1 => :1
             EXISTS a => :0
             SET a 2 => +OK
             MOVE a 1 => :0
             SELECT 1 => +OK
             TTL a => :100
             GET a => $1 1",
        );
        assert_eq!(space.events()[3..6], ["new a", "move_from a", "move_to a"]);
        assert_eq!((space.ks.db(0).expires_len(), space.ks.db(1).expires_len()), (0, 1));
    }

    #[test]
    fn copies_are_independent() {
        let mut space = Space::new();
        space.script(
            "SET a abc EX 100 => +OK
             COPY a b => :1
             COPY a b => :0
             APPEND a d => :4
             GET b => $3 abc
             TTL b => :100
             PERSIST a => :1
             COPY a b REPLACE => :1
             TTL b => :-1
             OBJECT ENCODING b => $3 raw
             COPY a a DB 3 => :1
             COPY a a => -ERR source and destination objects are the same
             COPY x b => :0
             COPY x b DB y => -ERR value is not an integer or out of range
             COPY a b DB => -ERR syntax error
             COPY a b DB 16 => -ERR DB index is out of range
             COPY a b NX => -ERR syntax error",
        );
        assert_eq!(space.ks.db(3).len(), 1);
        assert_eq!(space.events().last().map(String::as_str), Some("copy_to a"));
    }
}
