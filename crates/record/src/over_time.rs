//! Latencies over the time of a trial: which operations were slow, and when.
//!
//! A trial has at most [`LatencyOverTime::ROWS_MAX`] intervals of equal length, each with a
//! [`CoarseHistogram`] of the reads and one of the writes that completed in it. When a trial
//! needs more, neighbours are joined, so all of them together always count what the whole
//! histograms of the trial count.
//!
//! # Stored form
//! [`LatencyOverTime::to_bytes`]: one byte version (1), then LEB128 integers: length of an
//! interval in nanoseconds, number of intervals; then for the reads, and for the writes:
//! number of occupied buckets, and for each the distance from the last index and its count
//! in each interval, where a run of zeros is a 0 and how many more follow.

mod json;
mod packed;

use crate::coarse::CoarseHistogram;
use crate::histogram::DecodeError;
use crate::leb128::{put, take_u64};
use diskfacts_plan::Workload;
use diskfacts_plan::dd::End;
pub use packed::PackedOverTime;
use std::ops::Range;

const VERSION: u8 = 1;
const BUCKETS: usize = CoarseHistogram::BUCKETS;

/// Latencies by the interval in which the operations completed.
#[derive(Clone)]
pub struct LatencyOverTime {
    length_ns: u64,
    /// In use; in `1..=ROWS_MAX`.
    rows: usize,
    read: Rows,
    write: Rows,
}

/// Counts of one kind of operation.
#[derive(Clone)]
struct Rows {
    /// Row after row, [`BUCKETS`] in each, room for the most rows. Pages of it that nothing
    /// is written to take no memory, as the kernel gives it out.
    counts: Vec<u64>,
    /// Outside of these buckets no row has anything.
    occupied: Range<usize>,
}

impl Rows {
    fn new() -> Self {
        Self {
            counts: vec![0; LatencyOverTime::ROWS_MAX * BUCKETS],
            occupied: 0..0,
        }
    }

    fn is_empty(&self) -> bool {
        self.occupied.is_empty()
    }

    fn at(&self, row: usize, bucket: usize) -> u64 {
        self.counts[row * BUCKETS + bucket]
    }

    fn count_at(&mut self, row: usize, bucket: usize, n: u64) {
        self.counts[row * BUCKETS + bucket] += n;
        self.occupied = if self.is_empty() {
            bucket..bucket + 1
        } else {
            self.occupied.start.min(bucket)..self.occupied.end.max(bucket + 1)
        };
    }

    /// Joins each two neighbours of the first `rows`.
    fn join(&mut self, rows: usize) {
        for row in 0..rows {
            for bucket in self.occupied.clone() {
                let n = std::mem::take(&mut self.counts[row * BUCKETS + bucket]);
                self.counts[row / 2 * BUCKETS + bucket] += n;
            }
        }
    }

    fn row(&self, row: usize) -> CoarseHistogram {
        let mut histogram = CoarseHistogram::new();
        for bucket in self.occupied.clone() {
            histogram.count_at(bucket, self.at(row, bucket));
        }
        histogram
    }
}

impl PartialEq for LatencyOverTime {
    fn eq(&self, other: &Self) -> bool {
        self.length_ns == other.length_ns
            && self.rows == other.rows
            && self.read.counts == other.read.counts
            && self.write.counts == other.write.counts
    }
}

impl Eq for LatencyOverTime {}

impl std::fmt::Debug for LatencyOverTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = |side: &Rows| (0..self.rows).map(|row| side.row(row)).collect::<Vec<_>>();
        f.debug_struct("LatencyOverTime")
            .field("length_ns", &self.length_ns)
            .field("read", &rows(&self.read))
            .field("write", &rows(&self.write))
            .finish()
    }
}

impl LatencyOverTime {
    /// Most intervals of a trial.
    pub const ROWS_MAX: usize = 64;

    /// Nothing yet, in intervals of so many nanoseconds, at least 1.
    pub fn new(length_ns: u64) -> Self {
        Self {
            length_ns: length_ns.max(1),
            rows: 1,
            read: Rows::new(),
            write: Rows::new(),
        }
    }

