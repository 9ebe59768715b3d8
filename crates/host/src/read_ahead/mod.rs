//! The kernel's read-ahead, from its trace events: which rule made each decision,
//! how large the windows are, and what became of the pages.
//!
//! Since Linux 6.18 the kernel has events at each step of `mm/readahead.c`. They
//! say what was decided, not by which rule, nor through which open file; both are
//! worked out here, and where they cannot be, that is said. The arithmetic is pure:
//! events in, a table out.

mod decision;
mod event;
#[cfg(target_os = "linux")]
mod live;
mod pages;
mod scope;
mod streams;
mod tally;
mod watch;

pub use decision::{Decision, Trouble};
pub use event::{Call, Event, FileId, NEEDED, OF_PAGES, What, kernel_device};
#[cfg(target_os = "linux")]
pub use live::{Named, Sorter, length_of, page_bytes, prepare};
pub use scope::Scope;
pub use watch::Watch;
