//! What `advise` prints: which option to take, in which order the others follow, how
//! certain that is, what it costs elsewhere, and what was not measured.

use super::findings::severity;
use super::look::{Look, Style};
use super::page::Page;
use super::run::{self, Closing};
use super::words::{count, list, percent};
use diskfacts_facts::advise::{
    Advice, Advised, Dimension, Group, Ranked, Ranking, Test, Weights, show,
};
use diskfacts_record::Finding;

/// Options of an order by weights, and of one dimension, that are shown.
const SHOWN: usize = 12;
const SHOWN_OF_DIMENSION: usize = 5;
/// Where the options of an order begin.
const COLUMN: usize = 8;
/// Lines of evidence of a finding that are shown; `show RUN` has all.
const EVIDENCE: usize = 4;

/// The advice as text.
pub fn advice(advice: &Advice, closing: &Closing, look: &Look) -> String {
    let mut page = Page::new(look);
    let title = title(advice);
    page.labelled(0, (Style::Heading, &title), 0, Style::Plain, "");
    page.paragraph(2, Style::Minor, &advice.runs.join(", "));
    for advised in &advice.groups {
        group(&mut page, advised);
    }
    if !advice.needs.is_empty() {
        page.heading("By the thresholds of the use");
        for need in &advice.needs {
            page.paragraph(2, Style::Plain, need);
        }
    }
    if !advice.findings.is_empty() {
        page.heading("What the rules say of these figures");
        for finding in &advice.findings {
            self::finding(&mut page, finding);
        }
    }
    missing(&mut page, advice);
    if let Some(weights) = &advice.weights
        && !weights.sources.is_empty()
    {
        page.heading("Where the weights come from");
        for source in &weights.sources {
            page.paragraph(2, Style::Minor, source);
        }
    }
    run::close(&mut page, closing);
    page.finish()
}

/// What it is advice for, and from how many runs.
pub(crate) fn title(advice: &Advice) -> String {
    let runs = count(advice.runs.len() as u64, "run");
    match &advice.weights {
        Some(weights) => format!("Advice for {}, from {runs}", goal(weights)),
        None => format!("What is best at what, from {runs}"),
    }
}

/// `etcd (log-writes=1, tail-latency=1)`
fn goal(weights: &Weights) -> String {
    let parts: Vec<String> = weights
        .of
        .iter()
        .map(|(dimension, weight)| {
            let digits = format!("{weight:.2}");
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{dimension}={digits}")
        })
        .collect();
    let parts = parts.join(", ");
    weights
        .usage
        .map_or_else(|| parts.clone(), |usage| format!("{usage} ({parts})"))
}

/// `4 options, told apart by read_ahead and scheduler`
pub(crate) fn told_apart(group: &Group) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for key in group
        .options
        .iter()
        .flat_map(|option| option.settings.keys())
    {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    format!(
        "{}, told apart by {}",
        count(group.options.len() as u64, "option"),
        list(&keys)
    )
}

fn group(page: &mut Page<'_>, advised: &Advised) {
    page.heading(&told_apart(&advised.group));
    for pick in &advised.picks {
        page.titled(2, (Style::Good, "*"), 2, Style::Plain, pick);
    }
    if let Some(ranking) = &advised.ranking {
        page.heading("In order");
        order(page, &advised.group, ranking, SHOWN);
    } else {
        for (dimension, ranking) in &advised.dimensions {
            page.heading(&format!("{dimension}: {}", dimension.about()));
            order(page, &advised.group, ranking, SHOWN_OF_DIMENSION);
        }
    }
    if !advised.costs.is_empty() {
        page.heading("What it costs elsewhere");
        for cost in &advised.costs {
            page.paragraph(2, Style::Plain, cost);
        }
    }
    if !advised.uncertain.is_empty() {
        page.heading("How certain that is");
        for said in &advised.uncertain {
            page.paragraph(2, Style::Plain, said);
        }
    }
}

