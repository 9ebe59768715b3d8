//! Synced writes come back sooner than the medium can turn: the flush was
//! acknowledged, and the data lies in a cache.
//!
//! A disk that lies so is seen by nothing else from outside: it says that its cache
//! is volatile, it counts the flushes, and only physics contradicts it. What a
//! hypervisor shows as rotating may be anything, so there nothing is said.

use super::prelude::*;
use crate::layers::{REVOLUTION_NS_MIN, faster_than_revolutions};

pub(super) const RULE: Rule = Rule {
    name: "flush-not-to-medium",
    needs: &[NoDocument, Drives, Blocks, Platter],
    confidence: Confidence::Likely,
    check: Check::Stages(&[StageCheck(is_too_fast, in_a_cache)]),
    ..Rule::WARNING
};

fn is_too_fast(facts: &StageFacts<'_>) -> Option<Seen> {
    let run = facts.run();
    unless(!is_simulated(run) && run.machine.virtualization.is_some())?;
    let each_ns = facts
        .trials()
        .iter()
        .map(|trial| faster_than_revolutions(&trial.workload, &trial.evidence, &run.stack));
    let each_ns: Vec<f64> = each_ns.collect::<Option<_>>()?;
    let took = duration(stats::median(&each_ns)?);
    let writes = count(facts.stage.sum(|t| t.evidence.issued.writes), "write");
    let line = format!("{writes}, each synced before the next, took {took} each.");
    Some((1.0, vec![line]))
}

fn in_a_cache(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let run = context.run;
    RULE.claim(format!(
        "The disk acknowledged the syncs of {} sooner than its medium can turn: what was synced \
         lies in a cache, and may be lost with the power.",
        shown.list()
    ))
    .headline("syncs return sooner than the medium can turn")
    .evidence([
        format!(
            "The fastest disks, of 15000 revolutions per minute, turn once in {}; a write behind \
             the last one waits for nearly a whole revolution, one anywhere for half of one.",
            duration(REVOLUTION_NS_MIN as f64)
        ),
        format!(
            "By what the kernel knows of {}, it rotates, its write cache is volatile (`write \
             back`), and the writes were flushed or forced to the medium.",
            device_list(run.stack.leaves())
        ),
    ])
    .case_if(is_simulated(run), "simulated")
    .planted(run, "lying_flush of [faults]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::{Layers, Run};

    /// Synced writes on a bare disk that rotates and has a volatile cache, each in
    /// so many nanoseconds.
    fn synced(each_ns: u64) -> Run {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.write_cache = Some("write back".into());
            device.rotational = Some(true);
        }
        run.machine.virtualization = None;
        run.trials.retain(|trial| trial.stage == "log-write");
        each(&mut run, "log-write", |trial| {
            let operations: u64 = trial.evidence.intervals.operations.iter().sum();
            let intervals = trial.evidence.intervals.operations.len() as u64;
            trial.evidence.intervals.length_ns = operations * each_ns / intervals;
        });
        let stack = run.stack.clone();
        for trial in &mut run.trials {
            trial.layers = crate::layers(&trial.workload, &trial.evidence, &stack);
        }
        run
    }

    fn layers(run: &Run) -> Layers {
        run.trials[0].layers
    }

    #[test]
    fn syncs_faster_than_a_quarter_of_the_fastest_revolution_are_found() {
        let run = synced(120_000);
        let finding = only(&run, RULE.name);
        assert!(finding.evidence[0].contains("120 us each"), "{finding:#?}");
        assert!(finding.evidence[1].contains("4 ms"), "{finding:#?}");
        assert!(layers(&run).media <= 0.0 && layers(&run).unknown >= 1.0);
    }

    #[test]
    fn what_a_disk_of_any_speed_can_do_is_believed() {
        let run = synced(1_010_000);
        testing::silent(&run);
        assert!(layers(&run).media >= 1.0);
    }

    #[test]
    fn what_explains_it_keeps_the_rule_silent() {
        for explain in [
            // Flash.
            (|run| run.stack.devices[1].rotational = Some(false)) as fn(&mut Run),
            |run| run.stack.devices[1].rotational = None,
            // A cache that survives a power cut.
            |run| run.stack.devices[1].write_cache = Some("write through".into()),
            // What a hypervisor shows may be anything.
            |run| run.machine.virtualization = Some("kvm".into()),
            // Reads anywhere that no arm could do.
            |run| {
                let mut read = testing::healthy();
                read.trials.retain(|trial| trial.stage == "random-read-qd1");
                run.trials.append(&mut read.trials);
            },
            // Others wait at the same time, and share a flush.
            |run| {
                for trial in &mut run.trials {
                    trial.workload.streams = 4;
                }
            },
        ] {
            let mut run = synced(120_000);
            explain(&mut run);
            assert!(testing::of_rule(&run, RULE.name).is_none());
        }
    }
}
