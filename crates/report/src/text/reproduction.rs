//! The seeds reproduced: measured, simulated and error, cell by cell.

use super::look::{Look, Style};
use super::page::Page;
use super::words::list;
use super::wrap::{columns, wrap};
use diskfacts_disk::reproduce::{
    Account, Cell, DOCUMENTS, OpenPoint, Reproduction, Verdict, profiles_of,
};

/// All of it; the last line sums up the gates.
pub fn reproduction(result: &Reproduction, look: &Look) -> String {
    let mut page = Page::new(look);
    page.paragraph(
        0,
        Style::Plain,
        "The seeds' access patterns on simulated disks, one profile for each disk and nothing \
         changed from row to row. The error is simulated over measured, less 1. A gate limits it \
         (G1 to G12, below); a letter says why none does.",
    );
    for (seed, about) in (0..).zip(DOCUMENTS) {
        let names: Vec<&str> = profiles_of(seed).collect();
        page.heading(&format!("Seed {seed:03}: {about} ({})", list(&names)));
        let of_seed: Vec<&Cell> = result
            .cells
            .iter()
            .filter(|cell| cell.seed == seed)
            .collect();
        cells(&mut page, &of_seed);
    }
    for point in &result.open_points {
        open_point(&mut page, point);
    }
    accounts(&mut page, &result.accounts);
    page.heading("Gates");
    for verdict in &result.verdicts {
        gate(&mut page, verdict);
    }
    page.blank();
    page.line(&summary(&result.verdicts));
    page.finish()
}

/// Columns of the numbers and what surrounds them, behind the words.
const NUMBERS: usize = 41;
const LINES: usize = 7;

fn cells(page: &mut Page<'_>, cells: &[&Cell]) {
    let words = page
        .look
        .columns()
        .saturating_sub(LINES + 2 + NUMBERS)
        .clamp(20, 60);
    let row = |lines: &str, what: &str, numbers: [&str; 5]| {
        let [measured, simulated, unit, error, gate] = numbers;
        let pad = " ".repeat(words.saturating_sub(columns(what)));
        format!(
            "{lines:>LINES$}  {what}{pad} {measured:>8} {simulated:>9} {unit:<8} {error:>7} {gate}"
        )
    };
    let head = ["measured", "simulated", "unit", "error", "gate"];
    page.line(&row("line", "what", head));
    let mut reasons: Vec<&str> = Vec::new();
    for cell in cells {
        let what = wrap(&page.look.clean(&cell.what), words);
        let simulated = cell.simulated.map_or_else(|| "-".to_owned(), figure);
        let error = cell.error().map_or_else(String::new, percent);
        let numbers = [
            &figure(cell.measured),
            &simulated,
            cell.unit,
            &error,
            &mark(cell, &mut reasons),
        ];
        page.line(&row(&lines_of(cell), &what[0], numbers));
        for more in &what[1..] {
            page.line(&format!("{}{more}", " ".repeat(LINES + 2)));
        }
    }
    for (index, reason) in reasons.iter().enumerate() {
        let letter = letter(index);
        page.labelled(LINES + 2, (Style::Minor, &letter), 3, Style::Minor, reason);
    }
}

/// The gate of a cell, or the letter of the reason why there is none.
fn mark<'c>(cell: &'c Cell, reasons: &mut Vec<&'c str>) -> String {
    let gate = cell.gate.map(|gate| gate.to_string());
    let letter = cell.reason.map(|reason| {
        let known = reasons.iter().position(|known| *known == reason);
        letter(known.unwrap_or_else(|| {
            reasons.push(reason);
            reasons.len() - 1
        }))
    });
    let words: Vec<String> = gate.into_iter().chain(letter).collect();
    words.join(" ")
}

/// `a` for the first.
fn letter(index: usize) -> String {
    char::from(b'a' + (index % 26) as u8).to_string()
}

