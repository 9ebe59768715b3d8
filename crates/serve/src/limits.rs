//! How much and how long.

use std::time::Duration;

/// What one side may take of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections that are answered at once; further ones wait until one of these ends.
    pub connections: u32,
    /// Pages that are made at once; each may take a processor.
    pub pages: usize,
    /// Bytes of the header of a request, its first line included; at least 8192.
    pub header_bytes: usize,
    /// Lines of it.
    pub header_lines: usize,
    /// From the beginning of a header to its end.
    pub header: Duration,
    /// A connection takes no further request when it is so old, and a stream of events on it
    /// ends. This ends those that ask nothing, and after `grace` those that read slowly; a
    /// browser opens another, and goes on in it.
    pub connection: Duration,
    /// How long an answer that is under way may take yet when its connection, or the server, ends.
    pub grace: Duration,
    /// The least time between two looks of a [`Draw`](crate::Draw).
    pub look: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A browser opens six for a tab of its own.
            connections: 64,
            pages: 2,
            header_bytes: 16 << 10,
            header_lines: 64,
            header: Duration::from_secs(10),
            connection: Duration::from_mins(1),
            grace: Duration::from_secs(10),
            look: Duration::from_secs(1),
        }
    }
}
