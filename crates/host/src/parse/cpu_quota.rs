//! A control group's quota of processor time: `cpu.max` of version 2, `cpu.cfs_quota_us` and
//! `cpu.cfs_period_us` of version 1, and how often it was used up, `cpu.stat` of both.
//!
//! Source: kernel, `Documentation/admin-guide/cgroup-v2.rst`,
//! `Documentation/scheduler/sched-bwc.rst`; `cpu_cfs_stat_show` and `cpu_max_show` in
//! `kernel/sched/core.c`.

use super::{ParseError, lines};

const FORMAT: &str = "processor time of a control group";

/// So much processor time in each period, both in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Processor time, over all processors.
    pub quota_us: u64,
    /// The time in which it may be used; more than 0.
    pub period_us: u64,
}

/// What a quota did since its group was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Throttled {
    /// Periods in which something of the group ran.
    pub periods: u64,
    /// Of these, in which the quota was used up.
    pub throttled_periods: u64,
    /// Time for which the group was not let run, added up over the processors, ns.
    pub throttled_ns: u64,
}

/// Reads `cpu.max`: `max 100000` is no quota.
///
/// # Errors
/// When it is anything else than a quota and a period above 0.
pub fn parse_cpu_max(bytes: &[u8]) -> Result<Option<Quota>, ParseError> {
    let (index, line) = first(bytes)?;
    let bad = || ParseError::at(FORMAT, index, "a quota and a period in microseconds", &line);
    let (quota, period) = line.split_once(' ').ok_or_else(bad)?;
    let period_us = period.parse().ok().filter(|us| *us > 0).ok_or_else(bad)?;
    if quota == "max" {
        return Ok(None);
    }
    let quota_us = quota.parse().map_err(|_| bad())?;
    Ok(Some(Quota {
        quota_us,
        period_us,
    }))
}

/// Reads `cpu.cfs_quota_us` and `cpu.cfs_period_us`: a quota of -1 is none.
///
/// # Errors
/// When one of them is no such number.
pub fn parse_cfs_quota(quota: &[u8], period: &[u8]) -> Result<Option<Quota>, ParseError> {
    let (index, line) = first(quota)?;
    let bad = |index, line: &str| ParseError::at(FORMAT, index, "a number of microseconds", line);
    if line == "-1" {
        return Ok(None);
    }
    let quota_us = line.parse().map_err(|_| bad(index, &line))?;
    let (index, line) = first(period)?;
    let period_us = line.parse().ok().filter(|us| *us > 0);
    Ok(Some(Quota {
        quota_us,
        period_us: period_us.ok_or_else(|| bad(index, &line))?,
    }))
}

/// Reads `cpu.stat`, in which other lines stand too; without the controller there are none
/// of these, and all is 0.
///
/// # Errors
/// When one of these lines has no number.
pub fn parse_cpu_stat(bytes: &[u8]) -> Result<Throttled, ParseError> {
    let mut throttled = Throttled::default();
    for (index, line) in lines(bytes) {
        let (key, value) = line.split_once(' ').unwrap_or((&line, ""));
        let (field, scale) = match key {
            "nr_periods" => (&mut throttled.periods, 1),
            "nr_throttled" => (&mut throttled.throttled_periods, 1),
            "throttled_usec" => (&mut throttled.throttled_ns, 1000),
            "throttled_time" => (&mut throttled.throttled_ns, 1),
            _ => continue,
        };
        let value: u64 = value
            .parse()
            .map_err(|_| ParseError::at(FORMAT, index, "a number", &line))?;
        *field = value.saturating_mul(scale);
    }
    Ok(throttled)
}

fn first(bytes: &[u8]) -> Result<(usize, String), ParseError> {
    let mut lines = lines(bytes);
    let first = lines.next();
    first.ok_or_else(|| ParseError::at(FORMAT, 0, "a line", "the end"))
}
