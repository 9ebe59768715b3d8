//! Memory of a control group: its limits, and what it uses.

use crate::refusal;
use diskfacts_host::parse::group_memory::{parse_memory_limit, parse_memory_usage};

/// A limit, printed as the kernel prints it, is read as the same; a number that is
/// used is one that could be a limit.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let limit = parse_memory_limit(input);
    match &limit {
        Ok(limit) => {
            let text = limit.map_or_else(|| "max\n".to_owned(), |bytes| format!("{bytes}\n"));
            assert_eq!(parse_memory_limit(text.as_bytes()), Ok(*limit));
        }
        Err(error) => refusal::points_into(input, error),
    }
    match parse_memory_usage(input) {
        Ok(used) => assert!(limit.is_ok_and(|limit| limit.is_none_or(|limit| limit == used))),
        Err(error) => refusal::points_into(input, &error),
    }
}
