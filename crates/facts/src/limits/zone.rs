//! The stage lies in a slower zone of the disk.

use super::prelude::*;

pub(super) const LIMITER: Limiter = Limiter {
    name: "zone",
    needs: &[MayRotate],
    find: further_out_is_faster,
    ..Limiter::OF_HARDWARE
};

/// How much slower a place has to be, of the fastest: trials of a stream differ by one
/// or two percent, neighbouring zones by as much.
const SLOWER: f64 = 0.08;
/// From this share of a disk on a place is an inner one, and how much slower it is there
/// at least on disks of constant areal density with an inner radius of about half the
/// outer one: sqrt(1 - 0.5 x) at x = 0.4 is 0.89.
const INNER: f64 = 0.4;

fn further_out_is_faster(facts: &StageFacts<'_>) -> Option<Candidate> {
    unless(!facts.flows())?;
    let found = compared(facts).or_else(|| by_place(facts))?;
    Some(found.settled_by(Settling::BuiltIn("zones")))
}

/// Another stage of the same kind is faster at another place.
fn compared(facts: &StageFacts<'_>) -> Option<Candidate> {
    let rate = facts.rate()?;
    let (other, best) = facts.faster_further_out()?;
    let loss = 1.0 - rate / best;
    unless(loss < SLOWER)?;
    let [there, here] = [&other, facts].map(|stage| show_size(stage.workload().offset));
    let [best_said, rate_said] = [best, rate].map(show_throughput);
    let (label, more) = (other.stage.label(), percent(best / rate - 1.0));
    let claim = format!(
        "{rate_said} is the rate of an inner zone: the same disk is {more} faster on outer tracks."
    );
    let evidence = [
        format!(
            "At {there} of the target {label} moves {best_said}, and at {here} this stage \
             {rate_said}: {best_said} / {rate_said} - 1 is {more} more."
        ),
        "Outer tracks are longer and hold more, and the disk turns at one speed.".into(),
    ];
    Some(Candidate::new(Standing::Cause, loss, Likely, claim).evidence(evidence))
}

/// The stage lies far inside, as the disk counts its blocks from the rim.
fn by_place(facts: &StageFacts<'_>) -> Option<Candidate> {
    let place = facts.place_on_disk()?;
    unless(!(INNER..=1.0).contains(&place))?;
    // Constant areal density, k between 0.5 and 0.78 on the disks that were measured.
    let of_rim = percent((1.0 - 0.5 * place).sqrt());
    let line = format!(
        "It begins at {} of the disk, counted from its outer tracks; what the disk does at its \
         beginning was not measured.",
        percent(place)
    );
    let claim = format!(
        "The stage lies in an inner zone, where disks of constant areal density stream about \
         {of_rim} of what they do at their beginning."
    );
    // What another place would do is a prediction where none was measured.
    Some(Candidate::new(Standing::Beside, None, Possible, claim).evidence([line]))
}
