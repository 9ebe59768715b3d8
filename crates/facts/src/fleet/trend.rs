//! One disk over time.
//!
//! Levels are those of [`trends`](crate::trends): the least sum of squares with a penalty for each
//! change, found among all ways to split the series. Hunter and Apache Otava (Fleming et al.,
//! "Hunter: Using Change Point Detection to Hunt for Performance Regressions", ICPE 2023) take
//! E-divisive means with t-tests instead, which finds one change after the other and needs windows
//! because of it. On steps in normal noise, with and without single outliers, both find the same at
//! the same rate of false alarms (`docs/fleet-statistics.md` has the numbers), and the
//! penalty here is set for series that are as short as a host's are, from six runs on.
//!
//! A change is held against the peers: where they changed as much at the same time, it is not this
//! disk's own.

use super::cells;
use super::sample::{Member, PEERS_MIN, Sample};
use super::screen::Value;
use crate::{stats, trends};
use diskfacts_record::comparison::Measure;
use std::collections::{BTreeMap, BTreeSet};

/// Peers are measured in the same night, and not in the same second.
const DAY_S: i64 = 86_400;

/// How one stage of one disk went from run to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// What the values are.
    pub measure: Measure,
    /// Its runs, the oldest first.
    pub points: Vec<TrendPoint>,
    /// Its levels, the oldest first; one at least.
    pub levels: Vec<Level>,
    /// Where the level changed, one less than there are levels.
    pub steps: Vec<TrendStep>,
    /// Runs without a figure: all trials disturbed, or without one.
    pub left_out: usize,
    /// Runs of another measure than the newest.
    pub other_measure: usize,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint {
    /// Its id.
    pub run: String,
    /// When it began, seconds since 1970, UTC.
    pub started_s: i64,
    /// Median of its undisturbed trials, in the unit of the measure.
    pub value: f64,
    /// Trials that it is the median of.
    pub trials: usize,
}

/// A part of the time in which the figures had one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Place of its first run among the points.
    pub first: usize,
    /// Median of its runs.
    pub median: f64,
}

/// A change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendStep {
    /// Place of the first run of the new level among the points.
    pub first: usize,
    /// The new level over the old one, less 1.
    pub change: f64,
    /// Whether it is one for the better.
    pub better: bool,
    /// What the peers did between the same two times: their median change, and how many they
    /// are. Absent where fewer than eight of them were measured in both.
    pub peers: Option<(f64, usize)>,
    /// What was not the same before and after, of what makes peers: key, before, after.
    pub changed: Vec<(String, String, String)>,
}

/// The levels of one stage of one disk, beside the same stage of its peers (none, or all that
/// are known; its own samples among them are left out); `None` without a figure.
pub fn trend(own: &[Sample], peers: &[Sample]) -> Option<Trend> {
    let newest = own.iter().max_by_key(|s| (s.started_s, &s.run))?;
    let measure = newest.measure;
    let of_measure = |sample: &&Sample| sample.measure == measure;
    let same: Vec<&Sample> = own.iter().filter(of_measure).collect();
    let others = peers.iter().filter(of_measure);
    let others: Vec<&Sample> = others
        .filter(|sample| sample.member != newest.member)
        .collect();
    let values = in_time(&same);
    if values.is_empty() {
        return None;
    }
    let others = in_time(&others);
    let medians: Vec<f64> = values.iter().map(|value| value.median).collect();
    let firsts = trends::steps(&medians);
    let levels = stats::levels(&medians, &firsts);
    let runs = number_of_runs(&same);
    let step = |place: usize| {
        let first = firsts[place];
        let before = if place == 0 { 0 } else { firsts[place - 1] };
        let after = firsts.get(place + 1).copied().unwrap_or(values.len());
        let change = levels[place + 1] / levels[place] - 1.0;
        TrendStep {
            first,
            change,
            better: (change > 0.0) == measure.more_is_better(),
            peers: of_peers(&others, &values[before..first], &values[first..after]),
            changed: changed(&same, &values[first - 1], &values[first]),
        }
    };
    Some(Trend {
        measure,
        steps: (0..firsts.len()).map(step).collect(),
        levels: std::iter::once(0)
            .chain(firsts.iter().copied())
            .zip(&levels)
            .map(|(first, median)| Level {
                first,
                median: *median,
            })
            .collect(),
        left_out: runs - values.len(),
        other_measure: number_of_runs(&own.iter().collect::<Vec<_>>()) - runs,
        points: values
            .iter()
            .map(|value| TrendPoint {
                run: value.run.clone(),
                started_s: value.started_s,
                value: value.median,
                trials: value.trials,
            })
            .collect(),
    })
}