/// `52`, `164-167`, or how many lines of the document there are.
fn lines_of(cell: &Cell) -> String {
    match &cell.lines[..] {
        [only] => only.to_string(),
        [first, .., last] if (last - first) as usize + 1 == cell.lines.len() => {
            format!("{first}-{last}")
        }
        lines => format!("{} rows", lines.len()),
    }
}

/// Four significant digits.
fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 9.9995 => 3,
        middle if middle < 99.995 => 2,
        large if large < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 99.95 {
        format!("{percent:+.1} %")
    } else {
        format!("{percent:+.0} %")
    }
}

fn open_point(page: &mut Page<'_>, point: &OpenPoint) {
    page.heading(&format!("Open in {}", point.question));
    let mut hypotheses: Vec<&str> = Vec::new();
    let mut experiments: Vec<&str> = Vec::new();
    for prediction in &point.predictions {
        if !hypotheses.contains(&prediction.hypothesis) {
            hypotheses.push(prediction.hypothesis);
        }
        if !experiments.contains(&prediction.experiment.as_str()) {
            experiments.push(&prediction.experiment);
        }
    }
    for (index, hypothesis) in hypotheses.iter().enumerate() {
        let label = letter(index).to_uppercase();
        page.labelled(2, (Style::Plain, &label), 3, Style::Plain, hypothesis);
    }
    let longest = experiments.iter().map(|name| columns(name)).max();
    let width = longest.unwrap_or(0);
    let unit = point.predictions.first().map_or("", |first| first.unit);
    let row = |first: &str, measured: &str, values: Vec<String>| {
        let values = values.iter().map(|value| format!(" {value:>7}"));
        let values = values.collect::<Vec<_>>().concat();
        format!("  {first:<width$} {measured:>9}{values}")
    };
    let letters = (0..hypotheses.len()).map(|index| letter(index).to_uppercase());
    let head = row(unit, "measured", letters.collect());
    page.line(&head);
    for experiment in experiments {
        let of_experiment = || {
            let predictions = point.predictions.iter();
            predictions.filter(move |prediction| prediction.experiment == experiment)
        };
        // Two rows of a document may be of one experiment.
        for turn in 0..of_experiment().count() / hypotheses.len().max(1) {
            let mine: Vec<_> = of_experiment()
                .skip(turn * hypotheses.len())
                .take(hypotheses.len())
                .collect();
            let measured = mine.first().and_then(|first| first.measured);
            let measured = measured.map_or_else(|| "-".to_owned(), figure);
            let values = mine.iter().map(|prediction| figure(prediction.value));
            let line = row(experiment, &measured, values.collect());
            page.line(&line);
        }
    }
    page.titled(
        2,
        (Style::Plain, "Settled:"),
        2,
        Style::Plain,
        &point.settled,
    );
    page.titled(
        2,
        (Style::Plain, "Would decide:"),
        2,
        Style::Plain,
        point.decides,
    );
}

fn accounts(page: &mut Page<'_>, accounts: &[Account]) {
    let sum = |of: fn(&Account) -> usize| accounts.iter().map(of).sum::<usize>();
    let rows = sum(|account| account.rows);
    page.heading(&format!("The {rows} rows of the seeds' tables"));
    let row = |seed: &str, about: &str, counts: [&str; 4]| {
        let [rows, gated, reported, apart] = counts;
        format!("  {seed:<4} {about:<36} {rows:>5} {gated:>6} {reported:>9} {apart:>6}")
    };
    page.line(&row(
        "seed",
        "table",
        ["rows", "gated", "reported", "apart"],
    ));
    for account in accounts {
        let counts = [account.rows, account.gated, account.reported, account.apart];
        let counts = counts.map(|count| count.to_string());
        page.line(&row(
            &format!("{:03}", account.seed),
            account.about,
            counts.each_ref().map(String::as_str),
        ));
    }
    let counts = [
        rows,
        sum(|account| account.gated),
        sum(|account| account.reported),
        sum(|account| account.apart),
    ]
    .map(|count| count.to_string());
    page.line(&row("all", "", counts.each_ref().map(String::as_str)));
    for account in accounts.iter().filter(|account| account.apart > 0) {
        let why = format!(
            "{} of {} (seed {:03}): {}",
            account.apart, account.about, account.seed, account.reason
        );
        page.titled(2, (Style::Minor, "Apart,"), 2, Style::Minor, &why);
    }
}

