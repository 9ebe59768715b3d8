//! A file of our own that has a name while it is measured, for filesystems on which a file
//! without one would be synced differently from the files of applications.
//!
//! * btrfs: many kernels (Linux 6.1, and no more Linux 6.18) never log a file without a link, so
//!   that fsync(2) answers at once and nothing is flushed (`btrfs_log_inode_parent` in
//!   `fs/btrfs/tree-log.c`: `i_nlink == 0` ends in `BTRFS_NO_LOG_SYNC`).
//! * ZFS: its intent log leaves unlinked files out (`zfs_log_write`: `z_unlinked`).
//! * f2fs: a file whose link count is not 1 is synced by a checkpoint of the whole filesystem
//!   (`need_do_checkpoint` in `fs/f2fs/file.c`: `CP_HARDLINK`).
//! * NFS renames what is unlinked while open, overlayfs hands on to what lies under it, and a
//!   FUSE server does what it likes.
//!
//! # Promises
//! The file is new (`O_EXCL`), its owner's alone (mode 0600), hidden, and removed when its
//! [`OwnName`] is dropped: on success, on an error, on a panic. What a killed process leaves is
//! removed by the next one that makes such a file in the same folder ([`remove_leftovers`]).
//!
//! # Whose it is
//! A process holds a lock on its file (flock(2)) for as long as it is open. A file is swept only
//! if its name is one of ours (16 digits and what we work out from them), it is a regular file of
//! ours with one link and mode 0600, and its lock is free. Where a filesystem knows no locks
//! nothing is swept, and what stays is named.
//!
//! On a filesystem that may be another machine's too, a free lock says little, so there a file is
//! swept only if its name also has the [mark](mark_in) of this boot and this mount ([`Whose`]). On one
//! that this machine may export, what has another mark is swept when it is old. The others stay, and
//! are named.

use super::super::own_name::{Name, OwnName};
use diskfacts_engine::files::{Leftovers, Mark, Swept, Whose, mark_in, unused_for};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::{File, TryLockError};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

/// How its name begins; 16 hexadecimal digits follow, 8 that are worked out from them, and a
/// hyphen with the 16 of its [mark](mark_in), if it has one.
const PREFIX: &str = ".diskfacts-file-";
/// How often another name is tried.
const TRIES: u32 = 16;
/// For as long as somebody who sweeps may look at a file.
const NAP: Duration = Duration::from_millis(10);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
/// NFS locks only what is open for writing.
const OPEN: OFlags = OFlags::RDWR
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Filesystems on which fsync(2) does the same for a file without a name: the numbers that
/// statfs(2) has for ext2 to ext4, XFS and tmpfs. Neither `ext4_sync_file` nor
/// `xfs_file_fsync` looks at the links; in memory there is nothing to sync.
const SAME_WITHOUT_NAME: [u64; 3] = [0xEF53, 0x5846_5342, 0x0102_1994];

fn kind_of(filesystem: &rustix::fs::StatFs) -> u64 {
    // The type of `f_type` differs between architectures; the numbers have 32 bits.
    filesystem.f_type as u64 & 0xFFFF_FFFF
}

/// Whether a file in this folder has to have a name, to be synced as those of applications are.
pub(super) fn is_needed(folder: &Path) -> Result<bool, Errno> {
    let kind = kind_of(&rustix::fs::statfs(folder)?);
    Ok(!SAME_WITHOUT_NAME.contains(&kind))
}

