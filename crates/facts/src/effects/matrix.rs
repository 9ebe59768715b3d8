//! The cells of a matrix, their axes and their noise.

use super::in_force::is_in_force;
use super::noise::{self, Repeats};
use crate::figures::figure;
use crate::stages::Stage;
use crate::stats::Mean;
use diskfacts_record::effects::{Axis, CellRate, RateOf, Settings};
use diskfacts_record::{Figure, Run, StageEffects, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// Trials of one cell below which a matrix does not say what noise is, and nothing is
/// tested: of two, both may have been disturbed.
const TRIALS_MIN: usize = 3;

/// Most cells of a matrix that is looked at, as of a plan file.
const CELLS_MAX: usize = diskfacts_plan::file::CELLS_MAX;

/// One cell.
#[derive(Debug)]
pub(super) struct Cell {
    settings: Settings,
    /// Logarithms of the rates of the trials that count.
    logs: Vec<f64>,
    rate: Option<Figure>,
    in_force: Option<bool>,
    missing: Option<String>,
    /// The mean of the logarithms; `None` without a trial, or when nothing says what
    /// noise is.
    pub(super) mean: Option<Mean>,
}

/// The matrix of one stage.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    name: &'a str,
    rate: RateOf,
    pub(super) axes: Vec<Axis>,
    /// Each combination of the values of the axes, the last one changing fastest; `None`
    /// for those that are neither in the plan nor among the trials.
    pub(super) cells: Vec<Option<Cell>>,
    /// Degrees of freedom of the noise of all cells; 0 where nothing is repeated.
    pub(super) df: f64,
    noise: Option<f64>,
}

