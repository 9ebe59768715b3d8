//! Which letter stands for which limit, and which number for which finding.

use diskfacts_record::{Finding, Limit, Run, Severity, StageFigures, StageLimits};

/// The limits of a run by their letter, and its findings by their number.
pub(crate) struct Marks<'a> {
    /// In the order of the run; the first is `a`.
    pub(crate) limits: Vec<Limiting<'a>>,
    findings: &'a [Finding],
    imported: bool,
}

/// The marks of a stage.
pub(crate) struct StageMarks {
    /// The letter of what limits it.
    pub(crate) limit: Option<String>,
    /// Whether its figure does not mean what it seems to mean.
    pub(crate) doubtful: bool,
    /// The numbers of what is to be known of it; the first matter most.
    pub(crate) findings: Vec<usize>,
}

/// Trials from which on a spread is known; what has fewer is not to be quoted.
const TRIALS: u32 = 3;

/// What is the first limit of some stages, because a survey has a dozen stages and one disk.
pub(crate) struct Limiting<'a> {
    /// Its name, `rotation`.
    pub(crate) limiter: &'a str,
    /// Each stage with its first limit, in the order of the run.
    pub(crate) stages: Vec<(&'a StageLimits, &'a Limit)>,
}

impl<'a> Marks<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        Self {
            limits: limiting(&run.limits),
            findings: &run.findings,
            imported: run.run.source.is_some(),
        }
    }

    /// The marks of a stage: `c !2,3`. A `!` says that its figure does not mean what it seems
    /// to mean, a `+` that it has more than so many numbers; the first matter most.
    pub(super) fn of_stage(&self, figures: &StageFigures, most: usize) -> String {
        let StageMarks {
            limit,
            doubtful,
            findings,
        } = self.about(figures);
        let shown = findings.iter().take(most);
        let numbers: Vec<String> = shown.map(ToString::to_string).collect();
        let more = if findings.len() > most { "+" } else { "" };
        let numbers = (doubtful || !numbers.is_empty()).then(|| {
            let mark = if doubtful { "!" } else { "" };
            format!("{mark}{}{more}", numbers.join(","))
        });
        let parts: Vec<String> = limit.into_iter().chain(numbers).collect();
        parts.join(" ")
    }

    /// The marks of a stage, or a cell of one, apart.
    pub(crate) fn about(&self, figures: &StageFigures) -> StageMarks {
        let numbered = self.findings.iter().enumerate();
        let about: Vec<(usize, &Finding)> = numbered
            .filter(|(_, finding)| finding.stages.contains(&figures.stage))
            .collect();
        StageMarks {
            limit: self.letter_of(figures),
            doubtful: self.has_too_few_trials(figures)
                || about.iter().any(|(_, finding)| is_doubt(finding)),
            findings: about.into_iter().map(|(place, _)| place + 1).collect(),
        }
    }

    /// The letter of what limits a stage, or a cell of one.
    pub(crate) fn letter_of(&self, figures: &StageFigures) -> Option<String> {
        let is_of = |(stage, _): &(&StageLimits, &Limit)| {
            stage.stage == figures.stage && stage.settings == figures.settings
        };
        let mut limits = self.limits.iter();
        let place = limits.position(|limiting| limiting.stages.iter().any(is_of));
        place.map(letter)
    }

    /// Whether it was measured too seldom to be quoted. A document has what it has.
    pub(super) fn has_too_few_trials(&self, figures: &StageFigures) -> bool {
        !self.imported && figures.iops.trials < TRIALS
    }

    /// What a letter stands for.
    pub(crate) fn limit(&self, name: &str) -> Option<&Limiting<'a>> {
        let mut limits = self.limits.iter().enumerate();
        let found =
            limits.find(|(place, limiting)| limiting.limiter == name || letter(*place) == name);
        found.map(|(_, limiting)| limiting)
    }
}

impl<'a> Limiting<'a> {
    /// The stage whose limit is surest, then what accounts for most: its arithmetic and what
    /// it advises stand for all. Of equals the first.
    pub(super) fn clearest(&self) -> (&'a StageLimits, &'a Limit) {
        let clear = |limit: &Limit| (limit.confidence, limit.share.unwrap_or(0.0));
        let mut best = self.stages[0];
        for one in &self.stages[1..] {
            if clear(one.1) > clear(best.1) {
                best = *one;
            }
        }
        best
    }
}

/// Whether a figure does not mean what it seems to mean.
pub(super) fn is_doubt(finding: &Finding) -> bool {
    finding.severity > Severity::Note
}

/// Stages by what comes first of them.
pub(super) fn limiting(limits: &[StageLimits]) -> Vec<Limiting<'_>> {
    let mut all: Vec<Limiting<'_>> = Vec::new();
    for stage in limits {
        let Some(first) = stage.limits.first() else {
            continue;
        };
        match all.iter_mut().find(|one| one.limiter == first.limiter) {
            Some(one) => one.stages.push((stage, first)),
            None => all.push(Limiting {
                limiter: &first.limiter,
                stages: vec![(stage, first)],
            }),
        }
    }
    all
}

/// `a` to `z`, then `aa` and so on, as columns of a sheet are named.
pub(crate) fn letter(mut place: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b"abcdefghijklmnopqrstuvwxyz"[place % 26]);
        if place < 26 {
            break;
        }
        place = place / 26 - 1;
    }
    letters.reverse();
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_go_on_as_columns_of_a_sheet_do() {
        let names = [0, 25, 26, 51, 52, 701, 702].map(letter);
        assert_eq!(names, ["a", "z", "aa", "az", "ba", "zz", "aaa"]);
    }
}
