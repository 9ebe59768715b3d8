//! The stage that a limiter looks at, and what all of them ask of it.

use super::cap::Pace;
use super::spindle::Spindle;
use super::tested;
use crate::layers::flush_counters;
use crate::rules::Context;
use crate::stages::Stage;
use crate::stalls::Stalls;
use crate::stats;
use diskfacts_plan::{CacheMode, Operation, Pattern, Workload};
use diskfacts_record::evidence::DeviceCounters;
use diskfacts_record::{
    BlockDevice, Histogram, Run, Spent, Stack, StageFigures, TargetKind, TestOutcome, Trial,
};
use std::cell::OnceCell;

/// One stage of a run, with the others beside it.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The run, all its stages and their figures.
    pub context: &'a Context<'a>,
    /// The stage.
    pub stage: &'a Stage<'a>,
    /// Its figures.
    pub figures: &'a StageFigures,
    histogram: OnceCell<Option<Histogram>>,
    /// The stack as it was in the trials, where settings were changed for them.
    stack: OnceCell<Option<Stack>>,
    /// What is the same for all stages of the run.
    pub(super) shared: &'a Shared,
}

/// What is worked out once for all stages of a run.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The best rate of a stream of the medium, bytes/s.
    pub(super) stream_rate: OnceCell<Option<f64>>,
    /// The wait of whole revolutions that some stage shows, and its label.
    pub(super) spindle: OnceCell<Spindle>,
    /// The exact paces of all stages that moved blocks, where they have one.
    pub(super) paces: OnceCell<Vec<Option<Pace>>>,
}

/// The device work of a stage, as a host counts it: sums over its trials and over
/// the devices that stand on no other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeviceWork {
    /// Requests completed: reads and writes.
    pub requests: f64,
    /// Bytes of these.
    pub bytes: f64,
    /// Reads completed.
    pub reads: f64,
    /// Bytes of these.
    pub read_bytes: f64,
    /// Writes completed.
    pub writes: f64,
    /// Bytes of these.
    pub write_bytes: f64,
    /// Flushes completed; absent where the kernel does not count them.
    pub flushes: Option<f64>,
    /// Seconds spent by the flushes.
    pub flush_s: Option<f64>,
    /// Seconds spent by all requests, added up.
    pub waited_s: f64,
    /// Seconds during which anything was in flight, of the busiest device.
    pub busy_s: f64,
}

impl<'a> Subject<'a> {
    /// A stage of a run.
    pub(super) fn new(
        context: &'a Context<'a>,
        shared: &'a Shared,
        stage: &'a Stage<'a>,
        figures: &'a StageFigures,
    ) -> Self {
        Self {
            context,
            stage,
            figures,
            histogram: OnceCell::new(),
            stack: OnceCell::new(),
            shared,
        }
    }

