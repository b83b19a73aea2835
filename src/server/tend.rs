//! Looking after clients: how much memory they take, who has to go for it, whose replies pile up, who is idle.
//!
//! Client eviction (`maxmemory-clients`) works on a running sum: whoever was read from, written to or pushed to is counted
//! anew, and only while there is such a limit. Everybody else is reached by the timer, which goes round all clients about
//! once a second.

use crate::base::config::Config;
use crate::base::limits::{CLIENTS_TENDED_PER_TICK_MIN, UNAUTHENTICATED_REPLY_BYTES_MAX};
use crate::base::session::SessionFlags;
use crate::registry::pubsub::Kind;

use super::Server;
use super::client::describe;

/// `maxmemory-clients` below this is taken for this.
const CLIENT_MEMORY_MIN: u64 = 128 * 1024;

/// A client's buffers go after so many milliseconds without a request.
const IDLE_MS: i64 = 2_000;

/// About what one watched key, one subscription and one tracked prefix take.
const WATCH_BYTES: usize = 100;
const SUBSCRIPTION_BYTES: usize = 160;
const PREFIX_BYTES: usize = 160;

/// Bytes that all clients together may take, if there is a limit.
fn client_memory_max(config: &Config) -> Option<u64> {
    let limit = match config.maxmemory_clients {
        0 => return None,
        percent @ ..0 if config.maxmemory > 0 => {
            (config.maxmemory as f64 * percent.unsigned_abs() as f64 / 100.0) as u64
        }
        ..0 => return None,
        bytes => bytes as u64,
    };
    Some(limit.max(CLIENT_MEMORY_MIN))
}

impl Server {
    /// Bytes that a client's entries in the server's tables take, about.
    fn table_bytes(&self, slot: usize) -> usize {
        let client = self.clients.get(slot).session.id;
        let kinds = [Kind::Channel, Kind::Pattern, Kind::Shard];
        let subscriptions: usize = kinds.iter().map(|&kind| self.pubsub.count_of(kind, client)).sum();
        let prefixes = self.tracking.get(client).map_or(0, |tracker| tracker.prefixes.len());
        self.watches.count_of(client) * WATCH_BYTES
            + subscriptions * SUBSCRIPTION_BYTES
            + prefixes * PREFIX_BYTES
    }

    /// Bytes of memory that a client takes.
    pub(super) fn client_bytes(&self, slot: usize) -> usize {
        let client = self.clients.get(slot);
        client.mem_size() - client.table_bytes + self.table_bytes(slot)
    }

    /// Takes note of the memory that a client takes now, if there is a limit for all clients.
    #[inline]
    pub(super) fn recount(&mut self, slot: usize) {
        if self.engine.config.maxmemory_clients != 0 {
            self.recount_now(slot);
        }
    }

    #[cold]
    fn recount_now(&mut self, slot: usize) {
        let bytes = self.table_bytes(slot);
        let limited = self.engine.config.maxmemory_clients != 0;
        let client = self.clients.get_mut(slot);
        client.table_bytes = bytes;
        let evictable = limited && !client.session.flags.any(SessionFlags::NO_EVICT);
        self.clients.recount(slot, evictable);
    }

    /// Takes note that `maxmemory-clients` has changed.
    pub(super) fn client_memory_changed(&mut self) {
        self.clients.slots_by_id().into_iter().for_each(|slot| self.recount_now(slot));
    }

    /// Closes the clients that take most memory until all together take less than `maxmemory-clients`.
    #[inline]
    pub(super) fn evict_clients(&mut self) {
        let limit = client_memory_max(&self.engine.config);
        if limit.is_some_and(|limit| self.clients.counted_bytes() as u64 >= limit) {
            self.evict_clients_to(limit.unwrap_or(0));
        }
    }

    #[cold]
    fn evict_clients_to(&mut self, limit: u64) {
        for slot in self.clients.largest_first() {
            if (self.clients.counted_bytes() as u64) < limit {
                break;
            }
            let about = describe(self, slot);
            self.log.notice(&format!("Evicting client: {about}"));
            self.reclaim.evicted_clients += 1;
            self.clients.close(slot);
        }
    }

