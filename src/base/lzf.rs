//! LZF, the fast and simple compression that Redis uses in its dumps and for the inner nodes of lists. Touches nothing.
//!
//! The format is that of Marc Lehmann's liblzf (<http://software.schmorp.de/pkg/liblzf.html>), whose C code is the
//! reference. There is no header and no checksum: who decompresses has to know the length of the text.
//!
//! ```text
//!  000 lllll                       | text of l + 1 bytes     the next bytes as they are, 1 to 32
//!  LLL ooooo | oooooooo                                      again the L + 2 bytes that stand o + 1 back, L from 1 to 6
//!  111 ooooo | llllllll | oooooooo                           the same, l + 9 bytes
//! ```
//!
//! The part that is repeated may reach into the bytes that it makes: `o` = 0 repeats the last byte.

/// The most bytes that stand behind one another as they are.
const LITERAL_MAX: usize = 1 << 5;
/// How far back a repetition may begin.
const DISTANCE_MAX: usize = 1 << 13;
/// The shortest repetition; shorter ones would save nothing.
const REPEAT_MIN: usize = 3;
/// The longest repetition.
const REPEAT_MAX: usize = 8 + 1 + u8::MAX as usize;
/// From this many bytes on the length of a repetition has a byte of its own.
const LONG_REPEAT: usize = 9;
/// Bits of the hash by which the last place of three bytes is remembered.
const HASH_BITS: u32 = 12;

/// Compresses a text. `None` unless the outcome is at most `max` bytes long.
#[must_use]
pub fn compress(text: &[u8], max: usize) -> Option<Vec<u8>> {
    // Places are kept plus one: 0 is none.
    let mut places = [0u32; 1 << HASH_BITS];
    let mut out = Writer { text, out: Vec::with_capacity(max.min(text.len())), max, written: 0 };
    let mut at = 0;
    while at + REPEAT_MIN <= text.len() && at < u32::MAX as usize {
        let place = &mut places[hash(text, at)];
        let before = (*place as usize).checked_sub(1);
        *place = at as u32 + 1;
        let repeat = before.filter(|before| at - before <= DISTANCE_MAX).map_or(0, |before| {
            let most = REPEAT_MAX.min(text.len() - at);
            text[before..].iter().zip(&text[at..at + most]).take_while(|(a, b)| a == b).count()
        });
        if repeat < REPEAT_MIN {
            at += 1;
            continue;
        }
        out.repeat(at, at - before?, repeat)?;
        // What follows a repetition often follows it again.
        for inside in at + repeat.saturating_sub(2)..at + repeat {
            if inside + REPEAT_MIN <= text.len() {
                places[hash(text, inside)] = inside as u32 + 1;
            }
        }
        at += repeat;
    }
    out.literals(text.len())?;
    (out.out.len() <= max).then_some(out.out)
}

/// A hash of the three bytes from `at` on.
#[inline]
fn hash(text: &[u8], at: usize) -> usize {
    let word = u32::from_le_bytes([text[at], text[at + 1], text[at + 2], 0]);
    (word.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

struct Writer<'a> {
    text: &'a [u8],
    out: Vec<u8>,
    max: usize,
    /// Bytes of the text that `out` stands for.
    written: usize,
}

impl Writer<'_> {
    /// Writes what has not been written yet in front of `end` as it is. `None` if that is too much.
    fn literals(&mut self, end: usize) -> Option<()> {
        for run in self.text[self.written..end].chunks(LITERAL_MAX) {
            if self.out.len() + 1 + run.len() > self.max {
                return None;
            }
            self.out.push(run.len() as u8 - 1);
            self.out.extend_from_slice(run);
        }
        self.written = end;
        Some(())
    }

    /// Writes that the `len` bytes from `at` on also stand `distance` bytes before.
    fn repeat(&mut self, at: usize, distance: usize, len: usize) -> Option<()> {
        self.literals(at)?;
        let back = distance - 1;
        let (high, low) = ((back >> 8) as u8, back as u8);
        if len < LONG_REPEAT {
            self.out.extend_from_slice(&[((len - 2) as u8) << 5 | high, low]);
        } else {
            self.out.extend_from_slice(&[7 << 5 | high, (len - LONG_REPEAT) as u8, low]);
        }
        self.written = at + len;
        (self.out.len() <= self.max).then_some(())
    }
}

/// Decompresses to a text of exactly `len` bytes. `None` if `packed` is not the compressed form of one. A length that a
/// stranger has announced reserves no more than what `packed` may hold.
#[must_use]
pub fn decompress(packed: &[u8], len: usize) -> Option<Vec<u8>> {
    let most = packed.len().saturating_mul(REPEAT_MAX / 3 + 1);
    let mut out = Vec::with_capacity(len.min(most));
    let mut rest = packed;
    while let Some((&control, next)) = rest.split_first() {
        let control = usize::from(control);
        if control < LITERAL_MAX {
            let (run, next) = next.split_at_checked(control + 1)?;
            out.extend_from_slice(run);
            rest = next;
        } else {
            let (more, next) = if control >> 5 == 7 { next.split_first()? } else { (&0, next) };
            let (&low, next) = next.split_first()?;
            let distance = ((control & 0x1f) << 8 | usize::from(low)) + 1;
            let repeat = (control >> 5) + usize::from(*more) + 2;
            let start = out.len().checked_sub(distance)?;
            if out.len() + repeat > len {
                return None;
            }
            extend_from_itself(&mut out, start, repeat);
            rest = next;
        }
        if out.len() > len {
            return None;
        }
    }
    (out.len() == len).then_some(out)
}

