//! Writes that cover no whole physical sectors: the drive reads before it writes.

use super::prelude::*;
use crate::stage_facts::part_sectors::PartSectors;

pub(super) const LIMITER: Limiter = Limiter {
    name: "alignment",
    needs: &[Blocks, Written],
    find: sectors_are_read_first,
    ..Limiter::OF_BUSY_DEVICE
};

fn sectors_are_read_first(facts: &StageFacts<'_>) -> Option<Candidate> {
    let off = PartSectors::of(facts)?;
    let (sector, cost) = (off.bytes, off.cost);
    let bytes = exact_size(sector);
    let so_much = cost.map_or_else(
        || "; how much of the time that takes is not seen".to_owned(),
        |share| format!(": {} of the time", percent(share)),
    );
    let claim = format!(
        "Writes cover parts of the drive's sectors of {bytes}, so it has to read each such sector \
         before it writes it{so_much}."
    );
    let mut stages = facts.as_it_was().and("whole-sectors", |w| {
        w.block_size = w.block_size.next_multiple_of(sector);
        w.offset = w.offset.next_multiple_of(sector);
    });
    // Whole sectors of a partition that begins within one are none of the disk.
    if let Some(share) = cost.filter(|_| !off.by_partition) {
        stages = stages.without(("whole-sectors", "as-it-was"), Iops, share);
    }
    let found = cause(cost, likely_if(cost.is_some()), claim)
        .evidence(off.evidence)
        .settled_by(stages);
    Some(if off.by_partition {
        let start = format!("set partition_start to a multiple of \"{bytes}\" in [faults]");
        found.case("partition").profile(facts.run(), &start)
    } else {
        let remedy = format!("Write in multiples of {bytes}, beginning at multiples of it.");
        found.remedy(remedy)
    })
}
