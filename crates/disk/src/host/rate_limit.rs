//! A control group's rate limit at the top of the block layer.
//!
//! As the kernel's blk-throttle does it (block/blk-throttle.c, Linux 6.12):
//! time is cut into slices, and what a slice allows may go at once at its
//! beginning (`tg_within_bps_limit`, `tg_within_iops_limit` round the time that
//! has passed up to a whole slice); what exceeds it waits, in order, until the
//! rate has caught up. Flushes carry no data and are not limited.

use super::limits::RateLimits;
use crate::relay::earlier;
use crate::request::{Kind, Request};
use std::collections::VecDeque;

/// `DFL_THROTL_SLICE`: a tenth of a second.
const SLICE_NS: u64 = 100_000_000;

/// What one byte or request counts.
const UNIT: u128 = 1_000_000_000;

/// A limit of one direction, and what went by in the slice.
#[derive(Debug, Clone)]
struct Direction {
    bytes_per_s: Option<u64>,
    requests_per_s: Option<u64>,
    slice_ns: u64,
    /// What went by, in billionths: then what a slice allows is a whole number, and
    /// low limits lose nothing when slices are taken off.
    bytes: u128,
    requests: u128,
    /// When each was asked, ns, and the requests it counts as.
    waiting: VecDeque<(u64, u64, Request)>,
}

/// Holds requests back until their control group may send them.
#[derive(Debug, Clone)]
pub(super) struct RateLimit {
    read: Direction,
    write: Direction,
    /// What is not limited, until it is taken.
    free: VecDeque<(u64, Request)>,
}

impl Direction {
    fn new(bytes_per_s: Option<u64>, requests_per_s: Option<u64>) -> Self {
        Self {
            bytes_per_s,
            requests_per_s,
            slice_ns: 0,
            bytes: 0,
            requests: 0,
            waiting: VecDeque::new(),
        }
    }

    /// When so much more may go, ns, at `now_ns`.
    fn due_ns(&self, now_ns: u64, bytes: u64, requests: u64) -> u64 {
        let limits = [
            (self.bytes_per_s, self.bytes + u128::from(bytes) * UNIT),
            (
                self.requests_per_s,
                self.requests + u128::from(requests) * UNIT,
            ),
        ];
        let passed_ns = now_ns.saturating_sub(self.slice_ns).max(1);
        let allowed_ns = passed_ns.next_multiple_of(SLICE_NS);
        let due_ns = limits.into_iter().filter_map(|(rate, sum)| {
            let needed_ns = time_of(sum, rate?);
            (needed_ns > allowed_ns).then(|| self.slice_ns + needed_ns)
        });
        due_ns.max().unwrap_or(now_ns)
    }

    /// When the first of those that wait may go, ns.
    fn first_due_ns(&self, now_ns: u64) -> Option<u64> {
        let (asked_ns, requests, request) = self.waiting.front()?;
        let from_ns = now_ns.max(*asked_ns);
        Some(self.due_ns(from_ns, request.len, *requests))
    }

    /// Nobody waits and all that went by is paid for: a new slice begins.
    fn begin(&mut self, now_ns: u64) {
        let owed_ns = self.owed_ns().max(1).next_multiple_of(SLICE_NS);
        if self.waiting.is_empty() && now_ns >= self.slice_ns + owed_ns {
            self.slice_ns = now_ns;
            self.bytes = 0;
            self.requests = 0;
        }
    }

    /// How long what went by in the slice takes at the limits, ns.
    fn owed_ns(&self) -> u64 {
        let of = |rate: Option<u64>, sum| rate.map_or(0, |rate| time_of(sum, rate));
        of(self.bytes_per_s, self.bytes).max(of(self.requests_per_s, self.requests))
    }

    fn pass(&mut self, now_ns: u64) -> Option<(u64, Request)> {
        if self.first_due_ns(now_ns)? > now_ns {
            return None;
        }
        let (asked_ns, requests, request) = self.waiting.pop_front()?;
        self.bytes += u128::from(request.len) * UNIT;
        self.requests += u128::from(requests) * UNIT;
        // `throtl_trim_slice`: slices that are over are taken off.
        let over_ns = (now_ns - self.slice_ns) / SLICE_NS * SLICE_NS;
        let off = |rate: Option<u64>| {
            rate.map_or(u128::MAX, |rate| u128::from(rate) * u128::from(over_ns))
        };
        self.bytes = self.bytes.saturating_sub(off(self.bytes_per_s));
        self.requests = self.requests.saturating_sub(off(self.requests_per_s));
        self.slice_ns += over_ns;
        Some((asked_ns, request))
    }
}

