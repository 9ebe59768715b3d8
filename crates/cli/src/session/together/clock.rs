//! Meeting by the clock: each host's `CLOCK_REALTIME` is the common one, as far as its time
//! daemon keeps it.
//!
//! A trial waits on `CLOCK_MONOTONIC`, which nobody sets; what the other shows is looked at while
//! it waits, and again when the trial is over. Where both looks differ, somebody set the clock or
//! slewed it meanwhile: that much is added to the error, and where it is more than a trial may be
//! late, the trial is void.

use super::Agreement;
use super::rendezvous::{Rendezvous, StoppedWaiting};
use crate::exit::{Failure, OrFail};
use crate::signals::Signals;
use diskfacts_engine::AgreedStart;
use diskfacts_host::clock_error_ns;
use diskfacts_plan::units::show_duration;
use diskfacts_record::together::{AgreedTrial, ClockErrorSource, LostHost, VoidKind};
use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two looks for a signal while it waits.
const NAP: Duration = Duration::from_millis(50);

/// Both clocks of this host at one moment, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    monotonic_ns: i128,
    realtime_ns: i128,
}

impl Reading {
    /// Of five the one between whose two looks at one clock least time passed.
    fn now() -> Self {
        let look = || {
            let before = ns_of(ClockId::Monotonic);
            let realtime_ns = ns_of(ClockId::Realtime);
            let took = ns_of(ClockId::Monotonic) - before;
            let monotonic_ns = before + took / 2;
            let reading = Self {
                monotonic_ns,
                realtime_ns,
            };
            (took, reading)
        };
        let (mut least, mut best) = look();
        for (took, reading) in std::iter::repeat_with(look).take(4) {
            if took < least {
                (least, best) = (took, reading);
            }
        }
        best
    }

    /// What has to be added to a moment of `CLOCK_MONOTONIC`.
    fn offset_ns(self) -> i128 {
        self.realtime_ns - self.monotonic_ns
    }
}

