//! What the kernel's read-ahead has under way for a reader in order through the page cache.

use super::StageFacts;
use crate::prelude::unless;
use diskfacts_plan::CacheMode;
use diskfacts_record::BlockDevice;

/// A page, bytes: less is not read.
const PAGE: f64 = 4096.0;

/// The window of read-ahead, and the requests that it makes of the devices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    /// The device whose window it is.
    pub(crate) device: &'a BlockDevice,
    /// Its size.
    pub(crate) bytes: u64,
    /// Bytes that the devices were asked for at a time, mean.
    pub(crate) request_bytes: f64,
    /// Mean time that they took for that, ns.
    pub(crate) latency_ns: f64,
    /// Bytes under way, mean.
    pub(crate) in_flight_bytes: f64,
    /// Windows under way for each reader, mean.
    pub(crate) windows: f64,
}

impl<'a> Window<'a> {
    /// `None` where blocks are not read in order, or go past the page cache.
    pub(crate) fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        let workload = facts.workload();
        let through = matches!(workload.cache, CacheMode::Buffered | CacheMode::Cold);
        unless(!facts.in_order() || !through)?;
        let device = facts.stack().top()?;
        let bytes = device.read_ahead_bytes?;
        let work = facts.device_work().filter(|work| work.reads >= 1.0)?;
        let request_bytes = work.read_bytes / work.reads;
        let in_flight_bytes = work.waited_s / facts.seconds() * request_bytes;
        // A reader that asks for more than a window at once gets it at once.
        let unit = (bytes as f64).max(workload.block_size as f64).max(PAGE);
        let readers = f64::from(workload.streams.max(1)) * f64::from(workload.queue_depth.max(1));
        Some(Self {
            device,
            bytes,
            request_bytes,
            latency_ns: work.each_ns(),
            in_flight_bytes,
            windows: in_flight_bytes / (unit * readers),
        })
    }
}
