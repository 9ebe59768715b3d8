//! Tables, read back by the reader of the same format, and against the figures of the run.

use super::detailed;
use crate::fixtures;
use csv::{ReaderBuilder, StringRecord};
use diskfacts_record::Run;
use diskfacts_report::export::csv::{Csv, Table};

const TABLES: [Table; 4] = [Table::Stages, Table::Trials, Table::Intervals, Table::Bins];

/// The head and the rows of a table of these runs.
pub(super) fn table(of: Table, runs: &[Run]) -> (StringRecord, Vec<StringRecord>) {
    let mut csv = Csv::new(Vec::new(), of).unwrap();
    for run in runs {
        csv.run(run).unwrap();
    }
    let bytes = csv.finish().unwrap();
    let mut reader = ReaderBuilder::new().from_reader(&bytes[..]);
    let head = reader.headers().unwrap().clone();
    (head, reader.records().map(Result::unwrap).collect())
}

/// The cell of this column.
pub(super) fn cell<'a>(head: &StringRecord, row: &'a StringRecord, column: &str) -> &'a str {
    let place = head.iter().position(|name| name == column);
    &row[place.unwrap_or_else(|| panic!("no column {column}"))]
}

#[test]
fn a_row_of_stages_has_the_figures_of_the_run() {
    let run = fixtures::healthy();
    let (head, rows) = table(Table::Stages, std::slice::from_ref(&run));
    assert_eq!(rows.len(), run.figures.len());
    for (row, figures) in rows.iter().zip(&run.figures) {
        let number = |column| cell(&head, row, column).parse::<f64>().ok();
        assert_eq!(cell(&head, row, "stage"), figures.stage);
        assert_eq!(cell(&head, row, "run"), run.run.id);
        assert_eq!(number("iops"), Some(figures.iops.median));
        assert_eq!(
            number("iops_ci95_low"),
            figures.iops.ci95.map(|[low, _]| low)
        );
        let p99 = figures.latency_ns.p99.map(|ns| ns as f64);
        assert_eq!(number("latency_p99_ns"), p99);
        assert_eq!(number("device_share"), figures.layers.device);
    }
    let missing = run.figures.iter().filter(|f| f.latency_ns.p99_99.is_none());
    let empty = rows
        .iter()
        .filter(|row| cell(&head, row, "latency_p99_99_ns").is_empty());
    assert_eq!(missing.count(), empty.count());
}

#[test]
fn trials_intervals_and_bins_are_those_of_the_trials() {
    let run = detailed();
    let (head, rows) = table(Table::Trials, std::slice::from_ref(&run));
    assert_eq!(rows.len(), run.trials.len());
    assert_eq!(cell(&head, &rows[0], "settings"), r#"{"scheduler":"none"}"#);
    let seconds: f64 = cell(&head, &rows[0], "seconds").parse().unwrap();
    assert_eq!(seconds.to_bits(), run.trials[0].seconds.to_bits());

    let (head, rows) = table(Table::Intervals, std::slice::from_ref(&run));
    let intervals = run
        .trials
        .iter()
        .map(|trial| &trial.evidence.intervals.operations);
    let operations: Vec<u64> = intervals.flatten().copied().collect();
    let of_rows = rows
        .iter()
        .map(|row| cell(&head, row, "operations").parse().unwrap());
    assert!(operations.len() > 3);
    assert_eq!(of_rows.collect::<Vec<u64>>(), operations);
    for row in &rows {
        let ns = |column| cell(&head, row, column).parse::<u64>().unwrap();
        assert!(ns("from_ns") < ns("to_ns"), "{row:?}");
    }

    let (head, rows) = table(Table::Bins, std::slice::from_ref(&run));
    let histograms = &run.trials[0].histograms;
    for (latency, packed) in [
        ("read", Some(&histograms.read)),
        ("write", Some(&histograms.write)),
        ("service", histograms.service.as_ref()),
    ] {
        let of_kind = rows
            .iter()
            .filter(|row| cell(&head, row, "latency") == latency);
        let number = |row, column| cell(&head, row, column).parse::<u64>().unwrap();
        let bins: Vec<_> = of_kind
            .map(|row| {
                (
                    number(row, "from_ns"),
                    number(row, "to_ns"),
                    number(row, "operations"),
                )
            })
            .collect();
        assert_eq!(bins, packed.unwrap().buckets(), "{latency}");
    }
}

#[test]
fn what_an_import_does_not_know_is_an_empty_cell() {
    let runs: Vec<Run> = crate::import::DOCUMENTS
        .iter()
        .flat_map(|text| crate::import::runs_of(text))
        .collect();
    let (head, rows) = table(Table::Trials, &runs);
    let unknown: Vec<_> = runs
        .iter()
        .flat_map(|run| &run.trials)
        .zip(&rows)
        .filter(|(trial, _)| trial.seconds.is_nan())
        .collect();
    assert!(!unknown.is_empty());
    for (_, row) in unknown {
        assert_eq!(cell(&head, row, "seconds"), "");
    }
}

#[test]
fn every_column_is_explained_in_the_reference_and_no_other() {
    let reference = include_str!("../../../../../docs/reference/export.md");
    for table in TABLES {
        let name = format!("{table:?}").to_lowercase();
        let begin = reference.find(&format!("<!-- table {name} -->")).unwrap();
        let section = &reference[begin..];
        let section = &section[..section.find("\n#").unwrap_or(section.len())];
        let explained: Vec<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .flat_map(|line| {
                let (cell, _) = line.split_once(" |").unwrap();
                cell.trim_end_matches('`').split("`, `")
            })
            .collect();
        assert_eq!(explained, table.columns(), "{name}");
    }
}

#[test]
fn a_table_without_rows_has_its_head() {
    for table_of in TABLES {
        let (head, rows) = table(table_of, &[]);
        assert_eq!(head.iter().collect::<Vec<_>>(), table_of.columns());
        assert!(rows.is_empty());
    }
}
