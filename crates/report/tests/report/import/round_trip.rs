//! Runs of the plans that print another program's lines are printed and read
//! again: the same figures within the digits printed, under the same conditions.

use super::{import, runs_of};
use crate::fixtures;
use diskfacts_plan::{CacheMode, Pattern, Stage, Stop, builtin};
use diskfacts_record::{DeviceCounters, Run, TargetKind, Trial};
use diskfacts_report::classic;
use diskfacts_report::formats::{hdparm, stride};
use diskfacts_report::import::Measured;
use proptest::prelude::*;

/// Operations and milliseconds of a trial.
type Done = (u64, u64);

fn done() -> impl Strategy<Value = Vec<Done>> {
    proptest::collection::vec((10_000_u64..1_000_000, 1000_u64..100_000), 100)
}

/// A run of a plan on a device of 1 TiB, a trial of each of these stages.
fn run_of(name: &str, which: impl Fn(&Stage) -> bool, done: &[Done]) -> Run {
    let mut run = fixtures::healthy();
    let template = run.trials[0].clone();
    run.plan = builtin::plan(name).expect("it is built in");
    run.plan.stages.retain(which);
    run.target.kind = TargetKind::Device;
    run.target.given = "/dev/sdb".into();
    run.target.size_bytes = 1 << 40;
    run.trials.clear();
    for (stage, (ops, milliseconds)) in run.plan.stages.iter_mut().zip(done.iter().cycle()) {
        stage.workload.resolve(1 << 40);
        run.trials
            .push(trial(&template, stage, *ops, *milliseconds));
    }
    run.figures = diskfacts_facts::figures(&run);
    run
}

fn trial(template: &Trial, stage: &Stage, ops: u64, milliseconds: u64) -> Trial {
    let mut trial = template.clone();
    trial.stage.clone_from(&stage.name);
    trial.settings.clone_from(&stage.settings);
    trial.workload = stage.workload.clone();
    let workload = &stage.workload;
    let blocks = workload.blocks_on(1 << 40);
    trial.ops = workload.stop.fraction.map_or(ops, |part| blocks / part);
    let times = if workload.operation.modifies() { 2 } else { 1 };
    trial.bytes = trial.ops * workload.block_size * times;
    trial.seconds = milliseconds as f64 / 1e3;
    trial.throughput_bytes_per_s = trial.bytes as f64 / trial.seconds;
    trial.iops = trial.ops as f64 / trial.seconds;
    trial.errors = 0;
    trial.evidence.engine.direct = workload.cache == CacheMode::Direct;
    trial.evidence.devices.clear();
    trial.latency_read_ns = None;
    trial.latency_write_ns = None;
    trial
}

/// The one run that the lines become.
fn again(run: &Run) -> Run {
    let lines = classic::run(run);
    let mut runs = runs_of(&lines);
    assert_eq!(runs.len(), 1, "{lines}");
    runs.remove(0)
}

#[track_caller]
fn near(read: f64, measured: f64, share: f64, absolute: f64) {
    assert!(
        (read - measured).abs() <= measured * share + absolute,
        "{read} was measured as {measured}"
    );
}

