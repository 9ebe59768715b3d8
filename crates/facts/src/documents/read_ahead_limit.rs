//! Read-ahead that has grown as far as it may, and is still small.
//!
//! Reading in order, the kernel doubles the window until it meets the limit of the
//! device, and then every window is as large as the limit (Linux `mm/readahead.c`,
//! `get_next_ra_size`; 128 KiB unless set, `VM_READAHEAD_PAGES` of
//! `include/linux/mm.h`). So where windows follow each other without a gap and stay
//! the same, the limit is the window. While a disk turns once, 8 ms at 7200 rpm, some
//! 1 MB passes under its heads: windows much below that lose a turn, or the way
//! through a network, between one and the next.

use super::{number, read_ahead_size, readings};
use crate::read_ahead::{self, IN_ORDER, SMALL, WINDOWS_MIN};
use crate::rules::prelude::*;
use crate::rules::{Part, Shared};
use crate::words::lines;
use diskfacts_record::Reading;

pub(super) const RULE: Rule = Rule {
    needs: &[Document],
    check: Check::Beside(check),
    ..read_ahead::LIMIT
};

/// Pages that the windows are counted in, bytes: those of x86 and most ARM.
const PAGE: f64 = 4096.0;
/// How near the mean of a table's windows must be to each other and to the limit: the
/// first windows of a stream are smaller.
const NEAR: f64 = 0.1;

/// The size that all windows have, as the evidence shows it.
struct Limit {
    bytes: f64,
    evidence: Vec<String>,
    confidence: Confidence,
}

fn check(part: &Part<'_, '_>) -> Vec<Shared> {
    let readings = readings(part.run());
    let limit = match (of_trace(readings), of_table(readings)) {
        (Some(mut trace), Some(table)) if (table.bytes / trace.bytes - 1.0).abs() <= NEAR => {
            trace.evidence.extend(table.evidence);
            Some(trace)
        }
        (trace, table) => trace.or(table),
    };
    let Some(limit) = limit.filter(|limit| limit.bytes < SMALL) else {
        return Vec::new();
    };
    let mut others = part.others();
    let larger = others.find_map(|(place, other)| Some((place, read_ahead_size::best(other)?)));
    let size = show_size(limit.bytes as u64);
    let set_to = if larger.is_some() {
        "Set the read-ahead to where the rates stop growing"
    } else {
        "Raise it and measure again"
    };
    let (others, said): (Vec<usize>, Vec<String>) = larger.into_iter().unzip();
    let finding = read_ahead::stay_at(&size)
        .confidence(limit.confidence)
        .refuted_by(format!(
            "A read-ahead limit (`blockdev --getra`) above {size} on the device while this was \
             traced; or the same rate with 1 MiB."
        ))
        .remedy(format!(
            "{set_to}, on every device of the stack, the md or dm device too: `blockdev --setra \
             2048 /dev/sdX` sets 1 MiB."
        ))
        .stages(Vec::new())
        .evidence([limit.evidence, said].concat());
    vec![(finding, others)]
}

/// The longest series of trace lines whose windows follow each other.
fn of_trace(readings: &[Reading]) -> Option<Limit> {
    let traced = readings
        .iter()
        .filter(|row| row.text.starts_with("readahead-"));
    let windows: Vec<(u64, f64, f64)> = traced
        .filter_map(|row| {
            Some((
                row.line,
                number(row, "start_page")?,
                number(row, "size_pages")?,
            ))
        })
        .collect();
    // Whole numbers of pages, far below what a float holds exactly.
    let follows = |a: &(u64, f64, f64), b: &(u64, f64, f64)| {
        (a.1 + a.2 - b.1).abs() < 0.5 && (a.2 - b.2).abs() < 0.5
    };
    let series = windows
        .chunk_by(follows)
        .max_by_key(|series| series.len())?;
    let (&(_, start, pages), &(_, last, _)) = (series.first()?, series.last()?);
    if (series.len() as u64) < WINDOWS_MIN || pages < 1.0 {
        return None;
    }
    let bytes = pages * PAGE;
    Some(Limit {
        bytes,
        evidence: vec![format!(
            "Trace, {}: {} windows follow each other without a gap from page {start} to {}, each \
             of {pages} pages ({}).",
            lines(series.iter().map(|(line, ..)| line)),
            series.len(),
            last + pages,
            show_size(bytes as u64)
        )],
        confidence: Confidence::Certain,
    })
}

