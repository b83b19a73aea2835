//! How durations are distributed: a count for each range of durations. Touches nothing.
//!
//! Durations are counted in whatever unit the caller measures in (ticks of the processor's counter, for commands). Each
//! doubling is divided into 8 ranges of equal width, so a range is at most an eighth of its lower end wide; below 16 there
//! is a range for each duration. Finding the range takes a count of leading zeros and a shift, which is what lets every
//! command be recorded. A percentile is reported as the upper end of the range that it falls into, so it is never too
//! small, and at most 12.5 % too large (Redis's own histograms keep to 0.8 %).
//!
//! ```text
//!   index      0 … 15 | 16 17 … 23 | 24 … 31 | …
//!   duration   0 … 15 | 16 18 … 30 | 32 … 60 | …     (start of the range)
//! ```

/// Ranges in each doubling.
const STEPS: usize = 1 << STEP_BITS;
const STEP_BITS: u32 = 3;

/// Longer durations count as this long: some ten seconds in ticks of a fast processor.
pub const LONGEST: u64 = (1 << 36) - 1;

/// One more than the index of the longest duration.
const RANGES: usize = index_of(LONGEST) + 1;

/// The first power of two that [`Histogram::levels`] tells of, in nanoseconds.
const FIRST_LEVEL_NS: u64 = 1_024;

#[inline]
const fn index_of(duration: u64) -> usize {
    let shift = 63 - STEP_BITS - (duration | STEPS as u64).leading_zeros();
    shift as usize * STEPS + (duration >> shift) as usize
}

/// The longest duration that belongs to a range.
const fn upper_end(index: usize) -> u64 {
    if index < 2 * STEPS {
        return index as u64;
    }
    let shift = (index / STEPS - 1) as u32;
    let steps = (index % STEPS + STEPS) as u64;
    ((steps + 1) << shift) - 1
}

/// Counts of durations.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: [u64; RANGES],
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: [0; RANGES] }
    }
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, duration: u64) {
        self.counts[index_of(duration.min(LONGEST))] += 1;
    }

    /// Durations counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The duration below or at which `percent` (0 to 100) of all durations lie.
    pub fn percentile(&self, percent: f64) -> u64 {
        let wanted = ((self.total() as f64 * percent / 100.0 + 0.5) as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper_end(index);
            }
        }
        0
    }

    /// For every power of two from 1024 ns on below which it has grown: the microseconds that Redis prints for it, and how
    /// many durations are shorter. `to_ns` turns the unit of the durations into nanoseconds.
    pub fn levels(&self, to_ns: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        let mut levels = Vec::new();
        let (mut seen, mut next, mut reported) = (0, 0, 0);
        let mut level_ns = FIRST_LEVEL_NS;
        while next < RANGES {
            while next < RANGES && to_ns(upper_end(next)) < level_ns {
                seen += self.counts[next];
                next += 1;
            }
            if seen > reported {
                levels.push((shown_us(level_ns), seen));
                reported = seen;
            }
            level_ns = level_ns.saturating_mul(2);
        }
        levels
    }
}

/// Redis prints the upper end of the range that a power of two begins; its ranges are a 128th of a doubling wide.
fn shown_us(level_ns: u64) -> u64 {
    (level_ns + level_ns / 128 - 1) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_each_other_without_gaps() {
        let mut last = 0;
        for ns in 0..200_000 {
            let index = index_of(ns);
            assert!(index == last || index == last + 1, "{ns}");
            assert!(ns <= upper_end(index), "{ns}");
            assert!(ns == 0 || index == last || upper_end(last) == ns - 1, "{ns}");
            last = index;
        }
        for ns in [0u64, 1, 7, 8, 1_000, 123_456_789, LONGEST] {
            assert!(upper_end(index_of(ns)) as f64 <= ns as f64 * 1.125, "{ns}");
        }
        assert_eq!(index_of(LONGEST), RANGES - 1);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_durations() {
        let mut histogram = Histogram::default();
        let durations: Vec<u64> = (1..=1_000).map(|i| i * i * 37).collect();
        durations.iter().for_each(|&ns| histogram.record(ns));
        for percent in [0.0, 1.0, 50.0, 99.0, 99.9, 100.0] {
            let at = ((durations.len() as f64 * percent / 100.0 + 0.5) as usize).max(1) - 1;
            let (got, real) = (histogram.percentile(percent), durations[at]);
            assert!(got >= real && got as f64 <= real as f64 * 1.125 + 1.0, "p{percent}: {got} for {real}");
        }
        assert_eq!(Histogram::default().percentile(50.0), 0);
    }

    #[test]
    fn levels_are_cumulative_and_carry_the_labels_of_redis() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.levels(|ns| ns), []);
        for ns in [10, 500, 1_500, 1_600, 40_000, 1_000_000_000] {
            histogram.record(ns);
        }
        assert_eq!(histogram.levels(|ns| ns), [(1, 2), (2, 4), (66, 5), (1_082_130, 6)]);
        assert_eq!(histogram.total(), 6);
        // In ticks of half a nanosecond, everything takes half as long.
        assert_eq!(histogram.levels(|ticks| ticks / 2), [(1, 4), (33, 5), (541_065, 6)]);
        let labels: Vec<u64> = (10..21).map(|bit| shown_us(1 << bit)).collect();
        assert_eq!(labels, [1, 2, 4, 8, 16, 33, 66, 132, 264, 528, 1_056]);
    }
}
