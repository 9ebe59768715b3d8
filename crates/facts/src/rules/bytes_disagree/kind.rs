//! The ways in which bytes issued and bytes counted can disagree.

use super::super::Context;
use super::SHARE;
use crate::journal::beyond_own;
use crate::layers::answered::may_count_twice;
use crate::layers::reach::{Direction, Reach, below, compresses, count, roots};
use crate::layers::{copies, in_memory};
use crate::simulated::edit_profile;
use crate::stages::Stage;
use crate::words::{edit_plan, list, lower_first, percent, ratio, shell, stage_list};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_size;
use diskfacts_record::{
    BlockDevice, Confidence, DeviceKind, Evidence, Severity, Stack, StageFigures, Trial,
};

/// Fetched over issued from which on read-ahead is more than a note: a third of
/// what was fetched was in vain.
const WASTE: f64 = 1.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A device above the disks answered by itself.
    Answered,
    /// The device moved fewer bytes, and no page cache explains it.
    Fewer,
    /// Read-ahead, or other reads of this process.
    ReadAhead,
    /// Writes of the filesystem for its own needs.
    Journal,
    /// A RAID or mapping moves more than it was given.
    Copies,
}

/// One stage in which it is so.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) kind: Kind,
    /// Bytes counted for each byte above.
    ratio: f64,
    pub(super) evidence: String,
    /// Devices that it is said of; empty where that is all of them.
    by: Vec<String>,
}

/// Sum over the trials; `None` when one trial does not know.
fn sum(stage: &Stage<'_>, of: impl Fn(&Trial) -> Option<u64>) -> Option<u64> {
    stage.trials.iter().map(|t| of(t)).sum()
}

pub(super) fn of<'a>(
    context: &'a Context<'_>,
    stage: &'a Stage<'_>,
    figures: &StageFigures,
) -> Vec<Case<'a>> {
    let stack = &context.run.stack;
    if in_memory(stack) || stage.workload().cache == CacheMode::Warm {
        return Vec::new();
    }
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let counted = |direction| sum(stage, |t| count(&tops, direction, &t.evidence));
    // All trials of a stage were asked for the same.
    let in_force = stack.under(&stage.trials[0].evidence.settings);
    let found = [
        answered(context, stage, figures),
        fewer(stage, figures),
        read_ahead(
            stage,
            sum(stage, |t| fetched(&tops, stack, &t.evidence)),
            windows(&roots(&in_force).collect::<Vec<_>>()),
        ),
        journal(context, stage),
        copies(context, stage),
        copies_of_filesystem(context, stage, counted(Direction::Write)),
    ];
    found.into_iter().flatten().collect()
}

/// Bytes that came in at a device above the disks, and that no disk moved.
fn answered<'a>(
    context: &Context<'_>,
    stage: &'a Stage<'_>,
    figures: &StageFigures,
) -> Option<Case<'a>> {
    let stack = &context.run.stack;
    let share = figures.layers.mapping;
    let mut by: Vec<String> = Vec::new();
    let (mut above, mut below) = (0_u64, 0_u64);
    for trial in &stage.trials {
        for direction in [Direction::Read, Direction::Write] {
            let reach = Reach::of(direction, &trial.workload, &trial.evidence, stack);
            for answered in reach.answered.into_iter().flatten() {
                above = above.saturating_add(answered.above);
                below = below.saturating_add(answered.below);
                let new = answered.names.into_iter();
                by.extend(new.filter(|name| !by.contains(name)).collect::<Vec<_>>());
            }
        }
    }
    (share > SHARE).then(|| Case {
        stage,
        kind: Kind::Answered,
        ratio: share,
        evidence: format!(
            "{}: {} came in at {}, {} went on below {}.",
            stage.label(),
            show_size(above),
            list(&roots(stack).map(|d| d.name.as_str()).collect::<Vec<_>>()),
            show_size(below),
            list(&by)
        ),
        by,
    })
}

/// What a filesystem that keeps copies wrote, over what was written to it.
fn copies_of_filesystem<'a>(
    context: &Context<'_>,
    stage: &'a Stage<'_>,
    counted: Option<u64>,
) -> Option<Case<'a>> {
    let filesystem = context.run.stack.filesystem.as_ref()?;
    let copies = copies::of_filesystem(&context.run.stack).most?;
    let issued = stage.sum(|t| t.evidence.issued.write_bytes);
    let times = counted? as f64 / issued as f64;
    (issued > 0 && copies > 1 && times > 1.0 + SHARE).then(|| Case {
        stage,
        kind: Kind::Copies,
        ratio: times,
        evidence: format!(
            "{}: {} written, {} on the disks together; {} keeps {copies} copies of data ({}).",
            stage.label(),
            show_size(issued),
            show_size(counted.unwrap_or(0)),
            filesystem.kind,
            list(&filesystem.data_profiles)
        ),
        by: Vec::new(),
    })
}

