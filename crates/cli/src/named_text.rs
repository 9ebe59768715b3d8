//! Texts that somebody names: plans, profiles, traces. A regular file or a pipe is read, and
//! only so much of it: what has no end would fill the memory.

use crate::exit::{Failure, OrFail};
use anyhow::Context;
use diskfacts_plan::units::show_size;
use rustix::fs::FileType;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A plan or a profile has some kilobytes.
pub(crate) const TEXT_BYTES_MAX: u64 = 16 << 20;
/// The trace of an hour of reading has about a hundred megabytes.
pub(crate) const TRACE_BYTES_MAX: u64 = 512 << 20;

/// Reads it whole; `what` it is, as `the plan file my.toml`, and `hint` what else could be
/// named, go into errors.
pub(crate) fn read_bytes(
    path: &Path,
    (what, hint): (&str, &str),
    bytes_max: u64,
) -> Result<Vec<u8>, Failure> {
    let cannot = || format!("{what} cannot be read{hint}");
    let refused = |why: &str| Failure::wrong_call(format!("{what} cannot be read: {why}{hint}"));
    // Before it is opened, which may wait for a device or wind a tape.
    let metadata = std::fs::metadata(path)
        .with_context(cannot)
        .or_wrong_call()?;
    match FileType::from_raw_mode(metadata.mode()) {
        // Reading a folder fails by itself.
        FileType::RegularFile | FileType::Fifo | FileType::Directory => {}
        _ => {
            return Err(refused(
                "it is neither a file nor a pipe, and may have no end",
            ));
        }
    }
    let too_long = || {
        refused(&format!(
            "it has more than {}, which no such text has",
            show_size(bytes_max)
        ))
    };
    if metadata.is_file() && metadata.len() > bytes_max {
        return Err(too_long());
    }
    let file = File::open(path).with_context(cannot).or_wrong_call()?;
    let mut bytes = Vec::new();
    // It may have grown since, and a pipe has no length.
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)
        .or_wrong_call()?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_long());
    }
    Ok(bytes)
}

/// The same of a plan or a profile.
pub(crate) fn read_text(path: &Path, what: &str, hint: &str) -> Result<String, Failure> {
    let bytes = read_bytes(path, (what, hint), TEXT_BYTES_MAX)?;
    String::from_utf8(bytes)
        .with_context(|| format!("{what} cannot be read: it is no text in UTF-8{hint}"))
        .or_wrong_call()
}
