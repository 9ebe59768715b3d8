//! The reports of `diskfacts iostat`, in the styles of other programs, and the
//! same columns of the trials of a run.
//!
//! The `linux` styles are sysstat's to the character: see
//! [`formats::iostat_linux`](crate::formats::iostat_linux) for the columns and
//! their source, and [`device_rates`](diskfacts_facts::device_rates) for the
//! arithmetic. The style for people is [`text::iostat`](crate::text::iostat()).

mod json;
mod linux;
mod solaris;
mod trials;

pub(crate) use linux::row;
pub use trials::{has_trials, trials};

use diskfacts_record::Activity;

/// Whose lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// sysstat since 12.1.
    Linux,
    /// `iostat -x` of sysstat 10 and 11, with `avgrq-sz` and `svctm`.
    LinuxClassic,
    /// `iostat -xn` of Solaris; with `-M` where told so.
    Solaris {
        /// Bytes in units of 2^20 instead of 2^10.
        megabytes: bool,
    },
    /// `iostat -o JSON` of sysstat since 12.1.
    Json,
}

/// What of a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Whose lines.
    pub dialect: Dialect,
    /// sysstat's report without `-x`: transfers and kilobytes. Of the dialects
    /// `Linux` and `Json`.
    pub basic: bool,
    /// The processors' block before the devices. Solaris has none.
    pub cpu: bool,
}

/// The machine, as the first line of sysstat names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heading {
    /// Name of the operating system, `Linux`.
    pub system: String,
    /// Version of its kernel.
    pub release: String,
    /// Name of the host.
    pub host: String,
    /// Architecture, `x86_64`.
    pub architecture: String,
    /// Processors.
    pub cpus: u32,
    /// The day, as it is to be printed.
    pub date: String,
}

/// What stands before the first report.
pub fn opening(parts: Parts, heading: &Heading) -> String {
    match parts.dialect {
        Dialect::Linux | Dialect::LinuxClassic => linux::opening(heading),
        Dialect::Solaris { .. } => String::new(),
        Dialect::Json => json::opening(heading),
    }
}

/// One report.
pub fn report(parts: Parts, activity: &Activity) -> String {
    match parts.dialect {
        Dialect::Linux | Dialect::LinuxClassic => linux::report(parts, activity),
        Dialect::Solaris { megabytes } => solaris::report(megabytes, activity),
        Dialect::Json => json::report(parts, activity),
    }
}

/// What stands behind a report: before another one, or at the end.
pub fn after(parts: Parts, another: bool) -> &'static str {
    match parts.dialect {
        Dialect::LinuxClassic | Dialect::Solaris { .. } => "",
        Dialect::Json if another => ",\n",
        Dialect::Linux | Dialect::Json => "\n",
    }
}

/// What stands behind the last report and what is [`after`] it.
pub fn closing(parts: Parts) -> &'static str {
    match parts.dialect {
        Dialect::Json => json::CLOSING,
        _ => "",
    }
}

/// The shares of the processors' time in percent, in sysstat's order: user, nice,
/// system, iowait, steal, idle.
fn cpu_percents(activity: &Activity) -> [f64; 6] {
    let cpu = &activity.cpu;
    [
        cpu.user, cpu.nice, cpu.system, cpu.iowait, cpu.steal, cpu.idle,
    ]
    .map(|ticks| ticks as f64 / cpu.total as f64 * 100.0)
}
