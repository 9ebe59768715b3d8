//! Which trial begins when: from the plan, the start and the name of the group alone, so that
//! every host comes to the same without a word.

use super::super::schedule::{LEAST_NS, Next, shuffle};
use super::clock::{GroupClock, error_of_clock};
use super::group::Meeting;
use super::placement::Placement;
use crate::args::StartArgs;
use crate::exit::Failure;
use crate::signals::Signals;
use diskfacts_plan::rng::Rng;
use diskfacts_plan::units::show_duration;
use diskfacts_plan::{Plan, Stop, sha256};
use diskfacts_record::Together;
use diskfacts_record::together::{AgreedBy, AgreedTrial, ClockErrorSource, Layout, Rank};
use jiff::Timestamp;
use std::fmt::Write as _;

/// A trial is prepared in this part of its length, and not in less than [`GAP_NS_MIN`].
const GAP_SHARE: u64 = 4;
/// Threads, observers, and a cache that is dropped.
const GAP_NS_MIN: u64 = 1_000_000_000;

/// What the command says of the group.
#[derive(Debug, Clone)]
pub(in super::super) struct Start {
    /// Empty where the root of the hosts gives it a name.
    pub(in super::super) group: String,
    pub(in super::super) meet: Meet,
    gap_ns: Option<u64>,
    /// The seed of the command, which is that of all hosts then.
    seed: Option<u64>,
    /// What it writes and uses of files that other hosts see, if there are such.
    pub(in super::super) placement: Option<Placement>,
}

/// How the hosts meet.
#[derive(Debug, Clone)]
pub(in super::super) enum Meet {
    /// At a moment that all know, each by its clock.
    Clock {
        at: Timestamp,
        stated_error_ns: Option<u64>,
        clock_error_ns: u64,
        clock_error_source: ClockErrorSource,
    },
    /// When all of them are there, by messages.
    Messages,
}

impl Start {
    /// Whether the hosts agree by messages before anything is made.
    pub(in super::super) fn agrees(&self) -> bool {
        matches!(self.meet, Meet::Messages)
    }

    /// What the command asks for; `None` of a run of this host alone.
    ///
    /// # Errors
    /// Where the moment is over, the clock is not kept, or the plan changes the kernel.
    pub(in super::super) fn of(
        args: &StartArgs,
        group: Option<&str>,
        plan: &Plan,
        seed: Option<u64>,
        now: Timestamp,
        rank: Option<Rank>,
    ) -> Result<Option<Self>, Failure> {
        let by_clock = args.start_at.zip(group);
        if by_clock.is_none() && !args.together {
            return Ok(None);
        }
        if let Some(stage) = plan.stages.iter().find(|stage| !stage.kernel.is_empty()) {
            return Err(Failure::wrong_call(format!(
                "the stage {} changes settings of the kernel, and would on every host of the \
                 group; measure it with one host, without --start-at or --together",
                stage.name
            )));
        }
        let meet = match by_clock {
            None => Meet::Messages,
            Some((start_at, _)) => {
                let at = start_at.after(now).map_err(Failure::wrong_call)?;
                let (clock_error_ns, clock_error_source) = error_of_clock(args.clock_error)?;
                Meet::Clock {
                    at,
                    stated_error_ns: args.clock_error,
                    clock_error_ns,
                    clock_error_source,
                }
            }
        };
        Ok(Some(Self {
            group: group.unwrap_or_default().to_owned(),
            meet,
            gap_ns: args.gap,
            seed,
            placement: Placement::of(args, rank, plan)?,
        }))
    }

    /// What a host meets the others by; `None` where that is messages.
    pub(in super::super) fn clock(&self, signals: &Signals) -> Option<GroupClock> {
        match self.meet {
            Meet::Clock {
                at,
                stated_error_ns,
                ..
            } => Some(GroupClock::new(at, stated_error_ns, signals)),
            Meet::Messages => None,
        }
    }

