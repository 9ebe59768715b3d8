//! What a sync costs on top of the write: a flush of the drive's cache, or what a
//! filesystem adds. Where the disk waits for whole revolutions, that rule speaks.

use super::{Context, whole_revolutions};
use crate::stats;
use crate::words::{ratio, ratio_of};
use crate::write_matrix::{Cell, Matrix, duration, span_of_sizes};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "flush-cost";

/// A synced write must take so many times as long as the same direct write
/// without, or the difference is one of noise.
const TIMES: f64 = 1.5;
/// Fewest sizes at which both were measured.
const SIZES_MIN: usize = 3;
/// Flushes for each write from which on the flush is taken for the cause.
const FLUSHES: f64 = 0.9;

/// A synced cell, and the same size written directly without a sync.
type Pair<'m, 'a> = (&'m Cell<'a>, &'m Cell<'a>);

/// The small synced writes that have their counterpart without a sync.
pub(super) fn pairs<'m, 'a>(matrix: &'m Matrix<'a>) -> Vec<Pair<'m, 'a>> {
    let cells = matrix.small_synced();
    let paired = cells.filter_map(|cell| Some((cell, matrix.unsynced(cell.block_size)?)));
    let pairs: Vec<Pair<'m, 'a>> = paired.collect();
    let mut sizes: Vec<u64> = pairs.iter().map(|(cell, _)| cell.block_size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() < SIZES_MIN {
        return Vec::new();
    }
    pairs
}

/// How many times as long the synced writes take, in the median.
pub(super) fn times(pairs: &[Pair<'_, '_>]) -> Option<f64> {
    let ratios: Vec<f64> = pairs
        .iter()
        .map(|(synced, plain)| synced.write_ns() / plain.write_ns())
        .collect();
    stats::median(&ratios)
}

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let Some(matrix) = Matrix::of(context) else {
        return Vec::new();
    };
    let pairs = pairs(&matrix);
    let Some(times) = times(&pairs).filter(|times| *times >= TIMES) else {
        return Vec::new();
    };
    if whole_revolutions::of(&matrix, context).is_some() {
        return Vec::new();
    }
    let costs: Vec<f64> = pairs
        .iter()
        .map(|(synced, plain)| synced.write_ns() - plain.write_ns())
        .collect();
    let Some(cost) = stats::median(&costs) else {
        return Vec::new();
    };
    let counted: Option<Vec<f64>> = pairs.iter().map(|(c, _)| c.flushes_per_write).collect();
    let per_write = counted.and_then(|counted| stats::median(&counted));
    let by_flush = per_write.is_some_and(|flushes| flushes >= FLUSHES);
    let sizes = span_of_sizes(pairs.iter().map(|(cell, _)| cell.block_size));
    let mut evidence = vec![format!(
        "In the median of {} cells of {sizes} a synced write takes {} times as long as the same \
         direct write without a sync: {} more.",
        pairs.len(),
        ratio(times),
        duration(cost)
    )];
    evidence.push(match per_write {
        Some(flushes) => format!(
            "The disk counted {} for each of these writes.",
            ratio_of(flushes, "flush", "flushes")
        ),
        None => "The kernel does not count the flushes of this disk.".into(),
    });
    let what = if by_flush {
        "a flush of the drive's write cache"
    } else {
        "a forced write (FUA), a flush or what the filesystem adds"
    };
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!("a sync adds {} to a write", duration(cost)),
        claim: format!(
            "A sync costs {} on top of a write of {sizes}: {what}.",
            duration(cost)
        ),
        evidence,
        confidence: if by_flush {
            Confidence::Likely
        } else {
            Confidence::Possible
        },
        refuted_by: "As long a time for the same writes without a sync, in a repeat on an idle \
                     disk."
            .into(),
        remedy: "Let several commits share one sync, or write larger blocks; a drive whose cache \
                 survives a power cut answers a flush at once."
            .into(),
        stages: Matrix::stages(pairs.iter().flat_map(|(synced, plain)| [*synced, *plain])),
    }]
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
        let finding = of_rule(&costing(1.2e6, Some(1)), NAME).unwrap();
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
        let twice = of_rule(&costing(1.2e6, Some(2)), NAME).unwrap();
        assert!(twice.evidence[1].contains("counted 2 flushes for"));
    }

    #[test]
    fn a_cost_without_counted_flushes_has_several_explanations() {
        for flushes in [None, Some(0)] {
            let finding = of_rule(&costing(1.2e6, flushes), NAME).unwrap();
            assert_eq!(finding.confidence, Confidence::Possible);
            assert!(finding.claim.contains("FUA"), "{finding:#?}");
        }
    }

    #[test]
    fn syncs_that_cost_nothing_and_revolutions_are_left_alone() {
        assert!(of_rule(&costing(10e3, Some(1)), NAME).is_none());
        let mut run = costing(8.3e6, Some(1));
        assert!(of_rule(&run, NAME).is_some());
        rotating(&mut run);
        assert!(of_rule(&run, NAME).is_none());
        assert!(of_rule(&seed_run(), NAME).is_none());
    }
}