/// The rows of the table by pattern that are of sequential reads: the windows that
/// continue one, and those that a marker asked for ahead of time.
fn of_table(readings: &[Reading]) -> Option<Limit> {
    let of = |patterns: &[&str]| -> Vec<(u64, f64, f64)> {
        let row = |row: &Reading| {
            let pattern = row.text.split_whitespace().next()?;
            let (count, pages) = (number(row, "count")?, number(row, "actual_pages")?);
            patterns
                .contains(&pattern)
                .then_some((row.line, count, pages))
        };
        readings.iter().filter_map(row).collect()
    };
    let (_, all, _) = *of(&["all"]).first()?;
    let mut in_order = of(&["subsequent", "marker"]);
    in_order.retain(|(_, count, _)| *count > 0.0);
    let windows: f64 = in_order.iter().map(|(_, count, _)| count).sum();
    let sizes: Vec<f64> = in_order.iter().map(|(.., pages)| *pages).collect();
    let mean = stats::median(&sizes)?;
    let alike = sizes.iter().all(|size| (size / mean - 1.0).abs() <= NEAR);
    if windows < WINDOWS_MIN as f64 || windows < IN_ORDER * all || !alike || mean < 1.0 {
        return None;
    }
    let bytes = mean * PAGE;
    Some(Limit {
        bytes,
        evidence: vec![format!(
            "Table, {}: {windows} of {all} windows ({}) continue a stream, and bring {mean} pages \
             on average ({}).",
            lines(in_order.iter().map(|(line, ..)| line)),
            percent(windows / all),
            show_size(bytes as u64)
        )],
        // An average may hide larger ones.
        confidence: Confidence::Likely,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(windows: &[(u64, u64)]) -> Vec<Reading> {
        let each = windows
            .iter()
            .enumerate()
            .map(|(i, (start, size))| Reading {
                line: i as u64 + 1,
                text: format!("readahead-marker(..., ra={start}+{size}-{size}, async=1) = {size}"),
                values: [
                    ("start_page".to_owned(), *start as f64),
                    ("size_pages".to_owned(), *size as f64),
                ]
                .into(),
            });
        each.collect()
    }

    #[test]
    fn windows_that_follow_each_other_at_one_size_are_at_the_limit() {
        let same: Vec<(u64, u64)> = (0..10).map(|i| (100 + 32 * i, 32)).collect();
        let limit = of_trace(&traced(&same)).expect("a limit");
        assert!((limit.bytes - 131_072.0).abs() < 1.0);
        assert_eq!(
            limit.evidence,
            [
                "Trace, lines 1 to 10: 10 windows follow each other without a gap from page 100 \
                 to 420, each of 32 pages (128 KiB)."
            ]
        );
        // They still grow, or leave gaps, or are few.
        let growing: Vec<(u64, u64)> = (0..10).map(|i| ((1 << i) * 4, (1 << i) * 4)).collect();
        assert!(of_trace(&traced(&growing)).is_none());
        let gaps: Vec<(u64, u64)> = (0..10).map(|i| (1000 * i, 32)).collect();
        assert!(of_trace(&traced(&gaps)).is_none());
        assert!(of_trace(&traced(&same[..7])).is_none());
        assert!(of_trace(&[]).is_none());
    }

    fn table(rows: &[(&str, f64, f64)]) -> Vec<Reading> {
        let each = rows
            .iter()
            .enumerate()
            .map(|(i, (pattern, count, pages))| Reading {
                line: i as u64 + 1,
                text: format!("{pattern} {count} 0 0 {pages} {pages} {pages}"),
                values: [
                    ("count".to_owned(), *count),
                    ("actual_pages".to_owned(), *pages),
                ]
                .into(),
            });
        each.collect()
    }

    #[test]
    fn a_table_of_streams_tells_the_mean_window_and_one_of_random_reads_nothing() {
        let of = |rows: &[_]| of_table(&table(rows)).map(|limit| limit.bytes);
        let streams = [
            ("subsequent", 3845.0, 31.0),
            ("marker", 4222.0, 31.0),
            ("all", 8499.0, 30.0),
        ];
        assert_eq!(of(&streams), Some(31.0 * 4096.0));
        let random = [
            ("subsequent", 38.0, 31.0),
            ("random", 8000.0, 1.0),
            ("all", 8038.0, 1.0),
        ];
        assert_eq!(of(&random), None);
        let unlike = [
            ("subsequent", 3845.0, 8.0),
            ("marker", 4222.0, 31.0),
            ("all", 8499.0, 30.0),
        ];
        assert_eq!(of(&unlike), None);
        assert_eq!(of(&[("all", 0.0, 0.0), ("marker", f64::NAN, 31.0)]), None);
    }
}
