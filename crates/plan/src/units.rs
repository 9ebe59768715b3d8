//! Sizes, durations and rates as people write and read them.
//!
//! Inside, everything is an integer of bytes or nanoseconds. Sizes are shown in
//! binary units (KiB, 2^10) and throughput in MB/s (10^6), as data sheets have them. Bare `k`, `M`, `G`, `T` are binary when read, as
//! in fio and dd; `kB`, `MB`, ... are decimal, `KiB`, `MiB`, ... binary.

use thiserror::Error;

/// Why a quantity could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// Nothing was written.
    #[error("a {what} is missing: write for example {example}")]
    Empty {
        /// What was expected, "size" for example.
        what: &'static str,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// It does not begin with a number.
    #[error("'{text}' is not a {what}: it should begin with a number, as in {example}")]
    NotANumber {
        /// What was written.
        text: String,
        /// What was expected.
        what: &'static str,
        /// Something that would have been understood.
        example: &'static str,
    },
    /// The unit behind the number is unknown.
    #[error("'{text}' is not a {what}: unknown unit '{unit}'; use {known}")]
    UnknownUnit {
        /// What was written.
        text: String,
        /// The part that was not understood.
        unit: String,
        /// What was expected.
        what: &'static str,
        /// The units that would have been understood.
        known: &'static str,
    },
    /// More than 64 bits, or a fraction of the smallest unit.
    #[error("'{text}' is out of range for a {what}: {limit}")]
    OutOfRange {
        /// What was written.
        text: String,
        /// What was expected.
        what: &'static str,
        /// The limit it broke.
        limit: &'static str,
    },
}

/// What a quantity is called in its errors, and what would have been right.
struct Kind {
    what: &'static str,
    example: &'static str,
    known: &'static str,
    limit: &'static str,
}

const SIZE: Kind = Kind {
    what: "size",
    example: "4KiB, 1MiB or 16GiB",
    known: "B, k/KiB, M/MiB, G/GiB, T/TiB, P/PiB, E/EiB (powers of 1024) or kB, MB, GB, TB, PB, EB (powers of 1000)",
    limit: "it must be a whole number of bytes below 16 EiB",
};

const DURATION: Kind = Kind {
    what: "duration",
    example: "500ms, 60s or 10m",
    known: "ns, us, ms, s, m, h",
    limit: "it must be a whole number of nanoseconds below 584 years",
};

/// A number with an optional fraction, and what follows it.
fn split<'a>(text: &'a str, kind: &Kind) -> Result<(u64, u64, u32, &'a str), UnitError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(UnitError::Empty {
            what: kind.what,
            example: kind.example,
        });
    }
    let not_a_number = || UnitError::NotANumber {
        text: text.to_owned(),
        what: kind.what,
        example: kind.example,
    };
    let out_of_range = || UnitError::OutOfRange {
        text: text.to_owned(),
        what: kind.what,
        limit: kind.limit,
    };
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err(not_a_number());
    }
    let whole: u64 = whole.parse().map_err(|_| out_of_range())?;
    let fraction = fraction.trim_end_matches('0');
    // Twelve digits are enough for any exact fraction worth writing.
    if fraction.len() > 12 {
        return Err(out_of_range());
    }
    let digits = if fraction.is_empty() {
        0
    } else {
        fraction.parse().map_err(|_| out_of_range())?
    };
    // At most 12, checked above.
    let scale = fraction.len() as u32;
    Ok((whole, digits, scale, unit.trim()))
}

/// `whole.digits` times `factor`, if that is a whole number that fits.
fn scaled(whole: u64, digits: u64, scale: u32, factor: u64) -> Option<u64> {
    let ten = 10_u128.pow(scale);
    let part = u128::from(digits) * u128::from(factor);
    if !part.is_multiple_of(ten) {
        return None;
    }
    let sum = u128::from(whole) * u128::from(factor) + part / ten;
    u64::try_from(sum).ok()
}

fn parse(text: &str, kind: &Kind, factor: impl Fn(&str) -> Option<u64>) -> Result<u64, UnitError> {
    let (whole, digits, scale, unit) = split(text, kind)?;
    let factor = factor(unit).ok_or_else(|| UnitError::UnknownUnit {
        text: text.trim().to_owned(),
        unit: unit.to_owned(),
        what: kind.what,
        known: kind.known,
    })?;
    scaled(whole, digits, scale, factor).ok_or_else(|| UnitError::OutOfRange {
        text: text.trim().to_owned(),
        what: kind.what,
        limit: kind.limit,
    })
}

/// Reads a size in bytes: `512`, `4k`, `4KiB`, `4kB` (4000), `1M`, `1.5GiB`.
///
/// # Errors
/// When it is not a whole number of bytes with a known unit.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    parse(text, &SIZE, |unit| {
        Some(match unit {
            "" | "B" | "b" => 1,
            "k" | "K" | "ki" | "Ki" | "kib" | "KiB" | "kiB" => 1 << 10,
            "m" | "M" | "mi" | "Mi" | "mib" | "MiB" => 1 << 20,
            "g" | "G" | "gi" | "Gi" | "gib" | "GiB" => 1 << 30,
            "t" | "T" | "ti" | "Ti" | "tib" | "TiB" => 1 << 40,
            "p" | "P" | "Pi" | "PiB" => 1 << 50,
            "e" | "E" | "Ei" | "EiB" => 1 << 60,
            "kB" | "KB" | "kb" => 1_000,
            "MB" | "mb" => 1_000_000,
            "GB" | "gb" => 1_000_000_000,
            "TB" | "tb" => 1_000_000_000_000,
            "PB" => 1_000_000_000_000_000,
            "EB" => 1_000_000_000_000_000_000,
            _ => return None,
        })
    })
}

