//! Tests of effects in a table of means, without the assumption that all vary alike.

use super::f_distribution::f_at_least;

/// A mean, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its squared standard error, above 0.
    pub square: f64,
    /// Degrees of freedom of `square`, above 0.
    pub df: f64,
}

/// The chance of independent means that differ at least as much when all are the same:
/// the effect of one factor. 1 with fewer than two. See [`interaction`].
pub fn one_way(means: &[Mean], df_max: f64) -> f64 {
    let share = 1.0 / means.len() as f64;
    let all: f64 = means.iter().map(|mean| mean.value).sum::<f64>() * share;
    let square = means.iter().map(|mean| (mean.value - all).powi(2)).sum();
    anova_type(means, square, 1.0 - share, df_max, |a, b| {
        f64::from(a == b) - share
    })
}

/// The chance of departures from additivity at least as large when there is none:
/// `means` is a table of `columns` columns, row by row, of independent means. 1 where
/// the table has fewer than two rows or columns.
///
/// The ANOVA-type statistic of Brunner, Dette and Munk, "Box-Type Approximations in
/// Nonparametric Factorial Designs", Journal of the American Statistical Association 92
/// (1997): the sum of squares of the effect over its expectation, against an F whose
/// degrees of freedom are those that its mean and variance ask for. Where all vary alike
/// it is the F test of the analysis of variance (Jain, "The Art of Computer Systems
/// Performance Analysis", 1991, chapters 21 and 22; Box, Hunter and Hunter, "Statistics
/// for Experimenters", 2005, chapters 5 and 9); where they do not, it keeps its level.
///
/// `df_max` are the degrees of freedom of the variances of all means together: as many as
/// single trials beyond one for each cell.
pub fn interaction(means: &[Mean], columns: usize, df_max: f64) -> f64 {
    let residuals = departures(means, columns);
    let square = residuals.iter().map(|residual| residual * residual).sum();
    let rows = means.len() / columns.max(1);
    let (by_row, by_column) = (1.0 / rows as f64, 1.0 / columns as f64);
    let diagonal = (1.0 - by_row) * (1.0 - by_column);
    anova_type(means, square, diagonal, df_max, |a, b| {
        let same_row = f64::from(a / columns == b / columns);
        let same_column = f64::from(a % columns == b % columns);
        (same_row - by_row) * (same_column - by_column)
    })
}

/// What is left of each mean of a table when those of its row and of its column are
/// taken off.
pub fn departures(means: &[Mean], columns: usize) -> Vec<f64> {
    let rows = means.len() / columns.max(1);
    let at = |row: usize, column: usize| means[row * columns + column].value;
    let row_mean = |row| (0..columns).map(|c| at(row, c)).sum::<f64>() / columns as f64;
    let column_mean = |column| (0..rows).map(|r| at(r, column)).sum::<f64>() / rows as f64;
    let of_rows: Vec<f64> = (0..rows).map(row_mean).collect();
    let of_columns: Vec<f64> = (0..columns).map(column_mean).collect();
    let all = of_rows.iter().sum::<f64>() / rows as f64;
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    cells
        .map(|(row, column)| at(row, column) - of_rows[row] - of_columns[column] + all)
        .collect()
}

/// The test of the contrasts that a projection picks; `matrix` are its elements, whose
/// diagonal is `diagonal` everywhere, and `square` the squared length of what it makes of
/// the means.
fn anova_type(
    means: &[Mean],
    square: f64,
    diagonal: f64,
    df_max: f64,
    matrix: impl Fn(usize, usize) -> f64,
) -> f64 {
    // A projection to nothing has only rounding on its diagonal.
    if means.len() < 2 || diagonal < 1e-9 {
        return 1.0;
    }
    let variances: f64 = means.iter().map(|mean| mean.square).sum();
    let trace = diagonal * variances;
    let mut of_square = 0.0;
    for (i, a) in means.iter().enumerate() {
        for (j, b) in means.iter().enumerate() {
            of_square += matrix(i, j).powi(2) * a.square * b.square;
        }
    }
    let doubts: f64 = means.iter().map(|mean| mean.square.powi(2) / mean.df).sum();
    let df1 = trace * trace / of_square;
    let df2 = (variances * variances / doubts).min(df_max);
    f_at_least(square / trace, df1, df2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(values: &[f64], square: f64, df: f64) -> Vec<Mean> {
        let mean = |value: &f64| Mean {
            value: *value,
            square,
            df,
        };
        values.iter().map(mean).collect()
    }

    #[test]
    fn where_all_vary_alike_it_is_the_f_test_of_the_textbook() {
        // Four means of three repeats each with s^2 = 2: the variance of the means times 3
        // over 2, with 3 and 8 degrees (Jain, chapter 20).
        let means = alike(&[10.0, 11.0, 13.0, 14.0], 2.0 / 3.0, 8.0);
        let variance = (4.0 + 1.0 + 1.0 + 4.0) / 3.0;
        let exact = f_at_least(variance * 3.0 / 2.0, 3.0, 8.0);
        assert!((one_way(&means, 8.0) - exact).abs() < 1e-12);
    }

    #[test]
    fn effects_that_multiply_leave_no_departure() {
        let rows = [1.0, 2.0, 5.0];
        let columns = [0.0, 0.5];
        let table: Vec<f64> = rows
            .iter()
            .flat_map(|row| columns.map(|column| row + column))
            .collect();
        let means = alike(&table, 0.01, 4.0);
        assert!(departures(&means, 2).iter().all(|d| d.abs() < 1e-12));
        assert!(interaction(&means, 2, 12.0) > 0.999);
        assert!(one_way(&means, 12.0) < 1e-6);
    }

    #[test]
    fn a_two_by_two_table_is_tested_as_its_one_contrast() {
        // (5 - 3) - (2 - 4) = 4, of four means with a variance of 0.25 each: t = 4.
        let means = alike(&[5.0, 3.0, 2.0, 4.0], 0.25, 8.0);
        let exact = super::super::t_two_sided(4.0, 8.0);
        assert!((interaction(&means, 2, 8.0) - exact).abs() < 1e-12);
        assert_eq!(departures(&means, 2), [1.0, -1.0, -1.0, 1.0]);
    }

    #[test]
    fn a_single_row_has_no_interaction_and_a_single_mean_no_effect() {
        let means = alike(&[5.0, 3.0, 2.0], 0.25, 8.0);
        assert!((interaction(&means, 3, 8.0) - 1.0).abs() < f64::EPSILON);
        assert!((one_way(&means[..1], 8.0) - 1.0).abs() < f64::EPSILON);
    }
}
