//! A plan: which stages to run, how often, in the words of its file.

use crate::precondition::Precondition;
use crate::share::Share;
use crate::workload::{Stop, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A named list of stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Lower-case letters, digits and `-`; the name it is called by.
    pub name: String,
    /// One sentence: what the plan is for.
    pub about: String,
    /// How often each stage is executed, interleaved with the others, at least
    /// once. Three or more are needed before a spread can be stated.
    pub trials: u32,
    /// Nanoseconds that all of it may take, unless the command says otherwise.
    #[serde(default)]
    pub time_ns: Option<u64>,
    /// Until when stages are repeated beyond `trials`.
    #[serde(default)]
    pub until: Until,
    /// What is done on the target before the first trial, in this order.
    #[serde(default)]
    pub precondition: Vec<Precondition>,
    /// The stages, in the order in which they are reported.
    pub stages: Vec<Stage>,
}

/// Until when a stage is repeated beyond the trials of its plan: until all that is
/// asked for here holds, its trials are as many as allowed, or the time is over. Nothing
/// is asked for by default, and each stage has the trials of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Until {
    /// Half of the 95 % interval of the median rate is at most this share of it.
    #[serde(default)]
    pub precision: Option<Share>,
    /// The last five trials are steady by the rule of SNIA.
    #[serde(default)]
    pub steady: bool,
    /// Trials of a stage, at most; [`Until::TRIALS_MAX`] when absent.
    #[serde(default)]
    pub trials_max: Option<u32>,
}

impl Until {
    /// Trials of a stage, at most, when the plan does not say.
    pub const TRIALS_MAX: u32 = 100;

    /// Whether anything is asked for that the number of trials does not say.
    pub fn is_adaptive(&self) -> bool {
        self.precision.is_some() || self.steady
    }

    /// The precision as a number: 0.03 for 3 %.
    pub fn precision(&self) -> Option<f64> {
        const WHOLE: u64 = 1_000_000_000;
        self.precision
            .map(|share| share.of(WHOLE) as f64 / WHOLE as f64)
    }
}

/// One workload of a plan, with the name it is reported under.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Unique within the plan, but for the cells of a matrix, which share it.
    pub name: String,
    /// What the stage shows, in a few words.
    pub about: String,
    /// What to do.
    pub workload: Workload,
    /// Which cell of a matrix this is: what was varied, by name. Empty for a
    /// stage that is no matrix.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What the kernel is to be set to around its trials, by the names and with the
    /// values of [`kernel`](crate::kernel).
    #[serde(default)]
    pub kernel: BTreeMap<String, String>,
    /// How much the stage does when it may take as long as it needs. A stage
    /// that has it also ends at its share of the time otherwise.
    #[serde(default)]
    pub full: Option<Amount>,
}

/// How much to read or write: up to the first of these that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Amount {
    /// Bytes, over all streams.
    pub bytes: Option<u64>,
    /// Operations, over all streams.
    pub operations: Option<u64>,
    /// As [`Stop::fraction`].
    #[serde(default)]
    pub fraction: Option<u64>,
}

/// The name of a stage with its settings where there are any:
/// `synced (block_size=4KiB, mode=FSYNC)`.
pub fn stage_label(name: &str, settings: &BTreeMap<String, String>) -> String {
    if settings.is_empty() {
        return name.to_owned();
    }
    let settings: Vec<String> = settings
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    format!("{name} ({})", settings.join(", "))
}

impl Stage {
    /// The name, with the settings where there are any:
    /// `synced (block_size=4KiB, mode=FSYNC)`.
    pub fn label(&self) -> String {
        stage_label(&self.name, &self.settings)
    }

    /// Whether its trials share the time of the run: it has no stop rule of its
    /// own, or is to be done in full only when asked for.
    pub fn shares_time(&self) -> bool {
        self.workload.stop == Stop::default() || self.full.is_some()
    }
}

impl Plan {
    /// Gives the stages that have one their full amount, whatever time it takes;
    /// answers whether there was any.
    pub fn in_full(&mut self) -> bool {
        let mut any = false;
        for stage in &mut self.stages {
            if let Some(full) = stage.full.take() {
                stage.workload.stop = Stop {
                    time_ns: None,
                    bytes: full.bytes,
                    operations: full.operations,
                    fraction: full.fraction,
                };
                any = true;
            }
        }
        any
    }

    /// The stage of this name; the first cell of a matrix.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}