fn order(page: &mut Page<'_>, group: &Group, ranking: &Ranking, shown: usize) {
    for ranked in ranking.ranked.iter().take(shown) {
        let place = place(ranked);
        let style = if ranked.place_from == 1 {
            Style::Good
        } else {
            Style::Plain
        };
        let text = option(group, ranking, ranked);
        page.labelled(2, (style, &place), COLUMN, Style::Plain, &text);
    }
    let left = ranking.ranked.len().saturating_sub(shown) as u64;
    if left > 0 {
        let text = format!("{} more; --json has them.", count(left, "option"));
        page.paragraph(2 + COLUMN, Style::Minor, &text);
    }
}

/// `Raid6: get-block 620.7 MB/s (612.8 to 628.5)`
fn option(group: &Group, ranking: &Ranking, ranked: &Ranked) -> String {
    format!(
        "{}: {}",
        group.options[ranked.option].name,
        measured(group, ranking, ranked)
    )
}

/// `get-block 620.7 MB/s (612.8 to 628.5)`
pub(crate) fn measured(group: &Group, ranking: &Ranking, ranked: &Ranked) -> String {
    let mut parts = Vec::new();
    if ranking.by.len() > 1 {
        parts.push(format!(
            "{} of the best ({} to {})",
            percent(ranked.share),
            percent(ranked.low),
            percent(ranked.high)
        ));
    }
    for (dimension, _) in &ranking.by {
        let tests = group.tests.iter();
        let tests: Vec<&Test> = tests.filter(|test| test.dimension == *dimension).collect();
        for test in &tests {
            let Some(measured) = &test.measured[ranked.option] else {
                continue;
            };
            // Stages of one name may measure two dimensions, and two stages one of them.
            let what = if *dimension == Dimension::Cpu {
                format!("{dimension} of {}", test.stage)
            } else if ranking.by.len() > 1 && tests.len() == 1 {
                dimension.to_string()
            } else {
                test.stage.clone()
            };
            parts.push(format!(
                "{what} {} ({} to {})",
                show(measured.value, test.unit),
                bare(&show(measured.low, test.unit)),
                bare(&show(measured.high, test.unit)),
            ));
        }
    }
    parts.join("; ")
}

/// `1`, or `2-4` where its place is not certain.
pub(crate) fn place(ranked: &Ranked) -> String {
    if ranked.place_from == ranked.place_to {
        ranked.place_from.to_string()
    } else {
        format!("{}-{}", ranked.place_from, ranked.place_to)
    }
}

/// Without a unit that stands beside it already; times keep theirs, which may differ.
fn bare(shown: &str) -> &str {
    let units = [" MB/s", "/s", " ms/MB"];
    let found = units.iter().find_map(|unit| shown.strip_suffix(unit));
    found.unwrap_or(shown)
}

fn finding(page: &mut Page<'_>, finding: &Finding) {
    let (style, word) = severity(finding.severity);
    page.labelled(2, (style, word), COLUMN, Style::Plain, &finding.claim);
    for evidence in finding.evidence.iter().take(EVIDENCE) {
        page.paragraph(2 + COLUMN, Style::Minor, evidence);
    }
    let rule = format!("({})", finding.rule);
    page.paragraph(2 + COLUMN, Style::Minor, &rule);
}

fn missing(page: &mut Page<'_>, advice: &Advice) {
    let said = unmeasured(advice);
    if said.is_empty() {
        return;
    }
    page.heading("What was not measured, or takes no part");
    for text in said {
        page.paragraph(2, Style::Plain, &text);
    }
}

/// What was not measured, or takes no part; a sentence each.
pub(crate) fn unmeasured(advice: &Advice) -> Vec<String> {
    let mut said = Vec::new();
    if !advice.unmeasured.is_empty() {
        let names: Vec<String> = advice
            .unmeasured
            .iter()
            .map(|dimension| format!("{dimension} ({})", dimension.about()))
            .collect();
        said.push(format!("Of no two options: {}.", list(&names)));
    }
    if !advice.alone.is_empty() {
        let shown: Vec<&str> = advice.alone.iter().take(5).map(String::as_str).collect();
        let more = advice.alone.len().saturating_sub(shown.len()) as u64;
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        said.push(format!("Of one option only: {}{more}.", shown.join("; ")));
    }
    said.extend(advice.left_out.iter().cloned());
    said
}
