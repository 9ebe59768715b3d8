//! Measurements that would settle a question, as commands and plan files.

use crate::stage_facts::StageFacts;
use crate::words::{measure, measure_by};
use diskfacts_plan::{Plan, Stage, SyncMode, Until, Workload, file};
use diskfacts_record::{Experiment, Prediction, Quantity, Side};
use std::collections::BTreeMap;

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
    pub(crate) fn at_least(self, pair: Pair, quantity: Quantity, ratio: f64) -> Self {
        self.predicts(pair, quantity, Side::AtLeast, ratio)
    }

    /// Decided by whether it has at most so many times the figure of the second.
    pub(crate) fn at_most(self, pair: Pair, quantity: Quantity, ratio: f64) -> Self {
        self.predicts(pair, quantity, Side::AtMost, ratio)
    }

    /// What is predicted of the first of two stages.
    fn predicts(mut self, pair: Pair, quantity: Quantity, side: Side, ratio: f64) -> Self {
        let (changed, control) = pair;
        self.prediction = Some(Prediction {
            control: control.to_owned(),
            changed: changed.to_owned(),
            quantity,
            side,
            ratio,
        });
        self
    }

    /// Decided by whether the first of two stages is without what takes this share of the
    /// second's time: half of what that would gain decides, because something else may take
    /// its place. By nothing where that is too little to be seen.
    pub(crate) fn without(self, pair: Pair, quantity: Quantity, share: f64) -> Self {
        if (SHARE_MIN..=1.0).contains(&share) {
            self.at_least(pair, quantity, 1.0 / (1.0 - share / 2.0))
        } else {
            self
        }
    }
}

impl From<Stages> for Settling {
    fn from(stages: Stages) -> Self {
        Self::Stages(Box::new(stages))
    }
}

impl Settling {
    /// As a command, with a plan where it needs one.
    pub(crate) fn experiment(self, facts: &StageFacts<'_>, question: String) -> Experiment {
        let run = facts.run();
        let (command, plan, prediction) = match self {
            Self::Again => (measure(run), None, None),
            Self::BuiltIn(plan) => (measure_by(run, plan), None, None),
            Self::Stages(stages) => {
                let plan = file::print(&plan(facts, &stages.stages));
                (measure_by(run, FILE), Some(plan), stages.prediction)
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

    /// Reads of the smallest span that no cache holds whole: the arm stands nearly still,
    /// and the platter turns as before.
    pub(crate) fn near(&self) -> Stages {
        let block = self.workload().block_size.max(1);
        let span = (512_u64 << 20).min(self.run().target.size_bytes) / block * block;
        self.stages()
            .and("anywhere", |w| w.sync = SyncMode::None)
            .and("near", |w| {
                w.sync = SyncMode::None;
                w.span = Some(span.max(block));
            })
            .and("anywhere-qd8", |w| {
                w.sync = SyncMode::None;
                w.queue_depth = 8;
            })
    }

    /// An experiment that begins with the stage as it was.
    pub(crate) fn as_it_was(&self) -> Stages {
        self.stages().and("as-it-was", |_| ())
    }
}

/// Four times the block, up to 8 MiB.
pub(crate) fn larger_block(block: u64) -> u64 {
    let block = block.max(1);
    (block * 4).clamp(block, (8 << 20).max(block))
}

fn plan(facts: &StageFacts<'_>, stages: &[(&str, Workload)]) -> Plan {
    let own = facts.planned();
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
