//! `/proc/self/mountinfo`, which two crates read for themselves.

use crate::refusal;
use directio::parse::mountinfo::parse;
use diskfacts_host::parse::mountinfo::parse_mountinfo;

/// Where the stricter parser accepts a text that is ASCII, the other one reads
/// the same out of it.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let lenient = parse(input);
    let strict = match parse_mountinfo(input) {
        Ok(strict) => strict,
        Err(error) => return refusal::points_into(input, &error),
    };
    // Other bytes stay bytes in paths and become U+FFFD in texts.
    if !is_kernel_text(input) {
        return;
    }
    assert_eq!(strict.len(), lenient.len());
    for (strict, lenient) in strict.iter().zip(&lenient) {
        assert_eq!(strict.id, lenient.id);
        assert_eq!((strict.major, strict.minor), lenient.device);
        assert_eq!(strict.kind, lenient.file_system);
        assert_eq!(Some(&*strict.mount_point), lenient.mount_point.to_str());
        assert_eq!(Some(&*strict.source), lenient.source.to_str());
    }
}

/// Columns parted by single blanks, one lone hyphen in a line, no escape for a
/// byte beyond ASCII: what `fs/proc_namespace.c` prints of paths in ASCII.
fn is_kernel_text(input: &[u8]) -> bool {
    let printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    let blank = |pair: &[u8]| matches!(pair, b"  " | b" \n" | b"\n ");
    let high_escape = |part: &[u8]| matches!(part, [b'\\', b'2' | b'3', ..]);
    let hyphens = |line: &[u8]| line.split(|b| *b == b' ').filter(|w| *w == b"-").count();
    input.iter().all(printable)
        && input.split(|b| *b == b'\n').all(|line| hyphens(line) <= 1)
        && !input.starts_with(b" ")
        && !input.ends_with(b" ")
        && !input.windows(2).any(blank)
        && !input.windows(2).any(high_escape)
}
