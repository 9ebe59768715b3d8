//! The document of `readahead --json`.

use super::document;
use diskfacts_record::evidence::ReadAhead;
use diskfacts_record::{Finding, SCHEMA};
use serde::Serialize;

/// What `diskfacts readahead` watched.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WatchedReadAhead<'a> {
    /// What.
    pub target: &'a str,
    /// For how long; `None` of a text that was read.
    pub seconds: Option<f64>,
    /// The command that ran, as it was typed.
    pub command: Option<&'a str>,
    /// How it ended; `None` without one, or when a signal ended it.
    pub exit_code: Option<i32>,
    /// Sentences on how it ended and on what could not be seen.
    pub notes: &'a [String],
    /// The table.
    pub read_ahead: &'a ReadAhead,
    /// What follows.
    pub findings: &'a [Finding],
}

/// The document of `readahead --json`: `schema`, and the keys of
/// [`WatchedReadAhead`].
///
/// # Panics
/// Never, as [`run`](super::run).
pub fn read_ahead(watched: &WatchedReadAhead<'_>) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: u32,
        #[serde(flatten)]
        watched: &'a WatchedReadAhead<'a>,
    }
    document(&Document {
        schema: SCHEMA,
        watched,
    })
}
