//! What several stages show alike: one claim about them all.

use crate::context::Context;
use crate::rules::found::Found;
use crate::stage_facts::{Need, StageFacts};
use crate::words::{names, stage_list, worst};

/// A look at one stage after the other, and what is said of those that show something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StageCheck(
    /// What is seen of it.
    pub(crate) fn(&StageFacts<'_>) -> Option<Seen>,
    /// What is said of all that showed something.
    pub(crate) fn(&Context<'_>, &mut Shown<'_>) -> Found,
);

impl StageCheck {
    /// What it finds in a run: of the stages that show it, with their lines as the first evidence.
    /// Of each of them all of this has to be so.
    pub(super) fn find(&self, context: &Context<'_>, needs: &[Need]) -> Option<Found> {
        let mut shown = Shown::default();
        for facts in context.facts().filter(|facts| Need::are_met(needs, facts)) {
            if let Some((by, lines)) = (self.0)(&facts) {
                let label = facts.stage.label();
                let lines = lines.iter().map(|line| format!("{label}: {line}"));
                shown.lines.extend(lines);
                shown.seen.push((facts, by));
            }
        }
        if shown.seen.is_empty() {
            return None;
        }
        shown.stages = names(shown.facts().map(|facts| facts.stage.name));
        let mut found = (self.1)(context, &mut shown);
        let own = std::mem::replace(&mut found.evidence, shown.lines);
        Some(found.evidence(own).stages(shown.stages))
    }
}

/// What one stage shows: by how much, a share, a factor, what the rule is about; and the figures that
/// show it, sentences, which are put behind the label of the stage.
pub(crate) type Seen = (f64, Vec<String>);

/// Stages that show the same, at least one.
#[derive(Debug, Default)]
pub(crate) struct Shown<'a> {
    /// Their names, each once.
    pub(crate) stages: Vec<String>,
    /// Each with how much it shows.
    seen: Vec<(StageFacts<'a>, f64)>,
    /// What was seen of them.
    lines: Vec<String>,
}

impl<'a> Shown<'a> {
    /// Their names within a claim.
    pub(crate) fn list(&self) -> String {
        stage_list(&self.stages)
    }

    pub(crate) fn facts(&self) -> impl DoubleEndedIterator<Item = &StageFacts<'a>> {
        self.seen.iter().map(|(facts, _)| facts)
    }

    fn by(&self) -> impl Iterator<Item = f64> {
        self.seen.iter().map(|(_, by)| *by)
    }

    /// The most of what was seen.
    pub(crate) fn most(&self) -> f64 {
        self.by().fold(0.0, f64::max)
    }

    /// The least of what was seen.
    pub(crate) fn least(&self) -> f64 {
        self.by().fold(f64::INFINITY, f64::min)
    }

    /// The stage that shows most; of equals the first.
    pub(crate) fn worst(&self) -> &StageFacts<'a> {
        let mut worst = &self.seen[0];
        for one in &self.seen {
            if one.1 > worst.1 {
                worst = one;
            }
        }
        &worst.0
    }

    /// Leaves the lines of the worst, where each stage has one line.
    pub(crate) fn keep_worst(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        self.lines = worst(self.by().zip(lines).collect());
    }
}
