//! The file that a measurement in a folder makes for itself: without a name, so
//! that no crash leaves it behind, or with one where a file without would be synced
//! differently ([`named`]); filled with incompressible data, so that no
//! hole and no unwritten extent is read.

pub(super) mod named;

use super::{Measured, Medium, OwnName, Room, Wanted, measured, size};
use crate::exit::{Failure, OrFail};
use diskfacts_host::{Place, Space};
use diskfacts_record::TargetKind;
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Asked for when nothing else is said.
const DEFAULT_BYTES: u64 = 1 << 30;
/// Below this there is nothing worth measuring: a few blocks in any cache.
pub(super) const LEAST_BYTES: u64 = 4 << 20;
/// The file is whole pieces of this: the largest block of the survey.
pub(crate) const PIECE_BYTES: u64 = 1 << 20;
/// Filesystems that write what is overwritten to other blocks before they free the old ones: the
/// numbers that statfs(2) has for btrfs, ZFS and bcachefs. XFS copies only what files share, and
/// nobody shares this one.
const COPIES_ON_WRITE: [u64; 3] = [0x9123_683E, 0x2FC1_2FC1, 0xCA45_1A4E];
/// Left free for others: a twentieth of the filesystem, at least this.
const RESERVE_BYTES: u64 = 16 << 20;

/// Makes the file, empty and of full size; [`Filling`](super::Filling) gives it content. Where
/// other hosts have to agree first, it takes its room when they have ([`Measured::take_room`]).
pub(super) fn open(
    wanted: &Wanted<'_>,
    place: &Place,
    mount_point: Option<&str>,
) -> Result<Measured, Failure> {
    let (folder, reach) = (&place.subject.path, place.reach());
    let space = diskfacts_host::space(&reach).or_failed()?;
    if space.read_only {
        return Err(Failure::wrong_call(format!(
            "{} is on a filesystem that is mounted for reading only, so no file can be made there to measure. Name a file in it to measure reading, or remount it for writing: `mount -o remount,rw {}`",
            folder.display(),
            mount_point.unwrap_or("MOUNT_POINT")
        )));
    }
    let named = named::is_needed(&reach).map_err(|error| refused(folder, error))?;
    let swept = if named && wanted.room == Room::AtOnce {
        sweep(&reach, folder)?
    } else {
        Vec::new()
    };
    // What was swept took room.
    let space = diskfacts_host::space(&reach).or_failed()?;
    let option = if wanted.looped { "--loop" } else { "--size" };
    let times = wanted.shared.unwrap_or(1).max(1);
    let asked = Asked {
        bytes: wanted.size,
        times,
        rewritten_beside: wanted.writes && copies_on_write(&reach)?,
    };
    let (bytes, note) = choose_size(&asked, &space, folder, option)?;
    let (file, name) = create((&reach, folder), named).map_err(|error| refused(folder, error))?;
    match wanted.room {
        Room::WhenAgreed => rustix::fs::ftruncate(&file, bytes),
        Room::AtOnce => reserve(&file, bytes),
    }
    .map_err(|errno| no_space(folder, bytes, errno))?;
    let kind = TargetKind::Folder;
    let mut measured = measured(wanted, &place.subject, kind, file, bytes, true);
    measured.notes.extend(note);
    measured.notes.extend(swept);
    if let Some(name) = name.as_ref().filter(|_| wanted.shared.is_none()) {
        measured.notes.push(format!(
            "The file has a name here, {}, because on this filesystem one without would not be \
             synced as those of applications are; it is removed at the end.",
            name.0.path().display()
        ));
    }
    if let Medium::File(file) = &mut measured.medium {
        file.name = name;
    }
    Ok(measured)
}

impl Measured {
    /// What waits until all hosts of a group have agreed: what killed processes left in the folder
    /// is removed, and the file takes its room.
    ///
    /// # Errors
    /// Where it cannot be looked for, or others have taken the room by now.
    pub(crate) fn take_room(&mut self) -> Result<(), Failure> {
        let is_ours = matches!(self.target.kind, TargetKind::Folder | TargetKind::Loop);
        let (Some(place), Medium::File(open), true) = (&self.place, &self.medium, is_ours) else {
            return Ok(());
        };
        let (folder, reach) = (&place.subject.path, place.reach());
        if named::is_needed(&reach).map_err(|error| refused(folder, error))? {
            self.notes.extend(sweep(&reach, folder)?);
        }
        let file = self.under.as_ref().unwrap_or(&open.file);
        let beside = self.beside.as_ref();
        let beside = beside.map(|beside| (&beside.file.file, beside.size_bytes));
        for (file, bytes) in std::iter::once((file, self.target.size_bytes)).chain(beside) {
            reserve(file, bytes).map_err(|errno| no_space(folder, bytes, errno))?;
        }
        Ok(())
    }
}

