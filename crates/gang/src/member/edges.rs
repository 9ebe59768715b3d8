//! The clocks of this rank's children, one after another.

use crate::clock::{PINGS, Reading, RoundTrip};
use crate::link::Link;
use crate::wire::Message;
use std::collections::VecDeque;

/// The comparison along all edges below a rank.
pub(super) struct Edges {
    own: Reading,
    waiting: VecDeque<usize>,
    current: Option<Edge>,
}

struct Edge {
    child: usize,
    sequence: u8,
    sent_ns: i64,
    best: Option<(u8, RoundTrip)>,
}

impl Edges {
    pub(super) fn new(own: Reading, children: Vec<usize>) -> Self {
        Self {
            own,
            waiting: children.into(),
            current: None,
        }
    }

    /// Whether a child's answer is waited for.
    pub(super) fn busy(&self) -> bool {
        self.current.is_some()
    }

    /// Whether all children know how their clocks stand.
    pub(super) fn done(&self) -> bool {
        self.waiting.is_empty() && self.current.is_none()
    }

    /// Begins with the next child.
    pub(super) fn start_next(&mut self, link: &mut Link<'_>, epoch: u32) {
        if self.current.is_none()
            && let Some(child) = self.waiting.pop_front()
        {
            let mut edge = Edge {
                child,
                sequence: 0,
                sent_ns: 0,
                best: None,
            };
            edge.ping(link, epoch);
            self.current = Some(edge);
        }
    }

    /// A child answered, and it was seen at `received_ns`.
    pub(super) fn answered(
        &mut self,
        link: &mut Link<'_>,
        epoch: u32,
        from: usize,
        (sequence, child_ns, received_ns): (u8, i64, i64),
    ) -> Result<(), &'static str> {
        let out_of_turn = "an answer to no ping";
        let edge = self.current.as_mut().ok_or(out_of_turn)?;
        if edge.child != from || edge.sequence != sequence {
            return Err(out_of_turn);
        }
        let trip = RoundTrip {
            sent_ns: edge.sent_ns,
            received_ns,
            child_ns,
        };
        let shorter = |best: &(u8, RoundTrip)| trip.round_trip_ns() < best.1.round_trip_ns();
        if edge.best.as_ref().is_none_or(shorter) {
            edge.best = Some((sequence, trip));
        }
        edge.sequence += 1;
        if edge.sequence < PINGS {
            edge.ping(link, epoch);
            return Ok(());
        }
        let (sequence, trip) = edge.best.expect("the first answer is the best one so far");
        let of_child = self.own.of_child(trip);
        let clock = Message::Clock {
            sequence,
            ahead_ns: of_child.ahead_ns,
            bound_ns: of_child.bound_ns,
            path_ns: of_child.path_ns,
        };
        link.send(epoch, from, &clock);
        self.current = None;
        self.start_next(link, epoch);
        Ok(())
    }
}

impl Edge {
    fn ping(&mut self, link: &mut Link<'_>, epoch: u32) {
        let ping = Message::Ping {
            sequence: self.sequence,
        };
        self.sent_ns = link.now_ns();
        link.send(epoch, self.child, &ping);
    }
}
