//! The arm's movement is a large part of each operation's time, or, where a drive chooses among
//! several operations, arm and platter together: it takes the one that is nearest by both
//! (shortest access time first; Jacobson and Wilkes, "Disk scheduling algorithms based on
//! rotational position", HPL-CSP-91-7, 1991), so neither is the average that is known of one
//! operation at a time, and the figures do not tell them apart.

use super::prelude::*;
use crate::stage_facts::visit::Visit;

pub(super) const SEEK: Limiter = Limiter {
    name: "seek",
    find: arm_moves,
    ..Limiter::OF_HARDWARE
};

pub(super) const POSITIONING: Limiter = Limiter {
    name: "positioning",
    find: arm_and_platter_move,
    ..Limiter::OF_HARDWARE
};

fn arm_moves(facts: &StageFacts<'_>) -> Option<Candidate> {
    let visit = Visit::of(facts).filter(|visit| !visit.chosen)?;
    let share = Some(visit.share(visit.seek_ns)).filter(|share| *share >= DETAIL)?;
    let (of_time, span) = (percent(share), show_size(facts.span()));
    let times = [
        visit.each_ns,
        visit.rotation_ns,
        visit.transfer_ns,
        visit.seek_ns,
    ];
    let [each, rotation, transfer, seek] = times.map(duration);
    let claim = format!("{of_time} of the time of an operation is the arm moving to its place.");
    let sum = format!(
        "{each} per operation, less {rotation} for half a revolution and {transfer} for its bytes, \
         leaves {seek} for the arm and the command: {of_time}."
    );
    let anywhere = format!("The operations go anywhere in {span}.");
    let confidence = likely_if(visit.spindle.known);
    let found = Candidate::new(Standing::Nature, share, confidence, claim)
        .evidence([sum, anywhere, visit.spindle.source])
        .settled_by(facts.near().without(("near", "anywhere"), Iops, share));
    Some(found)
}

fn arm_and_platter_move(facts: &StageFacts<'_>) -> Option<Candidate> {
    let visit = Visit::of(facts).filter(|visit| visit.chosen)?;
    let positioning_ns = visit.rotation_ns + visit.seek_ns;
    let share = Some(visit.share(positioning_ns)).filter(|share| *share >= DETAIL)?;
    let times = [visit.each_ns, visit.transfer_ns, positioning_ns];
    let [each, transfer, positioning] = times.map(duration);
    let of_visit = percent(positioning_ns / visit.each_ns);
    let claim = if visit.of_time < 1.0 {
        format!(
            "The write cache is full for {} of the time: an operation completes each {each} then, \
             and seek and rotational latency are up to {of_visit} of that.",
            percent(visit.of_time)
        )
    } else {
        format!(
            "The disk positions for each operation: seek and rotational latency are up to \
             {of_visit} of the {each} from one completion to the next."
        )
    };
    let evidence = [
        format!(
            "{each} per operation and disk, less {transfer} for its bytes and the command's share, \
             leaves {positioning} for arm and platter."
        ),
        format!("The operations go anywhere in {}.", show_size(facts.span())),
        "With several to choose from the drive takes the nearest first, by arm and by platter: \
         how much each of them takes is not known."
            .into(),
        "Whatever else keeps the disk for a while, requests of others at it among them, is in \
         that time too."
            .into(),
    ];
    // Within a part of the disk the platter turns as before.
    let of_arm = share * visit.seek_ns / positioning_ns;
    // One time, less what is assumed of two parts: the rest need not be arm and platter.
    let found = Candidate::new(Standing::Nature, share, Possible, claim)
        .evidence(evidence)
        .settled_by(facts.near().without(("near", "anywhere"), Iops, of_arm));
    Some(found)
}
