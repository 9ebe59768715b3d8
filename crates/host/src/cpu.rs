//! Processor time of a thread or of the whole process.

use crate::error::Error;

/// Whose processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuScope {
    /// Of the calling thread.
    Thread,
    /// Of the whole process, with threads that ended and with those that the
    /// kernel runs in its name (`io_uring` workers).
    Process,
}

/// Processor time used since the thread or process began.
///
/// `user_ns` and `system_ns` are getrusage(2)'s: their sum is exact to the
/// microsecond, but on most kernels the split between them is scaled from
/// samples at each timer tick (kernel: `cputime_adjust` in
/// `kernel/sched/cputime.c`), and so is only good over many ticks, that is over
/// a tenth of a second and more. `total_ns` is the scheduler's own clock
/// (`CLOCK_THREAD_CPUTIME_ID`, `CLOCK_PROCESS_CPUTIME_ID`). None of them holds
/// the time of interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Nanoseconds outside the kernel.
    pub user_ns: u64,
    /// Nanoseconds inside the kernel.
    pub system_ns: u64,
    /// Nanoseconds in all.
    pub total_ns: u64,
}

impl CpuTimes {
    /// The time used until now.
    ///
    /// # Errors
    /// When this system does not tell, as Windows or, for a thread, macOS.
    pub fn now(scope: CpuScope) -> Result<Self, Error> {
        imp::now(scope)
    }

    /// What was used since `earlier`. Never negative: the split between user
    /// and system may be corrected backwards by the kernel.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            total_ns: self.total_ns.saturating_sub(earlier.total_ns),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
mod imp {
    use super::{CpuScope, CpuTimes, Error};
    use rustix::time::{ClockId, clock_gettime};
    use std::io;
    use std::mem::MaybeUninit;

    pub(super) fn now(scope: CpuScope) -> Result<CpuTimes, Error> {
        let (who, clock) = match scope {
            CpuScope::Thread => (libc::RUSAGE_THREAD, ClockId::ThreadCPUTime),
            CpuScope::Process => (libc::RUSAGE_SELF, ClockId::ProcessCPUTime),
        };
        let total = clock_gettime(clock);
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the kernel fills the structure, which lives here.
        let result = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
        if result != 0 {
            return Err(Error::System {
                doing: "asking getrusage for",
                on: "processor time".to_owned(),
                hint: "a seccomp profile may forbid it".to_owned(),
                source: io::Error::last_os_error(),
            });
        }
        // SAFETY: the call succeeded, so that the structure is filled.
        let usage = unsafe { usage.assume_init() };
        // Times since the start are never negative.
        let microseconds = |time: libc::timeval| {
            (time.tv_sec as u64)
                .saturating_mul(1_000_000_000)
                .saturating_add((time.tv_usec as u64).saturating_mul(1_000))
        };
        Ok(CpuTimes {
            user_ns: microseconds(usage.ru_utime),
            system_ns: microseconds(usage.ru_stime),
            total_ns: (total.tv_sec as u64)
                .saturating_mul(1_000_000_000)
                .saturating_add(total.tv_nsec as u64),
        })
    }
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
mod imp {
    use super::{CpuScope, CpuTimes, Error};

    pub(super) fn now(_: CpuScope) -> Result<CpuTimes, Error> {
        Err(Error::NotHere {
            doing: "asking for the processor time of a thread",
            why: "diskfacts has no code for it yet",
        })
    }
}