    /// Nanoseconds from now until the first trial, in which all has to be prepared; `None` where
    /// it begins when all are.
    pub(in super::super) fn ahead_ns(&self, now: Timestamp) -> Option<u64> {
        let Meet::Clock { at, .. } = self.meet else {
            return None;
        };
        let ahead = at.as_nanosecond() - now.as_nanosecond();
        Some(u64::try_from(ahead.max(0)).unwrap_or(u64::MAX))
    }

    /// When the first trial begins, where that is known.
    pub(in super::super) fn at(&self) -> Option<Timestamp> {
        match self.meet {
            Meet::Clock { at, .. } => Some(at),
            Meet::Messages => None,
        }
    }

    /// Which bytes hosts use, and whose.
    fn layout(&self) -> (Layout, u32) {
        let placement = self.placement;
        placement.map_or_else(Default::default, |placement| {
            (placement.layout, placement.shift)
        })
    }

    /// The seed of the order of the trials. The accesses of a host have a seed of its own, so
    /// that hosts do not read the same blocks one behind the other.
    fn order_seed(&self) -> u64 {
        let at = self.at().map(|at| at.to_string()).unwrap_or_default();
        let drawn = || sha256::number(format!("{} {at}", self.group).as_bytes());
        self.seed.unwrap_or_else(drawn)
    }
}

/// A trial of the agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Slot {
    /// Index of its stage in the plan.
    stage: usize,
    number: u32,
    order: u32,
    stop: Stop,
    at_ns: u64,
    pub(super) length_ns: u64,
}

impl Slot {
    /// What is to be done, with a seed of this host.
    pub(in super::super) fn next(&self, seed: u64) -> Next {
        Next {
            stage: self.stage,
            number: self.number,
            order: self.order,
            stop: self.stop,
            seed: Rng::for_part(seed, u64::from(self.order)).next_u64(),
            left: None,
            prepare_ns: None,
        }
    }
}

/// What all hosts of a group come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Agreement {
    pub(in super::super) trials: Vec<Slot>,
    /// Of all that the hosts have to have in common: 16 hexadecimal digits.
    pub(in super::super) digest: String,
}

impl Agreement {
    /// The trials of a plan that is to take `time_ns` nanoseconds.
    ///
    /// # Errors
    /// Where a stage does not say how long it takes, or the time has no room for them.
    pub(in super::super) fn new(plan: &Plan, start: &Start, time_ns: u64) -> Result<Self, String> {
        let share_ns = share_ns(plan, start.gap_ns, time_ns)?;
        let mut rng = Rng::new(start.order_seed());
        let mut trials = Vec::new();
        let mut at_ns = 0_u64;
        for number in 1..=plan.trials {
            let mut places: Vec<usize> = (0..plan.stages.len()).collect();
            shuffle(&mut places, &mut rng);
            for place in places {
                let stage = &plan.stages[place];
                let mut stop = stage.workload.stop;
                if stage.shares_time() {
                    stop.time_ns = Some(stop.time_ns.map_or(share_ns, |own| own.min(share_ns)));
                }
                let length_ns = stop.time_ns.unwrap_or(share_ns);
                if !trials.is_empty() {
                    at_ns = at_ns.saturating_add(gap_ns(start.gap_ns, length_ns));
                }
                trials.push(Slot {
                    stage: place,
                    number,
                    order: u32::try_from(trials.len() + 1).unwrap_or(u32::MAX),
                    stop,
                    at_ns,
                    length_ns,
                });
                at_ns = at_ns.saturating_add(length_ns);
            }
        }
        let digest = digest(plan, start, &trials);
        Ok(Self { trials, digest })
    }

    /// How often each stage is done.
    pub(in super::super) fn rounds(&self) -> u32 {
        let numbers = self.trials.iter().map(|slot| slot.number);
        numbers.max().unwrap_or(0)
    }