/// Makes a file with a name, empty and locked, in the folder that messages call `shown`.
pub(super) fn create(folder: &Path, shown: &Path) -> Result<(File, OwnName), Errno> {
    let parent = openat(CWD, folder, FOLDER, Mode::empty())?;
    let mark = mark_in(&parent)?;
    let mut tries = 0;
    loop {
        tries += 1;
        let name = name_of(drawn(tries), mark);
        match claim(&parent, &name) {
            Ok(file) => {
                let path = shown.join(name.to_string_lossy().as_ref());
                let name = Name::of(&file, parent, name, path)?;
                return Ok((file, OwnName(name)));
            }
            // Somebody has it, or swept it away under our hands.
            Err(Errno::EXIST | Errno::NOENT | Errno::WOULDBLOCK) if tries < TRIES => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Makes the file whose name is drawn from this number, empty and locked; an error where it is
/// there already. It has no mark: others open it, who do not know that of its maker.
pub(in super::super) fn create_drawn(
    folder: &Path,
    shown: &Path,
    drawn: u64,
) -> Result<(File, OwnName), Errno> {
    let parent = openat(CWD, folder, FOLDER, Mode::empty())?;
    let name = name_of(drawn, None);
    let mut tries = 0;
    let file = loop {
        tries += 1;
        match claim(&parent, &name) {
            // Somebody who sweeps looked at it.
            Err(Errno::NOENT | Errno::WOULDBLOCK) if tries < TRIES => {
                std::thread::sleep(NAP);
            }
            claimed => break claimed?,
        }
    };
    let path = shown.join(name.to_string_lossy().as_ref());
    let name = Name::of(&file, parent, name, path)?;
    Ok((file, OwnName(name)))
}

/// Opens the file whose name is drawn from this number, which another host has made. It has to
/// be the regular file that [`create_drawn`] makes.
pub(in super::super) fn open_drawn(folder: &Path, drawn: u64) -> Result<File, Errno> {
    let parent = openat(CWD, folder, FOLDER, Mode::empty())?;
    let file: File = openat(&parent, name_of(drawn, None), OPEN, Mode::empty())?.into();
    let seen = fstat(&file)?;
    if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile || seen.st_nlink != 1 {
        return Err(Errno::NOENT);
    }
    Ok(file)
}

/// The name that is drawn from this number, for messages.
pub(in super::super) fn shown_name(drawn: u64) -> String {
    name_of(drawn, None).to_string_lossy().into_owned()
}

/// Makes the file under this name and locks it. On an error nothing of it is left.
fn claim(parent: &OwnedFd, name: &CStr) -> Result<File, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OPEN | OFlags::CREATE | OFlags::EXCL;
    let file: File = openat(parent, name, flags, mode)?.into();
    let locked = match file.try_lock() {
        Ok(()) => match fstat(&file) {
            Ok(seen) if seen.st_nlink == 0 => Err(Errno::NOENT),
            Ok(_) => Ok(()),
            Err(errno) => Err(errno),
        },
        // Somebody who sweeps holds it, and may remove it.
        Err(TryLockError::WouldBlock) => return Err(Errno::WOULDBLOCK),
        Err(TryLockError::Error(error)) => match errno_of(&error) {
            // No locks here: then nobody sweeps either.
            Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL => Ok(()),
            errno => Err(errno),
        },
    };
    if let Err(errno) = locked {
        // Fails where a sweep was here before; then nothing is left either.
        let _ = unlinkat(parent, name, AtFlags::empty());
        return Err(errno);
    }
    Ok(file)
}

/// Removes the files that killed processes left in `folder`; those that may be in use, and
/// whatever is not surely ours, stay.
pub(super) fn remove_leftovers(folder: &Path) -> Result<Leftovers, Errno> {
    let parent = openat(CWD, folder, FOLDER, Mode::empty())?;
    remove(&parent, Whose::of(&parent)?)
}

fn remove(parent: &OwnedFd, whose: Whose) -> Result<Leftovers, Errno> {
    let sweep = |parent: &OwnedFd, name: &CStr| sweep(parent, name, whose);
    Leftovers::sweep(parent, |name| ours(name).is_some(), sweep)
}

fn sweep(parent: &OwnedFd, name: &CStr, whose: Whose) -> Result<Swept, Errno> {
    let seen = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if let Some(why) = why_not_ours(&seen) {
        return Ok(Swept::NotOurs(why));
    }
    let file: File = openat(parent, name, OPEN, Mode::empty())?.into();
    if let Some(why) = why_not_ours(&fstat(&file)?) {
        return Ok(Swept::NotOurs(why));
    }
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Swept::InUse),
        Err(TryLockError::Error(error)) => return Err(errno_of(&error)),
    }
    let maker = ours(name).and_then(|ours| ours.mark);
    if let Some(why) = whose.why_not(maker, unused_for(&fstat(&file)?)) {
        return Ok(Swept::NotOurs(why));
    }
    // Its owner may have removed it before the lock was free.
    if fstat(&file)?.st_nlink == 1 {
        unlinkat(parent, name, AtFlags::empty())?;
        return Ok(Swept::Removed);
    }
    Ok(Swept::InUse)
}

