//! HyperLogLogs: PFADD, PFCOUNT, PFMERGE and their testing aids. Touches db, types, proto and base.
//!
//! A HyperLogLog is a string in the format of `types::hll`; that it is one shows in its first bytes only.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::base::error::CmdError;
use crate::db::keyspace::{EventClass, WriteEntry};
use crate::db::value::{Value, ValueRef};
use crate::types::hll::{self, Corrupt, Encoding, NotHll, Union};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "pfadd",
        summary: "Adds elements to a HyperLogLog.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "O(1) for each element.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::FAST),
        acl: Acl::HYPERLOGLOG,
        keys: KeySpec::INSERT,
        syntax: "key [element...]",
        handler: Some(pfadd),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pfcount",
        summary: "Estimates how many different elements HyperLogLogs have seen.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "O(1) for one key, and fast; O(N) for N keys, with a much larger constant.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::MAY_REPLICATE),
        acl: Acl::HYPERLOGLOG,
        keys: &[KeySpec::one(KeyFlags::RW.or(KeyFlags::ACCESS))
            .to(-1)
            .notes("Written because the cached count and the encoding can change.")],
        syntax: "key...",
        handler: Some(pfcount),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pfdebug",
        summary: "Looks inside a HyperLogLog, for tests.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "N/A",
        arity: 3,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::ADMIN).or(Flags::SYSCMD),
        acl: Acl::HYPERLOGLOG,
        keys: &[KeySpec::one(KeyFlags::RW.or(KeyFlags::ACCESS)).at(2)],
        syntax: "subcommand key",
        handler: Some(pfdebug),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pfmerge",
        summary: "Merges HyperLogLogs into one key.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "O(N) for N keys, with a large constant.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::HYPERLOGLOG,
        keys: &[
            KeySpec::one(KeyFlags::RW.or(KeyFlags::ACCESS).or(KeyFlags::INSERT)),
            KeySpec::one(KeyFlags::RO_ACCESS).at(2).to(-1),
        ],
        syntax: "destkey:key [sourcekey:key...]",
        handler: Some(pfmerge),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "pfselftest",
        summary: "Tests the HyperLogLog implementation.",
        since: "2.8.9",
        group: Group::Hyperloglog,
        complexity: "N/A",
        arity: 1,
        flags: Flags::ADMIN.or(Flags::SYSCMD),
        acl: Acl::HYPERLOGLOG,
        handler: Some(pfselftest),
        ..CommandSpec::DEFAULT
    },
];

/// A change that no key event tells of.
const SILENT: EventClass = EventClass(0);

impl From<NotHll> for CmdError {
    fn from(_: NotHll) -> CmdError {
        CmdError::NOT_HLL
    }
}

impl From<Corrupt> for CmdError {
    fn from(_: Corrupt) -> CmdError {
        CmdError::HLL_CORRUPT
    }
}

/// The HyperLogLog in a value.
fn hll_bytes(value: ValueRef<'_>) -> Result<(&[u8], Encoding), CmdError> {
    match value {
        ValueRef::Str(bytes) => Ok((bytes, hll::encoding(bytes)?)),
        ValueRef::Int(_) => Err(CmdError::NOT_HLL),
        _ => Err(CmdError::WRONG_TYPE),
    }
}

/// Lets `edit` change the HyperLogLog at a key; None if the key is missing.
fn edit_hll<R, E>(
    ctx: &mut Ctx,
    key: &[u8],
    edit: impl FnOnce(&mut Vec<u8>) -> Result<R, E>,
) -> Result<Option<R>, CmdError>
where
    CmdError: From<E>,
{
    ctx.ks.write(ctx.session.db, key).map(|entry| edit_entry(entry, edit)).transpose()
}

fn edit_entry<R, E>(
    mut entry: WriteEntry<'_>,
    edit: impl FnOnce(&mut Vec<u8>) -> Result<R, E>,
) -> Result<R, CmdError>
where
    CmdError: From<E>,
{
    hll_bytes(entry.get().value())?;
    let hll = entry.string_mut().ok_or(CmdError::WRONG_TYPE)?;
    Ok(edit(hll)?)
}

