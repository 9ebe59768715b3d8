//! The smallest block at which synced writes are nearly as fast as a stream.

use super::Context;
use crate::stats;
use crate::write_matrix::{Matrix, span_of_sizes};
use diskfacts_plan::WriteMode;
use diskfacts_plan::units::{show_size, show_throughput};
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "sync-block-size";

/// Share of the streaming rate that is to be reached.
const SHARE: f64 = 0.9;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let Some(matrix) = Matrix::of(context) else {
        return Vec::new();
    };
    let Some((stream, rate)) = matrix.streaming() else {
        return Vec::new();
    };
    let synced: Vec<WriteMode> = matrix
        .modes()
        .into_iter()
        .filter(|mode| mode.sync.each_write())
        .collect();
    let Some(largest) = matrix
        .sizes()
        .last()
        .copied()
        .filter(|_| !synced.is_empty())
    else {
        return Vec::new();
    };
    // Each size that some modes need, with their names; `None` is not reached.
    let mut needed: Vec<(Option<u64>, Vec<String>)> = Vec::new();
    for mode in synced {
        let size = reached(&matrix, mode, SHARE * rate);
        match needed.iter_mut().find(|(known, _)| *known == size) {
            Some((_, modes)) => modes.push(mode.to_string()),
            None => needed.push((size, vec![mode.to_string()])),
        }
    }
    needed.sort_by_key(|(size, _)| size.unwrap_or(u64::MAX));
    let (headline, claim) = told(&needed, largest);
    let mut evidence = vec![format!(
        "The streaming rate is that of {stream} with blocks of {} and more: {} in the median.",
        show_size(matrix.large_from()),
        show_throughput(rate)
    )];
    evidence.extend(needed.iter().map(|(size, modes)| {
        let from = match size {
            Some(size) => format!("From {} on", show_size(*size)),
            None => format!("Not up to {}", show_size(largest)),
        };
        format!("{from}: {}.", modes.join(", "))
    }));
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline,
        claim,
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "A repeat with `--trials 5` in which another size is the first.".into(),
        remedy: "Collect what is written until so much can be synced at once; where less must be \
                 durable at a time, more than this rate cannot be had."
            .into(),
        stages: Matrix::stages(&matrix.cells),
    }]
}

/// Headline and claim: the size that most modes need; where most never stream and others do,
/// how many, for a claim about all of them would be false.
fn told(needed: &[(Option<u64>, Vec<String>)], largest: u64) -> (String, String) {
    let most = needed.iter().map(|(_, modes)| modes.len()).max();
    let usual = needed.iter().find(|(_, modes)| Some(modes.len()) == most);
    let all: usize = needed.iter().map(|(_, modes)| modes.len()).sum();
    let never = needed.iter().find(|(size, _)| size.is_none());
    let never = never.map_or(0, |(_, modes)| modes.len());
    match (usual.and_then(|(size, _)| *size), needed.first()) {
        (Some(size), _) => (
            format!("synced writes stream from blocks of {} on", show_size(size)),
            format!(
                "Synced writes reach 90 % of the streaming rate with blocks of {} and more.",
                show_size(size)
            ),
        ),
        // They are sorted: where any mode reaches it, the first does.
        (None, Some((Some(_), _))) => (
            format!("only {} of {all} synced ways stream", all - never),
            format!(
                "{} of {all} ways to sync each write reach 90 % of the streaming rate, from blocks \
                 of {} on; the others do not with {} either.",
                all - never,
                span_of_sizes(needed.iter().filter_map(|(size, _)| *size)),
                show_size(largest)
            ),
        ),
        (None, _) => (
            format!(
                "synced writes do not stream with {} either",
                show_size(largest)
            ),
            format!(
                "Synced writes do not reach 90 % of the streaming rate, not even with blocks of \
                 {}.",
                show_size(largest)
            ),
        ),
    }
}

