//! The trials of a run, by stage and setting.

use crate::stats;
use diskfacts_plan::plan::stage_label;
use diskfacts_plan::{Pattern, Workload};
use diskfacts_record::trial::Histograms;
use diskfacts_record::{Packed, PackedHistograms, Run, Trial};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The trials of one stage under one combination of kernel settings.
#[derive(Debug, Clone)]
pub struct Stage<'a> {
    /// Name of the stage.
    pub name: &'a str,
    /// What was varied, by name: keys of a plan, kernel settings.
    pub settings: &'a BTreeMap<String, String>,
    /// Its trials in the order of execution, at least one: those in which operations
    /// completed and none failed. A trial with errors did other work than the others, a
    /// device that was unplugged in its middle has a rate of next to nothing, and where no
    /// operation was due in a trial nothing was measured. Where there is no other, all of
    /// them, and there is no figure ([`Stage::is_sound`]).
    pub trials: Vec<&'a Trial>,
    /// Trials that are left out of `trials`: operations failed in them, or none completed.
    pub failed: Vec<&'a Trial>,
    /// Whether `trials` may have figures.
    sound: bool,
    /// All histograms together: several rules and limits ask for them. Packed,
    /// because a matrix may have thousands of stages.
    latencies: OnceCell<Option<PackedHistograms>>,
}

impl<'a> Stage<'a> {
    /// What was asked for. All trials of a stage were asked for the same.
    pub fn workload(&self) -> &'a Workload {
        &self.trials[0].workload
    }

    /// Whether its trials may have figures: there is one in which operations completed and
    /// none failed.
    pub fn is_sound(&self) -> bool {
        self.sound
    }

    /// Whether nothing was done in any trial, and nothing failed.
    pub(crate) fn is_idle(&self) -> bool {
        !self.sound && self.trials.iter().all(|trial| trial.errors == 0)
    }

    /// All trials, those that failed too.
    pub fn all_trials(&self) -> impl Iterator<Item = &'a Trial> {
        self.trials.iter().chain(&self.failed).copied()
    }

    /// Leaves trials with errors out, and those in which nothing was done, if there are
    /// others. A copy goes on behind errors because it was told to (`conv=noerror`), and its
    /// figure is that of what was done. A document may know rates and not operations.
    fn leave_failed_out(&mut self, imported: bool) {
        let is_done = |trial: &Trial| trial.errors == 0 && (imported || trial.ops > 0);
        let done = |trial: &&Trial| is_done(trial) || trial.workload.copy.is_some();
        self.sound = self.trials.iter().any(&done);
        if self.sound {
            (self.trials, self.failed) = self.trials.iter().partition(|trial| done(trial));
        }
    }

    /// The name, with the settings where there are any:
    /// `random-read-qd32 (scheduler=none)`.
    pub fn label(&self) -> String {
        stage_label(self.name, self.settings)
    }

    /// The lines of the document of an imported stage, in the order of its trials.
    pub(crate) fn lines(&self) -> Vec<u64> {
        self.trials.iter().filter_map(|trial| trial.line).collect()
    }

    /// Latencies of all operations of all trials together; `None` when there are
    /// none, or when some of them were not loaded, because a part of the latencies
    /// must not pass for all.
    pub(crate) fn latencies(&self) -> Option<Histograms> {
        let merged = || {
            let samples = self.sum(|trial| trial.latency_ns.samples);
            let loaded = self.sum(|trial| {
                let measured = trial.histograms.measured(&trial.workload);
                measured.map(Packed::count).fold(0, u64::saturating_add)
            });
            // An import may have many stages, and no latencies.
            if loaded == 0 || loaded != samples {
                return None;
            }
            // Nothing was ever so fast: the store is damaged, and no sum can be kept.
            if self.sum(|trial| trial.histograms.count()) > u64::MAX / 2 {
                return None;
            }
            let mut all = Histograms::default();
            for trial in &self.trials {
                trial.histograms.add_to(&mut all);
            }
            Some(PackedHistograms::from(&all))
        };
        let packed = self.latencies.get_or_init(merged).as_ref();
        packed.map(PackedHistograms::unpack)
    }

    /// Bytes per second of each trial, in their order.
    pub(crate) fn rates(&self) -> Vec<f64> {
        let trials = self.trials.iter();
        trials.map(|trial| trial.throughput_bytes_per_s).collect()
    }

    /// Sum over the trials.
    pub(crate) fn sum(&self, of: impl Fn(&Trial) -> u64) -> u64 {
        self.trials
            .iter()
            .map(|t| of(t))
            .fold(0, u64::saturating_add)
    }

    /// Sum over the trials; `None` where one of them does not know it.
    pub(crate) fn known(&self, of: impl Fn(&Trial) -> Option<u64>) -> Option<u64> {
        self.trials.iter().map(|t| of(t)).sum()
    }

    /// How long its trials took together, seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.trials.iter().map(|t| t.seconds).sum()
    }

    /// Median over the trials that know it.
    pub(crate) fn median(&self, of: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
        stats::median_of(self.trials.iter().filter_map(|t| of(t)))
    }

    /// Whether blocks are visited in order: at a distance of one block too.
    pub(crate) fn in_order(&self) -> bool {
        matches!(
            self.workload().pattern,
            Pattern::Sequential | Pattern::Stride { skip_blocks: 1, .. }
        )
    }

    /// Whether this key of the workload is known: a document need not say it.
    pub(crate) fn says(&self, key: &str) -> bool {
        let mut trials = self.trials.iter();
        trials.all(|trial| !trial.unsaid.iter().any(|unsaid| unsaid == key))
    }

    /// Whether no I/O was meant to be done.
    pub(crate) fn is_null(&self) -> bool {
        self.trials.iter().any(|t| t.evidence.engine.name == "null")
    }
}

