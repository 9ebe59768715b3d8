//! A synced write of a rotating disk that waits for whole revolutions: nothing is
//! slower, and nothing but fewer syncs makes it faster.

use super::prelude::*;
use crate::revolution::{RATE_MAX, Turns, turn_ns};
use crate::stats::median_of;
use crate::words::lines_behind;
use crate::write_matrix::{Matrix, Revolution, SMALL_MAX, span_of_sizes};

pub(super) const RULE: Rule = Rule {
    name: "whole-revolutions",
    needs: &[Drives],
    check: Check::One(check),
    ..Rule::NOTE
};

/// From here on, slow writes beside the usual ones, the median does not stand for
/// what a write costs: the 90th percentile over the median.
const NARROW: f64 = 1.25;

/// How near the wait of a size must be to whole revolutions, as a part of one.
const NEAR: f64 = 0.125;
/// The rate of a stream is known to some hundredths, so what bytes take is too: of
/// more revolutions than this, it says nothing of one.
const BYTES_MAX: f64 = 4.5;

/// What the synced writes of one size wait for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OfSize {
    size: u64,
    /// Revolutions beside the time of the bytes: the median of the cells.
    waited: f64,
}

impl OfSize {
    /// The whole number that it is near, if it is.
    fn whole(self) -> Option<u32> {
        let whole = self.waited.round();
        ((self.waited - whole).abs() <= NEAR && whole >= 1.0).then_some(whole as u32)
    }
}

/// The waits of each size whose bytes leave them to be seen, by rising size.
fn by_size(matrix: &Matrix<'_>, found: &Revolution) -> Vec<OfSize> {
    let Some((_, rate)) = matrix.streaming() else {
        return Vec::new();
    };
    let turn_ns = turn_ns(found.rpm);
    let of_size = |size: u64| {
        let bytes = size as f64 / rate * 1e9 / turn_ns;
        let synced = matrix.synced().filter(|cell| cell.block_size == size);
        let waited = median_of(synced.map(|cell| cell.write_ns() / turn_ns - bytes));
        let waited = waited.filter(|_| bytes <= BYTES_MAX)?;
        Some(OfSize { size, waited })
    };
    matrix.sizes().into_iter().filter_map(of_size).collect()
}

/// The sizes above the small ones that wait as they do, up to the largest, and
/// those behind them that wait for another whole number of revolutions.
fn steps(sizes: &[OfSize], revolutions: u32) -> (Option<u64>, Option<(u32, Vec<u64>)>) {
    let mut behind = sizes
        .iter()
        .skip_while(|of| of.size <= SMALL_MAX)
        .peekable();
    let mut last = None;
    while let Some(of) = behind.next_if(|of| of.whole() == Some(revolutions)) {
        last = Some(of.size);
    }
    let next = behind.peek().and_then(|of| of.whole());
    let more = next.map(|whole| {
        let same = behind.take_while(|of| of.whole() == Some(whole));
        (whole, same.map(|of| of.size).collect())
    });
    (last, more)
}

/// What the small synced writes wait for, where the disk rotates and streams no
/// faster than such disks do. A document does not say what its target is; the waits of one
/// disk fit or not.
pub(super) fn of(context: &Context<'_>) -> Option<Revolution> {
    let matrix = context.matrix.as_ref()?;
    let disks = if context.is_imported() {
        1
    } else {
        context.turning().count()
    };
    let (_, rate) = matrix.streaming()?;
    Revolution::of(matrix).filter(|_| rate <= disks as f64 * RATE_MAX)
}

/// Whether a wait is surely one of revolutions: no other speed fits, and the
/// kernel can know that the disk rotates. What a hypervisor shows as rotating
/// may be anything, and so may what a document is of.
pub(super) fn is_sure(found: &Revolution, run: &Run) -> bool {
    let known = match run.target.kind {
        TargetKind::Simulated => true,
        TargetKind::Imported => false,
        _ => run.machine.virtualization.is_none(),
    };
    known && found.others.is_empty()
}

