//! What read-ahead decided, as the trace events of a real kernel tell it: for
//! those who ask; it costs memory.

use super::machine::Host;
use super::page_cache::PAGE;
use super::read_ahead::{Pages, Rule};
use crate::request::Request;
use std::collections::BTreeMap;

/// One decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// The rule that made it.
    pub rule: Rule,
    /// Whose read it was for.
    pub stream: u32,
    /// The page that was missing or marked, and one past the last of the read.
    pub request: Pages,
    /// The window.
    pub window: Pages,
    /// Pages of it behind the mark.
    pub behind_mark: u64,
    /// Pages that were read.
    pub actual: u64,
    /// The stream went on in order, and another one had taken the window.
    pub broken: bool,
    /// The stream went on in order, the window was its own, and a page was missing.
    pub late: bool,
}

/// The decisions since the observers' window opened.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    told: Vec<Told>,
    /// One past the last page that each stream read.
    ends: BTreeMap<u32, u64>,
    /// The stream that each window was set up for.
    owners: BTreeMap<u32, u32>,
    /// Pages that came from the device and were read for the first time.
    used: u64,
}

impl Decisions {
    /// A stream reads: whether it goes on where it was.
    pub(super) fn goes_on(&mut self, stream: u32, first: u64, end: u64) -> bool {
        self.ends.insert(stream, end) == Some(first)
    }

    /// A stream decides about a window: whether it was another stream's.
    pub(super) fn takes(&mut self, stream: u32, window: u32) -> bool {
        let owner = self.owners.insert(window, stream);
        owner.is_some_and(|owner| owner != stream)
    }

    pub(super) fn tell(&mut self, told: Told) {
        self.told.push(told);
    }

    pub(super) fn count_used(&mut self, pages: u64) {
        self.used += pages;
    }
}

impl Host {
    /// Tells what its read-ahead decides from now on, or no more.
    pub fn tell_read_ahead(&mut self, whether: bool) {
        self.decisions = whether.then(Decisions::default);
    }

    /// The same host, whose programs read through one descriptor: they share its
    /// read-ahead window.
    #[must_use]
    pub fn with_one_descriptor(mut self) -> Self {
        self.one_descriptor = true;
        self
    }

    /// What read-ahead decided since the last [`Host::begin_window`], and how many
    /// of the pages that came since then were read; `None` when it does not tell.
    pub fn read_ahead_told(&self) -> Option<(&[Told], u64)> {
        let decisions = self.decisions.as_ref()?;
        Some((&decisions.told, decisions.used))
    }

    /// Forgets the decisions so far, and not who read where.
    pub(super) fn forget_told(&mut self) {
        if let Some(decisions) = &mut self.decisions {
            decisions.told.clear();
            decisions.used = 0;
        }
    }

    /// The window that the reads of a stream use.
    pub(super) fn window_of(&self, stream: u32) -> u32 {
        match self.traffic_apart {
            // What runs beside has opened the file for itself.
            Some((first_apart, _)) if stream >= first_apart => stream,
            _ if self.one_descriptor => 0,
            _ => stream,
        }
    }

    /// Tells a decision for pages `first..end` of a request, that brought so many
    /// bytes.
    pub(super) fn tell_decision(
        &mut self,
        request: &Request,
        asked: Pages,
        read: Option<(Pages, u64)>,
        was_missing: bool,
    ) {
        if self.decisions.is_none() {
            return;
        }
        let key = self.window_of(request.stream);
        let window = self.windows.get(&key).copied().unwrap_or_default();
        let Some(decisions) = &mut self.decisions else {
            return;
        };
        let (first, end) = super::machine::pages_of(request);
        let goes_on = decisions.goes_on(request.stream, first, end);
        let Some((pages, bytes)) = read else {
            return;
        };
        let taken = decisions.takes(request.stream, key);
        let rule = window.rule();
        decisions.tell(Told {
            rule,
            stream: request.stream,
            request: asked,
            window: pages,
            behind_mark: window.behind_mark(),
            actual: bytes.div_ceil(PAGE),
            broken: goes_on && taken && matches!(rule, Rule::Random | Rule::Initial),
            late: goes_on && !taken && was_missing && rule == Rule::Subsequent,
        });
    }
}
