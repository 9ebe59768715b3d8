//! From a run to what a fleet's files hold of it.
//!
//! What is known to have disturbed a trial is judged by the thresholds of the rules `other-io`,
//! `cpu-stolen` and `cpu-pressure`, for each trial by itself: the others of its stage are good.

use super::sample::{Disturbance, FILE, Member, PLAN, Peers, Sample, TrialSample};
use crate::journal::Commits;
use crate::layers::in_memory;
use crate::others::{MATTER_BYTES, MATTERS, by_others};
use crate::processor_wait::{IDLE, OWN, ProcessorWait, STOLEN, WAIT};
use crate::{stages, trends};
use diskfacts_plan::{CacheMode, Plan, Workload, sha256, units};
use diskfacts_record::comparison::Measure;
use diskfacts_record::{Run, TargetKind, Trial};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A sample for each stage of a run of `member`, which began `started_s` seconds after 1970,
/// UTC. Without those that test a claim.
pub fn samples_of(run: &Run, member: &Member, started_s: i64) -> Vec<Sample> {
    let peers = Arc::new(peers_of(run));
    let sample = |stage: stages::Stage<'_>| {
        let measure = trends::measure(stage.workload());
        let mut trials: Vec<&Trial> = stage.all_trials().collect();
        trials.sort_by_key(|trial| trial.order);
        Sample {
            member: member.clone(),
            run: run.run.id.clone(),
            started_s,
            peers: Arc::clone(&peers),
            stage: stage.label(),
            measure,
            trials: trials
                .into_iter()
                .map(|trial| TrialSample {
                    value: value(trial, measure),
                    disturbed: disturbed(trial, run),
                })
                .collect(),
        }
    };
    stages::of(run).into_iter().map(sample).collect()
}

/// The figure of a trial; not a number where it has none.
fn value(trial: &Trial, measure: Measure) -> f64 {
    match measure {
        Measure::ThroughputBytesPerS => trial.throughput_bytes_per_s,
        Measure::Iops => trial.iops,
        _ => trial.latency_ns.p50.map_or(f64::NAN, |ns| ns as f64),
    }
}

/// What is known to have disturbed a trial.
fn disturbed(trial: &Trial, run: &Run) -> Option<Disturbance> {
    if trial.errors > 0 && trial.workload.copy.is_none() {
        return Some(Disturbance::Errors);
    }
    if is_shared(trial, run) {
        return Some(Disturbance::OtherIo);
    }
    let evidence = &trial.evidence;
    let stolen = evidence.cpu_steal_ns.map(|ns| {
        let cpus = f64::from(run.machine.cpus.max(1));
        ns as f64 / 1e9 / trial.seconds / cpus
    });
    if stolen.is_some_and(|share| share.is_finite() && share > STOLEN) {
        return Some(Disturbance::StolenTime);
    }
    let waited = ProcessorWait::of_trials(&[trial]).is_some_and(|wait| {
        let idle = wait.idle.is_some_and(|idle| idle >= IDLE);
        let own = evidence.engine.threads > 1 && wait.own.is_some_and(|own| own >= OWN);
        wait.share >= WAIT && !idle && !own
    });
    waited.then_some(Disturbance::ProcessorWait)
}

/// Whether others used the devices: moved bytes on them, or had the journal committed.
fn is_shared(trial: &Trial, run: &Run) -> bool {
    let others = || by_others(trial, &run.stack).bytes();
    let on_disks = !in_memory(&run.stack) && !run.stack.devices.is_empty();
    let moved = on_disks && trial.bytes > 0 && trial.workload.cache != CacheMode::Warm && {
        let others = others();
        others as f64 > MATTERS * trial.bytes as f64 && others > MATTER_BYTES
    };
    let synced = || Commits::beside(&[trial], run).is_some();
    moved || synced()
}

