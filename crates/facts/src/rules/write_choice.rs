//! Which way to write suits a log, a database's pages and bulk data here ([`Choice`]).

use super::prelude::*;
use crate::spread::TRIALS_MIN;
use crate::write_matrix::Choice;

pub(super) const RULE: Rule = Rule {
    name: "write-choice",
    needs: &[],
    check: Check::One(check),
    ..Rule::NOTE
};

fn check(context: &Context<'_>) -> Option<Found> {
    let choices = Choice::of(context.matrix.as_ref()?)?;
    let used = choices.each_ref().map(|choice| choice.chosen);
    let sizes = used.map(|cell| show_size(cell.block_size));
    let [log, pages, bulk] = used.map(|cell| cell.mode.to_string());
    let [log_size, pages_size, bulk_size] = sizes;
    let per_second = three_digits(1e9 / used[0].write_ns());
    let [_, pages_rate, bulk_rate] = used.map(|cell| show_throughput(cell.throughput));
    let what = [
        "Log, each write durable",
        "Pages, durable at a checkpoint",
        "Bulk, durable in the end",
    ];
    let enough = used.iter().all(|cell| cell.trials >= TRIALS_MIN);
    Some(
        RULE.claim(format!(
            "Here a log is best written with {log} ({per_second} writes of {log_size} per second), \
             a database's pages with {pages} with blocks of {pages_size} ({pages_rate}), and bulk \
             data with {bulk} with blocks of {bulk_size} ({bulk_rate})."
        ))
        .headline(format!(
            "log: {log}, {log_size}; database pages: {pages}, {pages_size}; bulk data: {bulk}, \
             {bulk_size}"
        ))
        .confidence(likely_if(enough))
        .stages(names(used.map(|cell| cell.stage)))
        .evidence(
            what.iter()
                .zip(&choices)
                .map(|(what, choice)| format!("{what}, {}", choice.compared)),
        ),
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
