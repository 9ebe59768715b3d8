//! A simulated measurement, ready to be changed and run.

use crate::progress::Display;
use crate::session::begin::record;
use crate::session::conclude::conclude;
use crate::session::fit;
use crate::session::measure::Trials;
use crate::session::settings::Settings;
use crate::session::test_claims::Testing;
use crate::signals::Signals;
use crate::target::simulated;
use diskfacts_disk::profile::{Profile, profile};
use diskfacts_engine::sim::Plant;
use diskfacts_plan::{Plan, Stage, file};
use diskfacts_record::Run;
use jiff::Timestamp;
use std::path::Path;
use std::time::Instant;

/// Sound work on a sound disk: every stage is long enough, synced where it
/// writes, and comes back to nothing that an earlier trial left in memory.
/// `LONG` and `RATE` depend on the disk.
const PLAN: &str = r#"
name = "sound"
trials = 5

[[stage]]
name = "random-read"
operation = "read"
pattern = "random"
block_size = "4KiB"
cache = "direct"
time = "LONG"

[[stage]]
name = "random-read-qd8"
operation = "read"
pattern = "random"
block_size = "4KiB"
cache = "direct"
queue_depth = 8
time = "LONG"

[[stage]]
name = "sequential-read"
operation = "read"
pattern = "sequential"
block_size = "128KiB"
cache = "direct"
queue_depth = 4
time = "LONG"

[[stage]]
name = "log-write"
operation = "write"
pattern = "sequential"
block_size = "4KiB"
cache = "direct"
sync = "fdatasync"
time = "LONG"

[[stage]]
name = "warm-read"
operation = "read"
pattern = "random"
block_size = "64KiB"
span = "64MiB"
cache = "warm"
time = "150ms"

[[stage]]
name = "steady-rate"
operation = "read"
pattern = "random"
block_size = "4KiB"
cache = "direct"
queue_depth = 4
rate = RATE
arrivals = "fixed"
time = "LONG"
"#;

/// A simulated measurement.
pub(super) struct Setup {
    pub(super) profile: Profile,
    pub(super) plant: Plant,
    pub(super) plan: Plan,
    pub(super) seed: u64,
    /// The time of the run, virtual nanoseconds, for stages without one of theirs.
    pub(super) time_ns: u64,
    /// Which of the claims that follow are tested.
    pub(super) testing: Testing,
}

impl Setup {
    /// Sound work on the disk of a profile.
    pub(super) fn on(name: &str) -> Self {
        let profile = profile(name).expect("a built-in profile");
        // What turns does some hundred operations a second, and needs longer
        // for its trials to agree.
        let (long, rate) = if profile.is_rotational() {
            ("30s", "20")
        } else {
            ("300ms", "150")
        };
        let text = PLAN.replace("LONG", long).replace("RATE", rate);
        let plan = file::parse(&text).expect("a plan");
        Self {
            profile,
            plant: Plant::default(),
            plan,
            seed: 1,
            time_ns: u64::MAX,
            testing: Testing::None,
        }
    }

    /// Leaves only this stage.
    pub(super) fn only(&mut self, name: &str) -> &mut Stage {
        self.plan.stages.retain(|stage| stage.name == name);
        self.stage(name)
    }

    pub(super) fn stage(&mut self, name: &str) -> &mut Stage {
        let mut stages = self.plan.stages.iter_mut();
        stages
            .find(|stage| stage.name == name)
            .expect("a stage of the plan")
    }

    /// Measures.
    pub(super) fn run(self) -> Run {
        self.run_timed().0
    }

    /// Measures; answers the virtual nanoseconds that it took, too.
    pub(super) fn run_timed(self) -> (Run, u64) {
        let name = self.profile.name.clone();
        let timed = self.fitted(false);
        timed.unwrap_or_else(|| panic!("the plan fits {name}"))
    }

    /// Measures what of its plan, one that is built in, a simulated disk of this size can do;
    /// `None` where that is nothing.
    pub(super) fn run_built_in(self) -> Option<Run> {
        Some(self.fitted(true)?.0)
    }

    fn fitted(self, built_in: bool) -> Option<(Run, u64)> {
        let given = format!("sim:{}", self.profile.name);
        let (mut measured, stack) =
            simulated::build(Path::new(&given), &self.profile, self.seed, &self.plant);
        let (plan, notes) = fit::fit(&self.plan, (&measured, &stack), built_in).ok()?;
        assert!(built_in || notes.is_empty(), "{notes:?}");
        // Every stage says itself how long it takes.
        let started = Timestamp::UNIX_EPOCH;
        let mut run = record((started, self.seed), &measured.target, stack, plan);
        run.run.budget_ns = Some(self.time_ns);
        // Not what was typed to run the tests.
        run.run.command = ["diskfacts", "measure", &given].map(str::to_owned).into();
        let signals = Signals::default();
        Trials {
            run: &mut run,
            measured: &mut measured,
            settings: &mut Settings::default(),
            keep: &mut |_, _| Ok(()),
            signals: &signals,
            display: &mut Display::nothing(),
        }
        .all(Instant::now(), self.testing, None, None)
        .tell(&mut run, &signals);
        let took_ns = measured.elapsed_ns(Instant::now());
        conclude(&mut run, &[]);
        Some((run, took_ns))
    }
}
