//! One run of each disk: who is suspected.
//!
//! A disk is a suspect where the median of its trials is slower than that of its peers by more
//! than three deviations, and by at least half of what is called odd. Deviations are by the median
//! absolute deviation on the logarithmic scale, so up to half of the peers may be disturbed, odd or
//! both. Of peers that differ normally one in 740 is a suspect (one side of three deviations), of
//! disturbed runs nearly all are: they are indistinguishable from odd disks in one look, however
//! many trials it has, so nothing more than a suspicion is claimed here.

use super::cells::{self, StageOfPeers};
use super::generations::{self, StageKinds};
use super::kinds::Kinds;
use super::sample::{Disturbance, Member, Options, Peers, Sample};
use super::times;
use crate::stats;
use diskfacts_record::comparison::Measure;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Deviations of the peers from which on a disk is a suspect.
const DEVIATIONS: f64 = 3.0;

/// Share of the least that is called odd from which on a disk is a suspect: of disks that are
/// just odd enough, chance makes hardly one look half as odd.
const OF_LEAST: f64 = 0.5;

/// What one look at a fleet came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Screen {
    /// What was asked for.
    pub options: Options,
    /// Disks that were looked at.
    pub members: usize,
    /// Each stage of each group of peers; where the peers are of several kinds, each kind alone.
    pub cells: Vec<Cell>,
    /// Who is slower than its peers, the worst first.
    pub suspects: Vec<Suspect>,
    /// Stages of peers that were too few.
    pub too_few: Vec<TooFew>,
    /// Stages that a disk has no figure of, though its peers have.
    pub missing: Vec<Missing>,
    /// Trials that were left out because something is known to have disturbed them.
    pub left_out: BTreeMap<Disturbance, u64>,
    /// Values that were left out because they are no figure.
    pub unusable: u64,
    /// Older runs that newer ones of the same disk stand for.
    pub older_runs: u64,
}

/// One stage of peers of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What they have in common.
    pub peers: Arc<Peers>,
    /// Label of the stage.
    pub stage: String,
    /// What the values are.
    pub measure: Measure,
    /// Which kind of how many, from 1, the fastest first: (1, 1) where all are alike.
    pub kind: (usize, usize),
    /// The median over the disks, in the unit of the measure; above 0.
    pub median: f64,
    /// Standard deviation of one disk from the next, of logarithms, by the MAD; 0 or more.
    pub spread_ln: f64,
    /// The logarithm of the factor from which on a disk is a suspect.
    pub suspect_from_ln: f64,
    /// Times at which all were slow, or fast.
    pub times: Vec<SlowTime>,
    /// Each disk, in the order of the names.
    pub values: Vec<Value>,
}

impl Screen {
    /// The value of a suspect, by its place in [`Screen::suspects`].
    ///
    /// # Panics
    /// Where there is no such suspect.
    pub fn value(&self, suspect: usize) -> &Value {
        &self.cell(suspect).values[self.suspects[suspect].value]
    }

    /// The cell of a suspect, by its place in [`Screen::suspects`].
    ///
    /// # Panics
    /// Where there is no such suspect.
    pub fn cell(&self, suspect: usize) -> &Cell {
        &self.cells[self.suspects[suspect].cell]
    }
}

impl Cell {
    /// From how much slower on a disk is a suspect, as a share in 0..1: what this look could find.
    pub fn suspect_from(&self) -> f64 {
        cells::slower(self.suspect_from_ln)
    }

    /// How much one disk differs from the next, as a share.
    pub fn spread(&self) -> f64 {
        self.spread_ln.exp_m1()
    }
}

/// One disk in a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Which.
    pub member: Member,
    /// Its run.
    pub run: String,
    /// When that began, seconds since 1970, UTC.
    pub started_s: i64,
    /// Median of its trials, in the unit of the measure; above 0.
    pub median: f64,
    /// Trials that it is the median of.
    pub trials: usize,
    /// Trials that were left out.
    pub left_out: usize,
    /// Standard deviation of one trial from the next, of logarithms; absent of a single one.
    pub scatter_ln: Option<f64>,
    /// The logarithm of the factor by which it is slower than its peers, those of its time where
    /// that was slow as a whole; below 0 for one that is faster.
    pub slower_ln: f64,
}

/// A time at which the disks of a cell together were unlike those of other times.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowTime {
    /// When the first of them began, seconds since 1970, UTC.
    pub from_s: i64,
    /// When the last of them began.
    pub to_s: i64,
    /// Disks that were measured in it.
    pub members: usize,
    /// How much slower they were, as a share; below 0 where they were faster.
    pub slower: f64,
    /// Whether they were compared with each other; else they were too few for that.
    pub compared_within: bool,
}

/// A disk that is slower than its peers in one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// Place of its cell in [`Screen::cells`].
    pub cell: usize,
    /// Place of its value in [`Cell::values`].
    pub value: usize,
    /// How much slower than its peers, as a share in 0..1.
    pub slower: f64,
    /// The same in standard deviations of the peers; infinite where they don't differ.
    pub deviations: f64,
}

/// Peers that are too few for a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct TooFew {
    /// What they have in common.
    pub peers: Arc<Peers>,
    /// Label of the stage.
    pub stage: String,
    /// Which kind of how many, as [`Cell::kind`]: where there are several, the peers of the other
    /// kinds may be enough, and are judged.
    pub kind: (usize, usize),
    /// Who they are, in the order of the names.
    pub members: Vec<Member>,
}

/// A stage that a disk has no figure of.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// Which disk.
    pub member: Member,
    /// Label of the stage.
    pub stage: String,
    /// Why.
    pub why: WhyMissing,
}

