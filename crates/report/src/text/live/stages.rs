//! A row for each stage: how often it was done, and its figures as the first page has them.

use super::super::look::{Look, Style};
use super::super::words::count;
use super::super::wrap::{columns, cut};
use super::claims::Known;
use super::line::Line;

/// Longest name beside which figures stand.
const NAME: usize = 30;
/// Columns between a name and its trials, and before the name.
const GAP: usize = 2;

/// A stage of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct StageNow {
    /// Its name, with its settings if it has some.
    pub label: String,
    /// How often it is done: at least, and at most.
    pub trials: (u32, u32),
    /// Operations per second of its trials so far.
    pub rates: Vec<f64>,
    /// What each time is called: `trial`, or `round` of what is done before the trials.
    pub called: &'static str,
    /// Bytes per operation; absent of files, which have many sizes.
    pub block_size: Option<u64>,
}

/// The stages in so many rows; of more those around the one that runs.
pub(super) fn lines(
    stages: &[StageNow],
    running: Option<usize>,
    known: Option<&Known>,
    look: &Look,
    (width, height): (usize, usize),
) -> Vec<Line> {
    let rows = height.saturating_sub(1);
    if stages.is_empty() || rows == 0 {
        return Vec::new();
    }
    let all_fit = stages.len() <= rows;
    let rows = if all_fit { stages.len() } else { rows - 1 };
    let first = running.unwrap_or(0).saturating_sub(rows / 2);
    let first = first.min(stages.len() - rows);
    let shown = &stages[first..first + rows];
    let names: Vec<String> = shown
        .iter()
        .map(|stage| cut(&look.clean(&stage.label), NAME.min(width / 3)))
        .collect();
    let name = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let times: Vec<String> = shown.iter().map(times).collect();
    let head = "trials";
    let time = times.iter().map(String::len).max().unwrap_or(0);
    let time = time.max(head.len());
    let room = width.saturating_sub(GAP + name + GAP + time);
    let labels: Vec<&str> = shown.iter().map(|stage| &*stage.label).collect();
    let (heads, figures) = match known {
        Some(known) => known.columns(&labels, look, room),
        None => (String::new(), vec![String::new(); rows]),
    };
    let heading = format!("{:GAP$}{:name$}{:GAP$}{head:>time$}{heads}", "", "", "");
    let mut lines = vec![Line::of(Style::Heading, &heading)];
    for (row, (stage, times)) in names.iter().zip(&times).enumerate() {
        let runs = running == Some(first + row);
        let (mark, style) = if runs {
            ("> ", Style::Heading)
        } else {
            ("  ", Style::Plain)
        };
        let pad = name - columns(stage);
        let text = format!("{mark}{stage}{:pad$}{:GAP$}{times:>time$}", "", "");
        lines.push(Line::of(style, &text).and(Style::Plain, &figures[row]));
    }
    if !all_fit {
        let more = count((stages.len() - rows) as u64, "more stage");
        lines.push(Line::of(Style::Minor, &format!("{:GAP$}{more}", "")));
    }
    lines
}

/// `3/6`, or `3/6+` where it may be done more often.
fn times(stage: &StageNow) -> String {
    let (least, most) = stage.trials;
    let more = if most > least { "+" } else { "" };
    format!("{}/{least}{more}", stage.rates.len())
}
