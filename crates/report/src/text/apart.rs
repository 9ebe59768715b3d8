//! The trials of a stage that stand apart from the others.

use super::look::Style;
use super::page::Page;
use super::words::{count, list, rate};
use diskfacts_record::{Run, StageFigures, Trial};

/// Says which they are and what they came to; nothing when there are none. They are in
/// the figures.
pub(super) fn write(page: &mut Page<'_>, run: &Run, indent: usize, figures: &StageFigures) {
    let is_of = |trial: &&Trial| trial.stage == figures.stage && trial.settings == figures.settings;
    let apart: Vec<String> = run
        .trials
        .iter()
        .filter(is_of)
        .filter(|trial| figures.outliers.contains(&trial.number))
        .map(|trial| format!("{} (trial {})", came_to(trial), trial.number))
        .collect();
    if apart.is_empty() {
        return;
    }
    let of = count(u64::from(figures.iops.trials), "trial");
    let stand = if apart.len() == 1 { "stands" } else { "stand" };
    let said = format!("{} of {of} {stand} apart: {}", apart.len(), list(&apart));
    page.paragraph(indent, Style::Plain, &said);
}

/// `3.1 MB/s`, or the operations where bytes say nothing.
fn came_to(trial: &Trial) -> String {
    if trial.workload.operation.on_files() {
        format!("{} files/s", rate(trial.iops))
    } else if trial.throughput_bytes_per_s > 0.0 {
        format!("{} MB/s", rate(trial.throughput_bytes_per_s / 1e6))
    } else {
        format!("{} IOPS", rate(trial.iops))
    }
}
