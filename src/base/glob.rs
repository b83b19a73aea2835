//! Glob matching as Redis does it (`stringmatchlen` in its `util.c`), for KEYS, SCAN MATCH, PSUBSCRIBE,
//! CONFIG GET and so on.
//!
//! What lives here: one function, [`matches`]. It touches nothing else of the crate.
//!
//! The pattern is a sequence of elements; each one except `*` eats exactly one byte of the text:
//!
//! ```text
//! *        any run of bytes              ?       any one byte
//! [ab-z]   one byte of the class         [^a]    one byte outside the class
//! \x       the byte x                    x       the byte x
//! ```
//!
//! Corner cases that are kept because clients can see them:
//! - A `*` does not match the empty text (Redis's callers treat the lone `*` as "everything" before they
//!   ask).
//! - A class without `]` ends with the pattern. In `[a-]` the range runs from `a` to `]`, so that class has
//!   no end either.
//! - A range may be written backwards. Its ends compare as signed bytes, as on x86.
//! - Without case, the ends of a range are lowered after they have been put in order, so `[Z-_]` is empty;
//!   `\x` inside a class stays exact.
//! - A lone `\` at the end is a literal backslash.
//! - A pattern that gets past more than [`MAX_STARS`] stars matches nothing.
//!
//! Algorithm: since every other element has width one, only the latest `*` ever needs another try (if the
//! rest of the pattern matches nowhere after it, a longer match of an earlier `*` cannot help). So there is
//! no recursion, and the worst case is pattern length times text length.

/// How many runs of `*`, each with more pattern behind it, a match may pass. Redis bounds its recursion by
/// the same number.
const MAX_STARS: usize = 1000;

/// Whether the whole `text` matches the glob `pattern`; `nocase` ignores ASCII case.
pub fn matches(pattern: &[u8], text: &[u8], nocase: bool) -> bool {
    if text.is_empty() {
        return pattern.is_empty();
    }
    let (mut p, mut t) = (0, 0);
    let mut stars = 0;
    // Where to go on after a mismatch: the pattern behind the latest star, and the text position it was last
    // tried at.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let element = pattern.get(p).copied();
        if element == Some(text[t]) && !is_special(text[t]) {
            p += 1;
            t += 1;
            continue;
        }
        if element == Some(b'*') {
            p = skip_stars(pattern, p);
            if p == pattern.len() {
                return true;
            }
            stars += 1;
            if stars > MAX_STARS {
                return false;
            }
            retry = Some((p, t));
            continue;
        }
        if let Some(next) = match_one(pattern, p, text[t], nocase) {
            p = next;
            t += 1;
            continue;
        }
        let Some((behind_star, tried)) = &mut retry else {
            return false;
        };
        let from = *tried + 1;
        let Some(skip) = next_candidate(pattern[*behind_star], &text[from..], nocase) else {
            return false;
        };
        *tried = from + skip;
        (p, t) = (*behind_star, *tried);
    }
    skip_stars(pattern, p) == pattern.len()
}

/// Whether the byte means something else than itself in a pattern.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// The first position at or after `p` that is not a star.
fn skip_stars(pattern: &[u8], p: usize) -> usize {
    p + pattern[p..].iter().take_while(|&&byte| byte == b'*').count()
}

/// How far ahead in `rest` the element that begins with `first` can match at the earliest; `None` when
/// nowhere.
fn next_candidate(first: u8, rest: &[u8], nocase: bool) -> Option<usize> {
    if nocase || is_special(first) {
        return if rest.is_empty() { None } else { Some(0) };
    }
    rest.iter().position(|&byte| byte == first)
}

/// Matches the one element at `p` (not a star) against `byte`. Returns the position behind the element, or
/// `None` when it does not match or the pattern is at its end.
#[inline]
fn match_one(pattern: &[u8], p: usize, byte: u8, nocase: bool) -> Option<usize> {
    let (literal, next) = match *pattern.get(p)? {
        b'?' => return Some(p + 1),
        b'[' => return match_class(pattern, p + 1, byte, nocase),
        b'\\' if p + 1 < pattern.len() => (pattern[p + 1], p + 2),
        literal => (literal, p + 1),
    };
    same(literal, byte, nocase).then_some(next)
}

/// Matches the class whose inside begins at `p` against `byte`. Returns the position behind the class on a
/// match.
fn match_class(pattern: &[u8], mut p: usize, byte: u8, nocase: bool) -> Option<usize> {
    let negated = pattern.get(p) == Some(&b'^');
    p += usize::from(negated);
    let mut found = false;
    loop {
        match pattern[p..] {
            [] => break,
            [b'\\', escaped, ..] => {
                found |= escaped == byte;
                p += 2;
            }
            [b']', ..] => {
                p += 1;
                break;
            }
            [start, b'-', end, ..] => {
                found |= in_range(start, end, byte, nocase);
                p += 3;
            }
            [literal, ..] => {
                found |= same(literal, byte, nocase);
                p += 1;
            }
        }
    }
    (found != negated).then_some(p)
}

