//! Layer 1: the event loop's machinery, in the manner of Redis's `ae`: readiness, timers and the only clock.
//! It returns what happened and calls nobody; it knows tokens, not clients. Touches nothing else of the crate.
//!
//! mio is edge-triggered: a source is reported again only after it has been drained to `WouldBlock`, or after a short
//! read, which says the same. Whoever stops earlier keeps the source on a list of its own and polls with no wait.

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mio::event::Source;
use mio::{Events, Interest, Poll, Token};

#[path = "ae/ticks.rs"]
mod ticks;

/// What a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// A listening socket, by its place in the server's list.
    Listener(usize),
    /// A client: its slot and the slot's generation. A slot that was freed and given to another client has another
    /// generation, so an event that was meant for the old one is recognised.
    Client {
        /// Slot in the slab.
        slot: usize,
        /// Uses of that slot before.
        generation: u32,
    },
    /// The pipe that signal handlers write into.
    Signals,
}

const GENERATION_BITS: u32 = 24;
const SLOT_BITS: u32 = 32;
const KIND_SHIFT: u32 = SLOT_BITS + GENERATION_BITS;

impl Id {
    /// Generations wrap after this many uses of a slot.
    pub const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

    fn token(self) -> Token {
        let bits = match self {
            Id::Client { slot, generation } => {
                debug_assert!(slot < 1 << SLOT_BITS);
                (u64::from(generation & Id::GENERATION_MASK) << SLOT_BITS) | slot as u64
            }
            Id::Listener(index) => (1 << KIND_SHIFT) | index as u64,
            Id::Signals => 2 << KIND_SHIFT,
        };
        Token(bits as usize)
    }

    fn of(token: Token) -> Id {
        let bits = token.0 as u64;
        let slot = (bits & ((1 << SLOT_BITS) - 1)) as usize;
        match bits >> KIND_SHIFT {
            0 => Id::Client { slot, generation: (bits >> SLOT_BITS) as u32 & Id::GENERATION_MASK },
            1 => Id::Listener(slot),
            _ => Id::Signals,
        }
    }
}

const _: () = assert!(usize::BITS == 64, "tokens pack a kind, a generation and a slot");

/// Something that can be read or written.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// What.
    pub id: Id,
    /// Data, an end of stream or an error waits.
    pub readable: bool,
    /// The other side sends no more, or the connection is broken. There may be data in front of that.
    pub hung_up: bool,
    /// There is room for writing.
    pub writable: bool,
}

/// Readiness of sockets.
pub struct Poller {
    poll: Poll,
    events: Events,
}

impl Poller {
    /// `events_max` bounds what one call reports.
    pub fn new(events_max: usize) -> io::Result<Poller> {
        Ok(Poller { poll: Poll::new()?, events: Events::with_capacity(events_max) })
    }

    /// Reports when `source` becomes readable.
    pub fn watch(&self, source: &mut impl Source, id: Id) -> io::Result<()> {
        self.poll.registry().register(source, id.token(), Interest::READABLE)
    }

    /// Reports from now on also, or no longer, when `source` becomes writable.
    pub fn watch_writable(&self, source: &mut impl Source, id: Id, on: bool) -> io::Result<()> {
        let interest = if on { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.poll.registry().reregister(source, id.token(), interest)
    }

    /// Reports nothing of `source` any more.
    pub fn forget(&self, source: &mut impl Source) -> io::Result<()> {
        self.poll.registry().deregister(source)
    }

    /// Sleeps for a moment without looking at any source, so that what becomes ready meanwhile wakes nobody.
    pub fn nap(&self, nap: Duration) {
        std::thread::sleep(nap);
    }

    /// Waits for something to become ready, at most `wait`, and replaces `ready` by what did.
    pub fn poll(&mut self, wait: Duration, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        match self.poll.poll(&mut self.events, Some(wait)) {
            Ok(()) => {}
            // A signal; its handler has written into the pipe.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        ready.extend(self.events.iter().map(|event| Ready {
            id: Id::of(event.token()),
            readable: event.is_readable() || event.is_read_closed() || event.is_error(),
            hung_up: event.is_read_closed() || event.is_error(),
            writable: event.is_writable(),
        }));
        Ok(())
    }
}

/// The only reader of time. Everything else is told what time it is.
pub struct Clock {
    start: Instant,
    start_ticks: u64,
    source: ticks::Source,
}

impl Clock {
    /// Starts the monotonic clock at zero.
    pub fn new() -> Clock {
        let source = ticks::Source::choose();
        let start = Instant::now();
        Clock { start, start_ticks: source.now(start), source }
    }

    /// Microseconds since the epoch, as the machine's owner set it.
    pub fn wall_us(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_micros() as i64
    }

    /// Milliseconds since the epoch, as the machine's owner set it.
    pub fn wall_ms(&self) -> i64 {
        self.wall_us() / 1_000
    }

    /// Microseconds since the clock was made; never goes back.
    pub fn mono_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// A count that grows evenly with time and is cheap to read; see [`Clock::ticks_per_us`].
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.source.now(self.start)
    }

    /// Ticks in a microsecond, as counted since the start. The longer the clock runs, the more exact.
    pub fn ticks_per_us(&self) -> f64 {
        let us = self.start.elapsed().as_nanos() as f64 / 1_000.0;
        let ticks = self.ticks().wrapping_sub(self.start_ticks) as f64;
        if us > 0.0 && ticks > 0.0 { ticks / us } else { 1.0 }
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

/// A timer that fires again and again. Times are microseconds of [`Clock::mono_us`].
#[derive(Debug, Clone, Copy)]
pub struct Timer {
    due_us: u64,
    period_us: u64,
}

impl Timer {
    /// Fires `period` after `now_us` for the first time.
    pub fn new(now_us: u64, period: Duration) -> Timer {
        let period_us = period.as_micros() as u64;
        Timer { due_us: now_us + period_us, period_us }
    }

    /// How long until it fires.
    pub fn wait(&self, now_us: u64) -> Duration {
        Duration::from_micros(self.due_us.saturating_sub(now_us))
    }

    /// Whether it fires now; then it is set anew. A late timer fires once, not once per missed period.
    pub fn fire(&mut self, now_us: u64) -> bool {
        if now_us < self.due_us {
            return false;
        }
        self.due_us = now_us + self.period_us;
        true
    }

    /// Changes how often it fires.
    pub fn set_period(&mut self, period: Duration) {
        self.period_us = period.as_micros() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_their_meaning() {
        for id in [
            Id::Listener(3),
            Id::Signals,
            Id::Client { slot: 0, generation: 0 },
            Id::Client { slot: u32::MAX as usize, generation: Id::GENERATION_MASK },
        ] {
            assert_eq!(Id::of(id.token()), id);
        }
    }

    #[test]
    fn late_timer_fires_once() {
        let mut timer = Timer::new(0, Duration::from_millis(100));
        assert!(!timer.fire(99_999));
        assert!(timer.fire(1_000_000));
        assert!(!timer.fire(1_000_001));
        assert_eq!(timer.wait(1_050_000), Duration::from_micros(50_000));
    }

    #[test]
    fn ticks_run_with_the_clock() {
        let clock = Clock::new();
        let (us, ticks) = (clock.mono_us(), clock.ticks());
        std::thread::sleep(Duration::from_millis(20));
        let per_us = clock.ticks_per_us();
        let measured = (clock.ticks() - ticks) as f64 / per_us;
        let real = (clock.mono_us() - us) as f64;
        assert!((measured / real - 1.0).abs() < 0.2, "{measured} µs by ticks, {real} µs by the clock");
    }
}
