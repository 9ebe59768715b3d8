//! How much the cells of a matrix vary by chance.
//!
//! Three repeats of one cell say little of its noise, and the noise of all cells together
//! may be that of others: with a second reader a disk varies six times as much as with
//! one (seed 001). What makes rates vary more is as a rule one of the axes. So:
//!
//! * Where the values of an axis differ in noise beyond doubt, the cells of each are looked
//!   at by themselves.
//! * Else a cell is taken to vary as those that share a value with it, on the axis where
//!   these vary most, or as all together, if that is more: what was not shown to differ
//!   may differ. On the only axis of a matrix these are its own repeats.
//!
//! Simulated, this holds its level where all vary alike, and where an axis decides how
//! much; it is on the safe side in the first case.

use crate::stats::f_at_least;

/// Chance that noise is called unlike along any axis, though it is alike.
const UNLIKE_ALPHA: f64 = 0.001;

/// No variance of a logarithm is taken to be smaller: 0.01 % squared, which is less than
/// any real disk varies. The trials of a simulated one may be the same to the last bit.
const FLOOR: f64 = 1e-8;

/// The repeats of one cell.
#[derive(Debug)]
pub(super) struct Repeats {
    /// The places of its values on the axes.
    digits: Vec<usize>,
    /// The mean of the logarithms of its rates.
    pub(super) mean: f64,
    /// Their squared deviations from it.
    squares: f64,
    /// How many of these are free.
    df: f64,
}

/// A variance, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Variance {
    /// Of the logarithm of single rates.
    pub(super) value: f64,
    /// Degrees of freedom, above 0.
    pub(super) df: f64,
}

impl Repeats {
    /// Of the logarithms of the rates of a cell, at least one.
    pub(super) fn of(digits: Vec<usize>, logs: &[f64]) -> Self {
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        Self {
            digits,
            mean,
            squares: logs.iter().map(|log| (log - mean).powi(2)).sum(),
            df: logs.len() as f64 - 1.0,
        }
    }
}

/// The variance of cells that vary alike; `None` when none of them was repeated.
pub(super) fn pooled<'r>(cells: impl IntoIterator<Item = &'r Repeats>) -> Option<Variance> {
    let (mut squares, mut df) = (0.0, 0.0);
    for cell in cells {
        squares += cell.squares;
        df += cell.df;
    }
    (df > 0.0).then(|| Variance {
        value: (squares / df).max(FLOOR),
        df,
    })
}

/// The variance of each of these cells, which are all those of a matrix.
pub(super) fn variances(cells: &[Repeats]) -> Vec<Option<Variance>> {
    let axes: Vec<usize> = (0..cells.first().map_or(0, |cell| cell.digits.len())).collect();
    let mut found = vec![None; cells.len()];
    let all: Vec<usize> = (0..cells.len()).collect();
    find(cells, &all, &axes, &mut found);
    found
}

/// Finds the variances of those cells of a matrix that are `of`, which differ in these
/// axes.
fn find(cells: &[Repeats], of: &[usize], axes: &[usize], found: &mut [Option<Variance>]) {
    let unlike = axes
        .iter()
        .map(|axis| (*axis, unlike(&levels(cells, of, *axis))))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((axis, p)) = unlike
        && p <= UNLIKE_ALPHA / axes.len() as f64
    {
        let others: Vec<usize> = axes
            .iter()
            .copied()
            .filter(|other| *other != axis)
            .collect();
        for level in levels(cells, of, axis) {
            let places: Vec<usize> = level.iter().map(|(place, _)| *place).collect();
            find(cells, &places, &others, found);
        }
        return;
    }
    let all = pooled(of.iter().map(|place| &cells[*place]));
    for place in of {
        found[*place] = all;
    }
    let only = cells.first().is_some_and(|cell| cell.digits.len() == 1);
    for level in axes.iter().flat_map(|axis| levels(cells, of, *axis)) {
        if level.len() < 2 && !only {
            continue;
        }
        let shared = pooled(level.iter().map(|(_, cell)| *cell));
        for (place, _) in level {
            let larger = |known: &Variance| shared.is_none_or(|new| known.value >= new.value);
            found[place] = found[place].filter(larger).or(shared);
        }
    }
}

