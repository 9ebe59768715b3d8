//! The files of a folder.

use crate::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How the name of a file of a fleet ends.
pub(crate) const ENDING: &str = "parquet";

/// The files of a fleet, in the order of their names, which is that in which they were begun.
/// Those that are being written have no such name yet.
///
/// # Errors
/// Where the folder cannot be read; one that is not there has no files.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("reading the folder", folder))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(Error::io("reading the folder", folder))?
            .path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.extension().is_some_and(|ending| ending == ENDING) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
