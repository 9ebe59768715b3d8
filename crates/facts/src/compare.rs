//! What changed between two runs, or two sets of runs.
//!
//! Stages are paired by name and settings (what is left, by workload), and each
//! pair is *the same* within a share, *faster* or *slower* by an interval, not
//! told apart, or not comparable, with the reason. The conditions that differ
//! are listed. *The same* means that the whole interval of the difference is
//! small, never that no difference was found.
//!
//! Rates and percentiles are compared on a logarithmic scale, because what
//! disturbs a disk multiplies its rate. An observation is a trial: operations
//! within one depend on each other. Where there are runs enough it is a run, so
//! that what differs from run to run is in the interval too.

mod cells;
mod comparable;
mod conditions;
mod demand;
mod latency;
mod observed;
pub(crate) mod sentences;
#[cfg(test)]
mod simulated;
mod workload;

pub use demand::Demanded;

use crate::stats::{self, CentreDifference};
use cells::{Cell, Pair};
use diskfacts_plan::Workload;
use diskfacts_record::comparison::{
    Change, Comparison, Condition, Correction, Difference, Measure, Overall, Side, SideRun, Spread,
    StageComparison,
};
use diskfacts_record::{Run, SCHEMA};
use std::collections::BTreeMap;

/// Chance that any speed is called different though none differs.
const SPEEDS_ALPHA: f64 = 0.04;
/// The same for percentiles of the latency: with that of the speeds 5 %.
const LATENCIES_ALPHA: f64 = 0.01;
/// Level of the interval of the mean over all stages.
const OVERALL_ALPHA: f64 = 0.05;
/// Share within which a difference counts as none, unless told otherwise.
pub const SAME_WITHIN: f64 = 0.05;

/// Runs that are compared as one side.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// As it was given.
    pub given: String,
    /// The runs.
    pub parts: Vec<Part<'a>>,
}

/// A run, or those of its trials that have certain settings.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// The run, whole histograms included where there are any.
    pub run: &'a Run,
    /// Settings that a trial must have to take part, by name; they no longer
    /// tell stages apart.
    pub only: BTreeMap<String, String>,
}

/// A pair of stages with what was computed of it.
struct Judged<'a> {
    pair: Pair<'a>,
    because: Vec<String>,
    speed: Option<Tested>,
    latency: Vec<Tested>,
}

/// A difference, and its uncertainty on the logarithmic scale.
pub(crate) struct Tested {
    pub(crate) difference: Difference,
    pub(crate) centre: Option<CentreDifference>,
}

/// Compares `b` with `a`. A difference within `same_within` (a share, above 0)
/// counts as none.
pub fn compare(
    a: &Selection<'_>,
    b: &Selection<'_>,
    same_within: f64,
    demanded: &[Demanded],
) -> Comparison {
    let cells::Paired {
        pairs,
        only_in_a,
        only_in_b,
    } = cells::pair(a, b);
    let mut conditions = conditions::of_runs(a, b);
    conditions.extend(conditions::of_stages(&pairs));
    let mut judged: Vec<Judged<'_>> = pairs.into_iter().map(judge).collect();
    let correction = Correction {
        method: "holm".to_owned(),
        speeds: correct(
            judged.iter_mut().filter_map(|j| j.speed.as_mut()),
            SPEEDS_ALPHA,
            same_within,
        ),
        speeds_alpha: SPEEDS_ALPHA,
        latencies: correct(
            judged.iter_mut().flat_map(|j| j.latency.iter_mut()),
            LATENCIES_ALPHA,
            same_within,
        ),
        latencies_alpha: LATENCIES_ALPHA,
    };
    let overall = overall(&judged);
    let stages = judged
        .into_iter()
        .map(|judged| stage(judged, same_within))
        .collect();
    let mut comparison = Comparison {
        schema: SCHEMA,
        summary: String::new(),
        a: side(a),
        b: side(b),
        conditions,
        stages,
        only_in_a,
        only_in_b,
        overall,
        correction,
        same_within,
        demands: Vec::new(),
        fleet: None,
    };
    comparison.summary = sentences::summary(&comparison);
    comparison.demands = demanded.iter().map(|one| one.of(&comparison)).collect();
    comparison
}

