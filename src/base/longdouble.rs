//! The x86 80-bit `long double` in software, for INCRBYFLOAT and HINCRBYFLOAT: Redis reads both numbers with
//! `strtold`, adds them in that format and prints the sum with `%.17Lf`, so clients see its rounding in the
//! last digits.
//!
//! What lives here: [`LongDouble`] and the small big integer that exact conversion needs. It touches `num`
//! beside it.
//!
//! ```text
//! value = mantissa × 2^exponent      64-bit mantissa, its top bit set unless the value is subnormal or zero
//! exponent of the lowest bit         -16445 (subnormals, zero) … 16320
//! ```
//!
//! Rounding is to the nearest, ties to even, everywhere. Reading `d × 10^k`: up to 38 digits and a small `k`
//! need one 128-bit multiplication or division by `5^|k|`; the rest goes through the big integer. Printing:
//! `mantissa × 10^17` fits 128 bits, so a shift with rounding gives all digits; only values of 2^127 and more
//! need the big integer.

use super::num::{HexFloat, is_infinity, parse_exponent, round_binary, split_sign, write_u64};
use std::cmp::Ordering;
use std::ops::Add;

const MANTISSA_BITS: u32 = 64;
/// Exponent of the lowest bit of zero and of the subnormals.
const MIN_EXPONENT: i32 = -16445;
/// Exponent of the lowest bit of the largest finite values.
const MAX_EXPONENT: i32 = 16320;
/// Text this long or longer is not a number (Redis's buffer for it, `MAX_LONG_DOUBLE_CHARS`).
const MAX_TEXT_BYTES: usize = 5 * 1024;
/// Values of `10^MAX_DECIMAL_EXPONENT` and more are infinite: the largest finite one is about 1.19e4932.
const MAX_DECIMAL_EXPONENT: i64 = 4933;
/// Values below `10^MIN_DECIMAL_EXPONENT` round to zero: half of the smallest subnormal is about 1.82e-4951.
const MIN_DECIMAL_EXPONENT: i64 = -4951;
/// The largest power of five for which a 128-bit dividend still gives a quotient with bits to spare for
/// rounding.
const MAX_SMALL_POWER: i64 = 26;
/// Decimals printed by [`LongDouble::to_human`], and ten to that power.
const DECIMALS: usize = 17;
const DECIMALS_SCALE: u128 = 100_000_000_000_000_000;

/// An 80-bit extended-precision number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongDouble {
    negative: bool,
    magnitude: Magnitude,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Magnitude {
    Finite { mantissa: u64, exponent: i32 },
    Infinite,
    Nan,
}

const ZERO: Magnitude = Magnitude::Finite { mantissa: 0, exponent: MIN_EXPONENT };

