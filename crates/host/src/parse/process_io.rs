//! `/proc/self/io`: what the kernel charged to a process.
//!
//! Source: kernel, `Documentation/filesystems/proc.rst` section 3.3,
//! `include/linux/task_io_accounting_ops.h`. The file of a process adds up all
//! its threads, those that ended too.

use super::{ParseError, lines};
use diskfacts_record::evidence::ProcessIo;

const FORMAT: &str = "io";

/// Reads `/proc/PID/io`.
///
/// # Errors
/// When a counter is no number, or one of `rchar`, `wchar`, `read_bytes`,
/// `write_bytes` and `cancelled_write_bytes` is missing (a kernel without
/// `CONFIG_TASK_IO_ACCOUNTING` has only the first two).
pub fn parse_process_io(bytes: &[u8]) -> Result<ProcessIo, ParseError> {
    let mut rchar = None;
    let mut wchar = None;
    let mut read_bytes = None;
    let mut write_bytes = None;
    let mut cancelled_write_bytes = None;
    let mut last = 0;
    for (index, line) in lines(bytes) {
        last = index;
        let Some((key, value)) = line.split_once(':') else {
            return Err(ParseError::at(FORMAT, index, "key: value", &line));
        };
        let counter = match key {
            "rchar" => &mut rchar,
            "wchar" => &mut wchar,
            "read_bytes" => &mut read_bytes,
            "write_bytes" => &mut write_bytes,
            "cancelled_write_bytes" => &mut cancelled_write_bytes,
            _ => continue,
        };
        let value = value
            .trim()
            .parse::<u64>()
            .map_err(|_| ParseError::at(FORMAT, index, "a counter", &line))?;
        *counter = Some(value);
    }
    let missing = |key| ParseError::at(FORMAT, last, key, "the end");
    Ok(ProcessIo {
        rchar: rchar.ok_or_else(|| missing("rchar"))?,
        wchar: wchar.ok_or_else(|| missing("wchar"))?,
        read_bytes: read_bytes.ok_or_else(|| missing("read_bytes"))?,
        write_bytes: write_bytes.ok_or_else(|| missing("write_bytes"))?,
        cancelled_write_bytes: cancelled_write_bytes
            .ok_or_else(|| missing("cancelled_write_bytes"))?,
    })
}