fn ns_of(clock: ClockId) -> i128 {
    let time = clock_gettime(clock);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// When a trial was on the common clock, from its moments on this host's and from what the
/// clocks showed before and after it.
#[derive(Debug, PartialEq, Eq)]
struct OnCommonClock {
    started_ns: i64,
    ended_ns: i64,
    /// By how much the clock was set meanwhile, either way.
    set_by_ns: u64,
}

impl OnCommonClock {
    fn of(start_ns: i128, (from, to): (u64, u64), before: Reading, after: Reading) -> Self {
        let since = |monotonic_ns: u64, reading: Reading| {
            let moment = i128::from(monotonic_ns) + reading.offset_ns();
            saturated(moment - start_ns)
        };
        let set_by = (after.offset_ns() - before.offset_ns()).unsigned_abs();
        Self {
            started_ns: since(from, before),
            ended_ns: since(to, after),
            set_by_ns: u64::try_from(set_by).unwrap_or(u64::MAX),
        }
    }
}

/// As near as 64 bits hold it: 292 years.
fn saturated(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// The clock of a host that starts with others.
pub(in super::super) struct GroupClock {
    /// When the first trial begins, nanoseconds since 1970.
    start_ns: i128,
    /// What was stated in the place of the kernel.
    stated_ns: Option<u64>,
    before: Reading,
    /// Trials that were begun, or left out.
    tried: usize,
    stop: Arc<AtomicBool>,
}

/// How far this host's clock may be off, nanoseconds: what was stated, else what the kernel
/// says; and which.
///
/// # Errors
/// Where neither says it, with what to type.
pub(in super::super) fn error_of_clock(
    stated_ns: Option<u64>,
) -> Result<(u64, ClockErrorSource), Failure> {
    if let Some(stated_ns) = stated_ns {
        return Ok((stated_ns, ClockErrorSource::Stated));
    }
    let known = clock_error_ns().or_wrong_call().map_err(|failure| {
        failure.and(
            "--start-at goes by this clock, and how far apart the hosts start would not be known.\n\
             `chronyc tracking` or `timedatectl` shows who keeps it; `timedatectl set-ntp true`\n\
             has it kept. Where only somebody else can see that, as in a container, state how far\n\
             it may be off: --clock-error 1ms",
        )
    })?;
    Ok((known, ClockErrorSource::Kernel))
}

impl GroupClock {
    pub(in super::super) fn new(
        start: Timestamp,
        stated_ns: Option<u64>,
        signals: &Signals,
    ) -> Self {
        Self {
            start_ns: start.as_nanosecond(),
            stated_ns,
            before: Reading::now(),
            tried: 0,
            stop: signals.stop(),
        }
    }

    /// When a trial begins, on this host's `CLOCK_MONOTONIC` as the clocks stand to each other.
    fn moment(&self, trial: &AgreedTrial, reading: Reading) -> i128 {
        self.start_ns + i128::from(trial.at_ns) - reading.offset_ns()
    }
}

impl Rendezvous for GroupClock {
    fn next(&mut self, agreement: &Agreement) -> Result<Option<usize>, Failure> {
        let next = self.tried;
        self.tried += 1;
        Ok((next < agreement.trials.len()).then_some(next))
    }

    fn ahead_ns(&self, trial: &AgreedTrial) -> Option<i64> {
        let now = Reading::now();
        Some(saturated(self.moment(trial, now) - now.monotonic_ns))
    }

    fn ready(
        &mut self,
        trial: &mut AgreedTrial,
        lead_ns: u64,
    ) -> Result<AgreedStart, Box<dyn Error + Send + Sync>> {
        loop {
            // Anew after each nap: the daemon may have slewed or set the clock.
            self.before = Reading::now();
            let moment = self.moment(trial, self.before);
            let ahead_ns = moment - self.before.monotonic_ns - i128::from(lead_ns);
            if ahead_ns <= 0 {
                return Ok(AgreedStart {
                    // Before the boot of this host there was none.
                    monotonic_ns: u64::try_from(moment).unwrap_or(0),
                    late_ns_max: trial.late_ns_max(),
                });
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(StoppedWaiting.into());
            }
            let ahead = u64::try_from(ahead_ns).map_or(NAP, Duration::from_nanos);
            std::thread::sleep(ahead.min(NAP));
        }
    }

    fn done(&mut self, trial: &mut AgreedTrial, monotonic_ns: (u64, u64)) -> bool {
        let on = OnCommonClock::of(self.start_ns, monotonic_ns, self.before, Reading::now());
        trial.started_ns = Some(on.started_ns);
        trial.ended_ns = Some(on.ended_ns);
        let late_ns = i128::from(on.started_ns) - i128::from(trial.at_ns);
        trial.late_ns = Some(u64::try_from(late_ns).unwrap_or(0));
        let error_ns = match self.stated_ns {
            Some(stated_ns) => Ok(stated_ns),
            None => clock_error_ns(),
        };
        match error_ns {
            Ok(error_ns) => trial.clock_error_ns = error_ns.saturating_add(on.set_by_ns),
            Err(error) => trial.make_void(
                VoidKind::Clock,
                format!("nobody kept the clock during it: {error}"),
            ),
        }
        if on.set_by_ns > trial.late_ns_max() {
            let by = show_duration(on.set_by_ns);
            trial.make_void(
                VoidKind::Clock,
                format!("this host's clock was set by {by} during it"),
            );
        }
        // It is not done again, and its operations were.
        true
    }

    fn missed(&mut self, _: &AgreedTrial, _: u64) {}

    fn lost(&self) -> Vec<LostHost> {
        Vec::new()
    }

    fn speaks(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_NS: i128 = 1_800_000_000_000_000_000;

    /// The clocks when the host has been up for so long, and shows this much after the start.
    fn reading(up_ns: i128, after_start_ns: i128) -> Reading {
        Reading {
            monotonic_ns: up_ns,
            realtime_ns: START_NS + after_start_ns,
        }
    }

    #[test]
    fn a_host_whose_own_clock_is_1000_s_apart_measures_the_same_times() {
        // Two hosts that were booted 1000 s apart; both know the common clock.
        let of_host = |up_ns: i128| {
            let at = |ns: i128| u64::try_from(up_ns + ns).expect("after its boot");
            let (before, after) = (reading(up_ns, 0), reading(up_ns + 5_000, 5_000));
            OnCommonClock::of(START_NS, (at(1_000), at(4_000)), before, after)
        };
        let (one, other) = (of_host(50_000), of_host(1_000_000_050_000));
        assert_eq!(one, other);
        assert_eq!((one.started_ns, one.ended_ns), (1_000, 4_000));
        assert_eq!(one.set_by_ns, 0);
    }

    #[test]
    fn a_clock_that_is_set_meanwhile_is_seen_either_way() {
        for by in [700, -700] {
            let (before, after) = (reading(10_000, 0), reading(15_000, 5_000 + by));
            let on = OnCommonClock::of(START_NS, (11_000, 14_000), before, after);
            assert_eq!(on.set_by_ns, 700);
            assert_eq!(on.started_ns, 1_000);
        }
    }

    #[test]
    fn moments_beyond_what_can_be_written_are_as_near_as_they_can_be() {
        let (early, late) = (reading(0, -START_NS), reading(0, i128::from(i64::MAX)));
        let on = OnCommonClock::of(START_NS, (0, u64::MAX), early, late);
        assert_eq!(on.started_ns, saturated(-START_NS));
        assert_eq!(on.ended_ns, i64::MAX);
    }

    #[test]
    fn what_was_stated_is_taken_in_place_of_the_kernels_word() {
        let (error_ns, source) = error_of_clock(Some(7)).expect("a bound");
        assert_eq!((error_ns, source), (7, ClockErrorSource::Stated));
    }
}
