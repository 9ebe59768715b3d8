//! Runs of hosts that agree with each other, and one thing in them changed.

use super::*;
use crate::testing;
use diskfacts_record::evidence::Intervals;
use diskfacts_record::together::{AgreedBy, AgreedTrial, ClockErrorSource, Layout, Rank, VoidKind};
use diskfacts_record::trial::Histograms;
use diskfacts_record::{Histogram, PackedHistograms, Run, Together};
use std::sync::OnceLock;

mod lost;
mod properties;
mod storages;

const SECOND_NS: i64 = 1_000_000_000;
/// From the start of a trial to that of the next.
const STEP_NS: u64 = 2_000_000_000;
const STAGE: &str = "random-read-qd1";

/// A run of this host in the group `n42`: three trials of one stage, a second each, with so
/// many operations in each of 50 intervals.
fn run(host: &str, per_interval: u64) -> Run {
    let mut run = healthy();
    run.run.id = format!("20261127-130000-{host}");
    run.machine.host = Some(host.to_owned());
    run.machine.boot_id = Some(format!("boot of {host}"));
    let latencies = latencies(50 * per_interval);
    let mut trials = Vec::new();
    for (order, trial) in (1..).zip(&mut run.trials) {
        trial.order = order;
        let at_ns = u64::from(order - 1) * STEP_NS;
        trial.ops = 50 * per_interval;
        trial.bytes = trial.ops * 4096;
        trial.errors = 0;
        trial.evidence.intervals = Intervals {
            length_ns: 20_000_000,
            operations: vec![per_interval; 50],
        };
        trial.histograms = latencies.clone();
        trials.push(AgreedTrial {
            order,
            stage: trial.stage.clone(),
            settings: trial.settings.clone(),
            number: trial.number,
            at_ns,
            length_ns: SECOND_NS as u64,
            started_ns: Some(at_ns.cast_signed()),
            ended_ns: Some(at_ns.cast_signed() + SECOND_NS),
            clock_error_ns: 1_000_000,
            late_ns: Some(0),
            void: None,
            void_kind: None,
        });
    }
    run.together = Some(Together {
        group: "n42".to_owned(),
        agreed_by: AgreedBy::Clock,
        start: "2026-11-27T13:00:00Z".to_owned(),
        agreement: "0123456789abcdef".to_owned(),
        clock_error_source: ClockErrorSource::Kernel,
        rank: None,
        layout: Layout::Own,
        shift: 0,
        lost: Vec::new(),
        trials,
    });
    run
}

/// Three healthy trials of the stage. Making a healthy run takes longer than all that is done
/// with it here.
fn healthy() -> Run {
    static HEALTHY: OnceLock<Run> = OnceLock::new();
    let make = || {
        let mut run = testing::healthy();
        run.trials
            .retain(|trial| trial.stage == STAGE && trial.number <= 3);
        run.trials.sort_by_key(|trial| trial.number);
        run
    };
    HEALTHY.get_or_init(make).clone()
}

/// So many operations of 100 us each.
fn latencies(mut number: u64) -> PackedHistograms {
    let mut one = Histogram::new();
    one.record(100_000);
    let mut histograms = Histograms::default();
    while number > 0 {
        if number & 1 == 1 {
            histograms.read.add(&one);
        }
        let twice = one.clone();
        one.add(&twice);
        number >>= 1;
    }
    (&histograms).into()
}

fn together(run: &mut Run) -> &mut Together {
    run.together.as_mut().expect("a group")
}

fn group(runs: &[Run]) -> Result<Group, Refused> {
    let mut groups = runs
        .iter()
        .map(|run| Group::of(Member::of(run).expect("a member")));
    let first = groups.next().expect("a run");
    groups.try_fold(first, Group::join)
}

fn merged(runs: &[Run]) -> Merged {
    let merged = group(runs).expect("one group").merged(None);
    merged.expect("a group has members")
}

fn claims(merged: &Merged) -> Vec<&str> {
    merged
        .findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .collect()
}

/// `number` hosts that do alike, within a percent.
fn hosts(number: u64) -> Vec<Run> {
    (0..number)
        .map(|i| run(&format!("c{i:02}"), 1000 + i % 3 * 10))
        .collect()
}

