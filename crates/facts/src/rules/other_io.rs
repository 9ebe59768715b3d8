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
use crate::others::{in_flight_before, moved_by_others};
use std::iter::once;

pub(super) const RULE: Rule = Rule {
    name: "other-io",
    confidence: Confidence::Likely,
    check: Check::Several(check),
    ..Rule::WARNING
};

fn check(context: &Context<'_>) -> Vec<Found> {
    let stack = &context.run.stack;
    let on_disks = !in_memory(stack) && !stack.devices.is_empty();
    let find = |check: StageCheck, needs: &[Need]| check.find(context, needs);
    let before = find(StageCheck(had_in_flight, was_busy), &[Blocks]);
    let moved = find(StageCheck(moved_by_others, moved), &[Blocks, NotWarm]);
    let moved = match (moved.filter(|_| on_disks), before.filter(|_| on_disks)) {
        (Some(moved), Some(before)) => Some(moved.evidence(before.evidence)),
        (moved, before) => moved.or(before),
    };
    let synced = find(StageCheck(sync_much, synced), &[Blocks]);
    moved.into_iter().chain(synced).collect()
}

/// Whether others moved bytes, or synced, beside this stage under these settings.
pub(crate) fn sees(facts: &StageFacts<'_>) -> bool {
    moved_by_others(facts).is_some() || sync_much(facts).is_some()
}

fn moved(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let most = shown.most();
    // 0.1 is a share, and 1850 no percentage that anybody reads.
    let of_ours = if most < 1.0 {
        format!("{} of our I/O", percent(most))
    } else {
        format!("{} times our I/O", ratio(most))
    };
    RULE.claim(format!(
        "Others used {} during {}: they did up to {of_ours}.",
        device_list(context.run.stack.leaves()),
        shown.list()
    ))
    .headline(format!("others used the disk: up to {of_ours}"))
    .remedy(remedy(context))
}

/// Others had the journal of the filesystem committed while each write of a stage was synced.
fn sync_much(facts: &StageFacts<'_>) -> Option<Seen> {
    let commits = Commits::beside(facts.trials(), facts.run())?;
    let share = commits.others() as f64 / commits.all as f64;
    let lines = once(commits.said()).chain(neighbours::on_storage(facts.trials()));
    Some((share, lines.collect()))
}

fn synced(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let share = percent(shown.most());
    let filesystem = context.run.stack.filesystem.as_ref();
    let (on, kind) = filesystem.map_or(("", ""), |of| (&of.mount_point, &of.kind));
    RULE.claim(format!(
        "Others synced files on {on} ({kind}) during {}: up to {share} of the journal's commits \
         were theirs, and a sync of ours that needs a commit waits for the one under way.",
        shown.list()
    ))
    .headline(format!("others synced here: up to {share} of the commits"))
    .case("synced")
    .remedy(format!(
        "Find who syncs with `perf trace -a -e fsync,fdatasync,sync,syncfs` as root, stop it or \
         give one of the two a filesystem of its own, then type `{}`.",
        measure(context.run)
    ))
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

fn had_in_flight(facts: &StageFacts<'_>) -> Option<Seen> {
    let before = in_flight_before(facts);
    (!before.is_empty()).then(|| (before.len() as f64, Vec::new()))
}

fn was_busy(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let before: Vec<u64> = shown.facts().flat_map(in_flight_before).collect();
    let most = count(before.iter().copied().max().unwrap_or(0), "operation");
    let trials = count(before.len() as u64, "trial");
    RULE.claim(format!(
        "The disk was not idle when {trials} of {} began.",
        shown.list()
    ))
    .severity(Severity::Note)
    .headline(format!("the disk was busy when {trials} began"))
    .evidence([format!(
        "Up to {most} of others were in flight then (`/sys/block/*/inflight`)."
    )])
    .confidence(Possible)
    .case("in-flight-before")
    .remedy(remedy(context))
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
                commit_ms: None,
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
        let of = |run: &Run| testing::of_rule(run, RULE.name);
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
