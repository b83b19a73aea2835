//! How large a reply buffer a client would need: CLIENT LIST's `rbs` and `rbp`. The buffers themselves come from a pool
//! and all have one size; this is what programs that watch Redis expect to see, and follows its rule. Touches base.
//!
//! ```text
//!   1024 ◄── half of it was not used ──  size  ── all of it was used ──► doubles, up to 16384
//! ```

use crate::base::limits::REPLY_CHUNK_BYTES;

/// The smallest size.
const SIZE_MIN: usize = 1024;

/// Milliseconds after which the peak counts anew.
const PEAK_RESET_MS: i64 = 5_000;

/// How sizes follow use; DEBUG REPLYBUFFER changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoomPolicy {
    /// Whether sizes change at all.
    pub resizing: bool,
    /// Milliseconds after which a peak is forgotten; `None`: never.
    pub peak_reset_ms: Option<i64>,
}

impl Default for RoomPolicy {
    fn default() -> RoomPolicy {
        RoomPolicy { resizing: true, peak_reset_ms: Some(PEAK_RESET_MS) }
    }
}

/// The size and use of one client's reply buffer.
#[derive(Debug, Clone, Copy)]
pub struct ReplyRoom {
    size: u32,
    peak: u32,
    reset_at_ms: i64,
}

impl ReplyRoom {
    /// For a new client: as large as it gets.
    pub fn new(now_ms: i64) -> ReplyRoom {
        ReplyRoom { size: REPLY_CHUNK_BYTES as u32, peak: REPLY_CHUNK_BYTES as u32, reset_at_ms: now_ms }
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// The most bytes of it that were in use.
    pub fn peak(&self) -> usize {
        self.peak as usize
    }

    /// Takes note that so many reply bytes waited at once.
    #[inline]
    pub fn note(&mut self, bytes: usize) {
        let used = (bytes as u64).min(u64::from(self.size)) as u32;
        self.peak = self.peak.max(used);
    }

    /// Lets the size follow the use. `waiting` are the reply bytes that wait now. Returns whether it grew, or shrank.
    pub fn tend(&mut self, waiting: usize, now_ms: i64, policy: RoomPolicy) -> Option<bool> {
        if !policy.resizing {
            return None;
        }
        let (size, peak) = (self.size(), self.peak());
        let new = if size / 2 >= SIZE_MIN && peak < size / 2 {
            SIZE_MIN.max(peak + 1)
        } else if size < REPLY_CHUNK_BYTES && peak == size {
            REPLY_CHUNK_BYTES.min(size * 2)
        } else {
            size
        };
        if policy.peak_reset_ms.is_some_and(|after| now_ms - self.reset_at_ms >= after) {
            self.peak = waiting.min(size) as u32;
            self.reset_at_ms = now_ms;
        }
        self.size = new as u32;
        (new != size).then_some(new > size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_shrinks_and_busy_grows() {
        let quick = RoomPolicy { resizing: true, peak_reset_ms: Some(100) };
        let mut room = ReplyRoom::new(0);
        assert_eq!(room.tend(0, 0, RoomPolicy { resizing: false, ..quick }), None);
        assert_eq!((room.tend(0, 100, quick), room.size()), (None, 16_384));
        assert_eq!((room.tend(0, 200, quick), room.size()), (Some(false), 1_024));
        let never = RoomPolicy { peak_reset_ms: None, ..quick };
        let sizes: Vec<usize> = (0..6)
            .map(|_| {
                room.note(40_000);
                room.tend(0, 300, never);
                room.size()
            })
            .collect();
        assert_eq!(sizes, [2_048, 4_096, 8_192, 16_384, 16_384, 16_384]);
        // The next size is what was last used, and a byte.
        let mut room = ReplyRoom::new(0);
        room.tend(0, 100, quick);
        room.note(3_000);
        room.tend(0, 200, quick);
        assert_eq!(room.size(), 3_001);
    }
}
