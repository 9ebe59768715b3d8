//! What a refused input must come with.

use diskfacts_host::ParseError;

/// The error names a line that the input has.
pub(crate) fn points_into(input: &[u8], error: &ParseError) {
    let lines = 1 + input.iter().filter(|byte| **byte == b'\n').count();
    assert!((1..=lines).contains(&error.line), "{error}");
}
