//! Two places of one disk that differ by their zone, where it looks as if a
//! filesystem made one of them faster.
//!
//! A filesystem costs something per operation. A zone gives every byte that
//! passes the head another rate: blocks in order, and the distances between
//! blocks that the disk streams over. And the same filesystem at the other place
//! is as fast as the device there.

use crate::places::{self, Place, Streaming};
use crate::rules::{Context, names};
use crate::stats;
use crate::words::{lines, percent};
use diskfacts_plan::units::{show_duration, show_size, three_digits};
use diskfacts_plan::{Operation, Pattern};
use diskfacts_record::{Confidence, Finding, Severity};
use std::collections::BTreeMap;

pub(super) const NAME: &str = "place-not-filesystem";

/// From here on two places differ: repeats of sequential access to one differ by
/// 1 %.
const DIFFER: f64 = 1.05;
/// The outermost zone of a disk is at most so many times as fast as the innermost.
const ZONES_MAX: f64 = 2.5;
/// Up to here two places are as fast.
const ALIKE: f64 = 1.025;
/// The span goes by no faster than so many times the rate in order: it streams.
const STREAMS: f64 = 1.25;
/// How near the ratio at a distance must be to that in order.
const NEAR: f64 = 0.04;
/// Fewest distances that show it.
const DISTANCES_MIN: usize = 2;

/// All that streams one way at one place.
struct At<'a> {
    place: Place<'a>,
    rate: f64,
    lines: Vec<u64>,
    stages: Vec<&'a str>,
}

pub(super) fn zones_taken_for_filesystems(context: &Context<'_>) -> Vec<Finding> {
    let streaming = places::streaming(context);
    let ways = [Operation::Read, Operation::Write];
    let mut found = ways.into_iter().filter_map(|operation| {
        let at = at(&streaming, operation);
        let (file, device) = odd_pair(&at)?;
        finding(context, operation, &at, file, device)
    });
    // One way says it; the other says the same again.
    found.next().into_iter().collect()
}

fn at<'a>(streaming: &[Streaming<'a>], operation: Operation) -> Vec<At<'a>> {
    let mut at: Vec<At<'a>> = Vec::new();
    for each in streaming.iter().filter(|s| s.operation == operation) {
        if at.iter().any(|known| known.place == each.place) {
            continue;
        }
        let of_place = || {
            streaming
                .iter()
                .filter(|s| s.operation == operation && s.place == each.place)
        };
        let rates: Vec<f64> = of_place().map(|s| s.rate).collect();
        if let Some(rate) = stats::median(&rates) {
            at.push(At {
                place: each.place,
                rate,
                lines: of_place().flat_map(|s| s.lines.clone()).collect(),
                stages: of_place().map(|s| s.stage).collect(),
            });
        }
    }
    at
}

fn times(a: f64, b: f64) -> f64 {
    (a / b).max(b / a)
}

/// A filesystem and a device that differ as zones do: those with the most lines.
fn odd_pair<'p, 'a>(at: &'p [At<'a>]) -> Option<(&'p At<'a>, &'p At<'a>)> {
    let files = at.iter().filter(|at| !at.place.raw);
    let pairs = files.flat_map(|file| {
        let devices = at.iter().filter(|at| at.place.raw);
        devices.map(move |device| (file, device))
    });
    pairs
        .filter(|(file, device)| (DIFFER..=ZONES_MAX).contains(&times(file.rate, device.rate)))
        .max_by_key(|(file, device)| file.lines.len() + device.lines.len())
}

