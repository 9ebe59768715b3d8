//! What limited each stage: the candidates of a table, each with the arithmetic
//! that shows it, the best explanation first.
//!
//! A limiter looks at one stage, with the run beside it, and says how much of the
//! time of its operations it accounts for. A finding says that a figure does not
//! mean what it seems to mean; a limit says why it is not larger, of sound figures
//! too. Which of several comes first is decided by their `Standing`.

mod candidate;
mod exclusions;
mod gain;
mod limiter;
mod low_priority;
mod prelude;

// The side of the host.
mod blocked;
mod buffered_depth;
mod cgroup_throttle;
mod compression;
mod copy_on_write;
mod cpu_generator;
mod cpu_kernel;
mod cpu_quota;
mod device_queue;
mod direct_as_buffered;
mod dirty_throttling;
mod evicted;
mod holes;
mod journal;
mod memory_disk;
pub(crate) mod mislabelled;
mod offered_load;
mod other_process;
mod page_cache;
pub(crate) mod partial_pages;
mod queue;
mod read_ahead;
mod request_splitting;
mod scheduler;
mod serialised;
mod stopped;
mod sync_mount;
// The storage's side.
mod alignment;
mod changed_speed;
mod credit_throttle;
mod device_parallelism;
mod first_write;
mod flush_per_write;
mod garbage_collection;
mod interface;
pub(crate) mod media_rate;
mod network;
mod one_at_a_time;
mod positioning;
mod raid_small_write;
mod retries;
mod rotation;
mod slow_member;
mod slow_requests;
mod stall;
mod thermal_throttle;
mod write_cache;
mod write_cache_off;
mod zone;

pub use crate::stage_facts::ladder::ENOUGH as ENOUGH_OF_BEST;
pub(crate) use candidate::{Candidate, Standing};
#[cfg(test)]
pub(crate) use limiter::Claims;
pub use limiter::Limiter;

use crate::context::Context;
use crate::explanations::{IN_SHORT, Words};
use crate::stage_facts::StageFacts;
use crate::tested_claims;
use diskfacts_record::{Limit, StageLimits};

/// The limiters on the side of the storage: the device, what its kind of work costs, and
/// what is done to it.
const OF_STORAGE: &[Limiter] = &[
    media_rate::LIMITER,
    rotation::LIMITER,
    positioning::SEEK,
    positioning::POSITIONING,
    one_at_a_time::LIMITER,
    device_parallelism::LIMITER,
    interface::LIMITER,
    flush_per_write::LIMITER,
    write_cache::LIMITER,
    write_cache_off::LIMITER,
    garbage_collection::LIMITER,
    thermal_throttle::LIMITER,
    changed_speed::LIMITER,
    credit_throttle::LIMITER,
    raid_small_write::LIMITER,
    slow_member::LIMITER,
    alignment::LIMITER,
    zone::LIMITER,
    network::LIMITER,
    retries::LIMITER,
    slow_requests::LIMITER,
    stall::LIMITER,
];

/// Those on the side of the host: memory, processors, the kernel's queues and limits, and
/// who else is there.
const OF_HOST: &[Limiter] = &[
    mislabelled::LIMITER,
    stopped::LIMITER,
    blocked::LIMITER,
    offered_load::LIMITER,
    holes::LIMITER,
    memory_disk::LIMITER,
    page_cache::LIMITER,
    evicted::LIMITER,
    cgroup_throttle::LIMITER,
    cpu_quota::LIMITER,
    dirty_throttling::LIMITER,
    sync_mount::LIMITER,
    partial_pages::LIMITER,
    compression::LIMITER,
    copy_on_write::LIMITER,
    first_write::LIMITER,
    direct_as_buffered::LIMITER,
    buffered_depth::LIMITER,
    read_ahead::LIMITER,
    request_splitting::LIMITER,
    device_queue::LIMITER,
    serialised::LIMITER,
    journal::LIMITER,
    low_priority::LIMITER,
    other_process::LIMITER,
    cpu_generator::LIMITER,
    cpu_kernel::LIMITER,
];

/// All limiters; among candidates of the same weight those that come first here
/// are named first.
pub fn all() -> impl Iterator<Item = &'static Limiter> {
    OF_STORAGE.iter().chain(OF_HOST)
}

/// What a limiter is, in a few words, by its name; `None` of one that is not known.
pub fn about(name: &str) -> Option<&'static str> {
    let found = all().find(|limiter| limiter.name == name);
    found.map(Limiter::about)
}

/// What to do about it in a clause of at most 36 columns; `None` of one about which nothing can
/// be done, or something else each time. Its remedy says it with the names and the numbers of the
/// run.
pub fn in_short(name: &str) -> Option<&'static str> {
    let clause = Words::of(name).say(IN_SHORT, "");
    Some(clause).filter(|clause| !clause.is_empty())
}

/// Those on the side of the storage: the device, what its work costs, and what is done
/// to it.
pub fn of_storage() -> &'static [Limiter] {
    OF_STORAGE
}

/// What limited each stage that did something without errors, in the order of the figures;
/// `more` are the limiters that stand before those of the table.
pub(crate) fn of(context: &Context<'_>, more: &'static [Limiter]) -> Vec<StageLimits> {
    context
        .each()
        // What has no figure has nothing that limits it.
        .filter(|(stage, _)| !stage.is_null() && stage.is_sound())
        .map(|(stage, figures)| {
            let facts = StageFacts::new(context, stage, figures);
            StageLimits {
                stage: stage.name.to_owned(),
                settings: stage.settings.clone(),
                limits: of_stage(&facts, more),
                tested: tested_claims::of_stage(&facts),
            }
        })
        .collect()
}

/// The candidates for one stage that no test has refuted, the best explanation first.
fn of_stage(facts: &StageFacts<'_>, more: &'static [Limiter]) -> Vec<Limit> {
    let mut candidates: Vec<(&Limiter, Candidate)> = more
        .iter()
        .chain(all())
        .filter(|limiter| limiter.may_speak_of(facts))
        .filter(|limiter| !tested_claims::is_refuted(facts, limiter.name))
        .filter_map(|limiter| {
            let most = limiter.share_at_most(facts);
            Some((limiter, limiter.candidate(facts)?.within(most)))
        })
        .filter(|(_, candidate)| candidate.matters())
        .collect();
    exclusions::apply(&mut candidates);
    // The sort is stable and keeps the order of the table.
    candidates.sort_by(|(_, a), (_, b)| a.best_first(b));
    candidates
        .into_iter()
        .map(|(limiter, candidate)| {
            let gain = gain::of(limiter.name, facts, &candidate);
            limiter.limit(facts, candidate, gain)
        })
        .collect()
}

#[cfg(test)]
mod cap_tests;
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
