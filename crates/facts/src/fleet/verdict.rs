//! Two looks at a fleet, or more: who is odd.
//!
//! A suspect is odd where it is slower than its peers in every look, by what was asked for at least,
//! and where ordinary disks of this fleet are so seldom that of all that are called odd 5 % are
//! expected to be none (Benjamini and Hochberg, over every disk in every stage of the first look:
//! those that were no suspects count as tests, too).
//!
//! * **How slow it is** is said by the later looks alone, by the one in which it is least slow: in
//!   the first one it was chosen for being slow, so that its figure there is too bad (the winner's curse; Efron, "Tweedie's Formula and
//!   Selection Bias", Journal of the American Statistical Association 106, 2011). What is left is
//!   drawn towards the peers as their own figures would be (Efron and Morris, "Data Analysis Using
//!   Stein's Estimator and its Generalizations", same journal 70, 1975), by the chance that it is
//!   like them, for which the q stands.
//! * **Its interval** has the trials of the suspect and the median of its peers in it. What differs
//!   from one run of it to the next is not in it.
//! * **Peers** of the later look are those of the first, of the same kind, which are no suspects,
//!   measured within the same time: a look ends where nobody began a run for
//!   [`Options::apart_s`].

use super::cells::{self, StageOfPeers};
use super::sample::{Member, Options, Sample};
use super::screen::{Cell, Screen, Suspect, Value};
use super::tail::{Ordinary, Slow, Spread};
use super::times::{self, Centres, MEDIAN_ERROR};
use crate::stats;
use std::collections::{BTreeMap, BTreeSet};

/// Confidence that an interval lacks.
const ALPHA: f64 = 0.05;

/// What the looks came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What was asked for.
    pub options: Options,
    /// Each suspect of the screen, in its order: odd ones first, the worst first among equals.
    pub judged: Vec<Judged>,
    /// Disks that were looked at again.
    pub members: usize,
    /// When the last of their runs began, seconds since 1970, UTC; absent without a later look.
    pub last_s: Option<i64>,
    /// Comparisons of a disk with its peers among which the suspects stood.
    pub tests: usize,
}

/// What became of a suspect in one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Place in [`Screen::suspects`].
    pub suspect: usize,
    /// What it is.
    pub outcome: Outcome,
    /// How much slower than its peers, as a share: by the later look in which it is least so, drawn
    /// towards the peers by what may be chance. Absent where there is no later look.
    pub slower: Option<f64>,
    /// The 95 % interval of that, by the trials and the peers of that look.
    pub interval: Option<[f64; 2]>,
    /// The chance that a disk like its peers is so slow in every look; 1 without a later one.
    pub p: f64,
    /// The share of wrong ones among all that are called odd, if this one is (Benjamini and
    /// Hochberg).
    pub q: f64,
    /// Looks that it is over, the first counted.
    pub looks: usize,
}

/// What a suspect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Slower than its peers, in every look, by what was asked for at least.
    Odd,
    /// It is not.
    Cleared(WhyCleared),
    /// It may be.
    Undecided(WhyUndecided),
}

/// Why a suspect is none any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyCleared {
    /// A later look had it like its peers.
    NotAgain,
    /// It is slower, and by less than was asked for.
    LessThanLeast,
}

/// Why it is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyUndecided {
    /// It was not measured again, or has no figure of this stage there.
    NotAgain,
    /// It was measured again too soon: what disturbed one look may have disturbed the other.
    TooSoon,
    /// Too few of its peers were measured again.
    TooFewPeers,
    /// Ordinary disks of this fleet are that slow too often: another look decides.
    MayBeDisturbed,
    /// How much slower it is cannot be told from what was asked for.
    NearLeast,
}

