//! A folder of our own for the files of a trial, inside the folder that is
//! measured: made, filled, and taken away again.
//!
//! # What is promised
//! * Nothing outside of it is touched: everything goes through open folders
//!   (`openat`, `unlinkat`), and links are not followed.
//! * It is removed when it is dropped, in a panic too. After SIGKILL it stays,
//!   until [`remove_leftovers`] is called for the same parent.
//! * A leftover is removed only when it is surely ours: it bears our prefix, it
//!   belongs to this user, its mark says what it is, nobody holds the lock of
//!   that mark (the kernel drops it when a process dies), and of what lies in it
//!   only regular files with names as we give them are deleted. Whatever else is
//!   found stays, with the folder, and is named. Where other machines may have the
//!   filesystem, it is also of this boot and this mount, or, where they have it through an export of
//!   this one, it may be old instead ([`Whose`]).
//!
//! # Two processes
//! The mark is locked before anything is written into it, and looked at again
//! afterwards: a process that sweeps between the two may have taken it away, and
//! then another folder is made.

use super::leftovers::{Leftovers, Swept};
use super::names;
use super::whose::{Mark, Whose, mark_in, unused_for};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How its name begins; 16 hexadecimal digits follow, and a hyphen with the 16 of the
/// [mark of its maker](mark_in), if that is known.
const PREFIX: &str = ".diskfacts-files-";
/// The file that says what the folder is, and that is locked while it is used.
const MARK: &CStr = c"owner";
/// What stands in it.
const MAGIC: &[u8] =
    b"Made by diskfacts to measure files in. Nobody needs it when no diskfacts runs.\n";
/// How often another name is tried.
const TRIES: u32 = 16;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Something that could not be done to a folder of files or its content.
#[derive(Debug, Error)]
#[error("{what} in {} failed{}", place.display(), self.said_hint())]
pub struct FolderError {
    /// What was tried: `making a folder`.
    pub what: &'static str,
    /// In which folder.
    pub place: PathBuf,
    /// What the system answered.
    #[source]
    pub source: std::io::Error,
}

impl FolderError {
    pub(super) fn new(what: &'static str, place: &Path, errno: Errno) -> Self {
        Self {
            what,
            place: place.to_owned(),
            source: errno.into(),
        }
    }

    fn said_hint(&self) -> String {
        self.hint()
            .map_or_else(String::new, |hint| format!("; {hint}"))
    }

    /// What most likely lies behind it, and what to do; `None` where nothing can
    /// be said beyond the system's own words.
    pub fn hint(&self) -> Option<&'static str> {
        match Errno::from_io_error(&self.source)? {
            Errno::ACCESS | Errno::PERM => {
                Some("you may not write there; name a folder of your own")
            }
            Errno::ROFS => {
                Some("the filesystem or this subvolume is read-only; name another folder")
            }
            Errno::NOSPC => Some(
                "no room or no inodes are left (`df` and `df -i` tell); make room, or lower files \
                 and file_size_max in the plan",
            ),
            Errno::DQUOT => Some(
                "your quota is used up; make room, or lower files and file_size_max in the plan",
            ),
            Errno::MFILE => Some("too many files are open; lower folders in the plan"),
            _ => None,
        }
    }
}

/// A folder of our own with `folders` folders in it.
#[derive(Debug)]
pub(super) struct OwnFolder {
    parent: OwnedFd,
    name: CString,
    path: PathBuf,
    folder: OwnedFd,
    /// Its lock says that the folder is in use.
    _mark: File,
    parts: Vec<OwnedFd>,
    removed: bool,
}

impl OwnFolder {
    /// Makes one inside `parent`.
    pub(super) fn make(parent_path: &Path, folders: u64) -> Result<Self, FolderError> {
        let failed = |what, errno| FolderError::new(what, parent_path, errno);
        let parent = openat(CWD, parent_path, FOLDER & !OFlags::NOFOLLOW, Mode::empty())
            .map_err(|errno| failed("opening the folder", errno))?;
        // What leads to an open folder says what that is.
        let parent_path = std::fs::read_link(parent_path).unwrap_or_else(|_| parent_path.into());
        let failed = |what, errno| FolderError::new(what, &parent_path, errno);
        let mark = mark_in(&parent).map_err(|errno| failed("making a folder", errno))?;
        let mut tries = 0;
        let mut own = loop {
            tries += 1;
            let name = drawn_name(tries, mark);
            match claim(&parent, &name) {
                Ok((folder, mark)) => {
                    let path = parent_path.join(name.to_string_lossy().as_ref());
                    break Self {
                        parent,
                        name,
                        path,
                        folder,
                        _mark: mark,
                        parts: Vec::with_capacity(folders as usize),
                        removed: false,
                    };
                }
                // Somebody has it, or swept it away under our hands.
                Err(Errno::EXIST | Errno::NOENT | Errno::WOULDBLOCK) if tries < TRIES => {}
                Err(errno) => return Err(failed("making a folder", errno)),
            }
        };
        // From here on a failure drops what was made.
        for part in 0..folders {
            let name = part_name(part);
            let opened = mkdirat(&own.folder, name.as_c_str(), Mode::RWXU)
                .and_then(|()| openat(&own.folder, name.as_c_str(), FOLDER, Mode::empty()));
            let opened =
                opened.map_err(|errno| FolderError::new("making a folder", &own.path, errno))?;
            own.parts.push(opened);
        }
        Ok(own)
    }