fn gate(page: &mut Page<'_>, verdict: &Verdict) {
    let (style, word) = match (verdict.holds, verdict.gate.is_binding()) {
        (true, _) => (Style::Good, "holds"),
        (false, true) => (Style::Bad, "missed"),
        (false, false) => (Style::Doubtful, "not met"),
    };
    let label = format!("{:<3} {word}", verdict.gate.to_string());
    let text = format!("{}. Found: {}.", verdict.limit, verdict.found);
    page.labelled(0, (style, &label), 13, Style::Plain, &text);
}

/// The gates in a line: how many hold, which are missed, and what is only
/// reported.
fn summary(verdicts: &[Verdict]) -> String {
    let binding = || verdicts.iter().filter(|verdict| verdict.gate.is_binding());
    let missed: Vec<String> = binding()
        .filter(|verdict| !verdict.holds)
        .map(|verdict| verdict.gate.to_string())
        .collect();
    let held = binding().count() - missed.len();
    let mut words = vec![format!("Gates: {held} of {} hold", binding().count())];
    if !missed.is_empty() {
        words.push(format!(", {} missed", list(&missed)));
    }
    for (is_met, word) in [(true, "met"), (false, "not met")] {
        let gates = verdicts
            .iter()
            .filter(|verdict| !verdict.gate.is_binding() && verdict.holds == is_met);
        let gates: Vec<String> = gates.map(|verdict| verdict.gate.to_string()).collect();
        if !gates.is_empty() {
            words.push(format!("; {} (only reported) {word}", list(&gates)));
        }
    }
    words.push(".".to_owned());
    words.concat()
}

/// The gates that are missed, for an error; `None` if all hold.
pub fn missed(result: &Reproduction) -> Option<String> {
    let missed: Vec<String> = result
        .verdicts
        .iter()
        .filter(|verdict| verdict.gate.is_binding() && !verdict.holds)
        .map(|verdict| {
            format!(
                "{} ({}; found {})",
                verdict.gate, verdict.limit, verdict.found
            )
        })
        .collect();
    (!missed.is_empty()).then(|| missed.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_disk::reproduce::Gate;

    fn verdicts(missed: &[Gate]) -> Vec<Verdict> {
        let verdict = |gate: Gate| Verdict {
            gate,
            limit: "each 4 %",
            found: "largest 3 %".to_owned(),
            holds: !missed.contains(&gate),
        };
        Gate::ALL.into_iter().map(verdict).collect()
    }

    #[test]
    fn the_last_line_names_what_is_missed_and_what_is_only_reported() {
        let line = |missed: &[Gate]| summary(&verdicts(missed));
        assert_eq!(line(&[]), "Gates: 11 of 11 hold; G9 (only reported) met.");
        assert_eq!(
            line(&[Gate::G9]),
            "Gates: 11 of 11 hold; G9 (only reported) not met."
        );
        assert_eq!(
            line(&[Gate::G1, Gate::G3, Gate::G9]),
            "Gates: 9 of 11 hold, G1 and G3 missed; G9 (only reported) not met."
        );
    }

    #[test]
    fn figures_have_four_digits() {
        for (value, text) in [
            (0.4712, "0.471"),
            (9.9996, "10.00"),
            (99.996, "100.0"),
            (999.96, "1000"),
            (20_321.4, "20321"),
        ] {
            assert_eq!(figure(value), text);
        }
        assert_eq!(percent(-0.0123), "-1.2 %");
        assert_eq!(percent(42.7), "+4270 %");
    }
}
