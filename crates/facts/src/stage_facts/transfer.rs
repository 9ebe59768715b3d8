//! Large transfers: whether a stage is one, the rates of others, and where on a disk they lie.

use super::spindle::stream_rate;
use crate::layers::all_leaves;
use crate::prelude::*;
use crate::revolution::RATE_MAX;

/// From so many bytes in flight on the way there is a small part of the time, on any
/// link up to a few hundred MB/s: 256 KiB at 500 MB/s are 0.5 ms, a command 0.02 to 0.1.
const FLOWING: f64 = 256.0 * 1024.0;
/// The same for one block anywhere: behind a seek of 12 ms a disk of 150 MB/s has to
/// move 2 MiB to spend as long on the bytes.
const FLOWING_ANYWHERE: f64 = 4.0 * 1024.0 * 1024.0;
/// Within this factor of the rate in order a stride streams: what it passes over and what it
/// stops for differ by the zones of the disk and the commands between.
const PASSING: f64 = 1.25;

impl<'a> StageFacts<'a> {
    /// Whether so many bytes are in flight, or read ahead by the kernel, that the time
    /// is that of the bytes.
    pub(crate) fn flows(&self) -> bool {
        let workload = self.workload();
        let block = workload.block_size as f64;
        let through = workload.cache != CacheMode::Direct;
        let may_rotate = self.rotates() != Some(false);
        let no_write_cache = all_leaves(self.stack(), "write through");
        // Each write is answered from the medium of a disk that may turn, with nothing
        // asked of it meanwhile: the place behind it has to come round before the next.
        let waits_for_the_medium = self.only_writes()
            && !through
            && self.outstanding() <= 1.0
            && may_rotate
            && no_write_cache;
        let least = if waits_for_the_medium {
            FLOWING_ANYWHERE
        } else {
            FLOWING
        };
        let read_ahead = self.only_reads() && through;
        // Something gathers what is written in order: the kernel where it goes through the
        // page cache, the drive where its cache may be on.
        let written_behind = self.only_writes()
            && workload.block_size >= 16 << 10
            && (through || !may_rotate || !no_write_cache);
        let enough = if self.in_order() {
            block * self.outstanding() >= least || read_ahead || written_behind
        } else {
            block >= FLOWING_ANYWHERE
        };
        enough && self.reaches_device() && !workload.sync.each_write()
    }

    /// The rate of a large transfer that a medium may have had, bytes/s: what is faster
    /// than any disk that turns went to memory, whether or not that was seen.
    pub(crate) fn flow(&self) -> Option<f64> {
        let array = self.leaves().any(|leaf| leaf.layout.is_some());
        let most = match self.rotates() {
            Some(true) if !array => self.disks() * RATE_MAX,
            _ => f64::INFINITY,
        };
        // What stayed in memory the medium did not have.
        let rate = self.rate()? * (1.0 - self.memory_share());
        (rate <= most && self.flows()).then_some(rate)
    }

    /// The rate at which a stride passes over its blocks and the gaps between them, bytes/s, where
    /// that is the rate of the medium: of a disk that turns both pass under the head. A disk that
    /// moved its arm over the gaps would be faster or slower than that, and one that caches what
    /// it reads on the way passes over the gaps all the same.
    pub(crate) fn passing(&self) -> Option<f64> {
        let workload = self.workload();
        let Pattern::Stride { skip_blocks, .. } = workload.pattern else {
            return None;
        };
        let one_by_one = self.outstanding() <= 1.0 && !workload.sync.each_write();
        let turns = self.rotates() == Some(true) && self.reaches_device();
        unless(skip_blocks < 2 || !one_by_one || !turns)?;
        let distance = skip_blocks.saturating_mul(workload.block_size) as f64;
        let rate = distance * 1e9 / self.each_ns()?;
        let streams = stream_rate(self)?;
        (streams / PASSING..=streams * PASSING)
            .contains(&rate)
            .then_some(rate)
    }

    /// Of what is written in order past the page cache: the stage that reads the same place fastest
    /// in blocks that are no smaller, and its rate, bytes/s. A disk that turns writes a place in as
    /// many revolutions as it reads it in; what goes in faster lies in a cache.
    pub(crate) fn read_of_its_place(&self) -> Option<(StageFacts<'a>, f64)> {
        let own = self.workload();
        let direct = |one: &StageFacts<'_>| one.workload().cache == CacheMode::Direct;
        unless(!self.only_writes() || !self.in_order() || !direct(self))?;
        let reads = self.others().filter(|other| {
            let theirs = other.workload();
            let same_place = theirs.offset == own.offset && other.in_order();
            other.only_reads() && same_place && direct(other) && theirs.block_size >= own.block_size
        });
        let reads = reads.filter(StageFacts::flows);
        let reads = reads.filter_map(|other| Some((other.rate()?, other)));
        let (most, read) = reads.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((read, most))
    }

    /// The largest of these of the run in this direction, this stage's included.
    pub(crate) fn best_flow(&self) -> Option<f64> {
        let writes = self.workload().operation.writes();
        let alike = self
            .all()
            .filter(|one| one.workload().operation.writes() == writes);
        alike.filter_map(|one| one.flow()).reduce(f64::max)
    }

    /// The largest of the other stages that move bytes in order in this direction, from the same
    /// place on a platter.
    pub(crate) fn best_flow_here(&self) -> Option<f64> {
        let own = self.workload();
        let same = [Same::Operation];
        let here = self.alike(&same).filter(|other| {
            let theirs = other.workload();
            theirs.offset == own.offset && theirs.span == own.span && other.in_order()
        });
        here.filter_map(|other| other.flow()).reduce(f64::max)
    }

    /// The fastest stage of the same kind that streams at another place, and its rate, bytes/s,
    /// where that lies further out: the outer tracks come first.
    pub(crate) fn faster_further_out(&self) -> Option<(StageFacts<'a>, f64)> {
        let offset = self.workload().offset;
        let (other, best) = self
            .alike(&[Same::Operation, Same::Pattern, Same::Cache, Same::Sync])
            .filter(|other| other.workload().offset != offset && other.flows())
            .filter_map(|other| {
                let rate = other.rate()?;
                Some((other, rate))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        (other.workload().offset <= offset).then_some((other, best))
    }

    /// Where the stage begins on its disk that turns, as a share of it from the rim; `None` of
    /// several, or where a filesystem puts the blocks anywhere.
    pub(crate) fn place_on_disk(&self) -> Option<f64> {
        let run = self.run();
        let on_disk = matches!(run.target.kind, TargetKind::Device | TargetKind::Simulated);
        let leaf = self.context.turning().next()?;
        let size = leaf.size_bytes.filter(|size| *size > 0)? as f64;
        unless(!on_disk || self.leaves().count() > 1)?;
        let devices = run.stack.devices.iter();
        let starts = devices.filter_map(|device| device.start_bytes);
        Some((starts.sum::<u64>() + self.workload().offset) as f64 / size)
    }
}
