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
        let (started_ms, sampled_us) = (self.started_ms, self.sampled_us);
        *self = ServerStats { started_ms, sampled_us, ..ServerStats::default() };
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
}
