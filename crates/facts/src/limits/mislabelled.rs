//! The figures contradict each other by a factor: one of the labels is wrong.

use super::{Candidate, Standing, Subject};
use crate::words::{of_document, ratio};
use diskfacts_plan::units::{rate_digits, show_duration, show_size, show_throughput};
use diskfacts_record::{Confidence, Trial};

pub(crate) const NAME: &str = "mislabelled";

/// How far two ways to the same figure may be apart: documents round to three digits, and
/// some count in 1000 and some in 1024 (7 % at mega).
const OFF: f64 = 1.25;

/// Two ways to one figure that do not agree.
pub(crate) struct Contradiction {
    /// The stated figure over what it should be.
    pub(crate) factor: f64,
    pub(crate) evidence: Vec<String>,
    pub(crate) confidence: Confidence,
}

pub(crate) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let mut trials = subject.trials().iter();
    let found = trials.find_map(|trial| in_trial(subject, trial))?;
    subject.moves_blocks().then(|| wrong_label(subject, found))
}

/// What a contradiction says of a stage.
pub(crate) fn wrong_label(subject: &Subject<'_>, found: Contradiction) -> Candidate {
    let way = if found.factor > 1.0 { "high" } else { "low" };
    let times = found.factor.max(1.0 / found.factor);
    Candidate {
        standing: Standing::NotTheDevice,
        claim: format!(
            "The rate cannot be right as it is labelled: it is {} times too {way}.",
            ratio(times)
        ),
        evidence: found.evidence,
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
        remedy: of_document(
            subject.run(),
            "state block size, count and time of this line",
        )
        .unwrap_or_else(|| {
            "Do not use the figure; measure again, and report the record if it comes back."
                .to_owned()
        }),
    }
}

/// The first two ways to a figure of one and the same trial, by bytes, operations, time and
/// latency, that are too far apart.
fn in_trial(subject: &Subject<'_>, trial: &Trial) -> Option<Contradiction> {
    let (seconds, iops, rate) = (trial.seconds, trial.iops, trial.throughput_bytes_per_s);
    let workload = &trial.workload;
    let unsaid = |key: &str| trial.unsaid.iter().any(|unsaid| unsaid == key);
    let known = |known: bool, value: f64| if known { value } else { f64::NAN };
    // A copy counts in records; a modification moves its block once or twice.
    let in_blocks = workload.copy.is_none() && !workload.operation.modifies();
    let block = known(
        in_blocks && !unsaid("block_size"),
        workload.block_size as f64,
    );
    // Little's law: more than was asked for cannot have been in flight.
    let closed = workload.rate.is_none() && workload.pool.is_none();
    let latency = trial.latency_ns.mean.unwrap_or(f64::NAN);
    let in_flight = known(
        closed && !unsaid("queue_depth") && !unsaid("streams"),
        iops * latency / 1e9,
    );
    let depth = subject.workload().outstanding() as f64;
    let ways: [(f64, f64, &dyn Fn() -> String); 4] = [
        (rate, trial.bytes as f64 / seconds, &|| {
            format!(
                "{} in {seconds:.2} s are {}, and {} is stated.",
                show_size(trial.bytes),
                show_throughput(trial.bytes as f64 / seconds),
                show_throughput(rate)
            )
        }),
        (iops, trial.ops as f64 / seconds, &|| {
            format!(
                "{} operations in {seconds:.2} s are {} a second, and {} are stated.",
                trial.ops,
                rate_digits(trial.ops as f64 / seconds),
                rate_digits(iops)
            )
        }),
        (rate, iops * block, &|| {
            format!(
                "{} operations a second of {} are {}, and {} is stated.",
                rate_digits(iops),
                show_size(workload.block_size),
                show_throughput(iops * block),
                show_throughput(rate)
            )
        }),
        (
            known(in_flight >= depth * OFF * OFF, in_flight),
            depth,
            &|| {
                format!(
                    "{} operations a second of {} each are {} in flight, and {depth} were asked for.",
                    rate_digits(iops),
                    show_duration(latency as u64),
                    ratio(in_flight)
                )
            },
        ),
    ];
    ways.into_iter().find_map(|(stated, should_be, said)| {
        let factor = stated / should_be;
        let off = factor.max(1.0 / factor);
        let sound = stated > 0.0 && should_be > 0.0 && off.is_finite();
        (sound && off > OFF).then(|| Contradiction {
            factor,
            evidence: vec![said()],
            confidence: Confidence::Certain,
        })
    })
}
