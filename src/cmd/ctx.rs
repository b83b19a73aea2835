//! What a command's handler is lent for one call, and what it answers to its caller. Touches base, proto and db.

use crate::base::Rand;
use crate::base::config::Config;
use crate::base::error::CmdError;
use crate::base::limits::REPLY_CHUNK_BYTES;
use crate::base::longdouble::LongDouble;
use crate::base::num::{parse_f64, parse_i64};
use crate::base::session::{Session, SessionFlags};
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::{Type, Value, ValueRef};
use crate::proto::reply::Reply;
use crate::types::hash::HashLimits;
use crate::types::list::ListLimits;
use crate::types::set::SetLimits;
use crate::types::zset::ZsetLimits;

/// The handler of a command over data.
pub type DataFn = fn(&mut Ctx) -> CmdResult;

/// How a call ended.
pub type CmdResult = Result<Outcome, CmdError>;

/// What a handler that succeeded did.
#[derive(Debug)]
pub enum Outcome {
    /// The reply is written. If the command changed anything, it is repeated on replicas as it came.
    Done,
    /// Nothing is written or changed: the client waits, and the command is called again when one of the keys may
    /// serve it.
    Block(Box<Block>),
}

/// What a client waits for.
#[derive(Debug)]
pub struct Block {
    /// Keys of the selected database; may be empty, to wait for the deadline only.
    pub keys: Vec<Vec<u8>>,
    /// The type that a key must have to serve the command; others do not wake the client.
    pub wants: Option<Type>,
    /// When to give up, in milliseconds since the epoch; `None`: never.
    pub deadline_ms: Option<i64>,
    /// The reply on giving up, and at once where nothing may block.
    pub otherwise: Otherwise,
}

/// The reply of a blocking command that was not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// Nothing where an array could be.
    NullArray,
    /// Nothing where a string could be.
    Null,
    /// Nothing: where a string could be if the answer comes at once, where an array could be after a wait. That is how
    /// the commands that move an element answer.
    NullMove,
    /// A number.
    Int(i64),
    /// Two numbers.
    Ints(i64, i64),
}

impl Otherwise {
    /// Writes it. `waited` says whether the client has waited for it.
    pub fn write(self, waited: bool, out: &mut Reply) {
        match self {
            Otherwise::NullMove if !waited => out.null(),
            Otherwise::NullArray | Otherwise::NullMove => out.null_array(),
            Otherwise::Null => out.null(),
            Otherwise::Int(n) => out.int(n),
            Otherwise::Ints(a, b) => {
                out.array(2);
                out.int(a);
                out.int(b);
            }
        }
    }
}

/// The parts of the server that a command over data may use, for one call. All fields are disjoint borrows, so a
/// handler can hold a key's value and write its reply at the same time.
///
/// A handler that returns an error has changed nothing and written nothing.
pub struct Ctx<'a> {
    /// The databases.
    pub ks: &'a mut Keyspace,
    /// The calling client.
    pub session: &'a mut Session,
    /// The command and its arguments; the count is what the command's arity allows.
    pub args: &'a [&'a [u8]],
    /// Where the reply goes.
    pub out: Reply<'a>,
    /// The options in force.
    pub config: &'a Config,
    /// Chance.
    pub rng: &'a mut Rand,
    /// The allocation of the last argument, if it came in one of its own; then `args` shows it empty.
    /// See [`Ctx::take_value`].
    pub adopted: Option<Vec<u8>>,
}

impl<'a> Ctx<'a> {
    /// The selected database.
    #[inline]
    pub fn db(&self) -> usize {
        self.session.db
    }

