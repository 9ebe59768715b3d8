//! Devices whose zones have to be written in order.

use super::{Obstacle, ObstacleKind};
use crate::error::Error;
use crate::stack::zoned;
use crate::sysfs::DeviceDir;
use diskfacts_record::Zoned;

/// A host-managed device is never written: each zone takes writes from its write
/// pointer on only, which no stage does. The first write anywhere else fails,
/// and one that happens to be at the pointer, as at the start of an empty zone,
/// is what a filesystem in the other zones does not expect.
///
/// Device mapper passes the kind on to what stands on a zoned device, and hides
/// it where it orders writes itself (dm-zoned), so the device's own word holds.
pub(super) fn check(device: &DeviceDir, obstacles: &mut Vec<Obstacle>) -> Result<(), Error> {
    let whole = device.whole_disk()?;
    let name = device.name.clone();
    match zoned(whole.as_ref().unwrap_or(device)) {
        Ok(None | Some(Zoned::HostAware)) => {}
        Ok(Some(Zoned::HostManaged)) => obstacles.push(Obstacle {
            kind: ObstacleKind::HostManaged,
            device: name,
            what: "is a host-managed zoned device, whose zones have to be written in order, which \
                   no stage does"
                .to_owned(),
            how_to_go_on: "without --destroy-data-on it is read; to measure writes, mount a \
                           filesystem for zones on it (btrfs, f2fs, XFS) and name a folder there"
                .to_owned(),
        }),
        Err(error) => obstacles.push(Obstacle {
            kind: ObstacleKind::Unchecked,
            device: name,
            what: format!("does not say whether its zones have to be written in order ({error})"),
            how_to_go_on: format!(
                "look at {}",
                whole
                    .unwrap_or_else(|| device.clone())
                    .path
                    .join("queue/zoned")
                    .display()
            ),
        }),
    }
    Ok(())
}
