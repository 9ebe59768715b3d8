//! Rewriting against reading and writing ([`rewrites`](crate::rewrites)).
//!
//! What is measured may be above what both give in turn: reading ahead and writing back go on
//! side by side. Or below: a disk that turns between the two places pays for the way.

use super::prelude::*;
use crate::rewrites::{Triple, triples};

pub(crate) const RULE: Rule = Rule {
    name: "rewrite-rate",
    needs: &[],
    check: Check::Several(|context| triples(context).iter().map(finding).collect()),
    ..Rule::NOTE
};

/// How far a rewrite may be from the sum of both times, and still be called the
/// sum: the rows of seed 002 differ by up to 12.4 %.
const NEAR: f64 = 0.15;

fn finding(triple: &Triple<'_, '_>) -> Found {
    let times = triple.rewrite.bytes_per_s / triple.in_turn();
    let how = if times > 1.0 + NEAR {
        "faster than reading and then writing each byte would be: reading ahead and writing back \
         go on side by side"
    } else if times < 1.0 - NEAR {
        "slower than reading and then writing each byte would be: going back and forth between \
         the two costs time of its own"
    } else {
        "what reading and then writing each byte gives: the times of both add up"
    };
    let (rate, label) = (triple.rewrite.megabytes(), triple.rewrite.stage.label());
    // With its settings where several were measured: `Rewriting (machine=Raid6)`.
    let settings = label.strip_prefix(triple.rewrite.stage.name);
    let named = format!("Rewriting{}", settings.unwrap_or_default());
    RULE.claim(format!("{named} runs at {rate}, {how}."))
        .headline(format!("{} at {rate}", lower_first(&named)))
        .stages(names(triple.stages()))
        .evidence(triple.evidence())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use diskfacts_plan::{CacheMode, SyncMode};
    use diskfacts_record::Run;

    /// Rates in KiB per second, as in a row of seed 002.
    fn run(read: f64, write: f64, rewrite: f64) -> Run {
        let mut run = testing::healthy();
        let (plan, trial) = (run.plan.stages[0].clone(), run.trials[0].clone());
        run.plan.stages.clear();
        run.trials.clear();
        for (name, operation, rate) in [
            ("get-block", Operation::Read, read),
            ("put-block", Operation::Write, write),
            ("rewrite", Operation::Modify { percent: 100 }, rewrite),
        ] {
            let (mut stage, mut trial) = (plan.clone(), trial.clone());
            stage.name = name.into();
            trial.stage = name.into();
            trial.workload.operation = operation;
            trial.workload.pattern = Pattern::Sequential;
            trial.workload.block_size = 8192;
            trial.workload.cache = CacheMode::Cold;
            if operation.writes() {
                trial.workload.sync = SyncMode::AtEnd;
            }
            trial.workload.queue_depth = 1;
            trial.iops = rate / 8.0;
            stage.workload = trial.workload.clone();
            run.plan.stages.push(stage);
            run.trials.push(trial);
        }
        run
    }

    fn found(run: &Run) -> Vec<diskfacts_record::Finding> {
        crate::testing::all_of_rule(run, RULE.name)
    }

    /// Why the rewrites of seed 002 are tipped the other way: RAID 6 writes the
    /// most slowly and rewrites the fastest, because it reads so much faster.
    #[test]
    fn the_volumes_of_seed_002_rewrite_as_reading_and_writing_in_turn() {
        for (read, write, rewrite) in [
            (606_148.0, 108_776.0, 103_820.0),
            (606_068.0, 108_436.0, 105_046.0),
            (227_793.0, 175_905.0, 91_956.0),
            (229_931.0, 170_551.0, 93_408.0),
            (236_123.0, 182_078.0, 97_995.0),
            (233_678.0, 173_306.0, 98_546.0),
        ] {
            let run = run(read, write, rewrite);
            let [finding] = &found(&run)[..] else {
                panic!("one finding");
            };
            assert!(
                finding.claim.contains("the times of both add up"),
                "{finding:?}"
            );
        }
        let run = run(606_148.0, 108_776.0, 103_820.0);
        let finding = &found(&run)[0];
        assert_eq!(
            finding.evidence[0],
            "get-block does 620.7 MB/s, put-block does 111.4 MB/s."
        );
        assert!(
            finding.evidence[2].contains("writing costs more"),
            "{finding:?}"
        );
        assert_eq!(finding.stages, ["rewrite", "get-block", "put-block"]);
    }

    #[test]
    fn more_and_less_than_in_turn_are_told_apart() {
        let claim = |rewrite| found(&run(100_000.0, 100_000.0, rewrite))[0].claim.clone();
        assert!(claim(80_000.0).contains("side by side"));
        assert!(claim(50_000.0).contains("add up"));
        let even = &found(&run(100_000.0, 100_100.0, 50_000.0))[0].evidence[2];
        assert!(even.ends_with("both cost about the same."), "{even}");
        assert!(claim(20_000.0).contains("back and forth"));
    }

    #[test]
    fn without_reading_and_writing_of_the_same_kind_nothing_is_said() {
        for change in [
            (|run| run.trials.remove(0).ops) as fn(&mut Run) -> u64,
            |run| run.trials.remove(1).ops,
            |run| {
                run.trials[0].workload.block_size = 4096;
                0
            },
            |run| {
                run.trials[1].workload.sync = SyncMode::None;
                0
            },
            |run| {
                run.trials[2].errors = 1;
                0
            },
            |run| {
                run.trials[2].workload.operation = Operation::Modify { percent: 10 };
                0
            },
        ] {
            let mut run = run(100_000.0, 100_000.0, 50_000.0);
            change(&mut run);
            assert_eq!(found(&run).len(), 0);
        }
    }
}
