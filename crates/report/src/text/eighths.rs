//! A value between nothing and the most, in one character.

use super::look::Look;

/// Eighths of a line of text, from nothing on.
pub(super) const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];

/// The character of a value, which is not negative, where `most` fills the line. Above nothing
/// something is always seen.
pub(super) fn eighth(value: f64, most: f64, look: &Look) -> char {
    let levels = if look.unicode { EIGHTHS } else { ASCII };
    if value > 0.0 && most > 0.0 {
        levels[((value / most * 8.0).ceil() as usize).clamp(1, 8)]
    } else {
        levels[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_blank_and_the_least_is_seen() {
        let drawn = |look: &Look| -> String {
            let values = [0.0, 1e-9, 12.5, 13.0, 99.0, 100.0];
            values
                .map(|value| eighth(value, 100.0, look))
                .iter()
                .collect()
        };
        let ascii = Look::default();
        assert_eq!(drawn(&ascii), " ..:@@");
        let unicode = Look {
            unicode: true,
            ..ascii
        };
        assert_eq!(drawn(&unicode), " ▁▁▂██");
        assert_eq!(eighth(0.0, 0.0, &ascii), ' ');
    }
}