/// Holds the suspects of a first look against later ones, of which `later` are all samples.
pub fn verdict(first: &Screen, later: &[Sample]) -> Verdict {
    let members: BTreeSet<&Member> = later.iter().map(|sample| &sample.member).collect();
    let members = members.len();
    let read = cells::read(later.iter().collect());
    let cells: BTreeSet<usize> = first.suspects.iter().map(|s| s.cell).collect();
    let of_cell = |cell: usize| {
        let looks = looks_at(first, cell, &read.stages);
        (cell, (FirstLook::at(&first.cells[cell]), looks))
    };
    let looks: BTreeMap<usize, (FirstLook, Vec<PeersAgain<'_>>)> =
        cells.into_iter().map(of_cell).collect();
    let found: Vec<Found> = (first.suspects.iter())
        .map(|suspect| look_again(first, suspect, &looks[&suspect.cell]))
        .collect();
    let tests = first.cells.iter().map(|cell| cell.values.len()).sum();
    // Who is slow again may be odd, and tells nothing of ordinary disks; who is not called odd in
    // the end does.
    let slow_again: BTreeSet<usize> = (0..found.len())
        .filter(|at| found[*at].is_slow_again(&first.cells[first.suspects[*at].cell]))
        .collect();
    let odd: BTreeSet<usize> = judge(first, &found, &slow_again, tests)
        .iter()
        .filter(|judged| judged.outcome == Outcome::Odd)
        .map(|judged| judged.suspect)
        .collect();
    let mut judged = judge(first, &found, &odd, tests);
    judged.sort_by(|a, b| {
        let rank = |judged: &Judged| match judged.outcome {
            Outcome::Odd => 0,
            Outcome::Undecided(_) => 1,
            Outcome::Cleared(_) => 2,
        };
        let slower = |judged: &Judged| judged.slower.unwrap_or(0.0);
        rank(a)
            .cmp(&rank(b))
            .then_with(|| slower(b).total_cmp(&slower(a)))
    });
    Verdict {
        options: first.options,
        judged,
        members,
        last_s: later.iter().map(|sample| sample.started_s).max(),
        tests,
    }
}

/// How the disks of a cell differ in the first look.
#[derive(Debug, Clone, Copy)]
struct FirstLook {
    /// How peers differ.
    spread: Spread,
    /// The variance by which they differ beyond what their trials explain.
    between: f64,
}

impl FirstLook {
    fn at(cell: &Cell) -> Self {
        let peers = cell.values.iter().map(|value| value.slower_ln);
        let peers: Vec<f64> = peers.filter(|ln| *ln <= cell.suspect_from_ln).collect();
        let scatter = cell.values.iter().filter_map(|value| {
            let scatter_ln = value.scatter_ln?;
            Some((MEDIAN_ERROR * scatter_ln).powi(2) / value.trials as f64)
        });
        let of_trials = stats::median_of(scatter).unwrap_or(0.0);
        Self {
            spread: Spread::of(&peers, cell.spread_ln),
            between: (cell.spread_ln.powi(2) - of_trials).max(0.0),
        }
    }
}

/// What later looks say of a suspect.
struct Found {
    /// Its cell in the first look.
    first: FirstLook,
    /// Each of them, the first first.
    looks: Vec<Look>,
    /// Why there is none.
    none: WhyUndecided,
}

/// A suspect in one later look.
struct Look {
    /// By how much it is slower than its peers, a logarithm.
    slower_ln: f64,
    /// How its peers differ.
    deviation_ln: f64,
    /// Variance of `slower_ln` by the trials and the peers.
    variance: f64,
    /// Trials.
    trials: usize,
}

impl Found {
    /// Whether every look has it slow enough for a suspect.
    fn is_slow_again(&self, cell: &Cell) -> bool {
        let mut looks = self.looks.iter();
        !self.looks.is_empty() && looks.all(|look| look.slower_ln > cell.suspect_from_ln)
    }

    /// The later look in which it is least slow: what is odd is slow in each.
    fn least(&self) -> Option<&Look> {
        let looks = self.looks.iter();
        looks.min_by(|a, b| a.slower_ln.total_cmp(&b.slower_ln))
    }
}

/// One later look at a cell.
struct PeersAgain<'v> {
    /// The newest run in it of each disk.
    newest: BTreeMap<&'v Member, &'v Value>,
    /// What disks are held against; absent where too few peers were measured.
    centres: Option<Centres>,
    /// How peers differ, a logarithm.
    deviation_ln: f64,
    /// How the trials of a peer differ.
    scatter_ln: f64,
    /// Peers.
    peers: usize,
}

