//! What is known of a path before any table of the kernel is read.

use crate::error::Error;
use crate::space::Space;
use std::path::{Path, PathBuf};

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

impl Subject {
    /// Looks at `path`, following symbolic links.
    ///
    /// # Errors
    /// When it does not exist, may not be looked at, or is something else.
    #[cfg(unix)]
    pub fn look(path: &Path) -> Result<Self, Error> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let real = std::fs::canonicalize(path)
            .map_err(|error| Error::on_path("looking at", path, error))?;
        let metadata =
            std::fs::metadata(&real).map_err(|error| Error::on_path("looking at", &real, error))?;
        let kind = metadata.file_type();
        let kind = if kind.is_file() {
            SubjectKind::File
        } else if kind.is_dir() {
            SubjectKind::Folder
        } else if kind.is_block_device() {
            let (major, minor) = split_number(metadata.rdev());
            SubjectKind::BlockDevice { major, minor }
        } else {
            return Err(Error::NotATarget {
                path: real,
                is: words_for(kind),
            });
        };
        Ok(Self {
            kind,
            filesystem_number: split_number(metadata.dev()),
            filesystem_uuid: if kind == SubjectKind::Folder || kind == SubjectKind::File {
                let folder = kind == SubjectKind::Folder;
                super::filesystem_uuid::of(&real, folder, metadata.dev())
            } else {
                None
            },
            mount_id: mount_id(&real),
            // A folder that may be looked at but whose filesystem does not
            // answer still has a stack: the size stays unknown.
            space: crate::space::space(&real).ok(),
            path: real,
        })
    }

    /// Looks at `path`: not on this operating system yet.
    ///
    /// # Errors
    /// Always [`Error::NotHere`].
    #[cfg(not(unix))]
    pub fn look(_path: &Path) -> Result<Self, Error> {
        Err(Error::NotHere {
            doing: "finding the devices under a path",
            why: "diskfacts has no code for it yet",
        })
    }
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

/// `stx_mnt_id` of statx(2), the one sure way from a path to its mount: bind
/// mounts share their device number, and btrfs subvolumes hide theirs.
#[cfg(target_os = "linux")]
fn mount_id(path: &Path) -> Option<u64> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let seen = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    // Kernels before 5.8 leave the bit out of the mask.
    StatxFlags::from_bits_retain(seen.stx_mask)
        .contains(StatxFlags::MNT_ID)
        .then_some(seen.stx_mnt_id)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn mount_id(_path: &Path) -> Option<u64> {
    None
}
