//! The threads slept in the kernel for something else than their requests: the lock of a
//! file, another program that is asked for leave, a tracer, memory, the throttling of
//! writes, a journal without room, or what is frozen.

use super::dirty_throttling;
use super::prelude::*;
use crate::blocked::{By, Looks, SEEN_MIN};
use crate::memory_limit::group_limit;

pub(super) const LIMITER: Limiter = Limiter {
    name: "blocked",
    about: "blocked in the kernel",
    find: sleeps_elsewhere,
    ..Limiter::ANY
};

/// What operations do, when they would not (what refutes it), and what to do.
struct Words {
    claim: &'static str,
    unless: &'static str,
    remedy: &'static str,
}

/// `None` of what has a limiter of its own: the queue and its depth.
fn words(by: By) -> Option<Words> {
    let (claim, unless, remedy) = match by {
        By::FileLock => (
            "wait for the lock of the file, which lets one in at a time",
            "with a file for each stream",
            "Give each writer a file of its own; or write directly (O_DIRECT) over blocks that are \
             written already, which ext4 and XFS do side by side.",
        ),
        By::Permission => (
            "wait for a program that is asked for leave at each access",
            "while that program is stopped",
            "Find it with `grep -l fanotify /proc/[0-9]*/fdinfo/*` as root: an on-access scanner, an \
             endpoint agent, a sandbox. Exclude this path there.",
        ),
        By::Tracer => (
            "are stopped by a tracer",
            "without a tracer",
            "End the tracer: `TracerPid` in /proc/PID/status names it (`strace`, a debugger).",
        ),
        By::Memory => (
            "wait for memory",
            "with more memory",
            "Raise the memory limit of the control group (`memory.high`, `memory.max`), or free \
             memory: see `free -h` and /proc/pressure/memory.",
        ),
        By::Throttle => (
            "are held back by the kernel's throttling of writes or a cost model",
            "with the throttling off",
            "Look at `wbt_lat_usec` in /sys/block/DEVICE/queue (0 is off) and at `io.cost.qos` and \
             `io.latency` of the control groups.",
        ),
        By::Journal => (
            "wait for the filesystem's journal, which is full or commits",
            "with a larger journal, or without one",
            "A larger journal (`tune2fs -J size=MIB`, `mkfs.xfs -l size=`), or one on a device of its \
             own; `data=ordered` in place of `data=journal`; nobody else who changes files there \
             meanwhile.",
        ),
        By::Freeze => (
            "wait at the frozen filesystem (`fsfreeze`, a snapshot)",
            "while nobody freezes it",
            "Find who freezes it, a backup, a snapshot of LVM or of the hypervisor (its guest agent), \
             and measure at another time.",
        ),
        By::QueueFrozen => (
            "wait at the frozen queue of the device, of which settings are being changed",
            "while nobody changes settings of the queue",
            "Find who changes the scheduler, `nr_requests` or a limit of the device again and again: \
             rules of udev, `tuned`, a container runtime.",
        ),
        By::Tags | By::LogOfOthers => return None,
    };
    Some(Words {
        claim,
        unless,
        remedy,
    })
}

fn sleeps_elsewhere(facts: &StageFacts<'_>) -> Option<Candidate> {
    let looks = Looks::of(facts.trials().iter().copied())?;
    let by = By::ALL
        .into_iter()
        .filter(|by| words(*by).is_some())
        .max_by_key(|by| looks.by(*by))?;
    let (seen, share) = (looks.by(by), looks.share(by));
    unless(seen < SEEN_MIN || share < DETAIL)?;
    // Writers whose group's memory is full of what they wrote wait for that to be written back.
    let is_told = by == By::Memory
        && group_limit(facts.trials()).is_some()
        && dirty_throttling::LIMITER.speaks_of(facts);
    unless(is_told)?;
    let words = words(by)?;
    let functions: Vec<String> = looks
        .blocked
        .iter()
        .filter(|one| one.0 == by)
        .map(|one| format!("{} in `{}`", one.2, one.1))
        .collect();
    let claim = format!(
        "Operations {}: {} of the time.",
        words.claim,
        percent(share)
    );
    let line = format!(
        "Of {} looks at the threads, one each 10 ms, {seen} saw one blocked: {}.",
        looks.number,
        functions.join(", ")
    );
    let found = Candidate::new(standing(by, share), share, Certain, claim)
        .evidence([line])
        .refuted_by(format!("The same latency {}.", words.unless))
        .question(format!(
            "The same {}: operations that are shorter by as much speak for it.",
            words.unless
        ))
        .remedy(words.remedy);
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
