//! What a host has to know of a profile's disk.

use diskfacts_disk::host::{HostParameters, Scheduler};
use diskfacts_disk::profile::{Drive, Profile};

/// Commands that a drive of the ATA protocol takes at most (NCQ): a drive that
/// takes more speaks another protocol.
const ATA_DEPTH: u64 = 32;

/// Commands that the kernel gives an `NVMe` drive on one queue at most
/// (`NVME_Q_DEPTH` less one, drivers/nvme/host/pci.c).
const NVME_DEPTH: u64 = 1023;

/// What a disk says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    /// It has a write cache that a power cut empties.
    pub(super) is_volatile: bool,
    /// Single writes can be forced to the medium. The kernel leaves that off
    /// with ATA drives (`libata.fua`, Documentation/admin-guide/
    /// kernel-parameters.txt) and uses it with `NVMe`.
    pub(super) has_fua: bool,
    /// Commands that it takes at a time.
    pub(super) depth: u64,
}

impl Traits {
    pub(super) fn of(profile: &Profile) -> Self {
        let (is_volatile, depth) = match &profile.drive {
            Drive::Hdd(hdd) => {
                let cache = &hdd.write_cache;
                (cache.enabled && !cache.protected, hdd.queue_depth as u64)
            }
            Drive::Ssd(ssd) => (!ssd.power_loss_protection, u64::from(ssd.queue_depth)),
        };
        Self {
            is_volatile,
            has_fua: depth > ATA_DEPTH && profile.raid.is_none(),
            depth,
        }
    }
}

/// The host of a profile; where it has none, a Linux host with the kernel's
/// defaults: `mq-deadline` for a drive with one queue, no scheduler for one
/// with many (`elevator_get_default`, block/elevator.c).
pub(super) fn host_of(profile: &Profile) -> HostParameters {
    profile.host.unwrap_or_else(|| {
        let mut host = HostParameters::linux();
        let traits = Traits::of(profile);
        if traits.depth > ATA_DEPTH {
            host.block.scheduler = Scheduler::Noop;
            // At most 1023.
            host.block.depth = traits.depth.min(NVME_DEPTH) as usize;
        }
        host
    })
}
