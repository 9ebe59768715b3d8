//! The drawings of what was varied: matrices, places, distances, sizes, and what there is to choose.

use super::chart::matrix::{self, Matrix};
use super::chart::{curves, strides, zones};
use super::figure::Figure;
use super::links::anchor;
use super::settings;
use diskfacts_record::Run;

/// Those that a run has. `place` is its place in a file of several, from 0.
pub(crate) fn figures(run: &Run, place: usize) -> Vec<Figure> {
    let id = |name: &str, number: usize| anchor(place, &format!("{name}-{}", number + 1));
    let zones = zones::zones(run);
    let each = zones.iter().enumerate();
    let mut all: Vec<Figure> = each
        .map(|(number, zones)| zones::figure(zones, id("zones", number)))
        .collect();
    let strides = strides::strides(run).into_iter().enumerate();
    all.extend(
        strides.filter_map(|(number, strides)| strides::figure(&strides, id("stride", number))),
    );
    let curves = curves::curves(run).into_iter().enumerate();
    all.extend(curves.filter_map(|(number, curves)| curves::figure(&curves, id("curves", number))));
    all.extend(settings::figures(run, &anchor(place, "settings")));
    // What is drawn as a line needs no table of one column: its numbers are the same.
    let drawn = |matrix: &Matrix| zones.iter().any(|zones| zones.stage == matrix.stage);
    let matrices = matrix::matrices(run).into_iter();
    let matrices = matrices.filter(|matrix| !(matrix.is_column() && drawn(matrix)));
    let matrices = matrices.enumerate();
    all.extend(matrices.map(|(number, matrix)| matrix::figure(&matrix, id("matrix", number))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::html::drawings;
    use crate::html::figure::Drawing;

    #[test]
    fn every_drawing_of_every_run_says_what_is_seen_and_has_its_numbers() {
        let mut varied = 0;
        for (name, run) in fixtures::all() {
            varied += figures(&run, 0).len();
            for figure in drawings::of_run(&run, 0) {
                let id = &figure.id;
                assert!(!figure.title.is_empty(), "{name}: {id}");
                assert!(figure.seen.ends_with('.'), "{name}: {id}: {}", figure.seen);
                let is_table = matches!(figure.drawing, Drawing::Marked(_));
                assert!(is_table || !figure.numbers.is_empty(), "{name}: {id}");
            }
        }
        assert!(varied >= 8, "{varied}");
        let uneven = drawings::of_run(&fixtures::uneven(), 0);
        let mut titles = uneven.iter().map(|figure| &figure.title);
        assert!(titles.any(|title| title.contains(fixtures::UNEVEN)));
    }
}
