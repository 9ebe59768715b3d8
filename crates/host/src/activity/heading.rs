//! The processors as sysstat counts them for its first line.

use crate::roots::Roots;
use std::fs;

/// Processors that the system has, online or not: the folders `cpu0`, `cpu1`, ...
/// of sysfs, else the lines of `/proc/stat`; 0 where neither is there.
pub fn processors(roots: &Roots) -> u32 {
    let is_cpu = |name: &str| {
        let number = name.strip_prefix("cpu");
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    let folder = fs::read_dir(roots.sys.join("devices/system/cpu"));
    let folders = folder.into_iter().flatten().flatten();
    let counted = folders
        .filter(|entry| is_cpu(&entry.file_name().to_string_lossy()) && entry.path().is_dir())
        .count();
    let counted = if counted > 0 {
        counted
    } else {
        let stat = fs::read(roots.proc.join("stat")).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        stat.lines().filter(|line| is_cpu(line)).count()
    };
    u32::try_from(counted).unwrap_or(u32::MAX)
}
