//! Ranges of a sorted set as clients write them: by score (`1.5`, `(1.5`, `-inf`) and by member (`[a`, `(a`,
//! `-`, `+`). Touches `base::num` only.

use crate::base::num::parse_f64;

/// One end of a range of scores. Never NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreBound {
    /// The score.
    pub value: f64,
    /// Whether that score itself lies outside.
    pub exclusive: bool,
}

impl ScoreBound {
    /// Parses a number, exclusive behind a `(`. `None` when it is no number or NaN.
    ///
    /// Redis hands these to C's `strtod` and wants the terminating NUL to be what stops it. So here, and in
    /// no other score, white space in front is skipped, an empty text is 0, a NUL byte ends the text, and
    /// what is too large for a double is infinite.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (exclusive, text) = match text {
            [b'(', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let value = parse_as_strtod(text)?;
        Some(Self { value, exclusive })
    }
}

fn parse_as_strtod(text: &[u8]) -> Option<f64> {
    if let Some(value) = parse_f64(text) {
        return Some(value);
    }
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    if text.is_empty() {
        return Some(0.0);
    }
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let number = &text[text.iter().take_while(|byte| blank(byte)).count()..];
    if let Some(value) = parse_f64(number) {
        return Some(value);
    }
    // What parse_f64 refused for being out of range is still a number here.
    let value: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    (!value.is_nan()).then_some(value)
}

/// A range of scores, as ZRANGEBYSCORE takes it. It may be empty (`5` to `3`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreRange {
    /// The lower end.
    pub min: ScoreBound,
    /// The upper end.
    pub max: ScoreBound,
}

impl ScoreRange {
    /// Parses both ends; `None` when either is malformed.
    #[must_use]
    pub fn parse(min: &[u8], max: &[u8]) -> Option<Self> {
        Some(Self { min: ScoreBound::parse(min)?, max: ScoreBound::parse(max)? })
    }

    /// Whether `score` is not below the range.
    #[inline]
    #[must_use]
    pub fn reaches_min(&self, score: f64) -> bool {
        score > self.min.value || (score == self.min.value && !self.min.exclusive)
    }

    /// Whether `score` is not above the range.
    #[inline]
    #[must_use]
    pub fn within_max(&self, score: f64) -> bool {
        score < self.max.value || (score == self.max.value && !self.max.exclusive)
    }
}

/// One end of a range of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexBound<'a> {
    /// `-`: before every member.
    First,
    /// `+`: behind every member.
    Last,
    /// `[text`: the member itself is inside.
    Inclusive(&'a [u8]),
    /// `(text`: the member itself is outside.
    Exclusive(&'a [u8]),
}

impl<'a> LexBound<'a> {
    /// Parses `-`, `+`, `[text` or `(text`; `None` for anything else. A NUL byte behind a `-` or `+` hides
    /// what follows, as it does in Redis.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        match text {
            [b'-'] | [b'-', 0, ..] => Some(Self::First),
            [b'+'] | [b'+', 0, ..] => Some(Self::Last),
            [b'[', rest @ ..] => Some(Self::Inclusive(rest)),
            [b'(', rest @ ..] => Some(Self::Exclusive(rest)),
            _ => None,
        }
    }
}

/// A range of members, as ZRANGEBYLEX takes it. It may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexRange<'a> {
    /// The lower end.
    pub min: LexBound<'a>,
    /// The upper end.
    pub max: LexBound<'a>,
}

impl<'a> LexRange<'a> {
    /// Parses both ends; `None` when either is malformed.
    #[must_use]
    pub fn parse(min: &'a [u8], max: &'a [u8]) -> Option<Self> {
        Some(Self { min: LexBound::parse(min)?, max: LexBound::parse(max)? })
    }

    /// Whether `member` is not below the range.
    #[must_use]
    pub fn reaches_min(&self, member: &[u8]) -> bool {
        match self.min {
            LexBound::First => true,
            LexBound::Last => false,
            LexBound::Inclusive(min) => member >= min,
            LexBound::Exclusive(min) => member > min,
        }
    }

    /// Whether `member` is not above the range.
    #[must_use]
    pub fn within_max(&self, member: &[u8]) -> bool {
        match self.max {
            LexBound::First => false,
            LexBound::Last => true,
            LexBound::Inclusive(max) => member <= max,
            LexBound::Exclusive(max) => member < max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(text: &[u8]) -> Option<(f64, bool)> {
        ScoreBound::parse(text).map(|bound| (bound.value, bound.exclusive))
    }

    /// Expectations as Redis 7.0 answers them.
    #[test]
    fn scores_parse_as_strtod_would() {
        let inf = f64::INFINITY;
        for (text, value, exclusive) in [
            (&b"1"[..], 1.0, false),
            (b"(1.5", 1.5, true),
            (b"", 0.0, false),
            (b"(", 0.0, true),
            (b" 7", 7.0, false),
            (b"\t\n 7", 7.0, false),
            (b"( -7", -7.0, true),
            (b"0x10", 16.0, false),
            (b"1e999", inf, false),
            (b"-1e999", -inf, false),
            (b"1e-999", 0.0, false),
            (b"+inf", inf, false),
            (b"-iNf", -inf, false),
            (b"(infinity", inf, true),
            (b"5\0junk", 5.0, false),
            (b"\0junk", 0.0, false),
        ] {
            assert_eq!(score(text), Some((value, exclusive)), "{}", text.escape_ascii());
        }
        for text in [&b"nan"[..], b"(nan", b"-nan", b"1 ", b" ", b"((1", b"1(", b"a", b"-", b"+", b"."] {
            assert_eq!(score(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn members_parse() {
        assert_eq!(LexBound::parse(b"-"), Some(LexBound::First));
        assert_eq!(LexBound::parse(b"+\0abc"), Some(LexBound::Last));
        assert_eq!(LexBound::parse(b"["), Some(LexBound::Inclusive(b"")));
        assert_eq!(LexBound::parse(b"(ab"), Some(LexBound::Exclusive(b"ab")));
        for text in [&b""[..], b"--", b"-a", b"++", b"a", b"]a"] {
            assert_eq!(LexBound::parse(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn ends_are_in_or_out() {
        let range = ScoreRange::parse(b"(1", b"2").expect("well-formed");
        assert!(!range.reaches_min(1.0) && range.reaches_min(1.1));
        assert!(range.within_max(2.0) && !range.within_max(2.1));
        let range = LexRange::parse(b"[b", b"(c").expect("well-formed");
        assert!(!range.reaches_min(b"az") && range.reaches_min(b"b"));
        assert!(range.within_max(b"bz") && !range.within_max(b"c"));
    }
}
