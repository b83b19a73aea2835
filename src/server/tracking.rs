//! CLIENT TRACKING: remembers what clients have read and tells them when it changes, so that they may cache it.
//! What is remembered lives in `registry::tracking`; here is how it gets there, and how clients are told: by a push
//! message, or through another client of their choice.

use crate::base::error::CmdError;
use crate::base::limits::TRACKING_EVICTIONS_MAX;
use crate::base::num::parse_i64;
use crate::base::session::{ClientId, SessionFlags};
use crate::cmd::keys_of::keys_of;
use crate::cmd::spec::Flags;
use crate::db::keyspace::{Cause, Touched};
use crate::proto::reply::Reply;
use crate::registry::tracking::{Options, Tracker};

use super::Server;

/// Where clients that speak RESP2 subscribe for the messages of others.
const CHANNEL: &[u8] = b"__redis__:invalidate";

/// What CLIENT TRACKING asks for.
#[derive(Default)]
struct Request<'a> {
    options: Options,
    redirect: Option<ClientId>,
    prefixes: Vec<&'a [u8]>,
}

fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

fn parse<'a>(server: &Server, args: &[&'a [u8]]) -> Result<Request<'a>, CmdError> {
    let mut request = Request::default();
    let mut rest = args;
    while let [word, more @ ..] = rest {
        rest = more;
        match more {
            [id, more @ ..] if is(word, "redirect") => {
                if request.redirect.is_some() {
                    return Err(CmdError::TRACKING_TWO_REDIRECTS);
                }
                let id = parse_i64(id).ok_or(CmdError::NOT_INTEGER)? as u64;
                server.clients.slot_of(id).ok_or(CmdError::TRACKING_NO_SUCH_REDIRECT)?;
                request.redirect = Some(id);
                rest = more;
            }
            [prefix, more @ ..] if is(word, "prefix") => {
                request.prefixes.push(prefix);
                rest = more;
            }
            _ if is(word, "bcast") => request.options.bcast = true,
            _ if is(word, "optin") => request.options.opt_in = true,
            _ if is(word, "optout") => request.options.opt_out = true,
            _ if is(word, "noloop") => request.options.no_loop = true,
            _ => return Err(CmdError::SYNTAX),
        }
    }
    Ok(request)
}

impl Request<'_> {
    /// Whether the options fit together, and to how the client tracks already.
    fn check(&self, old: Option<&Tracker>) -> Result<(), CmdError> {
        let options = self.options;
        if !options.bcast && !self.prefixes.is_empty() {
            return Err(CmdError::TRACKING_PREFIX_WITHOUT_BCAST);
        }
        if old.is_some_and(|old| old.options.bcast != options.bcast) {
            return Err(CmdError::TRACKING_SWITCH_BCAST);
        }
        if options.bcast && (options.opt_in || options.opt_out) {
            return Err(CmdError::TRACKING_OPT_WITH_BCAST);
        }
        if options.opt_in && options.opt_out {
            return Err(CmdError::TRACKING_OPTIN_AND_OPTOUT);
        }
        let switches = |old: &Tracker| {
            (options.opt_in && old.options.opt_out) || (options.opt_out && old.options.opt_in)
        };
        if old.is_some_and(switches) {
            return Err(CmdError::TRACKING_SWITCH_OPT);
        }
        Ok(())
    }
}

pub(super) fn client_tracking(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let request = parse(server, &args[3..])?;
    let client = server.clients.get(slot).session.id;
    if is(args[2], "off") {
        server.stop_tracking(slot);
    } else if is(args[2], "on") {
        request.check(server.tracking.get(client))?;
        if let Err(overlap) = server.tracking.check_prefixes(client, &request.prefixes) {
            let kind = if overlap.existing { "an existing prefix" } else { "another provided prefix" };
            return Err(CmdError::prefix_overlap(&overlap.new, kind, &overlap.other));
        }
        server.tracking.enable(client, request.options, request.redirect, &request.prefixes);
        let flags = &mut server.clients.get_mut(slot).session.flags;
        flags.set(SessionFlags::TRACKS_READS, !request.options.bcast);
        server.listeners_changed();
    } else {
        return Err(CmdError::SYNTAX);
    }
    server.reply(slot).ok();
    Ok(())
}

