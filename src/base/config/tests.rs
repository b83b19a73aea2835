//! Tests of the table and of CONFIG GET and SET. Replies marked as recorded come from redis-server 7.0.15.

use super::*;
use rand::{Rng, SeedableRng};

const CLIENT: Origin = Origin::Client { local: true };

fn set(config: &mut Config, pairs: &[(&str, &str)]) -> Result<Vec<&'static str>, String> {
    let pairs: Vec<(&[u8], &[u8])> =
        pairs.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    let changed = config.set(&pairs, CLIENT).map_err(|error| error.text)?;
    Ok(changed.into_iter().map(|spec| spec.name).collect())
}

fn get(config: &Config, patterns: &[&str]) -> Vec<(String, String)> {
    let patterns: Vec<&[u8]> = patterns.iter().map(|pattern| pattern.as_bytes()).collect();
    let text = |bytes| String::from_utf8(bytes).expect("utf-8");
    config.get(&patterns).into_iter().map(|(name, value)| (text(name), text(value))).collect()
}

fn value(config: &Config, name: &str) -> String {
    get(config, &[name]).pop().expect("a known name").1
}

#[test]
fn the_table_is_sound() {
    let mut names: Vec<&str> = options().flat_map(|spec| spec.names()).collect();
    for name in &names {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_".contains(&byte)), "{name}");
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "a name comes twice");
    for spec in options() {
        let name = spec.name;
        assert!(spec.doc.ends_with('.') && !spec.doc.contains(['|', '\n']), "doc of {name}");
        assert_eq!(Config::default().value(spec), spec.default_text().into_bytes(), "default of {name}");
        match &spec.kind {
            Kind::Int { min, max, default, .. } => assert!(min <= default && default <= max, "{name}"),
            Kind::Memory { min, max, default, .. } => assert!(min <= default && default <= max, "{name}"),
            _ => {}
        }
    }
}

/// Each row writes the field of its own name and no other, so no two rows share one.
#[test]
fn rows_and_fields_pair_up() {
    let fields: Vec<String> = Config::FIELDS.iter().map(|field| field.replace('_', "-")).collect();
    let rows: Vec<&str> = options().map(|spec| spec.name).collect();
    assert_eq!(rows.len(), fields.len());
    for row in &rows {
        assert!(fields.iter().any(|field| field == row), "no field for {row}");
    }
    let fresh = Config::default();
    for spec in options() {
        let mut config = fresh.clone();
        let before = config.value(spec);
        let other = another_value(spec);
        let args = spec.split_value(other.as_bytes());
        spec.store(&mut config, &args).unwrap_or_else(|reason| panic!("{}: {reason}", spec.name));
        assert_ne!(config.value(spec), before, "{}", spec.name);
        for other in options().filter(|other| other.name != spec.name) {
            assert_eq!(
                config.value(other),
                Config::default().value(other),
                "{} changes {}",
                spec.name,
                other.name
            );
        }
        let field = format!("{}: ", spec.name.replace('-', "_"));
        let differing: Vec<String> = differing_fields(&config);
        assert!(differing.len() == 1 && differing[0].starts_with(&field), "{}: {differing:?}", spec.name);
    }
}

/// The lines in which the debug form of `config` differs from that of the defaults, by field.
fn differing_fields(config: &Config) -> Vec<String> {
    let top_level = |config: &Config| -> Vec<String> {
        let text = format!("{config:#?}")
            .replace("\n        ", " ")
            .replace("\n    }", " }")
            .replace("\n    ]", " ]");
        let text = text.replace("\n    )", " )");
        text.lines().map(|line| line.trim().to_string()).collect()
    };
    let default = top_level(&Config::default());
    top_level(config).into_iter().zip(default).filter(|(new, old)| new != old).map(|(new, _)| new).collect()
}

