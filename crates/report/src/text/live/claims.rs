//! What follows from the trials so far: what is doubtful, what limits the stages, and what
//! it is good for, a line each.

use super::super::findings::{headline, severity};
use super::super::look::{Look, Style};
use super::super::marks::{Marks, is_doubt, letter};
use super::super::summary::columns::all as all_columns;
use super::super::summary::{Columns, judged, limiter_in_a_line};
use super::super::words::count;
use super::line::Line;
use diskfacts_facts::Explanation;
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Run, StageFigures};

/// Columns before the texts.
const COLUMN: usize = 12;
/// The rule that says of a run that it did not come to its end.
const UNFINISHED: &str = "interrupted";
/// Numbers of claims that a cell has.
const NUMBERS: usize = 4;
/// Rows from which on one of them is a heading.
const WITH_HEADING: usize = 4;

/// What is known of a run that goes on.
#[derive(Debug, Clone)]
pub struct Known {
    /// Without its trials, which nothing here needs, and whose histograms are large.
    run: Run,
}

impl Known {
    /// What follows from a run so far.
    pub fn of(run: &Run, explanation: Explanation) -> Self {
        let mut known = Run {
            schema: run.schema,
            run: run.run.clone(),
            machine: run.machine.clone(),
            target: run.target.clone(),
            stack: run.stack.clone(),
            plan: run.plan.clone(),
            preconditioning: Vec::new(),
            trials: Vec::new(),
            claim_tests: run.claim_tests.clone(),
            health_after: None,
            together: None,
            figures: Vec::new(),
            findings: Vec::new(),
            limits: Vec::new(),
            effects: Vec::new(),
            verdicts: Vec::new(),
        };
        explanation.put_into(&mut known);
        // That it is not finished goes without saying.
        known.findings.retain(|finding| finding.rule != UNFINISHED);
        Self { run: known }
    }

    /// The figures of a stage that is called so.
    pub(crate) fn figures(&self, stage: &str) -> Option<&StageFigures> {
        let mut figures = self.run.figures.iter();
        figures.find(|figures| stage_label(&figures.stage, &figures.settings) == stage)
    }

    /// The columns of the first page for these stages: the head, and a row for each, empty
    /// where it has no trial.
    pub(super) fn columns(
        &self,
        stages: &[&str],
        look: &Look,
        width: usize,
    ) -> (String, Vec<String>) {
        let known: Vec<Option<&StageFigures>> =
            stages.iter().map(|stage| self.figures(stage)).collect();
        let figures: Vec<&StageFigures> = known.iter().copied().flatten().collect();
        let marks = Marks::of(&self.run);
        let columns = Columns::drawn(&self.run, &marks, &figures, look, width);
        let mut rows = 0..figures.len();
        let rows = known.iter().map(|known| {
            let row = known.and_then(|_| rows.next());
            row.map_or_else(String::new, |row| columns.row(row))
        });
        (columns.head(), rows.collect())
    }

    /// All columns of the first page for these stages: their heads, and the cells of each, none
    /// where it has no trial.
    pub(crate) fn cells(
        &self,
        stages: &[&str],
        look: &Look,
    ) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let known: Vec<Option<&StageFigures>> =
            stages.iter().map(|stage| self.figures(stage)).collect();
        let figures: Vec<&StageFigures> = known.iter().copied().flatten().collect();
        let marks = Marks::of(&self.run);
        let columns = all_columns(&self.run, (&marks, NUMBERS), &figures, look);
        let mut rows = 0..figures.len();
        let cells = known.iter().map(|known| {
            let row = known.and_then(|_| rows.next());
            row.map_or_else(Vec::new, |row| {
                columns
                    .iter()
                    .map(|column| column.cells[row].clone())
                    .collect()
            })
        });
        let cells = cells.collect();
        (columns.iter().map(|column| column.head).collect(), cells)
    }

    /// Each claim: what is doubtful by its number, what limits the stages by its letter, what it
    /// is good for, and the rest; as the first page says it in a line of so many columns.
    pub(crate) fn claims(&self, room: usize) -> Vec<Claim> {
        let run = &self.run;
        let marks = Marks::of(run);
        let limits = marks
            .limits
            .iter()
            .enumerate()
            .map(|(place, limiting)| Claim {
                mark: letter(place),
                kind: "limit".to_owned(),
                style: Style::Heading,
                text: limiter_in_a_line(limiting, room),
            });
        let findings = |wanted: bool| {
            let numbered = run.findings.iter().enumerate();
            let wanted = numbered.filter(move |(_, finding)| is_doubt(finding) == wanted);
            wanted.map(move |(i, finding)| {
                let (style, word) = severity(finding.severity);
                Claim {
                    mark: (i + 1).to_string(),
                    kind: word.to_lowercase(),
                    style,
                    text: headline(finding, room),
                }
            })
        };
        let uses = judged(run, &marks).map(|(style, label, uses)| Claim {
            mark: String::new(),
            kind: label.to_owned(),
            style,
            text: uses,
        });
        findings(true)
            .chain(limits)
            .chain(uses)
            .chain(findings(false))
            .collect()
    }

    /// A line for each claim.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let claims = self.claims(width.saturating_sub(COLUMN));
        let line = |claim: Claim| {
            let label = if claim.mark.is_empty() {
                claim.kind
            } else {
                format!("{:<2} {}", claim.mark, claim.kind)
            };
            Line::of(claim.style, &format!("{label:COLUMN$}")).and(Style::Plain, &claim.text)
        };
        claims.into_iter().map(line).collect()
    }
}

/// A claim in a line.
pub(crate) struct Claim {
    /// Its number or letter; of the uses that it is good for, none.
    pub(crate) mark: String,
    /// What kind it is: `limit`, `warning`, `Good for`.
    pub(crate) kind: String,
    pub(crate) style: Style,
    pub(crate) text: String,
}

/// As many of some claims as have room; under a heading where that leaves room for some.
pub(super) fn lines(known: Option<&Known>, width: usize, height: usize) -> Vec<Line> {
    let mut claims = match known {
        Some(known) => known.lines(width),
        None => vec![Line::of(
            Style::Minor,
            "Nothing follows before the first trial.",
        )],
    };
    let has_heading = height >= WITH_HEADING;
    let room = height - usize::from(has_heading);
    let more = claims.len().saturating_sub(room) as u64;
    claims.truncate(room);
    let mut heading = Line::of(Style::Heading, "What follows so far");
    if more > 0 {
        let text = format!(" ({} at the end)", count(more, "more line"));
        heading = heading.and(Style::Minor, &text);
    }
    let heading = has_heading.then_some(heading);
    heading.into_iter().chain(claims).collect()
}
