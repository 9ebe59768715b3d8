//! Figures of a document that are those of memory: writes through the page cache that were
//! never synced, so many times as fast as any way that waits for the device. Where
//! diskfacts measured, who served the bytes is known; a document does not say it, and its
//! own figures have to.

use crate::rules::prelude::*;
use crate::words::lines;

pub(super) const RULE: Rule = Rule {
    name: "memory-speed",
    needs: &[Document],
    confidence: Confidence::Likely,
    check: Check::One(check),
    ..Rule::WARNING
};

/// So many times as fast as the device: at most a third of the bytes can have been on it
/// when the time was stopped.
const TIMES: f64 = 3.0;

/// Whether a stage of sequential writes waits for the device, past the page cache or
/// synced; `None` of others, and where the document does not say it.
fn waits(stage: &Stage<'_>) -> Option<bool> {
    let workload = stage.workload();
    let writes = workload.operation == Operation::Write && workload.copy.is_none();
    let direct = workload.cache == CacheMode::Direct && stage.says("cache");
    if !writes || workload.pattern != Pattern::Sequential {
        None
    } else if workload.sync != SyncMode::None || direct {
        Some(true)
    } else {
        (stage.says("cache") && stage.says("sync")).then_some(false)
    }
}

fn check(context: &Context<'_>) -> Option<Found> {
    let of = |wanted: bool| {
        let stages = context.each();
        let of = stages.filter(move |(stage, _)| waits(stage) == Some(wanted));
        of.map(|(stage, figures)| (stage, figures.throughput_bytes_per_s.median))
            .filter(|(_, rate)| rate.is_finite() && *rate > 0.0)
    };
    let (fastest, most) = of(true).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let memory = of(false).filter(|(_, rate)| *rate >= TIMES * most);
    let (stages, rates): (Vec<&Stage<'_>>, Vec<f64>) = memory.unzip();
    let sorted = stats::finite_sorted(&rates);
    let median = stats::median(&sorted)?;
    let share = most / median;
    let [least, rate, largest] = [*sorted.first()?, median, *sorted.last()?].map(show_throughput);
    let evidence = vec![
        format!(
            "Through the page cache and never synced: {least} to {largest} ({}).",
            lines(stages.iter().flat_map(|stage| stage.lines()))
        ),
        format!(
            "The fastest way that waits for the device: {}, {} ({}).",
            show_throughput(most),
            fastest.label(),
            lines(fastest.lines())
        ),
        format!(
            "What the device takes in a second was accepted in {}: in that time at most {} of it \
             can have reached the device.",
            show_duration((share * 1e9).round() as u64),
            percent(share)
        ),
    ];
    Some(
        RULE.claim(format!(
            "{} figures of writes through the page cache that nothing syncs are those of memory, \
             not of the disk: {rate} in the median, {} times what the device takes at most.",
            rates.len(),
            ratio(median / most)
        ))
        .headline(format!("unsynced writes at the speed of memory: {rate}"))
        .remedy(of_document(
            context.run,
            "sync once at the end (conv=fsync, fdatasync)",
        )?)
        .stages(names(stages.iter().map(|stage| stage.name)))
        .evidence(evidence),
    )
}