    /// The run.
    pub fn run(&self) -> &'a Run {
        self.context.run
    }

    /// What was asked for.
    pub fn workload(&self) -> &'a Workload {
        &self.stage.trials[0].workload
    }

    /// The same with a change, for an experiment.
    pub fn with(&self, change: impl FnOnce(&mut Workload)) -> Workload {
        let mut workload = self.workload().clone();
        // An experiment is a closed loop, and has its share of the time.
        workload.rate = None;
        change(&mut workload);
        workload
    }

    /// Whether a test of this run has refuted what this limiter said of the stage.
    pub(super) fn is_refuted(&self, limiter: &str) -> bool {
        let tested = tested::of_stage(self.context, self.stage);
        let mut tests = tested.iter().filter(|test| test.limiter == limiter);
        tests.any(|test| test.outcome == TestOutcome::Refuted)
    }

    /// Its trials, at least one.
    pub fn trials(&self) -> &[&'a Trial] {
        &self.stage.trials
    }

    /// Whether the run is read from a document, so that there is no evidence.
    pub fn imported(&self) -> bool {
        self.run().target.kind == TargetKind::Imported
    }

    /// Whether this key of the workload is known: a document need not say it.
    pub fn says(&self, key: &str) -> bool {
        let mut trials = self.trials().iter();
        trials.all(|trial| !trial.unsaid.iter().any(|unsaid| unsaid == key))
    }

    /// The other stages that moved blocks of the target, with their figures.
    pub fn others(&self) -> impl Iterator<Item = Subject<'a>> + '_ {
        let this = self.stage;
        self.all()
            .filter(move |other| !std::ptr::eq(other.stage, this))
    }

    /// All stages that moved blocks of the target.
    pub(super) fn all(&self) -> impl Iterator<Item = Subject<'a>> + use<'a> {
        let (context, shared) = (self.context, self.shared);
        let tests = context
            .tests
            .iter()
            .map(|(stage, figures)| (stage, figures));
        context
            .each()
            .chain(tests)
            .filter(|(stage, _)| !stage.is_null() && !stage.workload().operation.on_files())
            .map(move |(stage, figures)| Subject::new(context, shared, stage, figures))
    }

    /// The trials of which means speak: those that no stall took much of.
    fn without_stalls(&self) -> Vec<&'a Trial> {
        let trials = self.trials().iter().copied();
        trials.filter(|trial| !Stalls::is_most_of(trial)).collect()
    }

    /// Seconds of all trials.
    pub fn seconds(&self) -> f64 {
        self.trials().iter().map(|trial| trial.seconds).sum()
    }

    /// Operations per second, median of the trials; `None` when it is 0 or unknown.
    pub fn iops(&self) -> Option<f64> {
        positive(self.figures.iops.median)
    }

    /// Operations per second over all trials together, which is what goes with the mean
    /// latency of all of them; the median where the numbers are not known. Without trials
    /// that a stall took much of, as [`latency_ns`](Self::latency_ns) is.
    pub fn mean_iops(&self) -> Option<f64> {
        let trials = self.without_stalls();
        let ops: f64 = trials.iter().map(|trial| trial.ops as f64).sum();
        let seconds: f64 = trials.iter().map(|trial| trial.seconds).sum();
        positive(ops / seconds).or_else(|| self.iops())
    }

    /// Bytes per second, median of the trials; `None` when it is 0 or unknown.
    pub fn rate(&self) -> Option<f64> {
        positive(self.figures.throughput_bytes_per_s.median)
    }

    /// Nanoseconds from one completion to the next, on average: `1 / iops`.
    pub fn each_ns(&self) -> Option<f64> {
        Some(1e9 / self.iops()?)
    }

    /// Mean latency of an operation, nanoseconds; worked out from the rate where
    /// one operation at a time was in flight and no latency is known. Without trials that a
    /// stall took much of: their mean is that of the stall. `None` when all are such.
    pub fn latency_ns(&self) -> Option<f64> {
        let trials = self.without_stalls();
        let mean = if trials.len() == self.trials().len() {
            self.figures.latency_ns.mean.and_then(positive)
        } else {
            let samples: f64 = trials.iter().map(|t| t.latency_ns.samples as f64).sum();
            let sum = |t: &&Trial| Some(t.latency_ns.mean? * t.latency_ns.samples as f64);
            let sum: Option<f64> = trials.iter().map(sum).sum();
            return sum.and_then(|sum| positive(sum / samples));
        };
        mean.or_else(|| {
            (self.workload().outstanding() == 1)
                .then(|| self.each_ns())
                .flatten()
        })
    }

    /// Operations in flight on average, median of the trials: by Little's law the
    /// latencies over the time. What was asked for where that is not known.
    pub fn depth(&self) -> f64 {
        let seen: Vec<f64> = self
            .trials()
            .iter()
            .map(|trial| trial.evidence.engine.mean_depth)
            .filter(|depth| *depth > 0.0)
            .collect();
        stats::median(&seen).unwrap_or_else(|| self.workload().outstanding() as f64)
    }

    /// Latencies of all operations of all trials; `None` when the run was loaded
    /// without them, or has none.
    pub fn histogram(&self) -> Option<&Histogram> {
        let all = || {
            let measured = self.stage.latencies()?.measured(self.workload());
            (!measured.is_empty()).then_some(measured)
        };
        self.histogram.get_or_init(all).as_ref()
    }

    /// Whether blocks of the target are moved, and not files made or asked for.
    pub fn moves_blocks(&self) -> bool {
        !self.workload().operation.on_files()
    }

    /// Whether blocks are visited in order: at a distance of one block too.
    pub fn in_order(&self) -> bool {
        matches!(
            self.workload().pattern,
            Pattern::Sequential | Pattern::Stride { skip_blocks: 1, .. }
        )
    }

    /// Whether blocks are visited anywhere.
    pub fn scattered(&self) -> bool {
        matches!(
            self.workload().pattern,
            Pattern::Random | Pattern::Zipf { .. }
        )
    }

    /// Operations in flight that were asked for, over all streams, at least 1.
    pub fn outstanding(&self) -> f64 {
        self.workload().outstanding().max(1) as f64
    }

    /// Whether blocks of the target are moved, and memory of the host, or a mapping above
    /// the disks, serves less than half of them: what a device can have limited. Of a document that is not
    /// known, so there writes through the page cache are not taken for the device's
    /// unless they are synced.
    pub fn reaches_device(&self) -> bool {
        let workload = self.workload();
        let to_memory = self.imported()
            && workload.operation.writes()
            && workload.cache != CacheMode::Direct
            && !workload.sync.each_write()
            && !workload.sync.at_end();
        let above = self.from_memory() + self.figures.layers.mapping;
        self.moves_blocks() && above < 0.5 && !to_memory
    }

    /// Mean time of a flush and how many there are for each operation, as the
    /// devices counted them; `None` where they were not counted, or there was none.
    pub fn flushes(&self) -> Option<(f64, f64)> {
        let work = self.device_work()?;
        let flushes = work.flushes.filter(|n| *n > 0.0)?;
        let ops: u64 = self.trials().iter().map(|trial| trial.ops).sum();
        let mean_ns = work.flush_s? * 1e9 / flushes;
        (ops > 0).then(|| (mean_ns, flushes / ops as f64))
    }

    /// Share of the operations' time that these parts of its budget have; `None` where there is
    /// no budget.
    pub fn spent(&self, parts: &[Spent]) -> Option<f64> {
        let budget = self.figures.budget.as_ref()?;
        let sum: f64 = parts.iter().map(|part| budget.mean_ns(*part)).sum();
        let share = sum / budget.latency_ns;
        share.is_finite().then_some(share)
    }

    /// Whether nothing is written.
    pub fn only_reads(&self) -> bool {
        self.workload().operation == Operation::Read
    }

    /// Whether nothing is read.
    pub fn only_writes(&self) -> bool {
        self.workload().operation == Operation::Write
    }

    /// Share of the bytes that memory of the host served.
    pub fn from_memory(&self) -> f64 {
        self.figures.layers.page_cache
    }

    /// What lies under the target, with the settings that were in force in the trials of
    /// this stage; those of the run are the ones from before it.
    pub fn stack(&self) -> &Stack {
        let stack = &self.run().stack;
        let changed = self.stack.get_or_init(|| {
            // All trials of a stage were asked for the same.
            let settings = &self.trials().first()?.evidence.settings;
            (!settings.is_empty()).then(|| stack.under(settings))
        });
        changed.as_ref().unwrap_or(stack)
    }

    /// The devices that stand on no other.
    pub fn leaves(&self) -> impl Iterator<Item = &'a BlockDevice> {
        self.run().stack.leaves()
    }

    /// Whether the disks rotate: all of them, or none; `None` when they differ or
    /// when it is not known.
    pub fn rotates(&self) -> Option<bool> {
        self.context.all_turn()
    }

    /// Whether rate and latency are of the same operations: that by Little's law at least
    /// half of what was to be in flight was. Where trials differ by much the rate is that of
    /// one, and the latencies are those of others, which did more.
    pub fn agrees(&self) -> bool {
        let in_flight = self.iops().zip(self.latency_ns());
        in_flight.is_some_and(|(iops, ns)| iops * ns / 1e9 >= 0.5 * self.depth())
    }

    /// What a device did during the trials, flushes left out; `None` when one of the trials
    /// does not know, or nothing was counted.
    pub fn work_of(&self, name: &str) -> Option<DeviceWork> {
        let mut sum = DeviceWork::default();
        for trial in self.trials() {
            let mut devices = trial.evidence.devices.iter();
            let device = devices.find(|device| device.name == name)?;
            sum.add(device);
            sum.busy_s += device.busy_ms as f64 / 1e3;
        }
        (sum.requests > 0.0).then_some(sum)
    }

    /// What the leaves did during the trials; `None` when one of the trials does
    /// not know.
    pub fn device_work(&self) -> Option<DeviceWork> {
        let mut sum = DeviceWork {
            flushes: Some(0.0),
            flush_s: Some(0.0),
            ..DeviceWork::default()
        };
        for trial in self.trials() {
            let mut leaves = trial.evidence.devices.iter().filter(|d| d.leaf).peekable();
            leaves.peek()?;
            let mut busy_ms = 0;
            for device in leaves {
                sum.add(device);
                busy_ms = busy_ms.max(device.busy_ms);
            }
            sum.busy_s += busy_ms as f64 / 1e3;
            let flushed = flush_counters(&trial.evidence, &self.run().stack);
            let total = |of: fn(&DeviceCounters) -> Option<u64>| {
                flushed.as_ref()?.iter().map(|device| of(device)).sum()
            };
            let (number, time_ms): (Option<u64>, Option<u64>) = (
                total(|device| device.flushes),
                total(|device| device.flush_ms),
            );
            sum.flushes = sum.flushes.zip(number).map(|(sum, n)| sum + n as f64);
            sum.flush_s = sum
                .flush_s
                .zip(time_ms)
                .map(|(sum, ms)| sum + ms as f64 / 1e3);
        }
        Some(sum)
    }
}

