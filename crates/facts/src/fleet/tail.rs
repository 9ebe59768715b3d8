//! How often an ordinary disk looks as slow as a suspect.
//!
//! It does for two reasons, which add up:
//! * **It is a little slower than its peers, as disks are.** That is the same in each look, so it
//!   counts once: Student's t of the deviation of the peers that are no suspects, or of that by the
//!   MAD of all, if it is more.
//! * **Its run was disturbed, and nobody saw it.** That is another chance in each look at another
//!   time, so its share counts once for each look: of k looks in which a disk is at least so slow,
//!   share^k. (The largest of k independent p has the distribution of x^k: the rule of partial
//!   conjunction, Benjamini and Heller, Biometrics 64, 2008, for all of k.)
//!
//! The share is an empirical null (Efron, "Large-Scale Simultaneous Hypothesis Testing", Journal
//! of the American Statistical Association 99, 2004): what the first look had of disks that are
//! not odd. In one stage few disks say little, so the fleet's share over all stages stands in
//! as a prior that is worth [`PRIOR`] disks, which is the posterior mean of a binomial share
//! under a beta prior (empirical Bayes; Casella, "An Introduction to Empirical Bayes Data Analysis",
//! The American Statistician 39, 1985). Half a disk is added to the fleet's count (Jeffreys), so
//! that what was never seen has a chance.

use crate::stats;

/// Disks that the share of the whole fleet is worth in one stage.
const PRIOR: f64 = 10.0;

/// Slownesses of ordinary disks in the first look, by cell.
pub(super) struct Ordinary {
    /// Of each cell, in rising order.
    cells: Vec<Vec<f64>>,
    /// Of all.
    fleet: Vec<f64>,
}

/// How many of them, in rising order, are at least so slow.
fn at_least(sorted: &[f64], slower_ln: f64) -> f64 {
    (sorted.len() - sorted.partition_point(|value| *value < slower_ln)) as f64
}

impl Ordinary {
    pub(super) fn new(mut cells: Vec<Vec<f64>>) -> Self {
        for cell in &mut cells {
            cell.sort_by(f64::total_cmp);
        }
        let mut fleet: Vec<f64> = cells.iter().flatten().copied().collect();
        fleet.sort_by(f64::total_cmp);
        Self { cells, fleet }
    }

    /// The share of runs of ordinary disks that are at least so slow, without the suspect's own,
    /// which is counted in its cell if `counted`.
    fn share(&self, cell: usize, slower_ln: f64, counted: bool) -> f64 {
        let own = f64::from(u8::from(counted));
        let without = |sorted: &[f64]| {
            let (all, slow) = (sorted.len() as f64, at_least(sorted, slower_ln));
            ((slow - own).max(0.0), (all - own).max(0.0))
        };
        let (slow, all) = without(&self.fleet);
        let fleet = (slow + 0.5) / (all + 1.0);
        let (slow, all) = without(&self.cells[cell]);
        (slow + PRIOR * fleet) / (all + PRIOR)
    }

    /// The chance that an ordinary disk is at least so slow in each of `looks` looks.
    pub(super) fn p(&self, at: &Slow, looks: usize) -> f64 {
        let peers = &at.peers;
        let like_peers = if peers.deviation_ln > 0.0 {
            stats::t_two_sided(at.slower_ln / peers.deviation_ln, peers.df) / 2.0
        } else {
            0.0
        };
        let share = self.share(at.cell, at.slower_ln, at.counted);
        let disturbed = share.powi(i32::try_from(looks).unwrap_or(i32::MAX));
        (like_peers + disturbed).min(1.0)
    }
}

/// How peers differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Standard deviation of one from the next, of logarithms.
    deviation_ln: f64,
    /// Degrees of freedom of that.
    df: f64,
}

impl Spread {
    /// Of peers without the suspects among them, and by the MAD of all.
    pub(super) fn of(peers: &[f64], by_mad: f64) -> Self {
        let n = peers.len() as f64;
        let df = (n - 1.0).max(1.0);
        let mean = peers.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = peers.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            deviation_ln: (squares / df).sqrt().max(by_mad),
            df,
        }
    }
}

/// How slow a suspect is in the look in which it is least so.
pub(super) struct Slow {
    /// Place of its cell.
    pub(super) cell: usize,
    /// The logarithm of the factor; above 0.
    pub(super) slower_ln: f64,
    /// How its peers differ.
    pub(super) peers: Spread,
    /// Whether it is among the ordinary ones itself.
    pub(super) counted: bool,
}
