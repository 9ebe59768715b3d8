//! Which settings are best, under all conditions together and under each.
//!
//! The largest of many rates is also the luckiest, so each comparison is made as one of
//! all that could have been made: of each setting with the one in force, or of every two
//! where that is not among them. Each is tested at its part of the chance of error
//! (Bonferroni), and the stated interval is of that level, so all of them hold together,
//! whichever is picked out.

use super::contrast::{Contrast, mean};
use super::matrix::Matrix;
use super::{CHOICES_ALPHA, WORTH};
use crate::stats::Mean;
use diskfacts_record::StageEffects;
use diskfacts_record::effects::{Against, Answer, Chosen, Settings};
use std::collections::BTreeMap;

/// A choice to be made: the candidates that were measured under its conditions.
struct Choice {
    under: Settings,
    /// Conditions that it is averaged over, and those that are left out.
    over: usize,
    left_out: usize,
    candidates: Vec<Candidate>,
    /// Which candidate is in force, if one is.
    in_force: Option<usize>,
    /// Degrees of freedom of the noise.
    df: f64,
}

struct Candidate {
    settings: Settings,
    mean: Mean,
}

impl Choice {
    /// How many comparisons could be picked from.
    fn comparisons(&self) -> usize {
        let count = self.candidates.len();
        match self.in_force {
            Some(_) => count.saturating_sub(1),
            None => count * count.saturating_sub(1) / 2,
        }
    }

    fn is_choice(&self) -> bool {
        self.candidates.len() > 1
    }
}

