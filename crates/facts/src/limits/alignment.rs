//! Writes that cover no whole physical sectors: the drive reads before it writes.

use super::experiment::without;
use super::spindle::{Spindle, arithmetic, wait_ns};
use super::{Candidate, Standing, Subject};
use crate::simulated::edit_profile;
use crate::words::percent;
use diskfacts_plan::units::{exact_size, show_duration};
use diskfacts_record::{BlockDevice, Confidence, Quantity};

pub(super) const NAME: &str = "alignment";

/// From this many sectors on, the two at the ends are too few to matter.
const SECTORS_MAX: u64 = 8;

/// In what a stage is not aligned.
struct Off {
    sector: u64,
    line: String,
    /// The partition is, not the stage.
    partition: bool,
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    if !workload.operation.writes() || !subject.moves_blocks() {
        return None;
    }
    let off = subject
        .leaves()
        .find_map(|leaf| not_aligned(subject, leaf))?;
    let each_ns = subject.each_ns()?;
    let block = workload.block_size;
    let mut evidence = vec![off.line];
    let cost = cost(subject, off.sector, each_ns, &mut evidence);
    let so_much = cost.map_or_else(
        || "; how much of the time that takes is not seen".to_owned(),
        |share| format!(": {} of the time", percent(share)),
    );
    let whole = block.next_multiple_of(off.sector);
    Some(Candidate {
        standing: cost.map_or(Standing::Beside, Standing::cause),
        claim: format!(
            "Writes cover parts of the drive's sectors of {}, so it has to read each such sector \
             before it writes it{so_much}.",
            exact_size(off.sector)
        ),
        evidence,
        share: cost,
        confidence: if cost.is_some() {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "The same time for writes that are aligned to physical sectors.".into(),
        experiment: subject
            .experiment(
                "If it is the alignment, `whole-sectors` does more operations a second than \
             `as-it-was`, though each moves as much or more; where the partition itself is not \
             aligned, the same on the whole disk does.",
                &[
                    ("as-it-was", subject.with(|_| {})),
                    (
                        "whole-sectors",
                        subject.with(|w| {
                            w.block_size = whole;
                            w.offset = w.offset.next_multiple_of(off.sector);
                        }),
                    ),
                ],
            )
            // Whole sectors of a partition that begins within one are none of the disk.
            .decided_by(
                cost.filter(|_| !off.partition).and_then(|share| {
                    without(("whole-sectors", "as-it-was"), Quantity::Iops, share)
                }),
            ),
        remedy: remedy(subject, off.partition, off.sector),
    })
}

fn not_aligned(subject: &Subject<'_>, leaf: &BlockDevice) -> Option<Off> {
    let sector = u64::from(leaf.physical_sector_bytes?).max(1);
    let logical = leaf.logical_sector_bytes.map_or(512, u64::from);
    if sector <= logical || !sector.is_power_of_two() {
        return None;
    }
    let workload = subject.workload();
    let block = workload.block_size;
    if block == 0 || block / sector >= SECTORS_MAX {
        return None;
    }
    let size = exact_size(sector);
    // A partition that begins within a sector moves all that lies in it.
    let begins = subject.run().stack.devices.iter().find_map(|device| {
        let own = device.alignment_offset_bytes.filter(|bytes| *bytes != 0);
        let start = device.start_bytes.filter(|start| start % sector != 0);
        (own.is_some() || start.is_some()).then(|| match start {
            Some(start) => format!(
                "{} begins at byte {start}, which is no multiple of the physical sector of {size}.",
                device.name
            ),
            None => format!(
                "The kernel says that {} is {} bytes off the physical sectors of {size}.",
                device.name,
                own.unwrap_or(0)
            ),
        })
    });
    let partition = begins.is_some();
    let line = begins.or_else(|| {
        (!block.is_multiple_of(sector)).then(|| {
            format!(
                "Blocks of {} are no whole physical sectors of {size}.",
                exact_size(block)
            )
        })
    });
    let line = line.or_else(|| {
        (!workload.offset.is_multiple_of(sector))
            .then(|| format!("The span begins within a physical sector of {size}."))
    })?;
    Some(Off {
        sector,
        line,
        partition,
    })
}

/// The share of a write's time that the reading costs: by a stage that writes whole
/// sectors, else by the revolutions of each write. `None` where nothing measured shows it.
fn cost(
    subject: &Subject<'_>,
    sector: u64,
    each_ns: f64,
    evidence: &mut Vec<String>,
) -> Option<f64> {
    let workload = subject.workload();
    let aligned = subject.others().find(|other| {
        let like = other.workload();
        like.operation == workload.operation
            && like.pattern == workload.pattern
            && like.sync == workload.sync
            && like.outstanding() == workload.outstanding()
            && like.block_size.is_multiple_of(sector)
            && like.offset.is_multiple_of(sector)
            && like.block_size / sector < SECTORS_MAX
            && !workload.block_size.is_multiple_of(sector)
    });
    if let Some((other, theirs)) =
        aligned.and_then(|other| Some((other.stage.label(), other.each_ns()?)))
    {
        evidence.push(format!(
            "{other}, of whole sectors, takes {} for each write, and this {}.",
            show_duration(theirs.round() as u64),
            show_duration(each_ns.round() as u64)
        ));
        return Some((1.0 - theirs / each_ns).max(0.0));
    }
    if subject.rotates() != Some(true) {
        evidence.push("A read of flash before each write; how long it takes is not seen.".into());
        return None;
    }
    let spindle = Spindle::of(subject);
    if !spindle.known {
        evidence.push(
            "How fast the disk turns is not known, so what reading the sectors costs is not seen."
                .into(),
        );
        return None;
    }
    if subject.in_order() {
        let wait = wait_ns(subject, each_ns);
        let turns = spindle.whole(wait)?;
        let n = f64::from(turns.revolutions);
        evidence.push(if turns.revolutions > 1 {
            format!(
                "{}: one to read the sector, and it has to come round to be written.",
                arithmetic(turns.rpm, wait)
            )
        } else {
            format!(
                "{}, as of a write that is aligned: the sectors were in the drive's cache.",
                arithmetic(turns.rpm, wait)
            )
        });
        return (turns.revolutions > 1).then_some((n - 1.0) / n);
    }
    // A revolution between reading a sector and writing it.
    let turn_ns = spindle.turn_ns();
    if turn_ns > 0.9 * each_ns {
        evidence.push(
            "Most writes took less than a revolution, so a cache gathered them: what reading the \
             sectors costs is not seen."
                .into(),
        );
        return None;
    }
    evidence.push(format!(
        "Between reading a sector and writing it lies a revolution, {} of the {} of a write.",
        show_duration(turn_ns.round() as u64),
        show_duration(each_ns.round() as u64)
    ));
    Some(turn_ns / each_ns)
}

fn remedy(subject: &Subject<'_>, partition: bool, sector: u64) -> String {
    let size = exact_size(sector);
    if partition {
        return edit_profile(
            subject.run(),
            &format!("set partition_start to a multiple of \"{size}\" in [faults]"),
        )
        .unwrap_or_else(|| {
            "Make the partition anew on a boundary of 1 MiB: `parted -a optimal`, or `sfdisk`, \
             which does so unless it is told otherwise."
                .into()
        });
    }
    format!("Write in multiples of {size}, beginning at multiples of it.")
}
