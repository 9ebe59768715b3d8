//! Completions whose time is known and has not come yet.

use crate::completion::Completion;
use std::collections::VecDeque;

/// Completions in order of time; those of the same time in order of arrival.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbox {
    // Nearly always appended at the end, so a sorted deque beats a heap.
    sorted: VecDeque<Completion>,
}

impl Outbox {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Keeps a completion until its time.
    #[inline]
    pub(crate) fn push(&mut self, completion: Completion) {
        let mut at = self.sorted.len();
        while at > 0 && self.sorted[at - 1].done_ns > completion.done_ns {
            at -= 1;
        }
        if at == self.sorted.len() {
            self.sorted.push_back(completion);
        } else {
            self.sorted.insert(at, completion);
        }
    }

    /// When the first one is due.
    #[inline]
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.sorted.front().map(|completion| completion.done_ns)
    }

    /// The first one, if it is due by `now_ns`.
    #[inline]
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<Completion> {
        if self.next_ns()? <= now_ns {
            self.sorted.pop_front()
        } else {
            None
        }
    }
}
