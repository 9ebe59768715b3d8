//! What limited each stage: the candidates of a table, each with the arithmetic
//! that shows it, the best explanation first.
//!
//! A limiter looks at one stage, with the run beside it, and says how much of the
//! time of its operations it accounts for. A finding says that a figure does not
//! mean what it seems to mean; a limit says why it is not larger, of sound figures
//! too. Which of several comes first is decided by their [`Standing`].

mod experiment;
mod host;
pub(crate) mod parts;
mod standing;
mod storage;
mod subject;

// The side of the host.
mod blocked;
mod buffered_depth;
mod cgroup_throttle;
mod changed_speed;
mod compression;
mod copy_on_write;
mod cpu_generator;
mod cpu_kernel;
pub(crate) mod cpu_quota;
mod device_queue;
mod dirty_throttling;
mod evicted;
mod exclusions;
mod gain;
mod holes;
mod journal;
mod memory_disk;
pub(crate) mod mislabelled;
mod offered_load;
mod other_process;
mod page_cache;
pub(crate) mod partial_pages;
mod processor;
mod queue;
mod read_ahead;
mod reference;
mod request_splitting;
mod scheduler_turns;
mod serialised;
mod stopped;
pub(crate) mod sync_mount;
// The storage's side, and what its limiters share.
mod alignment;
mod cap;
mod course;
mod credit_throttle;
mod device_parallelism;
mod flush_per_write;
mod gaps;
mod garbage_collection;
mod interface;
mod ladder;
mod links;
pub(crate) mod media_rate;
mod network;
mod one_at_a_time;
mod overlay;
mod positioning;
mod raid_small_write;
mod retries;
mod rotation;
mod seek;
mod spindle;
mod stall;
mod tested;
mod thermal_throttle;
mod throttle;
mod transfer;
mod write_cache_off;
mod zone;

pub use standing::{Candidate, Standing};
use subject::Shared;
pub use subject::Subject;

use crate::device_physics;
use crate::rules::Context;
use diskfacts_record::{Limit, StageLimits};

/// One limiter.
#[derive(Debug, Clone, Copy)]
pub struct Limiter {
    /// Its name, as in [`Limit::limiter`]: `rotation`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it says of a stage; `None` when it does not hold, or when the evidence
    /// for it is missing.
    pub check: fn(&Subject<'_>) -> Option<Candidate>,
}

/// All limiters; among candidates of the same weight those that come first here
/// are named first.
pub fn all() -> impl Iterator<Item = &'static Limiter> {
    storage::LIMITERS.iter().chain(host::LIMITERS)
}

/// What a limiter is, in a few words, by its name; `None` of one that is not known.
pub fn about(name: &str) -> Option<&'static str> {
    let found = all().find(|limiter| limiter.name == name);
    found.map(|limiter| limiter.about)
}

/// Those on the side of the storage: the device, what its work costs, and what is done
/// to it.
pub fn of_storage() -> &'static [Limiter] {
    storage::LIMITERS
}

/// What limited each stage that did something without errors, in the order of the figures;
/// `more` are the limiters that stand before those of the table.
pub(crate) fn of(context: &Context<'_>, more: &'static [Limiter]) -> Vec<StageLimits> {
    let shared = Shared::default();
    context
        .each()
        // What has no figure has nothing that limits it.
        .filter(|(stage, _)| !stage.is_null() && stage.is_sound())
        .map(|(stage, figures)| StageLimits {
            stage: stage.name.to_owned(),
            settings: stage.settings.clone(),
            limits: of_stage(&Subject::new(context, &shared, stage, figures), more),
            tested: tested::of_stage(context, stage),
        })
        .collect()
}

/// The candidates for one stage that no test has refuted, the best explanation first.
fn of_stage(subject: &Subject<'_>, more: &'static [Limiter]) -> Vec<Limit> {
    let mut candidates: Vec<(&'static str, Candidate)> = more
        .iter()
        .chain(all())
        .filter(|limiter| device_physics::may_limit(limiter.name, subject))
        .filter(|limiter| !subject.is_refuted(limiter.name))
        .filter_map(|limiter| {
            let candidate = (limiter.check)(subject)?;
            let most = parts::at_most(limiter.name, subject.figures.budget.as_ref());
            Some((limiter.name, candidate.within(most)))
        })
        .filter(|(_, candidate)| candidate.matters())
        .collect();
    exclusions::apply(&mut candidates);
    // The sort is stable and keeps the order of the table.
    candidates.sort_by(|(_, a), (_, b)| a.best_first(b));
    candidates
        .into_iter()
        .map(|(name, candidate)| {
            let gain = gain::of(name, subject, &candidate);
            candidate.into_limit(name, gain)
        })
        .collect()
}

/// Limiters that speak of what a drive is made of: platters, arms, flash, its own links.
/// [`device_physics`] says of which devices.
pub(crate) const OF_HARDWARE: [&str; 10] = [
    media_rate::NAME,
    rotation::NAME,
    seek::NAME,
    positioning::NAME,
    interface::NAME,
    write_cache_off::NAME,
    garbage_collection::NAME,
    thermal_throttle::NAME,
    zone::NAME,
    retries::NAME,
];

/// Those that speak of a device of any kind being busy.
pub(crate) const OF_BUSY_DEVICES: [&str; 4] = [
    device_parallelism::NAME,
    flush_per_write::NAME,
    alignment::NAME,
    raid_small_write::NAME,
];

#[cfg(test)]
mod depth_tests;
#[cfg(test)]
mod drive_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod host_tests;
#[cfg(test)]
mod refuted_tests;
#[cfg(test)]
mod tests;
