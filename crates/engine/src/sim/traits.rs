//! What a host has to know of a profile's disk.

use diskfacts_disk::profile::{ATA_DEPTH, Drive, Profile};

/// What a disk says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    /// It has a write cache that a power cut empties.
    pub(super) is_volatile: bool,
    /// Single writes can be forced to the medium. The kernel leaves that off
    /// with ATA drives (`libata.fua`, Documentation/admin-guide/
    /// kernel-parameters.txt) and uses it with `NVMe`.
    pub(super) has_fua: bool,
}

impl Traits {
    pub(super) fn of(profile: &Profile) -> Self {
        let is_volatile = match &profile.drive {
            Drive::Hdd(hdd) => {
                let cache = &hdd.write_cache;
                cache.enabled && !cache.protected
            }
            Drive::Ssd(ssd) => !ssd.power_loss_protection,
        };
        Self {
            is_volatile,
            has_fua: profile.queue_depth() > ATA_DEPTH && profile.raid.is_none(),
        }
    }
}
