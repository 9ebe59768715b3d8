//! Syncs returned, but the kernel sent no flush to a disk with a volatile write
//! cache: what was synced may be lost with the power, and the figure is too
//! good.

use super::prelude::*;
use crate::layers::misses_flushes;

pub(super) const RULE: Rule = Rule {
    name: "sync-without-flush",
    needs: &[NoDocument, Blocks],
    confidence: Confidence::Likely,
    check: Check::Stages(&[StageCheck(is_not_flushed, not_flushed)]),
    ..Rule::WARNING
};

fn is_not_flushed(facts: &StageFacts<'_>) -> Option<Seen> {
    unless(!misses_flushes(facts.stage, &facts.run().stack))?;
    let writes = count(facts.stage.sum(|t| t.evidence.issued.writes), "write");
    let syncs = count(facts.stage.sum(|t| t.evidence.issued.syncs), "sync");
    let line = format!("{writes} and {syncs}, and not one flush counted by the disk.");
    Some((1.0, vec![line]))
}

fn not_flushed(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let stack = &context.run.stack;
    let one = stack.leaves().count() == 1;
    let have = if one { "has" } else { "have" };
    let disks = device_list(stack.leaves());
    let options = stack.filesystem.iter().flat_map(|of| &of.options);
    let suspects =
        options.filter(|option| ["nobarrier", "barrier=0", "volatile"].contains(&option.as_str()));
    let mounted = if_any(list(suspects), |suspects| {
        format!("The filesystem is mounted with {suspects}.")
    });
    RULE.claim(format!(
        "The syncs of {} did not flush the disk's write cache: what they made durable may be lost \
         with the power.",
        shown.list()
    ))
    .headline("syncs did not flush the write cache: may not be durable")
    .evidence([format!(
        "{disks} {have} a volatile write cache (`write back`)."
    )])
    .evidence(mounted)
    .remedy(format!(
        "Type `findmnt -no OPTIONS --target {}`; if it shows `nobarrier`, `barrier=0` or \
         `volatile`, mount without.",
        shell(&context.run.target.path)
    ))
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
        let finding = only(&run, RULE.name);
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
