//! Others used the same device while a trial ran, so the trial had less of it.
//!
//! What they moved is worked out in [`others`](crate::others).
//!
//! Syncs: who makes files and syncs them moves few bytes, and holds up every sync on the same
//! filesystem, because a journal commits for all and one commit after the other ([`Commits`]).

use super::prelude::*;
use crate::journal::Commits;
use crate::layers::in_memory;
use crate::neighbours;
use crate::others::by_others;
use crate::words::count as number;

pub(super) const RULE: Rule = Rule {
    name: "other-io",
    about: "others used the same device during a trial",
    needs: &[Needs::Evidence],
    severity: Severity::Warning,
    confidence: Confidence::Likely,
    refuted_by: "A run with the same excess while nothing else uses the device, as `iostat -x 1` \
                 shows before it begins.",
    check: Check::Several(check),
};

/// Bytes of others over those issued, from which on it is a finding: 1 in 20
/// is what trials of a quiet disk differ by anyway.
const SHARE: f64 = 0.05;
/// Bytes per trial below which it is not: a commit of the journal now and then.
const BYTES: u64 = 64 << 10;

fn check(context: &Context<'_>) -> Vec<Finding> {
    let stack = &context.run.stack;
    let on_disks = !in_memory(stack) && !stack.devices.is_empty();
    let before = on_disks.then(|| in_flight_before(context)).flatten();
    let moved = on_disks.then(|| moved(context)).flatten();
    let moved = match (moved, before) {
        (Some(mut moved), Some(before)) => {
            moved.evidence.extend(before.evidence);
            Some(moved)
        }
        (moved, before) => moved.or(before),
    };
    moved.into_iter().chain(synced(context)).collect()
}

/// Others moved bytes.
fn moved(context: &Context<'_>) -> Option<Finding> {
    let stack = &context.run.stack;
    let shown = Shown::by(context.doing_io(), |stage, _| {
        if stage.workload().cache == CacheMode::Warm {
            return None;
        }
        let others = stage.sum(|t| by_others(t, stack).bytes());
        let issued = stage.sum(|t| t.bytes);
        let share = others as f64 / issued as f64;
        let is_worth = share > SHARE && others / stage.trials.len() as u64 > BYTES;
        let ([own, more], part) = ([issued, others].map(show_size), percent(share));
        let line = format!("{own} issued, and {more} more moved by others ({part}).");
        (issued > 0 && is_worth).then_some((share, [line]))
    })?;
    let most = shown.most(|share| *share);
    // 0.1 is a share, and 1850 no percentage that anybody reads.
    let of_ours = if most < 1.0 {
        format!("{} of our I/O", percent(most))
    } else {
        format!("{} times our I/O", ratio(most))
    };
    Some(Finding {
        headline: format!("others used the disk: up to {of_ours}"),
        claim: format!(
            "Others used {} during {}: they did up to {of_ours}.",
            device_list(stack.leaves()),
            shown.list()
        ),
        remedy: remedy(context),
        ..shown.finding(&RULE)
    })
}

/// Others had the journal of the filesystem committed while each write of a stage was synced.
fn synced(context: &Context<'_>) -> Option<Finding> {
    let filesystem = context.run.stack.filesystem.as_ref()?;
    let mut shown = Shown::by(context.doing_io(), |stage, _| {
        let commits = Commits::of(&stage.trials, context.run)?;
        let (all, own, others) = (commits.all, commits.own_max, commits.others());
        let share = others as f64 / all as f64;
        let times = number(all, "time");
        let line = format!(
            "the journal committed {times}, of which our syncs and its timer asked for {own} at \
             most."
        );
        commits.are_of_others().then_some(((share, stage), [line]))
    })?;
    let beside = shown
        .seen
        .iter()
        .map(|(_, stage)| neighbours::on_storage(&stage.trials));
    let lines = shown.lines.into_iter().zip(beside);
    shown.lines = lines
        .flat_map(|(line, beside)| [Some(line), beside])
        .flatten()
        .collect();
    let share = percent(shown.most(|(share, _)| *share));
    Some(Finding {
        headline: format!("others synced here: up to {share} of the commits"),
        claim: format!(
            "Others synced files on {} ({}) during {}: up to {share} of the journal's commits were \
             theirs, and a sync of ours that needs a commit waits for the one under way.",
            filesystem.mount_point,
            filesystem.kind,
            shown.list()
        ),
        refuted_by: "As many commits for each sync while nothing else uses the filesystem.".into(),
        remedy: format!(
            "Find who syncs with `perf trace -a -e fsync,fdatasync,sync,syncfs` as root, stop it \
             or give one of the two a filesystem of its own, then type `{}`.",
            measure(context.run)
        ),
        ..shown.finding(&RULE)
    })
}

