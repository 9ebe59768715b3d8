//! Measurements that would settle a question, as commands and plan files.

use super::Subject;
use crate::words::shell;
use diskfacts_plan::{Plan, Stage, Until, Workload, file};
use diskfacts_record::{Experiment, Prediction, Quantity, Side, TargetKind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The plan file that commands name.
const FILE: &str = "settle.toml";
/// Trials of each stage: enough for the median to have its interval.
const TRIALS: u32 = 7;

/// Share of the time from which on a claim predicts a gain that can be told from none.
const SHARE_MIN: f64 = 0.2;

/// Of the stages of an experiment the one that differs, and the one that does not.
type Pair = (&'static str, &'static str);

/// That the first of two stages has at least so many times the figure of the second.
pub(super) fn at_least((changed, control): Pair, quantity: Quantity, ratio: f64) -> Prediction {
    Prediction {
        control: control.to_owned(),
        changed: changed.to_owned(),
        quantity,
        side: Side::AtLeast,
        ratio,
    }
}

/// That the first of two stages has at most so many times the figure of the second.
pub(super) fn at_most(pair: Pair, quantity: Quantity, ratio: f64) -> Prediction {
    Prediction {
        side: Side::AtMost,
        ..at_least(pair, quantity, ratio)
    }
}

/// That the first of two stages is without what takes this share of the second's time:
/// half of what that would gain decides, because something else may take its place.
/// `None` where that is too little to be seen.
pub(super) fn without(pair: Pair, quantity: Quantity, share: f64) -> Option<Prediction> {
    let enough = (SHARE_MIN..=1.0).contains(&share);
    enough.then(|| at_least(pair, quantity, 1.0 / (1.0 - share / 2.0)))
}

impl Subject<'_> {
    /// An experiment by stages of a plan file of its own: each a name and a
    /// workload, of which the operation, the blocks, their order and place, depth,
    /// streams, cache and sync are written down.
    pub fn experiment(&self, question: &str, stages: &[(&str, Workload)]) -> Experiment {
        let mut planned = self.run().plan.stages.iter();
        let own = planned.find(|planned| {
            planned.name == self.stage.name && planned.settings == *self.stage.settings
        });
        let stages = stages.iter().map(|(name, workload)| Stage {
            name: (*name).to_owned(),
            about: String::new(),
            workload: settling(workload),
            settings: BTreeMap::new(),
            // The kernel is as it was.
            kernel: own.map(|own| own.kernel.clone()).unwrap_or_default(),
            full: None,
        });
        let plan = Plan {
            name: "settle".to_owned(),
            about: format!("settles what limited {}", self.stage.name),
            trials: TRIALS,
            time_ns: None,
            until: Until::default(),
            choose: Vec::new(),
            precondition: Vec::new(),
            stages: stages.collect(),
        };
        Experiment {
            question: question.to_owned(),
            command: self.command(FILE),
            plan: Some(file::print(&plan)),
            prediction: None,
        }
    }

    /// An experiment by a built-in plan.
    pub fn built_in(&self, question: &str, plan: &str) -> Experiment {
        Experiment {
            question: question.to_owned(),
            command: self.command(plan),
            plan: None,
            prediction: None,
        }
    }

    /// The same measurement again, while or after something else is done.
    pub fn again(&self, question: &str) -> Experiment {
        Experiment {
            question: question.to_owned(),
            command: crate::words::measure(self.run()),
            plan: None,
            prediction: None,
        }
    }

    /// What measures this target by another plan, with the leave to write that was
    /// given before.
    fn command(&self, plan: &str) -> String {
        let run = self.run();
        let target = if run.target.kind == TargetKind::Imported {
            // What a document is of may be measured.
            "TARGET"
        } else {
            &run.target.given
        };
        let mut command = format!("diskfacts measure {} --plan {plan}", shell(target));
        for (option, value) in kept_options(&run.run.command) {
            // Writing to a string does not fail.
            let _ = write!(command, " {option} {}", shell(&value));
        }
        command
    }
}

/// What has to be said again for the same target: its size, where it is made for the
/// run, and the leave to write to it; and where the runs are kept.
fn kept_options(words: &[String]) -> Vec<(&'static str, String)> {
    const KEPT: [&str; 4] = ["--size", "--loop", "--destroy-data-on", "--store"];
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        for option in KEPT {
            let value = match word.strip_prefix(option) {
                Some("") => words.get(i + 1).cloned(),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            found.extend(value.map(|value| (option, value)));
        }
    }
    found
}

/// What is written down of a workload.
fn settling(workload: &Workload) -> Workload {
    // What an import does not know is 0.
    let block_size = workload.block_size.max(1);
    let whole = workload.span.map(|span| span / block_size * block_size);
    Workload {
        operation: workload.operation,
        pattern: workload.pattern,
        block_size,
        offset: workload.offset,
        span: whole.filter(|span| *span > 0),
        cache: workload.cache,
        sync: workload.sync,
        queue_depth: workload.queue_depth,
        streams: workload.streams,
        ..Workload::default()
    }
}
