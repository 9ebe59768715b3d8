//! Files that are there when they are whole: written beside the name, which they get by a
//! rename.

use crate::exit::{Failure, OrFail};
use crate::storing;
use anyhow::Context;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
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
        file.as_file()
            .set_permissions(before.permissions())
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
