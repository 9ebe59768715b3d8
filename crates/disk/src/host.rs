//! The host above a device: page cache, read-ahead, write-back, and the block
//! layer with its schedulers.

pub mod block_queue;
mod limits;
pub mod machine;
mod observed;
pub mod order;
pub mod page_cache;
pub mod parameters;
mod rate_limit;
pub mod read_ahead;
mod served;
mod split;
mod told;
mod tuning;
mod waiters;
mod write_back;

pub use block_queue::BlockQueue;
pub use limits::{BlockLimits, JournalParameters, RateLimits};
pub use machine::Host;
pub use observed::PageTraffic;
pub use parameters::{BlockParameters, HostParameters, Scheduler};
pub use read_ahead::{Pages, Rule};
pub use served::Served;
pub use told::Told;