    /// Length of an interval, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.length_ns
    }

    /// How many intervals there are, the last of which may be shorter.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Lengthens it to the interval that holds a moment, nanoseconds from the start of the
    /// trial, and answers which one that is.
    pub fn reach(&mut self, at_ns: u64) -> usize {
        loop {
            let row = at_ns / self.length_ns;
            if row < Self::ROWS_MAX as u64 {
                // Below 64.
                let row = row as usize;
                self.rows = self.rows.max(row + 1);
                return row;
            }
            self.join();
        }
    }

    fn join(&mut self) {
        self.read.join(self.rows);
        self.write.join(self.rows);
        self.rows = self.rows.div_ceil(2);
        self.length_ns = self.length_ns.saturating_mul(2);
    }

    /// Counts `n` operations, at least 1, that completed in interval `row`, which was
    /// [reached](Self::reach), with latencies of a bucket of [`CoarseHistogram`].
    #[inline]
    pub fn count_at(&mut self, row: usize, is_write: bool, bucket: usize, n: u64) {
        let side = if is_write {
            &mut self.write
        } else {
            &mut self.read
        };
        side.count_at(row, bucket, n);
    }

    /// Adds what another thread of the same trial did. Both began with the same length.
    pub fn add(&mut self, mut other: Self) {
        while other.length_ns < self.length_ns {
            other.join();
        }
        while self.length_ns < other.length_ns {
            self.join();
        }
        self.rows = self.rows.max(other.rows);
        for (mine, theirs) in [
            (&mut self.read, &other.read),
            (&mut self.write, &other.write),
        ] {
            for row in 0..other.rows {
                for bucket in theirs.occupied.clone() {
                    let n = theirs.at(row, bucket);
                    if n > 0 {
                        mine.count_at(row, bucket, n);
                    }
                }
            }
        }
    }

    /// The reads of an interval below [`rows`](Self::rows).
    pub fn read(&self, row: usize) -> CoarseHistogram {
        self.read.row(row)
    }

    /// The writes of an interval.
    pub fn write(&self, row: usize) -> CoarseHistogram {
        self.write.row(row)
    }

    /// The operations of an interval that a workload is measured by, as of
    /// [`Histograms::measured`](crate::trial::Histograms::measured).
    pub fn measured(&self, row: usize, workload: &Workload) -> CoarseHistogram {
        match &workload.copy {
            None => {
                let mut all = self.read(row);
                all.add(&self.write(row));
                all
            }
            Some(copy) if copy.measured == End::Input => self.read(row),
            Some(_) => self.write(row),
        }
    }

    /// The stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put(&mut out, u128::from(self.length_ns));
        put(&mut out, self.rows as u128);
        for side in [&self.read, &self.write] {
            let is_occupied = |bucket: &usize| (0..self.rows).any(|row| side.at(row, *bucket) > 0);
            let occupied: Vec<usize> = side.occupied.clone().filter(is_occupied).collect();
            put(&mut out, occupied.len() as u128);
            let mut last = 0;
            for bucket in occupied {
                put(&mut out, (bucket - last) as u128);
                last = bucket;
                let counts: Vec<u64> = (0..self.rows).map(|row| side.at(row, bucket)).collect();
                for run in counts.chunk_by(|a, b| *a == 0 && *b == 0) {
                    put(&mut out, u128::from(run[0]));
                    if run[0] == 0 {
                        put(&mut out, run.len() as u128 - 1);
                    }
                }
            }
        }
        out
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// When the bytes are cut short, of an unknown version or contradictory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut over_time = Self::new(1);
        let count = |row, is_write, bucket, n| over_time.count_at(row, is_write, bucket, n);
        let (length_ns, rows) = of_stored(bytes, count)?;
        Ok(Self {
            length_ns,
            rows,
            ..over_time
        })
    }
}

/// Reads the stored form and gives each count away: the interval, whether of writes, the
/// bucket, how many. Answers the length of an interval, and how many there are.
///
/// # Errors
/// As of [`LatencyOverTime::from_bytes`]; some counts were given away by then.
fn of_stored(
    bytes: &[u8],
    mut count: impl FnMut(usize, bool, usize, u64),
) -> Result<(u64, usize), DecodeError> {
    let [version, input @ ..] = bytes else {
        return Err(DecodeError::Truncated);
    };
    if *version != VERSION {
        return Err(DecodeError::Version(*version));
    }
    let mut input = input;
    let length_ns = take_u64(&mut input)?;
    let rows = take_u64(&mut input)?;
    // The end of the last is a number of nanoseconds, too.
    let lengths = 1..=u64::MAX / LatencyOverTime::ROWS_MAX as u64;
    if !lengths.contains(&length_ns) || !(1..=LatencyOverTime::ROWS_MAX as u64).contains(&rows) {
        return Err(DecodeError::Damaged("no such intervals"));
    }
    // At most 64.
    let rows = rows as usize;
    let mut total = 0_u64;
    for is_write in [false, true] {
        let occupied = take_u64(&mut input)?;
        let mut bucket = 0_usize;
        for i in 0..occupied {
            let step = take_u64(&mut input)?;
            if step == 0 && i > 0 {
                return Err(DecodeError::Damaged("a bucket occurs twice"));
            }
            bucket = usize::try_from(step)
                .ok()
                .and_then(|step| bucket.checked_add(step))
                .filter(|bucket| *bucket < BUCKETS)
                .ok_or(DecodeError::Damaged("a bucket beyond the last"))?;
            let before = total;
            let mut row = 0;
            while row < rows {
                let n = take_u64(&mut input)?;
                if n == 0 {
                    let more = take_u64(&mut input)?;
                    row = usize::try_from(more)
                        .ok()
                        .filter(|more| *more < rows - row)
                        .map(|more| row + 1 + more)
                        .ok_or(DecodeError::Damaged("an interval beyond the last"))?;
                    continue;
                }
                total = total
                    .checked_add(n)
                    // Two of them add up without overflow.
                    .filter(|total| *total <= u64::MAX / 2)
                    .ok_or(DecodeError::Damaged("more values than 63 bits count"))?;
                count(row, is_write, bucket, n);
                row += 1;
            }
            if total == before {
                return Err(DecodeError::Damaged("a bucket without a count"));
            }
        }
    }
    if input.is_empty() {
        Ok((length_ns, rows))
    } else {
        Err(DecodeError::Damaged("bytes follow its end"))
    }
}

#[cfg(test)]
mod tests;
