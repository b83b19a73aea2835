//! What a command's handler is lent for one call, and what it answers to its caller. Touches base, proto and db.

use crate::base::Rand;
use crate::base::config::Config;
use crate::base::error::CmdError;
use crate::base::num::{parse_f64, parse_i64};
use crate::base::session::Session;
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::{Value, ValueRef};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The reply is written. If the command changed anything, it is repeated on replicas as it came.
    Done,
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

    /// When a list turns into a quicklist.
    pub fn list_limits(&self) -> ListLimits {
        ListLimits { max_listpack_size: self.config.list_max_listpack_size as i32 }
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
