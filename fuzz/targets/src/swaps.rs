//! `/proc/swaps`, which two crates read for themselves.

use crate::refusal;
use directio::parse::swaps::parse;
use diskfacts_host::parse::swaps::parse_swaps;

/// Where the stricter parser accepts a text that is ASCII, the other one reads
/// the same paths out of it.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let lenient = parse(input);
    let strict = match parse_swaps(input) {
        Ok(strict) => strict,
        Err(error) => return refusal::points_into(input, &error),
    };
    // The heading is told by its place by one, and by its first character by
    // the other.
    let body = input.strip_prefix(b"Filename\t");
    let printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n');
    if !body.is_some_and(|body| body.iter().all(printable) && !body.contains(&b'\\')) {
        return;
    }
    let absolute: Vec<&str> = strict
        .iter()
        .map(|swap| &*swap.path)
        .filter(|path| path.starts_with('/'))
        .collect();
    let lenient: Vec<&str> = lenient.iter().filter_map(|path| path.to_str()).collect();
    assert_eq!(lenient, absolute);
}
