//! Arm and platter together, where a drive chooses among several operations: it takes the one
//! that is nearest by both (shortest access time first; Jacobson and Wilkes, "Disk scheduling
//! algorithms based on rotational position", HPL-CSP-91-7, 1991), so neither is the average
//! that is known of one operation at a time, and the figures do not tell them apart.

use super::experiment::without;
use super::rotation::spin;
use super::spindle::Visit;
use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_record::{Confidence, Quantity};

pub(super) const NAME: &str = "positioning";

/// Below this share of the time there is little movement to speak of.
const SHARE_MIN: f64 = 0.05;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let visit = Visit::of(subject).filter(|visit| visit.chosen)?;
    let positioning_ns = visit.rotation_ns + visit.seek_ns;
    let share = visit.share(positioning_ns);
    if share < SHARE_MIN {
        return None;
    }
    let duration = |ns: f64| show_duration(ns.round() as u64);
    let span = subject.workload().span;
    let span = span.unwrap_or(subject.run().target.size_bytes);
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!(
            "The disk positions for each operation: seek and rotational latency are up to {} of the \
             {} from one completion to the next.",
            percent(share),
            duration(visit.each_ns)
        ),
        evidence: vec![
            format!(
                "{} per operation and disk, less {} for its bytes and the command's share, leaves \
                 {} for arm and platter.",
                duration(visit.each_ns),
                duration(visit.transfer_ns),
                duration(positioning_ns)
            ),
            format!("The operations go anywhere in {}.", show_size(span)),
            "With several to choose from the drive takes the nearest first, by arm and by platter: \
             how much each of them takes is not known."
                .into(),
            "Whatever else keeps the disk for a while, requests of others at it among them, is in \
             that time too."
                .into(),
        ],
        share: Some(share),
        // One time, less what is assumed of two parts: the rest need not be arm and platter.
        confidence: Confidence::Possible,
        refuted_by: "The same time per operation when all of them lie within a part of the disk."
            .into(),
        experiment: spin(subject).decided_by(without(
            ("near", "anywhere"),
            Quantity::Iops,
            // Within a part of the disk the platter turns as before.
            share * visit.seek_ns / positioning_ns,
        )),
        remedy: "Keep what is used together near together: a part of the disk only (the outer \
                 one), or one file instead of many. More in flight gives the drive more to choose \
                 from; flash has neither arm nor platter."
            .into(),
    })
}
