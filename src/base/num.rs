//! Numbers as text, in exactly the forms Redis reads and writes.
//!
//! What lives here: integers (`string2ll`), doubles (`string2d`, `d2string`, C's `%.17g`), memory sizes
//! (`memtoull`, `bytesToHuman`), and the two pieces of binary floating point that `longdouble` shares:
//! [`HexFloat`] and [`round_binary`]. It touches nothing else of the crate.
//!
//! The layout of a double follows `fpconv_dtoa`, which Redis uses since 7.2. With the shortest digits
//! `d1…dn`, the value being `d1…dn × 10^k`, and `x = |k + n - 1|` the size of the exponent in scientific
//! form:
//!
//! ```text
//! k >= 0 and x < n + 7         digits, then k zeros           4611686018427389000
//! k <  0 and (k > -7 or x < 4) plain decimal                  0.001, 1234567.125
//! else                         d1.d2…dn e± x, no padding      1e+20, 1.5e-7, 1.23456712345678e+6
//! ```
//!
//! Integers up to 2^62 never get there: they print as integers. The digits here are always the shortest that
//! read back; `fpconv_dtoa` is Grisu2, whose digits differ for about one double in 1,500 (it prints
//! -775276.54277 as -7.752765427699999e+5). That is not copied: both texts read back as the same double.

use std::io::Write;

/// Most bytes [`format_f64`] and [`format_f64_17g`] append.
pub const MAX_F64_CHARS: usize = 32;

/// Parses a decimal integer the strict way: digits with an optional `-`, nothing else. No `+`, no spaces, no
/// leading zeros, no `-0`; `None` also when it does not fit. Text that passes is what [`write_i64`] prints
/// for the value.
#[inline]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    match text {
        [b'0'] => Some(0),
        [b'-', digits @ ..] => {
            let magnitude = parse_magnitude(digits)?;
            (magnitude <= i64::MIN.unsigned_abs()).then(|| magnitude.cast_signed().wrapping_neg())
        }
        digits => i64::try_from(parse_magnitude(digits)?).ok(),
    }
}

/// Parses a decimal integer from 0 to 2^64 - 1, as strictly as [`parse_i64`].
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    match text {
        [b'0'] => Some(0),
        [head @ .., last] if head.len() == 19 => {
            let digit = digit_of(*last)?;
            parse_magnitude(head)?.checked_mul(10)?.checked_add(digit)
        }
        digits => parse_magnitude(digits),
    }
}

/// Parses an unsigned integer as Redis's `string2ull` does, for stream ids and SCAN cursors: what
/// [`parse_i64`] takes and is not negative, and else what C's `strtoull` takes as a whole: leading spaces, a
/// sign (a minus wraps around) and leading zeros are allowed, and a zero byte ends the text. `None` when it does not fit.
pub fn parse_u64_loose(text: &[u8]) -> Option<u64> {
    let text = memchr::memchr(0, text).map_or(text, |end| &text[..end]);
    if let Some(value) = parse_i64(text) {
        return u64::try_from(value).ok();
    }
    let spaces = text.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    let (negative, digits) = split_sign(&text[spaces..]);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in digits {
        value = value.checked_mul(10)?.checked_add(digit_of(byte)?)?;
    }
    Some(if negative { value.wrapping_neg() } else { value })
}

/// One to nineteen digits, the first not a zero. Nineteen digits always fit.
#[inline]
fn parse_magnitude(digits: &[u8]) -> Option<u64> {
    if digits.len() > 19 || !matches!(digits.first(), Some(b'1'..=b'9')) {
        return None;
    }
    let mut value = 0;
    let mut rest = digits;
    while let Some((chunk, tail)) = rest.split_first_chunk() {
        value = value * 100_000_000 + parse_eight(*chunk)?;
        rest = tail;
    }
    for &byte in rest {
        value = value * 10 + digit_of(byte)?;
    }
    Some(value)
}

