//! Throughput and latency against the number of operations in flight, as measured.
//!
//! By Little's law (Little, "A Proof for the Queuing Formula: L = lambda W",
//! Operations Research 9, 1961) a closed loop with `n` in flight does `n / latency`
//! operations per second. While the device has room the latency stays what it is for
//! fewer, and the rate grows with `n`; when it is full the rate stays and the latency
//! grows (Denning and Buzen, "The Operational Analysis of Queueing Network Models",
//! Computing Surveys 10, 1978).
//!
//! Nothing is fitted: the two bounds `min(n / L, X)` go through any two points, and where
//! they would meet between two depths is no measurement of the depths between them. On a
//! drive of which 1 in flight did 16 800 operations a second and 32 did 62 700, they meet
//! at 3.7; measured, 4 in flight did 65 % of what 32 did. So what is said of a depth comes
//! from a stage that had it.
//!
//! All that is said of the depths of a run is said from one place, [`Place`]: of the stages
//! of a ladder those with less than the knee have room, that at the knee fills the device, and
//! those with more only wait. So no two of them are told different depths.

use super::garbage_collection;
use super::prelude::*;
use diskfacts_plan::Stop;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Share of a rate from which on another is as good: trials of one stage differ by a few
/// percent, and no depth is chosen for a tenth.
pub const ENOUGH: f64 = 0.9;
/// A rate is worth having more in flight for when it is so many times as high.
pub(super) const MORE: f64 = 1.2;
/// A device has room while operations spend less of their time waiting for each other than on
/// what one takes alone: while their latency is within this factor of that.
pub(super) const ROOM: f64 = 2.0;

/// One depth that was measured.
#[derive(Debug, Clone)]
pub(super) struct Rung {
    /// Operations in flight.
    pub(super) depth: f64,
    /// Operations per second.
    pub(super) iops: f64,
    /// Mean latency, ns.
    pub(super) latency_ns: f64,
    /// The same, or the median where that is less: a few that take long are no queue.
    pub(super) usual_ns: f64,
    /// Operations per second of each trial.
    pub(super) rates: Vec<f64>,
    /// The stage.
    pub(super) label: String,
}

/// A stage, and those that differ from it in the number in flight only.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    /// The stage itself.
    pub(super) own: Rung,
    /// All of them and the stage itself, each depth once, by their depth.
    rungs: Vec<Rung>,
}

/// Where a stage stands among the depths that were measured. The **knee** is the fewest in
/// flight that do [`ENOUGH`] of the best rate of all of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// Before the knee, and the best do [`MORE`] times as many operations a second.
    Room,
    /// Before the knee, and the best do more, though not as much more.
    NearlyFull,
    /// At the knee: this one of those with more in flight does most.
    Full(&'a Rung),
    /// Behind the knee.
    Behind,
    /// At the knee, and no more were in flight anywhere: whether it is one is not known.
    Deepest,
}

