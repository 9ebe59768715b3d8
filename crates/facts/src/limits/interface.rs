//! Large transfers stop at the rate of a link.

use super::links::{LeadsTo, that_stop_at};
use super::prelude::*;
use super::throttle::Held;

pub(super) const LIMITER: Limiter = Limiter {
    name: "interface",
    find: transfers_stop_at_a_link,
    ..Limiter::OF_HARDWARE
};

/// Rates this near to each other are one.
const SAME: f64 = 0.02;
/// What waits for its turn on a wire takes equally long: 90th percentile over median.
const EVEN: f64 = 1.02;
/// What larger and deeper reads may do more through a link that is full: the most by which
/// another stage may be faster.
const FASTER: f64 = 1.05;

fn transfers_stop_at_a_link(facts: &StageFacts<'_>) -> Option<Candidate> {
    let rate = facts.flow()?;
    // What steps down and stays down is held back by something else. And a link carries what
    // the fastest stage moves, in either direction.
    let per_drive = rate / drives_side_by_side(facts);
    unless(Held::of(facts).is_some() || carries_more(facts, per_drive))?;
    let link = kinds(facts)
        .find_map(|kind| that_stop_at(per_drive, kind))
        .filter(|link| facts.leaves().all(|leaf| link.may_be(leaf.transport)))?;
    let same = same_rate(facts, rate);
    // The bytes of a platter pass at such rates too: there the same rate in another
    // place is what tells.
    unless(facts.rotates() == Some(true) && same.is_none())?;
    let even = facts.outstanding() > 1.0 && facts.is_even(EVEN) == Some(true);
    let sure = same.is_some() || even;
    let [moved, all, carried] = [per_drive, rate, link.bytes_per_s].map(show_throughput);
    let sum = format!(
        "{moved} is {} of the {carried} that {} carries; frames and packets take the rest.",
        percent(link.share(per_drive)),
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
    let reads = |w: &mut diskfacts_plan::Workload| {
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
        .evidence([Some(sum), evenly, same].into_iter().flatten())
        .settled_by(stages);
    Some(found)
}

/// Drives that move parts of the bytes of a stage side by side, as far as the host knows. To a
/// mirror each write goes whole to all members, and one reader in order is served by one of them.
fn drives_side_by_side(facts: &StageFacts<'_>) -> f64 {
    let is_mirror = is_mirror(facts);
    let many = facts.scattered() || facts.workload().streams > 1;
    let by_all = many && facts.workload().operation.reads();
    match (is_mirror, by_all) {
        (true, false) => 1.0,
        // The kernel shows a controller's as one: it has two at least.
        (true, true) => facts.disks().max(2.0),
        (false, _) => facts.disks(),
    }
}

fn is_mirror(facts: &StageFacts<'_>) -> bool {
    let devices = &facts.stack().devices;
    devices
        .iter()
        .any(|one| one.layout.as_deref() == Some("raid1"))
}

/// Four times the block, up to 8 MiB.
pub(super) fn larger_block(block: u64) -> u64 {
    let block = block.max(1);
    (block * 4).clamp(block, (8 << 20).max(block))
}

/// Whether another stage has moved more over the same link, whatever its blocks were: in order,
/// anywhere or with several in flight. What memory of the host served did not go by it, and of a
/// document only large transfers are known to have.
fn carries_more(facts: &StageFacts<'_>, per_drive: f64) -> bool {
    let carried = |other: StageFacts<'_>| {
        let known = other.reaches_device() && !other.imported();
        let by_device = || Some(other.rate()? * (1.0 - other.memory_share()));
        let moved = if known { by_device() } else { other.flow() };
        moved.is_some_and(|moved| moved / drives_side_by_side(&other) > FASTER * per_drive)
    };
    facts.others().any(carried)
}

/// Links that the devices below may hang on.
fn kinds(facts: &StageFacts<'_>) -> impl Iterator<Item = LeadsTo> {
    let of = |leaf: &BlockDevice| -> &'static [LeadsTo] {
        if leaf.kind == DeviceKind::Simulated {
            &[LeadsTo::Nvme, LeadsTo::Disk]
        } else if leaf.name.starts_with("nvme") {
            &[LeadsTo::Nvme]
        } else if leaf.name.starts_with("sd") {
            &[LeadsTo::Disk]
        } else {
            &[]
        }
    };
    facts.leaves().flat_map(of).copied()
}

/// Another large transfer at the same rate: in the other direction, or elsewhere.
fn same_rate(facts: &StageFacts<'_>, rate: f64) -> Option<String> {
    let workload = facts.workload();
    let size = facts.run().target.size_bytes as f64;
    let unlike = |other: &StageFacts<'_>| {
        let theirs = other.workload();
        let elsewhere = (theirs.offset as f64 - workload.offset as f64).abs() > 0.2 * size;
        // A platter takes bytes as fast as it gives them, but not everywhere.
        let direction = theirs.operation.writes() != workload.operation.writes()
            && facts.rotates() == Some(false);
        direction || elsewhere
    };
    let near = |theirs: &f64| (theirs / rate - 1.0).abs() < SAME;
    let same = facts.others().find_map(|other| {
        let theirs = other.rate().filter(near)?;
        (other.flows() && unlike(&other)).then(|| (other.stage.label(), theirs))
    });
    same.map(|(label, theirs)| {
        let moves = show_throughput(theirs);
        format!("{label}, in the other direction or elsewhere, moves {moves}: the same within 2 %.")
    })
}
