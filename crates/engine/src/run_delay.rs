//! How long threads were ready to run and had no processor: `/proc/thread-self/schedstat`.
//!
//! Source: kernel, `Documentation/scheduler/sched-stats.rst`: "time spent waiting on a
//! runqueue (in nanoseconds)" is its second number (`sched_info.run_delay`, with
//! `CONFIG_SCHED_INFO`; since 2.6.9 as `/proc/PID/schedstat`). It is of this thread alone,
//! where the pressure of `/proc/pressure/cpu` is of whoever waits on the machine.

use std::fs::File;
use std::io::{Read, Seek};

/// The account of one thread.
#[derive(Debug)]
pub struct RunDelay(File);

impl RunDelay {
    /// That of the calling thread; `None` where the kernel keeps none. Any thread of the
    /// process may read it, while the thread lives.
    pub fn of_this_thread() -> Option<Self> {
        let mut account = Self(File::open("/proc/thread-self/schedstat").ok()?);
        account.ns()?;
        Some(account)
    }

    /// Nanoseconds until now; `None` when the thread is gone.
    pub fn ns(&mut self) -> Option<u64> {
        // Three numbers of at most 20 digits.
        let mut bytes = [0; 64];
        self.0.rewind().ok()?;
        let length = self.0.read(&mut bytes).ok()?;
        parse_run_delay(&bytes[..length])
    }
}

/// Reads the waiting time out of a `schedstat` of a thread, ns; `None` when it is none.
pub fn parse_run_delay(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (ran, waited, slices) = (numbers.next()?, numbers.next()?, numbers.next()?);
    slices.ok()?;
    // Kernels without the accounting print zeros (`proc_pid_schedstat`), and a thread that
    // reads has run.
    let is_kept = ran.ok()? > 0 && numbers.next().is_none();
    waited.ok().filter(|_| is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_three_numbers_is_the_waiting() {
        assert_eq!(parse_run_delay(b"2741508 118164 17\n"), Some(118_164));
        for bad in ["", "0 0 0\n", "1 2\n", "1 x 3\n", "1 2 3 4\n", "-1 2 3\n"] {
            assert_eq!(parse_run_delay(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
