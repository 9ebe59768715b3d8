//! Rules: each looks at a run for one thing that makes a figure mean something
//! else than it seems to, and says so with its evidence.
//!
//! A rule is a row of the table in [`all`] and one file. It speaks only when
//! what it needs was observed, names what would refute it, and says what to
//! type. Stages that show the same are one finding that names them all. A
//! healthy run gets no finding of severity warning or above.

mod beside_ended;
mod bytes_disagree;
mod cache_burst;
mod clock;
mod course;
mod cpu_bound;
mod cpu_pressure;
mod cpu_stolen;
mod degraded;
mod depth_not_reached;
mod direct_refused;
mod direct_small_blocks;
pub(crate) mod disturbed;
mod drive_cache;
mod early_acknowledgement;
mod engine_fell_back;
mod flush_cost;
mod flush_not_to_medium;
pub(crate) mod holes;
mod interrupted;
mod io_errors;
mod no_figure;
mod not_durable;
mod other_io;
mod rate_missed;
pub(crate) mod read_ahead_size;
mod read_ahead_trials;
pub(crate) mod requests;
mod rewrite_rate;
mod same_modes;
pub(crate) mod served_by;
mod served_from_cache;
mod stalled;
mod stride_curve;
mod sync_block_size;
mod sync_without_flush;
mod too_few_trials;
mod too_noisy;
mod too_short;
mod unfair_streams;
pub(crate) mod warm_not_cached;
mod warm_up;
mod whole_revolutions;
mod write_choice;
mod write_revolutions;
mod zones;

pub(crate) use cache_burst::of as cache_burst;
pub(crate) use other_io::by_others;
pub(crate) use served_from_cache::SHARE as SERVED_FROM_CACHE;
pub(crate) use too_noisy::NOTE as NOISE;

use crate::device_physics;
use crate::figures;
use crate::medium::Arm;
use crate::stages::{self, Stage};
use diskfacts_record::{BlockDevice, Finding, Run, StageFigures, TargetKind};
use std::cell::OnceCell;

/// What a rule looks at.
#[derive(Debug)]
pub struct Context<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its stages that have trials, in the order of the plan.
    pub stages: Vec<Stage<'a>>,
    /// The figures of these, in the same order.
    pub figures: Vec<StageFigures>,
    /// Its stages that test a claim, with their figures: what limits a stage is held
    /// against them too, and nothing else is said of them.
    pub(crate) tests: Vec<(Stage<'a>, StageFigures)>,
    /// What the rates of stages do as they follow one another; three rules ask for it.
    courses: OnceCell<Vec<(usize, course::Told)>>,
    /// What its reads say of an arm.
    arm: OnceCell<Arm>,
}

impl<'a> Context<'a> {
    /// Sorts the trials of a run into stages and works out their figures.
    pub fn new(run: &'a Run) -> Self {
        let stages = stages::of(run);
        let figures = |stage: &Stage<'a>| figures::of_stage(run, stage);
        let tests = stages::tests(run).into_iter();
        Self {
            run,
            figures: stages.iter().map(figures).collect(),
            stages,
            tests: tests
                .map(|stage| {
                    let figures = figures(&stage);
                    (stage, figures)
                })
                .collect(),
            courses: OnceCell::new(),
            arm: OnceCell::new(),
        }
    }

    /// The disks under the target that turn, as far as that is to be believed.
    pub(crate) fn turning(&self) -> impl Iterator<Item = &'a BlockDevice> {
        let (run, arm) = (self.run, *self.arm.get_or_init(|| Arm::of(self.run)));
        let turns = move |leaf: &&BlockDevice| arm.turns(run, leaf) == Some(true);
        run.stack.leaves().filter(turns)
    }

    /// Whether all disks turn, or none; `None` when they differ or when it is not known.
    pub(crate) fn all_turn(&self) -> Option<bool> {
        let arm = *self.arm.get_or_init(|| Arm::of(self.run));
        let mut each = self
            .run
            .stack
            .leaves()
            .map(|leaf| arm.turns(self.run, leaf));
        let first = each.next()??;
        each.all(|other| other == Some(first)).then_some(first)
    }

    /// Whether the run was read from a document.
    pub(crate) fn is_imported(&self) -> bool {
        self.run.target.kind == TargetKind::Imported
    }

    /// Each stage with its figures.
    pub fn each(&self) -> impl Iterator<Item = (&Stage<'a>, &StageFigures)> {
        self.stages.iter().zip(&self.figures)
    }

    /// The stages, by their place, whose rates follow a pattern.
    fn courses(&self) -> &[(usize, course::Told)] {
        self.courses.get_or_init(|| course::of_stages(&self.stages))
    }

    /// Each stage that did something, on a real disk or a simulated one.
    fn doing_something(&self) -> impl Iterator<Item = (&Stage<'a>, &StageFigures)> {
        self.each().filter(|(stage, _)| !stage.is_null())
    }

    /// Each of these that read or wrote blocks of the target. What is done to
    /// the files of a folder is names and attributes: its bytes are not those of
    /// the target, and a filesystem writes them when it likes.
    fn doing_io(&self) -> impl Iterator<Item = (&Stage<'a>, &StageFigures)> {
        self.doing_something()
            .filter(|(stage, _)| !stage.workload().operation.on_files())
    }
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name, as in [`Finding::rule`]: `served-from-cache`.
    pub name: &'static str,
    /// What it finds, in a few words.
    pub about: &'static str,
    /// What it finds in a run; empty when there is nothing to say.
    pub check: fn(&Context<'_>) -> Vec<Finding>,
}

