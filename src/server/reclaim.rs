//! Keeping memory within bounds: the gate that commands pass under `maxmemory`, eviction of keys in slices of time,
//! and freeing bit by bit what is too large to be freed at once.
//!
//! Nothing here costs more than a comparison as long as memory is below the limit. Beyond it, every command first evicts
//! keys for at most the time that `maxmemory-eviction-tenacity` allows; what is left to do is done turn by turn while no
//! client has to wait for it.

use std::thread;

use crate::base::alloc;
use crate::base::error::CmdError;
use crate::base::session::SessionFlags;
use crate::cmd::spec::Flags;
use crate::db::evict::{Evictor, Room, frequency_for};
use crate::db::trash::LazyRemovals;

use super::Server;

/// Microseconds of eviction before a command, for each step of tenacity up to `LINEAR_TENACITY_MAX`.
const US_PER_TENACITY: u64 = 50;
/// Beyond this tenacity each step takes `TENACITY_GROWTH` times as long as the one before.
const LINEAR_TENACITY_MAX: i64 = 10;
const TENACITY_GROWTH: f64 = 1.15;
/// From here on there is no limit to the time.
const TENACITY_MAX: i64 = 100;
/// Microseconds of every turn for freeing what is in the trash.
const FREEING_US: u64 = 50;
/// Buckets freed between two looks at the clock.
const BUCKETS_PER_CHECK: usize = 16;
/// Memory is given back to the system when at least so much, and half of what was in use, has been freed.
const GIVE_BACK_BYTES_MIN: usize = 16 << 20;

/// What goes with keeping memory within bounds.
pub(super) struct Reclaim {
    evictor: Evictor,
    /// Keys still have to go: every turn goes on with it.
    unfinished: bool,
    /// Since when memory has been beyond the limit though keys were evicted, by the monotonic clock.
    exceeded_since_us: Option<u64>,
    /// How long that was the case in all, before `exceeded_since_us`.
    exceeded_us: u64,
    /// Clients closed for `maxmemory-clients`.
    pub evicted_clients: u64,
    /// The most bytes in use since memory was last given back to the system.
    held_bytes: usize,
    peak_bytes: usize,
    /// Bytes in use when the server had started.
    pub startup_bytes: usize,
}

impl Reclaim {
    /// For a server that has just started.
    pub fn new() -> Reclaim {
        let bytes = alloc::used();
        Reclaim {
            evictor: Evictor::default(),
            unfinished: false,
            exceeded_since_us: None,
            exceeded_us: 0,
            evicted_clients: 0,
            held_bytes: bytes,
            peak_bytes: bytes,
            startup_bytes: bytes,
        }
    }

    /// The most bytes that were ever seen in use.
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes.max(alloc::used())
    }

    /// How long memory was beyond the limit in all, and how long it has been this time, in microseconds.
    pub fn exceeded_us(&self, now_us: u64) -> (u64, u64) {
        let current = self.exceeded_since_us.map_or(0, |since| now_us.saturating_sub(since));
        (self.exceeded_us + current, current)
    }

    /// Sets the statistics back, but for the peak.
    pub fn reset_stats(&mut self, now_us: u64) {
        self.evicted_clients = 0;
        self.exceeded_us = 0;
        self.exceeded_since_us = self.exceeded_since_us.map(|_| now_us);
    }

    fn note_exceeded(&mut self, exceeded: bool, now_us: u64) {
        match (self.exceeded_since_us, exceeded) {
            (None, true) => self.exceeded_since_us = Some(now_us),
            (Some(since), false) => {
                self.exceeded_us += now_us.saturating_sub(since);
                self.exceeded_since_us = None;
            }
            _ => {}
        }
    }
}

/// How long eviction may take before a command.
fn eviction_us(tenacity: i64) -> u64 {
    match tenacity {
        ..=LINEAR_TENACITY_MAX => US_PER_TENACITY * tenacity.max(0) as u64,
        TENACITY_MAX.. => u64::MAX,
        _ => {
            let linear = (US_PER_TENACITY * LINEAR_TENACITY_MAX as u64) as f64;
            (linear * TENACITY_GROWTH.powi((tenacity - LINEAR_TENACITY_MAX) as i32)) as u64
        }
    }
}

impl Server {
    /// Lets the databases know of the options that concern them, at the start and when options have changed.
    pub(super) fn note_memory_options(&mut self) {
        let (config, ks) = (&self.engine.config, &mut self.engine.ks);
        ks.lazy = LazyRemovals {
            expired: config.lazyfree_lazy_expire,
            evicted: config.lazyfree_lazy_eviction,
            replaced: config.lazyfree_lazy_server_del,
        };
        let (policy, rng) = (config.maxmemory_policy, &mut self.engine.rng);
        ks.frequency = frequency_for(policy, config.lfu_log_factor, config.lfu_decay_time, rng);
    }

    /// A new `maxmemory` has come into force: what is beyond it goes at once, not with the next command only.
    pub(super) fn maxmemory_changed(&mut self) {
        if self.excess_bytes() > 0 {
            let (limit, used) = (self.engine.config.maxmemory, alloc::used());
            self.log.warning(&format!(
                "The new maxmemory of {limit} bytes is less than the {used} in use: keys will be evicted or writes \
                 refused, as maxmemory-policy says."
            ));
            self.reclaim.unfinished = true;
        }
    }

    /// Memory in use that does not count against `maxmemory`: what is about to be freed, or at hand to be used again.
    pub(super) fn uncounted_bytes(&self) -> usize {
        self.clients.spare_bytes()
    }

