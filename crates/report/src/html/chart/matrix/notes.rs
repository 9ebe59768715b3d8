//! What the marks of a matrix mean, and why cells are hatched.

use super::super::ends::Ends;
use super::{Cell, Mark, Matrix};
use crate::text::matrix::{UNKNOWN, WORDS};
use crate::text::words::add_once;

/// What the marks of a matrix mean, as far as they occur.
pub(super) fn of_marks(matrix: &Matrix) -> Vec<String> {
    let mut notes = Vec::new();
    let marked = |mark| matrix.rates().any(|rate| rate.mark == Some(mark));
    if marked(Mark::Best) {
        notes.push("best: the best of its table, beyond noise.".to_owned());
    }
    if marked(Mark::AsGood) {
        notes.push("as good: not told apart from it.".to_owned());
    }
    if marked(Mark::Highest) {
        notes.push(
            "highest: the highest of its table; too few trials say how sure that is.".to_owned(),
        );
    }
    if matrix.rates().any(|rate| rate.in_force) {
        notes.push("in force: the settings that the run found.".to_owned());
    }
    let ends: Vec<Ends> = matrix.rates().filter_map(|rate| rate.ends).collect();
    let [intervals, ranges] =
        [true, false].map(|interval| ends.iter().any(|ends| ends.interval == interval));
    if intervals {
        notes.push("Below a rate stands the 95 % interval of the median.".to_owned());
    }
    if ranges {
        let which = if intervals {
            "elsewhere"
        } else {
            "because they are too few for an interval"
        };
        notes.push(format!(
            "Below a rate stand its lowest and highest trial, {which}."
        ));
    }
    if matrix.rates().any(|rate| rate.letter.is_some()) {
        notes.push("A letter says what limits it.".to_owned());
    }
    let scale = if matrix.is_logarithmic() {
        "the logarithm of the rate"
    } else {
        "the rate, from 0 on"
    };
    notes.push(format!("The shade is {scale}."));
    notes
}

/// What the words of the layers mean, and why cells are hatched. A word that all cells have is
/// said once, and not in each.
pub(super) fn of_layers(matrix: &mut Matrix) -> Vec<String> {
    let mut notes = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for rate in matrix.rates() {
        add_once(&mut words, rate.by.clone());
    }
    let is_said = |word: &str| words.iter().any(|said| said.trim_end_matches('~') == word);
    let meant = WORDS.iter().filter(|(word, _)| is_said(word));
    let meant: Vec<&str> = meant.map(|(_, meaning)| *meaning).collect();
    if let [only] = words.as_slice()
        && let Some(meaning) = meant.first()
    {
        let most = if only.ends_with('~') {
            "Most"
        } else {
            "Nearly all"
        };
        notes.push(if *meaning == UNKNOWN {
            "Who served the bytes is not known.".to_owned()
        } else {
            let (_, who) = meaning.split_once(' ').unwrap_or(("", meaning));
            let who = who.strip_prefix("is ").unwrap_or(who);
            format!("{most} bytes of every cell were served by {who}.")
        });
        for rate in matrix.rates_mut() {
            rate.by.clear();
        }
    } else {
        notes.push(format!(
            "The word is who served most bytes: {}.",
            meant.join("; ")
        ));
        if words.iter().any(|word| word.ends_with('~')) {
            notes.push("~ marks less than 95 % of them.".to_owned());
        }
    }
    let cells = matrix.tables.iter().flat_map(|table| &table.rows);
    let mut whys: Vec<&str> = Vec::new();
    for cell in cells.flat_map(|(_, cells)| cells) {
        if let Cell::Refused(why) = cell {
            add_once(&mut whys, why.as_str());
        }
    }
    if !whys.is_empty() {
        notes.push(format!(
            "Hatched: direct I/O was refused, and what was done instead went through the page \
             cache. {}",
            whys.join(" ")
        ));
    }
    notes
}
