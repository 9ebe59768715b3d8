//! Hosts are missing from what was to be measured together.

use diskfacts_record::together::Merged;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let of = merged.hosts_expected;
    let here = merged.hosts_complete;
    if here >= of {
        return None;
    }
    let mut evidence: Vec<String> = merged
        .lost
        .iter()
        .map(|lost| {
            let from = lost.from_order.map_or_else(
                || "in all trials".to_owned(),
                |order| format!("from trial {order} of the run on"),
            );
            format!("{}: {}, missing {from}.", lost.host, lost.why)
        })
        .collect();
    if merged.hosts_unnamed > 0 {
        evidence.push(format!(
            "No run is here of {} of the {of} expected hosts.",
            merged.hosts_unnamed
        ));
    }
    Some(Finding {
        rule: String::new(),
        severity: Severity::Error,
        headline: format!("{} of {of} hosts lost", of - here),
        claim: format!(
            "{here} of {of} hosts did all that was agreed on, so the figures are not those of {of}"
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "The runs of the other hosts among those that are added up".to_owned(),
        remedy: "Fetch the runs that are missing, or look on these hosts why they ended \
                 (`diskfacts runs` there), and measure again with all of them; with fewer hosts, \
                 say so by --expect"
            .to_owned(),
        stages: Vec::new(),
    })
}
