//! The option table: one row per option. Touches nothing but its siblings.
//!
//! A row reads: name, what it takes, default, field; then an older name, the flags, and what the option is for. `INERT`
//! marks what is accepted only. Names, ranges and defaults are those of Redis 7.4, so a configuration for it works here.

use std::ops::RangeInclusive;

use super::flags::{DENY_LOADING, HIDDEN, IMMUTABLE, INERT, MULTI_ARG, PROTECTED, SENSITIVE};
use super::special as own;
use super::values::*;
use super::{Choice, Field, Kind, OptionSpec, Reason};

/// The field of `Config` with this name.
macro_rules! field {
    ($name:ident) => {
        Field { get: |config| &config.$name, get_mut: |config| &mut config.$name }
    };
}

/// The field of `Config` with this name, whose type is this enum.
macro_rules! choice {
    ($name:ident: $names:ident) => {
        Choice {
            names: $names::NAMES,
            get: |config| config.$name.name(),
            set: |config, at| config.$name = $names::ALL[at],
        }
    };
}

type Get = fn(&Config) -> String;
type Set = fn(&mut Config, &[&[u8]]) -> Result<(), Reason>;
type Check = fn(&[u8]) -> Result<(), &'static str>;

const ANY_I32: RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;
const I32: RangeInclusive<i64> = 0..=i32::MAX as i64;
const I32_FROM_1: RangeInclusive<i64> = 1..=i32::MAX as i64;
const I64: RangeInclusive<i64> = 0..=i64::MAX;
const PORT: RangeInclusive<i64> = 0..=65535;
const BYTES: RangeInclusive<u64> = 0..=i64::MAX as u64;
const BYTES_FROM_1: RangeInclusive<u64> = 1..=i64::MAX as u64;
const BYTES_FROM_1MB: RangeInclusive<u64> = MB..=i64::MAX as u64;
const ANY_U64: RangeInclusive<u64> = 0..=u64::MAX;
const MB: u64 = 1024 * 1024;
const NO_DEFRAG: &str = "Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified \
                         Jemalloc like the one shipped by default with the Redis source distribution";

impl OptionSpec {
    const fn new(name: &'static str, kind: Kind) -> OptionSpec {
        OptionSpec { name, alias: None, kind, flags: 0, words_per_line: None, doc: "" }
    }

    const fn alias(mut self, alias: &'static str) -> OptionSpec {
        self.alias = Some(alias);
        self
    }

    const fn flags(mut self, flags: u16) -> OptionSpec {
        self.flags = flags;
        self
    }

    const fn words_per_line(mut self, words: usize) -> OptionSpec {
        self.words_per_line = Some(words);
        self
    }

    const fn doc(mut self, doc: &'static str) -> OptionSpec {
        self.doc = doc;
        self
    }
}

const fn yes_no(name: &'static str, default: bool, field: Field<bool>) -> OptionSpec {
    OptionSpec::new(name, Kind::Bool { default, field, unavailable: None })
}

const fn int(name: &'static str, range: RangeInclusive<i64>, default: i64, field: Field<i64>) -> OptionSpec {
    OptionSpec::new(name, Kind::Int { min: *range.start(), max: *range.end(), default, field })
}

const fn memory(
    name: &'static str,
    range: RangeInclusive<u64>,
    default: u64,
    field: Field<u64>,
) -> OptionSpec {
    OptionSpec::new(name, Kind::Memory { min: *range.start(), max: *range.end(), default, field })
}

const fn one_of(name: &'static str, default: &'static str, choice: Choice) -> OptionSpec {
    OptionSpec::new(name, Kind::Enum { default, choice })
}

const fn text(name: &'static str, default: &'static str, field: Field<Vec<u8>>) -> OptionSpec {
    checked(name, default, own::any_text, field)
}

const fn checked(
    name: &'static str,
    default: &'static str,
    check: Check,
    field: Field<Vec<u8>>,
) -> OptionSpec {
    OptionSpec::new(name, Kind::Text { default, check, field })
}

const fn special(
    name: &'static str,
    default: &'static str,
    syntax: &'static str,
    get: Get,
    set: Set,
) -> OptionSpec {
    OptionSpec::new(name, Kind::Special { default, syntax, get, set })
}

/// All options, by what they are about.
pub const GROUPS: &[(&str, &[OptionSpec])] = &[
    ("Network", NETWORK),
    ("Clients", CLIENTS),
    ("Security", SECURITY),
    ("Process", PROCESS),
    ("Log", LOG),
    ("Memory", MEMORY),
    ("Data types", DATA_TYPES),
    ("Scripts", SCRIPTS),
    ("Monitoring", MONITORING),
    ("Persistence", PERSISTENCE),
    ("Replication", REPLICATION),
    ("Cluster", CLUSTER),
    ("TLS", TLS),
    ("Debugging", DEBUGGING),
];

