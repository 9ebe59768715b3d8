use super::super::sample::{Disturbance, Peers, TrialSample};
use super::*;
use diskfacts_plan::rng::Rng;
use std::sync::Arc;

const STAGE: &str = "log-write";
const DAY_S: i64 = 86_400;

fn sample(host: &str, day: i64, value: f64, plan: &str) -> Sample {
    let of = [("kernel", "6.1"), ("plan", plan)];
    let of = of.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let trial = |factor: f64| TrialSample {
        value: value * factor,
        disturbed: None,
    };
    Sample {
        member: Member {
            host: host.to_owned(),
            machine: None,
            target: "/data".to_owned(),
        },
        run: format!("{host}-{day}"),
        started_s: day * DAY_S,
        peers: Arc::new(Peers(BTreeMap::from(of))),
        stage: STAGE.to_owned(),
        measure: Measure::Iops,
        trials: [0.99, 1.0, 1.01].map(trial).into(),
    }
}

/// So many hosts on a day, which differ by a half from each other, and by 1 % from day to day.
fn day(hosts: usize, day: i64, factor: impl Fn(usize) -> f64) -> Vec<Sample> {
    let mut rng = Rng::new(41 + day.unsigned_abs());
    let of = |host: usize| {
        let own = 1000.0 * (1.0 + 0.5 * (host % 7) as f64 / 7.0);
        let value = own * factor(host) * (1.0 + 0.02 * (rng.unit() - 0.5));
        sample(&format!("c{host:02}"), day, value, "fleet 1f3a")
    };
    (0..hosts).map(of).collect()
}

fn side<'a>(group: &str, samples: &'a [Sample]) -> GroupOfFleet<'a> {
    GroupOfFleet {
        given: format!("fleet/@{group}"),
        group: group.to_owned(),
        samples,
    }
}

fn compared(a: &[Sample], b: &[Sample], demands: &[&str]) -> Comparison {
    let demands: Vec<Demanded> = demands
        .iter()
        .map(|d| Demanded::parse(d).unwrap())
        .collect();
    let (a, b) = (side("monday", a), side("today", b));
    compare_groups(&a, &b, 0.05, &demands, &Options::default())
}

fn fleet(comparison: &Comparison) -> &FleetComparison {
    comparison.fleet.as_ref().unwrap()
}

fn movers(comparison: &Comparison) -> &[Mover] {
    fleet(comparison).stages[0].movers.as_deref().unwrap()
}

#[test]
fn a_fleet_that_lost_a_tenth_is_slower_by_it_though_its_hosts_differ_by_a_half() {
    let (a, b) = (day(30, 0, |_| 1.0), day(30, 1, |_| 0.9));
    let comparison = compared(&a, &b, &["slower:5%", "slower:20%", "p99:slower:5%"]);
    let speed = comparison.stages[0].speed.as_ref().unwrap();
    assert_eq!(speed.outcome, Change::Slower, "{speed:?}");
    assert_eq!((speed.unit, speed.count_a), (Unit::Host, 30));
    let [low, high] = speed.interval.unwrap();
    assert!(low < -0.1 && -0.1 < high && high - low < 0.02, "{speed:?}");
    let holds: Vec<bool> = comparison
        .demands
        .iter()
        .map(|d| !d.holds.is_empty())
        .collect();
    assert_eq!(holds, [true, false, false]);
    assert_eq!(comparison.demands[2].judged, 0);
    let overall = comparison.overall.as_ref().unwrap();
    assert!((overall.change + 0.1).abs() < 0.01, "{overall:?}");
    assert!(
        comparison
            .summary
            .starts_with("B is slower than A: 10 % slower"),
        "{}",
        comparison.summary
    );
    assert!(movers(&comparison).is_empty());
}

#[test]
fn a_fleet_against_itself_is_the_same_and_to_and_fro_are_each_others_inverse() {
    let (a, b) = (day(30, 0, |_| 1.0), day(30, 1, |_| 0.97));
    let same = compared(&a, &a, &["slower:0%"]);
    assert_eq!(same.stages[0].change, Change::Same);
    assert!(same.demands[0].holds.is_empty());
    let change = |comparison: &Comparison| comparison.stages[0].speed.as_ref().unwrap().change;
    let (to, fro) = (
        change(&compared(&a, &b, &[])),
        change(&compared(&b, &a, &[])),
    );
    assert!(((1.0 + to) * (1.0 + fro) - 1.0).abs() < 1e-12, "{to} {fro}");
    // Nor does the order of samples matter.
    let mut mixed = b.clone();
    mixed.reverse();
    assert_eq!(compared(&a, &b, &[]), compared(&a, &mixed, &[]));
}

