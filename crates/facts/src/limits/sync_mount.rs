//! The filesystem is mounted with `sync`: each write waits for the disk, whether the program
//! asks for it or not (`mount(8)`).

use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_record::{Confidence, Spent, Stack};

pub(super) const NAME: &str = "sync-mount";

/// Whether each write waits though nobody asked for it.
pub(crate) fn is_synchronous(stack: &Stack) -> bool {
    let filesystem = stack.filesystem.as_ref();
    filesystem.is_some_and(|f| f.options.iter().any(|option| option == "sync"))
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let stack = subject.stack();
    let asked = workload.sync.each_write();
    if !is_synchronous(stack) || asked || !subject.only_writes() || !subject.moves_blocks() {
        return None;
    }
    let mount_point = &stack.filesystem.as_ref()?.mount_point;
    let own = [Spent::User, Spent::Kernel, Spent::Processor, Spent::Due];
    let share = subject.spent(&own).map(|own| 1.0 - own);
    Some(Candidate {
        standing: share.map_or(Standing::Cause, Standing::cause),
        claim: format!(
            "{mount_point} is mounted with the option sync: each write waits until it is on the \
             disk, though nothing here asks for it."
        ),
        evidence: share
            .map(|share| {
                format!(
                    "A write is on no processor for {} of its time, where one that goes to memory \
                     would be.",
                    percent(share)
                )
            })
            .into_iter()
            .collect(),
        share,
        confidence: Confidence::Certain,
        refuted_by: "The same rate after `mount -o remount,async`.".into(),
        experiment: subject.again(
            "The same after the option was taken away: a higher rate speaks for it, the same \
             rate against it.",
        ),
        remedy: format!(
            "Type `mount -o remount,async {mount_point}` as root, if nothing relies on it."
        ),
    })
}
