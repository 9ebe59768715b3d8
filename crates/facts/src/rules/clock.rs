//! The clock that latencies were measured with cannot be trusted.

use super::{Context, names};
use crate::words::{count, shell, stage_list};
use diskfacts_plan::units::three_digits;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "clock";

/// Drift from which on it is a finding, parts per million: the most by which
/// the kernel slews its own clock (`MAXFREQ` of `adjtimex(2)`), so two honest
/// clocks are not further apart.
const DRIFT_PPM: f64 = 500.0;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut source = "";
    for (stage, _) in context.each() {
        let backwards = stage.sum(|t| t.evidence.clock.backwards);
        let drift = stage
            .trials
            .iter()
            .filter_map(|t| t.evidence.clock.drift_ppm)
            .filter(|ppm| ppm.is_finite())
            .map(f64::abs)
            .fold(0.0, f64::max);
        if backwards == 0 && drift <= DRIFT_PPM {
            continue;
        }
        stages.push(stage.name);
        source = &stage.trials[0].evidence.clock.source;
        if backwards > 0 {
            evidence.push(format!(
                "{}: {} seemed to end before {} began.",
                stage.label(),
                count(backwards, "operation"),
                if backwards == 1 { "it" } else { "they" }
            ));
        }
        if drift > DRIFT_PPM {
            evidence.push(format!(
                "{}: it was up to {} parts per million off CLOCK_MONOTONIC.",
                stage.label(),
                three_digits(drift)
            ));
        }
    }
    if stages.is_empty() {
        return Vec::new();
    }
    if let Some(kernel) = &context.run.machine.clock_source {
        evidence.push(format!(
            "The kernel itself counts time by {}.",
            shell(kernel)
        ));
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: format!("the clock ({source}) ran unevenly"),
        claim: format!(
            "The clock ({source}) ran unevenly during {}: its latencies and rates may be wrong.",
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "A run in which the two clocks agree and no operation ends before it began."
            .into(),
        remedy: "Type `cat /sys/devices/system/clocksource/clocksource0/current_clocksource`: if \
                 it is not `tsc`, the kernel does not trust the processor's counter either, and \
                 `dmesg | grep -i tsc` says why."
            .into(),
        stages,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    #[test]
    fn time_that_runs_backwards_or_away_is_found() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.evidence.clock.backwards = 2;
        });
        each(&mut run, "log-write", |t| {
            t.evidence.clock.drift_ppm = Some(-900.0);
        });
        let finding = only(&run, NAME);
        assert_eq!(finding.stages, ["random-read-qd1", "log-write"]);
        assert!(
            finding.evidence[0].contains("10 operations seemed"),
            "{finding:?}"
        );
        assert!(
            finding.evidence[1].contains("900 parts per million"),
            "{finding:?}"
        );
    }

    #[test]
    fn the_drift_of_an_honest_clock_is_left_alone() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |t| {
            t.evidence.clock.drift_ppm = Some(499.0);
        });
        testing::silent(&run);
    }
}