/// Answers for all matrices of a run.
pub(super) fn work_out(matrices: &[Matrix<'_>], into: &mut [StageEffects]) {
    let choices: Vec<Vec<Choice>> = matrices.iter().map(choices).collect();
    let count: usize = choices.iter().flatten().map(Choice::comparisons).sum();
    let alpha = CHOICES_ALPHA / count.max(1) as f64;
    for (choices, effects) in choices.iter().zip(into) {
        effects.answers = choices.iter().map(|choice| answer(choice, alpha)).collect();
    }
}

/// The cells of a matrix by what is chosen and under what: places of cells.
struct Grid {
    /// The settings of each candidate.
    candidates: Vec<Settings>,
    /// The settings of each condition.
    conditions: Vec<Settings>,
    /// The cell of each candidate under each condition.
    places: Vec<Vec<usize>>,
}

impl Grid {
    fn new(matrix: &Matrix<'_>) -> Self {
        let (mut candidates, mut conditions) = (Vec::new(), Vec::new());
        let mut places: Vec<Vec<usize>> = Vec::new();
        let mut known: [BTreeMap<Vec<usize>, usize>; 2] = Default::default();
        for place in 0..matrix.cells.len() {
            let digits = matrix.digits(place);
            let part = |choice: bool| -> Vec<usize> {
                let axes = matrix.axes.iter().zip(&digits);
                let axes = axes.filter(|(axis, _)| axis.choice == choice);
                axes.map(|(_, digit)| *digit).collect()
            };
            let candidate = *known[0].entry(part(true)).or_insert_with(|| {
                candidates.push(matrix.settings(place, |axis| axis.choice));
                places.push(Vec::new());
                places.len() - 1
            });
            known[1].entry(part(false)).or_insert_with(|| {
                conditions.push(matrix.settings(place, |axis| !axis.choice));
                conditions.len()
            });
            // Both are met in the order of their digits, so the conditions of each
            // candidate come in the same order.
            places[candidate].push(place);
        }
        Self {
            candidates,
            conditions,
            places,
        }
    }

    /// The only candidate of which all that is known of it is in force.
    fn in_force(&self, matrix: &Matrix<'_>) -> Option<usize> {
        let is_in_force = |candidate: &usize| {
            let places = self.places[*candidate].iter();
            let known: Vec<bool> = places.filter_map(|place| matrix.in_force(*place)).collect();
            !known.is_empty() && known.iter().all(|in_force| *in_force)
        };
        let found: Vec<usize> = (0..self.candidates.len()).filter(is_in_force).collect();
        match found.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// The choices of a matrix: over all conditions, then under each; none where nothing is
/// to be chosen.
fn choices(matrix: &Matrix<'_>) -> Vec<Choice> {
    if !matrix.is_tested() || !matrix.axes.iter().any(|axis| axis.choice) {
        return Vec::new();
    }
    let grid = Grid::new(matrix);
    let mean_of =
        |candidate: usize, condition: usize| matrix.mean(grid.places[candidate][condition]);
    let all = 0..grid.conditions.len();
    let measured = |candidate: &usize| all.clone().any(|at| mean_of(*candidate, at).is_some());
    let possible: Vec<usize> = (0..grid.candidates.len()).filter(measured).collect();
    let found = grid.in_force(matrix);
    let choice = |under: &Settings, over: &[usize]| {
        let each = possible.iter().filter_map(|candidate| {
            let means = over.iter().map(|condition| mean_of(*candidate, *condition));
            let means: Vec<Mean> = means.collect::<Option<_>>()?;
            Some((*candidate, mean(&means, matrix.df)?))
        });
        let each: Vec<(usize, Mean)> = each.collect();
        let candidate = |(at, mean): &(usize, Mean)| Candidate {
            settings: grid.candidates[*at].clone(),
            mean: *mean,
        };
        Choice {
            under: under.clone(),
            over: over.len(),
            left_out: if under.is_empty() {
                grid.conditions.len() - over.len()
            } else {
                0
            },
            in_force: each.iter().position(|(at, _)| Some(*at) == found),
            candidates: each.iter().map(candidate).collect(),
            df: matrix.df,
        }
    };
    // Averages are over the conditions that all of the candidates were measured under.
    let is_complete = |at: &usize| possible.iter().all(|c| mean_of(*c, *at).is_some());
    let complete: Vec<usize> = all.clone().filter(is_complete).collect();
    let mut choices = vec![choice(&Settings::new(), &complete)];
    if grid.conditions.len() > 1 {
        let each = grid.conditions.iter().enumerate();
        choices.extend(each.map(|(at, condition)| choice(condition, &[at])));
    }
    choices
}

fn answer(choice: &Choice, alpha: f64) -> Answer {
    let unknown = Answer {
        under: choice.under.clone(),
        outcome: Chosen::Unknown,
        best: None,
        against: None,
        over: choice.over as u64,
        left_out: choice.left_out as u64,
        as_good: Vec::new(),
    };
    let by_rate = |a: &&Candidate, b: &&Candidate| a.mean.value.total_cmp(&b.mean.value);
    let all = || choice.candidates.iter();
    let (Some(best), Some(slowest)) = (all().max_by(by_rate), all().min_by(by_rate)) else {
        return unknown;
    };
    if !choice.is_choice() {
        return unknown;
    }
    let over = |a: &Candidate, b: &Candidate| {
        Contrast::of([(1.0, a.mean), (-1.0, b.mean)].into_iter(), choice.df)
    };
    let differ = |a: &Candidate, b: &Candidate| {
        let contrast = over(a, b);
        contrast.value >= WORTH.ln_1p() && contrast.p() <= alpha
    };
    let base = choice.in_force.map(|place| &choice.candidates[place]);
    let (outcome, best, against) = match base {
        Some(base) if differ(best, base) => (Chosen::Better, best, base),
        Some(base) if differ(base, slowest) => (Chosen::InForceIsBest, base, slowest),
        None if differ(best, slowest) => (Chosen::Better, best, slowest),
        _ => {
            return Answer {
                outcome: Chosen::NoDifference,
                ..unknown
            };
        }
    };
    let (ratio, interval) = over(best, against).ratio(alpha);
    let mut as_good: Vec<&Settings> = all()
        .filter(|other| other.settings != best.settings)
        .filter(|other| !differ(best, other))
        .map(|other| &other.settings)
        .collect();
    if let Some(base) = base {
        as_good.sort_by_key(|settings| {
            let differs =
                |(key, value): &(&String, &String)| base.settings.get(*key) != Some(*value);
            settings.iter().filter(differs).count()
        });
    }
    Answer {
        outcome,
        best: Some(best.settings.clone()),
        against: Some(Against {
            settings: against.settings.clone(),
            in_force: base.is_some_and(|base| base.settings == against.settings),
            ratio,
            interval,
        }),
        as_good: as_good.into_iter().cloned().collect(),
        ..unknown
    }
}
