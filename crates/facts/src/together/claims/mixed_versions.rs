//! The hosts run different kernels.

use diskfacts_record::together::Merged;
use diskfacts_record::{Confidence, Finding, Severity};
use std::collections::BTreeMap;

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut kernels: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for host in &merged.hosts {
        if let Some(kernel) = &host.kernel {
            kernels.entry(kernel).or_default().push(host.host.clone());
        }
    }
    if kernels.len() < 2 {
        return None;
    }
    let evidence = kernels.iter().map(|(kernel, hosts)| {
        let number = hosts.len();
        format!("{kernel}: {number} of the hosts ({}).", super::some(hosts))
    });
    Some(Finding {
        rule: String::new(),
        severity: Severity::Note,
        headline: "the hosts run different kernels".to_owned(),
        claim: format!(
            "The hosts run {} different kernels, so what differs between them may be theirs",
            kernels.len()
        ),
        evidence: evidence.collect(),
        confidence: Confidence::Certain,
        refuted_by: "Hosts that differ as much within one kernel".to_owned(),
        remedy: "Compare hosts of one kernel with each other, or bring all to one".to_owned(),
        stages: Vec::new(),
    })
}
