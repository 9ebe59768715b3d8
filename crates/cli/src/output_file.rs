//! Files that are there when they are whole: written beside the name, which they get by a
//! rename.

use crate::exit::{Failure, OrFail};
use crate::storing;
use anyhow::Context;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a file and gives it its name when all is on the disk: who sees the name sees the whole
/// file. Answers how many bytes it has.
///
/// # Errors
/// Where something is there already and is not to be replaced, where it cannot be written, and
/// what `write` fails with; the file is not there then, or as it was.
pub(crate) fn write(
    output: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut NamedTempFile) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    refuse(output, overwrite)?;
    let shown = output.display().to_string();
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".diskfacts-")
        // For who may read new files of this user.
        .permissions(PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::NotFound => "; there is no such folder",
                ErrorKind::PermissionDenied => "; this user may not write in its folder",
                _ => "",
            };
            // The name of a file that nobody asked for says nothing.
            let error = io::Error::from(error.kind());
            Failure::failed(format!("writing {shown} failed: {error}{hint}"))
        })?;
    // Who may read what is replaced may read what replaces it, and nobody else.
    if let Ok(before) = fs::metadata(output) {
        give_away(file.as_file(), &before)
            .with_context(|| format!("giving {shown} the permissions that it has failed"))
            .or_failed()?;
    }
    write(&mut file)?;
    let written = file.as_file();
    let bytes = written
        .sync_all()
        .and_then(|()| written.metadata())
        .with_context(|| format!("writing {shown} failed"))
        .or_failed()?
        .len();
    let named = if overwrite {
        file.persist(output)
    } else {
        file.persist_noclobber(output)
    };
    named.map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => exists(&shown),
        _ => Failure::failed(format!("writing {shown} failed: {}", error.error)),
    })?;
    Ok(bytes)
}

/// Gives a new file owner, group and mode of the one that it replaces, as far as this user may:
/// its group may do nothing with it where that is another one than before.
fn give_away(file: &File, before: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    let (owner, group) = (before.uid(), before.gid());
    if (new.uid(), new.gid()) != (owner, group) && fchown(file, Some(owner), Some(group)).is_err() {
        // Only root may give files away; to a group of one's own, everybody may.
        let _ = fchown(file, None, Some(group));
    }
    let keeps_group = file.metadata()?.gid() == group;
    let mode = mode_of(before.mode(), keeps_group);
    file.set_permissions(PermissionsExt::from_mode(mode))
}

/// The bits of a mode, without those of the group where that is another one.
fn mode_of(before: u32, keeps_group: bool) -> u32 {
    const GROUP: u32 = 0o070;
    let bits = before & 0o7777;
    if keeps_group { bits } else { bits & !GROUP }
}

/// What failing to write to something is told as. A reader that went away has seen what it
/// wanted.
///
/// # Errors
/// All but that.
pub(crate) fn told(error: &io::Error, shown: &str) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(Failure::failed(format!("writing {shown} failed: {error}"))),
    }
}

fn exists(shown: &str) -> Failure {
    Failure::wrong_call(format!(
        "{shown} exists already, and was left as it is; --overwrite replaces it"
    ))
}

/// Refuses what is no place for a file, before much is written for nothing.
fn refuse(output: &Path, overwrite: bool) -> Result<(), Failure> {
    let Ok(metadata) = fs::symlink_metadata(output) else {
        return Ok(());
    };
    let shown = output.display();
    if metadata.is_dir() {
        return Err(Failure::wrong_call(format!(
            "{shown} is a folder; name a file in it: -o {}",
            storing::quoted(&output.join("FILE").display().to_string())
        )));
    }
    if !overwrite {
        return Err(exists(&shown.to_string()));
    }
    if !metadata.is_file() {
        return Err(Failure::wrong_call(format!(
            "{shown} is no file that could be replaced; -o - writes to standard output"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::chown;

    /// Somebody else's ids, which need not have names.
    const OTHERS: (u32, u32) = (54_321, 54_322);

    #[test]
    fn what_replaces_a_file_belongs_to_whom_it_belonged() {
        diskfacts_testkit::or_skip!(diskfacts_testkit::require_root());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        fs::write(&path, "before").unwrap();
        chown(&path, Some(OTHERS.0), Some(OTHERS.1)).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let written = write(&path, true, |file| file.write_all(b"after").or_failed());
        assert_eq!(written.map_err(|failure| failure.sentence()), Ok(5));
        let after = fs::metadata(&path).unwrap();
        assert_eq!((after.uid(), after.gid()), OTHERS);
        assert_eq!(after.mode() & 0o7777, 0o640);
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    }

    #[test]
    fn a_group_that_is_another_one_may_do_nothing_that_the_first_might() {
        assert_eq!(mode_of(0o100_640, true), 0o640);
        assert_eq!(mode_of(0o100_640, false), 0o600);
        assert_eq!(mode_of(0o100_664, false), 0o604);
    }
}