    /// Drops a client whose replies pile up beyond `client-output-buffer-limit`.
    #[inline]
    pub(super) fn bound_output(&mut self, slot: usize) {
        let client = self.clients.get(slot);
        if client.output.excess_bytes() != 0 || client.soft_limit_since_ms.is_some() {
            self.bound_large_output(slot);
        }
    }

    #[cold]
    fn bound_large_output(&mut self, slot: usize) {
        let (now, limits) = (self.engine.ks.now_ms, self.engine.config.client_output_buffer_limit);
        let login_required = self.engine.acl.users.login_required();
        let client = self.clients.get_mut(slot);
        let bytes = client.output.excess_bytes();
        let subscribed = client.session.flags.any(SessionFlags::SUBSCRIBED);
        let limit = if subscribed { limits.pubsub } else { limits.normal };
        let locked_out = login_required && !client.session.authenticated;
        let hard = (limit.hard_bytes != 0 && bytes as u64 >= limit.hard_bytes)
            || (locked_out && client.output.len() as u64 > UNAUTHENTICATED_REPLY_BYTES_MAX);
        let soft = limit.soft_bytes != 0 && bytes as u64 >= limit.soft_bytes;
        if !soft {
            client.soft_limit_since_ms = None;
        }
        let since = if soft { *client.soft_limit_since_ms.get_or_insert(now) } else { now };
        if !client.closing() && (hard || now - since > limit.soft_seconds * 1_000) {
            let about = describe(self, slot);
            let text = "scheduled to be closed ASAP for overcoming of output buffer limits.";
            self.log.warning(&format!("Client {about} {text}"));
            self.stats.output_buffer_limit_disconnections += 1;
            self.clients.close(slot);
        }
    }

    /// Looks after the clients whose turn it is: everybody about once a second, at least a few each time.
    pub(super) fn tend_clients(&mut self) {
        let per_tick = self.clients.len() / self.hz() as usize;
        let count = per_tick.max(CLIENTS_TENDED_PER_TICK_MIN);
        let mut from = self.tend_from;
        for slot in self.clients.next_slots(&mut from, count) {
            self.tend_client(slot);
        }
        self.tend_from = from;
    }

    fn tend_client(&mut self, slot: usize) {
        let now = self.engine.ks.now_ms;
        let timeout_ms = self.engine.config.timeout.saturating_mul(1_000);
        let policy = self.reply_room;
        let client = self.clients.get_mut(slot);
        let idle_ms = now - client.session.active_ms;
        // Who waits for something, or listens, has reason to say nothing.
        let silent = SessionFlags::BLOCKED.or(SessionFlags::SUBSCRIBED).or(SessionFlags::MONITOR);
        if timeout_ms > 0 && idle_ms > timeout_ms && !client.session.flags.any(silent) {
            self.log.verbose("Closing idle client");
            return self.clients.close(slot);
        }
        client.trim(idle_ms > IDLE_MS);
        let (waiting, free) = client.input_room();
        client.request_room.tend(waiting, idle_ms > IDLE_MS);
        let (inputs, outputs) = &mut self.stats.recent_buffers;
        inputs.note(waiting + free + client.arguments.mem_size(), now / 1_000);
        outputs.note(client.output.mem_size(), now / 1_000);
        match client.room.tend(client.output.len(), now, policy) {
            Some(true) => self.stats.reply_buffer_expands += 1,
            Some(false) => self.stats.reply_buffer_shrinks += 1,
            None => {}
        }
        self.bound_output(slot);
        self.recount_now(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_memory_is_bytes_or_a_share() {
        let with = |clients, max| {
            let config = Config { maxmemory_clients: clients, maxmemory: max, ..Config::default() };
            client_memory_max(&config)
        };
        assert_eq!((with(0, 0), with(-5, 0)), (None, None));
        assert_eq!((with(1, 0), with(3 << 20, 0)), (Some(CLIENT_MEMORY_MIN), Some(3 << 20)));
        assert_eq!(with(-5, 100_000_000), Some(5_000_000));
    }
}
