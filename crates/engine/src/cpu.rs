//! Processor time of the measuring threads.

use rustix::time::{ClockId, clock_gettime};

/// What the threads of this process but for the calling one have spent so far: kernel
/// workers that serve an `io_uring` are among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cpu {
    /// The scheduler's own clock. Threads that run at this moment are in it as of the
    /// last timer tick (kernel: `thread_group_cputime` in `kernel/sched/cputime.c`).
    total_ns: u64,
    /// The split, which the kernel scales from what ran at timer ticks (`cputime_adjust`
    /// there): 0 and 0 where no tick fell into it.
    user_ns: u64,
    system_ns: u64,
}

/// Processor time that was spent between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Nanoseconds outside the kernel.
    pub(crate) user_ns: u64,
    /// Nanoseconds inside the kernel.
    pub(crate) system_ns: u64,
}

impl Cpu {
    /// Until now.
    pub(crate) fn of_others() -> Self {
        let (all, own) = (split(libc::RUSAGE_SELF), split(libc::RUSAGE_THREAD));
        Self {
            total_ns: clock_ns(ClockId::ProcessCPUTime).saturating_sub(thread_cpu_ns()),
            user_ns: all.0.saturating_sub(own.0),
            system_ns: all.1.saturating_sub(own.1),
        }
    }

    /// What was spent since an earlier reading: not less than `streams_ns`, which the
    /// threads that served streams counted themselves, while some of them may still be
    /// ending.
    ///
    /// How much it is comes from clocks, and only how it is split from samples: a short
    /// trial, into which no timer tick fell, has spent some time too. What no sample
    /// splits counts as outside the kernel, as the kernel itself has it.
    pub(crate) fn since(self, before: Self, streams_ns: u64) -> Spent {
        let total_ns = self
            .total_ns
            .saturating_sub(before.total_ns)
            .max(streams_ns);
        let user_ns = self.user_ns.saturating_sub(before.user_ns);
        let system_ns = self.system_ns.saturating_sub(before.system_ns);
        let sampled_ns = user_ns.saturating_add(system_ns).max(1);
        let in_kernel = u128::from(total_ns) * u128::from(system_ns) / u128::from(sampled_ns);
        // A share of `total_ns`, so it fits.
        let system_ns = in_kernel as u64;
        Spent {
            user_ns: total_ns - system_ns,
            system_ns,
        }
    }
}

fn usage(who: i32) -> libc::rusage {
    // SAFETY: rusage is plain numbers, for which all zero bytes are a value, and
    // getrusage fills exactly one.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    }
}

/// Time outside and inside the kernel, nanoseconds.
fn split(who: i32) -> (u64, u64) {
    let usage = usage(who);
    // Times that passed are never negative.
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

/// Faults of this thread for which a page had to be read in.
pub(crate) fn major_faults() -> i64 {
    usage(libc::RUSAGE_THREAD).ru_majflt
}

/// Processor time of this thread, nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Times that passed are never negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Cpu = Cpu {
        total_ns: 0,
        user_ns: 0,
        system_ns: 0,
    };

    #[test]
    fn time_into_which_no_tick_fell_is_not_lost() {
        let spent = Cpu {
            total_ns: 700_000,
            ..NOTHING
        }
        .since(NOTHING, 0);
        assert_eq!((spent.user_ns, spent.system_ns), (700_000, 0));
    }

    #[test]
    fn what_a_stream_counted_is_spent_though_its_thread_is_still_ending() {
        let spent = NOTHING.since(NOTHING, 90_000);
        assert_eq!((spent.user_ns, spent.system_ns), (90_000, 0));
    }

    #[test]
    fn samples_split_what_the_clock_counted() {
        let spent = Cpu {
            total_ns: 1_000_000,
            user_ns: 3_000_000,
            system_ns: 9_000_000,
        }
        .since(NOTHING, 0);
        assert_eq!((spent.user_ns, spent.system_ns), (250_000, 750_000));
    }
}
