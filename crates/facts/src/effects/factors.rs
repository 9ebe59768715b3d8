//! Main effects and interactions.

use super::contrast::{Contrast, mean};
use super::matrix::Matrix;
use super::{EFFECTS_ALPHA, WORTH};
use crate::stats::{self, Mean};
use diskfacts_record::StageEffects;
use diskfacts_record::effects::{Interaction, Level, MainEffect, Together};
use std::collections::BTreeMap;

/// Level of the interval of a single effect.
const ALPHA: f64 = 0.05;

/// Works out the effects of all matrices of a run, and which of them are beyond noise:
/// Holm's procedure over all of them together.
pub(super) fn work_out(matrices: &[Matrix<'_>], into: &mut [StageEffects]) {
    for (matrix, effects) in matrices.iter().zip(into.iter_mut()) {
        if !matrix.is_tested() {
            continue;
        }
        for axis in 0..matrix.axes.len() {
            match main_effect(matrix, axis) {
                Some(effect) => effects.main_effects.push(effect),
                None => effects.unknown.push(format!(
                    "What {} does by itself is not known: no combination of the others was \
                     measured with all of its values.",
                    matrix.axes[axis].name
                )),
            }
        }
        for first in 0..matrix.axes.len() {
            for second in first + 1..matrix.axes.len() {
                effects
                    .interactions
                    .extend(interaction(matrix, first, second));
            }
        }
    }
    let chances: Vec<f64> = into
        .iter()
        .flat_map(|effects| {
            let main = effects.main_effects.iter().map(|effect| effect.p);
            main.chain(effects.interactions.iter().map(|effect| effect.p))
        })
        .collect();
    let mut tested = stats::holm(&chances, EFFECTS_ALPHA).into_iter();
    for effects in into {
        for (effect, tested) in effects.main_effects.iter_mut().zip(&mut tested) {
            effect.p = tested.adjusted;
            effect.beyond_noise = tested.rejected && is_worth(range(effect));
        }
        for (effect, tested) in effects.interactions.iter_mut().zip(&mut tested) {
            effect.p = tested.adjusted;
            effect.beyond_noise = tested.rejected && is_worth(effect.largest.ratio);
        }
    }
}

/// Whether a factor is far enough from 1 to be worth a word.
fn is_worth(ratio: f64) -> bool {
    ratio.ln().abs() >= WORTH.ln_1p()
}

/// How much the best value of an axis does over the worst.
fn range(effect: &MainEffect) -> f64 {
    let ratios = || effect.levels.iter().map(|level| level.ratio);
    ratios().fold(0.0, f64::max) / ratios().fold(f64::INFINITY, f64::min)
}

/// Means of the values of some axes over the others.
struct Averaged {
    /// Values of the axes that were measured at all, as places on them; each
    /// combination in order, the last axis changing fastest.
    means: Vec<Mean>,
    /// The values of each axis that were measured.
    values: Vec<Vec<usize>>,
    over: u64,
    left_out: u64,
}

/// The means of the values of the axes at these places, over those combinations of the
/// others that were measured with all of them; `None` without any.
fn averaged(matrix: &Matrix<'_>, of: &[usize]) -> Option<Averaged> {
    let mut values: Vec<Vec<usize>> = vec![Vec::new(); of.len()];
    // By the combination of the others, the mean of each combination of these.
    let mut slices: BTreeMap<Vec<usize>, BTreeMap<Vec<usize>, Mean>> = BTreeMap::new();
    for place in 0..matrix.cells.len() {
        let Some(mean) = matrix.mean(place) else {
            continue;
        };
        let digits = matrix.digits(place);
        let these: Vec<usize> = of.iter().map(|axis| digits[*axis]).collect();
        let others = digits.iter().enumerate();
        let others = others.filter(|(axis, _)| !of.contains(axis));
        let others = others.map(|(_, digit)| *digit).collect();
        for (known, digit) in values.iter_mut().zip(&these) {
            if !known.contains(digit) {
                known.push(*digit);
            }
        }
        slices.entry(others).or_default().insert(these, mean);
    }
    for known in &mut values {
        known.sort_unstable();
    }
    let count: usize = values.iter().map(Vec::len).product();
    let complete: Vec<&BTreeMap<Vec<usize>, Mean>> = slices
        .values()
        .filter(|slice| slice.len() == count)
        .collect();
    let each = (0..count).map(|at| {
        let of_slices = complete.iter().filter_map(|slice| slice.values().nth(at));
        let of_slices: Vec<Mean> = of_slices.copied().collect();
        mean(&of_slices, matrix.df)
    });
    let means: Vec<Mean> = each.collect::<Option<_>>()?;
    let enough = values.iter().all(|known| known.len() > 1);
    enough.then(|| Averaged {
        means,
        values,
        over: complete.len() as u64,
        left_out: (slices.len() - complete.len()) as u64,
    })
}

fn main_effect(matrix: &Matrix<'_>, axis: usize) -> Option<MainEffect> {
    let of = averaged(matrix, &[axis])?;
    let share = 1.0 / of.means.len() as f64;
    let names = &matrix.axes[axis];
    let levels = of.values[0].iter().enumerate().map(|(at, value)| {
        let terms = of.means.iter().enumerate();
        let terms = terms.map(|(other, mean)| (f64::from(at == other) - share, *mean));
        let (ratio, ci95) = Contrast::of(terms, matrix.df).ratio(ALPHA);
        Level {
            value: names.values[*value].clone(),
            ratio,
            ci95,
        }
    });
    Some(MainEffect {
        axis: names.name.clone(),
        levels: levels.collect(),
        p: stats::one_way(&of.means, matrix.df),
        beyond_noise: false,
        over: of.over,
        left_out: of.left_out,
    })
}

fn interaction(matrix: &Matrix<'_>, first: usize, second: usize) -> Option<Interaction> {
    let of = averaged(matrix, &[first, second])?;
    let columns = of.values[1].len();
    let rows = of.values[0].len();
    let departures = stats::departures(&of.means, columns);
    let (at, _) = departures
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let terms = of.means.iter().enumerate().map(|(other, mean)| {
        let same_row = f64::from(at / columns == other / columns) - 1.0 / rows as f64;
        let same_column = f64::from(at % columns == other % columns) - 1.0 / columns as f64;
        (same_row * same_column, *mean)
    });
    let (ratio, ci95) = Contrast::of(terms, matrix.df).ratio(ALPHA);
    let (a, b) = (&matrix.axes[first], &matrix.axes[second]);
    Some(Interaction {
        axes: [a.name.clone(), b.name.clone()],
        p: stats::interaction(&of.means, columns, matrix.df),
        beyond_noise: false,
        largest: Together {
            values: [
                a.values[of.values[0][at / columns]].clone(),
                b.values[of.values[1][at % columns]].clone(),
            ],
            ratio,
            ci95,
        },
        over: of.over,
        left_out: of.left_out,
    })
}
