//! What comes back from a device: the result, and where the time went.

use crate::request::{Kind, Request};
use std::fmt;
use thiserror::Error;

/// Who served the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Layer {
    /// The host's page cache.
    PageCache,
    /// Memory of the drive: its read-ahead buffer, its write cache, or, on
    /// flash, the map that knows a block was never written.
    DriveCache,
    /// Platter or flash.
    #[default]
    Media,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PageCache => "page-cache",
            Self::DriveCache => "drive-cache",
            Self::Media => "media",
        })
    }
}

/// Where the time of one request went. The parts do not overlap:
/// [`total_ns`](Self::total_ns) is the time from submission to completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Breakdown {
    /// Waiting for other requests.
    pub queue_ns: u64,
    /// The drive's processor at work on the command.
    pub overhead_ns: u64,
    /// The arm moving, head switches included.
    pub seek_ns: u64,
    /// Waiting for the sector to come round, or for data that a read-ahead is
    /// about to reach; `lost_revolutions` are counted in it.
    pub rotation_ns: u64,
    /// Media at work: bytes passing under the head, flash read or programmed.
    pub transfer_ns: u64,
    /// Bytes on the drive's interface that did not overlap with the media.
    pub bus_ns: u64,
    /// Waiting for the write cache: for room in it, or for a flush to empty it.
    pub cache_wait_ns: u64,
    /// Waiting while flash moves valid data or erases, to gain free blocks.
    pub collection_ns: u64,
    /// Waiting for a program or an erase that keeps the die busy.
    pub program_ns: u64,
    /// Reading or writing the same place again after a failure.
    pub retry_ns: u64,
    /// The device did nothing: a planted stall or a stuck queue.
    pub stall_ns: u64,
    /// Held back by a limit: heat, or a bucket of credits.
    pub throttle_ns: u64,
    /// The network between host and server.
    pub network_ns: u64,
    /// The host at work: copies, system calls.
    pub host_ns: u64,
    /// The host's scheduler keeps the device idle for another stream.
    pub idled_ns: u64,
    /// Whole revolutions missed, on the way to this request's data.
    pub lost_revolutions: u32,
    /// Times that a sector had to be tried again.
    pub retries: u32,
    /// Who served the bytes: the slowest layer that took part.
    pub layer: Layer,
}

impl Breakdown {
    /// No time at all, and no layer slower than the host's memory: what
    /// [`then`](Self::then) adds to.
    pub fn nothing() -> Self {
        Self {
            layer: Layer::PageCache,
            ..Self::default()
        }
    }

    /// The sum of the parts, ns.
    pub fn total_ns(&self) -> u64 {
        self.queue_ns
            + self.overhead_ns
            + self.seek_ns
            + self.rotation_ns
            + self.transfer_ns
            + self.bus_ns
            + self.cache_wait_ns
            + self.collection_ns
            + self.program_ns
            + self.retry_ns
            + self.stall_ns
            + self.throttle_ns
            + self.network_ns
            + self.host_ns
            + self.idled_ns
    }

    /// The parts of this one followed by those of `next`; the layer is the
    /// slower of the two.
    #[must_use]
    pub fn then(mut self, next: &Self) -> Self {
        self.queue_ns += next.queue_ns;
        self.overhead_ns += next.overhead_ns;
        self.seek_ns += next.seek_ns;
        self.rotation_ns += next.rotation_ns;
        self.transfer_ns += next.transfer_ns;
        self.bus_ns += next.bus_ns;
        self.cache_wait_ns += next.cache_wait_ns;
        self.collection_ns += next.collection_ns;
        self.program_ns += next.program_ns;
        self.retry_ns += next.retry_ns;
        self.stall_ns += next.stall_ns;
        self.throttle_ns += next.throttle_ns;
        self.network_ns += next.network_ns;
        self.host_ns += next.host_ns;
        self.idled_ns += next.idled_ns;
        self.lost_revolutions += next.lost_revolutions;
        self.retries += next.retries;
        self.layer = self.layer.max(next.layer);
        self
    }
}

impl Breakdown {
    /// The last `ns` of it: what somebody saw who came when the rest was over.
    /// What `ns` exceeds it by was spent waiting in a queue.
    #[must_use]
    pub fn last(mut self, ns: u64) -> Self {
        let total_ns = self.total_ns();
        if ns >= total_ns {
            self.queue_ns += ns - total_ns;
            return self;
        }
        let mut over_ns = total_ns - ns;
        // In the order in which these follow each other.
        for part in [
            &mut self.throttle_ns,
            &mut self.queue_ns,
            &mut self.idled_ns,
            &mut self.overhead_ns,
            &mut self.stall_ns,
            &mut self.cache_wait_ns,
            &mut self.collection_ns,
            &mut self.program_ns,
            &mut self.seek_ns,
            &mut self.rotation_ns,
            &mut self.transfer_ns,
            &mut self.retry_ns,
            &mut self.bus_ns,
            &mut self.network_ns,
            &mut self.host_ns,
        ] {
            let taken_ns = over_ns.min(*part);
            *part -= taken_ns;
            over_ns -= taken_ns;
        }
        self
    }
}

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IoError {
    /// The range does not lie within the device.
    #[error(
        "bytes {offset} to {end} were asked of a device of {capacity} bytes; keep offset + length within the device"
    )]
    BeyondEnd {
        /// First byte asked for.
        offset: u64,
        /// One past the last byte asked for.
        end: u64,
        /// Size of the device, bytes.
        capacity: u64,
    },
    /// Offset or length is not a multiple of the logical sector, or the length is 0.
    #[error(
        "offset {offset} and length {len} must be multiples of the logical sector of {sector} bytes, and the length not 0"
    )]
    Misaligned {
        /// First byte asked for.
        offset: u64,
        /// Bytes asked for.
        len: u64,
        /// Logical sector, bytes.
        sector: u64,
    },
    /// The sector could not be read, however often it was tried.
    #[error("the sector at byte {offset} cannot be read; writing it gives it a new place")]
    Unrecoverable {
        /// First byte of the sector.
        offset: u64,
    },
}

/// The end of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request's tag.
    pub tag: u64,
    /// What was asked.
    pub kind: Kind,
    /// Bytes asked for.
    pub len: u64,
    /// When it was submitted, ns of virtual time.
    pub submitted_ns: u64,
    /// When it was done, ns of virtual time.
    pub done_ns: u64,
    /// Whether it was done.
    pub result: Result<(), IoError>,
    /// Where the time went.
    pub breakdown: Breakdown,
}

impl Completion {
    /// The end of `request`, submitted at `submitted_ns`, at the moment its
    /// `breakdown` adds up to.
    pub fn of(request: &Request, submitted_ns: u64, breakdown: Breakdown) -> Self {
        Self {
            tag: request.tag,
            kind: request.kind,
            len: request.len,
            submitted_ns,
            done_ns: submitted_ns + breakdown.total_ns(),
            result: Ok(()),
            breakdown,
        }
    }

    /// From submission to the end, ns.
    pub fn latency_ns(&self) -> u64 {
        self.done_ns - self.submitted_ns
    }
}
