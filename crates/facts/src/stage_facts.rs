//! What rules, limiters and verdicts ask of a stage.

mod cache_burst;
pub(crate) mod cap;
pub(crate) mod contradiction;
mod device_work;
pub(crate) mod drive_cache;
mod encoded;
mod engine;
pub(crate) mod evicted;
pub(crate) mod gaps;
pub(crate) mod handed_on;
pub(crate) mod held_rate;
pub(crate) mod io_limit;
pub(crate) mod ladder;
pub(crate) mod links;
pub(crate) mod members;
pub(crate) mod moved;
mod need;
pub(crate) mod overlay;
pub(crate) mod parity;
pub(crate) mod part_sectors;
pub(crate) mod pool;
pub(crate) mod processor;
pub(crate) mod processor_taken;
pub(crate) mod queue;
pub(crate) mod rate_over_time;
pub(crate) mod read_ahead_window;
pub(crate) mod reference;
mod remote;
pub(crate) mod scheduler_idle;
pub(crate) mod scheduler_turns;
pub(crate) mod shared_device;
pub(crate) mod slow;
pub(crate) mod spindle;
pub(crate) mod splitting;
pub(crate) mod stalled;
pub(crate) mod sync_writes;
mod transfer;
pub(crate) mod visit;
pub(crate) mod write_back;

use crate::blocked::Looks;
use crate::context::Context;
use crate::processor_wait::{WAIT, waited};
use crate::stages::{Stage, one_value};
use crate::stalls::Stalls;
pub(crate) use cache_burst::cache_burst;
pub(crate) use device_work::DeviceWork;
use diskfacts_plan::{CacheMode, Operation, Pattern, Workload};
use diskfacts_record::evidence::DeviceCounters;
use diskfacts_record::{
    BlockDevice, Histogram, Run, Spent, Stack, StageFigures, TargetKind, Trial,
};
pub(crate) use need::Need;
use std::cell::OnceCell;

/// One stage of a run, with the others beside it.
#[derive(Debug)]
pub(crate) struct StageFacts<'a> {
    /// The run, all its stages and their figures.
    pub(crate) context: &'a Context<'a>,
    /// The stage.
    pub(crate) stage: &'a Stage<'a>,
    /// Its figures.
    pub(crate) figures: &'a StageFigures,
    /// Its place among the stages of the run; `None` where nobody asked for it.
    pub(crate) place: Option<usize>,
    // Boxed: each look at the others makes one of these of each, and most are asked for neither.
    histogram: OnceCell<Option<Box<Histogram>>>,
    /// The stack as it was in the trials, where settings were changed for them.
    stack: OnceCell<Option<Box<Stack>>>,
}

/// What another stage may have in common with a stage.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Same {
    /// What is done.
    Operation,
    /// In which order.
    Pattern,
    /// The size of blocks.
    Block,
    /// By way of which caches.
    Cache,
    /// When it is synced.
    Sync,
    /// Operations in flight.
    Depth,
}

impl Same {
    /// The same work, with more or fewer in flight.
    pub(crate) const WORK: &[Self] = &[
        Self::Operation,
        Self::Pattern,
        Self::Block,
        Self::Cache,
        Self::Sync,
    ];
}

impl<'a> StageFacts<'a> {
    /// A stage of a run.
    pub(crate) fn new(
        context: &'a Context<'a>,
        stage: &'a Stage<'a>,
        figures: &'a StageFigures,
    ) -> Self {
        Self {
            context,
            stage,
            figures,
            place: None,
            histogram: OnceCell::new(),
            stack: OnceCell::new(),
        }
    }

    /// The same, which is known to stand at this place among the stages of the run.
    pub(crate) fn at(self, place: usize) -> Self {
        Self {
            place: Some(place),
            ..self
        }
    }

