//! `/proc/swaps`: what memory is swapped to.
//!
//! Source: kernel, `mm/swapfile.c`. The path is escaped in octal (`seq_file_path` with
//! blank, tab, newline and backslash), and that of a removed file or node ends in
//! ` (deleted)`; a file whose name really ends so cannot be told from it.

use super::ParseError;
use super::mountinfo::unescape_bytes;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the kernel puts behind the path of what was removed.
const DELETED: &[u8] = b" (deleted)";

/// One swap area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The device or file, as it is named where swap was switched on, without the
    /// mark of a removed one.
    pub path: PathBuf,
    /// Whether the path has that mark: it may lead nowhere, or to another file.
    pub deleted: bool,
    /// `partition` for any block device, `file` for a file.
    pub kind: String,
    /// Size, KiB.
    pub size_kib: u64,
}

/// Reads `/proc/swaps`, whose first line is a heading.
///
/// # Errors
/// When a line has fewer than three columns, or its size is no number.
pub fn parse_swaps(bytes: &[u8]) -> Result<Vec<Swap>, ParseError> {
    const FORMAT: &str = "swaps";
    bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(index, line)| *index > 0 && !line.trim_ascii().is_empty())
        .map(|(index, line)| {
            let wrong = || {
                let found = String::from_utf8_lossy(line);
                ParseError::at(FORMAT, index, "path, type and size", &found)
            };
            let text = |column: &[u8]| String::from_utf8_lossy(column).into_owned();
            let mut columns = line
                .split(u8::is_ascii_whitespace)
                .filter(|column| !column.is_empty());
            let mut path = unescape_bytes(columns.next().ok_or_else(wrong)?);
            let kind = text(columns.next().ok_or_else(wrong)?);
            let size_kib = columns
                .next()
                .and_then(|size| text(size).parse().ok())
                .ok_or_else(wrong)?;
            let deleted = path.ends_with(DELETED);
            if deleted {
                path.truncate(path.len() - DELETED.len());
            }
            Ok(Swap {
                path: path_of(path),
                deleted,
                kind,
                size_kib,
            })
        })
        .collect()
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    OsString::from(String::from_utf8_lossy(&bytes).into_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Swap {
        let text = format!("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n{line}\n");
        parse_swaps(text.as_bytes())
            .expect("a table")
            .pop()
            .expect("an area")
    }

    #[test]
    fn a_name_is_read_with_the_blanks_and_backslashes_that_it_has() {
        // As Linux 6.18 wrote it.
        let swap = parsed("/tmp/sw\\040ap\\011a\\012b\\134c  file\t\t16380\t\t0\t\t-2");
        assert_eq!(swap.path, PathBuf::from("/tmp/sw ap\ta\nb\\c"));
        assert_eq!(
            (swap.deleted, &*swap.kind, swap.size_kib),
            (false, "file", 16380)
        );
    }

    #[test]
    fn a_removed_file_is_told_from_one_that_is_there() {
        let swap = parsed("/swap\\040(deleted) file 1020 0 -2");
        assert_eq!((swap.path, swap.deleted), (PathBuf::from("/swap"), true));
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_not_utf_8_stays_as_it_is() {
        use std::os::unix::ffi::OsStrExt;
        let text = b"Filename Type Size\n/sw\xff\xfeap file 1020 0 -2\n";
        let swaps = parse_swaps(text).expect("a table");
        assert_eq!(swaps[0].path.as_os_str().as_bytes(), b"/sw\xff\xfeap");
    }
}