/// Those cells of a matrix that are `of`, by their values on an axis.
fn levels<'r>(cells: &'r [Repeats], of: &[usize], axis: usize) -> Vec<Vec<(usize, &'r Repeats)>> {
    let mut levels: Vec<Vec<(usize, &Repeats)>> = Vec::new();
    for place in of {
        let cell = &cells[*place];
        let value = cell.digits[axis];
        if levels.len() <= value {
            levels.resize_with(value + 1, Vec::new);
        }
        levels[value].push((*place, cell));
    }
    levels.retain(|level| !level.is_empty());
    levels
}

/// The chance that the wildest of these groups varies so much more than the quietest,
/// when all vary alike: the F test of two variances, for each pair that could have been
/// picked.
fn unlike(levels: &[Vec<(usize, &Repeats)>]) -> f64 {
    let variances: Vec<Variance> = levels
        .iter()
        .filter_map(|level| pooled(level.iter().map(|(_, cell)| *cell)))
        .collect();
    if variances.len() < 2 {
        return 1.0;
    }
    let by_value = |a: &&Variance, b: &&Variance| a.value.total_cmp(&b.value);
    let all = || variances.iter();
    let (Some(most), Some(least)) = (all().max_by(by_value), all().min_by(by_value)) else {
        return 1.0;
    };
    let pairs = variances.len() as f64 * (variances.len() as f64 - 1.0);
    let p = f_at_least(most.value / least.value, most.df, least.df) * pairs;
    p.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell whose three rates differ by so much.
    fn cell(digits: &[usize], width: f64) -> Repeats {
        Repeats::of(digits.to_vec(), &[5.0 - width, 5.0, 5.0 + width])
    }

    /// Rows of four cells each, whose rates differ by so much.
    fn rows(widths: &[f64]) -> Vec<Repeats> {
        let rows = widths.iter().enumerate();
        rows.flat_map(|(row, width)| (0..4).map(move |column| cell(&[row, column], *width)))
            .collect()
    }

    #[test]
    fn a_cell_varies_as_those_that_it_shares_the_wildest_value_with() {
        let got = variances(&rows(&[0.02, 0.03]));
        // Of its row with 8 degrees; of all, with 16, where its row is quieter.
        let wild = got[7].unwrap();
        assert!((wild.value - 9e-4).abs() < 1e-12 && (wild.df - 8.0).abs() < 1e-12);
        let quiet = got[0].unwrap();
        assert!((quiet.value - 6.5e-4).abs() < 1e-12, "{quiet:?}");
    }

    #[test]
    fn where_an_axis_decides_how_much_they_vary_quiet_cells_stay_quiet() {
        let got = variances(&rows(&[0.01, 0.1]));
        let [quiet, wild] = [got[0].unwrap(), got[7].unwrap()];
        assert!((quiet.value - 1e-4).abs() < 1e-12 && (quiet.df - 8.0).abs() < 1e-12);
        assert!((wild.value - 1e-2).abs() < 1e-12 && (wild.df - 8.0).abs() < 1e-12);
    }

    #[test]
    fn on_one_axis_a_cell_has_its_own_noise_or_that_of_all() {
        let got = variances(&[cell(&[0], 0.3), cell(&[1], 0.1)]);
        let [own, all] = [got[0].unwrap(), got[1].unwrap()];
        assert!((own.value - 0.09).abs() < 1e-12 && (own.df - 2.0).abs() < 1e-12);
        assert!((all.value - 0.05).abs() < 1e-12 && (all.df - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_cell_that_was_measured_once_has_the_noise_of_the_others_and_none_has_none_alone() {
        let once = Repeats::of(vec![0], &[5.0]);
        let got = variances(&[once, cell(&[1], 0.1)]);
        assert!((got[0].unwrap().value - 0.01).abs() < 1e-12);
        assert_eq!(variances(&[Repeats::of(vec![0], &[5.0])]), [None]);
        assert!(pooled([].iter()).is_none());
        // What never varied is not taken for certain.
        assert!(pooled([&cell(&[0], 0.0)]).unwrap().value > 0.0);
    }
}
