//! A stage of memory read from the device: the page cache did not keep what was read into
//! it, because its control group may have less memory than that, or somebody took it away.

use super::{Candidate, Standing, Subject};
use crate::rules::warm_not_cached::{WARMING, group_limit};
use crate::words::percent;
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_size;
use diskfacts_record::{Confidence, Spent, Trial};

pub(super) const NAME: &str = "evicted";

/// Share of the bytes that came from the device from which on it is worth a word.
const SHARE: f64 = 0.02;
/// Share of the time from which on it is worth one with fewer bytes too: what comes from a
/// device takes up to thousands of times as long as what memory holds.
const TIME: f64 = 0.1;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let from_device = subject.figures.layers.device?;
    if workload.cache != CacheMode::Warm || !subject.only_reads() || from_device <= 0.0 {
        return None;
    }
    let requests = [Spent::Device, Spent::BlockLayer, Spent::Scheduler];
    let of_requests = subject.spent(&requests);
    if from_device < SHARE && of_requests.is_none_or(|share| share < TIME) {
        return None;
    }
    // What was never read into it was not taken out.
    let never = |trial: &&Trial| trial.evidence.unseen.iter().any(|one| one.what == WARMING);
    if subject.trials().iter().any(never) {
        return None;
    }
    let span = workload.span.unwrap_or(subject.run().target.size_bytes);
    let asleep = subject.spent(&[Spent::Cache]);
    let of_time = of_requests
        .zip(asleep)
        .map(|(requests, asleep)| requests + asleep);
    let share = of_time.unwrap_or(from_device).min(1.0);
    let limit = group_limit(subject.trials()).filter(|limit| limit.bytes < span);
    let mut evidence = vec![format!(
        "{} of the bytes came from the device, of a span of {} that was read into memory before.",
        percent(from_device),
        show_size(span)
    )];
    if let Some(share) = of_time {
        evidence.push(format!(
            "They took {} of the time.",
            percent(share.min(1.0))
        ));
    }
    let claim = match &limit {
        Some(limit) => {
            evidence.push(format!(
                "{} may have {} of memory, its part of the page cache among it.",
                limit.folder,
                show_size(limit.bytes)
            ));
            format!(
                "The memory of a control group, {}, does not hold the {} that are read: {} came \
                 from the device.",
                show_size(limit.bytes),
                show_size(span),
                percent(from_device)
            )
        }
        None => format!(
            "What had been read into memory was evicted: {} of it came from the device.",
            percent(from_device)
        ),
    };
    Some(Candidate {
        standing: Standing::cause(share),
        claim,
        evidence,
        share: Some(share),
        confidence: if limit.is_some() {
            Confidence::Certain
        } else {
            Confidence::Likely
        },
        refuted_by: "A trial in which this process fetches nothing from block devices.".into(),
        experiment: subject.experiment(
            "A quarter of the span: if nothing comes from the device then, it is memory that is \
             short, and else somebody who takes it away.",
            &[
                ("as-it-was", workload.clone()),
                (
                    "a-quarter",
                    subject.with(|w| w.span = Some((span / 4).max(w.block_size))),
                ),
            ],
        ),
        remedy: match limit {
            Some(limit) => format!(
                "Raise `memory.max` (version 1: `memory.limit_in_bytes`) of {}, or set a span that \
                 fits in this stage.",
                limit.folder
            ),
            None => "Look for who does it: `free -h` for memory that is short, and programs that \
                     drop caches (`echo 3 > /proc/sys/vm/drop_caches`, `blockdev --flushbufs`, \
                     backups with POSIX_FADV_DONTNEED)."
                .into(),
        },
    })
}
