//! Bytes that were to reach a device and were served by the memory of this host, and why.
//!
//! What is missing is laid to one cause, the most specific that the evidence allows. Stages that
//! are meant to be cached are left out. Shares up to 2 % are left to rounding, to pages that were
//! read for other reasons and to I/O under way when a window closed.

use crate::context::Context;
use crate::holes;
use crate::layers::counted::roots;
use crate::layers::reach::{Reach, cached_share};
use crate::layers::{SERVED_FROM_CACHE, in_memory};
use crate::prelude::{CacheMode, Pattern, SyncMode, join, list, percent, show_size};
use crate::stages::Stage;
use crate::words::{device_list, if_any};
use diskfacts_record::{Run, Stack};

/// Where the bytes stayed, and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cause {
    /// The target has no device under it.
    Memory,
    /// In the page cache of the file behind these loop devices.
    Loop(Vec<String>),
    /// Past `O_DIRECT`.
    DirectIgnored,
    /// It was to begin with an empty page cache, and read its span more than once.
    ReadAgain,
    /// It was to begin with an empty page cache, and pages of its span were in it.
    NotDropped,
    /// It was to begin with an empty page cache, and none of these.
    NotCold,
    /// Synced writes of blocks that were written again before the only sync.
    Rewritten,
    /// Synced writes that the device did not count.
    SyncKept,
    /// It goes through the page cache, and that keeps it as buffered I/O is kept.
    Buffered,
}

/// A stage, and the share of its bytes that stayed in memory.
pub(crate) type Kept<'c, 'a> = (&'c Stage<'a>, f64);

/// The causes of a run, each with its stages.
pub(crate) fn by_cause<'c, 'a>(context: &'c Context<'a>) -> Vec<(Cause, Vec<Kept<'c, 'a>>)> {
    let mut causes = Vec::new();
    for (stage, figures) in context.doing_io() {
        let share = figures.layers.page_cache;
        let cause = cause(context, stage, share).filter(|_| share > SERVED_FROM_CACHE);
        if let Some(cause) = cause {
            join(&mut causes, cause, (stage, share));
        }
    }
    causes
}

/// What kept this share of the bytes of this stage; `None` when it was meant so, or when it is
/// known otherwise: by its holes, or because direct I/O was refused.
fn cause(context: &Context<'_>, stage: &Stage<'_>, share: f64) -> Option<Cause> {
    let workload = stage.workload();
    if workload.cache == CacheMode::Warm {
        return None;
    }
    if in_memory(&context.run.stack) {
        return Some(Cause::Memory);
    }
    if let Some(names) = loops(&context.run.stack, stage) {
        return Some(Cause::Loop(names));
    }
    if workload.operation.reads() && holes::explain(&context.run.target, workload, share) {
        return None;
    }
    let writes = workload.operation.writes();
    match workload.cache {
        CacheMode::Direct => {
            let was_direct = stage.trials.iter().all(|t| t.evidence.engine.direct);
            was_direct.then_some(Cause::DirectIgnored)
        }
        // A cache that is empty in the beginning keeps writes all the same.
        CacheMode::Cold if !writes => Some(not_cold(stage)),
        _ => Some(match workload.sync {
            SyncMode::None => Cause::Buffered,
            SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => Cause::Rewritten,
            _ if !writes => Cause::Buffered,
            _ => Cause::SyncKept,
        }),
    }
}

/// The loop devices that kept more than the target's own page cache did.
fn loops(stack: &Stack, stage: &Stage<'_>) -> Option<Vec<String>> {
    let mut target = 0.0;
    let mut loops = Vec::new();
    for reach in stage.trials.iter().flat_map(|t| Reach::both(t, stack)) {
        let issued = reach.issued as f64;
        target += reach.kept_by_target() * issued;
        for (step, share) in reach.kept_by_loops() {
            join(&mut loops, step.names.clone(), share * issued);
        }
    }
    let loops = loops.into_iter();
    let sums = loops.map(|(names, bytes)| (names, bytes.iter().sum::<f64>()));
    let more = sums.filter(|(_, bytes)| *bytes > target);
    more.max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(names, _)| names)
}

