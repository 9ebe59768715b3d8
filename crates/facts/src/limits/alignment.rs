//! Writes that cover no whole physical sectors: the drive reads before it writes.

use super::prelude::*;
use crate::revolution::Spindle;
use crate::stage_facts::spindle::{arithmetic, wait_ns};

pub(super) const LIMITER: Limiter = Limiter {
    name: "alignment",
    needs: &[Blocks, Written],
    find: sectors_are_read_first,
    ..Limiter::OF_BUSY_DEVICE
};

/// From this many sectors on, the two at the ends are too few to matter.
const SECTORS_MAX: u64 = 8;

/// In what a stage is not aligned.
struct Off {
    sector: u64,
    line: String,
    /// The partition is, not the stage.
    partition: bool,
}

fn sectors_are_read_first(facts: &StageFacts<'_>) -> Option<Candidate> {
    let mut leaves = facts.leaves();
    let off = leaves.find_map(|leaf| not_aligned(facts, leaf))?;
    let (sector, bytes) = (off.sector, exact_size(off.sector));
    let (cost, line) = cost(facts, sector, facts.each_ns()?);
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
    if let Some(share) = cost.filter(|_| !off.partition) {
        stages = stages.without(("whole-sectors", "as-it-was"), Iops, share);
    }
    let standing = cost.map_or(Standing::Beside, Standing::cause);
    let found = Candidate::new(standing, cost, likely_if(cost.is_some()), claim)
        .evidence([off.line])
        .evidence(line)
        .settled_by(stages);
    if !off.partition {
        let remedy = format!("Write in multiples of {bytes}, beginning at multiples of it.");
        return Some(found.remedy(remedy));
    }
    let start = format!("set partition_start to a multiple of \"{bytes}\" in [faults]");
    Some(found.case("partition").profile(facts.run(), &start))
}

fn not_aligned(facts: &StageFacts<'_>, leaf: &BlockDevice) -> Option<Off> {
    let sector = u64::from(leaf.physical_sector_bytes?).max(1);
    let logical = leaf.logical_sector_bytes.map_or(512, u64::from);
    let workload = facts.workload();
    let block = workload.block_size;
    let is_small = block > 0 && block / sector < SECTORS_MAX;
    unless(sector <= logical || !sector.is_power_of_two() || !is_small)?;
    let size = exact_size(sector);
    // A partition that begins within a sector moves all that lies in it.
    let begins = facts.run().stack.devices.iter().find_map(|device| {
        let name = &device.name;
        let start = device.start_bytes.filter(|start| start % sector != 0);
        let start = start.map(|start| {
            format!(
                "{name} begins at byte {start}, which is no multiple of the physical sector of \
                 {size}."
            )
        });
        start.or_else(|| {
            let own = device.alignment_offset_bytes.filter(|bytes| *bytes != 0)?;
            let sectors = "bytes off the physical sectors of";
            Some(format!(
                "The kernel says that {name} is {own} {sectors} {size}."
            ))
        })
    });
    let partition = begins.is_some();
    let line = if let Some(line) = begins {
        line
    } else if !block.is_multiple_of(sector) {
        let block = exact_size(block);
        format!("Blocks of {block} are no whole physical sectors of {size}.")
    } else if !workload.offset.is_multiple_of(sector) {
        format!("The span begins within a physical sector of {size}.")
    } else {
        return None;
    };
    Some(Off {
        sector,
        line,
        partition,
    })
}

/// The share of a write's time that the reading costs, and what shows it: a stage that writes
/// whole sectors, else the revolutions of each write. No share where nothing measured shows it.
fn cost(facts: &StageFacts<'_>, sector: u64, each_ns: f64) -> (Option<f64>, Option<String>) {
    let unseen = |why: &str| (None, Some(why.to_owned()));
    let whole = |bytes: u64| bytes.is_multiple_of(sector);
    let mut aligned = facts
        .alike(&[Same::Operation, Same::Pattern, Same::Sync, Same::Depth])
        .filter(|other| {
            let theirs = other.workload();
            let small = theirs.block_size / sector < SECTORS_MAX;
            whole(theirs.block_size) && whole(theirs.offset) && small
        });
    let aligned = aligned
        .next()
        .filter(|_| !whole(facts.workload().block_size));
    if let Some((other, theirs_ns)) = aligned.and_then(|o| Some((o.stage.label(), o.each_ns()?))) {
        let [theirs, this] = [theirs_ns, each_ns].map(duration);
        let line =
            format!("{other}, of whole sectors, takes {theirs} for each write, and this {this}.");
        return (Some((1.0 - theirs_ns / each_ns).max(0.0)), Some(line));
    }
    if facts.rotates() != Some(true) {
        return unseen("A read of flash before each write; how long it takes is not seen.");
    }
    let spindle = Spindle::of(facts);
    if !spindle.known {
        return unseen(
            "How fast the disk turns is not known, so what reading the sectors costs is not seen.",
        );
    }
    if facts.in_order() {
        let wait = wait_ns(facts, each_ns);
        let Some(turns) = spindle.whole(wait) else {
            return (None, None);
        };
        let n = f64::from(turns.revolutions);
        let sums = arithmetic(turns.rpm, wait);
        return if turns.revolutions > 1 {
            let line =
                format!("{sums}: one to read the sector, and it has to come round to be written.");
            (Some((n - 1.0) / n), Some(line))
        } else {
            let line = format!(
                "{sums}, as of a write that is aligned: the sectors were in the drive's cache."
            );
            (None, Some(line))
        };
    }
    // A revolution between reading a sector and writing it.
    let turn_ns = spindle.turn_ns();
    if turn_ns > 0.9 * each_ns {
        return unseen(
            "Most writes took less than a revolution, so a cache gathered them: what reading the \
             sectors costs is not seen.",
        );
    }
    let [turn, each] = [turn_ns, each_ns].map(duration);
    let line = format!(
        "Between reading a sector and writing it lies a revolution, {turn} of the {each} of a write."
    );
    (Some(turn_ns / each_ns), Some(line))
}
