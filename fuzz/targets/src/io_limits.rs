//! Limits on I/O of a control group: `io.max`, and `blkio.throttle.*`.

use crate::refusal;
use diskfacts_host::parse::io_limits::{parse_blkio_throttle, parse_io_max};
use diskfacts_record::evidence::LimitOf;

/// What is read as version 2, printed as the kernel prints it, is read as the same;
/// so is what is read as version 1.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_io_max(input) {
        Ok(limits) => {
            let lines = limits.iter().map(|limit| {
                let key = match limit.of {
                    LimitOf::ReadBytes => "rbps",
                    LimitOf::WriteBytes => "wbps",
                    LimitOf::Reads => "riops",
                    LimitOf::Writes => "wiops",
                };
                let (major, minor) = limit.device;
                format!("{major}:{minor} {key}={}\n", limit.per_s)
            });
            let text: String = lines.collect();
            assert_eq!(parse_io_max(text.as_bytes()), Ok(limits));
        }
        Err(error) => refusal::points_into(input, &error),
    }
    match parse_blkio_throttle(input, LimitOf::Reads) {
        Ok(limits) => {
            let lines = limits.iter().map(|limit| {
                let (major, minor) = limit.device;
                format!("{major}:{minor} {}\n", limit.per_s)
            });
            let text: String = lines.collect();
            let again = parse_blkio_throttle(text.as_bytes(), LimitOf::Reads);
            assert_eq!(again, Ok(limits));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
