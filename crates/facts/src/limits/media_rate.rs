//! Large transfers run at the rate of the medium.

use super::prelude::*;
use crate::experiment::larger_block;
use crate::revolution::Spindle;
use crate::stage_facts::links::FullLink;
use crate::stage_facts::spindle::stream_rate;
use crate::tested_claims;

pub(crate) const LIMITER: Limiter = Limiter {
    name: "media-rate",
    // A document shows it by its other stages alone.
    needs: &[NoDocument, Alone],
    find: medium_moves_no_more,
    ..Limiter::OF_HARDWARE
};

/// A rate is that of the medium while it is at least this share of the best that the
/// run shows in the same direction; elsewhere on a disk that turns, of which the zones
/// differ by a factor of two, this share.
const OF_BEST: f64 = 0.75;
const OF_BEST_ZONE: f64 = 0.35;
/// And at the same place this share: trials, and what the reader does between requests, differ
/// by a few percent each.
const OF_BEST_HERE: f64 = 0.9;
/// The same the other way round: what larger blocks may do more.
const MORE_BYTES: f64 = 1.0 / OF_BEST;
/// The slowest stream that is one of a medium at all: the inner zone of a disk of 1998
/// (IBM Deskstar 14GXP, data sheet: 13 to 22 MB/s at the rim).
pub(crate) const RATE_MIN: f64 = 10e6;

fn medium_moves_no_more(facts: &StageFacts<'_>) -> Option<Candidate> {
    gaps_pass_by(facts).or_else(|| in_order(facts))
}

/// Of a stride the gaps pass under the head as the blocks do.
fn gaps_pass_by(facts: &StageFacts<'_>) -> Option<Candidate> {
    let (passing, best) = (facts.passing()?, stream_rate(facts)?);
    let (each_ns, block) = (facts.each_ns()?, facts.workload().block_size as f64);
    let distance = passing * each_ns / 1e9;
    let [passing_shown, best_shown] = [passing, best].map(show_throughput);
    let ([block, distance], each) = ([block, distance].map(size), duration(each_ns));
    let claim = format!(
        "The gaps pass under the head too: {block} every {distance} are {passing_shown} of the \
         medium."
    );
    let line = format!(
        "{each} per operation for {distance}, of which {block} are wanted; in order the disk moves \
         {best_shown}."
    );
    let pair = ("half-the-distance", "as-it-was");
    let halved = facts.as_it_was().and(pair.0, |w| {
        if let Pattern::Stride { skip_blocks, .. } = &mut w.pattern {
            *skip_blocks /= 2;
        }
    });
    let share = (passing / best).min(1.0);
    let found = Candidate::new(Standing::Nature, share, Likely, claim)
        .evidence([line])
        .case("gaps")
        .settled_by(halved.without(pair, Iops, 0.5 * share));
    Some(found)
}

fn in_order(facts: &StageFacts<'_>) -> Option<Candidate> {
    let turning = facts.rotates();
    let is_platter = turning == Some(true);
    // Of the one rate of flash behind a link that ends there, and of a platter that has it far
    // away, too, the link is what is known, unless a test has refuted it.
    let at_link = !tested_claims::is_refuted(facts, "interface") && FullLink::of(facts).is_some();
    unless(at_link)?;
    let rate = facts.flow()?;
    let best = facts.best_flow()?;
    let least = if turning == Some(false) {
        OF_BEST
    } else {
        OF_BEST_ZONE
    };
    let here = facts.best_flow_here().unwrap_or(rate);
    unless(rate < least * best || rate < OF_BEST_HERE * here || rate < RATE_MIN)?;
    let in_flight = size(facts.workload().block_size as f64 * facts.outstanding());
    let [moves, most] = [rate, best].map(show_throughput);
    // What stayed in memory is not the medium's.
    let share = rate / best * (1.0 - facts.memory_share());
    let of_it = percent(share);
    let fastest = (best > rate * 1.02)
        .then(|| format!("The fastest stage in the same direction moves {most}: {of_it} of it."));
    let in_array = facts.leaves().any(|leaf| leaf.layout.is_some());
    let spindle = (is_platter && !in_array).then(|| Spindle::of(facts));
    let turns = spindle.map(|spindle| {
        let each = size(rate * spindle.turn_ns() / 1e9 / facts.disks());
        let rpm = spindle.rpm;
        let line = format!("At {rpm} rpm that is {each} under the head in each revolution.");
        [line, spindle.source]
    });
    let busy = facts.busy().filter(|busy| *busy > 0.0);
    let busy_line = busy.map(|busy| format!("The device was busy {} of the time.", percent(busy)));
    let what = match turning {
        Some(true) if in_array || facts.disks() > 1.0 => "the platters of the array together",
        Some(true) => "the platter passing under the head",
        Some(false) => "its flash",
        None => "its medium",
    };
    let claim = format!("{moves} is the rate of {what}.");
    let share = share * busy.unwrap_or(1.0);
    let found = Candidate::new(Standing::Nature, share, likely_if(is_platter), claim)
        .evidence([format!(
            "{moves} with {in_flight} in flight: seek time is negligible."
        )])
        .evidence(fastest)
        .evidence(turns.into_iter().flatten())
        .evidence(busy_line)
        .settled_by(more_at_a_time(facts))
        .case_if(is_platter, "platter");
    Some(found)
}

/// Gives the device more to do at a time, in either way.
pub(crate) fn more_at_a_time(facts: &StageFacts<'_>) -> Stages {
    facts
        .as_it_was()
        .and("deeper", |w| w.queue_depth = (w.queue_depth * 4).min(128))
        .and("larger-blocks", |w| {
            w.block_size = larger_block(w.block_size);
        })
        // What read-ahead lets through is no rate of the medium.
        .and("larger-and-deeper", |w| {
            w.block_size = larger_block(w.block_size);
            w.queue_depth = (w.queue_depth * 4).clamp(8, 128);
            if w.operation == Operation::Read {
                w.cache = CacheMode::Direct;
            }
        })
        .at_most(("larger-and-deeper", "as-it-was"), Throughput, MORE_BYTES)
}
