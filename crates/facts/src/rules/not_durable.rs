//! Writes without sync to a disk with a volatile write cache: the figure is how
//! fast the disk says "got it", not how fast data becomes durable. Said once.

use super::{Context, cache_burst, names};
use crate::words::{edit_stages, list, stage_list};
use diskfacts_plan::SyncMode;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "not-durable";

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let run = context.run;
    let disks: Vec<&str> = run
        .stack
        .leaves()
        .filter(|leaf| leaf.write_cache.as_deref() == Some("write back"))
        .map(|leaf| leaf.name.as_str())
        .collect();
    let stages = names(
        context
            .doing_io()
            .filter(|(stage, figures)| {
                let workload = stage.workload();
                // Of a burst into a cache that is said with more.
                let burst = cache_burst::of(context, stage, figures).is_some();
                workload.operation.writes() && workload.sync == SyncMode::None && !burst
            })
            .map(|(stage, _)| stage.name),
    );
    if disks.is_empty() || stages.is_empty() {
        return Vec::new();
    }
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: "acknowledged by a write cache: may not be on the medium".into(),
        claim: format!(
            "The write figures of {} are acknowledgements: {} may still hold the data in its \
             volatile cache.",
            stage_list(&stages),
            list(&disks)
        ),
        evidence: vec![
            format!(
                "The kernel says `write back` for the write cache of {}.",
                list(&disks)
            ),
            "These stages do not sync.".into(),
        ],
        confidence: Confidence::Certain,
        refuted_by: "A cache that survives a power cut, which the kernel does not know of.".into(),
        remedy: edit_stages(
            run,
            "set sync = \"fdatasync\" in these stages for durable writes",
        ),
        stages,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, only};

    #[test]
    fn it_is_said_once_for_all_stages() {
        let mut run = testing::healthy();
        run.stack.devices[1].write_cache = Some("write back".into());
        let finding = only(&run, NAME);
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(
            finding.stages,
            [
                "sequential-write",
                "random-write-qd1",
                "random-write-qd32",
                "mixed-70-30"
            ]
        );
    }

    #[test]
    fn an_unknown_cache_is_not_guessed() {
        let mut run = testing::healthy();
        run.stack.devices[1].write_cache = None;
        testing::silent(&run);
    }
}
