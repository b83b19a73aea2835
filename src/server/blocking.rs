//! Clients that wait: for keys, for a deadline, or for the end of CLIENT PAUSE. How they begin to wait, are served in
//! their turn, give up, or are freed; and how changes reach those who wait or watch.

use crate::base::error::CmdError;
use crate::base::session::{ClientId, Session, SessionFlags};
use crate::cmd::ctx::{Block, Otherwise};
use crate::cmd::spec::Flags;
use crate::db::keyspace::{Cause, Touched};
use crate::db::value::Type;
use crate::exec::registry::Command;
use crate::registry::blocked::DbKey;
use crate::registry::watch::Change;

use super::Server;

/// A client's command that could not run yet.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The command, to be called again.
    args: Vec<Vec<u8>>,
    wants: Option<Type>,
    otherwise: Otherwise,
    /// It waits for the end of a pause, not for keys.
    postponed: bool,
}

/// CLIENT PAUSE: whose commands wait, and until when.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until_ms: Option<i64>,
    /// All commands wait, not just those that write.
    all: bool,
}

impl Pause {
    /// Whether a pause is on.
    #[inline]
    pub fn active(&self) -> bool {
        self.until_ms.is_some()
    }

    /// When it ends.
    pub fn until_ms(&self) -> Option<i64> {
        self.until_ms
    }

    /// Whether this command has to wait. What runs inside a transaction does not; its EXEC did or will.
    pub fn holds(&self, command: &Command, session: &Session) -> bool {
        if !self.active() || session.flags.any(SessionFlags::IN_EXEC) {
            return false;
        }
        let queue_writes =
            command.flags.any(Flags::RUNS_QUEUE) && session.flags.any(SessionFlags::MULTI_WRITES);
        self.all || queue_writes || command.flags.any(Flags::WRITE.or(Flags::MAY_REPLICATE))
    }

    /// Begins a pause, or lengthens the one that is on; a wider one is not narrowed.
    pub fn begin(&mut self, until_ms: i64, all: bool) {
        self.until_ms = Some(self.until_ms.map_or(until_ms, |until| until.max(until_ms)));
        self.all |= all;
    }

    /// Ends it.
    pub fn end(&mut self) {
        *self = Pause::default();
    }
}

impl Server {
    /// Lets a client wait for what its command could not get.
    pub(super) fn block(&mut self, slot: usize, args: &[&[u8]], block: Block) {
        let session = &mut self.clients.get_mut(slot).session;
        if session.flags.any(SessionFlags::RETRYING) {
            // It waits already, and keeps its place and its deadline.
            return;
        }
        session.flags.set(SessionFlags::BLOCKED, true);
        let (client, db) = (session.id, session.db);
        let keys: Vec<DbKey> = block.keys.into_iter().map(|key| (db, key)).collect();
        self.blocked.add(client, keys, block.deadline_ms);
        let waiting = Waiting {
            args: args.iter().map(|arg| arg.to_vec()).collect(),
            wants: block.wants,
            otherwise: block.otherwise,
            postponed: false,
        };
        self.waiting.insert(client, waiting);
        self.listeners_changed();
    }

    /// Holds a client's command back until the pause is over.
    pub(super) fn postpone(&mut self, slot: usize, args: &[&[u8]]) {
        let session = &mut self.clients.get_mut(slot).session;
        session.flags.set(SessionFlags::BLOCKED, true);
        let client = session.id;
        self.blocked.add(client, Vec::new(), None);
        let waiting = Waiting {
            args: args.iter().map(|arg| arg.to_vec()).collect(),
            wants: None,
            otherwise: Otherwise::Null,
            postponed: true,
        };
        self.waiting.insert(client, waiting);
    }

