//! What sysfs tells about a block device (ABI/stable/sysfs-block).

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::parse::device_text;

/// The folders of a block device in sysfs.
#[derive(Debug, Clone)]
pub(super) struct SysfsDevice {
    /// The device's own folder, resolved: `.../block/sda/sda1`.
    own: PathBuf,
    /// That of the whole disk: `.../block/sda`; the same for a disk.
    disk: PathBuf,
}

impl SysfsDevice {
    /// Finds the folders by the device's number.
    pub(super) fn find(sys: &Path, number: (u32, u32)) -> io::Result<Self> {
        let link = sys
            .join("dev/block")
            .join(format!("{}:{}", number.0, number.1));
        let own = link.canonicalize()?;
        let disk = match own.parent() {
            Some(parent) if own.join("partition").exists() => parent.to_owned(),
            _ => own.clone(),
        };
        Ok(Self { own, disk })
    }

    /// The kernel's name of the device: `sda1`.
    pub(super) fn name(&self) -> String {
        name(&self.own)
    }

    /// The kernel's name of the whole disk: `sda`.
    pub(super) fn disk_name(&self) -> String {
        name(&self.disk)
    }

    /// The device's node: `/dev/sda1`.
    pub(super) fn node(&self) -> PathBuf {
        node(&self.own)
    }

    /// The folders of the disk and of its partitions, if this is a disk; of
    /// this partition and its disk, if it is a partition: of all that an
    /// exclusive open of this device competes with.
    pub(super) fn family(&self) -> Vec<PathBuf> {
        let mut family = vec![self.own.clone()];
        if self.own != self.disk {
            family.push(self.disk.clone());
            return family;
        }
        let children = std::fs::read_dir(&self.disk)
            .into_iter()
            .flatten()
            .flatten();
        let mut partitions: Vec<PathBuf> = children
            .map(|entry| entry.path())
            .filter(|path| path.join("partition").exists())
            .collect();
        partitions.sort();
        family.append(&mut partitions);
        family
    }

    /// A number in the device's own folder.
    pub(super) fn own_number<T: FromStr>(&self, attribute: &str) -> Option<T> {
        parsed(&self.own.join(attribute))
    }

    /// A number in the whole disk's folder.
    pub(super) fn disk_number<T: FromStr>(&self, attribute: &str) -> Option<T> {
        parsed(&self.disk.join(attribute))
    }

    /// A text in the whole disk's folder, without surrounding blanks.
    pub(super) fn disk_text(&self, attribute: &str) -> Option<String> {
        device_text(&self.disk_bytes(attribute)?)
    }

    /// The bytes of a file in the whole disk's folder.
    pub(super) fn disk_bytes(&self, attribute: &str) -> Option<Vec<u8>> {
        std::fs::read(self.disk.join(attribute)).ok()
    }
}

/// The name that a device's folder stands for: `!` is how sysfs writes `/`.
pub(super) fn name(folder: &Path) -> String {
    folder
        .file_name()
        .map(|name| name.to_string_lossy().replace('!', "/"))
        .unwrap_or_default()
}

/// The node of the device whose folder this is.
pub(super) fn node(folder: &Path) -> PathBuf {
    Path::new("/dev").join(name(folder))
}

fn parsed<T: FromStr>(path: &Path) -> Option<T> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}
