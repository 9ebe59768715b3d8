//! What to choose: the options by what they came to, with intervals; which is best, which cannot
//! be told from it, and what is in force.

use super::ends::Ends;
use super::forest::{Forest, Kind, Row};
use super::ratios::{Ratios, ratios};
use crate::html::figure::Figure;
use crate::html::plot::Axis;
use crate::html::scale::Unit;
use crate::html::table::{Cell, Table};
use crate::text::advise::{measured, place};
use crate::text::pivot::{Standing, said, standing};
use crate::text::words::{add_once, count, percent};
use diskfacts_facts::advise::{Group, Ranked, Ranking};
use diskfacts_record::effects::{CellRate, RateOf, Settings, StageEffects};

/// Options that are drawn; the table has all.
const OPTIONS_MAX: usize = 24;

/// The options under one condition, the best first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    /// What it is of.
    pub(crate) title: String,
    /// What its values are.
    pub(crate) unit: Unit,
    /// The first of them.
    pub(crate) rows: Vec<Row>,
    /// How many have no room.
    pub(crate) left_out: usize,
    /// The greatest value or end.
    pub(crate) high: f64,
}

impl Choice {
    fn of(title: String, unit: Unit, mut rows: Vec<Row>) -> Option<Self> {
        rows.retain(|row| row.at.is_some());
        rows.sort_by(|a, b| b.at.unwrap_or(0.0).total_cmp(&a.at.unwrap_or(0.0)));
        let values = rows
            .iter()
            .flat_map(|row| row.at.into_iter().chain(row.ends.into_iter().flatten()));
        let high = values.fold(0.0, f64::max);
        let left_out = rows.len().saturating_sub(OPTIONS_MAX);
        rows.truncate(OPTIONS_MAX);
        (rows.len() > 1 && high > 0.0).then_some(Self {
            title,
            unit,
            rows,
            left_out,
            high,
        })
    }

    /// The drawing's rows and axis, from nothing on.
    pub(crate) fn forest(&self, title: &str) -> Forest<'_> {
        Forest {
            axis: Axis::linear(title, self.unit, 0.0, self.high),
            rows: &self.rows,
            band: None,
            line: None,
        }
    }

    fn seen(&self) -> String {
        let Some(first) = self.rows.first() else {
            return String::new();
        };
        let mut text = format!("The highest is {}: {}.", first.name, first.said);
        if self.left_out > 0 {
            let more = count(self.left_out as u64, "lower option");
            text = format!("{text} {more} below these: see the numbers.");
        }
        text
    }
}

/// What can be chosen of a stage, under each condition.
pub(crate) fn of_effects(effects: &StageEffects) -> Vec<Choice> {
    let unit = match effects.rate {
        RateOf::ThroughputBytesPerS => Unit::BytesPerS,
        RateOf::Iops => Unit::PerS,
    };
    conditions(effects)
        .into_iter()
        .filter_map(|condition| {
            let cells = effects.cells.iter();
            let cells = cells.filter(|cell| part(effects, cell, false) == condition);
            let rows = cells.filter_map(|cell| row(effects, cell, unit));
            let title = if condition.is_empty() {
                effects.stage.clone()
            } else {
                format!("{}, {}", effects.stage, said(&condition))
            };
            Choice::of(title, unit, rows.collect())
        })
        .collect()
}

/// The conditions, in the order of the plan.
fn conditions(effects: &StageEffects) -> Vec<Settings> {
    let mut conditions = Vec::new();
    for cell in &effects.cells {
        add_once(&mut conditions, part(effects, cell, false));
    }
    conditions
}

