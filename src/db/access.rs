//! What the 24 bits of access state in each key mean. Touches base.
//!
//! By default they are the second of the last access, as a clock that wraps around every 194 days. With a frequency policy
//! they are, as in Redis:
//!
//! ```text
//! | minute of the last decay, 16 bits, wrapping | counter, 8 bits |
//! ```
//!
//! The counter is logarithmic: an access raises it with a chance that shrinks as it grows. It falls by one for every
//! `lfu-decay-time` minutes without access, which is worked out at the next access. Changing the policy changes the meaning,
//! but not the bits; they take some time to be right again.

use rand::{Rng, SeedableRng};

use crate::base::Rand;

/// The bits that hold an access time or a counter.
pub const ACCESS_MASK: u32 = 0x00ff_ffff;

/// Counter of a new key: above those that nobody has asked for in a while, so that it has time to prove itself.
pub const NEW_KEY_COUNT: u32 = 5;

const COUNT_MAX: u32 = 255;
const COUNT_BITS: u32 = 8;
const MINUTE_MASK: u32 = 0xffff;

/// Seconds since a key was stamped with `access`, at the time `clock`.
pub fn idle_secs(access: u32, clock: u32) -> u32 {
    clock.wrapping_sub(access) & ACCESS_MASK
}

/// How accesses are counted, when a frequency policy is in force.
#[derive(Debug, Clone)]
pub struct Frequency {
    /// `lfu-log-factor`: the higher, the more accesses it takes to raise a counter.
    log_factor: i64,
    /// `lfu-decay-time`: minutes for a counter to fall by one; 0: never.
    decay_minutes: i64,
    /// A generator of its own: looking a key up has no part in the randomness of commands.
    rng: Rand,
}

impl Frequency {
    /// Counting with these options.
    pub fn new(log_factor: i64, decay_minutes: i64, seed: u64) -> Frequency {
        Frequency { log_factor, decay_minutes, rng: Rand::seed_from_u64(seed) }
    }

    /// The state of a key that is new at `now_ms`.
    pub fn fresh(now_ms: i64) -> u32 {
        minute(now_ms) << COUNT_BITS | NEW_KEY_COUNT
    }

    /// The state of a key that is accessed at `now_ms`.
    pub fn touched(&mut self, access: u32, now_ms: i64) -> u32 {
        let mut count = decayed(access, now_ms, self.decay_minutes);
        if count < COUNT_MAX {
            let above = i64::from(count.saturating_sub(NEW_KEY_COUNT));
            let chance = 1.0 / (above.saturating_mul(self.log_factor) as f64 + 1.0);
            count += u32::from(self.rng.random::<f64>() < chance);
        }
        minute(now_ms) << COUNT_BITS | count
    }

    /// The counter at `now_ms`, with what it has lost since the last access taken off.
    pub fn count(&self, access: u32, now_ms: i64) -> u32 {
        decayed(access, now_ms, self.decay_minutes)
    }
}

fn minute(now_ms: i64) -> u32 {
    (now_ms / 60_000) as u32 & MINUTE_MASK
}

/// The counter in `access` at `now_ms`, for a decay of one in so many minutes.
pub fn decayed(access: u32, now_ms: i64, decay_minutes: i64) -> u32 {
    let passed = minute(now_ms).wrapping_sub(access >> COUNT_BITS) & MINUTE_MASK;
    let lost = i64::from(passed).checked_div(decay_minutes).unwrap_or(0).max(0);
    (access & COUNT_MAX).saturating_sub(lost as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_MS: i64 = 1_700_000_000_000;

    #[test]
    fn idle_time_wraps_with_the_clock() {
        assert_eq!(idle_secs(7, 12), 5);
        assert_eq!(idle_secs(ACCESS_MASK, 3), 4);
    }

    #[test]
    fn counters_grow_with_the_logarithm_of_the_accesses() {
        // From the table in redis.conf, for a factor of 10: hits, counter.
        for (hits, low, high) in [(100, 8, 14), (1_000, 15, 22), (100_000, 125, 160), (1_000_000, 255, 255)] {
            let mut frequency = Frequency::new(10, 1, 42);
            let mut access = Frequency::fresh(START_MS);
            assert_eq!(frequency.count(access, START_MS), NEW_KEY_COUNT);
            for _ in 0..hits {
                access = frequency.touched(access, START_MS);
            }
            let count = frequency.count(access, START_MS);
            assert!((low..=high).contains(&count), "{count} after {hits} hits");
        }
    }

    #[test]
    fn counters_fall_with_time_and_never_below_zero() {
        let mut frequency = Frequency::new(0, 2, 42);
        let mut access = Frequency::fresh(START_MS);
        for _ in 0..10 {
            access = frequency.touched(access, START_MS);
        }
        for (minutes, count) in [(0, 15), (1, 15), (2, 14), (10, 10), (29, 1), (31, 0), (1_000, 0)] {
            assert_eq!(
                frequency.count(access, START_MS + minutes * 60_000),
                count,
                "after {minutes} minutes"
            );
        }
        assert_eq!(Frequency::new(0, 0, 42).count(access, START_MS + 1_000 * 60_000), 15);
        // Minutes wrap around as well.
        assert_eq!(decayed(0xffff << 8 | 9, 65_538 * 60_000, 1), 6);
    }
}
