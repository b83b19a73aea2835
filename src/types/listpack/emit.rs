//! Consecutive listpack entries as RESP bulk strings, `$<len>\r\n<text>\r\n` each: what LRANGE, HGETALL, ZRANGE and
//! SMEMBERS of a small collection spend their time on. Touches `types::{item, listpack}` only.
//!
//! Room for a group of entries is taken at once, and the group is written into it with copies of fixed
//! size (whole 16-byte chunks, of which only the wanted bytes count; the next write covers the rest), which compile to a few
//! vector moves instead of a call per element. Runs of strings of one length, the common case in lists, step by a
//! constant, so that the processor need not wait for one entry's length before it starts on the next.

use super::entry::{self, INT13, INT16, STR6, STR12};
use super::{Listpack, Pos};
use crate::types::item::Item;

/// The most room taken at a time. Taking it zeroes it, so they should still be in the first-level cache when written.
const GROUP_BYTES: usize = 8192;
/// Room that must be left before an entry with a text below 64 bytes is written: 5 + 64 + 2, rounded up.
const SMALL_ROOM: usize = 80;
/// Bytes of `$<len>\r\n` and `\r\n` around a text, at most, plus what an integer's text is longer than its entry.
const EXTRA_PER_ENTRY: usize = 12;

/// `$N\r\n` for texts below 64 bytes, padded with zeros. 4 bytes count below ten, else 5.
const HEADS: [[u8; 8]; 64] = bulk_heads();
/// `$N\r\n<value>\r\n` for 0..=127, padded; the last byte is the length that counts.
const SMALL_INTS: [[u8; 16]; 128] = small_int_bulks();

/// The decimal digits of 0..=99.
const PAIRS: [[u8; 2]; 100] = digit_pairs();

const fn digit_pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[0; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
}

const fn bulk_heads() -> [[u8; 8]; 64] {
    let mut heads = [[0; 8]; 64];
    let mut len = 0;
    while len < 64 {
        let (tens, ones) = (b'0' + (len / 10) as u8, b'0' + (len % 10) as u8);
        heads[len] = if len < 10 {
            [b'$', ones, b'\r', b'\n', 0, 0, 0, 0]
        } else {
            [b'$', tens, ones, b'\r', b'\n', 0, 0, 0]
        };
        len += 1;
    }
    heads
}

const fn small_int_bulks() -> [[u8; 16]; 128] {
    let mut bulks = [[0; 16]; 128];
    let mut value = 0;
    while value < 128 {
        let digits = 1 + (value > 9) as usize + (value > 99) as usize;
        let bulk = &mut bulks[value];
        bulk[0] = b'$';
        bulk[1] = b'0' + digits as u8;
        bulk[2] = b'\r';
        bulk[3] = b'\n';
        let (mut rest, mut at) = (value, 4 + digits);
        while at > 4 {
            at -= 1;
            bulk[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        bulk[4 + digits] = b'\r';
        bulk[5 + digits] = b'\n';
        bulk[15] = (6 + digits) as u8;
        value += 1;
    }
    bulks
}

/// Appends one text as a bulk string.
pub fn push_bulk(text: &[u8], out: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    let len = digits.format(text.len());
    out.reserve(text.len() + len.len() + 5);
    out.push(b'$');
    out.extend_from_slice(len.as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

/// Appends an item's text as a bulk string.
pub fn push_item_bulk(item: Item<'_>, out: &mut Vec<u8>) {
    push_bulk(item.bytes(&mut itoa::Buffer::new()), out);
}

impl Listpack {
    /// Up to `n` entries from `pos` on, towards the head if `reverse`, to be written as RESP bulk strings.
    #[inline]
    #[must_use]
    pub fn bulks(&self, pos: Pos, n: usize, reverse: bool) -> Bulks<'_> {
        let head = self.head();
        let at = pos.0 as usize;
        Bulks {
            walk: Walk { raw: self.raw(), start: head.start, end: head.end, at, left: n, reverse },
            average: head.used() / head.count.max(1) + EXTRA_PER_ENTRY,
        }
    }

    /// Appends up to `n` entries from `pos` on, towards the head if `reverse`, as RESP bulk strings; returns how many.
    /// Grows `out` as needed; see [`Bulks`] for a writer that does not.
    pub fn emit_resp_bulks(&self, pos: Pos, n: usize, reverse: bool, out: &mut Vec<u8>) -> usize {
        let mut bulks = self.bulks(pos, n, reverse);
        while bulks.walk.more() {
            out.reserve(bulks.wanted_room());
            if let Some(item) = bulks.fill(out) {
                push_item_bulk(item, out);
            }
        }
        n - bulks.walk.left
    }
}

/// Entries on their way into a reply, written piece by piece as there is room.
pub struct Bulks<'a> {
    walk: Walk<'a>,
    /// Entries of one pack tend to be alike: the average says how much room the next ones need.
    average: usize,
}

impl<'a> Bulks<'a> {
    /// About what the rest takes, or the next group of it.
    fn wanted_room(&self) -> usize {
        GROUP_BYTES.min(self.walk.left.saturating_mul(self.average)) + SMALL_ROOM
    }

    /// Appends entries to `out` as RESP bulk strings until its capacity is used up; it does not grow. Returns the entry
    /// that found no room, which the caller writes by other means before the next call; None when all are written.
    pub fn fill(&mut self, out: &mut Vec<u8>) -> Option<Item<'a>> {
        while self.walk.more() {
            let base = out.len();
            let room = self.wanted_room().min(out.capacity() - base);
            out.resize(base + room, 0);
            let written = self.walk.group(&mut out[base..]);
            out.truncate(base + written);
            if written == 0 {
                let item = entry::decode(self.walk.raw, self.walk.at);
                self.walk.step();
                return Some(item);
            }
        }
        None
    }
}

/// A walk over entries that writes them.
struct Walk<'a> {
    raw: &'a [u8],
    /// Where the first entry begins.
    start: usize,
    /// Where the last entry ends.
    end: usize,
    /// The next entry to write; `end` when there is none.
    at: usize,
    /// Entries that may still be written.
    left: usize,
    reverse: bool,
}

