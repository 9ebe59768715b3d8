//! The zones of a device: parts that are written in order.
//!
//! Source: kernel, `Documentation/ABI/stable/sysfs-block`: `queue/zoned` since
//! 4.10, `chunk_sectors`, `nr_zones` since 4.20, `max_open_zones` and
//! `max_active_zones` since 5.9.

use crate::parse::diskstats::SECTOR_BYTES;
use crate::parse::sysfs_value::parse_zoned;
use crate::sysfs::DeviceDir;
use diskfacts_record::{BlockDevice, Zoned};
use std::io;

/// How a whole disk takes writes; `None` when it has no zones.
///
/// A kernel without the attribute shows no disk that has to be written in order:
/// before 4.10 the driver of SCSI disks left host-managed ones alone, and
/// host-aware ones take any write.
///
/// # Errors
/// When it cannot be read though it is there, or says what is not known: such a
/// device may have to be written in order.
pub(crate) fn zoned(disk: &DeviceDir) -> io::Result<Option<Zoned>> {
    match disk.text("queue/zoned") {
        Ok(text) => {
            parse_zoned(&text).map_err(|word| io::Error::new(io::ErrorKind::InvalidData, word))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Fills in what is known of the zones of `disk`, for itself or for a part of it.
///
/// # Errors
/// As [`zoned`].
pub(super) fn describe(disk: &DeviceDir, device: &mut BlockDevice) -> io::Result<()> {
    device.zoned = zoned(disk)?;
    if device.zoned.is_none() {
        // `chunk_sectors` of others is the stripe of an array.
        return Ok(());
    }
    let number = |attribute: &str| disk.number(&format!("queue/{attribute}")).ok();
    let sectors = number("chunk_sectors").filter(|sectors| *sectors > 0);
    device.zone_bytes = sectors.and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
    device.zones = number("nr_zones").filter(|zones| *zones > 0);
    device.open_zones_max = number("max_open_zones");
    device.active_zones_max = number("max_active_zones");
    Ok(())
}
