//! Settings of the kernel that a trial ran under because its stage asked for them.

use serde::{Deserialize, Serialize};

/// A setting of the kernel that was asked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingInForce {
    /// The device, by its name in the kernel; absent for one of the machine.
    pub device: Option<String>,
    /// Its name: `read_ahead_kb`.
    pub name: String,
    /// What was asked for.
    pub asked: String,
    /// What was in force before the run; absent where the setting did not exist then,
    /// as those of a scheduler that was not in use.
    pub before: Option<String>,
    /// What was in force in the trial, read back; absent when it could not be read.
    pub in_force: Option<String>,
    /// Why what is in force is not what was asked for, or what else is to be known; a
    /// sentence without its full stop.
    pub note: Option<String>,
}
