//! A synced write of a rotating disk that waits for whole revolutions: nothing is
//! slower, and nothing but fewer syncs makes it faster.

use super::prelude::*;
use crate::write_matrix::span_of_sizes;

pub(super) const RULE: Rule = Rule {
    name: "whole-revolutions",
    needs: &[Drives],
    check: Check::One(check),
    ..Rule::NOTE
};

fn check(context: &Context<'_>) -> Option<Found> {
    let (run, matrix) = (context.run, context.matrix.as_ref()?);
    let found = context.revolution()?;
    let slow = matrix.has_slow_syncs();
    let document = "The document does not say that the disk turns.".to_owned();
    let longer = "Some writes take much longer than the median.".to_owned();
    let imported = context.is_imported();
    let as_long = if imported { "as long as" } else { "for" };
    let whole = match found.revolutions {
        1 => "a whole revolution".to_owned(),
        several => format!("{several} whole revolutions"),
    };
    let of_sizes = found.by_size(matrix);
    let (last, more) = found.steps(&of_sizes);
    let more = more.map_or_else(String::new, |(whole, sizes)| {
        let sizes = span_of_sizes(sizes);
        format!(", and one of {sizes} for {whole} revolutions")
    });
    let (rpm, per_second) = (found.rpm, three_digits(1e9 / found.wait_ns));
    // The sizes that wait alike, from the smallest on.
    let small = matrix.small_synced().map(|cell| cell.block_size);
    let sizes = span_of_sizes(small.chain(last));
    Some(
        RULE.claim(format!(
            "Each synced write of {sizes} waits {as_long} {whole} of a disk with {rpm} revolutions \
             per minute{more}: {per_second} writes per second at most, however small."
        ))
        .headline(format!(
            "each synced write waits for whole revolutions: {per_second} a second"
        ))
        .confidence(likely_if(found.is_sure(run) && !slow))
        .case_if(is_simulated(run), "simulated")
        .stages(names(matrix.small_synced().map(|cell| cell.stage)))
        .evidence(found.of_small(matrix))
        .evidence(imported.then_some(document))
        .evidence(matrix.of_larger(&of_sizes))
        .evidence(slow.then_some(longer)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revolution::turn_ns;
    use crate::testing::{matrix_run, of_rule, rotating, seed_run, wobble};
    use diskfacts_record::Run;

    /// A disk that streams 127 MB/s, and waits so long for each synced write.
    fn waiting(wait_ns: f64) -> Run {
        matrix_run(|mode, size| {
            let bytes_ns = size as f64 / 127e6 * 1e9;
            let wait = if mode.sync.each_write() { wait_ns } else { 0.0 };
            size as f64 / (wait + bytes_ns) * 1e9 * wobble(mode, size, 0.01)
        })
    }

    #[test]
    fn each_usual_speed_is_found_by_its_wait() {
        for (rpm, revolutions) in [(5400, 1), (7200, 1), (7200, 2), (10_000, 1), (15_000, 1)] {
            let mut run = waiting(f64::from(revolutions) * turn_ns(rpm));
            assert!(of_rule(&run, RULE.name).is_none(), "it does not rotate");
            rotating(&mut run);
            let finding = of_rule(&run, RULE.name).unwrap();
            let said = format!("a disk with {rpm} revolutions per minute");
            assert!(finding.claim.contains(&said), "{finding:#?}");
            let whole = if revolutions == 1 {
                "a whole"
            } else {
                "2 whole"
            };
            assert!(finding.claim.contains(whole), "{finding:#?}");
            assert_eq!(finding.confidence, Confidence::Likely);
        }
    }

    #[test]
    fn a_wait_that_two_speeds_explain_is_only_possible() {
        let mut run = waiting(2.0 * turn_ns(10_000));
        rotating(&mut run);
        let finding = of_rule(&run, RULE.name).unwrap();
        assert_eq!(finding.confidence, Confidence::Possible);
        assert!(
            finding.evidence[2].contains("3 revolutions at 15000"),
            "{finding:#?}"
        );
    }

    #[test]
    fn waits_of_other_lengths_are_left_alone() {
        for wait_ns in [100e3, 2.5e6, 9.5e6, 50e6] {
            let mut run = waiting(wait_ns);
            rotating(&mut run);
            assert!(of_rule(&run, RULE.name).is_none(), "{wait_ns}");
        }
        // Right on average, and a different wait for each size.
        let mut run = matrix_run(|mode, size| {
            let wait = if mode.sync.each_write() { 8.33e6 } else { 0.0 };
            let own = 1.0 + 0.2 * (f64::from(size.trailing_zeros()) - 14.0);
            size as f64 / (wait * own + size as f64 / 127e6 * 1e9) * 1e9
        });
        rotating(&mut run);
        assert!(of_rule(&run, RULE.name).is_none());
    }

    #[test]
    fn a_wait_that_only_two_sizes_show_is_no_revolution() {
        let mut run = waiting(turn_ns(7200));
        rotating(&mut run);
        run.trials
            .retain(|t| !(16 << 10..1 << 20).contains(&t.workload.block_size));
        assert!(of_rule(&run, RULE.name).is_none());
    }

    #[test]
    fn a_wait_that_little_more_than_half_of_the_modes_show_is_no_revolution() {
        let waits = |slow: usize| {
            let mut run = matrix_run(|mode, size| {
                let wait = match mode.rank() {
                    0..=8 => 0.0,
                    rank if rank < 9 + slow => 20e6,
                    _ => turn_ns(7200),
                };
                size as f64 / (wait + size as f64 / 127e6 * 1e9) * 1e9
            });
            rotating(&mut run);
            of_rule(&run, RULE.name)
        };
        assert!(waits(2).is_some());
        assert!(waits(5).is_none());
    }

    #[test]
    fn the_disk_of_the_benchmark_turns_7200_times_a_minute() {
        let finding = of_rule(&seed_run(), RULE.name).unwrap();
        assert!(
            finding
                .claim
                .contains("a whole revolution of a disk with 7200 revolutions per minute"),
            "{finding:#?}"
        );
        assert!(finding.evidence[0].contains("8.33 ms"), "{finding:#?}");
        assert_eq!(finding.confidence, Confidence::Likely);
    }
}
