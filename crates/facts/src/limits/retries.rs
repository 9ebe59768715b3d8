//! Weak sectors: a few operations take several revolutions more.

use super::gaps::{Gaps, Slow};
use super::spindle::Spindle;
use super::{Candidate, Standing, Subject};
use crate::simulated::planted;
use crate::words::{percent, ratio};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_duration;
use diskfacts_record::Confidence;

pub(super) const NAME: &str = "retries";

/// Below this share of the time it is a tail as healthy disks have.
const SHARE_MIN: f64 = 0.1;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    // Where several are in flight anywhere, a drive that does the nearest first makes
    // some wait long.
    let plain = subject.in_order() || subject.outstanding() <= 1.0;
    // What turns reads a sector again when it has come round; the tails of flash, of
    // networks and of hypervisors have other reasons.
    let turning = subject.rotates() == Some(true);
    if !turning || !subject.only_reads() || !plain || !subject.reaches_device() {
        return None;
    }
    let slow = Slow::of(subject)?;
    if slow.share < SHARE_MIN || slow.number * 2 > slow.of {
        return None;
    }
    let gaps = Gaps::of(subject);
    if !is_of_the_drive(subject, &slow, &gaps) {
        return None;
    }
    // Silences at equal distances, or in writes too, are not a place that is read badly.
    let elsewhere = subject
        .others()
        .any(|other| other.only_writes() && Gaps::of(&other).share() > 0.02);
    let stands_still = gaps.number >= 3 && (gaps.regular() || elsewhere);
    let spindle = Spindle::of(subject);
    let evidence = vec![
        format!(
            "{} of {} reads took {} longer than the usual {}: {} of all their time.",
            slow.number,
            slow.of,
            show_duration(slow.each_ns as u64),
            show_duration(slow.usual_ns as u64),
            percent(slow.share)
        ),
        format!(
            "At {} rpm that is {} revolutions each: the drive tries a sector again with each.",
            spindle.rpm,
            ratio(slow.each_ns / spindle.turn_ns())
        ),
    ];
    let confidence = if stands_still {
        Confidence::Possible
    } else {
        Confidence::Likely
    };
    Some(Candidate {
        standing: if stands_still {
            Standing::Beside
        } else {
            Standing::cause(slow.share)
        },
        claim: format!(
            "{} of the reads take {} longer than the rest, as where sectors are read again and \
             again: {} of the time.",
            percent(slow.number as f64 / slow.of as f64),
            show_duration(slow.each_ns as u64),
            percent(slow.share)
        ),
        evidence,
        share: Some(slow.share),
        confidence,
        refuted_by: "Slow reads at other places each time, or counters of the drive that stay the \
                     same."
            .into(),
        experiment: subject.again(
            "If sectors are weak, the same reads are slow again, and the drive's counters of \
             retries rise (`smartctl -A`: 1, 5, 197; `smartctl -l scterc`).",
        ),
        remedy: planted(subject.run(), "[[faults.weak_sector]]").map_or_else(
            || {
                "Save what is on the disk, then look at its counters (`smartctl -a /dev/sdX`: \
                 pending and reallocated sectors) and replace it when they grow. Writing such a \
                 sector makes the drive replace it."
                    .into()
            },
            |sentence| format!("{sentence}."),
        ),
    })
}

/// Whether the drive itself was at the slow reads all the time. One arm that reads a sector
/// again does nothing else meanwhile, so nothing comes back: where other streams are served,
/// a read waits for its turn, and through the page cache for what is read ahead.
fn is_of_the_drive(subject: &Subject<'_>, slow: &Slow, gaps: &Gaps) -> bool {
    let workload = subject.workload();
    if workload.beside.is_some() {
        return false;
    }
    let alone = subject.outstanding() <= 1.0 && workload.cache == CacheMode::Direct;
    alone || gaps.total_s >= 0.5 * slow.number as f64 * slow.each_ns / 1e9
}
