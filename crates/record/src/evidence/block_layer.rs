//! What the block layer did with requests, from its trace events.

use crate::trial::Latency;
use serde::{Deserialize, Serialize};

/// What the block layer did with requests during exactly the trial's window (kernel:
/// `include/trace/events/block.h`), or in bursts of it: then counts, times and distances
/// are those of the bursts, and `followed_ns` says how long these were together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BlockLayer {
    /// Each device of the stack that has a queue of requests, in the order of the
    /// stack; a partition is seen as its whole disk.
    pub devices: Vec<DeviceRequests>,
    /// Length of the window, nanoseconds.
    pub window_ns: u64,
    /// Of the window, the time in which requests were followed, nanoseconds: all of it,
    /// or less where they were many and nobody asked for all by name.
    pub followed_ns: u64,
    /// Into how many pieces that time fell: 1 where requests were followed all the time,
    /// or to the first pause.
    pub bursts: u64,
    /// Where the time in the queue is counted from; absent where no event tells.
    pub queued_from: Option<QueuedFrom>,
    /// Events that were seen.
    pub events: u64,
    /// Events that are known to be lost. Where there are any, counts are too small,
    /// and `in_flight_mean` and `in_flight_max` are not known.
    pub lost_events: u64,
    /// Processor time that reading the events took while the trial ran, nanoseconds.
    pub reader_cpu_ns: u64,
    /// Processor time that understanding them took after it, nanoseconds.
    pub analysis_cpu_ns: u64,
}

/// Which event begins the time in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueuedFrom {
    /// `block_io_start`, since Linux 6.5: a request was made.
    Start,
    /// `block_rq_insert`: a request was put into a queue, which one that is sent to
    /// the device at once never is.
    Insert,
}

/// The requests of one device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DeviceRequests {
    /// Name in the kernel.
    pub name: String,
    /// Each kind of operation that there was.
    pub operations: Vec<OperationRequests>,
    /// How far the device had to go from one request to the next.
    pub seeks: Seeks,
    /// The slowest hundredth of the reads and writes; absent where these were too few to
    /// have one, where no event tells when a request was made, and in runs that were stored
    /// before this key came.
    #[serde(default)]
    pub slowest: Option<SlowestRequests>,
    /// The slowest hundredth of what was done from one flush to the next; absent where there
    /// were fewer than a thousand flushes, and in runs that were stored before this key came.
    #[serde(default)]
    pub slowest_syncs: Option<SlowestSyncs>,
    /// Reads and writes that the device had much longer than most; absent where they were
    /// fewer than three, or more than one in four without a place of their own, and in runs
    /// that were stored before this key came.
    #[serde(default)]
    pub outliers: Option<Outliers>,
    /// Requests in the device, averaged over the time in which they were followed; not
    /// known when events were lost.
    pub in_flight_mean: Option<f64>,
    /// Most requests in the device at one time; not known when events were lost.
    pub in_flight_max: Option<u64>,
}

/// Of a sample of a device's reads and writes, evenly over the time in which they were
/// followed, those that it had at least four times as long as the median, and where they lie;
/// of more than one in four those that it had four times as long as the tenth percentile, where nine
/// of ten in their range are such, and the range is three quarters of what was visited at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outliers {
    /// Requests of the sample.
    pub sampled: u64,
    /// How long the device had the others, from issue to completion; mean, nanoseconds.
    pub usual_ns: f64,
    /// Those that it had longer: how many.
    pub requests: u64,
    /// How long it had these; mean, nanoseconds.
    pub device_ns: f64,
    /// Where the shortest range of the device begins that has nine of ten of them, bytes.
    pub from_bytes: u64,
    /// Where the last of them in that range begins, bytes.
    pub to_bytes: u64,
    /// All requests of the sample that begin in that range.
    pub within: u64,
    /// From where the first to where the last request of the sample begins on the device,
    /// bytes.
    pub visited_bytes: u64,
}

