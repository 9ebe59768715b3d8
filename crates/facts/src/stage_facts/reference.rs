//! What the same run knows of the same work without the limit in question.

use crate::prelude::*;

/// Share of its bytes that memory served, up to which a stage is one of the device.
const OF_DEVICE: f64 = 0.05;

/// Other stages of the device that went as fast as they could.
fn unhindered<'s, 'a>(facts: &'s StageFacts<'a>) -> impl Iterator<Item = StageFacts<'a>> + 's {
    let others = facts.others();
    others.filter(|other| other.memory_share() <= OF_DEVICE && other.workload().rate.is_none())
}

/// The fastest other stage that read in order from the device.
pub(crate) fn best_sequential_read(facts: &StageFacts<'_>) -> Option<(String, f64)> {
    best(facts, |other| other.in_order() && other.only_reads())
}

/// The fastest other stage of the device that `fits`: its name, with its settings, and bytes
/// per second.
pub(crate) fn best(
    facts: &StageFacts<'_>,
    fits: impl Fn(&StageFacts<'_>) -> bool,
) -> Option<(String, f64)> {
    unhindered(facts)
        .filter(|other| other.workload().beside.is_none() && fits(other))
        .filter_map(|other| Some((other.stage.label(), other.rate()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// How long the device takes for a small block of random reads, one at a time, ns:
/// what each request costs besides its bytes.
pub(crate) fn small_read_ns(facts: &StageFacts<'_>) -> Option<(String, f64)> {
    const SMALL: u64 = 16 << 10;
    unhindered(facts)
        .filter(|other| other.scattered() && other.only_reads())
        .filter(|other| other.outstanding() <= 1.0 && other.workload().block_size <= SMALL)
        .filter_map(|other| Some((other.stage.label(), other.latency_ns()?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The most operations a second of this stage's size that the run shows the device to do: as
/// many of at least that size, and of a large transfer as many bytes.
pub(crate) fn most_iops(facts: &StageFacts<'_>) -> Option<f64> {
    let block = facts.workload().block_size;
    let of = |other: StageFacts<'_>| {
        let is_as_large = other.workload().block_size >= block;
        let of_bytes = || Some(other.flow()? / block as f64);
        let of_bytes = facts.flows().then(of_bytes).flatten();
        let of_operations = other.iops().filter(|_| is_as_large);
        of_bytes.into_iter().chain(of_operations).reduce(f64::max)
    };
    let reaching = facts.all().filter(StageFacts::reaches_device);
    reaching.filter_map(of).reduce(f64::max)
}
