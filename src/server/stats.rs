//! Counters of the server as a whole, and the rates that INFO shows as instantaneous. Touches nothing.

/// Samples kept per rate; the mean over them is what is shown, as in Redis.
const SAMPLES: usize = 16;

/// Microseconds between two samples at least.
const SAMPLE_US: u64 = 100_000;

/// A rate as the mean of the last samples.
#[derive(Debug, Default, Clone)]
pub struct Rate {
    last_count: u64,
    samples: [u64; SAMPLES],
    next: usize,
}

impl Rate {
    fn sample(&mut self, elapsed_us: u64, count: u64) {
        let grown = count.saturating_sub(self.last_count);
        self.samples[self.next] = (u128::from(grown) * 1_000_000 / u128::from(elapsed_us)) as u64;
        self.next = (self.next + 1) % SAMPLES;
        self.last_count = count;
    }

    /// Per second.
    pub fn per_second(&self) -> u64 {
        self.samples.iter().sum::<u64>() / SAMPLES as u64
    }
}

/// Seconds for which a peak is remembered.
const PEAK_SECS: usize = 8;

/// The largest of the values seen in the last seconds.
#[derive(Debug, Default, Clone)]
pub struct RecentPeak {
    /// One for each second, in a ring.
    slots: [usize; PEAK_SECS],
    last_secs: i64,
}

impl RecentPeak {
    /// Takes note of a value at a time, in seconds.
    pub fn note(&mut self, value: usize, now_secs: i64) {
        self.forget_old(now_secs);
        let slot = &mut self.slots[now_secs.rem_euclid(PEAK_SECS as i64) as usize];
        *slot = value.max(*slot);
    }

    fn forget_old(&mut self, now_secs: i64) {
        let passed = (now_secs - self.last_secs).clamp(0, PEAK_SECS as i64);
        for secs in now_secs - passed + 1..=now_secs {
            self.slots[secs.rem_euclid(PEAK_SECS as i64) as usize] = 0;
        }
        self.last_secs = now_secs;
    }

    /// The largest value.
    pub fn get(&self) -> usize {
        self.slots.iter().copied().max().unwrap_or(0)
    }
}

/// What has happened since the start, or since CONFIG RESETSTAT.
#[derive(Debug, Default, Clone)]
pub struct ServerStats {
    /// When the server started, in milliseconds since the epoch.
    pub started_ms: i64,
    /// Connections taken in or refused.
    pub connections_received: u64,
    /// Connections refused for `maxclients`.
    pub connections_rejected: u64,
    /// Clients dropped for `client-query-buffer-limit`.
    pub query_buffer_limit_disconnections: u64,
    /// Times a client's reply buffer was found too small.
    pub reply_buffer_expands: u64,
    /// Times it was found too large.
    pub reply_buffer_shrinks: u64,
    /// Clients dropped for `client-output-buffer-limit`.
    pub output_buffer_limit_disconnections: u64,
    /// Time spent on removing expired keys unasked, in microseconds.
    pub expire_cycle_us: u64,
    /// Turns of the loop.
    pub turns: u64,
    /// Clock ticks spent in them, sleep left out.
    pub busy_ticks: u64,
    /// Ticks spent in the longest of them.
    pub turn_ticks_max: u64,
    /// Commands that ran in the one with most.
    pub turn_commands_max: u64,
    /// Commands that had run when the last turn ended.
    commands_before: u64,
    /// Time that the regular chores took, in microseconds.
    pub cron_us: u64,
    /// The largest buffers of clients lately: input, output.
    pub recent_buffers: (RecentPeak, RecentPeak),
    /// Turns.
    pub turn_rate: Rate,
    /// Ticks spent in them.
    pub busy_rate: Rate,
    /// Commands.
    pub ops: Rate,
    /// Bytes read.
    pub input: Rate,
    /// Bytes written.
    pub output: Rate,
    sampled_us: u64,
}

impl ServerStats {
    /// Nothing has happened yet.
    pub fn new(started_ms: i64) -> ServerStats {
        ServerStats { started_ms, ..ServerStats::default() }
    }

    /// Sets everything back but the start.
    pub fn reset(&mut self) {
        *self = ServerStats {
            started_ms: self.started_ms,
            sampled_us: self.sampled_us,
            recent_buffers: std::mem::take(&mut self.recent_buffers),
            ..ServerStats::default()
        };
    }

    /// Counts a turn that took so many ticks. `commands` have run since the start.
    #[inline]
    pub fn count_turn(&mut self, ticks: u64, commands: u64) {
        self.turns += 1;
        self.busy_ticks += ticks;
        self.turn_ticks_max = self.turn_ticks_max.max(ticks);
        // CONFIG RESETSTAT sets the count back.
        let run = commands.saturating_sub(self.commands_before);
        self.turn_commands_max = self.turn_commands_max.max(run);
        self.commands_before = commands;
    }

    /// Takes a sample of the running counts, if it is time for one.
    pub fn sample(&mut self, now_us: u64, commands: u64, bytes_in: u64, bytes_out: u64) {
        let elapsed_us = now_us - self.sampled_us;
        if elapsed_us < SAMPLE_US {
            return;
        }
        self.ops.sample(elapsed_us, commands);
        self.input.sample(elapsed_us, bytes_in);
        self.output.sample(elapsed_us, bytes_out);
        self.turn_rate.sample(elapsed_us, self.turns);
        self.busy_rate.sample(elapsed_us, self.busy_ticks);
        self.sampled_us = now_us;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_the_mean_of_the_last_samples() {
        let mut stats = ServerStats::new(0);
        for i in 1..=16 {
            stats.sample(i * 100_000, i * 500, 0, 0);
        }
        assert_eq!(stats.ops.per_second(), 5_000);
    }

    #[test]
    fn peaks_are_forgotten_after_some_seconds() {
        let mut peak = RecentPeak::default();
        peak.note(70, 1_000);
        peak.note(10, 1_000);
        peak.note(30, 1_004);
        assert_eq!(peak.get(), 70);
        peak.note(1, 1_007);
        assert_eq!(peak.get(), 70);
        peak.note(1, 1_008);
        assert_eq!(peak.get(), 30);
        peak.note(2, 2_000);
        assert_eq!(peak.get(), 2);
    }

    #[test]
    fn the_longest_turn_is_remembered() {
        let mut stats = ServerStats::new(0);
        for (ticks, commands) in [(5, 3), (9, 4), (2, 14), (1, 14)] {
            stats.count_turn(ticks, commands);
        }
        assert_eq!((stats.turns, stats.busy_ticks), (4, 17));
        assert_eq!((stats.turn_ticks_max, stats.turn_commands_max), (9, 10));
    }
}