pub(super) fn client_caching(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let client = server.clients.get(slot).session.id;
    let tracker = server.tracking.get(client).ok_or(CmdError::CACHING_WITHOUT_TRACKING)?;
    if is(args[2], "yes") {
        if !tracker.options.opt_in {
            return Err(CmdError::CACHING_YES_WITHOUT_OPTIN);
        }
    } else if is(args[2], "no") {
        if !tracker.options.opt_out {
            return Err(CmdError::CACHING_NO_WITHOUT_OPTOUT);
        }
    } else {
        return Err(CmdError::SYNTAX);
    }
    server.clients.get_mut(slot).session.flags.set(SessionFlags::CACHING, true);
    server.reply(slot).ok();
    Ok(())
}

pub(super) fn client_getredir(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let redirect = server.tracking_redirect(slot);
    server.reply(slot).int(redirect);
    Ok(())
}

pub(super) fn client_trackinginfo(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let session = &server.clients.get(slot).session;
    let caching = session.flags.any(SessionFlags::CACHING);
    let tracker = server.tracking.get(session.id);
    let words: Vec<&str> = match tracker {
        None => vec!["off"],
        Some(Tracker { options, broken, .. }) => [
            (true, "on"),
            (options.bcast, "bcast"),
            (options.opt_in, "optin"),
            (options.opt_in && caching, "caching-yes"),
            (options.opt_out, "optout"),
            (options.opt_out && caching, "caching-no"),
            (options.no_loop, "noloop"),
            (*broken, "broken_redirect"),
        ]
        .into_iter()
        .filter_map(|(on, word)| on.then_some(word))
        .collect(),
    };
    let prefixes: Vec<Vec<u8>> = tracker.iter().flat_map(|tracker| &tracker.prefixes).cloned().collect();
    let redirect = server.tracking_redirect(slot);
    let mut out = server.reply(slot);
    out.map(3);
    out.bulk(b"flags");
    out.set(words.len());
    words.iter().for_each(|word| out.bulk(word.as_bytes()));
    out.bulk(b"redirect");
    out.int(redirect);
    out.bulk(b"prefixes");
    out.array(prefixes.len());
    prefixes.iter().for_each(|prefix| out.bulk(prefix));
    Ok(())
}

impl Server {
    /// The client that is told in this one's place: 0 for itself, -1 if it does not track.
    pub(super) fn tracking_redirect(&self, slot: usize) -> i64 {
        let tracker = self.tracking.get(self.clients.get(slot).session.id);
        tracker.map_or(-1, |tracker| tracker.redirect.unwrap_or(0) as i64)
    }

    /// Ends a client's tracking.
    pub(super) fn stop_tracking(&mut self, slot: usize) {
        let session = &mut self.clients.get_mut(slot).session;
        session.flags.set(SessionFlags::TRACKS_READS.or(SessionFlags::CACHING), false);
        let client = session.id;
        if self.tracking.disable(client) {
            self.listeners_changed();
        }
    }

    /// Takes a client that has gone out of the tables.
    pub(super) fn forget_tracking(&mut self, client: ClientId) {
        let was_empty = self.tracking.is_empty();
        self.tracking.forget(client);
        if !was_empty {
            self.listeners_changed();
        }
    }

    /// Remembers the keys of a command that a tracking client has run. Scripts call it with each command of theirs.
    #[cold]
    pub(super) fn remember_reads(&mut self, slot: usize, index: u16, args: &[&[u8]]) {
        let session = &self.clients.get(slot).session;
        let Some(tracker) = self.tracking.get(session.id) else { return };
        let caching = session.flags.any(SessionFlags::CACHING);
        if (tracker.options.opt_in && !caching) || (tracker.options.opt_out && caching) {
            return;
        }
        let command = self.engine.registry.get(index);
        if command.flags.any(Flags::PUBSUB) {
            // Shard channels are found like keys, but are none.
            return;
        }
        for (at, _) in keys_of(command, args).unwrap_or_default() {
            self.tracking.remember(session.id, args[at]);
        }
        self.bound_tracking();
    }

    /// Ends what CLIENT CACHING said about the command that has just run, or about the transaction.
    #[cold]
    pub(super) fn end_caching(&mut self, slot: usize) {
        let session = &mut self.clients.get_mut(slot).session;
        let last = session.last_command.map(|index| self.engine.registry.get(index));
        // As in Redis, all of CLIENT's commands leave it alone, not just CACHING.
        let about_clients = last.is_some_and(|command| command.full_name.starts_with("client|"));
        if !session.flags.any(SessionFlags::MULTI) && !about_clients {
            session.flags.set(SessionFlags::CACHING, false);
        }
    }