const NETWORK: &[OptionSpec] = &[
    special("bind", "* -::*", "up to 16 addresses", own::read_bind, own::write_bind).flags(MULTI_ARG).doc(
        "Addresses to listen on; one with `-` in front may be missing on this machine, `*` is every \
             IPv4 and `::*` every IPv6 address, none at all means no TCP.",
    ),
    text("bind-source-addr", "", field!(bind_source_addr))
        .flags(INERT)
        .doc("Local address from which connections to a primary are made."),
    int("port", PORT, 6379, field!(port)).doc("TCP port to listen on; 0 for none."),
    text("unixsocket", "", field!(unixsocket)).flags(IMMUTABLE).doc("Path of a Unix socket to listen on."),
    special("unixsocketperm", "0", "octal, 0 to 777", own::read_permissions, own::write_permissions)
        .flags(IMMUTABLE)
        .doc("File permissions of the Unix socket; 0 leaves them to the umask."),
    int("tcp-backlog", I32, 511, field!(tcp_backlog))
        .flags(IMMUTABLE)
        .doc("Connections that may wait to be accepted, as far as the kernel allows."),
    int("tcp-keepalive", I32, 300, field!(tcp_keepalive))
        .doc("Seconds of silence after which TCP probes whether a client is still there; 0 to never probe."),
    int("timeout", I32, 0, field!(timeout))
        .doc("Seconds without a request after which a client is dropped; 0 for never."),
    int("maxclients", 1..=u32::MAX as i64, 10000, field!(maxclients))
        .doc("Clients that may be connected at once, as far as the limit on open files allows."),
    int("max-new-connections-per-cycle", 1..=1000, 10, field!(max_new_connections_per_cycle))
        .flags(INERT)
        .doc("Connections accepted in one turn of the event loop."),
    int("max-new-tls-connections-per-cycle", 1..=1000, 1, field!(max_new_tls_connections_per_cycle))
        .flags(INERT)
        .doc("TLS connections accepted in one turn of the event loop."),
    yes_no("protected-mode", true, field!(protected_mode))
        .doc("Without a password, serve only clients on this machine."),
    int("socket-mark-id", 0..=u32::MAX as i64, 0, field!(socket_mark_id))
        .flags(IMMUTABLE | INERT)
        .doc("Mark that the kernel's packet filter sees on listening sockets; 0 for none."),
];

const CLIENTS: &[OptionSpec] = &[
    memory("proto-max-bulk-len", BYTES_FROM_1MB, 512 * MB, field!(proto_max_bulk_len))
        .doc("Largest single argument, and so the largest string."),
    memory("client-query-buffer-limit", BYTES_FROM_1MB, 1024 * MB, field!(client_query_buffer_limit))
        .doc("Unprocessed input that one client may pile up before it is dropped."),
    special(
        "client-output-buffer-limit",
        "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        "class, hard limit, soft limit, seconds; repeated",
        own::read_output_limits,
        own::write_output_limits,
    )
    .flags(MULTI_ARG)
    .words_per_line(4)
    .doc(
        "Output that may pile up before a client is dropped: at once beyond the hard limit, or after \
         some seconds beyond the soft one; classes are `normal`, `replica` and `pubsub`.",
    ),
    special("maxmemory-clients", "0", "bytes or percent", own::read_client_memory, own::write_client_memory)
        .doc(
            "Memory of all clients' buffers together beyond which the largest clients are dropped; a \
             percentage is of `maxmemory`, 0 sets no limit.",
        ),
    int("tracking-table-max-keys", I64, 1000000, field!(tracking_table_max_keys))
        .doc("Keys remembered for client-side caching; 0 for any number."),
];

const SECURITY: &[OptionSpec] = &[
    text("requirepass", "", field!(requirepass)).flags(SENSITIVE).doc("Password of the default user."),
    text("aclfile", "", field!(aclfile))
        .flags(IMMUTABLE)
        .doc("File with the users, for ACL LOAD and ACL SAVE."),
    int("acllog-max-len", I64, 128, field!(acllog_max_len)).doc("Entries that ACL LOG keeps."),
    one_of("acl-pubsub-default", "resetchannels", choice!(acl_pubsub_default: AclPubsubDefault))
        .doc("Whether new users may use all channels or none."),
    one_of("enable-debug-command", "no", choice!(enable_debug_command: Permission))
        .flags(IMMUTABLE)
        .doc("Who may use DEBUG: nobody, everybody, or clients on this machine."),
    one_of("enable-module-command", "no", choice!(enable_module_command: Permission))
        .flags(IMMUTABLE)
        .doc("Who may use MODULE."),
    one_of("enable-protected-configs", "no", choice!(enable_protected_configs: Permission))
        .flags(IMMUTABLE)
        .doc("Who may set protected options at run time."),
    one_of("sanitize-dump-payload", "no", choice!(sanitize_dump_payload: SanitizeDumpPayload))
        .flags(INERT)
        .doc("Whether RESTORE and dumps are checked in depth before they are used."),
];

