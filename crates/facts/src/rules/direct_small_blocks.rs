//! Direct I/O in small blocks, one at a time: what each block costs beside the
//! time of its bytes.
//!
//! Each command is sent when the one before it has completed, so its fixed cost is in
//! the time of each: system call, driver, link and the device's own latency. Of a write to
//! a rotating disk whose cache is off it is a revolution. Large blocks spread it over more
//! bytes; the page cache hides it, because the kernel reads ahead and writes behind in
//! large pieces.

use super::prelude::*;
use crate::layers::{REVOLUTION_NS_MIN, all_leaves};
use crate::places::Place;
use crate::stats::median_of;
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "direct-small-blocks",
    needs: &[],
    check: Check::One(check),
    ..Rule::NOTE
};

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

/// What was measured of one block size.
#[derive(Debug)]
struct Point {
    block_size: u64,
    /// Bytes per second: the median of its stages.
    rate: f64,
    lines: Vec<u64>,
}

impl Point {
    fn of(block_size: u64, stages: &[(&Stage<'_>, f64)]) -> Self {
        Self {
            block_size,
            rate: median_of(stages.iter().map(|(_, rate)| *rate)).unwrap_or(f64::NAN),
            lines: stages.iter().flat_map(|(stage, _)| stage.lines()).collect(),
        }
    }

    fn size(&self) -> String {
        show_size(self.block_size)
    }

    fn ns(&self) -> f64 {
        self.block_size as f64 / self.rate * 1e9
    }

    /// What its bytes take at this rate.
    fn bytes_ns(&self, rate: f64) -> f64 {
        self.block_size as f64 / rate * 1e9
    }
}

/// Operations of one kind at one place.
struct Series<'a> {
    operation: Operation,
    place: Option<Place<'a>>,
    stages: Vec<&'a str>,
    /// By rising block size; at least one.
    points: Vec<Point>,
}

impl Series<'_> {
    fn smallest(&self) -> &Point {
        &self.points[0]
    }

    fn largest(&self) -> &Point {
        &self.points[self.points.len() - 1]
    }

    /// The share of the rate of its largest blocks that it has with its smallest; `None`
    /// where it loses nothing, or has no small or no large ones.
    fn loss(&self) -> Option<f64> {
        let (small, large) = (self.smallest(), self.largest());
        let share = small.rate / large.rate;
        let is_wide = small.block_size <= SMALL_MAX && large.block_size >= LARGE_MIN;
        (is_wide && share <= SLOW).then_some(share)
    }

    /// The smallest block from which on nothing is lost, and the one before it, where
    /// several sizes show it: the largest one alone does not, more may be gained beyond it.
    fn ends(&self) -> Option<(&Point, &Point)> {
        let rate = self.largest().rate;
        let full = self.points.iter().rev();
        let full = full.take_while(|point| point.rate >= FULL * rate).count();
        let at = self.points.len() - full;
        let (before, full) = (self.points.get(at.checked_sub(1)?)?, self.points.get(at)?);
        let near = before.block_size.saturating_mul(4) >= full.block_size;
        (near && full.block_size < self.largest().block_size).then_some((before, full))
    }

    fn word(&self) -> &'static str {
        match self.operation {
            Operation::Write => "writes",
            _ => "reads",
        }
    }

    /// Its rates.
    fn line(&self) -> String {
        let points = self.points.iter().map(|point| {
            let rate = three_digits(point.rate / 1e6);
            format!("{} {rate}{}", point.size(), in_lines(&point.lines))
        });
        let points = points.collect::<Vec<String>>().join(", ");
        let place = self.place.map(|place| format!(" {place},"));
        let place = place.unwrap_or_default();
        format!("Direct {},{place} MB/s: {points}.", self.word())
    }
}

/// The series of operations one at a time, in order, by their settings.
fn series<'a>(context: &'a Context<'_>, cache: CacheMode) -> Vec<Series<'a>> {
    let mut all = Vec::new();
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
        let usable = workload.block_size > 0
            && workload.cache == cache
            && figures.layers.page_cache <= SERVED_FROM_CACHE;
        let rate = rate(figures).filter(|_| one_by_one && in_order && simple && usable);
        if let Some(rate) = rate {
            let settings = stage.settings.iter();
            let settings: BTreeMap<&String, &String> = settings
                .filter(|(name, _)| !OF_SIZE.contains(&name.as_str()))
                .collect();
            join(&mut all, (workload.operation, settings), (stage, rate));
        }
    }
    let each = all.into_iter().map(|((operation, _), stages)| {
        let mut sizes = BTreeMap::new();
        for (stage, rate) in &stages {
            let of_size: &mut Vec<_> = sizes.entry(stage.workload().block_size).or_default();
            of_size.push((*stage, *rate));
        }
        let points = sizes.into_iter();
        Series {
            operation,
            place: Place::of(stages[0].0),
            stages: stages.iter().map(|(stage, _)| stage.name).collect(),
            points: points.map(|(size, of)| Point::of(size, &of)).collect(),
        }
    });
    each.collect()
}