    /// The time of this command, in milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        self.ks.now_ms
    }

    /// An argument as a 64-bit integer.
    pub fn int(&self, index: usize) -> Result<i64, CmdError> {
        parse_i64(self.args[index]).ok_or(CmdError::NOT_INTEGER)
    }

    /// An argument as a floating point number.
    pub fn float(&self, index: usize) -> Result<f64, CmdError> {
        parse_f64(self.args[index]).ok_or(CmdError::NOT_FLOAT)
    }

    /// An argument as a count that is not negative.
    pub fn count(&self, index: usize) -> Result<usize, CmdError> {
        match parse_i64(self.args[index]) {
            Some(n) if n >= 0 => Ok(n as usize),
            _ => Err(CmdError::NOT_POSITIVE),
        }
    }

    /// A time-out in seconds, with fractions, as a deadline; 0 is no deadline. The error texts are Redis's.
    pub fn deadline(&self, text: &[u8]) -> Result<Option<i64>, CmdError> {
        LongDouble::parse(text).ok_or(CmdError::TIMEOUT_NOT_FLOAT)?;
        // What is a number only for the wider type is out of range in any case.
        self.deadline_after(parse_f64(text).unwrap_or(f64::INFINITY) * 1_000.0)
    }

    /// A time-out in milliseconds as a deadline; 0 is no deadline.
    pub fn deadline_after(&self, timeout_ms: f64) -> Result<Option<i64>, CmdError> {
        if timeout_ms > i64::MAX as f64 {
            return Err(CmdError::TIMEOUT_OUT_OF_RANGE);
        }
        // Rounded up, so that a tiny time-out is not mistaken for none.
        let timeout_ms = timeout_ms.ceil() as i64;
        if timeout_ms < 0 {
            return Err(CmdError::TIMEOUT_NEGATIVE);
        }
        if timeout_ms == 0 {
            return Ok(None);
        }
        let deadline = timeout_ms.checked_add(self.ks.now_ms).ok_or(CmdError::TIMEOUT_OUT_OF_RANGE)?;
        Ok(Some(deadline))
    }

    /// Whether an argument is this word, in any case.
    #[inline]
    pub fn is_word(&self, index: usize, word: &str) -> bool {
        self.args[index].eq_ignore_ascii_case(word.as_bytes())
    }

    /// The last argument as a value to store: its own allocation if it has one. For commands that declare
    /// `Flags::ADOPTS_VALUE`; they read that argument in no other way.
    #[inline]
    pub fn take_value(&mut self, index: usize) -> Value<'a> {
        debug_assert_eq!(index, self.args.len() - 1);
        match self.adopted.take() {
            Some(bytes) => Value::Owned(bytes),
            None => Value::string(self.args[index]),
        }
    }

    /// Looks a key up for reading.
    #[inline]
    pub fn read(&mut self, key: &[u8]) -> Option<ValueRef<'_>> {
        let db = self.session.db;
        self.ks.read(db, key).map(|entry| entry.value())
    }

    /// Takes note of a change of a key in the selected database; see [`Keyspace::changed`].
    #[inline]
    pub fn changed(&mut self, key: &[u8], class: EventClass, name: &'static str, dirty: u64) {
        let db = self.session.db;
        self.ks.changed(db, key, class, name, dirty);
    }

    /// Deletes a collection that has become empty, with the event `del`.
    pub fn delete_emptied(&mut self, key: &[u8]) {
        let db = self.session.db;
        let gone = self.ks.take(db, key);
        debug_assert!(gone.is_some_and(|entry| entry.value().is_empty()));
        self.ks.changed(db, key, EventClass::GENERIC, "del", 0);
    }

    /// Waiting bytes of replies beyond which commands that make up long ones may stop: the client is dropped for
    /// `client-output-buffer-limit` when they are through, or does not want to hear anything.
    pub fn reply_bytes_max(&self) -> usize {
        if self.session.muted() {
            return 0;
        }
        let limits = &self.config.client_output_buffer_limit;
        let subscribed = self.session.flags.any(SessionFlags::SUBSCRIBED);
        match if subscribed { limits.pubsub.hard_bytes } else { limits.normal.hard_bytes } {
            0 => usize::MAX,
            bytes => (bytes as usize).saturating_add(REPLY_CHUNK_BYTES),
        }
    }

    /// When a list turns into a quicklist.
    pub fn list_limits(&self) -> ListLimits {
        ListLimits {
            max_listpack_size: self.config.list_max_listpack_size as i32,
            compress_depth: self.config.list_compress_depth as u32,
            large_from: self.ks.large_from,
        }
    }

    /// When a set changes its encoding.
    pub fn set_limits(&self) -> SetLimits {
        SetLimits {
            intset_entries: self.config.set_max_intset_entries as usize,
            listpack_entries: self.config.set_max_listpack_entries as usize,
            listpack_value: self.config.set_max_listpack_value as usize,
        }
    }

    /// When a hash changes its encoding.
    pub fn hash_limits(&self) -> HashLimits {
        HashLimits {
            listpack_entries: self.config.hash_max_listpack_entries as usize,
            listpack_value: self.config.hash_max_listpack_value as usize,
        }
    }

    /// When a sorted set changes its encoding.
    pub fn zset_limits(&self) -> ZsetLimits {
        ZsetLimits {
            max_listpack_entries: self.config.zset_max_listpack_entries as usize,
            max_listpack_value: self.config.zset_max_listpack_value as usize,
        }
    }
}