/// The matrices of a run, in the order of its plan.
pub(super) fn of<'a>(run: &'a Run, stages: &[Stage<'a>]) -> Vec<Matrix<'a>> {
    let planned = run.plan.stages.iter();
    let planned = planned.map(|stage| (stage.name.as_str(), &stage.settings));
    let measured = stages.iter();
    let measured = measured.map(|stage| (stage.name, stage.settings));
    let mut names: Vec<&str> = Vec::new();
    let mut known: BTreeMap<&str, Vec<&Settings>> = BTreeMap::new();
    for (name, settings) in planned.chain(measured) {
        if settings.is_empty() {
            continue;
        }
        let cells = known.entry(name).or_insert_with(|| {
            names.push(name);
            Vec::new()
        });
        cells.push(settings);
    }
    let matrices = names.into_iter();
    matrices
        .filter_map(|name| Matrix::new((run, stages), name, &known[name]))
        .collect()
}

impl<'a> Matrix<'a> {
    /// The matrix of the stage of this name, whose cells are known to be these; `None`
    /// when they are no crossing of axes.
    fn new(
        (run, stages): (&'a Run, &[Stage<'a>]),
        name: &'a str,
        known: &[&Settings],
    ) -> Option<Self> {
        let mut axes = axes(known)?;
        let count = axes
            .iter()
            .try_fold(1_usize, |all, axis| all.checked_mul(axis.values.len()))?;
        let distinct: BTreeSet<&Settings> = known.iter().copied().collect();
        // Cells that are scattered over many names do not show what one of them does.
        if !(2..=CELLS_MAX).contains(&count) || distinct.len() * 2 < count {
            return None;
        }
        let stages = stages.iter().filter(|stage| stage.name == name);
        let stages: BTreeMap<&Settings, &Stage<'_>> =
            stages.map(|stage| (stage.settings, stage)).collect();
        let trials = stages.values().flat_map(|stage| &stage.trials);
        let rate = if trials.clone().any(|trial| trial.bytes > 0) {
            RateOf::ThroughputBytesPerS
        } else {
            RateOf::Iops
        };
        choose(run, name, &mut axes);
        let planned = run.plan.stages.iter().filter(|stage| stage.name == name);
        let planned: BTreeMap<&Settings, &diskfacts_plan::Stage> =
            planned.map(|stage| (&stage.settings, stage)).collect();
        let mut cells: Vec<Option<Cell>> = std::iter::repeat_with(|| None).take(count).collect();
        for settings in distinct {
            let place = place(&axes, settings)?;
            let in_force = planned
                .get(settings)
                .and_then(|stage| is_in_force(&run.stack, stage));
            let stage = stages.get(settings).copied();
            cells[place] = Some(Cell {
                in_force,
                ..Cell::new(settings, stage, rate)
            });
        }
        let mut matrix = Self {
            name,
            rate,
            axes,
            cells,
            df: 0.0,
            noise: None,
        };
        matrix.find_noise();
        matrix
            .cells
            .iter()
            .flatten()
            .any(|cell| cell.rate.is_some())
            .then_some(matrix)
    }

    /// What noise is in each cell, and so how sure the means are.
    fn find_noise(&mut self) {
        let repeats: Vec<Repeats> = (0..self.cells.len())
            .filter_map(|place| {
                let logs = &self.cells[place].as_ref()?.logs;
                (!logs.is_empty()).then(|| Repeats::of(self.digits(place), logs))
            })
            .collect();
        let measured = self.cells.iter_mut().flatten();
        let measured = measured.filter(|cell| !cell.logs.is_empty());
        for (cell, (of, variance)) in measured.zip(repeats.iter().zip(noise::variances(&repeats))) {
            cell.mean = variance.map(|variance| Mean {
                value: of.mean,
                square: variance.value / cell.logs.len() as f64,
                df: variance.df,
            });
        }
        let all = noise::pooled(&repeats);
        self.df = all.map_or(0.0, |all| all.df);
        self.noise = all.map(|all| all.value.sqrt());
    }

    /// Whether it says what noise is: a cell has trials enough, and others have some.
    pub(super) fn is_tested(&self) -> bool {
        let counts = || self.cells.iter().flatten().map(|cell| cell.logs.len());
        counts().any(|count| count >= TRIALS_MIN)
    }

    /// The values of the cell at this place, as places on the axes.
    pub(super) fn digits(&self, place: usize) -> Vec<usize> {
        let mut rest = place;
        let mut digits: Vec<usize> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let digit = rest % axis.values.len();
                rest /= axis.values.len();
                digit
            })
            .collect();
        digits.reverse();
        digits
    }

    /// The mean at this place, if there is one.
    pub(super) fn mean(&self, place: usize) -> Option<Mean> {
        self.cells[place].as_ref()?.mean
    }

    /// Whether the settings of the kernel at this place are those in force.
    pub(super) fn in_force(&self, place: usize) -> Option<bool> {
        self.cells[place].as_ref()?.in_force
    }

    /// The values of some axes at this place, by name.
    pub(super) fn settings(&self, place: usize, of: impl Fn(&Axis) -> bool) -> Settings {
        let digits = self.digits(place);
        let axes = self.axes.iter().zip(digits).filter(|(axis, _)| of(axis));
        axes.map(|(axis, digit)| (axis.name.clone(), axis.values[digit].clone()))
            .collect()
    }

    /// The matrix with its cells, and nothing worked out from them yet.
    pub(super) fn described(&self) -> StageEffects {
        let cells = self.cells.iter().flatten();
        let mut unknown = Vec::new();
        if !self.is_tested() {
            unknown.push(
                "No combination was measured three times, so no difference can be told from \
                 noise; --trials 5 measures each five times."
                    .to_owned(),
            );
        }
        StageEffects {
            stage: self.name.to_owned(),
            rate: self.rate,
            axes: self.axes.clone(),
            cells: cells
                .map(|cell| CellRate {
                    settings: cell.settings.clone(),
                    rate: cell.rate,
                    in_force: cell.in_force,
                    missing: cell.missing.clone(),
                })
                .collect(),
            noise: self.noise,
            main_effects: Vec::new(),
            interactions: Vec::new(),
            answers: Vec::new(),
            unknown,
        }
    }
}