fn why_not_ours(seen: &Stat) -> Option<&'static str> {
    if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile {
        Some("it is no regular file")
    } else if seen.st_uid != rustix::process::geteuid().as_raw() {
        Some("it belongs to another user")
    } else if Mode::from_raw_mode(seen.st_mode) != Mode::RUSR | Mode::WUSR {
        Some("others may use it")
    } else if seen.st_nlink > 1 {
        Some("it has a second name")
    } else {
        None
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Different in each process and each call.
fn drawn(tries: u32) -> u64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    let part = u64::from(std::process::id()) << 8 | u64::from(tries);
    diskfacts_plan::rng::Rng::for_part(now, part).next_u64()
}

/// The 8 digits behind the first 16 follow from these and the mark, so that nobody else's file has
/// such a name.
fn name_of(drawn: u64, mark: Option<Mark>) -> CString {
    let check = diskfacts_plan::rng::Rng::for_part(drawn, mark.unwrap_or(0)).next_u64() >> 32;
    let mark = mark.map_or_else(String::new, |mark| format!("-{mark:016x}"));
    CString::new(format!("{PREFIX}{drawn:016x}{check:08x}{mark}")).expect("no zero is in it")
}

/// What a name of ours says.
#[derive(Debug, PartialEq, Eq)]
struct Ours {
    mark: Option<Mark>,
}

