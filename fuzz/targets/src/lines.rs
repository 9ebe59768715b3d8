//! What holds of every format of lines.

use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Gives each line of an input that is text.
pub(crate) fn each(input: &[u8], mut line: impl FnMut(&str)) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    text.lines().for_each(&mut line);
}

/// A line that is read prints as one that is read; printed for the second time,
/// after all rounding, it stays the same.
///
/// # Panics
/// When that does not hold, or when a refusal says nothing.
pub(crate) fn settles<T>(line: &str)
where
    T: FromStr<Err: Display + Debug> + Display,
{
    let row: T = match line.parse() {
        Ok(row) => row,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let again = |printed: &str| -> String {
        let row: T = printed
            .parse()
            .unwrap_or_else(|error| panic!("{printed}: {error:?}"));
        row.to_string()
    };
    let printed = again(&row.to_string());
    assert_eq!(again(&printed), printed);
}
