//! Which files are watched.

use super::event::FileId;
use std::collections::BTreeSet;

/// The first device number that is not of a filesystem without a device
/// (`UNNAMED_MAJOR` 0); that of block devices themselves is one of these.
const UNNAMED_END: u32 = 1 << 20;

/// Files that are watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    files: BTreeSet<FileId>,
    filesystems: BTreeSet<u32>,
    devices: BTreeSet<u32>,
}

impl Scope {
    /// One more file.
    #[must_use]
    pub fn with_file(mut self, file: FileId) -> Self {
        self.files.insert(file);
        self
    }

    /// All files of one more filesystem, by its device, as it is inside the kernel.
    #[must_use]
    pub fn with_filesystem(mut self, device: u32) -> Self {
        self.filesystems.insert(device);
        self
    }

    /// What is read of one more block device itself: by its path, and by a
    /// filesystem that looks up its own data.
    ///
    /// In events it is the file whose number is that of the device, on a filesystem
    /// that has no device and cannot be named: a file with that number on another
    /// one (tmpfs, overlay) is taken for it.
    #[must_use]
    pub fn with_device(mut self, device: u32) -> Self {
        self.devices.insert(device);
        self
    }

    /// Whether an event of this file is of it.
    pub fn holds(&self, file: FileId) -> bool {
        let is_device = |device: &u32| u64::from(*device) == file.inode;
        self.files.contains(&file)
            || self.filesystems.contains(&file.device)
            || (file.device < UNNAMED_END && self.devices.iter().any(is_device))
    }

    /// The same as a filter of the kernel's, over the fields that all the events
    /// have; nothing passes it when nothing is watched.
    pub fn filter(&self) -> String {
        let files = self.files.iter();
        let files = files.map(|of| format!("(s_dev == {} && i_ino == {})", of.device, of.inode));
        let filesystems = self.filesystems.iter();
        let filesystems = filesystems.map(|device| format!("s_dev == {device}"));
        let devices = self.devices.iter();
        let devices = devices.map(|device| format!("(s_dev < {UNNAMED_END} && i_ino == {device})"));
        let terms: Vec<String> = files.chain(filesystems).chain(devices).collect();
        if terms.is_empty() {
            return "s_dev == 0 && s_dev == 1".to_owned();
        }
        terms.join(" || ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::kernel_device;
    use super::*;

    #[test]
    fn a_file_a_filesystem_and_a_device_are_told_from_their_neighbours() {
        let file = |device, inode| FileId { device, inode };
        let sda1 = kernel_device(8, 1);
        let one = Scope::default().with_file(file(sda1, 12));
        assert!(one.holds(file(sda1, 12)));
        assert!(!one.holds(file(sda1, 13)) && !one.holds(file(sda1 + 1, 12)));
        assert_eq!(one.filter(), "(s_dev == 8388609 && i_ino == 12)");
        let all = Scope::default().with_filesystem(sda1).with_device(sda1);
        assert!(all.holds(file(sda1, 13)));
        // Block devices are files of a filesystem without a device.
        assert!(all.holds(file(3, sda1.into())));
        assert!(!all.holds(file(sda1 + 1, sda1.into())));
        assert_eq!(
            all.filter(),
            "s_dev == 8388609 || (s_dev < 1048576 && i_ino == 8388609)"
        );
        assert!(!Scope::default().holds(file(0, 0)));
    }
}
