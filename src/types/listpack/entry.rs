//! One listpack entry: sizes, encoding, decoding, validation. Pure functions over byte slices; touches `types::item` only.
//!
//! The format is Redis's (listpack.md by Salvatore Sanfilippo). An entry is its encoded value followed by `backlen`, the
//! length of that encoded value, written so that it can be read from its end:
//!
//! ```text
//! 0xxxxxxx                            integer 0..=127
//! 10llllll text                       string below 64 bytes
//! 110xxxxx xxxxxxxx                   13-bit signed integer, big end first
//! 1110llll llllllll text              string below 4096 bytes, big end first
//! 11110000 llllllll*4 text            longer string, little-endian length
//! 11110001 / 0010 / 0011 / 0100       16 / 24 / 32 / 64-bit signed integer follows, little-endian
//!
//! backlen: 1 to 5 bytes, 7 bits each, most significant group first; every byte but the first has its top bit set.
//! ```
//!
//! An encoding is canonical when it is the one that `Encoded::new` would choose: the smallest that holds the value, and an
//! integer for every text that `canonical_int` accepts. A `Listpack` holds canonical entries only, so that two entries
//! have equal texts exactly when their bytes are equal.

use crate::types::item::{Item, canonical_int};

/// First byte of a string with a 12-bit length; the low four bits are the length's top.
pub(super) const STR12: u8 = 0xE0;
/// First byte of a string with a 32-bit length.
const STR32: u8 = 0xF0;
/// First byte of the 6-bit string class.
pub(super) const STR6: u8 = 0x80;
/// First byte of a 13-bit integer; the low five bits are its top.
pub(super) const INT13: u8 = 0xC0;
pub(super) const INT16: u8 = 0xF1;
const INT24: u8 = 0xF2;
const INT32: u8 = 0xF3;
const INT64: u8 = 0xF4;
/// The byte that ends a listpack in Redis's serialised form.
pub(super) const TERMINATOR: u8 = 0xFF;

/// Bytes of integer behind the markers INT16 to INT64.
const INT_BYTES: [u8; 4] = [2, 3, 4, 8];

/// A value ready to be written as an entry: `head`, then `text`, then backlen. For an integer all is in the head.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a> {
    /// Up to nine bytes, the first of them lowest; zero above.
    head: u128,
    head_len: u8,
    text: &'a [u8],
}

impl<'a> Encoded<'a> {
    /// The canonical encoding of `text`.
    #[inline]
    pub(super) fn new(text: &'a [u8]) -> Self {
        match canonical_int(text) {
            Some(value) => Self::int(value),
            None => Self::string(text),
        }
    }

    /// The canonical encoding of an item.
    #[inline]
    pub(super) fn item(item: Item<'a>) -> Self {
        match item {
            Item::Int(value) => Self::int(value),
            Item::Str(text) => Self::new(text),
        }
    }

    #[inline]
    fn string(text: &'a [u8]) -> Self {
        let len = text.len() as u128;
        let (head, head_len) = match len {
            0..64 => (u128::from(STR6) | len, 1),
            64..4096 => (u128::from(STR12) | len >> 8 | (len & 0xFF) << 8, 2),
            _ => (u128::from(STR32) | len << 8, 5),
        };
        Self { head, head_len, text }
    }

    /// The canonical encoding of an integer.
    #[inline]
    pub(super) fn int(value: i64) -> Self {
        let (marker, bytes) = match value {
            0..=127 => (value as u8, 0),
            -4096..=4095 => {
                let bits = value as u128;
                let head = u128::from(INT13) | bits >> 8 & 0x1F | (bits & 0xFF) << 8;
                return Self { head, head_len: 2, text: &[] };
            }
            -0x8000..=0x7FFF => (INT16, 2),
            -0x80_0000..=0x7F_FFFF => (INT24, 3),
            -0x8000_0000..=0x7FFF_FFFF => (INT32, 4),
            _ => (INT64, 8),
        };
        let kept = (1 << (8 * bytes)) - 1;
        let head = u128::from(marker) | (value as u128 & kept) << 8;
        Self { head, head_len: bytes + 1, text: &[] }
    }

    /// Bytes of the encoded value, without backlen.
    #[inline]
    pub(super) fn encoded_len(&self) -> usize {
        usize::from(self.head_len) + self.text.len()
    }

