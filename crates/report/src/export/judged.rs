//! What the conditions of a comparison say of each of its stages.

use diskfacts_record::comparison::{Change, Comparison, Demand, StageComparison};

/// What is to be told of a stage.
pub(super) struct Judged<'a> {
    /// Its label.
    pub(super) stage: &'a str,
    /// How it compares, a sentence; or why it does not.
    pub(super) said: String,
    /// Conditions that hold, for which the comparison fails.
    pub(super) holds: Vec<&'a str>,
    /// Conditions that could not be judged.
    pub(super) unjudged: Vec<&'a str>,
    /// How it compares, where both sides have it.
    pub(super) change: Option<Change>,
}

/// Each stage of either side, in the order of the comparison.
pub(super) fn stages(comparison: &Comparison) -> Vec<Judged<'_>> {
    let both = comparison.stages.iter().map(|stage| Judged {
        said: said(stage),
        change: Some(stage.change),
        ..judged(comparison, &stage.stage)
    });
    let one_sided = [
        (&comparison.only_in_a, "Only A has this stage."),
        (&comparison.only_in_b, "Only B has this stage."),
    ];
    let one_sided = one_sided.into_iter().flat_map(|(labels, said)| {
        labels.iter().map(move |label| Judged {
            said: said.to_owned(),
            ..judged(comparison, label)
        })
    });
    both.chain(one_sided).collect()
}

fn judged<'a>(comparison: &'a Comparison, stage: &'a str) -> Judged<'a> {
    let given = |of: fn(&Demand) -> &[String]| {
        let demands = comparison.demands.iter();
        let demands = demands.filter(|demand| of(demand).iter().any(|label| label == stage));
        demands.map(|demand| demand.given.as_str()).collect()
    };
    Judged {
        stage,
        said: String::new(),
        holds: given(|demand| &demand.holds),
        unjudged: given(|demand| &demand.unjudged),
        change: None,
    }
}

/// The statement with the reasons why it is none.
fn said(stage: &StageComparison) -> String {
    let mut said = stage.statement.clone();
    for because in &stage.because {
        if !said.contains(because) {
            said.push(' ');
            said.push_str(because);
        }
    }
    said
}

/// In a word or two.
pub(super) fn word(change: Option<Change>) -> &'static str {
    match change {
        Some(Change::Same) => "the same",
        Some(Change::Faster) => "faster",
        Some(Change::Slower) => "slower",
        Some(Change::Unclear) => "unclear",
        Some(Change::NotComparable) => "not comparable",
        None => "on one side only",
    }
}
