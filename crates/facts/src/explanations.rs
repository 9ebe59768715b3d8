//! The words that a limiter or a rule has whatever run it speaks of: what would refute it, what
//! its experiment asks, what to do about it. They are prose, and stand once, in the sections of
//! the page of explanations (`docs/reference/explanations.md` is made of the two files beside
//! this one); a row and what it finds carry names and numbers only.
//!
//! A word begins with its label, `**Remedy**:`, and goes on to the next label. Where a row says
//! something else in some case, its label names the case: `**Remedy (platter)**:`; what case
//! that is says `**Case (platter)**:`.
//!
//! A section begins with a paragraph: what it is, its kind and how sure it is, its evidence and its
//! threshold. That is what the page has of it ([`on_page`]). What helps with one claim only stands
//! in a list below, and is printed for who asks by the name ([`entries`]).

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

/// What a case is, as a heading of its words; only [`entries`] has it.
const CASE: &str = "Case";

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
    let (about, _, _) = opening(section);
    let about = Some(about).filter(|about| !about.is_empty());
    let about = about.map(|about| (ABOUT, within_a_sentence(&about)));
    let mut words: Vec<_> = about.into_iter().collect();
    let mut pieces = section.split("**").skip(1);
    while let (Some(label), Some(text)) = (pieces.next(), pieces.next()) {
        words.push((label, sentences(text)));
    }
    words
}

/// What stands before the first label: what it is, without its full stop; what is set in
/// italics behind that; and what follows.
fn opening(section: &str) -> (String, String, String) {
    let text = sentences(section.split("**").next().unwrap_or_default());
    let (about, rest) = text.split_once(". *").unwrap_or_default();
    let (standing, more) = rest.split_once('*').unwrap_or_default();
    let own = |text: &str| text.trim().to_owned();
    (own(about), own(standing), own(more))
}

/// The first sentence of a section as it stands within another one: a word that begins with
/// more than one capital (`CPU`, `I/O`) keeps it.
fn within_a_sentence(said: &str) -> String {
    match said.chars().nth(1) {
        Some(second) if second.is_uppercase() || second == '/' => said.to_owned(),
        _ => lower_first(said),
    }
}

/// What follows a label, without the colon and the marks of the list.
fn sentences(text: &str) -> String {
    let text = text.trim_start_matches(':').trim_end();
    let text = text.strip_suffix("\n*").unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sections of one of the two files as the page has them: without the lists below their
/// first paragraphs.
pub fn on_page(sections: &str) -> String {
    let sections = sections.split("\n\n").map(str::trim_end);
    let short = sections.map(|section| section.split("\n* ").next().unwrap_or(section));
    short.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// All words of a limiter or rule, as plain text: links are what they are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name: `rotation`.
    pub name: &'static str,
    /// What it is, in a few words that begin a sentence: `Rotational latency`.
    pub about: String,
    /// Its kind or severity, and how sure it is; sentences.
    pub standing: String,
    /// What else is to be known before its words; often empty.
    pub more: String,
    /// What is said in any case, in the order of the section.
    pub words: Vec<Word>,
    /// What is said in one case only.
    pub cases: Vec<Case>,
}

/// A text with its label: `Refuted by`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What kind of statement it is.
    pub label: &'static str,
    /// The statement, sentences.
    pub text: String,
}

/// Words that go before those of any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Which case it is, a phrase: `Of a stride whose gaps pass under the head`.
    pub what: String,
    /// What is said in it.
    pub words: Vec<Word>,
}

/// The entries of [`LIMITS`] or [`FINDINGS`], in their order.
pub fn entries(page: &'static str) -> impl Iterator<Item = Entry> {
    sections(page).map(|(name, words)| entry(name, words.section))
}

