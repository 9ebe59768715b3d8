//! Whether two groups of a fleet are told apart where they differ, and only there: simulated
//! fleets that are measured twice, and hosts of them that move.

use crate::simulated::{Fleet, Noise};
use crate::{fleets, number};
use diskfacts_facts::compare::Demanded;
use diskfacts_facts::fleet::{GroupOfFleet, Options, Sample, compare_groups};
use diskfacts_record::Comparison;
use diskfacts_record::comparison::{Change, Moved};

/// Share within which a difference counts as none, as `compare` has it.
const SAME_WITHIN: f64 = 0.05;

fn compared(a: &[Sample], b: &[Sample]) -> Comparison {
    let demands =
        ["slower:5%", "slower:3%"].map(|text| Demanded::parse(text).expect("a condition"));
    let side = |group: &str, samples| GroupOfFleet {
        given: group.to_owned(),
        group: group.to_owned(),
        samples,
    };
    let options = Options::default();
    compare_groups(
        &side("a", a),
        &side("b", b),
        SAME_WITHIN,
        &demands,
        &options,
    )
}

/// These samples of a fleet that is slower by this share.
fn slower(mut samples: Vec<Sample>, by: f64) -> Vec<Sample> {
    for trial in samples.iter_mut().flat_map(|sample| &mut sample.trials) {
        trial.value *= 1.0 - by;
    }
    samples
}

/// What many fleets came to, as shares of them.
#[derive(Debug, Default, Clone, Copy)]
struct Told {
    /// `--fail-if slower:5%` held.
    by_5: f64,
    /// `--fail-if slower:3%` held.
    by_3: f64,
    /// A stage was called slower, by however little.
    slower: f64,
    /// A stage was called the same.
    same: f64,
    /// The interval of the first stage had the truth in it.
    covered: f64,
    /// Hosts that were said to have moved by themselves, a fleet.
    movers: f64,
}

fn told(noise: Noise, hosts: usize, by: f64) -> (String, Told) {
    let first = number("DISKFACTS_FLEETS_SEED", 1);
    let mut told = Told::default();
    for seed in first..first + fleets() {
        let mut fleet = Fleet::new(seed, noise, (hosts, 0), 0.0);
        let a = fleet.group(0);
        let b = slower(fleet.group(1), by);
        let comparison = compared(&a, &b);
        let any = |change| comparison.stages.iter().any(|stage| stage.change == change);
        let share = |so: bool| f64::from(u8::from(so));
        told.by_5 += share(!comparison.demands[0].holds.is_empty());
        told.by_3 += share(!comparison.demands[1].holds.is_empty());
        told.slower += share(any(Change::Slower));
        told.same += share(any(Change::Same));
        let speed = comparison.stages[0].speed.as_ref();
        let [low, high] = speed.and_then(|s| s.interval).expect("a spread");
        told.covered += share(low <= -by && -by <= high);
        let stages = &comparison.fleet.as_ref().expect("hosts").stages;
        let movers = stages
            .iter()
            .flat_map(|stage| stage.movers.iter().flatten());
        told.movers += movers.filter(|m| m.moved == Moved::ByItself).count() as f64;
    }
    let n = fleets() as f64;
    let all = [
        &mut told.by_5,
        &mut told.by_3,
        &mut told.slower,
        &mut told.same,
        &mut told.covered,
        &mut told.movers,
    ];
    for sum in all {
        *sum /= n;
    }
    let last = first + fleets() - 1;
    let said = format!("seeds {first} to {last}, {noise:?}, {hosts} hosts, {by} slower: {told:?}");
    println!("{said}");
    (said, told)
}

/// Above which a share of so many fleets is no chance, where it ought to be this: by three standard
/// deviations.
fn at_most(share: f64) -> f64 {
    share + 3.0 * (share * (1.0 - share) / fleets() as f64).sqrt()
}

#[test]
fn a_fleet_that_did_not_change_fails_no_build_whatever_the_noise() {
    for noise in Noise::ALL {
        for hosts in [500, 60, 10] {
            let (said, told) = told(noise, hosts, 0.0);
            // Slow hours that are too short, or have too few hosts, to be told are taken for hosts.
            let hours = noise == Noise::DisturbedHours;
            assert!(
                told.by_5 <= at_most(if hours { 0.02 } else { 0.001 }),
                "{said}"
            );
            assert!(
                told.by_3 <= at_most(if hours { 0.03 } else { 0.01 }),
                "{said}"
            );
            assert!(
                told.slower <= at_most(if hours { 0.15 } else { 0.05 }),
                "{said}"
            );
            assert!(told.movers < f64::EPSILON, "{said}");
        }
    }
}

