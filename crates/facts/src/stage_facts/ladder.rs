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

use super::slow::Erasing;
use crate::prelude::*;
use diskfacts_plan::Stop;
use std::cmp::Ordering;

/// Share of a rate from which on another is as good: trials of one stage differ by a few
/// percent, and no depth is chosen for a tenth.
pub const ENOUGH: f64 = 0.9;
/// A rate is worth having more in flight for when it is so many times as high.
pub(crate) const MORE: f64 = 1.2;
/// A device has room while operations spend less of their time waiting for each other than on
/// what one takes alone: while their latency is within this factor of that.
pub(crate) const ROOM: f64 = 2.0;

/// One depth that was measured.
#[derive(Debug, Clone)]
pub(crate) struct Rung {
    /// Operations in flight.
    pub(crate) depth: f64,
    /// Operations per second.
    pub(crate) iops: f64,
    /// Mean latency, ns.
    pub(crate) latency_ns: f64,
    /// The same, or the median where that is less: a few that take long are no queue.
    pub(crate) usual_ns: f64,
    /// Operations per second of each trial.
    pub(crate) rates: Vec<f64>,
    /// The stage.
    pub(crate) label: String,
}

/// A stage, and those that differ from it in the number in flight only.
#[derive(Debug, Clone)]
pub(crate) struct Ladder {
    /// The stage itself.
    pub(crate) own: Rung,
    /// All of them and the stage itself, each depth once, by their depth.
    rungs: Vec<Rung>,
}

/// Where a stage stands among the depths that were measured. The **knee** is the fewest in
/// flight that do [`ENOUGH`] of the best rate of all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
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
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        let own = Rung::of(facts)?;
        // What memory served, or what failed, is no depth of the device.
        let alike = facts.alike(Same::WORK);
        let alike = alike.filter(|other| {
            other.stage.is_sound() && other.reaches_device() && is_alike(facts, other)
        });
        // Nor is what waits for the flash to be emptied: with more in flight that comes sooner.
        let erases = Erasing::of(facts).is_some();
        let alike = alike.filter(|other| erases || Erasing::of(other).is_none());
        let mut rungs: Vec<Rung> = alike.filter_map(|other| Rung::of(&other)).collect();
        rungs.retain(|rung| (rung.depth - own.depth).abs() >= 1.0);
        rungs.push(own.clone());
        rungs.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        // What tests a claim comes behind the stages of the plan, and may repeat a depth.
        rungs.dedup_by(|later, first| (later.depth - first.depth).abs() < 1.0);
        Some(Self { own, rungs })
    }

    /// Where the stage stands.
    pub(crate) fn place(&self) -> Place<'_> {
        let (own, knee) = (&self.own, self.knee());
        match own.depth.total_cmp(&knee.depth) {
            Ordering::Less if self.best().iops >= MORE * own.iops => Place::Room,
            Ordering::Less => Place::NearlyFull,
            Ordering::Equal => self.best_deeper().map_or(Place::Deepest, Place::Full),
            Ordering::Greater => Place::Behind,
        }
    }

    /// What does most; of equals that with fewer in flight.
    pub(crate) fn best(&self) -> &Rung {
        let most = self.rungs.iter().rev();
        most.max_by(|a, b| a.iops.total_cmp(&b.iops))
            .unwrap_or(&self.own)
    }

    /// The fewest in flight that do [`ENOUGH`] of the best rate.
    pub(crate) fn knee(&self) -> &Rung {
        let enough = ENOUGH * self.best().iops;
        let mut rungs = self.rungs.iter();
        rungs.find(|rung| rung.iops >= enough).unwrap_or(&self.own)
    }

    /// Those with fewer in flight than this stage, fewest first.
    pub(crate) fn shallower(&self) -> impl Iterator<Item = &Rung> {
        self.rungs.iter().filter(|r| r.depth < self.own.depth)
    }

    /// What does most of those with more in flight.
    pub(crate) fn best_deeper(&self) -> Option<&Rung> {
        let deeper = self.rungs.iter().filter(|r| r.depth > self.own.depth);
        deeper.max_by(|a, b| a.iops.total_cmp(&b.iops))
    }

    /// What was measured of the depth that is enough, held against the best or this stage:
    /// `8 in flight reach 91 % of the best rate, that of 32, at 27 % of its latency`.
    pub(crate) fn advice(&self) -> String {
        let (knee, best, own) = (self.knee(), self.best(), &self.own);
        let (more, longer) = knee.against(own);
        match self.place() {
            Place::Full(deeper) if own.iops < deeper.iops => own.reaches(deeper),
            Place::Full(deeper) => format!(
                "{} in flight reach {} of this rate at {} times its latency",
                deeper.depth,
                percent(deeper.iops / own.iops),
                deeper.against(own).1
            ),
            _ if knee.depth < best.depth => knee.reaches(best),
            Place::Behind => format!(
                "{} in flight do most; these {} reach {} of that at {} times the latency",
                knee.depth,
                own.depth,
                percent(own.iops / knee.iops),
                own.against(knee).1
            ),
            Place::Room | Place::NearlyFull | Place::Deepest => format!(
                "{} in flight do most, {more} times as many as {} at {longer} times the latency",
                knee.depth, own.depth
            ),
        }
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
    pub(crate) fn against(&self, other: &Self) -> (String, String) {
        let latency = ratio(self.latency_ns / other.latency_ns);
        (ratio(self.iops / other.iops), latency)
    }

    /// What it does, held against the best: `8 in flight reach 91 % of the best rate, that
    /// of 32, at 27 % of its latency`.
    pub(crate) fn reaches(&self, best: &Self) -> String {
        format!(
            "{} in flight reach {} of the best rate, that of {}, at {} of its latency",
            self.depth,
            percent(self.iops / best.iops),
            best.depth,
            percent(self.latency_ns / best.latency_ns)
        )
    }

    /// This and a deeper one, and what each does.
    pub(crate) fn beside(&self, deeper: &Self) -> String {
        format!(
            "Operations/s: {} with {} in flight ({}), {} with {} ({}).",
            rate_digits(self.iops),
            self.depth,
            self.label,
            rate_digits(deeper.iops),
            deeper.depth,
            deeper.label
        )
    }
}

