//! Journals of changed settings.

use crate::refusal;
use diskfacts_host::settings::{Journal, Unreadable};

/// What was read is written as it was read; what is refused is so at a line of it.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match Journal::parse(input) {
        Ok(journal) => {
            let text = journal.encode();
            assert_eq!(Journal::parse(text.as_bytes()), Ok(journal), "{text}");
        }
        Err(Unreadable::Torn) => {}
        Err(Unreadable::Damaged(error)) => refusal::points_into(input, &error),
    }
}