    /// Bytes of the whole entry.
    #[inline]
    pub(super) fn size(&self) -> usize {
        let len = self.encoded_len();
        len + backlen_size(len)
    }

    /// Writes the entry over the whole of `out`, which is `size()` bytes long.
    #[inline]
    pub(super) fn write(&self, out: &mut [u8]) {
        let len = self.encoded_len();
        let head = self.head.to_le_bytes();
        // Copies of a constant size are one or two moves; of a variable size, a call.
        match self.head_len {
            1 => out[0] = head[0],
            2 => out[..2].copy_from_slice(&head[..2]),
            3 => out[..3].copy_from_slice(&head[..3]),
            4 => out[..4].copy_from_slice(&head[..4]),
            5 => out[..5].copy_from_slice(&head[..5]),
            _ => out[..9].copy_from_slice(&head[..9]),
        }
        copy_text(&mut out[usize::from(self.head_len)..len], self.text);
        write_backlen(&mut out[len..], len);
    }

    /// Whether the entry at `at` is this one. `raw` may be any bytes that hold whole entries from `at` on.
    #[inline]
    pub(super) fn matches(&self, raw: &[u8], at: usize) -> bool {
        let Some(entry) = raw.get(at..at + self.encoded_len()) else {
            return false;
        };
        let (head, text) = entry.split_at(usize::from(self.head_len));
        head == &self.head.to_le_bytes()[..head.len()] && text == self.text
    }

    /// Whether this encodes the string `text`.
    #[inline]
    pub(super) fn is_text(&self, text: &[u8]) -> bool {
        // An integer has no text, as the empty string has none; that one is told by its marker.
        self.text == text && (!text.is_empty() || self.first_byte() == STR6)
    }

    /// The first byte, which tells most different entries apart.
    #[inline]
    pub(super) fn first_byte(&self) -> u8 {
        self.head as u8
    }

    /// The last byte of the encoded value.
    #[inline]
    pub(super) fn last_byte(&self) -> u8 {
        let of_head = (self.head >> (8 * (self.head_len - 1))) as u8;
        self.text.last().copied().unwrap_or(of_head)
    }
}

/// Copies a text to a place of the same length; a short one without a call.
#[inline]
fn copy_text(out: &mut [u8], text: &[u8]) {
    match text.len() {
        0 => {}
        1 => out[0] = text[0],
        2..=3 => copy_ends::<2>(out, text),
        4..=7 => copy_ends::<4>(out, text),
        8..=16 => copy_ends::<8>(out, text),
        _ => out.copy_from_slice(text),
    }
}

