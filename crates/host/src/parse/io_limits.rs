//! Limits on I/O of a control group: `io.max`, and `blkio.throttle.*` of version 1.
//!
//! Source: kernel, `Documentation/admin-guide/cgroup-v2.rst` and
//! `cgroup-v1/blkio-controller.rst`. Devices without a limit have no line.

use super::sysfs_value::parse_device_number;
use super::{ParseError, lines};
use diskfacts_record::evidence::LimitOf;

/// A limit on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceLimit {
    /// Major and minor number of the device.
    pub device: (u32, u32),
    /// What it is on.
    pub of: LimitOf,
    /// So many per second.
    pub per_s: u64,
}

/// Reads `io.max`: `8:16 rbps=2097152 wbps=max riops=max wiops=120`. Keys that
/// are not known, and those without a limit (`max`), are left out.
///
/// # Errors
/// A line without a device, or with a limit that is no number.
pub fn parse_io_max(bytes: &[u8]) -> Result<Vec<DeviceLimit>, ParseError> {
    const FORMAT: &str = "io.max";
    let mut limits = Vec::new();
    for (index, line) in lines(bytes) {
        let mut words = line.split_ascii_whitespace();
        let device = words
            .next()
            .and_then(parse_device_number)
            .ok_or_else(|| ParseError::at(FORMAT, index, "MAJOR:MINOR KEY=LIMIT", &line))?;
        for word in words {
            let Some((key, limit)) = word.split_once('=') else {
                return Err(ParseError::at(FORMAT, index, "KEY=LIMIT", word));
            };
            let of = match key {
                "rbps" => LimitOf::ReadBytes,
                "wbps" => LimitOf::WriteBytes,
                "riops" => LimitOf::Reads,
                "wiops" => LimitOf::Writes,
                _ => continue,
            };
            if limit == "max" {
                continue;
            }
            let per_s = limit
                .parse()
                .map_err(|_| ParseError::at(FORMAT, index, "a number or max", word))?;
            limits.push(DeviceLimit { device, of, per_s });
        }
    }
    Ok(limits)
}

/// Reads one of the four files `blkio.throttle.{read,write}_{bps,iops}_device`:
/// lines of `8:16 1048576`.
///
/// # Errors
/// A line that is not a device and a number.
pub fn parse_blkio_throttle(bytes: &[u8], of: LimitOf) -> Result<Vec<DeviceLimit>, ParseError> {
    lines(bytes)
        .map(|(index, line)| {
            let limit = line.split_once(' ').and_then(|(device, limit)| {
                let device = parse_device_number(device)?;
                let per_s = limit.trim().parse().ok()?;
                Some(DeviceLimit { device, of, per_s })
            });
            limit.ok_or_else(|| ParseError::at("blkio.throttle", index, "MAJOR:MINOR LIMIT", &line))
        })
        .collect()
}
