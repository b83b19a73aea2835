//! MEMORY: what takes how much memory; and INFO's section on it. Reads everything, changes nothing.

use std::fmt::Write;

use crate::base::alloc;
use crate::base::error::CmdError;
use crate::base::num::{format_human_bytes, parse_i64};
use crate::cmd::help;
use crate::cmd::spec::{CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::database::Db;

use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[CommandSpec {
    name: "memory",
    summary: "Groups the commands about memory use.",
    since: "4.0.0",
    group: Group::Server,
    complexity: "Depends on the sub-command.",
    arity: -2,
    subcommands: &[
        CommandSpec {
            name: "doctor",
            summary: "Comments on the server's memory use.",
            since: "4.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
            handler: Some(memory_doctor),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "help",
            summary: "Describes the sub-commands.",
            since: "4.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            flags: Flags::LOADING.or(Flags::STALE),
            handler: Some(memory_help),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "malloc-stats",
            summary: "Returns the statistics of the allocator.",
            since: "4.0.0",
            group: Group::Server,
            complexity: "Grows with the memory in use and can be slow.",
            arity: 2,
            tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
            handler: Some(memory_malloc_stats),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "purge",
            summary: "Asks the allocator to give back unused memory.",
            since: "4.0.0",
            group: Group::Server,
            complexity: "Grows with the memory in use and can be slow.",
            arity: 2,
            tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
            handler: Some(memory_purge),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "stats",
            summary: "Returns where the server's memory goes.",
            since: "4.0.0",
            group: Group::Server,
            complexity: "O(1)",
            arity: 2,
            tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
            handler: Some(memory_stats),
            ..CommandSpec::DEFAULT
        },
        CommandSpec {
            name: "usage",
            summary: "Estimates the memory that a key takes.",
            since: "4.0.0",
            group: Group::Server,
            complexity: "O(N) for N samples.",
            arity: -3,
            flags: Flags::READONLY,
            keys: &[KeySpec::one(KeyFlags::RO).at(2)],
            syntax: "key [SAMPLES count:int]",
            handler: Some(memory_usage),
            ..CommandSpec::DEFAULT
        },
    ],
    ..CommandSpec::DEFAULT
}];

/// What the key table spends on a key: a slot and a tag, and the share of those that are empty.
const TABLE_BYTES_PER_KEY: usize = 16;
/// What an entry spends on other things than key and value.
const ENTRY_OVERHEAD_BYTES: usize = 8;

/// Below this many bytes in use there is nothing to comment on.
const DOCTOR_BYTES_MIN: usize = 5 << 20;
/// Waste below this many bytes is not worth a comment.
const DOCTOR_WASTE_BYTES: i64 = 10 << 20;
/// Bytes that an average client may take without a comment.
const DOCTOR_CLIENT_BYTES: usize = 200 * 1024;

/// Where memory goes, in bytes.
struct Overview {
    used: usize,
    peak: usize,
    startup: usize,
    /// Resident in the process, as the kernel counts.
    resident: usize,
    /// The part of it that the allocator holds, in use or not: what is not the program itself.
    active: usize,
    clients: usize,
    /// Those of the databases with keys.
    tables: Vec<Tables>,
    keys: usize,
}

/// The hash tables of a database, in bytes.
#[derive(Clone, Copy)]
struct Tables {
    db: usize,
    keys: usize,
    /// What the keys' entries spend beside key and value.
    entries: usize,
    expires: usize,
    /// What will be free when the tables that grow or shrink have been moved, and how many of them do.
    passing: usize,
    rehashing: usize,
}

impl Tables {
    fn of(db: usize, data: &Db) -> Tables {
        let ((keys, expires), (rehashing, passing)) = (data.table_bytes(), data.rehashing());
        Tables { db, keys, entries: data.len() * ENTRY_OVERHEAD_BYTES, expires, passing, rehashing }
    }

    fn buckets(&self) -> usize {
        self.keys + self.expires
    }
}

/// Two numbers of bytes compared.
struct Waste {
    ratio: f64,
    bytes: i64,
}

impl Waste {
    fn of(larger: usize, smaller: usize) -> Waste {
        Waste { ratio: larger as f64 / smaller.max(1) as f64, bytes: larger as i64 - smaller as i64 }
    }
}

impl Overview {
    fn of(server: &Server) -> Overview {
        let ks = &server.engine.ks;
        let all = (0..ks.count()).map(|db| (db, ks.db(db)));
        let in_use = all.filter(|(_, db)| !db.is_empty());
        let (used, (resident, active)) = (alloc::used(), resident_bytes());
        Overview {
            used,
            peak: server.reclaim.peak_bytes(),
            startup: server.reclaim.startup_bytes,
            resident,
            // Memory that was never written to is in use, but not resident.
            active: active.max(used),
            clients: server.clients.iter().map(|(_, client)| client.mem_size()).sum(),
            tables: in_use.clone().map(|(index, db)| Tables::of(index, db)).collect(),
            keys: in_use.map(|(_, db)| db.len()).sum(),
        }
    }

    /// Bytes for other things than data.
    fn overhead(&self) -> usize {
        self.startup + self.clients + self.of_tables(|one| one.buckets() + one.entries)
    }

    /// The sum of something over the tables of all databases.
    fn of_tables(&self, part: impl Fn(&Tables) -> usize) -> usize {
        self.tables.iter().map(part).sum()
    }

    fn dataset(&self) -> usize {
        self.used.saturating_sub(self.overhead())
    }

    fn dataset_percent(&self) -> f64 {
        self.dataset() as f64 * 100.0 / self.used.saturating_sub(self.startup).max(1) as f64
    }

    fn peak_percent(&self) -> f64 {
        self.used as f64 * 100.0 / self.peak.max(1) as f64
    }

    /// What the allocator holds beyond what is in use.
    fn inside_allocator(&self) -> Waste {
        Waste::of(self.active, self.used)
    }

    /// What is resident beyond what the allocator holds: the program itself, most of all.
    fn outside_allocator(&self) -> Waste {
        Waste::of(self.resident, self.active)
    }

    /// What is resident beyond what is in use.
    fn total(&self) -> Waste {
        Waste::of(self.resident, self.used)
    }
}

/// Resident memory of the process in bytes, as the kernel counts it, and the part of it that no file stands behind.
fn resident_bytes() -> (usize, usize) {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = text.split(' ').skip(1).map(|pages| pages.parse::<usize>().unwrap_or(0));
    let (resident, of_files) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    let page = rustix::param::page_size();
    (resident * page, resident.saturating_sub(of_files) * page)
}

/// Memory of the machine in bytes.
fn system_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram as u64 * u64::from(info.mem_unit.max(1))
}

