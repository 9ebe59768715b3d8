//! How far the trials of a stage are apart.
//!
//! With six trials or more, by the width of the 95 % interval of the median; with fewer, by their
//! range, both over the median. The first trial may differ from all later ones: something was warm,
//! empty or awake the second time.

use crate::stages::Stage;
use crate::stats;
use diskfacts_record::{Figure, Trial};

/// Width over median from which on it is a note, and a warning.
pub(crate) const NOISE: f64 = 0.1;
pub(crate) const WARNING: f64 = 0.2;

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

/// The trials of a stage without a first one that stands apart, which is a finding of
/// its own.
pub(crate) fn trials_behind<'s, 'a>(stage: &'s Stage<'a>) -> &'s [&'a Trial] {
    &stage.trials[usize::from(first_difference(stage).is_some())..]
}
