//! How long the runs of many hosts take to be added up: `cargo bench -p diskfacts-facts --bench together`.
//! `cargo test` runs it small, only to see that it works.
//!
//! The aim: 10 000 runs of ten trials take less than 30 s on one processor, and twice as many hosts about twice as long.

use diskfacts_facts::together::{Group, Member};
use diskfacts_record::evidence::Intervals;
use diskfacts_record::together::{AgreedBy, AgreedTrial, ClockErrorSource, Layout};
use diskfacts_record::{Histogram, Run, Together, Trial};
use std::time::Instant;

const TRIALS: u32 = 10;
const SECOND_NS: u64 = 1_000_000_000;

/// A run of a second for each trial, without its host.
fn run() -> Run {
    const RUN: &str = include_str!("../../store/tests/store/sample/run.json");
    const TRIAL: &str = include_str!("../../store/tests/store/sample/trial.json");
    let mut run: Run = serde_json::from_str(RUN).expect("the document of a run");
    let trial: Trial = serde_json::from_str(TRIAL).expect("the document of a trial");
    let mut histogram = Histogram::new();
    for i in 0..10_000_u64 {
        histogram.record(60_000 + i * 2_654_435_761 % 180_000);
    }
    let mut trials = Vec::new();
    for order in 1..=TRIALS {
        let mut trial = trial.clone();
        (trial.number, trial.order, trial.errors) = (order, order, 0);
        trial.ops = histogram.count();
        trial.bytes = trial.ops * 4096;
        trial.histograms.read = (&histogram).into();
        trial.evidence.intervals = Intervals {
            length_ns: SECOND_NS / 50,
            operations: vec![trial.ops / 50; 50],
        };
        let at_ns = u64::from(order) * 2 * SECOND_NS;
        trials.push(AgreedTrial {
            order,
            stage: trial.stage.clone(),
            settings: trial.settings.clone(),
            number: order,
            at_ns,
            length_ns: SECOND_NS,
            started_ns: Some(at_ns.cast_signed()),
            ended_ns: Some((at_ns + SECOND_NS).cast_signed()),
            clock_error_ns: 1_000_000,
            late_ns: Some(0),
            void: None,
            void_kind: None,
        });
        run.trials.push(trial);
    }
    run.together = Some(Together {
        group: "n10000".to_owned(),
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

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let sizes: &[u32] = if full { &[1000, 10_000] } else { &[20] };
    for hosts in sizes {
        added_up(*hosts);
    }
}

fn added_up(hosts: u32) {
    let mut run = run();
    let begin = Instant::now();
    let mut group: Option<Group> = None;
    for host in 0..hosts {
        run.run.id = format!("20261127-130000-{host:08x}");
        run.machine.host = Some(format!("c{host:05}"));
        run.machine.boot_id = Some(format!("boot-{host}"));
        let one = Group::of(Member::of(&run).expect("a member"));
        group = Some(match group {
            None => one,
            Some(group) => group.join(one).expect("one group"),
        });
    }
    let joined = begin.elapsed();
    let begin = Instant::now();
    let merged = group.and_then(|group| group.merged(None)).expect("members");
    let merging = begin.elapsed();
    assert_eq!(merged.hosts_complete, hosts);
    assert_eq!(merged.stages[0].iops.trials, TRIALS);
    println!(
        "{hosts} hosts of {TRIALS} trials: {joined:?} to bring together, {merging:?} to add up"
    );
}
