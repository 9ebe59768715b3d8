//! A file or device that is there already: read, and written only when it was
//! named as what may be destroyed and nobody uses it.

use super::{Measured, Wanted, extents_of, measured, reach};
use crate::exit::{Failure, OrFail};
use anyhow::Context;
use directio::{Holder, OpenOptions};
use diskfacts_host::{
    Obstacle, ObstacleKind, Place, Roots, SubjectKind, Usage, usage_of, usage_while_held,
};
use diskfacts_record::TargetKind;
use std::fs::File;
use std::path::{Path, PathBuf};

/// `--destroy-data-on` must name what is measured, not something near it.
pub(super) fn same_target(named: &Path, target: &Place) -> Result<(), Failure> {
    let subject = &target.subject;
    if subject.kind == SubjectKind::Folder {
        return Err(Failure::wrong_call(format!(
            "{} is a folder: a measurement there makes its own file and destroys nothing; drop --destroy-data-on",
            subject.path.display()
        )));
    }
    let named = super::look(named)?;
    if named.is_same(target) {
        return Ok(());
    }
    Err(Failure::wrong_call(format!(
        "--destroy-data-on names {}, but the target is {}; nothing was written. Name the target itself, if its data may be destroyed",
        named.subject.path.display(),
        subject.path.display()
    )))
}

pub(super) fn open(wanted: &Wanted<'_>, place: &Place) -> Result<Measured, Failure> {
    let subject = &place.subject;
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
    let file = if writable {
        claim(place)?.file
    } else {
        let options = OpenOptions::new().read(true);
        let opened = options.open(place.reach());
        let doing = || format!("opening {} for reading", subject.path.display());
        opened.with_context(doing).or_wrong_call()?.file
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
    let mut measured = measured(wanted, subject, kind, file, size_bytes, writable);
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
pub(super) fn claim(place: &Place) -> Result<Claimed, Failure> {
    let (roots, subject) = (Roots::default(), &place.subject);
    let shown = subject.path.display();
    refuse_used(&usage_of(&roots, place).or_wrong_call()?)?;
    // A device is claimed before it is looked at for the last time, and for as long as
    // it is written: nobody can mount it in between.
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .exclusive(matches!(subject.kind, SubjectKind::BlockDevice { .. }))
        .open(place.reach())
        .with_context(|| format!("opening {shown} for writing"))
        .or_wrong_call()?;
    refuse_used(&usage_while_held(&roots, &opened.file, &subject.path).or_wrong_call()?)?;
    if !opened.granted.write {
        return Err(Failure::wrong_call(format!(
            "{shown} cannot be written: {}",
            opened.granted.write_refused.unwrap_or_default()
        )));
    }
    Ok(Claimed {
        path: reach(&opened.file),
        file: opened.file,
    })
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
        "{} is not written, despite --destroy-data-on:{}\nNothing was written. Without --destroy-data-on it is only read.",
        usage.path,
        obstacles.concat()
    )))
}

#[cfg(test)]
mod tests {
    use super::super::{Medium, look};
    use super::*;
    use diskfacts_plan::{CacheMode, Operation, Workload};
    use diskfacts_testkit::Scratch;
    use std::fs;
    use std::os::unix::fs::FileExt;

    const LENGTH: usize = 8192;

    fn wanted(target: &Path, writes: bool) -> Wanted<'_> {
        Wanted {
            given: target,
            size: None,
            looped: false,
            beside: false,
            writes,
            destroy_data_on: writes.then_some(target),
            seed: 1,
            shared: None,
            room: super::super::Room::AtOnce,
        }
    }

    /// A target of ones, which is exchanged for a file of twos: by a rename, or by a link
    /// to it.
    fn exchanged(scratch: &Scratch, linked: bool) -> impl FnOnce() {
        let [target, moved, victim] = ["target", "moved", "victim"].map(|name| scratch.join(name));
        fs::write(&target, [1; LENGTH]).expect("the target");
        fs::write(&victim, [2; LENGTH]).expect("another file");
        move || {
            fs::rename(&target, moved).expect("another name for the target");
            if linked {
                std::os::unix::fs::symlink(victim, target).expect("a link");
            } else {
                fs::rename(victim, target).expect("the name of the target");
            }
        }
    }

    /// The first byte that a stream of this operation finds.
    fn found(measured: &Measured, operation: Operation) -> (fs::File, u8) {
        let Medium::File(file) = &measured.medium else {
            panic!("it is a file");
        };
        let workload = Workload {
            operation,
            cache: CacheMode::Buffered,
            ..Workload::default()
        };
        let opened = file.stream_file(LENGTH as u64).open(&workload);
        let file = opened.expect("it is there").file;
        let mut byte = [0];
        file.read_exact_at(&mut byte, 0).expect("a byte");
        (file, byte[0])
    }

    #[test]
    fn what_was_looked_at_is_written_and_not_what_has_its_name_by_then() {
        for linked in [false, true] {
            let scratch = Scratch::new().expect("a folder");
            let (target, exchange) = (scratch.join("target"), exchanged(&scratch, linked));
            let place = look(&target).unwrap_or_else(|_| panic!("it is there"));
            exchange();
            let measured = open(&wanted(&target, true), &place);
            let measured = measured.unwrap_or_else(|failure| panic!("{}", failure.sentence()));
            let (file, byte) = found(&measured, Operation::Write);
            assert_eq!(byte, 1);
            file.write_all_at(&[3], 0).expect("a byte");
            assert_eq!(fs::read(&target).expect("the other file"), [2; LENGTH]);
            assert_eq!(fs::read(scratch.join("moved")).expect("the target")[0], 3);
        }
    }

    #[test]
    fn every_trial_reads_the_file_that_was_opened_first() {
        for linked in [false, true] {
            let scratch = Scratch::new().expect("a folder");
            let (target, exchange) = (scratch.join("target"), exchanged(&scratch, linked));
            let place = look(&target).unwrap_or_else(|_| panic!("it is there"));
            let measured = open(&wanted(&target, false), &place);
            let measured = measured.unwrap_or_else(|failure| panic!("{}", failure.sentence()));
            assert_eq!(found(&measured, Operation::Read).1, 1);
            exchange();
            assert_eq!(found(&measured, Operation::Read).1, 1);
        }
    }
}
