//! A folder that nobody but root and this user could have put there, or can change what is
//! in, held open: what is checked is what is used.

use super::folder::MAX_BYTES;
use crate::look;
use crate::settings::error::SettingsError;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, readlinkat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Write permission of the group and of others.
const OTHERS_WRITE: u32 = 0o022;
/// In a folder with this bit only its owner removes and renames a file (`unlink(2)`).
const STICKY: u32 = 0o1000;
/// As the kernel's `MAXSYMLINKS`.
const MAX_LINKS: u32 = 40;

/// An open folder.
#[derive(Debug, Clone)]
pub(in crate::settings) struct SafeFolder {
    file: Arc<File>,
    path: PathBuf,
}

/// A file of the folder.
#[derive(Debug)]
pub(super) enum Entry {
    /// A regular file of root or of this user, open for reading.
    Open(File),
    /// None of this name.
    Missing,
    /// Something that is no journal; what is wrong with it.
    Refused(String),
    /// Another user's, and his to be cared for: this one is not root.
    OfAnother(u32),
}

/// Why a folder could not be opened.
enum Refused {
    Failed(PathBuf, io::Error),
    Unsafe(String),
}

impl SafeFolder {
    /// Opens it. For root each folder and symbolic link on the way has to be root's, and
    /// in no place where others could exchange it; an ordinary user's own rights are all
    /// that a journal can use.
    ///
    /// # Errors
    /// [`SettingsError::StateUnseen`] when it cannot be opened, also when it is not there;
    /// [`SettingsError::UnsafeFolder`] when another user could change it.
    pub(in crate::settings) fn open(path: &Path) -> Result<Self, SettingsError> {
        walk(path, false).map_err(|refused| match refused {
            Refused::Failed(_, source) => {
                SettingsError::state_unseen("opening the folder of the journals", path, source)
            }
            Refused::Unsafe(why) => unsafe_folder(path, why),
        })
    }

    /// Opens it, and makes what of it is missing, for all to see.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`SettingsError::Journal`] when it cannot be made.
    pub(super) fn make(path: &Path) -> Result<Self, SettingsError> {
        walk(path, true).map_err(|refused| match refused {
            Refused::Failed(at, source) => super::open::refused("making the folder", &at, source),
            Refused::Unsafe(why) => unsafe_folder(path, why),
        })
    }

    pub(in crate::settings) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::settings) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        look::names(&self.file)
    }

    /// A new file that all may read, open for reading and writing.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = openat(&self.file, name, flags | OFlags::CLOEXEC, mode(0o644))?;
        Ok(File::from(file))
    }

    /// The file of this name, when it may be believed. What is no file is not waited for.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub(super) fn open_file(&self, name: &str) -> io::Result<Entry> {
        look::may_fail()?;
        // Some devices do things when they are opened.
        let before = match statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(Entry::Missing),
            before => before?,
        };
        if let Some(refused) = believe(&before) {
            return Ok(refused);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        look::may_fail()?;
        let file = match openat(&self.file, name, flags | OFlags::CLOEXEC, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(Entry::Missing),
            file => file?,
        };
        Ok(believe(&fstat(&file)?).unwrap_or(Entry::Open(File::from(file))))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.file, from, &self.file, to)?)
    }

    /// Removes a file; that it is gone already is no error.
    pub(in crate::settings) fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.file, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes the names in it durable.
    pub(in crate::settings) fn sync(&self) -> Result<(), SettingsError> {
        let synced = self.file.sync_all();
        synced.map_err(|source| super::open::refused("syncing the folder", &self.path, source))
    }
}

fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(bits)
}

