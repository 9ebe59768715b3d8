//! Operations that are split into several requests: by the largest request that the kernel sends to
//! the device, by the extents of a fragmented file, by the chunks of an array; and what a request
//! costs besides its bytes.

use super::StageFacts;
use super::queue::on_the_way;
use crate::prelude::*;

/// How much larger requests must be that show what larger ones bring.
pub(crate) const LARGER: f64 = 1.5;
/// Bytes of a request up to which its command costs the drive more than its bytes, whatever
/// it is: a drive that does a million reads of 4 KiB a second, as the fastest of today say
/// of themselves, moves 16 KiB in each microsecond.
pub(crate) const SMALL: f64 = 16384.0;
/// Bytes per second that any medium moves at least, and what a command costs at most,
/// ns, where the run shows neither: of disks that turn (the inner zone of a drive of
/// 2010; a command to a SATA drive that misses its read-ahead by a little), and of
/// flash (SATA at 6 Gbit/s; a command that is carried out alone, by a bridge or an old
/// controller, takes some tens of microseconds).
const TURNING: (f64, f64) = (100e6, 200_000.0);
const FLASH: (f64, f64) = (500e6, 80_000.0);

/// What cuts operations into smaller requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut<'a> {
    /// The largest request that the kernel sends to this device.
    Queue(&'a BlockDevice),
    /// The pieces, so many, in which the file lies on its filesystem.
    Extents(u64),
    /// What lies on one member of an array before the next one follows.
    Chunk(&'a BlockDevice),
}

impl<'a> Cut<'a> {
    /// What cuts smallest, into pieces of so many bytes, of what is smaller than a block.
    fn of(facts: &'a StageFacts<'_>) -> Option<(Self, u64)> {
        let top = facts.stack().top().into_iter();
        let queues = top.chain(on_the_way(facts));
        let queues =
            queues.filter_map(|device| Some((Self::Queue(device), device.max_request_bytes?)));
        let extents = facts.run().target.extents.and_then(|all| {
            let number = all.extents.filter(|number| *number > 1)?;
            Some((Self::Extents(number), all.span_bytes / number))
        });
        let chunks = facts.stack().devices.iter().filter_map(|device| {
            let chunk = device.array.as_ref()?.chunk_bytes;
            // Larger ones go to several members at once, which gains more than they cost.
            let small = chunk.filter(|bytes| *bytes as f64 <= SMALL)?;
            Some((Self::Chunk(device), small))
        });
        let each = queues.chain(extents).chain(chunks);
        let smaller = 1..facts.workload().block_size;
        let cuts = each.filter(|(_, bytes)| smaller.contains(bytes));
        cuts.min_by_key(|(_, bytes)| *bytes)
    }
}

/// What the devices completed of operations that something cuts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Splitting<'a> {
    pub(crate) cut: Cut<'a>,
    /// Bytes of the pieces into which it cuts.
    pub(crate) piece_bytes: u64,
    /// Requests completed for each operation.
    pub(crate) pieces: f64,
    /// From one completion to the next, ns.
    pub(crate) each_ns: f64,
    /// Bytes of a request, on average.
    pub(crate) bytes: f64,
}

impl<'a> Splitting<'a> {
    /// `None` where nothing cuts a block, or nothing was counted.
    pub(crate) fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        let (cut, piece_bytes) = Cut::of(facts)?;
        // The members of an array get what it divides, and a queue what goes by it; a file counts
        // at the target.
        let counts = match cut {
            Cut::Chunk(_) => None,
            Cut::Queue(device) => Some(device),
            Cut::Extents(_) => facts.stack().top(),
        };
        let work = counts.and_then(|device| facts.work_of(&device.name));
        let work = work.or_else(|| facts.device_work())?;
        let pieces = work.requests / facts.ops();
        unless(!pieces.is_finite())?;
        Some(Self {
            cut,
            piece_bytes,
            pieces,
            each_ns: facts.seconds() * 1e9 / work.requests,
            bytes: work.each_bytes(),
        })
    }

    /// What a request costs besides its bytes, ns; whether the run shows it, or it is what that of
    /// any such device is at most; and by which figures, a sentence.
    pub(crate) fn cost_ns(&self, facts: &StageFacts<'_>) -> (f64, bool, String) {
        if let Some((label, bytes, ns)) = self.smaller(facts) {
            let a_byte_ns = (self.each_ns - ns).max(0.0) / (self.bytes - bytes);
            let cost_ns = (ns - a_byte_ns * bytes).clamp(0.0, self.each_ns);
            let [small, these] = [bytes, self.bytes].map(size);
            let [each, cost] = [ns, cost_ns].map(duration);
            let by = format!(
                "{label} completed requests of {small} every {each}, hardly faster than these of \
                 {these}: {cost} of each is not for its bytes."
            );
            return (cost_ns, true, by);
        }
        let flash = facts.rotates() == Some(false);
        let (rate, most_ns) = if flash { FLASH } else { TURNING };
        let bytes_ns = self.bytes / rate * 1e9;
        let cost_ns = (self.each_ns - bytes_ns).clamp(0.0, most_ns);
        let [takes, cost] = [bytes_ns, cost_ns].map(|ns| show_duration(ns as u64));
        let by = format!(
            "At {}, which any such device moves, {} take {takes}: {cost} of each request may be its \
             cost.",
            show_throughput(rate),
            size(self.bytes)
        );
        (cost_ns, false, by)
    }

    /// A stage of smaller requests that the device was as full of and completed no
    /// faster than these, so that not their bytes but their number is what takes the
    /// time: its name, the bytes of a request, and ns from one to the next. Of disks
    /// that turn only what is done in order tells, because the rest is the arm.
    fn smaller(&self, facts: &StageFacts<'_>) -> Option<(String, f64, f64)> {
        const DEPTH: f64 = 8.0;
        const FULL: f64 = 1.05;
        let flash = facts.rotates() == Some(false);
        facts
            .alike(&[Same::Operation, Same::Cache])
            .filter(|other| {
                other.workload().rate.is_none()
                    && !other.workload().sync.each_write()
                    && (other.in_order() || flash && other.outstanding() >= DEPTH)
            })
            .filter_map(|other| {
                let work = other.device_work()?;
                let bytes = work.each_bytes();
                let ns = other.seconds() * 1e9 / work.requests;
                let fits = bytes * LARGER <= self.bytes && ns <= self.each_ns * FULL;
                fits.then(|| (other.stage.label(), bytes, ns))
            })
            .min_by(|a, b| a.2.total_cmp(&b.2))
    }
}
