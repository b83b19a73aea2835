//! Transactions: MULTI, EXEC, DISCARD, and WATCH with what it watches.

use crate::base::error::CmdError;
use crate::base::session::{ClientId, SessionFlags};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};

use crate::exec::Refusal;

use super::{Server, ServerFn};

/// The family's commands.
pub const SPECS: &[CommandSpec<ServerFn>] = &[
    CommandSpec {
        name: "discard",
        summary: "Drops the queued commands and leaves the transaction.",
        since: "2.0.0",
        group: Group::Transactions,
        complexity: "O(N) for N queued commands.",
        arity: 1,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::ALLOW_BUSY)
            .or(Flags::NOT_QUEUED),
        acl: Acl::TRANSACTION,
        handler: Some(discard),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "exec",
        summary: "Runs the queued commands as one.",
        since: "1.2.0",
        group: Group::Transactions,
        complexity: "Depends on the queued commands.",
        arity: 1,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::SKIP_SLOWLOG)
            .or(Flags::NOT_QUEUED)
            .or(Flags::RUNS_QUEUE),
        acl: Acl::TRANSACTION,
        handler: Some(exec),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "multi",
        summary: "Begins a transaction: commands are queued from here on.",
        since: "1.2.0",
        group: Group::Transactions,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::ALLOW_BUSY)
            .or(Flags::NOT_QUEUED),
        acl: Acl::TRANSACTION,
        handler: Some(multi),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "watch",
        summary: "Makes the coming transaction fail if one of the keys changes before it.",
        since: "2.2.0",
        group: Group::Transactions,
        complexity: "O(1) for each key.",
        arity: -2,
        flags: Flags::NOSCRIPT
            .or(Flags::LOADING)
            .or(Flags::STALE)
            .or(Flags::FAST)
            .or(Flags::ALLOW_BUSY)
            .or(Flags::NOT_QUEUED),
        acl: Acl::TRANSACTION,
        keys: &[KeySpec::one(KeyFlags::RO).to(-1)],
        syntax: "key...",
        handler: Some(watch),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "unwatch",
        summary: "Stops watching keys.",
        since: "2.2.0",
        group: Group::Transactions,
        complexity: "O(1)",
        arity: 1,
        flags: Flags::NOSCRIPT.or(Flags::LOADING).or(Flags::STALE).or(Flags::FAST).or(Flags::ALLOW_BUSY),
        acl: Acl::TRANSACTION,
        handler: Some(unwatch),
        ..CommandSpec::DEFAULT
    },
];

/// Watched keys listed for the databases, per key really watched, before the list is made anew.
const LISTED_PER_WATCHED_MAX: usize = 2;

fn multi(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let flags = &mut server.clients.get_mut(slot).session.flags;
    if flags.any(SessionFlags::MULTI) {
        return Err(CmdError::NESTED_MULTI);
    }
    flags.set(SessionFlags::MULTI, true);
    server.reply(slot).ok();
    Ok(())
}

fn discard(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    if !server.clients.get(slot).session.flags.any(SessionFlags::MULTI) {
        return Err(CmdError::DISCARD_WITHOUT_MULTI);
    }
    server.leave_multi(slot);
    server.reply(slot).ok();
    Ok(())
}

fn exec(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let flags = server.clients.get(slot).session.flags;
    if !flags.any(SessionFlags::MULTI) {
        return Err(CmdError::EXEC_WITHOUT_MULTI);
    }
    if flags.any(SessionFlags::MULTI_ABORTED) {
        server.leave_multi(slot);
        return Err(CmdError::EXEC_ABORT);
    }
    let unchanged = server.watched_unchanged(slot);
    let queue = std::mem::take(&mut server.clients.get_mut(slot).session.queue);
    // Watching ends before the commands run: their own changes are no conflict.
    server.leave_multi(slot);
    if !unchanged {
        server.reply(slot).null_array();
        return Ok(());
    }
    server.reply(slot).array(queue.len());
    let session = &mut server.clients.get_mut(slot).session;
    session.flags.set(SessionFlags::IN_EXEC, true);
    let count = queue.len();
    // CLIENT INFO shows how many there are, and a command may be CLIENT INFO.
    session.queue = queue;
    for at in 0..count {
        let words = std::mem::take(&mut server.clients.get_mut(slot).session.queue[at]);
        let args: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        server.run_queued(slot, &args);
    }
    let session = &mut server.clients.get_mut(slot).session;
    session.queue = Vec::new();
    session.flags.set(SessionFlags::IN_EXEC, false);
    Ok(())
}

