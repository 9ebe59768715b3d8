//! An open for oneself alone.
//!
//! `O_EXCL` without `O_CREAT` on a block device fails with `EBUSY` while anyone
//! holds the device, its disk, or a part of it in that way: mounted filesystems
//! of all mount namespaces, swap, md, dm, ZFS, another `O_EXCL` (open(2);
//! kernel: `bd_prepare_to_claim` in `block/bdev.c`).

use super::{Obstacle, ObstacleKind};
use crate::sysfs::DeviceDir;
use std::path::Path;

#[cfg(unix)]
/// Says whether the device can be opened at all, or is only busy.
pub(super) fn check(device: &DeviceDir, path: &Path, obstacles: &mut Vec<Obstacle>) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    let opened = std::fs::OpenOptions::new()
        .read(true)
        // Without O_NONBLOCK a drive without a medium would be waited for.
        .custom_flags(libc::O_EXCL | libc::O_NONBLOCK)
        .open(path);
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
pub(super) fn check(device: &DeviceDir, _path: &Path, obstacles: &mut Vec<Obstacle>) -> bool {
    obstacles.push(Obstacle {
        kind: ObstacleKind::Unchecked,
        device: device.name.clone(),
        what: "cannot be checked for other users on this system".to_owned(),
        how_to_go_on: "run diskfacts on Linux".to_owned(),
    });
    true
}
