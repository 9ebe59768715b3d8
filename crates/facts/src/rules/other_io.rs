//! Others used the same device while a trial ran, so the trial had less of it.
//!
//! Reads: what the device right under the filesystem counted beyond what this
//! process caused. Writes: beyond what was written, less what earlier trials had
//! left dirty and what the filesystem's journal can have added to the syncs. Copies
//! that the filesystem itself keeps (btrfs, bcachefs) are its own; with parity of its own
//! it reads and writes as much as it likes, and nothing is said of writes. And what a
//! disk counted beyond the partitions that this target uses.
//!
//! Syncs: who makes files and syncs them moves few bytes, and holds up every sync on the same
//! filesystem, because a journal commits for all and one commit after the other. A sync of
//! ours asks jbd2 for one commit at most, and its timer for one in five seconds
//! (`JBD2_DEFAULT_MAX_COMMIT_AGE`); what it committed beyond that was for others.

use super::{Context, names};
use crate::journal::beyond_own;
use crate::layers::copies;
use crate::layers::in_memory;
use crate::layers::reach::{Direction, count, dirty_before, roots};
use crate::neighbours;
use crate::simulated::is_simulated;
use crate::stages::Stage;
use crate::words::{count as number, edit_stages, list, measure, percent, ratio, stage_list};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_size;
use diskfacts_record::{BlockDevice, Confidence, DeviceKind, Finding, Severity, Stack, Trial};

pub(super) const NAME: &str = "other-io";

/// Bytes of others over those issued, from which on it is a finding: 1 in 20
/// is what trials of a quiet disk differ by anyway.
const SHARE: f64 = 0.05;
/// Bytes per trial below which it is not: a commit of the journal now and then.
const BYTES: u64 = 64 << 10;

/// Share of the commits of a journal that were for others, from which on it is a finding, and
/// fewest of them in a trial.
const COMMITS_SHARE: f64 = 0.1;
const COMMITS_MIN: u64 = 10;
/// Commits that a journal makes by itself in a second, at most: mounts with `commit=1`.
const BY_TIMER_PER_S: f64 = 1.0;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut found = moved(context);
    found.extend(synced(context));
    found
}

/// Others moved bytes, or had operations under way.
fn moved(context: &Context<'_>) -> Vec<Finding> {
    let stack = &context.run.stack;
    if in_memory(stack) || stack.devices.is_empty() {
        return Vec::new();
    }
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    for (stage, _) in context.doing_io() {
        if stage.workload().cache == CacheMode::Warm {
            continue;
        }
        let by_others = stage
            .trials
            .iter()
            .map(|t| by_others(t, stack).bytes())
            .fold(0, u64::saturating_add);
        let issued = stage.sum(|t| t.bytes);
        let share = by_others as f64 / issued as f64;
        if issued > 0 && share > SHARE && by_others / stage.trials.len() as u64 > BYTES {
            most = most.max(share);
            stages.push(stage.name);
            evidence.push(format!(
                "{}: {} issued, and {} more moved by others ({}).",
                stage.label(),
                show_size(issued),
                show_size(by_others),
                percent(share)
            ));
        }
    }
    let before = in_flight_before(context);
    if stages.is_empty() {
        return before.into_iter().collect();
    }
    evidence.extend(before.into_iter().flat_map(|finding| finding.evidence));
    let disks: Vec<&str> = stack.leaves().map(|d| d.name.as_str()).collect();
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: if most < 1.0 {
            format!("others used the disk: up to {} of our I/O", percent(most))
        } else {
            format!("others used the disk: up to {} times our I/O", ratio(most))
        },
        claim: format!(
            "Others used {} during {}: they did up to {} our I/O.",
            list(&disks),
            stage_list(&stages),
            // 0.1 is a share, and 1850 no percentage that anybody reads.
            if most < 1.0 {
                format!("{} of", percent(most))
            } else {
                format!("{} times", ratio(most))
            }
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "A run with the same excess while nothing else uses the device, as `iostat -x \
                     1` shows before it begins."
            .into(),
        remedy: remedy(context),
        stages,
    }]
}