fn remedy(context: &Context<'_>) -> String {
    if is_simulated(context.run) {
        // No process of this machine uses it: only an earlier stage can.
        let edit = "set sync = \"at-end\" in the stages that write before these";
        return edit_stages(context.run, edit);
    }
    format!(
        "Find who it is with `pidstat -d 1` or `iotop -o`, stop it, then type `{}`.",
        measure(context.run)
    )
}

/// Operations of others that were under way when trials began.
fn in_flight_before(context: &Context<'_>) -> Option<Finding> {
    let shown = Shown::by(context.doing_io(), |stage, _| {
        // What was to run beside a trial has begun before it.
        let alone = stage.trials.iter().filter(|t| t.workload.beside.is_none());
        let before = alone.map(|t| {
            let leaves = t.evidence.devices.iter().filter(|d| d.leaf);
            leaves.map(|d| d.in_flight_before).sum::<u64>()
        });
        let before: Vec<u64> = before.filter(|n| *n > 0).collect();
        (!before.is_empty()).then_some((before, []))
    })?;
    let before = || shown.seen.iter().flatten();
    let most = number(*before().max()?, "operation");
    let trials = number(before().count() as u64, "trial");
    Some(Finding {
        severity: Severity::Note,
        headline: format!("the disk was busy when {trials} began"),
        claim: format!(
            "The disk was not idle when {trials} of {} began.",
            shown.list()
        ),
        evidence: vec![format!(
            "Up to {most} of others were in flight then (`/sys/block/*/inflight`)."
        )],
        confidence: Confidence::Possible,
        refuted_by: "A write-back of this run's own earlier stages that ends with the same trial."
            .into(),
        remedy: remedy(context),
        ..shown.finding(&RULE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::BlockDevice;

    /// Synced writes, for each of which jbd2 committed so many times.
    fn committed(times: f64) -> diskfacts_record::Run {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            let commits = trial.evidence.issued.syncs as f64 * times;
            trial.evidence.journal = Some(diskfacts_record::evidence::Journal {
                kind: "jbd2".into(),
                commits: commits as u64,
                bytes: None,
            });
        });
        run
    }

    #[test]
    fn commits_beyond_one_for_each_sync_are_those_of_others_who_sync() {
        let finding = only(&committed(2.0), RULE.name);
        assert_eq!(finding.stages, ["log-write"]);
        assert!(
            finding
                .claim
                .starts_with("Others synced files on / (ext4) during log-write: up to 50 %"),
            "{finding:#?}"
        );
        testing::silent(&committed(1.0));
        // Data that goes through the journal fills it.
        let mut journalled = committed(2.0);
        let filesystem = journalled.stack.filesystem.as_mut().expect("there is one");
        filesystem.options.push("data=journal".into());
        testing::silent(&journalled);
    }

    #[test]
    fn reads_of_another_process_are_found() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |trial| {
            for device in &mut trial.evidence.devices {
                device.read_bytes = device.read_bytes * 12 / 10;
            }
        });
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.stages, ["random-read-qd1"]);
        assert!(
            finding.claim.contains("Others used vda during"),
            "{finding:?}"
        );
        assert!(finding.claim.contains("20 %"), "{finding:?}");
    }

    #[test]
    fn writes_during_reads_and_beside_writes_are_found() {
        let mut run = testing::healthy();
        each(&mut run, "sequential-read", |trial| {
            for device in &mut trial.evidence.devices {
                device.write_bytes = trial.bytes / 5;
            }
        });
        each(&mut run, "random-write-qd32", |trial| {
            for device in &mut trial.evidence.devices {
                device.write_bytes = device.write_bytes * 3 / 2;
            }
        });
        let finding = only(&run, RULE.name);
        assert_eq!(finding.stages, ["sequential-read", "random-write-qd32"]);
    }

    #[test]
    fn writes_of_others_beside_synced_writes_are_not_laid_to_the_journal() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            for device in &mut trial.evidence.devices {
                // A copy in requests of 1 MiB: few of them, many bytes.
                device.write_bytes += 100 << 20;
                device.writes += 100;
            }
        });
        assert_eq!(only(&run, RULE.name).stages, ["log-write"]);
    }

    #[test]
    fn more_than_a_journal_writes_per_sync_is_others() {
        let mut run = testing::healthy();
        each(&mut run, "log-write", |trial| {
            for device in &mut trial.evidence.devices {
                device.write_bytes += trial.evidence.issued.syncs << 20;
                device.writes += trial.evidence.issued.syncs;
            }
        });
        assert_eq!(only(&run, RULE.name).stages, ["log-write"]);
    }

    /// A run on a btrfs of two disks with this profile of data.
    fn on_btrfs(profile: &str) -> diskfacts_record::Run {
        let mut stack = testing::stack();
        stack.devices.remove(0);
        let second = BlockDevice {
            name: "vdb".into(),
            ..stack.devices[0].clone()
        };
        stack.devices.push(second);
        let filesystem = stack.filesystem.as_mut().unwrap();
        filesystem.kind = "btrfs".into();
        filesystem.data_profiles = vec![profile.into()];
        let mut run = testing::on(stack);
        // Reads are shared out, and each of the disks has a copy of what is written.
        for trial in &mut run.trials {
            for device in &mut trial.evidence.devices {
                device.read_bytes /= 2;
                device.reads /= 2;
            }
        }
        run
    }

    #[test]
    fn copies_that_the_filesystem_keeps_by_itself_are_not_others() {
        let of = |run: &diskfacts_record::Run| {
            let context = Context::new(run);
            check(&context).into_iter().next()
        };
        assert_eq!(of(&on_btrfs("raid1")), None);
        // Where it keeps one, as much again is somebody else's.
        let finding = of(&on_btrfs("single")).expect("twice the bytes");
        assert!(
            finding.stages.contains(&"random-write-qd32".to_owned()),
            "{finding:?}"
        );
        // Beside the copies others are still seen.
        let mut run = on_btrfs("raid1");
        each(&mut run, "random-write-qd32", |trial| {
            for device in &mut trial.evidence.devices {
                device.write_bytes *= 2;
            }
        });
        let finding = of(&run).expect("more than the copies");
        assert_eq!(finding.stages, ["random-write-qd32"]);
        // Parity may be anything.
        assert_eq!(of(&on_btrfs("raid5")), None);
    }

    #[test]
    fn a_busy_partition_beside_is_found() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd32", |trial| {
            trial.evidence.devices[1].read_bytes *= 2;
        });
        assert_eq!(only(&run, RULE.name).stages, ["random-read-qd32"]);
    }

    #[test]
    fn the_write_back_of_an_earlier_stage_is_nobody_elses() {
        let mut run = testing::healthy();
        for stage in ["sequential-read", "log-write"] {
            each(&mut run, stage, |trial| {
                let left = 64 << 20;
                trial
                    .evidence
                    .residency_before
                    .as_mut()
                    .unwrap()
                    .dirty_bytes = Some(left);
                for device in &mut trial.evidence.devices {
                    device.write_bytes += left;
                }
            });
        }
        testing::silent(&run);
    }

    #[test]
    fn a_little_of_others_is_left_alone() {
        let mut run = testing::healthy();
        each(&mut run, "random-read-qd1", |trial| {
            for device in &mut trial.evidence.devices {
                device.read_bytes = device.read_bytes * 104 / 100;
            }
        });
        testing::silent(&run);
    }

    #[test]
    fn operations_in_flight_before_a_trial_are_a_note() {
        let mut run = testing::healthy();
        let mut first = true;
        each(&mut run, "random-read-qd1", |trial| {
            trial.evidence.devices[1].in_flight_before = u64::from(first) * 4;
            first = false;
        });
        let finding = only(&run, RULE.name);
        assert_eq!(finding.severity, Severity::Note);
        assert!(
            finding.claim.contains("1 trial of random-read-qd1"),
            "{finding:?}"
        );
        assert!(finding.evidence[0].contains("4 operations"), "{finding:?}");
    }
}
