//! Small fleets without chance: what is said of each situation.

use diskfacts_facts::fleet::{
    Again, Disturbance, Member, Options, Outcome, Peers, Sample, Screen, TrialSample, Verdict,
    WhyCleared, WhyMissing, WhyUndecided, screen, second_look, verdict,
};
use diskfacts_record::comparison::Measure;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A second look is a day later.
const LATER_S: i64 = 86_400;

pub(crate) fn peers(model: &str) -> Arc<Peers> {
    Arc::new(Peers(BTreeMap::from([("model".into(), model.into())])))
}

/// One run of one stage, its trials by these factors around a rate of 1000.
pub(crate) fn sample(host: usize, started_s: i64, trials: &[f64]) -> Sample {
    Sample {
        member: Member {
            host: format!("c{host:02}"),
            machine: None,
            target: "/data".into(),
        },
        run: format!("{started_s}-{host}"),
        started_s,
        peers: peers("X100"),
        stage: "log-write".into(),
        measure: Measure::Iops,
        trials: trials
            .iter()
            .map(|factor| TrialSample {
                value: 1000.0 * factor,
                disturbed: None,
            })
            .collect(),
    }
}

/// So much of a percent that disks and trials differ by, without chance.
fn wobble(at: usize) -> f64 {
    1.0 + 0.002 * ((at * 7 % 11) as f64 - 5.0)
}

/// A small number.
fn signed(small: usize) -> i64 {
    i64::try_from(small).expect("a small number")
}

/// A fleet of so many hosts that differ by 1 %, those that are named by a factor besides.
fn fleet(hosts: usize, started_s: i64, factors: &[(usize, f64)]) -> Vec<Sample> {
    let of = |host: usize| {
        let factor = factors.iter().find(|(of, _)| *of == host);
        let factor = factor.map_or(1.0, |(_, factor)| *factor) * wobble(host);
        let trials: Vec<f64> = (0..5).map(|trial| factor * wobble(trial + host)).collect();
        sample(host, started_s + signed(host), &trials)
    };
    (0..hosts).map(of).collect()
}

fn look(samples: &[Sample]) -> Screen {
    screen(samples, &Options::default())
}

fn suspects(screen: &Screen) -> Vec<&str> {
    let suspects = 0..screen.suspects.len();
    suspects
        .map(|at| screen.value(at).member.host.as_str())
        .collect()
}

fn only(verdict: &Verdict) -> Outcome {
    let [judged] = verdict.judged.as_slice() else {
        panic!("{verdict:?}");
    };
    judged.outcome
}

#[test]
fn one_disk_that_is_slow_in_both_looks_is_odd_by_as_much_as_it_is() {
    let screen = look(&fleet(30, 0, &[(7, 0.75)]));
    assert_eq!(suspects(&screen), ["c07"]);
    let suspect = &screen.suspects[0];
    assert!((suspect.slower - 0.25).abs() < 0.02, "{suspect:?}");
    let verdict = verdict(&screen, &fleet(30, LATER_S, &[(7, 0.8)]));
    assert_eq!(only(&verdict), Outcome::Odd);
    let judged = &verdict.judged[0];
    // By the second look: in the first it was chosen.
    assert!((judged.slower.unwrap() - 0.2).abs() < 0.02, "{judged:?}");
    let [low, high] = judged.interval.unwrap();
    assert!(
        0.15 < low && low < 0.2 && 0.2 < high && high < 0.25,
        "{judged:?}"
    );
    assert!(judged.q <= 0.05 && judged.p <= judged.q && judged.looks == 2);
}

#[test]
fn what_becomes_of_a_suspect_that_is_not_odd() {
    let screen = look(&fleet(30, 0, &[(7, 0.75)]));
    let outcome = |later: &[Sample]| only(&verdict(&screen, later));
    assert_eq!(
        outcome(&fleet(30, LATER_S, &[])),
        Outcome::Cleared(WhyCleared::NotAgain)
    );
    assert_eq!(
        outcome(&fleet(30, LATER_S, &[(7, 0.94)])),
        Outcome::Cleared(WhyCleared::LessThanLeast)
    );
    assert_eq!(
        outcome(&fleet(30, LATER_S, &[(7, 0.905)])),
        Outcome::Undecided(WhyUndecided::NearLeast)
    );
    assert_eq!(outcome(&[]), Outcome::Undecided(WhyUndecided::NotAgain));
    let soon = fleet(30, 1800, &[(7, 0.75)]);
    assert_eq!(outcome(&soon), Outcome::Undecided(WhyUndecided::TooSoon));
    let few = fleet(8, LATER_S, &[(7, 0.75)]);
    assert_eq!(outcome(&few), Outcome::Undecided(WhyUndecided::TooFewPeers));
    let enough = fleet(9, LATER_S, &[(7, 0.75)]);
    assert_eq!(outcome(&enough), Outcome::Odd);
}