    /// Keeps `tracking-table-max-keys`: the readers of random keys are told as if those had changed.
    pub(super) fn bound_tracking(&mut self) {
        let keys_max = self.engine.config.tracking_table_max_keys as usize;
        let mut evictions = 0;
        while keys_max > 0 && self.tracking.keys_len() > keys_max && evictions < TRACKING_EVICTIONS_MAX {
            let Some((key, readers)) = self.tracking.take_random(&mut self.engine.rng) else { return };
            self.tell_readers(&key, readers, None);
            evictions += 1;
        }
    }

    /// Tells those who may have cached a key that it has changed. `by` is the client whose command is running.
    pub(super) fn invalidate_key(&mut self, touched: &Touched, by: Option<ClientId>) {
        if matches!(touched.cause, Cause::Database | Cause::AppearedExpired) {
            // Emptied databases are told of by `invalidate_all`, exchanged ones not at all, as in Redis.
            return;
        }
        self.tracking.note_change(&touched.key, by.filter(|_| touched.cause == Cause::Command));
        let readers = self.tracking.take_readers(&touched.key);
        self.tell_readers(&touched.key, readers, by);
    }

    fn tell_readers(&mut self, key: &[u8], readers: Vec<ClientId>, by: Option<ClientId>) {
        for reader in readers {
            let Some(options) = self.tracking.get(reader).map(|tracker| tracker.options) else { continue };
            let own = options.no_loop && by == Some(reader);
            if !options.bcast && !own {
                self.send_invalidation(reader, |out| {
                    out.array(1);
                    out.bulk(key);
                });
            }
        }
    }

    /// Tells everybody who tracks that all keys may have changed.
    pub(super) fn invalidate_all(&mut self) {
        self.tracking.clear_keys();
        for client in self.tracking.clients() {
            self.send_invalidation(client, |out| out.null());
        }
    }

    /// Tells those who track by prefix what has changed in this turn.
    #[cold]
    pub(super) fn broadcast_invalidations(&mut self) {
        for broadcast in self.tracking.take_broadcasts() {
            for (client, no_loop) in broadcast.clients {
                let own = |by: &Option<ClientId>| no_loop && *by == Some(client);
                let count = broadcast.changes.values().filter(|by| !own(by)).count();
                if count == 0 {
                    continue;
                }
                self.send_invalidation(client, |out| {
                    out.array(count);
                    for (key, _) in broadcast.changes.iter().filter(|(_, by)| !own(by)) {
                        out.bulk(key);
                    }
                });
            }
        }
    }

    /// Sends a tracking client, or the one it named in its place, what `write` says is invalid.
    fn send_invalidation(&mut self, client: ClientId, write: impl FnOnce(&mut Reply)) {
        let Some(tracker) = self.tracking.get_mut(client) else { return };
        let redirect = tracker.redirect;
        let Some(slot) = self.clients.slot_of(redirect.unwrap_or(client)) else {
            if let Some(gone) = redirect {
                tracker.broken = true;
                self.tell_of_broken_redirect(client, gone);
            }
            return;
        };
        let flags = self.clients.get(slot).session.flags;
        let own = redirect.is_none_or(|other| other == client);
        if flags.any(SessionFlags::RESP3) {
            self.push_tracking(slot, own, |out| {
                out.push(2);
                out.bulk(b"invalidate");
                write(out);
            });
        } else if redirect.is_some() && flags.any(SessionFlags::SUBSCRIBED) {
            self.push_tracking(slot, own, |out| {
                out.push(3);
                out.bulk(b"message");
                out.bulk(CHANNEL);
                write(out);
            });
        }
        // RESP2 has no other way to say something unasked.
    }

    fn tell_of_broken_redirect(&mut self, client: ClientId, gone: ClientId) {
        let Some(slot) = self.clients.slot_of(client) else { return };
        if self.clients.get(slot).session.resp3() {
            self.push_tracking(slot, true, |out| {
                out.push(2);
                out.bulk(b"tracking-redir-broken");
                out.int(gone as i64);
            });
        }
    }

    /// Writes a message about tracking. What the running client hears about itself comes right behind its reply, before
    /// all other messages.
    fn push_tracking(&mut self, slot: usize, own: bool, write: impl FnOnce(&mut Reply)) {
        if own && self.running == Some(slot) {
            let resp3 = self.clients.get(slot).session.resp3();
            return write(&mut Reply::new(&mut self.own_invalidations, resp3));
        }
        let client = self.clients.get(slot).session.id;
        self.push_to(client, write);
    }
}
