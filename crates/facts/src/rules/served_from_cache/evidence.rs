//! What shows that bytes did not reach a device.

use super::cause::{Cause, Cold, cached_before};
use crate::layers::counted::roots;
use crate::layers::reach::Reach;
use crate::rules::prelude::*;

/// Sentences with the figures of a stage.
pub(super) fn of(
    context: &Context<'_>,
    cause: &Cause,
    stage: &Stage<'_>,
    share: f64,
) -> Vec<String> {
    let label = stage.label();
    if *cause == Cause::Memory {
        return vec![format!(
            "{label}: no block device lies under it, so nothing can have left memory."
        )];
    }
    let at_loop = matches!(cause, Cause::Loop(_)).then(|| counted_by_loops(context, stage));
    let counted = at_loop.flatten();
    let counted = counted.unwrap_or_else(|| counted_by_devices(context, stage, share));
    let mut said = vec![format!("{label}: {counted}.")];
    if *cause == Cause::Cold(Cold::NotDropped) {
        said.push(format!(
            "{label}: up to {} of its span was in the page cache when a trial began.",
            percent(cached_before(stage))
        ));
    }
    if *cause == Cause::Cold(Cold::ReadAgain)
        && let Some(span) = stage.workload().span
    {
        said.push(format!(
            "{label}: a trial read up to {} from a span of {}.",
            show_size(largest_trial(stage)),
            show_size(span)
        ));
    }
    said
}

/// Bytes read in the largest trial.
pub(super) fn largest_trial(stage: &Stage<'_>) -> u64 {
    let trials = stage.trials.iter();
    let read = trials.map(|t| t.evidence.issued.read_bytes);
    read.max().unwrap_or(0)
}

/// What was issued and what the witnesses right below counted.
fn counted_by_devices(context: &Context<'_>, stage: &Stage<'_>, share: f64) -> String {
    let stack = &context.run.stack;
    let issued = stage.sum(|t| {
        let issued = &t.evidence.issued;
        issued.read_bytes.saturating_add(issued.write_bytes)
    });
    let mut witnesses = Vec::new();
    let top = stage.known(|t| {
        let [read, write] = Reach::both(t, stack);
        Some(read.top?.saturating_add(write.top?))
    });
    let names = device_list(roots(stack));
    if let Some(bytes) = top.filter(|_| !names.is_empty()) {
        witnesses.push(format!("{names} counted {}", show_size(bytes)));
    }
    let reads_only = !stage.workload().operation.writes();
    let process = stage.known(|t| t.evidence.process_io.map(|io| io.read_bytes));
    if let Some(bytes) = process.filter(|_| reads_only) {
        let bytes = show_size(bytes);
        witnesses.push(format!(
            "this process caused {bytes} to be fetched from block devices"
        ));
    }
    if witnesses.is_empty() {
        let when = if reads_only {
            "were in the page cache before and after"
        } else {
            "lay in the page cache at the end, and were not written back yet"
        };
        witnesses.push(format!("{} of them {when}", percent(share)));
    }
    format!("{} issued; {}", show_size(issued), list(&witnesses))
}

fn counted_by_loops(context: &Context<'_>, stage: &Stage<'_>) -> Option<String> {
    let (mut above, mut below) = (0_u64, 0_u64);
    let mut names = Vec::new();
    let stack = &context.run.stack;
    for reach in stage.trials.iter().flat_map(|t| Reach::both(t, stack)) {
        for (step, _) in reach.kept_by_loops() {
            above = above.saturating_add(step.above?);
            below = below.saturating_add(step.below?);
            names.clone_from(&step.names);
        }
    }
    let (names, [above, below]) = (list(&names), [above, below].map(show_size));
    let under = "the device under its backing file";
    Some(format!("{names} counted {above}, {under} {below}"))
}
