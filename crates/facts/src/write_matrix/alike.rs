//! Ways to write that are the same thing.
//!
//! Two modes are compared at every block size that both have, by the logarithm of
//! the ratio of their rates. They are the same when the 95 % interval of its
//! median (the sign test's, see [`stats::median_interval`]) lies within 5 %: that
//! shows that they are alike, where a test that finds no difference would only
//! show that there is little data. And a size at which they are further apart
//! must be the exception.

use super::{CONFIDENCE, Matrix};
use crate::stats;
use crate::words::{count, list, percent};
use diskfacts_plan::SyncMode::{Fdatasync, Fsync, ODsync, OSync};
use diskfacts_plan::WriteMode;

/// How near the median ratio must be to 1.
const ALIKE: f64 = 0.05;
/// How far apart single sizes may be, and how many sizes of ten may be further.
const APART: f64 = 0.15;
const EXCEPTIONS: usize = 10;

/// Modes of which each is the same as every other.
#[derive(Debug)]
pub(crate) struct Alike {
    pub(crate) modes: Vec<WriteMode>,
    /// Largest distance of two of them at a size, as a share.
    furthest: f64,
    /// Sizes at which any two of them were compared, at least.
    sizes: usize,
}

impl Alike {
    /// Whether all ways to make each write durable are in this group, of all four calls and
    /// flags.
    pub(crate) fn has_all_syncs(&self, matrix: &Matrix<'_>) -> bool {
        let has = |sync| self.modes.iter().any(|mode| mode.sync == sync);
        let all = [Fdatasync, Fsync, ODsync, OSync].into_iter().all(has);
        all && matrix.synced().all(|cell| self.modes.contains(&cell.mode))
    }

    /// How far they are apart, a sentence.
    pub(crate) fn said(&self) -> String {
        format!(
            "{}: at {} sizes, the rates of any two are within 5 % in the median, and never further \
             apart than {}.",
            list(self.modes.iter().map(ToString::to_string)),
            self.sizes,
            percent(self.furthest)
        )
    }
}

/// What two modes are to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    /// The same thing; they are `furthest` apart, as a share, at one of so many sizes.
    Same { furthest: f64, sizes: usize },
    /// Two things, or at too few sizes to ask.
    Different,
    /// The interval of the median holds both.
    Unknown,
}

impl Matrix<'_> {
    /// The modes, each with those before it that it is the same as; without those that are the
    /// same as no other.
    pub(crate) fn alike(&self) -> Vec<Alike> {
        let mut groups: Vec<Alike> = Vec::new();
        for mode in self.modes() {
            let with = |other: &WriteMode| match self.relation(mode, *other) {
                Relation::Same { furthest, sizes } => Some((furthest, sizes)),
                Relation::Different | Relation::Unknown => None,
            };
            let joined = groups.iter_mut().find_map(|group| {
                let each: Option<Vec<(f64, usize)>> = group.modes.iter().map(with).collect();
                for (furthest, sizes) in each? {
                    group.furthest = group.furthest.max(furthest);
                    group.sizes = group.sizes.min(sizes);
                }
                group.modes.push(mode);
                Some(())
            });
            if joined.is_none() {
                groups.push(Alike {
                    modes: vec![mode],
                    furthest: 0.0,
                    sizes: usize::MAX,
                });
            }
        }
        groups.retain(|group| group.modes.len() > 1);
        groups
    }

    /// Of how many pairs of modes their sizes do not agree whether they are the same, a sentence;
    /// `None` where there are none.
    pub(crate) fn unknown_pairs(&self) -> Option<String> {
        let modes = self.modes();
        let places = 0..modes.len();
        let pairs = places.flat_map(|i| modes[..i].iter().map(move |b| (i, *b)));
        let is_unknown =
            |(a, b): &(usize, WriteMode)| self.relation(modes[*a], *b) == Relation::Unknown;
        let unknown = pairs.clone().filter(is_unknown).count();
        let all = count(pairs.count() as u64, "pair");
        (unknown > 0).then(|| {
            format!(
                "Of {all} of ways {unknown} were found neither alike nor different: their sizes \
                 disagree."
            )
        })
    }

    fn relation(&self, a: WriteMode, b: WriteMode) -> Relation {
        let ratios = self.of_mode(a).filter_map(|cell| {
            let other = self.cell(b, cell.block_size)?;
            Some((cell.throughput / other.throughput).ln())
        });
        let sorted = stats::finite_sorted(&ratios.collect::<Vec<f64>>());
        let sizes = sorted.len();
        let Some(ranks) = stats::median_interval(sizes, CONFIDENCE) else {
            return Relation::Different;
        };
        let limit = ALIKE.ln_1p();
        let (lower, upper) = (sorted[ranks.lower - 1], sorted[ranks.upper - 1]);
        let inside = lower >= -limit && upper <= limit;
        let exceptions = sorted.iter().filter(|r| r.abs() > APART.ln_1p()).count();
        let furthest = sorted.iter().map(|r| r.abs().exp_m1()).fold(0.0, f64::max);
        if inside && exceptions <= sizes / EXCEPTIONS {
            Relation::Same { furthest, sizes }
        } else if inside || lower > limit || upper < -limit {
            Relation::Different
        } else {
            Relation::Unknown
        }
    }
}