/// Eight digits at once: all bytes are checked in two masks, then neighbours are merged pairwise three times.
#[inline]
fn parse_eight(chunk: [u8; 8]) -> Option<u64> {
    const HIGH: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    let text = u64::from_le_bytes(chunk);
    let zone = (text & HIGH) | ((text.wrapping_add(0x0606_0606_0606_0606) & HIGH) >> 4);
    if zone != 0x3333_3333_3333_3333 {
        return None;
    }
    let ones = text & 0x0F0F_0F0F_0F0F_0F0F;
    let twos = (ones.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (twos.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul(1 + (10_000 << 32)) >> 32)
}

#[inline]
fn digit_of(byte: u8) -> Option<u64> {
    let digit = byte.wrapping_sub(b'0');
    (digit <= 9).then_some(u64::from(digit))
}

/// Appends `value` in decimal.
#[inline]
pub fn write_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `value` in decimal.
#[inline]
pub fn write_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `value`, a length or a count, in decimal.
#[inline]
pub fn write_usize(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// How many digits [`write_u64`] prints for `value`.
#[inline]
pub fn decimal_len(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Splits an optional `+` or `-` off; the flag says that it was a minus.
pub(super) fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

/// Whether `text`, its sign gone, is `inf` or `infinity` in any case.
pub(super) fn is_infinity(text: &[u8]) -> bool {
    text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity")
}

/// Parses a double as Redis's `string2d` does: the whole text must be what C's `strtod` takes (decimal,
/// hexadecimal with a binary exponent, or infinity, each with an optional sign). Refused are NaN, surrounding
/// space, a finite number too big for a double, and one so small that it would become zero.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    if let Some(integer) = parse_i64(text) {
        return Some(integer as f64);
    }
    let (negative, body) = split_sign(text);
    let magnitude = match body {
        [b'0', b'x' | b'X', digits @ ..] => HexFloat::parse(digits)?.to_f64()?,
        [b'0'..=b'9' | b'.', ..] => parse_decimal_f64(body)?,
        _ if is_infinity(body) => f64::INFINITY,
        _ => return None,
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn parse_decimal_f64(body: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(body).ok()?.parse().ok()?;
    if value.is_infinite() {
        return None;
    }
    let vanished = value == 0.0
        && body
            .iter()
            .take_while(|byte| !matches!(byte, b'e' | b'E'))
            .any(|byte| matches!(byte, b'1'..=b'9'));
    (!vanished).then_some(value)
}

/// A hexadecimal float as scanned: `(mantissa + sticky) × 2^exponent`, `sticky` standing for more than
/// nothing and less than one. When `sticky` is set the mantissa has at least 125 bits.
pub(super) struct HexFloat {
    pub(super) mantissa: u128,
    pub(super) exponent: i64,
    pub(super) sticky: bool,
}

impl HexFloat {
    /// Scans what follows `0x`: hexadecimal digits with at most one point, then an optional `p` and decimal
    /// exponent.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().position(|byte| matches!(byte, b'p' | b'P')).unwrap_or(text.len());
        let mut number = Self { mantissa: 0, exponent: 0, sticky: false };
        let (mut digits, mut point) = (0usize, false);
        for &byte in &text[..end] {
            if byte == b'.' && !point {
                point = true;
                continue;
            }
            let digit = char::from(byte).to_digit(16)?;
            digits += 1;
            if number.mantissa >> 124 == 0 {
                number.mantissa = (number.mantissa << 4) | u128::from(digit);
                number.exponent -= if point { 4 } else { 0 };
            } else {
                number.sticky |= digit != 0;
                number.exponent += if point { 0 } else { 4 };
            }
        }
        if digits == 0 {
            return None;
        }
        if end < text.len() {
            number.exponent = number.exponent.saturating_add(parse_exponent(&text[end + 1..])?);
        }
        Some(number)
    }

    /// The nearest double; `None` when that is infinite, or zero for a value that is not.
    fn to_f64(&self) -> Option<f64> {
        if self.mantissa == 0 {
            return Some(0.0);
        }
        let (mantissa, exponent) = round_binary(self.mantissa, self.exponent, self.sticky, 53, -1074);
        if mantissa == 0 || exponent > 971 {
            return None;
        }
        // Below the implicit bit the value is subnormal, and its exponent field is zero.
        let field = if mantissa >> 52 == 0 { 0 } else { (exponent + 1075).cast_unsigned() };
        Some(f64::from_bits((field << 52) | (mantissa & ((1 << 52) - 1))))
    }
}

/// A decimal exponent with an optional sign. Values beyond 10^12 stop growing: they are out of every range.
pub(super) fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        value = (value * 10 + digit_of(byte)?.cast_signed()).min(1_000_000_000_000);
    }
    Some(if negative { -value } else { value })
}

