//! Operations are split into several requests, and the pieces cost: by the largest request that
//! the kernel sends to the device, by the extents of a fragmented file, by the chunks of an array.

use super::prelude::*;
use super::queue::{on_the_way, set};
use super::reference::best;

pub(super) const LIMITER: Limiter = Limiter {
    name: "request-splitting",
    // Through the page cache the window of read-ahead decides, and write-back joins
    // and splits as it likes.
    needs: &[NoDocument, Blocks, Direct],
    find: operations_are_split,
    ..Limiter::ANY
};

/// Requests of the device per operation from which on operations are split.
const PIECES: f64 = 1.5;
/// Requests that are so much larger than what cuts them are not cut by it: extents differ, and
/// the queue's limit and chunks begin where a block does.
const EXPLAINED: f64 = 2.0;
/// How much larger the requests of a stage must be that shows what larger ones bring.
const LARGER: f64 = 1.5;
/// Bytes per second that any medium moves at least, and what a command costs at most,
/// ns, where the run shows neither: of disks that turn (the inner zone of a drive of
/// 2010; a command to a SATA drive that misses its read-ahead by a little), and of
/// flash (SATA at 6 Gbit/s; a command that is carried out alone, by a bridge or an old
/// controller, takes some tens of microseconds).
const TURNING: (f64, f64) = (100e6, 200_000.0);
const FLASH: (f64, f64) = (500e6, 80_000.0);

/// Bytes of a request up to which its command costs the drive more than its bytes, whatever
/// it is: a drive that does a million reads of 4 KiB a second, as the fastest of today say
/// of themselves, moves 16 KiB in each microsecond.
const SMALL: f64 = 16384.0;
/// Pieces from which on one or two requests at the ends are not what is seen.
const MANY: f64 = 4.0;

/// What cuts operations into smaller requests.
#[derive(Clone, Copy)]
enum Cut<'a> {
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

fn operations_are_split(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (cut, bytes) = Cut::of(facts)?;
    // The members of an array get what it divides, and a queue what goes by it; a file counts at
    // the target.
    let of_top = || facts.work_of(&facts.stack().top()?.name);
    let work = match cut {
        Cut::Chunk(_) => None,
        Cut::Queue(device) => facts.work_of(&device.name),
        Cut::Extents(_) => of_top(),
    };
    let work = work.or_else(|| facts.device_work())?;
    let pieces = work.requests / facts.ops();
    let pace = Pace {
        each_ns: facts.seconds() * 1e9 / work.requests,
        bytes: work.bytes / work.requests,
        whole: 1.0 - 1.0 / pieces,
    };
    let is_cut = pace.bytes <= EXPLAINED * bytes as f64;
    unless(!pieces.is_finite() || pieces < PIECES || !is_cut)?;
    let (share, confidence, by) = pace.share(facts);
    // Nothing else was measured, and requests so small cost more than their bytes.
    let by_size = confidence == Possible && pace.bytes <= SMALL && pieces >= MANY;
    let block_bytes = facts.workload().block_size;
    let [block, piece] = [block_bytes, bytes].map(show_size);
    let (many, mean) = (ratio(pieces), size(pace.bytes));
    // A block of one request is a power of two, of whole sectors.
    let mut one = bytes;
    // What cuts them follows "A block is 1 MiB, and", what would tell follows "then the same".
    let (what, claim, then, remedy) = match cut {
        Cut::Queue(device) => {
            let kib = (block_bytes / 1024).max(1).to_string();
            let key = format!("max_request = \"{}\"", block.replace(' ', ""));
            let set = set(facts, device, ("queue/max_sectors_kb", &kib), &key);
            let name = &device.name;
            (
                format!("the largest request that the kernel sends to {name} is {piece}"),
                format!(
                    "Each operation of {block} is split into {many} requests of at most {piece}"
                ),
                "with a larger limit",
                format!("{set} `max_hw_sectors_kb` beside it is the most that the device takes."),
            )
        }
        Cut::Extents(number) => {
            one = (1 << bytes.max(4096).ilog2()).min(block_bytes);
            (
                format!("the file lies in {number} extents of {piece} on average"),
                format!(
                    "The file is fragmented: each operation of {block} becomes {many} requests of \
                     {mean} on average"
                ),
                "of a copy in one piece",
                "Write the file anew in one piece: copy it where the filesystem has room in large \
                 pieces, set its room aside at once (`fallocate`), or defragment it (`e4defrag`, \
                 `xfs_fsr`, `btrfs filesystem defragment`); `filefrag -v` shows its extents."
                    .into(),
            )
        }
        Cut::Chunk(device) => (
            format!("a chunk of {} is {piece}", device.name),
            format!(
                "{} divides each operation of {block} into {many} requests by its chunks of {piece}",
                device.name
            ),
            "of an array with larger chunks",
            "An array made with larger chunks (`mdadm --chunk`, `lvcreate --stripesize`) sends \
             larger requests."
                .into(),
        ),
    };
    let each = duration(pace.each_ns);
    let rate = facts.rate().map_or_else(String::new, show_throughput);
    let evidence = [
        format!(
            "A block is {block}, and {what}: {many} requests were counted for each operation, of \
             {mean} on average."
        ),
        format!("A request was completed every {each}, that is {rate}."),
        by,
    ];
    let (standing, share) = if by_size {
        let much = Some(share).filter(|share| *share >= Standing::CAUSE_MIN);
        (Standing::Cause, much)
    } else {
        (Standing::cause(share), Some(share))
    };
    let claim = format!("{claim}, and what each request costs adds up.");
    let question = format!(
        "Blocks of just one request: as many bytes a second as with the large blocks say that \
         large blocks gain nothing here; then the same {then}."
    );
    let stages = facts.stages().and("one-request", |w| w.block_size = one);
    let found = Candidate::new(standing, share, confidence, claim)
        .evidence(evidence)
        .refuted_by(match cut {
            Cut::Extents(_) => "The same rate of a copy that lies in one piece.".to_owned(),
            Cut::Queue(_) | Cut::Chunk(_) => format!("The same rate {then}."),
        })
        .question(question)
        .settled_by(stages.and("split", |_| ()))
        .remedy(remedy);
    Some(found)
}

