//! The border between what is measured and how it is done.

use crate::clock::{Ticks, Timescale};
use crate::fixed::Fixed;
use crate::values::Wrong;
use std::io;

/// One operation: a block at an offset, through the buffer of a slot. Its
/// length is the block size the engine was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Op {
    /// First byte within the file.
    pub offset: u64,
    /// Which buffer, and how its completion is told from the others: below the
    /// engine's depth, and not in flight already.
    pub slot: u32,
    /// Whether it writes; else it reads. An engine that modifies reads first,
    /// and writes back what it changed.
    pub write: bool,
}

/// One operation that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Completion {
    /// The slot of its operation.
    pub slot: u32,
    /// Bytes moved, or a negative error number.
    pub result: i32,
    /// Which part of the operation a negative result belongs to.
    pub failed_in: FailedIn,
}

/// Which part of an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailedIn {
    /// The read or write, or nothing.
    #[default]
    Transfer,
    /// The read before the write of a modification.
    ReadFirst,
    /// The check of what was read; [`Engine::wrong_value`] says more.
    Value,
    /// The sync that followed a write.
    Sync,
}

/// Completions of one reaping; its capacity is the engine's depth.
pub type Done = Fixed<Completion>;

/// What an engine does after each write before the operation counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncEach {
    /// Nothing.
    #[default]
    None,
    /// `fdatasync(2)`.
    Data,
    /// `fsync(2)`.
    Full,
}

/// How long [`Engine::reap`] may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until at least one operation has ended.
    One,
    /// Until at least one operation has ended or this tick has come.
    Until(u64),
    /// Not at all.
    Poll,
}

/// What an engine can do, and what it had to do without.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Abilities {
    /// Name of the engine, as in a plan.
    pub name: &'static str,
    /// Operations that can be in flight.
    pub depth: u32,
    /// Special abilities in use.
    pub features: Vec<String>,
    /// Abilities that were asked for or expected and refused, each with the
    /// reason, a sentence.
    pub fallbacks: Vec<String>,
    /// How often an operation was handed to the kernel again until now, because it
    /// answered `EAGAIN`: it would have had to wait, as in a throttled group.
    pub resubmitted: u64,
}

/// Does operations. Made on the thread that uses it, for one open file.
pub trait Engine {
    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// The time now, in ticks of [`timescale`](Self::timescale); real or virtual.
    fn now(&mut self) -> u64;

    /// How ticks become nanoseconds.
    fn timescale(&self) -> Timescale;

    /// Gives the buffer of a slot new content, before it is written from; not
    /// part of the operation's latency. An engine that modifies has no use for
    /// it: what it writes is what it read, changed.
    fn prepare_write(&mut self, slot: u32);

    /// Takes operations from the front of `ops` and answers how many: fewer
    /// than all when it is full, which is no error.
    ///
    /// # Errors
    /// When the engine itself is broken; an operation that fails says so in its
    /// completion.
    fn submit(&mut self, ops: &[Op]) -> io::Result<usize>;

    /// Appends completions to `done`, which has room for all in flight. At
    /// least one operation must be in flight.
    ///
    /// # Errors
    /// When the engine itself is broken.
    fn reap(&mut self, wait: Wait, done: &mut Done) -> io::Result<()>;

    /// What was wrong in the operation that failed last in its check.
    fn wrong_value(&self) -> Option<Wrong> {
        None
    }

    /// Makes everything written durable, with no operation in flight.
    ///
    /// # Errors
    /// What the system answered.
    fn sync_all(&mut self) -> io::Result<()>;

    /// Makes everything written durable, without metadata that reading it does
    /// not need (`fdatasync(2)`), with no operation in flight.
    ///
    /// # Errors
    /// What the system answered.
    fn sync_data(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    /// Nanoseconds for which threads that serve it, beside the calling one, were ready and
    /// had no processor until now; `None` where the kernel does not tell.
    fn servers_waited_ns(&mut self) -> Option<u64> {
        Some(0)
    }

    /// Spends the time until `tick`, with no operation in flight.
    ///
    /// # Errors
    /// When the engine itself is broken.
    fn idle_until(&mut self, tick: u64) -> io::Result<()>;
}

/// Waits for a tick of a real clock: asleep while it is far, awake while it is
/// near, because a sleeper is woken some 50 µs late.
pub(crate) fn idle_real(ticks: impl Ticks, scale: Timescale, tick: u64) {
    const AWAKE_NS: u64 = 100_000;
    loop {
        let now = ticks.now();
        if now >= tick {
            return;
        }
        let left_ns = scale.ns(tick - now);
        if left_ns > AWAKE_NS {
            std::thread::sleep(std::time::Duration::from_nanos(left_ns - AWAKE_NS));
        } else {
            std::hint::spin_loop();
        }
    }
}