fn watch(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let session = &server.clients.get(slot).session;
    if session.flags.any(SessionFlags::MULTI) {
        return Err(CmdError::WATCH_IN_MULTI);
    }
    let (client, db) = (session.id, session.db);
    for &key in &args[1..] {
        let was_expired = server.engine.ks.has_expired(db, key);
        server.watches.add(client, (db, key.to_vec()), was_expired);
        server.engine.ks.signals.watched.push((db, key.to_vec()));
    }
    server.watches_changed();
    server.reply(slot).ok();
    Ok(())
}

fn unwatch(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let client = server.clients.get(slot).session.id;
    server.forget_watches(client);
    server.reply(slot).ok();
    Ok(())
}

impl Server {
    /// Puts a command into the client's transaction.
    pub(super) fn queue_command(&mut self, slot: usize, index: u16, args: &[&[u8]]) {
        let words = args.iter().map(|arg| arg.to_vec()).collect();
        let bytes: usize = args.iter().map(|arg| arg.len()).sum();
        let session = &mut self.clients.get_mut(slot).session;
        if self.engine.registry.get(index).flags.any(Flags::WRITE.or(Flags::MAY_REPLICATE)) {
            session.flags.set(SessionFlags::MULTI_WRITES, true);
        }
        // One that cannot run needs no list of what it would have run.
        if !session.flags.any(SessionFlags::MULTI_ABORTED) {
            session.queue.push(words);
            session.queue_bytes += bytes;
        }
        self.reply(slot).simple("QUEUED");
    }

    /// Ends the client's transaction, run or not, and its watching.
    pub(super) fn leave_multi(&mut self, slot: usize) {
        let session = &mut self.clients.get_mut(slot).session;
        session.queue.clear();
        session.queue_bytes = 0;
        let all = SessionFlags::MULTI.or(SessionFlags::MULTI_ABORTED).or(SessionFlags::MULTI_WRITES);
        session.flags.set(all, false);
        let client = session.id;
        self.forget_watches(client);
    }

    fn watched_unchanged(&mut self, slot: usize) -> bool {
        let client = self.clients.get(slot).session.id;
        // A key whose time is over counts as changed, though nobody has noticed yet.
        let expirable = self.watches.expirable(client);
        let expired = expirable.iter().any(|(db, key)| self.engine.ks.has_expired(*db, key));
        !expired && !self.watches.failed(client)
    }

    /// Runs a queued command: the gates are asked again, since rights and memory may have changed.
    fn run_queued(&mut self, slot: usize, args: &[&[u8]]) {
        let index = match self.engine.registry.resolve(args) {
            Ok(index) => index,
            Err(error) => {
                self.engine.refused(None, &error);
                return self.reply(slot).error(&error);
            }
        };
        let command = self.engine.registry.get(index);
        let error = match self.engine.admit(command, &mut self.clients.get_mut(slot).session, args) {
            Ok(()) => return self.call(slot, index, args, None),
            Err(Refusal::Error(error)) => error,
            Err(Refusal::Denied(denial)) => {
                self.note_denial(slot, index, denial, args);
                CmdError::rights_changed(denial.reason.explanation())
            }
        };
        self.engine.refused(None, &error);
        self.reply(slot).error(&error);
    }

    /// Ends all watching of a client.
    pub(super) fn forget_watches(&mut self, client: ClientId) {
        if self.watches.count_of(client) > 0 {
            self.watches.remove(client);
            self.watches_changed();
        }
    }

    /// Lets the databases know which keys are watched.
    fn watches_changed(&mut self) {
        let listed = self.engine.ks.signals.watched.len();
        if listed > 16 + LISTED_PER_WATCHED_MAX * self.watches.keys_len() || self.watches.is_empty() {
            let all = (0..self.engine.ks.count()).flat_map(|db| self.watches.keys_in(db));
            self.engine.ks.signals.watched = all.collect();
        }
        self.listeners_changed();
    }
}
