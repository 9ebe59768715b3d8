//! The trials of a stage differ too much for its median to be trusted.
//!
//! With six trials or more, by the width of the 95 % interval of the median;
//! with fewer, by their range, both over the median. A range of 20 % is where
//! SNIA's Performance Test Specification no longer calls a device steady; half of
//! that is a note. An interval stands beside each figure, and verdicts and
//! comparisons go by it, so a width is no warning of its own until the figure is
//! none: from [`UNKNOWN`] on.

use super::prelude::*;
use super::{cpu_varies, rate_patterns};
use crate::figures;
use crate::simulated::Slower;
use crate::spread::{NOISE, trials_behind, width};
use diskfacts_record::Figure;

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

/// The rates of the trials that are compared.
fn rates(stage: &Stage<'_>) -> Figure {
    figures::figure(trials_behind(stage).iter().map(|t| t.iops))
}

fn differs(facts: &StageFacts<'_>) -> Option<Seen> {
    // Rates that follow a pattern, or the processor time, are findings of their own.
    unless(rate_patterns::between(facts.stage).is_some() || cpu_varies::is_cause(facts.stage))?;
    let (rates, figures) = (rates(facts.stage), facts.figures);
    let width = width(&rates).filter(|width| *width > NOISE)?;
    let told = sentence(&rates, &figures.throughput_bytes_per_s, width);
    Some(Seen::line(width, told + &apart(&figures.outliers)))
}

fn noisy(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    shown.keep_worst();
    let (most, widest) = (shown.most(), shown.worst().stage);
    let slower = Slower::of(&widest.label(), trials_behind(widest));
    let (cause, line) = slower.unzip();
    let up_to = when(shown.stages.len() > 1, || "up to ");
    let by = percent(most);
    // The range is what the figures of a stage have; with enough trials the interval is narrower.
    let (headline, what) = if rates(widest).ci95.is_some() {
        (
            // As the column of the page has it.
            format!("95 % interval {up_to}+/-{}", percent(most / 2.0)),
            format!(
                "The 95 % interval of the median of {} is up to {by} wide",
                shown.list()
            ),
        )
    } else {
        (
            format!("trials differ by {up_to}{by}"),
            format!("The trials of {} differ by up to {by}", shown.list()),
        )
    };
    RULE.claim(format!(
        "{what}: smaller differences between two runs of them mean nothing."
    ))
    .severity(warning_if(most > UNKNOWN))
    .headline(headline)
    .evidence(line)
    .remedy(remedy(context, &shown.stages, cause))
}

fn remedy(context: &Context<'_>, stages: &[String], cause: Option<Slower>) -> String {
    if let Some(said) = of_document(context.run, "measure longer") {
        return said;
    }
    let longer = longer(context.run, stages, 2);
    match cause {
        Some(cause) => format!("{} {longer}", cause.remedy(context.run)),
        // Nothing else runs on a simulated disk.
        None if is_simulated(context.run) => format!("Measure longer. {longer}"),
        None => format!("Stop what else runs here, then measure longer. {longer}"),
    }
}

/// Which trials stand apart from the others, if any do.
fn apart(numbers: &[u32]) -> String {
    let told: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match told.as_slice() {
        [] => String::new(),
        [one] => format!(" Trial {one} stands apart from the others."),
        several => format!(" Trials {} stand apart from the others.", list(several)),
    }
}

fn sentence(rates: &Figure, throughput: &Figure, width: f64) -> String {
    let trials = rates.trials;
    let wide = percent(width);
    if let Some([low, high]) = rates.ci95.map(|ends| ends.map(rate_digits)) {
        return format!(
            "the 95 % interval of the median of {trials} trials goes from {low} to {high} IOPS: \
             {wide} of it."
        );
    }
    // An import may know operations alone.
    let bytes = when(throughput.trials > 0, || {
        format!(", {}", show_throughput(throughput.median))
    });
    let (low, high) = (rate_digits(rates.min), rate_digits(rates.max));
    format!("{trials} trials from {low} to {high} IOPS: {wide} apart{bytes}.")
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