/// Removes what killed processes left in the folder, and says so.
pub(super) fn sweep(reach: &Path, folder: &Path) -> Result<Vec<String>, Failure> {
    let found = named::remove_leftovers(reach).map_err(|errno| {
        Failure::failed(format!(
            "looking for what a killed diskfacts left in {} failed: {}; name another folder, or \
             a file to read",
            folder.display(),
            std::io::Error::from(errno)
        ))
    })?;
    let shown = folder.display();
    let removed = found
        .removed
        .iter()
        .map(|name| format!("Removed {shown}/{name}, which a killed diskfacts had left."));
    Ok(removed.chain(kept(folder, &found.kept)).collect())
}

/// What stays, and why: one sentence for each reason, which many hosts may give many files.
fn kept(folder: &Path, kept: &[(String, String)]) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, why) in kept {
        by_reason.entry(why).or_default().push(name);
    }
    let shown = folder.display();
    let sentence = |(why, names): (&str, Vec<&str>)| match *names {
        [name] => format!(
            "Left {shown}/{name} alone, though it has a name of diskfacts: {why}. If you know it \
             to be needless, remove it."
        ),
        _ => format!(
            "Left {} files in {shown} alone, though they have names of diskfacts, {} the first: of \
             each it is so that {why}. If you know one to be needless, remove it.",
            names.len(),
            names[0]
        ),
    };
    by_reason.into_iter().map(sentence).collect()
}

/// Whether what is overwritten in this folder goes to other blocks.
fn copies_on_write(reach: &Path) -> Result<bool, Failure> {
    let filesystem = rustix::fs::statfs(reach).or_failed()?;
    // The type of `f_type` differs between architectures; the numbers have 32 bits.
    Ok(COPIES_ON_WRITE.contains(&(filesystem.f_type as u64 & 0xFFFF_FFFF)))
}

/// What is wanted of the size of a file.
#[derive(Debug, Clone, Copy)]
struct Asked {
    /// Its size, if one was given.
    bytes: Option<u64>,
    /// How many such files lie on the filesystem.
    times: u32,
    /// Whether it is written anew while it measures, and to other blocks. Then as much again has
    /// to be free: an extent of which a part is left keeps all of its blocks.
    rewritten_beside: bool,
}

/// How large the file may be, and a note when that is less than usual.
fn choose_size(
    asked: &Asked,
    space: &Space,
    folder: &Path,
    option: &str,
) -> Result<(u64, Option<String>), Failure> {
    if space.total_bytes == 0 {
        return Err(Failure::wrong_call(format!(
            "{} is on a filesystem that states no room for files, as proc, sysfs and ramfs do; name a folder on a disk",
            folder.display()
        )));
    }
    let reserve = (space.total_bytes / 20)
        .max(RESERVE_BYTES)
        .min(space.total_bytes / 4);
    let Asked { times, .. } = *asked;
    let takes = u64::from(times) * if asked.rewritten_beside { 2 } else { 1 };
    let most = space.available_bytes.saturating_sub(reserve) / takes;
    let many = match times {
        1 => String::new(),
        times => format!("{times} times "),
    };
    let twice = if asked.rewritten_beside {
        ", and as much again for what is overwritten, which this filesystem writes elsewhere first"
    } else {
        ""
    };
    let rounded = |bytes: u64| bytes / PIECE_BYTES * PIECE_BYTES;
    let short = || {
        Failure::failed(format!(
            "{} has {} free, and {} of it stay free for others{twice}: too little for a file that is worth measuring. Make room, or name another folder",
            folder.display(),
            size(space.available_bytes),
            size(reserve)
        ))
    };
    if let Some(asked) = asked.bytes {
        if asked < LEAST_BYTES {
            return Err(Failure::wrong_call(format!(
                "{option} {} is too small to measure anything but caches; at least {}",
                size(asked),
                size(LEAST_BYTES)
            )));
        }
        if rounded(asked) > most {
            return Err(Failure::failed(format!(
                "{} has {} free, of which {} stay free for others{twice}: no room for {} {}. Ask for at most {option} {}",
                folder.display(),
                size(space.available_bytes),
                size(reserve),
                if times == 1 {
                    "a file of"
                } else {
                    many.trim_end()
                },
                size(asked),
                diskfacts_plan::units::exact_size(rounded(most))
            )));
        }
        return Ok((rounded(asked), None));
    }
    let bytes = rounded(DEFAULT_BYTES.min(most));
    if bytes < LEAST_BYTES {
        return Err(short());
    }
    let note = (bytes < DEFAULT_BYTES).then(|| {
        format!(
            "The file is {many}{} instead of {many}{}: {} has {} free, and {} of it stay free for others{twice}.",
            size(bytes),
            size(DEFAULT_BYTES),
            folder.display(),
            size(space.available_bytes),
            size(reserve)
        )
    });
    Ok((bytes, note))
}

