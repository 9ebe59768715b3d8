//! Rewriting against reading and writing.
//!
//! To rewrite a block is to read it and to write it back, so a byte that is
//! rewritten takes the time of a byte read and of a byte written: at `r` and `w`
//! bytes per second, `1 / (1/r + 1/w)` bytes are rewritten, half the harmonic
//! mean of the two. That needs no other number, and it is why of two volumes the
//! one that writes more slowly may rewrite faster: it reads faster. On the three
//! volumes of seed 002 (bonnie++ 1.96, six rows) it is right within 13 %.

use crate::context::Context;
use crate::prelude::{percent, rate_digits, ratio};
use crate::stages::Stage;
use diskfacts_plan::{Operation, Pattern, Touch};
use diskfacts_record::StageFigures;

/// Shares of the time of a rewrite that differ by less are told as the same.
const EVEN: f64 = 0.05;

/// A stage and the bytes that it comes along the file, per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'c, 'a> {
    pub(crate) stage: &'c Stage<'a>,
    pub(crate) bytes_per_s: f64,
}

impl Pass<'_, '_> {
    pub(crate) fn megabytes(&self) -> String {
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
    /// What it would rewrite if it read and wrote one after the other, bytes per second.
    pub(crate) fn in_turn(&self) -> f64 {
        1.0 / (1.0 / self.read.bytes_per_s + 1.0 / self.write.bytes_per_s)
    }

    /// The names of the stages.
    pub(crate) fn stages(&self) -> [&str; 3] {
        [self.rewrite, self.read, self.write].map(|pass| pass.stage.name)
    }

    /// The figures and their arithmetic, a sentence each.
    pub(crate) fn evidence(&self) -> [String; 3] {
        let passes = [self.read, self.write];
        // Shares of its time that reading, and writing, would take alone.
        let [reading, writing] = passes.map(|pass| self.rewrite.bytes_per_s / pass.bytes_per_s);
        let dearer = if (reading - writing).abs() < EVEN {
            "both cost about the same"
        } else if reading > writing {
            "reading costs more"
        } else {
            "writing costs more"
        };
        let [of_read, of_write] = passes.map(|pass| pass.stage.label());
        let [read_rate, write_rate] = passes.map(|pass| pass.megabytes());
        let (reading, writing) = (percent(reading), percent(writing));
        [
            format!("{of_read} does {read_rate}, {of_write} does {write_rate}."),
            format!(
                "One after the other, 1 / (1/read + 1/write), they would rewrite {} MB/s; measured \
                 is {} times that.",
                rate_digits(self.in_turn() / 1e6),
                ratio(self.rewrite.bytes_per_s / self.in_turn())
            ),
            format!(
                "Of the time of a rewrite, reading as in {of_read} would take {reading} and \
                 writing as in {of_write} {writing}: {dearer}."
            ),
        ]
    }
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
