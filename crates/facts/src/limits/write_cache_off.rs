//! The drive does not keep writes back: each goes to the medium before it is answered.

use super::prelude::*;
use crate::layers::all_leaves;
use crate::stage_facts::spindle::{arithmetic, stream_rate, wait_ns, whole_wait};

pub(super) const LIMITER: Limiter = Limiter {
    name: "write-cache-off",
    needs: &[OnlyWrites, Device],
    find: no_write_is_kept_back,
    ..Limiter::OF_HARDWARE
};

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

fn no_write_is_kept_back(facts: &StageFacts<'_>) -> Option<Candidate> {
    let workload = facts.workload();
    let synced = workload.sync.each_write();
    let off = all_leaves(&facts.run().stack, "write through");
    let forced = matches!(workload.sync, SyncMode::ODsync | SyncMode::OSync)
        && facts.leaves().any(|leaf| leaf.fua == Some(true));
    // What waits in the page cache goes to the device in other pieces, and later.
    unless(!(off || forced) || workload.cache != CacheMode::Direct && !synced)?;
    let turning = facts.rotates()?;
    let each_ns = facts.each_ns()?;
    // Of several in flight on flash one may follow the other at once, so there the
    // shortest says whether any of them was answered from memory.
    let (takes_ns, least_ns) = if turning {
        (each_ns, TURNING_NS)
    } else {
        (facts.shortest_ns()?, PROGRAM_NS)
    };
    let (in_order, stream) = (facts.in_order(), stream_rate(facts));
    let is_large = workload.block_size > SMALL && !(in_order && stream.is_some());
    unless(takes_ns < least_ns || is_large || others_are_kept_back(facts, least_ns))?;
    let bytes_ns = workload.block_size as f64 / stream.unwrap_or(UNKNOWN_RATE) * 1e9;
    // What a cache would make of it: blocks one behind the other at the rate of the medium.
    // Blocks anywhere are sorted by it, which saves about half: how much was not measured.
    let without_ns = if in_order { bytes_ns } else { each_ns / 2.0 };
    let share = (1.0 - without_ns / each_ns).clamp(0.0, 1.0);
    unless(share < DETAIL)?;
    let said = if off {
        "The kernel knows of no volatile write cache on the device (`write through`), and writes \
         take as long as the medium needs."
    } else {
        "Each write asks to be on the medium when it returns (O_DSYNC on a device with FUA)."
    };
    let turns = whole_wait(facts).filter(|_| turning).map(|found| {
        let turns = arithmetic(found.rpm, wait_ns(facts, each_ns));
        format!("{turns}.")
    });
    let at = match stream {
        Some(_) => "at the rate of the medium".to_owned(),
        None => format!("at {}, as of many disks,", show_throughput(UNKNOWN_RATE)),
    };
    let [each, bytes] = [each_ns, bytes_ns].map(duration);
    let sum = format!(
        "A write of {} takes {each}, {}; {at} its bytes take {bytes}.",
        show_size(workload.block_size),
        show_throughput(facts.rate()?)
    );
    let medium = if turning { "platter" } else { "flash" };
    let of_time = if in_order {
        format!(": {} of its time", percent(share))
    } else {
        String::new()
    };
    let claim = format!(
        "The drive's write cache is off, so each write goes to the {medium} before it is \
         answered{of_time}."
    );
    // Where each write is synced, a cache would have to be emptied each time. Flash that
    // survives a power cut says `write through` too, and answers from its memory.
    let of_use =
        (!synced || (forced && !turning)) && (turning || forced || slower_than_reads(facts));
    let standing = Standing::cause(share).only_if(of_use);
    let stages = facts
        .stages()
        .and("small", |w| w.sync = SyncMode::None)
        .and("large", |w| {
            w.sync = SyncMode::None;
            w.block_size = 4 << 20;
        });
    let share = in_order.then_some(share);
    let found = Candidate::new(standing, share, likely_if(turning || forced), claim)
        .evidence(
            [Some(said.to_owned()), turns, Some(sum)]
                .into_iter()
                .flatten(),
        )
        .settled_by(stages);
    if !off {
        return Some(found.case("each-write"));
    }
    let mut leaves = facts.leaves();
    let device = leaves.next().map_or("/dev/sdX", |leaf| &leaf.path);
    let remedy = format!(
        "Switch the cache on, where what is written can be lost in a power cut or is synced where \
         it matters: `hdparm -W1 {device}` (SATA), `sdparm --set=WCE {device}` (SAS)."
    );
    let found = found.remedy(remedy);
    // Of simulated flash no key switches it.
    Some(if turning {
        found.profile(facts.run(), "set enabled = true in [hdd.write_cache]")
    } else {
        found
    })
}

/// Whether other writes, unsynced as these, were answered before a medium could have them: the
/// drive has memory for writes that survives a power cut, whatever the kernel says of its cache.
fn others_are_kept_back(facts: &StageFacts<'_>, least_ns: f64) -> bool {
    let alike = facts.alike(&[Same::Operation, Same::Cache, Same::Sync]);
    let mut writes = alike.filter(|other| other.rotates() == Some(false));
    writes.any(|other| other.shortest_ns().is_some_and(|ns| ns < least_ns))
}

/// Whether writes of one size take longer than reads of it: no way to the device, which
/// both go, is the reason then.
fn slower_than_reads(facts: &StageFacts<'_>) -> bool {
    let reads = facts.alike(&[Same::Block, Same::Depth]);
    let mut reads = reads.filter(StageFacts::only_reads);
    let read = reads.find_map(|other| other.each_ns());
    let both = facts.each_ns().zip(read);
    both.is_none_or(|(write, read)| write > 2.0 * read)
}
