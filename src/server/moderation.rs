//! When to let requests gather before the loop looks for them: the idea of interrupt moderation, for a poll loop.
//! Pure: decides, sleeps not. Touches nothing.
//!
//! A server that is faster than its clients goes to sleep after every few requests, and each request that finds it
//! asleep pays for waking it: an interrupt to another processor, most of it on the sender's side. While several
//! clients pipeline their requests, and so ask for throughput rather than for the shortest answer, a nap of some
//! microseconds costs them nothing that they notice and saves both sides most of that. Clients that send one request
//! and wait for its answer are never made to wait. docs/decisions/010-moderation.md has the measurements.

use std::time::Duration;

/// The nap. Between two requests of a busy redis-benchmark lie some 10 µs.
const NAP: Duration = Duration::from_micros(20);

/// A turn that served this many clients found enough; gathering more would only delay them.
const CLIENTS_ENOUGH: usize = 16;

/// Requests per served client from which clients count as pipelining.
const PIPELINE_REQUESTS_MIN: u64 = 3;

/// Waiting for events longer than this means that there was nothing to do.
const IDLE_US: f64 = 3.0;

/// What the last turn was like.
#[derive(Debug, Default)]
pub struct Moderation {
    requests_before: u64,
    had_spare_time: bool,
}

impl Moderation {
    /// How long to let requests gather before the next poll. `served` clients had something in the last turn, and
    /// `requests` have been run since the start.
    #[inline]
    pub fn nap(&mut self, served: usize, requests: u64) -> Option<Duration> {
        // CONFIG RESETSTAT sets the count back.
        let run = requests.saturating_sub(self.requests_before);
        self.requests_before = requests;
        let several = (2..CLIENTS_ENOUGH).contains(&served);
        let pipelining = run >= PIPELINE_REQUESTS_MIN * served as u64;
        (self.had_spare_time && several && pipelining).then_some(NAP)
    }

    /// Takes note of whether the turn left time: it napped, or the poll had to wait.
    #[inline]
    pub fn polled(&mut self, napped: bool, waited_us: f64) {
        self.had_spare_time = napped || waited_us > IDLE_US;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_several_pipelining_clients_of_an_idle_server_wait() {
        let mut moderation = Moderation::default();
        moderation.polled(false, 50.0);
        assert_eq!(moderation.nap(4, 20), Some(NAP));
        moderation.polled(true, 0.0);
        assert_eq!(moderation.nap(4, 40), Some(NAP), "a nap is spare time as well");
        assert_eq!(moderation.nap(4, 44), None, "one request each: they wait for the answers");
        assert_eq!(moderation.nap(1, 144), None, "one client");
        assert_eq!(moderation.nap(16, 344), None, "enough at once");
        moderation.polled(false, 0.5);
        assert_eq!(moderation.nap(4, 444), None, "no time to spare");
    }
}
