//! The speed of a stage: which figure it is, and its observations.

use super::cells::{Cell, unit};
use super::{Tested, observations};
use crate::{resolution, stats};
use diskfacts_record::comparison::{Change, Difference, Measure, Unit};
use diskfacts_record::{TargetKind, Trial};

fn of(trial: &Trial, measure: Measure) -> f64 {
    if measure == Measure::Iops {
        trial.iops
    } else {
        trial.throughput_bytes_per_s
    }
}

/// The rates that are a rate: an import may hold what is none.
fn rates(cell: &Cell<'_>, measure: Measure) -> Vec<f64> {
    let rates = cell.trials().map(|trial| of(trial, measure));
    rates
        .filter(|rate| rate.is_finite() && *rate >= 0.0)
        .collect()
}

/// The figure that both sides have: throughput, else operations per second; of
/// a stage whose rate was set, the median latency.
///
/// # Errors
/// A sentence, when they have none in common.
pub(super) fn measure(a: &Cell<'_>, b: &Cell<'_>) -> Result<Measure, String> {
    let paced = a.workload().rate.is_some() && b.workload().rate.is_some();
    let supported = |cell: &Cell<'_>| {
        let mut trials = cell.trials();
        trials.all(|trial| trial.latency_ns.p50.is_some())
    };
    if paced && supported(a) && supported(b) {
        return Ok(Measure::LatencyP50Ns);
    }
    let has = |cell: &Cell<'_>, measure| !rates(cell, measure).is_empty();
    let on_files = a.workload().operation.on_files();
    let both = |measure| has(a, measure) && has(b, measure);
    if !on_files && both(Measure::ThroughputBytesPerS) {
        return Ok(Measure::ThroughputBytesPerS);
    }
    if both(Measure::Iops) {
        return Ok(Measure::Iops);
    }
    let words = |cell: &Cell<'_>| match (
        has(cell, Measure::ThroughputBytesPerS),
        has(cell, Measure::Iops),
    ) {
        (true, _) => "bytes per second",
        (false, true) => "operations per second",
        (false, false) => "no rate at all",
    };
    Err(format!(
        "no unit in common: A has {}, B has {}",
        words(a),
        words(b)
    ))
}

/// How the rates differ.
///
/// # Errors
/// A sentence, when they have no ratio.
pub(super) fn speed(a: &Cell<'_>, b: &Cell<'_>, measure: Measure) -> Result<Tested, String> {
    let unit = unit(a, b);
    let (of_a, of_b) = (rates(a, measure), rates(b, measure));
    let idle = |rates: &[f64]| rates.iter().filter(|rate| **rate == 0.0).count();
    let mut difference = Difference {
        measure,
        a: stats::median(&of_a).unwrap_or(f64::NAN),
        b: stats::median(&of_b).unwrap_or(f64::NAN),
        count_a: observations(a, unit),
        count_b: observations(b, unit),
        unit,
        change: f64::NAN,
        interval: None,
        confidence: None,
        p: None,
        p_adjusted: None,
        outcome: Change::Unclear,
    };
    match (idle(&of_a), idle(&of_b)) {
        (0, 0) => {}
        (0, all) if all == of_b.len() => {
            difference.change = -1.0;
            difference.outcome = Change::Slower;
            return Ok(Tested {
                difference,
                centre: None,
            });
        }
        (in_a, in_b) => {
            return Err(format!(
                "a rate of 0 has no ratio: {in_a} of {} trials did nothing in A and {in_b} of {} \
                 in B",
                of_a.len(),
                of_b.len()
            ));
        }
    }
    let (logs_a, logs_b) = (logs(a, measure, unit), logs(b, measure, unit));
    let centre = stats::centre_difference(&logs_a, &logs_b).map(|centre| {
        let resolution = resolution(a, &of_a) + resolution(b, &of_b);
        centre.resolved_to(resolution)
    });
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let apart = centre.map_or_else(|| mean(&logs_b) - mean(&logs_a), |c| c.estimate);
    difference.change = super::as_change(apart);
    difference.count_a = u32::try_from(logs_a.len()).unwrap_or(u32::MAX);
    difference.count_b = u32::try_from(logs_b.len()).unwrap_or(u32::MAX);
    Ok(Tested { difference, centre })
}

/// One logarithm for each observation.
fn logs(cell: &Cell<'_>, measure: Measure, unit: Unit) -> Vec<f64> {
    let of_run = |trials: &[&Trial]| -> Vec<f64> {
        let rates = trials.iter().map(|trial| of(trial, measure));
        rates
            .filter(|rate| rate.is_finite() && *rate > 0.0)
            .map(f64::ln)
            .collect()
    };
    let by_run = cell.runs.iter().map(|(_, trials)| of_run(trials));
    match unit {
        Unit::Trial => by_run.flatten().collect(),
        Unit::Run | Unit::Host => by_run
            .filter(|logs| !logs.is_empty())
            .map(|logs| logs.iter().sum::<f64>() / logs.len() as f64)
            .collect(),
    }
}

/// By how much a rate of a document may be off because it was rounded when it
/// was printed, on the logarithmic scale: half a unit of the last digit that any
/// of them has. 0 of what was measured here.
fn resolution(cell: &Cell<'_>, rates: &[f64]) -> f64 {
    let imported = |run: &diskfacts_record::Run| run.target.kind == TargetKind::Imported;
    if !cell.runs.iter().all(|(run, _)| imported(run)) {
        return 0.0;
    }
    resolution::of_digits(rates)
}