    /// The folder `part`, from 0, in which files are made.
    #[inline]
    pub(super) fn part(&self, part: u64) -> &OwnedFd {
        &self.parts[part as usize]
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away, with all files.
    pub(super) fn remove(mut self) -> Result<(), FolderError> {
        self.take_away()
    }

    fn take_away(&mut self) -> Result<(), FolderError> {
        if std::mem::replace(&mut self.removed, true) {
            return Ok(());
        }
        self.parts.clear();
        take_away(&self.parent, &self.name, &self.folder).map_err(|errno| {
            FolderError::new("removing the files and their folder", &self.path, errno)
        })
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // On the way out of an error that is told, or of a panic; what cannot be
        // removed now is a leftover for the next start.
        let _ = self.take_away();
    }
}

/// Removes the folders that killed processes left in `parent`; those in use, and
/// whatever is not surely ours, stay.
///
/// # Errors
/// When `parent` cannot be read.
pub fn remove_leftovers(parent: &Path) -> Result<Leftovers, FolderError> {
    let failed =
        |errno| FolderError::new("looking for what a killed diskfacts left", parent, errno);
    let folder = openat(CWD, parent, FOLDER & !OFlags::NOFOLLOW, Mode::empty()).map_err(failed)?;
    remove(&folder, Whose::of(&folder).map_err(failed)?).map_err(failed)
}

fn remove(parent: &OwnedFd, whose: Whose) -> Result<Leftovers, Errno> {
    let sweep = |parent: &OwnedFd, name: &CStr| sweep(parent, name, whose);
    Leftovers::sweep(parent, |name| ours(name).is_some(), sweep)
}

fn sweep(parent: &OwnedFd, name: &CStr, whose: Whose) -> Result<Swept, Errno> {
    let folder = match openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Swept::NotOurs("it is not a folder")),
        folder => folder?,
    };
    if fstat(&folder)?.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(Swept::NotOurs("it belongs to another user"));
    }
    let maker = ours(name).and_then(|ours| ours.mark);
    // NFS locks only what is open for writing.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut mark: File = match openat(&folder, MARK, flags, Mode::empty()) {
        // Killed before the mark was made, or about to make it: then it finds
        // the folder gone, and makes another.
        Err(Errno::NOENT) => {
            if let Some(why) = whose.why_not(maker, unused_for(&fstat(&folder)?)) {
                return Ok(Swept::NotOurs(why));
            }
            return match unlinkat(parent, name, AtFlags::REMOVEDIR) {
                Ok(()) => Ok(Swept::Removed),
                Err(Errno::NOTEMPTY | Errno::EXIST) => {
                    Ok(Swept::NotOurs("it has no mark of diskfacts"))
                }
                Err(errno) => Err(errno),
            };
        }
        Err(Errno::LOOP) => return Ok(Swept::NotOurs("it has no mark of diskfacts")),
        mark => mark?.into(),
    };
    match mark.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => return Ok(Swept::InUse),
        Err(std::fs::TryLockError::Error(error)) => {
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        }
    }
    if let Some(why) = whose.why_not(maker, unused_for(&fstat(&mark)?)) {
        return Ok(Swept::NotOurs(why));
    }
    let mut said = Vec::new();
    let longest = MAGIC.len() as u64 + 1;
    let read = std::io::Read::by_ref(&mut mark)
        .take(longest)
        .read_to_end(&mut said);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    // Cut off in the middle of writing it: then there is nothing else in it.
    let begun = MAGIC.starts_with(&said) && entries(&folder)? == [MARK.to_owned()];
    if said != MAGIC && !begun {
        return Ok(Swept::NotOurs("its mark is not one of diskfacts"));
    }
    take_away(parent, name, &folder)?;
    Ok(Swept::Removed)
}

