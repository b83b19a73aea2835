//! Requests as bytes on a socket: every split, every malformation, and what happens to the connection.

mod harness;

use harness::{Server, encode, encode_args};

#[test]
fn a_request_may_be_split_at_every_byte() {
    let server = Server::start();
    let mut conn = server.connect();
    let mut stream = Vec::new();
    stream.extend(encode("SET key value"));
    stream.extend(b"\r\nPING \"in line\"\r\n");
    stream.extend(b"*0\r\n*-1\r\n");
    stream.extend(encode("GET key"));
    let want = "+OK\r\n$7\r\nin line\r\n$5\r\nvalue\r\n";
    for at in 1..stream.len() {
        conn.send(&stream[..at]);
        // An answer to something sent on another connection: by then the first part has been read.
        server.connect().ask("PING");
        conn.send(&stream[at..]);
        let got: String = (0..3).map(|_| conn.reply()).collect();
        assert_eq!(got, want, "split at {at}");
    }
}

#[test]
fn one_byte_at_a_time() {
    let server = Server::start();
    let mut conn = server.connect();
    for byte in encode("ECHO slow") {
        conn.send([byte]);
        server.connect().ask("PING");
    }
    assert_eq!(conn.reply(), "$4\r\nslow\r\n");
}

#[test]
fn malformed_requests_get_their_error_and_the_connection_ends() {
    let server = Server::start();
    let cases: [(&[u8], &str); 9] = [
        (b"*x\r\n", "invalid multibulk length"),
        (b"*3000000000\r\n", "invalid multibulk length"),
        (b"*1\r\n$x\r\n", "invalid bulk length"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*1\r\n$2000000000\r\n", "invalid bulk length"),
        (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", "expected '$', got 'f'"),
        (b"*1\r\n\x80\r\n", "expected '$', got '\u{fffd}'"),
        (b"PING \"open\r\n", "unbalanced quotes in request"),
        (b"PING 'x'y\r\n", "unbalanced quotes in request"),
    ];
    for (bytes, error) in cases {
        let mut conn = server.connect();
        conn.send(encode("PING"));
        conn.send(bytes);
        assert_eq!(conn.rest(), format!("+PONG\r\n-ERR Protocol error: {error}\r\n"), "{bytes:?}");
    }
}

#[test]
fn endless_lines_are_cut_off() {
    let server = Server::start();
    let long = vec![b'1'; 70_000];
    for (start, error) in [
        (&b""[..], "too big inline request"),
        (b"*", "too big mbulk count string"),
        (b"*1\r\n$", "too big bulk count string"),
    ] {
        let mut conn = server.connect();
        conn.send(start);
        conn.send(&long);
        assert_eq!(conn.rest(), format!("-ERR Protocol error: {error}\r\n"));
    }
}

#[test]
fn requests_are_small_before_login() {
    let server = Server::with(&["--requirepass", "secret"]);
    for (bytes, error) in [
        (&b"*11\r\n"[..], "unauthenticated multibulk length"),
        (b"*2\r\n$4\r\nECHO\r\n$16385\r\n", "unauthenticated bulk length"),
    ] {
        let mut conn = server.connect();
        conn.send(bytes);
        assert_eq!(conn.rest(), format!("-ERR Protocol error: {error}\r\n"));
    }
    let mut conn = server.connect();
    assert_eq!(conn.ask("GET x"), "-NOAUTH Authentication required.\r\n");
    assert_eq!(conn.ask("AUTH wrong"), "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    assert_eq!(conn.ask("AUTH secret"), "+OK\r\n");
    assert_eq!(conn.ask("GET x"), "$-1\r\n");
}

#[test]
fn big_values_survive_any_chunking() {
    let server = Server::start();
    for size in [16_384, 32_767, 32_768, 65_536, 1_000_003, 20_000_000] {
        let mut value: Vec<u8> = (0..size).map(|i| (i * 31 % 251) as u8).collect();
        let mut conn = server.connect();
        let request = encode_args(&[b"SET", b"big", &value]);
        // Two pieces, so that the argument begins in one read and goes on in others; a command follows at once.
        conn.send(&request[..request.len() / 3]);
        server.connect().ask("PING");
        conn.send(&request[request.len() / 3..]);
        conn.send(encode("STRLEN big"));
        assert_eq!(conn.reply(), "+OK\r\n");
        assert_eq!(conn.reply(), format!(":{size}\r\n"));
        conn.send_words("GET big");
        let reply = conn.reply_bytes();
        let head = format!("${size}\r\n").into_bytes();
        value.extend_from_slice(b"\r\n");
        assert!(reply[..head.len()] == head && reply[head.len()..] == value, "{size} bytes differ");
    }
}

#[test]
fn a_big_argument_in_the_middle_is_an_argument() {
    let server = Server::start();
    let mut conn = server.connect();
    let big = vec![b'v'; 300_000];
    conn.send(encode_args(&[b"SET", b"k", &big, b"EX", b"100"]));
    assert_eq!(conn.reply(), "+OK\r\n");
    conn.send(encode_args(&[b"MSET", &big, b"1", b"other", &big]));
    assert_eq!(conn.reply(), "+OK\r\n");
    assert_eq!(conn.ask("STRLEN other"), ":300000\r\n");
    assert_eq!(conn.ask("TTL k"), ":100\r\n");
}

#[test]
fn many_arguments() {
    let server = Server::start();
    let mut conn = server.connect();
    let words: Vec<String> = (0..100_000).map(|i| format!("member{i}")).collect();
    let mut args: Vec<&[u8]> = vec![b"SADD", b"set"];
    args.extend(words.iter().map(String::as_bytes));
    conn.send(encode_args(&args));
    assert_eq!(conn.reply(), ":100000\r\n");
}

#[test]
fn a_million_commands_before_the_first_reply_is_read() {
    const COUNT: usize = 1_000_000;
    let server = Server::start();
    let mut conn = server.connect();
    let mut sender = conn.stream.try_clone().expect("a socket");
    let batch: Vec<u8> = (0..1_000).flat_map(|i| encode(&format!("SET key:{i} value:{i}"))).collect();
    // A client library that fills its pipeline first: nothing is read until all is written.
    for _ in 0..COUNT / 1_000 {
        std::io::Write::write_all(&mut sender, &batch).expect("the server goes on reading");
    }
    for i in 0..COUNT {
        assert_eq!(conn.reply_bytes(), b"+OK\r\n", "reply {i}");
    }
    assert_eq!(conn.ask("DBSIZE"), ":1000\r\n");
}

#[test]
fn a_greedy_client_leaves_others_their_turn() {
    let server = Server::start();
    let mut greedy = server.connect();
    let flood: Vec<u8> = encode("PING").repeat(20_000);
    let mut sender = greedy.stream.try_clone().expect("a socket");
    let writer = std::thread::spawn(move || {
        for _ in 0..100 {
            std::io::Write::write_all(&mut sender, &flood).expect("the server goes on reading");
        }
    });
    let mut other = server.connect();
    let mut worst = std::time::Duration::ZERO;
    for _ in 0..200 {
        let start = std::time::Instant::now();
        assert_eq!(other.ask("PING"), "+PONG\r\n");
        worst = worst.max(start.elapsed());
    }
    assert!(worst < std::time::Duration::from_millis(500), "waited {worst:?}");
    for _ in 0..100 * 20_000 {
        assert_eq!(greedy.reply_bytes(), b"+PONG\r\n");
    }
    writer.join().expect("the writer ends");
}
