//! A plan: which stages to run, how often, in the words of its file.

use crate::workload::Workload;
use serde::{Deserialize, Serialize};

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
    /// The stages, in the order in which they are reported.
    pub stages: Vec<Stage>,
}

/// One workload of a plan, with the name it is reported under.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Unique within the plan.
    pub name: String,
    /// What the stage shows, in a few words.
    pub about: String,
    /// What to do.
    pub workload: Workload,
}

impl Plan {
    /// The stage of this name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}
