//! Times in which no thread of this process ran, though none lacked a processor: the process
//! was stopped (`SIGSTOP`, a debugger, the freezer of a control group), or all of the machine
//! was.
//!
//! By what completes, such a time is one in which the device answers nothing. The thread that
//! waits for the streams of a trial tells them apart ([`Lookout`](crate::lookout::Lookout)). Where it comes late, others had the processors, which the kernel
//! counts for each thread ([`RunDelay`]), or a page of its own had to be read first, which is
//! a major fault (getrusage(2)), or it was not to run.

use crate::clock::{Clock, Ticks};
use crate::run_delay::RunDelay;
use diskfacts_record::evidence::Pause;
use std::time::Duration;

/// How often it looks.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// So much later than it was to, ns, it was not merely woken late: timers have a slack of
/// 50 us (prctl(2), `PR_SET_TIMERSLACK`), and a hypervisor's turns take some milliseconds.
const LATE_NS: u64 = 20_000_000;
/// Pauses of one trial that are kept.
const KEPT: usize = 1024;

/// The pauses that the calling thread sees while it waits.
pub(crate) struct Pauses {
    clock: Clock,
    /// What the kernel counts of this thread; `None` where it keeps no account, and then no
    /// pause can be told from a processor that others had.
    account: Option<(RunDelay, Counted)>,
    /// From which tick to which.
    seen: Vec<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counted {
    waited_ns: u64,
    major_faults: i64,
}

/// How late a thread was of its own accord: less what it waited for a processor; `None` when
/// that is too little, or it had to be read in.
fn paused_ns(late_ns: u64, before: Counted, now: Counted) -> Option<u64> {
    let waited_ns = now.waited_ns.saturating_sub(before.waited_ns);
    let paused_ns = late_ns.saturating_sub(waited_ns);
    (paused_ns >= LATE_NS && now.major_faults == before.major_faults).then_some(paused_ns)
}

impl Pauses {
    /// Of the calling thread, from now on.
    pub(crate) fn new(clock: Clock) -> Self {
        let account = RunDelay::of_this_thread().and_then(|mut account| {
            let counted = count(&mut account)?;
            Some((account, counted))
        });
        Self {
            clock,
            account,
            seen: Vec::new(),
        }
    }

    /// This moment, as a tick.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Looks, after a wait from this tick on.
    pub(crate) fn look(&mut self, from: u64) {
        let now = self.clock.now();
        let scale = self.clock.scale();
        let Some((account, before)) = &mut self.account else {
            return;
        };
        let Some(counted) = count(account) else {
            self.account = None;
            return;
        };
        let tick_ns = TICK.as_nanos() as u64;
        let late_ns = scale.ns(now.saturating_sub(from)).saturating_sub(tick_ns);
        let paused_ns = paused_ns(late_ns, *before, counted);
        *before = counted;
        if let Some(paused_ns) = paused_ns.filter(|_| self.seen.len() < KEPT) {
            // Who is to run again waits for a processor then.
            let begins = from + scale.ticks(tick_ns);
            self.seen.push((begins, begins + scale.ticks(paused_ns)));
        }
    }

    /// What was seen, with the time counted from `started`, a tick; `None` where pauses cannot
    /// be told.
    pub(crate) fn since(&self, started: u64) -> Option<Vec<Pause>> {
        let scale = self.clock.scale();
        let pause = |(begins, ends): &(u64, u64)| Pause {
            begins_ns: scale.ns(begins.saturating_sub(started)),
            ns: scale.ns(ends.saturating_sub(*begins.max(&started))),
        };
        let within = self.seen.iter().filter(|(_, ends)| *ends > started);
        self.account.as_ref().map(|_| within.map(pause).collect())
    }
}

fn count(account: &mut RunDelay) -> Option<Counted> {
    Some(Counted {
        waited_ns: account.ns()?,
        major_faults: crate::cpu::major_faults(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Counted = Counted {
        waited_ns: 5_000_000,
        major_faults: 3,
    };

    #[test]
    fn who_comes_late_without_having_waited_was_paused() {
        assert_eq!(paused_ns(250_000_000, BEFORE, BEFORE), Some(250_000_000));
        assert_eq!(paused_ns(LATE_NS - 1, BEFORE, BEFORE), None);
    }

    #[test]
    fn a_processor_that_others_had_is_no_pause() {
        let waited = |ns| Counted {
            waited_ns: BEFORE.waited_ns + ns,
            ..BEFORE
        };
        assert_eq!(paused_ns(250_000_000, BEFORE, waited(240_000_000)), None);
        // Stopped, and then the processors were busy.
        let seen = paused_ns(250_000_000, BEFORE, waited(50_000_000));
        assert_eq!(seen, Some(200_000_000));
    }

    #[test]
    fn who_had_to_be_read_in_is_not_known_to_have_been_paused() {
        let faulted = Counted {
            major_faults: 4,
            ..BEFORE
        };
        assert_eq!(paused_ns(250_000_000, BEFORE, faulted), None);
    }

    #[test]
    fn only_what_lies_in_the_trial_is_told() {
        let clock = Clock::get();
        let ticks = |ms: u64| clock.scale().ticks(ms * 1_000_000);
        let mut pauses = Pauses::new(clock);
        if pauses.account.is_none() {
            return diskfacts_testkit::skip("the kernel's account of a thread's waiting");
        }
        let started = ticks(1_000);
        pauses.seen = vec![
            (ticks(100), ticks(300)),
            (ticks(900), ticks(1_100)),
            (ticks(1_500), ticks(1_750)),
        ];
        let seen = pauses.since(started).expect("an account");
        let ms: Vec<(u64, u64)> = seen
            .iter()
            .map(|one| {
                (
                    (one.begins_ns + 500_000) / 1_000_000,
                    (one.ns + 500_000) / 1_000_000,
                )
            })
            .collect();
        assert_eq!(ms, [(0, 100), (500, 250)]);
    }
}