/// Half of the last digit of 1.0 MB/s, as a share.
const HALF_DIGIT: f64 = 0.050_01;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn of_dd(done in done()) {
        let run = run_of("dd", |_| true, &done);
        let read = again(&run);
        prop_assert_eq!(read.trials.len(), run.trials.len());
        for (read, trial) in read.trials.iter().zip(&run.trials) {
            prop_assert_eq!(read.bytes, trial.bytes);
            prop_assert_eq!(read.ops, trial.ops);
            near(read.seconds, trial.seconds, 1e-5, 0.0);
            near(read.throughput_bytes_per_s, trial.throughput_bytes_per_s, 0.05, 0.0);
            let (said, meant) = (&read.workload, &trial.workload);
            prop_assert_eq!(said.operation, meant.operation);
            prop_assert_eq!(said.block_size, meant.block_size);
            prop_assert_eq!(said.sync, meant.sync);
            prop_assert_eq!(said.cache == CacheMode::Direct, meant.cache == CacheMode::Direct);
            prop_assert_eq!(&read.settings["target"], "/dev/sdb");
            prop_assert!(read.unsaid.is_empty(), "{:?}", read.unsaid);
        }
    }

    #[test]
    fn of_hdparm(done in done()) {
        let run = run_of("hdparm", |_| true, &done);
        let read = again(&run);
        prop_assert_eq!(&read.target.given, "/dev/sdb");
        prop_assert_eq!(read.trials.len(), run.trials.len());
        for (read, trial) in read.trials.iter().zip(&run.trials) {
            prop_assert_eq!(read.bytes, trial.bytes / hdparm::MB * hdparm::MB);
            near(read.seconds, trial.seconds, 0.0, 0.005_01);
            near(read.throughput_bytes_per_s, trial.throughput_bytes_per_s, 0.01, 1e4);
            let (said, meant) = (&read.workload, &trial.workload);
            prop_assert_eq!(said.cache == CacheMode::Direct, meant.cache == CacheMode::Direct);
            let cached = meant.span == Some(meant.block_size);
            prop_assert_eq!(read.stage == "cached-read", cached);
            prop_assert_eq!(&read.unsaid, &["block_size".to_owned()]);
        }
    }

    #[test]
    fn of_streams(done in done()) {
        let run = run_of("streams", |_| true, &done);
        let read = again(&run);
        prop_assert_eq!(read.trials.len(), run.trials.len());
        for (read, trial) in read.trials.iter().zip(&run.trials) {
            // Each stage stays one of its own.
            prop_assert_eq!(read.number, 1);
            near(read.throughput_bytes_per_s, trial.throughput_bytes_per_s, HALF_DIGIT, 0.0);
            let (said, meant) = (&read.workload, &trial.workload);
            prop_assert_eq!(said.operation, meant.operation);
            prop_assert_eq!(said.block_size, meant.block_size);
            prop_assert_eq!(said.offset, meant.offset);
            let beside = |workload: &diskfacts_plan::Workload| {
                workload.beside.as_ref().map(|beside| (beside.offset, beside.block_size))
            };
            prop_assert_eq!(beside(said), beside(meant));
        }
    }

    #[test]
    fn of_the_write_matrix(done in done()) {
        let run = run_of("write-matrix", |_| true, &done);
        let read = again(&run);
        prop_assert_eq!(&read.target.given, "/dev/sdb");
        prop_assert_eq!(read.trials.len(), run.trials.len());
        for trial in &run.trials {
            let cell = |read: &&Trial| {
                read.workload.block_size == trial.workload.block_size
                    && read.settings["mode"] == trial.settings["mode"]
            };
            let read = read.trials.iter().find(cell).expect("the same cell");
            near(read.throughput_bytes_per_s, trial.throughput_bytes_per_s, 0.0, 0.005_01 * f64::from(1 << 20));
            prop_assert_eq!(read.workload.sync, trial.workload.sync);
            prop_assert_eq!(read.workload.buffer, trial.workload.buffer);
            prop_assert_eq!(
                read.workload.cache == CacheMode::Direct,
                trial.workload.cache == CacheMode::Direct
            );
        }
    }

    #[test]
    fn of_stride(done in done(), fixed: bool, from_start: bool) {
        let mut run = run_of("stride", |_| true, &done);
        let mut stages = run.plan.stages.clone();
        run.trials.clear();
        let template = fixtures::healthy().trials[0].clone();
        for (stage, (_, milliseconds)) in stages.iter_mut().zip(&done) {
            if let Pattern::Stride { fixed: f, from_start: s, .. } = &mut stage.workload.pattern {
                (*f, *s) = (fixed, from_start);
            }
            stage.workload.stop = Stop { fraction: Some(1024), ..Stop::default() };
            run.trials.push(trial(&template, stage, 1, *milliseconds));
        }
        run.plan.stages = stages;
        let read = again(&run);
        prop_assert_eq!(read.trials.len(), run.trials.len());
        for (read, trial) in read.trials.iter().zip(&run.trials) {
            prop_assert_eq!(read.workload.operation, trial.workload.operation);
            prop_assert_eq!(read.workload.pattern, trial.workload.pattern);
            prop_assert_eq!(read.workload.block_size, trial.workload.block_size);
            prop_assert_eq!(read.workload.span, trial.workload.span);
            prop_assert_eq!(read.workload.stop, trial.workload.stop);
            prop_assert_eq!((read.ops, read.bytes), (trial.ops, trial.bytes));
            near(read.seconds, trial.seconds, 0.0, 0.005_01);
            // Without a skip the line has bytes only.
            let sequential = matches!(trial.workload.pattern, Pattern::Stride { skip_blocks: 1, .. });
            let digit = if sequential { stride::MB as f64 / trial.workload.block_size as f64 } else { 1.0 };
            near(read.iops, trial.iops, 0.0, 0.000_51 * digit);
            let rate = trial.throughput_bytes_per_s;
            let times = rate / (trial.iops * trial.workload.block_size as f64);
            near(read.throughput_bytes_per_s, rate, 1e-6, 0.001 * stride::MB as f64 * times);
        }
        // And once more: the lines that were read are those that were printed.
        prop_assert_eq!(classic::run(&read), classic::run(&run));
    }

    #[test]
    fn of_bonnie_in_its_tables_and_its_csv(done in done()) {
        let run = run_of("bonnie", |_| true, &done);
        let (text, csv) = (again(&run), runs_of(&classic::csv(&run)).remove(0));
        for (read, kib, share) in [(&text, 1.0, HALF_DIGIT), (&csv, 1.0, 0.001)] {
            let told = read.trials.iter();
            prop_assert!(told.len() >= 12, "{}", classic::run(&run));
            for read in told {
                let trial = run.trials.iter().find(|t| t.stage == read.stage).expect("a stage");
                prop_assert_eq!(&read.settings["machine"], "web1");
                let bytes = read.throughput_bytes_per_s;
                if bytes.is_nan() {
                    // Rates of files are cut to whole numbers, not rounded.
                    near(read.iops, trial.iops, share, 1.0);
                } else {
                    near(bytes, trial.throughput_bytes_per_s, share, kib * 2048.0);
                    prop_assert_eq!(read.workload.block_size, trial.workload.block_size);
                }
                prop_assert_eq!(read.latency_ns.max.is_some(), trial.latency_ns.max.is_some());
                if read.stage != "seeks" {
                    prop_assert_eq!(read.workload.operation, trial.workload.operation);
                    prop_assert_eq!(read.workload.pattern, trial.workload.pattern);
                }
            }
        }
    }

    #[test]
    fn of_raw_vs_block(
        writes in 1000_u64..100_000, merges in 0_u64..1_000_000, sectors in 1_u64..2048, wait_ms in 1_u64..500,
    ) {
        let mut run = run_of("raw-vs-block", |stage| stage.name != "file", &[(100_000, 8000)]);
        for trial in &mut run.trials {
            trial.evidence.devices = vec![DeviceCounters {
                name: "nvme0n1".into(),
                writes,
                write_merges: merges,
                write_bytes: writes * sectors * 512,
                write_ms: writes * wait_ms,
                busy_ms: 7000,
                weighted_ms: writes * wait_ms,
                ..DeviceCounters::default()
            }];
        }
        let read = again(&run);
        prop_assert_eq!(read.trials.len(), 2, "{}", classic::run(&run));
        for (read, trial) in read.trials.iter().zip(&run.trials) {
            prop_assert_eq!(&read.settings["stage"], &trial.stage);
            prop_assert_eq!(&read.settings["bs"], "16k");
            near(read.iops, writes as f64 / 8.0, 0.0, 0.006);
            near(read.throughput_bytes_per_s, (writes * sectors * 512) as f64 / 8.0, 0.0, 6.0);
            near(read.latency_ns.mean.unwrap(), wait_ms as f64 * 1e6, 0.0, 6e3);
        }
        let document = import(&classic::run(&run));
        prop_assert!(document.rows.iter().all(|row| matches!(row.measured, Measured::IostatLinux(..))));
        prop_assert!(!document.notes.iter().any(|note| note.text.contains("disagree")));
    }
}
