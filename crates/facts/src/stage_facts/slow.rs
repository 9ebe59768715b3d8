//! Operations that took much longer than the others.

use super::StageFacts;
use crate::revolution::Spindle;

/// Operations that took much longer than most.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slow {
    /// How many, and of how many.
    pub(crate) number: u64,
    pub(crate) of: u64,
    /// What they took beyond the median, of all time of the operations.
    pub(crate) share: f64,
    /// What they took beyond it on average, ns.
    pub(crate) each_ns: f64,
    /// The median, ns.
    pub(crate) usual_ns: f64,
}

impl Slow {
    /// Of a disk that turns: by two revolutions. `None` where latencies are not known.
    pub(crate) fn by_revolutions(facts: &StageFacts<'_>) -> Option<Self> {
        let turn_ns = Spindle::of(facts).turn_ns();
        Self::beyond(facts, |usual_ns| usual_ns * 1.2 + 2.0 * turn_ns)
    }

    /// Those beyond so much, given what is usual, ns.
    pub(crate) fn beyond(facts: &StageFacts<'_>, limit_ns: impl Fn(f64) -> f64) -> Option<Self> {
        let histogram = facts.histogram()?;
        // Where many are slow, the median is one of them; a few fast ones are not.
        let usual_ns = histogram.quantile(0.5)? as f64;
        let (number, excess_ns) = facts.beyond(limit_ns(usual_ns), usual_ns)?;
        let total_ns = histogram.mean()? * histogram.count() as f64;
        (number > 0 && total_ns > 0.0).then(|| Self {
            number,
            of: histogram.count(),
            share: (excess_ns / total_ns).min(1.0),
            each_ns: excess_ns / number as f64,
            usual_ns,
        })
    }
}
