//! The file that a measurement in a folder makes for itself: without a name, so
//! that no crash leaves it behind; filled with incompressible data, so that no
//! hole and no unwritten extent is read.

use super::{Measured, OpenFile, Wanted, extents_of, measured, size};
use crate::exit::{Failure, OrFail};
use crate::progress::Display;
use crate::signals::Signals;
use diskfacts_engine::{Progress, Trial, run_trial};
use diskfacts_host::{Space, Subject};
use diskfacts_plan::{CacheMode, Operation, Pattern, Stop, SyncMode, Values, Workload};
use diskfacts_record::{Target, TargetKind};
use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Asked for when nothing else is said.
const DEFAULT_BYTES: u64 = 1 << 30;
/// Below this there is nothing worth measuring: a few blocks in any cache.
const LEAST_BYTES: u64 = 4 << 20;
/// The file is whole pieces of this: the largest block of the survey.
const PIECE_BYTES: u64 = 1 << 20;
/// Left free for others: a twentieth of the filesystem, at least this.
const RESERVE_BYTES: u64 = 16 << 20;

/// Makes the file, empty and of full size; [`Filling`] gives it content.
pub(super) fn open(
    wanted: &Wanted<'_>,
    subject: &Subject,
    mount_point: Option<&str>,
) -> Result<Measured, Failure> {
    let folder = &subject.path;
    let space = diskfacts_host::space(folder).or_failed()?;
    if space.read_only {
        return Err(Failure::wrong_call(format!(
            "{} is on a filesystem that is mounted for reading only, so no file can be made there to measure. Name a file in it to measure reading, or remount it for writing: `mount -o remount,rw {}`",
            folder.display(),
            mount_point.unwrap_or("MOUNT_POINT")
        )));
    }
    let option = if wanted.looped { "--loop" } else { "--size" };
    let (bytes, note) = choose_size(wanted.size, &space, folder, option)?;
    let file = create(folder).map_err(|error| refused(folder, error))?;
    reserve(&file, bytes).map_err(|errno| no_space(folder, bytes, errno))?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let mut measured = measured(wanted, subject, TargetKind::Folder, file, path, bytes, true);
    measured.notes.extend(note);
    Ok(measured)
}

/// How large the file may be, and a note when that is less than usual.
fn choose_size(
    asked: Option<u64>,
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
    let most = space.available_bytes.saturating_sub(reserve);
    let rounded = |bytes: u64| bytes / PIECE_BYTES * PIECE_BYTES;
    let short = || {
        Failure::failed(format!(
            "{} has {} free, and {} of it stay free for others: too little for a file that is worth measuring. Make room, or name another folder",
            folder.display(),
            size(space.available_bytes),
            size(reserve)
        ))
    };
    if let Some(asked) = asked {
        if asked < LEAST_BYTES {
            return Err(Failure::wrong_call(format!(
                "{option} {} is too small to measure anything but caches; at least {}",
                size(asked),
                size(LEAST_BYTES)
            )));
        }
        if rounded(asked) > most {
            return Err(Failure::failed(format!(
                "{} has {} free, of which {} stay free for others: no room for a file of {}. Ask for at most {option} {}",
                folder.display(),
                size(space.available_bytes),
                size(reserve),
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
            "The file is {} instead of {}: {} has {} free, and {} of it stay free for others.",
            size(bytes),
            size(DEFAULT_BYTES),
            folder.display(),
            size(space.available_bytes),
            size(reserve)
        )
    });
    Ok((bytes, note))
}

/// A file without a name; or with one that is taken away at once, where the
/// filesystem has no `O_TMPFILE`.
fn create(folder: &Path) -> Result<File, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags | OFlags::TMPFILE, mode) {
        Ok(file) => return Ok(file.into()),
        // EISDIR: a kernel before 3.11 takes it for opening the folder itself.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
        Err(error) => return Err(error),
    }
    let name = format!(".diskfacts-{}", std::process::id());
    let path = folder.join(name);
    let file = rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
    rustix::fs::unlinkat(rustix::fs::CWD, &path, AtFlags::empty())?;
    Ok(file.into())
}