/// What must be equal to be peers: the disks at the bottom with their firmware and link, the layers above them,
/// the filesystem, the size, the kernel, the machine's architecture, the plan, and how far that reaches in a
/// file of its own.
pub fn peers_of(run: &Run) -> Peers {
    let mut keys = BTreeMap::new();
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            keys.insert(key.to_owned(), value);
        }
    };
    let leaves = || run.stack.leaves();
    add("model", listed(leaves().map(|leaf| leaf.model.clone())));
    add(
        "firmware",
        listed(leaves().map(|leaf| leaf.firmware.clone())),
    );
    add(
        "link",
        listed(leaves().map(|leaf| leaf.transport.map(|link| link.words().to_owned()))),
    );
    let kinds = run.stack.devices.iter().map(|device| {
        let kind = format!("{:?}", device.kind);
        Some(match &device.layout {
            Some(layout) => format!("{kind} {layout}"),
            None => kind,
        })
    });
    add("layers", listed(kinds));
    let filesystem = run.stack.filesystem.as_ref();
    add("filesystem", filesystem.map(|f| f.kind.clone()));
    let size = leaves().map(|leaf| leaf.size_bytes).sum::<Option<u64>>();
    add("size", size.filter(|size| *size > 0).map(size_class));
    add("kernel", run.machine.kernel.clone());
    add("architecture", Some(run.machine.architecture.clone()));
    add(PLAN, Some(plan(&run.plan)));
    // It is in the digest of the plan, which does not tell it to whoever measures again.
    let reach = (run.target.kind == TargetKind::Folder).then(|| reach(&run.plan));
    add(FILE, reach.flatten().map(units::exact_size));
    Peers(keys)
}

/// The size of a file, in bytes, in which the stages of a plan have room as they are: where the last
/// of their spans ends. `None` where no stage has one.
fn reach(plan: &Plan) -> Option<u64> {
    fn end(workload: &Workload) -> Option<u64> {
        let own = workload
            .span
            .map(|span| workload.offset.saturating_add(span));
        own.max(workload.beside.as_deref().and_then(end))
    }
    plan.stages
        .iter()
        .filter_map(|stage| end(&stage.workload))
        .max()
}

