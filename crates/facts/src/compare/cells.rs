//! Which stages are held against each other.

use super::{Selection, workload};
use crate::stages::{self, Stage};
use diskfacts_plan::Workload;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::comparison::Unit;
use diskfacts_record::{Run, Trial};
use std::collections::BTreeMap;

/// A stage of one side: its trials by run.
#[derive(Debug, Clone)]
pub(super) struct Cell<'a> {
    pub(super) name: &'a str,
    /// What was varied, without what the side was limited to.
    pub(super) settings: BTreeMap<String, String>,
    /// The runs that have valid trials of it, with these; at least one of each. Where no
    /// run has one, all of them, and nothing follows from them ([`Cell::is_sound`]).
    pub(super) runs: Vec<(&'a Run, Vec<&'a Trial>)>,
    /// Trials that are left out because operations failed in them, or none completed.
    pub(super) excluded: Vec<&'a Trial>,
    worth: Worth,
}

/// What the trials of a run's stage are worth; those of the runs that are worth most are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// Operations failed in them, or none was due: they have no figure.
    Nothing,
    /// Nothing was done in any of them, though it could have been: a rate of 0.
    Idle,
    /// Operations completed.
    Sound,
}

impl Worth {
    fn of(stage: &Stage<'_>) -> Self {
        if stage.is_sound() {
            Self::Sound
        } else if stage.is_idle() && stage.workload().rate.is_none() {
            Self::Idle
        } else {
            Self::Nothing
        }
    }
}

impl<'a> Cell<'a> {
    pub(super) fn label(&self) -> String {
        stage_label(self.name, &self.settings)
    }

    pub(super) fn trials(&self) -> impl Iterator<Item = &'a Trial> + '_ {
        self.runs
            .iter()
            .flat_map(|(_, trials)| trials.iter().copied())
    }

    /// Whether its trials may be compared: operations completed, or none did for want of speed.
    pub(super) fn is_sound(&self) -> bool {
        self.worth > Worth::Nothing
    }

    /// Whether operations failed in some trial.
    pub(super) fn has_failed(&self) -> bool {
        self.all_trials().any(|trial| trial.errors > 0)
    }

    /// All trials, those that are left out too.
    pub(super) fn all_trials(&self) -> impl Iterator<Item = &'a Trial> + '_ {
        self.trials().chain(self.excluded.iter().copied())
    }

    /// Takes the trials that a run has of it.
    fn add(&mut self, run: &'a Run, stage: Stage<'a>) {
        self.excluded.extend(&stage.failed);
        let worth = Worth::of(&stage);
        if worth < self.worth {
            self.excluded.extend(stage.trials);
            return;
        }
        if worth > self.worth {
            let before = std::mem::take(&mut self.runs).into_iter();
            self.excluded.extend(before.flat_map(|(_, trials)| trials));
            self.worth = worth;
        }
        self.runs.push((run, stage.trials));
    }

    /// One of its trials: all were asked for the same.
    pub(super) fn first(&self) -> &'a Trial {
        self.runs[0].1[0]
    }

    pub(super) fn workload(&self) -> &'a Workload {
        &self.first().workload
    }
}

/// The same stage on both sides.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    pub(super) a: Cell<'a>,
    pub(super) b: Cell<'a>,
    /// The sides were limited to unlike settings: what these change was meant to
    /// differ.
    pub(super) meant: bool,
}

/// What one observation is. A run, as soon as the runs leave two degrees of
/// freedom for what differs between them; else a trial.
pub(super) fn unit(a: &Cell<'_>, b: &Cell<'_>) -> Unit {
    if a.runs.len() + b.runs.len() >= 4 {
        Unit::Run
    } else {
        Unit::Trial
    }
}

/// The stages of two sides.
#[derive(Debug)]
pub(super) struct Paired<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) only_in_a: Vec<String>,
    pub(super) only_in_b: Vec<String>,
}

pub(super) fn pair<'a>(a: &Selection<'a>, b: &Selection<'a>) -> Paired<'a> {
    let limits = |side: &Selection<'_>| -> Vec<BTreeMap<String, String>> {
        side.parts.iter().map(|part| part.only.clone()).collect()
    };
    let meant = limits(a) != limits(b);
    let of_a = cells(a);
    let mut of_b: Vec<Option<Cell<'_>>> = cells(b).into_iter().map(Some).collect();
    let mut partners: Vec<Option<Cell<'_>>> = Vec::new();
    for cell in &of_a {
        let same = of_b.iter_mut().find(|other| {
            other
                .as_ref()
                .is_some_and(|other| other.name == cell.name && other.settings == cell.settings)
        });
        partners.push(same.and_then(Option::take));
    }
    // Another plan, or another program's words, may have called it otherwise.
    for (i, cell) in of_a.iter().enumerate() {
        let alike = |other: &Cell<'_>| workload::surely_same(cell.first(), other.first());
        let rivals = of_a
            .iter()
            .zip(&partners)
            .filter(|(other, partner)| partner.is_none() && alike(other))
            .count();
        let mut found = of_b
            .iter_mut()
            .filter(|other| other.as_ref().is_some_and(alike));
        if let (true, Some(only), None) = (
            partners[i].is_none() && rivals == 1,
            found.next(),
            found.next(),
        ) {
            partners[i] = only.take();
        }
    }
    let mut paired = Paired {
        pairs: Vec::new(),
        only_in_a: Vec::new(),
        only_in_b: of_b.iter().flatten().map(Cell::label).collect(),
    };
    for (a, b) in of_a.into_iter().zip(partners) {
        match b {
            Some(b) => paired.pairs.push(Pair { a, b, meant }),
            None => paired.only_in_a.push(a.label()),
        }
    }
    paired
}

/// The stages of a side, in the order in which its runs have them.
fn cells<'a>(side: &Selection<'a>) -> Vec<Cell<'a>> {
    let mut cells: Vec<Cell<'a>> = Vec::new();
    let mut places: BTreeMap<(&str, BTreeMap<String, String>), usize> = BTreeMap::new();
    for part in &side.parts {
        for stage in stages::of(part.run) {
            let only = &part.only;
            if !only
                .iter()
                .all(|(key, value)| stage.settings.get(key) == Some(value))
            {
                continue;
            }
            let mut settings = stage.settings.clone();
            settings.retain(|key, _| !only.contains_key(key));
            let place = *places
                .entry((stage.name, settings.clone()))
                .or_insert(cells.len());
            if place == cells.len() {
                cells.push(Cell {
                    name: stage.name,
                    settings,
                    runs: Vec::new(),
                    excluded: Vec::new(),
                    worth: Worth::Nothing,
                });
            }
            cells[place].add(part.run, stage);
        }
    }
    cells
}
