//! The process and its connections: starting, stopping, limits, and what a client may set about itself.

mod harness;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use harness::{Conn, Server, encode, eventually, free_port};

fn run(options: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_redae")).args(options).stdin(Stdio::null()).output();
    let out = out.expect("the binary runs");
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn a_port_in_use_is_named_with_the_way_out() {
    let server = Server::start();
    let port = server.port.to_string();
    let (code, text) = run(&["--port", &port, "--bind", "127.0.0.1"]);
    assert_eq!(code, Some(1));
    assert!(text.contains(&port) && text.contains("--port"), "{text}");
    assert_eq!(text.trim().lines().count(), 1, "{text}");
}

#[test]
fn wrong_options_are_named() {
    let (code, text) = run(&["--no-such-option", "1"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("no-such-option"), "{text}");
    let (code, text) = run(&["--maxclients", "many"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("maxclients"), "{text}");
}

#[test]
fn sigterm_ends_the_server_cleanly() {
    let mut server = Server::start();
    let mut conn = server.connect();
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
    assert_eq!(server.terminate(), Some(0));
    assert_eq!(conn.rest(), "");
}

#[test]
fn maxclients_refuses_with_redis_error() {
    let server = Server::with(&["--maxclients", "3"]);
    let mut first = server.connect();
    assert_eq!(first.ask("PING"), "+PONG\r\n");
    // The harness' own first connection may still be counted.
    eventually("a free place", || first.ask("CLIENT LIST").lines().count() < 4);
    let mut others: Vec<_> = (0..2).map(|_| server.connect()).collect();
    others.iter_mut().for_each(|conn| assert_eq!(conn.ask("PING"), "+PONG\r\n"));
    assert_eq!(server.connect().rest(), "-ERR max number of clients reached\r\n");
    drop(others.pop());
    eventually("a free place", || {
        let mut conn = server.connect();
        conn.send(encode("PING"));
        conn.send(encode("QUIT"));
        conn.rest().starts_with("+PONG")
    });
}

#[test]
fn hello_switches_protocol_and_has_typed_fields() {
    let server = Server::start();
    let mut conn = server.connect();
    let reply = conn.ask("HELLO 3");
    assert!(reply.starts_with("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n"), "{reply}");
    assert!(reply.contains("$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:"), "{reply}");
    assert_eq!(conn.ask("GET missing"), "_\r\n");
    assert_eq!(conn.ask("HELLO 9"), "-NOPROTO unsupported protocol version\r\n");
    assert!(conn.ask("HELLO 2").starts_with("*14\r\n"));
    assert_eq!(conn.ask("GET missing"), "$-1\r\n");
}

#[test]
fn failed_hello_changes_nothing() {
    let server = Server::with(&["--requirepass", "secret"]);
    let mut conn = server.connect();
    assert!(conn.ask("HELLO 3 AUTH default wrong SETNAME me").starts_with("-WRONGPASS"));
    assert_eq!(conn.ask("GET x"), "-NOAUTH Authentication required.\r\n");
    assert_eq!(conn.ask("AUTH secret"), "+OK\r\n");
    assert_eq!(conn.ask("CLIENT GETNAME"), "$-1\r\n");
}

#[test]
fn quit_answers_and_closes() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.send([encode("SET a 1"), encode("QUIT"), encode("SET a 2")].concat());
    assert_eq!(conn.rest(), "+OK\r\n+OK\r\n");
    assert_eq!(server.connect().ask("GET a"), "$1\r\n1\r\n");
}

#[test]
fn a_client_that_goes_with_input_left_is_not_looked_for() {
    let server = Server::start();
    let mut conn = server.connect();
    // QUIT waits for the end of the pause, and then has more to read behind it when its connection is closed.
    assert_eq!(conn.ask("CLIENT PAUSE 1"), "+OK\r\n");
    conn.send("QUIT\r\n");
    assert_eq!(conn.rest(), "+OK\r\n");
    assert_eq!(server.connect().ask("PING"), "+PONG\r\n");
}

#[test]
fn client_reply_off_and_skip() {
    let server = Server::start();
    let mut conn = server.connect();
    for words in ["CLIENT REPLY SKIP", "SET a 1", "PING one", "CLIENT REPLY OFF", "SET b 2", "NOSUCH"] {
        conn.send_words(words);
    }
    conn.send_words("CLIENT REPLY ON");
    conn.send_words("GET b");
    let got: String = (0..3).map(|_| conn.reply()).collect();
    assert_eq!(got, "$3\r\none\r\n+OK\r\n$1\r\n2\r\n");
}

#[test]
fn client_kill_closes_the_right_connections() {
    let server = Server::start();
    let (mut mine, mut other) = (server.connect(), server.connect());
    let id = other.ask("CLIENT ID");
    let id = id.trim_matches(|c| c == ':' || c == '\r' || c == '\n');
    assert_eq!(mine.ask(&format!("CLIENT KILL ID {id}")), ":1\r\n");
    assert_eq!(other.rest(), "");
    assert_eq!(mine.ask(&format!("CLIENT KILL ID {id}")), ":0\r\n");
    assert_eq!(mine.ask("CLIENT KILL 1.2.3.4:5"), "-ERR No such client\r\n");
}

#[test]
fn output_buffer_limit_drops_a_slow_reader() {
    let server = Server::with(&["--client-output-buffer-limit", "normal 1mb 0 0"]);
    let mut conn = server.connect();
    conn.send(harness::encode_args(&[b"SET", b"k", &vec![b'x'; 500_000]]));
    assert_eq!(conn.reply(), "+OK\r\n");
    let mut slow = server.connect();
    for _ in 0..40 {
        slow.send_words("GET k");
    }
    eventually("a disconnection", || {
        conn.ask("INFO stats").contains("client_output_buffer_limit_disconnections:1\r\n")
    });
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
}

#[test]
fn query_buffer_limit_drops_an_endless_request() {
    let server = Server::with(&["--client-query-buffer-limit", "1mb"]);
    let mut conn = server.connect();
    let big = vec![b'x'; 4 * 1024 * 1024];
    let request = harness::encode_args(&[b"SET", b"k", &big]);
    // The server closes in the middle: the rest of the writing may fail.
    let _ = std::io::Write::write_all(&mut conn.stream, &request);
    assert_eq!(conn.rest(), "");
    assert_eq!(server.connect().ask("EXISTS k"), ":0\r\n");
}

#[test]
fn the_query_buffer_limit_counts_line_ends_and_queued_commands() {
    let server = Server::with(&["--client-query-buffer-limit", "1mb"]);
    let (mut observer, mut conn) = (server.connect(), server.connect());
    let dropped = |observer: &mut Conn, count| {
        let line = format!("client_query_buffer_limit_disconnections:{count}\r\n");
        eventually("a disconnection", || observer.ask("INFO stats").contains(&line));
    };
    let set = |bytes: usize| harness::encode_args(&[b"SET", b"k", &vec![b'x'; bytes]]);
    conn.send(set((1 << 20) - 100));
    assert_eq!(conn.reply(), "+OK\r\n");
    // The server closes with input unread: the rest of the writing may fail.
    let _ = std::io::Write::write_all(&mut conn.stream, &set(1 << 20));
    dropped(&mut observer, 1);
    let mut conn = server.connect();
    conn.ask("MULTI");
    conn.send(set(600_000));
    assert_eq!(conn.reply(), "+QUEUED\r\n");
    let _ = std::io::Write::write_all(&mut conn.stream, &set(600_000));
    dropped(&mut observer, 2);
    assert_eq!(observer.ask("STRLEN k"), ":1048476\r\n");
}

#[test]
fn idle_clients_go_after_the_timeout() {
    let server = Server::with(&["--timeout", "1"]);
    let mut conn = server.connect();
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
    let start = Instant::now();
    assert_eq!(conn.rest(), "");
    assert!(start.elapsed() >= Duration::from_millis(900), "after {:?}", start.elapsed());
}

#[test]
fn unix_socket_and_several_addresses() {
    let path = std::env::temp_dir().join(format!("redae-{}-{}.sock", std::process::id(), free_port()));
    let path = path.to_str().expect("UTF-8");
    let mut server = Server::with(&["--unixsocket", path, "--bind", "127.0.0.1", "127.0.0.2"]);
    let mut unix = std::os::unix::net::UnixStream::connect(path).expect("the socket is there");
    use std::io::{Read, Write};
    unix.write_all(&[encode("PING"), encode("QUIT")].concat()).expect("writable");
    let mut got = String::new();
    unix.read_to_string(&mut got).expect("readable");
    assert_eq!(got, "+PONG\r\n+OK\r\n");
    assert!(std::net::TcpStream::connect(("127.0.0.2", server.port)).is_ok());
    assert_eq!(server.terminate(), Some(0));
    assert!(!std::path::Path::new(path).exists(), "the socket's file is left behind");
}

#[test]
fn config_set_moves_the_port() {
    let server = Server::start();
    let mut conn = server.connect();
    let port = free_port();
    assert_eq!(conn.ask(&format!("CONFIG SET port {port}")), "+OK\r\n");
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err());
    assert_eq!(conn.ask("CONFIG GET port"), format!("*2\r\n$4\r\nport\r\n$5\r\n{port}\r\n"));
}

#[test]
fn running_out_of_files_is_survived_without_spinning() {
    let port = free_port();
    let script = format!("ulimit -n 64; exec {} --port {port} --bind 127.0.0.1", env!("CARGO_BIN_EXE_redae"));
    let mut child = Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).spawn().expect("sh runs");
    let connect = || std::net::TcpStream::connect(("127.0.0.1", port));
    eventually("the server", || connect().is_ok());
    let held: Vec<_> = (0..200).filter_map(|_| connect().ok()).collect();
    let cpu = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("a process");
        let fields: Vec<u64> = stat
            .rsplit(')')
            .next()
            .expect("fields")
            .split_whitespace()
            .filter_map(|f| f.parse().ok())
            .collect();
        // User and system time, in clock ticks, are the 12th and 13th behind the name; the state is no number.
        fields[10] + fields[11]
    };
    std::thread::sleep(Duration::from_millis(300));
    let before = cpu();
    std::thread::sleep(Duration::from_millis(1_000));
    let used = cpu() - before;
    drop(held);
    let served = (0..200).any(|_| {
        use std::io::{Read, Write};
        std::thread::sleep(Duration::from_millis(20));
        let Ok(mut conn) = connect() else { return false };
        let mut got = [0; 7];
        conn.set_read_timeout(Some(Duration::from_millis(500))).expect("a socket option");
        conn.write_all(b"PING\r\n").is_ok() && conn.read_exact(&mut got).is_ok() && &got == b"+PONG\r\n"
    });
    let _ = child.kill();
    let _ = child.wait();
    assert!(served, "no connection gets through after the files are free again");
    assert!(used < 50, "{used} of 100 ticks of one second spent");
}
