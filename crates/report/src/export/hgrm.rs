//! The percentiles of a distribution as `HdrHistogram`'s own programs print them
//! (`AbstractHistogram.outputPercentileDistribution`), which its plotter reads. Values are
//! microseconds.

use diskfacts_record::{Histogram, Run};
use std::fmt::Write as _;

/// Lines from one halving of what is left above to the next, as `HdrHistogram`'s own default.
const TICKS_PER_HALF: u128 = 5;
/// Nanoseconds of the unit of the values.
const UNIT_NS: f64 = 1e3;

/// The stages of a run, by their labels, with the latencies of their trials.
pub fn stages(run: &Run) -> Vec<(String, Histogram)> {
    let stages = super::stages(run);
    let each = stages
        .iter()
        .map(|stage| (stage.label(), stage.histogram()));
    each.filter(|(_, histogram)| !histogram.is_empty())
        .collect()
}

/// The lines of a distribution of nanoseconds.
pub fn hgrm(histogram: &Histogram) -> String {
    let mut out = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let total = histogram.count();
    // Writing to a String cannot fail.
    let mut line = |value_ns: u64, percentile: f64, below: u64| {
        let value = value_ns as f64 / UNIT_NS;
        let _ = write!(out, "{value:12.3} {percentile:2.12} {below:10}");
        if percentile < 1.0 {
            let _ = write!(out, " {:14.2}", 1.0 / (1.0 - percentile));
        }
        out.push('\n');
    };
    let max_ns = histogram.max().unwrap_or(0);
    let mut levels = levels().peekable();
    let mut below = 0;
    for (_, to_ns, count) in histogram.buckets() {
        below += count;
        // A level above the last of the operations is one that they do not have.
        let is_reached = |level: &Level| {
            level.share_above(total)
                && level.of * u128::from(total) <= level.all * u128::from(below)
        };
        while let Some(level) = levels.next_if(is_reached) {
            line(to_ns.min(max_ns), level.of as f64 / level.all as f64, below);
        }
    }
    if total > 0 {
        line(max_ns, 1.0, total);
    }
    let micros = |ns: Option<f64>| ns.unwrap_or_default() / UNIT_NS;
    let _ = write!(
        out,
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n\
         #[Max     = {:12.3}, Total count    = {total:12}]\n\
         #[Buckets = {:12}, SubBuckets     = {:12}]\n",
        micros(histogram.mean()),
        micros(deviation(histogram)),
        micros(Some(max_ns as f64)),
        57,
        256,
    );
    out
}

/// A percentile, as a fraction, so that a rank is a whole number.
struct Level {
    of: u128,
    all: u128,
}

impl Level {
    /// Whether one operation of so many or more lies above it.
    fn share_above(&self, total: u64) -> bool {
        (self.all - self.of) * u128::from(total) >= self.all
    }
}

/// 0, 1/10, 2/10, ... 1/2, 11/20, ... 3/4, and so on.
fn levels() -> impl Iterator<Item = Level> {
    // A histogram counts less than 2^63.
    (0..64).flat_map(|halvings| {
        let all = TICKS_PER_HALF << (halvings + 1);
        (0..TICKS_PER_HALF).map(move |tick| Level {
            of: all - 2 * TICKS_PER_HALF + tick,
            all,
        })
    })
}

/// Standard deviation, from the middles of the buckets.
fn deviation(histogram: &Histogram) -> Option<f64> {
    let mean = histogram.mean()?;
    let squares = histogram.buckets().map(|(from, to, count)| {
        let middle = from as f64 + (to - from) as f64 / 2.0;
        (middle - mean).powi(2) * count as f64
    });
    Some((squares.sum::<f64>() / histogram.count() as f64).sqrt())
}
