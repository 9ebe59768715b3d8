//! When events are recorded: all the time, or in bursts.
//!
//! Writing an event costs the kernel time, whoever it was that made it happen. At some
//! ten thousand requests per second that is nothing; at a hundred thousand it is a
//! processor's tenth. A part of the time is enough then: requests are many, and what is
//! wanted of them is how they are distributed.

/// How much of the time events are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// All of it, whatever that costs.
    #[default]
    Whole,
    /// All of it while writing events takes no more than a fiftieth of a processor; else
    /// bursts, which take a hundredth, but never less than a twentieth of the time.
    Sparing,
}

/// A time in which all events were recorded, nanoseconds by the clock of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// From then.
    pub from_ns: u64,
    /// Until then.
    pub until_ns: u64,
}

impl Burst {
    /// How long it was.
    pub fn length_ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.from_ns)
    }
}
