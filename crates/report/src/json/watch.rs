//! The lines of `watch --json`.

use diskfacts_record::evidence::BlockLayer;
use diskfacts_record::{SCHEMA, Unseen};
use serde::Serialize;

/// One line: which part it is of, or all of it, and what the block layer did.
#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    watch: &'static str,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<u64>,
    /// When it ended, RFC 3339.
    ended_at: &'a str,
    #[serde(flatten)]
    block_layer: &'a BlockLayer,
    unseen: &'a [Unseen],
}

impl Line<'_> {
    fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("all keys are text");
        text.push('\n');
        text
    }
}

/// The line of a part, which are counted from 1, with its end, and what is not seen
/// of it.
///
/// # Panics
/// Never: no map of it has keys that are not text.
pub fn watch_part(
    part: u64,
    ended_at: &str,
    block_layer: &BlockLayer,
    unseen: &[Unseen],
) -> String {
    let line = Line {
        schema: SCHEMA,
        watch: "part",
        part: Some(part),
        ended_at,
        block_layer,
        unseen,
    };
    line.text()
}

/// The last line, of all of it.
///
/// # Panics
/// Never, as [`watch_part`].
pub fn watch_total(ended_at: &str, block_layer: &BlockLayer, unseen: &[Unseen]) -> String {
    let line = Line {
        schema: SCHEMA,
        watch: "total",
        part: None,
        ended_at,
        block_layer,
        unseen,
    };
    line.text()
}
