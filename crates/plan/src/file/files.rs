//! The keys of a stage that works on the files of a folder.

use super::FileError;
use super::fields::Fields;
use crate::files::Files;
use crate::units;
use crate::workload::Operation;
use std::fmt::Write as _;

/// The files of a stage; `None` for a stage on blocks.
pub(super) fn read(
    table: &mut Fields<'_>,
    operation: Operation,
) -> Result<Option<Files>, FileError> {
    let count = table.number("files")?;
    let size_min = table.size("file_size_min")?;
    let size_max = table.size("file_size_max")?;
    let folders = table.number("folders")?;
    if !operation.on_files() {
        let given = [
            ("files", count),
            ("file_size_min", size_min),
            ("file_size_max", size_max),
            ("folders", folders),
        ];
        let given = given.into_iter().find(|(_, value)| value.is_some());
        return match given {
            None => Ok(None),
            Some((key, _)) => Err(table.error_at(
                key,
                "only operation = \"create\", \"stat\" and \"delete\" take it",
            )),
        };
    }
    let default = Files::default();
    Ok(Some(Files {
        count: count.unwrap_or(default.count),
        size_min: size_min.unwrap_or(default.size_min),
        size_max: size_max.unwrap_or(default.size_max),
        folders: folders.unwrap_or(default.folders),
    }))
}

/// Prints the keys that do not have their default value, and how many files
/// there are in any case.
pub(super) fn print(out: &mut String, files: &Files) {
    let default = Files::default();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "files = {}", files.count);
    for (key, size, default) in [
        ("file_size_min", files.size_min, default.size_min),
        ("file_size_max", files.size_max, default.size_max),
    ] {
        if size != default {
            let _ = writeln!(out, "{key} = \"{}\"", units::exact_size(size));
        }
    }
    if files.folders != default.folders {
        let _ = writeln!(out, "folders = {}", files.folders);
    }
}
