//! Keeping memory within bounds: the gate that commands pass under `maxmemory`, eviction of keys in slices of time,
//! and the thread that frees what is too large to be freed between two commands.
//!
//! Nothing here costs more than a comparison as long as memory is below the limit. Beyond it, every command first evicts
//! keys for at most the time that `maxmemory-eviction-tenacity` allows; what is left to do is done turn by turn while no
//! client has to wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::base::alloc;
use crate::base::error::CmdError;
use crate::base::session::SessionFlags;
use crate::cmd::spec::Flags;
use crate::db::evict::{Evictor, Room, frequency_for};
use crate::db::trash::{LazyRemovals, Rubbish};

use super::Server;

/// Microseconds of eviction before a command, for each step of tenacity up to `LINEAR_TENACITY_MAX`.
const US_PER_TENACITY: u64 = 50;
/// Beyond this tenacity each step takes `TENACITY_GROWTH` times as long as the one before.
const LINEAR_TENACITY_MAX: i64 = 10;
const TENACITY_GROWTH: f64 = 1.15;
/// From here on there is no limit to the time.
const TENACITY_MAX: i64 = 100;
/// How long to sleep at once while waiting for the other thread to free memory.
const NAP_MAX_US: u64 = 1_000;
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
    /// The thread that frees large things.
    pub reaper: Reaper,
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
            reaper: Reaper::default(),
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
        self.reaper.shared.freed.store(0, Relaxed);
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

/// What both sides of the reaper see.
#[derive(Default)]
struct Shared {
    pending: AtomicUsize,
    freed: AtomicUsize,
}

/// What the reaper is to do.
enum Job {
    Free(Rubbish),
    /// Give pages that are not in use back to the system.
    Purge,
}

/// Hands large things to a thread that frees them. The thread begins with the first of them.
#[derive(Default)]
pub(super) struct Reaper {
    to: Option<mpsc::Sender<Job>>,
    shared: Arc<Shared>,
}

impl Reaper {
    /// Objects that wait for being freed.
    pub fn pending(&self) -> usize {
        self.shared.pending.load(Relaxed)
    }

    /// Objects freed by the thread so far.
    pub fn freed(&self) -> usize {
        self.shared.freed.load(Relaxed)
    }

    /// Frees these things, sooner or later.
    fn free(&mut self, rubbish: Vec<Rubbish>) {
        for one in rubbish {
            self.shared.pending.fetch_add(one.objects(), Relaxed);
            self.send(Job::Free(one));
        }
    }

    fn send(&mut self, job: Job) {
        if self.to.is_none() {
            self.to = self.start();
        }
        match &self.to {
            // A thread that ended, which it does not, would have its share dropped here.
            Some(to) => drop(to.send(job)),
            None => job.run(&self.shared),
        }
    }

    /// Without a thread, things are done on the spot.
    fn start(&self) -> Option<mpsc::Sender<Job>> {
        let (to, from) = mpsc::channel::<Job>();
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("lazy-free".to_owned());
        thread.spawn(move || from.into_iter().for_each(|job| job.run(&shared))).ok().map(|_| to)
    }
}

impl Job {
    fn run(self, shared: &Shared) {
        match self {
            Job::Free(rubbish) => {
                let objects = rubbish.objects();
                drop(rubbish);
                shared.pending.fetch_sub(objects, Relaxed);
                shared.freed.fetch_add(objects, Relaxed);
            }
            Job::Purge => alloc::purge(true),
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
        let (evictor, reaper) = (&mut self.reclaim.evictor, &mut self.reclaim.reaper);
        evictor.configure(config.maxmemory_policy, config.maxmemory_samples as usize);
        let (clock, start_us) = (&self.clock, self.clock.mono_us());
        let (ks, rng) = (&mut self.engine.ks, &mut self.engine.rng);
        let mut room = evictor.make_room(ks, rng, excess, &alloc::used, &mut |ks| {
            reaper.free(ks.trash.take());
            clock.mono_us() - start_us > limit_us
        });
        self.send_trash();
        if room == Room::OutOfKeys && self.wait_for_reaper(start_us, limit_us) {
            room = Room::Enough;
        }
        self.reclaim.unfinished = room == Room::OutOfTime;
        self.reclaim.note_exceeded(room != Room::Enough, self.clock.mono_us());
        if self.engine.ks.has_signals() {
            self.pass_on_signals();
        }
        room
    }

    /// Nothing more can be evicted, but memory is still being freed: waits for that a little. Returns whether it sufficed.
    fn wait_for_reaper(&self, start_us: u64, limit_us: u64) -> bool {
        while self.reclaim.reaper.pending() > 0 && self.clock.mono_us() - start_us < limit_us {
            thread::sleep(Duration::from_micros(limit_us.min(NAP_MAX_US)));
            if self.excess_bytes() == 0 {
                return true;
            }
        }
        false
    }

    /// Whether a turn has keys to evict; then it does not sleep.
    pub(super) fn has_to_evict(&self) -> bool {
        self.reclaim.unfinished
    }

    /// What every turn does after its commands.
    #[inline]
    pub(super) fn reclaim_turn(&mut self) {
        if self.reclaim.unfinished {
            self.make_room();
        }
        self.send_trash();
    }

    /// What the timer does.
    pub(super) fn reclaim_tick(&mut self) {
        self.reclaim.peak_bytes = self.reclaim.peak_bytes();
        if self.excess_bytes() == 0 {
            self.reclaim.note_exceeded(false, self.clock.mono_us());
        }
        self.give_back_memory();
    }

    /// Gives pages back to the system after much has been freed. Each thread looks after the pages that it has allocated
    /// from, even if others have freed what was in them, so this one has to leave the empty ones to all first. That
    /// takes some microseconds for a megabyte. The system call takes longer and is for the other thread.
    fn give_back_memory(&mut self) {
        let used = alloc::used();
        self.reclaim.held_bytes = self.reclaim.held_bytes.max(used);
        let freed = self.reclaim.held_bytes - used;
        if freed > GIVE_BACK_BYTES_MIN.max(used) && self.reclaim.reaper.pending() == 0 {
            self.reclaim.held_bytes = used;
            alloc::purge(false);
            self.reclaim.reaper.send(Job::Purge);
        }
    }

    #[inline]
    fn send_trash(&mut self) {
        if !self.engine.ks.trash.is_empty() {
            self.reclaim.reaper.free(self.engine.ks.trash.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::keyspace::Keyspace;
    use crate::db::value::Value;
    use crate::types::table::Seed;

    #[test]
    fn tenacity_is_a_time() {
        for (tenacity, us) in [(0, 0), (1, 50), (10, 500), (11, 575), (20, 2_022), (100, u64::MAX)] {
            assert_eq!(eviction_us(tenacity), us, "tenacity {tenacity}");
        }
    }

    #[test]
    fn the_reaper_frees_what_it_is_sent() {
        let mut ks = Keyspace::new(1, Seed(9));
        let mut reaper = Reaper::default();
        for round in 1..=3 {
            for i in 0..1_000 {
                ks.set(0, format!("key{i}").as_bytes(), Value::Int(i), false);
            }
            ks.flush(None, true);
            reaper.free(ks.trash.take());
            while reaper.pending() > 0 {
                thread::yield_now();
            }
            // The count of the pending falls first.
            while reaper.freed() < 1_000 * round {
                thread::yield_now();
            }
            assert_eq!(reaper.freed(), 1_000 * round);
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