fn fewer<'a>(stage: &'a Stage<'_>, figures: &StageFigures) -> Option<Case<'a>> {
    let layers = figures.layers;
    let lost = 1.0 - layers.device? - layers.page_cache - layers.mapping;
    (lost > SHARE && layers.page_cache <= SHARE).then(|| Case {
        stage,
        kind: Kind::Fewer,
        ratio: 1.0 - lost,
        by: Vec::new(),
        evidence: format!(
            "{}: {} issued, of which the devices counted {}.",
            stage.label(),
            show_size(stage.sum(|t| t.bytes)),
            percent(1.0 - lost)
        ),
    })
}

/// Bytes that the devices read. One that may count what it cuts twice is held against what
/// went on below it.
fn fetched(tops: &[&BlockDevice], stack: &Stack, evidence: &Evidence) -> Option<u64> {
    let counted = count(tops, Direction::Read, evidence)?;
    if !tops.iter().all(|top| may_count_twice(top)) {
        return Some(counted);
    }
    let on = count(&below(tops, stack), Direction::Read, evidence);
    Some(
        on.filter(|bytes| *bytes > 0)
            .map_or(counted, |on| on.min(counted)),
    )
}

/// Bytes that a trial may fetch beyond its end: a window of read-ahead that is
/// being read, and the next one that is asked for meanwhile.
fn windows(tops: &[&BlockDevice]) -> u64 {
    let windows = tops.iter().filter_map(|top| top.read_ahead_bytes);
    2 * windows.max().unwrap_or(0)
}

fn read_ahead<'a>(stage: &'a Stage<'_>, counted: Option<u64>, windows: u64) -> Option<Case<'a>> {
    let issued = stage.sum(|t| t.evidence.issued.read_bytes);
    let process = sum(stage, |t| t.evidence.process_io.map(|io| io.read_bytes));
    // Both witnesses must see it: the device alone may count the I/O of others.
    let fetched = match (counted, process) {
        (Some(device), Some(process)) => device.min(process),
        (None, Some(process)) => process,
        _ => return None,
    };
    let begun = windows.saturating_mul(stage.trials.len() as u64);
    let times = fetched as f64 / issued as f64;
    let beyond = fetched.saturating_sub(begun) as f64 / issued as f64;
    (issued > 0 && beyond > 1.0 + SHARE).then(|| Case {
        stage,
        kind: Kind::ReadAhead,
        ratio: times,
        by: Vec::new(),
        evidence: format!(
            "{}: {} read, {} fetched, {} bytes for each byte asked for.",
            stage.label(),
            show_size(issued),
            show_size(fetched),
            ratio(times)
        ),
    })
}

fn journal<'a>(context: &Context<'_>, stage: &'a Stage<'_>) -> Option<Case<'a>> {
    let stack = &context.run.stack;
    let issued = stage.sum(|t| t.evidence.issued.write_bytes);
    // A trial of which it is not known is no evidence for the others.
    let added = sum(stage, |t| Some(beyond_own(t, stack)?.journal_bytes))?;
    let times = 1.0 + added as f64 / issued as f64;
    (issued > 0 && times > 1.0 + SHARE).then(|| Case {
        stage,
        kind: Kind::Journal,
        ratio: times,
        by: Vec::new(),
        evidence: format!(
            "{}: {} written, and {} more by the device, which grow with the syncs: {} bytes for \
             each byte written.",
            stage.label(),
            show_size(issued),
            show_size(added),
            ratio(times)
        ),
    })
}