/// What this name says; `None` where it is none of ours.
fn ours(name: &CStr) -> Option<Ours> {
    let digits = name.to_str().ok()?.strip_prefix(PREFIX)?;
    let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let drawn = number(digits.get(..16)?)?;
    let mark = match digits.get(24..)? {
        "" => None,
        mark => Some(number(mark.strip_prefix('-')?)?),
    };
    (name_of(drawn, mark).as_c_str() == name).then_some(Ours { mark })
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_testkit::Scratch;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// An empty folder, which is gone with the first.
    fn empty() -> (Scratch, PathBuf) {
        let scratch = Scratch::new().expect("a folder");
        let folder = scratch.join("files");
        fs::create_dir(&folder).expect("a folder in it");
        (scratch, folder)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn last(name: &OwnName) -> String {
        let name = name.0.path().file_name().expect("a name");
        name.to_string_lossy().into_owned()
    }

    /// A file as a killed process leaves it: with its name, and nobody's lock.
    fn left_behind(folder: &Path) -> String {
        let (file, name) = create(folder, folder).expect("a file");
        drop(file);
        let left = last(&name);
        std::mem::forget(name);
        left
    }

    #[test]
    fn the_file_is_its_owners_alone_and_gone_when_its_name_is_dropped() {
        let (_scratch, folder) = empty();
        let (file, name) = create(&folder, &folder).expect("a file");
        let mode = file.metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(names(&folder), [last(&name)]);
        drop(name);
        assert_eq!(names(&folder), Vec::<String>::new());
    }

    #[test]
    fn another_file_that_has_the_name_by_then_stays() {
        let (_scratch, folder) = empty();
        let (_file, name) = create(&folder, &folder).expect("a file");
        let at = name.0.path().to_owned();
        fs::rename(&at, folder.join("moved")).expect("another name");
        fs::write(&at, b"precious").expect("somebody's file");
        drop(name);
        assert_eq!(fs::read(&at).expect("it is there"), b"precious");
        assert_eq!(names(&folder).len(), 2);
    }

    #[test]
    fn a_panic_removes_the_name_too() {
        let (_scratch, folder) = empty();
        let there = folder.clone();
        let ended = std::thread::spawn(move || {
            let _made = create(&there, &there).expect("a file");
            panic!("as a broken invariant does");
        })
        .join();
        assert!(ended.is_err());
        assert_eq!(names(&folder), Vec::<String>::new());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_stays() {
        let (_scratch, folder) = empty();
        let left = left_behind(&folder);
        let (_file, used) = create(&folder, &folder).expect("a second file");
        let found = remove_leftovers(&folder).expect("a sweep");
        assert_eq!(found.removed, [left]);
        assert_eq!(found.kept, []);
        assert_eq!(names(&folder), [last(&used)]);
    }

    #[test]
    fn a_file_of_another_boot_or_of_a_client_stays_until_it_is_old() {
        let (_scratch, folder) = empty();
        let parent = openat(CWD, &folder, FOLDER, Mode::empty()).expect("a folder");
        let own = mark_in(&parent).expect("it is seen").expect("a boot");
        let whose = Whose::OfOneMachine(Some(own));
        let name = name_of(drawn(0), Some(own ^ 1));
        let file = claim(&parent, &name).expect("a file");
        file.unlock().expect("letting go of the lock");
        let shown = name.to_string_lossy().into_owned();
        let found = remove(&parent, whose).expect("a sweep");
        let why = Whose::MAY_BE_A_CLIENTS.to_owned();
        assert_eq!(
            (found.removed, found.kept),
            (vec![], vec![(shown.clone(), why)])
        );
        let nine_days = Duration::from_hours(9 * 24);
        let then = std::time::SystemTime::now() - nine_days;
        file.set_modified(then).expect("another time");
        let found = remove(&parent, whose).expect("a sweep");
        assert_eq!((found.removed, found.kept), (vec![shown], vec![]));
    }

    /// Where locks are local to a machine, those of others' living files are free.
    #[test]
    fn where_others_locks_may_not_be_seen_only_files_of_this_boot_and_mount_are_removed() {
        let (_scratch, folder) = empty();
        let parent = openat(CWD, &folder, FOLDER, Mode::empty()).expect("a folder");
        let own = mark_in(&parent).expect("it is seen").expect("a boot");
        let left = left_behind(&folder);
        let (_file, used) = create(&folder, &folder).expect("a second file");
        let made = |mark| {
            let name = name_of(drawn(0), mark);
            drop(claim(&parent, &name).expect("a file"));
            name.to_string_lossy().into_owned()
        };
        // As another machine, an earlier boot, or a group of hosts has made them.
        let mut others = [made(Some(own ^ 1)), made(None)];
        others.sort();
        let before = names(&folder);
        let found = remove(&parent, Whose::Marked(None)).expect("a sweep");
        assert_eq!((found.removed, found.kept.len()), (Vec::new(), 3));
        assert_eq!(names(&folder), before);
        let found = remove(&parent, Whose::Marked(Some(own))).expect("a sweep");
        assert_eq!(found.removed, [left]);
        assert_eq!(
            found.kept,
            others
                .clone()
                .map(|name| (name, Whose::MAY_BE_ANOTHERS.to_owned()))
        );
        let mut there = others.to_vec();
        there.push(last(&used));
        there.sort();
        assert_eq!(names(&folder), there);
    }

    #[test]
    fn what_is_not_surely_ours_stays_and_is_named() {
        let (_scratch, folder) = empty();
        let shared = left_behind(&folder);
        fs::set_permissions(folder.join(&shared), fs::Permissions::from_mode(0o644))
            .expect("rights");
        let linked = left_behind(&folder);
        fs::hard_link(folder.join(&linked), folder.join("a copy")).expect("a link");
        let inner = name_of(7, None).to_string_lossy().into_owned();
        fs::create_dir(folder.join(&inner)).expect("a folder");
        // Somebody's own file, whose name only looks like ours.
        let like_ours = format!("{PREFIX}{:024x}", 7);
        fs::write(folder.join(&like_ours), b"precious").expect("a file");
        let before = names(&folder);
        let found = remove_leftovers(&folder).expect("a sweep");
        assert_eq!(found.removed, Vec::<String>::new());
        let mut kept = found.kept;
        kept.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(
            kept,
            [
                (linked, "it has a second name".to_owned()),
                (inner, "it is no regular file".to_owned()),
                (shared, "others may use it".to_owned()),
            ]
        );
        assert_eq!(names(&folder), before);
    }

    #[test]
    fn a_name_of_ours_is_known_by_its_last_digits() {
        let is_ours = |name: &CStr| ours(name).is_some();
        for mark in [None, Some(0), Some(u64::MAX)] {
            assert_eq!(ours(&name_of(0, mark)), Some(Ours { mark }));
            assert_eq!(ours(&name_of(u64::MAX, mark)), Some(Ours { mark }));
        }
        for other in ["", "0", ".diskfacts-files-0123456789abcdef"] {
            assert!(!is_ours(&CString::new(other).expect("no zero")), "{other}");
        }
        for mark in [None, Some(9)] {
            let mut changed = name_of(5, mark).into_bytes();
            let last = changed.last_mut().expect("a digit");
            *last = if *last == b'0' { b'1' } else { b'0' };
            assert!(!is_ours(&CString::new(changed).expect("no zero")));
        }
    }
}
