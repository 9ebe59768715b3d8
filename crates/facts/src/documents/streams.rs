//! What a document says of streams: sequential reads and writes at a known place, in a way
//! that keeps a disk busy.

use crate::context::Context;
use crate::places::Place;
use crate::stages::Stage;
use crate::stats;
use crate::words::lines;
use diskfacts_plan::units::three_digits;
use diskfacts_plan::{CacheMode, Operation};
use diskfacts_record::StageFigures;
use std::fmt;

/// Blocks from this on stream also where each is asked for by itself.
const LARGE: u64 = 64 << 10;

/// All that streams one way at one place.
#[derive(Debug, Clone)]
pub(super) struct Stream<'a> {
    pub(super) place: Place<'a>,
    pub(super) operation: Operation,
    /// Bytes per second of each stage; more than 0.
    pub(super) rates: Vec<f64>,
    pub(super) lines: Vec<u64>,
    pub(super) stages: Vec<&'a str>,
}

impl Stream<'_> {
    /// The median, bytes per second.
    pub(super) fn rate(&self) -> f64 {
        stats::median(&self.rates).unwrap_or(f64::NAN)
    }

    /// How many times as fast the faster of two is.
    pub(super) fn times(&self, other: &Self) -> f64 {
        (self.rate() / other.rate()).max(other.rate() / self.rate())
    }

    fn add(&mut self, other: &Self) {
        self.rates.extend_from_slice(&other.rates);
        self.lines.extend_from_slice(&other.lines);
        self.stages.extend_from_slice(&other.stages);
    }

    /// Several as one, at the place of the first; `None` of none.
    pub(super) fn sum<'s>(mut streams: impl Iterator<Item = &'s Self>) -> Option<Self>
    where
        Self: 's,
    {
        let mut sum = streams.next()?.clone();
        streams.for_each(|other| sum.add(other));
        Some(sum)
    }
}

/// `126 MB/s, raw (lines 30 and 76)`
impl fmt::Display for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = three_digits(self.rate() / 1e6);
        write!(f, "{rate} MB/s, {} ({})", self.place, lines(&self.lines))
    }
}

/// The streams of a run, one for each place and operation.
pub(super) fn streams<'a>(context: &Context<'a>) -> Vec<Stream<'a>> {
    let mut all: Vec<Stream<'a>> = Vec::new();
    for (stage, figures) in context.each() {
        let Some(stream) = stream(stage, figures) else {
            continue;
        };
        let same = |s: &&mut Stream<'_>| (s.place, s.operation) == (stream.place, stream.operation);
        match all.iter_mut().find(same) {
            Some(known) => known.add(&stream),
            None => all.push(stream),
        }
    }
    all
}

fn stream<'a>(stage: &Stage<'a>, figures: &StageFigures) -> Option<Stream<'a>> {
    let workload = stage.workload();
    let simple = matches!(workload.operation, Operation::Read | Operation::Write);
    // Small direct blocks wait for each other; through the page cache the kernel reads
    // ahead and writes behind in large pieces.
    let busy = workload.cache != CacheMode::Direct || workload.block_size >= LARGE;
    let alone = workload.beside.is_none() && !workload.sync.each_write();
    let rate = figures.throughput_bytes_per_s.median;
    let usable = stage.in_order() && simple && busy && alone && rate.is_finite() && rate > 0.0;
    let place = Place::of(stage).filter(|_| usable)?;
    Some(Stream {
        place,
        operation: workload.operation,
        rates: vec![rate],
        lines: stage.lines(),
        stages: vec![stage.name],
    })
}
