//! What is known of a path before any table of the kernel is read.

use crate::space::Space;
use std::path::PathBuf;

/// A path that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Absolute, without symbolic links.
    pub path: PathBuf,
    /// What it is.
    pub kind: SubjectKind,
    /// Major and minor number of its filesystem. Btrfs gives each subvolume a
    /// number of its own, which is in no table.
    pub filesystem_number: (u32, u32),
    /// UUID of its filesystem, where it has one that is told.
    pub filesystem_uuid: Option<String>,
    /// Number of the mount it is seen through; since Linux 5.8.
    pub mount_id: Option<u64>,
    /// Room in its filesystem.
    pub space: Option<Space>,
}

/// What kind of thing lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// The node of a block device.
    BlockDevice {
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
    },
}

/// A file type in words, with its article.
#[cfg(unix)]
pub(crate) fn words_for(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_char_device() {
        "a character device"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_file() {
        "a regular file"
    } else if kind.is_block_device() {
        "a block device"
    } else {
        "something that is neither file nor folder"
    }
}

/// Parts a device number into major and minor.
#[cfg(unix)]
pub(crate) fn split_number(number: u64) -> (u32, u32) {
    #[cfg(target_os = "linux")]
    return (rustix::fs::major(number), rustix::fs::minor(number));
    // The numbers of other systems lead to no table that is read here.
    #[cfg(not(target_os = "linux"))]
    return (0, number as u32);
}
