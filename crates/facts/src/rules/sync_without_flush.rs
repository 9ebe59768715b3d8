//! Syncs returned, but the kernel sent no flush to a disk with a volatile write
//! cache: what was synced may be lost with the power, and the figure is too
//! good.

use super::{Context, names};
use crate::layers::{all_leaves, flushes};
use crate::words::{count, list, shell, stage_list};
use diskfacts_plan::SyncMode;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "sync-without-flush";

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let stack = &context.run.stack;
    if !all_leaves(stack, "write back") {
        return Vec::new();
    }
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    for (stage, _) in context.doing_io() {
        // A forced write (FUA) does without a flush, so a write opened with
        // O_DSYNC or O_SYNC needs none where the disk can force single writes.
        let by_flush = match stage.workload().sync {
            SyncMode::None => false,
            SyncMode::ODsync | SyncMode::OSync => {
                stack.leaves().all(|leaf| leaf.fua == Some(false))
            }
            SyncMode::Fdatasync | SyncMode::Fsync | SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => {
                true
            }
        };
        let written = stage.sum(|t| t.evidence.issued.writes);
        let flushed: Option<u64> = stage
            .trials
            .iter()
            .map(|t| flushes(&t.evidence, stack))
            .sum();
        if !by_flush || written == 0 || flushed != Some(0) {
            continue;
        }
        stages.push(stage.name);
        evidence.push(format!(
            "{}: {} and {}, and not one flush counted by the disk.",
            stage.label(),
            count(written, "write"),
            count(stage.sum(|t| t.evidence.issued.syncs), "sync")
        ));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let disks: Vec<&str> = stack.leaves().map(|leaf| leaf.name.as_str()).collect();
    evidence.push(format!(
        "{} {} a volatile write cache (`write back`).",
        list(&disks),
        if disks.len() == 1 { "has" } else { "have" }
    ));
    let suspects = stack.filesystem.as_ref().map(|filesystem| {
        let named = |o: &&String| ["nobarrier", "barrier=0", "volatile"].contains(&o.as_str());
        filesystem
            .options
            .iter()
            .filter(named)
            .cloned()
            .collect::<Vec<_>>()
    });
    if let Some(options) = suspects.filter(|options| !options.is_empty()) {
        evidence.push(format!(
            "The filesystem is mounted with {}.",
            list(&options)
        ));
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        headline: "syncs did not flush the write cache: may not be durable".into(),
        claim: format!(
            "The syncs of {} did not flush the disk's write cache: what they made durable may be \
             lost with the power.",
            stage_list(&stages)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "Flushes counted in `/proc/diskstats` (field 19) during such a trial.".into(),
        remedy: format!(
            "Type `findmnt -no OPTIONS --target {}`; if it shows `nobarrier`, `barrier=0` or \
             `volatile`, mount without.",
            shell(&context.run.target.path)
        ),
        stages,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, each, only};
    use diskfacts_record::Run;

    /// A disk with a volatile cache, and no stage but synced writes.
    fn cached_disk() -> Run {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.write_cache = Some("write back".into());
        }
        run.trials.retain(|t| t.stage == "log-write");
        run
    }

    fn drop_flushes(run: &mut Run) {
        each(run, "log-write", |trial| {
            for device in &mut trial.evidence.devices {
                device.flushes = Some(0);
            }
        });
    }

    #[test]
    fn syncs_that_never_flush_are_found() {
        let mut run = cached_disk();
        testing::silent(&run);
        drop_flushes(&mut run);
        run.stack
            .filesystem
            .as_mut()
            .unwrap()
            .options
            .push("nobarrier".into());
        let finding = only(&run, NAME);
        assert!(finding.evidence[0].contains("not one flush"), "{finding:?}");
        assert!(finding.evidence[2].contains("nobarrier"), "{finding:?}");
        let layers = run.trials[0].layers;
        assert_eq!(
            (layers.media, layers.unknown, layers.device),
            (0.0, 1.0, Some(1.0))
        );
    }

    #[test]
    fn a_disk_without_a_volatile_cache_needs_no_flush() {
        let mut run = cached_disk();
        drop_flushes(&mut run);
        for device in &mut run.stack.devices {
            device.write_cache = Some("write through".into());
        }
        testing::silent(&run);
    }

    #[test]
    fn flushes_that_the_kernel_does_not_count_prove_nothing() {
        let mut run = cached_disk();
        each(&mut run, "log-write", |trial| {
            for device in &mut trial.evidence.devices {
                device.flushes = None;
            }
        });
        testing::silent(&run);
    }
}
