//! What the server does to and for its clients: client-side caching, limits of memory and output, pauses, time-outs.

mod harness;

use std::time::Duration;

use harness::{Conn, Server, encode_args, eventually};

fn resp3(server: &Server) -> Conn {
    let mut conn = server.connect();
    conn.ask("HELLO 3");
    conn
}

/// The number in an integer reply.
fn number(reply: &str) -> String {
    reply.trim_start_matches(':').trim_end().to_owned()
}

fn invalid(key: &str) -> String {
    format!(">2\r\n$10\r\ninvalidate\r\n*1\r\n${}\r\n{key}\r\n", key.len())
}

const ALL_INVALID: &str = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

#[test]
fn a_change_is_told_once_to_those_who_have_read_the_key() {
    let server = Server::start();
    let (mut reader, mut writer) = (resp3(&server), server.connect());
    assert_eq!(reader.ask("CLIENT TRACKING ON"), "+OK\r\n");
    writer.ask("SET unread 1");
    assert_eq!(reader.ask("MGET a b"), "*2\r\n_\r\n_\r\n");
    writer.ask("SET a 1");
    writer.ask("SET a 2");
    assert_eq!(reader.reply(), invalid("a"));
    assert_eq!(reader.ask("GET a"), "$1\r\n2\r\n");
    writer.ask("EXPIRE a 100");
    assert_eq!(reader.reply(), invalid("a"));
    writer.ask("FLUSHALL");
    assert_eq!(reader.reply(), ALL_INVALID);
    writer.ask("SET b 1");
    assert_eq!(reader.ask("PING"), "+PONG\r\n", "what the flush has told is not told again");
}

#[test]
fn own_changes_are_told_behind_the_reply() {
    let server = Server::start();
    let mut conn = resp3(&server);
    conn.ask("CLIENT TRACKING ON");
    conn.ask("GET a");
    assert_eq!(conn.ask("SET a 1"), "+OK\r\n");
    assert_eq!(conn.reply(), invalid("a"));
    conn.ask("MULTI");
    for queued in ["GET a", "INCR a", "GET b", "DEL b", "INCR a"] {
        assert_eq!(conn.ask(queued), "+QUEUED\r\n");
    }
    assert_eq!(conn.ask("EXEC"), "*5\r\n$1\r\n1\r\n:2\r\n_\r\n:0\r\n:3\r\n");
    assert_eq!(conn.reply(), invalid("a"));
    assert_eq!(conn.ask("CLIENT TRACKING ON NOLOOP"), "+OK\r\n");
    conn.ask("GET a");
    conn.ask("SET a 5");
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
}

#[test]
fn another_client_may_be_told_until_it_has_gone() {
    let server = Server::start();
    let (mut reader, mut writer) = (resp3(&server), server.connect());
    let mut listener = server.connect();
    let id = number(&listener.ask("CLIENT ID"));
    listener.ask("SUBSCRIBE __redis__:invalidate");
    assert_eq!(reader.ask(&format!("CLIENT TRACKING ON REDIRECT {id}")), "+OK\r\n");
    assert_eq!(reader.ask("CLIENT GETREDIR"), format!(":{id}\r\n"));
    reader.ask("GET a");
    writer.ask("SET a 1");
    assert_eq!(listener.reply(), "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\na\r\n");
    writer.ask("FLUSHDB");
    assert_eq!(listener.reply(), "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n$-1\r\n");
    reader.ask("GET a");
    drop(listener);
    eventually("the listener's end", || !writer.ask("CLIENT LIST").contains(&format!("id={id} ")));
    writer.ask("SET a 1");
    assert_eq!(reader.reply(), format!(">2\r\n$21\r\ntracking-redir-broken\r\n:{id}\r\n"));
    assert!(reader.ask("CLIENT TRACKINGINFO").contains("broken_redirect"));
    assert!(reader.ask("CLIENT LIST").contains(" flags=tR "));
}

#[test]
fn prefixes_gather_the_changes_of_a_turn() {
    let server = Server::start();
    let (mut listener, mut writer) = (resp3(&server), server.connect());
    assert_eq!(listener.ask("CLIENT TRACKING ON BCAST PREFIX user: PREFIX item: NOLOOP"), "+OK\r\n");
    let overlap = listener.ask("CLIENT TRACKING ON BCAST PREFIX user:1");
    assert!(
        overlap.starts_with("-ERR Prefix 'user:1' overlaps with an existing prefix 'user:'."),
        "{overlap}"
    );
    writer.ask("MSET user:2 1 other 1 user:1 1");
    assert_eq!(listener.reply(), ">2\r\n$10\r\ninvalidate\r\n*2\r\n$6\r\nuser:1\r\n$6\r\nuser:2\r\n");
    listener.ask("SET item:1 x");
    writer.ask("SET item:2 x");
    assert_eq!(listener.reply(), invalid("item:2"));
    assert_eq!(listener.ask("RESET"), "+RESET\r\n");
    assert!(listener.ask("INFO clients").contains("tracking_clients:0\r\n"));
}

