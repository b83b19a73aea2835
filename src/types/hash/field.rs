//! One field of a hash in its table encoding: name, value and expiry time in one allocation. Touches `thin` and `table`.
//!
//! ```text
//! +--------------------------------+------------------+------+-------+
//! | varint: name length * 2 + flag | expiry: i64, LE  | name | value |
//! |                                | only if flag = 1 |      |       |
//! +--------------------------------+------------------+------+-------+
//! ```
//!
//! The varint is LEB128: seven bits a byte, lowest first, the top bit set in all bytes but the last. Names below 64 bytes
//! need one byte. The value's length is what is left.

use crate::types::table::Element;
use crate::types::thin::Thin;

/// Bytes of the longest varint: a name is shorter than 4 GiB, doubled that makes 33 bits.
const VARINT_MAX: usize = 5;
/// Bytes of an expiry time.
const EXPIRY: usize = size_of::<i64>();

/// A field: name, value, and when it expires, if it does.
pub(super) struct Field(Thin);

/// Where the parts are.
#[derive(Clone, Copy)]
struct Parts {
    has_expiry: bool,
    name: usize,
    value: usize,
}

/// Writes the varint; returns its length.
fn write_head(name_len: usize, has_expiry: bool, out: &mut [u8; VARINT_MAX]) -> usize {
    let mut rest = (name_len << 1) | usize::from(has_expiry);
    let mut len = 0;
    loop {
        let more = rest > 0x7f;
        out[len] = (rest & 0x7f) as u8 | (u8::from(more) << 7);
        len += 1;
        rest >>= 7;
        if !more {
            return len;
        }
    }
}

impl Field {
    /// A field. `expiry` is Unix time in ms.
    pub(super) fn new(name: &[u8], value: &[u8], expiry: Option<i64>) -> Self {
        let mut head = [0; VARINT_MAX];
        let len = write_head(name.len(), expiry.is_some(), &mut head);
        let expiry = expiry.map(i64::to_le_bytes);
        Self(Thin::concat(&[&head[..len], expiry.as_ref().map_or(&[], |bytes| &bytes[..]), name, value]))
    }

    #[inline]
    fn parts(&self) -> Parts {
        let bytes = self.0.as_slice();
        let first = usize::from(bytes[0]);
        let (head, head_len) = if first < 0x80 { (first, 1) } else { long_head(bytes) };
        let has_expiry = head & 1 == 1;
        let name = head_len + if has_expiry { EXPIRY } else { 0 };
        Parts { has_expiry, name, value: name + (head >> 1) }
    }

    /// The value.
    #[inline]
    pub(super) fn value(&self) -> &[u8] {
        &self.0.as_slice()[self.parts().value..]
    }

    /// Name and value.
    #[inline]
    pub(super) fn pair(&self) -> (&[u8], &[u8]) {
        let parts = self.parts();
        self.0.as_slice()[parts.name..].split_at(parts.value - parts.name)
    }

    /// When the field expires: Unix time in ms.
    #[inline]
    pub(super) fn expiry(&self) -> Option<i64> {
        let parts = self.parts();
        let bytes = self.0.as_slice().get(parts.name.checked_sub(EXPIRY)?..parts.name)?;
        parts.has_expiry.then(|| i64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    /// Replaces the value. A value of the same length goes to the same place.
    pub(super) fn set_value(&mut self, value: &[u8]) {
        let at = self.parts().value;
        self.0.resize(at + value.len());
        self.0.as_mut_slice()[at..].copy_from_slice(value);
    }

    /// Replaces the expiry time.
    pub(super) fn set_expiry(&mut self, expiry: Option<i64>) {
        let parts = self.parts();
        match expiry {
            Some(at) if parts.has_expiry => {
                self.0.as_mut_slice()[parts.name - EXPIRY..parts.name].copy_from_slice(&at.to_le_bytes());
            }
            None if !parts.has_expiry => {}
            _ => {
                let (name, value) = self.pair();
                *self = Self::new(name, value, expiry);
            }
        }
    }

    /// Bytes of the allocation.
    pub(super) fn alloc_size(&self) -> usize {
        self.0.alloc_size()
    }
}

/// A varint of more than one byte, and its length.
#[cold]
fn long_head(bytes: &[u8]) -> (usize, usize) {
    let mut head = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        head |= usize::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return (head, index + 1);
        }
    }
    unreachable!("every field begins with a whole varint")
}

impl Element for Field {
    #[inline]
    fn key(&self) -> &[u8] {
        self.pair().0
    }
}

impl Clone for Field {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_its_parts() {
        for name_len in [0, 1, 63, 64, 65, 8191, 8192, 3_000_000] {
            let name = vec![b'n'; name_len];
            for expiry in [None, Some(0), Some(i64::MAX), Some(-1)] {
                let mut field = Field::new(&name, b"value", expiry);
                let context = format!("{name_len} {expiry:?}");
                assert_eq!(
                    (field.key(), field.value(), field.expiry()),
                    (&name[..], &b"value"[..], expiry),
                    "{context}"
                );
                field.set_value(b"other, longer");
                assert_eq!(field.pair(), (&name[..], &b"other, longer"[..]), "{context}");
                field.set_expiry(Some(77));
                assert_eq!(field.expiry(), Some(77), "{context}");
                field.set_value(b"");
                field.set_expiry(None);
                assert_eq!((field.pair(), field.expiry()), ((&name[..], &b""[..]), None), "{context}");
                assert_eq!(field.alloc_size(), Field::new(&name, b"", None).alloc_size());
            }
        }
    }
}
