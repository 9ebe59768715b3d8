//! Groups of a fleet, from its Parquet files.

use super::NamedGroup;
use crate::commands::fleet::failure;
use crate::exit::Failure;
use diskfacts_facts::compare::Demanded;
use diskfacts_facts::fleet::{GroupOfFleet, Options, Sample, compare_groups};
use diskfacts_fleet::{Fleet, SharedNames};
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
    let open = |named: &NamedGroup| Fleet::open(&named.folder).map_err(failure);
    let (fleet_a, fleet_b) = (open(a)?, open(b)?);
    let is_one = a.folder == b.folder;
    let both = std::iter::once(&fleet_a).chain((!is_one).then_some(&fleet_b));
    let shared = Fleet::shared_names(both).map_err(failure)?;
    let of_a = samples(&fleet_a, a, &shared)?;
    let of_b = samples(&fleet_b, b, &shared)?;
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

/// All of a group, of machines that are told apart under these names.
fn samples(
    fleet: &Fleet,
    named: &NamedGroup,
    shared: &SharedNames,
) -> Result<Vec<Sample>, Failure> {
    let runs = fleet.runs_told_apart(Some(&named.group), shared);
    let runs = runs.map_err(failure)?;
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
