//! Direct I/O in small blocks, one at a time: what each block costs beside the
//! time of its bytes.
//!
//! Each command is sent when the one before it has completed, so its fixed cost is in
//! the time of each: system call, driver, link and the device's own latency. Of a write to
//! a rotating disk whose cache is off it is a revolution. Large blocks spread it over more
//! bytes; the page cache hides it, because the kernel reads ahead and writes behind in
//! large pieces.

use super::{Context, names};
use crate::layers::{REVOLUTION_NS_MIN, all_leaves};
use crate::places::Place;
use crate::stats;
use crate::words::{lines, percent};
use diskfacts_plan::units::{show_duration, show_size, show_throughput, three_digits};
use diskfacts_plan::{CacheMode, Operation, Pattern, SyncMode};
use diskfacts_record::{Confidence, Finding, Severity};
use std::collections::BTreeMap;

pub(super) const NAME: &str = "direct-small-blocks";

/// Blocks that are small, and from which on they are large.
const SMALL_MAX: u64 = 16 << 10;
const LARGE_MIN: u64 = 64 << 10;
/// At this share of the rate of large blocks and below, small ones are slow.
const SLOW: f64 = 0.8;
/// From this share on nothing is lost.
const FULL: f64 = 0.97;

/// Share of the fastest revolution that a write behind the one before it waits at least
/// where nothing takes it in between: the host's part of the time is missing.
const REVOLUTION: f64 = 0.8;

/// Settings that say how large a block is, or how many there were.
const OF_SIZE: [&str; 5] = ["bs", "block_size", "count", "bytes", "size"];

/// The rate of one block size.
#[derive(Debug, Clone)]
struct Point {
    block_size: u64,
    rates: Vec<f64>,
    lines: Vec<u64>,
}

impl Point {
    fn rate(&self) -> f64 {
        stats::median(&self.rates).unwrap_or(f64::NAN)
    }

    fn ns(&self) -> f64 {
        self.block_size as f64 / self.rate() * 1e9
    }

    /// What an operation takes beside its bytes at the rate of large ones.
    fn beside_ns(&self, rate: f64) -> f64 {
        self.ns() - self.block_size as f64 / rate * 1e9
    }
}

/// Direct operations of one kind at one place, by rising block size.
#[derive(Debug, Clone)]
struct Series<'a> {
    operation: Operation,
    settings: BTreeMap<&'a str, &'a str>,
    place: Option<Place<'a>>,
    stages: Vec<&'a str>,
    points: Vec<Point>,
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut slow: Vec<Series<'_>> = series(context, CacheMode::Direct)
        .into_iter()
        .filter(|series| loss(series).is_some())
        .collect();
    // The one that loses most is the claim; the others are evidence.
    slow.sort_by(|a, b| loss(a).unwrap_or(1.0).total_cmp(&loss(b).unwrap_or(1.0)));
    if slow.is_empty() {
        return Vec::new();
    }
    vec![finding(context, &slow)]
}

fn series<'a>(context: &Context<'a>, cache: CacheMode) -> Vec<Series<'a>> {
    let mut all: Vec<Series<'a>> = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let one_by_one = workload.outstanding() == 1
            && workload.rate.is_none()
            && workload.beside.is_none()
            && workload.copy.is_none()
            && workload.sync == SyncMode::None
            && stage.trials.iter().all(|trial| {
                trial.direct_refused().is_none() && !trial.unsaid.iter().any(|key| key == "cache")
            });
        let in_order = match workload.pattern {
            Pattern::Sequential => true,
            Pattern::Stride { skip_blocks, .. } => skip_blocks == 1,
            _ => false,
        };
        let simple = matches!(workload.operation, Operation::Read | Operation::Write);
        let rate = figures.throughput_bytes_per_s.median;
        let usable = workload.block_size > 0
            && workload.cache == cache
            && figures.errors == 0
            && figures.layers.page_cache <= super::SERVED_FROM_CACHE
            && rate.is_finite()
            && rate > 0.0;
        if !(one_by_one && in_order && simple && usable) {
            continue;
        }
        let settings: BTreeMap<&str, &str> = stage
            .settings
            .iter()
            .filter(|(name, _)| !OF_SIZE.contains(&name.as_str()))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let known = all
            .iter_mut()
            .find(|s| s.operation == workload.operation && s.settings == settings);
        let series = if let Some(series) = known {
            series
        } else {
            all.push(Series {
                operation: workload.operation,
                settings,
                place: Place::of(stage),
                stages: Vec::new(),
                points: Vec::new(),
            });
            all.last_mut().expect("just pushed")
        };
        series.stages.push(stage.name);
        let size = workload.block_size;
        match series.points.iter_mut().find(|p| p.block_size == size) {
            Some(point) => {
                point.rates.push(rate);
                point.lines.extend(stage.lines());
            }
            None => series.points.push(Point {
                block_size: size,
                rates: vec![rate],
                lines: stage.lines(),
            }),
        }
    }
    for series in &mut all {
        series.points.sort_by_key(|point| point.block_size);
    }
    all
}

/// The share of the rate of its largest blocks that a series has with its
/// smallest; `None` where it loses nothing, or has no small or no large ones.
fn loss(series: &Series<'_>) -> Option<f64> {
    let (smallest, largest) = (series.points.first()?, series.points.last()?);
    let share = smallest.rate() / largest.rate();
    let is_wide = smallest.block_size <= SMALL_MAX && largest.block_size >= LARGE_MIN;
    (is_wide && share <= SLOW).then_some(share)
}

/// The smallest block from which on nothing is lost.
fn full_from<'s>(series: &'s Series<'_>, rate: f64) -> Option<&'s Point> {
    let full = |point: &&Point| point.rate() >= FULL * rate;
    let behind = series.points.iter().rev().take_while(full);
    behind.last()
}

