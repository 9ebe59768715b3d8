//! The documents of imports.

use crate::import::Imported;
use diskfacts_record::{Finding, Run, Trial};
use serde::Serialize;
use serde_json::Value;

/// The document of `import --json`: an array with an object for each file;
/// `docs/reference/import.schema.json` is its JSON Schema.
///
/// # Panics
/// Never, as [`super::run`].
pub fn imports(imported: &[Imported]) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        file: &'a str,
        lines: u64,
        rows: usize,
        rows_left_out: u64,
        notes: Vec<Note<'a>>,
        notes_left_out: u64,
        runs: Vec<&'a str>,
        findings: &'a [Finding],
    }
    #[derive(Serialize)]
    struct Note<'a> {
        line: u64,
        text: &'a str,
    }
    let files: Vec<File<'_>> = imported
        .iter()
        .map(|imported| File {
            file: &imported.file,
            lines: imported.document.lines,
            rows: imported.document.rows.len(),
            rows_left_out: imported.document.rows_left_out,
            notes_left_out: imported.document.notes_left_out,
            notes: imported
                .document
                .notes
                .iter()
                .map(|note| Note {
                    line: note.line,
                    text: &note.text,
                })
                .collect(),
            runs: imported.runs.iter().map(|(_, id)| id.as_str()).collect(),
            findings: &imported.findings,
        })
        .collect();
    super::document(&files)
}

/// An imported run with `null` for what its document does not say, where the
/// record has a 0 or an empty word.
pub(super) fn with_nulls(run: &Run) -> Value {
    // Serializing to memory fails only for maps with other keys than text.
    let mut document = serde_json::to_value(run).expect("every key is text");
    for pointer in [
        "/machine/architecture",
        "/machine/cpus",
        "/target/size_bytes",
        "/run/seed",
    ] {
        clear(document.pointer_mut(pointer));
    }
    clear_flag(document.pointer_mut("/machine/root"));
    if let Some(trials) = document.get_mut("trials").and_then(Value::as_array_mut) {
        for (value, trial) in trials.iter_mut().zip(&run.trials) {
            clear(value.pointer_mut("/bytes"));
            clear(value.pointer_mut("/ops"));
            unsaid(value.get_mut("workload"), &trial.unsaid);
        }
    }
    if let Some(stages) = document
        .pointer_mut("/plan/stages")
        .and_then(Value::as_array_mut)
    {
        for (value, stage) in stages.iter_mut().zip(&run.plan.stages) {
            // A stage that is no cell has trials under several settings.
            let is_of = |trial: &&Trial| {
                let mut settings = stage.settings.iter();
                trial.stage == stage.name
                    && settings.all(|(key, value)| trial.settings.get(key) == Some(value))
            };
            for trial in run.trials.iter().filter(is_of) {
                unsaid(value.get_mut("workload"), &trial.unsaid);
            }
        }
    }
    if let Some(figures) = document.get_mut("figures").and_then(Value::as_array_mut) {
        for figures in figures {
            for figure in ["/throughput_bytes_per_s", "/iops"] {
                let Some(figure) = figures.pointer_mut(figure) else {
                    continue;
                };
                if figure.get("trials").and_then(Value::as_u64) == Some(0) {
                    for key in ["/median", "/min", "/max"] {
                        clear(figure.pointer_mut(key));
                    }
                }
            }
        }
    }
    document
}

/// The keys of a workload that its document does not say become `null`.
fn unsaid(workload: Option<&mut Value>, keys: &[String]) {
    if let Some(workload) = workload {
        for key in keys {
            let pointer = format!("/{}", key.replace('.', "/"));
            if let Some(value) = workload.pointer_mut(&pointer) {
                *value = Value::Null;
            }
        }
    }
}

fn clear_flag(value: Option<&mut Value>) {
    if let Some(value) = value {
        *value = Value::Null;
    }
}

/// A 0 or an empty word becomes `null`.
fn clear(value: Option<&mut Value>) {
    if let Some(value) = value
        && (value.as_f64() == Some(0.0) || value.as_str() == Some(""))
    {
        *value = Value::Null;
    }
}
