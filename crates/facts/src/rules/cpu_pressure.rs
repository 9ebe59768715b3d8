//! Tasks waited for a processor while a trial ran: latencies hold that wait.

use super::{Context, names};
use crate::words::{measure, percent, stage_list, worst};
use diskfacts_record::{Confidence, Finding, Severity, Trial};

pub(super) const NAME: &str = "cpu-pressure";

/// Share of a trial's time from which on it is a note, and a warning. The
/// kernel's own threads wait for each other on a small machine, so a few
/// percent are always there.
const NOTE: f64 = 0.2;
const WARNING: f64 = 0.5;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    for (stage, _) in context.each() {
        let seconds: f64 = stage.trials.iter().map(|t| t.seconds).sum();
        let waited: Option<u64> = stage.trials.iter().map(|t| waited_ns(t)).sum();
        let Some(share) = waited.map(|ns| ns as f64 / 1e9 / seconds) else {
            continue;
        };
        if share.is_finite() && share > NOTE {
            most = most.max(share);
            stages.push(stage.name);
            let told = format!(
                "{}: some task waited for a processor during {} of the time.",
                stage.label(),
                percent(share.min(1.0))
            );
            evidence.push((share, told));
        }
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: if most > WARNING {
            Severity::Warning
        } else {
            Severity::Note
        },
        claim: format!(
            "Tasks waited for a processor during up to {} of {}: latencies hold some of that \
             wait.",
            percent(most.min(1.0)),
            stage_list(&stages)
        ),
        evidence: worst(evidence),
        confidence: Confidence::Possible,
        refuted_by: "The same latencies while the first line of `/proc/pressure/cpu` stays near 0."
            .into(),
        remedy: format!(
            "Find what else runs with `top`, and in a container its limit with `cat \
             /sys/fs/cgroup/cpu.max`; then type `{}`.",
            measure(context.run)
        ),
        stages,
    }]
}

fn waited_ns(trial: &Trial) -> Option<u64> {
    trial.evidence.pressure.map(|pressure| pressure.cpu_some_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    fn waited(run: &mut diskfacts_record::Run, ms: u64) {
        each(run, "random-read-qd32", |t| {
            t.evidence.pressure.as_mut().unwrap().cpu_some_ns = ms * 1_000_000;
        });
    }

    #[test]
    fn a_third_is_a_note_and_two_thirds_are_a_warning() {
        let mut run = testing::healthy();
        waited(&mut run, 330);
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence[0].contains("33 %"), "{finding:?}");
        waited(&mut run, 660);
        assert_eq!(only(&run, NAME).severity, Severity::Warning);
    }

    #[test]
    fn a_fifth_and_an_unknown_pressure_are_left_alone() {
        let mut run = testing::healthy();
        waited(&mut run, 190);
        testing::silent(&run);
        each(&mut run, "random-read-qd32", |t| t.evidence.pressure = None);
        testing::silent(&run);
    }
}
