//! Requests that were cut into pieces, because the device takes none so large.

use crate::completion::{Breakdown, IoError};
use crate::request::Request;
use std::collections::BTreeMap;

/// A request of which some pieces are under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) request: Request,
    /// When it was asked for, ns.
    pub(super) asked_ns: u64,
    /// Up to `since_ns`, where its time went.
    pub(super) breakdown: Breakdown,
    /// What came of it: the first error, if there was one.
    pub(super) result: Result<(), IoError>,
    /// When the last piece came back, ns.
    since_ns: u64,
    remaining: u64,
}

/// Requests in pieces, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Splits {
    wholes: BTreeMap<u64, Whole>,
    next: u64,
}

impl Splits {
    /// A request is cut into so many pieces at `now_ns`; gives its number. What
    /// passed since it was asked for was spent at a rate limit.
    pub(super) fn begin(
        &mut self,
        now_ns: u64,
        request: &Request,
        asked_ns: u64,
        pieces: u64,
    ) -> u64 {
        let whole = Whole {
            request: *request,
            asked_ns,
            breakdown: Breakdown {
                throttle_ns: now_ns - asked_ns,
                ..Breakdown::nothing()
            },
            result: Ok(()),
            since_ns: now_ns,
            remaining: pieces,
        };
        self.next += 1;
        self.wholes.insert(self.next, whole);
        self.next
    }

    /// A piece came back at `now_ns`; gives the whole if it was the last. The time
    /// since the piece before is what this one spent last.
    pub(super) fn ended(
        &mut self,
        number: u64,
        now_ns: u64,
        piece: Breakdown,
        result: Result<(), IoError>,
    ) -> Option<Whole> {
        let whole = self.wholes.get_mut(&number)?;
        let last = piece.last(now_ns - whole.since_ns);
        whole.breakdown = whole.breakdown.then(&last);
        whole.since_ns = now_ns;
        whole.result = whole.result.and(result);
        whole.remaining -= 1;
        if whole.remaining > 0 {
            return None;
        }
        self.wholes.remove(&number)
    }
}