/// `2 x A, B`: each once, with how many there are, in order; `None` where one is not known, or
/// there is none.
fn listed(values: impl Iterator<Item = Option<String>>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value?).or_default() += 1;
    }
    let words = counts.into_iter().map(|(value, count)| match count {
        1 => value,
        count => format!("{count} x {value}"),
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The next power of two up, by which disks of one capacity and spare sectors are alike.
fn size_class(bytes: u64) -> String {
    let class = bytes.checked_next_power_of_two().unwrap_or(bytes);
    format!("up to {}", diskfacts_plan::units::show_size(class))
}

/// Name of a plan with a digest of what its stages do: how often they are repeated, and what is
/// said of them, makes no other plan, or a second look with more trials would have no peers.
fn plan(plan: &Plan) -> String {
    let mut same = plan.clone();
    same.about.clear();
    same.trials = 1;
    same.time_ns = None;
    same.until = diskfacts_plan::Until::default();
    same.choose.clear();
    for stage in &mut same.stages {
        stage.about.clear();
    }
    let text = diskfacts_plan::file::print(&same);
    format!("{} {:016x}", plan.name, sha256::number(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn member() -> Member {
        Member {
            host: "c17".into(),
            machine: None,
            target: "/data".into(),
        }
    }

    fn sample(run: &Run, stage: &str) -> Sample {
        let samples = samples_of(run, &member(), 7).into_iter();
        samples.into_iter().find(|s| s.stage == stage).unwrap()
    }

    fn disturbances(run: &Run, stage: &str) -> Vec<Option<Disturbance>> {
        let trials = sample(run, stage).trials;
        trials.iter().map(|trial| trial.disturbed).collect()
    }

    #[test]
    fn a_healthy_run_has_its_figures_and_no_disturbance() {
        let run = testing::healthy();
        let samples = samples_of(&run, &member(), 7);
        assert_eq!(samples.len(), run.plan.stages.len());
        for sample in &samples {
            assert_eq!(sample.trials.len(), 5, "{}", sample.stage);
            for trial in &sample.trials {
                assert_eq!(trial.disturbed, None, "{}", sample.stage);
                assert!(trial.value > 0.0, "{}", sample.stage);
            }
        }
        let sample = sample(&run, "random-read-qd1");
        assert_eq!((sample.measure, sample.started_s), (Measure::Iops, 7));
        let of_stage = run.trials.iter().filter(|t| t.stage == sample.stage);
        let iops: Vec<f64> = of_stage.map(|trial| trial.iops).collect();
        let values: Vec<f64> = sample.trials.iter().map(|trial| trial.value).collect();
        assert_eq!(values, iops);
    }

    #[test]
    fn each_disturbance_is_seen_in_the_trial_that_has_it() {
        let stage = "random-read-qd1";
        let only_second = |change: fn(&mut Trial)| {
            let mut run = testing::healthy();
            run.machine.cpus = 2;
            testing::each(&mut run, stage, |trial| {
                if trial.number == 2 {
                    change(trial);
                }
            });
            disturbances(&run, stage)
        };
        let second = |what| vec![None, Some(what), None, None, None];
        let others = only_second(|trial| {
            for device in &mut trial.evidence.devices {
                device.read_bytes += trial.bytes;
            }
        });
        assert_eq!(others, second(Disturbance::OtherIo));
        let stolen = only_second(|trial| {
            trial.evidence.cpu_steal_ns = Some((trial.seconds * 0.3e9) as u64);
        });
        assert_eq!(stolen, second(Disturbance::StolenTime));
        let errors = only_second(|trial| trial.errors = 1);
        assert_eq!(errors, second(Disturbance::Errors));
        let waited = only_second(|trial| {
            trial.evidence.processors = None;
            let threads = f64::from(trial.evidence.engine.threads.max(1));
            let wait = 0.4 * trial.seconds * 1e9 * threads / trial.ops as f64;
            trial.cpu.wait_ns_per_io = Some(wait);
        });
        assert_eq!(waited, second(Disturbance::ProcessorWait));
    }

    #[test]
    fn peers_know_how_large_a_file_has_to_be_to_be_measured_as_they_were() {
        let mut run = testing::healthy();
        run.target.kind = TargetKind::Folder;
        for (stage, offset) in run.plan.stages.iter_mut().zip([0, 1 << 20, 0]) {
            stage.workload.offset = offset;
            stage.workload.span = Some((4 << 30) - offset);
        }
        assert_eq!(peers_of(&run).file(), Some("4GiB"));
        // What is there already, or is a device, has its size.
        run.target.kind = TargetKind::File;
        assert_eq!(peers_of(&run).file(), None);
    }

    #[test]
    fn more_trials_make_no_other_peers_and_another_kernel_or_workload_does() {
        let run = testing::healthy();
        let peers = peers_of(&run);
        let mut again = run.clone();
        again.plan.trials = 12;
        again.plan.time_ns = Some(7);
        assert_eq!(peers, peers_of(&again));
        let mut other = run.clone();
        other.machine.kernel = Some("5.4.0".into());
        assert_ne!(peers, peers_of(&other));
        let mut other = run.clone();
        other.plan.stages[0].workload.queue_depth += 1;
        assert_ne!(peers, peers_of(&other));
        let mut other = run;
        for device in &mut other.stack.devices {
            device.model = Some("X100".into());
            device.firmware = Some("1.02".into());
        }
        assert_eq!(peers_of(&other).0["model"], "X100");
        assert_eq!(peers_of(&other).0["firmware"], "1.02");
        assert!(!peers.0.contains_key("model"), "{peers:?}");
    }
}