impl LongDouble {
    /// Parses text as Redis's `string2ld` does: all of it must be what C's `strtold` takes (decimal,
    /// hexadecimal, or infinity). Refused are NaN, surrounding space, overflow, a number that would round to
    /// zero, and 5 KiB or more.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() >= MAX_TEXT_BYTES {
            return None;
        }
        let (negative, body) = split_sign(text);
        let magnitude = match body {
            [b'0', b'x' | b'X', digits @ ..] => parse_hex(digits)?,
            [b'0'..=b'9' | b'.', ..] => Decimal::parse(body)?.to_magnitude()?,
            _ if is_infinity(body) => Magnitude::Infinite,
            _ => return None,
        };
        Some(Self { negative, magnitude })
    }

    /// The integer, exactly.
    pub fn from_i64(value: i64) -> Self {
        let magnitude = match value.unsigned_abs() {
            0 => ZERO,
            mantissa => round(u128::from(mantissa), 0, false),
        };
        Self { negative: value < 0, magnitude }
    }

    /// Adds a finite `small` to the finite `big` that is `self`, as (mantissa, exponent). The bigger one
    /// moves to the top of 126 bits (one is left for the carry) and the smaller one below it; what falls off
    /// is remembered as sticky.
    fn add_smaller(self, big: (u64, i32), small: (u64, i32), small_negative: bool) -> Self {
        const HEADROOM: u32 = 62;
        let distance = big.1.abs_diff(small.1);
        let top = u128::from(big.0) << HEADROOM;
        let aligned = u128::from(small.0) << HEADROOM;
        let below = aligned.checked_shr(distance).unwrap_or(0);
        let lost = small.0 != 0 && (distance >= 128 || below << distance != aligned);
        let sum = if self.negative == small_negative { top + below } else { top - below - u128::from(lost) };
        if sum == 0 {
            // Equal zeros keep their sign, every other way to zero gives the positive one.
            return Self { negative: self.negative && small_negative, magnitude: ZERO };
        }
        let exponent = i64::from(big.1) - i64::from(HEADROOM);
        Self { negative: self.negative, magnitude: round(sum, exponent, lost) }
    }

    /// Neither infinite nor NaN.
    pub fn is_finite(&self) -> bool {
        matches!(self.magnitude, Magnitude::Finite { .. })
    }

    /// Not a number. [`LongDouble::parse`] never gives one; infinity less infinity does.
    pub fn is_nan(&self) -> bool {
        self.magnitude == Magnitude::Nan
    }

    /// Appends the number as Redis's `ld2string` does in its human mode: `%.17Lf` without trailing zeros, `0`
    /// for what rounds to zero; `inf`, `-inf`, `nan`. At most 4,934 bytes.
    pub fn to_human(&self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.negative && !self.is_nan() {
            out.push(b'-');
        }
        match self.magnitude {
            Magnitude::Nan => out.extend_from_slice(b"nan"),
            Magnitude::Infinite => out.extend_from_slice(b"inf"),
            Magnitude::Finite { mantissa, exponent } if exponent > 0 => {
                write_big(mantissa, exponent.unsigned_abs(), out)
            }
            Magnitude::Finite { mantissa, exponent } => {
                write_fraction(mantissa, exponent.unsigned_abs(), out)
            }
        }
        if out[start..] == *b"-0" {
            out.remove(start);
        }
    }
}

impl Add for LongDouble {
    type Output = Self;

    /// The sum, rounded once. Infinity less infinity is NaN, and what is too big becomes infinite.
    fn add(self, other: Self) -> Self {
        use Magnitude::{Finite, Infinite, Nan};
        match (self.magnitude, other.magnitude) {
            (Nan, _) => self,
            (_, Nan) => other,
            (Infinite, Infinite) if self.negative != other.negative => {
                Self { negative: false, magnitude: Nan }
            }
            (Infinite, _) => self,
            (_, Infinite) => other,
            (Finite { mantissa: a, exponent: ea }, Finite { mantissa: b, exponent: eb }) => {
                if (ea, a) >= (eb, b) {
                    self.add_smaller((a, ea), (b, eb), other.negative)
                } else {
                    other.add_smaller((b, eb), (a, ea), self.negative)
                }
            }
        }
    }
}

/// Rounds to the format; what is too big becomes infinite.
fn round(mantissa: u128, exponent: i64, sticky: bool) -> Magnitude {
    let (mantissa, exponent) =
        round_binary(mantissa, exponent, sticky, MANTISSA_BITS, i64::from(MIN_EXPONENT));
    match i32::try_from(exponent) {
        Ok(exponent) if exponent <= MAX_EXPONENT => Magnitude::Finite { mantissa, exponent },
        _ => Magnitude::Infinite,
    }
}

/// As [`round`], but `None` where C's `strtold` reports a range error that Redis heeds.
fn round_in_range(mantissa: u128, exponent: i64, sticky: bool) -> Option<Magnitude> {
    let magnitude = round(mantissa, exponent, sticky);
    (magnitude != ZERO && magnitude != Magnitude::Infinite).then_some(magnitude)
}

fn parse_hex(digits: &[u8]) -> Option<Magnitude> {
    let number = HexFloat::parse(digits)?;
    if number.mantissa == 0 {
        return Some(ZERO);
    }
    round_in_range(number.mantissa, number.exponent, number.sticky)
}

