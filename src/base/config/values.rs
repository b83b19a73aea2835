//! The values of all options as plain typed fields, and the types that they need. Touches nothing.
//!
//! A field is named like its option with `_` for `-`; what it means stands in the option's row (`options`). Integers are
//! `i64` and amounts of memory `u64`, both within the range of the row; texts are bytes, empty where the option is unset.

/// Declares an enum with the names that its option knows, in the order in which an error message lists them.
/// `Default` is the first of them and no more than a place holder until the rows' defaults are written.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)+
        }

        impl $name {
            /// All choices, in the order of `NAMES`.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// What the choices are called in redis.conf.
            pub const NAMES: &'static [&'static str] = &[$($text,)+];

            /// What this choice is called in redis.conf.
            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }

        impl Default for $name {
            fn default() -> $name {
                Self::ALL[0]
            }
        }
    };
}

choices! {
    /// Which keys go when memory is short.
    EvictionPolicy {
        VolatileLru = "volatile-lru",
        VolatileLfu = "volatile-lfu",
        VolatileRandom = "volatile-random",
        VolatileTtl = "volatile-ttl",
        AllkeysLru = "allkeys-lru",
        AllkeysLfu = "allkeys-lfu",
        AllkeysRandom = "allkeys-random",
        NoEviction = "noeviction",
    }
}
choices! {
    /// The least important messages that still go to the log.
    LogLevel {
        Debug = "debug",
        Verbose = "verbose",
        Notice = "notice",
        Warning = "warning",
        Nothing = "nothing",
    }
}
choices! {
    /// The process supervisor that is told about start and stop.
    Supervised {
        Upstart = "upstart",
        Systemd = "systemd",
        Auto = "auto",
        No = "no",
    }
}
choices! {
    /// Who may use a dangerous command.
    Permission {
        No = "no",
        Yes = "yes",
        Local = "local",
    }
}
choices! {
    /// When the append-only file is forced to disk.
    AppendFsync {
        Everysec = "everysec",
        Always = "always",
        No = "no",
    }
}
choices! {
    /// Where system log messages are filed.
    SyslogFacility {
        User = "user",
        Local0 = "local0",
        Local1 = "local1",
        Local2 = "local2",
        Local3 = "local3",
        Local4 = "local4",
        Local5 = "local5",
        Local6 = "local6",
        Local7 = "local7",
    }
}
choices! {
    /// When a replica loads a dump right from the socket.
    DisklessLoad {
        Disabled = "disabled",
        OnEmptyDb = "on-empty-db",
        SwapDb = "swapdb",
    }
}
choices! {
    /// Whether TLS clients must show a certificate.
    TlsAuthClients {
        No = "no",
        Yes = "yes",
        Optional = "optional",
    }
}
choices! {
    /// How the kernel's out-of-memory score is set. `Relative` is another word for `Yes` and never stays stored.
    OomScoreAdj {
        No = "no",
        Yes = "yes",
        Relative = "relative",
        Absolute = "absolute",
    }
}
choices! {
    /// The channels that a new ACL user may use.
    AclPubsubDefault {
        AllChannels = "allchannels",
        ResetChannels = "resetchannels",
    }
}
choices! {
    /// For whom the payload of RESTORE is checked in depth.
    SanitizeDumpPayload {
        No = "no",
        Yes = "yes",
        Clients = "clients",
    }
}
choices! {
    /// The name by which cluster nodes are announced.
    EndpointType {
        Ip = "ip",
        Hostname = "hostname",
        UnknownEndpoint = "unknown-endpoint",
    }
}
choices! {
    /// What happens when a replicated command fails.
    PropagationError {
        Ignore = "ignore",
        Panic = "panic",
        PanicOnReplicas = "panic-on-replicas",
    }
}

impl Permission {
    /// Whether a client may; `local` says that it came over the loopback interface or the Unix socket.
    pub fn allows(self, local: bool) -> bool {
        self == Permission::Yes || (self == Permission::Local && local)
    }
}

/// One pair of `save`: dump after `seconds` if at least `changes` keys changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavePoint {
    /// At least 1.
    pub seconds: i64,
    /// At least 0.
    pub changes: i64,
}

/// How much output may pile up for one client; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimit {
    /// Beyond this many bytes the client is dropped at once.
    pub hard_bytes: u64,
    /// Beyond this many bytes for `soft_seconds` on end it is dropped, too.
    pub soft_bytes: u64,
    /// Seconds that `soft_bytes` may be exceeded.
    pub soft_seconds: i64,
}

