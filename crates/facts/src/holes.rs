//! Parts of a file without data: holes, or extents that were allocated and never written.

use crate::layers::SERVED_FROM_CACHE;
use crate::stage_facts::StageFacts;
use diskfacts_plan::Workload;
use diskfacts_plan::units::show_size;
use diskfacts_record::{ExtentMethod, Layers, Run, Target, TargetKind};

/// The file that the extents are of: the target, or what is behind it.
pub(crate) fn path(run: &Run) -> &str {
    let behind = run.stack.top().and_then(|top| top.backing_file.as_deref());
    match run.target.kind {
        TargetKind::Device => behind.unwrap_or(&run.target.path),
        _ => &run.target.path,
    }
}

/// Share of the file that has no data of its own on a device.
pub(crate) fn empty_share(target: &Target) -> Option<f64> {
    let extents = target.extents.filter(|e| e.span_bytes > 0)?;
    let empty = extents
        .hole_bytes
        .saturating_add(extents.unwritten_bytes.unwrap_or(0));
    Some((empty as f64 / extents.span_bytes as f64).min(1.0))
}

/// Whether such parts are the reason for `share` of the reads not reaching a
/// device. Reads from all over the file meet them as often as they occur, half
/// as much again allowed for chance; reads of a part of it may meet nothing
/// else, or none of them.
pub(crate) fn explain(target: &Target, workload: &Workload, share: f64) -> bool {
    empty_share(target).is_some_and(|empty| {
        let everywhere = is_everywhere(target, workload);
        empty > SERVED_FROM_CACHE && (!everywhere || share <= 1.5 * empty + SERVED_FROM_CACHE)
    })
}

fn is_everywhere(target: &Target, workload: &Workload) -> bool {
    workload.span.is_none_or(|span| span >= target.size_bytes)
}

/// Share of the file without data, where that, and no page cache, is why a stage read no device.
pub(crate) fn share_of_reads(facts: &StageFacts<'_>) -> Option<f64> {
    let (target, workload) = (&facts.run().target, facts.workload());
    let explains = facts.only_reads()
        && facts.moves_blocks()
        && may_be_read(target, workload, &facts.figures.layers)
        && explain(target, workload, facts.memory_share());
    empty_share(target).filter(|_| explains)
}

/// Whether such parts can have been read: of a part of the file all may have come from a device.
pub(crate) fn may_be_read(target: &Target, workload: &Workload, layers: &Layers) -> bool {
    let all_of_device = layers
        .device
        .is_some_and(|share| share > 1.0 - SERVED_FROM_CACHE);
    is_everywhere(target, workload) || !all_of_device
}

/// What the filesystem told of such parts, sentences.
pub(crate) fn evidence(target: &Target) -> impl Iterator<Item = String> {
    let told = target.extents.map(|extents| {
        let how = match extents.method {
            ExtentMethod::Fiemap => "FIEMAP",
            ExtentMethod::SeekHole => "SEEK_HOLE",
        };
        let [span, holes] = [extents.span_bytes, extents.hole_bytes].map(show_size);
        let unwritten = extents.unwritten_bytes.map(show_size).map_or_else(
            || format!("{how} does not tell unwritten extents from data, so there may be more."),
            |bytes| format!("{how}: {bytes} are allocated and were never written."),
        );
        [format!("{how}: of {span}, {holes} are holes."), unwritten]
    });
    told.into_iter().flatten()
}