/// Others had the journal of the filesystem committed while each write of a stage was synced.
fn synced(context: &Context<'_>) -> Option<Finding> {
    let filesystem = context.run.stack.filesystem.as_ref()?;
    // Data that goes through the journal fills it, and is committed unasked.
    if filesystem
        .options
        .iter()
        .any(|option| option == "data=journal")
    {
        return None;
    }
    let (mut evidence, mut stages, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for (stage, _) in context.doing_io() {
        let commits: Option<Vec<Commits>> = stage.trials.iter().map(|t| Commits::of(t)).collect();
        let Some(commits) = commits else { continue };
        let sum = |of: fn(&Commits) -> u64| commits.iter().map(of).sum::<u64>();
        let (all, own) = (sum(|commits| commits.all), sum(|commits| commits.own_max));
        let others = all.saturating_sub(own);
        let share = others as f64 / all as f64;
        if share > COMMITS_SHARE && others >= COMMITS_MIN * commits.len() as u64 {
            most = most.max(share);
            stages.push(stage.name);
            evidence.push(format!(
                "{}: the journal committed {}, of which our syncs and its timer asked for {own} at \
                 most.",
                stage.label(),
                number(all, "time")
            ));
            evidence.extend(neighbours::on_storage(&stage.trials));
        }
    }
    if stages.is_empty() {
        return None;
    }
    let stages = names(stages);
    let share = percent(most);
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: format!("others synced here: up to {share} of the commits"),
        claim: format!(
            "Others synced files on {} ({}) during {}: up to {share} of the journal's commits were \
             theirs, and a sync of ours that needs a commit waits for the one under way.",
            filesystem.mount_point,
            filesystem.kind,
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "As many commits for each sync while nothing else uses the filesystem.".into(),
        remedy: format!(
            "Find who syncs with `perf trace -a -e fsync,fdatasync,sync,syncfs` as root, stop it \
             or give one of the two a filesystem of its own, then type `{}`.",
            measure(context.run)
        ),
        stages,
    })
}

/// Commits of jbd2 in a trial.
#[derive(Debug, Clone, Copy)]
struct Commits {
    all: u64,
    /// The most that the trial's syncs and the timer can have asked for.
    own_max: u64,
}

impl Commits {
    /// Of a trial that syncs each write; `None` of others, and where jbd2 did not count.
    fn of(trial: &Trial) -> Option<Self> {
        let journal = trial.evidence.journal.as_ref()?;
        if journal.kind != "jbd2" || !trial.workload.sync.each_write() {
            return None;
        }
        let issued = &trial.evidence.issued;
        let by_timer = (trial.seconds * BY_TIMER_PER_S).ceil().max(0.0) as u64;
        Some(Self {
            all: journal.commits,
            // O_DSYNC and O_SYNC sync with each write.
            own_max: issued.syncs.max(issued.writes).saturating_add(by_timer),
        })
    }
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

/// Bytes that others moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Others {
    /// Read from the devices right under the filesystem, or from the target.
    pub(crate) read: u64,
    /// Written to them.
    pub(crate) written: u64,
    /// Both, beside the partitions of this stack.
    pub(crate) beside: u64,
}

impl Others {
    pub(crate) fn bytes(self) -> u64 {
        let through = self.read.saturating_add(self.written);
        through.saturating_add(self.beside)
    }
}

/// Bytes that others moved on the devices of this trial, as far as they can be
/// told from its own.
pub(crate) fn by_others(trial: &Trial, stack: &Stack) -> Others {
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let evidence = &trial.evidence;
    let counted = |direction| count(&tops, direction, evidence);
    let beyond = |counted: Option<u64>, own: Option<u64>| {
        counted
            .zip(own)
            .map_or(0, |(counted, own)| counted.saturating_sub(own))
    };
    let io = evidence.process_io.as_ref();
    let direct = evidence.engine.direct;
    let Some(copies) = copies::of_filesystem(stack).most else {
        let only_reads = !trial.workload.operation.writes();
        let read = only_reads.then(|| beyond(counted(Direction::Read), io.map(|io| io.read_bytes)));
        return Others {
            read: read.unwrap_or(0),
            ..Others::default()
        };
    };
    let own_reads = io
        .map(|io| io.read_bytes)
        .or(direct.then_some(evidence.issued.read_bytes));
    let read = beyond(counted(Direction::Read), own_reads);
    let written = if let Some(beyond) = beyond_own(trial, stack) {
        beyond.others_bytes
    } else {
        let process = io.map_or(0, |io| io.write_bytes);
        let own = if trial.workload.operation.writes() {
            // What is written through the page cache goes down later.
            direct.then(|| evidence.issued.write_bytes.max(process))
        } else {
            Some(process)
        };
        let own = own.map(|own| own.saturating_mul(copies));
        beyond(counted(Direction::Write), own).saturating_sub(dirty_before(evidence))
    };
    Others {
        read,
        written,
        beside: beside_partitions(trial, stack).saturating_add(below_loop(trial, stack)),
    }
}