/// `client-output-buffer-limit`: a limit for each class of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimits {
    /// Ordinary clients, MONITOR included.
    pub normal: OutputLimit,
    /// Replicas.
    pub replica: OutputLimit,
    /// Clients with a subscription.
    pub pubsub: OutputLimit,
}

/// Declares the struct, and `blank`, which the rows' defaults are written into.
macro_rules! config_fields {
    ($(#[$doc:meta])* struct $name:ident { $($field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub struct $name { $(pub $field: $type,)+ }

        impl $name {
            pub(super) fn blank() -> $name {
                $name { $($field: Default::default(),)+ }
            }

            #[cfg(test)]
            pub(super) const FIELDS: &'static [&'static str] = &[$(stringify!($field),)+];
        }
    };
}

config_fields! {
    /// The value of every option. The rows of `options` say what each one means.
    struct Config {
        // Network
        bind: Vec<String>,
        bind_source_addr: Vec<u8>,
        port: i64,
        unixsocket: Vec<u8>,
        unixsocketperm: u32,
        tcp_backlog: i64,
        tcp_keepalive: i64,
        timeout: i64,
        maxclients: i64,
        max_new_connections_per_cycle: i64,
        max_new_tls_connections_per_cycle: i64,
        protected_mode: bool,
        socket_mark_id: i64,

        // Clients
        proto_max_bulk_len: u64,
        client_query_buffer_limit: u64,
        client_output_buffer_limit: OutputLimits,
        maxmemory_clients: i64, // bytes; below zero: percent of maxmemory
        tracking_table_max_keys: i64,

        // Security
        requirepass: Vec<u8>,
        aclfile: Vec<u8>,
        acllog_max_len: i64,
        acl_pubsub_default: AclPubsubDefault,
        enable_debug_command: Permission,
        enable_module_command: Permission,
        enable_protected_configs: Permission,
        sanitize_dump_payload: SanitizeDumpPayload,

        // Process
        daemonize: bool,
        supervised: Supervised,
        pidfile: Vec<u8>,
        dir: Vec<u8>,
        databases: i64,
        hz: i64,
        dynamic_hz: bool,
        always_show_logo: bool,
        set_proc_title: bool,
        proc_title_template: Vec<u8>,
        shutdown_timeout: i64,
        shutdown_on_sigint: u8,
        shutdown_on_sigterm: u8,
        locale_collate: Vec<u8>,
        ignore_warnings: Vec<u8>,
        disable_thp: bool,
        oom_score_adj: OomScoreAdj,
        oom_score_adj_values: [i32; 3],
        server_cpulist: Vec<u8>,
        bio_cpulist: Vec<u8>,
        aof_rewrite_cpulist: Vec<u8>,
        bgsave_cpulist: Vec<u8>,
        io_threads: i64,
        io_threads_do_reads: bool,
        jemalloc_bg_thread: bool,

        // Log
        loglevel: LogLevel,
        logfile: Vec<u8>,
        syslog_enabled: bool,
        syslog_ident: Vec<u8>,
        syslog_facility: SyslogFacility,
        crash_log_enabled: bool,
        crash_memcheck_enabled: bool,
        hide_user_data_from_log: bool,

        // Memory
        maxmemory: u64,
        maxmemory_policy: EvictionPolicy,
        maxmemory_samples: i64,
        maxmemory_eviction_tenacity: i64,
        lfu_log_factor: i64,
        lfu_decay_time: i64,
        lazyfree_lazy_eviction: bool,
        lazyfree_lazy_expire: bool,
        lazyfree_lazy_server_del: bool,
        lazyfree_lazy_user_del: bool,
        lazyfree_lazy_user_flush: bool,
        active_expire_effort: i64,
        activerehashing: bool,
        activedefrag: bool,
        active_defrag_cycle_min: i64,
        active_defrag_cycle_max: i64,
        active_defrag_threshold_lower: i64,
        active_defrag_threshold_upper: i64,
        active_defrag_ignore_bytes: u64,
        active_defrag_max_scan_fields: i64,

        // Data types
        hash_max_listpack_entries: i64,
        hash_max_listpack_value: u64,
        list_max_listpack_size: i64,
        list_compress_depth: i64,
        set_max_intset_entries: i64,
        set_max_listpack_entries: i64,
        set_max_listpack_value: i64,
        zset_max_listpack_entries: i64,
        zset_max_listpack_value: u64,
        stream_node_max_bytes: u64,
        stream_node_max_entries: i64,
        hll_sparse_max_bytes: u64,

        // Scripts
        busy_reply_threshold: i64,
        lua_enable_deprecated_api: bool,

        // Monitoring
        slowlog_log_slower_than: i64,
        slowlog_max_len: i64,
        latency_monitor_threshold: i64,
        latency_tracking: bool,
        latency_tracking_info_percentiles: Vec<f64>,
        notify_keyspace_events: u32,

        // Persistence
        save: Vec<SavePoint>,
        dbfilename: Vec<u8>,
        rdbcompression: bool,
        rdbchecksum: bool,
        rdb_del_sync_files: bool,
        rdb_save_incremental_fsync: bool,
        stop_writes_on_bgsave_error: bool,
        appendonly: bool,
        appendfilename: Vec<u8>,
        appenddirname: Vec<u8>,
        appendfsync: AppendFsync,
        no_appendfsync_on_rewrite: bool,
        auto_aof_rewrite_percentage: i64,
        auto_aof_rewrite_min_size: u64,
        aof_load_truncated: bool,
        aof_use_rdb_preamble: bool,
        aof_timestamp_enabled: bool,
        aof_rewrite_incremental_fsync: bool,
        aof_disable_auto_gc: bool,

        // Replication
        replicaof: Option<(String, u16)>,
        masterauth: Vec<u8>,
        masteruser: Vec<u8>,
        replica_serve_stale_data: bool,
        replica_read_only: bool,
        replica_priority: i64,
        replica_announced: bool,
        replica_announce_ip: Vec<u8>,
        replica_announce_port: i64,
        replica_ignore_maxmemory: bool,
        replica_ignore_disk_write_errors: bool,
        replica_lazy_flush: bool,
        repl_backlog_size: u64,
        repl_backlog_ttl: i64,
        repl_timeout: i64,
        repl_ping_replica_period: i64,
        repl_disable_tcp_nodelay: bool,
        repl_diskless_sync: bool,
        repl_diskless_sync_delay: i64,
        repl_diskless_sync_max_replicas: i64,
        repl_diskless_load: DisklessLoad,
        min_replicas_to_write: i64,
        min_replicas_max_lag: i64,
        propagation_error_behavior: PropagationError,

        // Cluster
        cluster_enabled: bool,
        cluster_config_file: Vec<u8>,
        cluster_node_timeout: i64,
        cluster_port: i64,
        cluster_announce_ip: Vec<u8>,
        cluster_announce_hostname: Vec<u8>,
        cluster_announce_human_nodename: Vec<u8>,
        cluster_announce_port: i64,
        cluster_announce_tls_port: i64,
        cluster_announce_bus_port: i64,
        cluster_preferred_endpoint_type: EndpointType,
        cluster_require_full_coverage: bool,
        cluster_allow_reads_when_down: bool,
        cluster_allow_pubsubshard_when_down: bool,
        cluster_allow_replica_migration: bool,
        cluster_migration_barrier: i64,
        cluster_replica_no_failover: bool,
        cluster_replica_validity_factor: i64,
        cluster_link_sendbuf_limit: u64,

        // TLS
        tls_port: i64,
        tls_cert_file: Vec<u8>,
        tls_key_file: Vec<u8>,
        tls_key_file_pass: Vec<u8>,
        tls_client_cert_file: Vec<u8>,
        tls_client_key_file: Vec<u8>,
        tls_client_key_file_pass: Vec<u8>,
        tls_dh_params_file: Vec<u8>,
        tls_ca_cert_file: Vec<u8>,
        tls_ca_cert_dir: Vec<u8>,
        tls_auth_clients: TlsAuthClients,
        tls_replication: bool,
        tls_cluster: bool,
        tls_protocols: Vec<u8>,
        tls_ciphers: Vec<u8>,
        tls_ciphersuites: Vec<u8>,
        tls_prefer_server_ciphers: bool,
        tls_session_caching: bool,
        tls_session_cache_size: i64,
        tls_session_cache_timeout: i64,

        // Debugging
        enable_debug_assert: bool,
        use_exit_on_panic: bool,
        watchdog_period: i64,
        rdb_key_save_delay: i64,
        key_load_delay: i64,
        loading_process_events_interval_bytes: i64,
    }
}