#[test]
fn hosts_of_one_group_alone_are_named_and_in_no_figure() {
    let a = day(20, 0, |_| 1.0);
    // The new ones are ten times as fast, and would move any mean.
    let b = day(22, 1, |host| if host < 20 { 1.0 } else { 10.0 });
    let comparison = compared(&a[3..], &b, &[]);
    let fleet = fleet(&comparison);
    assert_eq!(fleet.hosts, 17);
    assert!(fleet.only_in_a.is_empty());
    let names: Vec<&str> = fleet
        .only_in_b
        .iter()
        .map(|name| name.host.as_str())
        .collect();
    assert_eq!(names, ["c00", "c01", "c02", "c20", "c21"]);
    assert_eq!(fleet.stages[0].pairs.len(), 17);
    assert_eq!(comparison.stages[0].change, Change::Same);
    let none = compared(&a[..3], &b[3..], &[]);
    assert_eq!(none.stages[0].because, ["no host is in both groups"]);
}

#[test]
fn another_plan_is_refused_for_its_stage_with_the_reason_and_one_host_of_it_is_left_out() {
    let a = day(12, 0, |_| 1.0);
    let mut b = day(12, 1, |_| 1.0);
    let planned = |sample: &mut Sample, plan: &str| {
        *sample = Sample {
            trials: sample.trials.clone(),
            ..self::sample(&sample.member.host, 1, 1.0, plan)
        };
    };
    planned(&mut b[4], "fleet 77aa");
    let comparison = compared(&a, &b, &[]);
    assert_eq!(comparison.stages[0].speed.as_ref().unwrap().count_a, 11);
    let without = &fleet(&comparison).stages[0].without;
    assert_eq!(without.len(), 1);
    assert_eq!(without[0].name.host, "c04");
    assert!(
        without[0]
            .why
            .starts_with("another plan: fleet 1f3a in A and fleet 77aa in B"),
        "{without:?}"
    );
    for sample in &mut b {
        planned(sample, "fleet 77aa");
    }
    let comparison = compared(&a, &b, &["slower:5%"]);
    assert_eq!(comparison.stages[0].change, Change::NotComparable);
    assert!(
        comparison.stages[0].statement.contains("another plan"),
        "{comparison:?}"
    );
    assert!(comparison.stages[0].because[0].ends_with("(12 hosts)"));
    assert_eq!(
        (
            comparison.demands[0].judged,
            comparison.demands[0].unjudged.len()
        ),
        (0, 1)
    );
}

#[test]
fn what_is_not_the_same_is_a_condition_and_disturbed_trials_are_left_out() {
    let a = day(12, 0, |_| 1.0);
    let mut b = day(12, 1, |_| 1.0);
    for sample in &mut b {
        let mut peers = (*sample.peers).clone();
        peers.0.insert("kernel".into(), "6.12".into());
        sample.peers = Arc::new(peers);
        for trial in &mut sample.trials[..2] {
            trial.value /= 10.0;
            trial.disturbed = Some(Disturbance::OtherIo);
        }
    }
    for trial in &mut b[7].trials {
        trial.disturbed = Some(Disturbance::StolenTime);
    }
    let comparison = compared(&a, &b, &[]);
    let [condition] = &comparison.conditions[..] else {
        panic!("{:?}", comparison.conditions);
    };
    assert_eq!(condition.what, "kernel of 12 hosts");
    assert_eq!(
        (&condition.a[..], &condition.b[..]),
        (&["6.1".to_owned()][..], &["6.12".to_owned()][..])
    );
    // A tenth of the rate would be seen, also in the median of three.
    let change = comparison.stages[0].speed.as_ref().unwrap().change;
    assert!(change.abs() < 0.02, "{comparison:?}");
    let fleet = fleet(&comparison);
    assert_eq!(fleet.b.trials_left_out["other-io"], 22);
    assert_eq!(fleet.b.trials_left_out["stolen-time"], 3);
    let without = &fleet.stages[0].without;
    assert_eq!(without[0].name.host, "c07");
    assert_eq!(
        without[0].why,
        "each trial in B was disturbed (stolen-time)"
    );
}