/// A file without a name; or with one, where it has to have one or the filesystem
/// has no `O_TMPFILE`.
fn create((reach, folder): (&Path, &Path), named: bool) -> Result<(File, Option<OwnName>), Errno> {
    if !named {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
        match rustix::fs::open(reach, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((file.into(), None)),
            // EISDIR: a kernel before 3.11 takes it for opening the folder itself.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    let (file, name) = named::create(reach, folder)?;
    Ok((file, Some(name)))
}

pub(super) fn refused(folder: &Path, errno: Errno) -> Failure {
    let hint = match errno {
        Errno::ACCESS | Errno::PERM => {
            "you may not write there; name a folder of your own, or a file in it that you may read"
        }
        Errno::ROFS => {
            "the filesystem or this subvolume is read-only; name a file in it to measure reading"
        }
        Errno::NOSPC if has_no_inodes(folder) => {
            "no inodes left (`df -i`); remove files there, or name another folder"
        }
        Errno::NOSPC | Errno::DQUOT => {
            "no room, or your quota is used up; make room or name another folder"
        }
        _ => "name another folder, or a file to read",
    };
    let message = format!(
        "making a file in {} failed: {}; {hint}",
        folder.display(),
        std::io::Error::from(errno)
    );
    match errno {
        Errno::NOSPC | Errno::DQUOT => Failure::failed(message),
        _ => Failure::wrong_call(message),
    }
}

/// Whether the filesystem has a number of inodes, all of which are in use.
fn has_no_inodes(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|seen| seen.f_files > 0 && seen.f_ffree == 0)
}

pub(super) fn no_space(folder: &Path, bytes: u64, errno: Errno) -> Failure {
    let hint = match errno {
        Errno::FBIG => {
            "it is more than the largest file that `ulimit -f` or the filesystem allows; raise the \
             limit, or ask for less with --size"
        }
        _ => "ask for less with --size, or make room",
    };
    Failure::failed(format!(
        "reserving {} in {} failed: {}; {hint}. Nothing is left behind",
        size(bytes),
        folder.display(),
        std::io::Error::from(errno)
    ))
}

/// Takes the room at once, in as few extents as the filesystem can; or gives
/// the file its length only, where that is not possible.
pub(super) fn reserve(file: &File, bytes: u64) -> Result<(), Errno> {
    loop {
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return rustix::fs::ftruncate(file, bytes),
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_testkit::Scratch;
    use std::os::unix::fs::MetadataExt;

    fn space(total: u64, available: u64) -> Space {
        Space {
            total_bytes: total,
            available_bytes: available,
            ..Space::default()
        }
    }

    fn asked(bytes: Option<u64>, times: u32) -> Asked {
        Asked {
            bytes,
            times,
            rewritten_beside: false,
        }
    }

    #[test]
    fn where_what_is_overwritten_goes_elsewhere_as_much_again_stays_free() {
        let there = space(400 << 20, 336 << 20);
        let size = |bytes, times| {
            let asked = Asked {
                rewritten_beside: true,
                ..asked(bytes, times)
            };
            choose_size(&asked, &there, Path::new("/x"), "--size")
        };
        // A twentieth is for others, and of the rest the file takes the half.
        let (bytes, note) = size(None, 1).unwrap_or_else(|_| panic!("there is room"));
        assert_eq!(bytes, 158 << 20);
        let note = note.expect("it is smaller than usual");
        assert!(note.contains("158 MiB instead of 1 GiB"), "{note}");
        assert!(note.contains("and as much again for what is overwritten"));
        assert!(size(Some(158 << 20), 1).is_ok_and(|(bytes, _)| bytes == 158 << 20));
        assert!(size(Some(159 << 20), 1).is_err_and(|failure| {
            failure.sentence().contains("Ask for at most --size 158MiB")
        }));
        assert!(size(Some(158 << 20), 2).is_err());
        assert!(size(None, 2).is_ok_and(|(bytes, _)| bytes == 79 << 20));
        assert!(size(None, 50).is_err_and(|failure| failure.sentence().contains("as much again")));
    }

    #[test]
    fn until_others_agree_a_file_takes_no_room_and_nothing_is_removed() {
        // In memory, where there is room for it.
        let scratch = Scratch::inside(Path::new("/dev/shm")).or_else(|_| Scratch::new());
        let scratch = scratch.expect("a folder");
        let place = || Place::look(&scratch.join(".")).expect("it is there");
        let wanted = |shared| Wanted {
            given: Path::new("."),
            size: Some(LEAST_BYTES),
            looped: false,
            beside: false,
            writes: false,
            destroy_data_on: None,
            seed: 1,
            shared,
            room: Room::WhenAgreed,
        };
        let drawn = named::create_drawn(&scratch.join("."), Path::new("."), 7);
        let (file, name) = drawn.expect("a file");
        let left = scratch.join(&named::shown_name(7));
        // As one that was killed leaves it.
        drop(file);
        std::mem::forget(name);
        let blocks = |measured: &Measured| match &measured.medium {
            Medium::File(open) => open.file.metadata().expect("it is open").blocks(),
            Medium::Simulated(_) => 0,
        };
        for shared in [Some(2), None] {
            let opened = open(&wanted(shared), &place(), None);
            let mut measured = opened.unwrap_or_else(|why| panic!("{}", why.sentence()));
            assert_eq!((blocks(&measured), left.exists()), (0, true));
            if shared.is_none() {
                measured.place = Some(place());
                assert!(measured.take_room().is_ok());
                assert!(blocks(&measured) * 512 >= LEAST_BYTES);
            }
        }
        // It may have been removed already, where the file had to have a name.
        assert!(sweep(&place().reach(), Path::new(".")).is_ok() && !left.exists());
    }

    #[test]
    fn what_stays_for_one_reason_is_told_once() {
        let of = |name: &str, why: &str| (name.to_owned(), why.to_owned());
        let many = [of("a", "x"), of("b", "y"), of("c", "x")];
        let said = kept(Path::new("/f"), &many);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("Left 2 files in /f alone") && said[0].contains("a the first"));
        assert!(said[1].starts_with("Left /f/b alone") && said[1].contains(": y."));
    }

    #[test]
    fn a_file_is_as_large_as_usual_where_there_is_room() {
        let (bytes, note) = choose_size(
            &asked(None, 1),
            &space(100 << 30, 50 << 30),
            Path::new("/x"),
            "--size",
        )
        .unwrap_or_else(|_| panic!("there is room"));
        assert_eq!((bytes, note), (1 << 30, None));
    }

    #[test]
    fn a_smaller_file_says_so_and_leaves_a_reserve() {
        let (bytes, note) = choose_size(
            &asked(None, 1),
            &space(1 << 30, 512 << 20),
            Path::new("/x"),
            "--size",
        )
        .unwrap_or_else(|_| panic!("there is room"));
        assert_eq!(bytes, 460 << 20);
        assert!(note.is_some_and(|note| note.contains("460 MiB instead of 1 GiB")));
    }

    #[test]
    fn files_of_all_hosts_have_to_fit_together() {
        let there = space(100 << 30, 9 << 30);
        let size =
            |bytes, times| choose_size(&asked(bytes, times), &there, Path::new("/x"), "--size");
        // A twentieth stays free: 4 GiB are for them.
        assert!(size(Some(2 << 30), 2).is_ok_and(|(bytes, _)| bytes == 2 << 30));
        assert!(size(Some(2 << 30), 3).is_err_and(|failure| {
            let said = failure.sentence();
            said.contains("no room for 3 times 2 GiB") && said.contains("at most --size 1365MiB")
        }));
        let (bytes, note) = size(None, 8).unwrap_or_else(|_| panic!("there is room"));
        assert_eq!(bytes, 512 << 20);
        assert!(note.is_some_and(|note| note.contains("8 times 512 MiB instead of 8 times 1 GiB")));
    }

    #[test]
    fn too_little_room_and_too_small_a_size_are_refused() {
        assert!(
            choose_size(
                &asked(None, 1),
                &space(16 << 20, 6 << 20),
                Path::new("/x"),
                "--size"
            )
            .is_err()
        );
        assert!(
            choose_size(
                &asked(Some(8 << 30), 1),
                &space(8 << 30, 8 << 30),
                Path::new("/x"),
                "--size"
            )
            .is_err()
        );
        assert!(
            choose_size(
                &asked(Some(100), 1),
                &space(8 << 30, 8 << 30),
                Path::new("/x"),
                "--size"
            )
            .is_err()
        );
    }
}
