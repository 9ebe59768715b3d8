//! Chooses the requests that are kept, while they complete. What it holds is bounded, however
//! many come.

use super::{Burst, BurstOf, BurstRequest, Bursts};
use std::collections::VecDeque;

/// Chooses which requests of a trial are kept.
///
/// It is told of each one when it is done, in the order of completion, with times of one clock.
#[derive(Debug, Default)]
pub struct BurstKeeper {
    first: Vec<BurstRequest>,
    first_is_over: bool,
    /// What completed last, behind the first burst.
    last: VecDeque<BurstRequest>,
    /// The slowest of these until now, and what is around it.
    slowest: Vec<BurstRequest>,
    slowest_ns: u64,
    /// How many more belong behind it.
    missing: usize,
}

impl BurstKeeper {
    /// Requests of a burst, at most.
    pub const REQUESTS_MAX: usize = 256;
    /// Of these, so many are from before the slowest one.
    const BEFORE: usize = Self::REQUESTS_MAX / 2;

    /// A request is done.
    pub fn completed(&mut self, request: BurstRequest) {
        if !self.first_is_over {
            self.first.push(request);
            self.first_is_over = self.first.len() == Self::REQUESTS_MAX;
            return;
        }
        if self.slowest.is_empty() || request.took_ns() > self.slowest_ns {
            self.slowest_ns = request.took_ns();
            self.slowest.clear();
            self.slowest.extend(&self.last);
            self.slowest.push(request);
            self.missing = Self::REQUESTS_MAX - Self::BEFORE - 1;
        } else if self.missing > 0 {
            self.slowest.push(request);
            self.missing -= 1;
        }
        if self.last.len() == Self::BEFORE {
            self.last.pop_front();
        }
        self.last.push_back(request);
    }

    /// Requests are missing from here on, for a while: no burst reaches beyond it.
    pub fn pause(&mut self) {
        self.first_is_over = !self.first.is_empty();
        self.last.clear();
        self.missing = 0;
    }

    /// What was kept, in a window that opened at `opened_ns` of their clock; `None` where
    /// nothing was.
    pub fn finish(self, opened_ns: u64, devices: Vec<String>) -> Option<Bursts> {
        let of = [
            (BurstOf::First, self.first),
            (BurstOf::Slowest, self.slowest),
        ];
        let bursts: Vec<Burst> = of
            .into_iter()
            .filter_map(|(of, requests)| burst(of, requests, opened_ns))
            .collect();
        (!bursts.is_empty()).then_some(Bursts { devices, bursts })
    }
}

/// A burst of requests with times of the clock.
fn burst(of: BurstOf, mut requests: Vec<BurstRequest>, opened_ns: u64) -> Option<Burst> {
    // By when they began, and those that began together in the order of completion.
    requests.sort_by_key(BurstRequest::began_ns);
    let began_ns = requests.first()?.began_ns();
    for request in &mut requests {
        // The clock of a processor may be behind that of the one before, by little.
        request.queued_ns = request.queued_ns.map(|ns| ns - began_ns);
        request.issued_ns = request.issued_ns.saturating_sub(began_ns);
        request.completed_ns = request.completed_ns.saturating_sub(began_ns);
        request.issued_ns = request.issued_ns.max(request.began_ns());
        request.completed_ns = request.completed_ns.max(request.issued_ns);
    }
    Some(Burst {
        of,
        from_ns: began_ns.saturating_sub(opened_ns),
        requests,
    })
}
