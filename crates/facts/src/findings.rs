//! The findings of a run: what the rules find in it and, where it was read from a
//! document, what that document shows beside its other runs.

use crate::context::Context;
use crate::rules::{self, Part, Rule};
use crate::{documents, words};
use diskfacts_record::{Finding, Run};
use std::cmp::Reverse;

/// What follows from a run, most important first: by severity, then by confidence, then
/// in the order of the rules. Of an imported run each claim says whose figures it is about.
pub fn findings(run: &Run) -> Vec<Finding> {
    of(&Context::new(run))
}

/// What follows from each of the runs of a document, in the same order: from itself, and
/// from what it says together with the others, which is a finding of each of the runs that
/// it rests on.
pub fn findings_of_document(runs: &[Run]) -> Vec<Vec<Finding>> {
    let contexts: Vec<Context<'_>> = runs.iter().map(Context::new).collect();
    of_document(&contexts)
}

/// All rules, in the order of their findings.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    rules::all().iter().chain(documents::rules())
}

pub(crate) fn of(context: &Context<'_>) -> Vec<Finding> {
    let alone = std::slice::from_ref(context);
    of_document(alone).pop().unwrap_or_default()
}

pub(crate) fn of_document(contexts: &[Context<'_>]) -> Vec<Vec<Finding>> {
    let mut found: Vec<Vec<Finding>> = contexts.iter().map(|_| Vec::new()).collect();
    for rule in rules() {
        for place in 0..contexts.len() {
            let all = contexts;
            for (finding, others) in rule.find(&Part { place, all }) {
                for other in others {
                    found[other].push(finding.clone());
                }
                found[place].push(finding);
            }
        }
    }
    let each = found.into_iter().zip(contexts);
    each.map(|(found, context)| as_shown(found, context.is_imported()))
        .collect()
}

/// The findings of a run as they are shown, in their order.
fn as_shown(mut found: Vec<Finding>, imported: bool) -> Vec<Finding> {
    if imported {
        for finding in &mut found {
            finding.claim = format!("By the document: {}", behind_a_colon(&finding.claim));
        }
    }
    found.iter_mut().for_each(shorten_evidence);
    // The sort is stable and keeps the order of the rules.
    found.sort_by_key(|finding| Reverse((finding.severity, finding.confidence)));
    found
}

/// The sentence behind a colon: its first word begins small, unless it is more than a
/// word of a sentence, as `FSYNC` is.
fn behind_a_colon(claim: &str) -> String {
    match claim.chars().nth(1) {
        Some(second) if second.is_lowercase() || second == ' ' => words::lower_first(claim),
        _ => claim.to_owned(),
    }
}

/// Most lines of evidence of a finding, and how many are kept of more: what is so in the
/// 294 cells of a matrix is seen from a few of them.
const EVIDENCE_MAX: usize = 12;
const EVIDENCE_KEPT: usize = 5;

/// Keeps the first lines of a long list of evidence, and the last, which may be about all
/// of them.
fn shorten_evidence(finding: &mut Finding) {
    let lines = finding.evidence.len();
    if lines > EVIDENCE_MAX {
        let left_out = lines - EVIDENCE_KEPT - 1;
        let said = format!("{left_out} more lines like these are left out.");
        finding
            .evidence
            .splice(EVIDENCE_KEPT..lines - 1, std::iter::once(said));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::prelude::Check;
    use crate::testing;
    use diskfacts_record::Severity;

    /// What is asked of stages is asked only where a rule looks at them one by one.
    #[test]
    fn what_looks_at_a_run_as_a_whole_needs_nothing_of_its_stages() {
        let run = testing::healthy();
        let context = Context::new(&run);
        for rule in rules() {
            let mut needs = rule.needs.iter();
            let of_stages = needs.any(|need| need.of_run(&context).is_none());
            let looks_at_stages = matches!(rule.check, Check::Stages(_));
            assert!(looks_at_stages || !of_stages, "{}", rule.name);
        }
    }

    #[test]
    fn a_matrix_gives_findings_of_a_few_lines() {
        let run = testing::matrix_run(|_, _| 1e9);
        let found = findings(&run);
        let short = found.iter().find(|f| f.rule == "too-few-trials").unwrap();
        assert_eq!(
            short.evidence,
            ["Trials: streaming (1, in 126 cells) and synced (1, in 168 cells)."]
        );
        for finding in &found {
            assert!(finding.evidence.len() <= EVIDENCE_MAX, "{finding:#?}");
        }
        let long = found.iter().find(|f| f.rule == "too-short").unwrap();
        assert_eq!(long.severity, Severity::Note);
        assert_eq!(long.evidence.len(), EVIDENCE_KEPT + 2);
        assert!(long.evidence[EVIDENCE_KEPT].ends_with("more lines like these are left out."));
    }
}
