//! Which way to write suits a log, a database's pages and bulk data here.
//!
//! Only ways that make data durable are candidates: a log needs each write
//! durable, pages and bulk data need it once, at a checkpoint or at the end.
//! Ways are compared at a size and its two neighbours, by the median, so that one
//! odd cell does not decide. Those within 5 % of the fastest are as good; among
//! them the first is taken, or the first that spares the page cache.

use super::prelude::*;
use super::too_few_trials::TRIALS;
use crate::spread::NOISE;
use crate::stats::median_of;
use crate::write_matrix::{Cell, Matrix, span_of_sizes};
use diskfacts_plan::write_mode::Variant;

pub(super) const RULE: Rule = Rule {
    name: "write-choice",
    needs: &[],
    check: Check::One(check),
    ..Rule::NOTE
};

/// A way this near to the fastest is as good.
const AS_GOOD: f64 = 0.95;
/// What a commit writes: one page, mostly.
const LOG_BYTES: u64 = 4 << 10;
/// The page of the databases: 4 KiB to 16 KiB, mostly 8.
const PAGE_BYTES: u64 = 8 << 10;

/// What data needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durable {
    /// A log takes the first mode that does.
    EachWrite,
    /// What is large need not fill the page cache.
    InTheEnd,
}

/// What was chosen for a use.
struct Choice<'m, 'a> {
    chosen: &'m Cell<'a>,
    /// Of the same size: as good, and all candidates.
    as_good: usize,
    candidates: usize,
    fastest: &'m Cell<'a>,
    slowest: &'m Cell<'a>,
    /// Rate of the slowest over that of the fastest: the medians over `sizes`.
    slowest_share: f64,
    /// The sizes that were compared.
    sizes: Vec<u64>,
}

fn check(context: &Context<'_>) -> Option<Found> {
    let matrix = context.matrix.as_ref()?;
    let sizes = matrix.sizes();
    let near = |wanted: u64| {
        let distance = |size: &u64| size.max(&wanted) / size.min(&wanted).max(&1);
        sizes.iter().copied().min_by_key(distance)
    };
    let log = choose(matrix, near(LOG_BYTES)?, Durable::EachWrite)?;
    let pages = choose(matrix, near(PAGE_BYTES)?, Durable::InTheEnd)?;
    let bulk = bulk(matrix)?;
    let of = |choice: &Choice<'_, '_>| {
        format!(
            "{} with blocks of {} ({})",
            choice.chosen.mode,
            show_size(choice.chosen.block_size),
            show_throughput(choice.chosen.throughput)
        )
    };
    let used = [&log, &pages, &bulk].map(|choice| choice.chosen);
    let evidence = vec![
        told("Log, each write durable", &log),
        told("Pages, durable at a checkpoint", &pages),
        told("Bulk, durable in the end", &bulk),
    ];
    let in_short = |choice: &Choice<'_, '_>| {
        let size = show_size(choice.chosen.block_size);
        format!("{}, {size}", choice.chosen.mode)
    };
    let [for_log, for_pages, for_bulk] = [&log, &pages, &bulk].map(in_short);
    Some(
        RULE.claim(format!(
            "Here a log is best written with {} ({} writes of {} per second), a database's pages \
             with {}, and bulk data with {}.",
            log.chosen.mode,
            three_digits(1e9 / log.chosen.write_ns()),
            show_size(log.chosen.block_size),
            of(&pages),
            of(&bulk)
        ))
        .headline(format!(
            "log: {for_log}; database pages: {for_pages}; bulk data: {for_bulk}"
        ))
        .confidence(likely_if(used.iter().all(|cell| cell.trials >= TRIALS)))
        .stages(names(used.map(|cell| cell.stage)))
        .evidence(evidence),
    )
}