/// Reads a duration in nanoseconds: `60s`, `500ms`, `1.5m`; a bare number is
/// seconds.
///
/// # Errors
/// When it is not a whole number of nanoseconds with a known unit.
pub fn parse_duration(text: &str) -> Result<u64, UnitError> {
    parse(text, &DURATION, |unit| {
        Some(match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "" | "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        })
    })
}

/// The exact form of a size that [`parse_size`] reads back: the largest binary
/// unit that divides it, else plain bytes. `4096` is `4KiB`, `4097` is `4097B`.
pub fn exact_size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    for (unit, shift) in UNITS {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

/// The exact form of a duration that [`parse_duration`] reads back.
pub fn exact_duration(ns: u64) -> String {
    const UNITS: [(&str, u64); 4] = [
        ("h", 3_600_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
    ];
    for (unit, factor) in UNITS {
        // Minutes and hours read less well than seconds for what a trial lasts,
        // so only whole hours leave the second.
        if ns != 0 && ns.is_multiple_of(factor) {
            return format!("{}{unit}", ns / factor);
        }
    }
    format!("{ns}ns")
}

/// A size for people, in binary units with at most three digits before the
/// point: `4 KiB`, `1.5 GiB`, `931.5 GiB`.
pub fn show_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would print as 1024.0, one unit too low.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text} {}", UNITS[unit])
}

/// A duration for people, with three significant digits: `812 ns`, `8.33 ms`,
/// `60 s`, `12.5 min`.
pub fn show_duration(ns: u64) -> String {
    let value = ns as f64;
    let (scaled, unit) = if ns < 1_000 {
        return format!("{ns} ns");
    } else if value < 999_500.0 {
        (value / 1e3, "us")
    } else if value < 999_500_000.0 {
        (value / 1e6, "ms")
    } else if value < 119.5e9 {
        (value / 1e9, "s")
    } else {
        (value / 60e9, "min")
    };
    format!("{} {unit}", three_digits(scaled))
}

/// A number with three significant digits and no needless zeros behind the
/// point: `8.33`, `83.3`, `833`, `12500`.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Throughput for people, in the unit of data sheets and of all tables here, 10^6 bytes:
/// `146.9 MB/s`.
pub fn show_throughput(bytes_per_s: f64) -> String {
    format!("{} MB/s", rate_digits(bytes_per_s / 1e6))
}

/// A rate with one decimal, two below ten, none above a thousand.
pub fn rate_digits(value: f64) -> String {
    if value.abs() < 9.995 {
        format!("{value:.2}")
    } else if value.abs() < 999.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_as_the_field_writes_them() {
        for (text, bytes) in [
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("4KB", 4000),
            ("1M", 1 << 20),
            ("1MiB", 1 << 20),
            ("1MB", 1_000_000),
            ("1.5GiB", 3 << 29),
            ("0", 0),
            ("2T", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_would_be_right() {
        for text in [
            "",
            "  ",
            "k",
            "-4k",
            "4x",
            "4 apples",
            "1..5G",
            "1.M",
            "0.3B",
            "99999999999999999999",
            "17179869184G",
        ] {
            let error = parse_size(text).expect_err(text).to_string();
            assert!(error.contains("size"), "{text}: {error}");
        }
        assert!(
            parse_size("4 apples")
                .unwrap_err()
                .to_string()
                .contains("KiB")
        );
        assert!(
            parse_duration("5 parsecs")
                .unwrap_err()
                .to_string()
                .contains("ms")
        );
        assert!(parse_duration("").unwrap_err().to_string().contains("60s"));
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ns) in [
            ("60s", 60_000_000_000),
            ("60", 60_000_000_000),
            ("500ms", 500_000_000),
            ("1.5m", 90_000_000_000),
            ("250us", 250_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn people_see_binary_sizes_and_three_digits() {
        assert_eq!(show_size(4096), "4 KiB");
        assert_eq!(show_size(1000), "1000 B");
        assert_eq!(show_size((1 << 30) - 1), "1 GiB");
        assert_eq!(show_size(3 << 29), "1.5 GiB");
        assert_eq!(show_duration(812), "812 ns");
        assert_eq!(show_duration(8_333_333), "8.33 ms");
        assert_eq!(show_duration(999_600), "1 ms");
        assert_eq!(show_duration(60_000_000_000), "60 s");
        assert_eq!(show_throughput(146.9e6), "146.9 MB/s");
    }

    proptest! {
        #[test]
        fn exact_forms_read_back(bytes: u64, ns: u64) {
            prop_assert_eq!(parse_size(&exact_size(bytes)), Ok(bytes));
            prop_assert_eq!(parse_duration(&exact_duration(ns)), Ok(ns));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }
    }
}