fn refused(folder: &Path, errno: Errno) -> Failure {
    let hint = match errno {
        Errno::ACCESS | Errno::PERM => {
            "you may not write there; name a folder of your own, or a file in it that you may read"
        }
        Errno::ROFS => {
            "the filesystem is mounted for reading only; name a file in it to measure reading"
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

fn no_space(folder: &Path, bytes: u64, errno: Errno) -> Failure {
    Failure::failed(format!(
        "reserving {} in {} failed: {}; ask for less with --size, or make room. Nothing is left behind",
        size(bytes),
        folder.display(),
        std::io::Error::from(errno)
    ))
}

/// Takes the room at once, in as few extents as the filesystem can; or gives
/// the file its length only, where that is not possible.
fn reserve(file: &File, bytes: u64) -> Result<(), Errno> {
    loop {
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return rustix::fs::ftruncate(file, bytes),
            other => return other,
        }
    }
}

/// Writing the whole file once, before anything is measured.
pub(crate) struct Filling<'a> {
    pub(crate) file: &'a OpenFile,
    pub(crate) target: &'a mut Target,
    pub(crate) notes: &'a mut Vec<String>,
    pub(crate) seed: u64,
    /// Content that can be checked, where a stage does.
    pub(crate) values: Option<Values>,
    /// Nanoseconds that it may take; a slower disk gets a smaller file.
    pub(crate) time_ns: u64,
}

impl Filling<'_> {
    /// Fills the file, and shortens it when that takes too long.
    pub(crate) fn run(mut self, signals: &Signals, display: &Display) -> Result<(), Failure> {
        let bytes = self.target.size_bytes;
        let workload = Workload {
            operation: Operation::Write,
            pattern: Pattern::Sequential,
            block_size: PIECE_BYTES,
            span: Some(bytes),
            queue_depth: 8,
            cache: CacheMode::Direct,
            sync: SyncMode::AtEnd,
            values: self.values,
            stop: Stop {
                bytes: Some(bytes),
                time_ns: Some(self.time_ns),
                ..Stop::default()
            },
            ..Workload::default()
        };
        let progress = Progress {
            stop: signals.stop(),
            ..Progress::default()
        };
        let trial = Trial {
            file: self.file.stream_file(bytes),
            workload: &workload,
            seed: self.seed,
        };
        let outcome = display
            .watch_filling(bytes, PIECE_BYTES, &progress, || {
                run_trial(trial, &progress, &mut ())
            })
            .or_failed()?;
        signals.check()?;
        if let Some(error) = outcome.error_counts.first() {
            return Err(Failure::failed(format!(
                "filling the file failed in {} at offset {}: {}. Nothing is left behind",
                error.operation, error.first_offset, error.message
            )));
        }
        let written = outcome.ops * PIECE_BYTES;
        if written < bytes {
            self.shorten(written, bytes)?;
        }
        self.target.extents = extents_of(&self.file.file);
        Ok(())
    }

    fn shorten(&mut self, written: u64, wanted: u64) -> Result<(), Failure> {
        if written < LEAST_BYTES {
            return Err(Failure::failed(format!(
                "only {} could be written in {}: too slow to measure in this time. Give it more with --time, or a smaller file with --size. Nothing is left behind",
                size(written),
                diskfacts_plan::units::show_duration(self.time_ns)
            )));
        }
        self.file.file.set_len(written).or_failed()?;
        self.target.size_bytes = written;
        self.notes.push(format!(
            "The file is {} instead of {}: filling it is given a third of the time, and this disk was not faster.",
            size(written),
            size(wanted)
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(total: u64, available: u64) -> Space {
        Space {
            total_bytes: total,
            available_bytes: available,
            ..Space::default()
        }
    }

    #[test]
    fn a_file_is_as_large_as_usual_where_there_is_room() {
        let (bytes, note) =
            choose_size(None, &space(100 << 30, 50 << 30), Path::new("/x"), "--size")
                .unwrap_or_else(|_| panic!("there is room"));
        assert_eq!((bytes, note), (1 << 30, None));
    }

    #[test]
    fn a_smaller_file_says_so_and_leaves_a_reserve() {
        let (bytes, note) =
            choose_size(None, &space(1 << 30, 512 << 20), Path::new("/x"), "--size")
                .unwrap_or_else(|_| panic!("there is room"));
        assert_eq!(bytes, 460 << 20);
        assert!(note.is_some_and(|note| note.contains("460 MiB instead of 1 GiB")));
    }

    #[test]
    fn too_little_room_and_too_small_a_size_are_refused() {
        assert!(choose_size(None, &space(16 << 20, 6 << 20), Path::new("/x"), "--size").is_err());
        assert!(
            choose_size(
                Some(8 << 30),
                &space(8 << 30, 8 << 30),
                Path::new("/x"),
                "--size"
            )
            .is_err()
        );
        assert!(
            choose_size(
                Some(100),
                &space(8 << 30, 8 << 30),
                Path::new("/x"),
                "--size"
            )
            .is_err()
        );
    }
}