/// `mantissa × 2^exponent` in decimal.
fn write_big(mantissa: u64, exponent: u32, out: &mut Vec<u8>) {
    if exponent < 64 {
        out.extend_from_slice(itoa::Buffer::new().format(u128::from(mantissa) << exponent).as_bytes());
        return;
    }
    let mut number = BigUint::from_u64(mantissa);
    number.shift_left(exponent);
    number.write_decimal(out);
}

/// `mantissa × 2^-shift` in decimal, rounded to 17 places, trailing zeros trimmed.
fn write_fraction(mantissa: u64, shift: u32, out: &mut Vec<u8>) {
    let exact = u128::from(mantissa) * DECIMALS_SCALE;
    // The product has less than 121 bits: from there on everything is below a half.
    let scaled = if shift == 0 || shift > 121 {
        if shift == 0 { exact } else { 0 }
    } else {
        let kept = exact >> shift;
        let half = 1u128 << (shift - 1);
        let rest = exact & (half | (half - 1));
        kept + u128::from(rest > half || (rest == half && kept & 1 == 1))
    };
    write_u64(out, (scaled / DECIMALS_SCALE) as u64);
    let mut fraction = (scaled % DECIMALS_SCALE) as u64;
    if fraction == 0 {
        return;
    }
    let mut digits = [b'0'; DECIMALS + 1];
    digits[0] = b'.';
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    let end = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    out.extend_from_slice(&digits[..end]);
}

/// A decimal number as scanned: `significant × 10^exponent`, the digits being those of `digits` without the
/// point.
struct Decimal<'a> {
    /// The text before the exponent: digits and at most one point.
    digits: &'a [u8],
    /// Digits from the first that is not zero on.
    count: i64,
    /// Their value, as far as it fits.
    small: Option<u128>,
    exponent: i64,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        let end = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
        let mut number = Self { digits: &text[..end], count: 0, small: Some(0), exponent: 0 };
        let (mut any, mut point) = (false, false);
        for &byte in number.digits {
            if byte == b'.' && !point {
                point = true;
                continue;
            }
            let digit = char::from(byte).to_digit(10)?;
            any = true;
            number.exponent -= i64::from(point);
            if number.count > 0 || digit != 0 {
                number.count += 1;
                number.small =
                    number.small.and_then(|value| value.checked_mul(10)?.checked_add(u128::from(digit)));
            }
        }
        if !any {
            return None;
        }
        if end < text.len() {
            number.exponent += parse_exponent(&text[end + 1..])?;
        }
        Some(number)
    }

    /// The nearest value; `None` for overflow and for what is not zero but would become so.
    fn to_magnitude(&self) -> Option<Magnitude> {
        if self.count == 0 {
            return Some(ZERO);
        }
        let scale = self.count + self.exponent;
        if !(MIN_DECIMAL_EXPONENT..=MAX_DECIMAL_EXPONENT).contains(&scale) {
            return None;
        }
        let (mantissa, exponent, sticky) = self.small_binary().unwrap_or_else(|| self.big_binary());
        round_in_range(mantissa, exponent, sticky)
    }

    /// The value as (mantissa, binary exponent, sticky) when 128 bits are enough for that.
    fn small_binary(&self) -> Option<(u128, i64, bool)> {
        let value = self.small?;
        if self.exponent.abs() > MAX_SMALL_POWER {
            return None;
        }
        let power = u128::from(5u64.pow(self.exponent.unsigned_abs() as u32));
        if self.exponent >= 0 {
            return Some((value.checked_mul(power)?, self.exponent, false));
        }
        let shift = value.leading_zeros();
        let dividend = value << shift;
        Some((dividend / power, self.exponent - i64::from(shift), dividend % power != 0))
    }

    /// The same through the big integer.
    fn big_binary(&self) -> (u128, i64, bool) {
        let mut number = BigUint::from_decimal(self.digits);
        if self.exponent >= 0 {
            number.multiply_by_power_of_five(self.exponent as usize);
            let (top, shift, sticky) = number.top();
            return (top, self.exponent + shift, sticky);
        }
        let mut divisor = BigUint::from_u64(1);
        divisor.multiply_by_power_of_five(self.exponent.unsigned_abs() as usize);
        let (quotient, shift, sticky) = number.divide(divisor);
        (quotient, self.exponent + shift, sticky)
    }
}