#[test]
fn the_sum_is_that_of_all_hosts_and_nothing_else_is_said_of_it() {
    let merged = merged(&[run("c1", 100), run("c2", 300)]);
    let stage = &merged.stages[0];
    // 400 in 20 ms.
    assert!((stage.iops.median - 20_000.0).abs() < 1e-6, "{stage:?}");
    assert!((stage.throughput_bytes_per_s.median - 20_000.0 * 4096.0).abs() < 1e-3);
    assert_eq!(stage.iops.trials, 3);
    assert_eq!(stage.latency_ns.samples, 3 * 50 * 400);
    assert_eq!((merged.hosts_complete, merged.hosts_expected), (2, 2));
    assert_eq!(stage.hosts[0].host, "c1", "the slowest is first");
    let spread = stage.spread.expect("two hosts");
    assert!((spread.slowest_over_median.expect("a median") - 0.5).abs() < 1e-9);
    assert_eq!(claims(&merged), [""; 0]);
}

#[test]
fn rates_are_of_the_time_in_which_all_measured() {
    let (one, mut other) = (run("c1", 100), run("c2", 100));
    // It began 100 ms late and did nothing in its last half, which is beyond the window of
    // nobody: the window ends with the first.
    for agreed in &mut together(&mut other).trials {
        agreed.started_ns = agreed.started_ns.map(|ns| ns + 100_000_000);
        agreed.ended_ns = agreed.ended_ns.map(|ns| ns + 100_000_000);
    }
    let merged = merged(&[one, other]);
    let trial = &merged.stages[0].trials[0];
    assert_eq!(trial.window_ns, Some([100_000_000, SECOND_NS]));
    assert!((trial.iops - 10_000.0).abs() < 1e-6, "{trial:?}");
    assert!(trial.ops_uncertainty.abs() < 1e-9);
    assert_eq!(trial.start_spread_ns, 100_000_000);
    assert_eq!(claims(&merged), ["uneven-start"]);
}

#[test]
fn a_wrong_clock_gives_no_rate_and_never_a_wrong_one() {
    let (one, mut other) = (run("c1", 100), run("c2", 100));
    // Its clock is 1000 s ahead, and it says that it is not.
    for agreed in &mut together(&mut other).trials {
        agreed.started_ns = agreed.started_ns.map(|ns| ns - 1000 * SECOND_NS);
        agreed.ended_ns = agreed.ended_ns.map(|ns| ns - 1000 * SECOND_NS);
    }
    let merged = merged(&[one, other]);
    let stage = &merged.stages[0];
    assert_eq!(stage.iops.trials, 0);
    for trial in &stage.trials {
        let why = trial.void.as_deref().expect("no figure");
        assert!(why.contains("no time in which all hosts measured"), "{why}");
        assert_eq!(trial.window_ns, None);
    }
    assert_eq!(claims(&merged), ["uneven-start"]);
}

#[test]
fn a_plan_bound_by_bytes_has_its_stonewall_and_its_last_done() {
    let (mut one, mut other) = (run("c1", 100), run("c2", 50));
    for run in [&mut one, &mut other] {
        for trial in &mut run.trials {
            trial.workload.stop.bytes = Some(1 << 30);
        }
    }
    // The second takes twice as long for half of it.
    for (trial, agreed) in other
        .trials
        .iter_mut()
        .zip(&mut other.together.as_mut().unwrap().trials)
    {
        trial.evidence.intervals.operations = vec![25; 100];
        agreed.ended_ns = agreed.started_ns.map(|ns| ns + 2 * SECOND_NS);
    }
    let merged = merged(&[one, other]);
    let trial = &merged.stages[0].trials[0];
    let per_s = |ops: f64| ops * 4096.0;
    assert!((trial.stonewall_bytes_per_s.unwrap() - per_s(6250.0)).abs() < 1e-3);
    assert!((trial.last_done_bytes_per_s.unwrap() - per_s(3750.0)).abs() < 1e-3);
    assert!((trial.iops - 6250.0).abs() < 1e-6);
    // Of one that ends after a time neither says anything.
    let timed = self::merged(&[run("c1", 100), run("c2", 50)]);
    let trial = &timed.stages[0].trials[0];
    assert_eq!(
        (trial.stonewall_bytes_per_s, trial.last_done_bytes_per_s),
        (None, None)
    );
}

