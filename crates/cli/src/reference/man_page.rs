//! The manual pages, in section 1, one for each command.

use super::environment::{ENVIRONMENT, FILES};
use super::prose::{Block, blocks};
use super::roff::{Page, Span};
use super::{Described, called, commands, described};
use crate::exit::CODES;
use clap::Command;
use std::fmt::Write;

/// What stands in the middle of the first line of every page.
const MANUAL: &str = "User Commands";

/// The pages, each with the name of its file: `diskfacts-runs-delete.1`.
///
/// `date` is printed at the foot of each, as `2026-11-25`.
pub(crate) fn manual(date: &str) -> Vec<(String, String)> {
    let commands = commands();
    let pages = commands.iter().map(|command| {
        let name = page_name(command);
        (format!("{name}.1"), page(command, date))
    });
    pages.collect()
}

fn page_name(command: &Command) -> String {
    called(command).replace(' ', "-")
}

fn page(command: &Command, date: &str) -> String {
    let name = page_name(command);
    let mut page = Page::default();
    let source = format!("diskfacts {}", env!("CARGO_PKG_VERSION"));
    page.request("TH", &[&name.to_uppercase(), "1", date, &source, MANUAL]);
    // Neither hyphenated nor set to both margins: what stands there is typed.
    page.request("nh", &[]);
    page.request("ad", &["l"]);

    page.request("SH", &["NAME"]);
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let brief = about.trim_end_matches('.');
    page.prose(&format!("{name} - {}", lower_first(brief)));

    page.request("SH", &["SYNOPSIS"]);
    for (at, form) in usage(command).lines().enumerate() {
        if at > 0 {
            page.request("br", &[]);
        }
        page.line(&synopsis(form));
    }

    let after = command.get_after_help().map(ToString::to_string);
    let after = blocks(&after.unwrap_or_default());
    let (examples, notes): (Vec<Block>, Vec<Block>) =
        after.into_iter().partition(Block::has_examples);
    // They have a section of their own.
    let notes = notes
        .iter()
        .filter(|note| !note.paragraph.starts_with("Exit codes:"));
    page.request("SH", &["DESCRIPTION"]);
    let long = command.get_long_about().map(ToString::to_string);
    let long = long.unwrap_or_else(|| sentence(&about));
    for (at, paragraph) in long.split("\n\n").enumerate() {
        if at > 0 {
            page.request("PP", &[]);
        }
        page.prose(paragraph);
    }
    for note in notes {
        page.request("PP", &[]);
        page.prose(&note.paragraph);
        rows(&mut page, &note.rows);
    }

    options(&mut page, &described(command));

    let parts = command.get_subcommands().filter(|part| !part.is_hide_set());
    let parts: Vec<&Command> = parts.collect();
    if !parts.is_empty() {
        page.request("SH", &["COMMANDS"]);
        for part in &parts {
            page.request("TP", &[]);
            page.line(&[Span::Bold(page_name(part)), Span::Roman("(1)".to_owned())]);
            let about = part.get_about().map(ToString::to_string);
            page.prose(&sentence(&about.unwrap_or_default()));
        }
    }
    if !examples.is_empty() {
        page.request("SH", &["EXAMPLES"]);
        for example in &examples {
            rows(&mut page, &example.rows);
        }
    }
    if called(command) == command.get_name() {
        of_all(&mut page);
    } else {
        page.request("SH", &["SEE ALSO"]);
        page.line(&[
            Span::Bold("diskfacts".to_owned()),
            Span::Roman("(1) has the exit status and the environment.".to_owned()),
        ]);
    }
    page.into_text()
}

/// What holds of every command, and stands on the page of `diskfacts`.
fn of_all(page: &mut Page) {
    page.request("SH", &["EXIT STATUS"]);
    rows(
        page,
        &CODES.map(|code| (code.number.to_owned(), sentence(code.meaning))),
    );
    page.request("SH", &["ENVIRONMENT"]);
    rows(
        page,
        &ENVIRONMENT.map(|(name, meaning)| (name.to_owned(), sentence(meaning))),
    );
    page.request("SH", &["FILES"]);
    rows(
        page,
        &FILES.map(|(path, meaning)| (path.to_owned(), sentence(meaning))),
    );
}

