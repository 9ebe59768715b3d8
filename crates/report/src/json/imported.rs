//! The documents of imports.

use crate::import::Imported;
use diskfacts_record::Run;
use serde::Serialize;
use serde_json::Value;

/// The document of `import --json`: an array with an object for each file, with
/// `file`, `rows`, `notes` and `runs`.
///
/// # Panics
/// Never, as [`super::run`].
pub fn imports(imported: &[Imported]) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        file: &'a str,
        rows: usize,
        notes: Vec<Note<'a>>,
        runs: Vec<&'a str>,
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
            rows: imported.document.rows.len(),
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
    if let Some(trials) = document.get_mut("trials").and_then(Value::as_array_mut) {
        for trial in trials {
            for pointer in ["/bytes", "/ops", "/workload/block_size"] {
                clear(trial.pointer_mut(pointer));
            }
        }
    }
    if let Some(stages) = document
        .pointer_mut("/plan/stages")
        .and_then(Value::as_array_mut)
    {
        for stage in stages {
            clear(stage.pointer_mut("/workload/block_size"));
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

/// A 0 or an empty word becomes `null`.
fn clear(value: Option<&mut Value>) {
    if let Some(value) = value
        && (value.as_f64() == Some(0.0) || value.as_str() == Some(""))
    {
        *value = Value::Null;
    }
}
