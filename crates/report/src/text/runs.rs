//! The list of stored runs.

use super::look::{Look, Style};
use super::page::Page;
use super::words::count;
use super::wrap::columns;
use diskfacts_record::{Labels, Status};

/// A stored run in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// When it ended, if it has.
    pub ended: Option<String>,
    /// Version of the diskfacts that made it.
    pub tool_version: String,
    /// Name of the host that it was made on, where that is known.
    pub host: Option<String>,
    /// What people call it.
    pub labels: Labels,
    /// How it ended; `None` when it is a word of a newer diskfacts.
    pub status: Option<Status>,
    /// Whether the process that makes a running one lives; `None` when that
    /// cannot be told.
    pub alive: Option<bool>,
    /// How many trials are stored.
    pub trials: u64,
    /// Name of its plan.
    pub plan: String,
    /// The target: its real path, or `sim:` and the name of a simulated disk.
    pub target: String,
}

impl RunRow {
    /// Its status in a word: that of the record, or what became of one that is
    /// still called running.
    pub fn word(&self) -> &'static str {
        word(self).1
    }
}

/// A table of runs in the order they are given; the target, which may be long,
/// stands last and is not cut. Where they are not all that are `stored`, the last
/// line says how many there are.
pub fn runs(runs: &[RunRow], stored: usize, look: &Look) -> String {
    let mut page = Page::new(look);
    if runs.is_empty() {
        page.line(&match stored {
            0 => "No run is stored yet.".to_owned(),
            1 => "The 1 stored run does not match.".to_owned(),
            stored => format!("None of the {stored} stored runs matches."),
        });
        return page.finish();
    }
    table(&mut page, runs);
    if runs.iter().any(|run| word(run).1 == UNFINISHED) {
        page.blank();
        page.paragraph(
            0,
            Style::Plain,
            "unfinished: killed, or still running where its process cannot be seen from here.",
        );
    }
    if runs.len() < stored {
        page.blank();
        page.line(&format!("{} of {stored} stored runs.", runs.len()));
    }
    page.finish()
}

/// A column of the table.
struct Column {
    header: &'static str,
    cell: fn(&RunRow, &Look) -> String,
    /// Numbers end below each other, words begin so.
    is_number: bool,
}

/// The columns in their order; a name and tags only where one of the runs has some.
fn table_columns(runs: &[RunRow]) -> Vec<Column> {
    let column = |header, cell| Column {
        header,
        cell,
        is_number: header == "TRIALS",
    };
    let mut columns = vec![column("RUN", |run, look| look.clean(&run.id).into_owned())];
    if runs.iter().any(|run| run.labels.name.is_some()) {
        columns.push(column("NAME", |run, look| {
            let name = run.labels.name.as_deref();
            look.clean(name.unwrap_or_default()).into_owned()
        }));
    }
    if runs.iter().any(|run| !run.labels.tags.is_empty()) {
        columns.push(column("TAGS", |run, look| {
            let tags: Vec<&str> = run.labels.tags.iter().map(String::as_str).collect();
            look.clean(&tags.join(",")).into_owned()
        }));
    }
    columns.extend([
        column(STATUS, |run, _| word(run).1.to_owned()),
        column("TRIALS", |run, _| run.trials.to_string()),
        column("PLAN", |run, look| look.clean(&run.plan).into_owned()),
        column("TARGET", |run, look| look.clean(&run.target).into_owned()),
    ]);
    columns
}

fn table(page: &mut Page<'_>, runs: &[RunRow]) {
    let look = page.look;
    let table: Vec<(Column, Vec<String>)> = table_columns(runs)
        .into_iter()
        .map(|column| {
            let cells = runs.iter().map(|run| (column.cell)(run, look)).collect();
            (column, cells)
        })
        .collect();
    // The row of the header, then one for each run.
    for row in std::iter::once(None).chain((0..runs.len()).map(Some)) {
        let mut line = Vec::new();
        for (at, (column, cells)) in table.iter().enumerate() {
            let cell = row.map_or(column.header, |row| &cells[row]);
            let longest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
            let width = longest.max(column.header.len());
            let is_last = at + 1 == table.len();
            let pad = " ".repeat(if is_last { 0 } else { width - columns(cell) });
            let style = match row {
                Some(row) if column.header == STATUS => word(&runs[row]).0,
                _ => Style::Plain,
            };
            let cell = look.paint(style, cell);
            line.push(if column.is_number {
                format!("{pad}{cell}")
            } else {
                format!("{cell}{pad}")
            });
        }
        page.line(&line.join("  "));
    }
}

/// Which runs go, or went: each with its moment, target and stages, on lines of its own.
pub fn deleted(runs: &[(RunRow, Vec<String>)], look: &Look) -> String {
    let mut page = Page::new(look);
    for (run, stages) in runs {
        page.line(&format!(
            "  {}{}  {}  {}",
            look.clean(&run.id),
            match &run.labels.name {
                Some(name) => format!(" ({})", look.clean(name)),
                None => String::new(),
            },
            look.clean(&to_the_second(&run.started)),
            look.clean(&run.target)
        ));
        let stages = match stages.as_slice() {
            [] => "no trial".to_owned(),
            stages => format!(
                "{} of {}",
                count(run.trials, "trial"),
                look.clean(&stages.join(", "))
            ),
        };
        page.paragraph(6, Style::Plain, &format!("{}, {stages}", word(run).1));
    }
    page.finish()
}

/// `2026-11-21T04:00:00Z` of a moment with nanoseconds.
fn to_the_second(moment: &str) -> String {
    let whole = moment.split_once('.').map(|(whole, _)| format!("{whole}Z"));
    whole.unwrap_or_else(|| moment.to_owned())
}

const STATUS: &str = "STATUS";

const UNFINISHED: &str = "unfinished";

fn word(run: &RunRow) -> (Style, &'static str) {
    match (run.status, run.alive) {
        (Some(Status::Complete), _) => (Style::Good, "complete"),
        (Some(Status::Interrupted), _) => (Style::Doubtful, "interrupted"),
        (Some(Status::Failed), _) => (Style::Bad, "failed"),
        (Some(Status::Running), Some(true)) => (Style::Plain, "running"),
        (Some(Status::Running), Some(false)) => (Style::Bad, "killed"),
        (Some(Status::Running), None) => (Style::Doubtful, UNFINISHED),
        (None, _) => (Style::Doubtful, "unknown"),
    }
}
