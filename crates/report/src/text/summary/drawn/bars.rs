//! A bar for each setting, the fastest first; what is in force is marked, and what is best
//! beyond noise.

use super::super::super::look::Style;
use super::super::super::names::Names;
use super::super::super::page::Page;
use super::super::super::pivot;
use super::super::super::words::{add_once, count, half_width, list, rate};
use diskfacts_plan::Pattern;
use diskfacts_record::Run;
use diskfacts_record::effects::{CellRate, RateOf, Settings, StageEffects};

/// Bars of a page, of one matrix, and of each condition where there are several.
const PAGE: usize = 15;
const BARS: usize = 10;
const FEW: usize = 3;
/// Conditions that are drawn.
const CONDITIONS: usize = 6;
/// Columns of the longest bar.
const BAR: usize = 20;
/// Columns around a bar: a gap, the marks, the figure and its spread.
const FIGURE: usize = 2 + 1 + 2 + 1 + 7 + 11;
/// Longest name beside which a bar stands.
const NAME: usize = 34;

pub(super) fn write(page: &mut Page<'_>, run: &Run) {
    let all = run.effects.iter();
    let all: Vec<&StageEffects> = all.filter(|effects| pivot::is_pivoted(effects)).collect();
    let bars = (PAGE / all.len().max(1)).clamp(FEW, BARS);
    let left: Vec<Left> = all
        .into_iter()
        .filter_map(|effects| of_stage(page, run, effects, bars))
        .collect();
    if left.is_empty() {
        return;
    }
    let conditions = left.iter().map(|left| left.conditions as u64).sum();
    let settings = left.iter().map(|left| left.settings as u64).sum();
    let untold = [(conditions, "more condition"), (settings, "slower setting")];
    let untold = untold.into_iter().filter(|(many, _)| *many > 0);
    let untold: Vec<String> = untold.map(|(many, what)| count(many, what)).collect();
    let mut text = "* best beyond noise, = in force".to_owned();
    if !untold.is_empty() {
        text = format!("{text}; {}: --explain has them all.", list(&untold));
    }
    page.paragraph(0, Style::Minor, &text);
}

/// What of a stage has no room.
struct Left {
    conditions: usize,
    settings: usize,
}

/// What the rates of a stage are shown in, and how many of the unit of the effects that is.
/// Random operations of one size are counted, whatever the effects are worked out from.
fn unit(run: &Run, effects: &StageEffects) -> (&'static str, f64) {
    let cells = run.plan.stages.iter();
    let mut cells = cells
        .filter(|stage| stage.name == effects.stage)
        .map(|stage| &stage.workload);
    match (effects.rate, cells.next()) {
        (RateOf::Iops, _) => ("IOPS", 1.0),
        (RateOf::ThroughputBytesPerS, Some(first))
            if first.pattern != Pattern::Sequential
                && cells.all(|workload| workload.block_size == first.block_size) =>
        {
            ("IOPS", 1e6 / first.block_size as f64)
        }
        (RateOf::ThroughputBytesPerS, _) => ("MB/s", 1.0),
    }
}

/// The settings to choose from, under each condition apart, all on one scale; `None` where
/// there is nothing to draw.
fn of_stage(page: &mut Page<'_>, run: &Run, effects: &StageEffects, bars: usize) -> Option<Left> {
    let (unit, times) = unit(run, effects);
    let mut cells: Vec<(&CellRate, f64)> = effects
        .cells
        .iter()
        .filter_map(|cell| Some((cell, pivot::value(effects, cell.rate.as_ref()?) * times)))
        .collect();
    // Conditions stand in the order of the plan.
    let mut conditions: Vec<Settings> = Vec::new();
    for (cell, _) in &cells {
        add_once(&mut conditions, part(effects, cell, false));
    }
    cells.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (_, most) = cells.first().copied().filter(|(_, most)| *most > 0.0)?;
    let bars = if conditions.len() > 1 { FEW } else { bars };
    let mut left = 0;
    for condition in conditions.iter().take(CONDITIONS) {
        let of_condition = cells
            .iter()
            .filter(|(cell, _)| part(effects, cell, false) == *condition);
        let of_condition: Vec<(&CellRate, f64)> = of_condition.copied().collect();
        // Those in force are what the others are held against.
        let mut shown: Vec<(&CellRate, f64)> = of_condition.iter().take(bars).copied().collect();
        let beyond = of_condition.iter().skip(bars);
        shown.extend(beyond.filter(|(cell, _)| cell.in_force == Some(true)));
        left += of_condition.len() - shown.len();
        let title = if condition.is_empty() {
            format!("{}:", effects.stage)
        } else {
            format!("{}, {}:", effects.stage, pivot::said(condition))
        };
        let choices = effects.axes.iter().filter(|axis| axis.choice);
        let choices: Vec<&str> = choices.map(|axis| axis.name.as_str()).collect();
        let what = format!("{unit} by {}", choices.join(", "));
        page.blank();
        page.titled(0, (Style::Heading, &title), 4, Style::Plain, &what);
        of_condition_drawn(page, effects, &shown, most);
    }
    Some(Left {
        conditions: conditions.len().saturating_sub(CONDITIONS),
        settings: left,
    })
}

fn of_condition_drawn(
    page: &mut Page<'_>,
    effects: &StageEffects,
    shown: &[(&CellRate, f64)],
    most: f64,
) {
    let values = |cell: &CellRate| {
        let choices = part(effects, cell, true);
        let values: Vec<&str> = choices.values().map(String::as_str).collect();
        values.join(", ")
    };
    let names = shown.iter().map(|(cell, _)| values(cell));
    let room = page.look.columns().saturating_sub(FIGURE);
    let names = Names::of(names, NAME.min(room / 2), page.look);
    let widest = room.saturating_sub(names.width).min(BAR);
    for (place, (cell, value)) in shown.iter().enumerate() {
        let length = (value / most * widest as f64).round() as usize;
        let bar = if page.look.unicode { "█" } else { "#" }.repeat(length.max(1));
        let half = cell.rate.as_ref().and_then(half_width);
        let spread = half.map_or_else(String::new, |half| {
            format!(" {}{half}", page.look.plus_minus())
        });
        let marks = pivot::marks(effects, cell);
        let figure = format!("{marks} {:>7}{spread}", rate(*value));
        let row = format!("  {bar:<widest$} {figure}");
        names.write(page, place, Style::Plain, &row);
    }
}

/// The settings of a cell that are to be chosen, or those that are conditions.
fn part(effects: &StageEffects, cell: &CellRate, choice: bool) -> Settings {
    let is_part = |name: &str| {
        let mut axes = effects.axes.iter();
        axes.any(|axis| axis.name == name && axis.choice == choice)
    };
    let settings = cell.settings.iter();
    let settings = settings.filter(|(name, _)| is_part(name));
    settings
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