/// The smallest size at which a mode has this rate, and has it still in the
/// median of the larger ones: one lucky cell is no answer.
fn reached(matrix: &Matrix<'_>, mode: WriteMode, rate: f64) -> Option<u64> {
    let cells: Vec<(u64, f64)> = matrix
        .of_mode(mode)
        .map(|cell| (cell.block_size, cell.throughput))
        .collect();
    let first = cells.iter().enumerate().find(|(i, (_, throughput))| {
        let from_here: Vec<f64> = cells[*i..].iter().map(|(_, t)| *t).collect();
        *throughput >= rate && stats::median(&from_here).is_some_and(|median| median >= rate)
    });
    first.map(|(_, (size, _))| *size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix_run, of_rule, seed_run};
    use diskfacts_record::Run;

    /// A device of 500 MB/s on which each sync costs so much.
    fn run(sync_ns: f64) -> Run {
        matrix_run(|mode, size| {
            let sync = if mode.sync.each_write() { sync_ns } else { 0.0 };
            size as f64 / (size as f64 / 500e6 * 1e9 + sync) * 1e9
        })
    }

    #[test]
    fn the_size_at_which_the_sync_is_a_tenth_of_the_time_is_found() {
        // 1 ms is a tenth of the whole when the bytes take 9 ms: 4.5 MB.
        let finding = of_rule(&run(1e6), NAME).unwrap();
        assert!(
            finding.claim.contains("blocks of 8 MiB and more"),
            "{finding:#?}"
        );
        assert_eq!(finding.evidence.len(), 2, "{finding:#?}");
    }

    #[test]
    fn a_sync_that_is_too_dear_at_every_size_is_said() {
        let finding = of_rule(&run(100e6), NAME).unwrap();
        assert!(
            finding.claim.contains("not even with blocks of 32 MiB"),
            "{finding:#?}"
        );
    }

    #[test]
    fn ways_that_stream_where_most_do_not_are_told_in_the_claim() {
        let run = matrix_run(|mode, size| {
            let direct = mode.to_string().ends_with("O_DIRECT");
            let sync = if !mode.sync.each_write() {
                0.0
            } else if direct {
                1e6
            } else {
                100e6
            };
            size as f64 / (size as f64 / 500e6 * 1e9 + sync) * 1e9
        });
        let finding = of_rule(&run, NAME).unwrap();
        assert_eq!(
            finding.claim,
            "4 of 12 ways to sync each write reach 90 % of the streaming rate, from blocks of 8 MiB \
             on; the others do not with 32 MiB either."
        );
    }

    #[test]
    fn one_lucky_cell_is_no_answer() {
        let run = matrix_run(|mode, size| {
            let lucky = size == 8192 && mode.to_string() == "FSYNC";
            let sync = if mode.sync.each_write() && !lucky {
                1e6
            } else {
                0.0
            };
            size as f64 / (size as f64 / 500e6 * 1e9 + sync) * 1e9
        });
        let finding = of_rule(&run, NAME).unwrap();
        assert_eq!(finding.evidence.len(), 2, "{finding:#?}");
    }

    #[test]
    fn where_no_block_is_large_the_largest_is_taken() {
        let mut run = run(1e3);
        run.trials.retain(|t| t.workload.block_size <= 32 << 10);
        let finding = of_rule(&run, NAME).unwrap();
        assert!(
            finding.evidence[0].contains("with blocks of 32 KiB and more"),
            "{finding:#?}"
        );
        assert!(
            finding.claim.contains("blocks of 8 KiB and more"),
            "{finding:#?}"
        );
    }

    #[test]
    fn without_synced_modes_nothing_is_said() {
        let mut run = run(1e6);
        run.trials.retain(|t| !t.workload.sync.each_write());
        assert!(of_rule(&run, NAME).is_none());
    }

    #[test]
    fn the_disk_of_the_benchmark_needs_16_mib() {
        let finding = of_rule(&seed_run(), NAME).unwrap();
        assert!(
            finding.claim.contains("blocks of 16 MiB and more"),
            "{finding:#?}"
        );
    }
}