fn number_of_runs(samples: &[&Sample]) -> usize {
    let runs: BTreeSet<&str> = samples.iter().map(|sample| sample.run.as_str()).collect();
    runs.len()
}

/// The values of all runs, whatever makes peers, in the order of time.
fn in_time(samples: &[&Sample]) -> Vec<Value> {
    let stages = cells::read(samples.to_vec()).stages;
    let mut values: Vec<Value> = stages.into_iter().flat_map(|stage| stage.values).collect();
    values.sort_by(|a, b| (a.started_s, &a.run).cmp(&(b.started_s, &b.run)));
    values
}

/// The median change of the peers that were measured in both of these times, and how many they
/// are.
fn of_peers(others: &[Value], before: &[Value], after: &[Value]) -> Option<(f64, usize)> {
    let change_s = i64::midpoint(before.last()?.started_s, after.first()?.started_s);
    let from_s = before.first()?.started_s - DAY_S;
    let to_s = after.last()?.started_s + DAY_S;
    let during = |from_s: i64, to_s: i64| {
        let mut of: BTreeMap<&Member, Vec<f64>> = BTreeMap::new();
        for value in others {
            if (from_s..to_s).contains(&value.started_s) {
                of.entry(&value.member).or_default().push(value.median);
            }
        }
        of
    };
    let (before, after) = (during(from_s, change_s), during(change_s, to_s));
    let ratios = before.iter().filter_map(|(member, values)| {
        let (a, b) = (stats::median(values)?, stats::median(after.get(member)?)?);
        Some((b / a).ln())
    });
    let ratios: Vec<f64> = ratios.collect();
    let change = stats::median(&ratios)?.exp_m1();
    (ratios.len() >= PEERS_MIN).then_some((change, ratios.len()))
}