const PROCESS: &[OptionSpec] = &[
    yes_no("daemonize", false, field!(daemonize)).flags(IMMUTABLE | INERT).doc("Run in the background."),
    one_of("supervised", "no", choice!(supervised: Supervised))
        .flags(IMMUTABLE | INERT)
        .doc("Supervisor to tell when the server is ready."),
    text("pidfile", "", field!(pidfile))
        .flags(IMMUTABLE)
        .doc("File for the process id; it goes when the server stops."),
    checked("dir", "./", own::directory, field!(dir))
        .flags(PROTECTED | DENY_LOADING)
        .doc("Working directory, where dumps and logs are written."),
    int("databases", I32_FROM_1, 16, field!(databases))
        .flags(IMMUTABLE)
        .doc("Number of databases for SELECT."),
    int("hz", I32, 10, field!(hz)).doc(
        "How often a second background work runs; from 1 to 500, values outside are moved to the \
             bound.",
    ),
    yes_no("dynamic-hz", true, field!(dynamic_hz)).doc("Raise `hz` while many clients are connected."),
    yes_no("always-show-logo", false, field!(always_show_logo))
        .flags(IMMUTABLE | INERT)
        .doc("Show the banner at start even if the log is no terminal."),
    yes_no("set-proc-title", true, field!(set_proc_title))
        .flags(IMMUTABLE)
        .doc("Show address and mode in the title of the process."),
    checked(
        "proc-title-template",
        "{title} {listen-addr} {server-mode}",
        own::title_template,
        field!(proc_title_template),
    )
    .doc(
        "Form of the process title; may contain {title}, {listen-addr}, {server-mode}, {port}, \
             {tls-port}, {unixsocket} and {config-file}.",
    ),
    int("shutdown-timeout", I32, 10, field!(shutdown_timeout))
        .flags(INERT)
        .doc("Seconds that SHUTDOWN waits for replicas to catch up."),
    special(
        "shutdown-on-sigint",
        "default",
        SHUTDOWN,
        own::read_shutdown_on_sigint,
        own::write_shutdown_on_sigint,
    )
    .flags(MULTI_ARG | INERT)
    .doc("What SIGINT does: like SHUTDOWN with these words."),
    special(
        "shutdown-on-sigterm",
        "default",
        SHUTDOWN,
        own::read_shutdown_on_sigterm,
        own::write_shutdown_on_sigterm,
    )
    .flags(MULTI_ARG | INERT)
    .doc("What SIGTERM does: like SHUTDOWN with these words."),
    text("locale-collate", "", field!(locale_collate))
        .flags(INERT)
        .doc("Locale that orders text; empty takes it from the environment."),
    text("ignore-warnings", "", field!(ignore_warnings))
        .flags(INERT)
        .doc("Warnings about the system that do not keep the server from starting."),
    yes_no("disable-thp", true, field!(disable_thp))
        .flags(IMMUTABLE)
        .doc("Switch transparent huge pages off for this process."),
    one_of("oom-score-adj", "no", choice!(oom_score_adj: OomScoreAdj)).flags(INERT).doc(
        "Whether to tell the kernel whom to kill first when memory runs out; `absolute` takes the \
             values as they are.",
    ),
    special(
        "oom-score-adj-values",
        "0 200 800",
        "three numbers, -2000 to 2000",
        own::read_oom_scores,
        own::write_oom_scores,
    )
    .flags(MULTI_ARG | INERT)
    .doc("Out-of-memory scores of primary, replica and background child."),
    text("server-cpulist", "", field!(server_cpulist))
        .alias("server_cpulist")
        .flags(IMMUTABLE | INERT)
        .doc("Processors for the main thread."),
    text("bio-cpulist", "", field!(bio_cpulist))
        .alias("bio_cpulist")
        .flags(IMMUTABLE | INERT)
        .doc("Processors for background threads."),
    text("aof-rewrite-cpulist", "", field!(aof_rewrite_cpulist))
        .alias("aof_rewrite_cpulist")
        .flags(IMMUTABLE | INERT)
        .doc("Processors for the child that rewrites the append-only file."),
    text("bgsave-cpulist", "", field!(bgsave_cpulist))
        .alias("bgsave_cpulist")
        .flags(IMMUTABLE | INERT)
        .doc("Processors for the child that writes dumps."),
    int("io-threads", 1..=128, 1, field!(io_threads))
        .flags(IMMUTABLE | INERT)
        .doc("Threads for sockets; this server has one thread."),
    yes_no("io-threads-do-reads", false, field!(io_threads_do_reads))
        .flags(IMMUTABLE | INERT)
        .doc("Whether those threads read as well as write."),
    yes_no("jemalloc-bg-thread", true, field!(jemalloc_bg_thread))
        .flags(INERT)
        .doc("Let the allocator return memory in a thread of its own."),
];

const SHUTDOWN: &str = "default, or some of save, nosave, now, force";