/// Why a disk has no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyMissing {
    /// Its run has no such stage.
    NotMeasured,
    /// Something disturbed each of its trials; the most common of it.
    AllDisturbed(Disturbance),
    /// No trial has a figure.
    NoFigure,
}

/// Looks at the newest run of each disk for those that are slower than their peers.
pub fn screen(samples: &[Sample], options: &Options) -> Screen {
    let (newest, older_runs) = cells::newest(samples);
    let members: HashSet<&Member> = newest.iter().map(|sample| &sample.member).collect();
    let members = members.len();
    let read = cells::read(newest);
    let (mut cells, mut too_few) = (Vec::new(), Vec::new());
    for group in read.stages.chunk_by(|a, b| a.peers == b.peers) {
        let (enough, few): (Vec<_>, Vec<_>) = group
            .iter()
            .partition(|stage| stage.values.len() > options.peers_min);
        too_few.extend(
            few.iter()
                .map(|stage| too_few_of(stage, (1, 1), &stage.values)),
        );
        for (stage, kinds) in enough.iter().zip(kinds(&enough, options)) {
            let (of_kinds, few) = cells_of(stage, &kinds, options);
            cells.extend(of_kinds);
            too_few.extend(few);
        }
    }
    let is_claimed = |peers: &Peers| cells.iter().any(|cell| *cell.peers == *peers);
    let missing = read.missing.into_iter();
    let missing = missing.filter_map(|(peers, missing)| is_claimed(peers).then_some(missing));
    Screen {
        options: *options,
        members,
        suspects: suspects(&cells),
        missing: missing.collect(),
        cells,
        too_few,
        left_out: read.left_out,
        unusable: read.unusable,
        older_runs,
    }
}

/// The kinds of the disks in each of these stages of one group of peers.
fn kinds(stages: &[&StageOfPeers<'_>], options: &Options) -> Vec<Kinds> {
    let values = stages.iter().flat_map(|stage| &stage.values);
    let number = cells::places(values.map(|value| &value.member));
    let mut found: Vec<StageKinds> = stages
        .iter()
        .map(|stage| {
            let values = || stage.values.iter();
            let slowness = values().map(|v| cells::slowness(stage.measure, v.median));
            let slowness: Vec<f64> = slowness.collect();
            let hours: Vec<i64> = values().map(|v| v.started_s.div_euclid(3600)).collect();
            StageKinds {
                members: values().map(|v| number[&v.member]).collect(),
                // A disk and its peers.
                kinds: Kinds::of(&slowness, &hours, options.peers_min + 1),
                slowness,
            }
        })
        .collect();
    generations::agree(&mut found);
    found.into_iter().map(|stage| stage.kinds).collect()
}

/// These disks, which are too few for a claim.
fn too_few_of(stage: &StageOfPeers<'_>, kind: (usize, usize), values: &[Value]) -> TooFew {
    TooFew {
        peers: Arc::clone(stage.peers),
        stage: stage.stage.to_owned(),
        kind,
        members: values.iter().map(|value| value.member.clone()).collect(),
    }
}

/// A cell for each kind of the disks in a stage, and the kinds that are too few: where stages agree on
/// who is of which, one may have fewer than it had by itself.
fn cells_of(
    stage: &StageOfPeers<'_>,
    kinds: &Kinds,
    options: &Options,
) -> (Vec<Cell>, Vec<TooFew>) {
    let mut few = Vec::new();
    let mut of_kind = |kind: usize| {
        let values = stage.values.iter().zip(&kinds.of);
        let of_kind = values.filter(|(_, of)| **of == kind);
        let mut values: Vec<Value> = of_kind.map(|(value, _)| value.clone()).collect();
        if values.len() <= options.peers_min {
            few.push(too_few_of(stage, (kind + 1, kinds.number), &values));
            return None;
        }
        let at = |value: &Value| {
            let slowness = cells::slowness(stage.measure, value.median);
            (value.started_s, slowness)
        };
        let slowness: Vec<(i64, f64)> = values.iter().map(at).collect();
        let (centres, times) = times::centres(&slowness, options.peers_min)?;
        for (value, (started_s, slowness)) in values.iter_mut().zip(slowness) {
            value.slower_ln = slowness - centres.at(started_s);
        }
        let slower: Vec<f64> = values.iter().map(|value| value.slower_ln).collect();
        let spread_ln = stats::robust_deviation(&slower).unwrap_or(0.0);
        let suspect_from_ln =
            (DEVIATIONS * spread_ln).max(cells::slower_ln(options.least) * OF_LEAST);
        Some(Cell {
            peers: Arc::clone(stage.peers),
            stage: stage.stage.to_owned(),
            measure: stage.measure,
            kind: (kind + 1, kinds.number),
            median: cells::value_of(stage.measure, centres.all),
            spread_ln,
            suspect_from_ln,
            times,
            values,
        })
    };
    let cells = (0..kinds.number).filter_map(&mut of_kind).collect();
    few.retain(|few| !few.members.is_empty());
    (cells, few)
}

/// Who is slower than its peers, the worst first; of equals the first in the order of the cells.
fn suspects(cells: &[Cell]) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    for (cell, of) in cells.iter().enumerate() {
        for (value, at) in of.values.iter().enumerate() {
            if at.slower_ln > of.suspect_from_ln {
                suspects.push(Suspect {
                    cell,
                    value,
                    slower: cells::slower(at.slower_ln),
                    deviations: at.slower_ln / of.spread_ln,
                });
            }
        }
    }
    suspects.sort_by(|a, b| b.slower.total_cmp(&a.slower));
    suspects
}
