//! Why bytes did not reach a device, and what to say about it.

use super::super::Context;
use super::SHARE;
use crate::layers::in_memory;
use crate::layers::reach::{Direction, Reach, roots};
use crate::rules::holes;
use crate::stages::Stage;
use crate::words::{edit_plan, edit_stages, list, measure, measure_with, percent, shell};
use diskfacts_plan::units::{exact_size, show_size};
use diskfacts_plan::{CacheMode, Pattern, SyncMode};
use diskfacts_record::{Confidence, Severity, StageFigures, TargetKind};

/// Where the bytes stayed, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cause {
    /// The target has no device under it.
    Memory,
    /// In the page cache of the file behind a loop device.
    Loop(Vec<String>),
    /// Past `O_DIRECT`.
    DirectIgnored,
    /// A cold stage read its span more than once.
    ReadAgain,
    /// A cold stage began with pages in the cache.
    NotDropped,
    /// A cold stage, and none of these.
    Cold,
    /// Synced writes of blocks that were written again before the only sync.
    Rewritten,
    /// Synced writes that the device did not count.
    SyncKept,
    /// Buffered I/O, as it does.
    Buffered,
}

/// A stage with a cause.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) share: f64,
    pub(super) cause: Cause,
}

/// What kept the bytes of this stage; `None` when it was meant so, or when
/// another rule has the reason.
pub(super) fn of<'a>(
    context: &'a Context<'_>,
    stage: &'a Stage<'_>,
    figures: &StageFigures,
) -> Option<Case<'a>> {
    let workload = stage.workload();
    let share = figures.layers.page_cache;
    if workload.cache == CacheMode::Warm {
        return None;
    }
    let cause = if in_memory(&context.run.stack) {
        Cause::Memory
    } else if let Some(names) = kept_by_loop(context, stage) {
        Cause::Loop(names)
    } else if workload.operation.reads() && holes::explain(&context.run.target, workload, share) {
        return None;
    } else {
        kept_by_target(stage)?
    };
    Some(Case {
        stage,
        share,
        cause,
    })
}

/// The loop devices that kept more than the target's own page cache did.
fn kept_by_loop(context: &Context<'_>, stage: &Stage<'_>) -> Option<Vec<String>> {
    let mut target = 0.0;
    let mut loops: Vec<(Vec<String>, f64)> = Vec::new();
    for trial in &stage.trials {
        for direction in [Direction::Read, Direction::Write] {
            let reach = Reach::of(
                direction,
                &trial.workload,
                &trial.evidence,
                &context.run.stack,
            );
            target += reach.kept_by_target() * reach.issued as f64;
            for (step, share) in reach.kept_by_loops() {
                let bytes = share * reach.issued as f64;
                match loops.iter_mut().find(|(names, _)| *names == step.names) {
                    Some((_, sum)) => *sum += bytes,
                    None => loops.push((step.names.clone(), bytes)),
                }
            }
        }
    }
    loops
        .into_iter()
        .filter(|(_, bytes)| *bytes > target)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(names, _)| names)
}

fn kept_by_target(stage: &Stage<'_>) -> Option<Cause> {
    let workload = stage.workload();
    let was_direct = stage.trials.iter().all(|t| t.evidence.engine.direct);
    match workload.cache {
        CacheMode::Direct if was_direct => Some(Cause::DirectIgnored),
        // Another rule says that direct I/O was refused.
        CacheMode::Direct | CacheMode::Warm => None,
        // A cache that is empty in the beginning keeps writes all the same.
        CacheMode::Cold if !workload.operation.writes() => Some(cold(stage)),
        CacheMode::Cold | CacheMode::Buffered => Some(match workload.sync {
            SyncMode::None => Cause::Buffered,
            SyncMode::AtEnd | SyncMode::FdatasyncAtEnd => Cause::Rewritten,
            _ if !workload.operation.writes() => Cause::Buffered,
            _ => Cause::SyncKept,
        }),
    }
}

fn cold(stage: &Stage<'_>) -> Cause {
    let was_cached = stage.trials.iter().any(|t| {
        t.evidence.residency_before.is_some_and(|r| {
            r.span_bytes > 0 && r.cached_bytes as f64 / r.span_bytes as f64 > SHARE
        })
    });
    let again = stage.trials.iter().any(|t| {
        t.workload
            .span
            .is_some_and(|span| t.evidence.issued.read_bytes > span)
    });
    let drawn = matches!(
        stage.workload().pattern,
        Pattern::Random | Pattern::Zipf { .. } | Pattern::Stride { .. }
    );
    if was_cached {
        Cause::NotDropped
    } else if again || drawn {
        Cause::ReadAgain
    } else {
        Cause::Cold
    }
}

