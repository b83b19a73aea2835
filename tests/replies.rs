//! Replies that depend on more than one command: transactions, subscriptions, protocols. What Redis answers.

mod harness;

use harness::Server;

#[test]
fn an_exec_that_is_refused_ends_the_transaction() {
    let server = Server::start();
    let mut conn = server.connect();
    let refused =
        "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n";
    assert_eq!(conn.ask("EXEC now"), refused);
    assert_eq!(conn.ask("MULTI"), "+OK\r\n");
    assert_eq!(conn.ask("EXEC now"), refused);
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
    assert_eq!(conn.ask("EXEC"), "-ERR EXEC without MULTI\r\n");
}

#[test]
fn client_info_in_a_transaction_shows_its_exec() {
    let server = Server::start();
    let mut conn = server.connect();
    for words in ["MULTI", "PING", "CLIENT INFO"] {
        conn.ask(words);
    }
    let reply = conn.ask("EXEC");
    for field in [" flags=x ", " multi=2 ", " cmd=exec "] {
        assert!(reply.contains(field), "{field}: {reply}");
    }
    let reply = conn.ask("CLIENT INFO");
    assert!(reply.contains(" flags=N ") && reply.contains(" multi=-1 "), "{reply}");
}

#[test]
fn a_move_without_an_element_is_null_at_once_and_a_null_array_after_waiting() {
    let server = Server::start();
    let mut conn = server.connect();
    for words in ["MULTI", "BRPOPLPUSH a b 1", "BLMOVE a b LEFT LEFT 1", "BLPOP a 1"] {
        conn.ask(words);
    }
    assert_eq!(conn.ask("EXEC"), "*3\r\n$-1\r\n$-1\r\n*-1\r\n");
    assert_eq!(conn.ask("BLMOVE a b LEFT LEFT 0.01"), "*-1\r\n");
}

#[test]
fn no_pattern_fits_a_channel_without_a_name() {
    let server = Server::start();
    let (mut listener, mut conn) = (server.connect(), server.connect());
    listener.ask("PSUBSCRIBE *");
    conn.send("*3\r\n$7\r\nPUBLISH\r\n$0\r\n\r\n$1\r\nx\r\n");
    assert_eq!(conn.reply(), ":0\r\n");
    listener.send("*2\r\n$9\r\nSUBSCRIBE\r\n$0\r\n\r\n");
    listener.reply();
    assert_eq!(conn.ask("PUBSUB CHANNELS"), "*1\r\n$0\r\n\r\n");
    assert_eq!(conn.ask("PUBSUB CHANNELS *"), "*0\r\n");
}

#[test]
fn lists_of_names_are_arrays_in_resp3() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.ask("HELLO 3");
    assert_eq!(conn.ask("PUBSUB NUMSUB a b"), "*4\r\n$1\r\na\r\n:0\r\n$1\r\nb\r\n:0\r\n");
    assert_eq!(conn.ask("COMMAND LIST FILTERBY PATTERN hset"), "*1\r\n$4\r\nhset\r\n");
}

#[test]
fn arguments_too_many_are_named_before_wrong_ones() {
    let server = Server::start();
    let mut conn = server.connect();
    for (words, name) in [("CLIENT PAUSE 1 x x", "PAUSE"), ("CLIENT UNBLOCK 1 x x", "UNBLOCK")] {
        let want = format!(
            "-ERR unknown subcommand or wrong number of arguments for '{name}'. Try CLIENT HELP.\r\n"
        );
        assert_eq!(conn.ask(words), want);
    }
    assert_eq!(conn.ask("CONFIG SET maxmemory 1 x"), "-ERR syntax error\r\n");
}

#[test]
fn client_list_knows_no_client_with_a_negative_id() {
    let server = Server::start();
    let mut conn = server.connect();
    assert_eq!(conn.ask("CLIENT LIST ID -1"), "$0\r\n\r\n");
    assert_eq!(conn.ask("CLIENT LIST ID x"), "-ERR Invalid client ID\r\n");
}

#[test]
fn keys_of_command_lines() {
    let server = Server::start();
    let mut conn = server.connect();
    let invalid = "-ERR Invalid arguments specified for command\r\n";
    for (line, want) in [
        ("SPUBLISH a b", "-ERR The command has no key arguments\r\n"),
        ("ZUNION \t1 z", "*1\r\n$1\r\nz\r\n"),
        ("ZUNION 1x z", "*1\r\n$1\r\nz\r\n"),
        ("ZUNIONSTORE to 1x z", "*2\r\n$1\r\nz\r\n$2\r\nto\r\n"),
        ("ZUNION 2x z", invalid),
        ("ZUNION x z", invalid),
        ("ZUNION -1x z", invalid),
    ] {
        assert_eq!(conn.ask(&format!("COMMAND GETKEYS {line}")), want, "{line}");
    }
}

#[test]
fn hello_checks_its_options_from_left_to_right() {
    let server = Server::start();
    let mut conn = server.connect();
    let name = "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";
    assert_eq!(conn.ask("HELLO 3 SETNAME \u{e9} x"), name);
    assert_eq!(conn.ask("HELLO 3 x SETNAME \u{e9}"), "-ERR Syntax error in HELLO option 'x'\r\n");
}

#[test]
fn who_speaks_http_is_dropped_without_a_word() {
    let server = Server::start();
    let requests =
        ["POST / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\nSET a 1\r\n", "host: x\r\n"];
    for request in requests {
        let mut conn = server.connect();
        conn.send(request);
        assert_eq!(conn.rest(), "");
    }
    assert_eq!(server.connect().ask("EXISTS a"), ":0\r\n");
}

#[test]
fn a_renamed_key_is_invalidated_before_its_new_name() {
    let server = Server::start();
    let (mut reader, mut writer) = (server.connect(), server.connect());
    writer.ask("SET a 1");
    for words in ["HELLO 3", "CLIENT TRACKING ON", "MGET a b"] {
        reader.ask(words);
    }
    writer.ask("RENAME a b");
    assert_eq!(reader.reply(), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
    assert_eq!(reader.reply(), ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nb\r\n");
}
