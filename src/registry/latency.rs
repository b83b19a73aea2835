//! The latency monitor: for each kind of event that took longer than a threshold, its latest occurrences. Touches base
//! only.

use std::collections::BTreeMap;

/// Occurrences kept of each event; of several in the same second only the longest.
const SAMPLES_MAX: usize = 160;

/// One occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it ended, in seconds since the epoch.
    pub time_secs: i64,
    /// How long it took, in milliseconds.
    pub latency_ms: u64,
}

/// The latest occurrences of one event.
#[derive(Debug, Default, Clone)]
pub struct Series {
    samples: Vec<Sample>,
    /// The longest of all times, in milliseconds.
    pub worst_ms: u64,
}

impl Series {
    fn add(&mut self, sample: Sample) {
        self.worst_ms = self.worst_ms.max(sample.latency_ms);
        if let Some(last) = self.samples.last_mut().filter(|last| last.time_secs == sample.time_secs) {
            last.latency_ms = last.latency_ms.max(sample.latency_ms);
            return;
        }
        if self.samples.len() == SAMPLES_MAX {
            self.samples.remove(0);
        }
        self.samples.push(sample);
    }

    /// The occurrences, oldest first; at least one.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Figures about the occurrences.
    pub fn summary(&self, now_secs: i64) -> Summary {
        let count = self.samples.len() as u64;
        let latencies = || self.samples.iter().map(|sample| sample.latency_ms);
        let mean_ms = latencies().sum::<u64>().checked_div(count).unwrap_or(0);
        let deviation = latencies().map(|ms| ms.abs_diff(mean_ms)).sum::<u64>();
        let oldest = self.samples.first().map_or(now_secs, |sample| sample.time_secs);
        Summary {
            count,
            mean_ms,
            mean_deviation_ms: deviation.checked_div(count).unwrap_or(0),
            span_secs: (now_secs - oldest).max(1),
            least_ms: latencies().min().unwrap_or(0),
            most_ms: latencies().max().unwrap_or(0),
        }
    }
}

/// What can be said about a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Occurrences kept.
    pub count: u64,
    /// Their mean.
    pub mean_ms: u64,
    /// How far they are from it on average.
    pub mean_deviation_ms: u64,
    /// Time since the oldest, at least 1.
    pub span_secs: i64,
    /// The shortest.
    pub least_ms: u64,
    /// The longest.
    pub most_ms: u64,
}

/// All events.
#[derive(Debug, Default)]
pub struct LatencyMonitor {
    events: BTreeMap<&'static str, Series>,
}

impl LatencyMonitor {
    /// Records an occurrence.
    pub fn add(&mut self, event: &'static str, time_secs: i64, latency_ms: u64) {
        self.events.entry(event).or_default().add(Sample { time_secs, latency_ms });
    }

    /// All events that have occurred, by name.
    pub fn events(&self) -> &BTreeMap<&'static str, Series> {
        &self.events
    }

    /// The occurrences of one event.
    pub fn get(&self, event: &[u8]) -> Option<(&'static str, &Series)> {
        let name = std::str::from_utf8(event).ok()?;
        self.events.get_key_value(name).map(|(name, series)| (*name, series))
    }

    /// Forgets an event, named in any case. Returns whether it had occurred.
    pub fn forget(&mut self, event: &[u8]) -> bool {
        let before = self.events.len();
        self.events.retain(|name, _| !name.as_bytes().eq_ignore_ascii_case(event));
        self.events.len() < before
    }

    /// Forgets everything. Returns how many events had occurred.
    pub fn clear(&mut self) -> usize {
        let count = self.events.len();
        self.events.clear();
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_keeps_its_longest_and_old_ones_go() {
        let mut monitor = LatencyMonitor::default();
        for (time, ms) in [(1, 5), (1, 9), (1, 7), (3, 2)] {
            monitor.add("command", time, ms);
        }
        let series = &monitor.events()["command"];
        let kept: Vec<(i64, u64)> = series.samples().iter().map(|s| (s.time_secs, s.latency_ms)).collect();
        assert_eq!((kept.as_slice(), series.worst_ms), ([(1, 9), (3, 2)].as_slice(), 9));
        (4..400).for_each(|time| monitor.add("command", time, 1));
        let series = &monitor.events()["command"];
        assert_eq!((series.samples().len(), series.samples()[0].time_secs), (SAMPLES_MAX, 240));
        assert_eq!(series.worst_ms, 9);
    }

    #[test]
    fn summary_tells_mean_and_deviation() {
        let mut monitor = LatencyMonitor::default();
        [(10, 100), (20, 300), (30, 200)].iter().for_each(|&(time, ms)| monitor.add("fork", time, ms));
        let summary = monitor.events()["fork"].summary(40);
        let want = Summary {
            count: 3,
            mean_ms: 200,
            mean_deviation_ms: 66,
            span_secs: 30,
            least_ms: 100,
            most_ms: 300,
        };
        assert_eq!(summary, want);
    }

    #[test]
    fn events_are_forgotten_in_any_case_but_found_by_name() {
        let mut monitor = LatencyMonitor::default();
        monitor.add("command", 1, 1);
        monitor.add("fork", 1, 1);
        assert!(monitor.get(b"COMMAND").is_none() && monitor.get(b"command").is_some());
        assert!(monitor.forget(b"COMMAND") && !monitor.forget(b"command"));
        assert_eq!((monitor.clear(), monitor.clear()), (1, 0));
    }
}
