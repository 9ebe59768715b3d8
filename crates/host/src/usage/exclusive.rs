//! An open for oneself alone.
//!
//! `O_EXCL` without `O_CREAT` on a block device fails with `EBUSY` while anyone
//! holds the device, its disk, or a part of it in that way: mounted filesystems
//! of all mount namespaces, swap, md, dm, ZFS, another `O_EXCL` (open(2);
//! kernel: `bd_prepare_to_claim` in `block/bdev.c`).

use super::reach::How;
use super::{Obstacle, ObstacleKind, open_device_with};
use crate::sysfs::DeviceDir;
use std::path::Path;

impl How {
    /// Whether an exclusive open of the device would tell of others than the target's
    /// own open does, and of nobody who has only bytes that the target has not.
    pub(super) fn to_be_opened(self) -> bool {
        match self {
            Self::Target | Self::Part => false,
            Self::Whole { undivided } => undivided,
            Self::Beside { parted, .. } => !parted,
            Self::OtherPath { held_by_target } => !held_by_target,
        }
    }
}

/// Opens the device, which messages call `path`, by `reach` for oneself alone, and closes
/// it again. Says whether it can be opened at all, or is only busy.
#[cfg(unix)]
pub(super) fn check(
    device: &DeviceDir,
    (reach, path): (&Path, &Path),
    obstacles: &mut Vec<Obstacle>,
) -> bool {
    let opened = open_device_with(reach, (device.major, device.minor), libc::O_EXCL);
    let (kind, what, how_to_go_on) = match opened {
        Ok(_) => return true,
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
            // Whoever was found already is why it is busy.
            if obstacles.iter().any(|obstacle| obstacle.kind.in_use()) {
                return true;
            }
            (
                ObstacleKind::Exclusive,
                "is held by someone who shares it with nobody, whom the kernel's tables do not name"
                    .to_owned(),
                format!(
                    "`lsof {0}` or `fuser -v {0}` may name a program; ZFS, DRBD and containers \
                     hold devices without being named: close it there",
                    path.display()
                ),
            )
        }
        Err(error) => (
            ObstacleKind::Unchecked,
            format!("cannot be opened, so that nothing of it can be checked ({error})"),
            crate::error::hint(&error).to_owned(),
        ),
    };
    let can_be_opened = kind == ObstacleKind::Exclusive;
    obstacles.push(Obstacle {
        kind,
        device: device.name.clone(),
        what,
        how_to_go_on,
    });
    can_be_opened
}

#[cfg(not(unix))]
pub(super) fn check(device: &DeviceDir, _: (&Path, &Path), obstacles: &mut Vec<Obstacle>) -> bool {
    obstacles.push(Obstacle {
        kind: ObstacleKind::Unchecked,
        device: device.name.clone(),
        what: "cannot be checked for other users on this system".to_owned(),
        how_to_go_on: "run diskfacts on Linux".to_owned(),
    });
    true
}
