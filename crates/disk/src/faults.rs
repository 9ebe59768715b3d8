//! Flaws that can be planted in a simulated disk, so that a diagnosis can be
//! tested against the truth. Each one shows in the breakdown of the requests
//! it hits.

pub mod neighbour;
pub mod partition;
pub mod stall;
pub mod stuck;
pub mod throttle;

use crate::defects::{Defects, SlowZone, WeakSector};
use crate::device::Device;
use neighbour::{NeighbourParameters, Shared};
use partition::Partition;
use stall::{StallParameters, Stalling};
use stuck::{StuckParameters, StuckQueue};
use throttle::{ThrottleParameters, Throttled};

/// Everything that is wrong with a device. By default nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Places that take longer: shows as `retry_ns`.
    pub slow_zones: Vec<SlowZone>,
    /// Sectors that are read after some tries or never: `retry_ns`, `retries`,
    /// and an error.
    pub weak_sectors: Vec<WeakSector>,
    /// Flushes are acknowledged and not done: they take no time, and
    /// [`Device::volatile`] is not empty behind them.
    pub lying_flush: bool,
    /// Which member of an array has bad places, lies, gets stuck or stalls;
    /// the limit, the neighbour and the partition are of the whole array.
    pub member: usize,
    /// Commands that get stuck: `stall_ns` of a few.
    pub stuck: Option<StuckParameters>,
    /// Times at which nothing is done: `stall_ns` of all.
    pub stall: Option<StallParameters>,
    /// A limit: `throttle_ns`.
    pub throttle: Option<ThrottleParameters>,
    /// Somebody else's I/O: `queue_ns` without a queue of one's own.
    pub neighbour: Option<NeighbourParameters>,
    /// First byte of the partition that is the device: not a multiple of the
    /// physical sector for wrong alignment (`lost_revolutions`), half of the
    /// capacity for the inner half.
    pub partition_start: u64,
    /// Size of that partition, bytes; all that is left where it is 0.
    pub partition_len: u64,
}

impl Faults {
    /// The bad places of the medium.
    pub fn defects(&self, sector: u64) -> Defects {
        Defects::new(self.weak_sectors.clone(), self.slow_zones.clone(), sector)
    }

    /// Plants what one drive suffers from around it; what lies within it
    /// ([`defects`](Self::defects) and the lying flush) is the drive's own.
    pub fn plant_around_drive(&self, device: Box<dyn Device>) -> Box<dyn Device> {
        let mut device = device;
        if let Some(stall) = self.stall {
            device = Box::new(Stalling::new(stall, device));
        }
        if let Some(stuck) = self.stuck {
            device = Box::new(StuckQueue::new(stuck, device));
        }
        device
    }

    /// Plants what a disk or an array suffers from as a whole. `seed`
    /// determines the neighbour.
    pub fn plant_around_whole(&self, device: Box<dyn Device>, seed: u64) -> Box<dyn Device> {
        let mut device = device;
        if let Some(neighbour) = self.neighbour {
            device = Box::new(Shared::new(neighbour, device, seed));
        }
        if let Some(throttle) = self.throttle {
            device = Box::new(Throttled::new(throttle, device));
        }
        if self.partition_start > 0 || self.partition_len > 0 {
            let len = match self.partition_len {
                0 => u64::MAX,
                len => len,
            };
            device = Box::new(Partition::new(self.partition_start, len, device));
        }
        device
    }
}
