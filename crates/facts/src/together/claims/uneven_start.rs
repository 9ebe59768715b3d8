//! Hosts did not begin together.

use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::show_duration;
use diskfacts_record::together::{LATE_SHARE, Merged, MergedHost};
use diskfacts_record::{Confidence, Finding, Severity};

/// Trials that are named one by one.
const NAMED: usize = 6;

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    for stage in &merged.stages {
        let label = stage_label(&stage.stage, &stage.settings);
        for trial in &stage.trials {
            let late_ns_max = trial.length_ns as f64 * LATE_SHARE;
            if trial.start_spread_ns as f64 > late_ns_max {
                evidence.push(format!(
                    "Trial {} of {label}: {} between the first start and the last, of {}.",
                    trial.number,
                    show_duration(trial.start_spread_ns),
                    show_duration(trial.length_ns)
                ));
                stages.push(label.clone());
            }
        }
    }
    let void = |host: &MergedHost| {
        let host_name = host.host.clone();
        let void = host.void.iter();
        void.map(move |trial| {
            format!(
                "Trial {} of {} is void on {host_name}: {}.",
                trial.number, trial.stage, trial.why
            )
        })
        .collect::<Vec<_>>()
    };
    for host in &merged.hosts {
        evidence.extend(void(host));
        stages.extend(host.void.iter().map(|trial| trial.stage.clone()));
    }
    if evidence.is_empty() {
        return None;
    }
    let more = evidence.len().saturating_sub(NAMED);
    evidence.truncate(NAMED);
    if more > 0 {
        evidence.push(format!("And {more} more."));
    }
    stages.sort_unstable();
    stages.dedup();
    Some(Finding {
        rule: String::new(),
        severity: Severity::Warning,
        headline: "not all hosts began together".to_owned(),
        claim: "Not all hosts began each trial within a hundredth of its length, so part of \
                them ran without the load of the others, or is left out"
            .to_owned(),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Clocks that are off by more than they say (`chronyc tracking` on each host)"
            .to_owned(),
        remedy: "Give more time between trials (--gap), start later (--start-at), or take what \
                 else the late hosts do off them"
            .to_owned(),
        stages,
    })
}
