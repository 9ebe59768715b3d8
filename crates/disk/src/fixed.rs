//! Arithmetic that gives the same bits on every machine.
//!
//! Times are integers of nanoseconds. Where a parameter has a fraction, IEEE
//! 754 `+ - * /` and square root are used, which every machine rounds alike
//! and Rust never contracts or reorders. Powers and logarithms are another
//! matter: `f64::powf` and `f64::ln` call the platform's mathematics library,
//! whose last bits differ. So they are computed here, from integers.

/// Fraction bits of the fixed-point numbers in this module.
const FRACTION: u32 = 60;
const ONE: u128 = 1 << FRACTION;

/// The base-2 logarithm of `x` (at least 1), with 60 fraction bits, by
/// repeated squaring: each squaring yields one bit (Knuth, TAOCP 1, 1.2.2,
/// exercise 25).
fn log2_fixed(x: u64) -> u128 {
    let whole = x.max(1).ilog2();
    let mut mantissa =
        u128::from(x.max(1)) << (FRACTION - whole.min(FRACTION)) >> (whole - whole.min(FRACTION));
    let mut result = u128::from(whole) << FRACTION;
    for bit in (0..FRACTION).rev() {
        // Below 2^122: the mantissa is below 2 with 60 fraction bits.
        mantissa = (mantissa * mantissa) >> FRACTION;
        if mantissa >= 2 * ONE {
            mantissa >>= 1;
            result |= 1 << bit;
        }
    }
    result
}

/// Two to the power of a fixed-point number, as a fixed-point number; the
/// whole part must be below 60.
fn exp2_fixed(power: u128) -> u128 {
    let whole = (power >> FRACTION) as u32;
    let mut result = ONE;
    for (bit, root) in (0..FRACTION).rev().zip(&ROOTS) {
        if power >> bit & 1 == 1 {
            result = (result * root) >> FRACTION;
        }
    }
    result << whole
}

/// 2^(2^-1), 2^(2^-2), ... 2^(2^-60), rounded down: each the square root of
/// the one before.
const ROOTS: [u128; FRACTION as usize] = {
    let mut roots = [(2 * ONE * ONE).isqrt(); FRACTION as usize];
    let mut at = 1;
    while at < roots.len() {
        roots[at] = (roots[at - 1] * ONE).isqrt();
        at += 1;
    }
    roots
};

/// `base` to the power of `exponent` (0 to 1), for whole bases: the seek
/// curve. The relative error is below 1e-12.
pub fn power(base: u64, exponent: f64) -> f64 {
    if base == 0 {
        return 0.0;
    }
    // Exact: a product with a power of two, then a conversion to an integer.
    let exponent = (exponent.clamp(0.0, 1.0) * (1_u64 << 52) as f64) as u128;
    // Below 2^119: 66 - 5 bits times 53 bits.
    let log = ((log2_fixed(base) >> 5) * exponent) >> 47;
    exp2_fixed(log) as f64 / ONE as f64
}

/// The natural logarithm of a number in (0, 1]: the exponential distribution
/// of waiting times. The absolute error is below 1e-9.
pub fn ln_of_unit(x: f64) -> f64 {
    // ln(x) = (log2(x * 2^62) - 62) / log2(e), for x of 62 bits.
    let scaled = ((x.clamp(0.0, 1.0) * (1_u64 << 62) as f64) as u64).max(1);
    let log2 = log2_fixed(scaled) as f64 / ONE as f64 - 62.0;
    log2 * std::f64::consts::LN_2
}

/// A divisor that is used often: a multiplication instead of a division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divisor {
    divisor: u64,
    /// 2^64 / divisor, rounded down.
    inverse: u64,
}

impl Divisor {
    /// A divisor, at least 1.
    pub fn new(divisor: u64) -> Self {
        let divisor = divisor.max(1);
        Self {
            divisor,
            // For 1 this is 2^64 - 1 and one too small, like the others.
            inverse: u64::MAX / divisor,
        }
    }

    /// Quotient and remainder.
    #[inline]
    pub fn divide(&self, x: u64) -> (u64, u64) {
        // The high half of the product is the quotient or at most 2 less.
        let product = u128::from(x) * u128::from(self.inverse);
        let mut quotient = (product >> 64) as u64;
        let mut rest = x - quotient * self.divisor;
        while rest >= self.divisor {
            quotient += 1;
            rest -= self.divisor;
        }
        (quotient, rest)
    }

    /// The divisor.
    #[inline]
    pub fn get(&self) -> u64 {
        self.divisor
    }
}

/// Nanoseconds that `bytes` take at `bytes_per_s`, rounded up.
pub fn bytes_to_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    if bytes <= u64::MAX / 1_000_000_000 {
        (bytes * 1_000_000_000).div_ceil(bytes_per_s)
    } else {
        u64::try_from((u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s)))
            .unwrap_or(u64::MAX)
    }
}

/// Bytes that pass in `ns` at `bytes_per_s`, rounded down.
pub fn ns_to_bytes(ns: u64, bytes_per_s: u64) -> u64 {
    u64::try_from(u128::from(ns) * u128::from(bytes_per_s) / 1_000_000_000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn powers_agree_with_the_platform(base in 1_u64..100_000_000, exponent in 0.0_f64..1.0) {
            let ours = power(base, exponent);
            let theirs = (base as f64).powf(exponent);
            prop_assert!((ours / theirs - 1.0).abs() < 1e-11, "{ours} {theirs}");
        }

        #[test]
        fn logarithms_agree_with_the_platform(x in 1e-9_f64..1.0) {
            prop_assert!((ln_of_unit(x) - x.ln()).abs() < 1e-9);
        }

        #[test]
        fn divisors_divide(x: u64, divisor in 1_u64.., shift in 0_u32..63) {
            for (x, divisor) in [(x, divisor), (x >> shift, divisor), (x, (divisor >> shift).max(1))] {
                let expected = (x / divisor, x % divisor);
                prop_assert_eq!(Divisor::new(divisor).divide(x), expected);
            }
        }

        #[test]
        fn bytes_and_times_are_inverse(bytes in 1_u64..1 << 50, rate in 1_000_000_u64..10_000_000_000) {
            let ns = bytes_to_ns(bytes, rate);
            prop_assert!(ns_to_bytes(ns, rate) >= bytes);
            prop_assert!(ns_to_bytes(ns - 1, rate) < bytes);
        }
    }

    #[test]
    fn powers_have_these_very_bits_on_every_machine() {
        assert_eq!(power(700, 0.284).to_bits(), 4_618_922_169_521_752_959);
        assert_eq!(power(2, 0.5).to_bits(), 4_609_047_870_845_172_685);
        assert_eq!(ln_of_unit(0.1).to_bits(), 13_835_739_416_338_191_636);
        assert_eq!(power(0, 0.5).to_bits(), 0);
        assert_eq!(power(1, 0.3).to_bits(), 1.0_f64.to_bits());
    }
}
