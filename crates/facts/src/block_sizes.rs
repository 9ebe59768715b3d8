//! The rates of operations one at a time, in order, by the size of their blocks: what a block
//! costs beside the time of its bytes.

use crate::context::Context;
use crate::figures::rate;
use crate::layers::SERVED_FROM_CACHE;
use crate::places::Place;
use crate::prelude::{join, show_size, three_digits};
use crate::stages::Stage;
use crate::stats::median_of;
use crate::words::in_lines;
use diskfacts_plan::{CacheMode, Operation, SyncMode};
use std::collections::BTreeMap;

/// From this share of the rate of the largest blocks on nothing is lost.
const FULL: f64 = 0.97;

/// Settings that say how large a block is, or how many there were.
const OF_SIZE: [&str; 5] = ["bs", "block_size", "count", "bytes", "size"];

/// What was measured of one block size.
#[derive(Debug)]
pub(crate) struct OfSize {
    /// Bytes of a block.
    pub(crate) block_size: u64,
    /// Bytes per second: the median of its stages.
    pub(crate) rate: f64,
    /// Lines of a document that it was read from.
    pub(crate) lines: Vec<u64>,
}

impl OfSize {
    fn of(block_size: u64, stages: &[(&Stage<'_>, f64)]) -> Self {
        Self {
            block_size,
            rate: median_of(stages.iter().map(|(_, rate)| *rate)).unwrap_or(f64::NAN),
            lines: stages.iter().flat_map(|(stage, _)| stage.lines()).collect(),
        }
    }

    /// What a block takes, nanoseconds.
    pub(crate) fn ns(&self) -> f64 {
        self.bytes_ns(self.rate)
    }

    /// What its bytes take at this rate, nanoseconds.
    pub(crate) fn bytes_ns(&self, rate: f64) -> f64 {
        self.block_size as f64 / rate * 1e9
    }
}

/// Operations of one kind at one place.
#[derive(Debug)]
pub(crate) struct BlockSizes<'a> {
    pub(crate) operation: Operation,
    /// Where a document says that the blocks lie.
    pub(crate) place: Option<Place<'a>>,
    /// The names of the stages.
    pub(crate) stages: Vec<&'a str>,
    /// By rising block size; at least one.
    pub(crate) sizes: Vec<OfSize>,
}

impl BlockSizes<'_> {
    pub(crate) fn smallest(&self) -> &OfSize {
        &self.sizes[0]
    }

    pub(crate) fn largest(&self) -> &OfSize {
        &self.sizes[self.sizes.len() - 1]
    }

    /// `reads` or `writes`.
    pub(crate) fn word(&self) -> &'static str {
        match self.operation {
            Operation::Write => "writes",
            _ => "reads",
        }
    }

    /// The rates, a sentence.
    pub(crate) fn said(&self) -> String {
        let sizes = self.sizes.iter().map(|of| {
            let (size, rate) = (show_size(of.block_size), three_digits(of.rate / 1e6));
            format!("{size} {rate}{}", in_lines(&of.lines))
        });
        let sizes = sizes.collect::<Vec<String>>().join(", ");
        let place = self.place.map(|place| format!(" {place},"));
        let place = place.unwrap_or_default();
        format!("Direct {},{place} MB/s: {sizes}.", self.word())
    }

    /// The smallest block from which on nothing is lost, and the one before it, where
    /// several sizes show it: the largest one alone does not, more may be gained beyond it.
    pub(crate) fn ends(&self) -> Option<(&OfSize, &OfSize)> {
        let rate = self.largest().rate;
        let full = self.sizes.iter().rev();
        let full = full.take_while(|of| of.rate >= FULL * rate).count();
        let at = self.sizes.len() - full;
        let (before, full) = (self.sizes.get(at.checked_sub(1)?)?, self.sizes.get(at)?);
        let near = before.block_size.saturating_mul(4) >= full.block_size;
        (near && full.block_size < self.largest().block_size).then_some((before, full))
    }

    /// Of the same blocks through the page cache at the same place, the smallest, where they reach
    /// the rate of the largest of these. More than the device has is memory.
    pub(crate) fn cached<'s>(&self, through_cache: &'s [BlockSizes<'_>]) -> Option<&'s OfSize> {
        let place = self.place?;
        let mut each = through_cache.iter();
        let is_same = |other: &&BlockSizes<'_>| {
            other.operation == self.operation && other.place == Some(place)
        };
        let mut sizes = each.find(is_same)?.sizes.iter();
        let same = sizes.find(|of| of.block_size == self.smallest().block_size)?;
        let share = same.rate / self.largest().rate;
        (FULL..=1.0 / FULL).contains(&share).then_some(same)
    }
}

/// The rates of a run by block size, each of what differs in nothing else that is set.
pub(crate) fn block_sizes<'a>(context: &'a Context<'_>, cache: CacheMode) -> Vec<BlockSizes<'a>> {
    let mut all = Vec::new();
    for (stage, figures) in context.doing_io() {
        let workload = stage.workload();
        let one_by_one = workload.outstanding() == 1
            && workload.rate.is_none()
            && workload.beside.is_none()
            && workload.copy.is_none()
            && workload.sync == SyncMode::None
            && stage.trials.iter().all(|t| t.direct_refused().is_none())
            && stage.says("cache");
        let simple = matches!(workload.operation, Operation::Read | Operation::Write);
        let usable = workload.block_size > 0
            && workload.cache == cache
            && figures.layers.page_cache <= SERVED_FROM_CACHE;
        let rate = rate(figures).filter(|_| one_by_one && stage.in_order() && simple && usable);
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
        let sizes = sizes.into_iter();
        BlockSizes {
            operation,
            place: Place::of(stages[0].0),
            stages: stages.iter().map(|(stage, _)| stage.name).collect(),
            sizes: sizes.map(|(size, of)| OfSize::of(size, &of)).collect(),
        }
    });
    each.collect()
}
