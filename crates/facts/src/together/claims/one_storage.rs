//! All hosts measured one filesystem or device.

use diskfacts_record::together::{Merged, MergedStage};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut hosts = merged.hosts.iter();
    let first = hosts.next()?.storage.as_deref()?;
    if merged.hosts.len() < 2 || !hosts.all(|host| host.storage.as_deref() == Some(first)) {
        return None;
    }
    let mut evidence = vec![format!("Each host knows it as {first}.")];
    let is_served = |stage: &MergedStage| stage.layers.server > 0.0;
    if merged.stages.iter().any(is_served) {
        evidence.push(
            "How much of it came from the memory of its server, and not from its disks, no host \
             sees: a server with more memory than all hosts' files together need not have read \
             anything from a disk."
                .to_owned(),
        );
    }
    Some(Finding {
        rule: String::new(),
        severity: Severity::Note,
        headline: "one storage behind all hosts".to_owned(),
        claim: format!(
            "All {} hosts measured one storage, {first}: the sum is what it gives all of them, \
             and the figure of a host is its share",
            merged.hosts.len()
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "A name that two servers or devices have".to_owned(),
        remedy: "Measure with one host alone, too: what it gets then tells its limit from that \
                 of the storage"
            .to_owned(),
        stages: Vec::new(),
    })
}
