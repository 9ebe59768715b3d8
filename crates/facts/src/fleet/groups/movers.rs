//! Hosts that moved by themselves: whose change is unlike that of the others.
//!
//! A host that is worse than the others' change says may have a disk that fails, or a run of the
//! later group was disturbed; one that is better was mended, or a run of the earlier group was
//! disturbed. So it is the looks of that side that tell, as with [`verdict`](super::super::verdict):
//!
//! * **Candidates** differ from the others' median change by three deviations (by the median absolute
//!   deviation) and by more than counts as the same, in every look of that side.
//! * **With one look** a candidate is a suspect, and nothing more is claimed.
//! * **With several** the chance that an ordinary host is so far off in each of them is that of the
//!   odd disk: hosts differ (Student's t; counts once), or each look was disturbed (the share of
//!   single looks that far off, to the power of their number; [`Ordinary`]). It is doubled, because
//!   hosts may move to either side. Who is left at 5 % after Benjamini and Hochberg, over every host in
//!   every stage, moved by itself; the others are suspects.

use super::super::sample::{Member, Options};
use super::super::tail::{Ordinary, Slow, Spread};
use super::{Pair, Paired, as_change, name, number};
use crate::stats;
use diskfacts_record::comparison::{Moved, Mover};
use std::collections::{BTreeMap, BTreeSet};

/// Deviations of the hosts' changes from which on a host is a candidate.
const DEVIATIONS: f64 = 3.0;

/// Who moved in one stage.
pub(super) struct Movers {
    /// The most first.
    pub(super) found: Vec<Mover>,
    /// Hosts that were looked at.
    pub(super) tests: u32,
}

/// A host in a stage, seen one way.
type Key<'a> = (Way, usize, &'a Member);

/// A host that may have moved.
struct Candidate<'a> {
    way: Way,
    /// Place of its stage.
    cell: usize,
    pair: &'a Pair,
    /// By how much it is farther that way than the others, a logarithm, above 0.
    beyond_ln: f64,
    /// The same in the look in which it is least so, where others of that look vary no more.
    least_ln: f64,
    looks: usize,
    peers: Spread,
}

/// The way in which hosts move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The later looks tell.
    Worse,
    /// The earlier ones do.
    Better,
}

impl Way {
    const BOTH: [Self; 2] = [Self::Worse, Self::Better];

    /// Something that is above 0 where a host moved this way.
    fn signed(self, slower_ln: f64) -> f64 {
        match self {
            Self::Worse => slower_ln,
            Self::Better => -slower_ln,
        }
    }

    /// By how much a host moved this way by each look of the side that tells.
    fn by_look(self, pair: &Pair) -> Vec<(usize, f64)> {
        let (looks, other) = match self {
            Self::Worse => (&pair.b.looks, pair.a.level),
            Self::Better => (&pair.a.looks, pair.b.level),
        };
        let moved = looks
            .iter()
            .map(|look| (look.number, look.slowness - other));
        moved.collect()
    }
}

/// One stage, seen one way.
struct Cell<'a> {
    candidates: Vec<Candidate<'a>>,
    /// How far each host is beyond the others in each look.
    ordinary: Vec<(&'a Member, f64)>,
}

/// Who moved in each stage; `None` where hosts are too few.
pub(super) fn of(stages: &[Paired], same_within: f64, options: &Options) -> Vec<Option<Movers>> {
    let enough = |paired: &Paired| paired.pairs.len() > options.peers_min;
    let tests = stages
        .iter()
        .filter(|p| enough(p))
        .map(|p| p.pairs.len())
        .sum();
    let mut found: Vec<Option<Movers>> = (stages.iter())
        .map(|paired| {
            enough(paired).then(|| Movers {
                found: Vec::new(),
                tests: number(paired.pairs.len()),
            })
        })
        .collect();
    // The two ways are judged together, or each would have its own 5 %.
    let cells = Way::BOTH.map(|way| -> Vec<Cell<'_>> {
        let cell = |(place, paired)| cell(place, paired, way, same_within, options);
        stages.iter().enumerate().map(cell).collect()
    });
    let all: Vec<&Candidate<'_>> = (cells.iter().flatten())
        .flat_map(|cell| &cell.candidates)
        .collect();
    let judge = |apart: &BTreeSet<Key<'_>>| -> Vec<f64> {
        let ordinary = Way::BOTH.map(|way| ordinary(&cells[way as usize], way, apart));
        let p = all.iter().map(|one| {
            let counted = !apart.contains(&one.key());
            one.p(&ordinary[one.way as usize], counted)
        });
        stats::benjamini_hochberg(&p.collect::<Vec<f64>>(), tests)
    };
    // Who is off in each of several looks may have moved, and tells nothing of ordinary hosts; who is
    // not said to have moved in the end does.
    let several = all.iter().filter(|one| one.looks > 1);
    let q = judge(&several.map(|one| one.key()).collect());
    let is_sure =
        |(one, q): &(&&Candidate<'_>, f64)| one.looks > 1 && *q <= options.false_discoveries;
    let sure = all.iter().zip(q).filter(is_sure);
    let q = judge(&sure.map(|(one, _)| one.key()).collect());
    for (one, q) in all.iter().zip(q) {
        if let Some(movers) = &mut found[one.cell] {
            let is_sure = is_sure(&(one, q));
            movers.found.push(mover(&stages[one.cell], one, q, is_sure));
        }
    }
    for movers in found.iter_mut().flatten() {
        let size = |mover: &Mover| mover.beyond.ln_1p().abs();
        let rank = |mover: &Mover| mover.moved != Moved::ByItself;
        movers
            .found
            .sort_by(|x, y| rank(x).cmp(&rank(y)).then(size(y).total_cmp(&size(x))));
    }
    found
}

