//! What a stage can have reached at best, had nothing beside the disk held it back.
//!
//! While a hindrance was not there, operations were done as fast as without it: so all of
//! them would have been done in the time that remains without it. That is a bound of rates
//! and of mean latencies. A percentile has none: which operations waited is not known.

use super::Uncertain;
use crate::layers::counted::roots;
use crate::others::by_others;
use crate::stage_facts::StageFacts;
use crate::uses::{Metric, Requirement};
use diskfacts_record::{Stack, Trial};

/// The figure at best, without what these rules warn of; `None` where nobody can say.
pub(super) fn at_best<'a>(
    facts: &StageFacts<'_>,
    figure: &Uncertain,
    rules: impl Iterator<Item = &'a str>,
    needed: &Requirement,
) -> Option<Uncertain> {
    let rules: Vec<&str> = rules.collect();
    // Where arrivals are given, operations wait for each other too.
    if facts.workload().rate.is_some() {
        return None;
    }
    let (mut faster, mut shorter) = (1.0_f64, 0.0_f64);
    for trial in facts.trials() {
        let mut held_s = 0.0;
        for rule in &rules {
            held_s += held_by(rule, trial, &facts.run().stack)?;
        }
        let left_s = trial.seconds - held_s;
        if left_s <= 0.0 || trial.ops == 0 {
            return None;
        }
        let at_once = facts.workload().outstanding() as f64;
        faster = faster.max(trial.seconds / left_s);
        shorter = shorter.max(held_s * 1e9 * at_once / trial.ops as f64);
    }
    let with = |best: &dyn Fn(f64) -> f64| Uncertain {
        value: best(figure.value),
        low: best(figure.low),
        high: best(figure.high),
        assumed: figure.assumed,
    };
    match needed.metric {
        Metric::Throughput | Metric::Iops => Some(with(&|rate| rate * faster)),
        Metric::LatencyMean => Some(with(&|mean| mean - shorter)),
        Metric::LatencyP99 => None,
    }
}

/// For how long it can have held a trial back at most, seconds; `None` where that is not
/// known, or all the time.
fn held_by(rule: &str, trial: &Trial, stack: &Stack) -> Option<f64> {
    let evidence = &trial.evidence;
    let ns = match rule {
        // Whoever waited, and the threads of the stage one after the other.
        "cpu-pressure" => {
            let own = trial
                .cpu
                .wait_ns_per_io
                .map_or(0.0, |ns| ns * trial.ops as f64);
            own.max(evidence.pressure?.cpu_some_ns as f64)
        }
        // From one processor after the other.
        "cpu-stolen" => evidence.cpu_steal_ns? as f64,
        "other-io" => return held_by_others(trial, stack),
        _ => return None,
    };
    Some(ns / 1e9)
}

/// In the devices, others are in the way only while anything is in flight there. In front
/// of them a limit on a control group may be shared; that holds for reads and for writes
/// apart, so others have to do the other of both.
fn held_by_others(trial: &Trial, stack: &Stack) -> Option<f64> {
    let others = by_others(trial, stack);
    let reads = trial.evidence.issued.reads > 0;
    let writes = trial.workload.operation.writes();
    if others.beside > 0 || (reads && others.read > 0) || (writes && others.written > 0) {
        return None;
    }
    let mut all_ms = None;
    for device in roots(stack) {
        let counted = trial.evidence.device(&device.name)?;
        all_ms = Some(all_ms.unwrap_or(0) + counted.busy_ms);
    }
    Some(all_ms? as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use crate::testing::{self, each, set_latencies};
    use diskfacts_record::{Outcome, Run, Verdict};

    /// Ten writes a second, each synced, while others read the device, or write it.
    fn beside_others(read_bytes: u64, written_bytes: u64, busy_ms: u64) -> Verdict {
        let mut run: Run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            set_latencies(trial, &[(90_000_000, 10)]);
            trial.iops = 10.0;
            for device in &mut trial.evidence.devices {
                device.read_bytes += read_bytes;
                device.write_bytes += written_bytes;
                device.busy_ms = (busy_ms as f64 * trial.seconds) as u64;
            }
        });
        let all = crate::verdicts::verdicts(&run);
        let rate = |verdict: &Verdict| verdict.needed.contains("per second at least 50");
        all.into_iter().find(rate).expect("etcd's rate")
    }

    #[test]
    fn others_beside_one_scheduler_are_no_excuse_under_the_other() {
        let mut run: Run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            let beside = trial.number > 3;
            let scheduler = if beside { "bfq" } else { "none" };
            trial.settings = [("scheduler".to_owned(), scheduler.to_owned())].into();
            set_latencies(trial, &[(90_000_000, 10)]);
            trial.iops = 10.0;
            for device in &mut trial.evidence.devices {
                device.busy_ms = (1000.0 * trial.seconds) as u64;
                device.read_bytes += if beside { 300 << 20 } else { 0 };
            }
        });
        let all = crate::verdicts::verdicts(&run);
        let outcome = |scheduler: &str| {
            let is = |verdict: &&Verdict| {
                let stage = verdict.stage.as_deref().unwrap_or("");
                verdict.needed.contains("per second at least 50") && stage.contains(scheduler)
            };
            all.iter().find(is).expect("etcd's rate").outcome
        };
        assert_eq!(outcome("bfq"), Outcome::Unmeasured);
        assert_eq!(outcome("none"), Outcome::Fail);
    }

    #[test]
    fn others_are_no_excuse_for_what_waited_in_front_of_the_device() {
        let failed = beside_others(300 << 20, 0, 300);
        assert_eq!(failed.outcome, Outcome::Fail, "{failed:?}");
        let measured = failed.measured.unwrap();
        assert!(
            measured
                .ends_with("others used the disk meanwhile, and without that it is 14.3 at best"),
            "{measured}"
        );
        // Of a device that was at work all the time, who knows.
        for busy_ms in [850, 1000, 1100] {
            let held = beside_others(300 << 20, 0, busy_ms);
            assert_eq!(held.outcome, Outcome::Unmeasured, "{busy_ms}: {held:?}");
        }
        // Who writes may have used up the limit of a control group.
        let held = beside_others(0, 300 << 20, 300);
        assert_eq!(held.outcome, Outcome::Unmeasured, "{held:?}");
    }
}
