//! One way of a link: a transfer at a time, each where there is room for it.
//!
//! Reads become ready out of order. One that waits for a busy die must not keep the link
//! from another that is ready before it, and no two may have the link at once: so a transfer
//! takes the first gap that is long enough, from when its data is ready.

use std::collections::VecDeque;

/// When a way of the link is taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    /// From and to, ns, in order; no two touch, and none lies before what was forgotten.
    taken: VecDeque<(u64, u64)>,
}

impl Link {
    /// Takes the link for `for_ns` in the first gap at or after `ready_ns`; says when that
    /// begins. Nothing that asks later may be ready before `now_ns`.
    pub(super) fn take(&mut self, now_ns: u64, ready_ns: u64, for_ns: u64) -> u64 {
        while self.taken.front().is_some_and(|(_, to)| *to <= now_ns) {
            self.taken.pop_front();
        }
        let mut start_ns = ready_ns;
        let mut place = self.taken.partition_point(|(_, to)| *to <= ready_ns);
        while let Some((from, to)) = self.taken.get(place)
            && *from < start_ns.saturating_add(for_ns)
        {
            start_ns = start_ns.max(*to);
            place += 1;
        }
        if for_ns > 0 {
            self.insert(place, start_ns, start_ns + for_ns);
        }
        start_ns
    }

    /// Joins what touches, so that a busy link is one entry.
    fn insert(&mut self, place: usize, from_ns: u64, to_ns: u64) {
        let before = place
            .checked_sub(1)
            .filter(|before| self.taken[*before].1 == from_ns);
        let joins_next = self.taken.get(place).is_some_and(|next| next.0 == to_ns);
        match (before, joins_next) {
            (Some(before), true) => {
                self.taken[before].1 = self.taken[place].1;
                self.taken.remove(place);
            }
            (Some(before), false) => self.taken[before].1 = to_ns,
            (None, true) => self.taken[place].0 = from_ns,
            (None, false) => self.taken.insert(place, (from_ns, to_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_ready_first_goes_first_and_a_gap_that_is_too_short_is_left() {
        let mut link = Link::default();
        assert_eq!(link.take(0, 100, 10), 100);
        // Ready before it, and done before it begins.
        assert_eq!(link.take(0, 50, 50), 50);
        assert_eq!(link.take(0, 45, 10), 110, "five are free before");
        assert_eq!(link.take(0, 45, 5), 45);
        assert_eq!(link.taken, [(45, 120)]);
        assert_eq!(link.take(120, 130, 10), 130);
        assert_eq!(link.taken, [(130, 140)], "what is over is forgotten");
    }

    proptest! {
        #[test]
        fn no_two_transfers_have_the_link_at_once_and_none_waits_for_nothing(
            asked in prop::collection::vec((0_u64..50, 0_u64..200, 1_u64..40), 1..60),
        ) {
            let mut link = Link::default();
            let mut now_ns = 0;
            let mut all: Vec<(u64, u64)> = Vec::new();
            for (later, wait, for_ns) in asked {
                now_ns += later;
                let ready_ns = now_ns + wait;
                let start_ns = link.take(now_ns, ready_ns, for_ns);
                prop_assert!(start_ns >= ready_ns);
                let free = |at: u64| all.iter().all(|(from, to)| at + for_ns <= *from || *to <= at);
                prop_assert!(free(start_ns), "{start_ns} in {all:?}");
                let earlier = (ready_ns..start_ns).find(|at| free(*at));
                prop_assert_eq!(earlier, None, "{:?}", all);
                all.push((start_ns, start_ns + for_ns));
            }
        }
    }
}