/// Rounds `(mantissa + sticky) × 2^exponent` to the nearest value, ties to even, with at most `bits` (up to
/// 64) significant bits and no bit below `2^lowest`. Returns the new mantissa, full width unless the lowest
/// exponent forbids, and its exponent, which has no upper bound: the caller checks for overflow.
///
/// The mantissa is not zero; with `sticky` set it must be wider than `bits + 1`.
pub(super) fn round_binary(
    mantissa: u128,
    exponent: i64,
    sticky: bool,
    bits: u32,
    lowest: i64,
) -> (u64, i64) {
    let width = 128 - mantissa.leading_zeros();
    debug_assert!(mantissa != 0 && (!sticky || width > bits + 1), "{mantissa} {sticky}");
    let target = (exponent + i64::from(width) - i64::from(bits)).max(lowest);
    let shift = target - exponent;
    if shift <= 0 {
        // Exact: the mantissa is no wider than `bits`, and this widens it to that.
        return ((mantissa as u64) << -shift, target);
    }
    if shift > 128 {
        return (0, lowest);
    }
    let kept = mantissa.checked_shr(shift as u32).unwrap_or(0);
    let half = 1u128 << (shift - 1);
    let rest = mantissa & (half | (half - 1));
    let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
    let rounded = kept + u128::from(up);
    if rounded >> bits != 0 {
        return ((rounded >> 1) as u64, target + 1);
    }
    (rounded as u64, target)
}

/// Appends a double in the form of Redis 7.2 and later: integers as such, else the shortest digits that read
/// back as the same double, laid out as the head of this file says; `inf`, `-inf`, `nan`, `-0`.
pub fn format_f64(value: f64, out: &mut Vec<u8>) {
    if format_special(value, out) || format_integral(value, 4_611_686_018_427_387_904.0, out) {
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    if printed_plain(value, text) {
        out.extend_from_slice(text);
        return;
    }
    let (negative, body) = split_sign(text);
    if negative {
        out.push(b'-');
    }
    let mut digits = [0; MAX_F64_CHARS];
    let (count, k) = split_shortest(body, &mut digits);
    emit_shortest(&digits[..count], k, out);
}

/// Whether the shortest-digits printer already chose the plain form where Redis does; it does so from 1e-5 up
/// to 1e16.
fn printed_plain(value: f64, text: &[u8]) -> bool {
    let point = text.iter().rev().take(7).position(|&byte| byte == b'.');
    (1e-3..1e4).contains(&value.abs()) || (point.is_some() && !text.contains(&b'e'))
}

/// Takes the text of a shortest-digits printer (`12.5`, `1e20`, `1.5e-7`) apart: its significant digits go to
/// `digits`. Returns how many there are and the power of ten that they are to be multiplied with.
fn split_shortest(text: &[u8], digits: &mut [u8; MAX_F64_CHARS]) -> (usize, i32) {
    let (mut count, mut k, mut point) = (0, 0, false);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'.' => point = true,
            b'e' => {
                k += parse_exponent(&text[at + 1..]).map_or(0, |exponent| exponent as i32);
                break;
            }
            _ => {
                k -= i32::from(point);
                if count > 0 || byte != b'0' {
                    digits[count] = byte;
                    count += 1;
                }
            }
        }
    }
    while count > 1 && digits[count - 1] == b'0' {
        count -= 1;
        k += 1;
    }
    (count, k)
}

fn emit_shortest(digits: &[u8], k: i32, out: &mut Vec<u8>) {
    let count = digits.len() as i32;
    let exponent = k + count - 1;
    if k >= 0 && exponent < count + 7 {
        out.extend_from_slice(digits);
        out.resize(out.len() + k as usize, b'0');
    } else if k < 0 && (k > -7 || exponent.abs() < 4) {
        emit_plain(digits, exponent, out);
    } else {
        emit_mantissa(digits, out);
        out.push(b'e');
        out.push(if exponent < 0 { b'-' } else { b'+' });
        write_u64(out, u64::from(exponent.unsigned_abs()));
    }
}

