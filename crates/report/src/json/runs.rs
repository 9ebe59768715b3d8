//! The document of `runs --json`.

use super::document;
use crate::text::RunRow;
use diskfacts_record::SCHEMA;
use serde::Serialize;

/// The document of `runs --json`: `schema`, how many are `stored`, and `runs`, in the order
/// they are given.
///
/// # Panics
/// Never, as [`run`](super::run).
pub fn runs(runs: &[RunRow], stored: usize) -> String {
    #[derive(Serialize)]
    struct Runs<'a> {
        schema: u32,
        stored: usize,
        runs: Vec<Listed<'a>>,
    }
    document(&Runs {
        schema: SCHEMA,
        stored,
        runs: runs.iter().map(Listed::of).collect(),
    })
}

/// A stored run.
#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    name: Option<&'a str>,
    note: Option<&'a str>,
    tags: Vec<&'a str>,
    status: &'static str,
    started: &'a str,
    ended: Option<&'a str>,
    tool_version: &'a str,
    host: Option<&'a str>,
    target: &'a str,
    plan: &'a str,
    trials: u64,
}

impl<'a> Listed<'a> {
    fn of(run: &'a RunRow) -> Self {
        Self {
            id: &run.id,
            name: run.labels.name.as_deref(),
            note: run.labels.note.as_deref(),
            tags: run.labels.tags.iter().map(String::as_str).collect(),
            status: run.word(),
            started: &run.started,
            ended: run.ended.as_deref(),
            tool_version: &run.tool_version,
            host: run.host.as_deref(),
            target: &run.target,
            plan: &run.plan,
            trials: run.trials,
        }
    }
}
