//! Direct I/O in small blocks, one at a time: what each block costs beside the
//! time of its bytes.
//!
//! Each command is sent when the one before it has completed, so its fixed cost is in
//! the time of each: system call, driver, link and the device's own latency. Of a write to
//! a rotating disk whose cache is off it is a revolution. Large blocks spread it over more
//! bytes; the page cache hides it, because the kernel reads ahead and writes behind in
//! large pieces.

use super::prelude::*;
use crate::block_sizes::{BlockSizes, block_sizes};
use crate::layers::{REVOLUTION_NS_MIN, all_leaves};

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

/// Share of the fastest revolution that a write behind the one before it waits at least
/// where nothing takes it in between: the host's part of the time is missing.
const REVOLUTION: f64 = 0.8;

/// The share of the rate of its largest blocks that a series has with its smallest; `None`
/// where it loses nothing, or has no small or no large ones.
fn loss(of: &BlockSizes<'_>) -> Option<f64> {
    let (small, large) = (of.smallest(), of.largest());
    let share = small.rate / large.rate;
    let is_wide = small.block_size <= SMALL_MAX && large.block_size >= LARGE_MIN;
    (is_wide && share <= SLOW).then_some(share)
}

fn check(context: &Context<'_>) -> Option<Found> {
    let mut slow = block_sizes(context, CacheMode::Direct);
    slow.retain(|series| loss(series).is_some());
    // The one that loses most is the claim; the others are evidence.
    slow.sort_by(|a, b| loss(a).unwrap_or(1.0).total_cmp(&loss(b).unwrap_or(1.0)));
    let worst = slow.first()?;
    let (smallest, largest) = (worst.smallest(), worst.largest());
    let beside_ns = smallest.ns() - smallest.bytes_ns(largest.rate);
    let (because, cost) = if waits_for_revolution(context, worst, beside_ns) {
        (
            ": the drive's write cache is off (`write through`), so each waits for its place on \
             the platter to come round",
            "about a revolution of the disk",
        )
    } else {
        ("", "a fixed cost of each command")
    };
    let (word, beside) = (worst.word(), duration(beside_ns));
    let [small, large] = [smallest, largest].map(|of| show_size(of.block_size));
    let each = format!(
        "{} of {small} take {} each; at the rate of blocks of {large} the bytes take {}, and \
         {beside} pass beside that{because}.",
        upper_first(word),
        duration(smallest.ns()),
        duration(smallest.ns() - beside_ns)
    );
    let ends = slow
        .iter()
        .filter_map(|of| Some((of.largest(), of.ends()?)));
    let ends = ends.min_by_key(|(_, (_, full))| full.block_size);
    let full = ends.map(|(_, (_, full))| show_size(full.block_size));
    let lost = ends.map(|(last, (before, full))| {
        format!(
            "With blocks of {} {} are lost, from {} on nothing{}.",
            show_size(before.block_size),
            percent(1.0 - before.rate / last.rate),
            show_size(full.block_size),
            in_lines(&full.lines)
        )
    });
    let hide = full.as_ref().map_or_else(String::new, |full| {
        format!(", which blocks of {full} and more hide")
    });
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
        .confidence(likely_if(slow.len() > 1 || worst.sizes.len() > 2))
        .remedy(format!(
            "Use blocks of {} and more with direct I/O, or keep several operations in flight; \
             through the page cache the kernel does.",
            full.unwrap_or(large)
        ))
        .stages(names(stages))
        .evidence([each])
        .evidence(slow.iter().map(BlockSizes::said))
        .evidence(lost)
        .evidence(buffered(context, &slow)),
    )
}

/// Whether what an operation of a series takes beside its bytes is a revolution: a write
/// that no cache takes, to a disk that is known to rotate, and that takes as long. What a
/// hypervisor shows as a rotating disk may be a volume that is some milliseconds away.
fn waits_for_revolution(context: &Context<'_>, series: &BlockSizes<'_>, beside_ns: f64) -> bool {
    series.operation == Operation::Write
        && context.all_turn() == Some(true)
        && all_leaves(&context.run.stack, "write through")
        && beside_ns >= REVOLUTION * REVOLUTION_NS_MIN as f64
}

/// The same small blocks through the page cache, where they were measured at one
/// of these places.
fn buffered(context: &Context<'_>, slow: &[BlockSizes<'_>]) -> Option<String> {
    let through_cache = block_sizes(context, CacheMode::Buffered);
    slow.iter().find_map(|direct| {
        let same = direct.cached(&through_cache)?;
        Some(format!(
            "Through the page cache {} of {} of {} reach {}{}: the kernel asks for large pieces \
             before they are wanted.",
            direct.word(),
            show_size(same.block_size),
            direct.place?,
            show_throughput(same.rate),
            in_lines(&same.lines)
        ))
    })
}
