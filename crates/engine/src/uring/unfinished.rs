//! Operations that the kernel gave back before they were done.
//!
//! * `EAGAIN`: it would have had to wait. A ring tries each operation first in a way that must
//!   not wait (`REQ_NOWAIT`). Where it finds that out at once, it goes on in a worker thread by
//!   itself; where it finds out later (a bio that a throttle held back meets a full queue when it
//!   is let go, `blk_mq_get_tag` in `block/blk-mq-tag.c`), it cannot (`io_rw_should_reissue` in
//!   `io_uring/rw.c`), and leaves it to us.
//! * Fewer bytes than asked: the rest is asked for at the place where it stopped, as read(2) has
//!   it. Either it comes, or the next answer is the reason: the error of a bad sector, or
//!   nothing, at the end of the target.
//!
//! In both cases the operation stays in flight, and its latency counts from the first submission.

use crate::engine::{Completion, FailedIn, Op};

/// How often an operation may be answered `EAGAIN` before that is its result. From the second
/// attempt on it is done by a thread that may wait, so no healthy device comes near this; one
/// that answers so for ever ends the operation within milliseconds.
pub(super) const REFUSED_MAX: u32 = 1000;

/// Operations whose first attempt must not wait (`RWF_NOWAIT`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NoWait {
    /// None: each may wait.
    #[default]
    Never,
    /// Reads: answered `EAGAIN` where the data are not in memory.
    Reads,
    /// Writes: answered `EAGAIN` where direct I/O has to allocate first, as in a hole;
    /// the linked sync is cancelled with it.
    Writes,
}

/// What is done of the operation in a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub(super) op: Op,
    /// Bytes moved until now, less than a block.
    pub(super) moved: u32,
    /// How often it was answered `EAGAIN`.
    pub(super) refused: u32,
}

/// Of all slots.
#[derive(Debug)]
pub(super) struct Unfinished {
    block_size: u32,
    pub(super) parts: Vec<Part>,
    /// Slots whose operation is to be handed over again.
    pub(super) due: Vec<u32>,
    /// How often that was because of `EAGAIN`.
    pub(super) resubmitted: u64,
}

impl Unfinished {
    pub(super) fn new(depth: u32, block_size: usize) -> Self {
        Self {
            // At most 1 GiB, see the plan's checks.
            block_size: block_size as u32,
            parts: vec![Part::default(); depth as usize],
            due: Vec::with_capacity(depth as usize),
            resubmitted: 0,
        }
    }

    /// An operation is handed over for the first time.
    #[inline]
    pub(super) fn begins(&mut self, op: Op) {
        self.parts[op.slot as usize] = Part {
            op,
            moved: 0,
            refused: 0,
        };
    }

    /// What an attempt answered; `None` when there is to be another one.
    #[inline]
    pub(super) fn ended(&mut self, completion: Completion) -> Option<Completion> {
        if completion.result == self.block_size.cast_signed() {
            return Some(completion);
        }
        self.ended_before_its_time(completion)
    }