/// The name of a folder, different in each process and each call.
fn drawn_name(tries: u32, mark: Option<Mark>) -> CString {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    let part = u64::from(std::process::id()) << 8 | u64::from(tries);
    let drawn = diskfacts_plan::rng::Rng::for_part(now, part).next_u64();
    let mark = mark.map_or_else(String::new, |mark| format!("-{mark:016x}"));
    CString::new(format!("{PREFIX}{drawn:016x}{mark}")).expect("no zero is in it")
}

/// What the name of a folder of ours says.
#[derive(Debug, PartialEq, Eq)]
struct Ours {
    mark: Option<Mark>,
}

/// What this name says; `None` where it is none of ours.
fn ours(name: &CStr) -> Option<Ours> {
    let digits = name.to_str().ok()?.strip_prefix(PREFIX)?;
    let is_number = |digits: &str| {
        let mut bytes = digits.bytes();
        digits.len() == 16 && bytes.all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    match digits.split_once('-') {
        None => is_number(digits).then_some(Ours { mark: None }),
        Some((drawn, mark)) => {
            let is_ours = is_number(drawn) && is_number(mark);
            is_ours.then(|| Ours {
                mark: u64::from_str_radix(mark, 16).ok(),
            })
        }
    }
}

fn part_name(part: u64) -> CString {
    CString::new(format!("{part:03}")).expect("no zero is in it")
}

fn is_part_name(name: &CStr) -> bool {
    let bytes = name.to_bytes();
    bytes.len() == 3 && bytes.iter().all(u8::is_ascii_digit)
}

/// Makes the folder and its mark, locked. On an error nothing of it is left.
fn claim(parent: &OwnedFd, name: &CStr) -> Result<(OwnedFd, File), Errno> {
    mkdirat(parent, name, Mode::RWXU)?;
    let marked = mark(parent, name);
    if marked.is_err() {
        // Fails where a sweep was here before; then nothing is left either.
        let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
    marked
}

fn mark(parent: &OwnedFd, name: &CStr) -> Result<(OwnedFd, File), Errno> {
    let folder = openat(parent, name, FOLDER, Mode::empty())?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut mark: File = openat(&folder, MARK, flags, Mode::RUSR | Mode::WUSR)?.into();
    let errno = |error: &std::io::Error| Errno::from_io_error(error).unwrap_or(Errno::IO);
    let written = match mark.try_lock() {
        Ok(()) if fstat(&mark)?.st_nlink == 0 => Err(Errno::NOENT),
        Ok(()) => mark.write_all(MAGIC).map_err(|error| errno(&error)),
        Err(std::fs::TryLockError::WouldBlock) => Err(Errno::WOULDBLOCK),
        Err(std::fs::TryLockError::Error(error)) => Err(errno(&error)),
    };
    if let Err(errno) = written {
        if errno != Errno::WOULDBLOCK {
            // Fails where a sweep was here before; then nothing is left either.
            let _ = unlinkat(&folder, MARK, AtFlags::empty());
        }
        return Err(errno);
    }
    Ok((folder, mark))
}

/// Removes a folder of ours and what we put into it.
///
/// # Errors
/// `NOTEMPTY` when there is something in it that we did not make.
fn take_away(parent: &OwnedFd, name: &CStr, folder: &OwnedFd) -> Result<(), Errno> {
    let mut strange = false;
    for part in entries(folder)? {
        if part.as_c_str() == MARK {
            continue;
        }
        if !is_part_name(&part) {
            strange = true;
            continue;
        }
        let opened = match openat(folder, part.as_c_str(), FOLDER, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                strange = true;
                continue;
            }
            opened => opened?,
        };
        empty(&opened)?;
        match unlinkat(folder, part.as_c_str(), AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => strange = true,
            removed => removed?,
        }
    }
    if strange {
        // The mark stays, so that it is known for what it is.
        return Err(Errno::NOTEMPTY);
    }
    unlinkat(folder, MARK, AtFlags::empty())?;
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Deletes the regular files whose names are ours. A folder may skip entries
/// while it is emptied, so it is read until nothing more is found.
fn empty(folder: &OwnedFd) -> Result<(), Errno> {
    loop {
        let mut deleted = false;
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if !names::is_ours(name) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => FileType::from_raw_mode(
                    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode,
                ),
                kind => kind,
            };
            if kind == FileType::RegularFile {
                unlinkat(folder, name, AtFlags::empty())?;
                deleted = true;
            }
        }
        if !deleted {
            return Ok(());
        }
    }
}

/// The names in a folder of few entries, but for itself and its parent.
fn entries(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