const LOG: &[OptionSpec] = &[
    one_of("loglevel", "notice", choice!(loglevel: LogLevel))
        .doc("Least important messages that are logged."),
    text("logfile", "", field!(logfile))
        .flags(IMMUTABLE)
        .doc("File to log to; empty for standard output, which a server in the background does not have."),
    yes_no("syslog-enabled", false, field!(syslog_enabled))
        .flags(IMMUTABLE | INERT)
        .doc("Log to the system log, too."),
    text("syslog-ident", "redis", field!(syslog_ident))
        .flags(IMMUTABLE | INERT)
        .doc("Name in the system log."),
    one_of("syslog-facility", "local0", choice!(syslog_facility: SyslogFacility))
        .flags(IMMUTABLE | INERT)
        .doc("Facility in the system log."),
    yes_no("crash-log-enabled", true, field!(crash_log_enabled))
        .flags(INERT)
        .doc("Log what is known when the server crashes."),
    yes_no("crash-memcheck-enabled", true, field!(crash_memcheck_enabled))
        .flags(INERT)
        .doc("Test the memory after a crash."),
    yes_no("hide-user-data-from-log", false, field!(hide_user_data_from_log))
        .flags(INERT)
        .doc("Keep keys and values out of crash reports."),
];

const MEMORY: &[OptionSpec] = &[
    memory("maxmemory", ANY_U64, 0, field!(maxmemory))
        .doc("Memory for data beyond which keys are evicted or writes refused; 0 sets no limit."),
    one_of("maxmemory-policy", "noeviction", choice!(maxmemory_policy: EvictionPolicy)).doc(
        "Which keys are evicted, by age of last use, frequency, chance or time to live, among all \
             or those that expire; or none.",
    ),
    int("maxmemory-samples", 1..=64, 5, field!(maxmemory_samples))
        .doc("Keys looked at to find one to evict; more is more exact and slower."),
    int("maxmemory-eviction-tenacity", 0..=100, 10, field!(maxmemory_eviction_tenacity))
        .doc("How long one round of eviction may go on before clients get their turn; 100 is to the end."),
    int("lfu-log-factor", I32, 10, field!(lfu_log_factor)).doc(
        "How many uses it takes to raise a key's frequency counter; higher tells busy keys apart \
             better.",
    ),
    int("lfu-decay-time", I32, 1, field!(lfu_decay_time))
        .doc("Minutes without use after which a key's frequency counter goes down by one; 0 for never."),
    yes_no("lazyfree-lazy-eviction", false, field!(lazyfree_lazy_eviction))
        .doc("Free evicted values in small steps."),
    yes_no("lazyfree-lazy-expire", false, field!(lazyfree_lazy_expire))
        .doc("Free expired values in small steps."),
    yes_no("lazyfree-lazy-server-del", false, field!(lazyfree_lazy_server_del))
        .doc("Free overwritten values in small steps."),
    yes_no("lazyfree-lazy-user-del", false, field!(lazyfree_lazy_user_del)).doc("Let DEL work like UNLINK."),
    yes_no("lazyfree-lazy-user-flush", false, field!(lazyfree_lazy_user_flush))
        .doc("Let FLUSHALL and FLUSHDB without a word work like with ASYNC."),
    int("active-expire-effort", 1..=10, 1, field!(active_expire_effort))
        .doc("How hard to look for expired keys that nobody asks for."),
    yes_no("activerehashing", true, field!(activerehashing)).doc("Spend idle time on resizing hash tables."),
    OptionSpec::new(
        "activedefrag",
        Kind::Bool { default: false, field: field!(activedefrag), unavailable: Some(NO_DEFRAG) },
    )
    .flags(INERT)
    .doc("Move values together to give memory back."),
    int("active-defrag-cycle-min", 1..=99, 1, field!(active_defrag_cycle_min))
        .flags(INERT)
        .doc("Least percentage of processor time for defragmentation."),
    int("active-defrag-cycle-max", 1..=99, 25, field!(active_defrag_cycle_max))
        .flags(INERT)
        .doc("Highest percentage of processor time for defragmentation."),
    int("active-defrag-threshold-lower", 0..=1000, 10, field!(active_defrag_threshold_lower))
        .flags(INERT)
        .doc("Percentage of fragmentation from which to defragment."),
    int("active-defrag-threshold-upper", 0..=1000, 100, field!(active_defrag_threshold_upper))
        .flags(INERT)
        .doc("Percentage of fragmentation from which to defragment with all effort."),
    memory("active-defrag-ignore-bytes", BYTES_FROM_1, 100 * MB, field!(active_defrag_ignore_bytes))
        .flags(INERT)
        .doc("Wasted memory up to which not to defragment."),
    int("active-defrag-max-scan-fields", 1..=i64::MAX, 1000, field!(active_defrag_max_scan_fields))
        .flags(INERT)
        .doc("Elements up to which a value is defragmented in one go."),
];

