//! What the server tells about itself and its commands: slow log, latency monitor, MONITOR, INFO, DEBUG.

mod harness;

use std::time::{SystemTime, UNIX_EPOCH};

use harness::{Conn, Server};

fn info<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

fn field(conn: &mut Conn, section: &str, name: &str) -> String {
    let text = conn.ask(&format!("INFO {section}"));
    info(&text, name).unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

#[test]
fn slow_commands_are_logged_with_their_client_and_without_secrets() {
    let server = Server::with(&["--slowlog-log-slower-than", "20000", "--enable-debug-command", "yes"]);
    let mut conn = server.connect();
    conn.ask("CLIENT SETNAME snail");
    conn.ask("PING");
    assert_eq!(conn.ask("SLOWLOG LEN"), ":0\r\n");
    conn.ask("DEBUG SLEEP 0.03");
    assert_eq!(conn.ask("SLOWLOG LEN"), ":1\r\n");
    let entry = conn.ask("SLOWLOG GET");
    assert!(entry.starts_with("*1\r\n*6\r\n:0\r\n"), "{entry}");
    assert!(entry.contains("*3\r\n$5\r\nDEBUG\r\n$5\r\nSLEEP\r\n$4\r\n0.03\r\n$"), "{entry}");
    assert!(entry.contains("127.0.0.1:") && entry.ends_with("$5\r\nsnail\r\n"), "{entry}");
    conn.ask("CONFIG SET slowlog-log-slower-than 0");
    conn.ask("SLOWLOG RESET");
    conn.ask("CONFIG SET masterauth secret");
    conn.ask("MULTI");
    conn.ask("SET a b");
    conn.ask("EXEC");
    let log = conn.ask("SLOWLOG GET -1");
    assert!(log.contains("(redacted)") && !log.contains("secret"), "{log}");
    assert!(log.contains("$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n") && !log.contains("EXEC"), "{log}");
    conn.ask("CONFIG SET slowlog-log-slower-than -1");
    conn.ask("SLOWLOG RESET");
    conn.ask("PING");
    assert_eq!(conn.ask("SLOWLOG LEN"), ":0\r\n");
}

#[test]
fn a_big_value_is_shown_to_observers_though_its_key_has_taken_it_over() {
    let server = Server::with(&["--slowlog-log-slower-than", "0"]);
    let mut conn = server.connect();
    let value = "v".repeat(100_000);
    assert_eq!(conn.ask(&format!("SET key {value}")), "+OK\r\n");
    let log = conn.ask("SLOWLOG GET 1");
    assert!(log.contains(&format!("{}... (99872 more bytes)", "v".repeat(128))), "{log}");
    let mut monitor = server.connect();
    assert_eq!(monitor.ask("MONITOR"), "+OK\r\n");
    assert_eq!(conn.ask(&format!("SET key {value}")), "+OK\r\n");
    let line = monitor.reply();
    assert!(line.ends_with(&format!("\"SET\" \"key\" \"{value}\"\r\n")), "{} bytes", line.len());
    assert_eq!(conn.ask("STRLEN key"), ":100000\r\n");
}

#[test]
fn monitors_see_what_runs_in_order() {
    let server = Server::start();
    let (mut conn, mut monitor) = (server.connect(), server.connect());
    assert_eq!(monitor.ask("MONITOR"), "+OK\r\n");
    for line in
        ["SELECT 7", "MULTI", "SET k v", "EXEC", "GET", "CONFIG GET port", "AUTH secret", "BLPOP list 0.01"]
    {
        conn.ask(line);
    }
    let words: Vec<String> = (0..6).map(|_| monitor.reply()).collect();
    let shown: Vec<&str> =
        words.iter().map(|line| line.split("] ").nth(1).expect("a line").trim_end()).collect();
    let want = [
        "\"SELECT\" \"7\"",
        "\"MULTI\"",
        "\"SET\" \"k\" \"v\"",
        "\"EXEC\"",
        "\"AUTH\" \"(redacted)\"",
        "\"BLPOP\" \"list\" \"0.01\"",
    ];
    assert_eq!(shown, want);
    assert!(words[0].contains(" [7 127.0.0.1:"), "{}", words[0]);
    assert!(monitor.ask("GET k").starts_with("-ERR Replica can't interact with the keyspace"));
    assert_eq!(monitor.ask("RESET"), "+RESET\r\n");
    conn.ask("PING");
    assert_eq!(monitor.ask("GET k"), "$-1\r\n");
}

#[test]
fn latency_is_recorded_by_event_and_by_command() {
    let server = Server::with(&["--latency-monitor-threshold", "20", "--enable-debug-command", "yes"]);
    let mut conn = server.connect();
    assert_eq!(conn.ask("LATENCY LATEST"), "*0\r\n");
    conn.ask("DEBUG SLEEP 0.03");
    let latest = conn.ask("LATENCY LATEST");
    assert!(latest.starts_with("*1\r\n*4\r\n$7\r\ncommand\r\n:"), "{latest}");
    assert!(conn.ask("LATENCY HISTORY command").starts_with("*1\r\n*2\r\n:"));
    assert!(conn.ask("LATENCY GRAPH command").contains("all time high"));
    assert!(conn.ask("LATENCY GRAPH fork").starts_with("-ERR No samples available for event 'fork'"));
    assert!(conn.ask("LATENCY DOCTOR").contains("1. command: 1 latency spikes"));
    assert_eq!(conn.ask("LATENCY RESET COMMAND fork"), ":1\r\n");
    let histogram = conn.ask("LATENCY HISTOGRAM debug nosuch");
    assert!(histogram.starts_with("*2\r\n$5\r\ndebug\r\n*4\r\n$5\r\ncalls\r\n:1\r\n"), "{histogram}");
    assert!(histogram.contains(":33816\r\n:1\r\n") || histogram.contains(":67633\r\n:1\r\n"), "{histogram}");
    let p50 = field(&mut conn, "latencystats", "latency_percentiles_usec_debug");
    let p50: f64 =
        p50.split(',').next().and_then(|p| p.strip_prefix("p50=")).expect("p50").parse().expect("µs");
    assert!((30_000.0..500_000.0).contains(&p50), "{p50}");
    conn.ask("CONFIG RESETSTAT");
    assert_eq!(conn.ask("LATENCY HISTOGRAM debug"), "*0\r\n");
}

#[test]
fn info_counts_and_resetstat_starts_again() {
    let server = Server::start();
    let mut conn = server.connect();
    for line in ["SET a 1", "GET a", "GET b", "INCR nosuch x", "HGET a f"] {
        conn.ask(line);
    }
    assert_eq!(field(&mut conn, "stats", "keyspace_hits"), "2");
    assert_eq!(field(&mut conn, "stats", "keyspace_misses"), "1");
    assert!(field(&mut conn, "commandstats", "cmdstat_get").starts_with("calls=2,"));
    assert!(field(&mut conn, "commandstats", "cmdstat_incr").ends_with("rejected_calls=1,failed_calls=0"));
    assert_eq!(field(&mut conn, "errorstats", "errorstat_WRONGTYPE"), "count=1");
    assert_eq!(field(&mut conn, "keyspace", "db0"), "keys=1,expires=0,avg_ttl=0,subexpiry=0");
    conn.ask("CONFIG RESETSTAT");
    assert_eq!(field(&mut conn, "stats", "keyspace_hits"), "0");
    let text = conn.ask("INFO everything");
    assert_eq!(info(&text, "cmdstat_get"), None);
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let want = "Server Clients Memory Persistence Stats Replication CPU Modules Commandstats Errorstats Latencystats \
                Cluster Keyspace";
    assert_eq!(sections.join(" "), want);
    assert!(!conn.ask("INFO").contains("# Commandstats"));
    assert_eq!(conn.ask("INFO nosuch"), "$0\r\n\r\n");
}

#[test]
fn debug_is_closed_by_default() {
    let server = Server::start();
    let mut conn = server.connect();
    let refusal = conn.ask("DEBUG SLEEP 0");
    assert!(
        refusal.starts_with("-ERR DEBUG command not allowed. If the enable-debug-command option"),
        "{refusal}"
    );
    assert!(conn.ask("MODULE LOAD x").starts_with("-ERR MODULE command not allowed."));
    assert_eq!(conn.ask("MODULE LIST"), "*0\r\n");
    let server = Server::with(&["--enable-debug-command", "local"]);
    assert_eq!(server.connect().ask("DEBUG SLEEP 0"), "+OK\r\n");
}

#[test]
fn debug_digest_tells_equal_data_from_other_data() {
    let servers = [(); 2].map(|()| Server::with(&["--enable-debug-command", "yes"]));
    let [one, other] = servers.each_ref().map(|server| {
        let mut conn = server.connect();
        for line in ["RPUSH l a b", "SADD s 1 2 3", "ZADD z 0.1 m", "HSET h f v", "SET x 1 EX 1000"] {
            conn.ask(line);
        }
        conn
    });
    let (mut one, mut other) = (one, other);
    other.ask("SREM s 1 2");
    assert_ne!(one.ask("DEBUG DIGEST"), other.ask("DEBUG DIGEST"));
    other.ask("SADD s one 2 1");
    other.ask("SREM s one");
    assert_eq!(one.ask("DEBUG DIGEST"), other.ask("DEBUG DIGEST"));
    assert_eq!(one.ask("DEBUG DIGEST-VALUE s nosuch"), other.ask("DEBUG DIGEST-VALUE s nosuch"));
    one.ask("PERSIST x");
    assert_ne!(one.ask("DEBUG DIGEST"), other.ask("DEBUG DIGEST"));
}

#[test]
fn shutdown_ends_the_server_unless_it_would_lose_what_is_to_be_saved() {
    let mut server = Server::start();
    let mut conn = server.connect();
    assert!(conn.ask("SHUTDOWN SAVE NOSAVE").starts_with("-ERR syntax error"));
    assert!(conn.ask("SHUTDOWN ABORT").starts_with("-ERR No shutdown in progress."));
    assert!(conn.ask("SHUTDOWN SAVE").starts_with("-ERR Errors trying to SHUTDOWN."));
    conn.send("SHUTDOWN NOSAVE\r\nPING\r\n");
    assert_eq!(conn.rest(), "");
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn the_section_debug_is_for_those_who_name_it() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.send(b"PING\r\nPING\r\nPING\r\n");
    (0..3).for_each(|_| assert_eq!(conn.reply(), "+PONG\r\n"));
    for sections in ["", "all", "everything"] {
        assert!(!conn.ask(&format!("INFO {sections}")).contains("eventloop_cmd_per_cycle_max"), "{sections}");
    }
    assert_eq!(field(&mut conn, "debug", "eventloop_duration_aof_sum"), "0");
    let most: u64 = field(&mut conn, "debug", "eventloop_cmd_per_cycle_max").parse().expect("a number");
    assert!(most >= 1, "{most}");
    assert!(field(&mut conn, "debug", "eventloop_duration_max").parse::<u64>().is_ok());
}

#[test]
fn subcommands_are_told_as_an_array_and_their_absence_as_a_set() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.ask("HELLO 3");
    assert!(conn.ask("COMMAND INFO get").ends_with("~0\r\n"));
    let object = conn.ask("COMMAND INFO object");
    assert!(object.contains("*5\r\n*10\r\n$15\r\nobject|encoding\r\n"), "{object}");
}