    /// Ends a client's waiting and lets its input go on.
    fn unblock(&mut self, slot: usize) -> Option<Waiting> {
        let client = self.clients.get(slot).session.id;
        let waiting = self.forget_blocked(client);
        self.clients.get_mut(slot).session.flags.set(SessionFlags::BLOCKED, false);
        self.clients.queue_read(slot);
        waiting
    }

    /// Takes a client out of the lines it waits in.
    pub(super) fn forget_blocked(&mut self, client: ClientId) -> Option<Waiting> {
        if self.blocked.remove(client) {
            self.listeners_changed();
        }
        self.waiting.remove(&client)
    }

    /// Passes on what the server itself has done to keys: expiry and the like.
    pub(super) fn pass_on_signals(&mut self) {
        self.pass_on_signals_of(None);
    }

    /// Passes on what a command left behind for others: changed keys and events. `by` is whose command it was.
    #[cold]
    pub(super) fn pass_on_signals_of(&mut self, by: Option<ClientId>) {
        let signals = &mut self.engine.ks.signals;
        let flushed = std::mem::take(&mut signals.flushed);
        let touched = std::mem::take(&mut signals.touched);
        let created = std::mem::take(&mut signals.created);
        let events = std::mem::take(&mut signals.events);
        let swapped = std::mem::take(&mut signals.swapped);
        if !self.tracking.is_empty() {
            if flushed {
                self.invalidate_all();
            }
            touched.iter().for_each(|touched| self.invalidate_key(touched, by));
        }
        for Touched { db, key, cause } in touched {
            if !self.watches.is_empty() {
                let key = (db, key);
                let change = match cause {
                    _ if self.engine.ks.contains(key.0, &key.1) => Change::Written,
                    Cause::AppearedExpired => Change::AppearedExpired,
                    Cause::Database if self.engine.ks.has_expired(key.0, &key.1) => Change::Expired,
                    _ => Change::Gone,
                };
                self.watches.touch(&key, change);
            }
        }
        // Whoever waits for a key waits for it to come into being. What replaces a value that was there serves nobody, as
        // in Redis.
        created.into_iter().for_each(|key| self.mark_ready(key));
        for db in swapped {
            for key in self.blocked.keys_in(db) {
                self.mark_ready((db, key));
            }
        }
        for event in events {
            self.notify(&event);
        }
    }

    fn mark_ready(&mut self, key: DbKey) {
        if self.blocked.any_keys() && self.blocked.waits_for(&key) && !self.ready_keys.contains(&key) {
            self.ready_keys.push(key);
        }
    }

    /// Serves those who wait for keys that have changed, the longest waiting first. What one of them does may serve
    /// others in turn.
    pub(super) fn serve_blocked(&mut self) {
        while !self.ready_keys.is_empty() {
            for key in std::mem::take(&mut self.ready_keys) {
                self.serve_line(&key);
            }
        }
    }

    fn serve_line(&mut self, key: &DbKey) {
        for client in self.blocked.line(key) {
            let Some(kind) = self.engine.ks.peek(key.0, &key.1).map(|entry| entry.type_of()) else { return };
            let wanted = self.waiting.get(&client).is_some_and(|w| w.wants.is_none_or(|t| t == kind));
            if wanted {
                self.retry(client);
            }
        }
    }

