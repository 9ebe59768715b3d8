//! Writes without sync to a disk with a volatile write cache: the figure is how
//! fast the disk says "got it", not how fast data becomes durable. Said once.

use super::prelude::*;
use crate::stage_facts::cache_burst;

pub(super) const RULE: Rule = Rule {
    name: "not-durable",
    needs: &[NoDocument, Blocks, Written],
    confidence: Confidence::Certain,
    check: Check::Stages(&[StageCheck(is_unsynced, acknowledged)]),
    ..Rule::NOTE
};

fn is_unsynced(facts: &StageFacts<'_>) -> Option<Seen> {
    let unsynced = facts.workload().sync == SyncMode::None && facts.has_write_cache();
    // Of a burst into a cache that is said with more.
    unless(!unsynced || cache_burst(facts).is_some())?;
    Some((1.0, Vec::new()))
}

fn acknowledged(context: &Context<'_>, shown: &mut Shown<'_>) -> Found {
    let leaves = context.run.stack.leaves();
    let volatile = leaves.filter(|leaf| leaf.write_cache.as_deref() == Some("write back"));
    let disks = device_list(volatile);
    RULE.claim(format!(
        "The write figures of {} are acknowledgements: {disks} may still hold the data in its \
         volatile cache.",
        shown.list()
    ))
    .headline("in a volatile write cache: not yet durable")
    .evidence([
        format!("The kernel says `write back` for the write cache of {disks}."),
        "These stages do not sync.".into(),
    ])
    .remedy(edit_stages(
        context.run,
        "set sync = \"fdatasync\" in these stages for durable writes",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, only};

    #[test]
    fn it_is_said_once_for_all_stages() {
        let mut run = testing::healthy();
        run.stack.devices[1].write_cache = Some("write back".into());
        let finding = only(&run, RULE.name);
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
