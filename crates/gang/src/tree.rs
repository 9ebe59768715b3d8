//! Who talks to whom: a tree over the ranks that are there, with rank 0 at its root.
//!
//! With 16 children each, 4096 hosts are three edges away from the root at most, and nobody
//! holds more than 17 connections.

use std::collections::BTreeSet;

/// How many children a rank has at most.
pub const ARITY: usize = 16;

/// The tree of one epoch. A rank that is lost has no place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The ranks that are there, ascending; the first is the root.
    present: Vec<usize>,
}

impl Tree {
    /// The tree over `size` ranks without the lost ones.
    pub fn new(size: usize, lost: &BTreeSet<usize>) -> Self {
        Self {
            present: (0..size).filter(|rank| !lost.contains(rank)).collect(),
        }
    }

    /// All ranks in it, ascending.
    pub fn present(&self) -> &[usize] {
        &self.present
    }

    /// Whom a rank hears from; none at the root, and of a rank that has no place.
    pub fn parent(&self, rank: usize) -> Option<usize> {
        let index = self.index(rank)?;
        (index > 0).then(|| self.present[(index - 1) / ARITY])
    }

    /// Whom a rank tells, at most [`ARITY`].
    pub fn children(&self, rank: usize) -> &[usize] {
        let Some(index) = self.index(rank) else {
            return &[];
        };
        let end = self.present.len();
        let first = (index * ARITY + 1).min(end);
        &self.present[first..(first + ARITY).min(end)]
    }

    /// A rank and all below it.
    pub fn subtree(&self, rank: usize) -> Vec<usize> {
        let mut found = vec![rank];
        let mut next = 0;
        while let Some(at) = found.get(next) {
            found.extend_from_slice(self.children(*at));
            next += 1;
        }
        found
    }

    fn index(&self, rank: usize) -> Option<usize> {
        self.present.binary_search(&rank).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_one_parent_that_knows_it_whoever_is_lost() {
        for size in [1, 2, 16, 17, 18, 273, 274, 600] {
            for lost in [vec![], vec![1], vec![3, 5, 17], vec![1, 2, 16, 18]] {
                let lost: BTreeSet<usize> = lost.into_iter().filter(|rank| *rank < size).collect();
                let tree = Tree::new(size, &lost);
                assert_eq!(tree.parent(0), None);
                for rank in 1..size {
                    let parent = tree.parent(rank);
                    assert_eq!(parent.is_some(), !lost.contains(&rank));
                    if let Some(parent) = parent {
                        assert!(tree.children(parent).contains(&rank), "{rank} of {parent}");
                        assert!(parent < rank && !lost.contains(&parent));
                    }
                }
                let mut all = tree.subtree(0);
                all.sort_unstable();
                assert_eq!(all, tree.present(), "the root's subtree is everybody, once");
            }
        }
    }

    #[test]
    fn four_thousand_hosts_are_three_edges_away_at_most() {
        let tree = Tree::new(4096, &BTreeSet::new());
        let depth = |rank| {
            let above = std::iter::successors(Some(rank), |rank| tree.parent(*rank));
            above.count() - 1
        };
        assert_eq!((0..4096).map(depth).max(), Some(3));
    }
}
