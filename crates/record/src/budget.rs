//! Where the time of a stage's operations went, as the host sees it.

use serde::{Deserialize, Serialize};

/// The mean latency of a stage's operations, divided into parts that do not overlap and
/// add up to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// What is divided: the mean latency of an operation, syncs behind it included, ns.
    pub latency_ns: f64,
    /// The parts, in the order in which an operation meets them; those in which nothing was
    /// seen are left out. What no part explains is the last, and always there.
    pub parts: Vec<BudgetPart>,
    /// The same of the slowest hundredth of the operations; absent where the requests of
    /// these are not known one by one: without root, where an operation is several requests
    /// or shares them, in open loops, of fewer than a thousand.
    #[serde(default)]
    pub slowest: Option<SlowestBudget>,
}

/// The mean latency of the slowest hundredth of a stage's operations, divided.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SlowestBudget {
    /// What is divided, ns.
    pub latency_ns: f64,
    /// The parts, as of all operations.
    pub parts: Vec<BudgetPart>,
}

/// A part of the time of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetPart {
    /// What happened in it.
    pub part: Spent,
    /// Mean of an operation over all trials, ns.
    pub mean_ns: f64,
    /// The least and the most of a trial, ns.
    pub range_ns: [f64; 2],
    /// How it was observed, a few words.
    pub source: String,
}

/// What an operation's time may be spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spent {
    /// It was due, and not handed over yet: of open loops.
    Due,
    /// Its thread on a processor, in the program: of mappings, whose loads and stores are
    /// the operation.
    User,
    /// Its thread on a processor, in the kernel: system calls, copies, page faults, the
    /// block layer.
    Kernel,
    /// Ready to run, and without a processor.
    Processor,
    /// Asleep for a page that is on its way, beyond what the block layer needs for it.
    Cache,
    /// Put to sleep because too much is dirty.
    Dirty,
    /// A sync waits for the filesystem, beyond the device's own time.
    Journal,
    /// Its thread blocked in the kernel by something else than its requests: the lock of a
    /// file, memory, another program that is asked for leave.
    Blocked,
    /// Held back by the limit of a control group before there is a request.
    Admission,
    /// In the mappings above the devices whose requests were followed: device mapper,
    /// software RAID.
    Mapping,
    /// The request waits for its turn in the scheduler.
    Scheduler,
    /// From the first to the last moment of the request: in the scheduler and at the
    /// device, which nobody told apart.
    BlockLayer,
    /// The device reads or writes.
    Device,
    /// The device empties its write cache.
    Flush,
    /// In the client of a network filesystem, before the call is sent.
    Client,
    /// From sending a call to its answer: the network, and the server with its memory and its
    /// disks.
    Server,
    /// The device is done, and the operation not yet seen to be: interrupt, waking up, the
    /// thread at work on others.
    Completion,
    /// None of these.
    Unexplained,
}

impl Spent {
    /// Its name, as in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::User => "user",
            Self::Kernel => "kernel",
            Self::Processor => "processor",
            Self::Cache => "cache",
            Self::Dirty => "dirty",
            Self::Journal => "journal",
            Self::Blocked => "blocked",
            Self::Admission => "admission",
            Self::Mapping => "mapping",
            Self::Scheduler => "scheduler",
            Self::BlockLayer => "block-layer",
            Self::Device => "device",
            Self::Flush => "flush",
            Self::Client => "client",
            Self::Server => "server",
            Self::Completion => "completion",
            Self::Unexplained => "unexplained",
        }
    }
}

impl Budget {
    /// Mean time of a part, ns; 0 where nothing was seen in it.
    pub fn mean_ns(&self, part: Spent) -> f64 {
        let found = self.parts.iter().find(|one| one.part == part);
        found.map_or(0.0, |one| one.mean_ns)
    }
}
