//! Content that can be checked, put where stages ask for it before the first
//! trial.

use super::fill::too_slow;
use crate::exit::Failure;
use crate::progress::Display;
use crate::signals::Signals;
use crate::target::{OpenFile, Stretches};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{
    CacheMode, EngineChoice, Operation, Pattern, Plan, Stage, SyncMode, Values, Workload,
};
use diskfacts_record::{Target, TargetKind};
use std::time::Instant;

/// What is written through the page cache before it is known how fast the disk takes it:
/// however slow that is, it has to be waited for.
const FIRST_STRETCH_BYTES: u64 = 1 << 20;

/// Gives content without a seed that of the run.
pub(super) fn resolve(plan: &mut Plan, seed: u64) {
    for stage in &mut plan.stages {
        if let Some(values) = &mut stage.workload.values {
            values.seed.get_or_insert(seed);
        }
    }
}

/// The content that a file which is made for a plan begins with, if any stage
/// checks some.
pub(super) fn of_plan(plan: &Plan, seed: u64) -> Option<Values> {
    let checked = plan.stages.iter().find_map(|stage| stage.workload.values)?;
    Some(Values {
        fill: true,
        seed: checked.seed.or(Some(seed)),
    })
}

/// A stage whose span is filled, and its bytes.
struct Span<'a> {
    stage: &'a Stage,
    bytes: u64,
}

/// The spans of the stages that ask for it, each once.
fn spans_to_fill(plan: &Plan, size_bytes: u64) -> Vec<Span<'_>> {
    let mut places: Vec<(u64, Option<u64>, Values)> = Vec::new();
    let mut spans = Vec::new();
    for stage in &plan.stages {
        let asked = &stage.workload;
        let Some(values) = asked.values.filter(|values| values.fill) else {
            continue;
        };
        let place = (asked.offset, asked.span, values);
        if places.contains(&place) {
            continue;
        }
        places.push(place);
        let bytes = asked.blocks_on(size_bytes) * asked.block_size;
        spans.push(Span { stage, bytes });
    }
    spans
}

/// Fills the spans of the stages that ask for it, on a target that was there already, all
/// in `time_ns`. What is filled in part cannot be checked, so that a disk which is too slow
/// for it is refused.
pub(super) fn fill(
    plan: &Plan,
    (file, target): (&OpenFile, &Target),
    time_ns: u64,
    signals: &Signals,
    display: &Display,
) -> Result<(), Failure> {
    let size_bytes = target.size_bytes;
    let spans = spans_to_fill(plan, size_bytes);
    let wanted = spans.iter().map(|span| span.bytes).sum();
    let (began, mut filled) = (Instant::now(), 0);
    for Span { stage, bytes } in spans {
        let elapsed_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let written = Stretches {
            file,
            what: format!("{} of {} with values", show_size(bytes), target.given),
            size_bytes,
            workload: Workload {
                operation: Operation::Write,
                pattern: Pattern::Sequential,
                queue_depth: 1,
                streams: 1,
                cache: CacheMode::Buffered,
                sync: SyncMode::AtEnd,
                rate: None,
                beside: None,
                engine: EngineChoice::Sync,
                ..stage.workload.clone()
            },
            seed: 0,
            first_bytes: FIRST_STRETCH_BYTES,
            time_ns: time_ns.saturating_sub(elapsed_ns),
        }
        .write((stage.workload.offset, bytes), signals, display)
        .map_err(|stopped| {
            let what = format!("the span of {} with values", stage.label());
            stopped.in_filling(&what, "")
        })?;
        if let Some(exit) = signals.came() {
            return Err(match target.kind {
                TargetKind::Loop => Failure::interrupted(exit),
                _ => Failure::interrupted_filling(exit, &target.given),
            });
        }
        filled += written;
        if written < bytes {
            let slow = too_slow("the target with values", time_ns, (filled, wanted));
            return Err(Failure::wrong_call(format!(
                "{slow}. A span that is filled in part cannot be checked, so nothing was measured; \
                 what stood where values were written is gone"
            )));
        }
    }
    Ok(())
}
