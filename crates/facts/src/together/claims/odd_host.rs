//! A host is slower than all the others.

use crate::stats;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::together::{Merged, MergedStage};
use diskfacts_record::{Confidence, Finding, Severity};

/// With fewer hosts nobody knows what is usual.
const HOSTS_MIN: usize = 8;
/// Scaled median absolute deviations below the median (Iglewicz and Hoaglin, "How to Detect and
/// Handle Outliers", 1993, go by 3.5; this is a screen, after which one looks again).
const DEVIATIONS: f64 = 3.0;
/// Of a normal distribution: one standard deviation is so many median absolute deviations.
const MAD_OF_NORMAL: f64 = 1.4826;
/// What is less slower than this does not matter.
const SLOWER_MIN: f64 = 0.10;

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut evidence = Vec::new();
    let (mut hosts, mut stages) = (Vec::new(), Vec::new());
    for stage in &merged.stages {
        let label = stage_label(&stage.stage, &stage.settings);
        for (host, said) in odd(stage) {
            evidence.push(format!("{label}: {said}."));
            if !hosts.contains(&host) {
                hosts.push(host);
            }
            if !stages.contains(&label) {
                stages.push(label.clone());
            }
        }
    }
    if hosts.is_empty() {
        return None;
    }
    Some(Finding {
        rule: String::new(),
        severity: Severity::Warning,
        headline: format!("suspects among the hosts: {}", super::some(&hosts)),
        claim: format!(
            "Slower than the others by more than they differ among themselves: {}",
            super::some(&hosts)
        ),
        evidence,
        confidence: Confidence::Possible,
        refuted_by: "The same measurement at another time, in which they are as quick as the \
                     others: most of what one measurement shows alone is a disturbance"
            .to_owned(),
        remedy: "Measure again at another time; look at what is different on a host that is slow \
                 twice: its link, its path to the storage, its neighbours"
            .to_owned(),
        stages,
    })
}

/// The suspects of a stage, slowest first, with what was seen.
fn odd(stage: &MergedStage) -> Vec<(String, String)> {
    if stage.hosts.len() < HOSTS_MIN {
        return Vec::new();
    }
    let rates: Vec<f64> = stage.hosts.iter().map(|host| host.iops).collect();
    let (Some(median), Some(mad)) = (stats::median_of(rates.iter().copied()), stats::mad(&rates))
    else {
        return Vec::new();
    };
    let limit = (median - DEVIATIONS * MAD_OF_NORMAL * mad).min(median * (1.0 - SLOWER_MIN));
    let suspects = stage.hosts.iter().filter(|host| host.iops < limit);
    suspects
        .map(|host| {
            let said = format!(
                "{} did {:.1} operations per second, the median host {median:.1} with a median \
                 absolute deviation of {mad:.1}",
                host.host, host.iops
            );
            (host.host.clone(), said)
        })
        .collect()
}