fn copies<'a>(context: &Context<'_>, stage: &'a Stage<'_>) -> Option<Case<'a>> {
    let stack = &context.run.stack;
    let has = |kind| stack.devices.iter().any(|d| d.kind == kind);
    let multiplies = has(DeviceKind::SoftwareRaid) || has(DeviceKind::DeviceMapper);
    if !multiplies || has(DeviceKind::Loop) {
        return None;
    }
    let tops: Vec<&BlockDevice> = roots(stack).collect();
    let leaves: Vec<&BlockDevice> = stack.leaves().collect();
    let both = |devices: &[&BlockDevice]| {
        sum(stage, |t| {
            let read = count(devices, Direction::Read, &t.evidence)?;
            Some(read.saturating_add(count(devices, Direction::Write, &t.evidence)?))
        })
    };
    let (above, below) = (both(&tops)?, both(&leaves)?);
    let times = below as f64 / above as f64;
    let top_names: Vec<&str> = tops.iter().map(|d| d.name.as_str()).collect();
    let names: Vec<&str> = leaves.iter().map(|d| d.name.as_str()).collect();
    (above > 0 && times > 1.0 + SHARE).then(|| Case {
        stage,
        kind: Kind::Copies,
        ratio: times,
        by: Vec::new(),
        evidence: format!(
            "{}: {} on {}, {} on {} together, {} bytes for each byte.",
            stage.label(),
            show_size(above),
            list(&top_names),
            show_size(below),
            list(&names),
            ratio(times)
        ),
    })
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [
        Self::Answered,
        Self::Fewer,
        Self::ReadAhead,
        Self::Journal,
        Self::Copies,
    ];

    pub(super) fn severity(self, cases: &[&Case<'_>]) -> Severity {
        let warns = match self {
            Self::Answered | Self::Fewer => true,
            Self::ReadAhead => cases.iter().any(|c| c.ratio > WASTE),
            Self::Journal | Self::Copies => false,
        };
        if warns {
            Severity::Warning
        } else {
            Severity::Note
        }
    }

    pub(super) fn confidence(self) -> Confidence {
        match self {
            Self::Answered => Confidence::Certain,
            Self::Fewer => Confidence::Possible,
            Self::ReadAhead | Self::Journal | Self::Copies => Confidence::Likely,
        }
    }

    pub(super) fn claim(self, cases: &[&Case<'_>], stages: &[String]) -> String {
        let most = cases.iter().map(|c| c.ratio).fold(0.0, f64::max);
        let least = cases.iter().map(|c| c.ratio).fold(f64::INFINITY, f64::min);
        let stages = stage_list(stages);
        match self {
            Self::Answered => {
                let mut by: Vec<&str> = Vec::new();
                for name in cases.iter().flat_map(|case| &case.by) {
                    if !by.contains(&name.as_str()) {
                        by.push(name);
                    }
                }
                let by = list(&by);
                if least > 1.0 - SHARE {
                    format!("{stages}: answered by {by}; no disk took part.")
                } else {
                    format!(
                        "{stages}: up to {} of the bytes were answered by {by}; no disk took part \
                         in these.",
                        percent(most)
                    )
                }
            }
            Self::Fewer => format!(
                "In {stages} the devices counted only {} of the bytes issued, and no page cache \
                 explains the rest.",
                percent(least)
            ),
            Self::ReadAhead => format!(
                "In {stages} up to {} bytes were fetched for each byte asked for: read-ahead, or \
                 other reads of this process.",
                ratio(most)
            ),
            Self::Journal => format!(
                "In {stages} the device wrote up to {} bytes for each byte written: the \
                 filesystem adds its journal and metadata to each sync.",
                ratio(most)
            ),
            Self::Copies => format!(
                "In {stages} the disks moved up to {} bytes for each byte of the volume: copies \
                 or parity.",
                ratio(most)
            ),
        }
    }

    /// The same in a few words.
    pub(super) fn headline(self, cases: &[&Case<'_>]) -> String {
        let most = cases.iter().map(|c| c.ratio).fold(0.0, f64::max);
        let least = cases.iter().map(|c| c.ratio).fold(f64::INFINITY, f64::min);
        match self {
            Self::Answered => "answered by a mapping: no disk took part".into(),
            Self::Fewer => format!("the devices counted {} of the bytes", percent(least)),
            Self::ReadAhead => format!("{} bytes fetched for each asked for", ratio(most)),
            Self::Journal => format!("{} bytes written for each: the journal", ratio(most)),
            Self::Copies => format!("{} bytes for each: copies or parity", ratio(most)),
        }
    }

    pub(super) fn refuted_by(self) -> &'static str {
        match self {
            Self::Answered => {
                "Bytes counted by a disk below (`iostat -x 1`) that belong to this I/O."
            }
            Self::Fewer => {
                "A file without compressed extents and, under a loop device, a backing file \
                 without holes, that show the same."
            }
            Self::ReadAhead => "The same excess with read-ahead set to 0.",
            Self::Journal => {
                "The same excess on the raw device, or writes of another process that come as often \
                 as the syncs."
            }
            Self::Copies => "Other I/O on the disks that does not go through this volume.",
        }
    }

    pub(super) fn remedy(self, context: &Context<'_>) -> String {
        let run = context.run;
        let given = shell(&run.target.given);
        match self {
            Self::Answered => format!(
                "Write all of the target first: a thin volume has nothing to read where nothing was \
                 written. `dmsetup table` (as root) and `diskfacts devices {given}` show which \
                 mappings there are; one of type `zero`, or `flakey` that drops writes, stores \
                 nothing."
            ),
            Self::Fewer if compresses(&run.stack) => format!(
                "The filesystem compresses; measure a folder, for which diskfacts makes a file \
                 that cannot be compressed, or look at the extents with `filefrag -v {given}`."
            ),
            Self::Fewer => format!(
                "Look for holes in the backing file with `filefrag -v`, and at the stack with \
                 `diskfacts devices {given}`."
            ),
            Self::ReadAhead => match (
                edit_profile(run, "set read_ahead = \"0B\" under [host]"),
                run.stack.top(),
            ) {
                (Some(edit), _) => {
                    format!("If reads are random, {}", lower_first(&edit))
                }
                (None, Some(top)) => format!(
                    "If reads are random, type `blockdev --setra 0 {}` as root and measure again; \
                     `blockdev --getra {}` shows what to put back.",
                    shell(&top.path),
                    shell(&top.path)
                ),
                (None, None) => edit_plan(run, "set cache = \"direct\" in this stage"),
            },
            Self::Journal => "Nothing needs to be done: it is what a commit costs on this \
                              filesystem. To see the device alone, give a raw device that holds \
                              nothing."
                .into(),
            Self::Copies => "Nothing needs to be done: it is what this layout costs.".into(),
        }
    }
}
