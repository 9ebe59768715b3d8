//! Large transfers stop at the rate of a link.

use super::experiment::at_most;
use super::links::{LeadsTo, that_stop_at};
use super::throttle::Held;
use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::show_throughput;
use diskfacts_record::{Confidence, DeviceKind, Quantity};

pub(super) const NAME: &str = "interface";

/// Rates this near to each other are one.
const SAME: f64 = 0.02;
/// What waits for its turn on a wire takes equally long: 90th percentile over median.
const EVEN: f64 = 1.02;
/// What larger and deeper reads may do more through a link that is full: the most by which
/// another stage may be faster.
const FASTER: f64 = 1.05;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let rate = subject.flow()?;
    // What steps down and stays down is held back by something else.
    if Held::of(subject).is_some() {
        return None;
    }
    // A link carries what the fastest stage moves, in either direction.
    if carries_more(subject, rate) {
        return None;
    }
    let per_drive = rate / drives(subject);
    let link = kinds(subject)
        .find_map(|kind| that_stop_at(per_drive, kind))
        .filter(|link| subject.leaves().all(|leaf| link.may_be(leaf.transport)))?;
    let same = same_rate(subject, rate);
    // The bytes of a platter pass at such rates too: there the same rate in another
    // place is what tells.
    if subject.rotates() == Some(true) && same.is_none() {
        return None;
    }
    let mut evidence = vec![format!(
        "{} is {} of the {} that {} carries; frames and packets take the rest.",
        show_throughput(per_drive),
        percent(link.share(per_drive)),
        show_throughput(link.bytes_per_s),
        link.name
    )];
    let latency = &subject.figures.latency_ns;
    let even = latency
        .p50
        .zip(latency.p90)
        .is_some_and(|(p50, p90)| subject.outstanding() > 1.0 && p90 as f64 <= EVEN * p50 as f64);
    if even {
        evidence.push(
            "Transfers take equally long, as behind one wire: half of them and 90 % take the same."
                .into(),
        );
    }
    let sure = same.is_some() || even;
    evidence.extend(same);
    let block = subject.workload().block_size.max(1);
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!(
            "Large transfers stop at {}, the rate of {}{}.",
            show_throughput(rate),
            link.name,
            if sure {
                ""
            } else {
                ", or of the drive behind it: the figures do not tell which"
            }
        ),
        evidence,
        share: Some(1.0 - subject.from_memory()),
        confidence: if sure { Confidence::Likely } else { Confidence::Possible },
        refuted_by: "A link that is negotiated faster, as the kernel tells it: \
                     /sys/class/ata_link/*/sata_spd, /sys/class/nvme/nvme0/device/current_link_speed \
                     and current_link_width."
            .into(),
        experiment: subject.experiment(
            "If it is the link, reads are as fast with blocks of any size and any depth, and as \
             fast at the end of the target as at its beginning.",
            &[
                (
                    "reads",
                    subject.with(|w| {
                        w.operation = diskfacts_plan::Operation::Read;
                        w.sync = diskfacts_plan::SyncMode::None;
                    }),
                ),
                (
                    "larger-and-deeper",
                    subject.with(|w| {
                        w.operation = diskfacts_plan::Operation::Read;
                        w.sync = diskfacts_plan::SyncMode::None;
                        w.block_size = (block * 4).clamp(block, (8 << 20).max(block));
                        w.queue_depth = w.queue_depth.max(32);
                    }),
                ),
            ],
        )
        .decided_by(at_most(
            ("larger-and-deeper", "reads"),
            Quantity::Throughput,
            FASTER,
        )),
        remedy: "Look at what was negotiated: `dmesg | grep -i 'link up'` for SATA, `lspci -vv` \
                 (LnkSta against LnkCap) for NVMe. A cable, a port or a slot of fewer lanes may be \
                 the reason; else the link is as fast as it gets."
            .into(),
    })
}

/// Whether another stage has moved more over the same link, whatever its blocks were: in order,
/// anywhere or with several in flight. What memory of the host served did not go by it, and of a
/// document only large transfers are known to have.
fn carries_more(subject: &Subject<'_>, rate: f64) -> bool {
    let carried = |other: Subject<'_>| {
        let known = other.reaches_device() && !other.imported();
        let by_device = || Some(other.rate()? * (1.0 - other.from_memory()));
        let moved = if known { by_device() } else { other.flow() };
        moved.is_some_and(|moved| moved > FASTER * rate)
    };
    subject.others().any(carried)
}

fn drives(subject: &Subject<'_>) -> f64 {
    subject.leaves().count().max(1) as f64
}

/// Links that the devices below may hang on.
fn kinds(subject: &Subject<'_>) -> impl Iterator<Item = LeadsTo> {
    let mut found: Vec<LeadsTo> = Vec::new();
    for leaf in subject.leaves() {
        let kinds: &[LeadsTo] = if leaf.kind == DeviceKind::Simulated {
            &[LeadsTo::Nvme, LeadsTo::Disk]
        } else if leaf.name.starts_with("nvme") {
            &[LeadsTo::Nvme]
        } else if leaf.name.starts_with("sd") {
            &[LeadsTo::Disk]
        } else {
            &[]
        };
        found.extend(kinds);
    }
    found.dedup();
    found.into_iter()
}

/// Another large transfer at the same rate: in the other direction, or elsewhere.
fn same_rate(subject: &Subject<'_>, rate: f64) -> Option<String> {
    let workload = subject.workload();
    let size = subject.run().target.size_bytes as f64;
    let unlike = |other: &Subject<'_>| {
        let theirs = other.workload();
        let elsewhere = (theirs.offset as f64 - workload.offset as f64).abs() > 0.2 * size;
        // A platter takes bytes as fast as it gives them, but not everywhere.
        let direction = theirs.operation.writes() != workload.operation.writes()
            && subject.rotates() == Some(false);
        direction || elsewhere
    };
    let same = subject.others().find(|other| {
        let near = other
            .rate()
            .is_some_and(|theirs| (theirs / rate - 1.0).abs() < SAME);
        other.flows() && near && unlike(other)
    })?;
    Some(format!(
        "{}, in the other direction or elsewhere, moves {}: the same within 2 %.",
        same.stage.label(),
        show_throughput(same.rate()?)
    ))
}