const DATA_TYPES: &[OptionSpec] = &[
    int("hash-max-listpack-entries", I64, 512, field!(hash_max_listpack_entries))
        .alias("hash-max-ziplist-entries")
        .doc("Fields up to which a hash is kept compact."),
    memory("hash-max-listpack-value", BYTES, 64, field!(hash_max_listpack_value))
        .alias("hash-max-ziplist-value")
        .doc("Length of fields and values up to which a hash is kept compact."),
    int("list-max-listpack-size", ANY_I32, -2, field!(list_max_listpack_size))
        .alias("list-max-ziplist-size")
        .doc("Size of a list's nodes: a number of elements, or -1 to -5 for 4, 8, 16, 32 or 64 kilobytes."),
    int("list-compress-depth", I32, 0, field!(list_compress_depth))
        .doc("Nodes at either end of a list that are not compressed; 0 compresses none."),
    int("set-max-intset-entries", I64, 512, field!(set_max_intset_entries))
        .doc("Members up to which a set of integers is kept as an array."),
    int("set-max-listpack-entries", I64, 128, field!(set_max_listpack_entries))
        .doc("Members up to which a set is kept compact."),
    int("set-max-listpack-value", I64, 64, field!(set_max_listpack_value))
        .doc("Length of members up to which a set is kept compact."),
    int("zset-max-listpack-entries", I64, 128, field!(zset_max_listpack_entries))
        .alias("zset-max-ziplist-entries")
        .doc("Members up to which a sorted set is kept compact."),
    memory("zset-max-listpack-value", BYTES, 64, field!(zset_max_listpack_value))
        .alias("zset-max-ziplist-value")
        .doc("Length of members up to which a sorted set is kept compact."),
    memory("stream-node-max-bytes", BYTES, 4096, field!(stream_node_max_bytes))
        .flags(INERT)
        .doc("Size of a stream's nodes; 0 for any."),
    int("stream-node-max-entries", I64, 100, field!(stream_node_max_entries))
        .flags(INERT)
        .doc("Entries in a stream's node; 0 for any number."),
    memory("hll-sparse-max-bytes", BYTES, 3000, field!(hll_sparse_max_bytes))
        .flags(INERT)
        .doc("Size up to which a HyperLogLog is kept compact."),
];

const SCRIPTS: &[OptionSpec] = &[
    int("busy-reply-threshold", I64, 5000, field!(busy_reply_threshold))
        .alias("lua-time-limit")
        .flags(INERT)
        .doc("Milliseconds after which other clients get BUSY while a script runs; 0 lets them wait."),
    yes_no("lua-enable-deprecated-api", false, field!(lua_enable_deprecated_api))
        .flags(IMMUTABLE | HIDDEN | INERT)
        .doc("Give scripts the functions that were taken away for safety."),
];

const MONITORING: &[OptionSpec] = &[
    int("slowlog-log-slower-than", -1..=i64::MAX, 10000, field!(slowlog_log_slower_than))
        .doc("Microseconds from which a command goes to the slow log; 0 logs all, -1 none."),
    int("slowlog-max-len", I64, 128, field!(slowlog_max_len)).doc("Entries that the slow log keeps."),
    int("latency-monitor-threshold", I64, 0, field!(latency_monitor_threshold))
        .doc("Milliseconds from which LATENCY records an event; 0 records none."),
    yes_no("latency-tracking", true, field!(latency_tracking))
        .doc("Keep a histogram of each command's run time."),
    special(
        "latency-tracking-info-percentiles",
        "50 99 99.9",
        "numbers, 0 to 100",
        own::read_percentiles,
        own::write_percentiles,
    )
    .flags(MULTI_ARG)
    .doc("Percentiles of run time that INFO shows."),
    special("notify-keyspace-events", "", "letters", own::read_notify, own::write_notify).doc(
        "Events about keys that are published: K and E choose the channels, the other letters of \
             `g$lshzxetdmn` the events, A most of these.",
    ),
];

