//! Many connections at once that send anything, whole or in part, and leave whenever they like: the server must neither
//! fall nor keep anything of theirs. What replies say is not looked at here; the differ does that.

mod harness;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use harness::{Server, encode_args};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const CONNECTIONS: usize = 40;
const TIME: Duration = Duration::from_secs(4);
/// A server that has just started takes less; one that keeps things takes more and more.
const USED_BYTES_MAX: u64 = 4 << 20;

/// What is sent. A word in capitals that is listed in [`word`] stands for something random, and `a|b` for one of both.
const REQUESTS: &str = "
    SET KEY VALUE;SET KEY VALUE PX TIME;GET KEY;DEL KEY;UNLINK KEY KEY;APPEND KEY VALUE;INCRBYFLOAT KEY 1.5
    SETRANGE KEY PLACE VALUE;BITFIELD KEY SET u8 #3 7 INCRBY i5 100 1;PFADD KEY VALUE VALUES;PFMERGE KEY KEY KEY
    LPUSH KEY VALUES;RPUSH KEY VALUE;LPOP KEY 3;BLPOP KEY KEY 0.05;BRPOP KEY 0;BLMOVE KEY KEY LEFT RIGHT 0.1
    BLMPOP 0.1 2 KEY KEY LEFT COUNT 3;LRANGE KEY 0 -1;LINSERT KEY BEFORE VALUE VALUE;LSET KEY NUMBER VALUE
    LTRIM KEY NUMBER NUMBER;LREM KEY NUMBER VALUE;SORT KEY ALPHA STORE KEY
    ZADD KEY NUMBER VALUE 2.5 NAME;BZPOPMIN KEY KEY 0;ZPOPMAX KEY 2;BZMPOP 0 1 KEY MIN;ZUNIONSTORE KEY 2 KEY KEY
    SADD KEY VALUES;SADD KEY NUMBER NUMBER NUMBER;SPOP KEY 5;SINTERSTORE KEY KEY KEY;SMOVE KEY KEY 5
    HSET KEY NAME VALUE NAME VALUE;HPEXPIRE KEY TIME FIELDS 2 NAME NAME;HDEL KEY NAME;HGETALL KEY
    GEOADD KEY 13.3 38.1 NAME;EXPIRE KEY 1;PEXPIRE KEY TIME;PERSIST KEY;RENAME KEY KEY;COPY KEY KEY REPLACE
    MOVE KEY 1;SELECT 0|1;SWAPDB 0 1;FLUSHDB ASYNC|SYNC;SCAN 0;DEBUG DIGEST;MEMORY USAGE KEY
    MULTI;MULTI;EXEC;EXEC;DISCARD;WATCH KEY;UNWATCH;SUBSCRIBE KEY;PSUBSCRIBE k*;UNSUBSCRIBE;PUNSUBSCRIBE
    PUBLISH KEY VALUE;SSUBSCRIBE KEY;SPUBLISH KEY VALUE;HELLO 2|3;RESET;QUIT;MONITOR;CLIENT LIST;INFO everything
    CLIENT TRACKING ON|OFF;CLIENT TRACKING ON BCAST PREFIX k;CLIENT REPLY ON|OFF|SKIP;CLIENT KILL ID ID
    CLIENT UNBLOCK ID ERROR;CLIENT PAUSE 5 WRITE|ALL;CLIENT NO-EVICT ON|OFF;DEBUG SLEEP 0.002
    CONFIG SET maxmemory 0|0|4mb;CONFIG SET maxmemory-clients 0|0|5mb;CONFIG SET list-compress-depth 0|1|2
    CONFIG SET maxmemory-policy allkeys-lru|volatile-ttl|allkeys-lfu|noeviction|volatile-random
    CONFIG SET list-max-listpack-size -2|3|-1;CONFIG SET notify-keyspace-events KEA|K;CONFIG SET hash-max-listpack-entries 2|512
    DEBUG QUICKLIST-PACKED-THRESHOLD 0|100b;ACL SETUSER u on nopass +@all ~k*;AUTH u x;ACL DELUSER u;SLOWLOG GET";

fn requests() -> Vec<Vec<&'static str>> {
    let lines = REQUESTS.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split(' ').collect()).collect()
}