/// `digits` as a plain decimal fraction whose first digit stands for `10^exponent`.
fn emit_plain(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-1 - exponent) as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        let (whole, fraction) = digits.split_at((exponent as usize + 1).min(digits.len()));
        out.extend_from_slice(whole);
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }
}

/// `d1.d2…dn`, or `d1` alone.
fn emit_mantissa(digits: &[u8], out: &mut Vec<u8>) {
    let (first, rest) = digits.split_at(1);
    out.extend_from_slice(first);
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
}

/// Appends a double as C's `%.17g` prints it: seventeen significant digits less trailing zeros, the form of
/// Redis 7.0. NaN is `nan` whatever its sign.
pub fn format_f64_17g(value: f64, out: &mut Vec<u8>) {
    if format_special(value, out) || format_integral(value, 1e16, out) {
        return;
    }
    let mut buffer = [0; MAX_F64_CHARS];
    let mut space = &mut buffer[..];
    write!(space, "{:.16e}", value.abs()).expect("a sign, 17 digits and an exponent fit");
    let used = MAX_F64_CHARS - space.len();
    if value < 0.0 {
        out.push(b'-');
    }
    let mut digits = [0; MAX_F64_CHARS];
    let (count, k) = split_shortest(&buffer[..used], &mut digits);
    let digits = &digits[..count];
    let exponent = k + count as i32 - 1;
    if (-4..17).contains(&exponent) {
        emit_plain(digits, exponent, out);
        out.resize(out.len() + k.max(0) as usize, b'0');
    } else {
        emit_mantissa(digits, out);
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        if exponent.abs() < 10 {
            out.push(b'0');
        }
        write_u64(out, u64::from(exponent.unsigned_abs()));
    }
}

/// Prints NaN, the infinities and the zeros; returns whether it did.
fn format_special(value: f64, out: &mut Vec<u8>) -> bool {
    let text: &[u8] = if value.is_nan() {
        b"nan"
    } else if value == 0.0 {
        if value.is_sign_negative() { b"-0" } else { b"0" }
    } else if value.is_infinite() {
        if value < 0.0 { b"-inf" } else { b"inf" }
    } else {
        return false;
    };
    out.extend_from_slice(text);
    true
}

/// Prints a value that is an integer of at most `limit` in size; returns whether it did.
fn format_integral(value: f64, limit: f64, out: &mut Vec<u8>) -> bool {
    let integer = value as i64;
    let integral = value.abs() <= limit && integer as f64 == value;
    if integral {
        write_i64(out, integer);
    }
    integral
}

/// A number of bytes for a reader, as in INFO: `512B`, `1.05M`; two decimals, units of 1024 up to `P`. Beyond
/// 1024 P it falls back to plain bytes, as Redis does.
pub fn format_human_bytes(bytes: u64) -> String {
    for (unit, power) in ["K", "M", "G", "T", "P"].iter().zip(1u32..) {
        let scale = 1u64 << (10 * power);
        if bytes >= scale && bytes >> 10 < scale {
            return format!("{:.2}{unit}", bytes as f64 / scale as f64);
        }
    }
    format!("{bytes}B")
}

