//! The arm's movement is a large part of each operation's time.

use super::experiment::without;
use super::rotation::spin;
use super::spindle::Visit;
use super::{Candidate, Standing, Subject};
use crate::words::percent;
use diskfacts_plan::units::{show_duration, show_size};
use diskfacts_record::{Confidence, Quantity};

pub(super) const NAME: &str = "seek";

/// Below this share of the time there is little movement to speak of.
const SHARE_MIN: f64 = 0.05;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    // Of what a drive chooses the arm's part is not known.
    let visit = Visit::of(subject).filter(|visit| !visit.chosen)?;
    let share = visit.share(visit.seek_ns);
    if share < SHARE_MIN {
        return None;
    }
    let duration = |ns: f64| show_duration(ns.round() as u64);
    let span = subject
        .workload()
        .span
        .unwrap_or(subject.run().target.size_bytes);
    let mut evidence = vec![format!(
        "{} per operation, less {} for half a revolution and {} for its bytes, leaves {} for the \
         arm and the command: {}.",
        duration(visit.each_ns),
        duration(visit.rotation_ns),
        duration(visit.transfer_ns),
        duration(visit.seek_ns),
        percent(share)
    )];
    evidence.push(format!(
        "The operations go anywhere in {}.",
        show_size(span)
    ));
    evidence.push(visit.spindle.source.clone());
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!(
            "{} of the time of an operation is the arm moving to its place.",
            percent(share)
        ),
        evidence,
        share: Some(share),
        confidence: if visit.spindle.known {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "The same time per operation when all of them lie within a part of the disk."
            .into(),
        experiment: spin(subject).decided_by(without(
            ("near", "anywhere"),
            Quantity::Iops,
            share,
        )),
        remedy: "Keep what is used together near together: a part of the disk only (the outer \
                 one), or one file instead of many. More in flight lets the drive order them; flash \
                 has no arm."
            .into(),
    })
}
