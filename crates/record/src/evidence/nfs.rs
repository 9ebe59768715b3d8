//! What the client of an NFS mount counted.

use serde::{Deserialize, Serialize};

/// What the kernel's NFS client counted of one mount in the window of a trial, for whoever
/// uses that mount on this machine (`/proc/self/mountstats`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NfsMount {
    /// Bytes that programs read through the page cache: `read(2)` without `O_DIRECT`.
    pub cached_read_bytes: u64,
    /// Bytes that programs wrote through the page cache.
    pub cached_write_bytes: u64,
    /// Bytes that programs read with `O_DIRECT`.
    pub direct_read_bytes: u64,
    /// Bytes that programs wrote with `O_DIRECT`.
    pub direct_write_bytes: u64,
    /// Bytes that the server sent, for reads of either kind and for read-ahead.
    pub server_read_bytes: u64,
    /// Bytes that the server took.
    pub server_write_bytes: u64,
    /// READ and `READ_PLUS` calls; absent where the kernel does not list them.
    pub reads: Option<NfsCalls>,
    /// WRITE calls.
    pub writes: Option<NfsCalls>,
    /// COMMIT calls: the server is asked to make durable what it took.
    pub commits: Option<NfsCalls>,
}

/// Calls of one procedure. Times are sums over them, nanoseconds, of the kernel's whole
/// milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NfsCalls {
    /// Calls that were answered.
    pub calls: u64,
    /// Times that a call was sent: more than `calls` where some were sent again.
    pub sent: u64,
    /// Calls for which no answer came in time, each time.
    pub timeouts: u64,
    /// Time in the client before they were sent: for a free slot of the session, for room in
    /// the socket.
    pub queued_ns: u64,
    /// Time from sending to the answer: the network both ways, and the server with its
    /// memory and its disks.
    pub round_trip_ns: u64,
    /// Time from the call to its end: both of these, and the client's work on it.
    pub total_ns: u64,
}
