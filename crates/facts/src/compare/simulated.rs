//! Error rates, over pairs of runs whose truth is known.

use super::{Comparison, Part, SAME_WITHIN, Selection, compare};
use crate::testing::{self, normal};
use diskfacts_plan::rng::Rng;
use diskfacts_record::comparison::Change;
use diskfacts_record::{Latency, PackedHistograms, Run};
use std::collections::BTreeMap;

/// Printed by every assertion that fails: the same seed gives the same pairs.
const SEED: u64 = 20_261_121;
/// Pairs of runs of each kind.
const PAIRS: u64 = 1000;

pub(super) fn selection<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Selection<'a> {
    Selection {
        given: "given".into(),
        parts: runs
            .into_iter()
            .map(|run| Part {
                run,
                only: BTreeMap::new(),
            })
            .collect(),
    }
}

pub(super) fn of(a: &Run, b: &Run) -> Comparison {
    compare(&selection([a]), &selection([b]), SAME_WITHIN, &[])
}

/// A run of so many stages and trials, without latencies.
fn template(stages: usize, trials: u32) -> Run {
    let mut plan = diskfacts_plan::builtin::plan("survey").unwrap();
    plan.stages.truncate(stages);
    plan.trials = 1;
    let mut run = testing::run_of(plan, testing::stack());
    let first = std::mem::take(&mut run.trials);
    for number in 1..=trials {
        for trial in &first {
            let mut trial = trial.clone();
            trial.number = number;
            trial.order = run.trials.len() as u32 + 1;
            trial.latency_ns = Latency::default();
            trial.histograms = PackedHistograms::default();
            run.trials.push(trial);
        }
    }
    run
}

/// What a trial's rate is multiplied by.
type Noise = fn(&mut Rng) -> f64;

const NOISES: [(&str, Noise); 5] = [
    ("normal, 2 %", |rng| 1.0 + 0.02 * normal(rng)),
    ("log-normal, sigma 0.3", |rng| (0.3 * normal(rng)).exp()),
    // Student's t of two degrees of freedom has no variance.
    ("heavy on both sides", |rng| {
        let tail = ((-rng.unit().ln() - rng.unit().ln()) / 2.0)
            .sqrt()
            .max(1e-3);
        (0.03 * normal(rng) / tail).exp()
    }),
    // A disturbance only slows down.
    ("exponential slowing", |rng| (0.2 * rng.unit().ln()).exp()),
    ("one trial in ten at half speed", |rng| {
        (1.0 + 0.01 * normal(rng)) * if rng.below(10) == 0 { 0.5 } else { 1.0 }
    }),
];

fn draw(run: &mut Run, rng: &mut Rng, noise: Noise, factor: f64) {
    for trial in &mut run.trials {
        trial.throughput_bytes_per_s = 2e8 * factor * noise(rng);
    }
}

/// In how many pairs something holds, when the rates of the second run are
/// those of the first times `factor`.
fn pairs_with(
    (stages, trials): (usize, [u32; 2]),
    noise: Noise,
    factor: f64,
    holds: impl Fn(&Comparison) -> bool,
) -> u64 {
    let mut rng = Rng::for_part(SEED, u64::from(trials[0]) * 64 + u64::from(trials[1]));
    let [mut a, mut b] = trials.map(|trials| template(stages, trials));
    let mut counted = 0;
    for _ in 0..PAIRS {
        draw(&mut a, &mut rng, noise, 1.0);
        draw(&mut b, &mut rng, noise, factor);
        counted += u64::from(holds(&of(&a, &b)));
    }
    counted
}

fn any_differs(comparison: &Comparison) -> bool {
    let mut stages = comparison.stages.iter();
    stages.any(|stage| matches!(stage.change, Change::Faster | Change::Slower))
}

#[test]
fn of_pairs_without_a_difference_at_most_5_percent_are_called_different() {
    for (name, noise) in NOISES {
        for (stages, trials) in [(4, [5, 5]), (1, [10, 10]), (4, [3, 9])] {
            let called = pairs_with((stages, trials), noise, 1.0, any_differs);
            assert!(
                called <= PAIRS / 20,
                "seed {SEED}: {name}, {stages} stages, {trials:?} trials: {called} of {PAIRS}"
            );
        }
    }
}

