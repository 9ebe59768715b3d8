//! What a matrix says: what each of the varied settings does to the rate, what they do
//! together, and which are best.
//!
//! Rates are looked at on a logarithmic scale, so that effects multiply: a read-ahead
//! that doubles the rate doubles it with each scheduler, or the two interact (Jain, "The
//! Art of Computer Systems Performance Analysis", 1991, chapters 20 to 22, section 22.6
//! on multiplicative models). The repeats of a cell say what noise is; they are from
//! rounds that are apart in time, so it includes what changes in the course of a run.
//!
//! Everything is worked out from means of cells, each with its own variance, so cells may
//! have different numbers of trials, and noise of different size. What averages over
//! cells of which one is missing leaves out the others that would be compared with it
//! (Searle, Speed and Milliken, "Population Marginal Means in the Linear Model", The
//! American Statistician 34, 1980), so that no effect is a difference of what was
//! averaged.
//!
//! * `matrix`: the cells and their axes; `noise`: how much they vary by chance.
//! * `contrast`: means over cells, and their differences.
//! * `factors`: main effects and interactions.
//! * `choice`: which settings are best.

mod choice;
mod contrast;
mod factors;
mod in_force;
mod matrix;
mod noise;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::stages::{self, Stage};
use diskfacts_record::{Run, StageEffects, TargetKind};
use matrix::Matrix;

/// Chance that any effect or interaction of a run is called one though there is none.
const EFFECTS_ALPHA: f64 = 0.02;
/// The same for comparisons of settings: with that of the effects 4 %, because what the
/// tests approximate takes up to another 1 %; simulated, both together are below 5 %.
const CHOICES_ALPHA: f64 = 0.02;
/// A difference of less than this share is not worth a word, however sure it is.
const WORTH: f64 = 0.01;

/// What the varied settings of each stage do; nothing for a stage that is no matrix, and
/// for documents: their repeats were not made in turns, so they do not say how cells that
/// were measured at other times differ by chance.
pub fn effects(run: &Run) -> Vec<StageEffects> {
    of_stages(run, &stages::of(run))
}

/// The effects of a context.
pub(crate) fn of(context: &Context<'_>) -> Vec<StageEffects> {
    of_stages(context.run, &context.stages)
}

fn of_stages(run: &Run, stages: &[Stage<'_>]) -> Vec<StageEffects> {
    if run.target.kind == TargetKind::Imported {
        return Vec::new();
    }
    let matrices = matrix::of(run, stages);
    let mut all: Vec<StageEffects> = matrices.iter().map(Matrix::described).collect();
    factors::work_out(&matrices, &mut all);
    choice::work_out(&matrices, &mut all);
    all
}