/// What is not the same in these runs before and these after: of the runs, and of the stage of
/// this label where both have it.
pub(crate) fn conditions(before: &[&Run], after: &[&Run], stage: &str) -> Vec<Condition> {
    let [a, b] = [before, after].map(|runs| Selection {
        given: String::new(),
        parts: runs
            .iter()
            .map(|run| Part {
                run,
                only: BTreeMap::new(),
            })
            .collect(),
    });
    let mut all = conditions::of_runs(&a, &b);
    let mut pairs = cells::pair(&a, &b).pairs;
    pairs.retain(|pair| pair.a.label() == stage);
    all.extend(conditions::of_stages(&pairs));
    all
}

/// Whether two workloads are the same measurement.
pub(crate) fn is_same_workload(a: &Workload, b: &Workload) -> bool {
    a == b || workload::keys(a) == workload::keys(b)
}

fn side(selection: &Selection<'_>) -> Side {
    let runs = selection.parts.iter().map(|part| SideRun {
        id: part.run.run.id.clone(),
        started: part.run.run.started.clone(),
        target: part.run.target.path.clone(),
        plan: part.run.plan.name.clone(),
        trials: part.trials().count() as u64,
    });
    Side {
        given: selection.given.clone(),
        runs: runs.collect(),
    }
}

impl<'a> Part<'a> {
    /// The trials that take part.
    fn trials(&self) -> impl Iterator<Item = &'a diskfacts_record::Trial> {
        let only = self.only.clone();
        self.run.trials.iter().filter(move |trial| {
            only.iter()
                .all(|(key, value)| trial.settings.get(key) == Some(value))
        })
    }
}

fn judge(pair: Pair<'_>) -> Judged<'_> {
    let mut because = comparable::reasons(&pair);
    let measure = match observed::measure(&pair.a, &pair.b) {
        Ok(measure) => Some(measure),
        Err(reason) => {
            because.push(reason);
            None
        }
    };
    let mut latency = Vec::new();
    let mut speed = None;
    if let Some(measure) = measure.filter(|_| because.is_empty()) {
        let mut quantiles = latency::differences(&pair.a, &pair.b);
        if measure.more_is_better() {
            match observed::speed(&pair.a, &pair.b, measure) {
                Ok(tested) => speed = Some(tested),
                Err(reason) => because.push(reason),
            }
        } else {
            let place = quantiles
                .iter()
                .position(|tested| tested.difference.measure == measure);
            speed = place.map(|place| quantiles.remove(place));
            if speed.is_none() {
                because.push(
                    "the rate was set, and the latencies are not known on both sides".to_owned(),
                );
            }
        }
        if because.is_empty() {
            latency = quantiles;
        }
    }
    Judged {
        pair,
        because,
        speed,
        latency,
    }
}

/// Tests those that have a spread together; answers how many.
pub(crate) fn correct<'t>(
    tested: impl Iterator<Item = &'t mut Tested>,
    alpha: f64,
    same_within: f64,
) -> u32 {
    let mut with_spread: Vec<(&mut Difference, CentreDifference)> = tested
        .filter_map(|t| Some((&mut t.difference, t.centre?)))
        .collect();
    let p: Vec<f64> = with_spread.iter().map(|(_, centre)| centre.p()).collect();
    for (i, result) in stats::holm(&p, alpha).into_iter().enumerate() {
        let (difference, centre) = &mut with_spread[i];
        let [low, high] = centre.interval(result.level).map(as_change);
        difference.interval = Some([low, high]);
        difference.confidence = Some(1.0 - result.level);
        difference.p = Some(p[i]);
        difference.p_adjusted = Some(result.adjusted);
        difference.outcome = if result.rejected {
            if (centre.estimate > 0.0) == difference.measure.more_is_better() {
                Change::Faster
            } else {
                Change::Slower
            }
        } else if is_within([low, high], same_within) {
            Change::Same
        } else {
            Change::Unclear
        };
    }
    u32::try_from(p.len()).unwrap_or(u32::MAX)
}