/// The name and the settings of a stage.
type Cell<'a> = (&'a str, &'a BTreeMap<String, String>);

/// The stages of a run that have trials, in the order of the plan; a stage that
/// the plan does not know (an import may have some) after these. Without those that test
/// a claim, whose figures nobody asked for.
pub(crate) fn of(run: &Run) -> Vec<Stage<'_>> {
    that(run, |name| !run.is_test(name))
}

/// Those that test a claim.
pub(crate) fn tests(run: &Run) -> Vec<Stage<'_>> {
    that(run, |name| run.is_test(name))
}

/// The stages of these names.
fn that(run: &Run, wanted: impl Fn(&str) -> bool) -> Vec<Stage<'_>> {
    let mut stages: Vec<Stage<'_>> = Vec::new();
    // An import may have 100,000 stages, so none is searched for.
    let mut places: BTreeMap<Cell<'_>, usize> = BTreeMap::new();
    for trial in run.trials.iter().filter(|trial| wanted(&trial.stage)) {
        let place = *places
            .entry((&trial.stage, &trial.settings))
            .or_insert(stages.len());
        if place == stages.len() {
            stages.push(Stage {
                name: &trial.stage,
                settings: &trial.settings,
                trials: Vec::new(),
                failed: Vec::new(),
                sound: true,
                latencies: OnceCell::new(),
            });
        }
        stages[place].trials.push(trial);
    }
    for stage in &mut stages {
        stage.trials.sort_by_key(|t| (t.number, t.order));
        stage.leave_failed_out(run.run.source.is_some());
    }
    // Kernel settings may have been varied besides those of the plan.
    let is_cell = |cell: &diskfacts_plan::Stage, stage: &Stage<'_>| {
        cell.name == stage.name
            && cell
                .settings
                .iter()
                .all(|(key, value)| stage.settings.get(key) == Some(value))
    };
    let mut planned: BTreeMap<Cell<'_>, usize> = BTreeMap::new();
    for (at, stage) in run.plan.stages.iter().enumerate() {
        planned.entry((&stage.name, &stage.settings)).or_insert(at);
    }
    let place = |stage: &Stage<'_>| {
        let exact = planned.get(&(stage.name, stage.settings)).copied();
        exact.or_else(|| run.plan.stages.iter().position(|s| is_cell(s, stage)))
    };
    stages.sort_by_cached_key(|stage| place(stage).unwrap_or(usize::MAX));
    stages
}

