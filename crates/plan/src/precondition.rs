//! Work that is done on the target before the first trial, to bring it into the state
//! in which it is to be measured: flash that was written full and then anywhere works
//! otherwise than flash that is empty.

use crate::plan::Stage;
use serde::{Deserialize, Serialize};

/// Work that is done before the first trial, once or until it is steady. It takes what
/// time it needs, beside that of the plan, and is in no figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    /// What is done in one round. Its name differs from those of the measured stages.
    pub stage: Stage,
    /// Rounds that are done in any case, 1 or more.
    pub rounds: u32,
    /// Whether it is repeated until the last five rounds are steady by the rule of SNIA.
    #[serde(default)]
    pub steady: bool,
    /// Rounds at most, where it is repeated; [`Precondition::ROUNDS_MAX`] when absent.
    #[serde(default)]
    pub rounds_max: Option<u32>,
}

impl Precondition {
    /// Rounds at most when the plan does not say: as many as SNIA's "Solid State Storage
    /// Performance Test Specification" gives a device to become steady.
    pub const ROUNDS_MAX: u32 = 25;

    /// Rounds that are looked at for whether they are steady.
    pub const ROUNDS_STEADY: u32 = 5;

    /// Rounds that are done at least.
    pub fn at_least(&self) -> u32 {
        if self.steady {
            self.rounds.max(Self::ROUNDS_STEADY)
        } else {
            self.rounds
        }
    }

    /// Rounds that are done at most.
    pub fn at_most(&self) -> u32 {
        let least = self.at_least();
        if self.steady {
            self.rounds_max.unwrap_or(Self::ROUNDS_MAX).max(least)
        } else {
            least
        }
    }
}
