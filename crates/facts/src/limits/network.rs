//! The target is behind a network, and its round trip is most of an operation.

use super::credit_throttle::paced_elsewhere;
use super::experiment::{at_least, at_most};
use super::links::{LeadsTo, that_stop_at};
use super::{Candidate, Standing, Subject};
use crate::layers::remote;
use crate::words::percent;
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::{show_duration, show_throughput};
use diskfacts_record::{BlockDevice, Confidence, DeviceKind, Quantity, Transport};

pub(super) const NAME: &str = "network";

/// The shortest time in which flash of today answers a small read, with its link, is
/// 10 to 100 us (3D `XPoint` to QLC, data sheets); a round trip through a switch and a
/// server's software is 100 to 1000. From here on a constant part is more than flash.
const FLOOR_NS: f64 = 180e3;
/// The constant part is this share of an operation.
const SHARE_MIN: f64 = 0.5;
/// Four times as many in flight do so many times as much, at least, where they wait for the
/// way, even if the target is full soon: more than trials differ by.
const MORE: f64 = 1.2;
/// Larger blocks take a while for their bytes.
const SMALL: u64 = 64 << 10;
pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.moves_blocks() || subject.from_memory() >= 0.5 {
        return None;
    }
    round_trip(subject).or_else(|| full_link(subject))
}

fn reason(subject: &Subject<'_>) -> Option<String> {
    let stack = &subject.run().stack;
    let on = remote(stack).map(|f| {
        format!(
            "{} is mounted from {} ({}).",
            f.mount_point, f.source, f.kind
        )
    });
    let device = || {
        let names = ["nbd", "rbd", "drbd"];
        let buses = [
            Transport::NvmeTcp,
            Transport::NvmeRdma,
            Transport::Iscsi,
            Transport::Nbd,
            Transport::Rbd,
        ];
        let mut devices = stack.devices.iter();
        let is_remote = |device: &&BlockDevice| {
            let bus = device.transport.as_ref();
            names.iter().any(|name| device.name.starts_with(name))
                || bus.is_some_and(|bus| buses.contains(bus))
        };
        let device = devices.find(is_remote)?;
        Some(format!("{} is a device on another machine.", device.name))
    };
    on.or_else(device)
}