/// A logarithm of a ratio as a change: the ratio less 1. Finite, because JSON has
/// no word for what is not.
pub(crate) fn as_change(logarithm: f64) -> f64 {
    logarithm.exp_m1().min(f64::MAX)
}

/// Whether all of an interval of a change is no more than this share: neither
/// `b` above `a`, nor `a` above `b`.
fn is_within([low, high]: [f64; 2], share: f64) -> bool {
    high <= share && low >= 1.0 / (1.0 + share) - 1.0
}

fn stage(judged: Judged<'_>, same_within: f64) -> StageComparison {
    let label = judged.pair.a.label();
    let other = judged.pair.b.label();
    let speed = judged.speed.map(|tested| tested.difference);
    let change = match &speed {
        Some(speed) if judged.because.is_empty() => speed.outcome,
        _ => Change::NotComparable,
    };
    let mut statement = sentences::stage(change, &judged.because, speed.as_ref(), same_within);
    statement.extend(sentences::excluded(&judged.pair));
    StageComparison {
        stage_b: (other != label).then_some(other),
        stage: label,
        change,
        statement,
        because: judged.because,
        speed: speed.filter(|_| change != Change::NotComparable),
        latency: judged.latency.into_iter().map(|t| t.difference).collect(),
    }
}

/// The speeds of all comparable stages together, as logarithms: where `b` is
/// faster they are above 0.
fn overall(judged: &[Judged<'_>]) -> Option<Overall> {
    let speeds: Vec<(f64, Option<CentreDifference>)> = judged
        .iter()
        .filter(|judged| judged.because.is_empty())
        .filter_map(|judged| judged.speed.as_ref())
        .filter(|tested| tested.difference.change > -1.0)
        .map(|tested| {
            let sign = if tested.difference.measure.more_is_better() {
                1.0
            } else {
                -1.0
            };
            (sign * tested.difference.change.ln_1p(), tested.centre)
        })
        .collect();
    let ratios: Vec<f64> = speeds.iter().map(|(ratio, _)| *ratio).collect();
    let sorted = stats::finite_sorted(&ratios);
    let (least, most) = (*sorted.first()?, *sorted.last()?);
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let known: Vec<CentreDifference> = speeds.iter().filter_map(|(_, c)| *c).collect();
    let (interval, over) = if known.len() == sorted.len() {
        let squares: f64 = known.iter().map(|c| c.standard_error.powi(2)).sum();
        let terms: f64 = known.iter().map(|c| c.standard_error.powi(4) / c.df).sum();
        let df = if terms > 0.0 {
            squares * squares / terms
        } else {
            n
        };
        let resolution = known.iter().map(|c| c.resolution).sum::<f64>() / n;
        let all = CentreDifference::new(mean, squares.sqrt() / n, df).resolved_to(resolution);
        (
            Some(all.interval(OVERALL_ALPHA)),
            Some(Spread::Observations),
        )
    } else if sorted.len() > 2 {
        let squares: f64 = sorted.iter().map(|r| (r - mean).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        let all = CentreDifference::new(mean, error, n - 1.0);
        (Some(all.interval(OVERALL_ALPHA)), Some(Spread::Stages))
    } else {
        (None, None)
    };
    Some(Overall {
        stages: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
        change: as_change(mean),
        interval: interval.map(|ends| ends.map(as_change)),
        over,
        least: as_change(least),
        most: as_change(most),
    })
}

/// Counts a side's observations.
fn observations(cell: &Cell<'_>, unit: diskfacts_record::comparison::Unit) -> u32 {
    let count = match unit {
        diskfacts_record::comparison::Unit::Trial => cell.trials().count(),
        diskfacts_record::comparison::Unit::Run | diskfacts_record::comparison::Unit::Host => {
            cell.runs.len()
        }
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Every percentile that is compared.
const QUANTILES: [(Measure, f64); 4] = [
    (Measure::LatencyP50Ns, 0.5),
    (Measure::LatencyP90Ns, 0.9),
    (Measure::LatencyP99Ns, 0.99),
    (Measure::LatencyP999Ns, 0.999),
];

#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod tests;
