//! OBJECT: looking inside a stored value. Touches db, proto and base.

use crate::base::config::EvictionPolicy;
use crate::base::error::CmdError;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::help;
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::entry::KeyEntry;
use crate::db::value::ValueRef;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[CommandSpec {
    name: "object",
    summary: "Groups the commands that look inside a stored value.",
    since: "2.2.3",
    group: Group::Generic,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "encoding",
            summary: "Names the internal representation of a value.",
            since: "2.2.3",
            group: Group::Generic,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::READONLY,
            acl: Acl::KEYSPACE,
            keys: &[KeySpec::one(KeyFlags::RO).at(2)],
            syntax: "key",
            tips: &["nondeterministic_output"],
            handler: Some(object_encoding),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "freq",
            summary: "Tells the access frequency counter of a key.",
            since: "4.0.0",
            group: Group::Generic,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::READONLY,
            acl: Acl::KEYSPACE,
            keys: &[KeySpec::one(KeyFlags::RO).at(2)],
            syntax: "key",
            tips: &["nondeterministic_output"],
            handler: Some(object_freq),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "6.2.0",
            group: Group::Generic,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            acl: Acl::KEYSPACE,
            handler: Some(object_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "idletime",
            summary: "Tells how many seconds ago a key was last accessed.",
            since: "2.2.3",
            group: Group::Generic,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::READONLY,
            acl: Acl::KEYSPACE,
            keys: &[KeySpec::one(KeyFlags::RO).at(2)],
            syntax: "key",
            tips: &["nondeterministic_output"],
            handler: Some(object_idletime),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "refcount",
            summary: "Tells the reference count of a value.",
            since: "2.2.3",
            group: Group::Generic,
            complexity: "O(1)",
            arity: 3,
            flags: Flags::READONLY,
            acl: Acl::KEYSPACE,
            keys: &[KeySpec::one(KeyFlags::RO).at(2)],
            syntax: "key",
            tips: &["nondeterministic_output"],
            handler: Some(object_refcount),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

/// Access times wrap around at so many bits.
const ACCESS_CLOCK_BITS: u32 = 24;

/// Integers below this are shared objects in Redis, whose reference count reads as [`SHARED_COUNT`].
const SHARED_INTEGERS: i64 = 10_000;
const SHARED_COUNT: i64 = i32::MAX as i64;

/// Looks the key up without stamping it.
fn find<'c>(ctx: &'c mut Ctx) -> Option<&'c KeyEntry> {
    let db = ctx.db();
    ctx.ks.inspect(db, ctx.args[2])
}

/// Writes an integer, or null for a missing key.
fn answer(ctx: &mut Ctx, value: Option<i64>) -> CmdResult {
    match value {
        Some(value) => ctx.out.int(value),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

fn counts_frequency(policy: EvictionPolicy) -> bool {
    matches!(policy, EvictionPolicy::AllkeysLfu | EvictionPolicy::VolatileLfu)
}

fn object_encoding(ctx: &mut Ctx) -> CmdResult {
    match find(ctx).map(KeyEntry::encoding) {
        Some(name) => ctx.out.bulk(name.as_bytes()),
        None => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

/// Nothing is shared here; the answer is what Redis would say.
fn object_refcount(ctx: &mut Ctx) -> CmdResult {
    let policy = ctx.config.maxmemory_policy;
    let clocks_matter = counts_frequency(policy)
        || matches!(policy, EvictionPolicy::AllkeysLru | EvictionPolicy::VolatileLru);
    let shares = ctx.config.maxmemory == 0 || !clocks_matter;
    let count = find(ctx).map(|entry| match entry.value() {
        ValueRef::Int(0..SHARED_INTEGERS) if shares => SHARED_COUNT,
        _ => 1,
    });
    answer(ctx, count)
}

fn object_idletime(ctx: &mut Ctx) -> CmdResult {
    let (policy, now) = (ctx.config.maxmemory_policy, ctx.ks.access_clock);
    let Some(access) = find(ctx).map(KeyEntry::access) else { return answer(ctx, None) };
    if counts_frequency(policy) {
        return Err(CmdError::LFU_SELECTED);
    }
    let idle_secs = now.wrapping_sub(access) & ((1 << ACCESS_CLOCK_BITS) - 1);
    answer(ctx, Some(i64::from(idle_secs)))
}

/// The access field holds, with a frequency policy, the minute of the last decay in its upper 16 bits and a logarithmic
/// counter in its lower 8, which loses one for every `lfu-decay-time` minutes that have passed.
fn object_freq(ctx: &mut Ctx) -> CmdResult {
    let (policy, decay) = (ctx.config.maxmemory_policy, ctx.config.lfu_decay_time);
    let minutes = ctx.now_ms() / 60_000;
    let Some(access) = find(ctx).map(KeyEntry::access) else { return answer(ctx, None) };
    if !counts_frequency(policy) {
        return Err(CmdError::LFU_NOT_SELECTED);
    }
    let passed = (minutes - i64::from(access >> 8)) & 0xffff;
    let lost = passed.checked_div(decay).unwrap_or(0);
    answer(ctx, Some((i64::from(access & 0xff) - lost).max(0)))
}

fn object_help(ctx: &mut Ctx) -> CmdResult {
    let lines = help::lines("object", SPECS[0].subcommands);
    ctx.out.array(lines.len());
    for line in lines {
        ctx.out.simple(&line);
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::base::config::EvictionPolicy;
    use crate::cmd::testing::Space;

    #[test]
    fn strings_tell_their_encoding_and_share_of_small_integers() {
        let mut space = Space::new();
        space.script(
            "MSET a 9999 b 10000 c abc => +OK
             OBJECT ENCODING a => $3 int
             OBJECT ENCODING c => $6 embstr
             OBJECT ENCODING x => $-1
             OBJECT REFCOUNT a => :2147483647
             OBJECT REFCOUNT b => :1
             OBJECT REFCOUNT c => :1
             OBJECT REFCOUNT x => $-1",
        );
        space.config.maxmemory = 1 << 30;
        space.config.maxmemory_policy = EvictionPolicy::AllkeysLru;
        space.script("OBJECT REFCOUNT a => :1");
    }

    #[test]
    fn idle_time_wraps_with_the_clock() {
        let mut space = Space::new();
        space.ks.access_clock = 0x00ff_fffe;
        space.line("SET a 1");
        space.ks.access_clock = 3;
        space.script(
            "OBJECT IDLETIME a => :5
             OBJECT IDLETIME x => $-1
             OBJECT FREQ x => $-1",
        );
        let freq = space.line("OBJECT FREQ a");
        assert!(freq.starts_with("-ERR An LFU maxmemory policy is not selected, access frequency"), "{freq}");
        space.config.maxmemory_policy = EvictionPolicy::VolatileLfu;
        let idle = space.line("OBJECT IDLETIME a");
        assert!(idle.starts_with("-ERR An LFU maxmemory policy is selected, idle time"), "{idle}");
    }

    #[test]
    fn frequency_decays_by_the_minute() {
        let mut space = Space::new();
        space.config.maxmemory_policy = EvictionPolicy::AllkeysLfu;
        let minutes = (space.ks.now_ms / 60_000) as u32 & 0xffff;
        space.ks.access_clock = minutes << 8 | 7;
        space.script("SET a 1 => +OK");
        space.advance_ms(120_000);
        space.script("OBJECT FREQ a => :5");
        space.config.lfu_decay_time = 0;
        space.script("OBJECT FREQ a => :7");
    }

    #[test]
    fn help_lists_the_sub_commands() {
        let help = Space::new().line("OBJECT HELP");
        assert!(
            help.starts_with("*11\r\n+OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n")
        );
        assert!(
            help.contains("+ENCODING key\r\n+    Names the internal representation of a value.\r\n"),
            "{help}"
        );
    }
}
