//! Kubernetes quantities: `100m`, `1.5`, `64Mi`, `1e3`; exact whatever their size, never through a float.

use std::cmp::Ordering;
use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why text is no quantity.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum QuantityError {
    /// No number with an optional suffix.
    #[error("not a quantity such as 100m, 1.5 or 64Mi")]
    NotQuantity,
    /// A number with a suffix that Kubernetes does not know.
    #[error("a quantity whose suffix is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei")]
    UnknownSuffix,
    /// A decimal exponent so large that comparing the number would stall the API server.
    #[error("a quantity whose exponent is beyond 999")]
    ExponentTooLarge,
    /// A quantity below zero, which no resource may have.
    #[error("a negative quantity")]
    Negative,
}

/// A quantity, ordered by its exact value.
#[derive(Clone, Debug)]
pub struct Quantity {
    negative: bool,
    /// Decimal digits, most significant first, no zero at either end; empty for zero.
    digits: Vec<u8>,
    /// The power of ten of the last digit.
    exponent: i64,
    /// The whole cores in it, rounded up.
    cores: i64,
}

impl Quantity {
    /// Whether it is below zero.
    #[must_use]
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// As the API server stores an amount of a resource, rounded up to thousandths, in the form of [`Quantity::canonical`].
    #[must_use]
    pub fn stored(&self) -> String {
        let mut rounded = self.clone();
        round_up(&mut rounded, -3);
        rounded.canonical()
    }

    /// The quantity in the one form that all spellings of it share, `15e-1` for `1.5` and `1500m`.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::from(if self.negative { "-" } else { "" });
        text.extend(self.digits.iter().map(|digit| char::from(digit.saturating_add(b'0'))));
        if self.digits.is_empty() {
            return "0".to_owned();
        }
        format!("{text}e{}", self.exponent)
    }

    /// The value rounded away from zero to a whole number, as `ToWholeCPUCores` of Linkerd's `pkg/inject` computes it.
    ///
    /// It is 0 where Kubernetes keeps the number in its slow form, from which that function takes nothing: about 18
    /// digits and more, a fraction of a binary suffix, or less than a billionth. Linkerd goes on with 0, so do we.
    #[must_use]
    pub const fn whole_cores(&self) -> i64 {
        self.cores
    }

    /// The thousandths in it, rounded up; `None` below zero, and where 128 bits do not hold them.
    #[must_use]
    pub fn thousandths(&self) -> Option<u128> {
        if self.negative {
            return None;
        }
        let mut scaled = self.clone();
        round_up(&mut scaled, -3);
        let mut number: u128 = 0;
        for digit in &scaled.digits {
            number = number.checked_mul(10)?.checked_add(u128::from(*digit))?;
        }
        for _ in 0..if number == 0 { 0 } else { scaled.exponent.saturating_add(3) } {
            number = number.checked_mul(10)?;
        }
        Some(number)
    }

    /// The power of ten that the absolute value is below; meaningless for zero.
    fn magnitude(&self) -> i64 {
        self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }

    /// Compares without the sign.
    fn cmp_absolute(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits)),
            (zero, other_zero) => other_zero.cmp(&zero),
        }
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_absolute(other),
            (true, true) => other.cmp_absolute(self),
            (negative, other_negative) => other_negative.cmp(&negative),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

/// What a suffix multiplies by.
#[derive(Clone, Copy)]
enum Suffix {
    /// A power of ten.
    Decimal(i64),
    /// A power of two.
    Binary(u32),
}

/// The largest decimal exponent that is taken. Kubernetes has no such bound, but computes with the number in full.
const MAX_EXPONENT: i64 = 999;
/// The power of ten of the smallest quantity: a billionth.
const NANO: i64 = -9;
/// The digits of a 64-bit number that Kubernetes counts on.
const FAST_DIGITS: usize = 18;
/// 2^63-1: where a binary quantity is capped.
const CAP: &str = "9223372036854775807";

/// Reads a quantity as `resource.ParseQuantity` of Kubernetes' apimachinery does.
///
/// What is below a billionth is rounded up to one, away from zero; a binary quantity is capped at 2^63-1.
///
/// # Errors
/// [`QuantityError::NotQuantity`], [`QuantityError::UnknownSuffix`] or, a difference, [`QuantityError::ExponentTooLarge`].
pub fn quantity(text: &str) -> Result<Quantity, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::NotQuantity);
    }
    let signless = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = split_digits(signless);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    let suffix = suffix(rest)?;
    let shift = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let significant = whole.trim_start_matches('0');
    let mut digits: Vec<u8> = significant.bytes().chain(fraction.bytes()).map(|byte| byte.saturating_sub(b'0')).collect();
    // How many digits Kubernetes counts: a bare point, and zeros before it, count as one.
    let counted = significant.len().max(1).saturating_add(fraction.len());
    let (exponent, fast) = match suffix {
        Suffix::Decimal(power) => {
            let exponent = power.saturating_sub(shift);
            (exponent, counted <= FAST_DIGITS && exponent >= NANO)
        }
        Suffix::Binary(power) => {
            times(&mut digits, 1 << power);
            let room = 14_usize.checked_sub(usize::try_from(power / 10).unwrap_or_default().saturating_mul(3));
            (shift.saturating_neg(), fraction.is_empty() && room.is_some_and(|room| counted <= room))
        }
    };
    // The slow reader wants a digit; the fast one reads a bare sign or point as zero.
    if !fast && whole.is_empty() && fraction.is_empty() {
        return Err(QuantityError::NotQuantity);
    }
    let mut quantity = Quantity { negative: text.starts_with('-'), digits, exponent, cores: 0 };
    round_up(&mut quantity, NANO);
    if matches!(suffix, Suffix::Binary(_)) {
        let cap = Quantity {
            negative: false,
            digits: CAP.bytes().map(|byte| byte.saturating_sub(b'0')).collect(),
            exponent: 0,
            cores: 0,
        };
        if quantity.cmp_absolute(&cap) == Ordering::Greater {
            quantity = Quantity { negative: quantity.negative, ..cap };
        }
    }
    quantity.negative &= !quantity.digits.is_empty();
    if fast {
        let mut rounded = quantity.clone();
        round_up(&mut rounded, 0);
        let cores = whole_number(&rounded).unwrap_or_default();
        quantity.cores = if quantity.negative { cores.saturating_neg() } else { cores };
    }
    Ok(quantity)
}