/// Parses an amount of memory in bytes: digits and an optional unit in any case: `b`, `k` 1000, `kb` 1024,
/// and so on with `m`, `mb`, `g`, `gb`. As in Redis's `memtoull`, no digits at all mean 0 and too many mean
/// the largest number. Unlike there, a product that does not fit is refused instead of wrapping around to
/// some small limit.
pub fn parse_memory(text: &[u8]) -> Option<u64> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, unit) = text.split_at(count);
    let scale = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1_000_000,
        b"mb" => 1 << 20,
        b"g" => 1_000_000_000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    if digits.len() >= 128 {
        return None;
    }
    let value = digits
        .iter()
        .fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    value.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn printed(format: fn(f64, &mut Vec<u8>), value: f64) -> String {
        let mut out = Vec::new();
        format(value, &mut out);
        assert!(out.len() <= MAX_F64_CHARS, "{value}");
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn strict_integers() {
        for text in
            ["0", "-1", "42", "12345678", "123456789012345678", "9223372036854775807", "-9223372036854775808"]
        {
            assert_eq!(parse_i64(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in [
            "",
            "-",
            "+1",
            " 1",
            "1 ",
            "01",
            "-0",
            "-01",
            "1a",
            "1234567a",
            "12345678:",
            "123456/890",
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551616",
            "99999999999999999999",
            "0x10",
            "1\0",
        ] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn strict_integers_model() {
        for seed in 0..50_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let len = rng.random_range(0..22);
            let mut text: Vec<u8> = (0..len).map(|_| rng.random_range(b'0'..=b'9')).collect();
            if rng.random_range(0..4) == 0 && len > 0 {
                let at = rng.random_range(0..len);
                text[at] = rng.random();
            }
            let spelled = std::str::from_utf8(&text).unwrap_or("");
            let expected = spelled.parse::<i64>().ok().filter(|value| value.to_string() == spelled);
            assert_eq!(parse_i64(&text), expected, "seed {seed}: {text:?}");
            let expected = spelled.parse::<u64>().ok().filter(|value| value.to_string() == spelled);
            assert_eq!(parse_u64(&text), expected, "seed {seed}: {text:?}");
        }
    }

    #[test]
    fn loose_integers() {
        for (text, value) in [
            ("0", Some(0)),
            ("007", Some(7)),
            (" \t+5", Some(5)),
            ("-5", None),
            ("-05", Some(5u64.wrapping_neg())),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            (" ", None),
            ("+", None),
            ("5 ", None),
            ("5\0x", Some(5)),
            ("\0", None),
        ] {
            assert_eq!(parse_u64_loose(text.as_bytes()), value, "{text:?}");
        }
    }

    #[test]
    fn integers_printed() {
        let mut out = Vec::new();
        write_i64(&mut out, i64::MIN);
        write_u64(&mut out, u64::MAX);
        write_usize(&mut out, 0);
        assert_eq!(out, b"-9223372036854775808184467440737095516150");
        for value in [0, 9, 10, 99, 100, u64::MAX] {
            assert_eq!(decimal_len(value), value.to_string().len());
        }
    }

    /// Accepted and refused texts as a Redis 7.0.15 answers `ZADD z TEXT m`.
    #[test]
    fn doubles_parsed() {
        for (text, value) in [
            ("+1", 1.0),
            ("-0", -0.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("00012", 12.0),
            ("1E+5", 1e5),
            ("1e-310", 1e-310),
            ("3e-324", 5e-324),
            ("0e99999999999999999999", 0.0),
            ("+INF", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0x10", 16.0),
            ("-0X.8", -0.5),
            ("0x1.", 1.0),
            ("0x1.8p+3", 12.0),
            ("0x1p-1074", 5e-324),
            ("0x1.8p-1075", 5e-324),
            ("0x1.fffffffffffff7p1023", f64::MAX),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.000000000000080000000000000000000000000000000001p0", 1.0 + f64::EPSILON),
            ("0x1.fffffffffffffp-1023", f64::MIN_POSITIVE),
            ("0x100000000000000000000000000000000000000000", 2f64.powi(164)),
            ("0x0p9999", 0.0),
            ("9007199254740993", 9_007_199_254_740_992.0),
        ] {
            assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), Some(value.to_bits()), "{text}");
        }
        for text in [
            "",
            " 1",
            "1 ",
            ".",
            "+",
            "-",
            "e5",
            "1e",
            "1e+",
            "1e+-5",
            "--1",
            "+-1",
            "1.2.3",
            "1e400",
            "-1e400",
            "1e-400",
            "2e-324",
            "nan",
            "-NAN",
            "nan(1)",
            "infin",
            "0x",
            "0x.",
            "0xp1",
            "0x.p1",
            "0x1p",
            "0x1g",
            "0x1.2.3",
            "0x1p5.0",
            "0x1p2000",
            "0x1.fffffffffffff8p1023",
            "0x1p-1075",
            "1\0",
            "1e-99999999999999999999",
            "-0x1p99999999999999",
        ] {
            assert_eq!(parse_f64(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn doubles_printed_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (1e15, "1000000000000000"),
            (-4_611_686_018_427_387_904.0, "-4611686018427387904"),
            (4_611_686_018_427_388_928.0, "4611686018427389000"),
            (1e20, "1e+20"),
            (1.5e23, "1.5e+23"),
            (1e300, "1e+300"),
            (0.1, "0.1"),
            (-3.25, "-3.25"),
            (0.30000000000000004, "0.30000000000000004"),
            (0.001, "0.001"),
            (0.000001, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (0.00012345678, "1.2345678e-4"),
            (0.0012345678, "0.0012345678"),
            (1234567.125, "1234567.125"),
            (1234567.1234567, "1.2345671234567e+6"),
            (1234.1234567, "1234.1234567"),
            (12345.1234567, "1.23451234567e+4"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(printed(format_f64, value), text);
        }
    }

    /// As C's `printf("%.17g")` prints them.
    #[test]
    fn doubles_printed_with_17_digits() {
        for (value, text) in [
            (-0.0, "-0"),
            (f64::NAN, "nan"),
            (0.1, "0.10000000000000001"),
            (1e16, "10000000000000000"),
            (12345678901234568.0, "12345678901234568"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (1e17, "1e+17"),
            (1e23, "9.9999999999999992e+22"),
            (0.0001, "0.0001"),
            (-1e-5, "-1.0000000000000001e-05"),
            (2.980_232_238_769_531_2e-8, "2.9802322387695312e-08"),
            (1e-310, "9.9999999999999694e-311"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (100.5, "100.5"),
        ] {
            assert_eq!(printed(format_f64_17g, value), text);
        }
    }

    #[test]
    fn doubles_read_back() {
        for seed in 0..50_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let value = match rng.random_range(0..3) {
                0 => f64::from_bits(rng.random()),
                1 => rng.random_range(-1e9..1e9),
                _ => (rng.random::<i64>() >> rng.random_range(0..64)) as f64 / 1000.0,
            };
            if value.is_nan() {
                continue;
            }
            for format in [format_f64 as fn(f64, &mut Vec<u8>), format_f64_17g] {
                let text = printed(format, value);
                assert_eq!(parse_f64(text.as_bytes()), Some(value), "seed {seed}: {text}");
            }
        }
    }

    /// Hexadecimal text of a double, with its bits at a random place, reads back as that double.
    #[test]
    fn hex_reads_back() {
        for seed in 0..20_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let value = f64::from_bits(rng.random::<u64>() >> 1);
            if !value.is_finite() || value == 0.0 {
                continue;
            }
            let field = (value.to_bits() >> 52) as i64;
            let implicit = u64::from(field != 0) << 52;
            let mantissa = u128::from(value.to_bits() & ((1 << 52) - 1) | implicit);
            let shift = rng.random_range(0..70);
            let text = format!("0x{:X}p{}", mantissa << shift, field.max(1) - 1075 - shift);
            assert_eq!(parse_f64(text.as_bytes()), Some(value), "seed {seed}: {text}");
        }
    }

    #[test]
    fn memory_sizes() {
        for (text, bytes) in [
            ("", Some(0)),
            ("kb", Some(0)),
            ("1k", Some(1000)),
            ("1KB", Some(1024)),
            ("2mB", Some(2 << 20)),
            ("3M", Some(3_000_000)),
            ("1g", Some(1_000_000_000)),
            ("5gb", Some(5 << 30)),
            ("7b", Some(7)),
            ("99999999999999999999", Some(u64::MAX)),
            ("20000000000gb", None),
            ("-5", None),
            (" 5", None),
            ("1.5mb", None),
            ("5x", None),
        ] {
            assert_eq!(parse_memory(text.as_bytes()), bytes, "{text:?}");
        }
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.00K"),
            (1_048_575, "1024.00K"),
            (1_101_005, "1.05M"),
            (3 << 30, "3.00G"),
            (5 << 40, "5.00T"),
            ((1 << 60) - 1, "1024.00P"),
            (1 << 60, "1152921504606846976B"),
        ] {
            assert_eq!(format_human_bytes(bytes), text);
        }
    }
}
