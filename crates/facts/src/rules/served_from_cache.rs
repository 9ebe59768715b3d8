//! Bytes that were meant to reach a device were served by the memory of this
//! host: the figure is one of the page cache.
//!
//! Counted: see the module that works out the layers. What is missing is then
//! laid to one cause, the most specific that the evidence allows. Stages that
//! are meant to be cached are left out; that buffered I/O stays in the page
//! cache is a note. Shares up to 2 % are left to rounding, to pages that were
//! read for other reasons and to I/O under way when a window closed.

mod cause;

use super::{Context, names};
use crate::words::{percent, stage_list};
use cause::{Case, Cause};
use diskfacts_record::Finding;

pub(super) const NAME: &str = "served-from-cache";

/// Share of the bytes from which on it is a finding.
pub(crate) const SHARE: f64 = 0.02;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let cases: Vec<Case<'_>> = context
        .doing_io()
        .filter(|(_, figures)| figures.layers.page_cache > SHARE)
        .filter_map(|(stage, figures)| cause::of(context, stage, figures))
        .collect();
    let mut reasons: Vec<&Cause> = Vec::new();
    for case in &cases {
        if !reasons.contains(&&case.cause) {
            reasons.push(&case.cause);
        }
    }
    reasons
        .into_iter()
        .map(|cause| {
            let same: Vec<&Case<'_>> = cases.iter().filter(|c| c.cause == *cause).collect();
            finding(context, cause, &same)
        })
        .collect()
}

/// `37 % of the bytes`, or `between 5 % and 40 % of the bytes`.
fn shares(cases: &[&Case<'_>]) -> String {
    let low = cases.iter().map(|c| c.share).fold(1.0, f64::min);
    let high = cases.iter().map(|c| c.share).fold(0.0, f64::max);
    let (low, high) = (percent(low), percent(high));
    if low == high {
        format!("{low} of the bytes")
    } else {
        format!("Between {low} and {high} of the bytes")
    }
}

fn finding(context: &Context<'_>, cause: &Cause, cases: &[&Case<'_>]) -> Finding {
    let stages = names(cases.iter().map(|case| case.stage.name));
    let subject = format!("{} of {}", shares(cases), stage_list(&stages));
    Finding {
        rule: NAME.into(),
        severity: cause.severity(),
        headline: cause.headline(&shares(cases)),
        claim: cause.claim(context, &subject),
        evidence: cases
            .iter()
            .flat_map(|case| case.evidence(context))
            .collect(),
        confidence: cause.confidence(),
        refuted_by: cause.refuted_by().into(),
        remedy: cause.remedy(context, cases),
        stages,
    }
}

#[cfg(test)]
mod tests;