/// All rules; among findings of the same severity and confidence, those of
/// earlier rules come first.
pub fn all() -> &'static [Rule] {
    RULES
}

const RULES: &[Rule] = &[
    Rule {
        name: degraded::NAME,
        about: "an array, a filesystem or a path is not sound",
        check: degraded::check,
    },
    Rule {
        name: io_errors::NAME,
        about: "operations failed",
        check: io_errors::check,
    },
    Rule {
        name: interrupted::NAME,
        about: "the run did not do all that was planned",
        check: interrupted::check,
    },
    Rule {
        name: beside_ended::NAME,
        about: "what was to run beside a trial ended before it",
        check: beside_ended::check,
    },
    Rule {
        name: served_from_cache::NAME,
        about: "bytes that were meant to reach a device were served by memory",
        check: served_from_cache::check,
    },
    Rule {
        name: holes::NAME,
        about: "the file has parts without data, which are read without any I/O",
        check: holes::check,
    },
    Rule {
        name: direct_refused::NAME,
        about: "direct I/O was asked for and not done",
        check: direct_refused::check,
    },
    Rule {
        name: bytes_disagree::NAME,
        about: "the device moved more or fewer bytes than were issued",
        check: bytes_disagree::check,
    },
    Rule {
        name: sync_without_flush::NAME,
        about: "syncs did not flush a volatile write cache",
        check: sync_without_flush::check,
    },
    Rule {
        name: flush_not_to_medium::NAME,
        about: "syncs came back sooner than the medium can turn",
        check: flush_not_to_medium::check,
    },
    Rule {
        name: cache_burst::NAME,
        about: "a write cache took what was written faster than the medium streams",
        check: cache_burst::check,
    },
    Rule {
        name: other_io::NAME,
        about: "others used the same device during a trial",
        check: other_io::check,
    },
    Rule {
        name: warm_not_cached::NAME,
        about: "a stage that reads from memory had to read from the device",
        check: warm_not_cached::check,
    },
    Rule {
        name: cpu_bound::NAME,
        about: "a processor was the limit, not the device",
        check: cpu_bound::check,
    },
    Rule {
        name: depth_not_reached::NAME,
        about: "fewer operations were in flight than asked for",
        check: depth_not_reached::check,
    },
    Rule {
        name: engine_fell_back::NAME,
        about: "another engine than the one asked for did the operations",
        check: engine_fell_back::check,
    },
    Rule {
        name: rate_missed::NAME,
        about: "an open loop fell behind its rate",
        check: rate_missed::check,
    },
    Rule {
        name: disturbed::NAME,
        about: "what a stage loses to what runs beside it",
        check: disturbed::check,
    },
    Rule {
        name: served_by::NAME,
        about: "it matters in whose name the threads of a pool do I/O",
        check: served_by::check,
    },
    Rule {
        name: crate::read_ahead::PATTERN,
        about: "read-ahead loses the pattern of a stream",
        check: read_ahead_trials::pattern,
    },
    Rule {
        name: crate::read_ahead::LIMIT,
        about: "read-ahead has grown to its limit, and that is small",
        check: read_ahead_trials::limit,
    },
    Rule {
        name: crate::read_ahead::UNUSED,
        about: "what was read ahead was not used",
        check: read_ahead_trials::unused,
    },
    Rule {
        name: unfair_streams::NAME,
        about: "streams that were to do the same got very different shares",
        check: unfair_streams::check,
    },
    Rule {
        name: stalled::NAME,
        about: "nothing was completed for a while in the middle of a trial",
        check: stalled::check,
    },
    Rule {
        name: warm_up::NAME,
        about: "the first trial differs from the later ones",
        check: warm_up::check,
    },
    Rule {
        name: course::CHANGE,
        about: "the rate went from one level to another",
        check: course::change,
    },
    Rule {
        name: course::DRIFT,
        about: "the rate rose or fell all the time",
        check: course::drift,
    },
    Rule {
        name: course::MODES,
        about: "the rate came and went between two levels",
        check: course::modes,
    },
    Rule {
        name: too_noisy::NAME,
        about: "the trials of a stage differ too much",
        check: too_noisy::check,
    },
    Rule {
        name: too_short::NAME,
        about: "trials are too short to stand for more than themselves",
        check: too_short::check,
    },
    Rule {
        name: no_figure::NAME,
        about: "trials have a rate of zero or below, or no operation completed in them",
        check: no_figure::check,
    },
    Rule {
        name: too_few_trials::NAME,
        about: "too few trials to state a spread",
        check: too_few_trials::check,
    },
    Rule {
        name: clock::NAME,
        about: "the clock cannot be trusted",
        check: clock::check,
    },
    Rule {
        name: cpu_pressure::NAME,
        about: "tasks waited for a processor during a trial",
        check: cpu_pressure::check,
    },
    Rule {
        name: cpu_stolen::NAME,
        about: "the hypervisor gave processor time to others during a trial",
        check: cpu_stolen::check,
    },
    Rule {
        name: not_durable::NAME,
        about: "write figures are acknowledgements of a volatile cache",
        check: not_durable::check,
    },
    Rule {
        name: requests::NAME,
        about: "what the device saw of buffered and of direct writes",
        check: requests::check,
    },
    Rule {
        name: write_choice::NAME,
        about: "which way to write suits a log, a database and bulk data",
        check: write_choice::check,
    },
    Rule {
        name: sync_block_size::NAME,
        about: "the smallest block at which synced writes are nearly as fast as a stream",
        check: sync_block_size::check,
    },
    Rule {
        name: rewrite_rate::NAME,
        about: "how rewriting follows from reading and writing",
        check: rewrite_rate::check,
    },
    Rule {
        name: read_ahead_size::NAME,
        about: "what the size of the read-ahead does",
        check: read_ahead_size::check,
    },
    Rule {
        name: whole_revolutions::NAME,
        about: "each synced write waits for whole revolutions of the disk",
        check: whole_revolutions::check,
    },
    Rule {
        name: flush_cost::NAME,
        about: "what a sync costs on top of a write",
        check: flush_cost::check,
    },
    Rule {
        name: early_acknowledgement::NAME,
        about: "the drive acknowledges writes before its medium has them",
        check: early_acknowledgement::check,
    },
    Rule {
        name: same_modes::NAME,
        about: "ways to write that are the same thing here",
        check: same_modes::check,
    },
    Rule {
        name: stride_curve::NAME,
        about: "where a disk stops streaming and starts seeking",
        check: stride_curve::check,
    },
    Rule {
        name: zones::NAME,
        about: "the rate depends on the position on the target",
        check: zones::check,
    },
    Rule {
        name: direct_small_blocks::NAME,
        about: "what small direct operations cost beside the time of their bytes",
        check: direct_small_blocks::check,
    },
    Rule {
        name: drive_cache::NAME,
        about: "how much the cache of the drive keeps",
        check: drive_cache::check,
    },
    Rule {
        name: write_revolutions::NAME,
        about: "writes without the drive's cache wait for whole revolutions",
        check: write_revolutions::check,
    },
];

