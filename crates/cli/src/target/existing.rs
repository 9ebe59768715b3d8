//! A file or device that is there already: read, and written only when it was
//! named as what may be destroyed and nobody uses it.

use super::{Measured, Wanted, extents_of, measured};
use crate::exit::{Failure, OrFail};
use directio::{Holder, OpenOptions};
use diskfacts_host::{
    Obstacle, ObstacleKind, Roots, Subject, SubjectKind, Usage, all_devices, usage,
    usage_while_held,
};
use diskfacts_record::TargetKind;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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
    let (kind, size_bytes) = if let SubjectKind::BlockDevice { .. } = subject.kind {
        (TargetKind::Device, None)
    } else {
        let metadata = std::fs::metadata(&subject.path).or_failed()?;
        (TargetKind::File, Some(metadata.len()))
    };
    if writable {
        if kind == TargetKind::Device {
            refuse_used(&usage(&Roots::default(), &subject.path).or_wrong_call()?)?;
        } else {
            refuse_used_file(subject)?;
        }
    }
    // The device is claimed before it is looked at for the last time, and for as
    // long as it is measured: nobody can mount it in between.
    let claimed = writable && kind == TargetKind::Device;
    let opened = OpenOptions::new()
        .read(true)
        .write(writable)
        .exclusive(claimed)
        .open(&subject.path)
        .or_wrong_call()?;
    if claimed {
        refuse_used(&usage_while_held(&Roots::default(), &subject.path).or_wrong_call()?)?;
    }
    let size_bytes = match size_bytes {
        Some(bytes) => bytes,
        None => directio::geometry(&opened.file).or_failed()?.size,
    };
    if size_bytes == 0 {
        return Err(Failure::wrong_call(format!(
            "{} is empty: there is nothing to read. To measure the disk below it, name its folder",
            wanted.given.display()
        )));
    }
    if writable && !opened.granted.write {
        return Err(cannot_be_written(subject, opened.granted.write_refused));
    }
    let file = opened.file;
    let extents = if kind == TargetKind::File {
        extents_of(&file)
    } else {
        None
    };
    let path = subject.path.clone();
    let mut measured = measured(wanted, subject, kind, file, path, size_bytes, writable);
    measured.target.extents = extents;
    Ok(measured)
}

/// What was named as what may be destroyed is taken for writing: refused while it
/// is in use or carries data, and a device claimed for as long as the file that is
/// answered stays open.
pub(super) fn claim(subject: &Subject) -> Result<Option<File>, Failure> {
    if !matches!(subject.kind, SubjectKind::BlockDevice { .. }) {
        refuse_used_file(subject)?;
        return Ok(None);
    }
    refuse_used(&usage(&Roots::default(), &subject.path).or_wrong_call()?)?;
    let claimed = OpenOptions::new()
        .read(true)
        .write(true)
        .exclusive(true)
        .open(&subject.path)
        .or_wrong_call()?;
    refuse_used(&usage_while_held(&Roots::default(), &subject.path).or_wrong_call()?)?;
    if !claimed.granted.write {
        return Err(cannot_be_written(subject, claimed.granted.write_refused));
    }
    Ok(Some(claimed.file))
}

fn cannot_be_written(subject: &Subject, why: Option<String>) -> Failure {
    Failure::wrong_call(format!(
        "{} cannot be written: {}",
        subject.path.display(),
        why.unwrap_or_default()
    ))
}

/// A device is refused while anybody uses it or it carries anything that looks
/// like data.
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
        "{} is not written, in spite of --destroy-data-on:{}\nNothing was written. Without --destroy-data-on the device is only read.",
        usage.path,
        obstacles.concat()
    )))
}

/// A file is refused while it is swapped to or seen as a loop device.
fn refuse_used_file(subject: &Subject) -> Result<(), Failure> {
    let same = |other: &str| {
        let here = std::fs::metadata(&subject.path);
        let there = std::fs::metadata(other);
        matches!((here, there), (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()))
    };
    let roots = Roots::default();
    let devices = all_devices(&roots).or_failed()?;
    let looped = devices
        .devices
        .iter()
        .find(|device| device.backing_file.as_deref().is_some_and(same));
    if let Some(device) = looped {
        return Err(Failure::wrong_call(format!(
            "{path} is not written, in spite of --destroy-data-on: the loop device {} stands on it. Detach it first: losetup --detach {}",
            device.path,
            device.path,
            path = subject.path.display()
        )));
    }
    let swaps = match std::fs::read_to_string("/proc/swaps") {
        // A kernel that cannot swap has no table of it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.or_failed()?,
    };
    let swapped = swaps
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .any(same);
    if swapped {
        return Err(Failure::wrong_call(format!(
            "{path} is not written, in spite of --destroy-data-on: memory is swapped to it. Stop that first: swapoff {path}",
            path = subject.path.display()
        )));
    }
    Ok(())
}
