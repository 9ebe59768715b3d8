//! Rewriting against reading and writing.
//!
//! To rewrite a block is to read it and to write it back, so a byte that is
//! rewritten takes the time of a byte read and of a byte written: at `r` and `w`
//! bytes per second, `1 / (1/r + 1/w)` bytes are rewritten, half the harmonic
//! mean of the two. That needs no other number, and it is why of two volumes the
//! one that writes more slowly may rewrite faster: it reads faster. On the three
//! volumes of seed 002 (bonnie++ 1.96, six rows) it is right within 13 %.
//!
//! What is measured may be above: reading ahead and writing back go on side by
//! side. Or below: a disk that turns between the two places pays for the way.

use super::prelude::*;
use diskfacts_plan::Touch;

pub(crate) const RULE: Rule = Rule {
    name: "rewrite-rate",
    needs: &[],
    check: Check::Several(check),
    ..Rule::NOTE
};

/// How far a rewrite may be from the sum of both times, and still be called the
/// sum: the rows of seed 002 differ by up to 12.4 %.
const NEAR: f64 = 0.15;

/// Shares of the time of a rewrite that differ by less are told as the same.
const EVEN: f64 = 0.05;

/// A stage and the bytes that it comes along the file, per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'c, 'a> {
    pub(crate) stage: &'c Stage<'a>,
    pub(crate) bytes_per_s: f64,
}

impl Pass<'_, '_> {
    fn said(&self) -> String {
        format!("{} MB/s", rate_digits(self.bytes_per_s / 1e6))
    }
}

/// A rewrite with the passes it is made of.
#[derive(Debug)]
pub(crate) struct Triple<'c, 'a> {
    pub(crate) rewrite: Pass<'c, 'a>,
    pub(crate) read: Pass<'c, 'a>,
    pub(crate) write: Pass<'c, 'a>,
}

impl Triple<'_, '_> {
    pub(crate) fn stages(&self) -> Vec<String> {
        names([self.rewrite, self.read, self.write].map(|pass| pass.stage.name))
    }
}

fn check(context: &Context<'_>) -> Vec<Found> {
    triples(context).iter().map(finding).collect()
}

/// The rewrites of a run.
pub(crate) fn triples<'c, 'a>(context: &'c Context<'a>) -> Vec<Triple<'c, 'a>> {
    let passes: Vec<Pass<'_, '_>> = context.doing_io().filter_map(pass).collect();
    let rewrites = passes.iter().filter(|pass| rewrites(pass.stage));
    let triples = rewrites.filter_map(|rewrite| {
        Some(Triple {
            rewrite: *rewrite,
            read: beside(&passes, rewrite, Operation::Read)?,
            write: beside(&passes, rewrite, Operation::Write)?,
        })
    });
    triples.collect()
}

/// A sequential stage without errors that leaves the bytes as they are.
fn pass<'c, 'a>((stage, figures): (&'c Stage<'a>, &StageFigures)) -> Option<Pass<'c, 'a>> {
    let workload = stage.workload();
    // The bytes of a rewrite count twice, and its operations once, of which an import
    // may not know the size.
    let bytes_per_s = if figures.iops.trials > 0 && workload.block_size > 0 {
        figures.iops.median * workload.block_size as f64
    } else if rewrites(stage) {
        figures.throughput_bytes_per_s.median / 2.0
    } else {
        figures.throughput_bytes_per_s.median
    };
    let measured = figures.errors == 0 && bytes_per_s > 0.0 && workload.rate.is_none();
    let plain = workload.pattern == Pattern::Sequential && workload.touch == Touch::None;
    (measured && plain).then_some(Pass { stage, bytes_per_s })
}

fn rewrites(stage: &Stage<'_>) -> bool {
    stage.workload().operation == Operation::Modify { percent: 100 }
}

/// The stage that only reads, or only writes, and is the same otherwise.
fn beside<'c, 'a>(
    passes: &[Pass<'c, 'a>],
    rewrite: &Pass<'c, 'a>,
    operation: Operation,
) -> Option<Pass<'c, 'a>> {
    let of = rewrite.stage.workload();
    let same = passes.iter().filter(|pass| {
        let workload = pass.stage.workload();
        let synced = operation == Operation::Read || workload.sync == of.sync;
        workload.operation == operation
            && synced
            && (workload.block_size, workload.cache) == (of.block_size, of.cache)
            && (workload.queue_depth, workload.streams) == (of.queue_depth, of.streams)
            && pass.stage.settings == rewrite.stage.settings
    });
    // An import may not know the size of blocks, and single bytes are slower.
    same.copied()
        .max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

fn finding(triple: &Triple<'_, '_>) -> Found {
    let [rewrite, read, write] = [triple.rewrite, triple.read, triple.write];
    let (r, w) = (read.bytes_per_s, write.bytes_per_s);
    let in_turn = 1.0 / (1.0 / r + 1.0 / w);
    let times = rewrite.bytes_per_s / in_turn;
    let how = if times > 1.0 + NEAR {
        "faster than reading and then writing each byte would be: reading ahead and writing back \
         go on side by side"
    } else if times < 1.0 - NEAR {
        "slower than reading and then writing each byte would be: going back and forth between \
         the two costs time of its own"
    } else {
        "what reading and then writing each byte gives: the times of both add up"
    };
    let (reading, writing) = (rewrite.bytes_per_s / r, rewrite.bytes_per_s / w);
    let dearer = if (reading - writing).abs() < EVEN {
        "both cost about the same"
    } else if reading > writing {
        "reading costs more"
    } else {
        "writing costs more"
    };
    // With its settings where several were measured: `Rewriting (machine=Raid6)`.
    let label = rewrite.stage.label();
    let settings = label.strip_prefix(rewrite.stage.name).unwrap_or_default();
    let (named, rate) = (format!("Rewriting{settings}"), rewrite.said());
    let [of_read, of_write] = [read, write].map(|pass| pass.stage.label());
    let (reading, writing) = (percent(reading), percent(writing));
    let evidence = vec![
        format!(
            "{of_read} does {}, {of_write} does {}.",
            read.said(),
            write.said()
        ),
        format!(
            "One after the other, 1 / (1/read + 1/write), they would rewrite {} MB/s; measured is \
             {} times that.",
            rate_digits(in_turn / 1e6),
            ratio(times)
        ),
        format!(
            "Of the time of a rewrite, reading as in {of_read} would take {reading} and writing as \
             in {of_write} {writing}: {dearer}."
        ),
    ];
    RULE.claim(format!("{named} runs at {rate}, {how}."))
        .headline(format!("{} at {rate}", lower_first(&named)))
        .stages(triple.stages())
        .evidence(evidence)
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
