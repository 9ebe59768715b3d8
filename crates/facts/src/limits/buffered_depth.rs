//! Reads through the page cache that were to be in flight together, of which few get to the
//! device: who reads through it waits for its pages, so as many are under way as there are
//! threads that wait (kernel, `io_uring_enter(2)`: what would block goes to workers).

use super::experiment::without;
use super::{Candidate, Standing, Subject};
use crate::words::{percent, ratio};
use diskfacts_plan::CacheMode;
use diskfacts_plan::units::show_duration;
use diskfacts_record::{Confidence, Quantity, Spent};

pub(super) const NAME: &str = "buffered-depth";

/// Share of what was to be in flight that is with the devices at most, for it to be few.
const FEW: f64 = 0.5;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let workload = subject.workload();
    let buffered = subject
        .trials()
        .iter()
        .all(|trial| !trial.evidence.engine.direct);
    let reads = subject.only_reads() && subject.moves_blocks() && subject.from_memory() < 0.5;
    if subject.imported() || workload.rate.is_some() || !buffered || !reads {
        return None;
    }
    let wanted = subject.outstanding();
    let own_each = workload.queue_depth > 1 && !subject.in_order();
    let waits = subject.spent(&[Spent::Cache])?;
    let budget = subject.figures.budget.as_ref()?;
    let with_device_ns: f64 = [Spent::Device, Spent::Scheduler, Spent::BlockLayer]
        .iter()
        .map(|part| budget.mean_ns(*part))
        .sum();
    // Little's law, of the time that a read is with the devices.
    let with_device = subject.mean_iops()? * with_device_ns / 1e9;
    if !own_each || wanted < 2.0 || with_device > FEW * wanted || waits < FEW / 2.0 {
        return None;
    }
    Some(Candidate {
        standing: Standing::cause(waits),
        claim: format!(
            "Of the {wanted} reads that were to be in flight {} are with the device at a time: \
             through the page cache the others wait for their turn in the kernel.",
            ratio(with_device)
        ),
        evidence: vec![format!(
            "A read takes {}, of which {} with the device; {} of its time it waits for its page \
             without being there.",
            show_duration(budget.latency_ns as u64),
            show_duration(with_device_ns as u64),
            percent(waits)
        )],
        share: Some(waits),
        confidence: Confidence::Likely,
        refuted_by: "The same rate with direct I/O at the same depth.".into(),
        experiment: subject
            .experiment(
                "Past the page cache: more reads a second speak for it, as many for the device.",
                &[
                    ("through-the-cache", workload.clone()),
                    ("direct", subject.with(|w| w.cache = CacheMode::Direct)),
                ],
            )
            .decided_by(without(
                ("direct", "through-the-cache"),
                Quantity::Iops,
                waits,
            )),
        remedy: "Use direct I/O for a deep queue, or as many threads as reads are to be in \
                 flight (`streams`)."
            .into(),
    })
}
