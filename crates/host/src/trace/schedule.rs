//! Decides when events are recorded.
//!
//! The share of the time is chosen so that writing events takes no more than a part of
//! a processor, whatever the rate of requests.

use super::bursts::{Burst, Pace};

/// How long recording goes on before it is decided whether it does, nanoseconds. The
/// requests of a device with so many are done in far less, so that few are cut off.
const LOOK_NS: u64 = 50_000_000;

/// What writing all events may take, share of a processor.
const SHARE_OF_ALL: f64 = 0.02;
/// What bursts take where that is too much. It is less, because what is not seen should
/// have been worth it.
const SHARE_IN_BURSTS: f64 = 0.01;
/// Writing an event took 0.3 us on two virtual processors of 2025 (three events per
/// read of 4 KiB, on and off in turn), of some 72 bytes.
const NS_PER_BYTE: f64 = 300.0 / 72.0;

/// The longest pause, in times of what was looked at: one part in twenty is seen.
const PAUSE_MAX: f64 = 19.0;

/// Fraction of the golden ratio: its multiples, less their whole parts, lie evenly
/// between 0 and 1, and repeat nothing that a device does at regular times (Weyl 1916).
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Decides when events are recorded. It knows no kernel: times and lengths are told to
/// it, and what it decides is done by who asks.
#[derive(Debug)]
pub(super) struct Schedule {
    pace: Pace,
    window: Window,
    ended: Vec<Burst>,
}

#[derive(Debug, Clone, Copy)]
enum Window {
    /// Not open yet, or over.
    Closed,
    Recording {
        from_ns: u64,
        /// When it was looked at last, and the bytes that had been recorded then.
        looked_ns: u64,
        bytes: u64,
        /// What was seen between the last two looks.
        seen: Seen,
    },
    Pausing {
        until_ns: u64,
        bytes: u64,
    },
}

/// So many bytes of events in so long a time.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    ns: u64,
    bytes: u64,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Stay,
    /// Recording is to end, and [`Schedule::pause`] to be told.
    Pause,
    /// Recording is to begin, and [`Schedule::resume`] to be told.
    Resume,
}

impl Schedule {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            window: Window::Closed,
            ended: Vec::new(),
        }
    }

    /// The window opened then, and recording with it.
    pub(super) fn open(&mut self, now_ns: u64) {
        self.record(now_ns, 0);
    }

    /// The window closed then.
    pub(super) fn close(&mut self, now_ns: u64) {
        self.end_burst(now_ns);
        self.window = Window::Closed;
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.window, Window::Closed)
    }

    /// Whether events are recorded now.
    pub(super) fn is_recording(&self) -> bool {
        matches!(self.window, Window::Recording { .. })
    }

    /// Nanoseconds until [`step`](Self::step) is to be asked.
    pub(super) fn wait_ns(&self, now_ns: u64) -> u64 {
        match self.window {
            Window::Closed => LOOK_NS,
            Window::Recording { looked_ns, .. } => (looked_ns + LOOK_NS).saturating_sub(now_ns),
            Window::Pausing { until_ns, .. } => until_ns.saturating_sub(now_ns),
        }
    }

    /// What is to be done, `bytes` of events having been recorded until now.
    pub(super) fn step(&mut self, now_ns: u64, bytes: u64) -> Step {
        if self.wait_ns(now_ns) > 0 {
            return Step::Stay;
        }
        match &mut self.window {
            Window::Closed => Step::Stay,
            Window::Pausing { .. } => Step::Resume,
            Window::Recording {
                looked_ns,
                bytes: before,
                seen,
                ..
            } => {
                *seen = Seen {
                    ns: now_ns.saturating_sub(*looked_ns),
                    bytes: bytes.saturating_sub(*before),
                };
                (*looked_ns, *before) = (now_ns, bytes);
                match self.pace {
                    Pace::Sparing if seen.cost_ns() > SHARE_OF_ALL * seen.ns as f64 => Step::Pause,
                    Pace::Sparing | Pace::Whole => Step::Stay,
                }
            }
        }
    }

    /// Recording ended at `ended_ns`, and to switch it off took until now.
    pub(super) fn pause(&mut self, ended_ns: u64, now_ns: u64) {
        let Window::Recording { bytes, seen, .. } = self.window else {
            return;
        };
        let switching_ns = now_ns.saturating_sub(ended_ns);
        let pause_ns = seen.pause_ns(switching_ns, self.ended.len());
        self.end_burst(ended_ns);
        self.window = Window::Pausing {
            until_ns: now_ns.saturating_add(pause_ns),
            bytes,
        };
    }

    /// Recording began again now.
    pub(super) fn resume(&mut self, now_ns: u64) {
        if let Window::Pausing { bytes, .. } = self.window {
            self.record(now_ns, bytes);
        }
    }

    /// The bursts that ended, the oldest first.
    pub(super) fn ended(&self) -> &[Burst] {
        &self.ended
    }

    fn record(&mut self, now_ns: u64, bytes: u64) {
        self.window = Window::Recording {
            from_ns: now_ns,
            looked_ns: now_ns,
            bytes,
            seen: Seen::default(),
        };
    }

    fn end_burst(&mut self, now_ns: u64) {
        if let Window::Recording { from_ns, .. } = self.window {
            self.ended.push(Burst {
                from_ns,
                until_ns: now_ns,
            });
        }
    }
}

