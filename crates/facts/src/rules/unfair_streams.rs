//! Streams that were to do the same got very different shares.
//!
//! The measure is Jain's fairness index ([`fairness`]).

use super::{Context, names};
use crate::stats::fairness;
use crate::streams::stream_rates;
use crate::words::{measure_longer, percent, stage_list};
use diskfacts_plan::units::show_throughput;
use diskfacts_record::{Confidence, Finding, Severity};

pub(super) const NAME: &str = "unfair-streams";

/// Index below which it is a finding: among four, three that do the same and one
/// that does a third of it.
const FAIR: f64 = 0.9;

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let mut evidence = Vec::new();
    let mut stages = Vec::new();
    let mut lowest = 1.0_f64;
    for (stage, _) in context.doing_io() {
        // The same streams in every trial, or it is chance.
        let rates = stream_rates(&stage.trials);
        let Some(index) = fairness(&rates).filter(|index| *index < FAIR) else {
            continue;
        };
        lowest = lowest.min(index);
        stages.push(stage.name);
        let (least, most) = rates
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), rate| {
                (least.min(*rate), most.max(*rate))
            });
        evidence.push(format!(
            "{}: of {} streams the slowest did {}, the fastest {} (fairness {index:.2}).",
            stage.label(),
            rates.len(),
            show_throughput(least),
            show_throughput(most)
        ));
    }
    if stages.is_empty() {
        return Vec::new();
    }
    let stages = names(stages);
    vec![Finding {
        rule: NAME.into(),
        severity: Severity::Note,
        headline: format!(
            "streams not served alike: as if {} shared all",
            percent(lowest)
        ),
        claim: format!(
            "The streams of {} were not served alike: as if {} of them had shared all of it.",
            stage_list(&stages),
            percent(lowest)
        ),
        evidence,
        confidence: Confidence::Certain,
        refuted_by: "Longer trials in which the streams do the same.".into(),
        remedy: format!(
            "What all streams do together still counts; to see whether it lasts, type `{}`.",
            measure_longer(context.run, 3)
        ),
        stages,
    }]
}
