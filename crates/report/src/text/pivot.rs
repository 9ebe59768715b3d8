//! The rates of a matrix in which something is to be chosen: one choice across, the others
//! down, a table for each of the conditions under which it is made. What is best under
//! them is marked, and what is in force.

use super::look::Style;
use super::matrix::{NEARLY_ALL, UNKNOWN, WORDS, most};
use super::page::Page;
use super::words::{add_once, count, half_width, list, rate};
use super::wrap::columns;
use diskfacts_record::effects::{Axis, CellRate, Chosen, RateOf, Settings, StageEffects};
use diskfacts_record::{Figure, Run, StageFigures};
use std::fmt::Write as _;

/// Between two columns.
const GAP: usize = 2;
/// Missing cells that are told one by one.
const MISSING_MAX: usize = 6;
/// A name that is wider makes a table of its own rather than a row.
const ROW_MAX: usize = 24;

/// What is said of the stage of these figures, when it stands in such tables.
pub(super) fn effects_of<'r>(run: &'r Run, figures: &StageFigures) -> Option<&'r StageEffects> {
    let mut all = run.effects.iter();
    all.find(|effects| effects.stage == figures.stage && is_pivoted(effects))
}

/// Whether there is something to choose, and it was measured often enough.
pub(crate) fn is_pivoted(effects: &StageEffects) -> bool {
    !effects.answers.is_empty()
}

/// The tables of all stages that have some; says whether there were any.
pub(super) fn write(page: &mut Page<'_>, run: &Run) -> bool {
    let mut any = false;
    for effects in run.effects.iter().filter(|effects| is_pivoted(effects)) {
        if any {
            page.blank();
        }
        any = true;
        tables(page, run, effects);
    }
    any
}

/// Which axes stand where, as places on the list of them.
pub(crate) struct Layout {
    /// Each combination of their values has a table.
    pub(crate) apart: Vec<usize>,
    pub(crate) down: Vec<usize>,
    pub(crate) across: Option<usize>,
}

impl Layout {
    pub(crate) fn of(axes: &[Axis]) -> Self {
        let places = || 0..axes.len();
        let (choices, conditions): (Vec<usize>, Vec<usize>) =
            places().partition(|place| axes[*place].choice);
        let fewest = choices
            .iter()
            .copied()
            .min_by_key(|place| axes[*place].values.len());
        let across = fewest.filter(|_| axes.len() > 1);
        let mut down: Vec<usize> = choices
            .into_iter()
            .filter(|place| Some(*place) != across)
            .collect();
        if down.is_empty() {
            let widest = |place: &usize| axes[*place].values.iter().map(|v| columns(v)).max();
            let row = conditions.iter().copied().min_by_key(|place| widest(place));
            down.extend(row.filter(|place| widest(place) <= Some(ROW_MAX)));
        }
        let apart = conditions
            .into_iter()
            .filter(|place| !down.contains(place))
            .collect();
        Self {
            apart,
            down,
            across,
        }
    }
}

