//! Rules: each looks at a run for one thing that makes a figure mean something
//! else than it seems to, and says so with its evidence.
//!
//! A rule is a row of the table in [`all`] and one file. It speaks only when
//! what it needs was observed (`Needs`), names what would refute it, and says what
//! to type. Stages that show the same (`Shown`) are one finding that names them all. A
//! healthy run gets no finding of severity warning or above.

mod beside_ended;
mod bytes_disagree;
mod cache_burst;
mod clock;
mod cpu_bound;
mod cpu_pressure;
mod cpu_stolen;
mod cpu_varies;
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
mod rate_patterns;
pub(crate) mod read_ahead_size;
mod read_ahead_trials;
pub(crate) mod requests;
mod rewrite_rate;
mod rule;
mod same_modes;
pub(crate) mod served_by;
mod served_from_cache;
mod shown;
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
pub use rule::Rule;
pub(crate) use rule::{Check, Needs, Part, Shared, likely_if, warning_if};
pub(crate) use served_from_cache::SHARE as SERVED_FROM_CACHE;
pub(crate) use shown::join;
pub(crate) use too_noisy::NOTE as NOISE;

use crate::course::Course;
use crate::figures;
use crate::medium::Arm;
use crate::stages::{self, Stage};
use crate::write_matrix::Matrix;
use diskfacts_record::{BlockDevice, Run, StageFigures, TargetKind};
use shown::Shown;
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
    courses: OnceCell<Vec<Option<(Course, String)>>>,
    /// What its reads say of an arm.
    arm: OnceCell<Arm>,
    /// Its writes as a matrix of ways and block sizes, where they make one.
    pub(crate) matrix: Option<Matrix<'a>>,
}

impl<'a> Context<'a> {
    /// Sorts the trials of a run into stages and works out their figures.
    pub fn new(run: &'a Run) -> Self {
        let stages = stages::of(run);
        let figures = |stage: &Stage<'a>| figures::of_stage(run, stage);
        let tests = stages::tests(run).into_iter();
        let mut context = Self {
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
            matrix: None,
        };
        context.matrix = Matrix::of(&context);
        context
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

    /// The pattern that the rates of each stage follow, in the order of the stages.
    fn courses(&self) -> &[Option<(Course, String)>] {
        let told = || self.stages.iter().map(rate_patterns::told).collect();
        self.courses.get_or_init(told)
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

/// All rules; among findings of the same severity and confidence, those of
/// earlier rules come first.
pub fn all() -> &'static [Rule] {
    RULES
}

const RULES: &[Rule] = &[
    degraded::RULE,
    io_errors::RULE,
    interrupted::RULE,
    beside_ended::RULE,
    served_from_cache::RULE,
    holes::RULE,
    direct_refused::RULE,
    bytes_disagree::RULE,
    sync_without_flush::RULE,
    flush_not_to_medium::RULE,
    cache_burst::RULE,
    other_io::RULE,
    warm_not_cached::RULE,
    cpu_bound::RULE,
    depth_not_reached::RULE,
    engine_fell_back::RULE,
    rate_missed::RULE,
    disturbed::RULE,
    served_by::RULE,
    read_ahead_trials::PATTERN,
    read_ahead_trials::LIMIT,
    read_ahead_trials::UNUSED,
    unfair_streams::RULE,
    stalled::RULE,
    cpu_varies::RULE,
    warm_up::RULE,
    rate_patterns::CHANGE,
    rate_patterns::DRIFT,
    rate_patterns::MODES,
    too_noisy::RULE,
    too_short::RULE,
    no_figure::RULE,
    too_few_trials::RULE,
    clock::RULE,
    cpu_pressure::RULE,
    cpu_stolen::RULE,
    not_durable::RULE,
    requests::RULE,
    write_choice::RULE,
    sync_block_size::RULE,
    rewrite_rate::RULE,
    read_ahead_size::RULE,
    whole_revolutions::RULE,
    flush_cost::RULE,
    early_acknowledgement::RULE,
    same_modes::RULE,
    stride_curve::RULE,
    zones::RULE,
    direct_small_blocks::RULE,
    drive_cache::RULE,
    write_revolutions::RULE,
];

/// The rules that rest on what a drive is made of.
#[cfg(test)]
pub(crate) fn of_drives() -> impl Iterator<Item = &'static str> {
    let rules = RULES
        .iter()
        .filter(|rule| rule.needs.contains(&Needs::Drives));
    rules.map(|rule| rule.name)
}

/// The rate of a stage without errors, bytes per second.
pub(crate) fn rate(figures: &StageFigures) -> Option<f64> {
    let rate = figures.throughput_bytes_per_s.median;
    (figures.errors == 0 && rate.is_finite() && rate > 0.0).then_some(rate)
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