fn rows(page: &mut Page, rows: &[(String, String)]) {
    for (typed, meaning) in rows {
        page.request("TP", &[]);
        page.line(&[Span::Bold(typed.clone())]);
        page.prose(meaning);
    }
}

/// The options under their headings, "Options" first; what has no name under "Arguments".
fn options(page: &mut Page, all: &[Described]) {
    let mut heading = None;
    for described in all {
        let unnamed = described.names.is_empty();
        let own = described.heading.as_deref();
        let under = if unnamed {
            "Arguments"
        } else {
            own.unwrap_or("Options")
        };
        if heading != Some(under) {
            // Those of `--help` are parts of the options.
            let request = if own.is_some() && !unnamed {
                "SS"
            } else {
                "SH"
            };
            let title = if request == "SH" {
                under.to_uppercase()
            } else {
                under.to_owned()
            };
            page.request(request, &[&title]);
            heading = Some(under);
        }
        option(page, described);
    }
}

fn option(page: &mut Page, option: &Described) {
    let mut head = Vec::new();
    for (at, name) in option.names.iter().enumerate() {
        if at > 0 {
            head.push(Span::Roman(", ".to_owned()));
        }
        head.push(Span::Bold(name.clone()));
    }
    if let Some((blank, value)) = option.value_behind_name() {
        if !head.is_empty() && !blank.is_empty() {
            head.push(Span::Roman(blank.to_owned()));
        }
        head.push(Span::Italic(value.to_owned()));
    }
    page.request("TP", &[]);
    page.line(&head);
    let mut text = sentence(&option.meaning);
    if let Some(default) = &option.default {
        let _ = write!(text, " Default: {default}.");
    }
    page.prose(&text);
    if !option.choices.is_empty() {
        page.request("RS", &[]);
        rows(page, &option.choices);
        page.request("RE", &[]);
    }
}

/// `diskfacts show [OPTIONS] [RUN]`, each way to call it in a line.
fn usage(command: &Command) -> String {
    let text = command.clone().render_usage().to_string();
    let lines = text.trim_start_matches("Usage:").lines();
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// A line of usage: what is typed as it stands is bold, what stands for something else is
/// italic, without the angle brackets in which `--help` has it.
fn synopsis(form: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut named = false;
    for part in form.split_inclusive(['<', '>', '[', ']', ' ']) {
        let (word, mark) = match part.strip_suffix(['<', '>', '[', ']', ' ']) {
            Some(word) => (word, &part[word.len()..]),
            None => (part, ""),
        };
        let of_dots = word.trim_matches('.').is_empty();
        let in_capitals = !word.contains(|c: char| c.is_ascii_lowercase() || c == '-');
        spans.push(match word.to_owned() {
            word if of_dots => Span::Roman(word),
            word if named || in_capitals => Span::Italic(word),
            word => Span::Bold(word),
        });
        named = mark == "<";
        if !matches!(mark, "<" | ">") {
            spans.push(Span::Roman(mark.to_owned()));
        }
    }
    spans
}

/// A phrase of `--help` as a sentence.
fn sentence(phrase: &str) -> String {
    let phrase = phrase.trim_end();
    let mut text = phrase.to_owned();
    if !phrase.is_empty() && !phrase.ends_with(['.', ':', '!', '?']) {
        text.push('.');
    }
    text
}

/// The line of NAME begins small, as in all manuals; a word in capitals stays.
fn lower_first(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first = letters.next();
    let second_is_small = letters.clone().next().is_some_and(char::is_lowercase);
    match first {
        Some(first) if second_is_small => first.to_lowercase().chain(letters).collect(),
        _ => phrase.to_owned(),
    }
}