fn check(context: &Context<'_>) -> Option<Found> {
    let all = series(context, CacheMode::Direct);
    // The one that loses most is the claim; the others are evidence.
    let mut slow: Vec<(f64, &Series<'_>)> = all
        .iter()
        .filter_map(|series| Some((series.loss()?, series)))
        .collect();
    slow.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let slow: Vec<&Series<'_>> = slow.into_iter().map(|(_, series)| series).collect();
    let worst = slow.first()?;
    let (smallest, largest) = (worst.smallest(), worst.largest());
    let beside_ns = smallest.ns() - smallest.bytes_ns(largest.rate);
    let turns = waits_for_revolution(context, worst, beside_ns);
    let (because, cost) = if turns {
        (
            ": the drive's write cache is off (`write through`), so each waits for its place on \
             the platter to come round",
            "about a revolution of the disk",
        )
    } else {
        ("", "a fixed cost of each command")
    };
    let (word, small, beside) = (worst.word(), smallest.size(), duration(beside_ns));
    let mut evidence = vec![format!(
        "{} of {small} take {} each; at the rate of blocks of {} the bytes take {}, and {beside} \
         pass beside that{because}.",
        upper_first(word),
        duration(smallest.ns()),
        largest.size(),
        duration(smallest.ns() - beside_ns)
    )];
    evidence.extend(slow.iter().map(|series| series.line()));
    let ends = slow
        .iter()
        .filter_map(|of| Some((of.largest(), of.ends()?)));
    let ends = ends.min_by_key(|(_, (_, full))| full.block_size);
    evidence.extend(ends.map(|(last, (before, full))| {
        format!(
            "With blocks of {} {} are lost, from {} on nothing{}.",
            before.size(),
            percent(1.0 - before.rate / last.rate),
            full.size(),
            in_lines(&full.lines)
        )
    }));
    evidence.extend(buffered(context, &slow));
    let hide = ends.map_or_else(String::new, |(_, (_, full))| {
        format!(", which blocks of {} and more hide", full.size())
    });
    let large = ends.map_or(largest, |(_, (_, full))| full).size();
    let share = percent(smallest.rate / largest.rate);
    let stages = slow.iter().flat_map(|series| series.stages.iter().copied());
    Some(
        RULE.claim(format!(
            "Direct {word} of {small} one at a time reach {share} of the rate of large ones: each \
             takes {beside} beside the time of its bytes, {cost}{hide}."
        ))
        .headline(format!(
            "direct {word} of {small} reach {share} of the rate of large ones"
        ))
        .confidence(likely_if(slow.len() > 1 || worst.points.len() > 2))
        .remedy(format!(
            "Use blocks of {large} and more with direct I/O, or keep several operations in \
             flight; through the page cache the kernel does."
        ))
        .stages(names(stages))
        .evidence(evidence),
    )
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

/// The same small blocks through the page cache, where they were measured at one
/// of these places.
fn buffered(context: &Context<'_>, slow: &[&Series<'_>]) -> Option<String> {
    let through = series(context, CacheMode::Buffered);
    slow.iter().find_map(|direct| {
        let place = direct.place?;
        let same = through
            .iter()
            .find(|other| other.operation == direct.operation && other.place == Some(place))?;
        let size = direct.smallest().block_size;
        let point = same.points.iter().find(|point| point.block_size == size)?;
        // More than the device has is memory.
        let near = (FULL..=1.0 / FULL).contains(&(point.rate / direct.largest().rate));
        near.then(|| {
            format!(
                "Through the page cache {} of {} of {place} reach {}{}: the kernel asks for large \
                 pieces before they are wanted.",
                direct.word(),
                point.size(),
                show_throughput(point.rate),
                in_lines(&point.lines)
            )
        })
    })
}