/// Appends what a word of a request stands for.
fn word(rng: &mut SmallRng, word: &str, args: &mut Vec<Vec<u8>>) {
    let value = |rng: &mut SmallRng| -> Vec<u8> {
        let len = [0, 1, 4, 40, 300, 20_000, 70_000][rng.random_range(0..7)];
        vec![b"x5\xff"[rng.random_range(0..3)]; len]
    };
    match word {
        "KEY" => args.push(format!("k{}", rng.random_range(0..12)).into()),
        "NAME" => args.push(format!("m{}", rng.random_range(0..200)).into()),
        "NUMBER" => args.push(rng.random_range(-100..1_000).to_string().into()),
        "PLACE" | "ID" => args.push(rng.random_range(0..3_000).to_string().into()),
        "TIME" => args.push(rng.random_range(1..50).to_string().into()),
        "VALUE" => args.push(value(rng)),
        "VALUES" => args.extend((0..rng.random_range(1..40)).map(|_| value(rng))),
        _ => {
            let choices: Vec<&str> = word.split('|').collect();
            args.push(choices[rng.random_range(0..choices.len())].into());
        }
    }
}

fn request(rng: &mut SmallRng, requests: &[Vec<&str>]) -> Vec<u8> {
    let mut args = Vec::new();
    for part in &requests[rng.random_range(0..requests.len())] {
        word(rng, part, &mut args);
    }
    encode_args(&args.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Some requests, seldom cut short or followed by noise.
fn batch(rng: &mut SmallRng, requests: &[Vec<&str>]) -> Vec<u8> {
    let count = [1, 1, 1, 5, 30][rng.random_range(0..5)];
    let mut bytes: Vec<u8> = (0..count).flat_map(|_| request(rng, requests)).collect();
    if rng.random_ratio(1, 50) {
        bytes.truncate(rng.random_range(0..bytes.len()));
    }
    if rng.random_ratio(1, 200) {
        bytes.extend((0..20).map(|_| rng.random::<u8>()));
    }
    bytes
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).expect("the server listens");
    stream.set_nonblocking(true).expect("a socket option");
    stream
}

/// Sends a batch, as far as there is room, and perhaps reads. False: the connection has ended, or is to be dropped.
fn use_once(rng: &mut SmallRng, stream: &mut TcpStream, requests: &[Vec<&str>]) -> bool {
    match stream.write(&batch(rng, requests)) {
        Err(error) if error.kind() != ErrorKind::WouldBlock => return false,
        _ => {}
    }
    let mut buffer = [0; 65_536];
    while rng.random() {
        match stream.read(&mut buffer) {
            Ok(0) => return false,
            Err(error) if error.kind() != ErrorKind::WouldBlock => return false,
            _ => {}
        }
    }
    !rng.random_ratio(1, 100)
}

fn field(info: &str, name: &str) -> u64 {
    let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} in {info}"))
}

/// What must be nothing again when everybody has gone.
const GONE: [&str; 8] = [
    "blocked_clients",
    "tracking_clients",
    "pubsub_clients",
    "watching_clients",
    "total_blocking_keys",
    "pubsub_channels",
    "pubsubshard_channels",
    "tracking_total_prefixes",
];

#[test]
fn nothing_of_anybody_stays() {
    let seed = u64::from(std::process::id());
    let (mut rng, requests) = (SmallRng::seed_from_u64(seed), requests());
    let mut server = Server::with(&["--enable-debug-command", "yes", "--hz", "100", "--loglevel", "warning"]);
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&server)).collect();
    let start = Instant::now();
    while start.elapsed() < TIME {
        let at = rng.random_range(0..streams.len());
        if !use_once(&mut rng, &mut streams[at], &requests) {
            streams[at] = connect(&server);
        }
    }
    drop(streams);
    // What is still on its way may kill whoever comes now.
    std::thread::sleep(Duration::from_millis(500));
    let mut conn = server.connect();
    for line in ["CONFIG SET maxmemory 0", "CONFIG SET maxmemory-clients 0", "CLIENT UNPAUSE", "FLUSHALL"] {
        assert_eq!(conn.ask(line), "+OK\r\n", "seed {seed}: {line}");
    }
    let start = Instant::now();
    loop {
        let info = conn.ask("INFO everything");
        let left: Vec<&str> = GONE.into_iter().filter(|name| field(&info, name) > 0).collect();
        let (clients, bytes) = (field(&info, "connected_clients"), field(&info, "used_memory"));
        if clients == 1 && left.is_empty() && bytes < USED_BYTES_MAX {
            break;
        }
        let patient = start.elapsed() < Duration::from_secs(10);
        assert!(patient, "seed {seed}: {clients} clients, {bytes} bytes and {left:?} stay");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(server.terminate(), Some(0), "seed {seed}");
}