/// Appends the `len` bytes from `start` on, which may reach into those that are appended.
fn extend_from_itself(out: &mut Vec<u8>, start: usize, mut len: usize) {
    // What stands behind `start` repeats itself, so the piece to be copied may grow with what has been copied.
    while len > 0 {
        let piece = len.min(out.len() - start);
        out.extend_from_within(start..start + piece);
        len -= piece;
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::base::Rand;

    /// A decompressor as the format's description reads, byte by byte.
    fn model(packed: &[u8]) -> Option<Vec<u8>> {
        let mut out: Vec<u8> = Vec::new();
        let mut bytes = packed.iter().copied();
        while let Some(control) = bytes.next() {
            if control < 32 {
                for _ in 0..=control {
                    out.push(bytes.next()?);
                }
                continue;
            }
            let mut len = usize::from(control >> 5) + 2;
            if control >> 5 == 7 {
                len += usize::from(bytes.next()?);
            }
            let back = (usize::from(control & 31) << 8) + usize::from(bytes.next()?) + 1;
            for _ in 0..len {
                out.push(*out.get(out.len().checked_sub(back)?)?);
            }
        }
        Some(out)
    }

    fn random_text(rng: &mut Rand) -> Vec<u8> {
        let len = [0, 1, 3, 40, 300, 9_000, 40_000][rng.random_range(0..7)];
        let len = rng.random_range(0..=len);
        let letters = [1, 2, 4, 256][rng.random_range(0..4)];
        let mut text = Vec::new();
        while text.len() < len {
            if !text.is_empty() && rng.random() {
                let start = rng.random_range(0..text.len());
                let end = (start + rng.random_range(0..600)).min(text.len());
                text.extend_from_within(start..end);
            } else {
                text.push(rng.random_range(0..letters) as u8);
            }
        }
        text
    }

    #[test]
    fn texts_come_back() {
        for seed in 0..2_000 {
            let mut rng = Rand::seed_from_u64(seed);
            let text = random_text(&mut rng);
            let packed = compress(&text, usize::MAX).expect("no bound");
            // Text as it is costs a byte in 32.
            assert!(packed.len() <= text.len() + text.len() / 32 + 1, "seed {seed}");
            assert!(model(&packed).as_ref() == Some(&text), "seed {seed}");
            assert!(decompress(&packed, text.len()).as_ref() == Some(&text), "seed {seed}");
            assert_eq!(decompress(&packed, text.len() + 1), None, "seed {seed}");
            let max = rng.random_range(0..=packed.len() + 2);
            assert_eq!(compress(&text, max).is_some(), packed.len() <= max, "seed {seed} max {max}");
        }
    }

    #[test]
    fn any_bytes_are_refused_or_mean_what_the_format_says() {
        for seed in 0..20_000 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut packed = if rng.random() {
                (0..rng.random_range(0..40)).map(|_| rng.random()).collect()
            } else {
                compress(&random_text(&mut rng)[..], usize::MAX).expect("no bound")
            };
            if !packed.is_empty() {
                let at = rng.random_range(0..packed.len());
                packed[at] = rng.random();
            }
            match model(&packed) {
                Some(text) => {
                    assert!(decompress(&packed, text.len()).as_ref() == Some(&text), "seed {seed}");
                    assert_eq!(decompress(&packed, text.len().wrapping_sub(1)), None, "seed {seed}");
                }
                None => assert_eq!(decompress(&packed, rng.random_range(0..5_000)), None, "seed {seed}"),
            }
        }
    }

    #[test]
    fn known_forms_are_read() {
        // Literals; the last byte eight times more; three bytes from further back; a long repetition.
        assert_eq!(decompress(b"\x02abc", 3).as_deref(), Some(&b"abc"[..]));
        assert_eq!(decompress(b"\x00a\xc0\x00", 9).as_deref(), Some(&b"aaaaaaaaa"[..]));
        assert_eq!(decompress(b"\x03abcd\x20\x03", 7).as_deref(), Some(&b"abcdabc"[..]));
        assert_eq!(decompress(b"\x00x\xe0\x5a\x00", 100), Some(vec![b'x'; 100]));
        assert_eq!(decompress(b"\x20\x00", 3), None);
        assert_eq!(decompress(b"", usize::MAX), None);
    }

    #[test]
    fn repetition_is_found() {
        let text = b"user:1000:name ".repeat(500);
        let packed = compress(&text, text.len()).expect("it shrinks");
        assert!(packed.len() < text.len() / 20, "{} bytes", packed.len());
        assert_eq!(compress(&[b'x'; 4], 3), None);
    }
}