/// A natural number as 32-bit limbs, the lowest first; the highest is not zero.
struct BigUint(Vec<u32>);

impl BigUint {
    fn from_u64(value: u64) -> Self {
        let mut number = Self(vec![value as u32, (value >> 32) as u32]);
        number.trim();
        number
    }

    /// The digits of `text`, nine at a time; a point among them is skipped.
    fn from_decimal(text: &[u8]) -> Self {
        let mut number = Self(Vec::with_capacity(text.len() / 9 + 2));
        let (mut chunk, mut scale) = (0, 1);
        for &byte in text.iter().filter(|byte| byte.is_ascii_digit()) {
            chunk = chunk * 10 + u32::from(byte - b'0');
            scale *= 10;
            if scale == 1_000_000_000 {
                number.multiply_add(scale, chunk);
                (chunk, scale) = (0, 1);
            }
        }
        number.multiply_add(scale, chunk);
        number
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    fn multiply_by_power_of_five(&mut self, mut power: usize) {
        while power > 0 {
            let step = power.min(13);
            self.multiply_add(5u32.pow(step as u32), 0);
            power -= step;
        }
    }

    fn bits(&self) -> u32 {
        self.0.last().map_or(0, |last| 32 * self.0.len() as u32 - last.leading_zeros())
    }

    fn shift_left(&mut self, bits: u32) {
        self.multiply_add(1 << (bits % 32), 0);
        self.0.splice(0..0, std::iter::repeat_n(0, bits as usize / 32));
    }

    /// The four highest limbs, the power of two they stand at, and whether anything below them is set.
    fn top(&self) -> (u128, i64, bool) {
        let below = self.0.len().saturating_sub(4);
        let top = self.0[below..].iter().rev().fold(0, |top, &limb| (top << 32) | u128::from(limb));
        (top, 32 * below as i64, self.0[..below].iter().any(|&limb| limb != 0))
    }

    /// The quotient of two numbers that are not zero, as `(q + sticky) × 2^shift` with `q` of 67 bits or
    /// more. Plain long division, bit by bit: it is only for numbers that hardly anybody sends.
    fn divide(mut self, mut divisor: Self) -> (u128, i64, bool) {
        const STEPS: i64 = 68;
        let (own, others) = (self.bits(), divisor.bits());
        if own < others {
            self.shift_left(others - own);
        } else {
            divisor.shift_left(own - others);
        }
        let mut quotient = 0;
        for _ in 0..STEPS {
            let fits = self.compare(&divisor) != Ordering::Less;
            if fits {
                self.subtract(&divisor);
            }
            quotient = (quotient << 1) | u128::from(fits);
            self.multiply_add(2, 0);
        }
        (quotient, i64::from(own) - i64::from(others) - (STEPS - 1), !self.0.is_empty())
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Subtracts a number that is not bigger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (at, limb) in self.0.iter_mut().enumerate() {
            let (less, first) = limb.overflowing_sub(other.0.get(at).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(u32::from(borrow));
            *limb = less;
            borrow = first || second;
        }
        debug_assert!(!borrow, "the other number is bigger");
        self.trim();
    }

    /// Appends the number in decimal, consuming it nine digits at a time from the low end.
    fn write_decimal(mut self, out: &mut Vec<u8>) {
        let start = out.len();
        while !self.0.is_empty() {
            let mut rest = 0;
            for limb in self.0.iter_mut().rev() {
                rest = (rest << 32) | u64::from(*limb);
                *limb = (rest / 1_000_000_000) as u32;
                rest %= 1_000_000_000;
            }
            self.trim();
            for _ in 0..9 {
                out.push(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
        }
        while out.len() > start && out.last() == Some(&b'0') {
            out.pop();
        }
        out[start..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn human(number: LongDouble) -> String {
        let mut out = Vec::new();
        number.to_human(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    fn parsed(text: &str) -> LongDouble {
        LongDouble::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text:?} is a number"))
    }

    /// Two numbers and their sum in human form, as computed by glibc on x86-64 (`strtold`, `+`, `%.17Lf`).
    #[rustfmt::skip]
    const SUMS: &[(&str, &str, &str)] = &[
        ("10.5", "0.1", "10.6"),
        ("0.1", "0.2", "0.3"),
        ("5.0e3", "2.0e2", "5200"),
        ("-0.1", "0.1", "0"),
        ("0", "-1e-30", "0"),
        ("1234.1", "0", "1234.09999999999999998"),
        ("1.5", "-1.5", "0"),
        ("-0", "-0", "0"),
        ("9223372036854775807", "1", "9223372036854775808"),
        ("18446744073709551615", "1", "18446744073709551616"),
        ("18446744073709551616", "0.5", "18446744073709551616"),
        ("9007199254740993", "0", "9007199254740993"),
        ("0x1.8p3", "0x.8", "12.5"),
        ("0x1p-16445", "0x1p-16445", "0"),
        ("0x1.00000000000000018p0", "0", "1"),
        ("0x1.00000000000000008p0", "0", "1"),
        ("0x1.0000000000000000800001p60", "0", "1152921504606846976"),
        ("1", "0x1p-64", "1"),
        ("1", "0x1.8p-64", "1"),
        ("1", "-0x1p-65", "1"),
        ("1", "-0x1p-66", "1"),
        ("0.000000000000000005", "0", "0"),
        ("0.000000000000000015", "0", "0.00000000000000002"),
        ("0.0000000000000000049999", "0", "0"),
        ("-0.000000000000000004", "0", "0"),
        ("1e20", "1e-20", "100000000000000000000"),
        ("1e-4950", "1", "1"),
        ("3.14159265358979323846264338327950288", "2.71828182845904523536028747135266249", "5.85987448204883847"),
        ("99999999999999999999.99999999999999999999", "0.00000000000000000001", "100000000000000000000"),
        ("123456789012345678901234567890", "-1", "123456789012345678899921813504"),
        ("1700000000.12345678901234567", "0.00000000000000001", "1700000000.12345678906422108"),
        ("0.1e1", "1E+2", "101"),
        (".5", "5.", "5.5"),
        ("170141183460469231731687303715884105728", "0", "170141183460469231731687303715884105728"),
        ("340282366920938463463374607431768211456", "1", "340282366920938463463374607431768211456"),
        ("1.1e30", "-1.1e30", "0"),
        ("4.35", "100", "104.35"),
        ("1.005", "1000", "1001.005"),
        ("1e15", "0.3", "1000000000000000.29998779296875"),
        ("1e18", "0.05", "1000000000000000000.0625"),
        ("-1e19", "0.5", "-10000000000000000000"),
        ("36893488147419103233", "0", "36893488147419103232"),
        ("36893488147419103234", "0", "36893488147419103232"),
        ("36893488147419103235", "0", "36893488147419103236"),
        ("36893488147419103233.000000000000000000000000001", "0", "36893488147419103232"),
        ("0.1000000000000000055511151231257827", "0", "0.10000000000000001"),
        ("1e49", "1e33", "10000000000000001000027646351867598409379996499968"),
        ("7e-17", "6e-18", "0.00000000000000008"),
    ];

    #[test]
    fn sums_agree_with_c() {
        for &(a, b, sum) in SUMS {
            assert_eq!(human(parsed(a) + parsed(b)), sum, "{a} + {b}");
            assert_eq!(human(parsed(b).add(parsed(a))), sum, "{b} + {a}");
        }
    }

    #[test]
    fn refuses_what_redis_refuses() {
        for text in [
            "",
            " 1",
            "1 ",
            "+",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "--1",
            "1.2.3",
            "1x",
            "nan",
            "-NaN",
            "infin",
            "0x",
            "0x.",
            "0xp1",
            "0x1p",
            "0x1g",
            "1e4933",
            "-1e99999999999999999999",
            "1.1897314953572318e4932",
            "1e-4951",
            "1.8e-4951",
            "1e-99999999999999999999",
            "0x1p16384",
            "0x1p-16446",
            "1\0",
        ] {
            assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text:?}");
        }
        let mut long = vec![b'0'; MAX_TEXT_BYTES - 1];
        assert_eq!(LongDouble::parse(&long), Some(LongDouble::from_i64(0)));
        long.push(b'1');
        assert_eq!(LongDouble::parse(&long), None);
    }

    #[test]
    fn the_ends_of_the_range() {
        let largest = parsed("0x1.fffffffffffffffep16383");
        assert!(largest.is_finite());
        assert_eq!(largest, parsed("1.18973149535723176502e+4932"));
        assert!(human(largest).starts_with("118973149535723176502126385303097020516906332229462420044032"));
        assert_eq!(human(largest).len(), 4933);
        let sum = largest.add(largest);
        assert!(!sum.is_finite() && !sum.is_nan());
        assert_eq!(human(sum), "inf");
        let smallest = parsed("1.83e-4951");
        assert_eq!(smallest, parsed("0x1p-16445"));
        assert_eq!(smallest.add(smallest), parsed("0x1p-16444"));
        assert_eq!(human(smallest), "0");
        assert_eq!(parsed("0e99999999999999999999"), parsed("0"));
    }

    #[test]
    fn infinities() {
        let (plus, minus) = (parsed("+INF"), parsed("-infinity"));
        assert!(plus.add(minus).is_nan());
        assert!(!plus.is_nan() && !plus.is_finite());
        assert_eq!(human(minus.add(parsed("5"))), "-inf");
        assert_eq!(human(parsed("5").add(plus)), "inf");
        assert_eq!(human(plus.add(minus).add(plus)), "nan");
    }

    /// All 64-bit integers are exact, and so are their sums where these have no more than 64 bits.
    #[test]
    fn integers_are_exact() {
        for seed in 0..5_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let (shift_a, shift_b) = (rng.random_range(0..64), rng.random_range(0..64));
            let (a, b) = (rng.random::<i64>() >> shift_a, rng.random::<i64>() >> shift_b);
            let sum = LongDouble::from_i64(a).add(LongDouble::from_i64(b));
            let expected = i128::from(a) + i128::from(b);
            assert_eq!(human(sum), expected.to_string(), "seed {seed}: {a} + {b}");
            assert_eq!(parsed(&a.to_string()), LongDouble::from_i64(a), "seed {seed}");
        }
    }

    /// The same decimal read through 128 bits and through the big integer.
    #[test]
    fn both_ways_of_reading_agree() {
        for seed in 0..5_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let digits = rng.random::<u128>() >> rng.random_range(2..127);
            let text = format!("{}e{}", digits | 1, rng.random_range(-26..=26));
            let decimal = Decimal::parse(text.as_bytes()).expect("a number");
            let Some((mantissa, exponent, sticky)) = decimal.small_binary() else {
                continue;
            };
            let small = round(mantissa, exponent, sticky);
            let (mantissa, exponent, sticky) = decimal.big_binary();
            assert_eq!(round(mantissa, exponent, sticky), small, "seed {seed}: {text}");
        }
    }

    /// Values with at most 17 decimals print exactly, so printing and reading back is the identity.
    #[test]
    fn printing_reads_back() {
        for seed in 0..5_000 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let number = LongDouble {
                negative: rng.random(),
                magnitude: round(u128::from(rng.random::<u64>() | 1), rng.random_range(-17..16_320), false),
            };
            assert_eq!(parsed(&human(number)), number, "seed {seed}");
        }
    }
}
