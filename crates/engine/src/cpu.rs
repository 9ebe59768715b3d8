//! Processor time of the measuring threads.

/// Processor time in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cpu {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl Cpu {
    /// Of this process but for this thread: kernel workers that serve an
    /// `io_uring` are among it.
    pub(crate) fn of_others() -> Self {
        let all = usage(libc::RUSAGE_SELF);
        let own = usage(libc::RUSAGE_THREAD);
        Self {
            user_ns: all.user_ns.saturating_sub(own.user_ns),
            system_ns: all.system_ns.saturating_sub(own.system_ns),
        }
    }

    /// What was spent since an earlier reading.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }
}

fn usage(who: i32) -> Cpu {
    // SAFETY: rusage is plain numbers, for which all zero bytes are a value, and
    // getrusage fills exactly one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    };
    // Times that passed are never negative.
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Cpu {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    }
}

/// Processor time of this thread, nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // Times that passed are never negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