impl Seen {
    /// What writing it took.
    fn cost_ns(self) -> f64 {
        self.bytes as f64 * NS_PER_BYTE
    }

    /// How long recording has to pause for its share to be kept, if switching it off
    /// took so long, and on will take as long again. Pauses differ, by their number, by
    /// up to a half.
    fn pause_ns(self, switching_ns: u64, number: usize) -> u64 {
        let seen = self.ns as f64;
        let cost = self.cost_ns() + 2.0 * switching_ns as f64;
        let pause = (cost / SHARE_IN_BURSTS - seen).clamp(0.0, PAUSE_MAX * seen);
        (pause * (0.5 + (number as f64 * GOLDEN).fract())) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    /// What switching off takes, ns.
    const SWITCHING: u64 = 1_000_000;

    /// Bytes of the events of so many requests, three each.
    fn bytes_of(requests: u64) -> u64 {
        requests * 3 * 72
    }

    /// Bursts of a window of so many seconds on a device with so many requests per
    /// second.
    fn bursts(pace: Pace, requests_per_s: u64, seconds: u64) -> Vec<Burst> {
        let mut schedule = Schedule::new(pace);
        let (mut now_ns, mut recorded_ns) = (7, 0);
        schedule.open(now_ns);
        let end_ns = now_ns + seconds * SECOND;
        while now_ns < end_ns {
            let wait_ns = schedule.wait_ns(now_ns).clamp(1, end_ns - now_ns);
            now_ns += wait_ns;
            recorded_ns += u64::from(schedule.is_recording()) * wait_ns;
            let bytes = bytes_of(recorded_ns * requests_per_s / SECOND);
            match schedule.step(now_ns, bytes) {
                Step::Stay => {}
                Step::Pause => {
                    let ended_ns = now_ns;
                    now_ns += SWITCHING;
                    schedule.pause(ended_ns, now_ns);
                }
                Step::Resume => schedule.resume(now_ns),
            }
        }
        schedule.close(now_ns);
        schedule.ended().to_vec()
    }

    fn share(bursts: &[Burst], seconds: u64) -> f64 {
        let length: u64 = bursts.iter().map(Burst::length_ns).sum();
        length as f64 / (seconds * SECOND) as f64
    }

    #[test]
    fn few_requests_are_followed_all_the_time() {
        for requests in [0, 150, 5_000, 22_000] {
            let bursts = bursts(Pace::Sparing, requests, 10);
            assert_eq!(bursts.len(), 1, "{requests}");
            assert_eq!(bursts[0].from_ns, 7);
            assert!((share(&bursts, 10) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn writing_the_events_of_many_requests_takes_a_hundredth_of_a_processor() {
        // 0.9 us per request: 6.75 % at 75 000. Of 50 ms that is 3.375 ms, and switching
        // takes 2 ms; together they are a hundredth of 537.5 ms.
        for (requests, expected) in [(30_000, 50.0 / 335.0), (75_000, 50.0 / 537.5)] {
            let bursts = bursts(Pace::Sparing, requests, 60);
            let share = share(&bursts, 60);
            assert!((share / expected - 1.0).abs() < 0.05, "{share} {expected}");
            // The window may close in the last one.
            let (_, whole) = bursts.split_last().expect("bursts");
            assert!(whole.iter().all(|burst| burst.length_ns() >= LOOK_NS));
        }
        // However many there are, a twentieth of the time is seen.
        let many = share(&bursts(Pace::Sparing, 10_000_000, 60), 60);
        assert!((many - 0.05).abs() < 0.005, "{many}");
    }

    #[test]
    fn bursts_do_not_come_at_regular_times() {
        let bursts = bursts(Pace::Sparing, 75_000, 30);
        let gaps = bursts
            .windows(2)
            .map(|two| two[1].from_ns - two[0].until_ns);
        let gaps: std::collections::BTreeSet<u64> = gaps.collect();
        assert!(gaps.len() >= bursts.len() / 2, "{gaps:?}");
        let (least, most) = (gaps.first().expect("one"), gaps.last().expect("one"));
        assert!(*most as f64 > 2.0 * *least as f64, "{least} {most}");
    }

    #[test]
    fn who_wants_all_of_it_gets_it_whatever_it_costs() {
        let bursts = bursts(Pace::Whole, 10_000_000, 3);
        assert_eq!(bursts.len(), 1);
        assert!((share(&bursts, 3) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_window_that_closes_in_a_pause_ends_with_the_burst_before() {
        let mut schedule = Schedule::new(Pace::Sparing);
        assert_eq!(schedule.step(5 * LOOK_NS, bytes_of(1 << 20)), Step::Stay);
        schedule.open(100);
        let looked = 100 + LOOK_NS;
        assert_eq!(schedule.step(looked, bytes_of(100_000)), Step::Pause);
        schedule.pause(looked + 3, looked + 3);
        assert!(schedule.is_open() && !schedule.is_recording());
        schedule.close(looked + 10);
        assert!(!schedule.is_open());
        let burst = Burst {
            from_ns: 100,
            until_ns: looked + 3,
        };
        assert_eq!(schedule.ended(), [burst]);
        // Nothing begins again after the window.
        schedule.resume(looked + 20);
        assert!(!schedule.is_recording());
    }
}
