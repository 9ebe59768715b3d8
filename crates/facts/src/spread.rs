//! How far the trials of a stage are apart.
//!
//! With six trials or more, by the width of the 95 % interval of the median; with fewer, by their
//! range, both over the median. The first trial may differ from all later ones: something was warm,
//! empty or awake the second time.

use crate::figures;
use crate::stages::Stage;
use crate::stats;
use crate::words::{percent, when};
use diskfacts_plan::units::{rate_digits, show_throughput};
use diskfacts_record::{Figure, Trial};

/// Width over median from which on it is a note, and a warning.
pub(crate) const NOISE: f64 = 0.1;
pub(crate) const WARNING: f64 = 0.2;

/// Fewest trials of a stage that have a spread.
pub(crate) const TRIALS_MIN: usize = 3;

/// The stages with fewer, how many they have, and how many cells of a matrix have as many.
pub(crate) fn few_trials<'a>(stages: &[Stage<'a>]) -> Vec<(&'a str, usize, usize)> {
    let mut few: Vec<(&str, usize, usize)> = Vec::new();
    let each = stages.iter().map(|stage| (stage.name, stage.trials.len()));
    for (name, trials) in each.filter(|(_, trials)| *trials < TRIALS_MIN) {
        match few
            .iter_mut()
            .find(|known| (known.0, known.1) == (name, trials))
        {
            Some((.., cells)) => *cells += 1,
            None => few.push((name, trials, 1)),
        }
    }
    few
}

/// How wide the rates lie, over their median: their 95 % interval, of too few trials for one
/// their range.
pub fn width(rates: &Figure) -> Option<f64> {
    match rates.ci95 {
        Some([low, high]) if rates.median > 0.0 => Some((high - low) / rates.median),
        _ => rates.spread,
    }
}

/// Trials of a stage from which on a rest has a range.
const TRIALS: usize = 4;
/// Difference from which on it is told.
const WARM_UP: f64 = 0.05;

/// How the first trial differs from the median of the rest, as a share of it;
/// `None` when it does not stand apart.
pub(crate) fn first_difference(stage: &Stage<'_>) -> Option<f64> {
    let rates: Vec<f64> = stage.trials.iter().map(|t| t.iops).collect();
    let (first, rest) = rates.split_first()?;
    if rates.len() < TRIALS || rates.iter().any(|rate| !rate.is_finite()) {
        return None;
    }
    let median = stats::median(rest)?;
    let ratio = stats::dixon_q(*first, rest)?;
    let critical = stats::dixon_critical_99(rates.len())?;
    let difference = (first - median) / median;
    (median > 0.0 && ratio > critical && difference.abs() > WARM_UP).then_some(difference)
}

/// By how much the first trial moves the median of the stage, as a share of that of the rest.
pub(crate) fn first_moves(stage: &Stage<'_>) -> Option<f64> {
    let rates: Vec<f64> = stage.trials.iter().map(|t| t.iops).collect();
    let rest = stats::median(&rates[1..])?;
    Some((stats::median(&rates)? - rest).abs() / rest)
}

/// The trials of a stage without a first one that stands apart, which is a finding of
/// its own.
pub(crate) fn trials_behind<'s, 'a>(stage: &'s Stage<'a>) -> &'s [&'a Trial] {
    &stage.trials[usize::from(first_difference(stage).is_some())..]
}

/// Operations per second of the trials of a stage, without a first one that stands apart.
pub(crate) fn rates_behind(stage: &Stage<'_>) -> Figure {
    figures::figure(trials_behind(stage).iter().map(|t| t.iops))
}

/// How wide the rates lie, a sentence; with the throughput where there is one.
pub(crate) fn width_said(rates: &Figure, throughput: &Figure) -> String {
    let trials = rates.trials;
    let wide = width(rates).map_or_else(String::new, percent);
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