fn same(a: u8, b: u8, nocase: bool) -> bool {
    a == b || (nocase && a.eq_ignore_ascii_case(&b))
}

/// Whether `byte` lies between the ends of a range, in either order. The ends are ordered as signed bytes;
/// without case all three then go through C's `tolower`, which in glibc makes negative bytes positive, all
/// but the last.
fn in_range(start: u8, end: u8, byte: u8, nocase: bool) -> bool {
    let value = |byte: u8| match byte {
        0xFF => -1,
        _ if nocase => i16::from(byte.to_ascii_lowercase()),
        _ => i16::from(byte.cast_signed()),
    };
    let (low, high) = if start.cast_signed() > end.cast_signed() { (end, start) } else { (start, end) };
    (value(low)..=value(high)).contains(&value(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn plain_elements() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", false),
            ("*", "a", true),
            ("a*", "a", true),
            ("a**", "a", true),
            ("*a", "ba", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h*llo", "heeeello", true),
            ("h[ae]llo", "hallo", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("*a*b*c*", "xxaxxbxxcxx", true),
            ("*a*b*c", "xxaxxbxxcxx", false),
            ("user:*:name", "user:1:name:name", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("*\\", "\\", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes(), false), expected, "{pattern:?} {text:?}");
        }
    }

    #[test]
    fn odd_classes() {
        for (pattern, text, expected) in [
            (&b"["[..], &b"a"[..], false),
            (b"[^", b"a", true),
            (b"[]", b"]", false),
            (b"[^]", b"]", true),
            (b"[ab", b"b", true),
            (b"[ab", b"bb", false),
            (b"[\\]]", b"]", true),
            (b"[\\", b"\\", true),
            (b"[a-]", b"^", true),
            (b"[a-]", b"-", false),
            (b"[a-]x", b"x", true),
            (b"[a-", b"-", true),
            (b"[^a-z]x", b"qx", false),
            (b"[^a-z]x", b"Qx", true),
            (b"[a-\xff]", b"b", false),
            (b"[a-\xff]", b"0", true),
            (b"[\x80-\xff]", b"\x90", true),
        ] {
            assert_eq!(matches(pattern, text, false), expected, "{pattern:?} {text:?}");
        }
    }

    #[test]
    fn case_folding() {
        assert!(matches(b"HeL*", b"hello", true));
        assert!(!matches(b"HeL*", b"hello", false));
        assert!(matches(b"[A-C]", b"b", true));
        assert!(!matches(b"[\\A]", b"a", true));
        assert!(!matches(b"[Z-_]", b"[", true), "both ends are lowered, so the range is empty");
        assert!(matches(b"*ELLO", b"hello", true));
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let text = vec![b'a'; 50_000];
        assert!(!matches(&b"*?".repeat(50_000), &text, false));
        let mut pattern = b"a*".repeat(900);
        pattern.push(b'b');
        assert!(!matches(&pattern, &text, false));
        assert!(matches(&b"*a".repeat(1000), &text[..1000], false));
        assert!(!matches(&b"*a".repeat(1001), &text[..1001], false));
    }

    /// The plain definition, exponential but obviously right, over the same elements.
    fn naive(pattern: &[u8], text: &[u8], nocase: bool) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'*', rest @ ..] => (0..=text.len()).any(|skip| naive(rest, &text[skip..], nocase)),
            _ => text
                .split_first()
                .and_then(|(&byte, rest)| Some((match_one(pattern, 0, byte, nocase)?, rest)))
                .is_some_and(|(next, rest)| naive(&pattern[next..], rest, nocase)),
        }
    }

    #[test]
    fn agrees_with_the_plain_definition() {
        for seed in 0..20_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let mut pick = |alphabet: &[u8], max: usize| -> Vec<u8> {
                let len = rng.random_range(0..=max);
                (0..len).map(|_| alphabet[rng.random_range(0..alphabet.len())]).collect()
            };
            let pattern = pick(b"**?[]^-\\abAB", 9);
            let text = pick(b"abABc]", 8);
            for nocase in [false, true] {
                let expected = (pattern.is_empty() || !text.is_empty()) && naive(&pattern, &text, nocase);
                assert_eq!(
                    matches(&pattern, &text, nocase),
                    expected,
                    "seed {seed}: {pattern:?} {text:?} {nocase}"
                );
            }
        }
    }
}
