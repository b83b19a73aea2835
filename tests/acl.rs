//! Users, passwords and rights over the wire, and where they come from: options, `user` lines, the ACL file.

mod harness;

use std::net::{TcpStream, UdpSocket};
use std::process::{Command, Stdio};

use harness::{Conn, Server, encode};

const WRONG: &str = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
const NO_AUTH: &str = "-NOAUTH Authentication required.\r\n";

fn ok(conn: &mut Conn, words: &str) {
    assert_eq!(conn.ask(words), "+OK\r\n", "{words}");
}

/// A connection that is logged in.
fn logged_in(server: &Server, words: &str) -> Conn {
    let mut conn = server.connect();
    ok(&mut conn, words);
    conn
}

#[test]
fn requirepass_is_the_default_users_password() {
    let server = Server::with(&["--requirepass", "one"]);
    let mut conn = server.connect();
    assert_eq!(conn.ask("GET k"), NO_AUTH);
    assert_eq!(conn.ask("AUTH two"), WRONG);
    assert_eq!(conn.ask("AUTH default two"), WRONG);
    assert_eq!(conn.ask("AUTH nobody one"), WRONG);
    ok(&mut conn, "AUTH one");
    assert_eq!(conn.ask("GET k"), "$-1\r\n");
    ok(&mut conn, "CONFIG SET requirepass two");
    assert_eq!(conn.ask("AUTH one"), WRONG);
    assert!(conn.ask("HELLO 3 AUTH default two").starts_with("%7\r\n"));
    // Whoever had not logged in may do anything as soon as no password is needed.
    let mut other = server.connect();
    assert_eq!(other.ask("PING"), NO_AUTH);
    ok(&mut conn, "ACL SETUSER default nopass");
    assert_eq!(other.ask("PING"), "+PONG\r\n");
    assert!(other.ask("AUTH two").starts_with("-ERR AUTH <password> called without any password configured"));
    ok(&mut conn, "ACL SETUSER default off");
    assert_eq!(other.ask("PING"), NO_AUTH);
    assert_eq!(conn.ask("PING"), "+PONG\r\n");
    assert_eq!(conn.ask("RESET"), "+RESET\r\n");
    assert_eq!(conn.ask("PING"), NO_AUTH);
}

#[test]
fn rights_are_checked_and_denials_are_logged() {
    let server = Server::start();
    let mut admin = server.connect();
    ok(&mut admin, "ACL SETUSER u on >pw +get +mget +client|id +multi +exec +publish %R~a* &c*");
    let mut conn = logged_in(&server, "AUTH u pw");
    assert_eq!(conn.ask("GET a1"), "$-1\r\n");
    let command = |name: &str| format!("-NOPERM User u has no permissions to run the '{name}' command\r\n");
    assert_eq!(conn.ask("SET a1 x"), command("set"));
    assert_eq!(conn.ask("CLIENT LIST"), command("client|list"));
    assert!(conn.ask("CLIENT ID").starts_with(':'));
    assert_eq!(conn.ask("MGET a b"), "-NOPERM No permissions to access a key\r\n");
    assert_eq!(conn.ask("PUBLISH d x"), "-NOPERM No permissions to access a channel\r\n");
    assert_eq!(conn.ask("PUBLISH c x"), ":0\r\n");
    assert_eq!(conn.ask("GET"), "-ERR wrong number of arguments for 'get' command\r\n");
    // New rights count at once, also for what has been queued.
    ok(&mut conn, "MULTI");
    assert_eq!(conn.ask("GET a"), "+QUEUED\r\n");
    ok(&mut admin, "ACL SETUSER u -get +set %W~b");
    let reply = conn.ask("EXEC");
    assert!(reply.starts_with("*1\r\n-NOPERM ACLs rules changed between the moment"), "{reply}");
    assert_eq!(conn.ask("SET b 1"), "+OK\r\n");
    let log = admin.ask("ACL LOG 1");
    let want = "$6\r\nreason\r\n$7\r\ncommand\r\n$7\r\ncontext\r\n$5\r\nmulti\r\n$6\r\nobject\r\n$3\r\nget\r\n\
                $8\r\nusername\r\n$1\r\nu\r\n";
    assert!(log.starts_with("*1\r\n*20\r\n$5\r\ncount\r\n:1\r\n") && log.contains(want), "{log}");
    assert!(log.contains("cmd=exec user=u") || log.contains("cmd=get user=u"), "{log}");
    ok(&mut admin, "ACL LOG RESET");
    assert_eq!(admin.ask("ACL LOG"), "*0\r\n");
    let stats = admin.ask("INFO stats");
    for line in ["acl_access_denied_auth:0", "acl_access_denied_cmd:3", "acl_access_denied_key:1"] {
        assert!(stats.contains(line), "{line}: {stats}");
    }
}