/// INFO's section.
pub(super) fn section(server: &Server, text: &mut String) {
    let mut view = Overview::of(server);
    // The text itself is no news.
    view.used = view.used.saturating_sub(text.capacity());
    used_fields(&view, text);
    let mut field = |name: &str, value: &dyn std::fmt::Display| {
        // Writing into a String cannot fail, here and below.
        let _ = write!(text, "{name}:{value}\r\n");
    };
    field("allocator_allocated", &view.used);
    field("allocator_active", &view.active);
    field("allocator_resident", &view.active);
    field("allocator_muzzy", &0);
    field("total_system_memory", &system_bytes());
    field("total_system_memory_human", &format_human_bytes(system_bytes()));
    for name in ["used_memory_lua", "used_memory_vm_eval"] {
        field(name, &0);
    }
    field("used_memory_lua_human", &format_human_bytes(0));
    for name in ["used_memory_scripts_eval", "number_of_cached_scripts", "number_of_functions"] {
        field(name, &0);
    }
    for name in ["number_of_libraries", "used_memory_vm_functions", "used_memory_vm_total"] {
        field(name, &0);
    }
    field("used_memory_vm_total_human", &format_human_bytes(0));
    field("used_memory_functions", &0);
    field("used_memory_scripts", &0);
    field("used_memory_scripts_human", &format_human_bytes(0));
    let maxmemory = server.engine.config.maxmemory;
    field("maxmemory", &maxmemory);
    field("maxmemory_human", &format_human_bytes(maxmemory));
    field("maxmemory_policy", &server.engine.config.maxmemory_policy.name());
    for (name, waste) in [
        ("allocator_frag", view.inside_allocator()),
        ("allocator_rss", Waste::of(view.active, view.active)),
        ("rss_overhead", view.outside_allocator()),
        ("mem_fragmentation", view.total()),
    ] {
        field(&format!("{name}_ratio"), &format_args!("{:.2}", waste.ratio));
        field(&format!("{name}_bytes"), &waste.bytes);
    }
    field("mem_not_counted_for_evict", &server.uncounted_bytes());
    field("mem_replication_backlog", &0);
    field("mem_total_replication_buffers", &0);
    field("mem_clients_slaves", &0);
    field("mem_clients_normal", &view.clients);
    field("mem_cluster_links", &0);
    field("mem_aof_buffer", &0);
    field("mem_allocator", &"mimalloc");
    field("mem_overhead_db_hashtable_rehashing", &view.of_tables(|one| one.passing));
    field("active_defrag_running", &0);
    field("lazyfree_pending_objects", &server.engine.ks.trash.pending());
    field("lazyfreed_objects", &server.engine.ks.trash.freed());
}

