//! Plan files as people write them.

use diskfacts_plan::file::{parse, print};

/// What is read prints as a text that reads back as the same plan; what is
/// refused says where and why.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match parse(text) {
        Ok(plan) => {
            let printed = print(&plan);
            let again = parse(&printed).expect("a printed plan is a plan");
            // Not by `==`: `theta = nan` is read, and refused by the check.
            assert_eq!(format!("{again:?}"), format!("{plan:?}"));
            assert_eq!(print(&again), printed);
        }
        Err(error) => {
            let lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(!error.message.is_empty());
        }
    }
}