/// The rules that rest on what a drive is made of: platters, their revolutions and zones, a
/// cache of its own. [`device_physics`](crate::device_physics) says of which devices.
pub(crate) const OF_HARDWARE: [&str; 8] = [
    flush_not_to_medium::NAME,
    cache_burst::NAME,
    whole_revolutions::NAME,
    early_acknowledgement::NAME,
    stride_curve::NAME,
    zones::NAME,
    drive_cache::NAME,
    write_revolutions::NAME,
];

/// The rules that look at figures alone, or know how to speak of them alone.
const OF_FIGURES: [&str; 13] = [
    no_figure::NAME,
    too_noisy::NAME,
    same_modes::NAME,
    write_choice::NAME,
    sync_block_size::NAME,
    rewrite_rate::NAME,
    read_ahead_size::NAME,
    disturbed::NAME,
    stride_curve::NAME,
    whole_revolutions::NAME,
    direct_small_blocks::NAME,
    drive_cache::NAME,
    write_revolutions::NAME,
];

/// What the rules find in a run, in their order.
///
/// An imported run carries figures and no evidence, so only the rules that look at figures
/// alone may speak of it.
pub(crate) fn found_in(context: &Context<'_>) -> Vec<Finding> {
    let imported = context.is_imported();
    RULES
        .iter()
        .filter(|rule| !imported || OF_FIGURES.contains(&rule.name))
        .filter(|rule| device_physics::may_find(rule.name, context.run))
        .flat_map(|rule| (rule.check)(context))
        .collect()
}

/// Names of stages for a finding, each once.
pub(crate) fn names<'a>(stages: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in stages {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests;
