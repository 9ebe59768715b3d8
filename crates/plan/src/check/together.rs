//! Threads that serve a stream together, and what runs beside a stage.

use super::{POOL_THREADS_MAX, Problem, STREAMS_MAX, problem};
use crate::observe::Observe;
use crate::workload::{EngineChoice, Pool, Stop, Workload};

impl Workload {
    pub(super) fn check_pool(&self, found: &mut Vec<Problem>) {
        let Some(Pool { threads, .. }) = self.pool else {
            return;
        };
        if threads == 0 {
            found.push(problem(
                "threads",
                "it is 0; with 1 a single thread serves the stream",
            ));
        } else if threads.saturating_mul(self.streams) > STREAMS_MAX || threads > POOL_THREADS_MAX {
            found.push(problem(
                "threads",
                format!(
                    "{threads} for each of {} streams are too many; at most {POOL_THREADS_MAX} for \
                     a stream, and {STREAMS_MAX} together",
                    self.streams
                ),
            ));
        }
        if self.operation.modifies() && self.pool.is_some_and(Pool::is_shared) {
            found.push(problem(
                "io_context",
                "threads that share one are those of io_uring, which cannot modify; use io_context \
                 = \"separate\"",
            ));
        }
        if self.engine != EngineChoice::Auto || self.iopoll || self.sqpoll {
            found.push(problem(
                "threads",
                "threads that serve a stream in turn are an engine of their own; drop engine, \
                 iopoll and sqpoll",
            ));
        }
    }

    pub(super) fn check_beside(&self, found: &mut Vec<Problem>) {
        let Some(beside) = &self.beside else {
            return;
        };
        if beside.beside.is_some() {
            found.push(problem("beside", "nothing can run beside what runs beside"));
        }
        if beside.stop != Stop::default() {
            found.push(problem(
                "beside",
                "it runs as long as the stage; drop its time, bytes, operations and fraction",
            ));
        }
        if beside.observe != Observe::default() {
            found.push(problem(
                "beside",
                "the stage itself says who observes it; drop observe here",
            ));
        }
        if beside.sync.at_end() {
            found.push(problem(
                "beside",
                "it has no end of its own to sync at; use sync = \"fdatasync\" or \"none\"",
            ));
        }
        if beside.engine == EngineChoice::Null {
            found.push(problem(
                "beside",
                "engine = \"null\" does no I/O, so it would disturb nothing",
            ));
        }
        // What is wrong with it as with any other workload.
        let alone = Workload {
            beside: None,
            stop: Stop::default(),
            ..(**beside).clone()
        };
        found.extend(alone.problems().into_iter().map(Problem::beside));
    }
}