const PERSISTENCE: &[OptionSpec] = &[
    special(
        "save",
        "3600 1 300 100 60 10000",
        "pairs of seconds and changes",
        own::read_save,
        own::write_save,
    )
    .flags(MULTI_ARG | INERT)
    .words_per_line(2)
    .doc("Write a dump after so many seconds if there were so many changes; empty for never."),
    checked("dbfilename", "dump.rdb", own::dump_file_name, field!(dbfilename))
        .flags(PROTECTED | INERT)
        .doc("Name of the dump in `dir`."),
    yes_no("rdbcompression", true, field!(rdbcompression)).flags(INERT).doc("Compress strings in dumps."),
    yes_no("rdbchecksum", true, field!(rdbchecksum))
        .flags(IMMUTABLE | INERT)
        .doc("Write a checksum into dumps and verify it."),
    yes_no("rdb-del-sync-files", false, field!(rdb_del_sync_files))
        .flags(INERT)
        .doc("Delete dumps that only served replication."),
    yes_no("rdb-save-incremental-fsync", true, field!(rdb_save_incremental_fsync))
        .flags(INERT)
        .doc("Force a dump to disk piece by piece while it is written."),
    yes_no("stop-writes-on-bgsave-error", true, field!(stop_writes_on_bgsave_error))
        .flags(INERT)
        .doc("Refuse writes after a dump failed."),
    yes_no("appendonly", false, field!(appendonly))
        .flags(DENY_LOADING | INERT)
        .doc("Log every change to the append-only file."),
    checked("appendfilename", "appendonly.aof", own::aof_file_name, field!(appendfilename))
        .flags(IMMUTABLE | INERT)
        .doc("Base name of the append-only files."),
    checked("appenddirname", "appendonlydir", own::aof_dir_name, field!(appenddirname))
        .flags(IMMUTABLE | INERT)
        .doc("Directory in `dir` for the append-only files."),
    one_of("appendfsync", "everysec", choice!(appendfsync: AppendFsync)).flags(INERT).doc(
        "When the append-only file is forced to disk: before each reply, every second, or when the \
             system likes.",
    ),
    yes_no("no-appendfsync-on-rewrite", false, field!(no_appendfsync_on_rewrite))
        .flags(INERT)
        .doc("Do not force it to disk while a child writes."),
    int("auto-aof-rewrite-percentage", I32, 100, field!(auto_aof_rewrite_percentage))
        .flags(INERT)
        .doc("Growth in percent after which the append-only file is rewritten; 0 for never."),
    memory("auto-aof-rewrite-min-size", BYTES, 64 * MB, field!(auto_aof_rewrite_min_size))
        .flags(INERT)
        .doc("Size below which it is not rewritten."),
    yes_no("aof-load-truncated", true, field!(aof_load_truncated))
        .flags(INERT)
        .doc("Load an append-only file whose end is missing."),
    yes_no("aof-use-rdb-preamble", true, field!(aof_use_rdb_preamble))
        .flags(INERT)
        .doc("Rewrite the append-only file as a dump."),
    yes_no("aof-timestamp-enabled", false, field!(aof_timestamp_enabled))
        .flags(INERT)
        .doc("Write the time into the append-only file."),
    yes_no("aof-rewrite-incremental-fsync", true, field!(aof_rewrite_incremental_fsync))
        .flags(INERT)
        .doc("Force the file to disk piece by piece while it is rewritten."),
    yes_no("aof-disable-auto-gc", false, field!(aof_disable_auto_gc))
        .flags(HIDDEN | INERT)
        .doc("Keep append-only files that are no longer needed."),
];

const REPLICATION: &[OptionSpec] = &[
    special("replicaof", "", "host and port, or `no one`", own::read_replicaof, own::write_replicaof)
        .alias("slaveof")
        .flags(IMMUTABLE | MULTI_ARG | INERT)
        .doc("Primary to replicate."),
    text("masterauth", "", field!(masterauth)).flags(SENSITIVE | INERT).doc("Password for the primary."),
    text("masteruser", "", field!(masteruser)).flags(SENSITIVE | INERT).doc("User name for the primary."),
    yes_no("replica-serve-stale-data", true, field!(replica_serve_stale_data))
        .alias("slave-serve-stale-data")
        .flags(INERT)
        .doc("Answer while the primary cannot be reached."),
    yes_no("replica-read-only", true, field!(replica_read_only))
        .alias("slave-read-only")
        .flags(INERT)
        .doc("Refuse writes on a replica."),
    int("replica-priority", I32, 100, field!(replica_priority))
        .alias("slave-priority")
        .flags(INERT)
        .doc("Order in which Sentinel promotes replicas, lowest first; 0 for never."),
    yes_no("replica-announced", true, field!(replica_announced))
        .flags(INERT)
        .doc("Let Sentinel know this replica."),
    text("replica-announce-ip", "", field!(replica_announce_ip))
        .alias("slave-announce-ip")
        .flags(INERT)
        .doc("Address that a replica tells its primary."),
    int("replica-announce-port", PORT, 0, field!(replica_announce_port))
        .alias("slave-announce-port")
        .flags(INERT)
        .doc("Port that a replica tells its primary."),
    yes_no("replica-ignore-maxmemory", true, field!(replica_ignore_maxmemory))
        .alias("slave-ignore-maxmemory")
        .flags(INERT)
        .doc("Leave eviction to the primary."),
    yes_no("replica-ignore-disk-write-errors", false, field!(replica_ignore_disk_write_errors))
        .flags(INERT)
        .doc("Go on replicating when the disk fails."),
    yes_no("replica-lazy-flush", false, field!(replica_lazy_flush))
        .alias("slave-lazy-flush")
        .flags(INERT)
        .doc("Free the old data in small steps before a full synchronisation."),
    memory("repl-backlog-size", BYTES_FROM_1, MB, field!(repl_backlog_size))
        .flags(INERT)
        .doc("Changes kept for replicas that lost their connection."),
    int("repl-backlog-ttl", I64, 3600, field!(repl_backlog_ttl))
        .flags(INERT)
        .doc("Seconds without replicas after which these are dropped; 0 for never."),
    int("repl-timeout", I32_FROM_1, 60, field!(repl_timeout))
        .flags(INERT)
        .doc("Seconds of silence after which a replication link is given up."),
    int("repl-ping-replica-period", I32_FROM_1, 10, field!(repl_ping_replica_period))
        .alias("repl-ping-slave-period")
        .flags(INERT)
        .doc("Seconds between pings to replicas."),
    yes_no("repl-disable-tcp-nodelay", false, field!(repl_disable_tcp_nodelay))
        .flags(INERT)
        .doc("Send fewer, later packets to replicas."),
    yes_no("repl-diskless-sync", true, field!(repl_diskless_sync))
        .flags(INERT)
        .doc("Send a dump to replicas without writing it to disk."),
    int("repl-diskless-sync-delay", I32, 5, field!(repl_diskless_sync_delay))
        .flags(INERT)
        .doc("Seconds to wait for more replicas before that."),
    int("repl-diskless-sync-max-replicas", I32, 0, field!(repl_diskless_sync_max_replicas))
        .flags(INERT)
        .doc("Replicas with which not to wait any longer; 0 always waits."),
    one_of("repl-diskless-load", "disabled", choice!(repl_diskless_load: DisklessLoad))
        .flags(DENY_LOADING | INERT)
        .doc("When a replica loads a dump from the socket without writing it to disk."),
    int("min-replicas-to-write", I32, 0, field!(min_replicas_to_write))
        .alias("min-slaves-to-write")
        .flags(INERT)
        .doc("Good replicas without which writes are refused; 0 for none."),
    int("min-replicas-max-lag", I32, 10, field!(min_replicas_max_lag))
        .alias("min-slaves-max-lag")
        .flags(INERT)
        .doc("Seconds of silence up to which a replica is good."),
    one_of("propagation-error-behavior", "ignore", choice!(propagation_error_behavior: PropagationError))
        .flags(INERT)
        .doc("What to do when a replicated command fails."),
];

