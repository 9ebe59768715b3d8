//! What the block layer did with requests: how long they waited and how long the
//! device had them, how large they were, and where they lay.
//!
//! Counters of a device tell sums; the kernel's trace events tell of each request
//! (`include/trace/events/block.h`). They need root. [`Requests`] works them out and
//! knows no kernel; the observer gives it the events of exactly the trial's window.

mod buckets;
mod depth;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod observer;
#[cfg(test)]
mod parts;
mod pending;
mod request_event;
mod requests;
mod sample;
#[cfg(target_os = "linux")]
mod set_up;
mod slowest;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub use live::{LiveBlockLayer, LiveError};
#[cfg(target_os = "linux")]
pub use observer::BlockLayerObserver;
pub use request_event::{Decoder, RequestEvent, Step};
pub use requests::{Followed, OwnThreads, Requests};
