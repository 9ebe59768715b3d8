//! What a device that passes requests on to another one has to remember.

use crate::completion::{Breakdown, Completion, IoError};
use crate::outbox::Outbox;
use crate::request::Request;
use crate::statistics::{Meter, Statistics};

/// A request that was passed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    /// As the caller asked it.
    pub(crate) request: Request,
    /// When it was asked, ns.
    pub(crate) submitted_ns: u64,
    /// When it was passed on, ns.
    pub(crate) passed_ns: u64,
    /// Where its time went before it was passed on.
    pub(crate) breakdown: Breakdown,
}

/// Requests passed on, by the tag they have below; completions on their way
/// up; and the counters of the device above.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relay {
    passed: Vec<Option<Passed>>,
    free: Vec<usize>,
    outbox: Outbox,
    meter: Meter,
    in_flight: usize,
}

impl Relay {
    /// A request came in at `now_ns`.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.meter.begin(now_ns);
        self.in_flight += 1;
    }

    /// Requests of the caller that are not completed.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Remembers a request that is passed on at `now_ns`, having waited for
    /// it as `breakdown` says; gives the request as it goes down.
    pub(crate) fn pass(
        &mut self,
        now_ns: u64,
        request: &Request,
        submitted_ns: u64,
        breakdown: Breakdown,
    ) -> Request {
        let passed = Passed {
            request: *request,
            submitted_ns,
            passed_ns: now_ns,
            breakdown,
        };
        let slot = if let Some(slot) = self.free.pop() {
            self.passed[slot] = Some(passed);
            slot
        } else {
            self.passed.push(Some(passed));
            self.passed.len() - 1
        };
        Request {
            tag: slot as u64,
            ..*request
        }
    }

    /// What was passed on with the tag of `below`.
    pub(crate) fn take(&mut self, below: &Completion) -> Passed {
        let slot = below.tag as usize;
        self.free.push(slot);
        self.passed[slot]
            .take()
            .expect("a device completes each request once")
    }

    /// Completes a request with what came back from below.
    pub(crate) fn complete(&mut self, passed: &Passed, below: &Completion, after: &Breakdown) {
        let breakdown = passed.breakdown.then(&below.breakdown).then(after);
        let mut completion = Completion::of(&passed.request, passed.submitted_ns, breakdown);
        completion.result = below.result;
        self.outbox.push(completion);
    }

    /// Completes a request without asking below.
    pub(crate) fn answer(
        &mut self,
        request: &Request,
        submitted_ns: u64,
        breakdown: Breakdown,
        result: Result<(), IoError>,
    ) {
        let mut completion = Completion::of(request, submitted_ns, breakdown);
        completion.result = result;
        self.outbox.push(completion);
    }

    /// When the next completion is due, ns.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.outbox.next_ns()
    }

    /// Hands out what is due by `now_ns`.
    pub(crate) fn emit(&mut self, now_ns: u64, out: &mut Vec<Completion>) {
        while let Some(completion) = self.outbox.pop_due(now_ns) {
            self.in_flight -= 1;
            self.meter.end(
                completion.done_ns,
                completion.kind,
                completion.len,
                completion.submitted_ns,
            );
            out.push(completion);
        }
    }

    /// The counters at `now_ns`.
    pub(crate) fn statistics(&self, now_ns: u64) -> Statistics {
        self.meter.at(now_ns)
    }
}

/// The earlier of two times that may not come.
pub(crate) fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
