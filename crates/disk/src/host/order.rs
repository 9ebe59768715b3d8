//! Which of the queued requests is sent next: one type per scheduler.

use super::parameters::Scheduler;
use crate::request::Kind;
use std::collections::BTreeMap;

/// What a scheduler has to know of a queued request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued {
    /// Number in the order of arrival.
    pub sequence: u64,
    /// What to do.
    pub kind: Kind,
    /// First byte.
    pub offset: u64,
    /// Whose it is.
    pub stream: u32,
    /// When it came, ns.
    pub arrived_ns: u64,
}

/// A scheduler's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Send this one.
    Send(u64),
    /// Keep the device idle until then, ns: more is expected of a stream.
    IdleUntil(u64),
    /// Nothing is queued.
    Nothing,
}

/// The state of a scheduler. It looks at the queue, and owns none of it.
#[derive(Debug, Clone)]
pub struct Order {
    scheduler: Scheduler,
    /// One past the last byte sent.
    position: u64,
    batch_left: u32,
    batch_kind: Kind,
    read_batches: u32,
    /// The stream whose turn it is, since when its turn ends, ns.
    turn: Option<(u32, u64)>,
    /// Until when it is waited for, ns.
    idle_until_ns: Option<u64>,
}

impl Order {
    /// A scheduler at rest.
    pub fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            position: 0,
            batch_left: 0,
            batch_kind: Kind::Read,
            read_batches: 0,
            turn: None,
            idle_until_ns: None,
        }
    }

    /// Which request of `queue` (by sequence) to send at `now_ns`.
    /// `is_device_idle` says whether nothing is in flight below.
    pub fn choose(
        &mut self,
        now_ns: u64,
        queue: &BTreeMap<u64, Queued>,
        is_device_idle: bool,
    ) -> Choice {
        let choice = match self.scheduler {
            Scheduler::Noop => first(queue.values()),
            Scheduler::Deadline { .. } => self.choose_by_deadline(now_ns, queue),
            Scheduler::Fair { slice_ns, idle_ns } => {
                self.choose_fairly(now_ns, queue, slice_ns, idle_ns, is_device_idle)
            }
        };
        if let Choice::Send(sequence) = choice {
            self.idle_until_ns = None;
            self.position = queue[&sequence].offset;
        }
        choice
    }

    fn choose_by_deadline(&mut self, now_ns: u64, queue: &BTreeMap<u64, Queued>) -> Choice {
        let Scheduler::Deadline {
            batch,
            read_expire_ns,
            write_expire_ns,
            writes_starved,
        } = self.scheduler
        else {
            return Choice::Nothing;
        };
        let of = |kind: Kind| queue.values().filter(move |queued| queued.kind == kind);
        let has = |kind: Kind| of(kind).next().is_some();
        let at = self.position;
        let ahead = |kind: Kind| {
            of(kind)
                .filter(|queued| queued.offset >= at)
                .min_by_key(|queued| (queued.offset, queued.sequence))
        };
        // Flushes and trims keep their place in time.
        if let Some(queued) = queue.values().next()
            && !matches!(queued.kind, Kind::Read | Kind::Write)
        {
            return Choice::Send(queued.sequence);
        }
        if self.batch_left > 0
            && let Some(next) = ahead(self.batch_kind)
        {
            self.batch_left -= 1;
            return Choice::Send(next.sequence);
        }
        let kind = match (has(Kind::Read), has(Kind::Write)) {
            (true, true) if self.read_batches < writes_starved => Kind::Read,
            (_, true) => Kind::Write,
            (true, false) => Kind::Read,
            (false, false) => return first(queue.values()),
        };
        self.read_batches = if kind == Kind::Read && has(Kind::Write) {
            self.read_batches + 1
        } else {
            0
        };
        self.batch_kind = kind;
        self.batch_left = batch.saturating_sub(1);
        let expire_ns = if kind == Kind::Read {
            read_expire_ns
        } else {
            write_expire_ns
        };
        let oldest = of(kind).next();
        let expired = oldest.filter(|oldest| now_ns >= oldest.arrived_ns.saturating_add(expire_ns));
        let chosen = expired
            .or_else(|| ahead(kind))
            .or_else(|| of(kind).min_by_key(|queued| (queued.offset, queued.sequence)));
        chosen.map_or(Choice::Nothing, |queued| Choice::Send(queued.sequence))
    }

    fn choose_fairly(
        &mut self,
        now_ns: u64,
        queue: &BTreeMap<u64, Queued>,
        slice_ns: u64,
        idle_ns: u64,
        is_device_idle: bool,
    ) -> Choice {
        if let Some((stream, until_ns)) = self.turn
            && now_ns < until_ns
        {
            let at = self.position;
            let mine = || queue.values().filter(|queued| queued.stream == stream);
            let next = mine()
                .filter(|queued| queued.offset >= at)
                .min_by_key(|queued| (queued.offset, queued.sequence))
                .or_else(|| mine().min_by_key(|queued| (queued.offset, queued.sequence)));
            if let Some(next) = next {
                return Choice::Send(next.sequence);
            }
            if !is_device_idle {
                // Its next request may come with what is in flight.
                return Choice::IdleUntil(until_ns);
            }
            let wait_until_ns = *self.idle_until_ns.get_or_insert(now_ns + idle_ns);
            if now_ns < wait_until_ns.min(until_ns) {
                return Choice::IdleUntil(wait_until_ns.min(until_ns));
            }
        }
        self.idle_until_ns = None;
        self.turn = None;
        if queue.is_empty() {
            return Choice::Nothing;
        }
        // The next turn is the stream's whose request waited longest.
        let Some(next) = queue.values().next() else {
            return Choice::Nothing;
        };
        self.turn = Some((next.stream, now_ns + slice_ns));
        Choice::Send(next.sequence)
    }
}