impl DeviceWork {
    fn add(&mut self, device: &DeviceCounters) {
        self.reads += device.reads as f64;
        self.writes += device.writes as f64;
        self.requests = self.reads + self.writes;
        self.read_bytes += device.read_bytes as f64;
        self.write_bytes += device.write_bytes as f64;
        self.bytes = self.read_bytes + self.write_bytes;
        self.waited_s += (device.read_ms + device.write_ms) as f64 / 1e3;
    }
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;
    use crate::testing;
    use diskfacts_record::Limit;

    const STAGE: &str = "random-read-qd32";

    /// Mean latency and operations per second of the stage.
    fn means(run: &Run) -> (f64, f64) {
        let (context, shared) = (Context::new(run), Shared::default());
        let mut each = context.each();
        let (stage, figures) = each
            .find(|(stage, _)| stage.trials[0].stage == STAGE)
            .expect("the stage");
        let subject = Subject::new(&context, &shared, stage, figures);
        let means = subject.latency_ns().zip(subject.mean_iops());
        means.expect("both are known")
    }

    fn limiters(run: &Run) -> Vec<String> {
        let limits = limits(run);
        let stage = limits.iter().find(|limits| limits.stage == STAGE);
        let named = |limit: &Limit| limit.limiter.clone();
        stage.expect("the stage").limits.iter().map(named).collect()
    }

    #[test]
    fn a_trial_of_which_a_stall_took_most_changes_no_mean_and_no_explanation_but_the_stall() {
        let healthy = testing::healthy();
        let mut run = testing::healthy();
        testing::each(&mut run, STAGE, |trial| {
            // Of the first one the rate is the mean of all, so that those left have it, too.
            if trial.number == 1 {
                // It stands still for three seconds, in which nothing is completed, and what
                // was in flight waits.
                let counts = &mut trial.evidence.intervals.operations;
                let still = std::iter::repeat_n(0, 3 * counts.len());
                counts.splice(10..10, still);
                trial.seconds *= 4.0;
                testing::set_latencies(trial, &[(1_000_000, trial.ops)]);
                testing::set_rate(trial, 0.25);
            }
        });
        let (expected, found) = (means(&healthy), means(&run));
        // Trials differ in what a histogram, and a number of operations, rounds.
        let same = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-3;
        assert!(
            same(found.0, expected.0) && same(found.1, expected.1),
            "{found:?} {expected:?}"
        );
        let mut named = limiters(&run);
        let stalls = named.len();
        named.retain(|name| name != "stall");
        assert_eq!(stalls - named.len(), 1, "{named:?}");
        assert_eq!(named, limiters(&healthy));
    }
}