#[test]
fn a_latency_that_rises_is_slower() {
    let latencies = |samples: Vec<Sample>| -> Vec<Sample> {
        let of = samples.into_iter().map(|sample| Sample {
            measure: Measure::LatencyP50Ns,
            ..sample
        });
        of.collect()
    };
    let (a, b) = (day(12, 0, |_| 1.0), day(12, 1, |_| 1.2));
    let comparison = compared(&latencies(a), &latencies(b), &["slower:5%"]);
    let speed = comparison.stages[0].speed.as_ref().unwrap();
    assert_eq!(speed.outcome, Change::Slower, "{speed:?}");
    assert!((speed.change - 0.2).abs() < 0.01);
    assert_eq!(comparison.demands[0].holds, [STAGE]);
    assert!(comparison.overall.as_ref().unwrap().change < -0.15);
}

#[test]
fn a_host_that_moved_is_a_suspect_after_one_look_and_moved_by_itself_after_two() {
    let a = day(30, 0, |_| 1.0);
    // All are slower by a tenth, and one by 30 % more.
    let slow = |host: usize| if host == 11 { 0.63 } else { 0.9 };
    let once = day(30, 1, slow);
    let comparison = compared(&a, &once, &[]);
    let [mover] = movers(&comparison) else {
        panic!("{:?}", movers(&comparison));
    };
    assert_eq!((mover.name.host.as_str(), mover.worse), ("c11", true));
    assert_eq!(
        (mover.moved, mover.looks, mover.q),
        (Moved::Suspect, 1, None)
    );
    assert!((mover.change + 0.37).abs() < 0.02, "{mover:?}");
    assert!((mover.beyond + 0.3).abs() < 0.02, "{mover:?}");
    let twice = [once, day(30, 2, slow)].concat();
    let comparison = compared(&a, &twice, &[]);
    assert_eq!(fleet(&comparison).b.looks, 2);
    let [mover] = movers(&comparison) else {
        panic!("{:?}", movers(&comparison));
    };
    assert_eq!((mover.moved, mover.looks), (Moved::ByItself, 2));
    assert!(mover.q.unwrap() < 0.05, "{mover:?}");
    assert!(comparison.summary.ends_with(" 1 host moved by itself."));
    // Seen the other way it is better, and one look at the side that is to be explained is none.
    let back = compared(&twice, &a, &[]);
    assert!(!movers(&back)[0].worse && movers(&back)[0].looks == 2);
    assert_eq!(movers(&back)[0].moved, Moved::ByItself);
}

#[test]
fn a_host_that_was_disturbed_in_one_of_two_looks_did_not_move() {
    let a = day(30, 0, |_| 1.0);
    let once = day(30, 1, |host| if host == 11 { 0.6 } else { 1.0 });
    let b = [once, day(30, 2, |_| 1.0)].concat();
    assert!(movers(&compared(&a, &b, &[])).is_empty());
}

#[test]
fn of_few_hosts_nobody_is_said_to_have_moved_and_of_one_no_spread_is_known() {
    let comparison = compared(&day(8, 0, |_| 1.0), &day(8, 1, |_| 0.8), &[]);
    assert_eq!(fleet(&comparison).stages[0].movers, None);
    assert_eq!(comparison.stages[0].change, Change::Slower);
    let one = compared(&day(1, 0, |_| 1.0), &day(1, 1, |_| 0.8), &["slower:5%"]);
    assert_eq!(one.stages[0].change, Change::Unclear);
    assert!(
        one.stages[0]
            .statement
            .contains("one host, so no spread is known")
    );
    assert_eq!(one.demands[0].judged, 0);
}

#[test]
fn a_stage_of_one_group_alone_is_only_there() {
    let a = day(10, 0, |_| 1.0);
    let mut b = day(10, 1, |_| 1.0);
    let other = b.iter().map(|sample| Sample {
        stage: "short-read".into(),
        ..sample.clone()
    });
    b = [other.collect(), b.clone()].concat();
    let comparison = compared(&a, &b, &[]);
    assert_eq!(comparison.stages.len(), 1);
    assert_eq!(comparison.only_in_b, ["short-read"]);
    assert!(comparison.only_in_a.is_empty());
    assert!(fleet(&comparison).stages[0].without.is_empty());
}
