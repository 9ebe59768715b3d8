//! Copies a file past the page cache, whatever its length, and durably.

use std::path::Path;

use directio::{Direct, DirectFile, Error, OpenOptions, sync_all, sync_name};

/// How much is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// Copies `from` to `to`, which is made or emptied; the bytes copied.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<u64, Error> {
    let input = OpenOptions::new().read(true).direct(Direct::IfPossible);
    let input = DirectFile::new(input.open(from)?)?;
    let output = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .direct(Direct::IfPossible);
    let output = DirectFile::new(output.open(to)?)?;

    // One buffer that suits both ends.
    let rule = input.alignment().union(output.alignment());
    let mut buffer = rule.buffer(CHUNK)?;
    let mut copied = 0;
    loop {
        let read = input.read_at(&mut buffer, copied)?;
        // Whole blocks, but for the last piece, which may have any length.
        output.write_all_at(&buffer[..read], copied)?;
        copied += read as u64;
        if read < buffer.len() {
            break;
        }
    }
    sync_all(&output)?;
    sync_name(to)?;
    Ok(copied)
}
