//! A row for each stage.

use super::super::look::Style;
use super::super::marks::Marks;
use super::super::names::Names;
use super::super::page::Page;
use super::super::stages;
use super::super::words::count;
use super::columns::Columns;
use super::strip;
use diskfacts_record::{Run, StageFigures, TargetKind};

/// Longest name beside which figures stand.
const NAME: usize = 30;
/// Rows of a run that has more: the lines of a document, say.
const ROWS: usize = 24;
/// Share of the bytes from which on memory is who answered.
const FROM_MEMORY: f64 = 0.95;

pub(super) fn write(page: &mut Page<'_>, run: &Run, marks: &Marks<'_>) {
    let listed = stages::listed(run);
    if listed.is_empty() {
        if run.figures.is_empty() && run.target.kind != TargetKind::Imported {
            page.heading("No trial was completed, so there are no figures.");
        }
        return;
    }
    page.blank();
    let (memory, device): (Vec<&StageFigures>, Vec<&StageFigures>) = listed
        .iter()
        .partition(|figures| figures.layers.page_cache >= FROM_MEMORY);
    // Apart only where there are both.
    let apart = !memory.is_empty() && !device.is_empty();
    let mut ordered = memory.clone();
    ordered.extend(&device);
    let ordered = if apart { ordered } else { listed };
    let shown = &ordered[..ordered.len().min(ROWS)];
    let names = shown.iter().map(|figures| stages::name(figures));
    let names = Names::of(names, NAME, page.look);
    let room = page.look.columns().saturating_sub(names.width);
    let table = Columns::of(run, marks, shown, page.look, room);
    let head = format!("{:1$}{2}", "", names.width, table.head());
    let head = page.look.paint(Style::Heading, head.trim_end());
    page.line(&head);
    for row in 0..shown.len() {
        if apart && row == 0 {
            section(page, "from memory");
        }
        if apart && row == memory.len() {
            section(page, "from the device");
        }
        names.write(page, row, Style::Plain, &table.row(row));
    }
    if ordered.len() > ROWS {
        let more = count((ordered.len() - ROWS) as u64, "more row");
        page.paragraph(0, Style::Minor, &format!("{more}: --explain has them all."));
    }
    let mut words = vec![format!(
        "{} half the range of the trials",
        page.look.plus_minus()
    )];
    words.retain(|_| table.has(page.look.plus_minus()));
    if table.has("see") {
        let more = if table.has_more() { ", + and more" } else { "" };
        words.push(format!(
            "see: the letters and numbers below, ! do not quote{more}"
        ));
    }
    if table.are_drawn() {
        words.push(strip::legend(page.look));
    }
    if !words.is_empty() {
        page.paragraph(0, Style::Minor, &format!("{}.", words.join("; ")));
    }
}

fn section(page: &mut Page<'_>, text: &str) {
    let line = page.look.paint(Style::Minor, text);
    page.line(&line);
}