#[test]
fn slow_in_one_of_two_later_looks_is_not_odd() {
    let screen = look(&fleet(30, 0, &[(7, 0.75)]));
    let mut later = fleet(30, LATER_S, &[(7, 0.75)]);
    later.extend(fleet(30, 2 * LATER_S, &[]));
    let verdict = verdict(&screen, &later);
    assert_eq!(verdict.judged[0].looks, 3);
    assert_eq!(only(&verdict), Outcome::Cleared(WhyCleared::NotAgain));
}

#[test]
fn where_a_fifth_of_ordinary_runs_are_as_slow_a_disk_is_not_called_odd_by_two_looks() {
    // By this and that, as disturbances are: the first by a quarter, the others by more and less.
    let factors = [0.75, 0.9, 0.62, 0.82, 0.7, 0.55, 0.86, 0.66, 0.78, 0.5];
    let slow: Vec<(usize, f64)> = (0..50).step_by(5).zip(factors).collect();
    let screen = look(&fleet(50, 0, &slow));
    assert_eq!(screen.suspects.len(), 10);
    // Only the first is slow again: of ten disturbed disks chance has that, too.
    let verdict = verdict(&screen, &fleet(50, LATER_S, &slow[..1]));
    let of_first = (verdict.judged.iter())
        .find(|judged| screen.value(judged.suspect).member.host == "c00")
        .unwrap();
    assert_eq!(
        of_first.outcome,
        Outcome::Undecided(WhyUndecided::MayBeDisturbed)
    );
    let cleared = verdict
        .judged
        .iter()
        .filter(|judged| judged.outcome == Outcome::Cleared(WhyCleared::NotAgain));
    assert_eq!(cleared.count(), 9);
}

#[test]
fn a_second_look_that_is_slow_for_all_clears_nobody_and_accuses_nobody() {
    let screen = look(&fleet(30, 0, &[(7, 0.75), (9, 0.75)]));
    let mut later = fleet(30, LATER_S, &[(7, 0.75)]);
    for trial in later.iter_mut().flat_map(|sample| &mut sample.trials) {
        trial.value *= 0.6;
    }
    let verdict = verdict(&screen, &later);
    let outcomes: Vec<(&str, Outcome)> = (verdict.judged.iter())
        .map(|j| (screen.value(j.suspect).member.host.as_str(), j.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("c07", Outcome::Odd),
            ("c09", Outcome::Cleared(WhyCleared::NotAgain))
        ]
    );
}

#[test]
fn too_few_peers_are_no_ground_for_a_claim_and_are_named() {
    let mut samples = fleet(8, 0, &[(3, 0.2)]);
    let screen = look(&samples);
    assert!(screen.cells.is_empty() && screen.suspects.is_empty());
    assert_eq!(screen.too_few[0].members.len(), 8);
    // A ninth of another model is no peer; one of theirs is.
    samples.push(sample(8, 0, &[1.0]));
    samples[8].peers = peers("Y200");
    assert!(look(&samples).cells.is_empty());
    samples[8].peers = peers("X100");
    assert_eq!(suspects(&look(&samples)), ["c03"]);
}

#[test]
fn a_disk_without_a_figure_is_said_and_not_judged() {
    let mut samples = fleet(13, 0, &[]);
    for trial in &mut samples[1].trials {
        trial.disturbed = Some(Disturbance::StolenTime);
    }
    for (trial, value) in
        samples[2]
            .trials
            .iter_mut()
            .zip([0.0, f64::NAN, -1.0, f64::INFINITY, 0.0])
    {
        trial.value = value;
    }
    samples[3].trials.clear();
    samples[4].trials[0].disturbed = Some(Disturbance::OtherIo);
    // Has another stage only, which too few have.
    samples[5].stage = "other".into();
    let screen = look(&samples);
    let missing: Vec<(&str, &str, WhyMissing)> = (screen.missing.iter())
        .map(|m| (m.member.host.as_str(), m.stage.as_str(), m.why))
        .filter(|(_, stage, _)| *stage == "log-write")
        .collect();
    assert_eq!(
        missing,
        [
            (
                "c01",
                "log-write",
                WhyMissing::AllDisturbed(Disturbance::StolenTime)
            ),
            ("c02", "log-write", WhyMissing::NoFigure),
            ("c03", "log-write", WhyMissing::NoFigure),
            ("c05", "log-write", WhyMissing::NotMeasured),
        ]
    );
    assert!(screen.suspects.is_empty());
    assert_eq!(screen.left_out[&Disturbance::StolenTime], 5);
    assert_eq!(screen.left_out[&Disturbance::OtherIo], 1);
    assert_eq!(screen.unusable, 5);
    assert_eq!(screen.cells[0].values.len(), 9);
}

