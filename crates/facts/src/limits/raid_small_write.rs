//! A small write to an array with parity: old data and old parity are read, new data
//! and new parity written.

use super::prelude::*;
use crate::stage_facts::parity::ParityWrites;

pub(super) const LIMITER: Limiter = Limiter {
    name: "raid-small-write",
    needs: &[Written, Device],
    find: parity_is_rewritten,
    ..Limiter::OF_BUSY_DEVICE
};

fn parity_is_rewritten(facts: &StageFacts<'_>) -> Option<Candidate> {
    let writes = ParityWrites::of(facts)?;
    let share = 1.0 - 1.0 / writes.each;
    let without = format!(
        "Without it, {} of that work would not be done.",
        percent(share)
    );
    let claim = format!(
        "Each small write makes the disks of the array do {} requests (the small-write penalty of \
         parity).",
        ratio(writes.each)
    );
    let stages = facts
        .as_it_was()
        .and("reads", |w| {
            w.operation = Operation::Read;
            w.sync = SyncMode::None;
        })
        .and("whole-stripes", |w| {
            w.block_size = writes.stripe.max(4 << 20);
        })
        .without(("reads", "as-it-was"), Iops, share);
    let found = cause(share, certain_if(writes.is_counted), claim)
        .evidence(writes.evidence)
        .evidence(against_reads(facts))
        .evidence([without])
        .settled_by(stages);
    Some(found)
}

fn against_reads(facts: &StageFacts<'_>) -> Option<String> {
    let reads = facts
        .alike(&[Same::Pattern, Same::Block, Same::Depth])
        .find(|other| other.only_reads() && other.reaches_device())?;
    let (label, read, write) = (reads.stage.label(), reads.iops()?, facts.iops()?);
    let ([theirs, own], fewer) = ([read, write].map(three_digits), ratio(read / write));
    Some(format!(
        "{label} does {theirs} reads a second, this {own} operations: {fewer} times fewer."
    ))
}
