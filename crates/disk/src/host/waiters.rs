//! Requests of programs that wait for I/O of the host.

use crate::completion::{Breakdown, IoError};
use crate::device::Extent;
use crate::request::Request;

/// What a request does when the I/O it waits for is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Its pages are there: copy them to the program.
    Copy,
    /// The parts of pages it does not overwrite are there: write.
    Write,
    /// Its data is on the device: write the journal, then flush.
    Journal,
    /// The blocks of its transaction are written: flush them.
    Commit,
    /// They are on the device: write the block that commits them.
    CommitBlock,
    /// The journal is on the device: flush.
    Flush,
    /// What it would pass by is on the device: go to the device itself.
    Direct,
    /// It is done.
    Done,
}

/// A request that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiter {
    pub(super) request: Request,
    pub(super) submitted_ns: u64,
    /// Start of its present wait, ns.
    pub(super) since_ns: u64,
    /// Where its time went before.
    pub(super) breakdown: Breakdown,
    /// I/Os it waits for.
    pub(super) remaining: usize,
    pub(super) next: Next,
    pub(super) error: Option<IoError>,
}

/// Why the host does an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To fill pages.
    Fill,
    /// To clean pages.
    Clean,
    /// For one waiter alone.
    Own,
}

/// An I/O of the host.
#[derive(Debug, Clone)]
pub(super) struct HostIo {
    pub(super) purpose: Purpose,
    pub(super) extent: Extent,
    pub(super) waiters: Vec<usize>,
}

/// Things by number; numbers are used again.
#[derive(Debug, Clone)]
pub(super) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    pub(super) fn add(&mut self, thing: T) -> usize {
        if let Some(index) = self.free.pop() {
            self.slots[index] = Some(thing);
            index
        } else {
            self.slots.push(Some(thing));
            self.slots.len() - 1
        }
    }

    pub(super) fn get(&mut self, index: usize) -> &mut T {
        self.slots[index]
            .as_mut()
            .expect("what is in flight is remembered")
    }

    pub(super) fn peek(&self, index: usize) -> &T {
        self.slots[index]
            .as_ref()
            .expect("what is in flight is remembered")
    }

    pub(super) fn remove(&mut self, index: usize) -> T {
        self.free.push(index);
        self.slots[index]
            .take()
            .expect("what is in flight ends once")
    }
}
