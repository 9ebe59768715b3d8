//! What a sync costs on top of the write: a flush of the drive's cache, or what a
//! filesystem adds. Where the disk waits for whole revolutions, that rule speaks.

use super::prelude::*;
use super::whole_revolutions;
use crate::stats::{median, median_of};
use crate::write_matrix::{Cell, Matrix, rising, span_of_sizes};

pub(super) const RULE: Rule = Rule {
    name: "flush-cost",
    about: "what a sync costs on top of a write",
    refuted_by: "As long a time for the same writes without a sync, in a repeat on an idle disk.",
    check: Check::One(check),
    ..Rule::NOTE
};

/// A synced write must take so many times as long as the same direct write
/// without, or the difference is one of noise.
const TIMES: f64 = 1.5;
/// Fewest sizes at which both were measured.
const SIZES_MIN: usize = 3;
/// Flushes for each write from which on the flush is taken for the cause.
const FLUSHES: f64 = 0.9;

/// The small synced cells of a matrix, each with the same size written directly without a
/// sync.
pub(super) struct Pairs<'m, 'a> {
    pairs: Vec<(&'m Cell<'a>, &'m Cell<'a>)>,
    /// How many times as long the synced writes take, in the median.
    pub(super) times: f64,
}

impl<'m, 'a> Pairs<'m, 'a> {
    pub(super) fn of(matrix: &'m Matrix<'a>) -> Option<Self> {
        let synced = matrix.small_synced();
        let paired = synced.filter_map(|cell| Some((cell, matrix.unsynced(cell.block_size)?)));
        let mut pairs = Self {
            pairs: paired.collect(),
            times: f64::NAN,
        };
        pairs.times = pairs.median(|synced, plain| synced / plain)?;
        (rising(pairs.sizes()).len() >= SIZES_MIN).then_some(pairs)
    }

    /// Over the pairs, of what a synced and a plain write take, nanoseconds.
    pub(super) fn median(&self, of: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let each = self.pairs.iter();
        median_of(each.map(|(synced, plain)| of(synced.write_ns(), plain.write_ns())))
    }

    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> {
        self.pairs.iter().map(|(cell, _)| cell.block_size)
    }

    pub(super) fn stages(&self) -> Vec<String> {
        let both = self.pairs.iter().flat_map(|(a, b)| [a.stage, b.stage]);
        names(both)
    }
}

fn check(context: &Context<'_>) -> Option<Found> {
    let pairs = Pairs::of(context.matrix.as_ref()?)?;
    if pairs.times < TIMES || whole_revolutions::of(context).is_some() {
        return None;
    }
    let cost = duration(pairs.median(|synced, plain| synced - plain)?);
    let counted = pairs.pairs.iter().map(|(c, _)| c.flushes_per_write);
    let per_write = median(&counted.collect::<Option<Vec<f64>>>().unwrap_or_default());
    let by_flush = per_write.is_some_and(|flushes| flushes >= FLUSHES);
    let sizes = span_of_sizes(pairs.sizes());
    let evidence = vec![
        format!(
            "In the median of {} cells of {sizes} a synced write takes {} times as long as the \
             same direct write without a sync: {cost} more.",
            pairs.pairs.len(),
            ratio(pairs.times)
        ),
        match per_write {
            Some(flushes) => format!(
                "The disk counted {} for each of these writes.",
                ratio_of(flushes, "flush", "flushes")
            ),
            None => "The kernel does not count the flushes of this disk.".into(),
        },
    ];
    let what = if by_flush {
        "a flush of the drive's write cache"
    } else {
        "a forced write (FUA), a flush or what the filesystem adds"
    };
    Some(
        RULE.claim(format!(
            "A sync costs {cost} on top of a write of {sizes}: {what}."
        ))
        .headline(format!("a sync adds {cost} to a write"))
        .confidence(likely_if(by_flush))
        .remedy(
            "Let several commits share one sync, or write larger blocks; a drive whose cache \
                 survives a power cut answers a flush at once.",
        )
        .stages(pairs.stages())
        .evidence(evidence),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix_run, of_rule, rotating, seed_run, wobble};
    use diskfacts_record::Run;

    fn costing(sync_ns: f64, flushes: Option<u64>) -> Run {
        let mut run = matrix_run(|mode, size| {
            // 200 MB/s, as a disk that rotates may stream.
            let own = 80e3 + size as f64 * 5.0;
            let sync = if mode.sync.each_write() { sync_ns } else { 0.0 };
            size as f64 / (own + sync) * 1e9 * wobble(mode, size, 0.02)
        });
        for trial in &mut run.trials {
            let writes = trial.evidence.issued.writes;
            for device in &mut trial.evidence.devices {
                device.flushes = flushes.map(|flushes| flushes * writes);
            }
        }
        run
    }

    #[test]
    fn what_a_sync_costs_is_found_with_the_flush_that_it_is() {
        let finding = of_rule(&costing(1.2e6, Some(1)), RULE.name).unwrap();
        assert!(
            finding.claim.starts_with("A sync costs 1.2 ms on top of"),
            "{finding:#?}"
        );
        assert!(
            finding.claim.contains("a flush of the drive's"),
            "{finding:#?}"
        );
        assert_eq!(finding.confidence, Confidence::Likely);
        assert_eq!(
            finding.evidence[1],
            "The disk counted 1 flush for each of these writes."
        );
        let twice = of_rule(&costing(1.2e6, Some(2)), RULE.name).unwrap();
        assert!(twice.evidence[1].contains("counted 2 flushes for"));
    }

    #[test]
    fn a_cost_without_counted_flushes_has_several_explanations() {
        for flushes in [None, Some(0)] {
            let finding = of_rule(&costing(1.2e6, flushes), RULE.name).unwrap();
            assert_eq!(finding.confidence, Confidence::Possible);
            assert!(finding.claim.contains("FUA"), "{finding:#?}");
        }
    }

    #[test]
    fn syncs_that_cost_nothing_and_revolutions_are_left_alone() {
        assert!(of_rule(&costing(10e3, Some(1)), RULE.name).is_none());
        let mut run = costing(8.3e6, Some(1));
        assert!(of_rule(&run, RULE.name).is_some());
        rotating(&mut run);
        assert!(of_rule(&run, RULE.name).is_none());
        assert!(of_rule(&seed_run(), RULE.name).is_none());
    }
}