    /// Calls a waiting client's command again. If it is still not served, it goes on waiting in its place.
    fn retry(&mut self, client: ClientId) {
        let Some(slot) = self.clients.slot_of(client) else { return };
        let Some(waiting) = self.waiting.remove(&client) else { return };
        let flags = &mut self.clients.get_mut(slot).session.flags;
        flags.set(SessionFlags::RETRYING, true);
        flags.set(SessionFlags::BLOCKED, false);
        let args: Vec<&[u8]> = waiting.args.iter().map(Vec::as_slice).collect();
        // It was found when it began to wait, and commands do not go away.
        let Ok(index) = self.engine.registry.resolve(&args) else { return };
        let command = self.engine.registry.get(index);
        // Rights may have been taken away since it began to wait.
        if let Err(refusal) = self.engine.admit(command, &mut self.clients.get_mut(slot).session, &args) {
            self.clients.get_mut(slot).session.flags.set(SessionFlags::RETRYING, false);
            self.turn_away(slot, index, refusal, &args);
            self.unblock(slot);
            return;
        }
        let before = self.engine.stats_of(index);
        self.call(slot, index, &args, None);
        let served = self.engine.stats_of(index) != before;
        let flags = &mut self.clients.get_mut(slot).session.flags;
        flags.set(SessionFlags::RETRYING, false);
        if served {
            self.unblock(slot);
            self.after_command(slot);
            self.bound_output(slot);
        } else {
            flags.set(SessionFlags::BLOCKED, true);
            self.waiting.insert(client, waiting);
        }
    }

    /// Lets those give up whose deadline has come, and ends a pause whose time is over.
    pub(super) fn end_overdue_waits(&mut self) {
        let now_ms = self.engine.ks.now_ms;
        while let Some(client) = self.blocked.overdue(now_ms) {
            match self.clients.slot_of(client) {
                Some(slot) => self.give_up(slot),
                None => drop(self.forget_blocked(client)),
            }
        }
        if self.pause.until_ms().is_some_and(|until| until <= now_ms) {
            self.end_pause();
        }
    }

    fn give_up(&mut self, slot: usize) {
        if let Some(waiting) = self.unblock(slot) {
            let mut out = self.reply(slot);
            waiting.otherwise.write(true, &mut out);
            self.count_unserved(slot, Ok(()));
        }
        self.after_command(slot);
    }

    /// Counts a blocked command that ends without having been served.
    fn count_unserved(&mut self, slot: usize, result: Result<(), CmdError>) {
        if let Some(command) = self.clients.get(slot).session.last_command {
            self.engine.finished(command, 0, result);
            // It is over for whoever looks at commands as well.
            self.engine.take_noticed();
        }
    }

    /// Ends a pause: whatever waited for that runs now.
    pub(super) fn end_pause(&mut self) {
        self.pause.end();
        self.engine.ks.keep_expired = false;
        let mut postponed: Vec<ClientId> =
            self.waiting.iter().filter(|(_, waiting)| waiting.postponed).map(|(id, _)| *id).collect();
        postponed.sort_unstable();
        for client in postponed {
            let Some(slot) = self.clients.slot_of(client) else { continue };
            if let Some(waiting) = self.unblock(slot) {
                let args: Vec<&[u8]> = waiting.args.iter().map(Vec::as_slice).collect();
                self.execute(slot, &args, None);
            }
        }
    }

    /// CLIENT UNBLOCK: frees a client that waits for keys. Returns whether it did.
    pub(super) fn free_blocked(&mut self, client: ClientId, with_error: bool) -> bool {
        let waits = self.waiting.get(&client).is_some_and(|waiting| !waiting.postponed);
        let Some(slot) = self.clients.slot_of(client).filter(|_| waits) else { return false };
        if with_error {
            self.unblock(slot);
            self.count_unserved(slot, Err(CmdError::UNBLOCKED));
            self.reply(slot).error(&CmdError::UNBLOCKED);
        } else {
            self.give_up(slot);
        }
        true
    }

    /// Milliseconds until somebody's waiting ends by itself.
    pub(super) fn next_deadline_ms(&self) -> Option<i64> {
        let blocked = self.blocked.next_deadline_ms();
        let pause = self.pause.until_ms();
        let nearest = blocked.into_iter().chain(pause).min()?;
        Some((nearest - self.engine.ks.now_ms).max(0))
    }

    /// Tells the databases whether anybody wants to hear of changed keys.
    pub(super) fn listeners_changed(&mut self) {
        let watching = !self.watches.is_empty() || self.blocked.any_keys();
        self.engine.ks.signals.listening = watching || !self.tracking.is_empty();
    }
}
