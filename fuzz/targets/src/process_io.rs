//! `/proc/PID/io`.

use crate::refusal;
use diskfacts_host::parse::process_io::parse_process_io;

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_process_io(input) {
        Ok(io) => {
            let text = format!(
                "rchar: {}\nwchar: {}\nsyscr: 1\nsyscw: 1\nread_bytes: {}\nwrite_bytes: {}\n\
                 cancelled_write_bytes: {}\n",
                io.rchar, io.wchar, io.read_bytes, io.write_bytes, io.cancelled_write_bytes
            );
            assert_eq!(parse_process_io(text.as_bytes()), Ok(io));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