fn pfadd(ctx: &mut Ctx) -> CmdResult {
    let (key, elements) = (ctx.args[1], &ctx.args[2..]);
    let bytes_max = ctx.config.hll_sparse_max_bytes as usize;
    let add_all = |hll: &mut Vec<u8>| -> Result<u64, Corrupt> {
        let mut changed = 0;
        for element in elements {
            changed += u64::from(hll::add(hll, element, bytes_max)?);
        }
        if changed > 0 {
            hll::mark_changed(hll);
        }
        Ok(changed)
    };
    let changed = match edit_hll(ctx, key, add_all)? {
        Some(changed) => changed,
        None => {
            let mut hll = hll::new();
            let changed = add_all(&mut hll)?;
            hll::mark_changed(&mut hll);
            ctx.ks.set(ctx.session.db, key, Value::Owned(hll), false);
            changed + 1
        }
    };
    if changed > 0 {
        ctx.changed(key, EventClass::STRING, "pfadd", changed);
    }
    ctx.out.int(i64::from(changed > 0));
    Ok(Outcome::Done)
}

fn pfcount(ctx: &mut Ctx) -> CmdResult {
    if ctx.args.len() > 2 {
        let (union, _) = union_of(ctx, &ctx.args[1..])?;
        ctx.out.int(union.count() as i64);
        return Ok(Outcome::Done);
    }
    let key = ctx.args[1];
    let count = match ctx.ks.read(ctx.session.db, key) {
        None => 0,
        Some(entry) => {
            let (hll, _) = hll_bytes(entry.value())?;
            match hll::cached_count(hll) {
                Some(count) => count,
                None => recount(ctx, key)?,
            }
        }
    };
    ctx.out.int(count as i64);
    Ok(Outcome::Done)
}

/// Counts a HyperLogLog that the command has looked up, and stores the count in it.
#[cold]
fn recount(ctx: &mut Ctx, key: &[u8]) -> Result<u64, CmdError> {
    let entry = ctx.ks.write_again(ctx.session.db, key).ok_or(CmdError::NO_SUCH_KEY)?;
    let count = edit_entry(entry, |hll| {
        let count = hll::count(hll)?;
        hll::cache_count(hll, count);
        Ok::<_, Corrupt>(count)
    })?;
    ctx.changed(key, SILENT, "pfcount", 1);
    Ok(count)
}

/// The union of the HyperLogLogs at these keys, and whether any of them is dense. Missing ones count as empty.
fn union_of(ctx: &mut Ctx, keys: &[&[u8]]) -> Result<(Union, bool), CmdError> {
    let mut union = Union::new();
    let mut any_dense = false;
    for key in keys {
        if let Some(value) = ctx.read(key) {
            let (hll, encoding) = hll_bytes(value)?;
            any_dense |= encoding == Encoding::Dense;
            union.merge(hll)?;
        }
    }
    Ok((union, any_dense))
}

fn pfmerge(ctx: &mut Ctx) -> CmdResult {
    let key = ctx.args[1];
    let bytes_max = ctx.config.hll_sparse_max_bytes as usize;
    let (union, any_dense) = union_of(ctx, &ctx.args[1..])?;
    let store = |hll: &mut Vec<u8>| {
        if any_dense {
            hll::make_dense(hll)?;
        }
        union.store(hll, bytes_max)
    };
    if edit_hll(ctx, key, store)?.is_none() {
        let mut hll = hll::new();
        store(&mut hll)?;
        ctx.ks.set(ctx.session.db, key, Value::Owned(hll), false);
    }
    // To those who listen it is like the addition of many elements.
    ctx.changed(key, EventClass::STRING, "pfadd", 1);
    ctx.out.ok();
    Ok(Outcome::Done)
}

fn pfdebug(ctx: &mut Ctx) -> CmdResult {
    let key = ctx.args[2];
    let runs = match ctx.ks.write(ctx.session.db, key) {
        Some(entry) => {
            let (hll, encoding) = hll_bytes(entry.get().value())?;
            (encoding == Encoding::Sparse).then(|| hll::runs(hll).map(describe).collect::<Vec<_>>())
        }
        None => return Err(CmdError::PFDEBUG_NO_KEY),
    };
    if ctx.is_word(1, "GETREG") {
        make_dense(ctx, key)?;
        let (union, _) = union_of(ctx, &[key])?;
        ctx.out.array(hll::REGISTERS);
        union.registers().iter().for_each(|&value| ctx.out.int(i64::from(value)));
    } else if ctx.is_word(1, "DECODE") {
        let runs = runs.ok_or(CmdError::HLL_NOT_SPARSE)?;
        ctx.out.bulk(runs.join(" ").as_bytes());
    } else if ctx.is_word(1, "ENCODING") {
        ctx.out.simple(if runs.is_some() { "sparse" } else { "dense" });
    } else if ctx.is_word(1, "TODENSE") {
        let converted = make_dense(ctx, key)?;
        ctx.out.int(i64::from(converted));
    } else {
        return Err(CmdError::unknown_pfdebug(ctx.args[1]));
    }
    Ok(Outcome::Done)
}

