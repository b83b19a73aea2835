//! A time stamp that costs a few nanoseconds: the processor's counter where the kernel trusts it, else the clock.
//! Touches nothing. Has `unsafe` for the one instruction that reads the counter.
//!
//! Every command is timed. At several million commands a second the two clock calls that Redis spends on it are a tenth
//! of the work, the counter is not. Linux uses the counter as its own clock source only if it runs evenly and alike on
//! all processors; its choice is what we go by.

#![allow(unsafe_code)]

use std::time::Instant;

/// Where ticks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The processor's time stamp counter.
    Counter,
    /// Nanoseconds of the monotonic clock.
    Clock,
}

impl Source {
    /// The cheapest source that is right on this machine.
    pub fn choose() -> Source {
        let chosen = std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        if cfg!(target_arch = "x86_64") && chosen.is_ok_and(|name| name.starts_with(b"tsc")) {
            Source::Counter
        } else {
            Source::Clock
        }
    }

    /// Ticks now.
    #[inline]
    pub fn now(self, start: Instant) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self == Source::Counter {
            // SAFETY: the instruction exists on every x86-64 processor and reads a register only.
            return unsafe { core::arch::x86_64::_rdtsc() };
        }
        start.elapsed().as_nanos() as u64
    }
}