impl Ladder {
    /// That of a stage; `None` where its rate or its latency is not known.
    pub(super) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let own = Rung::of(facts)?;
        // What memory served, or what failed, is no depth of the device.
        let alike = facts.alike(Same::WORK);
        let alike = alike.filter(|other| {
            other.stage.is_sound() && other.reaches_device() && is_alike(facts, other)
        });
        // Nor is what waits for the flash to be emptied: with more in flight that comes sooner.
        let cleans = |other: &StageFacts<'_>| garbage_collection::is_cleaning(other);
        let own_cleans = cleans(facts);
        let alike = alike.filter(|other| own_cleans || !cleans(other));
        let mut rungs: Vec<Rung> = alike.filter_map(|other| Rung::of(&other)).collect();
        rungs.retain(|rung| (rung.depth - own.depth).abs() >= 1.0);
        rungs.push(own.clone());
        rungs.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        // What tests a claim comes behind the stages of the plan, and may repeat a depth.
        rungs.dedup_by(|later, first| (later.depth - first.depth).abs() < 1.0);
        Some(Self { own, rungs })
    }

    /// Where the stage stands.
    pub(super) fn place(&self) -> Place<'_> {
        let (own, knee) = (&self.own, self.knee());
        match own.depth.total_cmp(&knee.depth) {
            Ordering::Less if self.best().iops >= MORE * own.iops => Place::Room,
            Ordering::Less => Place::NearlyFull,
            Ordering::Equal => self.best_deeper().map_or(Place::Deepest, Place::Full),
            Ordering::Greater => Place::Behind,
        }
    }

    /// Whether there is room for more in flight, and how sure that is: some stage shows it, or,
    /// where none had more, they do not take much longer than fewer. Without another stage it is
    /// possible only: where each waits for all the others, all take equally long, too.
    pub(super) fn has_room(&self, facts: &StageFacts<'_>) -> Option<Confidence> {
        let takes_as_long = |other: Alone| self.own.usual_ns <= ROOM * other.usual_ns;
        match self.place() {
            Place::Room => Some(Certain),
            Place::Deepest if self.own.depth <= 1.0 => Some(Likely),
            Place::Deepest => match fewer(facts, self) {
                Some(fewer) => takes_as_long(fewer).then_some(Likely),
                None => takes_as_long(alone(facts, self)?).then_some(Possible),
            },
            Place::NearlyFull | Place::Full(_) | Place::Behind => None,
        }
    }

    /// What does most; of equals that with fewer in flight.
    pub(super) fn best(&self) -> &Rung {
        let most = self.rungs.iter().rev();
        most.max_by(|a, b| a.iops.total_cmp(&b.iops))
            .unwrap_or(&self.own)
    }

    /// The fewest in flight that do [`ENOUGH`] of the best rate.
    pub(super) fn knee(&self) -> &Rung {
        let enough = ENOUGH * self.best().iops;
        let mut rungs = self.rungs.iter();
        rungs.find(|rung| rung.iops >= enough).unwrap_or(&self.own)
    }

    /// Those with fewer in flight than this stage, fewest first.
    pub(super) fn shallower(&self) -> impl Iterator<Item = &Rung> {
        self.rungs.iter().filter(|r| r.depth < self.own.depth)
    }

    /// What does most of those with more in flight.
    pub(super) fn best_deeper(&self) -> Option<&Rung> {
        let deeper = self.rungs.iter().filter(|r| r.depth > self.own.depth);
        deeper.max_by(|a, b| a.iops.total_cmp(&b.iops))
    }

    /// What the knee does: its share of the best rate, and of the latency that goes with it.
    /// `8 in flight reach 91 % of the best rate, that of 32, at 27 % of its latency`.
    pub(super) fn advice(&self) -> String {
        let (knee, best, own) = (self.knee(), self.best(), &self.own);
        if knee.depth < best.depth {
            return knee.reaches(best);
        }
        let (more, longer) = knee.against(own);
        format!(
            "{} in flight do most, {more} times as many as {} at {longer} times the latency",
            knee.depth, own.depth
        )
    }
}

impl Rung {
    fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let latency_ns = facts.latency_ns()?;
        let median_ns = facts.figures.latency_ns.p50;
        Some(Self {
            depth: facts.outstanding(),
            iops: facts.iops()?,
            latency_ns,
            usual_ns: median_ns.map_or(latency_ns, |ns| latency_ns.min(ns as f64)),
            rates: facts.trials().iter().map(|trial| trial.iops).collect(),
            label: facts.stage.label(),
        })
    }

    /// How many times as many it does, and how many times as long each takes.
    pub(super) fn against(&self, other: &Self) -> (String, String) {
        let latency = ratio(self.latency_ns / other.latency_ns);
        (ratio(self.iops / other.iops), latency)
    }

    /// What it does, held against the best: `8 in flight reach 91 % of the best rate, that
    /// of 32, at 27 % of its latency`.
    pub(super) fn reaches(&self, best: &Self) -> String {
        format!(
            "{} in flight reach {} of the best rate, that of {}, at {} of its latency",
            self.depth,
            percent(self.iops / best.iops),
            best.depth,
            percent(self.latency_ns / best.latency_ns)
        )
    }
}

/// What an operation of a stage takes that waits for no other.
pub(super) struct Alone {
    /// Mean latency, and the same or the median where that is less, ns.
    pub(super) latency_ns: f64,
    pub(super) usual_ns: f64,
    /// By what it is known.
    pub(super) by: String,
}

