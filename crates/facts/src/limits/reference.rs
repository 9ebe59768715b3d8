//! What the same run knows of the same work without the limit in question.

use super::Subject;
use diskfacts_plan::Operation;

/// A stage that shows what else is possible.
pub(super) struct Reference {
    /// Its name, with its settings.
    pub(super) label: String,
    /// Bytes per second.
    pub(super) rate: f64,
}

/// Share of its bytes that memory served, up to which a stage is one of the device.
const OF_DEVICE: f64 = 0.05;

/// The fastest other stage that read in order from the device.
pub(super) fn best_sequential_read(subject: &Subject<'_>) -> Option<Reference> {
    best(subject, |other| {
        other.in_order() && other.workload().operation == Operation::Read
    })
}

/// The fastest other stage of the device that `fits`.
pub(super) fn best(
    subject: &Subject<'_>,
    fits: impl Fn(&Subject<'_>) -> bool,
) -> Option<Reference> {
    subject
        .others()
        .filter(|other| {
            other.from_memory() <= OF_DEVICE
                && other.workload().rate.is_none()
                && other.workload().beside.is_none()
                && fits(other)
        })
        .filter_map(|other| {
            Some(Reference {
                label: other.stage.label(),
                rate: other.rate()?,
            })
        })
        .max_by(|a, b| a.rate.total_cmp(&b.rate))
}

/// How long the device takes for a small block of random reads, one at a time, ns:
/// what each request costs besides its bytes.
pub(super) fn small_read_ns(subject: &Subject<'_>) -> Option<(String, f64)> {
    const SMALL: u64 = 16 << 10;
    subject
        .others()
        .filter(|other| {
            other.scattered()
                && other.only_reads()
                && other.from_memory() <= OF_DEVICE
                && other.workload().outstanding() == 1
                && other.workload().rate.is_none()
                && other.workload().block_size <= SMALL
        })
        .filter_map(|other| Some((other.stage.label(), other.latency_ns()?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}