#[test]
fn time_is_told_in_microseconds() {
    let server = Server::start();
    let mut conn = server.connect();
    let mut ask = || {
        let reply = conn.ask("TIME");
        let numbers: Vec<u64> = reply.lines().filter_map(|line| line.parse().ok()).collect();
        numbers[0] * 1_000_000 + numbers[1]
    };
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_micros() as u64;
    let (before, times, after) = (now(), (0..10).map(|_| ask()).collect::<Vec<_>>(), now());
    assert!(times.is_sorted() && before <= times[0] && times[9] <= after, "{before} {times:?} {after}");
    assert!(times.iter().any(|time| time % 1_000 != 0), "{times:?}");
}

#[test]
fn fields_expire_though_nobody_asks_for_them() {
    let server = Server::with(&["--hz", "100", "--notify-keyspace-events", "KEA"]);
    let (mut conn, mut listener) = (server.connect(), server.connect());
    listener.ask("SUBSCRIBE __keyevent@0__:hexpired __keyevent@0__:del");
    listener.reply();
    conn.ask("HSET some a 1 b 2");
    conn.ask("HSET all a 1");
    assert_eq!(conn.ask("HPEXPIRE some 10 FIELDS 1 a"), "*1\r\n:1\r\n");
    assert!(conn.ask("INFO keyspace").contains("db0:keys=2,expires=0,avg_ttl=0,subexpiry=1\r\n"));
    assert!(listener.reply().ends_with("$4\r\nsome\r\n"));
    assert_eq!(conn.ask("HPEXPIRE all 10 FIELDS 1 a"), "*1\r\n:1\r\n");
    for event in ["hexpired", "del"] {
        assert!(listener.reply().contains(&format!("__:{event}\r\n$3\r\nall\r\n")), "{event}");
    }
    assert!(conn.ask("INFO keyspace").contains("db0:keys=1,expires=0,avg_ttl=0,subexpiry=0\r\n"));
    assert_eq!(field(&mut conn, "stats", "expired_subkeys"), "2");
    assert_eq!(field(&mut conn, "stats", "expired_keys"), "0");
}

#[test]
fn long_evictions_are_latency_events() {
    let server = Server::with(&["--enable-debug-command", "yes", "--maxmemory-policy", "allkeys-random"]);
    let mut conn = server.connect();
    conn.ask("CONFIG SET latency-monitor-threshold 1 maxmemory-eviction-tenacity 100");
    conn.ask("DEBUG POPULATE 200000");
    conn.ask("LATENCY RESET");
    assert_eq!(conn.ask("CONFIG SET maxmemory 2mb"), "+OK\r\n");
    assert_eq!(conn.ask("SET a b"), "+OK\r\n");
    let latest = conn.ask("LATENCY LATEST");
    assert!(latest.contains("$14\r\neviction-cycle\r\n"), "{latest}");
    assert!(conn.ask("LATENCY DOCTOR").contains("raise maxmemory"));
}
