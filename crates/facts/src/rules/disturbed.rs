//! How much a stage loses to what runs beside it: the same workload with and
//! without.
//!
//! Two stages are a pair when their workloads differ in what runs beside, and in
//! nothing else. The loss is a fact when no trial of the one comes up to a trial
//! of the other; three trials against three would do so by chance once in 20
//! times if there were none (1 / C(6, 3), one-sided rank test of Wilcoxon).

use super::{Context, names};
use crate::simulated::edit_profile;
use crate::stages::Stage;
use crate::words::{measure_with, percent, stage_list};
use diskfacts_plan::units::show_throughput;
use diskfacts_plan::{Stop, Workload};
use diskfacts_record::{Confidence, Figure, Finding, Severity, StageFigures, TargetKind};
use std::cmp::Reverse;

pub(super) const NAME: &str = "disturbed";

/// Trials of each that a comparison needs.
pub(super) const TRIALS: u32 = 3;

/// Share that must be lost at least to be worth a word.
const SHARE: f64 = 0.05;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut most = 0.0_f64;
    for (stage, figures) in context.doing_io() {
        if stage.workload().beside.is_none() {
            continue;
        }
        let Some(alone) = alone(context, stage) else {
            continue;
        };
        let (with, without) = (
            &figures.throughput_bytes_per_s,
            &alone.throughput_bytes_per_s,
        );
        let Some(lost) = loss(with, without).filter(|lost| *lost >= SHARE) else {
            continue;
        };
        most = most.max(lost);
        stages.push(stage.name);
        evidence.push(sentence(stage, figures, alone));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!("what runs beside it costs up to {}", percent(most)),
        claim: format!(
            "What runs beside {} costs up to {} of what it does alone.",
            stage_list(&stages),
            percent(most)
        ),
        evidence,
        confidence: Confidence::Likely,
        refuted_by: "Trials of the same stage that do as much with it as without.".into(),
        remedy: remedy(context),
        stages,
    }]
}

fn remedy(context: &Context<'_>) -> String {
    let run = context.run;
    let again = if run.target.kind == TargetKind::Imported {
        // A document cannot be asked again.
        String::new()
    } else {
        format!("; then type `{}`", measure_with(run, "--trials", "5"))
    };
    let seeks = "On a disk that seeks, larger pieces at a time lose less: keep such readers apart, \
                 or raise the read-ahead";
    match (
        context.all_turn(),
        edit_profile(run, "set read_ahead = \"1MiB\" under [host]"),
    ) {
        (Some(false), _) => format!(
            "Both share what the device can do: give the one that may wait a limit, or a device \
             of its own{again}."
        ),
        (_, Some(edit)) => format!("{seeks}. {edit}"),
        (_, None) => format!("{seeks} (`blockdev --setra`){again}."),
    }
}

/// The same stage with nothing beside it; of several, the one under the most settings that
/// are the same.
pub(crate) fn alone<'a>(context: &'a Context<'_>, stage: &Stage<'_>) -> Option<&'a StageFigures> {
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

/// Share of its rate alone that a stage loses to what runs beside it; `None` where it may
/// be chance.
pub(crate) fn loss(with: &Figure, without: &Figure) -> Option<f64> {
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

fn sentence(stage: &Stage<'_>, figures: &StageFigures, alone: &StageFigures) -> String {
    let (with, without) = (
        &figures.throughput_bytes_per_s,
        &alone.throughput_bytes_per_s,
    );
    let rates: Vec<f64> = stage
        .trials
        .iter()
        .filter_map(|trial| Some(trial.evidence.beside.as_ref()?.throughput_bytes_per_s))
        .collect();
    let Some(other) = crate::stats::median(&rates) else {
        // Of an import it is not known what the other did.
        return format!(
            "{}: {} with it, {} alone.",
            stage.label(),
            show_throughput(with.median),
            show_throughput(without.median)
        );
    };
    format!(
        "{}: {} beside {}, {} alone; both together {} of that.",
        stage.label(),
        show_throughput(with.median),
        show_throughput(other),
        show_throughput(without.median),
        percent((with.median + other) / without.median)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn seeks_are_spoken_of_where_a_disk_turns_and_settings_where_there_are_any() {
        let mut run = testing::healthy();
        for device in &mut run.stack.devices {
            device.rotational = Some(false);
        }
        let still = remedy(&Context::new(&run));
        assert!(!still.contains("seek"), "{still}");
        assert!(!still.contains("--setra"), "{still}");
        testing::rotating(&mut run);
        assert!(remedy(&Context::new(&run)).contains("`blockdev --setra`"));
        run.target.kind = diskfacts_record::TargetKind::Simulated;
        run.target.given = "sim:my.toml".into();
        let simulated = remedy(&Context::new(&run));
        assert!(
            simulated.contains("In my.toml, set read_ahead"),
            "{simulated}"
        );
        assert!(!simulated.contains("--setra"), "{simulated}");
    }
}
