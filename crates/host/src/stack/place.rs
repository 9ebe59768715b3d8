//! What a path leads to, held: whatever lies at the path later, this stays the file,
//! folder or device that was looked at.
//!
//! A path is looked up once. What is read from `/proc/PID/root`, `/proc/PID/fd`, a
//! working folder over which something was mounted, or a removed file, is text that may
//! lead somewhere else when it is looked up again.

use super::subject::{Subject, SubjectKind, split_number, words_for};
use crate::error::Error;
use rustix::fs::{AtFlags, OFlags, StatxFlags, statx};
use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What a path led to, whatever it is, held without being opened (`O_PATH`): that
/// waits for nobody and breaks no lease.
#[derive(Debug)]
pub struct Pinned {
    file: File,
}

impl Pinned {
    /// Looks `path` up, following links.
    ///
    /// # Errors
    /// When nothing is there, or it may not be looked at.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let pin = |flags: OFlags| {
            let flags = (OFlags::PATH | flags).bits().cast_signed();
            let mut options = File::options();
            options.read(true).custom_flags(flags).open(path)
        };
        // As a folder first: that has an automount done, and `O_PATH` alone has not.
        let pinned = pin(OFlags::DIRECTORY).or_else(|_| pin(OFlags::empty()));
        match pinned {
            Ok(file) => Ok(Self { file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(match std::fs::read_link(path) {
                    Ok(to) => Error::LinkToNothing {
                        path: path.to_owned(),
                        to,
                    },
                    Err(_) => Error::on_path("looking at", path, error),
                })
            }
            Err(error) => Err(Error::on_path("looking at", path, error)),
        }
    }

    /// What it is.
    ///
    /// # Errors
    /// When its filesystem does not answer.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// The path to open it by: it leads to what is held, by whatever name.
    pub fn reach(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// The kernel's name of it, which may lead to something else from here.
    ///
    /// # Errors
    /// When `/proc` is not mounted.
    pub fn name(&self) -> Result<PathBuf, Error> {
        let link = self.reach();
        std::fs::read_link(&link).map_err(|error| match error.kind() {
            // It is held, so its link is there wherever links of processes are.
            io::ErrorKind::NotFound => Error::on_file(
                "asking for the name of",
                "/proc is not mounted here: `mount -t proc proc /proc`, or run outside of what \
                 hides it",
                error,
            ),
            _ => Error::on_path("asking for the name of", &link, error),
        })
    }

    /// The descriptor that holds it.
    pub fn file(&self) -> &File {
        &self.file
    }

    fn identity(&self) -> io::Result<Identity> {
        let metadata = self.file.metadata()?;
        Ok(Identity {
            filesystem: metadata.dev(),
            inode: metadata.ino(),
            device: metadata.rdev(),
        })
    }
}

/// What tells one file from all others. Not the mount that it is seen through: what was
/// opened before a process got a mount namespace of its own is seen through another, and
/// is the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    filesystem: u64,
    inode: u64,
    device: u64,
}

/// A file, a folder or a block device, held, with a path that leads to it.
#[derive(Debug)]
pub struct Place {
    /// What is known of it.
    pub subject: Subject,
    pinned: Pinned,
    identity: Identity,
}

impl Place {
    /// Looks at `path`, following symbolic links.
    ///
    /// # Errors
    /// As [`Pinned::at`] and [`Place::of`].
    pub fn look(path: &Path) -> Result<Self, Error> {
        Self::of(Pinned::at(path)?, path)
    }

    /// Looks at what `path` led to.
    ///
    /// # Errors
    /// When it is neither file nor folder nor block device, or when its own name does
    /// not lead to it from here: what the kernel's tables say of that name is about
    /// something else.
    pub fn of(pinned: Pinned, path: &Path) -> Result<Self, Error> {
        let on_path = |error| Error::on_path("looking at", path, error);
        let metadata = pinned.metadata().map_err(on_path)?;
        let kind = kind_of(&metadata).map_err(|is| Error::NotATarget {
            path: path.to_owned(),
            is,
        })?;
        let identity = pinned.identity().map_err(on_path)?;
        let name = pinned.name()?;
        let no_path = |lies_there| Error::NoPathHere {
            path: path.to_owned(),
            is: words_for(metadata.file_type()),
            name: name.clone(),
            lies_there,
        };
        let found = Pinned::at(&name).map_err(|_| no_path("nothing can be found"))?;
        if found.identity().ok() != Some(identity) {
            return Err(no_path("something else lies"));
        }
        let folder = kind == SubjectKind::Folder;
        let on_files = folder || kind == SubjectKind::File;
        let subject = Subject {
            kind,
            filesystem_number: split_number(metadata.dev()),
            filesystem_uuid: on_files
                .then(|| super::filesystem_uuid::of(&name, folder, metadata.dev()))
                .flatten(),
            // In the mount table of this process.
            mount_id: mount_id(&found.file),
            // A folder that may be looked at but whose filesystem does not
            // answer still has a stack: the size stays unknown.
            space: crate::space::space(&pinned.reach()).ok(),
            path: name,
        };
        Ok(Self {
            subject,
            pinned,
            identity,
        })
    }

    /// The path to open it by: it leads to what was looked at, whatever lies at its
    /// name by now.
    pub fn reach(&self) -> PathBuf {
        self.pinned.reach()
    }

    /// The descriptor that holds it.
    pub fn file(&self) -> &File {
        &self.pinned.file
    }

    /// Whether both are the same file or node, by the same path.
    pub fn is_same(&self, other: &Self) -> bool {
        self.subject.path == other.subject.path && self.identity == other.identity
    }
}

fn kind_of(metadata: &Metadata) -> Result<SubjectKind, &'static str> {
    let kind: FileType = metadata.file_type();
    if kind.is_file() {
        Ok(SubjectKind::File)
    } else if kind.is_dir() {
        Ok(SubjectKind::Folder)
    } else if kind.is_block_device() {
        let (major, minor) = split_number(metadata.rdev());
        Ok(SubjectKind::BlockDevice { major, minor })
    } else {
        Err(words_for(kind))
    }
}

/// `stx_mnt_id` of statx(2), the one sure way from a file to its mount: bind
/// mounts share their device number, and btrfs subvolumes hide theirs.
fn mount_id(file: &File) -> Option<u64> {
    let seen = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    // Kernels before 5.8 leave the bit out of the mask.
    StatxFlags::from_bits_retain(seen.stx_mask)
        .contains(StatxFlags::MNT_ID)
        .then_some(seen.stx_mnt_id)
}
