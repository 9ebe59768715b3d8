//! Settings of the kernel's queue in front of a device, as commands.

use super::prelude::*;
use crate::simulated::edit_profile;
use crate::words::set_attribute;

/// How to set an attribute of a device (`queue/read_ahead_kb`): a command, or, of a
/// simulated disk, what to change under `[host]` in its profile.
pub(super) fn set(
    facts: &StageFacts<'_>,
    device: &BlockDevice,
    (attribute, value): (&str, &str),
    key: &str,
) -> String {
    edit_profile(facts.run(), &format!("set {key} under [host]")).unwrap_or_else(|| {
        let typed = set_attribute(Some(device), attribute, value);
        format!("{typed}.")
    })
}

/// How to take the scheduler of a device away.
pub(super) fn without_scheduler(facts: &StageFacts<'_>, device: &BlockDevice) -> String {
    let none = ("queue/scheduler", "none");
    set(facts, device, none, "scheduler = \"none\"")
}
