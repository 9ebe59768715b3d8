//! Verdicts: whether the target is good enough for known uses.

use super::look::Style;
use super::page::Page;
use super::words::add_once;
use diskfacts_record::{Outcome, Verdict};

/// Where the texts begin.
const COLUMN: usize = 7;

/// What is said of the uses.
pub(crate) struct Judged<'v> {
    /// Those that were: how it looks, its word, and the sentence.
    pub(crate) lines: Vec<(Style, &'static str, String)>,
    /// Those that could not be, a phrase each.
    pub(crate) unmeasured: Vec<String>,
    /// Where the needs come from, by number, from 1 on. Several may have one source.
    pub(crate) sources: Vec<&'v str>,
}

pub(crate) fn judged(verdicts: &[Verdict]) -> Judged<'_> {
    let mut sources: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for verdict in verdicts {
        let (style, word) = match verdict.outcome {
            Outcome::Pass => (Style::Good, "pass"),
            Outcome::Close => (Style::Doubtful, "close"),
            Outcome::Fail => (Style::Bad, "FAIL"),
            Outcome::Unmeasured => continue,
        };
        let number = numbered(&mut sources, verdict);
        let stage = verdict
            .stage
            .as_ref()
            .map(|stage| format!(" ({stage})"))
            .unwrap_or_default();
        let text = format!(
            "{}: needs {}; measured {}{stage} [{number}]",
            verdict.profile,
            verdict.needed,
            measured(verdict),
        );
        lines.push((style, word, text));
    }
    let unmeasured: Vec<String> = verdicts
        .iter()
        .filter(|verdict| verdict.outcome == Outcome::Unmeasured)
        .map(|verdict| {
            // A figure that is not one of the disk, and why.
            let seen = verdict.measured.is_some();
            let seen = seen.then(|| format!("; measured {}", measured(verdict)));
            let seen = seen.unwrap_or_default();
            let number = numbered(&mut sources, verdict);
            format!(
                "{} (needs {}{seen}) [{number}]",
                verdict.profile, verdict.needed
            )
        })
        .collect();
    Judged {
        lines,
        unmeasured,
        sources,
    }
}

pub(crate) fn write(page: &mut Page<'_>, verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    let judged = judged(verdicts);
    page.heading("Verdicts by use");
    for (style, word, text) in &judged.lines {
        page.labelled(2, (*style, word), COLUMN, Style::Plain, text);
    }
    if !judged.unmeasured.is_empty() {
        page.titled(
            2,
            (Style::Plain, "not measured:"),
            COLUMN,
            Style::Plain,
            &judged.unmeasured.join("; "),
        );
    }
    if !judged.sources.is_empty() {
        page.paragraph(2, Style::Minor, "Where the needs come from:");
    }
    for (i, source) in judged.sources.into_iter().enumerate() {
        page.labelled(
            2,
            (Style::Minor, &format!("[{}]", i + 1)),
            COLUMN,
            Style::Minor,
            source,
        );
    }
}

/// The number of the source of what is needed, from 1 on.
fn numbered<'v>(sources: &mut Vec<&'v str>, verdict: &'v Verdict) -> usize {
    add_once(sources, verdict.source.as_str());
    let known = sources
        .iter()
        .take_while(|source| **source != verdict.source);
    known.count() + 1
}

/// What was measured, without the words that it shares with what was needed:
/// `p99 of write 3 ms` becomes `3 ms` after `p99 of write below 10 ms`.
fn measured(verdict: &Verdict) -> String {
    let measured = verdict.measured.as_deref().unwrap_or("nothing");
    let shared = verdict
        .needed
        .split(' ')
        .zip(measured.split(' '))
        .take_while(|(needed, measured)| needed == measured)
        .count();
    let rest: Vec<&str> = measured.split(' ').skip(shared).collect();
    if rest.is_empty() {
        measured.to_owned()
    } else {
        rest.join(" ")
    }
}
