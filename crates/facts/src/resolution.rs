//! How exact a figure can be that was printed in so many digits, or read from a histogram: by how
//! much it may be off, on the logarithmic scale.

/// Buckets of a histogram are at most 1/128 of a value wide, and their middle
/// stands for them (`diskfacts_record::Histogram`).
pub(crate) const OF_BUCKETS: f64 = 1.0 / 256.0;

/// Digits that a figure of a document has at least: a program that prints `100`
/// means three.
const DIGITS_MIN: u32 = 3;

/// What a document may have counted in: bytes, KiB, MiB. A power of two takes no digit away.
const UNITS: [f64; 3] = [1.0, 1024.0, 1_048_576.0];

/// Half a unit of the last digit that any of these has, as they were printed; 0 of none. They may
/// have been printed in bytes, KiB or MiB: in the unit in which they have the fewest digits.
pub(crate) fn of_digits(values: &[f64]) -> f64 {
    // The place of the last digit as a power of ten: of 21.6 it is -1.
    let last_place = |value: f64| -> Option<i32> {
        let shortest = format!("{value:e}");
        let (digits, exponent) = shortest.split_once('e')?;
        let digits = digits.chars().filter(char::is_ascii_digit).count();
        let digits = i32::try_from(digits).ok()?.max(DIGITS_MIN.cast_signed());
        Some(exponent.parse::<i32>().ok()? - digits + 1)
    };
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let off = |unit: f64| {
        let places = values.iter().filter_map(|value| last_place(value / unit));
        let of_one = 0.5 * 10_f64.powi(places.min()?) * unit;
        Some(-(-of_one / smallest).ln_1p())
    };
    UNITS.into_iter().filter_map(off).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_last_digit_is_what_a_printed_figure_may_be_off() {
        assert!(of_digits(&[]).abs() < f64::EPSILON);
        // 0.05 of 21.6; three digits are the least, so 0.5 of 105 and of 100.
        for (values, off) in [
            (&[21.6, 30.0][..], 0.05 / 21.6),
            (&[105.0, 106.0], 0.5 / 105.0),
            (&[100.0], 0.5 / 100.0),
            // 0.31 and 0.32 MiB, and 105 KiB.
            (&[325_058.56, 335_544.32], 0.005 / 0.31 / 10.0),
            (&[107_520.0, 109_568.0], 0.5 / 105.0),
        ] {
            let found = of_digits(values);
            assert!(
                (1.0 - (-found).exp() - off).abs() < 1e-9,
                "{values:?}: {found}"
            );
        }
    }
}
