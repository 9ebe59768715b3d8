//! Large transfers run at the rate of the medium.

use super::experiment::at_most;
use super::spindle::Spindle;
use super::{Candidate, Standing, Subject, interface};
use crate::words::percent;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_plan::{CacheMode, Operation};
use diskfacts_record::{Confidence, Experiment, Quantity};

pub(crate) const NAME: &str = "media-rate";

/// A rate is that of the medium while it is at least this share of the best that the
/// run shows in the same direction; elsewhere on a disk that turns, of which the zones
/// differ by a factor of two, this share.
const OF_BEST: f64 = 0.75;
const OF_BEST_ZONE: f64 = 0.35;
/// The same the other way round: what larger blocks may do more.
const MORE_BYTES: f64 = 1.0 / OF_BEST;
/// The slowest stream that is one of a medium at all: the inner zone of a disk of 1998
/// (IBM Deskstar 14GXP, data sheet: 13 to 22 MB/s at the rim).
pub(crate) const RATE_MIN: f64 = 10e6;

pub(crate) const REFUTED_BY: &str =
    "More bytes a second with larger blocks or with more in flight.";

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    // A document shows it by its other stages alone.
    if subject.imported() {
        return None;
    }
    // What runs beside it has a part of the medium's time.
    if subject.workload().beside.is_some() {
        return None;
    }
    let turning = subject.rotates();
    // Of the one rate of flash behind a link that ends there, the link is what is known, unless
    // a test has refuted it.
    let is_of_link = || !subject.is_refuted(interface::NAME) && interface::check(subject).is_some();
    if turning != Some(true) && is_of_link() {
        return None;
    }
    let rate = subject.flow()?;
    let best = subject.best_flow()?;
    let disks = subject.leaves().count().max(1) as f64;
    let least = if turning == Some(false) {
        OF_BEST
    } else {
        OF_BEST_ZONE
    };
    if rate < least * best || rate < RATE_MIN {
        return None;
    }
    let mut evidence = vec![format!(
        "{} with {} in flight: the way to the place is a small part of the time.",
        show_throughput(rate),
        show_size((subject.workload().block_size as f64 * subject.outstanding()) as u64)
    )];
    // What stayed in memory is not the medium's.
    let mut share = rate / best * (1.0 - subject.from_memory());
    if best > rate * 1.02 {
        evidence.push(format!(
            "The fastest stage in the same direction moves {}: {} of it.",
            show_throughput(best),
            percent(share)
        ));
    }
    if turning == Some(true) {
        let spindle = Spindle::of(subject);
        let each = rate * spindle.turn_ns() / 1e9 / disks;
        evidence.push(format!(
            "At {} rpm that is {} under the head in each revolution.",
            spindle.rpm,
            show_size(each as u64)
        ));
        evidence.push(spindle.source);
    }
    if let Some(work) = subject.device_work() {
        let busy = work.busy_s / subject.seconds();
        if busy.is_finite() && busy > 0.0 {
            evidence.push(format!(
                "The device was busy {} of the time.",
                percent(busy.min(1.0))
            ));
            share *= busy.min(1.0);
        }
    }
    let what = if turning == Some(true) {
        "the platter passing under the head"
    } else {
        "its flash"
    };
    let what = if turning.is_some() {
        what
    } else {
        "its medium"
    };
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!("{} is the rate of {what}.", show_throughput(rate)),
        evidence,
        share: Some(share),
        confidence: if turning == Some(true) {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: REFUTED_BY.into(),
        experiment: experiment(subject),
        remedy: if turning == Some(true) {
            "The outer part of the disk is the fastest: put there what is streamed. Beyond that \
             only more disks side by side move more."
                .into()
        } else {
            "Only more drives side by side, or a faster one, move more.".into()
        },
    })
}

/// Gives the device more to do at a time, in either way.
pub(crate) fn experiment(subject: &Subject<'_>) -> Experiment {
    let block = subject.workload().block_size.max(1);
    subject
        .experiment(
            "If it is the medium, neither a deeper queue nor larger blocks move more bytes.",
            &[
                ("as-it-was", subject.with(|_| {})),
                (
                    "deeper",
                    subject.with(|w| w.queue_depth = (w.queue_depth * 4).min(128)),
                ),
                (
                    "larger-blocks",
                    subject.with(|w| w.block_size = (block * 4).clamp(block, (8 << 20).max(block))),
                ),
                // What read-ahead lets through is no rate of the medium.
                (
                    "larger-and-deeper",
                    subject.with(|w| {
                        w.block_size = (block * 4).clamp(block, (8 << 20).max(block));
                        w.queue_depth = (w.queue_depth * 4).clamp(8, 128);
                        if w.operation == Operation::Read {
                            w.cache = CacheMode::Direct;
                        }
                    }),
                ),
            ],
        )
        .decided_by(at_most(
            ("larger-and-deeper", "as-it-was"),
            Quantity::Throughput,
            MORE_BYTES,
        ))
}