/// Bytes that the disk under a loop device counted beyond what the loop device did, where
/// that passes the page cache of its file: others used the disk. What is written meanwhile
/// may be left from before, and is not counted.
fn below_loop(trial: &Trial, stack: &Stack) -> u64 {
    let mut leaves = stack.leaves();
    let (Some(leaf), None) = (leaves.next(), leaves.next()) else {
        return 0;
    };
    let mut loops = stack.devices.iter().filter(|d| d.kind == DeviceKind::Loop);
    let Some(upper) = loops.find(|d| d.backing_direct == Some(true) && d.name != leaf.name) else {
        return 0;
    };
    let read = |device| count(&[device], Direction::Read, &trial.evidence);
    let counted = read(leaf).zip(read(upper));
    counted.map_or(0, |(below, above)| below.saturating_sub(above))
}

/// Bytes that disks counted beyond the partitions of this stack on them.
fn beside_partitions(trial: &Trial, stack: &Stack) -> u64 {
    let mut sum = 0_u64;
    for disk in &stack.devices {
        let parts: Vec<&BlockDevice> = stack
            .devices
            .iter()
            .filter(|d| d.below.contains(&disk.name))
            .collect();
        if parts.is_empty() || parts.iter().any(|d| d.kind != DeviceKind::Partition) {
            continue;
        }
        for direction in [Direction::Read, Direction::Write] {
            let whole = count(&[disk], direction, &trial.evidence);
            let ours = count(&parts, direction, &trial.evidence);
            if let Some((whole, ours)) = whole.zip(ours) {
                sum = sum.saturating_add(whole.saturating_sub(ours));
            }
        }
    }
    sum
}

/// Operations of others that were under way when trials began.
fn in_flight_before(context: &Context<'_>) -> Option<Finding> {
    let mut stages: Vec<&Stage<'_>> = Vec::new();
    let (mut trials, mut most) = (0_u64, 0_u64);
    for (stage, _) in context.doing_io() {
        // What was to run beside a trial has begun before it.
        let alone = |t: &&&Trial| t.workload.beside.is_none();
        let before = stage.trials.iter().filter(alone).map(|t| {
            let leaves = t.evidence.devices.iter().filter(|d| d.leaf);
            leaves.map(|d| d.in_flight_before).sum::<u64>()
        });
        let mut here = 0;
        for n in before.filter(|n| *n > 0) {
            here += 1;
            most = most.max(n);
        }
        if here > 0 {
            trials += here;
            stages.push(stage);
        }
    }
    if stages.is_empty() {
        return None;
    }
    let stages = names(stages.iter().map(|stage| stage.name));
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!("the disk was busy when {} began", number(trials, "trial")),
        claim: format!(
            "The disk was not idle when {} of {} began.",
            number(trials, "trial"),
            stage_list(&stages)
        ),
        evidence: vec![format!(
            "Up to {} of others were in flight then (`/sys/block/*/inflight`).",
            number(most, "operation")
        )],
        confidence: Confidence::Possible,
        refuted_by: "A write-back of this run's own earlier stages that ends with the same trial."
            .into(),
        remedy: remedy(context),
        stages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};

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
        let finding = only(&committed(2.0), NAME);
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
        let finding = only(&run, NAME);
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
        let finding = only(&run, NAME);
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
        assert_eq!(only(&run, NAME).stages, ["log-write"]);
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
        assert_eq!(only(&run, NAME).stages, ["log-write"]);
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
        assert_eq!(only(&run, NAME).stages, ["random-read-qd32"]);
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
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert!(
            finding.claim.contains("1 trial of random-read-qd1"),
            "{finding:?}"
        );
        assert!(finding.evidence[0].contains("4 operations"), "{finding:?}");
    }
}
