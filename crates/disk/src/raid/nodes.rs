//! Work in flight on an array: a tree of waiting, from requests down to the
//! members' I/O.

use super::layout::Piece;
use crate::completion::{Breakdown, IoError};
use crate::request::{Flags, Kind, Request};

/// An I/O on a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemberIo {
    /// Which member and which bytes of it.
    pub piece: Piece,
    /// What to do.
    pub kind: Kind,
    /// Whether it was redirected after an error already.
    pub redirected: bool,
}

/// What happens when all parts of a node are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    /// It is over.
    Done,
    /// These I/Os come next.
    Io(Vec<MemberIo>),
    /// The write whose flush this was begins.
    Write,
    /// The data that a member could not give has been computed, and is written
    /// there again.
    Repair(MemberIo),
}

/// What a node belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// The array's caller.
    Caller,
    /// Another node, which counts it as one of its parts.
    Node(usize),
    /// A stripe whose write ends with it, and the nodes that count it as a part.
    Stripe(u64, Vec<usize>),
    /// Nobody waits for it.
    Nobody,
}

/// Something that is done when its parts are.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// What the caller asked.
    pub request: Request,
    /// When, ns.
    pub submitted_ns: u64,
    /// When its parts of now were started, ns.
    pub started_ns: u64,
    /// What waits for it.
    pub owner: Owner,
    /// Parts not done.
    pub remaining: usize,
    /// Where time went until `started_ns`.
    pub breakdown: Breakdown,
    /// Of the part that came last.
    pub last: Breakdown,
    /// The first error of a part.
    pub error: Option<IoError>,
    /// I/Os on members, by the low part of their tags.
    pub io: Vec<MemberIo>,
    /// What comes when the parts are done.
    pub then: Then,
}

impl Node {
    /// A node without parts.
    pub(super) fn new(request: &Request, submitted_ns: u64, now_ns: u64, owner: Owner) -> Self {
        Self {
            request: *request,
            submitted_ns,
            started_ns: now_ns,
            owner,
            remaining: 0,
            breakdown: Breakdown {
                queue_ns: now_ns - submitted_ns,
                ..Breakdown::nothing()
            },
            last: Breakdown::nothing(),
            error: None,
            io: Vec::new(),
            then: Then::Done,
        }
    }

    /// Flags for the members' I/O: what is to be durable stays so, a flush
    /// that came first has been done.
    pub(super) fn flags(&self) -> Flags {
        Flags {
            preflush: false,
            direct: true,
            ..self.request.flags
        }
    }
}

/// Bits of a member's tag that number the I/O within its node.
const IO_BITS: u32 = 24;

/// Nodes by number; numbers are used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    nodes: Vec<Option<Node>>,
    free: Vec<usize>,
}

impl Nodes {
    /// Keeps a node and gives its number.
    pub(super) fn add(&mut self, node: Node) -> usize {
        if let Some(index) = self.free.pop() {
            self.nodes[index] = Some(node);
            index
        } else {
            self.nodes.push(Some(node));
            self.nodes.len() - 1
        }
    }

    /// The node of that number.
    ///
    /// # Panics
    /// When there is none: a part outlived its node.
    pub(super) fn get(&mut self, index: usize) -> &mut Node {
        self.nodes[index]
            .as_mut()
            .expect("a node lives as long as its parts")
    }

    /// Takes a node away.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    pub(super) fn remove(&mut self, index: usize) -> Node {
        self.free.push(index);
        self.nodes[index].take().expect("a node ends once")
    }

    /// The tag of I/O `io` of node `index`.
    pub(super) fn tag(index: usize, io: usize) -> u64 {
        (index as u64) << IO_BITS | io as u64
    }

    /// Node and I/O of a tag.
    pub(super) fn of_tag(tag: u64) -> (usize, usize) {
        let io = tag & ((1 << IO_BITS) - 1);
        ((tag >> IO_BITS) as usize, io as usize)
    }
}
