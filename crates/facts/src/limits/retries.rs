//! Weak sectors: a few operations take several revolutions more.

use super::prelude::*;
use crate::revolution::Spindle;
use crate::stage_facts::gaps::Gaps;
use crate::stage_facts::slow::Slow;

pub(super) const LIMITER: Limiter = Limiter {
    name: "retries",
    // What turns reads a sector again when it has come round; the tails of flash, of
    // networks and of hypervisors have other reasons.
    needs: &[OnlyReads, Device, Alone, Platter],
    find: sectors_are_read_again,
    ..Limiter::OF_HARDWARE
};

fn sectors_are_read_again(facts: &StageFacts<'_>) -> Option<Candidate> {
    // Where several are in flight anywhere, a drive that does the nearest first makes
    // some wait long.
    unless(!facts.in_order() && facts.outstanding() > 1.0)?;
    // Less is a tail as healthy disks have.
    let slow = Slow::by_revolutions(facts).filter(|slow| slow.share >= WORTH_A_WORD)?;
    let gaps = Gaps::of(facts);
    unless(slow.number * 2 > slow.of || !slow.keep_the_drive(facts, &gaps))?;
    // Silences at equal distances, or in writes too, are not a place that is read badly.
    let elsewhere = facts
        .others()
        .any(|other| other.only_writes() && Gaps::of(&other).share() > 0.02);
    let stands_still = gaps.number >= 3 && (gaps.regular_s().is_some() || elsewhere);
    let standing = Standing::cause(slow.share).only_if(!stands_still);
    let spindle = Spindle::of(facts);
    let [each, usual] = [slow.each_ns, slow.usual_ns].map(duration);
    let of_time = percent(slow.share);
    let evidence = [
        format!(
            "{} of {} reads took {each} longer than the usual {usual}: {of_time} of all their time.",
            slow.number, slow.of
        ),
        format!(
            "At {} rpm that is {} revolutions each: the drive tries a sector again with each.",
            spindle.rpm,
            ratio(slow.each_ns / spindle.turn_ns())
        ),
    ];
    let claim = format!(
        "{} of the reads take {each} longer than the rest, as where sectors are read again and \
         again: {of_time} of the time.",
        percent(slow.number as f64 / slow.of as f64)
    );
    let found = Candidate::new(standing, slow.share, likely_if(!stands_still), claim)
        .evidence(evidence)
        .planted(facts.run(), "[[faults.weak_sector]]");
    Some(found)
}
