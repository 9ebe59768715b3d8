//! Hosts did not begin together.

use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::show_duration;
use diskfacts_record::together::{LATE_SHARE, Merged, VoidKind, VoidTrial};
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
    for host in &merged.hosts {
        for trial in host.void.iter().filter(|trial| is_late(trial)) {
            evidence.push(format!(
                "Trial {} of {} is void on {}: {}.",
                trial.number, trial.stage, host.host, trial.why
            ));
            stages.push(trial.stage.clone());
        }
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

/// Whether it is void because it would not have begun with the others: a clock that was set, or
/// Ctrl-Z, says nothing of that.
fn is_late(trial: &VoidTrial) -> bool {
    matches!(trial.kind, Some(VoidKind::Late | VoidKind::Unprepared))
}