impl Case<'_> {
    /// Sentences with the figures.
    pub(super) fn evidence(&self, context: &Context<'_>) -> Vec<String> {
        let label = self.stage.label();
        if self.cause == Cause::Memory {
            return Vec::from([format!(
                "{label}: no block device lies under it, so nothing can have left memory."
            )]);
        }
        let at_loop = matches!(self.cause, Cause::Loop(_))
            .then(|| self.loop_counted(context, &label))
            .flatten();
        let mut said = vec![at_loop.unwrap_or_else(|| self.counted(context, &label))];
        if self.cause == Cause::NotDropped {
            let most = self
                .stage
                .trials
                .iter()
                .filter_map(|t| t.evidence.residency_before)
                .filter(|r| r.span_bytes > 0)
                .map(|r| r.cached_bytes as f64 / r.span_bytes as f64)
                .fold(0.0, f64::max);
            said.push(format!(
                "{label}: up to {} of its span was in the page cache when a trial began.",
                percent(most)
            ));
        }
        if self.cause == Cause::ReadAgain
            && let Some(span) = self.stage.workload().span
        {
            said.push(format!(
                "{label}: a trial read up to {} from a span of {}.",
                show_size(self.largest_trial()),
                show_size(span)
            ));
        }
        said
    }

    /// Bytes read in the largest trial.
    fn largest_trial(&self) -> u64 {
        let read = self
            .stage
            .trials
            .iter()
            .map(|t| t.evidence.issued.read_bytes);
        read.max().unwrap_or(0)
    }

    /// What was issued and what the witnesses right below counted.
    fn counted(&self, context: &Context<'_>, label: &str) -> String {
        let stack = &context.run.stack;
        let issued = self.stage.sum(|t| {
            t.evidence
                .issued
                .read_bytes
                .saturating_add(t.evidence.issued.write_bytes)
        });
        let mut witnesses = Vec::new();
        let top: Option<u64> = self
            .stage
            .trials
            .iter()
            .map(|t| {
                let [read, write] = [Direction::Read, Direction::Write]
                    .map(|d| Reach::of(d, &t.workload, &t.evidence, stack));
                Some(read.top?.saturating_add(write.top?))
            })
            .sum();
        let names: Vec<&str> = roots(stack).map(|d| d.name.as_str()).collect();
        if let Some(bytes) = top.filter(|_| !names.is_empty()) {
            witnesses.push(format!("{} counted {}", list(&names), show_size(bytes)));
        }
        let reads_only = !self.stage.workload().operation.writes();
        let process: Option<u64> = self
            .stage
            .trials
            .iter()
            .map(|t| t.evidence.process_io.map(|io| io.read_bytes))
            .sum();
        if let Some(bytes) = process.filter(|_| reads_only) {
            witnesses.push(format!(
                "this process caused {} to be fetched from block devices",
                show_size(bytes)
            ));
        }
        if witnesses.is_empty() {
            let when = if reads_only {
                "were in the page cache before and after"
            } else {
                "lay in the page cache at the end, and were not written back yet"
            };
            witnesses.push(format!("{} of them {when}", percent(self.share)));
        }
        format!(
            "{label}: {} issued; {}.",
            show_size(issued),
            list(&witnesses)
        )
    }

    fn loop_counted(&self, context: &Context<'_>, label: &str) -> Option<String> {
        let (mut above, mut below) = (0_u64, 0_u64);
        let mut names = Vec::new();
        for trial in &self.stage.trials {
            for direction in [Direction::Read, Direction::Write] {
                let reach = Reach::of(
                    direction,
                    &trial.workload,
                    &trial.evidence,
                    &context.run.stack,
                );
                for (step, _) in reach.kept_by_loops() {
                    above = above.saturating_add(step.above?);
                    below = below.saturating_add(step.below?);
                    names.clone_from(&step.names);
                }
            }
        }
        Some(format!(
            "{label}: {} counted {}, the device under its backing file {}.",
            list(&names),
            show_size(above),
            show_size(below)
        ))
    }
}

