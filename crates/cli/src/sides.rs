//! The runs that people name on a side of a comparison: stored ones, documents,
//! several of them, or those of their trials that have a setting.

use crate::args::Common;
use crate::commands::import;
use crate::exit::Failure;
use crate::named::{self, InFile, Named, is_document, is_same_run};
use diskfacts_facts::compare::{Part, Selection};
use diskfacts_record::Run;
use diskfacts_report::import::runs::{self, Origin};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A side with its runs in memory.
pub(crate) struct Side {
    given: String,
    parts: Vec<(Run, BTreeMap<String, String>)>,
}

impl Side {
    /// Reads what was given: names of runs with commas between them.
    pub(crate) fn read(given: &str, common: &Common) -> Result<Self, Failure> {
        let mut side = Self {
            given: given.to_owned(),
            parts: Vec::new(),
        };
        let mut stored = Named::new(common);
        // A file may have a comma in its name.
        let names: Vec<&str> = if is_document(given) {
            vec![given]
        } else {
            given.split(',').collect()
        };
        for name in names {
            let (name, only) = limited(name)?;
            let mut runs = load(name, &mut stored)?;
            // Of a document with several formats those that have the setting.
            if runs.iter().any(|run| has_trial(run, &only)) {
                runs.retain(|run| has_trial(run, &only));
            }
            for run in runs {
                let mut known = side.parts.iter();
                if known.any(|(other, limit)| is_same_run(other, &run) && *limit == only) {
                    return Err(Failure::wrong_call(format!(
                        "{given} names the run {} twice, which would count it as two",
                        run.run.id
                    )));
                }
                side.parts.push((run, only.clone()));
            }
        }
        side.check()?;
        Ok(side)
    }

    /// What is compared.
    pub(crate) fn selection(&self) -> Selection<'_> {
        let parts = self.parts.iter().map(|(run, only)| Part {
            run,
            only: only.clone(),
        });
        Selection {
            given: self.given.clone(),
            parts: parts.collect(),
        }
    }

    /// A side that has no trial cannot be compared with anything.
    fn check(&self) -> Result<(), Failure> {
        for (run, only) in &self.parts {
            if has_trial(run, only) {
                continue;
            }
            let Some((key, value)) = only.first_key_value() else {
                return Err(Failure::wrong_call(format!(
                    "the run {} has no trial, so there is nothing to compare",
                    run.run.id
                )));
            };
            let settings = run.trials.iter().flat_map(|trial| &trial.settings);
            let known: BTreeSet<String> = settings.map(|(k, v)| format!("{k}={v}")).collect();
            let known: Vec<String> = known.into_iter().take(12).collect();
            return Err(Failure::wrong_call(format!(
                "the run {} has no trial with {key}={value}{}; its settings are {}",
                run.run.id,
                if only.len() > 1 {
                    " and the others"
                } else {
                    ""
                },
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            )));
        }
        Ok(())
    }
}

/// Whether a run has a trial with all of these settings.
fn has_trial(run: &Run, only: &BTreeMap<String, String>) -> bool {
    run.trials.iter().any(|trial| {
        let mut only = only.iter();
        only.all(|(key, value)| trial.settings.get(key) == Some(value))
    })
}

/// A name and the settings behind it: `last:scheduler=none:sync=fsync`.
fn limited(name: &str) -> Result<(&str, BTreeMap<String, String>), Failure> {
    if is_document(name) {
        return Ok((name, BTreeMap::new()));
    }
    // The first colon with a setting behind it; a path may have others.
    let colons = name.match_indices(':').map(|(at, _)| at);
    let is_setting = |at: &usize| {
        let behind = name[at + 1..].split(':').next().unwrap_or_default();
        behind.contains('=')
    };
    let Some(at) = colons.into_iter().find(is_setting) else {
        return Ok((name, BTreeMap::new()));
    };
    let mut only = BTreeMap::new();
    for setting in name[at + 1..].split(':') {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Failure::wrong_call(format!(
                "'{setting}' in {name} is not a setting; settings follow a run as in \
                 last:scheduler=none"
            )));
        };
        only.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    Ok((&name[..at], only))
}

fn load(name: &str, stored: &mut Named<'_>) -> Result<Vec<Run>, Failure> {
    let name = name.trim();
    if is_document(name) {
        return of_document(Path::new(name));
    }
    let none_yet = format!(
        "no run is stored yet, so there is none called {name}; `diskfacts measure .` makes the first"
    );
    Ok(vec![stored.run(name, &none_yet)?])
}

/// The runs of a file of ours, or results of other programs.
fn of_document(path: &Path) -> Result<Vec<Run>, Failure> {
    let shown = path.display();
    // What is no text is told by the importer, in its words.
    match named::in_file(path)? {
        Some(InFile::Printed(run)) => return Ok(vec![*run]),
        Some(InFile::Whole(parcels)) => return parcels.runs(),
        None => {}
    }
    let document = import::document(path)?;
    if document.rows.is_empty() {
        return Err(import::nothing(path, &document));
    }
    let origin = Origin {
        file: shown.to_string(),
        started: String::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: Vec::new(),
    };
    let mut number = 0;
    let mut runs = runs::of(&document, &origin, || {
        number += 1;
        format!("{shown}#{number}")
    });
    runs.retain(|run| !run.trials.is_empty());
    if runs.is_empty() {
        return Err(Failure::wrong_call(format!(
            "{shown} has rows but no rates, so there is nothing to compare"
        )));
    }
    Ok(runs)
}