fn check(context: &Context<'_>) -> Option<Found> {
    let (run, matrix) = (context.run, context.matrix.as_ref()?);
    let found = of(context)?;
    let of_sizes = by_size(matrix, &found);
    let (last, more) = steps(&of_sizes, found.revolutions);
    let wide = matrix.small_synced().any(|cell| {
        let ends = cell.latency.p50.zip(cell.latency.p90);
        ends.is_some_and(|(p50, p90)| p90 as f64 > NARROW * p50 as f64)
    });
    let mut evidence = of_small(matrix, &found);
    if context.is_imported() {
        evidence.push("The document does not say that the disk turns.".into());
    }
    evidence.extend(of_larger(matrix, &of_sizes));
    if wide {
        evidence.push("Some writes take much longer than the median.".into());
    }
    let as_long = if context.is_imported() {
        "as long as"
    } else {
        "for"
    };
    let whole = match found.revolutions {
        1 => "a whole revolution".to_owned(),
        several => format!("{several} whole revolutions"),
    };
    let more = more.map_or_else(String::new, |(whole, sizes)| {
        let sizes = span_of_sizes(sizes);
        format!(", and one of {sizes} for {whole} revolutions")
    });
    let (rpm, per_second) = (found.rpm, three_digits(1e9 / found.wait_ns));
    // The sizes that wait alike, from the smallest on.
    let small = matrix.small_synced().map(|cell| cell.block_size);
    let sizes = span_of_sizes(small.chain(last));
    let stages = names(matrix.small_synced().map(|cell| cell.stage));
    Some(
        RULE.claim(format!(
            "Each synced write of {sizes} waits {as_long} {whole} of a disk with {rpm} revolutions \
             per minute{more}: {per_second} writes per second at most, however small."
        ))
        .headline(format!(
            "each synced write waits for whole revolutions: {per_second} a second"
        ))
        .confidence(likely_if(is_sure(&found, run) && !wide))
        .case_if(is_simulated(run), "simulated")
        .stages(stages)
        .evidence(evidence),
    )
}

/// What small writes wait, a sentence each.
fn of_small(matrix: &Matrix<'_>, found: &Revolution) -> Vec<String> {
    let Revolution {
        rpm,
        revolutions,
        wait_ns,
        agree: (agree, cells),
        ..
    } = *found;
    let exact = f64::from(revolutions) * turn_ns(rpm);
    let mut said = vec![
        format!(
            "Without the time of its bytes a write of {} takes {} in the median of {cells} cells; \
             {revolutions} x 60 s / {rpm} is {}, {} off.",
            span_of_sizes(matrix.small_synced().map(|cell| cell.block_size)),
            duration(wait_ns),
            duration(exact),
            percent((wait_ns / exact - 1.0).abs())
        ),
        format!(
            "{agree} of these {cells} cells are within 5 % of it, whatever their size and mode."
        ),
    ];
    let others = found.others.iter();
    said.extend(others.map(|Turns { rpm, revolutions }| {
        format!("It could also be {revolutions} revolutions at {rpm} per minute.")
    }));
    said
}

/// What larger writes wait, and the lines of all, a sentence each.
fn of_larger(matrix: &Matrix<'_>, of_sizes: &[OfSize]) -> Vec<String> {
    let larger = of_sizes.iter().filter(|of| of.size > SMALL_MAX);
    let larger = larger.map(|of| format!("{} at {}", ratio(of.waited), show_size(of.size)));
    let waits = if_any(list(larger), |waits| {
        format!("Larger ones wait, beside their bytes, revolutions: {waits}.")
    });
    let untold = (of_sizes.len() < matrix.sizes().len()).then(|| {
        format!(
            "The bytes of larger ones take more than {BYTES_MAX} revolutions, and the rest cannot \
             be told."
        )
    });
    let lines = lines_behind("", matrix.synced().flat_map(|cell| &cell.lines));
    let lines = if_any(lines, |lines| format!("Synced writes: {lines}."));
    [waits, untold, lines].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