/// Each combination of the values of these axes.
pub(crate) fn combinations(axes: &[Axis], of: &[usize]) -> Vec<Settings> {
    let mut all = vec![Settings::new()];
    for place in of {
        let varied = &axes[*place];
        let with = |settings: &Settings| -> Vec<Settings> {
            let values = varied.values.iter().map(|value| {
                let mut settings = settings.clone();
                settings.insert(varied.name.clone(), value.clone());
                settings
            });
            values.collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The values in words: `scheduler=bfq, read_ahead_kb=128`.
pub(crate) fn said(settings: &Settings) -> String {
    let said: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    said.join(", ")
}

fn tables(page: &mut Page<'_>, run: &Run, effects: &StageEffects) {
    let about = run
        .plan
        .stage(&effects.stage)
        .map_or("", |stage| &stage.about);
    let title = format!("{}:", effects.stage);
    page.titled(0, (Style::Heading, &title), 4, Style::Plain, about);
    let layout = Layout::of(&effects.axes);
    for block in combinations(&effects.axes, &layout.apart) {
        page.blank();
        if !block.is_empty() {
            page.paragraph(0, Style::Heading, &format!("{}:", said(&block)));
        }
        table(page, effects, &layout, &block);
    }
    page.blank();
    legend(page, run, effects);
    missing(page, effects);
}

fn table(page: &mut Page<'_>, effects: &StageEffects, layout: &Layout, block: &Settings) {
    let rows = combinations(&effects.axes, &layout.down);
    let across: Vec<usize> = layout.across.into_iter().collect();
    let heads = combinations(&effects.axes, &across);
    let row_axes: Vec<&Axis> = layout
        .down
        .iter()
        .map(|place| &effects.axes[*place])
        .collect();
    let widths: Vec<usize> = row_axes
        .iter()
        .map(|axis| {
            let values = axis.values.iter().map(|value| columns(value));
            values.chain([columns(&axis.name)]).max().unwrap_or(0)
        })
        .collect();
    let label: usize = widths.iter().map(|width| width + GAP).sum();
    let shown = |head: &Settings| head.values().next().cloned().unwrap_or_default();
    let cell = |row: &Settings, head: &Settings| {
        let wanted = [block, row, head];
        let found = effects.cells.iter().find(|cell| {
            let mut parts = wanted.iter().flat_map(|part| part.iter());
            parts.all(|(name, value)| cell.settings.get(name) == Some(value))
        });
        found.map_or_else(|| "-".to_owned(), |found| show(page, effects, found))
    };
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| heads.iter().map(|head| cell(row, head)).collect())
        .collect();
    let all = cells.iter().flatten().map(|cell| columns(cell));
    let wide = all.chain(heads.iter().map(|head| columns(&shown(head)) + 2));
    let wide = wide.max().unwrap_or(0);
    let room = page.look.columns().saturating_sub(label);
    let many = ((room + GAP) / (wide + GAP)).max(1);
    let places: Vec<usize> = (0..heads.len()).collect();
    for part in places.chunks(many) {
        if let Some(axis) = layout.across {
            let line = format!("{:label$}  {}", "", effects.axes[axis].name);
            let line = page.look.paint(Style::Heading, &page.look.clean(&line));
            page.line(&line);
        }
        let mut line = String::new();
        for (axis, width) in row_axes.iter().zip(&widths) {
            // Writing to a String cannot fail.
            let _ = write!(line, "{:<width$}{:GAP$}", axis.name, "");
        }
        for place in part {
            let _ = write!(line, "  {:<1$}", shown(&heads[*place]), wide + GAP - 2);
        }
        let line = page
            .look
            .paint(Style::Heading, page.look.clean(&line).trim_end());
        page.line(&line);
        for (row, cells) in rows.iter().zip(&cells) {
            let mut line = String::new();
            for (axis, width) in row_axes.iter().zip(&widths) {
                let value = row.get(&axis.name).map_or("", String::as_str);
                let _ = write!(line, "{value:<width$}{:GAP$}", "");
            }
            for place in part {
                let _ = write!(line, "{:<1$}", cells[*place], wide + GAP);
            }
            let line = page.look.clean(&line).into_owned();
            page.line(&line);
        }
    }
}

/// `*=  67.5 +/-0.2 %`.
fn show(page: &Page<'_>, effects: &StageEffects, cell: &CellRate) -> String {
    let Some(figure) = &cell.rate else {
        return "   -".to_owned();
    };
    let marks = marks(effects, cell);
    let spread = half_width(figure).map_or_else(String::new, |half| {
        format!(" {}{half}", page.look.plus_minus())
    });
    format!("{marks}{:>6}{spread}", rate(value(effects, figure)))
}

/// `*=`: the best under its conditions, and in force when the run began.
pub(super) fn marks(effects: &StageEffects, cell: &CellRate) -> String {
    let best = if is_best(effects, cell) { '*' } else { ' ' };
    let now = if cell.in_force == Some(true) {
        '='
    } else {
        ' '
    };
    format!("{best}{now}")
}

/// In the unit of the table.
pub(super) fn value(effects: &StageEffects, figure: &Figure) -> f64 {
    match effects.rate {
        RateOf::ThroughputBytesPerS => figure.median / 1e6,
        RateOf::Iops => figure.median,
    }
}

/// Whether it was found to be the best under its conditions.
fn is_best(effects: &StageEffects, cell: &CellRate) -> bool {
    standing(effects, cell) == Some(Standing::Best)
}

/// How a cell stands among those that could be chosen under its conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is the best, beyond noise.
    Best,
    /// It cannot be told from the best.
    AsGood,
}

/// `None` of a cell that is slower than the best, and where no best was found.
pub(crate) fn standing(effects: &StageEffects, cell: &CellRate) -> Option<Standing> {
    let holds = |part: &Settings| {
        part.iter()
            .all(|(name, value)| cell.settings.get(name) == Some(value))
    };
    let conditions = effects.axes.iter().filter(|axis| !axis.choice).count();
    let mut answers = effects.answers.iter();
    let answer = answers.find(|answer| answer.under.len() == conditions && holds(&answer.under))?;
    if !matches!(answer.outcome, Chosen::Better | Chosen::InForceIsBest) {
        return None;
    }
    if answer.best.as_ref().is_some_and(holds) {
        Some(Standing::Best)
    } else {
        let as_good = answer.as_good.iter().any(holds);
        as_good.then_some(Standing::AsGood)
    }
}

/// What the numbers, the words and the marks above mean.
fn legend(page: &mut Page<'_>, run: &Run, effects: &StageEffects) {
    let mut sentences = vec![format!(
        "{}; {} is half their 95 % interval, of few trials half the range.",
        medians(effects),
        page.look.plus_minus().trim()
    )];
    if effects.cells.iter().any(|cell| is_best(effects, cell)) {
        sentences.push("* is the best of its table beyond noise.".to_owned());
    }
    if effects.cells.iter().any(|cell| cell.in_force == Some(true)) {
        sentences.push("= is what was in force when the run began.".to_owned());
    }
    sentences.push(served_by(run, effects));
    page.paragraph(0, Style::Minor, &sentences.join(" "));
}

/// `Medians of 5 trials, MB/s of 10^6 bytes`.
pub(crate) fn medians(effects: &StageEffects) -> String {
    let trials = effects
        .cells
        .iter()
        .filter_map(|cell| Some(cell.rate?.trials));
    let (least, largest) = trials.fold((u32::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
    let trials = if least == largest {
        count(u64::from(largest), "trial")
    } else {
        format!("{least} to {largest} trials")
    };
    let unit = match effects.rate {
        RateOf::ThroughputBytesPerS => "MB/s of 10^6 bytes",
        RateOf::Iops => "operations per second",
    };
    format!("Medians of {trials}, {unit}")
}

/// Which layer served the bytes of all cells, where it was one.
pub(crate) fn served_by(run: &Run, effects: &StageEffects) -> String {
    let figures = run.figures.iter().filter(|f| f.stage == effects.stage);
    let served: Vec<(f64, &str)> = figures.map(|figures| most(&figures.layers)).collect();
    let mut by: Vec<&str> = Vec::new();
    for (word, meaning) in WORDS {
        if served
            .iter()
            .any(|(share, by)| *by == word && *share >= NEARLY_ALL)
        {
            add_once(&mut by, meaning);
        }
    }
    if let [only] = by.as_slice()
        && served.iter().all(|(share, _)| *share >= NEARLY_ALL)
    {
        let meaning = only.split_once(' ').map_or(*only, |(_, meaning)| meaning);
        let meaning = meaning.strip_prefix("is ").unwrap_or(meaning);
        if *only == UNKNOWN {
            "Who served the bytes is not known.".to_owned()
        } else {
            format!("Nearly all bytes were served by {meaning}.")
        }
    } else {
        "Not all cells were served by the same layer: --json says each one's.".to_owned()
    }
}

/// Cells that lack trials, and why.
fn missing(page: &mut Page<'_>, effects: &StageEffects) {
    for text in missing_trials(effects) {
        page.paragraph(0, Style::Doubtful, &text);
    }
}

/// The same, a sentence for each reason.
pub(crate) fn missing_trials(effects: &StageEffects) -> Vec<String> {
    let missing: Vec<(&CellRate, &str)> = effects
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.missing.as_deref()?)))
        .collect();
    let mut whys: Vec<&str> = Vec::new();
    for (_, why) in &missing {
        add_once(&mut whys, *why);
    }
    let sentence = |why: &str| {
        let cells: Vec<String> = missing
            .iter()
            .filter(|(_, other)| *other == why)
            .map(|(cell, _)| said(&cell.settings))
            .collect();
        let more = cells.len().saturating_sub(MISSING_MAX) as u64;
        let mut named: Vec<String> = cells.into_iter().take(MISSING_MAX).collect();
        if more > 0 {
            named.push(count(more, "more cell"));
        }
        format!("Trials are missing ({why}): {}.", list(&named))
    };
    whys.into_iter().map(sentence).collect()
}
