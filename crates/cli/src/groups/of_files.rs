//! Groups of a fleet, from its Parquet files.

use super::NamedGroup;
use crate::commands::fleet::failure;
use crate::exit::Failure;
use diskfacts_facts::compare::Demanded;
use diskfacts_facts::fleet::{GroupOfFleet, Options, Sample, compare_groups};
use diskfacts_fleet::Fleet;
use diskfacts_record::Comparison;
use std::collections::BTreeSet;

/// Names of groups that an error lists.
const GROUPS_MAX: usize = 12;

pub(super) fn compared(
    a: &NamedGroup,
    b: &NamedGroup,
    same_within: f64,
    demanded: &[Demanded],
) -> Result<Comparison, Failure> {
    let (of_a, of_b) = (samples(a)?, samples(b)?);
    let side = |named: &NamedGroup, samples| GroupOfFleet {
        given: named.given.clone(),
        group: named.group.clone(),
        samples,
    };
    let sides = (side(a, &of_a), side(b, &of_b));
    let options = Options::default();
    Ok(compare_groups(
        &sides.0,
        &sides.1,
        same_within,
        demanded,
        &options,
    ))
}

/// All of a group.
fn samples(named: &NamedGroup) -> Result<Vec<Sample>, Failure> {
    let fleet = Fleet::open(&named.folder).map_err(failure)?;
    let runs = fleet.runs(Some(&named.group)).map_err(failure)?;
    if runs.is_empty() {
        return Err(unknown(named, &fleet.groups().map_err(failure)?));
    }
    fleet.samples(&runs.all(), None).map_err(failure)
}

fn unknown(named: &NamedGroup, groups: &BTreeSet<String>) -> Failure {
    let mut known: Vec<String> = groups.iter().take(GROUPS_MAX).cloned().collect();
    let more = groups.len().saturating_sub(GROUPS_MAX);
    if more > 0 {
        known.push(format!("{more} more"));
    }
    Failure::wrong_call(format!(
        "{} has no run of the group '{}'; {}",
        named.folder.display(),
        named.group,
        if known.is_empty() {
            "its runs are of none: `diskfacts measure --group NAME` says one".to_owned()
        } else {
            format!("its groups are {}", known.join(", "))
        }
    ))
}
