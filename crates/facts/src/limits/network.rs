//! The target is behind a network, and its round trip is most of an operation.

use super::credit_throttle::paced_elsewhere;
use super::ladder::MORE;
use super::links::{LeadsTo, that_stop_at};
use super::prelude::*;
use crate::layers::remote;
use diskfacts_record::Transport;
use diskfacts_record::evidence::NfsCalls;

pub(super) const LIMITER: Limiter = Limiter {
    name: "network",
    needs: &[Blocks, FromDisk],
    find: way_takes_the_time,
    ..Limiter::BEHIND_THREADS
};

/// The shortest time in which flash of today answers a small read, with its link, is
/// 10 to 100 us (3D `XPoint` to QLC, data sheets); a round trip through a switch and a
/// server's software is 100 to 1000. From here on a constant part is more than flash.
const FLOOR_NS: f64 = 180e3;
/// The constant part is this share of an operation.
const SHARE_MIN: f64 = 0.5;
/// Larger blocks take a while for their bytes.
const SMALL: u64 = 64 << 10;

/// Share of the best rate of the run in the same direction from which on a large transfer is at
/// that of the whole way, as for `media-rate`.
const OF_BEST: f64 = 0.75;

/// Attached to this machine.
const LOCAL: [Transport; 6] = [
    Transport::NvmePcie,
    Transport::NvmeLoop,
    Transport::Sata,
    Transport::Sas,
    Transport::Usb,
    Transport::Mmc,
];
/// Attached to another one.
const REMOTE: [Transport; 5] = [
    Transport::NvmeTcp,
    Transport::NvmeRdma,
    Transport::Iscsi,
    Transport::Nbd,
    Transport::Rbd,
];

fn way_takes_the_time(facts: &StageFacts<'_>) -> Option<Candidate> {
    round_trip(facts)
        .or_else(|| full_link(facts))
        .or_else(|| behind_it(facts))
}

/// What says that the target is remote.
fn reason(facts: &StageFacts<'_>) -> Option<String> {
    let stack = &facts.run().stack;
    if let Some(f) = remote(stack) {
        let (on, from, kind) = (&f.mount_point, &f.source, &f.kind);
        return Some(format!("{on} is mounted from {from} ({kind})."));
    }
    let is_remote = |device: &&BlockDevice| {
        let names = ["nbd", "rbd", "drbd"];
        names.iter().any(|name| device.name.starts_with(name))
            || device.transport.is_some_and(|bus| REMOTE.contains(&bus))
    };
    let device = &stack.devices.iter().find(is_remote)?.name;
    Some(format!("{device} is a device on another machine."))
}

/// What the NFS client counted of its calls, where the target lies on NFS.
fn calls(facts: &StageFacts<'_>) -> Option<String> {
    let operation = facts.workload().operation;
    let of_trial = |trial: &Trial| {
        let nfs = trial.evidence.nfs.as_ref()?;
        let reads = nfs.reads.filter(|_| operation.reads());
        let writes = nfs.writes.filter(|_| operation.writes());
        Some(reads.into_iter().chain(writes))
    };
    let of_trials = facts.trials().iter().filter_map(|trial| of_trial(trial));
    let all: Vec<NfsCalls> = of_trials.flatten().collect();
    let sum = |of: fn(&NfsCalls) -> u64| -> u64 { all.iter().map(of).sum() };
    let calls = sum(|one| one.calls);
    unless(calls == 0)?;
    let mean = |ns: u64| duration(ns as f64 / calls as f64);
    let again = sum(|one| one.sent).saturating_sub(calls);
    Some(format!(
        "The NFS client counted {calls} calls: each {} in its queue, and {} from sending to the \
         answer, which is the network and the server. {again} were sent again.",
        mean(sum(|one| one.queued_ns)),
        mean(sum(|one| one.round_trip_ns)),
    ))
}

fn round_trip(facts: &StageFacts<'_>) -> Option<Candidate> {
    let workload = facts.workload();
    // The kernel reads ahead for one that reads in order: how far is its window's matter.
    let ahead =
        facts.in_order() && workload.operation.reads() && workload.cache != CacheMode::Direct;
    let is_small = workload.block_size <= SMALL && facts.outstanding() <= 4.0;
    unless(!is_small || ahead || workload.rate.is_some())?;
    // A synced write of a local device is long for another reason.
    let remote = reason(facts);
    let flushed = workload.sync.each_write() && facts.flushes().is_some();
    // What the thread did for it is spent on no way, and is the same for all as well.
    let figures = facts.figures;
    let own_ns =
        figures.cpu_user_ns_per_io.unwrap_or(0.0) + figures.cpu_system_ns_per_io.unwrap_or(0.0);
    let floor_ns = facts.shortest_ns()? - own_ns;
    let mean_ns = facts.latency_ns()?;
    let share = (floor_ns / mean_ns).min(1.0);
    unless(
        floor_ns < FLOOR_NS
            || share < SHARE_MIN
            || has_been_there_in_less(facts, remote.is_some(), floor_ns),
    )?;
    // Where something lets so many operations pass, one at a time wait for their turn.
    unless(paced_elsewhere(facts, floor_ns) || paced_elsewhere(facts, mean_ns))?;
    // What is in this machine is its own way there.
    // Steps of one length take an arm and a platter equally long.
    let strided = matches!(workload.pattern, Pattern::Stride { .. }) && !facts.in_order();
    let mechanics = strided || !beyond_mechanics(facts, share);
    let by_arm = facts.rotates() == Some(true) && mechanics;
    unless(remote.is_none() && (flushed || by_arm || !may_be_remote(facts)))?;
    // A round trip does not grow with what is under way beside it.
    let deeper = facts
        .alike(&[Same::Operation, Same::Block])
        .find(|other| other.outstanding() >= 4.0 * facts.outstanding());
    let iops = facts.iops();
    let more = deeper.and_then(|other| Some((other.stage.label(), other.iops()? / iops?)));
    // What is full with one is no way there and back.
    unless(more.as_ref().is_some_and(|(_, times)| *times < MORE))?;
    let sure = remote.is_some();
    let of_time = percent(share);
    let [floor, mean] = [floor_ns, mean_ns].map(duration);
    let sum = format!(
        "The shortest latency without its thread's work is {floor}, the mean {mean}: {of_time} of \
         it is constant."
    );
    let more = more.map(|(label, times)| {
        format!("With more in flight ({label}) there are {times:.1} times as many a second.")
    });
    let what = if sure {
        "the round trip to the target"
    } else {
        "constant, as a network round trip would be"
    };
    let claim = format!("{floor} of each operation is {what}: {of_time} of its time.");
    let stages = facts
        .as_it_was()
        .and("qd8", |w| w.queue_depth = 8)
        .and("larger-blocks", |w| w.block_size *= 4)
        .at_least(("qd8", "as-it-was"), Iops, MORE);
    let found = cause(share, likely_if(sure), claim)
        .evidence(
            [Some(sum), remote, more, calls(facts)]
                .into_iter()
                .flatten(),
        )
        .settled_by(stages);
    Some(found)
}