#[test]
fn caching_is_for_the_next_command_or_transaction() {
    let server = Server::start();
    let (mut reader, mut writer) = (resp3(&server), server.connect());
    reader.ask("CLIENT TRACKING ON OPTIN");
    reader.ask("GET a");
    assert_eq!(reader.ask("CLIENT CACHING YES"), "+OK\r\n");
    reader.ask("GET b");
    reader.ask("GET c");
    writer.ask("MSET a 1 b 1 c 1");
    assert_eq!(reader.reply(), invalid("b"));
    reader.ask("CLIENT CACHING YES");
    reader.ask("MULTI");
    reader.ask("GET a");
    reader.ask("GET c");
    reader.ask("EXEC");
    reader.ask("GET b");
    writer.ask("MSET a 2 b 2 c 2");
    assert_eq!((reader.reply(), reader.reply()), (invalid("a"), invalid("c")));
    assert_eq!(reader.ask("PING"), "+PONG\r\n");
    assert!(reader.ask("CLIENT CACHING NO").starts_with("-ERR CLIENT CACHING NO is only valid"));
}

#[test]
fn tracked_keys_are_bounded() {
    let server = Server::start();
    let (mut reader, mut other) = (resp3(&server), server.connect());
    reader.ask("CLIENT TRACKING ON");
    reader.ask("MGET a b c d");
    assert!(other.ask("INFO stats").contains("tracking_total_keys:4\r\n"));
    other.ask("CONFIG SET tracking-table-max-keys 1");
    let mut told: Vec<String> = (0..3).map(|_| reader.reply()).collect();
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 3);
    assert!(other.ask("INFO stats").contains("tracking_total_keys:1\r\n"));
}

#[test]
fn the_largest_clients_go_when_all_take_too_much() {
    let server = Server::with(&["--maxmemory-clients", "1mb"]);
    let mut watcher = server.connect();
    watcher.ask("CLIENT NO-EVICT ON");
    let (mut small, mut large) = (server.connect(), server.connect());
    small.ask("CLIENT SETNAME small");
    large.ask("CLIENT SETNAME large");
    // Requests that never end.
    small.send(b"*2\r\n$4\r\nECHO\r\n$400000\r\n");
    small.send(vec![b'x'; 300_000]);
    eventually("reading", || watcher.ask("CLIENT LIST").contains("name=small age=0 idle=0 flags=N db=0"));
    large.send(b"*2\r\n$4\r\nECHO\r\n$900000\r\n");
    large.send(vec![b'x'; 800_000]);
    eventually("eviction", || !watcher.ask("CLIENT LIST").contains("name=large"));
    assert!(watcher.ask("CLIENT LIST").contains("name=small"));
    assert!(watcher.ask("INFO stats").contains("evicted_clients:1\r\n"));
}

#[test]
fn a_request_beyond_the_limit_of_all_clients_is_not_run() {
    let server = Server::with(&["--maxmemory-clients", "1mb"]);
    let (mut conn, mut watcher) = (server.connect(), server.connect());
    watcher.ask("CLIENT NO-EVICT ON");
    conn.send(encode_args(&[b"SET", b"a", &vec![b'x'; 2_000_000]]));
    assert_eq!(conn.rest(), "");
    assert_eq!(watcher.ask("EXISTS a"), ":0\r\n");
    assert!(watcher.ask("INFO stats").contains("evicted_clients:1\r\n"));
}

#[test]
fn slow_subscribers_have_limits_of_their_own() {
    let server = Server::start();
    let (mut slow, mut writer) = (server.connect(), server.connect());
    writer.send(encode_args(&[b"CONFIG", b"SET", b"client-output-buffer-limit", b"pubsub 100000 0 0"]));
    assert_eq!(writer.reply(), "+OK\r\n");
    slow.ask("SUBSCRIBE news");
    let news = encode_args(&[b"PUBLISH", b"news", &vec![b'x'; 50_000]]);
    eventually("the end of the subscriber", || {
        writer.send(&news);
        writer.reply() == ":0\r\n"
    });
    let dropped = "client_output_buffer_limit_disconnections:1\r\n";
    assert!(writer.ask("INFO stats").contains(dropped));
}

