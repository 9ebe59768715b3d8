//! The engine that does I/O on a simulated computer, in virtual time.
//!
//! A [`Computer`] is a disk of `diskfacts-disk`, the host above it (page cache,
//! read-ahead, write-back, block layer), and the programs that use them: the
//! streams of a trial. Each stream is the measuring loop that measures real
//! disks, with [`Sim`] as its engine.
//!
//! # What it promises
//! - **Virtual time.** A clock that stands still while the loop works, and jumps
//!   to the next event when every stream waits. Nothing sleeps.
//! - **Determinism.** The same profile, seed and workloads give the same
//!   records, on every machine. Streams are threads of which exactly one runs:
//!   the one that holds the machine (`baton`). Of those that can go on, the
//!   first goes on; only when none can does time pass.
//! - **The evidence of a real machine.** Counters as the block layer of the host
//!   keeps them, `/proc/self/io`, the page cache as `cachestat(2)` shows it. What
//!   is not simulated (the processor) is absent, and named.
//! - **The truth beside it**, from the completions themselves: which layer
//!   served the bytes.
//!
//! # What it does not
//! Data has no content: what is read is not what was written. The processor
//! costs nothing but what the host's parameters say of calls and copies, and what
//! is planted ([`CpuCost`]); streams do not compete for it.

mod access;
mod baton;
mod bursts;
mod computer;
mod engine;
mod kernel;
mod machine;
mod neighbour;
mod plant;
mod read_ahead;
mod stack;
mod streams;
mod traits;
mod truth;
mod witness;

pub use computer::Computer;
pub use engine::Sim;
pub use kernel::KernelError;
pub use plant::{CpuCost, DirectOpen, FreshMemory, Plant, Processor};
pub use stack::stack;
