//! Whether the numbers of a strided line, or of a line of dd, agree with each
//! other.

use crate::formats::dd;
use crate::formats::stride::{MB, Row};

/// The numbers that do not follow from the others, a sentence each.
///
/// Each is worked out from the blocks and the seconds, and may differ by the
/// rounding of both: half a hundredth of a second, half a thousandth of itself,
/// and a part in a thousand, because seconds were cut and not always the same
/// clock reading.
pub(super) fn disagreements(row: &Row) -> Vec<String> {
    let mut found = Vec::new();
    if row.total_bytes() / MB != row.total_mib {
        found.push(format!(
            "{}MB are not 2^{} bytes, which are {}MB.",
            row.total_mib,
            row.log2_bytes,
            row.total_bytes() / MB
        ));
    }
    if row.seconds <= 0.0 {
        found.push("It took no time, so its rates cannot be checked.".to_owned());
        return found;
    }
    let operations = row.operations();
    let expected = row.clone().worked_out(operations);
    // Rounding of the seconds, as a share of them.
    let share = 0.005 / row.seconds + 0.001;
    for (name, printed, expected) in [
        ("MB/s", row.span_mib_per_s, expected.span_mib_per_s),
        ("MB/s real", row.real_mib_per_s, expected.real_mib_per_s),
        ("seeks/sec", row.seeks_per_s, expected.seeks_per_s),
    ] {
        if (printed - expected).abs() > expected * share + 0.000_5 {
            found.push(format!(
                "{printed} {name} do not follow from {operations} blocks of {} bytes in {} s, \
                 which make {expected:.3}.",
                row.block_size, row.seconds
            ));
        }
    }
    found
}

/// Largest share by which dd's six digits of seconds are rounded: half of the
/// last digit of 1.00000.
const SECONDS_ROUNDED: f64 = 5e-6;

/// Where the rate of a line of dd is not its bytes in its seconds, beyond the
/// rounding of both.
pub(super) fn of_dd(summary: &dd::Summary) -> Option<String> {
    let rate = summary.rate?;
    if summary.seconds <= 0.0 {
        return None;
    }
    let expected = summary.bytes as f64 / summary.seconds;
    let half_digit = dd::Rate {
        value: 0.5 * 0.1_f64.powi(i32::try_from(rate.decimals).unwrap_or(i32::MAX)),
        ..rate
    };
    // A tie may be rounded either way, and is not exact in a float.
    let rounding = half_digit.bytes_per_s() * 1.000_001 + expected * SECONDS_ROUNDED;
    ((expected - rate.bytes_per_s()).abs() > rounding).then(|| {
        format!(
            "{} bytes in {} s are {expected:.0} bytes per second, and the line says {}. It was read \
             by its bytes and seconds.",
            summary.bytes,
            summary.seconds,
            rate.with(summary.mark)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "raw: read  1/1024 of  16384MB (2^34), bs: 4096, skip:256 blocks, in  \
                        24.23s -->  169.049MB/s,    0.660MB/s real,  169.049 seeks/sec";

    #[test]
    fn a_line_agrees_with_itself_within_its_rounding() {
        assert_eq!(disagreements(&LINE.parse().unwrap()), [""; 0]);
    }

    #[test]
    fn each_number_that_was_changed_is_named() {
        for (from, to, named) in [
            ("16384MB", "16385MB", "2^34"),
            (" 169.049MB/s", " 170.049MB/s", "170.049 MB/s"),
            ("0.660MB/s", "0.760MB/s", "MB/s real"),
            ("169.049 seeks", "171.049 seeks", "seeks/sec"),
        ] {
            let row = LINE.replace(from, to).parse().unwrap();
            let found = disagreements(&row);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(named), "{found:?}");
        }
        // Another fraction makes all three wrong.
        let row = LINE.replace("1/1024", "1/64").parse().unwrap();
        assert_eq!(disagreements(&row).len(), 3);
        let row = LINE.replace("24.23s", "0.00s").parse().unwrap();
        assert_eq!(disagreements(&row).len(), 1);
    }
}
