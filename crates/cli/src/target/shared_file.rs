//! The files of a group of hosts that see one filesystem: made by one of them when all have
//! agreed, and opened by the others by a name that all of them can tell.
//!
//! It is a file of ours like any other with a name ([`named`]): new, its owner's alone, locked by
//! its maker and removed by it when the group has ended, since others may use it until then. What a killed maker
//! leaves, the next measurement in that folder removes where all who use it are on one machine.

use super::own_file::{named, no_space, refused, reserve, sweep};
use super::own_name::OwnName;
use super::{Measured, Medium, OpenFile, Part, size};
use crate::exit::{Failure, say};
use crate::storing;
use diskfacts_host::Place;
use rustix::io::Errno;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a name may take to be seen by another client of the filesystem. NFS looks a name up
/// that it has not asked for before; others may be slower.
const SEEN_WITHIN: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_millis(50);

/// What this host fills.
pub(crate) struct OwnPart {
    pub(crate) file: OpenFile,
    pub(crate) offset_bytes: u64,
    pub(crate) bytes: u64,
}

/// A file of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedFile {
    /// What its name is drawn from.
    pub(crate) drawn: u64,
    /// Who makes it, for messages.
    pub(crate) maker: u32,
    /// How long it is.
    pub(crate) bytes: u64,
}

/// A file of a group that this host has made; dropping it removes the name, and then gives the
/// lock up by which others know that it is in use. It is kept until the group has ended: on NFS
/// whoever else has it open loses it with its name.
pub(crate) struct MadeFile {
    name: OwnName,
    _lock: File,
}

impl MadeFile {
    /// Leaves it there, for hosts that go on without this one, and says so.
    pub(crate) fn stays(self) {
        let path = self.name.0.path().display().to_string();
        say(&left(&path));
        std::mem::forget(self.name);
    }
}

/// What is said of a file that stays, with the line to type.
fn left(path: &str) -> String {
    format!(
        "diskfacts: left {path}, which other hosts may still read; remove it when they have ended: \
         rm {}",
        storing::quoted(path)
    )
}

impl SharedFile {
    /// Makes it, with room for all of it.
    ///
    /// # Errors
    /// Where the folder takes no file, or has no room.
    pub(crate) fn make(self, place: &Place) -> Result<MadeFile, Failure> {
        let (reach, folder) = (place.reach(), &place.subject.path);
        let made = named::create_drawn(&reach, folder, self.drawn);
        let (file, name) = made.map_err(|errno| refused(folder, errno))?;
        reserve(&file, self.bytes).map_err(|errno| no_space(folder, self.bytes, errno))?;
        Ok(MadeFile { name, _lock: file })
    }

    /// Opens it, on any host.
    ///
    /// # Errors
    /// Where this host does not see it, or sees another length.
    pub(crate) fn open(self, place: &Place) -> Result<File, Failure> {
        let reach = place.reach();
        let began = Instant::now();
        let file = loop {
            match named::open_drawn(&reach, self.drawn) {
                Err(Errno::NOENT | Errno::STALE) if began.elapsed() < SEEN_WITHIN => {
                    std::thread::sleep(NAP);
                }
                opened => break opened,
            }
        };
        let file = file.map_err(|errno| self.not_seen(&place.subject.path, errno))?;
        let bytes = file.metadata().map_or(0, |seen| seen.len());
        if bytes == self.bytes {
            return Ok(file);
        }
        Err(Failure::failed(format!(
            "{} is {} here, and rank {} made it {}: this client sees an old state of it",
            self.path(&place.subject.path),
            size(bytes),
            self.maker,
            size(self.bytes)
        )))
    }

    fn path(self, folder: &Path) -> String {
        let path = folder.join(named::shown_name(self.drawn));
        path.display().to_string()
    }

    fn not_seen(self, folder: &Path, errno: Errno) -> Failure {
        let why = match errno {
            Errno::NOENT => {
                "it is not there, so this folder is not the one that rank made it in; name a folder \
                 of a filesystem that all hosts mount"
            }
            Errno::ACCESS | Errno::PERM => {
                "this host may not open it; start all ranks as one user, whom the server takes for \
                 the same one"
            }
            _ => "the filesystem may have lost its server",
        };
        Failure::failed(format!(
            "opening {}, which rank {} made, failed: {}; {why}",
            self.path(folder),
            self.maker,
            std::io::Error::from(errno)
        ))
    }
}

/// Removes what killed processes left in the folder, and says so: for whoever is about to make or
/// open files that hosts share.
///
/// # Errors
/// Where it cannot be looked for.
pub(crate) fn sweep_for_shared(place: &Place) -> Result<Vec<String>, Failure> {
    sweep(&place.reach(), &place.subject.path)
}

impl Measured {
    /// Puts the files of the group in the place of the stand-in: what this host uses, a part of
    /// a file of so many bytes, and what it fills.
    pub(crate) fn takes_part(
        &mut self,
        (used, of_used, file_bytes): (File, Range<u64>, u64),
        (filled, of_filled): (File, Range<u64>),
    ) {
        let Medium::File(stand_in) = &mut self.medium else {
            return;
        };
        let alignment = stand_in.alignment.clone();
        *stand_in = OpenFile::new(used, alignment.clone());
        stand_in.part = Some(Part {
            offset_bytes: of_used.start,
            file_bytes,
        });
        self.own_part = Some(OwnPart {
            file: OpenFile::new(filled, alignment),
            offset_bytes: of_filled.start,
            bytes: of_filled.end - of_filled.start,
        });
    }
}

/// Why a target is none that a group can make files in.
pub(super) fn no_shared_folder(given: &Path) -> Failure {
    Failure::wrong_call(format!(
        "--layout and --shift make files in a folder that all hosts share, and {} is none; name \
         such a folder, without --loop. To let all hosts read a file that exists, name it without \
         --layout",
        given.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn the_line_that_removes_a_file_can_be_typed() {
        assert!(left("/srv/a").ends_with("ended: rm /srv/a"));
        assert!(left("/srv/my disk;x").ends_with("ended: rm '/srv/my disk;x'"));
    }
}