fn used_fields(view: &Overview, text: &mut String) {
    for (name, bytes) in
        [("used_memory", view.used), ("used_memory_rss", view.resident), ("used_memory_peak", view.peak)]
    {
        let human = format_human_bytes(bytes as u64);
        let _ = write!(text, "{name}:{bytes}\r\n{name}_human:{human}\r\n");
    }
    let _ = write!(text, "used_memory_peak_perc:{:.2}%\r\n", view.peak_percent());
    for (name, bytes) in [
        ("used_memory_overhead", view.overhead()),
        ("used_memory_startup", view.startup),
        ("used_memory_dataset", view.dataset()),
    ] {
        let _ = write!(text, "{name}:{bytes}\r\n");
    }
    let _ = write!(text, "used_memory_dataset_perc:{:.2}%\r\n", view.dataset_percent());
}

/// A number in the reply of MEMORY STATS.
enum Figure {
    Int(i64),
    Real(f64),
}

fn memory_stats(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let view = Overview::of(server);
    let (head, tail) = (stats_before_databases(&view), stats_behind_databases(&view));
    let mut out = server.reply(slot);
    out.map(head.len() + view.tables.len() + tail.len());
    let write = |out: &mut crate::proto::reply::Reply, figures: &[(&str, Figure)]| {
        for (name, figure) in figures {
            out.bulk(name.as_bytes());
            match *figure {
                Figure::Int(n) => out.int(n),
                Figure::Real(x) => out.double(x),
            }
        }
    };
    write(&mut out, &head);
    for one in &view.tables {
        out.bulk(format!("db.{}", one.db).as_bytes());
        out.map(2);
        let main = int(one.keys + one.entries);
        write(
            &mut out,
            &[("overhead.hashtable.main", main), ("overhead.hashtable.expires", int(one.expires))],
        );
    }
    write(&mut out, &tail);
    Ok(())
}

fn int(bytes: usize) -> Figure {
    Figure::Int(bytes as i64)
}

fn stats_before_databases(view: &Overview) -> Vec<(&'static str, Figure)> {
    vec![
        ("peak.allocated", int(view.peak)),
        ("total.allocated", int(view.used)),
        ("startup.allocated", int(view.startup)),
        ("replication.backlog", int(0)),
        ("clients.slaves", int(0)),
        ("clients.normal", int(view.clients)),
        ("cluster.links", int(0)),
        ("aof.buffer", int(0)),
        ("lua.caches", int(0)),
        ("functions.caches", int(0)),
    ]
}

fn stats_behind_databases(view: &Overview) -> Vec<(&'static str, Figure)> {
    let (inside, outside, total) = (view.inside_allocator(), view.outside_allocator(), view.total());
    vec![
        ("overhead.db.hashtable.lut", int(view.of_tables(Tables::buckets))),
        ("overhead.db.hashtable.rehashing", int(view.of_tables(|one| one.passing))),
        ("overhead.total", int(view.overhead())),
        ("db.dict.rehashing.count", int(view.of_tables(|one| one.rehashing))),
        ("keys.count", int(view.keys)),
        ("keys.bytes-per-key", int(view.dataset().checked_div(view.keys).unwrap_or(0))),
        ("dataset.bytes", int(view.dataset())),
        ("dataset.percentage", Figure::Real(view.dataset_percent())),
        ("peak.percentage", Figure::Real(view.peak_percent())),
        ("allocator.allocated", int(view.used)),
        ("allocator.active", int(view.active)),
        ("allocator.resident", int(view.active)),
        ("allocator.muzzy", int(0)),
        ("allocator-fragmentation.ratio", Figure::Real(inside.ratio)),
        ("allocator-fragmentation.bytes", Figure::Int(inside.bytes)),
        ("allocator-rss.ratio", Figure::Real(1.0)),
        ("allocator-rss.bytes", Figure::Int(0)),
        ("rss-overhead.ratio", Figure::Real(outside.ratio)),
        ("rss-overhead.bytes", Figure::Int(outside.bytes)),
        ("fragmentation", Figure::Real(total.ratio)),
        ("fragmentation.bytes", Figure::Int(total.bytes)),
    ]
}

/// Large values are measured by a fixed number of their elements; the number asked for is checked and not needed.
fn memory_usage(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    for option in args[3..].chunks(2) {
        match option {
            [word, count] if word.eq_ignore_ascii_case(b"samples") => {
                if parse_i64(count).ok_or(CmdError::NOT_INTEGER)? < 0 {
                    return Err(CmdError::SYNTAX);
                }
            }
            _ => return Err(CmdError::SYNTAX),
        }
    }
    let db = server.clients.get(slot).session.db;
    // Expired or not: what counts is that it takes memory.
    let bytes = server.engine.ks.db(db).find(args[2]).map(|entry| entry.mem_size() + TABLE_BYTES_PER_KEY);
    let mut out = server.reply(slot);
    match bytes {
        Some(bytes) => out.len(bytes),
        None => out.null(),
    }
    Ok(())
}

