//! Parts of a run on demand: one claim whole, one stage whole, where the time of all stages
//! went. What the first page says in a line each.

use super::look::{Look, Style};
use super::marks::{Limiting, Marks, limiting};
use super::page::Page;
use super::{budget, findings, limits, over_time, stages, verdicts};
use diskfacts_plan::plan::stage_label;
use diskfacts_record::{Run, StageFigures, StageLimits, Verdict};
use std::collections::BTreeMap;

/// What a run says by a mark of its first page, `1` or `a`, or by the name of a limiter, a
/// rule or a use; `show` is the command that shows the run.
///
/// # Errors
/// What there is to choose from, where it says nothing by that name.
pub fn claim(run: &Run, name: &str, show: &str, look: &Look) -> Result<String, String> {
    let mut page = Page::new(look);
    let marks = Marks::of(run);
    let mut found = false;
    for (i, finding) in run.findings.iter().enumerate() {
        if finding.rule == name || (i + 1).to_string() == name {
            separate(&mut page, &mut found);
            findings::one(&mut page, i + 1, finding, &findings::stages(run, finding));
        }
    }
    let limiter = marks.limit(name).map_or(name, |limiting| limiting.limiter);
    if let Some(limiting) = of_limiter(&run.limits, limiter) {
        separate(&mut page, &mut found);
        limits::one(&mut page, show, &limiting, limits::Length::Whole);
    }
    let of_use: Vec<Verdict> = run
        .verdicts
        .iter()
        .filter(|verdict| verdict.profile == name)
        .cloned()
        .collect();
    verdicts::write(&mut page, &of_use);
    if found || !of_use.is_empty() {
        Ok(page.finish())
    } else {
        Err(choices(run, &marks))
    }
}

/// The stages of which a limiter holds, whether it comes first of them or not.
fn of_limiter<'a>(limits: &'a [StageLimits], name: &'a str) -> Option<Limiting<'a>> {
    let of_stage = |stage: &'a StageLimits| {
        let limit = stage.limits.iter().find(|limit| limit.limiter == name)?;
        Some((stage, limit))
    };
    let stages: Vec<_> = limits.iter().filter_map(of_stage).collect();
    (!stages.is_empty()).then_some(Limiting {
        limiter: name,
        stages,
    })
}

fn separate(page: &mut Page<'_>, found: &mut bool) {
    if *found {
        page.blank();
    }
    *found = true;
}

/// `it has the numbers 1 to 4, the letters a to d and the uses etcd and kafka`.
fn choices(run: &Run, marks: &Marks<'_>) -> String {
    let mut parts = Vec::new();
    match run.findings.len() {
        0 => {}
        1 => parts.push("the number 1".to_owned()),
        many => parts.push(format!("the numbers 1 to {many}")),
    }
    let letters: Vec<String> = (0..marks.limits.len()).map(super::marks::letter).collect();
    match (letters.first(), letters.last()) {
        (Some(first), Some(last)) if first != last => {
            parts.push(format!("the letters {first} to {last}"));
        }
        (Some(only), _) => parts.push(format!("the letter {only}")),
        _ => {}
    }
    let mut uses: Vec<&str> = run.verdicts.iter().map(|v| v.profile.as_str()).collect();
    uses.dedup();
    if !uses.is_empty() {
        parts.push(format!("the uses {}", super::list(&uses)));
    }
    if parts.is_empty() {
        return "it makes no claim".to_owned();
    }
    format!("it has {}", super::list(&parts))
}

/// A stage, and which of its trials is drawn.
#[derive(Debug, Clone, Copy)]
pub struct StagePart<'a> {
    /// Its name, or its name and settings as they are printed.
    pub name: &'a str,
    /// Number of the trial; the one most unlike the others if absent.
    pub trial: Option<u32>,
}

impl StagePart<'_> {
    fn is_named(&self, stage: &str, settings: &BTreeMap<String, String>) -> bool {
        stage == self.name || stage_label(stage, settings) == self.name
    }

    /// The figures of all stages of this name.
    ///
    /// # Errors
    /// What the run has not, and what in its place.
    fn figures<'r>(&self, run: &'r Run) -> Result<Vec<&'r StageFigures>, String> {
        let is_named = |figures: &&StageFigures| self.is_named(&figures.stage, &figures.settings);
        let figures: Vec<&StageFigures> = run.figures.iter().filter(is_named).collect();
        if !figures.is_empty() {
            return Ok(figures);
        }
        let mut names: Vec<&str> = run.figures.iter().map(|f| f.stage.as_str()).collect();
        names.dedup();
        let has = if names.is_empty() {
            "it has no figures".to_owned()
        } else {
            format!("it has {}", super::list(&names))
        };
        Err(format!("has no stage '{}'; {has}", self.name))
    }
}

/// What happened from one time of a trial to another, nanoseconds from its start, beside the
/// rest of the trial.
///
/// # Errors
/// What the run has not, and what in its place, or why: `has no trial 9 of log-write; ...`.
pub fn moment(
    run: &Run,
    part: StagePart<'_>,
    time_ns: (u64, u64),
    look: &Look,
) -> Result<String, String> {
    let mut page = Page::new(look);
    for figures in part.figures(run)? {
        over_time::at(&mut page, run, figures, part.trial, time_ns)?;
    }
    Ok(page.finish())
}

/// One stage: its figures, its latency over time, what limits it, and what to know of it.
///
/// # Errors
/// What the run has not, and what in its place: `has no stage 'x'; it has ...`.
pub fn stage(run: &Run, part: StagePart<'_>, show: &str, look: &Look) -> Result<String, String> {
    let figures = part.figures(run)?;
    let mut page = Page::new(look);
    for (i, figures) in figures.iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        stages::one(&mut page, run, figures);
        stages::intervals(&mut page, figures);
        over_time::write(&mut page, run, figures, part.trial, show)?;
    }
    let of_stage = |limits: &&StageLimits| part.is_named(&limits.stage, &limits.settings);
    let limits: Vec<StageLimits> = run.limits.iter().filter(of_stage).cloned().collect();
    for limiting in limiting(&limits) {
        page.blank();
        limits::one(&mut page, show, &limiting, limits::Length::Whole);
    }
    let named = figures[0].stage.as_str();
    for (i, finding) in run.findings.iter().enumerate() {
        if finding.stages.iter().any(|stage| stage == named) {
            page.blank();
            findings::one(&mut page, i + 1, finding, &findings::stages(run, finding));
        }
    }
    let mut used = run.verdicts.clone();
    used.retain(|verdict| verdict.stage.as_deref() == Some(named));
    verdicts::write(&mut page, &used);
    Ok(page.finish())
}

/// Where the time of an operation went, of each stage.
pub fn budgets(run: &Run, look: &Look) -> String {
    let mut page = Page::new(look);
    budget::bars(&mut page, run);
    if page.is_empty() {
        let text = "Where the time went is not known of any stage: no latency was measured.";
        page.paragraph(0, Style::Plain, text);
    }
    page.finish()
}
