//! Starts the server on a free port and talks to it in bytes. Each test has a server of its own.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

/// How long a reply may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until `done` says so; fails after a while.
pub fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A running server. It ends with the value.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    pub fn start() -> Server {
        Server::with(&[])
    }

    /// Starts a server with options, e.g. `["--requirepass", "x"]`.
    pub fn with(options: &[&str]) -> Server {
        Server::launch(None, options)
    }

    /// Starts a server with a configuration file.
    pub fn from_file(path: &Path) -> Server {
        Server::launch(Some(path), &[])
    }

    fn launch(file: Option<&Path>, options: &[&str]) -> Server {
        // Somebody else may take the free port in between: then the next one is tried.
        for _ in 0..10 {
            let port = free_port();
            let child = Command::new(env!("CARGO_BIN_EXE_redae"))
                .args(file)
                .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
                .args(options)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary starts");
            let mut server = Server { child, port };
            if server.wait_until_ready() {
                return server;
            }
        }
        panic!("no server came up");
    }

    fn wait_until_ready(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            if self.child.try_wait().expect("a child").is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    pub fn connect(&self) -> Conn {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_nodelay(true).expect("a socket option");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
        Conn { reader: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the server to end and returns its exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        let kill = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on and that no other test of this program has been given: the system hands a port out
/// again as soon as its probe is closed.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        // It does not listen: a process that another test is just starting holds it open for a moment longer, and whoever
        // looks for the server must not find that.
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.set_reuse_address(true).expect("a socket option");
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a free port");
        let address = socket.local_addr().expect("an address");
        let port = address.as_socket().expect("an IP address").port();
        if GIVEN.lock().expect("no test panics in here").insert(port) {
            return port;
        }
    }
}

/// A connection in bytes.
pub struct Conn {
    pub stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Conn {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends words as a RESP array.
    pub fn send_words(&mut self, words: &str) {
        self.send(encode(words));
    }

    /// Sends words and returns the whole reply as text with `\r\n`.
    pub fn ask(&mut self, words: &str) -> String {
        self.send_words(words);
        self.reply()
    }

    /// The next reply, byte for byte.
    pub fn reply(&mut self) -> String {
        String::from_utf8_lossy(&self.reply_bytes()).into_owned()
    }

    pub fn reply_bytes(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.read_reply(&mut out);
        out
    }

    fn read_reply(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        let n = self.reader.read_until(b'\n', out).expect("a reply within the time-out");
        assert!(n > 0, "the server closed the connection after {:?}", String::from_utf8_lossy(out));
        let line = &out[start..];
        let number = || -> i64 {
            let text = std::str::from_utf8(&line[1..line.len() - 2]).expect("a header");
            text.parse().expect("a number")
        };
        match line[0] {
            b'$' | b'=' => {
                let len = number();
                if len >= 0 {
                    let at = out.len();
                    out.resize(at + len as usize + 2, 0);
                    self.reader.read_exact(&mut out[at..]).expect("a body");
                }
            }
            b'*' | b'~' | b'>' => (0..number()).for_each(|_| self.read_reply(out)),
            b'%' => (0..number() * 2).for_each(|_| self.read_reply(out)),
            _ => {}
        }
    }

    /// Everything until the server closes.
    pub fn rest(&mut self) -> String {
        let mut out = Vec::new();
        // A connection that is reset has been closed as well.
        let _ = self.reader.read_to_end(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Words at blanks as a RESP array.
pub fn encode(words: &str) -> Vec<u8> {
    encode_args(&words.split(' ').map(str::as_bytes).collect::<Vec<_>>())
}

pub fn encode_args(args: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        out.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        out.extend_from_slice(arg);
        out.extend_from_slice(b"\r\n");
    }
    out
}
