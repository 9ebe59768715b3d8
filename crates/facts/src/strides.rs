//! Where a disk stops streaming and starts seeking.
//!
//! Blocks are visited at rising distances. While a disk streams, what lies
//! between two blocks passes under its heads, so the time per operation grows in
//! proportion to the distance: the span goes by at the rate of sequential
//! access. From some distance on it is quicker to seek, and the time hardly
//! grows. Their crossing is streaming rate times seek time.
//!
//! The time is that of the whole trial over its operations, because a write
//! through the page cache takes its time in the sync at the end.
//!
//! A device that does not turn has no such stretch: from the shortest skip on, an
//! operation takes the same time at any distance, and there is no crossing.

use crate::context::Context;
use crate::prelude::{Operation, Pattern, duration, join, percent, show_size, show_throughput};
use crate::stats::median_of;

/// The span goes by at no more than this many times the sequential rate: it
/// streams. Sequential rates of one disk differ by less between its zones' ends
/// of a span.
const STREAMS: f64 = 1.25;
/// Fewest distances, beside that of sequential access, on each side.
const EACH_SIDE: usize = 2;
/// A pass with fewer visits than this is mostly the jump back to its beginning.
const VISITS_PER_PASS: u64 = 4;
/// A seek takes at least this long on anything that turns, ns: half a revolution
/// at 15 000 rpm is 2 ms, a step to the next track a good part of one.
const SEEK_NS_MIN: f64 = 500_000.0;

/// One distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Bytes from the beginning of one block to that of the next, and the same in blocks.
    pub(crate) distance: u64,
    skip_blocks: u64,
    /// Nanoseconds of one operation, in the median of the trials.
    pub(crate) ns: f64,
    trials: usize,
}

impl Point {
    /// At which the span goes by, bytes per second.
    fn span_rate(self) -> f64 {
        self.distance as f64 / self.ns * 1e9
    }
}

/// What makes points one curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Curve<'a> {
    pub(crate) stage: &'a str,
    /// Where, as the document of an imported run says.
    pub(crate) place: [Option<&'a str>; 3],
    pub(crate) operation: Operation,
    /// Bytes of an operation.
    pub(crate) block_size: u64,
}

/// What a curve shows.
#[derive(Debug)]
pub(crate) struct Crossing<'a> {
    pub(crate) curve: Curve<'a>,
    /// The rate of sequential access, bytes per second.
    rate: f64,
    /// The last distance at which it streams, and the first at which it seeks.
    pub(crate) last: Point,
    pub(crate) first: Point,
    /// The longest distance.
    longest: Point,
    /// Trials of the distance that has fewest.
    pub(crate) trials: usize,
}

impl Crossing<'_> {
    /// Where both take the same time, to two binary digits: they are all that it is known to.
    pub(crate) fn size(&self) -> String {
        let bytes = (self.rate * self.first.ns / 1e9) as u64;
        let step = (bytes.next_power_of_two() / 8).max(1);
        show_size(bytes.next_multiple_of(step))
    }

    /// The figures and their arithmetic, a sentence each.
    pub(crate) fn evidence(&self) -> [String; 4] {
        let [first, last, longest] = [self.first, self.last, self.longest];
        let [at_first, at_longest] = [first, longest].map(|p| show_size(p.distance));
        let (seek, crossing) = (duration(first.ns), self.size());
        [
            format!(
                "Streaming: {} in order, and {} of the span where one block of {} is done.",
                show_throughput(self.rate),
                show_throughput(last.span_rate()),
                last.skip_blocks
            ),
            format!(
                "Seeking: {seek} per operation at {at_first}, {} at {at_longest}, while the distance \
             grew {} times.",
                duration(longest.ns),
                longest.distance / first.distance
            ),
            format!("Streaming rate times seek time: both take the same time at {crossing}."),
            format!(
                "At {at_longest} an operation does {} of the sequential rate.",
                percent(self.curve.block_size as f64 / longest.ns * 1e9 / self.rate)
            ),
        ]
    }
}

/// The curves of a run that stream at first and seek then.
pub(crate) fn crossings<'a>(context: &Context<'a>) -> Vec<Crossing<'a>> {
    let curves = curves(context).into_iter();
    let crossings = curves.filter_map(|(curve, mut points)| {
        points.sort_by_key(|point| point.distance);
        if context.is_imported() {
            points = one_each(&points);
        }
        crossing(curve, &points)
    });
    crossings.collect()
}

fn curves<'a>(context: &Context<'a>) -> Vec<(Curve<'a>, Vec<Point>)> {
    let mut curves = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let Pattern::Stride { skip_blocks, .. } = workload.pattern else {
            continue;
        };
        let iops = figures.iops.median;
        let one_at_a_time = workload.outstanding() == 1 && workload.rate.is_none();
        let blocks = workload.blocks_on(context.run.target.size_bytes);
        let roomy = skip_blocks.saturating_mul(VISITS_PER_PASS) <= blocks;
        if figures.errors > 0 || !iops.is_finite() || iops <= 0.0 || !one_at_a_time || !roomy {
            continue;
        }
        let settings = stage.settings;
        let said = |name| settings.get(name).filter(|_| context.is_imported());
        let curve = Curve {
            stage: stage.name,
            place: ["place", "at", "heading"].map(|name| said(name).map(String::as_str)),
            operation: workload.operation,
            block_size: workload.block_size,
        };
        let point = Point {
            distance: skip_blocks.saturating_mul(workload.block_size),
            skip_blocks,
            ns: 1e9 / iops,
            trials: stage.trials.len(),
        };
        join(&mut curves, curve, point);
    }
    curves
}

/// A document may have several lines of a distance, as of other parts of the span: what agrees is
/// one point, its median; what does not stays apart, and is then no curve.
fn one_each(points: &[Point]) -> Vec<Point> {
    let same = points.chunk_by(|a, b| a.distance == b.distance);
    let joined = same.flat_map(|group| {
        let times = || group.iter().map(|point| point.ns);
        let least = times().fold(f64::INFINITY, f64::min);
        match median_of(times()) {
            Some(ns) if times().all(|ns| ns <= least * STREAMS) => vec![Point {
                ns,
                trials: group.iter().map(|point| point.trials).sum(),
                ..group[0]
            }],
            _ => group.to_vec(),
        }
    });
    joined.collect()
}

fn crossing<'a>(curve: Curve<'a>, points: &[Point]) -> Option<Crossing<'a>> {
    let (sequential, rest) = points.split_first()?;
    let twice = |pair: &[Point]| pair[0].distance == pair[1].distance;
    if sequential.skip_blocks != 1 || rest.windows(2).any(twice) {
        // The same under other kernel settings is another curve.
        return None;
    }
    let rate = sequential.span_rate();
    let streams = |point: &Point| point.span_rate() <= rate * STREAMS;
    let streaming = rest.iter().take_while(|point| streams(point)).count();
    let (streaming, seeking) = rest.split_at(streaming);
    let enough = streaming.len() >= EACH_SIDE && seeking.len() >= EACH_SIDE;
    if !enough || seeking.iter().any(streams) {
        return None;
    }
    let first = seeking[0];
    (first.ns >= SEEK_NS_MIN).then(|| Crossing {
        curve,
        rate,
        last: streaming[streaming.len() - 1],
        first,
        longest: seeking[seeking.len() - 1],
        trials: points.iter().map(|point| point.trials).min().unwrap_or(0),
    })
}
