//! Clock ticks, in which the kernel shows processor time.

/// Nanoseconds between two counts of ticks.
pub(super) fn nanoseconds(before: u64, after: u64) -> u64 {
    after
        .saturating_sub(before)
        .saturating_mul(1_000_000_000 / per_second())
}

#[cfg(unix)]
fn per_second() -> u64 {
    rustix::param::clock_ticks_per_second().clamp(1, 1_000_000_000)
}

#[cfg(not(unix))]
fn per_second() -> u64 {
    100
}