/// That of a stage, by other stages, or by its shortest, unless memory may have served that.
pub(super) fn alone(facts: &StageFacts<'_>, ladder: &Ladder) -> Option<Alone> {
    fewer(facts, ladder).or_else(|| {
        unless(facts.memory_share() > 0.0)?;
        let shortest_ns = shortest_ns(facts)?;
        Some(Alone {
            latency_ns: shortest_ns,
            usual_ns: shortest_ns,
            by: "the shortest".to_owned(),
        })
    })
}

/// By the stage with the fewest in flight; of reads and writes mixed by those that do one of them.
fn fewer(facts: &StageFacts<'_>, ladder: &Ladder) -> Option<Alone> {
    let fewest = ladder.shallower().next().map(|fewer| Alone {
        latency_ns: fewer.latency_ns,
        usual_ns: fewer.usual_ns,
        by: format!("{}, {} in flight", fewer.label, fewer.depth),
    });
    fewest.or_else(|| of_both_kinds(facts))
}

/// Of reads and writes mixed: what other stages that do one of them one at a time take, each for
/// its share.
fn of_both_kinds(facts: &StageFacts<'_>) -> Option<Alone> {
    let figures = facts.figures;
    let (reads, writes) = figures.latency_read_ns.zip(figures.latency_write_ns)?;
    let samples = [reads.samples, writes.samples].map(|samples| samples as f64);
    unless(samples.contains(&0.0))?;
    let one_by_one = |operation: Operation| {
        let mut alike = facts.alike(&[Same::Pattern, Same::Block, Same::Cache, Same::Sync]);
        let other = alike.find(|other| {
            let same = other.workload().operation == operation && other.outstanding() <= 1.0;
            same && other.reaches_device()
        })?;
        Rung::of(&other)
    };
    let (read, write) = (one_by_one(Operation::Read)?, one_by_one(Operation::Write)?);
    let mean = |read_ns: f64, write_ns: f64| {
        (samples[0] * read_ns + samples[1] * write_ns) / (samples[0] + samples[1])
    };
    Some(Alone {
        latency_ns: mean(read.latency_ns, write.latency_ns),
        usual_ns: mean(read.usual_ns, write.usual_ns),
        by: format!("{} and {}", read.label, write.label),
    })
}

/// The shortest latency; of reads and writes mixed, that of each by its share: a write
/// into a buffer says nothing of a read.
fn shortest_ns(facts: &StageFacts<'_>) -> Option<f64> {
    let figures = facts.figures;
    let kinds = figures.latency_read_ns.zip(figures.latency_write_ns);
    let Some((reads, writes)) = kinds.filter(|(r, w)| r.samples > 0 && w.samples > 0) else {
        return facts.shortest_ns();
    };
    let share = reads.samples as f64 / (reads.samples + writes.samples) as f64;
    Some(share * reads.min? as f64 + (1.0 - share) * writes.min? as f64)
}

/// Keys that a matrix may vary, of which the depth is made.
const OF_DEPTH: [&str; 2] = ["queue_depth", "streams"];

/// Whether two stages that do the same in the same way differ in their depth or streams only.
fn is_alike(one: &StageFacts<'_>, other: &StageFacts<'_>) -> bool {
    let settings = |facts: &StageFacts<'_>| -> BTreeMap<String, String> {
        let mut settings = facts.stage.settings.clone();
        settings.retain(|key, _| !OF_DEPTH.contains(&key.as_str()));
        settings
    };
    let (a, b) = (one.workload(), other.workload());
    a.offset == b.offset
        && a.span == b.span
        && a.pool == b.pool
        && a.beside == b.beside
        && a.rate.is_none()
        && b.rate.is_none()
        && (settings(one) == settings(other) || differ_in_depth(one, other))
}

/// Whether two cells of a plan, whatever it calls its axes, ask for the same but for the depth
/// and when to stop.
fn differ_in_depth(one: &StageFacts<'_>, other: &StageFacts<'_>) -> bool {
    let cell = |facts: &StageFacts<'_>| {
        let mut cells = facts.run().plan.stages.iter();
        let of_stage = cells
            .find(|cell| cell.name == facts.stage.name && cell.settings == *facts.stage.settings)?;
        let mut workload = of_stage.workload.clone();
        (workload.queue_depth, workload.streams) = (1, 1);
        workload.stop = Stop::default();
        Some((workload, of_stage.kernel.clone()))
    };
    cell(one).is_some_and(|own| cell(other) == Some(own))
}
