//! Figures of a trial that contradict each other.

use super::StageFacts;
use crate::prelude::*;

/// How far two ways to the same figure may be apart: documents round to three digits, and
/// some count in 1000 and some in 1024 (7 % at mega).
const OFF: f64 = 1.25;

/// Two ways to one figure of a trial that are too far apart.
#[derive(Debug)]
pub(crate) struct Contradiction {
    /// The stated figure over what it should be.
    pub(crate) factor: f64,
    /// Both ways, a sentence.
    pub(crate) line: String,
}

impl Contradiction {
    /// The first of a stage.
    pub(crate) fn of(facts: &StageFacts<'_>) -> Option<Self> {
        facts.trials().iter().find_map(|trial| in_trial(trial))
    }
}

/// The first two ways to a figure of one and the same trial, by bytes, operations, time and
/// latency, that are too far apart.
fn in_trial(trial: &Trial) -> Option<Contradiction> {
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
    let latency_ns = trial.latency_ns.mean.unwrap_or(f64::NAN);
    let depth = workload.outstanding() as f64;
    // Little's law: more than was asked for cannot have been in flight.
    let closed = workload.rate.is_none() && workload.pool.is_none();
    let in_flight = known(
        closed && said(&["queue_depth", "streams"]),
        iops * latency_ns / 1e9,
    );
    let (by_bytes, by_ops) = (trial.bytes as f64 / s, trial.ops as f64 / s);
    let by_blocks = iops * block_bytes;
    let [stated_rate, moved, in_blocks] = [rate, by_bytes, by_blocks].map(show_throughput);
    let [stated_iops, done] = [iops, by_ops].map(rate_digits);
    let [bytes, block] = [trial.bytes, workload.block_size].map(show_size);
    let lines = [
        format!("{bytes} in {s:.2} s are {moved}, and {stated_rate} is stated."),
        format!(
            "{} operations in {s:.2} s are {done} a second, and {stated_iops} are stated.",
            trial.ops
        ),
        format!(
            "{stated_iops} operations a second of {block} are {in_blocks}, and {stated_rate} is \
             stated."
        ),
        format!(
            "{stated_iops} operations a second of {} each are {} in flight, and {depth} were asked \
             for.",
            duration(latency_ns),
            ratio(in_flight)
        ),
    ];
    // Each stated figure, and what it should be.
    let ways = [
        (rate, by_bytes),
        (iops, by_ops),
        (rate, by_blocks),
        (known(in_flight >= depth * OFF * OFF, in_flight), depth),
    ];
    let mut ways = ways.into_iter().zip(lines);
    ways.find_map(|((stated, should_be), line)| {
        let factor: f64 = stated / should_be;
        let off = factor.max(1.0 / factor);
        let is_off = stated > 0.0 && should_be > 0.0 && off.is_finite() && off > OFF;
        is_off.then_some(Contradiction { factor, line })
    })
}
