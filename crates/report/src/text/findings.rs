//! Findings: what is so, why we think so, and what to do.

use super::look::Style;
use super::page::Page;
use super::words::list;
use super::wrap::columns;
use diskfacts_record::{Confidence, Finding, Run, Severity};

/// Where the texts of a finding begin.
const COLUMN: usize = 14;

/// In the order of the run: most important first.
pub(crate) fn write(page: &mut Page<'_>, run: &Run) {
    let findings = &run.findings;
    if findings.is_empty() {
        page.heading("Findings: none");
        page.paragraph(
            0,
            Style::Plain,
            "No rule found a reason to doubt these figures.",
        );
        return;
    }
    page.heading("Findings, most important first");
    for (i, finding) in findings.iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        one(page, i + 1, finding, &stages(run, finding));
    }
}

/// Its word, and how it looks.
pub(crate) fn severity(severity: Severity) -> (Style, &'static str) {
    match severity {
        Severity::Error => (Style::Bad, "ERROR"),
        Severity::Warning => (Style::Doubtful, "WARNING"),
        Severity::Note => (Style::Plain, "NOTE"),
    }
}

pub(crate) fn one(page: &mut Page<'_>, number: usize, finding: &Finding, stages: &str) {
    let (style, severity) = severity(finding.severity);
    page.labelled(
        0,
        (style, &format!("{number}. {severity}")),
        COLUMN,
        Style::Heading,
        &finding.claim,
    );
    for (label, texts) in rows(finding, stages) {
        for (i, text) in texts.iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            page.labelled(3, (Style::Plain, label), COLUMN - 3, Style::Plain, text);
        }
    }
}

/// What is said of a finding beside its claim: each with its label, in the order in which it
/// is asked for.
pub(crate) fn rows<'a>(
    finding: &'a Finding,
    stages: &'a str,
) -> impl Iterator<Item = (&'static str, Vec<&'a str>)> {
    let rows = [
        ("Stages", vec![stages]),
        (
            "Evidence",
            finding.evidence.iter().map(String::as_str).collect(),
        ),
        ("How sure", vec![confidence(finding.confidence)]),
        ("Refuted by", vec![finding.refuted_by.as_str()]),
        ("What to do", vec![finding.remedy.as_str()]),
        ("Rule", vec![finding.rule.as_str()]),
    ];
    rows.into_iter()
        .filter(|(label, texts)| *label != "Stages" || !texts[0].is_empty())
}

/// How sure a claim is, and why.
pub(crate) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "certain: counted, not inferred",
        Confidence::Likely => "likely: the best explanation of what was seen",
        Confidence::Possible => "possible: one explanation among several",
    }
}

/// The stages that a finding is about, by name unless they are many and all.
pub(crate) fn stages(run: &Run, finding: &Finding) -> String {
    let all = run
        .figures
        .iter()
        .all(|figures| finding.stages.contains(&figures.stage));
    if all && finding.stages.len() > 3 {
        "all".to_owned()
    } else {
        list(&finding.stages)
    }
}

/// What is so in a line, with the stage where it is one and there is room. Documents of older versions
/// have the whole claim alone.
pub(super) fn headline(finding: &Finding, room: usize) -> String {
    if finding.headline.is_empty() {
        return finding.claim.clone();
    }
    let what = match finding.confidence {
        Confidence::Possible => format!("{} (possible)", finding.headline),
        Confidence::Likely | Confidence::Certain => finding.headline.clone(),
    };
    match finding.stages.as_slice() {
        [stage] if columns(stage) + 2 + columns(&what) <= room => {
            format!("{stage}: {what}")
        }
        _ => what,
    }
}