impl Cause {
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::Buffered | Self::Rewritten => Severity::Note,
            _ => Severity::Warning,
        }
    }

    pub(super) fn confidence(&self) -> Confidence {
        match self {
            Self::Memory | Self::Loop(_) | Self::Buffered | Self::ReadAgain | Self::NotDropped => {
                Confidence::Certain
            }
            Self::DirectIgnored | Self::Rewritten | Self::SyncKept => Confidence::Likely,
            Self::Cold => Confidence::Possible,
        }
    }

    pub(super) fn claim(&self, context: &Context<'_>, subject: &str) -> String {
        match self {
            Self::Memory => {
                let what = context.run.stack.filesystem.as_ref().map_or_else(
                    || "memory".to_owned(),
                    |f| format!("{} on {}", f.kind, f.mount_point),
                );
                format!("The target lies in memory ({what}): these figures are not of a disk.")
            }
            Self::Loop(names) => format!(
                "{subject} stayed in the page cache of the file behind {}: the figure is one of \
                 memory, not of a disk.",
                list(names)
            ),
            Self::DirectIgnored => format!(
                "{subject} did not reach a device, though the file was opened past the page \
                 cache: the filesystem served them from memory."
            ),
            Self::ReadAgain => format!(
                "{subject} came from the page cache, because a trial read blocks of its span more \
                 than once, and only the first time was cold."
            ),
            Self::NotDropped => format!(
                "{subject} came from the page cache: the span had been dropped from it and was \
                 back before the trial."
            ),
            Self::Cold => format!(
                "{subject} came from the page cache, though it held nothing of the span before \
                 the trial: somebody else read the file meanwhile."
            ),
            Self::Rewritten => format!(
                "{subject} never left the page cache: the blocks were written again before the \
                 sync at the end."
            ),
            Self::SyncKept => format!(
                "{subject} were not counted by the device, though every write was synced: the \
                 figure is not one of durable writes."
            ),
            Self::Buffered if subject.starts_with("100 %") => format!(
                "{subject} stayed in the page cache, as buffered I/O does: the figure is one of \
                 memory."
            ),
            Self::Buffered => format!(
                "{subject} stayed in the page cache, as buffered I/O does: the figure is one of \
                 memory and device together."
            ),
        }
    }

    /// The same in a few words; `shares` is `37 % of the bytes`.
    pub(super) fn headline(&self, shares: &str) -> String {
        let shares = crate::words::lower_first(shares);
        match self {
            Self::Memory => "the target lies in memory, not on a disk".into(),
            Self::Loop(_) => format!("memory behind the loop device: {shares}"),
            Self::DirectIgnored => format!("memory, though direct: {shares}"),
            Self::ReadAgain => format!("memory, read more than once: {shares}"),
            Self::NotDropped | Self::Cold => format!("memory, though cold: {shares}"),
            Self::Rewritten => format!("overwritten in memory before the sync: {shares}"),
            Self::SyncKept => format!("synced, yet not counted by the device: {shares}"),
            Self::Buffered => format!("from the page cache: {shares}"),
        }
    }

    pub(super) fn refuted_by(&self) -> &'static str {
        match self {
            Self::Memory => {
                "A block device under the target, as `diskfacts devices` would show it."
            }
            Self::Loop(_) => {
                "As many bytes counted by the device under the backing file as by the loop device."
            }
            Self::DirectIgnored => {
                "As many bytes counted by the device as were issued; or holes or compressed \
                 extents in the file, which need no I/O or less."
            }
            Self::ReadAgain => "The same share when no block is read twice.",
            Self::NotDropped | Self::Cold => {
                "The same share in a trial that begins and ends with nothing of the span in the \
                 page cache."
            }
            Self::Rewritten | Self::SyncKept => {
                "As many bytes counted by the device in the window of the trial as were written."
            }
            Self::Buffered => "As many bytes counted by the device as were issued.",
        }
    }

    pub(super) fn remedy(&self, context: &Context<'_>, cases: &[&Case<'_>]) -> String {
        let run = context.run;
        match self {
            Self::Memory => "Give a path on a disk: `diskfacts measure PATH`; `findmnt --real` \
                             lists where disks are mounted."
                .into(),
            Self::Loop(names) => {
                let commands: Vec<String> = names
                    .iter()
                    .map(|name| format!("`losetup --direct-io=on /dev/{name}`"))
                    .collect();
                format!("Type {} as root, then `{}`.", list(&commands), measure(run))
            }
            Self::DirectIgnored => match run.stack.top() {
                Some(top) => format!(
                    "Type `diskfacts measure {}` as root to read the device without the \
                     filesystem (nothing is written), and compare.",
                    shell(&top.path)
                ),
                None => format!(
                    "Type `diskfacts devices {}` for what lies under it, and measure that.",
                    shell(&run.target.given)
                ),
            },
            Self::ReadAgain => {
                let read = cases.iter().map(|c| c.largest_trial()).max().unwrap_or(0);
                let enough = exact_size(read.checked_next_power_of_two().unwrap_or(read));
                if run.target.kind == TargetKind::Folder {
                    format!(
                        "Type `{}`, so that a trial ends before its span does.",
                        measure_with(run, "--size", &enough)
                    )
                } else {
                    let span = exact_size(run.target.size_bytes);
                    edit_plan(run, &format!("set bytes = \"{span}\" in this stage"))
                }
            }
            Self::NotDropped | Self::Cold => format!(
                "Stop what else uses the file (`fuser -v {}` names it), or measure past the page \
                 cache: {}",
                shell(&run.target.path),
                edit_stages(run, "set cache = \"direct\" in this stage")
            ),
            Self::Rewritten => edit_stages(
                run,
                "set sync = \"fdatasync\" or cache = \"direct\" in this stage",
            ),
            Self::SyncKept => format!(
                "Type `diskfacts devices {}` and look for a filesystem or a loop device that does \
                 not pass syncs on (mount options `nobarrier`, `volatile`).",
                shell(&run.target.given)
            ),
            Self::Buffered => edit_stages(
                run,
                "set cache = \"direct\" in this stage for the device alone",
            ),
        }
    }
}
