//! What a stage loses to what runs beside it.
//!
//! Two stages are a pair when their workloads differ in what runs beside, and in nothing else. The
//! loss is a fact when no trial of the one comes up to a trial of the other; three trials against
//! three would do so by chance once in 20 times if there were none (1 / C(6, 3), one-sided rank test
//! of Wilcoxon).

use crate::context::Context;
use crate::prelude::{DETAIL, StageFacts, percent, show_size, show_throughput};
use crate::stages::Stage;
use diskfacts_plan::{Stop, Workload};
use diskfacts_record::{Figure, StageFigures};
use std::cmp::Reverse;

/// Trials of each that a comparison needs.
pub(crate) const TRIALS: u32 = 3;

/// The same stage with nothing beside it; of several, the one under the most settings that
/// are the same.
fn alone<'a>(context: &'a Context<'_>, stage: &Stage<'_>) -> Option<&'a StageFigures> {
    stage.workload().beside.as_ref()?;
    context
        .doing_io()
        .filter(|(other, _)| {
            other.workload().beside.is_none() && alike(other.workload(), stage.workload())
        })
        .max_by_key(|(other, _)| {
            let same = |(key, value): &(&String, &String)| stage.settings.get(*key) == Some(value);
            let rest = other.settings.len();
            (other.settings.iter().filter(same).count(), Reverse(rest))
        })
        .map(|(_, alone)| alone)
}

/// Share of its rate alone that a stage loses to what runs beside it, and the figures that show it;
/// `None` where nothing does, or where it may be chance.
pub(crate) fn cost(facts: &StageFacts<'_>) -> Option<(f64, String)> {
    let with = &facts.figures.throughput_bytes_per_s;
    let without = &alone(facts.context, facts.stage)?.throughput_bytes_per_s;
    let lost = loss(with, without).filter(|lost| *lost >= DETAIL)?;
    let [own, alone] = [with.median, without.median].map(show_throughput);
    let stage = facts.stage;
    let other = stage.median(|trial| Some(trial.evidence.beside.as_ref()?.throughput_bytes_per_s));
    let line = match other {
        // Of an import it is not known what the other did.
        None => format!("{own} with it, {alone} alone."),
        Some(other) => format!(
            "{own} beside {}, {alone} alone; both together {} of that.",
            show_throughput(other),
            percent((with.median + other) / without.median)
        ),
    };
    Some((lost, line))
}

/// Share of its rate alone that a stage loses to what runs beside it; `None` where it may
/// be chance.
fn loss(with: &Figure, without: &Figure) -> Option<f64> {
    let apart = with.trials.min(without.trials) >= TRIALS && with.max < without.min;
    apart.then(|| 1.0 - with.median / without.median)
}

/// Whether two workloads are the same but for what runs beside and when they end.
fn alike(one: &Workload, other: &Workload) -> bool {
    let bare = |workload: &Workload| Workload {
        beside: None,
        stop: Stop::default(),
        ..workload.clone()
    };
    bare(one) == bare(other)
}

/// How many trials of a stage what was to run beside them ended before, and why, a sentence.
pub(crate) fn ended_early(facts: &StageFacts<'_>) -> Option<(f64, Vec<String>)> {
    let trials = facts.trials();
    let mut ended = trials.iter().filter_map(|trial| {
        let beside = trial.evidence.beside.as_ref()?;
        Some((trial, beside, beside.ended_early.as_ref()?))
    });
    let (trial, beside, why) = ended.next()?;
    let number = 1 + ended.count();
    let line = format!(
        "in {number} of {} trials; first after {:.2} s and {}, where the trial took {:.2} s: {}.",
        trials.len(),
        beside.seconds,
        show_size(beside.read_bytes + beside.write_bytes),
        trial.seconds,
        why.trim_end_matches('.')
    );
    Some((number as f64, vec![line]))
}
