//! Runs and comparisons in the formats of other tools; `docs/reference/export.md` says what each
//! has.
//!
//! * [`csv`]: tidy tables, for spreadsheets and data frames.
//! * [`mod@openmetrics`]: figures as metrics, for the node exporter's textfile collector.
//! * [`hgrm`], [`hlog`]: distributions, for the tools of `HdrHistogram`.
//! * [`perfetto`]: single requests on a time axis, for ui.perfetto.dev.
//! * [`junit`], [`github`], [`markdown`]: a comparison, for continuous integration; hosts that measured
//!   together as [`markdown`], too.
//!
//! Text from outside (names, paths, models, documents) stays text in all of them: control
//! characters and those that change the direction of writing are escaped (`\u{1b}`), as on the
//! terminal, and then what the format itself would take for more than text.

pub mod csv;
pub mod github;
pub mod hgrm;
pub mod hlog;
mod judged;
pub mod junit;
pub mod markdown;
pub mod openmetrics;
pub mod perfetto;

pub use openmetrics::openmetrics;

use crate::text::Look;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Histogram, Run, Trial};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How words look in all of them.
const SHOWN: Look = Look {
    width: 80,
    colour: false,
    unicode: true,
};

/// Text from anywhere as text that does nothing.
fn clean(text: &str) -> Cow<'_, str> {
    SHOWN.clean(text)
}

/// A stage of a run, under one combination of settings, with its trials.
struct StageTrials<'a> {
    stage: &'a str,
    settings: &'a BTreeMap<String, String>,
    trials: Vec<&'a Trial>,
}

impl StageTrials<'_> {
    fn label(&self) -> String {
        stage_label(self.stage, self.settings)
    }

    /// Latencies of the operations that it is measured by, of all trials.
    fn histogram(&self) -> Histogram {
        let mut sum = Histogram::new();
        for trial in &self.trials {
            let parts = trial.histograms.measured(&trial.workload);
            parts.for_each(|part| part.add_to(&mut sum));
        }
        sum
    }
}

/// The stages of the plan, in its order; what it does not have, in that of their first trials.
fn stages(run: &Run) -> Vec<StageTrials<'_>> {
    let mut stages: Vec<StageTrials<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, &BTreeMap<String, String>), usize> = BTreeMap::new();
    for trial in run.planned_trials() {
        let (stage, settings) = (trial.stage.as_str(), &trial.settings);
        let place = *places.entry((stage, settings)).or_insert(stages.len());
        if place == stages.len() {
            stages.push(StageTrials {
                stage,
                settings,
                trials: Vec::new(),
            });
        }
        stages[place].trials.push(trial);
    }
    let in_plan = |stage: &StageTrials<'_>| {
        let mut planned = run.plan.stages.iter();
        let place = planned
            .position(|planned| planned.name == stage.stage && planned.settings == *stage.settings);
        place.unwrap_or(usize::MAX)
    };
    stages.sort_by_cached_key(in_plan);
    stages
}

/// Seconds of a number of nanoseconds, exactly: 1500 is `0.0000015`.
fn exact_seconds(ns: u64) -> String {
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let rest = format!("{rest:09}");
    match rest.trim_end_matches('0') {
        "" => format!("{seconds}.0"),
        rest => format!("{seconds}.{rest}"),
    }
}
