//! What became of single requests of the block layer, as the trace events of a real kernel tell
//! it: for those who ask.

use super::machine::Host;
use crate::request::Kind;

/// A request of the block layer that the device has done, with what was joined to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// What it asked for.
    pub kind: Kind,
    /// Where it begins on the device, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub len: u64,
    /// Whose it is: the stream of the first request that it is made of.
    pub stream: u32,
    /// When it became a request, ns.
    pub queued_ns: u64,
    /// When it was given to the device, ns.
    pub issued_ns: u64,
    /// When the device had done it, ns.
    pub completed_ns: u64,
    /// Whether the device reported an error.
    pub failed: bool,
}

impl Host {
    /// Tells of the requests that are done from now on, or no more.
    pub fn tell_requests(&mut self, whether: bool) {
        self.queue.tell_requests(whether);
    }

    /// What was done since this was asked last, in the order of completion.
    pub fn take_served(&mut self) -> impl Iterator<Item = Served> + '_ {
        self.queue.take_served()
    }
}
