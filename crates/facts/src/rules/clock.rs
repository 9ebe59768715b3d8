//! The clock that latencies were measured with cannot be trusted.

use super::prelude::*;

pub(super) const RULE: Rule = Rule {
    name: "clock",
    check: Check::Stages(&[StageCheck(is_uneven, uneven)]),
    ..Rule::WARNING
};

/// Drift from which on it is a finding, parts per million: the most by which
/// the kernel slews its own clock (`MAXFREQ` of `adjtimex(2)`), so two honest
/// clocks are not further apart.
const DRIFT_PPM: f64 = 500.0;

fn is_uneven(facts: &StageFacts<'_>) -> Option<Seen> {
    let clocks = facts.trials().iter().map(|t| &t.evidence.clock);
    let drifts = clocks.filter_map(|clock| clock.drift_ppm);
    let drift = drifts.filter(|ppm| ppm.is_finite()).map(f64::abs);
    let drift = drift.fold(0.0, f64::max);
    let backwards = facts.stage.sum(|t| t.evidence.clock.backwards);
    unless(backwards == 0 && drift <= DRIFT_PPM)?;
    let back = (backwards > 0).then(|| {
        let it = if backwards == 1 { "it" } else { "they" };
        let operations = count(backwards, "operation");
        format!("{operations} seemed to end before {it} began.")
    });
    let off = (drift > DRIFT_PPM).then(|| {
        let ppm = three_digits(drift);
        format!("it was up to {ppm} parts per million off CLOCK_MONOTONIC.")
    });
    Some((drift, back.into_iter().chain(off).collect()))
}

fn uneven(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let kernel = context.run.machine.clock_source.as_ref();
    let kernel = kernel.map(|of| format!("The kernel itself counts time by {}.", shell(of)));
    let last = shown.facts().next_back();
    let source = last.map_or("", |facts| &facts.trials()[0].evidence.clock.source);
    RULE.claim(format!(
        "The clock ({source}) ran unevenly during {}: its latencies and rates may be wrong.",
        shown.list()
    ))
    .headline(format!("the clock ({source}) ran unevenly"))
    .evidence(kernel)
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
        let finding = only(&run, RULE.name);
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