/// The settings of a cell that are a choice, or those that are a condition.
fn part(effects: &StageEffects, cell: &CellRate, choice: bool) -> Settings {
    let axes = effects.axes.iter().filter(|axis| axis.choice == choice);
    axes.filter_map(|axis| cell.settings.get_key_value(&axis.name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn row(effects: &StageEffects, cell: &CellRate, unit: Unit) -> Option<Row> {
    let figure = cell.rate.as_ref()?;
    let ends = Ends::of(figure);
    let standing = standing(effects, cell);
    let mut words = vec![format!("{} {}", unit.show(figure.median), unit.name())];
    if let Some(ends) = ends {
        words[0] = format!(
            "{} ({} to {})",
            words[0],
            unit.show(ends.low),
            unit.show(ends.high)
        );
    }
    words.extend(standing.map(|standing| match standing {
        Standing::Best => "best".to_owned(),
        Standing::AsGood => "as good".to_owned(),
    }));
    if cell.in_force == Some(true) {
        words.push("in force".to_owned());
    }
    let values: Vec<String> = part(effects, cell, true).into_values().collect();
    Some(Row {
        name: values.join(", "),
        said: words.join(", "),
        at: Some(figure.median),
        ends: ends.map(|ends| [ends.low, ends.high]),
        kind: match standing {
            Some(Standing::Best) => Kind::Good,
            Some(Standing::AsGood) => Kind::Same,
            None => Kind::Unclear,
        },
    })
}

/// What can be chosen of a stage, as figures; their ids begin with `id`.
pub(crate) fn figures_of_effects(effects: &StageEffects, id: &str) -> Vec<Figure> {
    let choices = of_effects(effects);
    let axes = effects.axes.iter().filter(|axis| axis.choice);
    let names: Vec<&str> = axes.map(|axis| axis.name.as_str()).collect();
    let figure = |(place, choice): (usize, &Choice)| {
        let mut numbers = Table::new(&choice.title, &[names.join(", ").as_str(), "rate"]);
        for row in &choice.rows {
            numbers.push(vec![
                Cell::Text(row.name.clone()),
                Cell::Text(row.said.clone()),
            ]);
        }
        Figure {
            id: format!("{id}-{}", place + 1),
            title: choice.title.clone(),
            seen: choice.seen(),
            drawing: choice.forest(&names.join(", ")).draw(),
            legend: Vec::new(),
            numbers,
        }
    };
    choices.iter().enumerate().map(figure).collect()
}

/// What each value of each axis does, over the mean of the axis, averaged over the others.
pub(crate) fn main_effects(effects: &StageEffects) -> Option<Ratios> {
    let rows = effects.main_effects.iter().flat_map(|effect| {
        effect.levels.iter().map(|level| {
            let [low, high] = level.ci95;
            let times = |ratio: f64| format!("{ratio:.2}");
            Row {
                name: format!("{}={}", effect.axis, level.value),
                said: format!(
                    "× {} ({} to {}){}",
                    times(level.ratio),
                    times(low),
                    times(high),
                    if effect.beyond_noise { "" } else { ", noise" }
                ),
                at: Some(level.ratio),
                ends: Some(level.ci95),
                kind: match (effect.beyond_noise, low > 1.0, high < 1.0) {
                    (false, ..) => Kind::Unclear,
                    (true, true, _) => Kind::Good,
                    (true, _, true) => Kind::Bad,
                    (true, false, false) => Kind::Same,
                },
            }
        })
    });
    ratios(rows.collect(), None)
}

/// The same as a figure.
pub(crate) fn figure_of_main_effects(effects: &StageEffects, id: String) -> Option<Figure> {
    let ratios = main_effects(effects)?;
    let beyond: Vec<&str> = effects
        .main_effects
        .iter()
        .filter(|effect| effect.beyond_noise)
        .map(|effect| effect.axis.as_str())
        .collect();
    let mut numbers = Table::new("effects", &["value", "times the mean of its axis"]);
    for row in &ratios.rows {
        numbers.push(vec![
            Cell::Text(row.name.clone()),
            Cell::Text(row.said.clone()),
        ]);
    }
    Some(Figure {
        id,
        title: format!("{}: what each setting does by itself", effects.stage),
        seen: if beyond.is_empty() {
            "No setting has an effect beyond noise.".to_owned()
        } else {
            format!("Beyond noise: {}.", crate::text::list(&beyond))
        },
        drawing: ratios.forest("times the mean of its axis").draw(),
        legend: Vec::new(),
        numbers,
    })
}

/// An option by the values that tell it from the others: their names stand above.
fn told(group: &Group, ranked: &Ranked) -> String {
    let option = &group.options[ranked.option];
    let values: Vec<&str> = option.settings.values().map(String::as_str).collect();
    if values.is_empty() {
        option.name.clone()
    } else {
        values.join(", ")
    }
}

/// The order of a group of options by what counts.
pub(crate) fn of_ranking(title: String, group: &Group, ranking: &Ranking) -> Option<Choice> {
    let row = |ranked: &Ranked| Row {
        name: format!("{}. {}", place(ranked), told(group, ranked)),
        said: format!(
            "{} ({} to {})",
            percent(ranked.share),
            percent(ranked.low),
            percent(ranked.high)
        ),
        at: Some(ranked.share),
        ends: Some([ranked.low, ranked.high]),
        kind: match (ranked.place_from, ranked.place_to) {
            (1, 1) => Kind::Good,
            (1, _) => Kind::Same,
            _ => Kind::Unclear,
        },
    };
    Choice::of(title, Unit::Share, ranking.ranked.iter().map(row).collect())
}

/// The same as a figure.
pub(crate) fn figure_of_ranking(
    title: String,
    group: &Group,
    ranking: &Ranking,
    id: String,
) -> Option<Figure> {
    let choice = of_ranking(title, group, ranking)?;
    let mut numbers = Table::new("options", &["option", "place", "of the best", "measured"]);
    for ranked in &ranking.ranked {
        numbers.push(vec![
            Cell::Text(group.options[ranked.option].name.clone()),
            Cell::Number(place(ranked)),
            Cell::Number(percent(ranked.share)),
            Cell::Text(measured(group, ranking, ranked)),
        ]);
    }
    Some(Figure {
        id,
        seen: choice.seen(),
        drawing: choice.forest("of the best").draw(),
        title: choice.title,
        legend: Vec::new(),
        numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::super::forest;
    use super::*;
    use crate::fixtures;
    use crate::html::figure::Drawing;

    fn drawn(forest: &Forest<'_>) -> (Vec<f64>, Vec<[f64; 2]>) {
        let Drawing::Svg(_, elements) = forest.draw() else {
            panic!("a drawing");
        };
        forest::read(&elements.into_string(), forest.scale())
    }

    #[test]
    fn options_stand_at_their_rates_the_best_first_under_each_condition() {
        let run = fixtures::tuned();
        let effects = &run.effects[0];
        let choices = of_effects(effects);
        assert_eq!(choices.len(), 2, "{choices:?}");
        for choice in &choices {
            let (at, ends) = drawn(&choice.forest("x"));
            assert_eq!(at.len(), choice.rows.len());
            assert_eq!(ends.len(), choice.rows.len());
            for (at, row) in at.iter().zip(&choice.rows) {
                assert!((at / row.at.unwrap() - 1.0).abs() < 1e-2, "{at} {row:?}");
            }
            let values: Vec<f64> = choice.rows.iter().map(|row| row.at.unwrap()).collect();
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
        }
        let beside = &choices[1];
        assert!(beside.title.contains("far reader"), "{}", beside.title);
        assert_eq!(beside.rows[0].kind, Kind::Good);
        assert!(
            beside.rows[0].said.ends_with("best"),
            "{:?}",
            beside.rows[0]
        );
        let in_force = beside
            .rows
            .iter()
            .filter(|row| row.said.contains("in force"));
        assert_eq!(in_force.count(), 1);
    }

    #[test]
    fn effects_are_drawn_as_the_ratios_that_they_are() {
        let run = fixtures::tuned();
        let effects = &run.effects[0];
        let ratios = main_effects(effects).unwrap();
        let (at, ends) = drawn(&ratios.forest("x"));
        let levels: Vec<_> = effects
            .main_effects
            .iter()
            .flat_map(|e| &e.levels)
            .collect();
        assert_eq!(at.len(), levels.len());
        for ((at, ends), level) in at.iter().zip(&ends).zip(&levels) {
            assert!((at / level.ratio - 1.0).abs() < 1e-3, "{at} {level:?}");
            assert!(
                (ends[1] / level.ci95[1] - 1.0).abs() < 1e-3,
                "{ends:?} {level:?}"
            );
        }
    }

    #[test]
    fn an_order_is_drawn_by_shares_and_says_which_places_are_shared() {
        let advice = diskfacts_facts::advise(&[fixtures::tuned()], None).unwrap();
        let group = &advice.groups[0];
        let (dimension, ranking) = &group.dimensions[0];
        let choice = of_ranking(dimension.to_string(), &group.group, ranking).unwrap();
        let (at, _) = drawn(&choice.forest("x"));
        for (at, ranked) in at.iter().zip(&ranking.ranked) {
            assert!((at / ranked.share - 1.0).abs() < 1e-2, "{at} {ranked:?}");
        }
        assert!(choice.rows[0].name.starts_with('1'), "{:?}", choice.rows[0]);
    }

    #[test]
    fn many_options_are_cut_and_counted() {
        let row = |i: u32| Row {
            name: i.to_string(),
            said: String::new(),
            at: Some(f64::from(i)),
            ends: None,
            kind: Kind::Unclear,
        };
        let choice = Choice::of("x".into(), Unit::PerS, (1..=30).map(row).collect()).unwrap();
        assert_eq!((choice.rows.len(), choice.left_out), (OPTIONS_MAX, 6));
        assert_eq!(choice.rows[0].name, "30");
        assert!(choice.seen().contains("6 lower options"));
        assert_eq!(Choice::of("x".into(), Unit::PerS, vec![row(1)]), None);
    }
}
