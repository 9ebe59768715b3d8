//! What the kernel's read-ahead decided, in the lines of the patch of 2009: see
//! [`formats::readahead`](crate::formats::readahead).

use crate::formats::readahead::{PATTERNS, STATISTICS, Statistics};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::Run;
use diskfacts_record::evidence::{ReadAhead, ReadAheadCounts};

/// The rows of the table, in its order, with the means that it shows. Numbers that
/// are not known are left open.
pub fn rows(table: &ReadAhead) -> Vec<Statistics> {
    let counts = |pattern: &str| {
        if pattern == "all" {
            return Some(table.all);
        }
        let row = table.rows.iter().find(|row| row.pattern.word() == pattern);
        row.map(|row| row.counts)
    };
    let row = |pattern| statistics(pattern, counts(pattern));
    PATTERNS.into_iter().map(row).collect()
}

fn statistics(pattern: &'static str, counts: Option<ReadAheadCounts>) -> Statistics {
    let mean = |sum: fn(&ReadAheadCounts) -> u64| counts.map(|counts| counts.mean(sum(&counts)));
    Statistics {
        pattern,
        count: counts.map(|counts| counts.count),
        sync_count: counts.map(|counts| counts.sync_count),
        eof_count: counts.and_then(|counts| counts.eof_count),
        size_pages: mean(|counts| counts.size_pages),
        async_pages: mean(|counts| counts.async_pages),
        actual_pages: mean(|counts| counts.actual_pages),
    }
}

/// The table to the character of 2009, but for `-` where a number is not known.
pub fn classic(table: &ReadAhead) -> String {
    let rows = rows(table);
    let rows = rows.iter().map(Statistics::to_string);
    let lines: Vec<String> = std::iter::once(STATISTICS.to_owned()).chain(rows).collect();
    lines.join("\n") + "\n"
}

/// Whether read-ahead was observed in any trial of a run.
pub fn has_trials(run: &Run) -> bool {
    run.trials
        .iter()
        .any(|trial| trial.evidence.read_ahead.is_some())
}

/// The tables of the trials that have one, in the order they were done, each under
/// its stage.
pub fn trials(run: &Run) -> String {
    let tables = run.trials.iter().filter_map(|trial| {
        let table = trial.evidence.read_ahead.as_ref()?;
        Some(format!(
            "{}, trial {}, {:.3} s:\n{}",
            stage_label(&trial.stage, &trial.settings),
            trial.number,
            trial.seconds,
            classic(table)
        ))
    });
    tables.collect::<Vec<_>>().join("\n")
}
