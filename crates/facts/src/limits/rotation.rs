//! Each operation waits for the platter to come round: for whole revolutions when
//! what it follows has just gone by, for half of one on average when it may be
//! anywhere.

use super::prelude::*;
use crate::revolution::Spindle;
use crate::stage_facts::spindle::{arithmetic, revolutions, wait_ns, whole_on_average, whole_wait};
use crate::stage_facts::visit::Visit;

pub(super) const LIMITER: Limiter = Limiter {
    name: "rotation",
    find: platter_comes_round,
    ..Limiter::OF_HARDWARE
};

/// How many times as many writes there are of four times the block where the bytes alone take the
/// time.
const BY_BYTES: f64 = 0.25;

fn platter_comes_round(facts: &StageFacts<'_>) -> Option<Candidate> {
    whole(facts).or_else(|| half(facts))
}

/// Writes in order that wait for whole revolutions.
fn whole(facts: &StageFacts<'_>) -> Option<Candidate> {
    let each_ns = facts.each_ns()?;
    let turns = whole_wait(facts).or_else(|| whole_on_average(facts))?;
    let (rpm, waits_ns) = (turns.rpm, turns.ns());
    let spindle = Spindle::of(facts);
    let latency = &facts.figures.latency_ns;
    let both = latency.p50.zip(latency.p90);
    let evidence = [
        Some(format!(
            "{}; {} writes a second are {} each.",
            arithmetic(rpm, wait_ns(facts, each_ns)),
            three_digits(1e9 / each_ns),
            duration(each_ns)
        )),
        Some(
            "The place behind the last block has just gone by when the next is handed over, so it \
             has to come round."
                .to_owned(),
        ),
        both.map(|(p50, p90)| {
            let [p50, p90] = [p50, p90].map(show_duration);
            format!("Half of the writes take up to {p50}, 90 % up to {p90}.")
        }),
        Some(spindle.source),
    ];
    let run = facts.run();
    let is_bare = run.target.kind == TargetKind::Simulated || run.machine.virtualization.is_none();
    let sure = spindle.known && facts.rotates() == Some(true) && is_bare;
    let claim = format!(
        "Each write waits for {} of a disk of {rpm} rpm: {} writes a second at most, however \
         small.",
        revolutions(turns.revolutions),
        three_digits(1e9 / waits_ns)
    );
    let share = (waits_ns / each_ns).min(1.0);
    let found = Candidate::new(Standing::Nature, share, likely_if(sure), claim)
        .evidence(evidence.into_iter().flatten());
    // The wait stays as it is, and the time of the bytes is four times as long.
    let larger = each_ns / (4.0 * each_ns - 3.0 * waits_ns.min(each_ns));
    if larger < 2.0 * BY_BYTES {
        return Some(found);
    }
    let pair = ("four-times-the-block", "as-it-was");
    let stages = facts.as_it_was().and(pair.0, |w| w.block_size *= 4);
    Some(found.settled_by(stages.at_least(pair, Iops, larger.midpoint(BY_BYTES))))
}

/// Operations anywhere, which wait for half a revolution on average.
fn half(facts: &StageFacts<'_>) -> Option<Candidate> {
    // Of what a drive chooses the platter's part is not known.
    let visit = Visit::of(facts).filter(|visit| !visit.chosen)?;
    let share = visit.share(visit.rotation_ns);
    let (rpm, turn_ns) = (visit.spindle.rpm, visit.spindle.turn_ns());
    let [turn, half, each] = [turn_ns, 0.5 * turn_ns, visit.each_ns].map(duration);
    let of_time = percent(share);
    let on_average = format!(
        "{rpm} rpm is {turn} per revolution, and a place anywhere is half of one away on average: \
         {half} of the {each} that an operation takes, {of_time}."
    );
    let claim = format!(
        "{of_time} of the time of an operation is waiting for the platter of a disk of {rpm} rpm to \
         come round."
    );
    let confidence = likely_if(visit.spindle.known);
    let found = Candidate::new(Standing::Nature, share, confidence, claim)
        .evidence([on_average, visit.spindle.source])
        .refuted_by(format!(
            "A shortest wait of more than a few tenths of a millisecond, or another speed than \
             {rpm} rpm on the data sheet of the disk."
        ))
        .settled_by(facts.near())
        .case("half");
    Some(found)
}
