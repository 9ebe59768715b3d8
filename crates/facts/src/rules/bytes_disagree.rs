//! The devices moved more or fewer bytes than were issued, by more than 2 %,
//! for a reason that is not the page cache and not the I/O of others.
//!
//! More: read-ahead fetched what was not asked for; the filesystem wrote its
//! journal beside the data; a RAID wrote copies or parity. Fewer: compression,
//! or holes below a loop device.

mod kind;

use super::{Context, names};
use diskfacts_record::Finding;
use kind::{Case, Kind};

pub(super) const NAME: &str = "bytes-disagree";

/// Difference from which on it is a finding.
pub(super) const SHARE: f64 = 0.02;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let cases: Vec<Case<'_>> = context
        .doing_io()
        .flat_map(|(stage, figures)| kind::of(context, stage, figures))
        .collect();
    Kind::ALL
        .into_iter()
        .filter_map(|kind| {
            let same: Vec<&Case<'_>> = cases.iter().filter(|c| c.kind == kind).collect();
            (!same.is_empty()).then(|| finding(context, kind, &same))
        })
        .collect()
}

fn finding(context: &Context<'_>, kind: Kind, cases: &[&Case<'_>]) -> Finding {
    let stages = names(cases.iter().map(|c| c.stage.name));
    Finding {
        rule: NAME.into(),
        severity: kind.severity(cases),
        headline: kind.headline(cases),
        claim: kind.claim(cases, &stages),
        evidence: cases.iter().map(|c| c.evidence.clone()).collect(),
        confidence: kind.confidence(),
        refuted_by: kind.refuted_by().into(),
        remedy: kind.remedy(context),
        stages,
    }
}

#[cfg(test)]
mod tests;