fn entry(name: &'static str, section: &'static str) -> Entry {
    let (about, standing, more) = opening(section);
    let mut entry = Entry {
        name,
        about: plain(&about),
        standing: plain(&standing),
        more: plain(&more),
        words: Vec::new(),
        cases: Vec::new(),
    };
    let mut cases: Vec<(&str, Case)> = Vec::new();
    let labelled = labelled(section).into_iter();
    for (label, text) in labelled.filter(|(label, _)| *label != ABOUT) {
        let (case, text) = (case_of(label), plain(&text));
        let label = label.split(" (").next().unwrap_or(label);
        if case.is_empty() {
            entry.words.push(Word { label, text });
            continue;
        }
        let known = cases.iter().position(|(known, _)| *known == case);
        let place = known.unwrap_or_else(|| {
            let what = case.to_owned();
            let words = Vec::new();
            cases.push((case, Case { what, words }));
            cases.len() - 1
        });
        let case = &mut cases[place].1;
        if label == CASE {
            text.trim_end_matches('.').clone_into(&mut case.what);
        } else {
            case.words.push(Word { label, text });
        }
    }
    entry.cases = cases.into_iter().map(|(_, case)| case).collect();
    entry
}

/// Markdown as one line of plain text: a link is what it is called.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        if let Some((called, behind)) = called(link) {
            out.push_str(called);
            rest = behind;
        } else {
            out.push('[');
            rest = link;
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a link is called, and what stands behind it; `None` of other brackets.
fn called(link: &str) -> Option<(&str, &str)> {
    let (called, to) = link.split_once("](")?;
    let (_, behind) = to.split_once(')')?;
    (!called.contains(['[', ']'])).then_some((called, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{documents, limits, rules};

    /// All labels, also those that no claim says.
    const KNOWN: [&str; 9] = [
        ABOUT,
        CASE,
        REFUTED_BY,
        EXPERIMENT,
        REMEDY,
        IN_SHORT,
        "Evidence",
        "Threshold",
        "Except",
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
            assert_eq!(
                words.all().first().map(|(label, _)| *label),
                Some(ABOUT),
                "{name}"
            );
            for (i, (label, text)) in words.all().iter().enumerate() {
                let is_again = words.all()[..i].iter().any(|(before, _)| before == label);
                assert!(!is_again, "{name}: {label}");
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

    #[test]
    fn the_page_has_what_helps_with_any_claim() {
        let sections = "### `one`\nOne. *Nature.* **Evidence**: a,\nb.\n* **Refuted by**: c.\n\n\
                        ### `two`\nTwo. *Note.*\n* **Remedy**: d,\n  e.\n";
        assert_eq!(
            on_page(sections),
            "### `one`\nOne. *Nature.* **Evidence**: a,\nb.\n\n### `two`\nTwo. *Note.*\n"
        );
    }

    #[test]
    fn an_entry_has_all_words_as_plain_text_and_those_of_a_case_together() {
        let section = "\nOne of [all](#all).\n*Note, likely\nhere.* More. **Evidence**: `a[b]`.\n\
                       * **Case (some)**: In some of [these](x.md#y).\n\
                       * **Refuted by**: c.\n* **Remedy (some)**: d.\n* **Refuted by (some)**: e.\n";
        let word = |label, text: &str| Word {
            label,
            text: text.to_owned(),
        };
        let wanted = Entry {
            name: "one",
            about: "One of all".to_owned(),
            standing: "Note, likely here.".to_owned(),
            more: "More.".to_owned(),
            words: vec![word("Evidence", "`a[b]`."), word(REFUTED_BY, "c.")],
            cases: vec![Case {
                what: "In some of these".to_owned(),
                words: vec![word(REMEDY, "d."), word(REFUTED_BY, "e.")],
            }],
        };
        assert_eq!(entry("one", section), wanted);
    }

    #[test]
    fn every_entry_is_whole_and_no_mark_of_its_text_is_left() {
        for entry in entries(LIMITS).chain(entries(FINDINGS)) {
            let name = entry.name;
            assert!(!entry.standing.is_empty(), "{name}: no standing");
            for case in &entry.cases {
                assert!(
                    case.what.contains(' '),
                    "{name}: which case is {}?",
                    case.what
                );
                assert!(!case.words.is_empty(), "{name}: {}", case.what);
            }
            let words = entry.cases.iter().flat_map(|case| &case.words);
            let words = entry.words.iter().chain(words).map(|word| &word.text);
            for text in words.chain([&entry.about, &entry.standing, &entry.more]) {
                let is_set = |word: &str| {
                    let word = word.trim_start_matches('(');
                    word.starts_with('*') && word.len() > 1
                };
                assert!(!text.contains("]("), "{name}: {text}");
                assert!(!text.split(' ').any(is_set), "{name}: {text}");
                assert!(!text.split(' ').any(|word| word == "*"), "{name}: {text}");
            }
        }
    }
}
