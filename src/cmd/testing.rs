//! What the unit tests of command families run commands with: databases, one client and a clock that stands still until
//! it is moved. Compiled for tests only. Touches cmd, db, proto and base.
//!
//! Calls go the way that the executor takes, and every reply is checked to be exactly one well-formed value.

use rand::SeedableRng;

use super::ctx::{Ctx, DataFn};
use super::spec::{CommandSpec, Flags};
use crate::base::Rand;
use crate::base::config::Config;
use crate::base::error::CmdError;
use crate::base::limits::BIG_ARGUMENT_BYTES;
use crate::base::session::{Session, SessionFlags};
use crate::db::keyspace::{EventClass, Keyspace};
use crate::proto::reply::Reply;
use crate::proto::sink::Sink;
use crate::types::table::Seed;

/// When the clock of a new [`Space`] stands, in milliseconds since the epoch.
pub const START_MS: i64 = 1_700_000_000_000;

/// Sixteen databases and a client.
pub struct Space {
    /// The databases. All key events are wanted, but for those of reads that found nothing.
    pub ks: Keyspace,
    /// The client.
    pub session: Session,
    /// The options in force.
    pub config: Config,
    /// Chance, the same in every run.
    pub rng: Rand,
}

impl Space {
    /// Empty databases and a client that speaks RESP2.
    pub fn new() -> Space {
        let mut ks = Keyspace::new(16, Seed(7));
        ks.now_ms = START_MS;
        ks.signals.wanted = !EventClass::MISS.0;
        Space {
            ks,
            session: Session::new(1, true, START_MS),
            config: Config::default(),
            rng: Rand::seed_from_u64(1),
        }
    }

    /// Lets the client speak RESP3 or RESP2.
    pub fn resp3(&mut self, on: bool) {
        self.session.flags.set(SessionFlags::RESP3, on);
    }

    /// Moves the clock forward.
    pub fn advance_ms(&mut self, ms: i64) {
        self.ks.now_ms += ms;
    }

    /// Runs a command; the raw reply, each byte as the character of that number.
    pub fn run(&mut self, args: &[&str]) -> String {
        let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
        self.run_bytes(&args).into_iter().map(char::from).collect()
    }

    /// Runs a command given as words between blanks; `""` is an empty word.
    pub fn line(&mut self, line: &str) -> String {
        let words = line.split(' ').map(|word| if word == r#""""# { "" } else { word });
        self.run(&words.collect::<Vec<_>>())
    }

    /// Runs one command a line, blank lines left out, and compares each reply. A line is `command => reply`; line ends
    /// inside the reply are written as a blank, the last one not at all: `MGET a b => *2 $1 x $-1`.
    #[track_caller]
    pub fn script(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (command, want) = line.split_once("=>").expect("a line is: command => reply");
            let reply = self.line(command.trim());
            let got = reply.trim_end_matches("\r\n").replace("\r\n", " ");
            assert_eq!(got, want.trim(), "{command}");
        }
    }

    /// Runs a command; the raw reply.
    pub fn run_bytes(&mut self, args: &[&[u8]]) -> Vec<u8> {
        let result = self.call(args);
        let reply = result.unwrap_or_else(|error| {
            let mut sink = Sink::new();
            Reply::new(&mut sink, false).error(&error);
            sink.to_vec()
        });
        let end = value_end(&reply, 0).expect("a complete value");
        assert_eq!(end, reply.len(), "one value: {}", reply.escape_ascii());
        reply
    }

    fn call(&mut self, args: &[&[u8]]) -> Result<Vec<u8>, CmdError> {
        let spec = find(args)?;
        let handler = spec.handler.expect("a command with a handler");
        let mut args = args.to_vec();
        let mut adopted = None;
        if let Some(last) = args.last_mut() {
            // As the parser does: a big last argument comes in its own allocation.
            if spec.flags.any(Flags::ADOPTS_VALUE) && last.len() >= BIG_ARGUMENT_BYTES {
                adopted = Some(last.to_vec());
                *last = b"";
            }
        }
        let mut sink = Sink::new();
        let out = Reply::new(&mut sink, self.session.resp3());
        let dirty = self.ks.signals.dirty;
        let mut ctx = Ctx {
            ks: &mut self.ks,
            session: &mut self.session,
            args: &args,
            out,
            config: &self.config,
            rng: &mut self.rng,
            adopted,
        };
        let result = handler(&mut ctx);
        if let Err(error) = result {
            assert_eq!(self.ks.signals.dirty, dirty, "a command that fails has changed nothing");
            assert!(sink.is_empty(), "a command that fails has written nothing");
            return Err(error);
        }
        Ok(sink.to_vec())
    }

