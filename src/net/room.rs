//! How large the buffers of a client would be if each client had its own: CLIENT LIST's `rbs`, `rbp` and `qbuf-free`.
//! In truth replies go into buffers from a pool and requests come into one buffer of the loop; this is what programs that
//! watch Redis expect to see, and follows its rules. Touches base.
//!
//! ```text
//!   replies:  1024 ◄── half of it was not used ──  size  ── all of it was used ──► doubles, up to 16384
//!   requests:    0 ◄── idle ──  size  ── a longer request ──► its length; back to what is used if half is not
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

/// The size a buffer for requests begins with.
const INPUT_BYTES_MIN: usize = 16 * 1024;

/// A buffer for requests that is larger than this shrinks while in use.
const INPUT_BYTES_LARGE: usize = 32 * 1024;

/// So much unused room does not matter.
const INPUT_WASTE_MAX: usize = 4 * 1024;

/// The size and use of one client's buffer for requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct InputRoom {
    size: usize,
    peak: usize,
}

impl InputRoom {
    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Takes note that a request of so many bytes, or a part of it, has come in.
    #[inline]
    pub fn note(&mut self, bytes: usize) {
        self.peak = self.peak.max(bytes);
        self.size = self.size.max(bytes.max(INPUT_BYTES_MIN));
    }

    /// Lets the size follow the use. `waiting` are the bytes of an unfinished request.
    pub fn tend(&mut self, waiting: usize, idle: bool) {
        if self.size > waiting + INPUT_WASTE_MAX {
            if idle {
                self.size = waiting;
            } else if self.size > INPUT_BYTES_LARGE && self.size / 2 > self.peak {
                self.size = self.peak.max(waiting);
            }
        }
        self.peak = waiting;
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

    #[test]
    fn large_requests_leave_room_for_a_while() {
        let mut room = InputRoom::default();
        room.note(100);
        assert_eq!(room.size(), INPUT_BYTES_MIN);
        room.note(400_000);
        room.tend(0, false);
        assert_eq!(room.size(), 400_000, "it was just used");
        room.note(130);
        room.tend(0, false);
        assert_eq!(room.size(), 130);
        room.note(10);
        room.tend(0, false);
        assert_eq!(room.size(), INPUT_BYTES_MIN);
        room.tend(0, true);
        assert_eq!(room.size(), 0);
        room.note(50_000);
        room.tend(50_000, true);
        assert_eq!(room.size(), 50_000);
    }
}