#[test]
fn of_ten_stages_without_a_difference_at_most_5_percent_have_one_called_different() {
    let (name, noise) = NOISES[0];
    let called = pairs_with((10, [5, 5]), noise, 1.0, any_differs);
    assert!(
        called <= PAIRS / 20,
        "seed {SEED}: {name}: {called} of {PAIRS}"
    );
    // Nor is the test asleep.
    assert!(
        called >= PAIRS / 100,
        "seed {SEED}: {name}: {called} of {PAIRS}"
    );
}

#[test]
fn five_percent_are_found_in_ten_trials_of_2_percent_noise_in_90_percent_of_pairs() {
    let noise = NOISES[0].1;
    for factor in [0.95, 1.05] {
        let found = pairs_with((1, [10, 10]), noise, factor, |comparison| {
            let wanted = if factor < 1.0 {
                Change::Slower
            } else {
                Change::Faster
            };
            comparison.stages[0].change == wanted
        });
        assert!(found >= PAIRS * 9 / 10, "seed {SEED}: {factor}: {found}");
    }
}

#[test]
fn a_difference_of_5_percent_is_called_the_same_within_5_percent_in_at_most_5_percent() {
    for trials in [5, 10, 20] {
        let noise: Noise = |rng| (0.01 * normal(rng)).exp();
        let called = pairs_with((1, [trials, trials]), noise, 1.05, |comparison| {
            comparison.stages[0].change == Change::Same
        });
        assert!(called <= PAIRS / 20, "seed {SEED}: {trials}: {called}");
    }
}

#[test]
fn intervals_hold_the_true_difference_in_at_least_95_percent() {
    for (name, noise) in NOISES {
        let held = pairs_with((1, [5, 5]), noise, 0.8, |comparison| {
            let interval = comparison.stages[0].speed.as_ref().unwrap().interval;
            interval.is_some_and(|[low, high]| low <= -0.2 && -0.2 <= high)
        });
        assert!(held >= PAIRS * 95 / 100, "seed {SEED}: {name}: {held}");
    }
}

#[test]
fn what_differs_from_run_to_run_is_no_difference_between_sets_of_runs() {
    let mut rng = Rng::new(SEED);
    let mut runs: Vec<Run> = (0..6).map(|_| template(1, 5)).collect();
    let (mut called, mut called_alone) = (0, 0);
    for _ in 0..PAIRS {
        for run in &mut runs {
            let of_run = (0.05 * normal(&mut rng)).exp();
            draw(run, &mut rng, |rng| (0.01 * normal(rng)).exp(), of_run);
        }
        let (a, b) = runs.split_at(3);
        let comparison = compare(&selection(a), &selection(b), SAME_WITHIN, &[]);
        called += u64::from(any_differs(&comparison));
        called_alone += u64::from(any_differs(&of(&runs[0], &runs[3])));
    }
    assert!(called <= PAIRS / 20, "seed {SEED}: {called} of {PAIRS}");
    // One run against one cannot know it, and says so in the documentation.
    assert!(called_alone > PAIRS / 2, "seed {SEED}: {called_alone}");
}

#[test]
fn latencies_without_a_difference_are_called_different_in_at_most_1_percent_of_pairs() {
    let mut rng = Rng::new(SEED);
    let [mut a, mut b] = [0, 1].map(|_| template(1, 5));
    let pairs = 300;
    let mut called = 0;
    for _ in 0..pairs {
        for trial in a.trials.iter_mut().chain(&mut b.trials) {
            // The operations of a trial have something in common.
            let of_trial = 1e5 * (0.1 * normal(&mut rng)).exp();
            let values: Vec<(u64, u64)> = (0..400)
                .map(|_| ((of_trial * (0.5 * normal(&mut rng)).exp()) as u64, 1))
                .collect();
            testing::set_latencies(trial, &values);
        }
        let comparison = of(&a, &b);
        assert_eq!(comparison.stages[0].latency.len(), 3, "p50, p90, p99");
        called += u64::from(
            comparison.stages[0]
                .latency
                .iter()
                .any(|difference| matches!(difference.outcome, Change::Faster | Change::Slower)),
        );
    }
    // 1 % of 300, and what chance adds to it in one case of twenty.
    assert!(called <= 6, "seed {SEED}: {called} of {pairs}");
}
