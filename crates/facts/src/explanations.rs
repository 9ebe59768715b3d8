//! The words that a limiter or a rule has whatever run it speaks of: what would refute it, what
//! its experiment asks, what to do about it. They are prose, and stand once, in the sections of
//! the page of explanations (`docs/reference/explanations.md` is made of the two files beside
//! this one); a row and what it finds carry names and numbers only.
//!
//! A word begins with its label, `**Remedy**:`, and goes on to the next label. Where a row says
//! something else in some case, its label names the case: `**Remedy (platter)**:`.

use crate::words::lower_first;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// The sections of the limiters, Markdown, in the order of
/// [`limits::all`](crate::limits::all).
pub const LIMITS: &str = include_str!("explanations/limits.md");
/// The sections of the rules that are no limiters too, in the order of
/// [`rules::all`](crate::rules::all).
pub const FINDINGS: &str = include_str!("explanations/findings.md");

/// What it is, in a few words: the first sentence of its section.
pub(crate) const ABOUT: &str = "About";
/// What would show a claim to be wrong, a sentence.
pub(crate) const REFUTED_BY: &str = "Refuted by";
/// What the experiment of a limiter asks, and what which answer means.
pub(crate) const EXPERIMENT: &str = "Experiment";
/// What to do about it, a sentence or more.
pub(crate) const REMEDY: &str = "Remedy";
/// The same in as few words as a first page has room for, at most 36 columns; missing where
/// nothing can be done, or something else each time.
pub(crate) const IN_SHORT: &str = "In short";

/// By the names of limiters and rules.
static ALL: LazyLock<BTreeMap<&str, Words>> =
    LazyLock::new(|| sections(LIMITS).chain(sections(FINDINGS)).collect());

/// The words of one limiter or rule.
#[derive(Debug)]
pub(crate) struct Words {
    section: &'static str,
    /// Each label with its text, taken from the section when the first of them is asked for: of
    /// most limiters a run has nothing to say.
    said: OnceLock<Vec<(&'static str, String)>>,
}

impl Words {
    /// Those of a limiter or rule; none of a name without a section.
    pub(crate) fn of(name: &str) -> &'static Self {
        static NONE: Words = Words::in_section("");
        ALL.get(name).unwrap_or(&NONE)
    }

    const fn in_section(section: &'static str) -> Self {
        Self {
            section,
            said: OnceLock::new(),
        }
    }

    fn all(&self) -> &[(&'static str, String)] {
        self.said.get_or_init(|| labelled(self.section))
    }

    /// What stands under this label in this case (empty: in any), or else in any case; empty
    /// where nothing does.
    pub(crate) fn say(&self, label: &str, case: &str) -> &str {
        debug_assert!(self.know(case), "no words of the case {case}");
        let is_its = |said: &str| {
            said.strip_prefix(label)
                .is_some_and(|of| case_of(of) == case)
        };
        let is_any = |said: &str| said == label;
        let its = self.all().iter().find(|(said, _)| is_its(said));
        let said = its.or_else(|| self.all().iter().find(|(said, _)| is_any(said)));
        said.map_or("", |(_, text)| text)
    }

    fn know(&self, case: &str) -> bool {
        case.is_empty() || self.all().iter().any(|(label, _)| case_of(label) == case)
    }
}

/// The case that a label names.
fn case_of(label: &str) -> &str {
    let named = label.split_once(" (").map(|(_, case)| case);
    named.and_then(|case| case.strip_suffix(')')).unwrap_or("")
}

fn sections(page: &'static str) -> impl Iterator<Item = (&'static str, Words)> {
    let sections = page.split("### `").skip(1);
    sections.filter_map(|section| {
        let (name, text) = section.split_once('`')?;
        Some((name, Words::in_section(text)))
    })
}

/// The labels of a section, each with its text, and what the section is about.
fn labelled(section: &'static str) -> Vec<(&'static str, String)> {
    let mut pieces = section.split("**");
    let about = pieces.next().and_then(|text| text.trim().split_once(". *"));
    let mut words: Vec<_> = about
        .map(|(about, _)| (ABOUT, within_a_sentence(about)))
        .into_iter()
        .collect();
    while let (Some(label), Some(text)) = (pieces.next(), pieces.next()) {
        words.push((label, sentences(text)));
    }
    words
}

/// The first sentence of a section as it stands within another one: a word that begins with
/// more than one capital (`CPU`, `I/O`) keeps it.
fn within_a_sentence(said: &str) -> String {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match said.chars().nth(1) {
        Some(second) if second.is_uppercase() || second == '/' => said,
        _ => lower_first(&said),
    }
}

/// What follows a label, without the colon and the marks of the list.
fn sentences(text: &str) -> String {
    let text = text.trim_start_matches(':').trim_end();
    let text = text.strip_suffix("\n*").unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{documents, limits, rules};

    /// All labels, also those that no claim says.
    const KNOWN: [&str; 9] = [
        ABOUT,
        REFUTED_BY,
        EXPERIMENT,
        REMEDY,
        IN_SHORT,
        "Evidence",
        "Threshold",
        "Advice",
        "Syncs of others",
    ];

    #[test]
    fn each_row_has_a_section_and_each_section_a_row() {
        let limiters = limits::all().map(|limiter| limiter.name);
        let rules = rules::all().iter().chain(documents::rules());
        let rows: Vec<&str> = limiters.chain(rules.map(|rule| rule.name)).collect();
        for name in &rows {
            assert!(ALL.contains_key(name), "{name} has no section");
        }
        for (name, words) in ALL.iter() {
            assert!(rows.contains(name), "{name} is no row");
            for (i, (label, text)) in words.all().iter().enumerate() {
                // Two pieces of evidence have a threshold each.
                let is_again = words.all()[..i].iter().any(|(before, _)| before == label);
                assert!(!is_again || *label == "Threshold", "{name}: {label}");
                let label = label.split(" (").next().expect("a first piece");
                assert!(KNOWN.contains(&label), "{name}: {label}");
                let is_sentence = ![ABOUT, IN_SHORT].contains(&label);
                assert_eq!(text.ends_with('.'), is_sentence, "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_case_has_its_own_words_and_else_those_of_any_case() {
        let page = "### `one`\n\nOne of\nI/O. *Nature.*\n* **Evidence**: a.\n* **Refuted by**: Two\n  \
                    lines.\n* **Remedy (some)**: This one.\n* **Remedy**: That one.\n";
        let words: BTreeMap<_, _> = sections(page).collect();
        let words = &words["one"];
        assert_eq!(words.say(ABOUT, "some"), "one of I/O");
        assert_eq!(words.say(REMEDY, ""), "That one.");
        assert_eq!(words.say(REMEDY, "some"), "This one.");
        assert_eq!(words.say(REFUTED_BY, "some"), "Two lines.");
        assert_eq!(words.say(IN_SHORT, "some"), "");
    }
}