#[test]
fn a_big_value_is_kept_whole_in_a_transaction_and_through_a_pause() {
    let server = Server::start();
    let (mut conn, mut other) = (server.connect(), server.connect());
    let set = |key: &[u8]| encode_args(&[b"SET", key, &vec![b'v'; 100_000]]);
    conn.ask("MULTI");
    conn.send(set(b"a"));
    assert_eq!(conn.reply(), "+QUEUED\r\n");
    assert_eq!(conn.ask("EXEC"), "*1\r\n+OK\r\n");
    assert_eq!(conn.ask("STRLEN a"), ":100000\r\n");
    other.ask("CLIENT PAUSE 100000 WRITE");
    conn.send(set(b"b"));
    eventually("blocking", || other.ask("INFO clients").contains("blocked_clients:1\r\n"));
    other.ask("CLIENT UNPAUSE");
    assert_eq!(conn.reply(), "+OK\r\n");
    assert_eq!(conn.ask("STRLEN b"), ":100000\r\n");
}

#[test]
fn keys_stay_while_paused_but_nobody_sees_expired_ones() {
    let server = Server::start();
    let (mut conn, mut other) = (server.connect(), server.connect());
    conn.ask("SET a 1 PX 20");
    other.ask("CLIENT PAUSE 100000 WRITE");
    eventually("the end of its time", || conn.ask("GET a") == "$-1\r\n");
    assert_eq!(conn.ask("EXISTS a"), ":0\r\n");
    assert_eq!(conn.ask("TYPE a"), "+none\r\n");
    assert_eq!(conn.ask("DBSIZE"), ":1\r\n");
    assert!(conn.ask("INFO stats").contains("expired_keys:0\r\n"));
    other.ask("CLIENT UNPAUSE");
    eventually("expiry", || conn.ask("DBSIZE") == ":0\r\n");
}

#[test]
fn silence_is_no_reason_to_drop_those_who_wait_or_listen() {
    let server = Server::with(&["--timeout", "1"]);
    let (mut idle, mut blocked, mut subscribed) = (server.connect(), server.connect(), server.connect());
    idle.ask("PING");
    blocked.send_words("BLPOP list 0");
    subscribed.ask("SUBSCRIBE news");
    assert_eq!(idle.rest(), "");
    let mut other = server.connect();
    assert_eq!(other.ask("PUBLISH news x"), ":1\r\n");
    other.ask("RPUSH list x");
    assert_eq!(blocked.reply(), "*2\r\n$4\r\nlist\r\n$1\r\nx\r\n");
}

#[test]
fn a_skipped_reply_of_a_blocking_command_stays_skipped() {
    let server = Server::start();
    let (mut conn, mut other) = (server.connect(), server.connect());
    conn.send_words("CLIENT REPLY SKIP");
    conn.send_words("BLPOP list 0");
    eventually("blocking", || other.ask("INFO clients").contains("blocked_clients:1\r\n"));
    other.ask("RPUSH list x");
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
}

#[test]
fn a_push_is_sent_though_replies_are_off() {
    let server = Server::with(&["--enable-debug-command", "yes"]);
    let mut conn = server.connect();
    conn.ask("HELLO 3");
    conn.send_words("CLIENT REPLY OFF");
    conn.send_words("DEBUG PROTOCOL push");
    conn.send_words("PING");
    assert_eq!(conn.reply(), ">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n");
    assert_eq!(conn.ask("CLIENT REPLY ON"), "+OK\r\n");
}

/// The end of a connection comes with its last data in one event, and no other event tells of it.
#[test]
fn a_hang_up_right_behind_data_is_noticed() {
    let server = Server::with(&["--enable-debug-command", "yes"]);
    let (mut watcher, mut sleeper) = (server.connect(), server.connect());
    let (mut partial, mut large, mut blocked) = (server.connect(), server.connect(), server.connect());
    let (mut silent, mut half, mut waiting) = (server.connect(), server.connect(), server.connect());
    silent.send_words("CLIENT REPLY OFF");
    eventually("connections", || watcher.ask("INFO clients").contains("connected_clients:8\r\n"));
    sleeper.send_words("DEBUG SLEEP 0.3");
    std::thread::sleep(Duration::from_millis(50));
    partial.send(b"*2\r\n$3\r\nGET\r\n$3\r\nab");
    large.send(b"*2\r\n$4\r\nECHO\r\n$900000\r\n");
    large.send(vec![b'x'; 100_000]);
    blocked.send_words("BLPOP list 0");
    silent.send_words("SET a 1");
    half.send_words("GET a");
    half.stream.shutdown(std::net::Shutdown::Write).expect("an open socket");
    waiting.send(b"PING\r\nBLPOP list 0\r\n");
    waiting.stream.shutdown(std::net::Shutdown::Write).expect("an open socket");
    drop((partial, large, blocked, silent));
    assert_eq!(half.rest(), "$1\r\n1\r\n", "what was asked before is answered");
    assert_eq!(sleeper.reply(), "+OK\r\n");
    assert_eq!(waiting.rest(), "+PONG\r\n", "also to somebody who then waits");
    eventually("the end of the others", || watcher.ask("INFO clients").contains("connected_clients:2\r\n"));
    assert!(watcher.ask("INFO clients").contains("blocked_clients:0\r\n"));
}
