//! Large transfers stop at the rate of a link.

use super::prelude::*;
use crate::experiment::larger_block;
use crate::stage_facts::links::{FASTER, FullLink};
use diskfacts_plan::Workload;

pub(super) const LIMITER: Limiter = Limiter {
    name: "interface",
    find: transfers_stop_at_a_link,
    ..Limiter::OF_HARDWARE
};

/// What waits for its turn on a wire takes equally long: 90th percentile over median.
const EVEN: f64 = 1.02;

fn transfers_stop_at_a_link(facts: &StageFacts<'_>) -> Option<Candidate> {
    let full = FullLink::of(facts)?;
    let link = full.link;
    let even = facts.outstanding() > 1.0 && facts.is_even(EVEN) == Some(true);
    let sure = full.same.is_some() || even;
    let [moved, all, carried] = [full.per_drive, full.rate, link.bytes_per_s].map(show_throughput);
    let sum = format!(
        "{moved} is {} of the {carried} that {} carries; frames and packets take the rest.",
        percent(link.share(full.per_drive)),
        link.name
    );
    let evenly = even.then(|| {
        "Transfers take equally long, as behind one wire: half of them and 90 % take the same."
            .to_owned()
    });
    let or = if sure {
        ""
    } else {
        ", or of the drive behind it: the figures do not tell which"
    };
    let claim = format!(
        "Large transfers stop at {all}, the rate of {}{or}.",
        link.name
    );
    let reads = |w: &mut Workload| {
        w.operation = Operation::Read;
        w.sync = SyncMode::None;
    };
    let stages = facts
        .stages()
        .and("reads", reads)
        .and("larger-and-deeper", |w| {
            reads(w);
            w.block_size = larger_block(w.block_size);
            w.queue_depth = w.queue_depth.max(32);
        })
        .at_most(("larger-and-deeper", "reads"), Throughput, FASTER);
    let share = 1.0 - facts.memory_share();
    let found = Candidate::new(Standing::Nature, share, likely_if(sure), claim)
        .evidence([Some(sum), evenly, full.same].into_iter().flatten())
        .settled_by(stages);
    Some(found)
}
