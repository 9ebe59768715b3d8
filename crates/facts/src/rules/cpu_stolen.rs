//! The hypervisor gave processor time to others while this machine wanted it.

use super::{Context, names};
use crate::words::{measure_longer, percent, stage_list};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "cpu-stolen";

/// Share of all processors' time from which on it is a finding.
const SHARE: f64 = 0.05;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let cpus = f64::from(context.run.machine.cpus.max(1));
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    for (stage, _) in context.each() {
        let seconds: f64 = stage.trials.iter().map(|t| t.seconds).sum();
        let stolen: Option<u64> = stage.trials.iter().map(|t| t.evidence.cpu_steal_ns).sum();
        let Some(share) = stolen.map(|ns| ns as f64 / 1e9 / seconds / cpus) else {
            continue;
        };
        if share.is_finite() && share > SHARE {
            most = most.max(share);
            stages.push(stage.name);
            evidence.push(format!(
                "{}: {} of the processors' time was stolen.",
                stage.label(),
                percent(share.min(1.0))
            ));
        }
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: format!(
            "the hypervisor took up to {} of the CPU time",
            percent(most.min(1.0))
        ),
        claim: format!(
            "The hypervisor took up to {} of the processors' time during {}: rates and latencies \
             are those of a shared host.",
            percent(most.min(1.0)),
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "The same figures at a time when `st` in `vmstat 1` stays 0.".into(),
        remedy: format!(
            "Measure at another hour, or longer so that it averages out: `{}`.",
            measure_longer(context.run, 4)
        ),
        stages,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

    #[test]
    fn stolen_time_counts_over_all_processors() {
        let mut run = testing::healthy();
        run.machine.cpus = 2;
        each(&mut run, "log-write", |t| {
            t.evidence.cpu_steal_ns = Some(200_000_000);
        });
        let finding = only(&run, NAME);
        assert!(finding.evidence[0].contains("10 %"), "{finding:?}");
        run.machine.cpus = 8;
        testing::silent(&run);
    }
}