fn unsafe_folder(path: &Path, why: String) -> SettingsError {
    SettingsError::UnsafeFolder {
        path: path.to_owned(),
        why,
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether root or this user owns it.
fn is_ours(stat: &Stat) -> bool {
    stat.st_uid == 0 || stat.st_uid == rustix::process::geteuid().as_raw()
}

/// Why a file is not read, when it is not.
fn believe(stat: &Stat) -> Option<Entry> {
    let is = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Symlink => Some("a symbolic link"),
        FileType::Directory => Some("a folder"),
        FileType::Fifo => Some("a FIFO"),
        FileType::Socket => Some("a socket"),
        _ => Some("a device"),
    };
    if let Some(is) = is {
        return Some(Entry::Refused(format!("it is {is}, and no journal")));
    }
    if !is_root() && stat.st_uid != rustix::process::geteuid().as_raw() {
        return Some(Entry::OfAnother(stat.st_uid));
    }
    if !is_ours(stat) {
        let user = stat.st_uid;
        return Some(Entry::Refused(format!(
            "it belongs to user {user}, and is not root's"
        )));
    }
    if stat.st_mode & OTHERS_WRITE != 0 {
        return Some(Entry::Refused("others may write it".to_owned()));
    }
    let bytes = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    (bytes > MAX_BYTES).then(|| Entry::Refused("it is longer than any journal".to_owned()))
}

/// Opens a folder part after part, without following a symbolic link that was not looked
/// at; with `make` those that are missing are made.
fn walk(path: &Path, make: bool) -> Result<SafeFolder, Refused> {
    let failed = |at: &Path| {
        let at = at.to_owned();
        move |errno: Errno| Refused::Failed(at, errno.into())
    };
    look::may_fail().map_err(|error| Refused::Failed(path.to_owned(), error))?;
    let passing = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = || openat(CWD, "/", passing | OFlags::DIRECTORY, Mode::empty());
    let mut here = PathBuf::from("/");
    let mut at = root().map_err(failed(&here))?;
    let mut parts = parts_of(path);
    let mut links = 0;
    let mut new = false;
    while let Some(part) = parts.pop() {
        let next = here.join(&part);
        let open = || openat(&at, &part, passing, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if make => {
                match mkdirat(&at, &part, mode(0o755)) {
                    Ok(()) => new = true,
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(failed(&next)(errno)),
                }
                open()
            }
            opened => opened,
        };
        let opened = opened.map_err(failed(&next))?;
        let stat = fstat(&opened).map_err(failed(&next))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                check(&stat, &next, parts.is_empty())?;
                at = opened;
                here = next;
            }
            FileType::Symlink => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(failed(&next)(Errno::LOOP));
                }
                if is_root() && !is_ours(&stat) {
                    return Err(Refused::Unsafe(belongs(&next, &stat)));
                }
                let target = readlinkat(&opened, "", Vec::new()).map_err(failed(&next))?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    here = PathBuf::from("/");
                    at = root().map_err(failed(&here))?;
                }
                parts.extend(parts_of(&target));
            }
            _ => return Err(failed(&next)(Errno::NOTDIR)),
        }
    }
    let stat = fstat(&at).map_err(failed(&here))?;
    check(&stat, &here, true)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    look::may_fail().map_err(|error| Refused::Failed(path.to_owned(), error))?;
    let file = File::from(openat(&at, ".", flags, Mode::empty()).map_err(failed(path))?);
    if new {
        // Everybody may see whose settings are changed, whatever the umask is.
        let open = file.set_permissions(Permissions::from_mode(0o755));
        open.map_err(|error| Refused::Failed(path.to_owned(), error))?;
    }
    Ok(SafeFolder {
        file: Arc::new(file),
        path: path.to_owned(),
    })
}

/// The parts of a path, the first one last.
fn parts_of(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    let names = parts.filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::ParentDir => Some(OsStr::new("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.map(OsStr::to_owned).collect()
}

/// For root: that nobody else can exchange what is in the folder, and, of the last one,
/// put something into it.
fn check(stat: &Stat, at: &Path, last: bool) -> Result<(), Refused> {
    if !is_root() {
        return Ok(());
    }
    if !is_ours(stat) {
        return Err(Refused::Unsafe(belongs(at, stat)));
    }
    // What root has in a sticky folder nobody else can rename or remove, and it is
    // checked next.
    if stat.st_mode & OTHERS_WRITE != 0 && (last || stat.st_mode & STICKY == 0) {
        let at = at.display();
        return Err(Refused::Unsafe(format!("others may write {at}")));
    }
    Ok(())
}

fn belongs(at: &Path, stat: &Stat) -> String {
    format!("{} belongs to user {}", at.display(), stat.st_uid)
}