/// What an operation of a stage takes that waits for no other.
pub(crate) struct Alone {
    /// Mean latency, and the same or the median where that is less, ns.
    pub(crate) latency_ns: f64,
    pub(crate) usual_ns: f64,
    /// By what it is known.
    pub(crate) by: String,
}

/// That of a stage, by other stages, or by its shortest, unless memory may have served that.
pub(crate) fn alone(facts: &StageFacts<'_>, ladder: &Ladder) -> Option<Alone> {
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
pub(crate) fn fewer(facts: &StageFacts<'_>, ladder: &Ladder) -> Option<Alone> {
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
    let [own, theirs] = [one, other].map(|facts| {
        let settings = facts.stage.settings.iter();
        settings.filter(|(key, _)| !OF_DEPTH.contains(&key.as_str()))
    });
    let (a, b) = (one.workload(), other.workload());
    a.offset == b.offset
        && a.span == b.span
        && a.pool == b.pool
        && a.beside == b.beside
        && a.rate.is_none()
        && b.rate.is_none()
        && (own.eq(theirs) || differ_in_depth(one, other))
}

/// Whether two cells of a plan, whatever it calls its axes, ask for the same but for the depth
/// and when to stop.
fn differ_in_depth(one: &StageFacts<'_>, other: &StageFacts<'_>) -> bool {
    let cell = |facts: &StageFacts<'_>| {
        let of_stage = facts.planned()?;
        let mut workload = of_stage.workload.clone();
        (workload.queue_depth, workload.streams) = (1, 1);
        workload.stop = Stop::default();
        Some((workload, of_stage.kernel.clone()))
    };
    cell(one).is_some_and(|own| cell(other) == Some(own))
}