fn round_trip(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    if workload.block_size > SMALL || subject.outstanding() > 4.0 || workload.rate.is_some() {
        return None;
    }
    // The kernel reads ahead for one that reads in order: how far is its window's matter.
    let ahead =
        subject.in_order() && workload.operation.reads() && workload.cache != CacheMode::Direct;
    if ahead {
        return None;
    }
    // A synced write of a local device is long for another reason.
    let remote = reason(subject);
    let flushed = workload.sync.each_write() && subject.flushes().is_some();
    if flushed && remote.is_none() {
        return None;
    }
    // What the thread did for it is spent on no way, and is the same for all as well.
    let figures = subject.figures;
    let own_ns =
        figures.cpu_user_ns_per_io.unwrap_or(0.0) + figures.cpu_system_ns_per_io.unwrap_or(0.0);
    let floor_ns = figures.latency_ns.min? as f64 - own_ns;
    let mean_ns = subject.latency_ns()?;
    let share = (floor_ns / mean_ns).min(1.0);
    if floor_ns < FLOOR_NS || share < SHARE_MIN || has_been_there_in_less(subject, floor_ns) {
        return None;
    }
    // Where something lets so many operations pass, one at a time wait for their turn.
    if paced_elsewhere(subject, floor_ns) || paced_elsewhere(subject, mean_ns) {
        return None;
    }
    // What is in this machine is its own way there.
    if remote.is_none() && !may_be_remote(subject) {
        return None;
    }
    if subject.rotates() == Some(true) && remote.is_none() && !beyond_mechanics(subject, share) {
        return None;
    }
    let mut evidence = vec![format!(
        "Beside what its thread did no operation took less than {}, and the mean is {}: {} of it \
         is the same for all.",
        show_duration(floor_ns as u64),
        show_duration(mean_ns as u64),
        percent(share)
    )];
    let sure = remote.is_some();
    evidence.extend(remote);
    // A round trip does not grow with what is under way beside it.
    let deeper = subject.others().find(|other| {
        other.workload().operation == workload.operation
            && other.workload().block_size == workload.block_size
            && other.outstanding() >= 4.0 * subject.outstanding()
    });
    let more =
        deeper.and_then(|other| Some((other.stage.label(), other.iops()? / subject.iops()?)));
    // What is full with one is no way there and back.
    if more.as_ref().is_some_and(|(_, times)| *times < MORE) {
        return None;
    }
    if let Some((label, times)) = more {
        evidence.push(format!(
            "With more in flight ({label}) there are {times:.1} times as many a second."
        ));
    }
    Some(Candidate {
        standing: Standing::cause(share),
        claim: format!(
            "A constant {} of each operation is {}: {} of its time.",
            show_duration(floor_ns as u64),
            if sure {
                "spent on the way to the target and back"
            } else {
                "the same for all, as the way to a target elsewhere and back would be"
            },
            percent(share)
        ),
        evidence,
        share: Some(share),
        confidence: if sure {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "A device that is in this machine and whose data sheet has such a latency."
            .into(),
        experiment: subject.experiment(
            "If it is a round trip, 8 in flight are nearly 8 times as many a second at the same \
             latency, and blocks of 512 bytes take as long as those of 16 KiB.",
            &[
                ("as-it-was", subject.with(|_| {})),
                ("qd8", subject.with(|w| w.queue_depth = 8)),
                ("larger-blocks", subject.with(|w| w.block_size *= 4)),
            ],
        )
        .decided_by(at_least(("qd8", "as-it-was"), Quantity::Iops, MORE)),
        remedy: "Have more in flight (a deeper queue, more threads), or fewer and larger \
                 operations: each round trip is paid once. Nearer storage has a shorter one."
            .into(),
    })
}

/// Whether the target may lie on another machine: what a hypervisor shows as a disk, what is
/// not attached to a bus of this machine, a document's, and what nothing is known of.
fn may_be_remote(subject: &Subject<'_>) -> bool {
    let mut leaves = subject.leaves().peekable();
    let is_open = |leaf: &BlockDevice| match leaf.kind {
        DeviceKind::Disk => {
            let local = [
                Transport::NvmePcie,
                Transport::NvmeLoop,
                Transport::Sata,
                Transport::Sas,
                Transport::Usb,
                Transport::Mmc,
            ];
            let bus = leaf.transport.as_ref();
            leaf.virtual_by.is_some() || bus.is_none_or(|bus| !local.contains(bus))
        }
        DeviceKind::Simulated => true,
        _ => false,
    };
    leaves.peek().is_none() || leaves.any(is_open)
}

/// Whether operations of the same kind have taken much less in another stage: then the way
/// there and back is not what this one spends its time on.
fn has_been_there_in_less(subject: &Subject<'_>, floor_ns: f64) -> bool {
    const MUCH_LESS: f64 = 0.7;
    subject.others().any(|other| {
        let workload = other.workload();
        let same = workload.operation == subject.workload().operation
            && workload.cache == CacheMode::Direct
            && other.from_memory() == 0.0
            && other.moves_blocks();
        let least_ns = other.figures.latency_ns.min;
        same && least_ns.is_some_and(|least_ns| (least_ns as f64) < MUCH_LESS * floor_ns)
    })
}

/// Whether the constant part is none of arm and platter: far below a revolution, or more
/// of the reads anywhere than the nearest of many takes, whose arm hardly moves and whose
/// place comes round at once.
fn beyond_mechanics(subject: &Subject<'_>, share: f64) -> bool {
    const BELOW_TURNING_NS: f64 = 2e6;
    const OF_ANYWHERE: f64 = 0.6;
    const SAMPLES_MIN: u64 = 200;
    let latency = &subject.figures.latency_ns;
    let fast = latency.mean.is_some_and(|mean| mean <= BELOW_TURNING_NS);
    let anywhere = subject.only_reads() && subject.scattered() && latency.samples >= SAMPLES_MIN;
    fast || (anywhere && share >= OF_ANYWHERE)
}

/// Large transfers at the rate of an Ethernet, to a target that is known to be remote.
fn full_link(subject: &Subject<'_>) -> Option<Candidate> {
    let remote = reason(subject).filter(|_| subject.flows())?;
    let rate = subject.rate()?;
    let link = that_stop_at(rate, LeadsTo::Server)?;
    Some(Candidate {
        standing: Standing::Cause,
        claim: format!(
            "Large transfers stop at {}, the rate of {}.",
            show_throughput(rate),
            link.name
        ),
        evidence: vec![
            remote,
            format!(
                "{} is {} of its {}; headers take the rest.",
                show_throughput(rate),
                percent(link.share(rate)),
                show_throughput(link.bytes_per_s)
            ),
        ],
        share: Some(1.0),
        confidence: Confidence::Likely,
        refuted_by: "A link that is faster than that: `ethtool eth0`.".into(),
        experiment: subject
            .experiment(
                "If it is the link, a deeper queue and larger blocks move no more.",
                &[
                    ("as-it-was", subject.with(|_| {})),
                    (
                        "deeper",
                        subject.with(|w| w.queue_depth = w.queue_depth.max(32)),
                    ),
                ],
            )
            .decided_by(at_most(("deeper", "as-it-was"), Quantity::Throughput, MORE)),
        remedy: "A faster link, or several (multipath, nconnect= of NFS).".into(),
    })
}