    /// Bytes in use beyond `maxmemory`.
    fn excess_bytes(&self) -> usize {
        let limit = usize::try_from(self.engine.config.maxmemory).unwrap_or(usize::MAX);
        if limit == 0 {
            return 0;
        }
        alloc::used().saturating_sub(self.uncounted_bytes()).saturating_sub(limit)
    }

    /// The gate of `maxmemory`: makes room if need be, and refuses a command that may need more of it if there is none.
    #[inline]
    pub(super) fn memory_gate(&mut self, slot: usize, index: u16) -> Result<(), CmdError> {
        let limit = self.engine.config.maxmemory;
        if limit == 0 || alloc::used() as u64 <= limit {
            return Ok(());
        }
        self.memory_gate_beyond(slot, index)
    }

    #[cold]
    fn memory_gate_beyond(&mut self, slot: usize, index: u16) -> Result<(), CmdError> {
        if self.make_room() == Room::OutOfKeys && self.may_take_memory(slot, index) {
            return Err(CmdError::OOM);
        }
        Ok(())
    }

    /// Whether a command could take memory: one that says so, one that would be queued, and a transaction with such a one.
    fn may_take_memory(&self, slot: usize, index: u16) -> bool {
        let command = self.engine.registry.get(index);
        let session = &self.clients.get(slot).session;
        if command.flags.any(Flags::DENYOOM) {
            return true;
        }
        if !session.flags.any(SessionFlags::MULTI) {
            return false;
        }
        if !command.flags.any(Flags::NOT_QUEUED) {
            return true;
        }
        command.full_name == "exec"
            && session.queue.iter().any(|words| {
                let args: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                let queued = self.engine.registry.resolve(&args);
                queued.is_ok_and(|queued| self.engine.registry.get(queued).flags.any(Flags::DENYOOM))
            })
    }

    /// Evicts keys until memory is within the limit or the time for it is over, and tells whoever wants to know.
    pub(super) fn make_room(&mut self) -> Room {
        self.reclaim.unfinished = false;
        // Clients who take too much go before keys do.
        self.evict_clients();
        let excess = self.excess_bytes();
        // While everything is paused, keys must not go either.
        if excess == 0 || self.pause.active() {
            return Room::Enough;
        }
        let config = &self.engine.config;
        let limit_us = eviction_us(config.maxmemory_eviction_tenacity);
        let evictor = &mut self.reclaim.evictor;
        evictor.configure(config.maxmemory_policy, config.maxmemory_samples as usize);
        let (clock, start_us) = (&self.clock, self.clock.mono_us());
        let (ks, rng) = (&mut self.engine.ks, &mut self.engine.rng);
        let out_of_time = &mut || clock.mono_us() - start_us > limit_us;
        let room = evictor.make_room(ks, rng, excess, &alloc::used, out_of_time);
        self.reclaim.unfinished = room == Room::OutOfTime;
        let end_us = self.clock.mono_us();
        self.reclaim.note_exceeded(room != Room::Enough, end_us);
        self.latency_spike("eviction-cycle", end_us - start_us);
        if self.engine.ks.has_signals() {
            self.pass_on_signals();
        }
        room
    }

    /// Whether there is something to evict or to free; then no turn sleeps.
    pub(super) fn has_to_reclaim(&self) -> bool {
        self.reclaim.unfinished || !self.engine.ks.trash.is_empty()
    }

    /// What every turn does after its commands.
    #[inline]
    pub(super) fn reclaim_turn(&mut self) {
        if self.reclaim.unfinished {
            self.make_room();
        } else if !self.engine.ks.trash.is_empty() {
            self.free_trash();
        }
    }

    /// Frees some of what is in the trash.
    #[cold]
    fn free_trash(&mut self) {
        let start_us = self.clock.mono_us();
        while self.engine.ks.trash.step(BUCKETS_PER_CHECK) {
            if self.clock.mono_us() - start_us >= FREEING_US {
                break;
            }
        }
    }

    /// What the timer does.
    pub(super) fn reclaim_tick(&mut self) {
        self.reclaim.peak_bytes = self.reclaim.peak_bytes();
        if self.excess_bytes() == 0 {
            self.reclaim.note_exceeded(false, self.clock.mono_us());
        }
        self.give_back_memory();
    }

    /// Gives pages back to the system after much has been freed. Our own part is to leave the empty ones to all threads,
    /// which takes some time for each page in use. The system calls take longer, a second for ten gigabytes, and are made
    /// by a thread that lives for this only.
    fn give_back_memory(&mut self) {
        let used = alloc::used();
        self.reclaim.held_bytes = self.reclaim.held_bytes.max(used);
        let freed = self.reclaim.held_bytes - used;
        if freed > GIVE_BACK_BYTES_MIN.max(used) && self.engine.ks.trash.is_empty() {
            self.reclaim.held_bytes = used;
            alloc::purge(false);
            let thread = thread::Builder::new().name("purge".to_owned());
            // Without the thread, pages go back when the allocator next happens to look after them.
            let _ = thread.spawn(|| alloc::purge(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenacity_is_a_time() {
        for (tenacity, us) in [(0, 0), (1, 50), (10, 500), (11, 575), (20, 2_022), (100, u64::MAX)] {
            assert_eq!(eviction_us(tenacity), us, "tenacity {tenacity}");
        }
    }

    #[test]
    fn time_beyond_the_limit_is_counted_once() {
        let mut reclaim = Reclaim::new();
        for (exceeded, at) in [(false, 5), (true, 10), (true, 20), (false, 30), (false, 40), (true, 50)] {
            reclaim.note_exceeded(exceeded, at);
        }
        assert_eq!(reclaim.exceeded_us(55), (25, 5));
        reclaim.reset_stats(60);
        assert_eq!(reclaim.exceeded_us(65), (5, 5));
    }
}