    #[cold]
    fn ended_before_its_time(&mut self, completion: Completion) -> Option<Completion> {
        if completion.failed_in != FailedIn::Transfer {
            return Some(completion);
        }
        let part = &mut self.parts[completion.slot as usize];
        // Blocks are at most 1 GiB.
        let so_far = part.moved.cast_signed();
        let result = match completion.result {
            again if again == -libc::EAGAIN && part.refused < REFUSED_MAX => {
                part.refused += 1;
                self.resubmitted += 1;
                self.due.push(completion.slot);
                return None;
            }
            moved if moved > 0 => {
                part.moved += moved.unsigned_abs();
                if part.moved < self.block_size {
                    self.due.push(completion.slot);
                    return None;
                }
                part.moved.cast_signed()
            }
            // The end of the target; also where the rest is no whole sector, which
            // direct I/O refuses.
            0 => so_far,
            invalid if invalid == -libc::EINVAL && so_far > 0 => so_far,
            errno => errno,
        };
        Some(Completion {
            result,
            ..completion
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timescale;
    use crate::engine::{Abilities, Done, Engine, SyncEach, Wait};
    use crate::measure::{Job, measure};
    use crate::trial::Progress;
    use diskfacts_plan::pattern::{Range, Steps};
    use diskfacts_plan::{Operation, Pattern};
    use std::io;

    fn begun() -> Unfinished {
        let mut unfinished = Unfinished::new(2, 4096);
        unfinished.begins(Op {
            offset: 8192,
            slot: 1,
            write: false,
        });
        unfinished
    }

    fn answered(unfinished: &mut Unfinished, result: i32) -> Option<i32> {
        let completion = Completion {
            slot: 1,
            result,
            failed_in: FailedIn::Transfer,
        };
        unfinished.ended(completion).map(|ended| ended.result)
    }

    #[test]
    fn the_rest_of_a_short_transfer_is_asked_for_where_it_stopped() {
        let mut unfinished = begun();
        assert_eq!(answered(&mut unfinished, 1024), None);
        assert_eq!(unfinished.due, [1]);
        assert_eq!(unfinished.parts[1].moved, 1024);
        assert_eq!(answered(&mut unfinished, 3072), Some(4096));
        assert_eq!(unfinished.resubmitted, 0);
    }

    #[test]
    fn what_stopped_it_is_the_error_or_the_end() {
        for (then, result) in [
            (-libc::EIO, -libc::EIO),
            (-libc::ENODATA, -libc::ENODATA),
            (0, 512),
            (-libc::EINVAL, 512),
        ] {
            let mut unfinished = begun();
            assert_eq!(answered(&mut unfinished, 512), None);
            assert_eq!(answered(&mut unfinished, then), Some(result), "{then}");
        }
        assert_eq!(answered(&mut begun(), -libc::EINVAL), Some(-libc::EINVAL));
        assert_eq!(answered(&mut begun(), 0), Some(0));
    }

    /// A ring in virtual time: each attempt takes ten ticks, and so many of each operation
    /// are answered `EAGAIN`.
    struct Refusing {
        unfinished: Unfinished,
        refusals: u32,
        now: u64,
        submitted_at: Vec<u64>,
    }

    impl Engine for Refusing {
        fn abilities(&self) -> Abilities {
            Abilities {
                name: "refusing",
                depth: 1,
                features: Vec::new(),
                fallbacks: Vec::new(),
                resubmitted: self.unfinished.resubmitted,
            }
        }

        fn now(&mut self) -> u64 {
            self.now
        }

        fn timescale(&self) -> Timescale {
            Timescale::NANOSECONDS
        }

        fn prepare_write(&mut self, _slot: u32) {}

        fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
            self.submitted_at.push(self.now);
            self.unfinished.begins(ops[0]);
            Ok(1)
        }

        fn reap(&mut self, _wait: Wait, done: &mut Done) -> io::Result<()> {
            loop {
                self.now += 10;
                let refused = self.unfinished.parts[0].refused < self.refusals;
                let completion = Completion {
                    slot: 0,
                    result: if refused { -libc::EAGAIN } else { 4096 },
                    failed_in: FailedIn::Transfer,
                };
                if let Some(ended) = self.unfinished.ended(completion) {
                    done.push(ended);
                    return Ok(());
                }
                assert_eq!(self.unfinished.due.pop(), Some(0));
            }
        }

        fn sync_all(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn idle_until(&mut self, tick: u64) -> io::Result<()> {
            self.now = tick;
            Ok(())
        }
    }

    #[test]
    fn the_latency_of_what_was_answered_again_counts_from_the_first_submission() {
        for refusals in [0, 1, 4] {
            let mut engine = Refusing {
                unfinished: Unfinished::new(1, 4096),
                refusals,
                now: 0,
                submitted_at: Vec::new(),
            };
            let range = Range::new(0, 1 << 20, 4096).expect("a span with blocks");
            let progress = Progress::default();
            let mut job = Job {
                steps: Steps::new(Operation::Read, Pattern::Sequential, range, 1, 0, 1),
                block_size: 4096,
                modify: false,
                depth: 1,
                time_ns: None,
                operations: Some(3),
                intended: None,
                sync_at_end: SyncEach::None,
                intervals_from: None,
                time_from: None,
                stop: &progress.stop,
                progress: &progress,
            };
            let record = measure(&mut engine, &mut job).expect("virtual time does not fail");
            let lasted = 10 * (u64::from(refusals) + 1);
            assert_eq!(engine.submitted_at, [0, lasted, 2 * lasted]);
            assert_eq!(record.read.count(), 3);
            let (min, max) = (record.read.min(), record.read.max());
            assert_eq!((min, max), (Some(lasted), Some(lasted)), "{refusals}");
            assert_eq!(engine.abilities().resubmitted, 3 * u64::from(refusals));
        }
    }

    #[test]
    fn again_means_again_but_not_for_ever() {
        let mut unfinished = begun();
        for _ in 0..REFUSED_MAX {
            assert_eq!(answered(&mut unfinished, -libc::EAGAIN), None);
            assert_eq!(unfinished.due.pop(), Some(1));
        }
        assert_eq!(unfinished.resubmitted, u64::from(REFUSED_MAX));
        let last = answered(&mut unfinished, -libc::EAGAIN);
        assert_eq!(last, Some(-libc::EAGAIN));
    }
}