    /// The key events since the last call, each as `name key`.
    pub fn events(&mut self) -> Vec<String> {
        let events = std::mem::take(&mut self.ks.signals.events);
        events.iter().map(|event| format!("{} {}", event.name, event.key.escape_ascii())).collect()
    }

    /// Changes counted so far.
    pub fn dirty(&self) -> u64 {
        self.ks.signals.dirty
    }

    /// What OBJECT ENCODING would say of a key; `none` if it is missing.
    pub fn encoding(&mut self, key: &str) -> &'static str {
        self.ks.peek(self.session.db, key.as_bytes()).map_or("none", |entry| entry.encoding())
    }

    /// When a key expires, in milliseconds from now.
    pub fn ttl_ms(&mut self, key: &str) -> Option<i64> {
        let now = self.ks.now_ms;
        self.ks.peek(self.session.db, key.as_bytes()).and_then(|entry| entry.expire_ms()).map(|at| at - now)
    }
}

/// The declaration of a command, its arity checked. Of a container, the sub-command's.
fn find(args: &[&[u8]]) -> Result<&'static CommandSpec<DataFn>, CmdError> {
    let same = |spec: &&CommandSpec<DataFn>, word: &[u8]| word.eq_ignore_ascii_case(spec.name.as_bytes());
    let mut all = super::FAMILIES.iter().copied().flatten();
    let top = all.find(|spec| same(spec, args[0])).ok_or_else(|| CmdError::unknown_command(args))?;
    let sub = args.get(1).and_then(|word| top.subcommands.iter().find(|spec| same(spec, word)));
    let spec = sub.unwrap_or(top);
    let least = spec.arity.unsigned_abs() as usize;
    let fits = if spec.arity < 0 { args.len() >= least } else { args.len() == least };
    if fits { Ok(spec) } else { Err(CmdError::arity(spec.name)) }
}

/// Where the value that begins at `at` ends; `None` if it is not complete or no value.
fn value_end(reply: &[u8], at: usize) -> Option<usize> {
    let line_len = reply.get(at..)?.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, next) = (&reply[at..at + line_len], at + line_len + 2);
    let count = || std::str::from_utf8(&line[1..]).ok()?.parse::<i64>().ok();
    let children = match line.first()? {
        b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => 0,
        b'$' | b'=' | b'!' => {
            let Ok(len) = usize::try_from(count()?) else { return Some(next) };
            return (reply.get(next + len..next + len + 2)? == b"\r\n").then_some(next + len + 2);
        }
        b'*' | b'~' | b'>' => count()?.max(0),
        b'%' | b'|' => count()? * 2,
        _ => return None,
    };
    (0..children).try_fold(next, |end, _| value_end(reply, end))
}

mod tests {
    use super::*;

    #[test]
    fn value_ends_are_found() {
        let whole: [&[u8]; 6] = [
            b"+OK\r\n",
            b"$-1\r\n",
            b"$2\r\na\n\r\n",
            b"*2\r\n:1\r\n*0\r\n",
            b"%1\r\n+a\r\n_\r\n",
            b"*-1\r\n",
        ];
        for reply in whole {
            assert_eq!(value_end(reply, 0), Some(reply.len()), "{}", reply.escape_ascii());
            assert_ne!(value_end(&reply[..reply.len() - 1], 0), Some(reply.len()));
        }
        let broken: [&[u8]; 4] = [b"", b"*2\r\n:1\r\n", b"$2\r\nabc\r\n", b"?\r\n"];
        for reply in broken {
            assert_eq!(value_end(reply, 0), None, "{}", reply.escape_ascii());
        }
    }
}
