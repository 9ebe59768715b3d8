//! Operations are split into several requests, and the pieces cost: by the largest request that
//! the kernel sends to the device, by the extents of a fragmented file, by the chunks of an array.

use super::queue::{set, top};
use super::reference::{Reference, best};
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::units::{show_duration, show_size, show_throughput};
use diskfacts_plan::{CacheMode, Workload};
use diskfacts_record::{BlockDevice, Confidence};

pub(super) const NAME: &str = "request-splitting";

/// Requests of the device per operation from which on operations are split.
const PIECES: f64 = 1.5;
/// Requests that are so much larger than what cuts them are not cut by it.
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
enum Cut<'a> {
    /// The largest request that the kernel sends to this device.
    Queue(&'a BlockDevice, u64),
    /// The pieces in which the file lies on its filesystem: bytes of one on average, and how
    /// many there are.
    Extents(u64, u64),
    /// What lies on one member of an array before the next one follows.
    Chunk(&'a BlockDevice, u64),
}

impl<'a> Cut<'a> {
    /// The smallest that is smaller than a block.
    fn of(subject: &'a Subject<'_>) -> Option<Self> {
        let block = subject.workload().block_size;
        let queue =
            top(subject).and_then(|device| Some(Self::Queue(device, device.max_request_bytes?)));
        let extents = subject.run().target.extents;
        let extents = extents.and_then(|all| {
            let number = all.extents.filter(|number| *number > 1)?;
            Some(Self::Extents(all.span_bytes / number, number))
        });
        let chunks = subject.stack().devices.iter().filter_map(|device| {
            let array = device.array.as_ref()?;
            // Larger ones go to several members at once, which gains more than they cost.
            let small = array.chunk_bytes.filter(|bytes| *bytes as f64 <= SMALL);
            Some(Self::Chunk(device, small?))
        });
        let each = queue.into_iter().chain(extents).chain(chunks);
        let cuts = each.filter(|cut| (1..block).contains(&cut.bytes()));
        cuts.min_by_key(Self::bytes)
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Queue(_, bytes) | Self::Extents(bytes, _) | Self::Chunk(_, bytes) => *bytes,
        }
    }

    /// What it is, in words that follow "A block is 1 MiB, and".
    fn what(&self) -> String {
        let bytes = show_size(self.bytes());
        match self {
            Self::Queue(device, _) => {
                format!(
                    "the largest request that the kernel sends to {} is {bytes}",
                    device.name
                )
            }
            Self::Extents(_, number) => {
                format!("the file lies in {number} extents of {bytes} on average")
            }
            Self::Chunk(device, _) => format!("a chunk of {} is {bytes}", device.name),
        }
    }

    fn claim(&self, block: u64, pieces: f64, mean: u64) -> String {
        let (block, pieces) = (show_size(block), ratio(pieces));
        match self {
            Self::Queue(_, bytes) => format!(
                "Each operation of {block} is split into {pieces} requests of at most {}, and what \
                 each request costs adds up.",
                show_size(*bytes)
            ),
            Self::Extents(..) => format!(
                "The file is fragmented: each operation of {block} becomes {pieces} requests of {} \
                 on average, and what each request costs adds up.",
                show_size(mean)
            ),
            Self::Chunk(device, bytes) => format!(
                "{} divides each operation of {block} into {pieces} requests by its chunks of {}, \
                 and what each request costs adds up.",
                device.name,
                show_size(*bytes)
            ),
        }
    }

    fn remedy(&self, subject: &Subject<'_>) -> String {
        let block = subject.workload().block_size;
        match self {
            Self::Queue(device, _) => {
                let kib = (block / 1024).max(1).to_string();
                format!(
                    "{} `max_hw_sectors_kb` beside it is the most that the device takes.",
                    set(
                        subject,
                        device,
                        ("queue/max_sectors_kb", &kib),
                        (
                            "host",
                            &format!("max_request = \"{}\"", show_size(block).replace(' ', ""))
                        )
                    )
                )
            }
            Self::Extents(..) => "Write the file anew in one piece: copy it where the filesystem has \
                                  room in large pieces, set its room aside at once (`fallocate`), or \
                                  defragment it (`e4defrag`, `xfs_fsr`, `btrfs filesystem \
                                  defragment`); `filefrag -v` shows its extents."
                .into(),
            Self::Chunk(..) => "An array made with larger chunks (`mdadm --chunk`, `lvcreate \
                                --stripesize`) sends larger requests."
                .into(),
        }
    }

    /// Whether requests of this size are what it leaves: extents differ, and the queue's limit
    /// and chunks begin where a block does.
    fn explains(&self, mean: f64) -> bool {
        mean <= EXPLAINED * self.bytes() as f64
    }

    /// A block of one request: a power of two, of whole sectors.
    fn one_request(&self, workload: &Workload) -> u64 {
        match self {
            Self::Queue(_, bytes) | Self::Chunk(_, bytes) => *bytes,
            Self::Extents(bytes, _) => {
                let power = 1 << bytes.max(&4096).ilog2();
                power.min(workload.block_size)
            }
        }
    }

    fn refuted_by(&self) -> &'static str {
        match self {
            Self::Queue(..) => "The same rate with a larger limit.",
            Self::Extents(..) => "The same rate of a copy that lies in one piece.",
            Self::Chunk(..) => "The same rate of an array with larger chunks.",
        }
    }

    fn question(&self) -> String {
        let then = match self {
            Self::Queue(..) => "with a larger limit",
            Self::Extents(..) => "of a copy in one piece",
            Self::Chunk(..) => "of an array with larger chunks",
        };
        format!(
            "Blocks of just one request: as many bytes a second as with the large blocks say that \
             large blocks gain nothing here; then the same {then}."
        )
    }
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    if subject.imported() || !subject.moves_blocks() {
        return None;
    }
    // Through the page cache the window of read-ahead decides, and write-back joins
    // and splits as it likes.
    if workload.cache != CacheMode::Direct {
        return None;
    }
    let cut = Cut::of(subject)?;
    // The members of an array get what it divides; all others count at the target.
    let of_top = || subject.work_of(&top(subject)?.name);
    let work = match cut {
        Cut::Chunk(..) => subject.device_work(),
        Cut::Queue(..) | Cut::Extents(..) => of_top().or_else(|| subject.device_work()),
    }?;
    let ops = subject.stage.sum(|trial| trial.ops) as f64;
    let pieces = work.requests / ops;
    let mean = work.bytes / work.requests;
    if !pieces.is_finite() || pieces < PIECES || !cut.explains(mean) {
        return None;
    }
    let each_request_ns = subject.seconds() * 1e9 / work.requests;
    let whole = 1.0 - 1.0 / pieces;
    let pace = Pace {
        each_ns: each_request_ns,
        bytes: mean,
        whole,
    };
    let (share, confidence, by) = pace.share(subject);
    // Nothing else was measured, and requests so small cost more than their bytes.
    let by_size = confidence == Confidence::Possible && mean <= SMALL && pieces >= MANY;
    let mut evidence = vec![
        format!(
            "A block is {}, and {}: {} requests were counted for each operation, of {} on average.",
            show_size(workload.block_size),
            cut.what(),
            ratio(pieces),
            show_size(mean as u64)
        ),
        format!(
            "A request was completed every {}, that is {}.",
            show_duration(each_request_ns as u64),
            subject.rate().map_or_else(String::new, show_throughput)
        ),
    ];
    evidence.push(by);
    let smaller = Workload {
        block_size: cut.one_request(workload),
        ..workload.clone()
    };
    Some(Candidate {
        standing: if by_size {
            Standing::Cause
        } else {
            Standing::cause(share)
        },
        claim: cut.claim(workload.block_size, pieces, mean as u64),
        evidence,
        share: (!by_size || share >= Standing::CAUSE_MIN).then_some(share),
        confidence,
        refuted_by: cut.refuted_by().into(),
        experiment: subject.experiment(
            &cut.question(),
            &[("one-request", smaller), ("split", workload.clone())],
        ),
        remedy: cut.remedy(subject),
    })
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
    fn share(&self, subject: &Subject<'_>) -> (f64, Confidence, String) {
        let own = subject.rate().unwrap_or(f64::INFINITY);
        if let Some(better) = with_larger_requests(subject, self.bytes) {
            let share = (1.0 - own / better.rate).max(0.0);
            let by = format!(
                "{} reached {} with larger requests: {} of the time would be saved at that rate.",
                better.label,
                show_throughput(better.rate),
                percent(share)
            );
            return (share, Confidence::Likely, by);
        }
        if let Some((label, bytes, ns)) = self.smaller(subject) {
            let a_byte_ns = (self.each_ns - ns).max(0.0) / (self.bytes - bytes);
            let cost_ns = (ns - a_byte_ns * bytes).clamp(0.0, self.each_ns);
            let by = format!(
                "{label} completed requests of {} every {}, hardly faster than these of {}: {} of \
                 each is not for its bytes.",
                show_size(bytes as u64),
                show_duration(ns as u64),
                show_size(self.bytes as u64),
                show_duration(cost_ns as u64)
            );
            let share = cost_ns / self.each_ns * self.whole;
            return (share, Confidence::Likely, by);
        }
        let (rate, most_ns) = if subject.rotates() == Some(false) {
            FLASH
        } else {
            TURNING
        };
        let bytes_ns = self.bytes / rate * 1e9;
        let cost_ns = (self.each_ns - bytes_ns).clamp(0.0, most_ns);
        let by = format!(
            "At {}, which any such device moves, {} take {}: {} of each request may be its cost.",
            show_throughput(rate),
            show_size(self.bytes as u64),
            show_duration(bytes_ns as u64),
            show_duration(cost_ns as u64)
        );
        let share = cost_ns / self.each_ns * self.whole;
        (share, Confidence::Possible, by)
    }

    /// A stage of smaller requests that the device was as full of and completed no
    /// faster than these, so that not their bytes but their number is what takes the
    /// time: its name, the bytes of a request, and ns from one to the next. Of disks
    /// that turn only what is done in order tells, because the rest is the arm.
    fn smaller(&self, subject: &Subject<'_>) -> Option<(String, f64, f64)> {
        const DEPTH: u64 = 8;
        const FULL: f64 = 1.05;
        let rotates = subject.rotates() != Some(false);
        subject
            .others()
            .filter(|other| {
                let workload = other.workload();
                workload.cache == CacheMode::Direct
                    && workload.operation == subject.workload().operation
                    && workload.rate.is_none()
                    && !workload.sync.each_write()
                    && (other.in_order() || !rotates && workload.outstanding() >= DEPTH)
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
fn with_larger_requests(subject: &Subject<'_>, bytes: f64) -> Option<Reference> {
    let workload = subject.workload();
    best(subject, |other| {
        let larger = other
            .device_work()
            .is_some_and(|work| work.bytes >= LARGER * bytes * work.requests);
        larger
            && other.workload().operation == workload.operation
            && other.workload().cache == CacheMode::Direct
            && other.in_order() == subject.in_order()
            && other.workload().sync == workload.sync
    })
}