/// How the device completes the requests of a stage.
struct Pace {
    /// From one to the next, ns.
    each_ns: f64,
    /// Bytes of one, on average.
    bytes: f64,
    /// Share of them that would not be without splitting.
    whole: f64,
}

impl Pace {
    /// What would go away without splitting, how sure that is, and by which figure.
    fn share(&self, facts: &StageFacts<'_>) -> (f64, Confidence, String) {
        if let Some((label, better)) = with_larger_requests(facts, self.bytes) {
            let own = facts.rate().unwrap_or(f64::INFINITY);
            let share = (1.0 - own / better).max(0.0);
            let by = format!(
                "{label} reached {} with larger requests: {} of the time would be saved at that \
                 rate.",
                show_throughput(better),
                percent(share)
            );
            return (share, Likely, by);
        }
        let of_cost = |cost_ns: f64| cost_ns / self.each_ns * self.whole;
        if let Some((label, bytes, ns)) = self.smaller(facts) {
            let a_byte_ns = (self.each_ns - ns).max(0.0) / (self.bytes - bytes);
            let cost_ns = (ns - a_byte_ns * bytes).clamp(0.0, self.each_ns);
            let [small, these] = [bytes, self.bytes].map(size);
            let [each, cost] = [ns, cost_ns].map(duration);
            let by = format!(
                "{label} completed requests of {small} every {each}, hardly faster than these of \
                 {these}: {cost} of each is not for its bytes."
            );
            return (of_cost(cost_ns), Likely, by);
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
        (of_cost(cost_ns), Possible, by)
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
                let bytes = work.bytes / work.requests;
                let ns = other.seconds() * 1e9 / work.requests;
                let fits = bytes * LARGER <= self.bytes && ns <= self.each_ns * FULL;
                fits.then(|| (other.stage.label(), bytes, ns))
            })
            .min_by(|a, b| a.2.total_cmp(&b.2))
    }
}

/// The fastest stage of the same kind whose requests were larger, as with another
/// setting.
fn with_larger_requests(facts: &StageFacts<'_>, bytes: f64) -> Option<(String, f64)> {
    let workload = facts.workload();
    best(facts, |other| {
        let theirs = other.workload();
        let work = other.device_work();
        work.is_some_and(|work| work.bytes >= LARGER * bytes * work.requests)
            && theirs.operation == workload.operation
            && theirs.cache == CacheMode::Direct
            && other.in_order() == facts.in_order()
            && theirs.sync == workload.sync
    })
}