/// The value of all of these; `None` where they differ, or there are none.
pub(crate) fn one_value<T: PartialEq>(mut each: impl Iterator<Item = T>) -> Option<T> {
    let first = each.next()?;
    each.all(|other| other == first).then_some(first)
}

/// Puts what is alike together: to the group of this key, in the order of the first of each.
pub(crate) fn join<K: PartialEq, T>(groups: &mut Vec<(K, Vec<T>)>, key: K, one: T) {
    match groups.iter_mut().find(|(known, _)| *known == key) {
        Some((_, members)) => members.push(one),
        None => groups.push((key, vec![one])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn stages_come_in_the_order_of_the_plan_and_trials_in_theirs() {
        let mut run = testing::healthy();
        run.trials.reverse();
        let stages = of(&run);
        let names: Vec<&str> = stages.iter().map(|s| s.name).collect();
        let plan: Vec<&str> = run.plan.stages.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, plan);
        for stage in stages {
            let numbers: Vec<u32> = stage.trials.iter().map(|t| t.number).collect();
            assert_eq!(numbers, [1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn the_cells_of_a_matrix_come_in_the_order_of_the_plan() {
        let mut run = testing::healthy();
        let mut cell = run.plan.stages[0].clone();
        run.plan.stages.clear();
        run.trials.retain(|t| t.stage == cell.name && t.number == 1);
        for mode in ["FSYNC", "BUFFERED"] {
            cell.settings.insert("mode".into(), mode.into());
            run.plan.stages.push(cell.clone());
            let mut trial = run.trials[0].clone();
            trial.settings.clone_from(&cell.settings);
            trial.settings.insert("scheduler".into(), "none".into());
            run.trials.insert(0, trial);
        }
        run.trials.pop();
        let modes: Vec<&str> = of(&run)
            .iter()
            .map(|s| s.settings["mode"].as_str())
            .collect();
        assert_eq!(modes, ["FSYNC", "BUFFERED"]);
    }

    #[test]
    fn trials_with_errors_stand_apart_and_all_of_them_together_are_not_sound() {
        let mut run = testing::healthy();
        testing::each(&mut run, "log-write", |trial| {
            trial.errors = u64::from(trial.number == 2);
        });
        testing::each(&mut run, "mixed-70-30", |trial| trial.errors = 1);
        let numbers = |trials: &[&Trial]| trials.iter().map(|t| t.number).collect::<Vec<_>>();
        for stage in of(&run) {
            let (trials, failed) = (numbers(&stage.trials), numbers(&stage.failed));
            match stage.name {
                "log-write" => {
                    assert_eq!((trials, failed), (vec![1, 3, 4, 5], vec![2]));
                    assert!(stage.is_sound());
                }
                "mixed-70-30" => {
                    assert_eq!((trials.len(), failed), (5, vec![]));
                    assert!(!stage.is_sound());
                }
                _ => assert!(stage.is_sound() && failed.is_empty()),
            }
            assert_eq!(stage.all_trials().count(), 5);
        }
    }

    #[test]
    fn settings_split_a_stage() {
        let mut run = testing::healthy();
        let stages = run.plan.stages.len();
        for trial in run.trials.iter_mut().filter(|t| t.number > 3) {
            trial.settings.insert("scheduler".into(), "none".into());
        }
        let split = of(&run);
        assert_eq!(split.len(), 2 * stages);
        assert_eq!(split[0].name, split[1].name);
        assert_eq!(
            split[1].label(),
            format!("{} (scheduler=none)", split[1].name)
        );
    }
}