fn not_cold(stage: &Stage<'_>) -> Cause {
    let again = stage.trials.iter().any(|t| {
        let span = t.workload.span;
        span.is_some_and(|span| t.evidence.issued.read_bytes > span)
    });
    let drawn = matches!(
        stage.workload().pattern,
        Pattern::Random | Pattern::Zipf { .. } | Pattern::Stride { .. }
    );
    if cached_before(stage) > SERVED_FROM_CACHE {
        Cause::NotDropped
    } else if again || drawn {
        Cause::ReadAgain
    } else {
        Cause::NotCold
    }
}

/// The most of its span that was in the page cache when a trial of it began, a share.
fn cached_before(stage: &Stage<'_>) -> f64 {
    let before = stage.trials.iter();
    let before = before.filter_map(|t| cached_share(t.evidence.residency_before.as_ref()?));
    before.fold(0.0, f64::max)
}

/// The least of its span that was in the page cache when a trial of it had ended, a share.
pub(crate) fn cached_after(stage: &Stage<'_>) -> f64 {
    let after = stage.trials.iter();
    let after = after.filter_map(|t| cached_share(t.evidence.residency_after.as_ref()?));
    after.fold(1.0, f64::min)
}

/// Bytes read in the largest trial.
pub(crate) fn largest_trial(stage: &Stage<'_>) -> u64 {
    let trials = stage.trials.iter();
    let read = trials.map(|t| t.evidence.issued.read_bytes);
    read.max().unwrap_or(0)
}

/// What shows it of a stage.
pub(crate) fn evidence(run: &Run, cause: &Cause, (stage, share): Kept<'_, '_>) -> Vec<String> {
    let witnesses = || witnesses(&run.stack, stage, share);
    let mut said = vec![match cause {
        Cause::Memory => "no block device lies under it, so nothing can have left memory".into(),
        Cause::Loop(_) => counted_by_loops(&run.stack, stage).unwrap_or_else(witnesses),
        _ => witnesses(),
    }];
    if *cause == Cause::NotDropped {
        said.push(format!(
            "up to {} of its span was in the page cache when a trial began",
            percent(cached_before(stage))
        ));
    }
    if *cause == Cause::ReadAgain
        && let Some(span) = stage.workload().span
    {
        let [read, span] = [largest_trial(stage), span].map(show_size);
        said.push(format!("a trial read up to {read} from a span of {span}"));
    }
    let label = stage.label();
    let said = said.into_iter();
    said.map(|line| format!("{label}: {line}.")).collect()
}

/// What was issued and what the witnesses right below counted.
fn witnesses(stack: &Stack, stage: &Stage<'_>, share: f64) -> String {
    let issued = stage.sum(|t| {
        let issued = &t.evidence.issued;
        issued.read_bytes.saturating_add(issued.write_bytes)
    });
    let counted = stage.known(|t| {
        let [read, write] = Reach::both(t, stack);
        Some(read.top?.saturating_add(write.top?))
    });
    let devices = if_any(device_list(roots(stack)), |names| names).zip(counted);
    let devices = devices.map(|(names, bytes)| format!("{names} counted {}", show_size(bytes)));
    let reads_only = !stage.workload().operation.writes();
    let process = stage.known(|t| t.evidence.process_io.map(|io| io.read_bytes));
    let process = process.filter(|_| reads_only).map(|bytes| {
        let bytes = show_size(bytes);
        format!("this process caused {bytes} to be fetched from block devices")
    });
    let mut witnesses: Vec<String> = devices.into_iter().chain(process).collect();
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

/// What came to loop devices that kept some, and what to the devices under their backing files.
fn counted_by_loops(stack: &Stack, stage: &Stage<'_>) -> Option<String> {
    let (mut above, mut below) = (0_u64, 0_u64);
    let mut names = Vec::new();
    for reach in stage.trials.iter().flat_map(|t| Reach::both(t, stack)) {
        for (step, _) in reach.kept_by_loops() {
            above = above.saturating_add(step.above?);
            below = below.saturating_add(step.below?);
            names.clone_from(&step.names);
        }
    }
    let (names, [above, below]) = (list(names), [above, below].map(show_size));
    Some(format!(
        "{names} counted {above}, the device under its backing file {below}"
    ))
}
