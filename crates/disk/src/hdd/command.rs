//! A request on its way through the drive.

use super::geometry::Span;
use crate::completion::{Breakdown, Completion};
use crate::request::Request;

/// A request the drive has taken in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// What was asked.
    pub(super) request: Request,
    /// When the host submitted it, ns.
    pub(super) submitted_ns: u64,
    /// When the drive took it in, ns.
    pub(super) admitted_ns: u64,
    /// When the drive can begin with it, ns: decoded, and of a write enough of
    /// the data received.
    pub(super) ready_ns: u64,
    /// Where its time went so far.
    pub(super) breakdown: Breakdown,
    /// Where its bytes lie.
    pub(super) span: Span,
}

impl Command {
    /// A request submitted at `submitted_ns` that the drive takes in at
    /// `now_ns`, having waited in front of it.
    pub(super) fn new(request: &Request, submitted_ns: u64, now_ns: u64, span: Span) -> Self {
        let breakdown = Breakdown {
            queue_ns: now_ns - submitted_ns,
            ..Breakdown::default()
        };
        Self {
            request: *request,
            submitted_ns,
            admitted_ns: now_ns,
            ready_ns: now_ns,
            breakdown,
            span,
        }
    }

    /// Its completion, at the moment its parts add up to.
    pub(super) fn completion(&self) -> Completion {
        Completion::of(&self.request, self.submitted_ns, self.breakdown)
    }

    /// The time its parts add up to so far, ns.
    pub(super) fn now_ns(&self) -> u64 {
        self.submitted_ns + self.breakdown.total_ns()
    }
}
