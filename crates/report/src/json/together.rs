//! The document of `together --json`.

use super::document;
use diskfacts_record::together::Merged;

/// The document of `together --json`; `docs/reference/together.md` describes every key.
///
/// # Panics
/// Never, as [`run`](super::run).
pub fn together(merged: &Merged) -> String {
    document(merged)
}
