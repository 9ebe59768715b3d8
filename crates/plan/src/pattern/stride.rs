//! Strided visits: one block of every so many, pass after pass.
//!
//! With `n` blocks and a skip of `s`, a pass begins at its first block and goes
//! on by steps until the next block would lie behind the last; then the next
//! pass begins.
//!
//! * **Fixed**: every step is `s` blocks. Else each step is drawn, uniformly of
//!   1 to `2 s - 1` blocks, whose mean is exactly `s`.
//! * **From the start**: every pass begins at block 0. Else pass `p`, counted
//!   from 0, begins at block `p mod n`: a fixed skip that divides the span then
//!   comes to other blocks in each pass, and to all of them after `s` passes.
//!
//! Example: 10 blocks, a fixed skip of 4, not from the start: 0 4 8, 1 5 9, 2 6,
//! 3 7, ...
//!
//! Nothing is kept of what was visited: a few words, however long the span.

use crate::rng::Rng;

/// The block numbers of a strided visit.
#[derive(Debug, Clone)]
pub(super) struct Stride {
    /// Blocks of the span, at least 1.
    count: u64,
    /// At least 1.
    skip: u64,
    fixed: bool,
    from_start: bool,
    /// The block that is next; below `count`.
    next: u64,
    /// Where the pass began; below `count`.
    began: u64,
    rng: Rng,
}

impl Stride {
    pub(super) fn new(count: u64, skip: u64, fixed: bool, from_start: bool, rng: Rng) -> Self {
        Self {
            count,
            skip: skip.max(1),
            fixed,
            from_start,
            next: 0,
            began: 0,
            rng,
        }
    }

    /// The next block.
    #[inline]
    pub(super) fn take(&mut self) -> u64 {
        let block = self.next;
        let step = if self.fixed {
            self.skip
        } else {
            1 + self.rng.below(self.skip.saturating_mul(2) - 1)
        };
        self.next = match block.checked_add(step) {
            Some(next) if next < self.count => next,
            _ => self.next_pass(),
        };
        block
    }

    /// Leaves out so many blocks.
    pub(super) fn leave_out(&mut self, blocks: u32) {
        for _ in 0..blocks {
            self.take();
        }
    }

    fn next_pass(&mut self) -> u64 {
        if !self.from_start {
            self.began += 1;
            if self.began == self.count {
                self.began = 0;
            }
        }
        self.began
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    fn blocks(count: u64, skip: u64, fixed: bool, from_start: bool, n: usize) -> Vec<u64> {
        let mut stride = Stride::new(count, skip, fixed, from_start, Rng::new(7));
        (0..n).map(|_| stride.take()).collect()
    }

    /// The definition, slowly: whole passes written down one after the other.
    fn slow(count: u64, skip: u64, fixed: bool, from_start: bool, n: usize) -> Vec<u64> {
        let mut rng = Rng::new(7);
        let mut seen = Vec::new();
        for pass in 0.. {
            let mut block = if from_start { 0 } else { pass % count };
            while block < count {
                seen.push(block);
                if seen.len() == n {
                    return seen;
                }
                block += if fixed {
                    skip
                } else {
                    1 + rng.below(2 * skip - 1)
                };
            }
        }
        seen
    }

    #[test]
    fn passes_begin_one_block_later_or_at_the_start() {
        assert_eq!(
            blocks(10, 4, true, false, 12),
            [0, 4, 8, 1, 5, 9, 2, 6, 3, 7, 4, 8]
        );
        assert_eq!(blocks(10, 4, true, true, 7), [0, 4, 8, 0, 4, 8, 0]);
        assert_eq!(blocks(3, 1, true, false, 7), [0, 1, 2, 1, 2, 2, 0]);
        assert_eq!(blocks(1, 1, true, false, 3), [0, 0, 0]);
    }

    #[test]
    fn a_drawn_skip_has_the_mean_that_was_asked_for() {
        let mut stride = Stride::new(1 << 40, 100, false, false, Rng::new(3));
        let draws = 100_000;
        stride.leave_out(draws);
        let mean = stride.next as f64 / f64::from(draws);
        // One standard deviation of the mean is 57.5 / sqrt(draws) = 0.18.
        assert!((99.0..101.0).contains(&mean), "{mean}");
    }

    proptest! {
        #[test]
        fn it_visits_what_the_definition_says(
            count in 1_u64..60,
            skip in 1_u64..70,
            fixed: bool,
            from_start: bool,
        ) {
            prop_assert_eq!(
                blocks(count, skip, fixed, from_start, 200),
                slow(count, skip, fixed, from_start, 200)
            );
        }

        #[test]
        fn as_many_passes_as_the_skip_see_every_block_once(
            passes in 1_u64..20,
            skip in 1_u64..20,
        ) {
            let count = passes * skip;
            let n = usize::try_from(count).unwrap();
            // While a pass begins within the first step, it is as long as the first.
            let mut seen = blocks(count, skip, true, false, n);
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..count).collect::<Vec<_>>());
        }
    }
}
