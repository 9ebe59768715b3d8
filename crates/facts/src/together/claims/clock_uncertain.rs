//! It is not known well enough whether hosts began together.

use diskfacts_plan::plan::stage_label;
use diskfacts_plan::units::show_duration;
use diskfacts_record::together::{LATE_SHARE, Merged};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) fn claim(merged: &Merged) -> Option<Finding> {
    let mut stages = Vec::new();
    let mut worst: Option<(f64, u64, u64)> = None;
    for stage in &merged.stages {
        for trial in stage.trials.iter().filter(|trial| trial.hosts > 1) {
            let share = trial.clock_error_ns as f64 / trial.length_ns.max(1) as f64;
            if share > LATE_SHARE {
                stages.push(stage_label(&stage.stage, &stage.settings));
                if worst.is_none_or(|(most, ..)| share > most) {
                    worst = Some((share, trial.clock_error_ns, trial.length_ns));
                }
            }
        }
    }
    let (share, error_ns, length_ns) = worst?;
    stages.sort_unstable();
    stages.dedup();
    Some(Finding {
        rule: String::new(),
        severity: Severity::Warning,
        headline: "the clocks are not known well enough".to_owned(),
        claim: format!(
            "By their clocks two hosts may have begun {} apart without anybody seeing it, {:.1} % \
             of a trial",
            show_duration(error_ns),
            share * 100.0
        ),
        evidence: vec![format!(
            "The clocks of two hosts may be off by {} together; the trial lasts {}.",
            show_duration(error_ns),
            show_duration(length_ns)
        )],
        confidence: Confidence::Possible,
        refuted_by: "A smaller bound for the clocks: root delay and dispersion of `chronyc \
                     tracking`"
            .to_owned(),
        remedy: "Let chrony keep the clocks of all hosts from one near server, make the trials \
                 longer (--time), or state a smaller error that is known (--clock-error)"
            .to_owned(),
        stages,
    })
}
