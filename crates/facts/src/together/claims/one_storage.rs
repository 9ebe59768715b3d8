//! All hosts measured one filesystem or device.

use diskfacts_record::together::Merged;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut hosts = merged.hosts.iter();
    let first = hosts.next()?.storage.as_deref()?;
    if merged.hosts.len() < 2 || !hosts.all(|host| host.storage.as_deref() == Some(first)) {
        return None;
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
        evidence: vec![format!("Each host knows it as {first}.")],
        confidence: Confidence::Certain,
        refuted_by: "A name that two servers or devices have".to_owned(),
        remedy: "Measure with one host alone, too: what it gets then tells its limit from that \
                 of the storage"
            .to_owned(),
        stages: Vec::new(),
    })
}
