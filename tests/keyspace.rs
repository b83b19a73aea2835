//! What happens to keys around commands, over a socket: events of reads, accesses, who is served, and
//! what CLIENT LIST tells of it.

mod harness;

use harness::{Conn, Server, eventually};

fn blocked_clients(conn: &mut Conn, count: usize) -> bool {
    conn.ask("INFO clients").contains(&format!("blocked_clients:{count}\r\n"))
}

#[test]
fn reads_that_find_nothing_raise_keymiss_and_writes_do_not() {
    let server = Server::start();
    let (mut listener, mut conn) = (server.connect(), server.connect());
    conn.ask("CONFIG SET notify-keyspace-events Em");
    listener.ask("PSUBSCRIBE *");
    for silent in
        ["SET s v", "DEL no", "OBJECT ENCODING no", "LPUSHX no a", "EXPIRE no 5", "LPOP no", "GET s"]
    {
        conn.ask(silent);
    }
    for read in ["GET no1", "TYPE no2", "TTL no3", "EXISTS no4", "SINTER no5", "LRANGE no6 0 1"] {
        conn.ask(read);
        let key = read.split(' ').nth(1).expect("a key");
        let event = "$1\r\n*\r\n$22\r\n__keyevent@0__:keymiss\r\n";
        assert_eq!(listener.reply(), format!("*4\r\n$8\r\npmessage\r\n{event}$3\r\n{key}\r\n"), "{read}");
    }
}

#[test]
fn a_command_counts_as_one_access_to_each_of_its_keys() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.ask("CONFIG SET maxmemory 4gb maxmemory-policy allkeys-lfu lfu-log-factor 0 lfu-decay-time 0");
    let cases = [
        ("SET k v", "SET k w XX", 1),
        ("SET k v", "SET k w NX", 1),
        ("SET k v", "SET k w XX GET", 2),
        ("SET k v", "RENAMENX k k", 1),
        ("RPUSH k a b", "LPOP k 1", 1),
        ("RPUSH k a b", "LMPOP 1 k LEFT", 1),
        ("RPUSH k a b", "LMOVE k other LEFT LEFT", 1),
        ("RPUSH k a b", "LMOVE k k LEFT RIGHT", 2),
        ("SADD k a", "SMOVE missing k a", 1),
        ("SADD k a", "SMOVE k k b", 2),
        ("SADD k a b", "SMOVE k other a", 1),
        ("ZADD k 1 a", "SORT k ALPHA", 1),
        ("PFADD k a", "PFCOUNT k", 1),
        ("PFADD k a", "TTL k", 0),
    ];
    for (make, command, accesses) in cases {
        conn.ask("FLUSHALL");
        conn.ask(make);
        assert_eq!(conn.ask("OBJECT FREQ k"), ":5\r\n");
        let reply = conn.ask(command);
        assert!(!reply.starts_with('-'), "{command}: {reply}");
        assert_eq!(conn.ask("OBJECT FREQ k"), format!(":{}\r\n", 5 + accesses), "{make}, {command}");
    }
}

#[test]
fn what_replaces_a_value_serves_nobody_who_waits_for_the_key_to_come() {
    let server = Server::start();
    let (mut waiting, mut conn) = (server.connect(), server.connect());
    conn.ask("ZADD from 1 a");
    waiting.send_words("BZPOPMIN z 0");
    eventually("blocking", || blocked_clients(&mut conn, 1));
    conn.ask("SET z other");
    assert_eq!(conn.ask("ZUNIONSTORE z 1 from"), ":1\r\n");
    assert!(blocked_clients(&mut conn, 1));
    conn.ask("DEL z");
    conn.ask("ZUNIONSTORE z 1 from");
    assert_eq!(waiting.reply(), "*3\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\n1\r\n");
}

#[test]
fn the_last_command_is_the_last_one_that_was_named_even_if_it_was_refused() {
    let server = Server::start();
    let mut conn = server.connect();
    let mut other = server.connect();
    let id = conn.ask("CLIENT ID").trim_start_matches(':').trim_end().to_owned();
    let mut shown = |conn: &mut Conn, command: &str| {
        conn.ask(command);
        let line = other.ask(&format!("CLIENT LIST ID {id}"));
        line.split(' ').find_map(|word| word.strip_prefix("cmd=")).map(str::to_owned)
    };
    assert_eq!(shown(&mut conn, "GET").as_deref(), Some("get"));
    assert_eq!(shown(&mut conn, "OBJECT FREQ").as_deref(), Some("object|freq"));
    assert_eq!(shown(&mut conn, "ACL").as_deref(), Some("acl"));
    assert_eq!(shown(&mut conn, "NOSUCH").as_deref(), Some("NULL"));
    conn.ask("MULTI");
    conn.ask("CLIENT INFO");
    assert!(conn.ask("EXEC").contains(" cmd=exec "));
}

#[test]
fn a_refused_command_uses_up_client_caching() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.ask("HELLO 3");
    conn.ask("CLIENT TRACKING ON OPTIN");
    conn.ask("CLIENT CACHING YES");
    assert!(conn.ask("CLIENT TRACKINGINFO").contains("caching-yes"));
    conn.ask("GET");
    assert!(!conn.ask("CLIENT TRACKINGINFO").contains("caching-yes"));
}

#[test]
fn who_tracks_again_hears_of_what_it_has_read_before() {
    let server = Server::start();
    let (mut reader, mut writer) = (server.connect(), server.connect());
    reader.ask("HELLO 3");
    reader.ask("CLIENT TRACKING ON");
    reader.ask("GET a");
    reader.ask("GET b");
    reader.ask("CLIENT TRACKING OFF");
    writer.ask("SET b 1");
    reader.ask("CLIENT TRACKING ON");
    writer.ask("SET b 2");
    writer.ask("SET a 1");
    assert_eq!(reader.reply(), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
}

#[test]
fn blocking_pops_of_many_keys_read_the_time_out_last() {
    let server = Server::start();
    let mut conn = server.connect();
    for (command, error) in [
        ("BLMPOP x 0 k LEFT", "numkeys should be greater than 0"),
        ("BLMPOP x 1 k UP", "syntax error"),
        ("BZMPOP x 1 k MIN COUNT 0", "count should be greater than 0"),
        ("BZMPOP x 2 k MIN", "syntax error"),
        ("BLMPOP x 1 k LEFT", "timeout is not a float or out of range"),
        ("BZMPOP -1 1 k MIN", "timeout is negative"),
    ] {
        assert_eq!(conn.ask(command), format!("-ERR {error}\r\n"), "{command}");
    }
}
