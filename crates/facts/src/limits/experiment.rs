//! Measurements that would settle a question, as commands and plan files.

use crate::stage_facts::StageFacts;
use crate::words::{measure, shell};
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

/// How a claim would be settled.
#[derive(Debug, Clone)]
pub(crate) enum Settling {
    /// By the same measurement again, while or after something else is done.
    Again,
    /// By a built-in plan.
    BuiltIn(&'static str),
    /// By stages of a plan file of its own.
    Stages(Box<Stages>),
}

/// Stages of an experiment: each a name and a workload, of which the operation, the blocks,
/// their order and place, depth, streams, cache and sync are written down.
#[derive(Debug, Clone)]
pub(crate) struct Stages {
    own: Workload,
    stages: Vec<(&'static str, Workload)>,
    prediction: Option<Prediction>,
}

impl Stages {
    /// And the stage of the facts, changed in this way.
    pub(crate) fn and(mut self, name: &'static str, change: impl FnOnce(&mut Workload)) -> Self {
        let mut workload = self.own.clone();
        change(&mut workload);
        self.stages.push((name, workload));
        self
    }

    /// Decided by whether the first of two stages has at least so many times the figure of
    /// the second.
    pub(crate) fn at_least(mut self, pair: Pair, quantity: Quantity, ratio: f64) -> Self {
        self.prediction = Some(prediction(pair, quantity, Side::AtLeast, ratio));
        self
    }

    /// Decided by whether it has at most so many times the figure of the second.
    pub(crate) fn at_most(mut self, pair: Pair, quantity: Quantity, ratio: f64) -> Self {
        self.prediction = Some(prediction(pair, quantity, Side::AtMost, ratio));
        self
    }

    /// Decided by whether the first of two stages is without what takes this share of the
    /// second's time: half of what that would gain decides, because something else may take
    /// its place. By nothing where that is too little to be seen.
    pub(super) fn without(self, pair: Pair, quantity: Quantity, share: f64) -> Self {
        if (SHARE_MIN..=1.0).contains(&share) {
            self.at_least(pair, quantity, 1.0 / (1.0 - share / 2.0))
        } else {
            self
        }
    }
}

/// What is predicted of the first of two stages.
pub(super) fn prediction(
    (changed, control): Pair,
    quantity: Quantity,
    side: Side,
    ratio: f64,
) -> Prediction {
    Prediction {
        control: control.to_owned(),
        changed: changed.to_owned(),
        quantity,
        side,
        ratio,
    }
}

impl From<Stages> for Settling {
    fn from(stages: Stages) -> Self {
        Self::Stages(Box::new(stages))
    }
}

impl Settling {
    /// As a command, with a plan where it needs one.
    pub(super) fn experiment(self, facts: &StageFacts<'_>, question: String) -> Experiment {
        let (command, plan, prediction) = match self {
            Self::Again => (measure(facts.run()), None, None),
            Self::BuiltIn(plan) => (command(facts, plan), None, None),
            Self::Stages(stages) => {
                let plan = file::print(&plan(facts, &stages.stages));
                (command(facts, FILE), Some(plan), stages.prediction)
            }
        };
        Experiment {
            question,
            command,
            plan,
            prediction,
        }
    }
}

impl StageFacts<'_> {
    /// Stages for an experiment, none yet.
    pub(crate) fn stages(&self) -> Stages {
        Stages {
            own: self.workload().clone(),
            stages: Vec::new(),
            prediction: None,
        }
    }

    /// An experiment that begins with the stage as it was.
    pub(crate) fn as_it_was(&self) -> Stages {
        self.stages().and("as-it-was", |_| ())
    }
}

fn plan(facts: &StageFacts<'_>, stages: &[(&str, Workload)]) -> Plan {
    let mut planned = facts.run().plan.stages.iter();
    let own = planned.find(|planned| {
        planned.name == facts.stage.name && planned.settings == *facts.stage.settings
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
    Plan {
        name: "settle".to_owned(),
        about: format!("settles what limited {}", facts.stage.name),
        trials: TRIALS,
        time_ns: None,
        until: Until::default(),
        choose: Vec::new(),
        precondition: Vec::new(),
        stages: stages.collect(),
    }
}

/// What measures this target by another plan, with the leave to write that was
/// given before.
fn command(facts: &StageFacts<'_>, plan: &str) -> String {
    let run = facts.run();
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
