//! The JSON documents; `docs/reference/json.md` describes every key, and
//! `docs/reference/run.schema.json` is the JSON Schema of [`run`].

use diskfacts_record::{Run, SCHEMA, Stack, Target};
use serde::Serialize;

/// The document of `measure --json` and `show RUN --json`: one object, its keys
/// in the order of the reference, and a line end.
///
/// A float that is not a number becomes `null`, as JSON has no word for it.
///
/// # Panics
/// Never: no map of a run has keys that are not text.
pub fn run(run: &Run) -> String {
    document(run)
}

/// The document of `devices [TARGET] --json`: `schema`, `target` (`null` when
/// none was named) and `stack`, the last two as in the document of a run.
///
/// # Panics
/// Never, as [`run`].
pub fn devices(target: Option<&Target>, stack: &Stack) -> String {
    #[derive(Serialize)]
    struct Devices<'a> {
        schema: u32,
        target: Option<&'a Target>,
        stack: &'a Stack,
    }
    document(&Devices {
        schema: SCHEMA,
        target,
        stack,
    })
}

fn document(value: &impl Serialize) -> String {
    // Serializing to memory fails only for maps with other keys than text.
    let mut text = serde_json::to_string_pretty(value).expect("every key is text");
    text.push('\n');
    text
}
