//! Two places of one disk that differ by their zone, where it looks as if a filesystem
//! made one of them faster.
//!
//! A filesystem costs something per operation. A zone gives every byte that passes the
//! head another rate: sequential blocks, and the distances between blocks that the disk
//! streams over. And the same filesystem at the other place is as fast as the device there.

use super::streams::{Stream, streams};
use crate::places::Place;
use crate::rules::prelude::*;
use crate::stats::{median, median_of};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "place-not-filesystem",
    needs: &[Document],
    confidence: Confidence::Likely,
    check: Check::One(check),
    ..Rule::WARNING
};

/// From here on two places differ: repeats of sequential access to one differ by 1 %.
const DIFFER: f64 = 1.05;
/// The outermost zone of a disk is at most so many times as fast as the innermost.
const ZONES_MAX: f64 = 2.5;
/// Up to here two places are as fast.
const ALIKE: f64 = 1.025;
/// The span goes by no faster than so many times the sequential rate: it streams.
const STREAMS: f64 = 1.25;
/// How near the ratio at a distance must be to the sequential one.
const NEAR: f64 = 0.04;
/// Fewest distances that show it.
const DISTANCES_MIN: usize = 2;

fn check(context: &Context<'_>) -> Option<Found> {
    let all = streams(context);
    // One operation says it; the other says the same again.
    [Operation::Read, Operation::Write]
        .into_iter()
        .find_map(|operation| {
            let (raw, files): (Vec<&Stream<'_>>, Vec<_>) = all
                .iter()
                .filter(|stream| stream.operation == operation)
                .partition(|stream| stream.place.raw);
            let pairs = files
                .iter()
                .flat_map(|file| raw.iter().map(move |device| (*file, *device)));
            // Of those that differ as zones do, those with the most lines.
            let (file, device) = pairs
                .filter(|(file, device)| (DIFFER..=ZONES_MAX).contains(&file.times(device)))
                .max_by_key(|(file, device)| file.lines.len() + device.lines.len())?;
            finding(context, &files, file, device)
        })
}

fn finding(
    context: &Context<'_>,
    files: &[&Stream<'_>],
    file: &Stream<'_>,
    device: &Stream<'_>,
) -> Option<Found> {
    let mut others = files.iter().filter(|other| other.place != file.place);
    let alone = others.clone().next().is_none();
    let elsewhere = others.find(|other| other.times(device) <= ALIKE);
    let ratio = file.rate() / device.rate();
    let (streaming, seeking): (Vec<_>, Vec<_>) = distances(context, file, device)
        .into_iter()
        .partition(|distance| distance.streams);
    let passed = streaming
        .iter()
        .filter(|d| (d.ratio / ratio - 1.0).abs() <= NEAR);
    let passed: Vec<String> = passed.map(Distance::sentence).collect();
    let shown = passed.len() >= DISTANCES_MIN;
    // A filesystem that is as fast at another place speaks for the filesystem.
    if elsewhere.is_none() && !(alone && shown) {
        return None;
    }
    let mut evidence = vec![format!("In order: {file}; {device}.")];
    if let Some(other) = elsewhere {
        evidence.push(format!(
            "{other}: a filesystem as well, and within {} of {}.",
            percent(other.times(device) - 1.0),
            device.place
        ));
    }
    if shown {
        evidence.push(format!(
            "It is as much with distances, {}: where the disk streams over what lies between two \
             blocks, the difference grows with the bytes that pass, as that of a zone does; that of \
             a filesystem would be the same for each operation.",
            list(&passed)
        ));
    }
    if shown && seeking.len() >= DISTANCES_MIN {
        let ratio = median_of(seeking.iter().map(|distance| distance.ratio))?;
        evidence.push(format!(
            "At the {} distances at which it seeks, {} does {} of the operations of {} in the \
             median.",
            seeking.len(),
            file.place,
            percent(ratio),
            device.place
        ));
    }
    let (faster, out) = if ratio > 1.0 {
        ("faster", "out")
    } else {
        ("slower", "in")
    };
    let by = percent((ratio - 1.0).abs());
    let stages = names(file.stages.iter().chain(&device.stages).copied());
    Some(RULE.claim(format!(
            "{} is {by} {faster} than {} by where it lies on the disk, further {out}, and not by \
             its filesystem.",
            file.place, device.place
        )).headline(format!("{by} {faster} by its place on the disk, not its filesystem")).refuted_by(format!(
            "A filesystem made on the same blocks as {} that is as much {faster}, or two partitions \
             at the same distance from the beginning of the disk that differ.",
            device.place
        )).stages(stages).evidence(evidence))
}

/// A distance from block to block that was visited at both places.
struct Distance {
    bytes: u64,
    /// Operations per second at the place of the file over those of the device.
    ratio: f64,
    /// By which an operation differs, nanoseconds.
    differ_ns: f64,
    /// The disk streams over it at both.
    streams: bool,
}

impl Distance {
    fn sentence(&self) -> String {
        format!(
            "{} at {} ({} for each operation)",
            percent((self.ratio - 1.0).abs()),
            show_size(self.bytes),
            duration(self.differ_ns.abs())
        )
    }
}

/// The distances that both places have, with blocks of one size, the shortest first.
fn distances(context: &Context<'_>, file: &Stream<'_>, device: &Stream<'_>) -> Vec<Distance> {
    // Block size, skip and the rates at each of the two places.
    let mut known: BTreeMap<(u64, u64), [Vec<f64>; 2]> = BTreeMap::new();
    for (stage, figures) in context.each() {
        let (workload, iops) = (stage.workload(), figures.iops.median);
        let Pattern::Stride { skip_blocks, .. } = workload.pattern else {
            continue;
        };
        let usable = workload.operation == file.operation && iops.is_finite() && iops > 0.0;
        let place = Place::of(stage).filter(|_| usable && skip_blocks > 1);
        let side = place.and_then(|place| [file, device].iter().position(|s| s.place == place));
        if let Some(side) = side {
            let key = (workload.block_size, skip_blocks);
            known.entry(key).or_default()[side].push(iops);
        }
    }
    let each = known.iter().filter_map(|((block_size, skip), rates)| {
        let (a, b) = (median(&rates[0])?, median(&rates[1])?);
        let bytes = block_size.saturating_mul(*skip);
        let streams = |iops: f64, rate: f64| iops * bytes as f64 <= rate * STREAMS;
        Some(Distance {
            bytes,
            ratio: a / b,
            differ_ns: 1e9 / a - 1e9 / b,
            streams: streams(a, file.rate()) && streams(b, device.rate()),
        })
    });
    let mut distances: Vec<Distance> = each.collect();
    distances.sort_by_key(|distance| distance.bytes);
    distances
}
