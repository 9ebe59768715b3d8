//! Stated intervals held against simulation: they hold the truth as often as they
//! say, for the distributions that trials and series have.

use super::*;
use crate::stopping;
use crate::testing::normal;
use diskfacts_plan::rng::Rng;

/// Simulated samples of each kind.
const SAMPLES: u32 = 1000;

/// 2 % of noise around 100.
fn noisy(rng: &mut Rng) -> f64 {
    100.0 + 2.0 * normal(rng)
}

/// A tail to the right.
fn log_normal(rng: &mut Rng) -> f64 {
    (0.5 * normal(rng)).exp()
}

/// Six of ten around 100, the others around 80: a disk with two states.
fn two_modes(rng: &mut Rng) -> f64 {
    let centre = if rng.unit() <= 0.6 { 100.0 } else { 80.0 };
    centre + 2.0 * normal(rng)
}

/// The median of 60 % around 100 and 40 % around 80, standard deviation 2: with all of
/// the lower ones below it, a sixth of the upper ones, whose quantile is -0.967 422.
const OF_TWO_MODES: f64 = 100.0 - 2.0 * 0.967_422;

/// A series whose neighbours correlate by `r`, from its stationary distribution.
fn series(rng: &mut Rng, n: usize, r: f64) -> Vec<f64> {
    let mut last = normal(rng);
    let step = (1.0 - r * r).sqrt();
    (0..n)
        .map(|_| {
            last = r * last + step * normal(rng);
            100.0 + 2.0 * last
        })
        .collect()
}

/// The share of the samples whose interval holds the truth; a sample without an
/// interval counts in neither.
fn share(
    seed: u64,
    samples: u32,
    truth: f64,
    mut interval: impl FnMut(&mut Rng) -> Option<[f64; 2]>,
) -> (f64, u32) {
    let mut rng = Rng::new(seed);
    let (mut held, mut stated) = (0, 0);
    for _ in 0..samples {
        if let Some([low, high]) = interval(&mut rng) {
            stated += 1;
            held += u32::from(low <= truth && truth <= high);
        }
    }
    (f64::from(held) / f64::from(stated.max(1)), stated)
}

#[test]
fn the_interval_of_a_median_of_trials_holds_it_as_often_as_it_says() {
    type Draw = fn(&mut Rng) -> f64;
    let kinds: [(&str, Draw, f64); 3] = [
        ("normal", noisy, 100.0),
        ("log-normal", log_normal, 1.0),
        ("bimodal", two_modes, OF_TWO_MODES),
    ];
    let seed = 1;
    for (name, draw, truth) in kinds {
        for n in [6, 7, 8, 9, 10, 11, 12, 13, 20, 30] {
            let (held, stated) = share(seed, SAMPLES, truth, |rng| {
                let values: Vec<f64> = (0..n).map(|_| draw(rng)).collect();
                Some(median_ci(&values, 0.95)?.interval)
            });
            assert_eq!(stated, SAMPLES);
            // The range of six holds it with 96.9 % exactly, so near to the 97 % that
            // chance may leave them: one standard error is 0.6 %.
            let most = if n == 6 { 0.98 } else { 0.97 };
            let wrong = format!("seed {seed}: {name}, {n} values: {held}");
            assert!((0.93..=most).contains(&held), "{wrong}");
        }
    }
}

#[test]
fn the_interval_of_a_median_of_a_series_holds_it_as_often_as_it_says() {
    let seed = 1;
    let mut all = Vec::new();
    let few = [(50, 0.3), (50, 0.5), (50, 0.7)];
    let many = [0.0, 0.3, 0.5, 0.7, 0.9].map(|r| (200, r));
    for (n, r) in few.into_iter().chain(many) {
        let (held, stated) = share(seed, SAMPLES, 100.0, |rng| {
            Some(median_ci(&series(rng, n, r), 0.95)?.interval)
        });
        assert_eq!(stated, SAMPLES);
        all.push((n, r, held));
    }
    let wrong = all
        .iter()
        .filter(|(_, _, held)| !(0.93..=0.97).contains(held));
    assert_eq!(wrong.count(), 0, "seed {seed}: {all:?}");
}

#[test]
fn the_bootstrap_of_a_ratio_of_medians_holds_it_at_least_as_often_as_it_says() {
    let seed = 1;
    // Ten trials against ten, the second 5 % faster.
    let (held, stated) = share(seed, SAMPLES, 1.05, |rng| {
        let a: Vec<f64> = (0..10).map(|_| noisy(rng)).collect();
        let b: Vec<f64> = (0..10).map(|_| 1.05 * noisy(rng)).collect();
        let ratio = |a: &mut [f64], b: &mut [f64]| {
            a.sort_by(f64::total_cmp);
            b.sort_by(f64::total_cmp);
            (b[4] + b[5]) / (a[4] + a[5])
        };
        bootstrap_pair(&a, &b, 0.95, seed, ratio)
    });
    assert_eq!(stated, SAMPLES);
    assert!((0.95..=0.985).contains(&held), "seed {seed}: {held}");
}

#[test]
fn the_interval_of_trials_that_went_on_until_it_was_narrow_holds_what_it_says() {
    type Draw = fn(&mut Rng) -> f64;
    // From what is precise at once to what has all 30 trials of the survey.
    let kinds: [(&str, Draw, f64); 6] = [
        ("normal, 2 %", noisy, 100.0),
        ("normal, 3.5 %", |rng| 100.0 + 3.5 * normal(rng), 100.0),
        ("normal, 5 %", |rng| 100.0 + 5.0 * normal(rng), 100.0),
        ("normal, 8 %", |rng| 100.0 + 8.0 * normal(rng), 100.0),
        ("log-normal, 4 %", |rng| (0.04 * normal(rng)).exp(), 1.0),
        ("bimodal", two_modes, OF_TWO_MODES),
    ];
    let plan = diskfacts_plan::builtin::plan("survey").unwrap();
    let (least, most) = (stopping::trials_min(&plan), stopping::trials_max(&plan));
    let seed = 1;
    let mut all = Vec::new();
    for (name, draw, truth) in kinds {
        let mut trials = 0;
        let (held, stated) = share(seed, SAMPLES, truth, |rng| {
            let mut rates: Vec<f64> = (0..least).map(|_| draw(rng)).collect();
            while rates.len() < most as usize && !stopping::is_reached(&plan, &rates) {
                rates.push(draw(rng));
            }
            trials += rates.len();
            Some(median_ci(&rates, 0.95)?.interval)
        });
        assert_eq!(stated, SAMPLES);
        all.push((name, held, trials as f64 / f64::from(SAMPLES)));
    }
    let wrong = all
        .iter()
        .filter(|(_, held, _)| !(0.93..=0.97).contains(held));
    assert_eq!(wrong.count(), 0, "seed {seed}: {all:?}");
}