fn first<'a>(mut queue: impl Iterator<Item = &'a Queued>) -> Choice {
    queue
        .next()
        .map_or(Choice::Nothing, |queued| Choice::Send(queued.sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(sequence: u64, kind: Kind, offset: u64, stream: u32) -> (u64, Queued) {
        let queued = Queued {
            sequence,
            kind,
            offset,
            stream,
            arrived_ns: sequence,
        };
        (sequence, queued)
    }

    #[test]
    fn deadline_goes_up_by_offset_and_starts_again_at_the_front() {
        let mut order = Order::new(Scheduler::Deadline {
            batch: 16,
            read_expire_ns: 1000,
            write_expire_ns: 1000,
            writes_starved: 2,
        });
        let mut queue: BTreeMap<u64, Queued> = [
            queued(0, Kind::Read, 500, 0),
            queued(1, Kind::Read, 100, 0),
            queued(2, Kind::Read, 900, 0),
            queued(3, Kind::Write, 50, 0),
        ]
        .into();
        let mut sent = Vec::new();
        while let Choice::Send(sequence) = order.choose(10, &queue, true) {
            sent.push(sequence);
            queue.remove(&sequence);
        }
        assert_eq!(sent, [1, 0, 2, 3]);
    }

    #[test]
    fn an_expired_request_goes_first() {
        let mut order = Order::new(Scheduler::Deadline {
            batch: 1,
            read_expire_ns: 1000,
            write_expire_ns: 1000,
            writes_starved: 2,
        });
        let queue: BTreeMap<u64, Queued> =
            [queued(0, Kind::Read, 500, 0), queued(1, Kind::Read, 100, 0)].into();
        assert_eq!(order.choose(999, &queue, true), Choice::Send(1));
        assert_eq!(order.choose(1000, &queue, true), Choice::Send(0));
    }

    #[test]
    fn fair_keeps_the_device_idle_for_the_stream_whose_turn_it_is() {
        let mut order = Order::new(Scheduler::Fair {
            slice_ns: 100,
            idle_ns: 8,
        });
        let mut queue: BTreeMap<u64, Queued> =
            [queued(0, Kind::Read, 500, 1), queued(1, Kind::Read, 100, 2)].into();
        assert_eq!(order.choose(0, &queue, true), Choice::Send(0));
        queue.remove(&0);
        assert_eq!(order.choose(10, &queue, true), Choice::IdleUntil(18));
        let (sequence, more) = queued(2, Kind::Read, 501, 1);
        queue.insert(sequence, more);
        assert_eq!(order.choose(12, &queue, true), Choice::Send(2));
        queue.remove(&2);
        assert_eq!(order.choose(20, &queue, true), Choice::IdleUntil(28));
        assert_eq!(order.choose(28, &queue, true), Choice::Send(1));
    }
}
