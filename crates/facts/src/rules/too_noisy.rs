//! The trials of a stage differ too much for its median to be trusted.
//!
//! With six trials or more, by the width of the 95 % interval of the median;
//! with fewer, by their range, both over the median. A range of 20 % is where
//! SNIA's Performance Test Specification no longer calls a device steady, so it
//! is a warning from there; half of that is a note.

use super::{Context, course, names, warm_up};
use crate::figures;
use crate::simulated::{Slower, is_simulated};
use crate::stages::Stage;
use crate::words::{list, longer, of_document, percent, stage_list, worst};
use diskfacts_plan::units::{rate_digits, show_throughput};
use diskfacts_record::{Confidence, Figure, Finding, Severity, Trial};

pub(super) const NAME: &str = "too-noisy";

/// Width over median from which on it is a note, and a warning.
pub(crate) const NOTE: f64 = 0.1;
const WARNING: f64 = 0.2;

/// The rates of a stage without a first trial that stands apart: that is a
/// finding of its own.
fn rates(stage: &Stage<'_>) -> Figure {
    figures::figure(after_warm_up(stage).iter().map(|t| t.iops))
}

fn after_warm_up<'s, 'a>(stage: &'s Stage<'a>) -> &'s [&'a Trial] {
    let skip = usize::from(warm_up::difference(stage).is_some());
    &stage.trials[skip..]
}

/// How wide the rates lie, over their median.
fn width(rates: &Figure) -> Option<f64> {
    match rates.ci95 {
        Some([low, high]) if rates.median > 0.0 => Some((high - low) / rates.median),
        _ => rates.spread,
    }
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    let mut slower = None;
    for (stage, figures) in context.each() {
        // The rate of an open loop is the plan's.
        // Rates that follow a pattern are a finding of their own.
        if stage.workload().rate.is_some() || course::between(stage).is_some() {
            continue;
        }
        let rates = rates(stage);
        let Some(width) = width(&rates).filter(|width| *width > NOTE) else {
            continue;
        };
        if width > most {
            most = width;
            slower = Slower::of(&stage.label(), after_warm_up(stage));
        }
        stages.push(stage.name);
        let mut told = sentence(stage, &rates, &figures.throughput_bytes_per_s, width);
        told.push_str(&apart(&figures.outliers));
        evidence.push((width, told));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    let mut evidence = worst(evidence);
    // Of the stage that differs most.
    let cause = slower.map(|(cause, line)| {
        evidence.push(line);
        cause
    });
    vec![Finding {
        rule: NAME.into(),
        severity: if most > WARNING {
            Severity::Warning
        } else {
            Severity::Note
        },
        headline: format!(
            "trials differ by {}{}",
            if stages.len() == 1 { "" } else { "up to " },
            percent(most)
        ),
        claim: format!(
            "The trials of {} differ by up to {} (+/-{}): smaller differences between two runs of \
             them mean nothing.",
            stage_list(&stages),
            percent(most),
            percent(most / 2.0)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "A longer run whose trials agree.".into(),
        remedy: remedy(context, &stages, cause),
        stages,
    }]
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

fn sentence(stage: &Stage<'_>, rates: &Figure, throughput: &Figure, width: f64) -> String {
    let trials = rates.trials;
    let label = stage.label();
    if let Some([low, high]) = rates.ci95 {
        return format!(
            "{label}: the 95 % interval of the median of {trials} trials goes from {} to {} IOPS, \
             +/-{}.",
            rate_digits(low),
            rate_digits(high),
            percent(width / 2.0)
        );
    }
    // An import may know operations alone.
    let bytes = if throughput.trials > 0 {
        format!(", {}", show_throughput(throughput.median))
    } else {
        String::new()
    };
    format!(
        "{label}: {trials} trials from {} to {} IOPS, +/-{}{bytes}.",
        rate_digits(rates.min),
        rate_digits(rates.max),
        // As the figures of the stage have it: half of the range.
        percent(width / 2.0)
    )
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
        scatter(&mut run, 1.2);
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.evidence[0].contains("5 trials from"), "{finding:?}");
        assert!(finding.evidence[0].contains("MiB/s"), "{finding:?}");
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
        let finding = only(&run, NAME);
        assert!(finding.evidence[0].ends_with("Trial 4 stands apart from the others."));
    }

    #[test]
    fn a_range_of_an_eighth_is_a_note_and_of_a_twelfth_is_nothing() {
        let mut run = testing::healthy();
        scatter(&mut run, 1.05);
        assert_eq!(only(&run, NAME).severity, Severity::Note);
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
        assert!(only(&run, NAME).evidence[0].contains("95 % interval"));
    }
}