/// Whether the target may lie on another machine: what a hypervisor shows as a disk, what is
/// not attached to a bus of this machine, a document's, and what nothing is known of.
fn may_be_remote(facts: &StageFacts<'_>) -> bool {
    let mut leaves = facts.leaves().peekable();
    let is_open = |leaf: &BlockDevice| match leaf.kind {
        DeviceKind::Disk => {
            let bus = leaf.transport;
            leaf.virtual_by.is_some() || bus.is_none_or(|bus| !LOCAL.contains(&bus))
        }
        DeviceKind::Simulated => true,
        _ => false,
    };
    leaves.peek().is_none() || leaves.any(is_open)
}

/// Whether operations have taken much less in another stage: then the way there and back is not
/// what this one spends its time on. To a target that is known to be remote reads and writes go
/// the same way; of another the host of a guest may keep what is written.
fn has_been_there_in_less(facts: &StageFacts<'_>, is_remote: bool, floor_ns: f64) -> bool {
    const MUCH_LESS: f64 = 0.7;
    let mut others = facts
        .others()
        .filter(|other| is_remote || other.workload().operation == facts.workload().operation);
    others.any(|other| {
        let direct = other.workload().cache == CacheMode::Direct && other.memory_share() == 0.0;
        let least_ns = other.shortest_ns();
        direct && least_ns.is_some_and(|least_ns| least_ns < MUCH_LESS * floor_ns)
    })
}

/// Whether the constant part is none of arm and platter: far below a revolution, or more
/// of the reads anywhere than the nearest of many takes, whose arm hardly moves and whose
/// place comes round at once.
fn beyond_mechanics(facts: &StageFacts<'_>, share: f64) -> bool {
    const BELOW_TURNING_NS: f64 = 2e6;
    const OF_ANYWHERE: f64 = 0.6;
    const SAMPLES_MIN: u64 = 200;
    let latency = &facts.figures.latency_ns;
    let fast = latency.mean.is_some_and(|mean| mean <= BELOW_TURNING_NS);
    let anywhere = facts.only_reads() && facts.scattered() && latency.samples >= SAMPLES_MIN;
    fast || (anywhere && share >= OF_ANYWHERE)
}

/// Large transfers at the rate of an Ethernet, to a target that is known to be remote.
fn full_link(facts: &StageFacts<'_>) -> Option<Candidate> {
    let remote = reason(facts).filter(|_| facts.flows())?;
    let rate = facts.rate()?;
    let link = that_stop_at(rate, LeadsTo::Server)?;
    let [moves, carries] = [rate, link.bytes_per_s].map(show_throughput);
    let claim = format!(
        "Large transfers stop at {moves}, the rate of {}.",
        link.name
    );
    let of_it = percent(link.share(rate));
    let sum = format!("{moves} is {of_it} of its {carries}; headers take the rest.");
    let found = Candidate::new(Standing::Cause, 1.0, Likely, claim)
        .evidence([remote, sum])
        .case("link")
        .settled_by(deeper(facts));
    Some(found)
}

/// A link that is full moves no more with more in flight.
fn deeper(facts: &StageFacts<'_>) -> Stages {
    let stages = facts.as_it_was();
    let stages = stages.and("deeper", |w| w.queue_depth = w.queue_depth.max(32));
    stages.at_most(("deeper", "as-it-was"), Throughput, MORE)
}

/// Large transfers of a remote target at a rate of no link: what the network, its server and the
/// disks behind that do together. This host does not see which of them it is.
fn behind_it(facts: &StageFacts<'_>) -> Option<Candidate> {
    let remote = reason(facts).filter(|_| facts.flows())?;
    let rate = facts.rate()?;
    // Several readers, or one beside another, make the server's disks go to and fro.
    let workload = facts.workload();
    unless(
        workload.streams > 1 || workload.beside.is_some() || rate < OF_BEST * facts.best_flow()?,
    )?;
    let claim = format!(
        "{} is what the network and the server behind it pass: which of the two, or the server's \
         disks, this host does not see.",
        show_throughput(rate)
    );
    let found = Candidate::new(Standing::Nature, 1.0, Possible, claim)
        .evidence([remote].into_iter().chain(calls(facts)))
        .case("behind-it")
        .settled_by(deeper(facts));
    Some(found)
}
