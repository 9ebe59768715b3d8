//! Holding back writes to a part of a stripe until the rest comes.

use crate::device::Extent;
use std::collections::BTreeMap;

/// Adjoining data of one stripe, and the nodes whose parts it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gathered {
    /// Bytes of the array.
    pub range: Extent,
    /// Numbers of nodes.
    pub nodes: Vec<usize>,
}

/// The stripes that wait.
#[derive(Debug, Clone)]
pub(super) struct Gather {
    wait_ns: u64,
    stripe_bytes: u64,
    /// By stripe: until when it waits, and what it has.
    held: BTreeMap<u64, (u64, Gathered)>,
}

impl Gather {
    /// Waits up to `wait_ns` for the rest of a stripe of `stripe_bytes`.
    pub(super) fn new(wait_ns: u64, stripe_bytes: u64) -> Self {
        Self {
            wait_ns,
            stripe_bytes,
            held: BTreeMap::new(),
        }
    }

    /// Adds `range` of `stripe`, a part of `node`. Gives what is to be written
    /// at once: a whole stripe, or, without waiting or where the data does not
    /// adjoin what is held, the range itself.
    pub(super) fn add(
        &mut self,
        now_ns: u64,
        stripe: u64,
        range: Extent,
        node: usize,
    ) -> Option<Gathered> {
        let alone = Gathered {
            range,
            nodes: vec![node],
        };
        if self.wait_ns == 0 || range.len() == self.stripe_bytes {
            return Some(alone);
        }
        let Some((_, held)) = self.held.get_mut(&stripe) else {
            self.held.insert(stripe, (now_ns + self.wait_ns, alone));
            return None;
        };
        if held.range.end == range.start {
            held.range.end = range.end;
        } else if range.end == held.range.start {
            held.range.start = range.start;
        } else {
            return Some(alone);
        }
        held.nodes.push(node);
        if held.range.len() == self.stripe_bytes {
            self.held.remove(&stripe).map(|(_, gathered)| gathered)
        } else {
            None
        }
    }

    /// When the first stripe has waited long enough, ns.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.held.values().map(|(until_ns, _)| *until_ns).min()
    }

    /// The stripes that have waited long enough.
    pub(super) fn release_due(&mut self, now_ns: u64) -> Vec<(u64, Gathered)> {
        self.held
            .extract_if(.., |_, (until_ns, _)| *until_ns <= now_ns)
            .map(|(stripe, (_, gathered))| (stripe, gathered))
            .collect()
    }

    /// All stripes.
    pub(super) fn release_all(&mut self) -> Vec<(u64, Gathered)> {
        std::mem::take(&mut self.held)
            .into_iter()
            .map(|(stripe, (_, gathered))| (stripe, gathered))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stripe_is_written_when_it_is_whole_or_has_waited_long_enough() {
        let mut gather = Gather::new(100, 40);
        let range = |start, end| Extent { start, end };
        assert_eq!(gather.add(5, 0, range(0, 20), 1), None);
        assert_eq!(gather.add(7, 1, range(40, 50), 2), None);
        let whole = gather.add(9, 0, range(20, 40), 3).unwrap();
        assert_eq!(whole.range, range(0, 40));
        assert_eq!(whole.nodes, [1, 3]);
        assert_eq!(gather.next_ns(), Some(107));
        assert!(gather.release_due(106).is_empty());
        assert_eq!(gather.release_due(107).len(), 1);
        assert_eq!(gather.next_ns(), None);
    }

    #[test]
    fn data_that_does_not_adjoin_goes_its_own_way() {
        let mut gather = Gather::new(100, 40);
        let range = |start, end| Extent { start, end };
        assert_eq!(gather.add(0, 0, range(0, 10), 1), None);
        assert!(gather.add(0, 0, range(20, 30), 2).is_some());
    }
}