/// How long so much, in billionths, takes at a rate, ns.
fn time_of(sum: u128, per_s: u64) -> u64 {
    let ns = sum.div_ceil(u128::from(per_s.max(1)));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

impl RateLimit {
    pub(super) fn new(limits: RateLimits) -> Self {
        Self {
            read: Direction::new(limits.read_bytes_per_s, limits.reads_per_s),
            write: Direction::new(limits.write_bytes_per_s, limits.writes_per_s),
            free: VecDeque::new(),
        }
    }

    /// A request is asked for at `now_ns`, which will be cut into so many.
    pub(super) fn ask(&mut self, now_ns: u64, request: &Request, pieces: u64) {
        let direction = match request.kind {
            Kind::Read => &mut self.read,
            Kind::Write | Kind::Trim => &mut self.write,
            Kind::Flush => {
                self.free.push_back((now_ns, *request));
                return;
            }
        };
        direction.begin(now_ns);
        direction.waiting.push_back((now_ns, pieces, *request));
    }

    /// The next request that may go at `now_ns`, and when it was asked, ns.
    pub(super) fn pass(&mut self, now_ns: u64) -> Option<(u64, Request)> {
        let free = self.free.pop_front();
        free.or_else(|| self.read.pass(now_ns))
            .or_else(|| self.write.pass(now_ns))
    }

    /// When the next one may go that waits, ns, seen from `now_ns`.
    pub(super) fn next_ns(&self, now_ns: u64) -> Option<u64> {
        let (read, write) = (&self.read, &self.write);
        earlier(read.first_due_ns(now_ns), write.first_due_ns(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of `count` requests goes that are all asked for at 0.
    fn sent_ns(limits: RateLimits, count: u64, len: u64) -> Vec<u64> {
        let mut limit = RateLimit::new(limits);
        for tag in 0..count {
            limit.ask(0, &Request::read(tag, tag * len, len), 1);
        }
        let (mut now_ns, mut sent) = (0, Vec::new());
        while sent.len() < count as usize {
            while let Some((_, request)) = limit.pass(now_ns) {
                assert_eq!(request.tag, sent.len() as u64, "in order");
                sent.push(now_ns);
            }
            now_ns = limit.next_ns(now_ns).unwrap_or(now_ns);
        }
        sent
    }

    #[test]
    fn requests_go_at_the_rate_of_the_limit_after_what_the_first_slice_allows() {
        let limits = RateLimits {
            reads_per_s: Some(100),
            ..RateLimits::default()
        };
        let sent = sent_ns(limits, 1001, 4096);
        // The tenth of a second that has begun may be used at once.
        assert_eq!(sent.iter().filter(|ns| **ns == 0).count(), 10);
        assert_eq!(sent[1000], 10_010_000_000);
        for (index, ns) in sent.iter().enumerate() {
            let paid_ns = (index as u64 + 1) * 10_000_000;
            assert!(ns + SLICE_NS >= paid_ns, "{index} at {ns}");
        }
    }

    #[test]
    fn the_tighter_of_two_limits_holds() {
        let limits = RateLimits {
            read_bytes_per_s: Some(1 << 20),
            reads_per_s: Some(1000),
            ..RateLimits::default()
        };
        // 64 KiB each: sixteen a second by bytes, and at most a slice too early.
        let sent = sent_ns(limits, 161, 64 << 10);
        let paid_ns = 161 * 62_500_000;
        assert!(
            (paid_ns - SLICE_NS..=paid_ns).contains(&sent[160]),
            "{sent:?}"
        );
    }

    #[test]
    fn a_low_limit_holds_for_one_request_at_a_time() {
        let mut limit = RateLimit::new(RateLimits {
            reads_per_s: Some(17),
            ..RateLimits::default()
        });
        let mut now_ns = 0;
        for tag in 0..171 {
            limit.ask(now_ns, &Request::read(tag, 0, 4096), 1);
            while limit.pass(now_ns).is_none() {
                now_ns = limit.next_ns(now_ns).expect("it waits");
            }
            // The device takes its time.
            now_ns += 3_000_000;
        }
        assert!(
            (9_900_000_000..10_100_000_000).contains(&now_ns),
            "{now_ns}"
        );
    }

    #[test]
    fn a_direction_without_a_limit_and_flushes_wait_for_nothing() {
        let mut limit = RateLimit::new(RateLimits {
            reads_per_s: Some(1),
            ..RateLimits::default()
        });
        for tag in 0..100 {
            limit.ask(5, &Request::write(tag, 0, 4096), 1);
        }
        limit.ask(5, &Request::flush(100), 1);
        let passed = std::iter::from_fn(|| limit.pass(5)).count();
        assert_eq!(passed, 101);
        assert_eq!(limit.next_ns(5), None);
    }

    #[test]
    fn what_was_not_used_while_nobody_asked_is_not_saved() {
        let mut limit = RateLimit::new(RateLimits {
            reads_per_s: Some(100),
            ..RateLimits::default()
        });
        limit.ask(0, &Request::read(0, 0, 4096), 1);
        assert!(limit.pass(0).is_some());
        let later_ns = 60_000_000_000;
        for tag in 0..100 {
            limit.ask(later_ns, &Request::read(tag, 0, 4096), 1);
        }
        let passed = std::iter::from_fn(|| limit.pass(later_ns)).count();
        assert_eq!(passed, 10);
    }
}