const CLUSTER: &[OptionSpec] = &[
    yes_no("cluster-enabled", false, field!(cluster_enabled))
        .flags(IMMUTABLE | INERT)
        .doc("Run as a node of a cluster."),
    text("cluster-config-file", "nodes.conf", field!(cluster_config_file))
        .flags(IMMUTABLE | INERT)
        .doc("File for the state of the cluster."),
    int("cluster-node-timeout", I64, 15000, field!(cluster_node_timeout))
        .flags(INERT)
        .doc("Milliseconds after which a silent node counts as failed."),
    int("cluster-port", PORT, 0, field!(cluster_port))
        .flags(IMMUTABLE | INERT)
        .doc("Port of the cluster bus; 0 for the port plus 10000."),
    text("cluster-announce-ip", "", field!(cluster_announce_ip))
        .flags(INERT)
        .doc("Address told to other nodes."),
    checked("cluster-announce-hostname", "", own::host_name, field!(cluster_announce_hostname))
        .flags(INERT)
        .doc("Host name told to other nodes."),
    checked("cluster-announce-human-nodename", "", own::node_name, field!(cluster_announce_human_nodename))
        .flags(INERT)
        .doc("Name for people, used in logs of all nodes."),
    int("cluster-announce-port", PORT, 0, field!(cluster_announce_port))
        .flags(INERT)
        .doc("Port told to other nodes; 0 for the real one."),
    int("cluster-announce-tls-port", PORT, 0, field!(cluster_announce_tls_port))
        .flags(INERT)
        .doc("TLS port told to other nodes; 0 for the real one."),
    int("cluster-announce-bus-port", PORT, 0, field!(cluster_announce_bus_port))
        .flags(INERT)
        .doc("Port of the cluster bus told to other nodes; 0 for the real one."),
    one_of("cluster-preferred-endpoint-type", "ip", choice!(cluster_preferred_endpoint_type: EndpointType))
        .flags(INERT)
        .doc("How clients are told where a node is."),
    yes_no("cluster-require-full-coverage", true, field!(cluster_require_full_coverage))
        .flags(INERT)
        .doc("Refuse requests while any slot has no node."),
    yes_no("cluster-allow-reads-when-down", false, field!(cluster_allow_reads_when_down))
        .flags(INERT)
        .doc("Answer reads while the cluster is down."),
    yes_no("cluster-allow-pubsubshard-when-down", true, field!(cluster_allow_pubsubshard_when_down))
        .flags(INERT)
        .doc("Publish to shard channels while the cluster is down."),
    yes_no("cluster-allow-replica-migration", true, field!(cluster_allow_replica_migration))
        .flags(INERT)
        .doc("Let replicas move to primaries that have none."),
    int("cluster-migration-barrier", I32, 1, field!(cluster_migration_barrier))
        .flags(INERT)
        .doc("Replicas that a primary keeps before one may move."),
    yes_no("cluster-replica-no-failover", false, field!(cluster_replica_no_failover))
        .alias("cluster-slave-no-failover")
        .flags(INERT)
        .doc("Never promote this replica by itself."),
    int("cluster-replica-validity-factor", I32, 10, field!(cluster_replica_validity_factor))
        .alias("cluster-slave-validity-factor")
        .flags(INERT)
        .doc("How many node time-outs old a replica's data may be for it to be promoted; 0 for any age."),
    memory("cluster-link-sendbuf-limit", ANY_U64, 0, field!(cluster_link_sendbuf_limit))
        .flags(INERT)
        .doc("Output to another node beyond which the link is dropped; 0 sets no limit."),
];