    /// The record of a run that has not begun.
    pub(in super::super) fn record(
        &self,
        plan: &Plan,
        start: &Start,
        meeting: Option<&Meeting>,
    ) -> Together {
        let (clock_error_ns, clock_error_source) = match start.meet {
            Meet::Clock {
                clock_error_ns,
                clock_error_source,
                ..
            } => (clock_error_ns, clock_error_source),
            // Of each trial it is known when it is over.
            Meet::Messages => (0, ClockErrorSource::RoundTrip),
        };
        let at = || start.at().map(|at| at.to_string()).unwrap_or_default();
        let trial = |slot: &Slot| AgreedTrial {
            order: slot.order,
            stage: plan.stages[slot.stage].name.clone(),
            settings: plan.stages[slot.stage].settings.clone(),
            number: slot.number,
            at_ns: slot.at_ns,
            length_ns: slot.length_ns,
            started_ns: None,
            ended_ns: None,
            clock_error_ns,
            late_ns: None,
            void: None,
            void_kind: None,
        };
        Together {
            group: meeting.map_or_else(|| start.group.clone(), |meeting| meeting.group.clone()),
            agreed_by: match start.meet {
                Meet::Clock { .. } => AgreedBy::Clock,
                Meet::Messages => AgreedBy::Mpi,
            },
            start: meeting.map_or_else(at, |meeting| meeting.start.clone()),
            agreement: self.digest.clone(),
            clock_error_source,
            rank: meeting.map(|meeting| meeting.rank),
            layout: start.layout().0,
            shift: start.layout().1,
            lost: Vec::new(),
            trials: self.trials.iter().map(trial).collect(),
        }
    }
}

fn gap_ns(asked_ns: Option<u64>, length_ns: u64) -> u64 {
    asked_ns.unwrap_or_else(|| (length_ns / GAP_SHARE).max(GAP_NS_MIN))
}

/// Nanoseconds of each trial whose stage does not say how long it takes: what the others leave
/// of the time, over their number, each with its gap.
fn share_ns(plan: &Plan, gap: Option<u64>, time_ns: u64) -> Result<u64, String> {
    let (mut sharing, mut given_ns) = (0_u64, 0_u64);
    for stage in &plan.stages {
        if stage.shares_time() {
            sharing += 1;
        } else if let Some(own_ns) = stage.workload.stop.time_ns {
            given_ns = given_ns.saturating_add(own_ns.saturating_add(gap_ns(gap, own_ns)));
        } else {
            return Err(format!(
                "the stage {} ends after an amount and says no time, so nobody knows when the \
                 trial behind it can begin on all hosts; give it a `time`, the longest that it \
                 may take",
                stage.name
            ));
        }
    }
    if sharing == 0 {
        return Ok(0);
    }
    let rounds = u64::from(plan.trials.max(1));
    let each_ns = (time_ns / rounds).saturating_sub(given_ns) / sharing;
    let share_ns = match gap {
        Some(gap_ns) => each_ns.saturating_sub(gap_ns),
        None if each_ns / (GAP_SHARE + 1) >= GAP_NS_MIN => each_ns / (GAP_SHARE + 1) * GAP_SHARE,
        None => each_ns.saturating_sub(GAP_NS_MIN),
    };
    if share_ns >= LEAST_NS {
        return Ok(share_ns);
    }
    let least_ns = LEAST_NS.saturating_add(gap_ns(gap, LEAST_NS));
    let needed_ns = least_ns.saturating_mul(sharing).saturating_add(given_ns);
    let needed_ns = needed_ns.saturating_mul(rounds);
    Err(format!(
        "{} has no room for {rounds} trials of {} stages that start together, each with {} before \
         it to prepare: give --time {}s, or fewer with --stage and --trials",
        show_duration(time_ns),
        plan.stages.len(),
        show_duration(gap_ns(gap, LEAST_NS)),
        needed_ns.div_ceil(1_000_000_000)
    ))
}

/// Of all that hosts have to have in common. How a plan is written out may change from version
/// to version, and the version is a part of it.
fn digest(plan: &Plan, start: &Start, trials: &[Slot]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "{}\n{}\n{}\n{:?}\n{plan:?}\n{trials:?}",
        env!("CARGO_PKG_VERSION"),
        start.group,
        start.at().map(|at| at.to_string()).unwrap_or_default(),
        start.layout(),
    );
    format!("{:016x}", sha256::number(text.as_bytes()))
}

#[cfg(test)]
mod tests;