impl Cell {
    /// A cell with these settings and the trials of this stage, if it has any.
    fn new(settings: &Settings, stage: Option<&Stage<'_>>, rate: RateOf) -> Self {
        let mut faults: Vec<&'static str> = Vec::new();
        let mut rates = Vec::new();
        for trial in stage.iter().flat_map(|stage| &stage.trials) {
            match usable(trial, rate) {
                Ok(rate) => rates.push(rate),
                Err(fault) if faults.contains(&fault) => {}
                Err(fault) => faults.push(fault),
            }
        }
        if stage.is_none() {
            faults.push("it was not measured");
        }
        Self {
            settings: settings.clone(),
            rate: (!rates.is_empty()).then(|| figure(rates.iter().copied())),
            logs: rates.iter().map(|rate| rate.ln()).collect(),
            in_force: None,
            missing: (!faults.is_empty()).then(|| faults.join("; ")),
            mean: None,
        }
    }
}

/// The rate of a trial that may stand for its cell, else why it may not.
fn usable(trial: &Trial, rate: RateOf) -> Result<f64, &'static str> {
    let rate = match rate {
        RateOf::ThroughputBytesPerS => trial.throughput_bytes_per_s,
        RateOf::Iops => trial.iops,
    };
    if trial.errors > 0 {
        Err("operations failed")
    } else if trial.direct_refused().is_some() {
        Err("direct I/O was refused")
    } else if rate.is_finite() && rate > 0.0 {
        Ok(rate)
    } else {
        Err("nothing was done in its time")
    }
}

/// What varies among these cells, with its values in the order of their appearance;
/// `None` when a cell lacks one.
fn axes(cells: &[&Settings]) -> Option<Vec<Axis>> {
    let first = cells.first()?;
    let mut axes: Vec<Axis> = first
        .keys()
        .map(|name| Axis {
            name: name.clone(),
            values: Vec::new(),
            choice: false,
        })
        .collect();
    for cell in cells {
        if cell.len() != axes.len() {
            return None;
        }
        for axis in &mut axes {
            let value = cell.get(&axis.name)?;
            if !axis.values.contains(value) {
                axis.values.push(value.clone());
            }
            if axis.values.len() > CELLS_MAX {
                return None;
            }
        }
    }
    axes.retain(|axis| axis.values.len() > 1);
    (!axes.is_empty()).then_some(axes)
}

/// Says which of the axes are to be chosen: those that the plan names, and those whose
/// values set the kernel and nothing else.
fn choose(run: &Run, name: &str, axes: &mut [Axis]) {
    let plan = &run.plan;
    let stages: Vec<&diskfacts_plan::Stage> = plan
        .stages
        .iter()
        .filter(|stage| stage.name == name)
        .collect();
    for axis in axes {
        axis.choice = plan.choose.contains(&axis.name) || sets_the_kernel(&stages, &axis.name);
    }
}

/// Whether stages that differ in this axis alone differ in what they ask of the kernel,
/// and in nothing else.
fn sets_the_kernel(stages: &[&diskfacts_plan::Stage], axis: &str) -> bool {
    let mut first: BTreeMap<Vec<(&String, &String)>, &diskfacts_plan::Stage> = BTreeMap::new();
    let mut differs = false;
    for stage in stages {
        let others = stage.settings.iter().filter(|(name, _)| *name != axis);
        let known = *first.entry(others.collect()).or_insert(stage);
        if known.workload != stage.workload {
            return false;
        }
        differs |= known.kernel != stage.kernel;
    }
    differs
}

/// The place of the cell with these settings.
fn place(axes: &[Axis], settings: &Settings) -> Option<usize> {
    axes.iter().try_fold(0, |place, axis| {
        let value = settings.get(&axis.name)?;
        let digit = axis.values.iter().position(|known| known == value)?;
        Some(place * axis.values.len() + digit)
    })
}
