//! Simulated disks in virtual time.
//!
//! A [`Device`] is a pure state machine: requests and time go in, completions
//! come out, each saying how long it queued, sought, rotated and transferred,
//! and which layer served it. That is the truth against which a diagnosis can
//! be tested. Nothing here opens a file, reads a clock or draws entropy, and
//! the same parameters, seed and calls give the same completions on every
//! machine ([`fixed`] says how).

pub mod completion;
pub mod defects;
pub mod device;
pub mod faults;
pub mod fixed;
pub mod hdd;
pub mod host;
pub mod network;
mod outbox;
mod placed;
pub mod profile;
pub mod raid;
mod relay;
pub mod reproduce;
pub mod request;
pub mod ssd;
pub mod statistics;

pub use completion::{Breakdown, Completion, IoError, Layer};
pub use device::{Device, Extent};
pub use request::{Flags, Kind, Request};
pub use statistics::Statistics;