fn another_value(spec: &OptionSpec) -> String {
    match &spec.kind {
        Kind::Bool { default, .. } => yes_or_no(!default).to_string(),
        Kind::Int { min, default, .. } => if min == default { min + 1 } else { *min }.to_string(),
        Kind::Memory { min, default, .. } => if min == default { min + 1 } else { *min }.to_string(),
        Kind::Enum { choice, default } => {
            choice.names.iter().find(|name| *name != default).expect("two names").to_string()
        }
        Kind::Text { .. } => "x".to_string(),
        Kind::Special { .. } => match spec.name {
            "bind" => "127.0.0.1",
            "unixsocketperm" => "700",
            "maxmemory-clients" => "5%",
            "client-output-buffer-limit" => "normal 1 2 3",
            "shutdown-on-sigint" | "shutdown-on-sigterm" => "save now",
            "oom-score-adj-values" => "1 2 3",
            "latency-tracking-info-percentiles" => "50",
            "notify-keyspace-events" => "KEA",
            "save" => "1 2",
            "replicaof" => "host 1",
            name => panic!("give {name} a value here"),
        }
        .to_string(),
    }
}

/// Recorded.
#[test]
fn refusals_read_like_redis() {
    let hosts = "a".repeat(256);
    let cases: &[(&str, &str, &str)] = &[
        ("maxmemory", "x", "argument must be a memory value"),
        ("maxmemory", "-1", "argument must be a memory value"),
        ("maxmemory", "1.5gb", "argument must be a memory value"),
        ("hz", "1000000000000", "argument must be between 0 and 2147483647 inclusive"),
        ("hz", "abc", "argument couldn't be parsed into an integer"),
        ("hz", " 5", "argument couldn't be parsed into an integer"),
        ("hz", "", "argument couldn't be parsed into an integer"),
        ("timeout", "+1", "argument couldn't be parsed into an integer"),
        ("timeout", "01", "argument couldn't be parsed into an integer"),
        ("timeout", "-0", "argument couldn't be parsed into an integer"),
        ("port", "70000", "argument must be between 0 and 65535 inclusive"),
        ("slave-priority", "x", "argument couldn't be parsed into an integer"),
        ("slave-priority", "-1", "argument must be between 0 and 2147483647 inclusive"),
        ("active-expire-effort", "11", "argument must be between 1 and 10 inclusive"),
        ("maxclients", "0", "argument must be between 1 and 4294967295 inclusive"),
        ("maxclients", "-1", "argument must be between 1 and 4294967295 inclusive"),
        ("slowlog-log-slower-than", "-2", "argument must be between -1 and 9223372036854775807 inclusive"),
        ("proto-max-bulk-len", "1", "argument must be between 1048576 and 9223372036854775807 inclusive"),
        (
            "list-max-ziplist-size",
            "99999999999",
            "argument must be between -2147483648 and 2147483647 inclusive",
        ),
        ("hash-max-listpack-entries", "-1", "argument must be between 0 and 9223372036854775807 inclusive"),
        ("hash-max-ziplist-value", "-1", "argument must be a memory value"),
        ("repl-backlog-size", "0", "argument must be between 1 and 9223372036854775807 inclusive"),
        (
            "repl-backlog-size",
            "18446744073709551615",
            "argument must be between 1 and 9223372036854775807 inclusive",
        ),
        ("stream-node-max-entries", "9223372036854775808", "argument couldn't be parsed into an integer"),
        ("appendonly", "maybe", "argument must be 'yes' or 'no'"),
        ("protected-mode", "1", "argument must be 'yes' or 'no'"),
        (
            "maxmemory-policy",
            "bar",
            "argument(s) must be one of the following: volatile-lru, volatile-lfu, volatile-random, volatile-ttl, \
             allkeys-lru, allkeys-lfu, allkeys-random, noeviction",
        ),
        ("acl-pubsub-default", "x", "argument(s) must be one of the following: allchannels, resetchannels"),
        (
            "shutdown-on-sigint",
            "nosave save",
            "shutdown options SAVE and NOSAVE can't be used simultaneously",
        ),
        (
            "shutdown-on-sigint",
            "now  force",
            "argument(s) must be one of the following: default, save, nosave, now, force",
        ),
        (
            "shutdown-on-sigint",
            "",
            "argument(s) must be one of the following: default, save, nosave, now, force",
        ),
        ("activedefrag", "yes", NO_DEFRAG),
        (
            "client-output-buffer-limit",
            "normal 1 2",
            "Wrong number of arguments in buffer limit configuration.",
        ),
        (
            "client-output-buffer-limit",
            "normal  1mb 2 3",
            "Wrong number of arguments in buffer limit configuration.",
        ),
        (
            "client-output-buffer-limit",
            "master 1 2 3",
            "Invalid client class specified in buffer limit configuration.",
        ),
        (
            "client-output-buffer-limit",
            "normal x 2 3",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
        ),
        (
            "client-output-buffer-limit",
            "normal 1 2 -1",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
        ),
        ("maxmemory-clients", "101%", "percentage argument must be less or equal to 100"),
        ("maxmemory-clients", "9223372036854775808", "percentage argument must be less or equal to 100"),
        ("maxmemory-clients", "-1", "argument must be a memory or percent value"),
        ("maxmemory-clients", "-5%", "argument must be a memory or percent value"),
        ("maxmemory-clients", "%", "argument must be a memory or percent value"),
        ("save", "a", "Invalid save parameters"),
        ("save", "100 1 5", "Invalid save parameters"),
        ("save", "0 1", "Invalid save parameters"),
        ("save", "100  1", "Invalid save parameters"),
        ("save", " ", "Invalid save parameters"),
        ("save", "0x10 1", "Invalid save parameters"),
        ("oom-score-adj-values", "1 2", "wrong number of arguments"),
        (
            "oom-score-adj-values",
            "1 2 5000",
            "Invalid oom-score-adj-values, elements must be between -2000 and 2000.",
        ),
        ("notify-keyspace-events", "Q", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."),
        ("bind", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "Too many bind addresses specified."),
        (
            "latency-tracking-info-percentiles",
            "1 200",
            "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]",
        ),
        (
            "latency-tracking-info-percentiles",
            "inf",
            "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]",
        ),
        ("latency-tracking-info-percentiles", "nan", "Invalid latency-tracking-info-percentiles parameters"),
        (
            "latency-tracking-info-percentiles",
            "1 2  3",
            "Invalid latency-tracking-info-percentiles parameters",
        ),
        ("proc-title-template", "{foo}", "template format is invalid or contains unknown variables"),
        (
            "cluster-announce-hostname",
            "a_b",
            "Hostnames may only contain alphanumeric characters, hyphens or dots",
        ),
        ("cluster-announce-hostname", &hosts, "Hostnames must be less than 256 characters"),
        ("dir", "/nonexistent", "can't set protected config"),
        ("dbfilename", "a/b", "can't set protected config"),
        ("databases", "5", "can't set immutable config"),
        ("slaveof", "a 1", "can't set immutable config"),
        ("SLAVEOF", "a b", "can't set immutable config"),
    ];
    for (name, value, reason) in cases {
        let mut config = Config::default();
        let want = format!("CONFIG SET failed (possibly related to argument '{name}') - {reason}");
        assert_eq!(set(&mut config, &[(name, value)]), Err(want), "{name} {value:?}");
        assert_eq!(config, Config::default(), "{name} {value:?} left a trace");
    }
}

const NO_DEFRAG: &str = "Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified \
                         Jemalloc like the one shipped by default with the Redis source distribution";

/// Recorded, but for `maxmemory-samples`, whose bound came later.
#[test]
fn accepted_values_read_back_like_redis() {
    for (name, given, read) in [
        ("maxmemory", "1g", "1000000000"),
        ("maxmemory", "1gb", "1073741824"),
        ("maxmemory", "100b", "100"),
        ("maxmemory", "18446744073709551615", "18446744073709551615"),
        ("maxmemory", "", "0"),
        ("maxmemory-samples", "64", "64"),
        ("hash-max-ziplist-value", "10kb", "10240"),
        ("hz", "600", "500"),
        ("hz", "0", "1"),
        ("protected-mode", "YES", "yes"),
        ("loglevel", "DEBUG", "debug"),
        ("oom-score-adj", "relative", "yes"),
        ("shutdown-on-sigint", "nosave now", "nosave now"),
        ("shutdown-on-sigterm", "SAVE force", "save force"),
        ("shutdown-on-sigterm", "default now", "now"),
        (
            "client-output-buffer-limit",
            "replica 1 2 3",
            "normal 0 0 0 slave 1 2 3 pubsub 33554432 8388608 60",
        ),
        (
            "client-output-buffer-limit",
            "normal 1mb 2 ",
            "normal 1048576 2 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        ),
        (
            "client-output-buffer-limit",
            "Normal 1 2 3 SLAVE 3 4 5",
            "normal 1 2 3 slave 3 4 5 pubsub 33554432 8388608 60",
        ),
        (
            "client-output-buffer-limit",
            "",
            "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        ),
        ("maxmemory-clients", "5%", "5%"),
        ("maxmemory-clients", "100%", "100%"),
        ("maxmemory-clients", "1k", "1000"),
        ("save", "100 1 200 2", "100 1 200 2"),
        ("save", "+100 1", "100 1"),
        ("save", "", ""),
        ("oom-score-adj-values", "1  2", "1 0 2"),
        ("notify-keyspace-events", "KEA", "AKE"),
        ("bind", "127.0.0.1 -::1", "127.0.0.1 -::1"),
        ("bind", "", ""),
        (
            "latency-tracking-info-percentiles",
            "50 99.9999 99.99999999 100 0.0 1e1",
            "50 99.9999 100 100 0 10",
        ),
        ("latency-tracking-info-percentiles", "", ""),
        ("latency-tracking-info-percentiles", "-0", "-0"),
        ("lua-time-limit", "10", "10"),
        ("activedefrag", "no", "no"),
    ] {
        let mut config = Config::default();
        set(&mut config, &[(name, given)]).unwrap_or_else(|text| panic!("{name} {given:?}: {text}"));
        assert_eq!(value(&config, name), read, "{name} {given:?}");
    }
}

/// Recorded.
#[test]
fn several_options_are_set_together_or_not_at_all() {
    let mut config = Config::default();
    let failed = |name: &str, reason: &str| {
        Err(format!("CONFIG SET failed (possibly related to argument '{name}') - {reason}"))
    };
    let unknown =
        |name: &str| Err(format!("Unknown option or number of arguments for CONFIG SET - '{name}'"));
    for (pairs, want) in [
        (&[("timeout", "1"), ("timeout", "2")][..], failed("timeout", "duplicate parameter")),
        (&[("timeout", "1"), ("foo", "2")], unknown("foo")),
        (&[("foo", "1"), ("bar", "2")], unknown("foo")),
        (&[("databases", "1"), ("bar", "2")], failed("databases", "can't set immutable config")),
        (&[("bar", "1"), ("databases", "2")], unknown("bar")),
        (
            &[("timeout", "1"), ("Databases", "1"), ("timeout", "2")],
            failed("Databases", "can't set immutable config"),
        ),
        (&[("TIMEOUT", "7"), ("HZ", "x")], failed("hz", "argument couldn't be parsed into an integer")),
        (
            &[("SLAVE-priority", "-1")],
            failed("slave-priority", "argument must be between 0 and 2147483647 inclusive"),
        ),
    ] {
        assert_eq!(set(&mut config, pairs), want, "{pairs:?}");
        assert_eq!(config, Config::default(), "{pairs:?} left a trace");
    }
    assert_eq!(
        set(&mut config, &[("replica-priority", "1"), ("slave-priority", "3")]),
        Ok(vec!["replica-priority"])
    );
    assert_eq!(config.replica_priority, 3);
    assert_eq!(
        set(&mut config, &[("timeout", "0"), ("maxmemory", "1mb"), ("HZ", "10")]),
        Ok(vec!["maxmemory"])
    );
    assert_eq!(set(&mut config, &[("bind", "* -::*")]), Ok(vec!["bind"]));
    assert_eq!(set(&mut config, &[]), Ok(vec![]));
}

#[test]
fn protection_depends_on_the_client() {
    let mut config = Config { enable_protected_configs: Permission::Local, ..Config::default() };
    let pairs: &[(&[u8], &[u8])] = &[(b"dbfilename", b"other.rdb")];
    let error = config.set(pairs, Origin::Client { local: false }).err().expect("protected");
    assert!(error.text.ends_with("can't set protected config"));
    assert!(config.set(pairs, Origin::Client { local: true }).is_ok());
    assert_eq!(config.dbfilename, b"other.rdb");
    let startup: &[(&[u8], &[u8])] = &[(b"databases", b"3"), (b"activedefrag", b"yes"), (b"dir", b"/tmp")];
    assert!(config.set(startup, Origin::Startup).is_ok());
    assert_eq!((config.databases, config.activedefrag), (3, true));
    // What stands in redis.conf does not get in the way of other options later.
    assert_eq!(set(&mut config, &[("timeout", "5")]), Ok(vec!["timeout"]));
}

/// Recorded, but for the order, which is none in Redis.
#[test]
fn names_and_patterns() {
    let config = Config::default();
    let names = |patterns: &[&str]| -> Vec<String> {
        get(&config, patterns).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&["SLAVE-PRIORITY"]), ["SLAVE-PRIORITY"]);
    assert_eq!(names(&["slave-prio*"]), ["slave-priority"]);
    assert_eq!(
        names(&["slave-priority", "replica-*y", "slave-prio?ity"]),
        ["slave-priority", "replica-read-only", "replica-priority", "replica-ignore-maxmemory"]
    );
    assert_eq!(names(&["watchdog-period"]), ["watchdog-period"]);
    assert!(names(&["watchdog*"]).is_empty());
    assert_eq!(names(&["HZ", "hz"]), ["HZ"]);
    assert_eq!(names(&["H*Z"]), ["hz"]);
    assert_eq!(names(&["Hz", "h?"]), ["Hz"]);
    assert_eq!(names(&["[h]z"]), ["hz"]);
    assert!(names(&["h\\z"]).is_empty());
    assert!(names(&["zz"]).is_empty());
    assert_eq!(names(&["*-time-limit"]), ["lua-time-limit"]);
    let all = names(&["*"]);
    let visible: usize =
        options().filter(|spec| !spec.has(flags::HIDDEN)).map(|spec| spec.names().count()).sum();
    assert_eq!(all.len(), visible);
}

/// Any change leaves a configuration that CONFIG GET prints and a new configuration reads back to the same values.
#[test]
fn what_get_prints_set_accepts() {
    for seed in 0..300 {
        let mut rng = crate::base::Rand::seed_from_u64(seed);
        let mut config = Config::default();
        let specs: Vec<&'static OptionSpec> = options().collect();
        for _ in 0..20 {
            let spec = specs[rng.random_range(0..specs.len())];
            let text = if rng.random() { another_value(spec) } else { random_text(&mut rng) };
            let before = config.clone();
            match config.set(&[(spec.name.as_bytes(), text.as_bytes())], Origin::Startup) {
                Ok(changed) => assert!(changed.len() <= 1, "seed {seed}"),
                Err(_) => assert_eq!(config, before, "seed {seed}: {} {text:?}", spec.name),
            }
        }
        let mut copy = Config::default();
        for spec in options().filter(|spec| spec.name != "replicaof") {
            let value = config.value(spec);
            let pairs: &[(&[u8], &[u8])] = &[(spec.name.as_bytes(), &value)];
            assert!(copy.set(pairs, Origin::Startup).is_ok(), "seed {seed}: {}", spec.name);
            assert_eq!(copy.value(spec), value, "seed {seed}: {}", spec.name);
        }
    }
}

fn random_text(rng: &mut crate::base::Rand) -> String {
    let alphabet: Vec<char> = "0123456789-% .kmgbyesnoKEA{}/é".chars().collect();
    (0..rng.random_range(0..6)).map(|_| alphabet[rng.random_range(0..alphabet.len())]).collect()
}

#[test]
fn the_document_has_every_visible_option() {
    let text = docs_markdown();
    for spec in options() {
        assert_eq!(text.contains(&format!("| `{}`", spec.name)), !spec.has(flags::HIDDEN), "{}", spec.name);
    }
    assert!(text.contains("| `timeout` | `0` | at least 0 | yes | yes | Seconds without a request"));
    assert!(text.contains("| `replica-priority` (`slave-priority`) | `100` | at least 0 | yes | none |"));
    for line in text.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(line.matches('|').count(), 7, "{line}");
    }
}