#[test]
fn a_final_sync_is_in_the_time_of_the_sum_and_of_each_host() {
    // Both write 10 000 operations in a second; one syncs in 0.1 s, the other in one second.
    let (mut quick, mut slow) = (run("c1", 200), run("c2", 200));
    for (run, sync_ns) in [(&mut quick, SECOND_NS / 10), (&mut slow, SECOND_NS)] {
        for trial in &mut run.trials {
            trial.workload.sync = diskfacts_plan::SyncMode::AtEnd;
            trial.workload.stop.bytes = Some(10_000 * 4096);
        }
        for agreed in &mut together(run).trials {
            agreed.ended_ns = agreed.ended_ns.map(|ns| ns + sync_ns);
        }
    }
    let alone = merged(&[slow.clone()]);
    let merged = merged(&[quick, slow]);
    let stage = &merged.stages[0];
    let trial = &stage.trials[0];
    assert_eq!(trial.window_ns, Some([0, 2 * SECOND_NS]));
    assert_eq!((trial.ops, trial.ops_uncertainty), (20_000.0, 0.0));
    assert!((trial.iops - 10_000.0).abs() < 1e-6, "{trial:?}");
    // The slow one is as slow as its own run says.
    let rates: Vec<(&str, f64)> = stage
        .hosts
        .iter()
        .map(|host| (&*host.host, host.iops.round()))
        .collect();
    assert_eq!(rates, [("c2", 5000.0), ("c1", 9091.0)]);
    assert!((alone.stages[0].iops.median - 5000.0).abs() < 1e-6);
    // What the slow one had written when the other ended was not durable yet.
    assert_eq!(trial.stonewall_bytes_per_s, None);
    let last_done = trial.last_done_bytes_per_s.expect("bounded");
    assert!((last_done - trial.throughput_bytes_per_s).abs() < 1e-3);
}

#[test]
fn a_window_that_is_too_short_to_count_in_gives_no_rate_and_still_the_amounts() {
    let mut runs = [run("c1", 100), run("c2", 100)];
    for (run, late_ns) in runs.iter_mut().zip([0, 970_000_000]) {
        for trial in &mut run.trials {
            trial.workload.stop.bytes = Some(1 << 30);
        }
        for agreed in &mut together(run).trials {
            agreed.started_ns = agreed.started_ns.map(|ns| ns + late_ns);
            agreed.ended_ns = agreed.ended_ns.map(|ns| ns + late_ns);
        }
    }
    let merged = merged(&runs);
    let stage = &merged.stages[0];
    assert_eq!((stage.hosts_counted, stage.iops.trials), (2, 0));
    let trial = &stage.trials[0];
    let why = trial.void.as_deref().expect("no rate");
    assert!(why.contains("for 30 ms"), "{why}");
    assert!(trial.last_done_bytes_per_s.is_some());
}

#[test]
fn a_late_host_voids_the_trial_for_all_and_is_named() {
    let (one, mut late) = (run("c1", 100), run("c2", 100));
    let agreed = &mut together(&mut late).trials[1];
    agreed.make_void(
        VoidKind::Late,
        "it was ready 1.2 s after the agreed start".to_owned(),
    );
    (agreed.started_ns, agreed.ended_ns) = (None, None);
    late.trials.remove(1);
    let merged = merged(&[one, late]);
    let stage = &merged.stages[0];
    assert_eq!((stage.hosts_counted, stage.iops.trials), (2, 2));
    let why = stage.trials[1].void.as_deref().expect("void");
    assert_eq!(why, "not on c2 (it was ready 1.2 s after the agreed start)");
    assert_eq!(merged.hosts_complete, 2, "it is late, not lost");
    assert_eq!(claims(&merged), ["uneven-start"]);
}

#[test]
fn a_host_that_was_lost_does_not_know_when_the_others_began_by_messages() {
    let mut runs = hosts(3);
    let lost = &mut together(&mut runs[2]).trials[2];
    (lost.started_ns, lost.ended_ns, lost.late_ns) = (None, None, None);
    for run in &mut runs[..2] {
        together(run).trials[2].at_ns += 1;
    }
    let refused = group(&runs).expect_err("by the clock all know it before");
    assert!(
        refused.to_string().contains("the plan as it fits"),
        "{refused}"
    );
    for run in &mut runs {
        together(run).agreed_by = AgreedBy::Mpi;
    }
    let merged = self::merged(&runs);
    assert_eq!((merged.hosts_complete, merged.hosts_expected), (2, 3));
}

