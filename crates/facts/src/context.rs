//! A run, its stages and their figures.

use crate::course;
use crate::figures;
use crate::medium::Arm;
use crate::revolution::Spindle;
use crate::stage_facts::StageFacts;
use crate::stage_facts::overlay::Pace;
use crate::stages::{self, Stage, one_value};
use crate::write_matrix::{Matrix, Revolution};
use diskfacts_record::{BlockDevice, Run, StageFigures, TargetKind};
use std::cell::OnceCell;

/// A run with its stages and their figures: what all that follows from it is asked of.
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
    courses: OnceCell<Vec<Option<course::OfStage>>>,
    /// What its reads say of an arm.
    arm: OnceCell<Arm>,
    /// How fast its disks turn, and the best rate of a stream of its medium, bytes/s.
    pub(crate) spindle: OnceCell<Spindle>,
    pub(crate) stream_rate: OnceCell<Option<f64>>,
    /// The exact paces of all stages that moved blocks, where they have one.
    pub(crate) paces: OnceCell<Vec<Option<Pace>>>,
    /// Whether its small operations are held at one rate.
    pub(crate) operations_held: OnceCell<bool>,
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
            spindle: OnceCell::new(),
            stream_rate: OnceCell::new(),
            paces: OnceCell::new(),
            operations_held: OnceCell::new(),
            matrix: None,
        };
        context.matrix = Matrix::of(run, context.each());
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
        let leaves = self.run.stack.leaves();
        one_value(leaves.map(|leaf| arm.turns(self.run, leaf)))?
    }

    /// The whole revolutions that its small synced writes wait for. A document does not say what its
    /// target is; the waits of one disk fit or not.
    pub(crate) fn revolution(&self) -> Option<Revolution> {
        let disks = if self.is_imported() {
            1
        } else {
            self.turning().count()
        };
        Revolution::of(self.matrix.as_ref()?, disks)
    }

    /// Whether the run was read from a document.
    pub(crate) fn is_imported(&self) -> bool {
        self.run.target.kind == TargetKind::Imported
    }

    /// Each stage with its figures.
    pub fn each(&self) -> impl Iterator<Item = (&Stage<'a>, &StageFigures)> {
        self.stages.iter().zip(&self.figures)
    }

    /// Each stage.
    pub(crate) fn facts(&self) -> impl Iterator<Item = StageFacts<'_>> {
        let each = self.each().enumerate();
        each.map(|(place, (stage, figures))| StageFacts::new(self, stage, figures).at(place))
    }

    /// [What the rates](course::of_stage) of the stage at this place do.
    pub(crate) fn course(&self, place: usize) -> Option<&course::OfStage> {
        let all = || self.stages.iter().map(course::of_stage).collect();
        self.courses.get_or_init(all).get(place)?.as_ref()
    }

    /// Each stage that did something, on a real disk or a simulated one.
    pub(crate) fn doing_something(&self) -> impl Iterator<Item = (&Stage<'a>, &StageFigures)> {
        self.each().filter(|(stage, _)| !stage.is_null())
    }

    /// Each of these that read or wrote blocks of the target. What is done to
    /// the files of a folder is names and attributes: its bytes are not those of
    /// the target, and a filesystem writes them when it likes.
    pub(crate) fn doing_io(&self) -> impl Iterator<Item = (&Stage<'a>, &StageFigures)> {
        self.doing_something()
            .filter(|(stage, _)| !stage.workload().operation.on_files())
    }
}