#[test]
fn clients_of_users_that_are_gone_are_closed() {
    let server = Server::start();
    let mut admin = server.connect();
    ok(&mut admin, "ACL SETUSER u on nopass +@all ~* &c");
    let mut idle = logged_in(&server, "AUTH u x");
    let mut subscriber = logged_in(&server, "AUTH u x");
    assert!(subscriber.ask("SUBSCRIBE c").starts_with("*3\r\n"));
    ok(&mut admin, "ACL SETUSER u &d");
    assert_eq!(admin.ask("PUBLISH c m"), ":1\r\n");
    subscriber.reply();
    ok(&mut admin, "ACL SETUSER u resetchannels &d");
    assert_eq!(subscriber.rest(), "");
    assert_eq!(idle.ask("PING"), "+PONG\r\n");
    let mut suicidal = logged_in(&server, "AUTH u x");
    assert_eq!(suicidal.ask("ACL DELUSER u nobody"), ":1\r\n");
    assert_eq!(suicidal.rest(), "");
    assert_eq!(idle.rest(), "");
    assert_eq!(admin.ask("ACL DELUSER u"), ":0\r\n");
    assert_eq!(admin.ask("ACL DELUSER default"), "-ERR The 'default' user cannot be removed\r\n");
    assert_eq!(admin.ask("CLIENT KILL USER u"), "-ERR No such user 'u'\r\n");
}

#[test]
fn rights_taken_away_reach_those_who_wait() {
    let server = Server::start();
    let mut admin = server.connect();
    ok(&mut admin, "ACL SETUSER u on nopass +@all ~*");
    let mut waiting = logged_in(&server, "AUTH u x");
    waiting.send(encode("BLPOP l 0"));
    while !admin.ask("INFO clients").contains("blocked_clients:1") {}
    ok(&mut admin, "ACL SETUSER u resetkeys");
    assert_eq!(admin.ask("LPUSH l x"), ":1\r\n");
    assert_eq!(waiting.reply(), "-NOPERM No permissions to access a key\r\n");
    assert_eq!(waiting.ask("PING"), "+PONG\r\n");
    assert_eq!(admin.ask("LLEN l"), ":1\r\n");
}