/// The hosts that do not move, seen one way.
fn ordinary(cells: &[Cell<'_>], way: Way, apart: &BTreeSet<Key<'_>>) -> Ordinary {
    let of_cell = |(place, cell): (usize, &Cell<'_>)| -> Vec<f64> {
        let all = cell.ordinary.iter();
        let left = all.filter(|(member, _)| !apart.contains(&(way, place, *member)));
        left.map(|(_, beyond)| *beyond).collect()
    };
    Ordinary::new(cells.iter().enumerate().map(of_cell).collect())
}

fn cell<'a>(
    place: usize,
    paired: &'a Paired,
    way: Way,
    same_within: f64,
    options: &Options,
) -> Cell<'a> {
    let mut cell = Cell {
        candidates: Vec::new(),
        ordinary: Vec::new(),
    };
    let moved: Vec<f64> = (paired.pairs.iter())
        .map(|pair| way.signed(pair.slower_ln))
        .collect();
    let (Some(centre), Some(deviation)) = (stats::median(&moved), stats::robust_deviation(&moved))
    else {
        return cell;
    };
    if moved.len() <= options.peers_min {
        return cell;
    }
    let from = (DEVIATIONS * deviation).max(same_within.ln_1p());
    let mut looks: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (look, moved) in paired.pairs.iter().flat_map(|pair| way.by_look(pair)) {
        looks.entry(look).or_default().push(moved);
    }
    // What all hosts have in common in a look; of a few hosts nobody knows.
    let of_look = |moved: Vec<f64>| {
        let few = moved.len() <= options.peers_min;
        let own = stats::median(&moved).zip(stats::robust_deviation(&moved));
        own.filter(|_| !few).unwrap_or((centre, deviation))
    };
    let looks: BTreeMap<usize, (f64, f64)> = looks
        .into_iter()
        .map(|(look, moved)| (look, of_look(moved)))
        .collect();
    let ordinary = moved
        .iter()
        .map(|moved| moved - centre)
        .filter(|beyond| beyond.abs() <= from);
    let peers = Spread::of(&ordinary.collect::<Vec<_>>(), deviation);
    for (pair, moved) in paired.pairs.iter().zip(&moved) {
        let by_look: Vec<(f64, f64)> = (way.by_look(pair).into_iter())
            .map(|(look, moved)| (moved - looks[&look].0, looks[&look].1))
            .collect();
        cell.ordinary
            .extend(by_look.iter().map(|(beyond, _)| (&pair.member, *beyond)));
        let beyond_ln = moved - centre;
        if beyond_ln > from && by_look.iter().all(|(beyond, _)| *beyond > from) {
            // A look in which all differ more says less.
            let standing = by_look.iter().map(|(beyond, of_look)| {
                let wider = of_look / deviation;
                if wider > 1.0 && wider.is_finite() {
                    beyond / wider
                } else {
                    *beyond
                }
            });
            cell.candidates.push(Candidate {
                way,
                cell: place,
                pair,
                beyond_ln,
                least_ln: standing.fold(beyond_ln, f64::min),
                looks: by_look.len(),
                peers,
            });
        }
    }
    cell
}

impl Candidate<'_> {
    fn key(&self) -> Key<'_> {
        (self.way, self.cell, &self.pair.member)
    }

    /// The chance that an ordinary host is so far off, to either side, in every look.
    fn p(&self, ordinary: &Ordinary, counted: bool) -> f64 {
        if self.looks < 2 {
            return 1.0;
        }
        let slow = Slow {
            cell: self.cell,
            slower_ln: self.least_ln,
            peers: self.peers,
            counted,
        };
        (2.0 * ordinary.p(&slow, self.looks)).min(1.0)
    }
}

fn mover(paired: &Paired, one: &Candidate<'_>, q: f64, is_sure: bool) -> Mover {
    let figure = |slower_ln: f64| as_change(paired.of_figure(slower_ln));
    Mover {
        name: name(&one.pair.member),
        change: figure(one.pair.slower_ln),
        beyond: figure(one.way.signed(one.beyond_ln)),
        worse: one.way == Way::Worse,
        looks: number(one.looks),
        moved: if is_sure {
            Moved::ByItself
        } else {
            Moved::Suspect
        },
        q: (one.looks > 1).then_some(q),
    }
}
