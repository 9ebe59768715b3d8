//! Open loops: operations begin at the moments that were intended, the rate is that of the
//! time for which they were meant, and what was not kept is known by how late it was.

use diskfacts_disk::profile::profile;
use diskfacts_engine::clock::Timescale;
use diskfacts_engine::engine::Done;
use diskfacts_engine::measure::{Job, Record, measure};
use diskfacts_engine::sim::{Computer, Plant};
use diskfacts_engine::{
    Abilities, Completion, Engine, FailedIn, Op, Progress, SyncEach, TrialOutcome, Wait,
};
use diskfacts_plan::arrivals::Intended;
use diskfacts_plan::pattern::{Range, Steps};
use diskfacts_plan::{Arrivals, Operation, Pattern, Rate, Stop, Workload};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

const SECOND: u64 = 1_000_000_000;

fn rate(operations_per_s: u64, arrivals: Arrivals) -> Rate {
    Rate {
        operations_per_s,
        arrivals,
    }
}

fn seconds(seconds: u64) -> Stop {
    Stop {
        time_ns: Some(seconds * SECOND),
        ..Stop::default()
    }
}

/// A trial on a simulated disk, with the seed of its arrivals.
fn on(disk: &str, workload: &Workload, seed: u64) -> TrialOutcome {
    let profile = profile(disk).expect("a built-in profile");
    let mut computer = Computer::new(&profile, 1, Plant::default());
    let trial = computer.run_trial(workload, seed, &Progress::default());
    trial.expect("the trial runs").0
}

/// Share of its time by which a trial was behind at its end.
fn behind(outcome: &TrialOutcome) -> f64 {
    let ns = outcome.engine.behind_ns.expect("an open loop knows");
    ns as f64 / 1e9 / outcome.seconds
}

#[test]
fn many_streams_have_the_rate_of_all_and_not_that_of_the_last_to_idle() {
    for (streams, asked, time) in [(32, 100, 2), (1, 100, 2), (7, 1000, 3), (64, 64, 1)] {
        let workload = Workload {
            rate: Some(rate(asked, Arrivals::Fixed)),
            streams,
            stop: seconds(time),
            ..Workload::default()
        };
        let outcome = on("ssd-sata", &workload, 5);
        assert_eq!(outcome.ops, asked * time, "{streams} streams");
        let did = outcome.ops as f64 / outcome.seconds;
        assert!((did / asked as f64 - 1.0).abs() < 1e-3, "{streams}: {did}");
        assert!(behind(&outcome) < 0.001, "{streams}");
    }
}

/// Random arrivals are so many on average: of the time of the trial, and of as many
/// distances as operations.
#[test]
fn poisson_arrivals_are_as_many_as_asked_for_on_average() {
    let limits = [
        seconds(10),
        Stop {
            operations: Some(100),
            ..Stop::default()
        },
    ];
    for stop in limits {
        let workload = Workload {
            rate: Some(rate(10, Arrivals::Poisson)),
            stop,
            ..Workload::default()
        };
        let (mut ops, mut lasted) = (0, 0.0);
        for seed in 0..400 {
            let outcome = on("ssd-sata", &workload, seed);
            ops += outcome.ops;
            lasted += outcome.seconds;
            assert!(behind(&outcome) < 0.01, "seed {seed}");
        }
        // 40 000 arrivals have a deviation of 0.5 %; one distance too many is 1 % of 100.
        let did = ops as f64 / lasted;
        assert!((did / 10.0 - 1.0).abs() < 0.0085, "{did}");
    }
}

#[test]
fn a_target_that_does_less_is_behind_by_what_it_lacks() {
    let closed = Workload {
        stop: seconds(2),
        ..Workload::default()
    };
    let outcome = on("hdd-7200-1tb", &closed, 5);
    let most = outcome.ops as f64 / outcome.seconds;
    let asked = (most / 0.8) as u64;
    let limits = [
        seconds(20),
        Stop {
            operations: Some(20 * asked),
            ..Stop::default()
        },
    ];
    for arrivals in [Arrivals::Fixed, Arrivals::Poisson] {
        for stop in limits {
            let workload = Workload {
                rate: Some(rate(asked, arrivals)),
                stop,
                ..Workload::default()
            };
            let outcome = on("hdd-7200-1tb", &workload, 5);
            let kept = 1.0 - behind(&outcome);
            assert!((kept - 0.8).abs() < 0.04, "{arrivals:?}, {stop:?}: {kept}");
        }
    }
}

/// A clock that only idling moves, and operations that end at once. It notes how long it
/// was asked to idle, and asks to stop when it first is.
struct Idling<'a> {
    now: u64,
    asked: Vec<u64>,
    stop: Option<&'a AtomicBool>,
    in_flight: Vec<u32>,
}

impl Engine for Idling<'_> {
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn timescale(&self) -> Timescale {
        Timescale::NANOSECONDS
    }

    fn prepare_write(&mut self, _: u32) {}

    fn submit(&mut self, ops: &[Op]) -> io::Result<usize> {
        self.in_flight.extend(ops.iter().map(|op| op.slot));
        Ok(ops.len())
    }

    fn reap(&mut self, _: Wait, done: &mut Done) -> io::Result<()> {
        for slot in self.in_flight.drain(..) {
            done.push(Completion {
                slot,
                result: 4096,
                failed_in: FailedIn::Transfer,
            });
        }
        Ok(())
    }

    fn sync_all(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn idle_until(&mut self, tick: u64) -> io::Result<()> {
        self.asked.push(tick - self.now);
        self.now = tick;
        if let Some(stop) = self.stop {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The stream of 60 that share one operation a second whose turn it is first: its own next
/// one is due after a minute.
fn one_of_sixty(engine: &mut Idling<'_>, stop: &AtomicBool, time_ns: Option<u64>) -> Record {
    let range = Range::new(0, 1 << 20, 4096).expect("blocks");
    let progress = Progress::default();
    let mut job = Job {
        steps: Steps::new(Operation::Read, Pattern::Random, range, 1, 0, 1),
        block_size: 4096,
        modify: false,
        depth: 1,
        time_ns,
        operations: None,
        intended: Some(Intended::new(rate(1, Arrivals::Fixed), 0, 60, 1)),
        sync_at_end: SyncEach::None,
        intervals_from: None,
        time_from: None,
        stop,
        progress: &progress,
    };
    measure(engine, &mut job).expect("the engine works")
}

#[test]
fn who_idles_ends_with_the_time_of_the_trial_and_looks_for_a_signal_meanwhile() {
    let stop = AtomicBool::new(false);
    let mut engine = Idling {
        now: 0,
        asked: Vec::new(),
        stop: None,
        in_flight: Vec::new(),
    };
    let record = one_of_sixty(&mut engine, &stop, Some(2 * SECOND));
    assert_eq!((record.read.count(), record.ended), (1, 2 * SECOND));
    let longest = engine.asked.iter().max();
    assert!(
        longest.is_some_and(|ns| *ns <= SECOND / 10),
        "{:?}",
        engine.asked
    );

    let mut engine = Idling {
        now: 0,
        asked: Vec::new(),
        stop: Some(&stop),
        in_flight: Vec::new(),
    };
    let record = one_of_sixty(&mut engine, &stop, None);
    assert_eq!((record.read.count(), engine.asked.len()), (1, 1));
    assert!(engine.now <= SECOND / 10, "{}", engine.now);
}
