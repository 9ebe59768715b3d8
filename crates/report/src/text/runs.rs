//! The list of stored runs.

use super::look::{Look, Style};
use super::page::Page;
use super::words::count;
use super::wrap::columns;
use diskfacts_record::Status;

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
    let header = ["RUN", "STATUS", "TRIALS", "PLAN", "TARGET"].map(str::to_owned);
    let rows: Vec<([String; 5], Style)> = runs.iter().map(|run| cells(run, look)).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|(cells, _)| &cells[column]);
        cells
            .chain([&header[column]])
            .map(|cell| columns(cell))
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 4] = std::array::from_fn(width);
    for (cells, style) in [(&header, Style::Plain)]
        .into_iter()
        .chain(rows.iter().map(|(cells, style)| (cells, *style)))
    {
        let padded: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(i, cell)| {
                let pad = " ".repeat(widths.get(i).map_or(0, |width| width - columns(cell)));
                let cell = look.paint(if i == STATUS { style } else { Style::Plain }, cell);
                // Numbers end below each other, words begin so.
                if i == TRIALS {
                    format!("{pad}{cell}")
                } else {
                    format!("{cell}{pad}")
                }
            })
            .collect();
        page.line(&padded.join("  "));
    }
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

/// Which runs go, or went: each with its moment, target and stages, on lines of its own.
pub fn deleted(runs: &[(RunRow, Vec<String>)], look: &Look) -> String {
    let mut page = Page::new(look);
    for (run, stages) in runs {
        page.line(&format!(
            "  {}  {}  {}",
            look.clean(&run.id),
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

const STATUS: usize = 1;
const TRIALS: usize = 2;

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

fn cells(run: &RunRow, look: &Look) -> ([String; 5], Style) {
    let (style, status) = word(run);
    let cells = [
        look.clean(&run.id).into_owned(),
        status.to_owned(),
        run.trials.to_string(),
        look.clean(&run.plan).into_owned(),
        look.clean(&run.target).into_owned(),
    ];
    (cells, style)
}
