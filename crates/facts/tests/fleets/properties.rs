//! What holds for every fleet.

use crate::outcomes::{peers, sample};
use crate::simulated::{Fleet, Noise};
use diskfacts_facts::fleet::{
    Disturbance, Options, Sample, Screen, Verdict, screen, second_look, verdict,
};
use diskfacts_plan::rng::Rng;
use diskfacts_record::comparison::Measure;
use proptest::prelude::*;

/// Both looks at a small fleet of this kind.
fn looks(seed: u64, noise: Noise) -> (Vec<Sample>, Vec<Sample>) {
    let mut fleet = Fleet::new(seed, noise, (120, 3), 0.25);
    let first = fleet.first_look();
    let again = second_look(&screen(&first, &Options::default()), seed);
    let later = fleet.again(&again.members, again.trials, 1);
    (first, later)
}

fn judged(first: &[Sample], later: &[Sample]) -> (Screen, Verdict) {
    let screen = screen(first, &Options::default());
    let verdict = verdict(&screen, later);
    (screen, verdict)
}

fn shuffled(samples: &[Sample], rng: &mut Rng) -> Vec<Sample> {
    let mut samples = samples.to_vec();
    for last in (1..samples.len()).rev() {
        let other = rng.below(last as u64 + 1) as usize;
        samples.swap(last, other);
    }
    samples
}

fn any_noise() -> impl Strategy<Value = Noise> {
    prop::sample::select(Noise::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_order_of_samples_does_not_matter(seed in any::<u64>(), noise in any_noise()) {
        let (first, later) = looks(seed, noise);
        let mut rng = Rng::new(seed);
        let mixed = (shuffled(&first, &mut rng), shuffled(&later, &mut rng));
        prop_assert_eq!(judged(&first, &later), judged(&mixed.0, &mixed.1));
    }

    #[test]
    fn a_run_that_is_given_twice_counts_once(seed in any::<u64>(), noise in any_noise()) {
        let (first, later) = looks(seed, noise);
        let (screen, verdict) = judged(&first, &later);
        let twice = [first.clone(), first].concat();
        let (again, judged) = judged(&twice, &later);
        let members = |screen: &Screen| -> Vec<_> {
            (0..screen.suspects.len()).map(|at| screen.value(at).member.clone()).collect()
        };
        prop_assert_eq!(members(&screen), members(&again));
        prop_assert_eq!(verdict.judged.len(), judged.judged.len());
    }

    #[test]
    fn the_unit_of_the_figures_does_not_matter(
        seed in any::<u64>(), noise in any_noise(), power in -9_i32..9,
    ) {
        let (first, later) = looks(seed, noise);
        // By a power of two, which rounds nothing.
        let scaled = |samples: &[Sample]| {
            let mut samples = samples.to_vec();
            for trial in samples.iter_mut().flat_map(|sample| &mut sample.trials) {
                trial.value *= 2.0_f64.powi(power);
            }
            samples
        };
        let of = |(screen, verdict): (Screen, Verdict)| -> Vec<_> {
            (verdict.judged.iter())
                .map(|j| (screen.value(j.suspect).member.clone(), j.outcome))
                .collect()
        };
        prop_assert_eq!(
            of(judged(&first, &later)),
            of(judged(&scaled(&first), &scaled(&later)))
        );
    }

    #[test]
    fn latencies_are_judged_as_the_rates_that_they_are_one_over(
        seed in any::<u64>(), noise in any_noise(),
    ) {
        let (first, later) = looks(seed, noise);
        let inverted = |samples: &[Sample]| {
            let mut samples = samples.to_vec();
            for sample in &mut samples {
                sample.measure = Measure::LatencyP50Ns;
                // So few trials that the median is one of them, not the mean of two.
                sample.trials.truncate(5);
                for trial in &mut sample.trials {
                    trial.value = 1.0 / trial.value;
                }
            }
            samples
        };
        let truncated = |samples: &[Sample]| {
            let mut samples = samples.to_vec();
            for sample in &mut samples {
                sample.trials.truncate(5);
            }
            samples
        };
        let of = |(screen, verdict): (Screen, Verdict)| {
            let of = verdict.judged.iter().map(|j| (screen.value(j.suspect).member.clone(), j.outcome));
            of.collect::<Vec<_>>()
        };
        prop_assert_eq!(
            of(judged(&truncated(&first), &truncated(&later))),
            of(judged(&inverted(&first), &inverted(&later)))
        );
    }

    #[test]
    fn a_fleet_without_noise_has_no_suspect(hosts in 0_usize..40, value in 1e-3_f64..1e9) {
        let samples: Vec<Sample> = (0..hosts).map(|host| sample(host, 7, &[value; 4])).collect();
        prop_assert!(screen(&samples, &Options::default()).suspects.is_empty());
    }

    #[test]
    fn whatever_the_figures_are_all_that_is_said_are_numbers(
        values in prop::collection::vec(
            (0_usize..30, -4_000_000_i64..4_000_000, prop::num::f64::ANY, any::<bool>(), any::<bool>()),
            0..120,
        ),
        split in 0_usize..120,
    ) {
        let samples: Vec<Sample> = values
            .into_iter()
            .map(|(host, started_s, value, disturbed, other)| {
                let mut sample = sample(host, started_s, &[value, value, 1.0]);
                sample.trials[2].disturbed = disturbed.then_some(Disturbance::OtherIo);
                if other {
                    sample.peers = peers("Y200");
                }
                sample
            })
            .collect();
        let (first, later) = samples.split_at(split.min(samples.len()));
        let (screen, verdict) = judged(first, later);
        for cell in &screen.cells {
            prop_assert!(cell.median > 0.0 && cell.spread_ln >= 0.0, "{:?}", cell);
            prop_assert!(cell.values.iter().all(|v| v.slower_ln.is_finite()), "{:?}", cell);
        }
        for judged in &verdict.judged {
            prop_assert!((0.0..=1.0).contains(&judged.p) && (0.0..=1.0).contains(&judged.q));
            prop_assert!(judged.slower.is_none_or(f64::is_finite), "{:?}", judged);
        }
    }
}
