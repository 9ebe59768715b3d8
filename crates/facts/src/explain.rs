//! All that follows from a run, worked out together: the trials are sorted into
//! stages, and their latencies added up, once.

use crate::context::Context;
use crate::{documents, effects, findings, stopping, verdicts};
use diskfacts_record::{Finding, Run, StageEffects, StageFigures, StageLimits, Verdict};

/// What follows from a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// As of [`figures()`].
    pub figures: Vec<StageFigures>,
    /// As of [`effects()`].
    pub effects: Vec<StageEffects>,
    /// As of [`findings`](crate::findings()), or of
    /// [`findings_of_document`](crate::findings_of_document).
    pub findings: Vec<Finding>,
    /// As of [`limits()`].
    pub limits: Vec<StageLimits>,
    /// As of [`verdicts()`].
    pub verdicts: Vec<Verdict>,
}

impl Explanation {
    fn new(context: &Context<'_>, findings: Vec<Finding>) -> Self {
        Self {
            figures: figures_of(context),
            effects: effects::of(context),
            limits: limits_of(context),
            verdicts: verdicts::of(context, &findings),
            findings,
        }
    }

    /// Puts it into its run, in the place of an older one.
    pub fn put_into(self, run: &mut Run) {
        run.figures = self.figures;
        run.effects = self.effects;
        run.findings = self.findings;
        run.limits = self.limits;
        run.verdicts = self.verdicts;
    }
}

/// The figures of each stage of a run that has trials, in the order of the
/// plan; one for each combination of settings.
pub fn figures(run: &Run) -> Vec<StageFigures> {
    figures_of(&Context::new(run))
}

/// The figures of a context, with why each stage had no more trials.
fn figures_of(context: &Context<'_>) -> Vec<StageFigures> {
    let figures = context.each().map(|(stage, figures)| StageFigures {
        ended: stopping::ended(context.run, stage),
        ..figures.clone()
    });
    figures.collect()
}

/// What limited each stage of a run that did something without errors, in the order of the
/// figures.
pub fn limits(run: &Run) -> Vec<StageLimits> {
    limits_of(&Context::new(run))
}

fn limits_of(context: &Context<'_>) -> Vec<StageLimits> {
    crate::limits::of(context, documents::limiters(context))
}

/// What follows from a run by itself.
pub fn explain(run: &Run) -> Explanation {
    let context = Context::new(run);
    Explanation::new(&context, findings::of(&context))
}

/// What follows from each of the runs of a document, from itself and from all of
/// them together, in their order.
pub fn explain_document(runs: &[Run]) -> Vec<Explanation> {
    let contexts: Vec<Context<'_>> = runs.iter().map(Context::new).collect();
    let findings = findings::of_document(&contexts);
    let each = contexts.iter().zip(findings);
    each.map(|(context, findings)| Explanation::new(context, findings))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{effects, figures, findings, findings_of_document, limits, testing, verdicts};

    #[test]
    fn what_is_worked_out_together_is_what_each_part_says_alone() {
        let run = testing::healthy();
        let alone = |findings| Explanation {
            figures: figures(&run),
            effects: effects(&run),
            findings,
            limits: limits(&run),
            verdicts: verdicts(&run),
        };
        assert_eq!(explain(&run), alone(findings(&run)));
        assert!(!alone(vec![]).figures.is_empty() && !alone(vec![]).limits.is_empty());
        let runs = [run.clone(), run.clone()];
        let together = findings_of_document(&runs).into_iter().map(alone);
        assert_eq!(explain_document(&runs), together.collect::<Vec<_>>());
    }
}