/// Makes an existing HyperLogLog dense; returns whether it was sparse.
fn make_dense(ctx: &mut Ctx, key: &[u8]) -> Result<bool, CmdError> {
    let converted = edit_hll(ctx, key, hll::make_dense)?.ok_or(CmdError::PFDEBUG_NO_KEY)?;
    if converted {
        ctx.changed(key, SILENT, "pfdebug", 1);
    }
    Ok(converted)
}

/// A run as PFDEBUG DECODE shows it.
fn describe(run: hll::Run) -> String {
    match run {
        hll::Run { value: 0, len, long: false } => format!("z:{len}"),
        hll::Run { value: 0, len, long: true } => format!("Z:{len}"),
        hll::Run { value, len, .. } => format!("v:{value},{len}"),
    }
}

fn pfselftest(ctx: &mut Ctx) -> CmdResult {
    match hll::self_test(ctx.rng, ctx.config.hll_sparse_max_bytes as usize) {
        Ok(()) => ctx.out.ok(),
        Err(what) => return Err(CmdError::new(format!("TESTFAILED {what}"))),
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cmd::testing::Space;

    #[test]
    fn adding_counting_and_merging() {
        let mut space = Space::new();
        space.script(
            "PFADD a => :1
             PFADD a => :0
             PFCOUNT a => :0
             PFADD a x y z => :1
             PFADD a x y => :0
             PFCOUNT a => :3
             PFCOUNT none => :0
             PFADD b z w => :1
             PFCOUNT a b none => :4
             PFMERGE c a b none => +OK
             PFCOUNT c => :4
             PFMERGE d => +OK
             PFDEBUG DECODE d => $7 Z:16384
             PFDEBUG ENCODING c => +sparse
             PFDEBUG TODENSE c => :1
             PFDEBUG TODENSE c => :0
             PFDEBUG ENCODING c => +dense
             PFDEBUG DECODE c => -ERR HLL encoding is not sparse
             PFDEBUG FOO c => -ERR Unknown PFDEBUG subcommand 'FOO'
             PFDEBUG ENCODING none => -ERR The specified key does not exist
             PFCOUNT c => :4
             PFMERGE d c => +OK
             PFDEBUG ENCODING d => +dense
             PFSELFTEST => +OK",
        );
        assert_eq!(space.encoding("a"), "raw");
        assert!(space.line("PFDEBUG GETREG a").starts_with("*16384\r\n"));
        assert_eq!(space.line("PFDEBUG ENCODING a"), "+dense\r\n");
    }

    #[test]
    fn other_values_are_refused() {
        let mut space = Space::new();
        space.script(
            "SET s hello => +OK
             SET n 12 => +OK
             RPUSH l x => :1
             SET h HYLL\u{1}\0\0\0\0\0\0\0\0\0\0\0\u{1} => +OK
             PFADD s x => -WRONGTYPE Key is not a valid HyperLogLog string value.
             PFADD n x => -WRONGTYPE Key is not a valid HyperLogLog string value.
             PFCOUNT l => -WRONGTYPE Operation against a key holding the wrong kind of value
             PFCOUNT l s => -WRONGTYPE Operation against a key holding the wrong kind of value
             PFMERGE l x => -WRONGTYPE Operation against a key holding the wrong kind of value
             PFCOUNT h x => -INVALIDOBJ Corrupted HLL object detected
             PFMERGE h x => -INVALIDOBJ Corrupted HLL object detected
             PFDEBUG TODENSE h => -INVALIDOBJ Corrupted HLL object detected",
        );
    }

    #[test]
    fn events_and_changes_are_counted_as_in_redis() {
        let mut space = Space::new();
        for (line, events, dirty) in [
            ("PFADD a", "new a,pfadd a", 1),
            ("PFADD b x y z", "new b,pfadd b", 4),
            ("PFADD b x y z", "", 0),
            ("PFCOUNT b", "", 1),
            ("PFCOUNT b", "", 0),
            ("PFMERGE c a b", "new c,pfadd c", 1),
            ("PFCOUNT c a", "", 0),
            ("PFDEBUG TODENSE c", "", 1),
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
}