/// Copies a text of `N` to 2 * `N` bytes as its first and its last `N`.
#[inline]
fn copy_ends<const N: usize>(out: &mut [u8], text: &[u8]) {
    if let (Some(to), Some(from)) = (out.first_chunk_mut::<N>(), text.first_chunk::<N>()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (out.last_chunk_mut::<N>(), text.last_chunk::<N>()) {
        *to = *from;
    }
}

/// Bytes that backlen takes for an encoded value of `len` bytes. The bounds of the longer forms are one below what their
/// bits could hold; Redis checks for exactly these sizes when it loads a pack.
#[inline]
pub(super) fn backlen_size(len: usize) -> usize {
    match len {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}

/// Writes the backlen of an encoded value of `len` bytes at the front of `out`.
#[inline]
fn write_backlen(out: &mut [u8], len: usize) {
    if len <= 127 {
        out[0] = len as u8;
        return;
    }
    let size = backlen_size(len);
    let mut rest = len;
    for byte in out[..size].iter_mut().rev() {
        *byte = (rest & 127) as u8 | 128;
        rest >>= 7;
    }
    out[0] &= 127;
}

/// The size of the entry that ends at `end`, from its backlen. None when more than five bytes claim to belong to it.
#[inline]
pub(super) fn size_before(raw: &[u8], end: usize) -> Option<usize> {
    let last = usize::from(raw[end - 1]);
    if last < 128 {
        return Some(last + 1);
    }
    let mut len = last & 127;
    for size in 2..=5 {
        let byte = usize::from(*raw.get(end.checked_sub(size)?)?);
        len |= (byte & 127) << (7 * (size - 1));
        if byte < 128 {
            return Some(len + size);
        }
    }
    None
}

/// The size of the entry at `at`, with its backlen. `raw` must hold a valid entry there.
#[inline]
pub(super) fn size_at(raw: &[u8], at: usize) -> usize {
    let first = raw[at];
    if first < 0x80 {
        2
    } else if first < INT13 {
        usize::from(first - STR6) + 2
    } else if first < STR12 {
        3
    } else {
        let len = long_encoded_len(raw, at);
        len + backlen_size(len)
    }
}

/// The encoded length for the classes that `size_at` does not know by heart.
#[inline]
fn long_encoded_len(raw: &[u8], at: usize) -> usize {
    match raw[at] {
        first @ ..STR32 => (usize::from(first & 15) << 8 | usize::from(raw[at + 1])) + 2,
        STR32 => le_bytes::<4>(raw, at + 1).map_or(0, u32::from_le_bytes) as usize + 5,
        first => usize::from(INT_BYTES[usize::from(first - INT16) & 3]) + 1,
    }
}

#[inline]
fn le_bytes<const N: usize>(raw: &[u8], at: usize) -> Option<[u8; N]> {
    raw.get(at..)?.first_chunk().copied()
}

/// The value of the entry at `at`. `raw` must hold a valid entry there.
#[inline]
pub(super) fn decode(raw: &[u8], at: usize) -> Item<'_> {
    let first = raw[at];
    if first < 0x80 {
        return Item::Int(i64::from(first));
    }
    if first < INT13 {
        return Item::Str(&raw[at + 1..at + 1 + usize::from(first - STR6)]);
    }
    match first {
        STR12..STR32 => Item::Str(&raw[at + 2..at + long_encoded_len(raw, at)]),
        STR32 => Item::Str(&raw[at + 5..at + long_encoded_len(raw, at)]),
        _ => Item::Int(int_at(raw, at).0),
    }
}

/// A 13-bit integer from its two bytes. Shifting the sign bit to the top and back extends it.
#[inline]
pub(super) fn int13(first: u8, second: u8) -> i64 {
    i64::from(i16::from_be_bytes([first, second]) << 3 >> 3)
}

/// The integer at `at` in one of the classes of two bytes and more, and the bytes of the entry.
#[inline]
pub(super) fn int_at(raw: &[u8], at: usize) -> (i64, usize) {
    let first = raw[at];
    if first < STR12 {
        return (int13(first, raw[at + 1]), 3);
    }
    let bytes = usize::from(INT_BYTES[usize::from(first - INT16) & 3]);
    // What is read beyond the integer is shifted out, and the shift back extends the sign.
    let wide = le_bytes::<8>(raw, at + 1).unwrap_or_else(|| {
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(&raw[at + 1..at + 1 + bytes]);
        wide
    });
    let unused = 64 - 8 * bytes as u32;
    (i64::from_le_bytes(wide) << unused >> unused, bytes + 2)
}

/// What `check` finds at a place in untrusted bytes.
pub(super) struct Checked {
    /// Bytes of the entry, backlen included.
    pub(super) size: usize,
    /// Whether it is the encoding that `Encoded::new` would choose.
    pub(super) canonical: bool,
}

/// Validates the entry at the front of `bytes`, which may be anything. None unless a whole entry with a right backlen
/// stands there.
pub(super) fn check(bytes: &[u8]) -> Option<Checked> {
    let len = match *bytes.first()? {
        0..STR6 => 1,
        first @ STR6..INT13 => usize::from(first - STR6) + 1,
        first @ STR12..STR32 => (usize::from(first & 15) << 8 | usize::from(*bytes.get(1)?)) + 2,
        STR32 => u32::from_le_bytes(le_bytes(bytes, 1)?) as usize + 5,
        INT13..STR12 => 2,
        INT16..=INT64 => long_encoded_len(bytes, 0),
        _ => return None,
    };
    let size = len.checked_add(backlen_size(len))?;
    let entry = bytes.get(..size)?;
    if size_before(entry, size)? != size {
        return None;
    }
    let canonical = Encoded::item(decode(entry, 0));
    Some(Checked { size, canonical: canonical.size() == size && canonical.matches(entry, 0) })
}
