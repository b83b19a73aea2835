//! Splitting a line into arguments with quotes, and quoting the other way round. Touches nothing.
//!
//! One grammar serves three places: inline commands, lines of redis.conf, and options on the command line (which become
//! lines). Arguments stand between blanks. Text may be quoted, also in the middle of an argument:
//!
//! ```text
//! "…"    \n \r \t \b \a   the control character        \xHH   the byte with that hexadecimal number
//!        \c               c itself, for any other c (so \" and \\)
//! '…'    \'               a single quote; every other backslash stays as it is
//! ```
//!
//! A closing quote must be followed by a blank or by the end. A NUL byte ends the line. These are the rules of Redis's
//! `sdssplitargs`; [`quote`] writes what its `sdscatrepr` writes.

/// The arguments of `line`, or `None` if a quote is not closed or is closed in the middle of an argument.
pub fn split_args(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut args = Vec::new();
    loop {
        rest = trim_start(rest);
        if rest.is_empty() {
            return Some(args);
        }
        let mut arg = Vec::new();
        rest = take_argument(rest, &mut arg)?;
        args.push(arg);
    }
}

/// What C's `isspace` calls a space.
fn is_space(byte: u8) -> bool {
    byte == b' ' || (b'\t'..=b'\r').contains(&byte)
}

fn trim_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    &text[start..]
}

/// Reads one argument from the front of `text` into `arg` and returns what follows it.
fn take_argument<'a>(text: &'a [u8], arg: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        match byte {
            // Vertical tab and form feed separate only in front of an argument, not behind it.
            b' ' | b'\n' | b'\r' | b'\t' => return Some(rest),
            b'"' => return take_double_quoted(tail, arg),
            b'\'' => return take_single_quoted(tail, arg),
            _ => arg.push(byte),
        }
        rest = tail;
    }
    Some(rest)
}

/// Reads up to the closing double quote, `text` being what follows the opening one.
fn take_double_quoted<'a>(text: &'a [u8], arg: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        rest = match rest {
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                arg.push(hex_digit(*high) << 4 | hex_digit(*low));
                tail
            }
            [b'\\', letter, tail @ ..] => {
                arg.push(unescape(*letter));
                tail
            }
            [b'"', tail @ ..] => return ends_argument(tail),
            [byte, tail @ ..] => {
                arg.push(*byte);
                tail
            }
            [] => return None,
        };
    }
}

/// Reads up to the closing single quote, `text` being what follows the opening one.
fn take_single_quoted<'a>(text: &'a [u8], arg: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        rest = match rest {
            [b'\\', b'\'', tail @ ..] => {
                arg.push(b'\'');
                tail
            }
            [b'\'', tail @ ..] => return ends_argument(tail),
            [byte, tail @ ..] => {
                arg.push(*byte);
                tail
            }
            [] => return None,
        };
    }
}

/// `rest`, provided that an argument may end in front of it.
fn ends_argument(rest: &[u8]) -> Option<&[u8]> {
    rest.first().is_none_or(|byte| is_space(*byte)).then_some(rest)
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase() - b'a' + 10,
    }
}

fn unescape(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}

/// Appends `text` in double quotes, such that [`split_args`] reads it back and every byte is printable ASCII.
pub fn quote(out: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &byte in text {
        match byte {
            b'\\' | b'"' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            7 => out.extend(b"\\a"),
            8 => out.extend(b"\\b"),
            b' '..=b'~' => out.push(byte),
            _ => out.extend([b'\\', b'x', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn split(line: &str) -> Option<Vec<String>> {
        let args = split_args(line.as_bytes())?;
        Some(args.into_iter().map(|arg| String::from_utf8_lossy(&arg).into_owned()).collect())
    }

    #[test]
    fn plain_and_quoted_arguments() {
        for (line, want) in [
            ("", &[][..]),
            (" \t\r\n\x0b\x0c", &[]),
            ("set  key\tvalue\r\n", &["set", "key", "value"]),
            (r#"set "a b" 'c d'"#, &["set", "a b", "c d"]),
            (r#"a"b c"  'd'"#, &["ab c", "d"]),
            (r#""\x41\x5aq\xz" '\x41'"#, &["AZqxz", r"\x41"]),
            (r#""\n\r\t\b\a\"\\\q" '\'\n'"#, &["\n\r\t\u{8}\u{7}\"\\q", r"'\n"]),
            (r#""" ''"#, &["", ""]),
            ("a\x0bb\x0cc d", &["a\x0bb\x0cc", "d"]),
            (r"back\slash \", &[r"back\slash", r"\"]),
            ("\"q\"\x0bnext", &["q", "next"]),
            ("cut\0off", &["cut"]),
            (r#""it's" 'say "hi"'"#, &["it's", "say \"hi\""]),
        ] {
            let want: Vec<String> = want.iter().map(|arg| arg.to_string()).collect();
            assert_eq!(split(line), Some(want), "{line:?}");
        }
    }

    #[test]
    fn unbalanced_quotes_are_refused() {
        for line in
            ["\"", "'", "a \"b", "\"a\"b", "'a'b", "\"a\"\"b\"", "\"a\\\"", "'a\\'", "\"a\\", "\"a\0\""]
        {
            assert_eq!(split(line), None, "{line:?}");
        }
    }

    #[test]
    fn quoted_text_reads_back() {
        for seed in 0..2000 {
            let mut rng = crate::base::Rand::seed_from_u64(seed);
            let words: Vec<Vec<u8>> = (0..rng.random_range(0..5))
                .map(|_| (0..rng.random_range(0..12)).map(|_| rng.random()).collect())
                .collect();
            let mut line = Vec::new();
            for word in &words {
                quote(&mut line, word);
                line.push(b" \t\r\n"[rng.random_range(0..4)]);
            }
            assert!(line.iter().all(|byte| byte.is_ascii()), "seed {seed}");
            assert_eq!(split_args(&line), Some(words), "seed {seed}");
        }
    }

    #[test]
    fn any_bytes_are_harmless() {
        for seed in 0..5000 {
            let mut rng = crate::base::Rand::seed_from_u64(seed);
            let alphabet = b"\"'\\xa0 \0\t";
            let line: Vec<u8> =
                (0..rng.random_range(0..20)).map(|_| alphabet[rng.random_range(0..alphabet.len())]).collect();
            let total: usize = split_args(&line).unwrap_or_default().iter().map(Vec::len).sum();
            assert!(total <= line.len(), "seed {seed}");
        }
    }
}