#[test]
fn disks_that_do_not_differ_have_a_suspect_in_one_that_does_by_enough() {
    let equal = |host, factor| sample(host, 0, &[factor; 3]);
    let all = |odd: f64| {
        let mut samples: Vec<Sample> = (0..20).map(|host| equal(host, 1.0)).collect();
        samples[4] = equal(4, odd);
        look(&samples)
    };
    assert!(suspects(&all(1.0)).is_empty());
    assert!(suspects(&all(1.5)).is_empty());
    assert!(suspects(&all(0.96)).is_empty());
    assert_eq!(suspects(&all(0.8)), ["c04"]);
    assert!(all(0.8).suspects[0].deviations.is_infinite());
}

#[test]
fn two_generations_under_one_name_are_told_apart_and_each_has_its_odd_disk() {
    // Four of ten are slower by 30 %, one of either by 20 % besides.
    let factors: Vec<(usize, f64)> = (0..50)
        .map(|host| {
            let generation = if host % 5 < 2 { 0.7 } else { 1.0 };
            let odd = if host == 10 || host == 14 { 0.8 } else { 1.0 };
            (host, generation * odd)
        })
        .collect();
    let screen = look(&fleet(50, 0, &factors));
    let kinds: Vec<((usize, usize), usize)> = (screen.cells.iter())
        .map(|cell| (cell.kind, cell.values.len()))
        .collect();
    assert_eq!(kinds, [((1, 2), 30), ((2, 2), 20)]);
    let mut found = suspects(&screen);
    found.sort_unstable();
    assert_eq!(found, ["c10", "c14"]);
    let again = second_look(&screen, 1);
    let verdict = verdict(&screen, &{
        let named = |again: &Again| again.member.host[1..].parse::<usize>().unwrap();
        let hosts: Vec<usize> = again.members.iter().map(named).collect();
        let mut later = fleet(50, LATER_S, &factors);
        later.retain(|s| hosts.contains(&s.member.host[1..].parse().unwrap()));
        later
    });
    assert!(
        verdict.judged.iter().all(|j| j.outcome == Outcome::Odd),
        "{verdict:?}"
    );
}

#[test]
fn only_the_newest_run_of_a_disk_is_looked_at() {
    let mut samples = fleet(12, 0, &[(3, 0.5)]);
    samples.extend(fleet(12, LATER_S, &[(4, 0.5)]));
    let screen = look(&samples);
    assert_eq!(suspects(&screen), ["c04"]);
    assert_eq!((screen.members, screen.older_runs), (12, 12));
}

#[test]
fn the_second_look_has_the_suspects_and_twenty_peers_by_the_seed() {
    let screen = look(&fleet(100, 0, &[(7, 0.75), (8, 0.7)]));
    let again = second_look(&screen, 5);
    assert_eq!(again.members.len(), 22);
    assert_eq!(again, second_look(&screen, 5));
    assert_ne!(again, second_look(&screen, 6));
    assert_eq!(again.not_before_s, 99 + 3600);
    let none = look(&fleet(100, 0, &[]));
    assert!(second_look(&none, 5).members.is_empty());
}

/// Forty disks in three stages, of which eight are of another generation, and one more is slow in
/// all stages alike.
fn eight_of_another_generation() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (stage, of_generation) in [0.3_f64, 0.4, 0.35].into_iter().enumerate() {
        let of = |host: usize| {
            let slower = match host {
                0..8 => of_generation,
                8 => 0.42,
                _ => 0.0,
            };
            let trials = [wobble(host) * (-slower).exp(); 5];
            let mut sample = sample(host, signed(host), &trials);
            sample.stage = format!("stage-{stage}");
            sample
        };
        samples.extend((0..40).map(of));
    }
    samples
}

#[test]
fn a_kind_of_eight_disks_has_seven_peers_each_and_is_not_judged() {
    // As the stages see it, the kinds have nine disks; by its pattern one of these is of the others.
    let screen = look(&eight_of_another_generation());
    assert_eq!(screen.cells.len(), 3);
    assert!(screen.cells.iter().all(|cell| cell.values.len() == 32));
    assert_eq!(screen.too_few.len(), 3);
    for few in &screen.too_few {
        let hosts = few.members.iter().map(|member| member.host.as_str());
        let expected: Vec<String> = (0..8).map(|host| format!("c{host:02}")).collect();
        assert_eq!(hosts.collect::<Vec<_>>(), expected);
        // The other kind is judged, so they are told apart from it.
        assert_eq!(few.kind.1, 2);
        assert!(screen.cells.iter().all(|cell| cell.kind != few.kind));
    }
    assert_eq!(suspects(&screen), ["c08"; 3]);

    // In one stage they are no kind, and slow disks.
    let slow: Vec<(usize, f64)> = (0..8).map(|at| (6 * at, 0.7)).collect();
    let screen = look(&fleet(53, 0, &slow));
    assert_eq!(screen.cells.len(), 1);
    assert_eq!(screen.suspects.len(), 8);
    // With one more they are one.
    let slow: Vec<(usize, f64)> = (0..9).map(|at| (6 * at, 0.7)).collect();
    let screen = look(&fleet(53, 0, &slow));
    assert_eq!(screen.cells.len(), 2);
    assert_eq!(screen.suspects.len(), 0);
}
