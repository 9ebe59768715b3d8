//! The clock that a group is driven by, and how to wait for a moment of it.

use crate::settings::SPIN_NS;
use std::time::Duration;

/// A clock of one host, in nanoseconds since any moment; it never goes back.
pub trait Clock {
    /// Now.
    fn now_ns(&self) -> i64;
}

/// `CLOCK_MONOTONIC` of this host. It is slewed by NTP and never stepped.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

#[cfg(unix)]
impl Clock for Monotonic {
    fn now_ns(&self) -> i64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
}

/// Sleeps until [`SPIN_NS`] before a moment, spins until it is there, and says what the clock then
/// had. Nothing is waited for where the moment is over, or once `cancelled` says so, which is
/// asked each 10 ms.
pub fn wait_until(clock: &impl Clock, at_ns: i64, cancelled: impl Fn() -> bool) -> Option<i64> {
    loop {
        if cancelled() {
            return None;
        }
        let left = at_ns.saturating_sub(clock.now_ns()).saturating_sub(SPIN_NS);
        match u64::try_from(left) {
            Ok(left) if left > 0 => std::thread::sleep(Duration::from_nanos(left.min(10_000_000))),
            _ => break,
        }
    }
    loop {
        let now = clock.now_ns();
        if now >= at_ns {
            return Some(now);
        }
        std::hint::spin_loop();
    }
}