/// The later looks at a cell, the oldest first.
fn looks_at<'v>(first: &Screen, cell: usize, later: &'v [StageOfPeers<'_>]) -> Vec<PeersAgain<'v>> {
    let of_first = &first.cells[cell];
    let key = (&*of_first.peers, of_first.stage.as_str(), of_first.measure);
    let Some(stage) = later.iter().find(|stage| stage.key() == key) else {
        return Vec::new();
    };
    let suspects = first.suspects.iter().filter(|suspect| suspect.cell == cell);
    let suspects: BTreeSet<usize> = suspects.map(|suspect| suspect.value).collect();
    let values = of_first.values.iter().enumerate();
    let peers: BTreeSet<&Member> = values
        .filter(|(value, _)| !suspects.contains(value))
        .map(|(_, value)| &value.member)
        .collect();
    let mut in_order: Vec<&Value> = stage.values.iter().collect();
    in_order.sort_by_key(|value| value.started_s);
    // A look ends where nobody began for so long.
    let near = |a: &&Value, b: &&Value| b.started_s - a.started_s < first.options.apart_s;
    let looks = in_order.chunk_by(near);
    looks
        .map(|look| look_at(of_first, look, &peers, &first.options))
        .collect()
}

/// One look at a cell, of runs in the order of time.
fn look_at<'v>(
    cell: &Cell,
    look: &[&'v Value],
    peers: &BTreeSet<&Member>,
    options: &Options,
) -> PeersAgain<'v> {
    let newest: BTreeMap<&Member, &Value> = look.iter().map(|v| (&v.member, *v)).collect();
    let of_peers = newest.iter().filter(|(member, _)| peers.contains(*member));
    let of_peers: Vec<&Value> = of_peers.map(|(_, value)| *value).collect();
    let at = |value: &Value| (value.started_s, cells::slowness(cell.measure, value.median));
    let values: Vec<(i64, f64)> = of_peers.iter().map(|value| at(value)).collect();
    let enough = values.len() >= options.peers_min;
    let centres = times::centres(&values, options.peers_min).filter(|_| enough);
    let centres = centres.map(|(centres, _)| centres);
    let slower: Vec<f64> = (centres.iter())
        .flat_map(|centres| values.iter().map(|(at, value)| value - centres.at(*at)))
        .collect();
    let scatter = of_peers.iter().filter_map(|value| value.scatter_ln);
    PeersAgain {
        newest,
        centres,
        deviation_ln: stats::robust_deviation(&slower).unwrap_or(0.0),
        scatter_ln: stats::median_of(scatter).unwrap_or(0.0),
        peers: values.len(),
    }
}

