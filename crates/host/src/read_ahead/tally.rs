//! Sums over decisions: the table, and its parts by file and by thread.

use super::decision::{Decision, Trouble};
use super::event::FileId;
use diskfacts_record::Unseen;
use diskfacts_record::evidence::{
    ReadAheadCounts, ReadAheadFile, ReadAheadPattern as Pattern, ReadAheadRow, ReadAheadThread,
};
use std::collections::BTreeMap;

/// Rows that no event of Linux 6.18 fills, and why.
const NOT_TOLD: [(Pattern, &str); 3] = [
    (
        Pattern::Reverse,
        "Linux has no rule for reading backwards: such reads are in random, or in trail",
    ),
    (
        Pattern::Stride,
        "Linux has no rule for equal steps: such reads are in random",
    ),
    (
        Pattern::Thrash,
        "Linux has no rule for pages that were dropped before they were used: the read that \
         misses them is in initial, trail or random, and the pages are counted as dropped unused",
    ),
];

/// Rows that are left out of the table, with the reason.
pub(super) fn not_told() -> Vec<Unseen> {
    let unseen = |(pattern, why): (Pattern, &str)| Unseen {
        what: pattern.word().to_owned(),
        why: why.to_owned(),
    };
    NOT_TOLD.into_iter().map(unseen).collect()
}

/// The rows of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    rows: BTreeMap<Pattern, ReadAheadCounts>,
    pub(super) all: ReadAheadCounts,
    pub(super) undecided: u64,
    pub(super) broken: u64,
    pub(super) scattered: u64,
    pub(super) late: u64,
}

impl Tally {
    /// Counts a decision; `file_pages` is the length of its file, where known.
    pub(super) fn count(&mut self, decision: &Decision, file_pages: Option<u64>) {
        let in_window =
            decision.start <= decision.request && decision.request < decision.start + decision.size;
        let ends = file_pages.map(|pages| {
            let less = decision.actual < decision.size;
            u64::from(less && decision.start + decision.size > pages)
        });
        let one = ReadAheadCounts {
            count: 1,
            sync_count: u64::from(decision.actual > 0 && in_window),
            eof_count: ends,
            size_pages: decision.size,
            async_pages: decision.async_size,
            actual_pages: decision.actual,
        };
        self.all = self.all.plus(&one);
        match decision.pattern {
            Some(pattern) => {
                let row = self.rows.entry(pattern).or_default();
                *row = row.plus(&one);
            }
            None => self.undecided += 1,
        }
        match decision.trouble {
            Some(Trouble::Broken) => self.broken += 1,
            Some(Trouble::Scattered) => self.scattered += 1,
            Some(Trouble::Late) => self.late += 1,
            None => {}
        }
    }

    /// Every row that can be told, in the order of the table.
    pub(super) fn table(&self) -> Vec<ReadAheadRow> {
        let told = |pattern: &Pattern| !NOT_TOLD.iter().any(|(other, _)| other == pattern);
        // Where lengths are known, a row without decisions has no ends.
        let nothing = ReadAheadCounts {
            eof_count: self.all.eof_count.map(|_| 0),
            ..ReadAheadCounts::default()
        };
        let row = |pattern: Pattern| ReadAheadRow {
            pattern,
            counts: self.rows.get(&pattern).copied().unwrap_or(nothing),
        };
        Pattern::ALL.into_iter().filter(told).map(row).collect()
    }

    /// Those that have decisions.
    fn rows(&self) -> Vec<ReadAheadRow> {
        let row = |(pattern, counts): (&Pattern, &ReadAheadCounts)| ReadAheadRow {
            pattern: *pattern,
            counts: *counts,
        };
        self.rows.iter().map(row).collect()
    }

    /// The part of a file.
    pub(super) fn of_file(&self, file: FileId, name: &str) -> ReadAheadFile {
        ReadAheadFile {
            name: name.to_owned(),
            device: format!("{}:{}", file.major(), file.minor()),
            inode: file.inode,
            rows: self.rows(),
            all: self.all,
            broken: self.broken,
        }
    }

    /// The part of a thread.
    pub(super) fn of_thread(&self, thread: u32, name: &str) -> ReadAheadThread {
        ReadAheadThread {
            name: name.to_owned(),
            thread,
            rows: self.rows(),
            all: self.all,
            broken: self.broken,
        }
    }
}
