//! Parsers of what the kernel writes, one format per file.
//!
//! They take bytes and open nothing. Fields that only newer kernels have are
//! `Option`, with the version that brought them. None of them panics, whatever
//! it is given.

pub mod cgroup;
pub mod cpu_quota;
pub mod cpuinfo;
pub mod diskstats;
pub mod dm_status;
pub mod group_memory;
pub mod io_limits;
pub mod journal;
pub mod md;
pub mod meminfo;
pub mod mountinfo;
pub mod mountstats;
pub mod os_release;
pub mod pressure;
pub mod process_io;
pub mod process_stat;
pub mod process_status;
pub mod stat;
pub mod swaps;
pub mod sysfs_value;
pub mod trace;
pub mod uptime;
pub mod vmstat;

/// Why bytes are not what a parser expects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{format}, line {line}: {expected} was expected, found `{found}`")]
pub struct ParseError {
    /// The format, `mountinfo`.
    pub format: &'static str,
    /// Number of the line, from 1.
    pub line: usize,
    /// What should have stood there.
    pub expected: &'static str,
    /// What stood there, at most 80 characters of it.
    pub found: String,
}

impl ParseError {
    /// At the line with index `index`, counted from 0.
    pub(crate) fn at(
        format: &'static str,
        index: usize,
        expected: &'static str,
        found: &str,
    ) -> Self {
        Self {
            format,
            line: index.saturating_add(1),
            expected,
            found: found.chars().take(80).collect(),
        }
    }
}

/// The lines of `bytes` with their index from 0, without empty ones. Bytes
/// that are not UTF-8 become U+FFFD: names may hold any byte, numbers do not.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, String)> + '_ {
    bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index, String::from_utf8_lossy(line).trim_end().to_owned()))
        .filter(|(_, line)| !line.is_empty())
}