fn finding(
    context: &Context<'_>,
    operation: Operation,
    at: &[At<'_>],
    file: &At<'_>,
    device: &At<'_>,
) -> Option<Finding> {
    let others = || {
        at.iter()
            .filter(|other| !other.place.raw && other.place != file.place)
    };
    let elsewhere = others().find(|other| times(other.rate, device.rate) <= ALIKE);
    // A filesystem that is as fast at another place speaks for the filesystem.
    if elsewhere.is_none() && others().next().is_some() {
        return None;
    }
    let ratio = file.rate / device.rate;
    let strides = strides(context, operation, file, device);
    let passed: Vec<&Stride> = strides
        .iter()
        .filter(|stride| stride.streams && (stride.ratio / ratio - 1.0).abs() <= NEAR)
        .collect();
    let shown = passed.len() >= DISTANCES_MIN;
    if elsewhere.is_none() && !shown {
        return None;
    }
    let faster = if ratio > 1.0 { "faster" } else { "slower" };
    let said = |at: &At<'_>| {
        format!(
            "{} MB/s, {} ({})",
            three_digits(at.rate / 1e6),
            at.place,
            lines(&at.lines)
        )
    };
    let mut evidence = vec![format!("In order: {}; {}.", said(file), said(device))];
    if let Some(other) = elsewhere {
        evidence.push(format!(
            "{}: a filesystem as well, and within {} of {}.",
            said(other),
            percent(times(other.rate, device.rate) - 1.0),
            device.place
        ));
    }
    if shown {
        evidence.push(format!(
            "{}: where the disk streams over what lies between two blocks, the difference grows \
             with the bytes that pass, as that of a zone does; that of a filesystem would be the \
             same for each operation.",
            each(&passed)
        ));
    }
    let sought: Vec<&Stride> = strides.iter().filter(|stride| !stride.streams).collect();
    if shown && sought.len() >= DISTANCES_MIN {
        let ratios: Vec<f64> = sought.iter().map(|stride| stride.ratio).collect();
        if let Some(median) = stats::median(&ratios) {
            evidence.push(format!(
                "At the {} distances at which it seeks, {} does {} of the operations of {} in the \
                 median.",
                sought.len(),
                file.place,
                percent(median),
                device.place
            ));
        }
    }
    let share = percent((ratio - 1.0).abs());
    let stages = file.stages.iter().chain(&device.stages).copied();
    Some(Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "{} is {share} {faster} than {} by where it lies on the disk, further {}, and not by \
             its filesystem.",
            file.place,
            device.place,
            if ratio > 1.0 { "out" } else { "in" }
        ),
        evidence,
        confidence: if shown || elsewhere.is_some() {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: format!(
            "{} and a filesystem made on the same blocks that still differ, or two partitions at \
             the same distance from the beginning of the disk that do.",
            capital(&device.place.to_string())
        ),
        remedy: "Compare filesystems on the same blocks of a disk: make one, measure, make the \
                 other. `diskfacts measure DEVICE --plan zones` shows what the place alone does."
            .into(),
        stages: names(stages),
    })
}

/// One distance that both have.
#[derive(Debug, Clone, Copy)]
struct Stride {
    bytes: u64,
    /// Operations per second at the place of the file over those of the device.
    ratio: f64,
    /// By which an operation differs, nanoseconds.
    differ_ns: f64,
    /// Both stream over it.
    streams: bool,
}

fn each(strides: &[&Stride]) -> String {
    let said: Vec<String> = strides
        .iter()
        .map(|stride| {
            format!(
                "{} at {} ({} for each operation)",
                percent((stride.ratio - 1.0).abs()),
                show_size(stride.bytes),
                // Far below 2^53 ns.
                show_duration(stride.differ_ns.abs().round() as u64)
            )
        })
        .collect();
    format!(
        "It is as much with distances, {}",
        crate::words::list(&said)
    )
}

/// The distances at which both places were visited, blocks of one size.
fn strides(
    context: &Context<'_>,
    operation: Operation,
    file: &At<'_>,
    device: &At<'_>,
) -> Vec<Stride> {
    // Block size, skip and the rates at each of the two places.
    let mut known: BTreeMap<(u64, u64), [Vec<f64>; 2]> = BTreeMap::new();
    for (stage, figures) in context.each() {
        let workload = stage.workload();
        let Pattern::Stride { skip_blocks, .. } = workload.pattern else {
            continue;
        };
        let iops = figures.iops.median;
        let place = Place::of(stage);
        let side = [file.place, device.place]
            .iter()
            .position(|wanted| Some(*wanted) == place);
        let usable = workload.operation == operation && iops.is_finite() && iops > 0.0;
        let (Some(side), true, true) = (side, usable, skip_blocks > 1) else {
            continue;
        };
        let key = (workload.block_size, skip_blocks);
        known.entry(key).or_default()[side].push(iops);
    }
    let mut strides: Vec<Stride> = known
        .iter()
        .filter_map(|((block_size, skip), rates)| {
            let (a, b) = (stats::median(&rates[0])?, stats::median(&rates[1])?);
            let bytes = block_size.saturating_mul(*skip);
            let streams = |iops: f64, rate: f64| iops * bytes as f64 <= rate * STREAMS;
            Some(Stride {
                bytes,
                ratio: a / b,
                differ_ns: 1e9 / a - 1e9 / b,
                streams: streams(a, file.rate) && streams(b, device.rate),
            })
        })
        .collect();
    strides.sort_by_key(|stride| stride.bytes);
    strides
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
