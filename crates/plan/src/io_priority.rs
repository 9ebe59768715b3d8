//! The I/O priority of the threads that do a workload, as Linux has it:
//! `ioprio_set(2)`, `ionice(1)`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Whose requests an I/O scheduler that looks at priorities sends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum IoPriority {
    /// Before all others; the level is 0 (first) to 7. Needs a privilege.
    Realtime(u8),
    /// As everything else that asks for nothing, which has level 4; 0 (first) to 7.
    BestEffort(u8),
    /// Only when nobody else wants the device.
    Idle,
}

/// The largest level, which comes last (`IOPRIO_NR_LEVELS`, kernel
/// `include/uapi/linux/ioprio.h`).
pub const LEVEL_MAX: u8 = 7;

impl fmt::Display for IoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Realtime(level) => write!(f, "realtime:{level}"),
            Self::BestEffort(level) => write!(f, "best-effort:{level}"),
            Self::Idle => f.write_str("idle"),
        }
    }
}

impl FromStr for IoPriority {
    type Err = String;

    /// Reads the word of a plan file: `realtime:0`, `best-effort:7`, `idle`.
    ///
    /// # Errors
    /// What it should be.
    fn from_str(text: &str) -> Result<Self, String> {
        let level = |level: &str| {
            let digit = level.parse::<u8>().ok()?;
            (level.len() == 1 && digit <= LEVEL_MAX).then_some(digit)
        };
        let found = match text.split_once(':') {
            None => (text == "idle").then_some(Self::Idle),
            Some(("realtime", of)) => level(of).map(Self::Realtime),
            Some(("best-effort", of)) => level(of).map(Self::BestEffort),
            Some(_) => None,
        };
        found.ok_or_else(|| {
            format!(
                "it should be \"realtime:0\" to \"realtime:{LEVEL_MAX}\", \"best-effort:0\" to \
                 \"best-effort:{LEVEL_MAX}\" or \"idle\", not \"{text}\"; 0 comes first"
            )
        })
    }
}

impl TryFrom<String> for IoPriority {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<IoPriority> for String {
    fn from(priority: IoPriority) -> Self {
        priority.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_priority_reads_back_as_it_is_written_and_nothing_else_is_one() {
        let levels = 0..=LEVEL_MAX;
        let all = levels
            .flat_map(|level| [IoPriority::Realtime(level), IoPriority::BestEffort(level)])
            .chain([IoPriority::Idle]);
        for priority in all {
            assert_eq!(priority.to_string().parse(), Ok(priority));
            let json = serde_json::to_string(&priority).unwrap();
            assert_eq!(json, format!("\"{priority}\""));
            assert_eq!(serde_json::from_str::<IoPriority>(&json).unwrap(), priority);
        }
        for wrong in [
            "",
            "realtime",
            "realtime:8",
            "realtime:+1",
            "realtime:01",
            "best-effort:",
            "idle:0",
            "none:0",
            "Idle",
        ] {
            let said = wrong.parse::<IoPriority>().expect_err(wrong);
            assert!(said.contains(&format!("not \"{wrong}\"")), "{said}");
        }
    }
}
