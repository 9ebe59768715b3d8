//! What the cache of a drive does with writes: it takes them, or they go to the medium before they
//! are answered.

use super::StageFacts;
use super::spindle::stream_rate;
use super::visit::MOVED;
use crate::layers::all_leaves;
use crate::prelude::*;
use crate::revolution::Spindle;

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

/// A stream of writes is so many times as fast as the reads of the same place: trials of one
/// stage differ by a few percent.
const FASTER: f64 = 1.0 + DETAIL;
/// Of several in flight each waits for those before it, and takes so many times what one takes.
const ONE_BY_ONE: f64 = 1.15;

/// Writes that no cache keeps back.
#[derive(Debug, Clone)]
pub(crate) struct ToMedium {
    /// Whether the kernel knows of no volatile cache; else each write asks to pass it.
    pub(crate) is_off: bool,
    /// Whether each write asks to be on the medium when it returns, of a drive that can (FUA).
    pub(crate) is_forced: bool,
    /// Whether the medium turns.
    pub(crate) turns: bool,
    /// Share of the time that would go away with a cache.
    pub(crate) share: f64,
    /// What a write takes, and its bytes at the rate of the medium, a sentence.
    pub(crate) line: String,
}

impl ToMedium {
    /// Of a stage of writes; `None` where they take less than a medium needs, or may.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let workload = facts.workload();
        let is_off = all_leaves(&facts.run().stack, "write through");
        let is_forced = matches!(workload.sync, SyncMode::ODsync | SyncMode::OSync)
            && facts.leaves().any(|leaf| leaf.fua == Some(true));
        // What waits in the page cache goes to the device in other pieces, and later.
        unless(!(is_off || is_forced) || !facts.asks_direct() && !facts.syncs_each())?;
        let turns = facts.rotates()?;
        let each_ns = facts.each_ns()?;
        // Of several in flight on flash one may follow the other at once, so there the
        // shortest says whether any of them was answered from memory.
        let (takes_ns, least_ns) = if turns {
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
        let at = match stream {
            Some(_) => "at the rate of the medium".to_owned(),
            None => format!("at {}, as of many disks,", show_throughput(UNKNOWN_RATE)),
        };
        let [each, bytes] = [each_ns, bytes_ns].map(duration);
        let (block, rate) = (
            show_size(workload.block_size),
            show_throughput(facts.rate()?),
        );
        Some(Self {
            is_off,
            is_forced,
            turns,
            share: (1.0 - without_ns / each_ns).clamp(0.0, 1.0),
            line: format!("A write of {block} takes {each}, {rate}; {at} its bytes take {bytes}."),
        })
    }
}

/// Whether other writes, unsynced as these, were answered before a medium could have them: the
/// drive has memory for writes that survives a power cut, whatever the kernel says of its cache.
fn others_are_kept_back(facts: &StageFacts<'_>, least_ns: f64) -> bool {
    let mut alike = facts.alike(&[Same::Operation, Same::Cache, Same::Sync]);
    let less = |other: StageFacts<'_>| other.shortest_ns().is_some_and(|ns| ns < least_ns);
    facts.rotates() == Some(false) && alike.any(less)
}

impl StageFacts<'_> {
    /// Whether writes of one size take longer than reads of it, or no read was measured: no way to
    /// the device, which both go, is the reason then.
    pub(crate) fn is_slower_than_reads(&self) -> bool {
        let reads = self.alike(&[Same::Block, Same::Depth]);
        let mut reads = reads.filter(StageFacts::only_reads);
        let read = reads.find_map(|other| other.each_ns());
        let both = self.each_ns().zip(read);
        both.is_none_or(|(write, read)| write > 2.0 * read)
    }

    /// What half of the operations take at most, ns.
    pub(crate) fn median_ns(&self) -> Option<f64> {
        Some(self.figures.latency_ns.p50? as f64)
    }

    /// What a write takes beside those before it, ns, where that is too little for an arm to move.
    pub(crate) fn answered_before_an_arm_ns(&self) -> Option<f64> {
        let (p50_ns, depth) = (self.median_ns()?, self.outstanding());
        let moved_ns = MOVED * Spindle::of(self).turn_ns();
        if depth <= 1.0 {
            return (p50_ns < moved_ns).then_some(p50_ns);
        }
        // An array of many disks completes as many with an arm for each: there one at a time
        // tells.
        let mut alone = self.alike(Same::WORK);
        let alone = alone.find(|other| other.outstanding() <= 1.0)?;
        let each_ns = alone.median_ns().filter(|ns| *ns < moved_ns)?;
        (p50_ns <= ONE_BY_ONE * depth * each_ns).then_some(p50_ns / depth)
    }

    /// The rate at which the place of a stream of writes is read, bytes/s, where they are faster
    /// than that, and the intervals of both lie apart.
    pub(crate) fn outdone_reads(&self, rate: f64) -> Option<f64> {
        let (read, most) = self.read_of_its_place()?;
        let ends = |one: &StageFacts<'_>| {
            let rate = &one.figures.throughput_bytes_per_s;
            rate.ci95.unwrap_or([rate.min, rate.max])
        };
        let apart = ends(self)[0] > ends(&read)[1];
        (rate >= FASTER * most && apart).then_some(most)
    }
}
