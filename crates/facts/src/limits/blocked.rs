//! The threads slept in the kernel for something else than their requests: the lock of a
//! file, another program that is asked for leave, a tracer, memory, the throttling of
//! writes, a journal without room, or what is frozen.

use super::prelude::*;
use crate::blocked::{By, Looks};

pub(super) const LIMITER: Limiter = Limiter {
    name: "blocked",
    about: "blocked in the kernel",
    find: sleeps_elsewhere,
    ..Limiter::ANY
};

/// Looks that have to have seen it: of so many the share is known within its half, with 95 %
/// (the relative error of a count of n is 1.96 / sqrt(n)).
const SEEN_MIN: u64 = 15;

/// What blocks, what tells it from others, and what to do.
struct Words {
    claim: &'static str,
    refuted_by: &'static str,
    question: &'static str,
    remedy: &'static str,
}

fn words(by: By) -> Option<Words> {
    Some(match by {
        By::FileLock => Words {
            claim: "wait for the lock of the file, which lets one in at a time",
            refuted_by: "The same rate with a file for each stream.",
            question: "With nobody else at the file nobody waits for the lock: nearly the same rate in \
                       all speaks for it.",
            remedy: "Give each writer a file of its own; or write directly (O_DIRECT) over blocks \
                     that are written already, which ext4 and XFS do side by side.",
        },
        By::Permission => Words {
            claim: "wait for a program that is asked for leave at each access",
            refuted_by: "The same latency while that program is stopped.",
            question: "The same without the program: operations that are shorter by as much speak \
                       for it.",
            remedy: "Find it with `grep -l fanotify /proc/[0-9]*/fdinfo/*` as root: an on-access \
                     scanner, an endpoint agent, a sandbox. Exclude this path there.",
        },
        By::Tracer => Words {
            claim: "are stopped by a tracer",
            refuted_by: "The same latency without a tracer.",
            question: "The same without a tracer: operations that are shorter by as much speak for \
                       it.",
            remedy: "End the tracer: `TracerPid` in /proc/PID/status names it (`strace`, a \
                     debugger).",
        },
        By::Memory => Words {
            claim: "wait for memory",
            refuted_by: "The same rate with the limit of memory taken away.",
            question: "The same with more memory: a higher rate speaks for it.",
            remedy: "Raise the memory limit of the control group (`memory.high`, `memory.max`), or \
                     free memory: see `free -h` and /proc/pressure/memory.",
        },
        By::Throttle => Words {
            claim: "are held back by the kernel's throttling of writes or a cost model",
            refuted_by: "The same rate with the throttling off.",
            question: "The same with the throttling off: a higher rate speaks for it.",
            remedy: "Look at `wbt_lat_usec` in /sys/block/DEVICE/queue (0 is off) and at \
                     `io.cost.qos` and `io.latency` of the control groups.",
        },
        By::Journal => Words {
            claim: "wait for the filesystem's journal, which is full or commits",
            refuted_by: "The same rate with a larger journal, or on a filesystem without one.",
            question: "The same with a larger journal: a higher rate speaks for it.",
            remedy: "A larger journal (`tune2fs -J size=MIB`, `mkfs.xfs -l size=`), or one on a \
                     device of its own; `data=ordered` in place of `data=journal`; nobody else who \
                     changes files there meanwhile.",
        },
        By::Freeze => Words {
            claim: "wait at the frozen filesystem (`fsfreeze`, a snapshot)",
            refuted_by: "The same latency while nobody freezes it.",
            question: "The same while nobody freezes it: operations that are shorter by as much \
                       speak for it.",
            remedy: "Find who freezes it, a backup, a snapshot of LVM or of the hypervisor (its \
                     guest agent), and measure at another time.",
        },
        By::QueueFrozen => Words {
            claim: "wait at the frozen queue of the device, of which settings are being changed",
            refuted_by: "The same latency while nobody changes settings of the queue.",
            question: "The same while nobody changes settings of the queue: operations that are \
                       shorter by as much speak for it.",
            remedy: "Find who changes the scheduler, `nr_requests` or a limit of the device again \
                     and again: rules of udev, `tuned`, a container runtime.",
        },
        // The queue and its depth have limiters of their own.
        By::Tags => return None,
    })
}

fn sleeps_elsewhere(subject: &Subject<'_>) -> Option<Candidate> {
    let looks = Looks::of(subject.trials().iter().copied())?;
    let by = By::ALL
        .into_iter()
        .filter(|by| words(*by).is_some())
        .max_by_key(|by| looks.by(*by))?;
    let (seen, share) = (looks.by(by), looks.share(by));
    unless(seen < SEEN_MIN || share < DETAIL)?;
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
        .refuted_by(words.refuted_by)
        .question(words.question)
        .remedy(words.remedy);
    Some(match by {
        // One stream waits for another program's lock, and fewer streams there are not.
        By::FileLock if subject.workload().streams > 1 => {
            let stages = subject.as_it_was().and("one-stream", |w| w.streams = 1);
            found.settled_by(stages)
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