const TLS: &[OptionSpec] = &[
    int("tls-port", PORT, 0, field!(tls_port)).flags(INERT).doc("Port for TLS; 0 for none."),
    text("tls-cert-file", "", field!(tls_cert_file)).flags(INERT).doc("Certificate of the server."),
    text("tls-key-file", "", field!(tls_key_file)).flags(INERT).doc("Private key of the server."),
    text("tls-key-file-pass", "", field!(tls_key_file_pass))
        .flags(SENSITIVE | INERT)
        .doc("Password of that key."),
    text("tls-client-cert-file", "", field!(tls_client_cert_file))
        .flags(INERT)
        .doc("Certificate for connections that the server makes."),
    text("tls-client-key-file", "", field!(tls_client_key_file))
        .flags(INERT)
        .doc("Private key for connections that the server makes."),
    text("tls-client-key-file-pass", "", field!(tls_client_key_file_pass))
        .flags(SENSITIVE | INERT)
        .doc("Password of that key."),
    text("tls-dh-params-file", "", field!(tls_dh_params_file)).flags(INERT).doc("Diffie-Hellman parameters."),
    text("tls-ca-cert-file", "", field!(tls_ca_cert_file))
        .flags(INERT)
        .doc("Certificates to trust, in one file."),
    text("tls-ca-cert-dir", "", field!(tls_ca_cert_dir))
        .flags(INERT)
        .doc("Certificates to trust, in a directory."),
    one_of("tls-auth-clients", "yes", choice!(tls_auth_clients: TlsAuthClients))
        .flags(INERT)
        .doc("Whether clients must, may or need not show a certificate."),
    yes_no("tls-replication", false, field!(tls_replication)).flags(INERT).doc("Reach the primary over TLS."),
    yes_no("tls-cluster", false, field!(tls_cluster)).flags(INERT).doc("Use TLS between cluster nodes."),
    text("tls-protocols", "", field!(tls_protocols)).flags(INERT).doc("Versions of TLS to allow."),
    text("tls-ciphers", "", field!(tls_ciphers)).flags(INERT).doc("Ciphers to allow up to TLS 1.2."),
    text("tls-ciphersuites", "", field!(tls_ciphersuites))
        .flags(INERT)
        .doc("Cipher suites to allow in TLS 1.3."),
    yes_no("tls-prefer-server-ciphers", false, field!(tls_prefer_server_ciphers))
        .flags(INERT)
        .doc("Choose ciphers by the server's preference."),
    yes_no("tls-session-caching", true, field!(tls_session_caching))
        .flags(INERT)
        .doc("Let clients resume sessions."),
    int("tls-session-cache-size", I32, 20480, field!(tls_session_cache_size))
        .flags(INERT)
        .doc("Sessions that are kept; 0 for any number."),
    int("tls-session-cache-timeout", I32, 300, field!(tls_session_cache_timeout))
        .flags(INERT)
        .doc("Seconds for which a session is kept."),
];

const DEBUGGING: &[OptionSpec] = &[
    yes_no("enable-debug-assert", false, field!(enable_debug_assert))
        .flags(IMMUTABLE | HIDDEN | INERT)
        .doc("Check costly assertions."),
    yes_no("use-exit-on-panic", false, field!(use_exit_on_panic))
        .flags(HIDDEN | INERT)
        .doc("End with exit instead of abort after a panic."),
    int("watchdog-period", I32, 0, field!(watchdog_period))
        .flags(HIDDEN | INERT)
        .doc("Milliseconds after which a stuck event loop is reported; 0 for never."),
    int("rdb-key-save-delay", ANY_I32, 0, field!(rdb_key_save_delay)).flags(HIDDEN | INERT).doc(
        "Microseconds to sleep after each key of a dump; a negative number counts keys per microsecond.",
    ),
    int("key-load-delay", ANY_I32, 0, field!(key_load_delay)).flags(HIDDEN | INERT).doc(
        "Microseconds to sleep after each key that is loaded; a negative number counts keys per microsecond.",
    ),
    int(
        "loading-process-events-interval-bytes",
        1024..=i32::MAX as i64,
        2 * MB as i64,
        field!(loading_process_events_interval_bytes),
    )
    .flags(HIDDEN | INERT)
    .doc("Bytes loaded between two looks at clients."),
];
