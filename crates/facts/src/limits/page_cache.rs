//! Memory of the host served the bytes, or took them: the figure is not the disk's.

use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_plan::{CacheMode, SyncMode};
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "page-cache";

/// Share of the bytes from which on memory is a part of the figure: below, it makes
/// the figure larger by less than a ninth.
const SHARE: f64 = 0.1;
/// Share of the time that devices worked from which on the figure is theirs after
/// all: the rest of the bytes came in so little time that they hardly count.
const DEVICE_BUSY: f64 = 0.5;
/// Share of the bytes from which on nothing but memory was at work: a miss may take
/// ten thousand times as long as a hit, so fewer could still fill the time.
const ALL: f64 = 0.9999;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let memory = subject.from_memory();
    if subject.imported() || !subject.moves_blocks() || memory < SHARE {
        return None;
    }
    let reads = subject.only_reads();
    let seconds = subject.seconds();
    let busy = subject
        .device_work()
        .map(|work| (work.busy_s / seconds).min(1.0))
        .filter(|busy| busy.is_finite());
    // Next to nothing came from the device, whatever others did with it meanwhile.
    let all = memory > ALL;
    let idle = busy.map_or(memory > 1.0 - SHARE, |busy| busy < DEVICE_BUSY);
    // What is written goes down while the program goes on: only its waiting counts.
    let by_memory = if reads {
        all || (memory >= 0.5 && idle)
    } else {
        memory >= 0.5
            && super::dirty_throttling::waiting(subject).is_none()
            && super::partial_pages::check(subject).is_none()
            && !super::sync_mount::is_synchronous(subject.stack())
    };
    // The memory behind a loop device is fast, and a limit in front of it holds all
    // the same; so does one on the processor that copies.
    let held = super::holes::are_read(subject)
        || super::cgroup_throttle::is_reached(subject)
        || super::cpu_quota::holds_back(subject.stage);
    let standing = if by_memory && !held {
        Standing::NotTheDevice
    } else {
        Standing::Beside
    };
    let share = match busy {
        Some(busy) if reads && !all => 1.0 - busy,
        // Where some are read and some written, each after the other, the reads keep the device
        // at work: memory has the rest of the time at most, whatever its share of the bytes.
        Some(busy) if !subject.only_writes() && !by_memory => memory.min(1.0 - busy),
        _ => memory,
    };
    let issued = subject.stage.sum(|trial| trial.bytes);
    let mut evidence = vec![format!(
        "Of {} {} {} the page cache{}.",
        show_size(issued),
        percent(memory),
        if reads { "came from" } else { "stayed in" },
        rate(subject)
    )];
    if let Some(busy) = busy {
        evidence.push(format!(
            "The disks were at work in {} of the time.",
            percent(busy)
        ));
    }
    let mut past = subject.workload().clone();
    past.cache = CacheMode::Direct;
    if subject.workload().operation.writes() && !past.sync.each_write() {
        past.sync = SyncMode::FdatasyncAtEnd;
    }
    let claim = if reads {
        format!(
            "Memory served {} of what was read, not the disk.",
            percent(memory)
        )
    } else {
        format!(
            "Memory took {} of what was written; the disk did not have it when the clock stopped.",
            percent(memory)
        )
    };
    Some(Candidate {
        standing,
        claim,
        evidence,
        share: Some(share),
        confidence: Confidence::Certain,
        refuted_by: "The same rate past the page cache.".into(),
        experiment: subject.experiment(
            "Past the page cache: a lower rate speaks for memory, the same rate against it.",
            &[("past-the-cache", past)],
        ),
        remedy: if subject.workload().cache == CacheMode::Warm {
            "Nothing: the stage is meant to measure memory. It is faster with larger blocks, and \
             with more streams while there are processors."
                .into()
        } else if reads {
            "For the disk's figure, set `cache = \"direct\"` or `cache = \"cold\"` in the stage; \
             for one of use, a span that is larger than memory where the data will be."
                .into()
        } else {
            "For the disk's figure, set `cache = \"direct\"`, or `sync = \"at-end\"` with more \
             bytes than memory may keep dirty."
                .into()
        },
    })
}

fn rate(subject: &Subject<'_>) -> String {
    subject.rate().map_or_else(String::new, |rate| {
        format!(", at {}", show_throughput(rate))
    })
}
