//! The target is behind a network, and its round trip is most of an operation.

use super::credit_throttle::is_paced_elsewhere;
use super::prelude::*;
use crate::stage_facts::ladder::MORE;
use crate::stage_facts::links::{LeadsTo, that_stop_at};

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

fn way_takes_the_time(facts: &StageFacts<'_>) -> Option<Candidate> {
    round_trip(facts).or_else(|| large_transfers(facts))
}

fn round_trip(facts: &StageFacts<'_>) -> Option<Candidate> {
    let workload = facts.workload();
    // The kernel reads ahead for one that reads in order: how far is its window's matter.
    let ahead = facts.in_order() && workload.operation.reads() && !facts.asks_direct();
    let is_small = workload.block_size <= SMALL && facts.outstanding() <= 4.0;
    unless(!is_small || ahead || workload.rate.is_some())?;
    let remote = facts.remote();
    let sure = remote.is_some();
    // What the thread did for it is spent on no way, and is the same for all as well.
    let figures = facts.figures;
    let own_ns =
        figures.cpu_user_ns_per_io.unwrap_or(0.0) + figures.cpu_system_ns_per_io.unwrap_or(0.0);
    let floor_ns = facts.shortest_ns()? - own_ns;
    let mean_ns = facts.latency_ns()?;
    let share = (floor_ns / mean_ns).min(1.0);
    let is_constant = floor_ns >= FLOOR_NS && share >= SHARE_MIN;
    unless(!is_constant || has_been_there_in_less(facts, sure, floor_ns))?;
    // Where something lets so many operations pass, one at a time wait for their turn.
    unless(is_paced_elsewhere(facts, floor_ns) || is_paced_elsewhere(facts, mean_ns))?;
    // What is in this machine is its own way there. A synced write of a local device is long for
    // another reason, and an arm, wherever it is, takes equally long for steps of one length.
    let strided = matches!(workload.pattern, Pattern::Stride { .. }) && !facts.in_order();
    let by_arm = strided || !sure && !beyond_mechanics(facts, share);
    unless(facts.rotates() == Some(true) && by_arm)?;
    unless(!sure && (facts.syncs_each() && facts.flushes().is_some() || !facts.may_be_remote()))?;
    // A round trip does not grow with what is under way beside it: what is full with one is no
    // way there and back.
    let deeper = facts
        .alike(&[Same::Operation, Same::Block])
        .find(|other| other.outstanding() >= 4.0 * facts.outstanding());
    let iops = facts.iops();
    let more = deeper.and_then(|other| Some((other.stage.label(), other.iops()? / iops?)));
    unless(more.as_ref().is_some_and(|(_, times)| *times < MORE))?;
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
    let evidence = [Some(sum), remote, more, facts.nfs_calls()];
    let found = cause(share, likely_if(sure), claim)
        .evidence(evidence.into_iter().flatten())
        .settled_by(stages);
    Some(found)
}

/// Whether operations have taken much less in another stage: then the way there and back is not
/// what this one spends its time on. To a target that is known to be remote reads and writes go
/// the same way; of another the host of a guest may keep what is written.
fn has_been_there_in_less(facts: &StageFacts<'_>, is_remote: bool, floor_ns: f64) -> bool {
    const MUCH_LESS: f64 = 0.7;
    facts.others().any(|other| {
        let same_way = is_remote || other.workload().operation == facts.workload().operation;
        let direct = other.asks_direct() && other.memory_share() == 0.0;
        let less = |least_ns: f64| least_ns < MUCH_LESS * floor_ns;
        same_way && direct && other.shortest_ns().is_some_and(less)
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

/// Large transfers of a target that is known to be remote: at the rate of an Ethernet, or at that
/// of no link, which is what the network, its server and the disks behind that do together. This
/// host does not see which of them it is.
fn large_transfers(facts: &StageFacts<'_>) -> Option<Candidate> {
    let remote = facts.remote().filter(|_| facts.flows())?;
    let rate = facts.rate()?;
    let moves = show_throughput(rate);
    let found = if let Some(link) = that_stop_at(rate, LeadsTo::Server) {
        let (of_it, carries) = (percent(link.share(rate)), show_throughput(link.bytes_per_s));
        let claim = format!(
            "Large transfers stop at {moves}, the rate of {}.",
            link.name
        );
        let sum = format!("{moves} is {of_it} of its {carries}; headers take the rest.");
        let found = Candidate::new(Standing::Cause, 1.0, Likely, claim);
        found.evidence([remote, sum]).case("link")
    } else {
        // Several readers, or one beside another, make the server's disks go to and fro.
        let workload = facts.workload();
        let several = workload.streams > 1 || workload.beside.is_some();
        unless(several || rate < OF_BEST * facts.best_flow()?)?;
        let claim = format!(
            "{moves} is what the network and the server behind it pass: which of the two, or the \
             server's disks, this host does not see."
        );
        let lines = [remote].into_iter().chain(facts.nfs_calls());
        let found = Candidate::new(Standing::Nature, 1.0, Possible, claim);
        found.evidence(lines).case("behind-it")
    };
    // A link that is full moves no more with more in flight.
    let stages = facts.as_it_was();
    let stages = stages.and("deeper", |w| w.queue_depth = w.queue_depth.max(32));
    Some(found.settled_by(stages.at_most(("deeper", "as-it-was"), Throughput, MORE)))
}
