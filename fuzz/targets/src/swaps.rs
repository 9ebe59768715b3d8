//! `/proc/swaps`, which two crates read for themselves: one keeps the kernel's mark of
//! a removed file in the path, the other takes it off.

use crate::refusal;
use directio::parse::swaps::parse;
use diskfacts_host::parse::swaps::parse_swaps;
use std::ffi::OsString;

/// Where the stricter parser accepts a text that is printable, the other one reads
/// the same paths out of it, those with escapes too.
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
    // One looks for the slash of an absolute path before it undoes the escapes, the
    // other after that.
    let slash = |body: &[u8]| body.windows(4).any(|four| four == b"\\057");
    if !body.is_some_and(|body| body.iter().all(printable) && !slash(body)) {
        return;
    }
    let absolute: Vec<OsString> = strict
        .into_iter()
        .map(|swap| {
            let mut path = swap.path.into_os_string();
            if swap.deleted {
                path.push(" (deleted)");
            }
            path
        })
        .filter(|path| path.as_encoded_bytes().starts_with(b"/"))
        .collect();
    assert_eq!(lenient, absolute);
}
