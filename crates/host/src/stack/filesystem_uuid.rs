//! The UUID of a filesystem: it stays what it is when the device under it gets
//! another name, and `mkfs` gives another one.

use std::path::Path;

/// The UUID of the filesystem that a file or folder lies on, whose device has this
/// number: asked of the filesystem, else by the links that udev makes. `None` where it has
/// none, or neither tells it.
#[cfg(target_os = "linux")]
pub(super) fn of(path: &Path, folder: bool, device: u64) -> Option<String> {
    // The parent of a file is on the same filesystem, unless the file is a mount point;
    // opening a file may wait for whoever has a lease on it.
    let folder = if folder { path } else { path.parent()? };
    asked(folder, device).or_else(|| linked(Path::new("/dev/disk/by-uuid"), device))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of(_path: &Path, _folder: bool, _device: u64) -> Option<String> {
    None
}

/// Sources: kernel, `include/uapi/linux/fs.h` (`FS_IOC_GETFSUUID`, since Linux 6.9, of any
/// filesystem that has a UUID) and `fs/ext4/ioctl.c` (`ext4_ioctl_getuuid`, since 6.0).
#[cfg(target_os = "linux")]
fn asked(folder: &Path, device: u64) -> Option<String> {
    use rustix::ioctl::{Getter, Opcode, Updater, ioctl};
    use std::os::unix::fs::MetadataExt;

    const BYTES: u8 = 16;

    /// `struct fsuuid2`.
    #[repr(C)]
    struct Uuid {
        len: u8,
        bytes: [u8; BYTES as usize],
    }
    /// `_IOR(0x15, 0, struct fsuuid2)`; the structure has 17 bytes.
    const FS_IOC_GETFSUUID: Opcode = 0x8011_1500;

    /// `struct fsuuid` of ext4 with room for a UUID behind it.
    #[repr(C)]
    struct Ext4Uuid {
        len: u32,
        flags: u32,
        bytes: [u8; BYTES as usize],
    }
    /// `_IOR('f', 44, struct fsuuid)`; its head has 8 bytes.
    const EXT4_IOC_GETFSUUID: Opcode = 0x8008_662C;

    let file = std::fs::File::open(folder).ok()?;
    if file.metadata().ok()?.dev() != device {
        return None;
    }
    // SAFETY: the opcode is that of this structure, which the kernel fills and keeps no
    // pointer to; each of its bytes may have any value.
    let any = unsafe { ioctl(&file, Getter::<FS_IOC_GETFSUUID, Uuid>::new()) };
    if let Ok(Uuid { len, bytes }) = any {
        return (len == BYTES).then(|| words(bytes));
    }
    let mut uuid = Ext4Uuid {
        len: u32::from(BYTES),
        flags: 0,
        bytes: [0; BYTES as usize],
    };
    // SAFETY: the opcode is that of this structure, whose head says truly how many bytes
    // fit behind it; the kernel keeps no pointer to it.
    unsafe { ioctl(&file, Updater::<EXT4_IOC_GETFSUUID, _>::new(&mut uuid)) }.ok()?;
    (uuid.len == u32::from(BYTES)).then(|| words(uuid.bytes))
}

/// The name of the link to the node of this device.
#[cfg(target_os = "linux")]
fn linked(folder: &Path, device: u64) -> Option<String> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let links = std::fs::read_dir(folder).ok()?;
    links.flatten().find_map(|link| {
        let node = std::fs::metadata(link.path()).ok()?;
        let is_it = node.file_type().is_block_device() && node.rdev() == device;
        is_it.then(|| link.file_name().into_string().ok())?
    })
}

/// As `blkid` writes it.
#[cfg(target_os = "linux")]
fn words(bytes: [u8; 16]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_as_it_is_usual() {
        let bytes = [
            0x3e, 0x6b, 0xe9, 0xde, 0x81, 0x39, 0x11, 0xd1, 0x91, 0x06, 0xa4, 0x3f, 0x08, 0xd8,
            0x23, 0xa6,
        ];
        assert_eq!(words(bytes), "3e6be9de-8139-11d1-9106-a43f08d823a6");
    }

    #[test]
    fn links_to_anything_but_the_device_name_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("/dev/null", folder.path().join("1234-ABCD")).expect("a link");
        std::os::unix::fs::symlink("/gone", folder.path().join("5678-ABCD")).expect("a link");
        assert_eq!(linked(folder.path(), 0x103), None);
        assert_eq!(linked(Path::new("/nowhere"), 0x103), None);
    }
}