    /// The run.
    pub(crate) fn run(&self) -> &'a Run {
        self.context.run
    }

    /// What was asked for.
    pub(crate) fn workload(&self) -> &'a Workload {
        self.stage.workload()
    }

    /// What the plan says of it.
    pub(crate) fn planned(&self) -> Option<&'a diskfacts_plan::Stage> {
        let stage = self.stage;
        let mut planned = self.run().plan.stages.iter();
        planned.find(|cell| cell.name == stage.name && cell.settings == *stage.settings)
    }

    /// Its trials, at least one.
    pub(crate) fn trials(&self) -> &[&'a Trial] {
        &self.stage.trials
    }

    /// Whether all of its I/O went past the page cache, or all of it through it; `None` where
    /// trials differ.
    pub(crate) fn direct(&self) -> Option<bool> {
        one_value(self.trials().iter().map(|t| t.evidence.engine.direct))
    }

    /// Sum over its trials; `None` where one of them does not know.
    pub(crate) fn sum(&self, of: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
        self.trials().iter().map(|trial| of(trial)).sum()
    }

    /// Operations of all trials.
    pub(crate) fn ops(&self) -> f64 {
        self.stage.sum(|trial| trial.ops) as f64
    }

    /// Whether the run is read from a document, so that there is no evidence.
    pub(crate) fn imported(&self) -> bool {
        self.run().target.kind == TargetKind::Imported
    }

    /// The other stages that moved blocks of the target, with their figures.
    pub(crate) fn others(&self) -> impl Iterator<Item = StageFacts<'a>> + '_ {
        let this = self.stage;
        self.all()
            .filter(move |other| !std::ptr::eq(other.stage, this))
    }

    /// Those of them that have all of this in common with the stage.
    pub(crate) fn alike<'s>(
        &'s self,
        same: &'s [Same],
    ) -> impl Iterator<Item = StageFacts<'a>> + 's {
        let own = self.workload();
        self.others().filter(move |other| {
            let theirs = other.workload();
            same.iter().all(|same| match same {
                Same::Operation => theirs.operation == own.operation,
                Same::Pattern => theirs.pattern == own.pattern,
                Same::Block => theirs.block_size == own.block_size,
                Same::Cache => theirs.cache == own.cache,
                Same::Sync => theirs.sync == own.sync,
                Same::Depth => theirs.outstanding() == own.outstanding(),
            })
        })
    }

    /// All stages that moved blocks of the target.
    pub(crate) fn all(&self) -> impl Iterator<Item = StageFacts<'a>> + use<'a> {
        let context = self.context;
        let tests = context.tests.iter();
        context
            .each()
            .chain(tests.map(|(stage, figures)| (stage, figures)))
            .filter(|(stage, _)| !stage.is_null() && !stage.workload().operation.on_files())
            .map(move |(stage, figures)| StageFacts::new(context, stage, figures))
    }

    /// The trials of which means speak: those that no stall took much of.
    fn without_stalls(&self) -> Vec<&'a Trial> {
        let trials = self.trials().iter().copied();
        trials.filter(|trial| !Stalls::is_most_of(trial)).collect()
    }

    /// Seconds of all trials.
    pub(crate) fn seconds(&self) -> f64 {
        self.trials().iter().map(|trial| trial.seconds).sum()
    }

    /// Operations per second, median of the trials; `None` when it is 0 or unknown.
    pub(crate) fn iops(&self) -> Option<f64> {
        positive(self.figures.iops.median)
    }

    /// Operations per second over all trials together, which is what goes with the mean
    /// latency of all of them; the median where the numbers are not known. Without trials
    /// that a stall took much of, as [`latency_ns`](Self::latency_ns) is.
    pub(crate) fn mean_iops(&self) -> Option<f64> {
        let trials = self.without_stalls();
        let ops: f64 = trials.iter().map(|trial| trial.ops as f64).sum();
        let seconds: f64 = trials.iter().map(|trial| trial.seconds).sum();
        positive(ops / seconds).or_else(|| self.iops())
    }

    /// Bytes per second, median of the trials; `None` when it is 0 or unknown.
    pub(crate) fn rate(&self) -> Option<f64> {
        positive(self.figures.throughput_bytes_per_s.median)
    }

    /// Nanoseconds from one completion to the next, on average: `1 / iops`.
    pub(crate) fn each_ns(&self) -> Option<f64> {
        Some(1e9 / self.iops()?)
    }

    /// Mean latency of an operation, nanoseconds; worked out from the rate where
    /// one operation at a time was in flight and no latency is known. Without trials that a
    /// stall took much of: their mean is that of the stall. `None` when all are such.
    pub(crate) fn latency_ns(&self) -> Option<f64> {
        let trials = self.without_stalls();
        if trials.len() < self.trials().len() {
            let samples: f64 = trials.iter().map(|t| t.latency_ns.samples as f64).sum();
            let sum = |t: &&Trial| Some(t.latency_ns.mean? * t.latency_ns.samples as f64);
            let sum: Option<f64> = trials.iter().map(sum).sum();
            return sum.and_then(|sum| positive(sum / samples));
        }
        let alone = || {
            self.each_ns()
                .filter(|_| self.workload().outstanding() == 1)
        };
        self.figures
            .latency_ns
            .mean
            .and_then(positive)
            .or_else(alone)
    }

    /// The shortest latency, nanoseconds: what an operation takes that nothing holds up.
    pub(crate) fn shortest_ns(&self) -> Option<f64> {
        Some(self.figures.latency_ns.min? as f64)
    }

    /// Operations in service on average, by the rate and the shortest latency (utilisation law).
    pub(crate) fn in_service(&self) -> Option<f64> {
        Some(self.iops()? * self.shortest_ns()? / 1e9)
    }

    /// Whether what serves them is at work all the time on one after the other, or may be; `None`
    /// where that is not known. Two side by side are two. The next is asked for while the one
    /// before is on its way back: a quarter of a millisecond behind a device of one that a process
    /// serves, and more where the threads wait for a processor. Where other work is as fast
    /// (`all_work`), as hardly a device is, and they do not, less is on its way.
    pub(crate) fn is_served_one_by_one(&self, all_work: bool) -> Option<bool> {
        let late = waited(self.stage).is_some_and(|(_, share, _)| share >= WAIT);
        let most = if all_work && !late { 1.15 } else { 1.5 };
        let in_service = self.in_service()?;
        Some(in_service > cap::AT_WORK && in_service <= most)
    }

    /// Whether operations take equally long: nine of ten up to so many times what half of
    /// them take; `None` where that is not known.
    pub(crate) fn is_even(&self, times: f64) -> Option<bool> {
        let latency = &self.figures.latency_ns;
        Some(latency.p90? as f64 <= times * latency.p50? as f64)
    }

    /// Processor time of an operation, in user mode and in the kernel, nanoseconds.
    pub(crate) fn processor_ns(&self) -> Option<f64> {
        Some(self.figures.cpu_user_ns_per_io? + self.figures.cpu_system_ns_per_io?)
    }

    /// Operations in flight on average, median of the trials: by Little's law the
    /// latencies over the time. What was asked for where that is not known.
    pub(crate) fn depth(&self) -> f64 {
        let seen = |trial: &Trial| Some(trial.evidence.engine.mean_depth);
        let seen = self
            .stage
            .median(|trial| seen(trial).filter(|depth| *depth > 0.0));
        seen.unwrap_or_else(|| self.workload().outstanding() as f64)
    }

    /// Latencies of all operations of all trials; `None` when the run was loaded
    /// without them, or has none.
    pub(crate) fn histogram(&self) -> Option<&Histogram> {
        let all = || {
            let measured = self.stage.latencies()?.measured(self.workload());
            (!measured.is_empty()).then_some(measured)
        };
        self.histogram
            .get_or_init(|| all().map(Box::new))
            .as_deref()
    }

    /// Whether blocks of the target are moved, and not files made or asked for.
    pub(crate) fn moves_blocks(&self) -> bool {
        !self.workload().operation.on_files()
    }

    /// Whether direct I/O was asked for.
    pub(crate) fn asks_direct(&self) -> bool {
        self.workload().cache == CacheMode::Direct
    }

    /// Whether each write is synced.
    pub(crate) fn syncs_each(&self) -> bool {
        self.workload().sync.each_write()
    }

    /// Whether blocks are visited in order: at a distance of one block too.
    pub(crate) fn in_order(&self) -> bool {
        self.stage.in_order()
    }

    /// Whether blocks are visited anywhere.
    pub(crate) fn scattered(&self) -> bool {
        matches!(
            self.workload().pattern,
            Pattern::Random | Pattern::Zipf { .. }
        )
    }

    /// Operations in flight that were asked for, over all streams, at least 1.
    pub(crate) fn outstanding(&self) -> f64 {
        self.workload().outstanding().max(1) as f64
    }

    /// Bytes of the target that the stage goes over.
    pub(crate) fn span(&self) -> u64 {
        let whole = self.run().target.size_bytes;
        self.workload().span.unwrap_or(whole)
    }

    /// Whether blocks of the target are moved, and memory of the host, or a mapping above
    /// the disks, serves less than half of them: what a device can have limited. Of a document that is not
    /// known, so there writes through the page cache are not taken for the device's
    /// unless they are synced.
    pub(crate) fn reaches_device(&self) -> bool {
        let workload = self.workload();
        let to_memory = self.imported()
            && workload.operation.writes()
            && workload.cache != CacheMode::Direct
            && !workload.sync.each_write()
            && !workload.sync.at_end();
        let above = self.memory_share() + self.figures.layers.mapping;
        self.moves_blocks() && above < 0.5 && !to_memory
    }

    /// Share of the operations' time that these parts of its budget have; `None` where there is
    /// no budget.
    pub(crate) fn spent(&self, parts: &[Spent]) -> Option<f64> {
        let budget = self.figures.budget.as_ref()?;
        let sum: f64 = parts.iter().map(|part| budget.mean_ns(*part)).sum();
        let share = sum / budget.latency_ns;
        share.is_finite().then_some(share)
    }

    /// Whether nothing is written.
    pub(crate) fn only_reads(&self) -> bool {
        self.workload().operation == Operation::Read
    }

    /// Whether nothing is read.
    pub(crate) fn only_writes(&self) -> bool {
        self.workload().operation == Operation::Write
    }

    /// Share of the bytes that memory of the host served.
    pub(crate) fn memory_share(&self) -> f64 {
        self.figures.layers.page_cache
    }

    /// What lies under the target, with the settings that were in force in the trials of
    /// this stage; those of the run are the ones from before it.
    pub(crate) fn stack(&self) -> &Stack {
        let stack = &self.run().stack;
        let changed = self.stack.get_or_init(|| {
            // All trials of a stage were asked for the same.
            let settings = &self.trials().first()?.evidence.settings;
            (!settings.is_empty()).then(|| Box::new(stack.under(settings)))
        });
        changed.as_deref().unwrap_or(stack)
    }

    /// The devices that stand on no other.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &'a BlockDevice> {
        self.run().stack.leaves()
    }

    /// How many these are, at least 1.
    pub(crate) fn disks(&self) -> f64 {
        self.leaves().count().max(1) as f64
    }

    /// Whether a drive may keep what is written in a volatile cache.
    pub(crate) fn has_write_cache(&self) -> bool {
        self.leaves()
            .any(|leaf| leaf.write_cache.as_deref() == Some("write back"))
    }

    /// Whether the disks rotate: all of them, or none; `None` when they differ or
    /// when it is not known.
    pub(crate) fn rotates(&self) -> Option<bool> {
        self.context.all_turn()
    }

    /// Whether rate and latency are of the same operations: that by Little's law at least
    /// half of what was to be in flight was. Where trials differ by much the rate is that of
    /// one, and the latencies are those of others, which did more.
    pub(crate) fn agrees(&self) -> bool {
        let in_flight = self.iops().zip(self.latency_ns());
        in_flight.is_some_and(|(iops, ns)| iops * ns / 1e9 >= 0.5 * self.depth())
    }

    /// What these devices counted, in each of the trials.
    pub(crate) fn counted_by(
        &self,
        devices: &[&BlockDevice],
    ) -> impl Iterator<Item = &'a DeviceCounters> {
        let all = self
            .trials()
            .iter()
            .flat_map(|trial| &trial.evidence.devices);
        all.filter(|one| devices.iter().any(|device| device.name == one.name))
    }

    /// What the looks at its threads saw; `None` where nobody looked.
    pub(crate) fn looks(&self) -> Option<Looks> {
        Looks::of(self.trials().iter().copied())
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
        let context = Context::new(run);
        let mut each = context.each();
        let (stage, figures) = each
            .find(|(stage, _)| stage.trials[0].stage == STAGE)
            .expect("the stage");
        let facts = StageFacts::new(&context, stage, figures);
        let means = facts.latency_ns().zip(facts.mean_iops());
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
