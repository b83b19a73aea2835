//! Looking at commands after they ran: who wants to see them is asked with one comparison (see
//! [`crate::exec::Engine::notice_from_ticks`]), and only a command that passes it comes here. Slow log, latency monitor and
//! MONITOR are its customers.

use crate::cmd::spec::Flags;
use crate::registry::slowlog::{self, Entry};

use super::Server;
use super::client::address;
use super::redact::redacted;

impl Server {
    /// Works out from which duration on commands are to be looked at. To be called whenever one of the options, the list
    /// of monitors or the rate of the clock's ticks changes.
    pub(super) fn note_observers(&mut self) {
        let per_us = self.clock.ticks_per_us();
        self.engine.note_tick_rate(per_us);
        let config = &self.engine.config;
        let slow_us = u64::try_from(config.slowlog_log_slower_than).unwrap_or(u64::MAX);
        let spike_us = match config.latency_monitor_threshold {
            ms if ms > 0 => (ms as u64).saturating_mul(1_000),
            _ => u64::MAX,
        };
        let from_us = if self.monitors.is_empty() { slow_us.min(spike_us) } else { 0 };
        self.engine.notice_from_ticks =
            if from_us == u64::MAX { u64::MAX } else { (from_us as f64 * per_us) as u64 };
    }

    /// Shows a command that has just run to whoever wants to see it.
    #[cold]
    pub(super) fn observe(&mut self, slot: usize, index: u16, args: &[&[u8]], ticks: u64) {
        let us = self.engine.nanoseconds(ticks) / 1_000;
        let command = self.engine.registry.get(index);
        let (flags, name) = (command.flags, command.full_name.clone());
        self.latency_spike(if flags.any(Flags::FAST) { "fast-command" } else { "command" }, us);
        let slow_us = self.engine.config.slowlog_log_slower_than;
        if !flags.any(Flags::SKIP_SLOWLOG) && slow_us >= 0 && us >= slow_us as u64 {
            self.log_slow(slot, &redacted(&name, args), us);
        }
        self.show_monitors(slot, index, args);
    }

    fn log_slow(&mut self, slot: usize, args: &[&[u8]], duration_us: u64) {
        let client = self.clients.get(slot);
        // A big value has moved into its key; its beginning was kept.
        let adopted = &self.adopted_start;
        let mut parts: Vec<(&[u8], usize)> = args.iter().map(|arg| (*arg, arg.len())).collect();
        if let Some(last) = parts.last_mut().filter(|_| adopted.len > 0) {
            *last = (&adopted.bytes, adopted.len);
        }
        let entry = Entry {
            id: 0,
            time_secs: self.clock.wall_us() / 1_000_000,
            duration_us,
            args: slowlog::shorten(parts.into_iter()),
            client: address(self, client, client.addresses.0),
            client_name: client.session.name.clone(),
        };
        self.slowlog.push(entry, self.engine.config.slowlog_max_len as usize);
    }

    /// Takes note of an event that took `us` microseconds, if that is long enough for the latency monitor.
    pub(super) fn latency_spike(&mut self, event: &'static str, us: u64) {
        let threshold_ms = self.engine.config.latency_monitor_threshold;
        if threshold_ms > 0 && us / 1_000 >= threshold_ms as u64 {
            self.latency.add(event, self.clock.wall_us() / 1_000_000, us / 1_000);
        }
    }
}

/// The beginning of a big argument whose allocation the running command has taken over.
#[derive(Debug, Default)]
pub(super) struct AdoptedStart {
    bytes: Vec<u8>,
    /// Length of the whole argument; 0 if there is none.
    len: usize,
}

impl AdoptedStart {
    /// Remembers it.
    pub fn set(&mut self, argument: &[u8]) {
        self.len = argument.len();
        self.bytes.clear();
        self.bytes.extend_from_slice(&argument[..argument.len().min(slowlog::ARGUMENT_BYTES_MAX)]);
    }

    /// Forgets it.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
