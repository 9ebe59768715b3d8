//! The figures contradict each other by a factor: one of the labels is wrong.

use super::{Candidate, Standing, Subject};
use crate::words::{of_document, ratio};
use diskfacts_plan::units::{rate_digits, show_duration, show_size, show_throughput};
use diskfacts_record::{Confidence, Trial};

pub(super) const NAME: &str = "mislabelled";

/// How far two ways to the same figure may be apart: documents round to three
/// digits, and some count in 1000 and some in 1024 (7 % at mega).
const OFF: f64 = 1.25;
/// Neighbours that have to agree on the factor.
const NEIGHBOURS: usize = 2;
/// How near a factor has to be to a power of two between neighbours, which were
/// measured apart and differ for other reasons too.
const NEAR: f64 = 0.12;
/// The factors between neighbours that are looked for. Caches make a factor too, but
/// not the same for each way to go over the disk.
const FACTOR_MIN: f64 = 3.5;

/// Two ways to one figure that do not agree.
struct Contradiction {
    factor: f64,
    lines: Vec<String>,
    confidence: Confidence,
}

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    if !subject.moves_blocks() {
        return None;
    }
    let found = within(subject).or_else(|| beside_neighbours(subject))?;
    let run = subject.run();
    let way = if found.factor > 1.0 { "high" } else { "low" };
    let times = found.factor.max(1.0 / found.factor);
    Some(Candidate {
        standing: Standing::NotTheDevice,
        claim: format!(
            "The rate cannot be right as it is labelled: it is {} times too {way}.",
            ratio(times)
        ),
        evidence: found.lines,
        share: Some(1.0 - 1.0 / times),
        confidence: found.confidence,
        refuted_by: "A count of the operations and bytes by the device that agrees with the \
                     label."
            .into(),
        experiment: subject.experiment(
            "The same work, counted by operations, bytes, time and the device itself: as fast as \
             the label says speaks against it, by that factor slower for it.",
            &[("as-labelled", subject.workload().clone())],
        ),
        remedy: of_document(run, "state block size, count and time of this line").unwrap_or_else(
            || {
                "Do not use the figure; measure again, and report the record if it comes back."
                    .to_owned()
            },
        ),
    })
}

/// Figures of one and the same trial: bytes, operations and time.
fn within(subject: &Subject<'_>) -> Option<Contradiction> {
    subject.trials().iter().find_map(|trial| {
        by_bytes(trial)
            .or_else(|| by_operations(trial))
            .or_else(|| by_blocks(trial))
            .or_else(|| by_latency(subject, trial))
    })
}

fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

/// A contradiction, when the stated figure is too far from what it should be.
fn against(stated: f64, should_be: f64, line: impl FnOnce() -> String) -> Option<Contradiction> {
    let factor = stated / should_be;
    let off = factor.max(1.0 / factor);
    (off.is_finite() && off > OFF).then(|| Contradiction {
        factor,
        lines: vec![line()],
        confidence: Confidence::Certain,
    })
}

fn by_bytes(trial: &Trial) -> Option<Contradiction> {
    let seconds = positive(trial.seconds)?;
    let bytes = positive(trial.bytes as f64)?;
    let stated = positive(trial.throughput_bytes_per_s)?;
    against(stated, bytes / seconds, || {
        format!(
            "{} in {:.2} s are {}, and {} is stated.",
            show_size(trial.bytes),
            seconds,
            show_throughput(bytes / seconds),
            show_throughput(stated)
        )
    })
}

fn by_operations(trial: &Trial) -> Option<Contradiction> {
    let seconds = positive(trial.seconds)?;
    let ops = positive(trial.ops as f64)?;
    let stated = positive(trial.iops)?;
    against(stated, ops / seconds, || {
        format!(
            "{} operations in {:.2} s are {} a second, and {} are stated.",
            trial.ops,
            seconds,
            rate_digits(ops / seconds),
            rate_digits(stated)
        )
    })
}

fn by_blocks(trial: &Trial) -> Option<Contradiction> {
    let workload = &trial.workload;
    let unsaid = |key: &str| trial.unsaid.iter().any(|unsaid| unsaid == key);
    // A copy counts in records; a modification moves its block once or twice.
    if unsaid("block_size") || workload.copy.is_some() || workload.operation.modifies() {
        return None;
    }
    let iops = positive(trial.iops)?;
    let stated = positive(trial.throughput_bytes_per_s)?;
    let block = positive(workload.block_size as f64)?;
    against(stated, iops * block, || {
        format!(
            "{} operations a second of {} are {}, and {} is stated.",
            rate_digits(iops),
            show_size(workload.block_size),
            show_throughput(iops * block),
            show_throughput(stated)
        )
    })
}

/// Little's law: rate times latency is what was in flight, and more than was asked
/// for cannot have been.
fn by_latency(subject: &Subject<'_>, trial: &Trial) -> Option<Contradiction> {
    let workload = &trial.workload;
    let unsaid = |key: &str| trial.unsaid.iter().any(|unsaid| unsaid == key);
    if unsaid("queue_depth")
        || unsaid("streams")
        || workload.rate.is_some()
        || workload.pool.is_some()
    {
        return None;
    }
    let latency = positive(trial.latency_ns.mean?)?;
    let iops = positive(trial.iops)?;
    let depth = subject.workload().outstanding() as f64;
    let in_flight = iops * latency / 1e9;
    if in_flight < depth * OFF * OFF {
        return None;
    }
    against(in_flight, depth, || {
        format!(
            "{} operations a second of {} each are {} in flight, and {} were asked for.",
            rate_digits(iops),
            show_duration(latency as u64),
            ratio(in_flight),
            depth
        )
    })
}

/// Stages of a document that went over the disk in the same way, and of which
/// several say that this one is faster by the same power of two.
fn beside_neighbours(subject: &Subject<'_>) -> Option<Contradiction> {
    if !subject.imported() || subject.in_order() {
        return None;
    }
    let own = subject.workload();
    let each = subject.each_ns()?;
    let factors: Vec<(String, f64, f64)> = subject
        .others()
        .filter(|other| {
            let workload = other.workload();
            workload.operation == own.operation
                && workload.block_size == own.block_size
                && workload.pattern == own.pattern
                && workload.outstanding() == own.outstanding()
        })
        .filter_map(|other| {
            let ns = other.each_ns()?;
            Some((other.stage.label(), ns, ns / each))
        })
        .collect();
    let power = |factor: f64| factor.log2().round().exp2();
    let (_, _, first) = factors
        .iter()
        .find(|(_, _, factor)| *factor >= FACTOR_MIN)?;
    let factor = power(*first);
    let agreeing: Vec<&(String, f64, f64)> = factors
        .iter()
        .filter(|(_, _, each)| (each / factor - 1.0).abs() <= NEAR)
        .collect();
    // All that is comparable agrees: it is this one that is off.
    if agreeing.len() < NEIGHBOURS || agreeing.len() * 2 <= factors.len() {
        return None;
    }
    let mut lines = vec![format!(
        "An operation took {} by the label; times {factor} it is {}.",
        show_duration(each as u64),
        show_duration((each * factor) as u64)
    )];
    lines.extend(agreeing.iter().take(3).map(|(label, ns, ratio)| {
        format!(
            "{label}, the same work, took {}: {ratio:.1} times as long.",
            show_duration(*ns as u64)
        )
    }));
    Some(Contradiction {
        factor,
        lines,
        confidence: Confidence::Likely,
    })
}