#[test]
fn figures_of_different_sets_of_hosts_are_never_mixed() {
    let mut runs = hosts(4);
    let gone = together(&mut runs[3]);
    gone.trials[0].make_void(VoidKind::Clock, "its clock was set".to_owned());
    let merged = merged(&runs);
    let stage = &merged.stages[0];
    assert_eq!((stage.hosts_counted, stage.iops.trials), (4, 2));
    assert_eq!(stage.hosts.len(), 4);
    // All hosts but one, in all trials: that is the set then.
    for agreed in &mut together(&mut runs[3]).trials {
        agreed.make_void(VoidKind::Clock, "its clock was set".to_owned());
    }
    let merged = self::merged(&runs);
    let stage = &merged.stages[0];
    assert_eq!((stage.hosts_counted, stage.iops.trials), (3, 3));
}

#[test]
fn only_a_trial_that_is_void_because_a_host_was_late_is_an_uneven_start() {
    let void = |kind: Option<VoidKind>| {
        let mut runs = hosts(2);
        let agreed = &mut together(&mut runs[1]).trials[0];
        agreed.void = Some("of this".to_owned());
        agreed.void_kind = kind;
        claims(&merged(&runs)).concat()
    };
    assert_eq!(void(Some(VoidKind::Late)), "uneven-start");
    assert_eq!(void(Some(VoidKind::Unprepared)), "uneven-start");
    for other in [VoidKind::Clock, VoidKind::Stopped, VoidKind::CalledOff] {
        assert_eq!(void(Some(other)), "", "{other:?}");
    }
    // Runs of older versions do not say why.
    assert_eq!(void(None), "");
}

#[test]
fn runs_that_did_not_agree_are_refused_and_it_is_said_in_what() {
    let of = |change: &dyn Fn(&mut Run)| {
        let mut other = run("c2", 100);
        change(&mut other);
        group(&[run("c1", 100), other])
            .expect_err("refused")
            .to_string()
    };
    let said = of(&|run| together(run).group = "n43".to_owned());
    assert!(said.contains("n42") && said.contains("n43"), "{said}");
    let said = of(&|run| together(run).agreement = "f".repeat(16));
    assert!(said.contains("the plan as it fits"), "{said}");
    let said = of(&|run| together(run).trials[1].length_ns += 1);
    assert!(said.contains("the plan as it fits"), "{said}");
    let said = of(&|run| run.run.tool_version = "9.9.9".to_owned());
    assert!(said.contains("version") && said.contains("9.9.9"), "{said}");
    let said = of(&|run| together(run).start = "2026-11-27T14:00:00Z".to_owned());
    assert!(said.contains("the start"), "{said}");
    assert!(Member::of(&testing::healthy()).is_err());
}

#[test]
fn a_run_that_comes_twice_counts_once_and_a_changed_one_is_refused() {
    let runs = [run("c1", 100), run("c2", 100)];
    let twice = [runs[0].clone(), runs[1].clone(), runs[0].clone()];
    assert_eq!(merged(&twice), merged(&runs));
    let mut changed = runs[0].clone();
    changed.trials[0].ops += 1;
    let refused = group(&[runs[0].clone(), changed]).expect_err("two of one id");
    assert_eq!(
        refused,
        Refused::Contradiction {
            run: "20261127-130000-c1".to_owned()
        }
    );
}

#[test]
fn an_odd_host_is_a_suspect_only_among_eight() {
    let mut runs = hosts(8);
    runs[5] = run("c05", 700);
    let merged = merged(&runs);
    assert_eq!(claims(&merged), ["odd-host"]);
    assert!(
        merged.findings[0].claim.contains("c05"),
        "{:?}",
        merged.findings[0]
    );
    assert_eq!(merged.stages[0].hosts[0].host, "c05");
    // By less than a tenth, or among seven, nothing is said.
    runs[5] = run("c05", 950);
    assert_eq!(claims(&self::merged(&runs)), [""; 0]);
    runs[5] = run("c05", 700);
    runs.pop();
    assert_eq!(claims(&self::merged(&runs)), [""; 0]);
}

