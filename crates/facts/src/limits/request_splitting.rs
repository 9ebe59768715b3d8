//! Operations are split into several requests, and the pieces cost.

use super::prelude::*;
use super::queue::set;
use crate::stage_facts::reference::best;
use crate::stage_facts::splitting::{Cut, LARGER, SMALL, Splitting};

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
/// Pieces from which on one or two requests at the ends are not what is seen.
const MANY: f64 = 4.0;

fn operations_are_split(facts: &StageFacts<'_>) -> Option<Candidate> {
    let split = Splitting::of(facts)?;
    let (pieces, bytes) = (split.pieces, split.bytes);
    unless(pieces < PIECES || bytes > EXPLAINED * split.piece_bytes as f64)?;
    let (share, confidence, by) = gain(facts, &split);
    // Nothing else was measured, and requests so small cost more than their bytes.
    let by_size = confidence == Possible && bytes <= SMALL && pieces >= MANY;
    let (standing, share) = if by_size {
        let much = Some(share).filter(|share| *share >= Standing::CAUSE_MIN);
        (Standing::Cause, much)
    } else {
        (Standing::cause(share), Some(share))
    };
    let block_bytes = facts.workload().block_size;
    let [block, piece] = [block_bytes, split.piece_bytes].map(show_size);
    let (many, mean) = (ratio(pieces), size(bytes));
    // A block of one request is a power of two, of whole sectors.
    let mut one = split.piece_bytes;
    // What cuts them follows "A block is 1 MiB, and", what would tell follows "then the same".
    let (what, claim, then, remedy) = match split.cut {
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
            one = (1 << one.max(4096).ilog2()).min(block_bytes);
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
    let each = duration(split.each_ns);
    let rate = facts.rate().map_or_else(String::new, show_throughput);
    let evidence = [
        format!(
            "A block is {block}, and {what}: {many} requests were counted for each operation, of \
             {mean} on average."
        ),
        format!("A request was completed every {each}, that is {rate}."),
        by,
    ];
    let claim = format!("{claim}, and what each request costs adds up.");
    let question = format!(
        "Blocks of just one request: as many bytes a second as with the large blocks say that \
         large blocks gain nothing here; then the same {then}."
    );
    let refuted_by = match split.cut {
        Cut::Extents(_) => "The same rate of a copy that lies in one piece.".to_owned(),
        Cut::Queue(_) | Cut::Chunk(_) => format!("The same rate {then}."),
    };
    let stages = facts.stages().and("one-request", |w| w.block_size = one);
    let found = Candidate::new(standing, share, confidence, claim)
        .evidence(evidence)
        .refuted_by(refuted_by)
        .question(question)
        .settled_by(stages.and("split", |_| ()))
        .remedy(remedy);
    Some(found)
}

/// What would go away without splitting, how sure that is, and by which figure.
fn gain(facts: &StageFacts<'_>, split: &Splitting<'_>) -> (f64, Confidence, String) {
    if let Some((label, better)) = with_larger_requests(facts, split.bytes) {
        let own = facts.rate().unwrap_or(f64::INFINITY);
        let share = (1.0 - own / better).max(0.0);
        let by = format!(
            "{label} reached {} with larger requests: {} of the time would be saved at that rate.",
            show_throughput(better),
            percent(share)
        );
        return (share, Likely, by);
    }
    let (cost_ns, is_measured, by) = split.cost_ns(facts);
    let share = cost_ns / split.each_ns * (1.0 - 1.0 / split.pieces);
    (share, likely_if(is_measured), by)
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
