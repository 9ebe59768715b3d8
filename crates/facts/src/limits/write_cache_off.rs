//! The drive does not keep writes back: each goes to the medium before it is answered.

use super::spindle::{arithmetic, stream_rate, wait_ns, whole_wait};
use super::{Candidate, Standing, Subject};
use crate::layers::all_leaves;
use crate::simulated::edit_profile;
use crate::words::percent;
use diskfacts_plan::units::{show_duration, show_throughput};
use diskfacts_plan::{CacheMode, SyncMode};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "write-cache-off";

/// Larger blocks take more time on the medium than getting there does, bytes: of them a
/// share can be told only where the rate of the medium is known.
const SMALL: u64 = 128 << 10;
/// The rate of a medium where no stage shows it, bytes/s: at half of it and at twice of it
/// the bytes of [`SMALL`] blocks still take less than a third of a revolution.
const UNKNOWN_RATE: f64 = 100e6;
/// A write to a platter takes at least this share of a revolution of 15 000 rpm, ns:
/// half of its 4 ms. What is faster was kept in some cache, whatever the kernel says.
const TURNING_NS: f64 = 2e6;
/// A program of flash takes 0.2 to 3 ms (data sheets of TLC and QLC NAND); what is
/// faster was answered from memory that survives.
const PROGRAM_NS: f64 = 0.15e6;
/// Below this share of the time there is nothing to gain.
const SHARE_MIN: f64 = 0.05;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    if !subject.only_writes() || !subject.reaches_device() {
        return None;
    }
    let off = all_leaves(&subject.run().stack, "write through");
    let forced = matches!(workload.sync, SyncMode::ODsync | SyncMode::OSync)
        && subject.leaves().any(|leaf| leaf.fua == Some(true));
    if !off && !forced {
        return None;
    }
    let turning = subject.rotates()?;
    let each_ns = subject.each_ns()?;
    // Of several in flight on flash one may follow the other at once, so there the
    // shortest says whether any of them was answered from memory.
    let (takes_ns, least_ns) = if turning {
        (each_ns, TURNING_NS)
    } else {
        (subject.figures.latency_ns.min? as f64, PROGRAM_NS)
    };
    if takes_ns < least_ns {
        return None;
    }
    let mut evidence = vec![said(off)];
    let stream = stream_rate(subject);
    let in_order = subject.in_order();
    // What waits in the page cache goes to the device in other pieces, and later.
    if workload.cache != CacheMode::Direct && !workload.sync.each_write() {
        return None;
    }
    if workload.block_size > SMALL && !(in_order && stream.is_some()) {
        return None;
    }
    let bytes_ns = workload.block_size as f64 / stream.unwrap_or(UNKNOWN_RATE) * 1e9;
    // What a cache would make of it: blocks one behind the other at the rate of the medium.
    // Blocks anywhere are sorted by it, which saves about half: how much was not measured.
    let without_ns = if in_order { bytes_ns } else { each_ns / 2.0 };
    let share = (1.0 - without_ns / each_ns).clamp(0.0, 1.0);
    if let Some(found) = whole_wait(subject).filter(|_| turning) {
        evidence.push(format!(
            "{}.",
            arithmetic(found.rpm, wait_ns(subject, each_ns))
        ));
    }
    evidence.push(format!(
        "A write of {} takes {}, {}; {} its bytes take {}.",
        diskfacts_plan::units::show_size(workload.block_size),
        show_duration(each_ns.round() as u64),
        show_throughput(subject.rate()?),
        if stream.is_some() {
            "at the rate of the medium".to_owned()
        } else {
            format!("at {}, as of many disks,", show_throughput(UNKNOWN_RATE))
        },
        show_duration(bytes_ns.round() as u64)
    ));
    if share < SHARE_MIN {
        return None;
    }
    // Where each write is synced, a cache would have to be emptied each time. Flash that
    // survives a power cut says `write through` too, and answers from its memory.
    let of_use = (!workload.sync.each_write() || (forced && !turning))
        && (turning || forced || slower_than_reads(subject));
    Some(Candidate {
        standing: if of_use {
            Standing::cause(share)
        } else {
            Standing::Beside
        },
        claim: format!(
            "The drive's write cache is off, so each write goes to the {} before it is answered{}.",
            if turning { "platter" } else { "flash" },
            if in_order {
                format!(": {} of its time", percent(share))
            } else {
                String::new()
            }
        ),
        evidence,
        share: in_order.then_some(share),
        confidence: if turning || forced {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "The same time for each write after the cache was switched on.".into(),
        experiment: subject.experiment(
            "Once as it is, and once more after the cache was switched on: if the cache is the \
             cause, `small` becomes nearly as fast as `large`; if not, it stays.",
            &[
                ("small", subject.with(|w| w.sync = SyncMode::None)),
                (
                    "large",
                    subject.with(|w| {
                        w.sync = SyncMode::None;
                        w.block_size = 4 << 20;
                    }),
                ),
            ],
        ),
        remedy: remedy(subject, forced && !off),
    })
}

/// Whether writes of one size take longer than reads of it: no way to the device, which
/// both go, is the reason then.
fn slower_than_reads(subject: &Subject<'_>) -> bool {
    let mut reads = subject.others().filter(|other| {
        other.only_reads()
            && other.workload().block_size == subject.workload().block_size
            && other.workload().outstanding() == subject.workload().outstanding()
    });
    let read = reads.find_map(|other| other.each_ns());
    subject
        .each_ns()
        .zip(read)
        .is_none_or(|(write, read)| write > 2.0 * read)
}

fn said(off: bool) -> String {
    if off {
        "The kernel knows of no volatile write cache on the device (`write through`), and writes \
         take as long as the medium needs."
            .into()
    } else {
        "Each write asks to be on the medium when it returns (O_DSYNC on a device with FUA).".into()
    }
}

fn remedy(subject: &Subject<'_>, forced: bool) -> String {
    if forced {
        return "Open without O_DSYNC and sync where it matters, so that several writes share a \
                flush."
            .into();
    }
    if let Some(edit) = edit_profile(subject.run(), "set enabled = true in [hdd.write_cache]") {
        return edit;
    }
    let device = subject
        .leaves()
        .next()
        .map_or("/dev/sdX", |leaf| leaf.path.as_str());
    format!(
        "Switch the cache on, where what is written can be lost in a power cut or is synced where \
         it matters: `hdparm -W1 {device}` (SATA), `sdparm --set=WCE {device}` (SAS)."
    )
}