#[test]
fn clocks_that_may_be_off_by_more_than_a_host_may_be_late_are_said() {
    let mut runs = hosts(2);
    together(&mut runs[0]).trials[0].clock_error_ns = 8_000_000;
    assert_eq!(claims(&merged(&runs)), [""; 0]);
    together(&mut runs[0]).trials[0].clock_error_ns = 9_500_000;
    let merged = merged(&runs);
    assert_eq!(merged.stages[0].trials[0].clock_error_ns, 10_500_000);
    assert_eq!(claims(&merged), ["clock-uncertain"]);
}

/// Four ranks on two machines, two each, each of which reads what the rank so many on wrote,
/// with this share of it from the page cache.
fn shifted(shift: u32, page_cache: f64) -> Merged {
    let mut runs = hosts(4);
    for (rank, run) in (0..).zip(&mut runs) {
        run.machine.boot_id = Some(format!("boot {}", rank / 2));
        for trial in &mut run.trials {
            trial.layers.page_cache = page_cache;
        }
        let together = together(run);
        together.rank = Some(Rank { rank, of: 4 });
        together.shift = shift;
    }
    merged(&runs)
}

#[test]
fn who_reads_what_its_own_machine_wrote_is_told_where_memory_served_it() {
    const NAME: &str = "shift-on-one-machine";
    let merged = shifted(1, 0.6);
    let finding = merged.findings.iter().find(|one| one.rule == NAME);
    let finding = finding.expect("memory served it");
    // Rank 1 reads what rank 2 wrote, and rank 3 what rank 0 did: on another machine.
    assert!(
        finding
            .claim
            .starts_with("c00 and c01, c02 and c03 are one machine each"),
        "{finding:?}"
    );
    assert_eq!(finding.stages, [STAGE]);
    for other in [shifted(2, 0.6), shifted(0, 0.6), shifted(1, 0.0)] {
        assert!(!claims(&other).contains(&NAME), "{:?}", other.findings);
    }
}

#[test]
fn two_hosts_of_one_machine_share_its_counters() {
    let mut runs = hosts(3);
    for run in &mut runs[..2] {
        run.machine.boot_id = Some("the same".to_owned());
    }
    let merged = merged(&runs);
    assert_eq!(claims(&merged), ["same-machine-twice"]);
    let devices = &merged.stages[0].devices;
    assert_eq!(devices.len(), 2, "one of each machine: {devices:?}");
    let of_one: u64 = runs[2]
        .trials
        .iter()
        .flat_map(|trial| &trial.evidence.devices)
        .filter(|device| device.leaf)
        .map(|device| device.read_bytes)
        .sum();
    let shared = devices
        .iter()
        .find(|device| device.hosts == 2)
        .expect("shared");
    assert_eq!(shared.read_bytes, of_one);
}

#[test]
fn errors_are_named_by_host_and_their_trial_is_in_no_figure() {
    let mut runs = hosts(2);
    runs[1].trials[2].errors = 7;
    let merged = merged(&runs);
    let stage = &merged.stages[0];
    assert_eq!((stage.errors, stage.iops.trials), (7, 2));
    let host = stage
        .hosts
        .iter()
        .find(|host| host.host == "c01")
        .expect("it");
    assert_eq!(host.errors, 7);
    let why = stage.trials[2].void.as_deref().expect("void");
    assert_eq!(why, "operations failed on c01");
}

#[test]
fn processor_time_is_total_over_total_and_unknown_where_one_host_does_not_know() {
    let mut runs = [run("c1", 100), run("c2", 300)];
    for (run, ns) in runs.iter_mut().zip([100.0, 500.0]) {
        for trial in &mut run.trials {
            trial.cpu.user_ns_per_io = Some(ns);
            trial.cpu.system_ns_per_io = None;
        }
    }
    let merged = merged(&runs);
    let stage = &merged.stages[0];
    assert!((stage.cpu_user_ns_per_io.expect("known") - 400.0).abs() < 1e-9);
    assert_eq!(stage.cpu_system_ns_per_io, None);
}

#[test]
fn more_operations_than_can_be_added_are_refused() {
    let mut runs = hosts(3);
    for run in &mut runs {
        run.trials[0].histograms = latencies(1 << 62);
    }
    assert_eq!(group(&runs).expect_err("too many"), Refused::TooMany);
}
