//! WATCH when databases change places: what has expired is as good as missing.

mod harness;

use harness::Server;

/// Sets `x` in the databases of `stale` to a value that is over at once, watches it in database 1, exchanges databases
/// 0 and 1 and says whether a transaction still runs.
fn survives_exchange(stale: &[u32], fresh: &[u32]) -> bool {
    let server = Server::with(&["--enable-debug-command", "yes"]);
    let mut conn = server.connect();
    conn.ask("DEBUG SET-ACTIVE-EXPIRE 0");
    for db in fresh {
        conn.ask(&format!("SELECT {db}"));
        conn.ask("SET x value");
    }
    for db in stale {
        conn.ask(&format!("SELECT {db}"));
        conn.ask("SET x value PX 1");
    }
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(conn.ask("SELECT 1"), "+OK\r\n");
    assert_eq!(conn.ask("WATCH x"), "+OK\r\n");
    // A second client that watches the same must make no difference.
    let mut other = server.connect();
    other.ask("SELECT 1");
    other.ask("WATCH x");
    assert_eq!(conn.ask("SWAPDB 0 1"), "+OK\r\n");
    conn.ask("MULTI");
    conn.ask("PING");
    match conn.ask("EXEC").as_str() {
        "*1\r\n+PONG\r\n" => true,
        "*-1\r\n" => false,
        other => panic!("{other}"),
    }
}

#[test]
fn expired_keys_of_exchanged_databases_are_no_change() {
    assert!(survives_exchange(&[], &[]));
    assert!(survives_exchange(&[0], &[]));
    assert!(survives_exchange(&[1], &[]));
    assert!(survives_exchange(&[0, 1], &[]));
}

#[test]
fn values_of_exchanged_databases_are_a_change() {
    assert!(!survives_exchange(&[], &[0]));
    assert!(!survives_exchange(&[], &[1]));
    assert!(!survives_exchange(&[1], &[0]));
    assert!(!survives_exchange(&[0], &[1]));
}
