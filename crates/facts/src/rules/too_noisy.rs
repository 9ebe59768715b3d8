//! The trials of a stage differ too much for its median to be trusted.
//!
//! With six trials or more, by the width of the 95 % interval of the median;
//! with fewer, by their range, both over the median. A range of 20 % is where
//! SNIA's Performance Test Specification no longer calls a device steady; half of
//! that is a note. An interval stands beside each figure, and verdicts and
//! comparisons go by it, so a width is no warning of its own until the figure is
//! none: from [`UNKNOWN`] on.

use super::prelude::*;
use crate::course;
use crate::outliers;
use crate::processor_varies::ProcessorVaries;
use crate::simulated::Slower;
use crate::spread::{NOISE, rates_behind, trials_behind, width, width_said};

pub(super) const RULE: Rule = Rule {
    name: "too-noisy",
    needs: &[Closed],
    confidence: Confidence::Certain,
    check: Check::Stages(&[StageCheck(differs, noisy)]),
    ..Rule::NOTE
};

/// Width over median from which on it is a warning: a quarter to either side, which leaves not
/// even the first digit of most figures known.
const UNKNOWN: f64 = 0.5;

fn differs(facts: &StageFacts<'_>) -> Option<Seen> {
    // Rates that follow a pattern, or the processor time, are findings of their own.
    let trials = trials_behind(facts.stage);
    unless(course::between(trials).is_some() || ProcessorVaries::of(facts.stage).is_some())?;
    let rates = rates_behind(facts.stage);
    let width = width(&rates).filter(|width| *width > NOISE)?;
    let line = width_said(&rates, &facts.figures.throughput_bytes_per_s);
    Some((width, vec![line + &outliers::said(&facts.figures.outliers)]))
}

fn noisy(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    shown.keep_worst();
    let (most, widest) = (shown.most(), shown.worst().stage);
    let slower = Slower::of(&widest.label(), trials_behind(widest));
    let (cause, line) = slower.unzip();
    let up_to = when(shown.stages.len() > 1, || "up to ");
    let by = percent(most);
    // The range is what the figures of a stage have; with enough trials the interval is narrower.
    let (headline, what) = if rates_behind(widest).ci95.is_some() {
        // As the column of the page has it.
        let half = percent(most / 2.0);
        let what = format!(
            "95 % interval of the median of {} is up to {by} wide",
            shown.list()
        );
        (format!("95 % interval {up_to}+/-{half}"), what)
    } else {
        let what = format!("trials of {} differ by up to {by}", shown.list());
        (format!("trials differ by {up_to}{by}"), what)
    };
    RULE.claim(format!(
        "The {what}: smaller differences between two runs of them mean nothing."
    ))
    .severity(warning_if(most > UNKNOWN))
    .headline(headline)
    .evidence(line)
    .remedy(remedy(context, &shown.stages, cause))
    .of_document(context.run, "measure longer")
}

fn remedy(context: &Context<'_>, stages: &[String], cause: Option<Slower>) -> String {
    let longer = longer(context.run, stages, 2);
    match cause {
        Some(cause) => format!("{} {longer}", cause.remedy(context.run)),
        // Nothing else runs on a simulated disk.
        None if is_simulated(context.run) => format!("Measure longer. {longer}"),
        None => format!("Stop what else runs here, then measure longer. {longer}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only, set_rate};

    /// Rates that alternate by this factor, the first among them.
    fn scatter(run: &mut diskfacts_record::Run, factor: f64) {
        each(run, "log-write", |t| {
            set_rate(
                t,
                [1.0, factor, 1.0 / factor, 1.0, 1.0][t.number as usize - 1],
            );
        });
    }

    #[test]
    fn scattered_trials_are_found_with_their_range() {
        let mut run = testing::healthy();
        scatter(&mut run, 1.3);
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.evidence[0].contains("5 trials from"), "{finding:?}");
        assert!(finding.evidence[0].contains("MB/s"), "{finding:?}");
        assert!(finding.remedy.contains("--time 120s"), "{finding:?}");
    }

    #[test]
    fn a_trial_that_stands_apart_is_named() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |t| {
            if t.number == 4 {
                set_rate(t, 0.5);
            }
        });
        let finding = only(&run, RULE.name);
        assert!(finding.evidence[0].ends_with("Trial 4 stands apart from the others."));
    }

    #[test]
    fn a_range_up_to_a_half_is_a_note_and_of_a_twelfth_is_nothing() {
        for factor in [1.05, 1.25] {
            let mut run = testing::healthy();
            scatter(&mut run, factor);
            assert_eq!(only(&run, RULE.name).severity, Severity::Note, "{factor}");
        }
        let mut run = testing::healthy();
        scatter(&mut run, 1.03);
        testing::silent(&run);
    }

    #[test]
    fn many_trials_are_judged_by_their_interval_not_by_one_outlier() {
        let mut plan = diskfacts_plan::builtin::plan("survey").unwrap();
        plan.trials = 10;
        let mut run = testing::run_of(plan, testing::stack());
        each(&mut run, "log-write", |t| {
            if t.number == 7 {
                set_rate(t, 0.5);
            }
        });
        testing::silent(&run);
        each(&mut run, "log-write", |t| {
            set_rate(t, [0.7, 1.0, 0.8, 0.95, 0.75, 0.9][t.number as usize % 6]);
        });
        assert!(only(&run, RULE.name).evidence[0].contains("95 % interval"));
    }
}
