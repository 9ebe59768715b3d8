//! What is doubtful: a line for each finding, by its number.

use super::super::findings::{headline, severity};
use super::super::look::Style;
use super::super::marks::is_doubt;
use super::super::page::Page;
use super::super::words::count;
use super::super::wrap::{columns, cut};
use super::brevity::Brevity;
use super::head::is_answer;
use crate::notes::notes;
use diskfacts_record::{Finding, Run};

/// Where the texts begin.
const COLUMN: usize = 12;

pub(super) fn write(page: &mut Page<'_>, run: &Run, brevity: Brevity) {
    let done_otherwise = notes(run);
    if run.findings.is_empty() && !run.figures.is_empty() {
        page.blank();
        page.paragraph(0, Style::Good, "No warnings.");
    }
    if run.findings.is_empty() && done_otherwise.is_empty() {
        return;
    }
    page.heading("Warnings and notes");
    let mut notes = 0;
    let mut left = 0;
    let room = page.look.columns().saturating_sub(COLUMN);
    for (numbers, finding, text) in alike(run, room) {
        if !is_doubt(finding) {
            notes += 1;
            if notes > brevity.notes {
                left += numbers.len() as u64;
                continue;
            }
        }
        let (style, word) = severity(finding.severity);
        let label = format!("{:<2} {}", numbered(&numbers), word.to_lowercase());
        page.labelled(0, (style, &label), COLUMN, Style::Plain, &text);
    }
    // What was left out or done otherwise than asked: the beginning, where all has no room.
    for note in done_otherwise.iter().take(brevity.otherwise) {
        let room = page.look.columns().saturating_sub(COLUMN);
        page.verbatim((Style::Minor, "-  run"), COLUMN, &clipped(note, room));
    }
    left += done_otherwise.len().saturating_sub(brevity.otherwise) as u64;
    if left > 0 {
        let text = format!("{}: --explain has them all.", count(left, "more note"));
        page.paragraph(0, Style::Minor, &text);
    }
}

/// The findings, each with its number and its line; what would be the same line again, of
/// another way or setting, shares it.
pub(crate) fn alike(run: &Run, room: usize) -> Vec<(Vec<usize>, &Finding, String)> {
    let mut lines: Vec<(Vec<usize>, &Finding, String)> = Vec::new();
    // What stands in the head is not said again.
    let numbered = run.findings.iter().enumerate();
    for (i, finding) in numbered.filter(|(_, finding)| !is_answer(finding)) {
        let text = headline(finding, room);
        let known = lines
            .iter_mut()
            .find(|(_, first, said)| first.severity == finding.severity && *said == text);
        match known {
            Some((numbers, ..)) => numbers.push(i + 1),
            None => lines.push((vec![i + 1], finding, text)),
        }
    }
    lines
}

/// `3`, or `3-5` of numbers that follow each other, else `3,7`.
pub(crate) fn numbered(numbers: &[usize]) -> String {
    match numbers {
        [first, .., last] if numbers.len() > 2 && last - first + 1 == numbers.len() => {
            format!("{first}-{last}")
        }
        _ => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            numbers.join(",")
        }
    }
}

/// Where a sentence may end early, and still say something whole.
const CLAUSES: [&str; 4] = [": ", "; ", ". ", OPENING];
const OPENING: &str = " (";

/// Whether the sentence could end before the parenthesis that opens here: none stands before it
/// in its clause, and nothing goes on behind it, as in a list of things with a number each.
fn ends_a_clause(text: &str, at: usize) -> bool {
    let (before, parenthesis) = text.split_at(at);
    let clause = before.rsplit([':', ';', '.']).next().unwrap_or(before);
    let behind = parenthesis.split_once(')').map_or("", |(_, behind)| behind);
    !clause.contains('(') && (behind.is_empty() || behind.starts_with([':', ';', '.']))
}

/// As many whole clauses of a sentence as have room; as many words where the first clause is
/// longer than that, and letters of a long word.
fn clipped(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let ends = CLAUSES.iter().flat_map(|end| text.match_indices(end));
    let ends = ends.filter(|(at, end)| *end != OPENING || ends_a_clause(text, *at));
    let clauses = ends.map(|(at, _)| &text[..at]);
    // Nor in the middle of a parenthesis.
    let clauses =
        clauses.filter(|clause| clause.matches('(').count() == clause.matches(')').count());
    let whole = clauses.filter(|clause| columns(clause) <= room);
    if let Some(longest) = whole.max_by_key(|clause| clause.len()) {
        return longest.to_owned();
    }
    // As many whole words as have room.
    let words = text.match_indices(' ').map(|(at, _)| &text[..at]);
    let begun = words.filter(|words| columns(words) + 4 <= room);
    if let Some(longest) = begun.max_by_key(|words| words.len()) {
        return format!("{longest} ...");
    }
    format!("{}...", cut(text, room.saturating_sub(3)).trim_end())
}

#[cfg(test)]
mod tests {
    use super::{clipped, numbered};

    #[test]
    fn numbers_of_one_line_are_a_range_or_a_list() {
        assert_eq!(numbered(&[3]), "3");
        assert_eq!(numbered(&[3, 4]), "3,4");
        assert_eq!(numbered(&[3, 4, 5]), "3-5");
        assert_eq!(numbered(&[3, 4, 7]), "3,4,7");
    }

    #[test]
    fn a_sentence_without_room_ends_with_a_clause_and_not_in_a_word() {
        let note = "Left out the stages that write (sequential-write, random-write-qd1): /dev/sdb \
                    is a device, and only read. To measure writing, name a folder.";
        assert_eq!(clipped(note, 200), note);
        assert_eq!(clipped(note, 40), "Left out the stages that write");
        assert_eq!(
            clipped(note, 110),
            "Left out the stages that write (sequential-write, random-write-qd1): /dev/sdb is a \
             device, and only read"
        );
        let list = "Medians within 3 % (95 % CI) in 9 of 12 stages; out of time for mixed (8 %) and log (9 %).";
        assert_eq!(
            clipped(list, 80),
            "Medians within 3 % (95 % CI) in 9 of 12 stages"
        );
        let inside = "Medians within 3 % in 0 of 2 stages; out of time for random-write (trials: 1), \
                      mixed (trials: 1).";
        assert_eq!(clipped(inside, 70), "Medians within 3 % in 0 of 2 stages");
        assert_eq!(clipped(note, 20), "Left out the ...");
        assert_eq!(clipped(note, 6), "Lef...");
        let stages = "Measured 1 of 6 trials of random-write-qd1, random-write-qd32, mixed-70-30";
        assert_eq!(
            clipped(stages, 60),
            "Measured 1 of 6 trials of random-write-qd1, ..."
        );
    }
}
