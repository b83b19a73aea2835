//! `Item`: one element as a compact collection yields it, either bytes or an integer.
//!
//! Listpacks and intsets store a string that is a canonical integer as that integer, so what comes out of them is one of
//! two things. `canonical_int` is the one place that decides which strings count as canonical. Touches nothing.

/// One element of a collection: a byte string, or a string that was stored as the integer it spells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// Bytes that are not a canonical integer.
    Str(&'a [u8]),
    /// The element's text is this number in decimal.
    Int(i64),
}

impl<'a> Item<'a> {
    /// The item that `text` is stored as: `Int` when it is a canonical integer, else `Str`.
    #[inline]
    pub fn classify(text: &'a [u8]) -> Item<'a> {
        match canonical_int(text) {
            Some(value) => Item::Int(value),
            None => Item::Str(text),
        }
    }

    /// The element's text. An integer is printed into `buf`; a string is lent as it is.
    #[inline]
    pub fn bytes<'b>(&'b self, buf: &'b mut itoa::Buffer) -> &'b [u8] {
        match self {
            Item::Str(text) => text,
            Item::Int(value) => buf.format(*value).as_bytes(),
        }
    }

    /// The element's text in its own memory.
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes(&mut itoa::Buffer::new()).to_vec()
    }

    /// Length of the element's text in bytes.
    #[inline]
    pub fn text_len(&self) -> usize {
        match self {
            Item::Str(text) => text.len(),
            Item::Int(value) => {
                let digits = value.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1);
                digits + usize::from(*value < 0)
            }
        }
    }

    /// Whether the element's text is `text`.
    #[inline]
    pub fn eq_bytes(&self, text: &[u8]) -> bool {
        match self {
            Item::Str(own) => *own == text,
            Item::Int(value) => canonical_int(text) == Some(*value),
        }
    }

    /// The number that the element's text spells, if it is a canonical integer.
    #[inline]
    pub fn to_int(&self) -> Option<i64> {
        match self {
            Item::Str(text) => canonical_int(text),
            Item::Int(value) => Some(*value),
        }
    }
}

/// The longest canonical integer: `-9223372036854775808`.
pub const MAX_INT_TEXT: usize = 20;

/// The value of `text` if it is exactly how a 64-bit signed integer prints: no sign `+`, no leading zero, no `-0`,
/// no blank. Printing the result gives `text` back, so the one can be stored for the other.
#[inline]
pub fn canonical_int(text: &[u8]) -> Option<i64> {
    let first = *text.first()?;
    if text.len() > MAX_INT_TEXT || !(first.is_ascii_digit() || first == b'-') {
        return None;
    }
    parse_int(text, first)
}

/// The rest of `canonical_int`, out of line: most strings are refused by their first byte.
fn parse_int(text: &[u8], first: u8) -> Option<i64> {
    let negative = first == b'-';
    let digits = &text[usize::from(negative)..];
    let lead = *digits.first()?;
    if lead == b'0' {
        return (text.len() == 1).then_some(0);
    }
    // Nineteen digits cannot overflow a u64, so the loop needs no overflow check.
    if digits.len() > MAX_INT_TEXT - 1 {
        return None;
    }
    let mut magnitude: u64 = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_integers_print_back_to_their_text() {
        for value in [0, 1, 9, 10, 127, 128, -1, -128, 4095, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1] {
            let text = value.to_string();
            assert_eq!(canonical_int(text.as_bytes()), Some(value), "{text}");
            assert_eq!(Item::Int(value).text_len(), text.len(), "{text}");
            assert!(Item::Int(value).eq_bytes(text.as_bytes()));
            assert_eq!(Item::classify(text.as_bytes()).to_vec(), text.as_bytes());
        }
    }

    #[test]
    fn other_texts_are_no_integers() {
        let refused: [&[u8]; 16] = [
            b"",
            b"-",
            b"-0",
            b"00",
            b"01",
            b"+1",
            b" 1",
            b"1 ",
            b"1a",
            b"a",
            b"--1",
            b"1-",
            b"9223372036854775808",
            b"-9223372036854775809",
            b"99999999999999999999",
            b"18446744073709551616",
        ];
        for text in refused {
            assert_eq!(canonical_int(text), None, "{text:?}");
            assert_eq!(Item::classify(text), Item::Str(text));
            assert_eq!(Item::Str(text).text_len(), text.len());
        }
    }

    #[test]
    fn an_integer_differs_from_a_text_that_only_looks_alike() {
        assert!(!Item::Int(7).eq_bytes(b"07"));
        assert!(!Item::Int(7).eq_bytes(b"8"));
        assert!(Item::Str(b"07").eq_bytes(b"07"));
        assert_eq!(Item::Str(b"x").to_int(), None);
        assert_eq!(Item::Int(7).to_int(), Some(7));
    }
}
