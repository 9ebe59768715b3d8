//! What several stages show alike: one finding that names them all.

use super::Rule;
use crate::stages::Stage;
use crate::words::{stage_list, worst};
use diskfacts_record::{Finding, StageFigures};

/// Stages that show the same.
#[derive(Debug)]
pub(crate) struct Shown<T> {
    /// Their names, each once.
    pub(crate) stages: Vec<String>,
    /// What was seen of each.
    pub(crate) seen: Vec<T>,
    /// The figures of each, sentences.
    pub(crate) lines: Vec<String>,
}

impl<T> Shown<T> {
    /// Those of these stages of which `look` sees something: that, and sentences, which are
    /// put behind the label of the stage. `None` where there are none.
    pub(crate) fn by<'s, 'a: 's, L: IntoIterator<Item = String>>(
        stages: impl IntoIterator<Item = (&'s Stage<'a>, &'s StageFigures)>,
        mut look: impl FnMut(&'s Stage<'a>, &'s StageFigures) -> Option<(T, L)>,
    ) -> Option<Self> {
        let (mut names, mut seen, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for (stage, figures) in stages {
            let Some((what, said)) = look(stage, figures) else {
                continue;
            };
            names.push(stage.name);
            seen.push(what);
            let label = stage.label();
            lines.extend(said.into_iter().map(|line| format!("{label}: {line}")));
        }
        (!seen.is_empty()).then(|| Self {
            stages: super::names(names),
            seen,
            lines,
        })
    }

    /// The stages within a claim.
    pub(crate) fn list(&self) -> String {
        stage_list(&self.stages)
    }

    /// The most of what was seen.
    pub(crate) fn most(&self, of: impl Fn(&T) -> f64) -> f64 {
        self.seen.iter().map(of).fold(0.0, f64::max)
    }

    /// The least of what was seen.
    pub(crate) fn least(&self, of: impl Fn(&T) -> f64) -> f64 {
        self.seen.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// Whether all that was seen is like this.
    pub(crate) fn all(&self, is: impl Fn(&T) -> bool) -> bool {
        self.seen.iter().all(is)
    }

    /// Leaves the lines of the worst, where each stage has one line.
    pub(crate) fn keep_worst(&mut self, of: impl Fn(&T) -> f64) {
        let lines = std::mem::take(&mut self.lines);
        self.lines = worst(self.seen.iter().map(of).zip(lines).collect());
    }

    /// The finding of a rule about these stages.
    pub(crate) fn finding(self, rule: &Rule) -> Finding {
        rule.finding(self.stages, self.lines)
    }
}

/// Puts what is alike together: to the group of this key, in the order of the first of each.
pub(crate) fn join<K: PartialEq, T>(groups: &mut Vec<(K, Vec<T>)>, key: K, one: T) {
    match groups.iter_mut().find(|(known, _)| *known == key) {
        Some((_, members)) => members.push(one),
        None => groups.push((key, vec![one])),
    }
}