/// What makes peers and was not the same in these two runs of the disk.
fn changed(own: &[&Sample], before: &Value, after: &Value) -> Vec<(String, String, String)> {
    let peers = |value: &Value| own.iter().find(|s| s.run == value.run).map(|s| &s.peers.0);
    let (Some(a), Some(b)) = (peers(before), peers(after)) else {
        return Vec::new();
    };
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let value = |of: &BTreeMap<String, String>, key: &String| {
        of.get(key).cloned().unwrap_or_else(|| "unknown".to_owned())
    };
    keys.into_iter()
        .filter(|key| a.get(*key) != b.get(*key))
        .map(|key| (key.clone(), value(a, key), value(b, key)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Disturbance, Peers, TrialSample};
    use diskfacts_plan::rng::Rng;
    use std::sync::Arc;

    fn normal(rng: &mut Rng) -> f64 {
        (-2.0 * rng.unit().ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
    }

    /// A run of a host on a day.
    fn sample(host: &str, day: i64, value: f64, kernel: &str) -> Sample {
        let trial = |factor: f64| TrialSample {
            value: value * factor,
            disturbed: None,
        };
        Sample {
            member: Member {
                host: host.into(),
                machine: None,
                target: "/data".into(),
            },
            run: format!("{host}-{day:03}"),
            started_s: day * DAY_S,
            peers: Arc::new(Peers(BTreeMap::from([("kernel".into(), kernel.into())]))),
            stage: "log-write".into(),
            measure: Measure::Iops,
            trials: [1.0, 1.01, 0.99].map(trial).into(),
        }
    }

    fn wobble(day: i64) -> f64 {
        1.0 + 0.01 * ((day * 7 % 5) as f64 - 2.0)
    }

    #[test]
    fn a_change_is_dated_and_held_against_the_peers_and_what_makes_them() {
        let own: Vec<Sample> = (0..12)
            .map(|day| {
                let (factor, kernel) = if day < 7 { (1.0, "6.1") } else { (0.8, "6.12") };
                sample("c17", day, 1000.0 * factor * wobble(day), kernel)
            })
            .collect();
        let peers: Vec<Sample> = (0..12)
            .flat_map(|day| (0..9).map(move |host| (day, host)))
            .map(|(day, host)| sample(&format!("c{host}"), day, 1000.0 * wobble(day + host), "6.1"))
            .collect();
        let mut all = peers.clone();
        all.extend(own.clone());
        // In whatever order, and with its own samples among the peers.
        all.reverse();
        let trend = trend(&own, &all).unwrap();
        let [step] = trend.steps.as_slice() else {
            panic!("{:?}", trend.steps);
        };
        assert_eq!(step.first, 7);
        assert!((step.change + 0.2).abs() < 0.02 && !step.better, "{step:?}");
        let (change, number) = step.peers.unwrap();
        assert!(change.abs() < 0.02 && number == 9, "{step:?}");
        let kernel = ("kernel".to_owned(), "6.1".to_owned(), "6.12".to_owned());
        assert_eq!(step.changed, [kernel]);
        assert_eq!(trend.levels.len(), 2);
        assert_eq!(trend.levels[1].first, 7);
        // Seven peers are too few to say what peers did.
        let few = peers
            .iter()
            .filter(|s| s.member.host.as_str() < "c7")
            .cloned();
        let few: Vec<Sample> = few.collect();
        let trend = super::trend(&own, &few).unwrap();
        assert_eq!(trend.steps[0].peers, None);
    }

    #[test]
    fn runs_without_a_figure_and_of_another_measure_are_counted_and_not_looked_at() {
        let mut own: Vec<Sample> = (0..8).map(|d| sample("c17", d, 1000.0, "6.1")).collect();
        for trial in &mut own[3].trials {
            trial.disturbed = Some(Disturbance::OtherIo);
        }
        own[0].measure = Measure::LatencyP50Ns;
        let found = trend(&own, &[]).unwrap();
        assert_eq!(
            (found.points.len(), found.left_out, found.other_measure),
            (6, 1, 1)
        );
        assert_eq!((found.levels.len(), found.steps.len()), (1, 0));
        assert_eq!(trend(&[], &own), None);
        assert_eq!(trend(&own[3..4], &[]), None);
    }

    /// Where E-divisive means would split first, and the split's p by Welch's t-test: Hunter and
    /// Otava in short, without their windows, which series of this length do not fill. The
    /// statistic is that of Matteson and James, "A Nonparametric Approach for Multiple Change Point
    /// Analysis of Multivariate Data", Journal of the American Statistical Association 109, 2014.
    fn e_divisive(values: &[f64]) -> (usize, f64) {
        let apart = |a: &[f64], b: &[f64]| {
            let sums = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs()));
            sums.sum::<f64>() / (a.len() * b.len()) as f64
        };
        let within = |a: &[f64]| apart(a, a) * a.len() as f64 / (a.len() - 1) as f64;
        let energy = |at: &usize| {
            let (a, b) = values.split_at(*at);
            let (n, m) = (a.len() as f64, b.len() as f64);
            n * m / (n + m) * (2.0 * apart(a, b) - within(a) - within(b))
        };
        let at = (2..values.len() - 1)
            .max_by(|a, b| energy(a).total_cmp(&energy(b)))
            .unwrap();
        let moments = |values: &[f64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            (mean, squares / (n - 1.0) / n, n)
        };
        let (a, b) = values.split_at(at);
        let ((mean_a, error_a, n_a), (mean_b, error_b, n_b)) = (moments(a), moments(b));
        let both = error_a + error_b;
        let df = both.powi(2) / (error_a.powi(2) / (n_a - 1.0) + error_b.powi(2) / (n_b - 1.0));
        let t = (mean_b - mean_a) / both.sqrt();
        (at, stats::t_two_sided(t, df))
    }

    #[test]
    fn a_step_is_found_as_often_as_by_e_divisive_at_the_same_rate_of_false_alarms() {
        let seed = 21;
        let mut rng = Rng::new(seed);
        let mut series = |step: f64, outliers: f64| -> Vec<f64> {
            let values = (0..24).map(|i| {
                let outlier = if rng.unit() <= outliers { 0.2 } else { 0.0 };
                let level = if i < 14 { 0.0 } else { step };
                (0.02 * normal(&mut rng) - outlier + level).exp()
            });
            values.collect()
        };
        let logarithms = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<_>>();
        let near = |at: usize| (13..=15).contains(&at);
        // The p at which E-divisive gives as many steady series a change as we do.
        let steady: Vec<Vec<f64>> = (0..400).map(|_| series(0.0, 0.0)).collect();
        let ours = steady
            .iter()
            .filter(|v| !trends::steps(v).is_empty())
            .count();
        let mut p: Vec<f64> = steady
            .iter()
            .map(|v| e_divisive(&logarithms(v)).1)
            .collect();
        p.sort_by(f64::total_cmp);
        let level = p[ours.max(4)];
        assert!(ours <= 12, "seed {seed}: {ours} of 400");
        for (step, outliers) in [(0.06, 0.0), (0.08, 0.0), (0.08, 0.05)] {
            let all: Vec<Vec<f64>> = (0..200).map(|_| series(step, outliers)).collect();
            let ours = all
                .iter()
                .filter(|v| trends::steps(v).iter().any(|at| near(*at)));
            let theirs = all.iter().filter(|values| {
                let (at, p) = e_divisive(&logarithms(values));
                near(at) && p <= level
            });
            let (ours, theirs) = (ours.count(), theirs.count());
            let said =
                format!("seed {seed}: a step of {step}, outliers {outliers}: {ours} {theirs}");
            println!("{said} of 200");
            assert!(ours + 10 >= theirs, "{said}");
        }
    }
}
