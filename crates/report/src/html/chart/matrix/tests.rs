//! Cells against the figures that they are of.

use super::markup::markup;
use super::*;
use crate::fixtures;
use crate::import;
use crate::import::runs::{self, Origin};
use crate::text::pivot::{self, Standing};
use diskfacts_record::{Run, StageFigures};

fn only(run: &Run) -> Matrix {
    let mut all = matrices(run);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn every_cell_of_a_choice_has_the_rate_and_the_standing_of_its_figures() {
    let run = fixtures::tuned();
    let matrix = only(&run);
    // One cell failed in all of its trials.
    assert_eq!(matrix.rates().count(), run.figures.len() - 1);
    let markup = markup(&matrix).into_string();
    let effects = &run.effects[0];
    for cell in &effects.cells {
        let Some(figure) = cell.rate else {
            continue;
        };
        let mut rates = matrix.rates();
        let rate = rates.find(|rate| (rate.value - figure.median).abs() < 1e-6);
        let rate = rate.unwrap_or_else(|| panic!("{cell:?}"));
        assert_eq!(rate.in_force, cell.in_force == Some(true));
        let best = pivot::standing(effects, cell) == Some(Standing::Best);
        assert_eq!(rate.mark == Some(Mark::Best), best);
        let shown = format!("<b>{}</b>", matrix.unit.show(rate.value));
        assert!(markup.contains(&shown), "{shown} in {markup}");
    }
    assert!(markup.contains("<em>best</em>"), "{markup}");
    assert!(markup.contains("operation"), "{markup}");
}

#[test]
fn shades_rise_with_the_rate_and_use_all_steps() {
    let matrix = only(&fixtures::tuned());
    let mut rates: Vec<&Rate> = matrix.rates().collect();
    rates.sort_by(|a, b| a.value.total_cmp(&b.value));
    assert!(rates.windows(2).all(|pair| pair[0].shade <= pair[1].shade));
    assert_eq!(rates[0].shade, 0);
    assert_eq!(rates[rates.len() - 1].shade, SHADES - 1);
    assert!(matrix.is_logarithmic());
    // 13.2 MB/s, of 4.2 to 101.5: ln(13.2 / 4.2) / ln(101.5 / 4.2) is 0.36 of nine steps.
    let of = |rate: &&&Rate| (rate.value / 13.2e6 - 1.0).abs() < 0.01;
    assert_eq!(rates.iter().find(of).unwrap().shade, 3);
}

#[test]
fn long_names_make_rows_and_refused_cells_are_hatched_with_the_reason() {
    let mut run = fixtures::write_matrix();
    fixtures::refuse_direct(&mut run, |trial| trial.workload.block_size < 8192);
    let all = matrices(&run);
    assert_eq!(all.len(), 2);
    let cells = all.iter().flat_map(|matrix| &matrix.tables[0].rows);
    let cells: usize = cells.map(|(_, cells)| cells.len()).sum();
    assert_eq!(cells, fixtures::LINES.lines().count());
    let table = &all[0].tables[0];
    assert_eq!(table.heads[0], "4 KiB");
    assert!(
        table.rows[0].0[0].starts_with("BUFFERED"),
        "{:?}",
        table.rows[0].0
    );
    let refused = |cell: &Cell| matches!(cell, Cell::Refused(_));
    let cells = table.rows.iter().flat_map(|(_, cells)| cells);
    let direct = table
        .rows
        .iter()
        .filter(|(names, _)| names[0].contains("DIRECT"));
    assert_eq!(cells.filter(|cell| refused(cell)).count(), direct.count());
    let markup = markup(&all[0]).into_string();
    assert!(
        markup.contains(r#"title="ramfs does not support O_DIRECT.">refused</td>"#),
        "{markup}"
    );
    // With one trial of each nobody knows what is noise.
    assert!(markup.contains("<em>highest</em>") && !markup.contains("<em>best</em>"));
    let high = run.figures.iter().map(|f| f.throughput_bytes_per_s.median);
    let highest = high.fold(0.0, f64::max);
    let marked = |rate: &&Rate| rate.mark == Some(Mark::Highest);
    let found = all.iter().flat_map(Matrix::rates).filter(marked);
    assert!(
        found
            .into_iter()
            .any(|rate| (rate.value - highest).abs() < 1.0)
    );
}

#[test]
fn with_intervals_what_overlaps_the_best_is_as_good() {
    let mut run = fixtures::stride();
    for figures in &mut run.figures {
        let rate = &mut figures.throughput_bytes_per_s;
        rate.ci95 = Some([rate.median * 0.9, rate.median * 1.1]);
    }
    let matrix = only(&run);
    let marks = |mark| {
        matrix
            .rates()
            .filter(|rate| rate.mark == Some(mark))
            .count()
    };
    // Reads, writes and modifications stream alike.
    assert_eq!((marks(Mark::Best), marks(Mark::AsGood)), (3, 0));
    for figures in run.figures.iter_mut().skip(1).take(2) {
        figures.throughput_bytes_per_s.median *= 0.95;
        let rate = &mut figures.throughput_bytes_per_s;
        rate.ci95 = Some([rate.median * 0.9, rate.median * 1.1]);
    }
    let matrix = only(&run);
    let marks = |mark| {
        matrix
            .rates()
            .filter(|rate| rate.mark == Some(mark))
            .count()
    };
    assert_eq!((marks(Mark::Best), marks(Mark::AsGood)), (1, 2));
}

#[test]
fn a_run_without_a_matrix_has_none() {
    assert!(matrices(&fixtures::healthy()).is_empty());
}

#[test]
fn lines_that_lack_a_setting_stand_in_tables_of_what_they_have() {
    let mut run = fixtures::tuned();
    run.effects.clear();
    // A document does not say that nothing ran beside.
    for stage in &mut run.plan.stages {
        stage.settings.retain(|_, value| value != "nothing");
        stage.settings.insert(
            "a long name of a place, so that no grid fits".into(),
            "x".into(),
        );
    }
    for figures in &mut run.figures {
        figures.settings.retain(|_, value| value != "nothing");
        figures.settings.insert(
            "a long name of a place, so that no grid fits".into(),
            "x".into(),
        );
    }
    let matrix = only(&run);
    let under: Vec<&str> = matrix
        .tables
        .iter()
        .map(|table| table.under.as_str())
        .collect();
    assert_eq!(under, ["beside=–", "beside=far reader"]);
    for table in &matrix.tables {
        assert_eq!(table.down, ["read_ahead_kb"]);
        assert_eq!(table.across, "scheduler");
        assert_eq!((table.rows.len(), table.heads.len()), (3, 2));
    }
    assert_eq!(matrix.rates().count(), 11);
    // A few cells are sooner read one by one.
    let few = |figures: &StageFigures| figures.settings["read_ahead_kb"] == "128";
    run.figures.retain(few);
    assert!(matrices(&run).is_empty());
}

#[test]
fn the_document_of_read_ahead_has_a_table_for_each_condition() {
    let text = include_bytes!("../../../../tests/documents/001_b18fe905e4c757db.txt");
    let origin = Origin {
        file: "results.txt".into(),
        started: "2026-11-21T02:41:50Z".into(),
        tool_version: "0.1.0".into(),
        command: Vec::new(),
    };
    let document = import::read(&text[..]).unwrap();
    let mut runs = runs::of(&document, &origin, || "id".to_owned());
    let run = &mut runs[0];
    run.figures = diskfacts_facts::figures(run);
    let matrix = only(run);
    // Of the context "same" under the usual algorithm there are two lines, which make no table.
    assert_eq!(matrix.tables.len(), 6, "{matrix:?}");
    assert_eq!(matrix.rates().count(), 56);
    for table in &matrix.tables {
        assert_eq!(table.down, ["read_ahead"]);
        assert_eq!((table.across.as_str(), table.heads.len()), ("scheduler", 2));
        assert!(table.under.contains("beside=") && table.under.contains("io_context="));
    }
}
