//! What the kernel's trace events look like: descriptions of events and pages in
//! tracefs, and the pages themselves.
//!
//! Sources: kernel, `Documentation/trace/events.rst`, `Documentation/trace/ftrace.rst`,
//! `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c` of Linux 6.18.

pub mod format;
pub mod header_page;
pub mod page;
pub mod stats;