#[test]
fn a_fleet_that_lost_a_tenth_fails_the_build() {
    for noise in Noise::ALL {
        for hosts in [500, 60, 10] {
            let (said, told) = told(noise, hosts, 0.1);
            // Of ten hosts, one or two in a slow hour blur what the others say.
            let is_blurred = hosts == 10 && noise == Noise::DisturbedHours;
            assert!(told.by_5 >= if is_blurred { 0.5 } else { 0.9 }, "{said}");
        }
    }
}

#[test]
fn a_loss_of_a_twentieth_is_seen_and_at_the_very_border_of_a_condition_half_of_the_time() {
    for noise in Noise::ALL {
        for hosts in [500, 60, 10] {
            let (said, told) = told(noise, hosts, 0.05);
            if hosts > 10 {
                assert!(told.by_3 >= 0.9, "{said}");
            }
            // Of three stages that lost as much one is beyond the border more often.
            if noise != Noise::GenerationsLikeOdd {
                assert!(told.by_5 <= at_most(0.6), "{said}");
            }
        }
    }
}

/// What many fleets came to, of whose 500 hosts five got slower.
#[derive(Debug, Default, Clone, Copy)]
struct Movers {
    /// Share of those that were said to have moved by themselves.
    recall: f64,
    /// Others that were, a fleet.
    false_alarms: f64,
    /// Hosts that were suspects, a fleet.
    suspects: f64,
}

fn movers(noise: Noise, by: f64, looks: i64) -> (String, Movers) {
    let first = number("DISKFACTS_FLEETS_SEED", 1);
    let mut sum = Movers::default();
    for seed in first..first + fleets() {
        let mut fleet = Fleet::new(seed, noise, (500, 0), 0.0);
        let a = fleet.group(0);
        let mut b: Vec<Sample> = (1..=looks).flat_map(|look| fleet.group(look)).collect();
        let moved = |sample: &Sample| sample.member.host.as_str() < "c00005";
        for sample in b.iter_mut().filter(|sample| moved(sample)) {
            for trial in &mut sample.trials {
                trial.value *= 1.0 - by;
            }
        }
        let comparison = compared(&a, &b);
        let stages = &comparison.fleet.as_ref().expect("hosts").stages;
        let mut right = std::collections::BTreeSet::new();
        let mut wrong = std::collections::BTreeSet::new();
        let mut suspects = std::collections::BTreeSet::new();
        for mover in stages
            .iter()
            .flat_map(|stage| stage.movers.iter().flatten())
        {
            let host = mover.name.host.as_str();
            let is_right = host < "c00005" && mover.worse;
            match mover.moved {
                Moved::Suspect => suspects.insert(host),
                Moved::ByItself if is_right => right.insert(host),
                Moved::ByItself => wrong.insert(host),
            };
        }
        sum.recall += right.len() as f64 / 5.0;
        sum.false_alarms += wrong.len() as f64;
        sum.suspects += suspects.len() as f64;
    }
    let n = fleets() as f64;
    let told = Movers {
        recall: sum.recall / n,
        false_alarms: sum.false_alarms / n,
        suspects: sum.suspects / n,
    };
    let last = first + fleets() - 1;
    let said = format!(
        "seeds {first} to {last}, {noise:?}, five of 500 {by} slower, {looks} looks: {told:?}"
    );
    println!("{said}");
    (said, told)
}

#[test]
fn hosts_that_moved_are_suspects_after_one_look_and_told_from_disturbed_runs_by_the_next() {
    for noise in Noise::ALL {
        let (said, one) = movers(noise, 0.2, 1);
        assert!(one.recall < f64::EPSILON && one.suspects >= 4.0, "{said}");
        let (said, two) = movers(noise, 0.2, 2);
        assert!(
            two.false_alarms <= 0.5 + 3.0 * (0.5 / fleets() as f64).sqrt(),
            "{said}"
        );
        // One run in ten of the earlier group was disturbed, and hides what its host did since.
        let hours = noise == Noise::DisturbedHours;
        assert!(two.recall >= if hours { 0.5 } else { 0.85 }, "{said}");
        let (said, three) = movers(noise, 0.2, 3);
        assert!(three.recall >= 0.85 && three.false_alarms <= 0.5, "{said}");
    }
}
