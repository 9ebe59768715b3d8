//! The figures contradict each other by a factor: one of the labels is wrong.

use super::prelude::*;
use crate::words::of_document;

pub(crate) const LIMITER: Limiter = Limiter {
    name: "mislabelled",
    needs: &[Blocks],
    find: contradicts_itself,
    ..Limiter::ANY
};

/// How far two ways to the same figure may be apart: documents round to three digits, and
/// some count in 1000 and some in 1024 (7 % at mega).
const OFF: f64 = 1.25;

fn contradicts_itself(facts: &StageFacts<'_>) -> Option<Candidate> {
    let mut trials = facts.trials().iter();
    let (factor, line) = trials.find_map(|trial| in_trial(facts, trial))?;
    Some(wrong_label(facts, factor, Certain).evidence([line]))
}

/// What is said of a stage whose stated figure is so many times what it should be.
pub(crate) fn wrong_label(
    facts: &StageFacts<'_>,
    factor: f64,
    confidence: Confidence,
) -> Candidate {
    let way = if factor > 1.0 { "high" } else { "low" };
    let times = factor.max(1.0 / factor);
    let claim = format!(
        "The rate cannot be right as it is labelled: it is {} times too {way}.",
        ratio(times)
    );
    let stages = facts.stages().and("as-labelled", |_| ());
    let share = 1.0 - 1.0 / times;
    let what = "state block size, count and time of this line";
    Candidate::new(Standing::NotTheDevice, share, confidence, claim)
        .settled_by(stages)
        .remedy_if(of_document(facts.run(), what))
}

/// The first two ways to a figure of one and the same trial, by bytes, operations, time and
/// latency, that are too far apart: the stated figure over what it should be.
fn in_trial(facts: &StageFacts<'_>, trial: &Trial) -> Option<(f64, String)> {
    let (s, iops, rate) = (trial.seconds, trial.iops, trial.throughput_bytes_per_s);
    let workload = &trial.workload;
    let said = |keys: &[&str]| !trial.unsaid.iter().any(|one| keys.contains(&one.as_str()));
    let known = |known: bool, value: f64| if known { value } else { f64::NAN };
    // A copy counts in records; a modification moves its block once or twice.
    let in_blocks = workload.copy.is_none() && !workload.operation.modifies();
    let block_bytes = known(
        in_blocks && said(&["block_size"]),
        workload.block_size as f64,
    );
    // Little's law: more than was asked for cannot have been in flight.
    let closed = workload.rate.is_none() && workload.pool.is_none();
    let latency_ns = trial.latency_ns.mean.unwrap_or(f64::NAN);
    let in_flight = known(
        closed && said(&["queue_depth", "streams"]),
        iops * latency_ns / 1e9,
    );
    let depth = facts.workload().outstanding() as f64;
    let (by_bytes, by_ops, by_blocks) = (
        trial.bytes as f64 / s,
        trial.ops as f64 / s,
        iops * block_bytes,
    );
    let ways = [
        (rate, by_bytes),
        (iops, by_ops),
        (rate, by_blocks),
        (known(in_flight >= depth * OFF * OFF, in_flight), depth),
    ];
    let factor = |(stated, should_be): &(f64, f64)| stated / should_be;
    let is_off = |way: &(f64, f64)| {
        let off = factor(way).max(1.0 / factor(way));
        way.0 > 0.0 && way.1 > 0.0 && off.is_finite() && off > OFF
    };
    let place = ways.iter().position(is_off)?;
    let rates = [rate, by_bytes, by_blocks].map(show_throughput);
    let [stated_rate, rate_by_bytes, rate_by_blocks] = rates;
    let [stated_iops, iops_by_ops] = [iops, by_ops].map(rate_digits);
    let [bytes, block] = [trial.bytes, workload.block_size].map(show_size);
    let line = match place {
        0 => format!("{bytes} in {s:.2} s are {rate_by_bytes}, and {stated_rate} is stated."),
        1 => format!(
            "{} operations in {s:.2} s are {iops_by_ops} a second, and {stated_iops} are stated.",
            trial.ops
        ),
        2 => format!(
            "{stated_iops} operations a second of {block} are {rate_by_blocks}, and {stated_rate} \
             is stated."
        ),
        _ => format!(
            "{stated_iops} operations a second of {} each are {} in flight, and {depth} were asked \
             for.",
            duration(latency_ns),
            ratio(in_flight)
        ),
    };
    Some((factor(&ways[place]), line))
}