/// The best of some modes at a size; of those as good, the first that spares the page cache
/// where that matters, then by the order of the modes.
fn choose<'m, 'a>(
    matrix: &'m Matrix<'a>,
    block_size: u64,
    durable: Durable,
) -> Option<Choice<'m, 'a>> {
    let cells = matrix.cells.iter();
    let candidates: Vec<&Cell<'a>> = cells
        .filter(|cell| cell.block_size == block_size)
        .filter(|cell| match durable {
            Durable::EachWrite => cell.mode.sync.each_write(),
            Durable::InTheEnd => cell.mode.sync.at_end(),
        })
        .collect();
    let sizes = nearest(matrix, block_size);
    let scored: Vec<(f64, &Cell<'a>)> = candidates
        .iter()
        .map(|cell| (score(matrix, &candidates, cell, &sizes), *cell))
        .collect();
    let by_score = |a: &&(f64, &Cell<'a>), b: &&(f64, &Cell<'a>)| a.0.total_cmp(&b.0);
    let &(best, fastest) = scored.iter().max_by(by_score)?;
    let &(worst, slowest) = scored.iter().min_by(by_score)?;
    let good = scored.iter().filter(|(score, _)| *score >= AS_GOOD * best);
    // One whose own figure at this size is an odd one is not shown as the best.
    let usual = median_of(good.clone().map(|(_, cell)| cell.throughput))?;
    let order = |cell: &Cell<'_>| {
        let fills_cache = cell.mode.variant != Variant::Direct;
        (
            durable == Durable::InTheEnd && fills_cache,
            cell.mode.rank(),
        )
    };
    let &(_, chosen) = good
        .clone()
        .filter(|(_, cell)| cell.throughput >= (1.0 - NOISE) * usual)
        .min_by_key(|(_, cell)| order(cell))?;
    Some(Choice {
        chosen,
        as_good: good.count(),
        candidates: candidates.len(),
        fastest,
        slowest,
        slowest_share: worst / best,
        sizes,
    })
}

/// A size and its two neighbours, as far as there are any.
fn nearest(matrix: &Matrix<'_>, block_size: u64) -> Vec<u64> {
    let sizes = matrix.sizes();
    let place = sizes.partition_point(|size| *size < block_size);
    // At the ends the two on the one side are the neighbours.
    let first = place.saturating_sub(1).min(sizes.len().saturating_sub(3));
    sizes.into_iter().skip(first).take(3).collect()
}

/// The rate of a mode over the best of the candidates' modes: the median over the
/// sizes.
fn score(matrix: &Matrix<'_>, candidates: &[&Cell<'_>], cell: &Cell<'_>, sizes: &[u64]) -> f64 {
    let ratios = sizes.iter().filter_map(|size| {
        let rates = candidates.iter().filter_map(|c| matrix.cell(c.mode, *size));
        let best = rates.map(|c| c.throughput).fold(0.0, f64::max);
        Some(matrix.cell(cell.mode, *size)?.throughput / best)
    });
    median_of(ratios).unwrap_or(0.0)
}

/// The smallest block with which much can be written about as fast as with any;
/// where one odd cell is faster than all that is chosen, the fastest of those.
fn bulk<'m, 'a>(matrix: &'m Matrix<'a>) -> Option<Choice<'m, 'a>> {
    let (_, rate) = matrix.streaming()?;
    let at = |size| choose(matrix, size, Durable::InTheEnd);
    let choices = || matrix.sizes().into_iter().filter_map(at);
    let reached = |choice: &Choice<'_, '_>| choice.chosen.throughput;
    let by_rate = |a: &Choice<'_, '_>, b: &Choice<'_, '_>| reached(a).total_cmp(&reached(b));
    let fast = choices().find(|choice| reached(choice) >= AS_GOOD * rate);
    fast.or_else(|| choices().max_by(by_rate))
}

