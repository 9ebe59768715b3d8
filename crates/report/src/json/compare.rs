//! The document of `compare --json`.

use super::document;
use diskfacts_record::Comparison;

/// The document of `compare A B --json`; `docs/reference/compare.schema.json` is
/// its JSON Schema.
///
/// # Panics
/// Never, as [`run`](super::run).
pub fn comparison(comparison: &Comparison) -> String {
    document(comparison)
}