fn memory_purge(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    alloc::purge(true);
    server.reply(slot).ok();
    Ok(())
}

fn memory_malloc_stats(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let report = alloc::report();
    server.reply(slot).verbatim("txt", report.as_bytes());
    Ok(())
}

fn memory_doctor(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let report = diagnosis(&Overview::of(server), server.clients.len());
    server.reply(slot).verbatim("txt", report.as_bytes());
    Ok(())
}

/// What stands out, in sentences.
fn diagnosis(view: &Overview, clients: usize) -> String {
    if view.used < DOCTOR_BYTES_MIN {
        return "Hi Sam, there is next to no data in this instance, so there is nothing to say about its memory. \
                Ask me again when it has more.\n"
            .to_owned();
    }
    let wasteful = |waste: &Waste, ratio: f64| waste.ratio > ratio && waste.bytes > DOCTOR_WASTE_BYTES;
    let mut found = String::new();
    let mut say = |text: &str| {
        let _ = write!(found, " * {text}\n\n");
    };
    if view.peak as f64 > 1.5 * view.used as f64 {
        say(
            "Peak memory: at some time more than one and a half times as much memory was in use as is now. Not all of \
             it can always be given back to the system, which does no harm: it is used again when data grows. MEMORY \
             PURGE gives back what can be.",
        );
    }
    if wasteful(&view.total(), 1.4) {
        say(
            "Resident memory: the process keeps more than 1.4 times the memory that is in use. After a peak (see above) \
             that is to be expected; otherwise the data has become fragmented.",
        );
    }
    if wasteful(&view.inside_allocator(), 1.1) {
        say(
            "Fragmentation: the allocator holds more than 1.1 times the memory that is in use, in pages that are only \
             partly filled. MEMORY PURGE gives back those that are empty.",
        );
    }
    if wasteful(&view.outside_allocator(), 1.1) {
        say(
            "Other memory: more than 1.1 times what the allocator holds is resident; the rest belongs to the program \
             itself.",
        );
    }
    if view.clients / clients.max(1) > DOCTOR_CLIENT_BYTES {
        say(
            "Client buffers: the average client takes more than 200 KiB, for replies that it is slow to read or for \
             large requests. CLIENT LIST shows who they are.",
        );
    }
    if found.is_empty() {
        return "Hi Sam, I see nothing wrong with the memory of this instance.\n".to_owned();
    }
    format!("Sam, this is what I noticed about the memory of this instance:\n\n{found}That is all, Sam.\n")
}

fn memory_help(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    super::write_help(server, slot, help::lines("memory", SPECS[0].subcommands));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(used: usize, peak: usize, active: usize, resident: usize, clients: usize) -> Overview {
        let tables = Tables { db: 0, keys: 900, entries: 100, expires: 500, passing: 300, rehashing: 1 };
        Overview { used, peak, startup: 100, resident, active, clients, tables: vec![tables], keys: 10 }
    }

    #[test]
    fn data_is_what_is_no_overhead() {
        let view = view(10_000, 20_000, 12_000, 13_000, 400);
        assert_eq!((view.overhead(), view.dataset()), (2_000, 8_000));
        assert_eq!(view.peak_percent(), 50.0);
        assert_eq!((view.total().ratio, view.total().bytes), (1.3, 3_000));
        assert_eq!(stats_before_databases(&view).len() + stats_behind_databases(&view).len(), 31);
    }

    #[test]
    fn the_doctor_names_what_stands_out() {
        const MB: usize = 1 << 20;
        assert!(diagnosis(&view(MB, MB, MB, MB, 0), 1).contains("next to no data"));
        assert!(diagnosis(&view(90 * MB, 91 * MB, 92 * MB, 93 * MB, 0), 1).contains("nothing wrong"));
        for (view, word) in [
            (view(90 * MB, 200 * MB, 92 * MB, 93 * MB, 0), "Peak memory"),
            (view(90 * MB, 91 * MB, 92 * MB, 190 * MB, 0), "Resident memory"),
            (view(90 * MB, 91 * MB, 120 * MB, 121 * MB, 0), "Fragmentation"),
            (view(90 * MB, 91 * MB, 92 * MB, 120 * MB, 0), "Other memory"),
            (view(90 * MB, 91 * MB, 92 * MB, 93 * MB, MB), "Client buffers"),
        ] {
            let report = diagnosis(&view, 2);
            assert!(report.contains(word), "{report}");
            assert_eq!(report.matches(" * ").count(), 1 + usize::from(word == "Resident memory"), "{report}");
        }
    }
}
