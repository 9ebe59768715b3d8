//! What each thread of a trial does of it.

use crate::error::TrialError;
use crate::measure::Job;
use crate::pick::sync_at_end;
use crate::trial::Progress;
use diskfacts_plan::arrivals::Intended;
use diskfacts_plan::pattern::{Range, Steps};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{Pattern, Workload};

/// One thread's part of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    workload: &'a Workload,
    range: Range,
    /// Operations in flight.
    depth: u32,
    /// Threads that serve one stream together.
    lanes: u32,
    threads: u32,
    /// Of the whole trial.
    trial_seed: u64,
    /// Which thread, from 0.
    pub(crate) thread: u32,
    /// Of its own random choices.
    pub(crate) seed: u64,
}

/// Cuts a trial on a target of `size` bytes into the parts of its threads, each
/// with `depth` operations in flight and `lanes` of them for each stream.
///
/// # Errors
/// No whole block lies in the span.
pub(crate) fn parts(
    workload: &Workload,
    (depth, lanes): (u32, u32),
    size: u64,
    seed: u64,
) -> Result<Vec<Part<'_>>, TrialError> {
    let left = size.saturating_sub(workload.offset);
    let span = workload.span.unwrap_or(u64::MAX).min(left);
    let range =
        Range::new(workload.offset, span, workload.block_size).ok_or(TrialError::NoBlock {
            block_size: workload.block_size,
            offset: workload.offset,
            size,
        })?;
    let threads = workload.streams * lanes;
    let mut seeds = Rng::new(seed);
    Ok((0..threads)
        .map(|thread| Part {
            workload,
            range,
            depth,
            lanes,
            threads,
            trial_seed: seed,
            thread,
            seed: seeds.next_u64(),
        })
        .collect())
}

impl Part<'_> {
    /// Which stream it serves, from 0.
    fn stream(&self) -> u32 {
        self.thread / self.lanes
    }

    /// The blocks that it visits: streams of a sequential or strided pattern each
    /// have a part of their own; at random, all range over the whole.
    pub(crate) fn range(&self) -> Range {
        match self.workload.pattern {
            Pattern::Sequential | Pattern::Stride { .. } => {
                self.range.piece(self.stream(), self.workload.streams)
            }
            Pattern::Random | Pattern::Zipf { .. } => self.range,
        }
    }

    /// What the measuring loop of this thread is to do.
    pub(crate) fn job<'p>(&self, progress: &'p Progress) -> Job<'p> {
        let workload = self.workload;
        let lane = self.thread % self.lanes;
        let range = self.range();
        let seed = match workload.pattern {
            // The lanes of a stream take turns in what one seed draws.
            Pattern::Stride { .. } => {
                Rng::for_part(self.trial_seed, u64::from(self.stream())).next_u64()
            }
            _ => self.seed,
        };
        let limit = [
            workload.stop.operations,
            workload.stop.bytes.map(|bytes| bytes / workload.block_size),
            (workload.stop.fraction).and_then(|fraction| self.range.count.checked_div(fraction)),
        ];
        let operations = limit.into_iter().flatten().min().map(|all| {
            let (each, rest) = (all / u64::from(self.threads), all % u64::from(self.threads));
            each + u64::from(u64::from(self.thread) < rest)
        });
        Job {
            steps: Steps::new(
                workload.operation,
                workload.pattern,
                range,
                seed,
                lane,
                self.lanes,
            ),
            block_size: workload.block_size,
            modify: workload.operation.modifies(),
            depth: self.depth,
            time_ns: workload.stop.time_ns,
            operations,
            intended: workload
                .rate
                .map(|rate| Intended::new(rate, self.thread, self.threads, self.trial_seed)),
            sync_at_end: sync_at_end(workload.sync),
            intervals_from: None,
            time_from: None,
            stop: &progress.stop,
            progress,
        }
    }
}