fn word(operation: Operation) -> &'static str {
    if operation == Operation::Write {
        "writes"
    } else {
        "reads"
    }
}

fn finding(context: &Context<'_>, slow: &[Series<'_>]) -> Finding {
    let worst = &slow[0];
    let (smallest, largest) = (&worst.points[0], &worst.points[worst.points.len() - 1]);
    let rate = largest.rate();
    let beside_ns = smallest.beside_ns(rate);
    let beside = duration(beside_ns);
    let turns = waits_for_revolution(context, worst, beside_ns);
    let mut evidence = vec![format!(
        "{} of {} take {} each; at the rate of blocks of {} the bytes take {}, and {beside} pass \
         beside that{}.",
        capital(word(worst.operation)),
        show_size(smallest.block_size),
        duration(smallest.ns()),
        show_size(largest.block_size),
        duration(smallest.ns() - smallest.beside_ns(rate)),
        if turns {
            ": the drive's write cache is off (`write through`), so each waits for its place on \
             the platter to come round"
        } else {
            ""
        }
    )];
    evidence.extend(slow.iter().map(|series| told(series)));
    // The whole way, where several sizes show where the loss ends: the largest one alone
    // does not, more may be gained beyond it.
    let full = slow.iter().filter_map(|series| {
        let last = series.points.last()?;
        let rate = last.rate();
        let full = full_from(series, rate).filter(|full| full.block_size < last.block_size)?;
        let before = series
            .points
            .iter()
            .rev()
            .find(|p| p.block_size < full.block_size)?;
        let near = before.block_size.saturating_mul(4) >= full.block_size;
        near.then_some((full, before, rate))
    });
    let ends = full.min_by_key(|(full, _, _)| full.block_size);
    let from = ends.map(|(full, before, rate)| {
        evidence.push(format!(
            "With blocks of {} {} are lost, from {} on nothing{}.",
            show_size(before.block_size),
            percent(1.0 - before.rate() / rate),
            show_size(full.block_size),
            at_lines(&full.lines)
        ));
        full.block_size
    });
    evidence.extend(buffered(context, slow));
    let stages = slow.iter().flat_map(|series| series.stages.iter().copied());
    let large = show_size(from.unwrap_or(largest.block_size));
    Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!(
            "direct {} of {} reach {} of the rate of large ones",
            word(worst.operation),
            show_size(smallest.block_size),
            percent(smallest.rate() / rate)
        ),
        claim: format!(
            "Direct {} of {} one at a time reach {} of the rate of large ones: each costs {beside} \
             beside the time of its bytes, {}{}.",
            word(worst.operation),
            show_size(smallest.block_size),
            percent(smallest.rate() / rate),
            if turns {
                "about a revolution of the disk"
            } else {
                "a fixed cost of each command"
            },
            from.map_or_else(String::new, |size| {
                format!(", which blocks of {} and more hide", show_size(size))
            })
        ),
        evidence,
        confidence: if slow.len() > 1 || worst.points.len() > 2 {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "The same rate with several small operations on their way at once: then it is \
                     not the wait for each."
            .into(),
        remedy: format!(
            "Use blocks of {large} and more with direct I/O, or keep several operations on their \
             way at once; through the page cache the kernel does."
        ),
        stages: names(stages),
    }
}

/// Whether what an operation of a series takes beside its bytes is a revolution: a write
/// that no cache takes, to a disk that is known to rotate, and that takes as long. What a
/// hypervisor shows as a rotating disk may be a volume that is some milliseconds away.
fn waits_for_revolution(context: &Context<'_>, series: &Series<'_>, beside_ns: f64) -> bool {
    series.operation == Operation::Write
        && context.all_turn() == Some(true)
        && all_leaves(&context.run.stack, "write through")
        && beside_ns >= REVOLUTION * REVOLUTION_NS_MIN as f64
}

/// The rates of a series.
fn told(series: &Series<'_>) -> String {
    let points: Vec<String> = series
        .points
        .iter()
        .map(|point| {
            format!(
                "{} {}{}",
                show_size(point.block_size),
                three_digits(point.rate() / 1e6),
                at_lines(&point.lines)
            )
        })
        .collect();
    let place = series
        .place
        .map_or_else(String::new, |place| format!(" {place},"));
    format!(
        "Direct {},{place} MB/s: {}.",
        word(series.operation),
        points.join(", ")
    )
}

/// The same small blocks through the page cache, where they were measured at one
/// of these places.
fn buffered(context: &Context<'_>, slow: &[Series<'_>]) -> Option<String> {
    let through = series(context, CacheMode::Buffered);
    let mut found = slow.iter().filter_map(|direct| {
        let place = direct.place?;
        let small = direct.points.first()?;
        let same = through
            .iter()
            .find(|other| other.operation == direct.operation && other.place == Some(place))?;
        let mut points = same.points.iter();
        let point = points.find(|point| point.block_size == small.block_size)?;
        let large = direct.points.last()?.rate();
        // More than the device has is memory.
        let near = (FULL..=1.0 / FULL).contains(&(point.rate() / large));
        near.then(|| {
            format!(
                "Through the page cache {} of {} of {place} reach {}{}: the kernel asks for large \
                 pieces before they are wanted.",
                word(direct.operation),
                show_size(point.block_size),
                show_throughput(point.rate()),
                at_lines(&point.lines)
            )
        })
    });
    found.next()
}

fn at_lines(numbers: &[u64]) -> String {
    if numbers.is_empty() {
        String::new()
    } else {
        format!(" ({})", lines(numbers))
    }
}

fn duration(ns: f64) -> String {
    // Far below 2^53 ns.
    show_duration(ns.max(0.0).round() as u64)
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
