//! Each host measured a device of its own.

use diskfacts_record::together::Merged;
use diskfacts_record::{Confidence, Finding, Severity};
use std::collections::BTreeSet;

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let hosts = &merged.hosts;
    let names: Option<BTreeSet<&str>> = hosts
        .iter()
        .map(|host| host.storage.as_deref().filter(|_| host.storage_is_unique))
        .collect();
    let names = names?;
    if hosts.len() < 2 || names.len() < 2 {
        return None;
    }
    let storages: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Some(Finding {
        rule: String::new(),
        severity: Severity::Note,
        headline: format!("{} storages, not one system", names.len()),
        claim: format!(
            "The {} hosts measured {} storages: their sum is no figure of one system",
            hosts.len(),
            names.len()
        ),
        evidence: vec![format!("They are {}.", super::some(&storages))],
        confidence: Confidence::Certain,
        refuted_by: "A storage below these devices that all of them lie on: a hypervisor or an \
                     array that shows a serial number for each volume"
            .to_owned(),
        remedy: "Look at the hosts one by one; name a target that all of them share to measure \
                 one system"
            .to_owned(),
        stages: Vec::new(),
    })
}
