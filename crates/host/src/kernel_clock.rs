//! How far the kernel's clock may be off from the time of the world, as its time daemon says.
//!
//! `adjtimex(2)` keeps an upper bound of the error (`maxerror`, NTP's root distance of RFC 5905):
//! the daemon sets it, and the kernel adds 500 parts per million of the time that passes after
//! that. At 16 seconds, or when no daemon has set anything since the boot, the clock is
//! unsynchronised (`STA_UNSYNC`; kernel/time/ntp.c). chrony and ntpd state what they measured;
//! systemd-timesyncd states 0 at each synchronisation, so what it says is a bound of the drift
//! only, and not of the path to its server. Nothing here sets a clock.

use std::fmt;
use std::io;

/// `TIME_ERROR` of `<linux/timex.h>`: the clock is not synchronised.
const TIME_ERROR: i32 = 5;
/// `STA_UNSYNC`: no daemon keeps the clock, or it has been silent for too long.
const STA_UNSYNC: i32 = 0x0040;
/// `STA_CLOCKERR`: the hardware of a reference clock failed.
const STA_CLOCKERR: i32 = 0x1000;

/// What the kernel says of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelClock {
    /// What the call answered: one of the `TIME_*` states, 0 to 5.
    pub state: i32,
    /// Flags, `STA_*`.
    pub status: i32,
    /// Upper bound of the error, microseconds.
    pub max_error_us: i64,
}

/// Why nothing is known of how far a clock is off.
#[derive(Debug)]
pub enum ClockUnknown {
    /// No daemon keeps it.
    Unsynchronised(KernelClock),
    /// The kernel does not answer.
    NoAnswer(io::Error),
}

impl fmt::Display for ClockUnknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsynchronised(clock) => write!(
                formatter,
                "the kernel says that this host's clock is not synchronised (adjtimex: state {}, \
                 status {:#06x}, error up to {} us)",
                clock.state, clock.status, clock.max_error_us
            ),
            Self::NoAnswer(error) => write!(
                formatter,
                "the kernel does not say how far this host's clock is off (adjtimex: {error}); a \
                 container may not be allowed to ask"
            ),
        }
    }
}

impl std::error::Error for ClockUnknown {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unsynchronised(_) => None,
            Self::NoAnswer(error) => Some(error),
        }
    }
}

impl KernelClock {
    /// Asks the kernel; needs no privilege.
    ///
    /// # Errors
    /// Where it does not answer: some filters of system calls, other systems than Linux.
    #[cfg(target_os = "linux")]
    pub fn read() -> io::Result<Self> {
        // SAFETY: all zeros is a value of this struct of integers, and `modes` of 0 sets nothing.
        let mut timex: libc::timex = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a whole `timex` that lives through the call.
        let state = unsafe { libc::adjtimex(&raw mut timex) };
        if state < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            state,
            status: timex.status,
            // It is a `long`, of 32 or 64 bits, or always 64 with other C libraries.
            #[allow(clippy::useless_conversion, reason = "of 32 bits on some systems")]
            max_error_us: timex.maxerror.into(),
        })
    }

    /// Asks the kernel; needs no privilege.
    ///
    /// # Errors
    /// Always, where this is not Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn read() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// How far it may be off, nanoseconds.
    ///
    /// # Errors
    /// When it is not synchronised, so that no bound is known.
    pub fn error_ns(self) -> Result<u64, ClockUnknown> {
        let is_lost = self.state == TIME_ERROR
            || self.status & (STA_UNSYNC | STA_CLOCKERR) != 0
            || self.max_error_us < 0;
        if is_lost {
            return Err(ClockUnknown::Unsynchronised(self));
        }
        Ok(self.max_error_us.unsigned_abs().saturating_mul(1000))
    }
}

/// How far this host's clock may be off, nanoseconds.
///
/// # Errors
/// When no bound is known, and why.
pub fn clock_error_ns() -> Result<u64, ClockUnknown> {
    KernelClock::read()
        .map_err(ClockUnknown::NoAnswer)?
        .error_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: KernelClock = KernelClock {
        state: 0,
        status: 0x2001,
        max_error_us: 1_234,
    };

    #[test]
    fn a_clock_that_is_kept_is_off_by_what_its_daemon_says_at_most() {
        assert_eq!(KEPT.error_ns().expect("a bound"), 1_234_000);
        let at_once = KernelClock {
            max_error_us: 0,
            ..KEPT
        };
        assert_eq!(at_once.error_ns().expect("a bound"), 0);
        let absurd = KernelClock {
            max_error_us: i64::MAX,
            ..KEPT
        };
        assert_eq!(absurd.error_ns().expect("a bound"), u64::MAX);
    }

    #[test]
    fn of_a_clock_that_nobody_keeps_no_bound_is_known() {
        for lost in [
            KernelClock { state: 5, ..KEPT },
            KernelClock {
                status: 0x2001 | 0x40,
                ..KEPT
            },
            KernelClock {
                status: 0x1000,
                ..KEPT
            },
            KernelClock {
                max_error_us: -1,
                ..KEPT
            },
        ] {
            let why = lost.error_ns().expect_err("no bound").to_string();
            assert!(why.contains("not synchronised"), "{why}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_answers_with_a_state_that_is_documented() {
        match KernelClock::read() {
            Ok(clock) => assert!((0..=5).contains(&clock.state), "{clock:?}"),
            // Where a filter forbids it, it says so.
            Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
        }
    }
}
