//! What is not sound about a device or a filesystem: a figure of a degraded or
//! rebuilding array is not that of the same array when it is sound.

use crate::evidence::Unseen;
use serde::{Deserialize, Serialize};

/// In which way something is not sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpairmentKind {
    /// It does not serve, or does not take writes.
    Failed,
    /// It serves without some of its members, copies or paths.
    Degraded,
    /// It is whole, on a spare that took the place of a member.
    MemberFailed,
    /// A member is being filled again.
    Rebuilding,
    /// Copies or parity are being made equal, as after a crash or when it is new.
    Resyncing,
    /// It is being moved to another layout or number of members.
    Reshaping,
    /// All of it is being read to see whether it agrees.
    Checking,
    /// I/O is held back until it is resumed.
    Suspended,
    /// It was there when the run began, and the kernel has it no more, or without a medium.
    Gone,
}

impl ImpairmentKind {
    /// In words, behind "is".
    pub fn words(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Degraded => "degraded",
            Self::MemberFailed => "standing on a spare",
            Self::Rebuilding => "rebuilding",
            Self::Resyncing => "resyncing",
            Self::Reshaping => "being reshaped",
            Self::Checking => "being checked",
            Self::Suspended => "suspended",
            Self::Gone => "gone",
        }
    }

    /// Whether it stands without the redundancy that it was made with, or does not
    /// stand at all: data is at risk. The others only take time of the devices.
    pub fn at_risk(self) -> bool {
        matches!(self, Self::Failed | Self::Degraded | Self::Rebuilding)
    }
}

/// One thing that is not sound, as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impairment {
    /// In which way.
    pub kind: ImpairmentKind,
    /// What of it: `1 of its 4 members is missing`.
    pub what: String,
    /// Who says so, and what it says: `md/degraded is 1`.
    pub source: String,
}

/// What was not sound when the run ended: an array loses a member, or is done with
/// rebuilding, while it is measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HealthAfter {
    /// What was not sound, from the top; empty when all that could be seen was.
    pub impaired: Vec<ImpairedAfter>,
    /// What could be seen when the run began and not when it ended, and why.
    pub unseen: Vec<Unseen>,
}

/// One thing that was not sound when the run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpairedAfter {
    /// The filesystem's mount point, or the device's kernel name.
    pub name: String,
    /// What of it.
    #[serde(flatten)]
    pub found: Impairment,
}

impl HealthAfter {
    /// What was not sound, with its name.
    pub fn impairments(&self) -> impl Iterator<Item = (&str, &Impairment)> {
        let impaired = self.impaired.iter();
        impaired.map(|after| (after.name.as_str(), &after.found))
    }
}

/// Something that was not sound when the run began, when it ended, or both times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsound<'a> {
    /// The filesystem's mount point, or the device's kernel name.
    pub name: &'a str,
    /// In which way.
    pub kind: ImpairmentKind,
    /// As it was when the run began.
    pub before: Option<&'a Impairment>,
    /// As it was when the run ended.
    pub after: Option<&'a Impairment>,
    /// Whether anybody looked when the run ended, and could see this.
    pub looked_again: bool,
}

impl Unsound<'_> {
    /// When, behind what it is: empty where it was so when the run began, and nothing else
    /// is known.
    pub fn when(&self) -> &'static str {
        match (self.before, self.after) {
            (Some(_), None) if self.looked_again => " when the run began, and not when it ended",
            (None, _) => " when the run ended, and not when it began",
            _ => "",
        }
    }
}

/// Lays what was not sound when a run began beside what was not when it ended.
pub(crate) fn over_a_run<'a>(
    before: &[(&'a str, &'a Impairment)],
    health_after: Option<&'a HealthAfter>,
) -> Vec<Unsound<'a>> {
    let after: Vec<(&str, &Impairment)> = health_after
        .iter()
        .flat_map(|after| after.impairments())
        .collect();
    let could_see = |name: &str| {
        let hidden = |unseen: &Unseen| {
            let rest = unseen.what.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(' '))
        };
        health_after.is_some_and(|after| !after.unseen.iter().any(hidden))
    };
    let find = |among: &[(&'a str, &'a Impairment)], (name, found): (&str, &Impairment)| {
        let same = among
            .iter()
            .find(|(other, one)| *other == name && one.kind == found.kind);
        same.map(|(_, found)| *found)
    };
    let began = before.iter().map(|&(name, found)| Unsound {
        name,
        kind: found.kind,
        before: Some(found),
        after: find(&after, (name, found)),
        looked_again: could_see(name),
    });
    let new = after.iter().filter(|known| find(before, **known).is_none());
    let new = new.map(|&(name, found)| Unsound {
        name,
        kind: found.kind,
        before: None,
        after: Some(found),
        looked_again: true,
    });
    began.chain(new).collect()
}
