//! The smallest block at which synced writes are nearly as fast as a stream.

use super::prelude::*;
use crate::write_matrix::span_of_sizes;

pub(super) const RULE: Rule = Rule {
    name: "sync-block-size",
    needs: &[],
    check: Check::One(check),
    ..Rule::NOTE
};

/// Share of the streaming rate that is to be reached.
const SHARE: f64 = 0.9;

fn check(context: &Context<'_>) -> Option<Found> {
    let matrix = context.matrix.as_ref()?;
    let (stream, rate) = matrix.streaming()?;
    let largest = *matrix.sizes().last()?;
    let needed = matrix.sync_sizes(SHARE * rate);
    unless(needed.is_empty())?;
    let (headline, claim) = told(&needed, &show_size(largest));
    let stream = format!(
        "The streaming rate is that of {stream} with blocks of {} and more: {} in the median.",
        show_size(matrix.large_from()),
        show_throughput(rate)
    );
    let each = needed.iter().map(|(size, modes)| match size {
        Some(size) => format!("From {} on: {}.", show_size(*size), modes.join(", ")),
        None => format!("Not up to {}: {}.", show_size(largest), modes.join(", ")),
    });
    Some(
        RULE.claim(claim)
            .headline(headline)
            .stages(names(matrix.cells.iter().map(|cell| cell.stage)))
            .evidence([stream])
            .evidence(each),
    )
}

/// Headline and claim: the size that most modes need; where most never stream and others do,
/// how many, for a claim about all of them would be false.
fn told(needed: &[(Option<u64>, Vec<String>)], largest: &str) -> (String, String) {
    let most = needed.iter().map(|(_, modes)| modes.len()).max();
    let usual = needed.iter().find(|(_, modes)| Some(modes.len()) == most);
    if let Some(size) = usual.and_then(|(size, _)| *size).map(show_size) {
        return (
            format!("synced writes stream from blocks of {size} on"),
            format!(
                "Synced writes reach 90 % of the streaming rate with blocks of {size} and more."
            ),
        );
    }
    let all: usize = needed.iter().map(|(_, modes)| modes.len()).sum();
    let never = needed.iter().find(|(size, _)| size.is_none());
    let some = all - never.map_or(0, |(_, modes)| modes.len());
    if some == 0 {
        return (
            format!("synced writes do not stream with {largest} either"),
            format!(
                "Synced writes do not reach 90 % of the streaming rate, not even with blocks of \
                 {largest}."
            ),
        );
    }
    let sizes = span_of_sizes(needed.iter().filter_map(|(size, _)| *size));
    (
        format!("only {some} of {all} synced ways stream"),
        format!(
            "{some} of {all} ways to sync each write reach 90 % of the streaming rate, from blocks \
             of {sizes} on; the others do not with {largest} either."
        ),
    )
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
        let finding = of_rule(&run(1e6), RULE.name).unwrap();
        assert!(
            finding.claim.contains("blocks of 8 MiB and more"),
            "{finding:#?}"
        );
        assert_eq!(finding.evidence.len(), 2, "{finding:#?}");
    }

    #[test]
    fn a_sync_that_is_too_dear_at_every_size_is_said() {
        let finding = of_rule(&run(100e6), RULE.name).unwrap();
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
        let finding = of_rule(&run, RULE.name).unwrap();
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
        let finding = of_rule(&run, RULE.name).unwrap();
        assert_eq!(finding.evidence.len(), 2, "{finding:#?}");
    }

    #[test]
    fn where_no_block_is_large_the_largest_is_taken() {
        let mut run = run(1e3);
        run.trials.retain(|t| t.workload.block_size <= 32 << 10);
        let finding = of_rule(&run, RULE.name).unwrap();
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
        assert!(of_rule(&run, RULE.name).is_none());
    }

    #[test]
    fn the_disk_of_the_benchmark_needs_16_mib() {
        let finding = of_rule(&seed_run(), RULE.name).unwrap();
        assert!(
            finding.claim.contains("blocks of 16 MiB and more"),
            "{finding:#?}"
        );
    }
}
