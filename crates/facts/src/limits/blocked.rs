//! The threads slept in the kernel for something else than their requests: the lock of a
//! file, another program that is asked for leave, a tracer, memory, the throttling of
//! writes, a journal without room, or what is frozen.

use super::dirty_throttling;
use super::prelude::*;
use crate::blocked::By;
use crate::memory_limit::group_limit;

pub(super) const LIMITER: Limiter = Limiter {
    name: "blocked",
    find: sleeps_elsewhere,
    ..Limiter::ANY
};

/// The case of its words, and what operations do; `None` of what has a limiter of its own: the
/// queue and its depth.
fn words(by: By) -> Option<(&'static str, &'static str)> {
    Some(match by {
        By::FileLock => (
            "file-lock",
            "wait for the lock of the file, which lets one in at a time",
        ),
        By::Permission => (
            "permission",
            "wait for a program that is asked for leave at each access",
        ),
        By::Tracer => ("tracer", "are stopped by a tracer"),
        By::Memory => ("memory", "wait for memory"),
        By::Throttle => (
            "throttle",
            "are held back by the kernel's throttling of writes or a cost model",
        ),
        By::Journal => (
            "journal",
            "wait for the filesystem's journal, which is full or commits",
        ),
        By::Freeze => (
            "freeze",
            "wait at the frozen filesystem (`fsfreeze`, a snapshot)",
        ),
        By::QueueFrozen => (
            "queue-frozen",
            "wait at the frozen queue of the device, of which settings are being changed",
        ),
        By::Tags | By::LogOfOthers => return None,
    })
}

fn sleeps_elsewhere(facts: &StageFacts<'_>) -> Option<Candidate> {
    let looks = facts.looks()?;
    let known = By::ALL.into_iter().filter(|by| words(*by).is_some());
    let by = known.max_by_key(|by| looks.by(*by))?;
    unless(!looks.often(by))?;
    let share = looks.share(by);
    // Writers whose group's memory is full of what they wrote wait for that to be written back.
    let is_told = by == By::Memory
        && group_limit(facts.trials()).is_some()
        && dirty_throttling::LIMITER.speaks_of(facts);
    unless(is_told)?;
    let (case, what) = words(by)?;
    let functions = looks.blocked.iter().filter(|one| one.0 == by);
    let functions = functions.map(|one| format!("{} in `{}`", one.2, one.1));
    let functions: Vec<String> = functions.collect();
    let claim = format!("Operations {what}: {} of the time.", percent(share));
    let blocked = format!("blocked: {}.", functions.join(", "));
    let line = looks.saw(looks.by(by), &blocked);
    let found = Candidate::new(standing(by, share), share, Certain, claim)
        .evidence([line])
        .case(case);
    Some(match by {
        // One stream waits for another program's lock, and fewer streams there are not.
        By::FileLock if facts.workload().streams > 1 => {
            let stages = facts.as_it_was().and("one-stream", |w| w.streams = 1);
            let question = "With nobody else at the file nobody waits for the lock: nearly the \
                            same rate in all speaks for it.";
            found.question(question).settled_by(stages)
        }
        _ => found,
    })
}

/// What keeps an operation from the device is not the device's, and the device is not told by
/// it; who waits for the lock waits for the others' operations on the device.
fn standing(by: By, share: f64) -> Standing {
    match Standing::cause(share) {
        Standing::Cause if !matches!(by, By::FileLock | By::Throttle | By::Journal) => {
            Standing::NotTheDevice
        }
        other => other,
    }
}