impl Walk<'_> {
    #[inline]
    fn more(&self) -> bool {
        self.left > 0 && self.at < self.end
    }

    /// Goes on to the next entry, the one here being written.
    #[inline]
    fn step(&mut self) {
        self.step_by(entry::size_at(self.raw, self.at));
    }

    /// `step` for one who knows the size of the entry here.
    #[inline]
    fn step_by(&mut self, size: usize) {
        self.left -= 1;
        if !self.reverse {
            self.at += size;
        } else if self.at > self.start {
            self.at -= entry::size_before(self.raw, self.at).expect("own entries are valid");
        } else {
            self.at = self.end;
        }
    }

    /// Writes entries to the front of `out` until one does not fit or none is left; returns the bytes written.
    fn group(&mut self, out: &mut [u8]) -> usize {
        let mut to = 0;
        while self.more() {
            let Some(room) = out.get_mut(to..).filter(|room| room.len() >= SMALL_ROOM) else {
                break;
            };
            let first = self.raw[self.at];
            let written = match first {
                0..STR6 => self.small_int(first, room),
                STR6..=0x89 => self.run::<4, 16>(first, room),
                0x8A..=0x90 => self.run::<5, 16>(first, room),
                0x91..=0xBF => self.run::<5, 64>(first, room),
                INT13..STR12 | INT16.. => self.int(room),
                _ => self.other(room),
            };
            if written == 0 {
                break;
            }
            to += written;
        }
        to
    }

    /// Writes an integer 0..=127.
    #[inline]
    fn small_int(&mut self, value: u8, room: &mut [u8]) -> usize {
        let bulk = &SMALL_INTS[usize::from(value & 127)];
        room[..16].copy_from_slice(bulk);
        self.step_by(2);
        usize::from(bulk[15])
    }

    /// Writes an integer of two bytes and more.
    #[inline]
    fn int(&mut self, room: &mut [u8]) -> usize {
        let (value, size) = entry::int_at(self.raw, self.at);
        self.step_by(size);
        write_int(value, room)
    }

    /// Writes a string below 64 bytes whose `$N\r\n` has `HEAD` bytes and whose text fits in `TEXT`, and then those behind
    /// it that have the same length. `room` is at least `SMALL_ROOM`.
    #[inline]
    fn run<const HEAD: usize, const TEXT: usize>(&mut self, first: u8, room: &mut [u8]) -> usize {
        let len = usize::from(first - STR6);
        let head = &HEADS[len & 63];
        let entries = &self.raw[..self.end];
        let mut to = 0;
        loop {
            let source = self.at + 1;
            let (Some(text), Some(out)) = (
                self.raw.get(source..).and_then(|rest| rest.first_chunk::<TEXT>()),
                room.get_mut(to..).and_then(|rest| rest.first_chunk_mut::<SMALL_ROOM>()),
            ) else {
                return if to == 0 { self.other(room) } else { to };
            };
            out[..8].copy_from_slice(head);
            out[HEAD..HEAD + TEXT].copy_from_slice(text);
            out[HEAD + len..HEAD + len + 2].copy_from_slice(b"\r\n");
            to += HEAD + len + 2;
            if self.reverse {
                self.step();
                return to;
            }
            self.left -= 1;
            self.at += len + 2;
            if self.left == 0 || entries.get(self.at) != Some(&first) {
                return to;
            }
        }
    }

    /// Writes any entry, if there is room; else returns 0.
    #[inline]
    fn other(&mut self, room: &mut [u8]) -> usize {
        let written = match entry::decode(self.raw, self.at) {
            Item::Str(text) => write_str(text, room),
            Item::Int(value) => write_int(value, room),
        };
        if written > 0 {
            self.step();
        }
        written
    }
}