/// Reads the quantity of a resource: as [`quantity`], zero or more.
///
/// # Errors
/// Those of [`quantity`], and [`QuantityError::Negative`] (D26).
pub fn resource(text: &str) -> Result<Quantity, QuantityError> {
    quantity(text).and_then(|quantity| if quantity.negative { Err(QuantityError::Negative) } else { Ok(quantity) })
}

/// Reads what follows the number.
fn suffix(text: &str) -> Result<Suffix, QuantityError> {
    Ok(match text {
        "n" => Suffix::Decimal(-9),
        "u" => Suffix::Decimal(-6),
        "m" => Suffix::Decimal(-3),
        "" => Suffix::Decimal(0),
        "k" => Suffix::Decimal(3),
        "M" => Suffix::Decimal(6),
        "G" => Suffix::Decimal(9),
        "T" => Suffix::Decimal(12),
        "P" => Suffix::Decimal(15),
        "E" => Suffix::Decimal(18),
        "Ki" => Suffix::Binary(10),
        "Mi" => Suffix::Binary(20),
        "Gi" => Suffix::Binary(30),
        "Ti" => Suffix::Binary(40),
        "Pi" => Suffix::Binary(50),
        "Ei" => Suffix::Binary(60),
        _ => return exponent(text).map(Suffix::Decimal),
    })
}

/// Reads `e3` or `E-3`.
fn exponent(text: &str) -> Result<i64, QuantityError> {
    let digits = text.strip_prefix(['e', 'E']);
    let exponent: i64 = match digits.map(str::parse) {
        Some(Ok(exponent)) => exponent,
        Some(Err(_)) => return Err(QuantityError::UnknownSuffix),
        None if text.starts_with(|c: char| c.is_ascii_alphabetic()) => return Err(QuantityError::UnknownSuffix),
        None => return Err(QuantityError::NotQuantity),
    };
    if exponent.unsigned_abs() > MAX_EXPONENT.unsigned_abs() { Err(QuantityError::ExponentTooLarge) } else { Ok(exponent) }
}

/// Splits leading ASCII digits off.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Multiplies a number of decimal digits by one of at most 2^60.
fn times(digits: &mut Vec<u8>, factor: u128) {
    let mut carry: u128 = 0;
    for digit in digits.iter_mut().rev() {
        carry = u128::from(*digit).saturating_mul(factor).saturating_add(carry);
        *digit = low_digit(carry);
        carry /= 10;
    }
    let mut head = Vec::new();
    while carry > 0 {
        head.push(low_digit(carry));
        carry /= 10;
    }
    head.reverse();
    digits.splice(0..0, head);
}

/// The last decimal digit.
fn low_digit(number: u128) -> u8 {
    u8::try_from(number % 10).unwrap_or_default()
}

/// Rounds away from zero to a multiple of a power of ten, and takes zeros off both ends.
fn round_up(quantity: &mut Quantity, power: i64) {
    let Quantity { digits, exponent, .. } = quantity;
    let mut lost = false;
    while *exponent < power
        && let Some(digit) = digits.pop()
    {
        lost |= digit != 0;
        *exponent = exponent.saturating_add(1);
    }
    if lost {
        if digits.is_empty() {
            *exponent = power;
        }
        drop_last(digits, exponent, 9);
        match digits.last_mut() {
            Some(digit) => *digit = digit.saturating_add(1),
            None => digits.push(1),
        }
    }
    drop_last(digits, exponent, 0);
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..zeros);
}

/// Takes a digit off the end as often as it stands there.
fn drop_last(digits: &mut Vec<u8>, exponent: &mut i64, digit: u8) {
    while digits.last() == Some(&digit) {
        digits.pop();
        *exponent = exponent.saturating_add(1);
    }
}

/// The absolute value of a whole number, where 63 bits hold it.
fn whole_number(quantity: &Quantity) -> Option<i64> {
    let mut number: i64 = 0;
    for digit in &quantity.digits {
        number = number.checked_mul(10)?.checked_add(i64::from(*digit))?;
    }
    for _ in 0..if number == 0 { 0 } else { quantity.exponent } {
        number = number.checked_mul(10)?;
    }
    Some(number)
}
