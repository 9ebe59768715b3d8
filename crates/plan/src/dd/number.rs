//! Numbers as GNU dd reads them.

/// A number of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The number, multiplied out.
    pub value: u64,
    /// Whether a `B` stands in it: then `skip=`, `seek=` and `count=` mean bytes
    /// and not blocks (since coreutils 9.1).
    pub in_bytes: bool,
}

/// Reads a number: digits with a suffix, or several of these with an `x` between
/// them, which multiplies (`2x80x18b`).
///
/// Suffixes: `c` 1, `w` 2, `b` 512; `K` (or `k`), `M`, `G`, `T`, `P`, `E` powers
/// of 1024, with `iB` behind them too; with `B` behind them powers of 1000. A
/// suffix alone means one of it. A `B` behind all of it says that bytes are
/// meant. `None` when it is something else, or more than 2^63 - 1.
pub fn number(text: &str) -> Option<Number> {
    let mut value: u64 = 1;
    for factor in text.split('x') {
        value = value.checked_mul(one(factor)?)?;
    }
    // Offsets of files are signed.
    i64::try_from(value).ok()?;
    Some(Number {
        value,
        in_bytes: text.contains('B'),
    })
}

/// One factor: `4`, `18b`, `1MiB`, `100B`.
fn one(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    if number.is_empty() && suffix.is_empty() {
        return None;
    }
    // `KB` is 1000; only a `B` that no suffix has is the one for bytes.
    let in_bytes = || {
        let inner = suffix.strip_suffix('B').filter(|s| !s.ends_with('B'))?;
        let something = !number.is_empty() || !inner.is_empty();
        factor(inner).filter(|_| something)
    };
    let factor = factor(suffix).or_else(in_bytes)?;
    let number: u64 = if number.is_empty() {
        1
    } else {
        number.parse().ok()?
    };
    number.checked_mul(factor)
}

fn factor(suffix: &str) -> Option<u64> {
    match suffix {
        "" | "c" => return Some(1),
        "w" => return Some(2),
        "b" => return Some(512),
        _ => {}
    }
    let (unit, behind) = suffix.split_at_checked(1)?;
    let power = match unit {
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        "E" => 6,
        _ => return None,
    };
    let base: u64 = match behind {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    Some(base.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(u64, bool)> {
        number(text).map(|n| (n.value, n.in_bytes))
    }

    #[test]
    fn numbers_are_those_of_gnu_dd() {
        for (text, value, in_bytes) in [
            ("0", 0, false),
            ("08", 8, false),
            ("4c", 4, false),
            ("4w", 8, false),
            ("18b", 18 * 512, false),
            ("4k", 4096, false),
            ("4K", 4096, false),
            ("4KiB", 4096, true),
            ("4kB", 4000, true),
            ("1M", 1 << 20, false),
            ("1MB", 1_000_000, true),
            ("7E", 7 << 60, false),
            ("M", 1 << 20, false),
            ("100B", 100, true),
            ("18bB", 18 * 512, true),
            ("4cB", 4, true),
            ("1Bx2", 2, true),
            ("2x80x18b", 2 * 80 * 18 * 512, false),
            ("0x10", 0, false),
            ("9223372036854775807", i64::MAX as u64, false),
        ] {
            assert_eq!(read(text), Some((value, in_bytes)), "{text}");
        }
    }

    #[test]
    fn what_gnu_dd_refuses_is_refused() {
        for text in [
            "",
            "B",
            "4BB",
            "4KBB",
            "4KiBB",
            "x2",
            "2x",
            "4D",
            "10m",
            "4t",
            "4ki",
            "4Ki",
            "-1",
            "4.5",
            "8E",
            "1Z",
            "9223372036854775808",
            "4 k",
            "2xx2",
            "\u{e9}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