#[test]
fn the_acl_file_is_written_and_read() {
    let folder = std::env::temp_dir().join(format!("redae-acl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("users.acl");
    std::fs::write(&file, "user alice on nopass +@all\n\nuser default on >admin +@all ~*\n").expect("a file");
    let folder_text = folder.to_str().expect("UTF-8");
    let server = Server::with(&["--dir", folder_text, "--aclfile", "users.acl"]);
    let mut conn = logged_in(&server, "AUTH admin");
    let mut alice = logged_in(&server, "AUTH alice x");
    ok(&mut conn, "ACL SETUSER bob on nopass +get ~b");
    ok(&mut conn, "ACL SAVE");
    let saved = std::fs::read_to_string(&file).expect("the file");
    let lines: Vec<&str> = saved.lines().collect();
    assert_eq!(lines.len(), 3, "{saved}");
    assert_eq!(lines[0], "user alice on nopass sanitize-payload resetchannels +@all");
    assert_eq!(lines[1], "user bob on nopass sanitize-payload ~b resetchannels -@all +get");
    std::fs::write(&file, format!("{}\n{}\nuser bob on +nosuch\n", lines[1], lines[2])).expect("a file");
    assert_eq!(
        conn.ask("ACL LOAD"),
        "-ERR WARNING: Duplicate user 'bob' found on line 3. WARNING: ACL errors detected, no change to the \
         previously active ACL rules was performed\r\n"
    );
    assert_eq!(alice.ask("ACL WHOAMI"), "$5\r\nalice\r\n");
    std::fs::write(&file, format!("{}\n{}\n", lines[1], lines[2])).expect("a file");
    ok(&mut conn, "ACL LOAD");
    assert_eq!(alice.rest(), "", "alice is gone");
    assert_eq!(conn.ask("ACL USERS"), "*2\r\n$3\r\nbob\r\n$7\r\ndefault\r\n");
    let _ = std::fs::remove_dir_all(&folder);
    let server = Server::start();
    let reply = server.connect().ask("ACL LOAD");
    assert!(reply.starts_with("-ERR This Redis instance is not configured to use an ACL file."), "{reply}");
}

#[test]
fn user_lines_make_users_or_end_the_start() {
    let server = Server::with(
        &"--user default on nopass ~* +@all -flushall --user u on >p (+get ~u)"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    let mut conn = server.connect();
    assert_eq!(
        conn.ask("FLUSHALL"),
        "-NOPERM User default has no permissions to run the 'flushall' command\r\n"
    );
    ok(&mut conn, "AUTH u p");
    assert_eq!(conn.ask("GET u"), "$-1\r\n");
    for (rules, want) in [
        ("--user a --user a", "Duplicate user found"),
        ("--user a foo", "Error in user declaration 'foo': Syntax error"),
        ("--user a +nosuch", "Error loading ACL rule '+nosuch' for the user named 'a'"),
        ("--user a on --aclfile x", "one or the other"),
        ("--aclfile /nonexistent/x", "opening file '/nonexistent/x': No such file or directory"),
    ] {
        let out = Command::new(env!("CARGO_BIN_EXE_redae"))
            .args(["--port", "0", "--unixsocket", "/nonexistent/socket"])
            .args(rules.split(' '))
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(1) && text.contains(want), "{rules}: {text}");
    }
}

#[test]
fn sort_by_other_keys_needs_the_right_to_read_them() {
    let server = Server::start();
    let mut conn = server.connect();
    ok(&mut conn, "ACL SETUSER u on nopass +sort ~l");
    assert_eq!(conn.ask("LPUSH l 1"), ":1\r\n");
    let mut user = logged_in(&server, "AUTH u x");
    assert_eq!(
        user.ask("SORT l BY w*"),
        "-ERR BY option of SORT denied due to insufficient ACL permissions.\r\n"
    );
    assert_eq!(
        user.ask("SORT l GET #"),
        "-ERR GET option of SORT denied due to insufficient ACL permissions.\r\n"
    );
    assert_eq!(user.ask("SORT l BY nosort"), "*1\r\n$1\r\n1\r\n");
    ok(&mut conn, "ACL SETUSER u %R~*");
    assert_eq!(user.ask("SORT l BY w* GET #"), "*1\r\n$1\r\n1\r\n");
}

#[test]
fn replies_to_those_who_must_log_in_are_bounded() {
    let server = Server::with(&["--requirepass", "x"]);
    let mut conn = server.connect();
    conn.send(encode("PING").repeat(2_000));
    let replies = conn.rest();
    assert!(replies.len() < 2_000 * NO_AUTH.len(), "{} bytes", replies.len());
}

#[test]
fn protected_mode_refuses_other_machines() {
    // An address of this machine that is not the loopback one; a machine without one cannot be asked.
    let probe = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    let Ok(own) = probe.connect("192.0.2.1:9").and_then(|()| probe.local_addr()) else { return };
    if own.ip().is_loopback() {
        return;
    }
    let server = Server::with(&["--bind", "0.0.0.0"]);
    let rest = || {
        use std::io::{Read, Write};
        let mut stream = TcpStream::connect((own.ip(), server.port)).expect("the server listens");
        let mut text = String::new();
        // The server may have closed already.
        let _ = stream.write_all(&encode("QUIT"));
        let _ = stream.read_to_string(&mut text);
        text
    };
    let refused = rest();
    assert!(refused.starts_with("-DENIED Redis is running in protected mode because"), "{refused}");
    ok(&mut server.connect(), "CONFIG SET requirepass x");
    assert_eq!(rest(), "+OK\r\n");
}

#[test]
fn what_is_closed_to_everybody_says_so_before_rights_are_looked_at() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.ask("ACL SETUSER joe on >pw");
    conn.ask("AUTH joe pw");
    assert!(conn.ask("DEBUG SLEEP 0").starts_with("-ERR DEBUG command not allowed."));
    assert!(conn.ask("MODULE UNLOAD x").starts_with("-ERR MODULE command not allowed."));
    assert!(conn.ask("DEBUG").starts_with("-ERR wrong number of arguments"));
    assert!(conn.ask("MODULE LIST").starts_with("-NOPERM "));
}
