//! The rate of the medium in a document: nothing but its figures is known, so they have
//! to show it. They do where blocks of another size move as many bytes a second, and
//! nothing that was done at the same place moves more.

use super::{Candidate, RATE_MIN, REFUTED_BY, Standing, Subject, experiment};
use crate::places::Place;
use crate::words::percent;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_record::Confidence;

/// Rates that differ by less are taken for the same: the direct writes of seed 003 differ
/// by 5 % from size to size, and those that are synced at the end by 9 % from them.
const ALIKE: f64 = 0.1;
/// Settings that name what was measured, beside a [`Place`].
const WHERE: [&str; 5] = ["device", "layout", "machine", "on", "volume"];
/// Others that are told as evidence.
const TOLD: usize = 3;

pub(super) fn check(subject: &Subject<'_>) -> Option<Candidate> {
    let block = known_block(subject)?;
    let rate = subject.flow().filter(|rate| *rate >= RATE_MIN)?;
    let writes = subject.workload().operation.writes();
    let alike: Vec<(Subject<'_>, f64)> = subject
        .others()
        .filter(|other| other.workload().operation.writes() == writes && same_place(subject, other))
        .filter_map(|other| other.flow().map(|rate| (other, rate)))
        .collect();
    let best = alike.iter().map(|(_, rate)| *rate).fold(rate, f64::max);
    if rate < best * (1.0 - ALIKE) {
        return None;
    }
    let mut as_fast: Vec<(u64, &Subject<'_>, f64)> = alike
        .iter()
        .filter(|(_, other)| (other / rate - 1.0).abs() <= ALIKE)
        .filter_map(|(other, rate)| Some((known_block(other)?, other, *rate)))
        .filter(|(other, ..)| *other != block)
        .collect();
    // Each size once, the nearest rate of it.
    as_fast.sort_by(|a, b| {
        let off = |one: &(u64, &Subject<'_>, f64)| (one.2 / rate - 1.0).abs();
        a.0.cmp(&b.0).then(off(a).total_cmp(&off(b)))
    });
    as_fast.dedup_by_key(|(size, ..)| *size);
    if as_fast.is_empty() {
        return None;
    }
    let mut evidence = vec![format!(
        "Blocks of another size move as much, within {}, and nothing at this place moves more:",
        percent(ALIKE)
    )];
    evidence.extend(as_fast.iter().rev().take(TOLD).map(|(size, other, rate)| {
        format!(
            "{} with blocks of {}, {}.",
            show_throughput(*rate),
            show_size(*size),
            other.stage.label()
        )
    }));
    Some(Candidate {
        standing: Standing::Nature,
        claim: format!("{} is the rate of its medium.", show_throughput(rate)),
        evidence,
        share: Some(rate / best),
        confidence: Confidence::Possible,
        refuted_by: REFUTED_BY.into(),
        experiment: experiment(subject),
        remedy: "Only more drives side by side, or a faster one, move more.".into(),
    })
}

/// The size of its blocks, if the document says it.
fn known_block(subject: &Subject<'_>) -> Option<u64> {
    let size = subject.workload().block_size;
    (size > 0 && subject.says("block_size")).then_some(size)
}

/// Whether both may be of the same place of the same disk.
fn same_place(a: &Subject<'_>, b: &Subject<'_>) -> bool {
    let place = match (Place::of(a.stage), Place::of(b.stage)) {
        (Some(a), Some(b)) => a.may_be(&b),
        (None, None) => true,
        _ => false,
    };
    let named = |subject: &Subject<'_>, key: &str| subject.stage.settings.get(key).cloned();
    place && WHERE.iter().all(|key| named(a, key) == named(b, key))
}
