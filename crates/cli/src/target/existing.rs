//! A file or device that is there already: read, and written only when it was
//! named as what may be destroyed and nobody uses it.

use super::{Measured, Wanted, extents_of, measured};
use crate::exit::{Failure, OrFail};
use directio::{Holder, OpenOptions};
use diskfacts_host::{
    Obstacle, ObstacleKind, Roots, Subject, SubjectKind, Usage, usage, usage_while_held,
};
use diskfacts_record::TargetKind;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// `--destroy-data-on` must name what is measured, not something near it.
pub(super) fn same_target(named: &Path, subject: &Subject) -> Result<(), Failure> {
    if subject.kind == SubjectKind::Folder {
        return Err(Failure::wrong_call(format!(
            "{} is a folder: a measurement there makes its own file and destroys nothing; leave --destroy-data-on away",
            subject.path.display()
        )));
    }
    let named_real = super::look(named)?.path;
    if named_real == subject.path {
        return Ok(());
    }
    Err(Failure::wrong_call(format!(
        "--destroy-data-on names {}, but the target is {}; nothing was written. Name the target itself, if its data may be destroyed",
        named_real.display(),
        subject.path.display()
    )))
}

pub(super) fn open(wanted: &Wanted<'_>, subject: &Subject) -> Result<Measured, Failure> {
    if wanted.size.is_some() {
        return Err(Failure::wrong_call(format!(
            "--size is for the file that is made in a folder; {} has the size it has. To measure a part of it, give the stages of a plan file a span",
            subject.path.display()
        )));
    }
    let writable = wanted.writes && wanted.destroy_data_on.is_some();
    let kind = match subject.kind {
        SubjectKind::BlockDevice { .. } => TargetKind::Device,
        SubjectKind::File | SubjectKind::Folder => TargetKind::File,
    };
    let (file, path) = if writable {
        let Claimed { file, path } = claim(subject)?;
        (file, path)
    } else {
        let opened = OpenOptions::new()
            .read(true)
            .open(&subject.path)
            .or_wrong_call()?;
        (opened.file, subject.path.clone())
    };
    let size_bytes = match kind {
        TargetKind::File => file.metadata().or_failed()?.len(),
        _ => directio::geometry(&file).or_failed()?.size,
    };
    if size_bytes == 0 {
        return Err(Failure::wrong_call(format!(
            "{} is empty: there is nothing to read. To measure the disk below it, name its folder",
            wanted.given.display()
        )));
    }
    let extents = if kind == TargetKind::File {
        extents_of(&file)
    } else {
        None
    };
    let mut measured = measured(wanted, subject, kind, file, path, size_bytes, writable);
    measured.target.extents = extents;
    Ok(measured)
}

/// What may be written, open for reading and writing.
pub(super) struct Claimed {
    /// Nobody else can claim a device as long as this stays open.
    pub(super) file: File,
    /// By what it is opened again: whatever lies at its name by then, this leads to
    /// what was checked.
    pub(super) path: PathBuf,
}

/// What was named as what may be destroyed is taken for writing: refused while it
/// is in use, and a device while it carries data. The one way to what exists already
/// and is written.
pub(super) fn claim(subject: &Subject) -> Result<Claimed, Failure> {
    let roots = Roots::default();
    refuse_used(&usage(&roots, &subject.path).or_wrong_call()?)?;
    // A device is claimed before it is looked at for the last time, and for as long as
    // it is written: nobody can mount it in between.
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .exclusive(matches!(subject.kind, SubjectKind::BlockDevice { .. }))
        .open(&subject.path)
        .or_wrong_call()?;
    still_the_same(subject, &opened.file)?;
    refuse_used(&usage_while_held(&roots, &opened.file, &subject.path).or_wrong_call()?)?;
    if !opened.granted.write {
        return Err(Failure::wrong_call(format!(
            "{} cannot be written: {}",
            subject.path.display(),
            opened.granted.write_refused.unwrap_or_default()
        )));
    }
    Ok(Claimed {
        path: PathBuf::from(format!("/proc/self/fd/{}", opened.file.as_raw_fd())),
        file: opened.file,
    })
}

/// What was opened must be of the kind that was looked at, and the same device: another
/// kind is claimed in another way.
fn still_the_same(subject: &Subject, file: &File) -> Result<(), Failure> {
    let metadata = file.metadata().or_failed()?;
    let same = match subject.kind {
        SubjectKind::File => metadata.is_file(),
        SubjectKind::Folder => false,
        SubjectKind::BlockDevice { major, minor } => {
            let number = metadata.rdev();
            metadata.file_type().is_block_device()
                && (rustix::fs::major(number), rustix::fs::minor(number)) == (major, minor)
        }
    };
    if same {
        return Ok(());
    }
    Err(Failure::wrong_call(format!(
        "{} leads to something else than a moment ago; nothing was written. Name it again when \
         its name stays",
        subject.path.display()
    )))
}

/// A file or device is refused while anybody uses it, and a device that carries
/// anything that looks like data.
fn refuse_used(usage: &Usage) -> Result<(), Failure> {
    if usage.may_be_written() {
        return Ok(());
    }
    let mut obstacles: Vec<String> = usage
        .obstacles
        .iter()
        .map(|obstacle| format!("\n  {obstacle}"))
        .collect();
    let claimed = |obstacle: &Obstacle| obstacle.kind == ObstacleKind::Exclusive;
    if usage.obstacles.iter().any(claimed) {
        // One of the processes that have it open may be the one that claims it.
        let holders = directio::holders(&usage.path).unwrap_or_default();
        let process = |holder: &&Holder| matches!(holder, Holder::Process { .. });
        obstacles.extend(
            holders
                .iter()
                .filter(process)
                .map(|holder| format!("\n  {holder}")),
        );
    }
    Err(Failure::wrong_call(format!(
        "{} is not written, in spite of --destroy-data-on:{}\nNothing was written. Without --destroy-data-on it is only read.",
        usage.path,
        obstacles.concat()
    )))
}
