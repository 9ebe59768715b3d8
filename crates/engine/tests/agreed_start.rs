//! A start that was agreed with other hosts: no stream begins before it, and a trial that
//! would begin too late is not begun.

use diskfacts_engine::{
    AgreedStart, Prepare, Progress, StreamFile, Trial, TrialError, TrialOutcome, run_trial,
};
use diskfacts_plan::{EngineChoice, Stop, Workload};
use std::error::Error;
use std::path::Path;

/// Starts so many nanoseconds after it was asked, or before that.
struct At {
    ahead_ns: i64,
    late_ns_max: u64,
    asked: Option<AgreedStart>,
    opened: bool,
}

impl At {
    fn new(ahead_ns: i64, late_ns_max: u64) -> Self {
        Self {
            ahead_ns,
            late_ns_max,
            asked: None,
            opened: false,
        }
    }
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).expect("since the boot") * 1_000_000_000
        + u64::try_from(now.tv_nsec).expect("below a second")
}

impl Prepare for At {
    fn before(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn agreed_start(
        &mut self,
        lead_ns: u64,
    ) -> Result<Option<AgreedStart>, Box<dyn Error + Send + Sync>> {
        let now = monotonic_ns();
        let soonest = now + lead_ns;
        let start = AgreedStart {
            monotonic_ns: soonest.saturating_add_signed(self.ahead_ns),
            late_ns_max: self.late_ns_max,
        };
        self.asked = Some(start);
        Ok(Some(start))
    }

    fn window_opens(&mut self, _beside: &[u32]) {
        assert!(self.asked.is_some(), "it waits before observers look");
        self.opened = true;
    }

    fn after(&mut self) {}
}

fn run(at: &mut At, streams: u32) -> Result<TrialOutcome, TrialError> {
    let stop = Stop {
        operations: Some(1000),
        ..Stop::default()
    };
    run_until(at, streams, stop)
}

fn run_until(at: &mut At, streams: u32, stop: Stop) -> Result<TrialOutcome, TrialError> {
    let workload = Workload {
        engine: EngineChoice::Null,
        streams,
        stop,
        ..Workload::default()
    };
    let file = StreamFile {
        path: Path::new(""),
        size: 1 << 30,
        alignment: 4096,
    };
    let trial = Trial {
        file,
        workload: &workload,
        seed: 1,
    };
    run_trial(trial, &Progress::default(), at)
}

#[test]
fn no_stream_begins_before_the_moment() {
    for streams in [1, 4] {
        let mut at = At::new(20_000_000, u64::MAX);
        let outcome = run(&mut at, streams).expect("a trial");
        let agreed = at.asked.expect("it was asked").monotonic_ns;
        let started = outcome.started_monotonic_ns.expect("real time");
        // Both clocks are read within some microseconds of each other.
        assert!(started + 100_000 >= agreed, "{started} before {agreed}");
        assert!(at.opened);
    }
}

#[test]
fn what_would_begin_too_late_is_not_begun() {
    let mut at = At::new(-1_000_000_000, 500_000_000);
    match run(&mut at, 1) {
        Err(TrialError::Late {
            late_ns,
            late_ns_max,
        }) => {
            assert!(late_ns > 900_000_000, "{late_ns}");
            assert_eq!(late_ns_max, 500_000_000);
        }
        other => panic!("{other:?}"),
    }
    // As late as that, and it may be.
    let mut at = At::new(-1_000_000_000, u64::MAX);
    let outcome = run(&mut at, 1).expect("a trial");
    let agreed = at.asked.expect("it was asked").monotonic_ns;
    assert!(outcome.started_monotonic_ns.expect("real time") > agreed);
}

#[test]
fn who_begins_late_ends_with_the_others() {
    // So late that a whole trial would last longer than the machine can hold up a short one.
    let late_ns = 20_000_000_000;
    let mut at = At::new(-late_ns, u64::MAX);
    let stop = Stop {
        time_ns: Some(late_ns.unsigned_abs() + 100_000_000),
        ..Stop::default()
    };
    let outcome = run_until(&mut at, 2, stop).expect("a trial");
    assert!(outcome.ops > 0);
    assert!(outcome.seconds < 10.0, "{}", outcome.seconds);
}
