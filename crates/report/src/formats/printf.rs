//! Numbers as C's `printf` prints them, where Rust has no such form.

/// `%g`: six significant digits, without zeros at the end; an exponent below
/// 0.0001 and from 1 000 000 on (C11, 7.21.6.1).
pub fn percent_g(value: f64) -> String {
    const DIGITS: i32 = 6;
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    // The exponent is that of the rounded number: 999999.9 is 1e+06.
    let rounded = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent).max(0) as usize;
        without_zeros(&format!("{value:.decimals$}")).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let magnitude = exponent.unsigned_abs();
        format!("{}e{sign}{magnitude:02}", without_zeros(mantissa))
    }
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::percent_g;

    #[test]
    fn numbers_have_six_digits_as_in_c() {
        for (value, text) in [
            (117.62, "117.62"),
            (0.0, "0"),
            (139.8, "139.8"),
            (0.002_597_04, "0.00259704"),
            (3.246_9e-5, "3.2469e-05"),
            (999_999.9, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (123_456.0, "123456"),
            (100.0, "100"),
            (9.999_999_9, "10"),
            (0.000_1, "0.0001"),
            (0.000_099_999_99, "0.0001"),
        ] {
            assert_eq!(percent_g(value), text);
        }
    }
}