fn told(what: &str, choice: &Choice<'_, '_>) -> String {
    let good = match choice.as_good.saturating_sub(1) {
        0 => "no other".to_owned(),
        others => count(others as u64, "other"),
    };
    let compared = format!(
        "{what}, {}: {} compared over blocks of {}",
        show_size(choice.chosen.block_size),
        count(choice.candidates as u64, "way"),
        span_of_sizes(choice.sizes.iter().copied())
    );
    if choice.slowest_share >= AS_GOOD {
        return format!("{compared}, all within 5 %.");
    }
    let share = percent(choice.slowest_share);
    format!(
        "{compared}: {} is the fastest, {} the slowest with {share} of its rate; within 5 % of the \
         fastest: {} and {good}.",
        choice.fastest.mode, choice.slowest.mode, choice.chosen.mode
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{matrix_run, of_rule, seed_run, wobble};

    #[test]
    fn the_fastest_durable_ways_are_chosen_and_others_never() {
        let run = matrix_run(|mode, size| {
            let base = 1e8 * wobble(mode, size, 0.01);
            match mode.to_string().as_str() {
                // The fastest of all, and not durable.
                "BUFFERED" | "O_DIRECT" => base * 100.0,
                "O_DSYNC + O_DIRECT" => base * 1.3,
                "AMORTIZED_FSYNC" if size < 1 << 20 => base * 1.2,
                "AMORTIZED_FDATASYNC + O_DIRECT" if size >= 1 << 20 => base * 2.0,
                _ => base,
            }
        });
        let claim = of_rule(&run, RULE.name).unwrap().claim;
        assert!(
            claim.contains("a log is best written with O_DSYNC + O_DIRECT"),
            "{claim}"
        );
        assert!(
            claim.contains("pages with AMORTIZED_FSYNC with blocks of 8 KiB"),
            "{claim}"
        );
        assert!(
            claim.contains("bulk data with AMORTIZED_FDATASYNC + O_DIRECT with blocks of 1 MiB"),
            "{claim}"
        );
    }

    #[test]
    fn one_odd_cell_does_not_take_the_choice_away() {
        let run = matrix_run(|mode, size| match mode.to_string().as_str() {
            "AMORTIZED_FSYNC" if size == 32 << 20 => 9e8,
            "AMORTIZED_FSYNC" => 1e7,
            _ if size == 16 << 20 => 2e8,
            _ => 1e8,
        });
        // Large blocks make the streaming rate: let only the odd one be large.
        let mut run = run;
        run.trials
            .retain(|trial| !(1 << 20..16 << 20).contains(&trial.workload.block_size));
        let claim = of_rule(&run, RULE.name).unwrap().claim;
        assert!(claim.contains("with blocks of 16 MiB"), "{claim}");
    }

    #[test]
    fn among_ways_as_good_the_simplest_and_the_sparing_are_taken() {
        let mut run = matrix_run(|mode, size| 1e8 * wobble(mode, size, 0.01));
        let finding = of_rule(&run, RULE.name).unwrap();
        let claim = &finding.claim;
        assert!(claim.contains("best written with FDATASYNC ("), "{claim}");
        assert!(
            claim.contains("pages with AMORTIZED_FDATASYNC + O_DIRECT"),
            "{claim}"
        );
        assert!(
            finding.evidence[0]
                .contains("12 ways compared over blocks of 4 KiB to 16 KiB, all within"),
            "{finding:#?}"
        );
        assert_eq!(finding.confidence, Confidence::Possible);
        run.plan.trials = 3;
        let again = run.trials.clone();
        for number in 2..=3 {
            let more = again.iter().cloned().map(|mut trial| {
                trial.number = number;
                trial
            });
            run.trials.extend(more);
        }
        let finding = of_rule(&run, RULE.name).unwrap();
        assert_eq!(finding.confidence, Confidence::Likely);
    }

    #[test]
    fn one_lucky_cell_does_not_decide() {
        let run = matrix_run(|mode, size| {
            let lucky = mode.to_string() == "O_DSYNC + ALIGNED" && size == 4096;
            1e8 * if lucky { 20.0 } else { 1.0 }
        });
        let claim = of_rule(&run, RULE.name).unwrap().claim;
        assert!(claim.contains("best written with FDATASYNC ("), "{claim}");
    }

    #[test]
    fn without_a_durable_way_for_each_use_nothing_is_chosen() {
        let mut run = matrix_run(|_, _| 1e8);
        run.trials.retain(|t| !t.workload.sync.at_end());
        assert!(of_rule(&run, RULE.name).is_none());
        assert!(of_rule(&crate::testing::healthy(), RULE.name).is_none());
    }

    #[test]
    fn on_the_disk_of_the_benchmark_a_log_is_as_fast_in_every_way() {
        let finding = of_rule(&seed_run(), RULE.name).unwrap();
        let claim = &finding.claim;
        assert!(claim.contains("113 writes of 4 KiB per second"), "{claim}");
        // Its one cold cell, 0.44 where others have 0.47, does not decide.
        assert!(claim.contains("with FDATASYNC ("), "{claim}");
        assert!(
            finding.evidence[0]
                .contains("12 ways compared over blocks of 4 KiB to 16 KiB, all within"),
            "{finding:#?}"
        );
        // Small direct writes are half as fast on this disk.
        assert!(
            claim.contains("pages with AMORTIZED_FDATASYNC with"),
            "{claim}"
        );
    }
}
