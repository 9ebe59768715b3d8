//! Writes that cover parts of a drive's physical sectors, and what reading these first costs.

use super::StageFacts;
use super::spindle::{arithmetic, wait_ns};
use crate::prelude::*;
use crate::revolution::Spindle;

/// From this many sectors on, the two at the ends are too few to matter.
const SECTORS_MAX: u64 = 8;
/// A revolution of more than this share of a write is not what each of them waited for.
const TURN_MAX: f64 = 0.9;

/// The sectors of a drive of which writes cover parts.
#[derive(Debug)]
pub(crate) struct PartSectors {
    /// Bytes of a sector.
    pub(crate) bytes: u64,
    /// Whether the partition is not, and not the stage.
    pub(crate) by_partition: bool,
    /// Share of a write's time that the reading costs, where something measured shows it.
    pub(crate) cost: Option<f64>,
    /// In what they are not aligned, and what shows the cost, or why nothing does.
    pub(crate) evidence: Vec<String>,
}

impl PartSectors {
    /// Of the first drive of which this is so.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        facts.leaves().find_map(|leaf| {
            let bytes = sector(facts, leaf)?;
            let begins = partition_within(facts, bytes);
            let by_partition = begins.is_some();
            let line = begins.or_else(|| not_aligned(facts, bytes))?;
            let (cost, shown) = cost(facts, bytes, by_partition, facts.each_ns()?);
            Some(Self {
                bytes,
                by_partition,
                cost,
                evidence: [line].into_iter().chain(shown).collect(),
            })
        })
    }
}

/// Bytes of a drive's physical sectors, where writes of few of these may be of parts of them.
fn sector(facts: &StageFacts<'_>, leaf: &BlockDevice) -> Option<u64> {
    let sector = u64::from(leaf.physical_sector_bytes?).max(1);
    let logical = leaf.logical_sector_bytes.map_or(512, u64::from);
    let block = facts.workload().block_size;
    let is_small = block > 0 && block / sector < SECTORS_MAX;
    (sector > logical && sector.is_power_of_two() && is_small).then_some(sector)
}

/// That a partition begins within a sector, which moves all that lies in it.
fn partition_within(facts: &StageFacts<'_>, sector: u64) -> Option<String> {
    let size = exact_size(sector);
    facts.run().stack.devices.iter().find_map(|device| {
        let name = &device.name;
        let start = device.start_bytes.filter(|start| start % sector != 0);
        let own = device.alignment_offset_bytes.filter(|bytes| *bytes != 0);
        let begins = start.map(|start| {
            format!(
                "{name} begins at byte {start}, which is no multiple of the physical sector of \
                 {size}."
            )
        });
        begins.or_else(|| {
            Some(format!(
                "The kernel says that {name} is {} bytes off the physical sectors of {size}.",
                own?
            ))
        })
    })
}

/// In what the stage is not aligned.
fn not_aligned(facts: &StageFacts<'_>, sector: u64) -> Option<String> {
    let (workload, size) = (facts.workload(), exact_size(sector));
    if !workload.block_size.is_multiple_of(sector) {
        let block = exact_size(workload.block_size);
        return Some(format!(
            "Blocks of {block} are no whole physical sectors of {size}."
        ));
    }
    let begins_within = !workload.offset.is_multiple_of(sector);
    begins_within.then(|| format!("The span begins within a physical sector of {size}."))
}

/// The share of a write's time that the reading costs, and what shows it: a stage that writes
/// whole sectors, else the revolutions of each write. No share where nothing measured shows it.
fn cost(
    facts: &StageFacts<'_>,
    sector: u64,
    by_partition: bool,
    each_ns: f64,
) -> (Option<f64>, Option<String>) {
    let unseen = |why: &str| (None, Some(why.to_owned()));
    // In a partition that begins within a sector no stage writes whole ones.
    if !by_partition && let Some((share, line)) = against_whole(facts, sector, each_ns) {
        return (Some(share), Some(line));
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
        let (n, sums) = (f64::from(turns.revolutions), arithmetic(turns.rpm, wait));
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
    if turn_ns > TURN_MAX * each_ns {
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

/// The same by a stage that writes whole sectors.
fn against_whole(facts: &StageFacts<'_>, sector: u64, each_ns: f64) -> Option<(f64, String)> {
    let whole = |bytes: u64| bytes.is_multiple_of(sector);
    unless(whole(facts.workload().block_size))?;
    let same = [Same::Operation, Same::Pattern, Same::Sync, Same::Depth];
    let aligned = facts.alike(&same).find(|other| {
        let theirs = other.workload();
        let small = theirs.block_size / sector < SECTORS_MAX;
        whole(theirs.block_size) && whole(theirs.offset) && small
    })?;
    let theirs_ns = aligned.each_ns()?;
    let [theirs, this] = [theirs_ns, each_ns].map(duration);
    let line = format!(
        "{}, of whole sectors, takes {theirs} for each write, and this {this}.",
        aligned.stage.label()
    );
    Some(((1.0 - theirs_ns / each_ns).max(0.0), line))
}