/// The eight decimal digits of a number below 10^8 as ASCII without leading zeros, the first one lowest, and how many they
/// are. All digits are split off at once: by 10^4, then both halves by 100, then the four quarters by 10.
#[inline]
fn digits8(value: u64) -> (u64, usize) {
    let halves = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = (halves * 10_486) >> 20 & 0x7F_0000_007F;
    let quarters = hundreds | (halves - 100 * hundreds) << 16;
    let tens = (quarters * 103) >> 10 & 0x000F_000F_000F_000F;
    let digits = tens | (quarters - 10 * tens) << 8;
    let zeros = (digits.trailing_zeros() / 8).min(7);
    ((digits | 0x3030_3030_3030_3030) >> (8 * zeros), 8 - zeros as usize)
}

/// Writes an integer as a bulk string at the front of `room`, which is at least `SMALL_ROOM`; returns the bytes written.
#[inline]
fn write_int(value: i64, room: &mut [u8]) -> usize {
    let Some(out) = room.first_chunk_mut::<SMALL_ROOM>() else {
        return 0;
    };
    let sign = usize::from(value < 0);
    let magnitude = value.unsigned_abs();
    if magnitude >= 100_000_000 {
        return write_long_int(value, out);
    }
    let (digits, count) = digits8(magnitude);
    let len = count + sign;
    out[..8].copy_from_slice(&HEADS[len & 15]);
    out[4] = b'-';
    out[4 + sign..12 + sign].copy_from_slice(&digits.to_le_bytes());
    out[4 + len..6 + len].copy_from_slice(b"\r\n");
    6 + len
}

/// `write_int` for nine digits and more.
fn write_long_int(value: i64, out: &mut [u8; SMALL_ROOM]) -> usize {
    let mut digits = itoa::Buffer::new();
    let text = digits.format(value).as_bytes();
    write_str(text, out)
}

/// Writes a text as a bulk string at the front of `room`, which is at least `SMALL_ROOM`; returns the bytes written, 0 if
/// it does not fit.
#[inline]
fn write_str(text: &[u8], room: &mut [u8]) -> usize {
    let len = text.len();
    if len >= 10_000 {
        return 0;
    }
    // `$`, four digits of which the leading zeros are shifted out, CR LF.
    let pair = |value: usize| u64::from(u16::from_le_bytes(PAIRS[value % 100]));
    let digits = 1 + usize::from(len > 9) + usize::from(len > 99) + usize::from(len > 999);
    let padded = pair(len / 100) | pair(len % 100) << 16 | u64::from(u16::from_le_bytes(*b"\r\n")) << 32;
    let head = padded >> (8 * (4 - digits)) << 8 | u64::from(b'$');
    let start = digits + 3;
    let end = start + len;
    let Some(out) = room.get_mut(..(end + 2).max(8)) else {
        return 0;
    };
    out[..8].copy_from_slice(&head.to_le_bytes());
    out[start..end].copy_from_slice(text);
    out[end..end + 2].copy_from_slice(b"\r\n");
    end + 2
}
