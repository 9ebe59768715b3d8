//! Figures of a document that are those of memory: writes through the page cache
//! that were never synced, so many times as fast as any way that waits for the
//! device. Where diskfacts measured, who served the bytes is known; a document
//! does not say it, and its own figures have to.

use crate::rules::{Context, names};
use crate::stages::Stage;
use crate::stats;
use crate::words::{lines, of_document, percent, ratio};
use diskfacts_plan::units::{show_duration, show_throughput};
use diskfacts_plan::{CacheMode, Operation, Pattern, SyncMode};
use diskfacts_record::{Confidence, Finding, Severity, StageFigures};

pub(super) const NAME: &str = "memory-speed";

/// So many times as fast as the device: at most a third of the bytes can have
/// been on it when the time was stopped.
const TIMES: f64 = 3.0;

/// How a stage waits for the device.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// Through the page cache, and never synced.
    Memory,
    /// Past it, or synced.
    Device,
}

fn way(stage: &Stage<'_>) -> Option<Way> {
    let workload = stage.workload();
    let writes = workload.operation == Operation::Write && workload.copy.is_none();
    let said = |key: &str| {
        let mut trials = stage.trials.iter();
        trials.all(|trial| !trial.unsaid.iter().any(|unsaid| unsaid == key))
    };
    if !writes || workload.pattern != Pattern::Sequential {
        None
    } else if workload.sync != SyncMode::None
        || (workload.cache == CacheMode::Direct && said("cache"))
    {
        Some(Way::Device)
    } else {
        (said("cache") && said("sync")).then_some(Way::Memory)
    }
}

struct Each<'c, 'a> {
    stage: &'c Stage<'a>,
    rate: f64,
}

pub(super) fn rates_of_memory(context: &Context<'_>) -> Vec<Finding> {
    let of = |wanted: Way| {
        let each = context
            .each()
            .filter(move |(stage, _)| way(stage) == Some(wanted));
        each.filter_map(|(stage, figures)| usable(stage, figures))
            .collect::<Vec<_>>()
    };
    let device = of(Way::Device);
    let fastest = device.iter().max_by(|a, b| a.rate.total_cmp(&b.rate));
    let Some(fastest) = fastest else {
        return Vec::new();
    };
    let memory: Vec<Each<'_, '_>> = of(Way::Memory)
        .into_iter()
        .filter(|each| each.rate >= TIMES * fastest.rate)
        .collect();
    let rates: Vec<f64> = memory.iter().map(|each| each.rate).collect();
    let Some(median) = stats::median(&rates) else {
        return Vec::new();
    };
    vec![finding(context, &memory, median, fastest)]
}

fn usable<'c, 'a>(stage: &'c Stage<'a>, figures: &StageFigures) -> Option<Each<'c, 'a>> {
    let rate = figures.throughput_bytes_per_s.median;
    // A rate of a few bytes is not one of a stream.
    (rate.is_finite() && rate > 0.0).then_some(Each { stage, rate })
}

fn finding(
    context: &Context<'_>,
    memory: &[Each<'_, '_>],
    median: f64,
    fastest: &Each<'_, '_>,
) -> Finding {
    let numbers: Vec<u64> = memory.iter().flat_map(|each| each.stage.lines()).collect();
    let least = memory
        .iter()
        .map(|each| each.rate)
        .fold(f64::INFINITY, f64::min);
    let share = fastest.rate / median;
    // Of a second of the device's time.
    let second = show_duration((share * 1e9).round() as u64);
    Finding {
        rule: NAME.into(),
        severity: Severity::Warning,
        claim: format!(
            "{} figures of writes through the page cache that nothing syncs are those of memory, \
             not of the disk: {} in the median, {} times what the device takes at most.",
            memory.len(),
            show_throughput(median),
            ratio(median / fastest.rate)
        ),
        evidence: vec![
            format!(
                "Through the page cache and never synced: {} to {} ({}).",
                show_throughput(least),
                show_throughput(memory.iter().map(|each| each.rate).fold(0.0, f64::max)),
                lines(&numbers)
            ),
            format!(
                "The fastest way that waits for the device: {}, {} ({}).",
                show_throughput(fastest.rate),
                fastest.stage.label(),
                lines(&fastest.stage.lines())
            ),
            format!(
                "What the device takes in a second was accepted in {second}: in that time at most \
                 {} of it can have reached the device.",
                percent(share)
            ),
        ],
        confidence: Confidence::Likely,
        refuted_by: "The device's own counters (`iostat -x 1`) with as many bytes written per \
                     second while it runs."
            .into(),
        remedy: of_document(context.run, "sync once at the end (conv=fsync, fdatasync)")
            .unwrap_or_default(),
        stages: names(memory.iter().map(|each| each.stage.name)),
    }
}