/// Looks for a suspect in the later looks at its cell.
fn look_again(
    first: &Screen,
    suspect: &Suspect,
    (of_cell, looks): &(FirstLook, Vec<PeersAgain<'_>>),
) -> Found {
    let cell = &first.cells[suspect.cell];
    let of_first = &cell.values[suspect.value];
    let mut found = Found {
        first: *of_cell,
        looks: Vec::new(),
        none: WhyUndecided::NotAgain,
    };
    for look in looks {
        let Some(own) = look.newest.get(&of_first.member) else {
            continue;
        };
        if (own.started_s - of_first.started_s).abs() < first.options.apart_s {
            found.none = WhyUndecided::TooSoon;
            continue;
        }
        let Some(centres) = &look.centres else {
            found.none = WhyUndecided::TooFewPeers;
            continue;
        };
        // Trials of one disk are few: it varies as the others do, or more.
        let scatter_ln = look.scatter_ln.max(own.scatter_ln.unwrap_or(0.0));
        let error = |deviation: f64, n: usize| (MEDIAN_ERROR * deviation).powi(2) / n as f64;
        found.looks.push(Look {
            slower_ln: cells::slowness(cell.measure, own.median) - centres.at(own.started_s),
            deviation_ln: look.deviation_ln,
            variance: error(scatter_ln, own.trials) + error(look.deviation_ln, look.peers),
            trials: own.trials,
        });
    }
    found
}

/// The outcome of each suspect, where those of `apart` are not taken for ordinary disks.
fn judge(first: &Screen, found: &[Found], apart: &BTreeSet<usize>, tests: usize) -> Vec<Judged> {
    let left_out: BTreeSet<(usize, usize)> = (apart.iter())
        .map(|at| (first.suspects[*at].cell, first.suspects[*at].value))
        .collect();
    let ordinary = first.cells.iter().enumerate().map(|(cell, of)| {
        let values = of.values.iter().enumerate();
        let ordinary = values.filter(|(value, _)| !left_out.contains(&(cell, *value)));
        ordinary.map(|(_, value)| value.slower_ln).collect()
    });
    let ordinary = Ordinary::new(ordinary.collect());
    let p: Vec<f64> = (found.iter().enumerate())
        .map(|(at, found)| p(first, at, found, &ordinary, !apart.contains(&at)))
        .collect();
    let q = stats::benjamini_hochberg(&p, tests);
    (found.iter().enumerate())
        .map(|(at, found)| outcome(first, at, found, (p[at], q[at])))
        .collect()
}

/// The chance that an ordinary disk is as slow in every look as this suspect.
fn p(first: &Screen, at: usize, found: &Found, ordinary: &Ordinary, counted: bool) -> f64 {
    let suspect = &first.suspects[at];
    let cell = &first.cells[suspect.cell];
    // A look in which all differ more says less.
    let standing = found.looks.iter().map(|look| {
        let wider = look.deviation_ln / cell.spread_ln;
        if wider > 1.0 && wider.is_finite() {
            look.slower_ln / wider
        } else {
            look.slower_ln
        }
    });
    let least = standing.fold(f64::INFINITY, f64::min);
    if found.looks.is_empty() || least <= 0.0 {
        return 1.0;
    }
    let slow = Slow {
        cell: suspect.cell,
        slower_ln: least.min(cell.values[suspect.value].slower_ln),
        peers: found.first.spread,
        counted,
    };
    ordinary.p(&slow, 1 + found.looks.len())
}

fn outcome(first: &Screen, at: usize, found: &Found, (p, q): (f64, f64)) -> Judged {
    let options = &first.options;
    let suspect = &first.suspects[at];
    let cell = &first.cells[suspect.cell];
    let mut judged = Judged {
        suspect: at,
        outcome: Outcome::Undecided(found.none),
        slower: None,
        interval: None,
        p,
        q,
        looks: 1 + found.looks.len(),
    };
    let Some(look) = found.least() else {
        return judged;
    };
    let (slower_ln, variance) = (look.slower_ln, look.variance);
    let between = found.first.between;
    let kept = if between + variance > 0.0 {
        between / (between + variance)
    } else {
        1.0
    };
    let like_peers = kept * slower_ln;
    let drawn = (1.0 - q) * slower_ln + q * like_peers;
    let apart = q * (1.0 - q) * (slower_ln - like_peers).powi(2);
    let deviation = ((1.0 - q) * variance + q * kept * variance + apart).sqrt();
    let df = look.trials.saturating_sub(1).max(1) as f64;
    let reach = stats::t_critical(ALPHA, df) * deviation;
    let [low, high] = [drawn - reach, drawn + reach];
    let least = cells::slower_ln(options.least);
    judged.slower = Some(cells::slower(drawn));
    judged.interval = Some([cells::slower(low), cells::slower(high)]);
    judged.outcome = if high < least {
        Outcome::Cleared(if slower_ln > cell.suspect_from_ln {
            WhyCleared::LessThanLeast
        } else {
            WhyCleared::NotAgain
        })
    } else if drawn < least {
        Outcome::Undecided(WhyUndecided::NearLeast)
    } else if q > options.false_discoveries {
        Outcome::Undecided(WhyUndecided::MayBeDisturbed)
    } else {
        Outcome::Odd
    };
    judged
}