/// The slowest hundredth of a device's reads and writes, by the time from when they were
/// made to when they were done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowestRequests {
    /// How many they are; a share of one where the hundredth is no whole number.
    pub requests: f64,
    /// From being made, or inserted, to the last issue; mean, nanoseconds.
    pub queued_ns: f64,
    /// From the last issue to completion; mean, nanoseconds.
    pub device_ns: f64,
}

/// The slowest hundredth of what a device did from the end of one flush to the end of the
/// next, by how long that was: of a thread that writes and syncs, one write and its sync.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowestSyncs {
    /// How many they are; a share of one where the hundredth is no whole number.
    pub syncs: f64,
    /// Reads and writes in it, from being made, or inserted, to the last issue; mean of their
    /// sum, nanoseconds.
    pub queued_ns: f64,
    /// The same from the last issue to completion.
    pub device_ns: f64,
    /// The flush at its end, from issue to completion; mean, nanoseconds.
    pub flush_ns: f64,
}

/// What a request asks for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// Data.
    #[default]
    Read,
    /// Data.
    Write,
    /// Sectors that are needed no more.
    Discard,
    /// The write cache to be emptied; has no sectors.
    Flush,
    /// Anything else: zeros, zones, commands of a driver.
    Other,
}

/// Requests of one kind.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OperationRequests {
    /// What they asked for.
    pub operation: RequestKind,
    /// Requests that were given to the device while they were followed. One that it gave back
    /// and got again counts once.
    pub issued: u64,
    /// Of these, requests that were done by the end of the window, or of the burst.
    pub completed: u64,
    /// Bytes of the issued ones.
    pub bytes: u64,
    /// Of the issued ones, those for data that nobody asked for yet.
    pub readahead: u64,
    /// Of the issued ones, those of a filesystem's own structures.
    pub metadata: u64,
    /// Completions with an error.
    pub errors: u64,
    /// I/Os that were joined to the end of a waiting request.
    pub back_merges: u64,
    /// I/Os that were joined to the start of a waiting request.
    pub front_merges: u64,
    /// Waiting requests that were joined to another one.
    pub request_merges: u64,
    /// Times that a request came back from the device unserved.
    pub requeues: u64,
    /// Issued, and not done when the window closed, or the burst did.
    pub unfinished: u64,
    /// Made, and not issued when it did.
    pub waiting: u64,
    /// Done, though their issue was not seen: they were in the device when the window
    /// or the burst began, or are steps of a flush that never go there.
    pub issue_unseen: u64,
    /// From being made, or inserted, to the last issue, of the completed ones.
    pub queued_ns: Latency,
    /// From the last issue to completion, of the completed ones.
    pub device_ns: Latency,
    /// The distribution of `queued_ns`.
    pub queued_histogram: Vec<Bucket>,
    /// The distribution of `device_ns`.
    pub device_histogram: Vec<Bucket>,
    /// Sizes of the issued ones, bytes: exact, but in powers of two where there are
    /// more than 64 sizes.
    pub sizes: Vec<Bucket>,
}

/// So many values from `from` to `to`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The smallest value that counts here.
    pub from: u64,
    /// The largest value that counts here.
    pub to: u64,
    /// How many.
    pub count: u64,
}

/// Distances from the end of one issued request with sectors to the start of the
/// next, whatever they ask for, in sectors of 512 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seeks {
    /// Requests that began where the one before ended.
    pub in_order: u64,
    /// Requests that lay farther on.
    pub forward: u64,
    /// Requests that lay before.
    pub backward: u64,
    /// Median distance of those farther on, sectors.
    pub forward_p50_sectors: Option<u64>,
    /// Median distance of those before, sectors.
    pub backward_p50_sectors: Option<u64>,
    /// Distances forward, sectors, in powers of two.
    pub forward_sectors: Vec<Bucket>,
    /// Distances backward, sectors, in powers of two.
    pub backward_sectors: Vec<Bucket>,
}

impl Seeks {
    /// Share of the requests that began where the one before ended; `None` of fewer
    /// than two requests.
    pub fn in_order_share(&self) -> Option<f64> {
        let all = self.in_order + self.forward + self.backward;
        (all > 0).then(|| self.in_order as f64 / all as f64)
    }
}
