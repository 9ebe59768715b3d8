//! Pages: whole, linked, and of nothing but what we wrote, whatever somebody named a thing.

use crate::fixtures;
use diskfacts_facts::compare::{Part, Selection};
use diskfacts_record::Run;
use diskfacts_report::html::{self, Links};
use diskfacts_testkit::HOSTILE;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a page is made of; whatever else is in it came from outside.
const ELEMENTS: [&str; 50] = [
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "article",
    "section",
    "header",
    "h1",
    "h2",
    "h3",
    "h4",
    "b",
    "em",
    "p",
    "a",
    "span",
    "strong",
    "dl",
    "dt",
    "dd",
    "ul",
    "ol",
    "li",
    "pre",
    "code",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "figure",
    "figcaption",
    "svg",
    "desc",
    "path",
    "rect",
    "circle",
    "text",
    "g",
    "pattern",
    "defs",
    "caption",
    "tspan",
];
const ATTRIBUTES: [&str; 42] = [
    "lang",
    "charset",
    "name",
    "content",
    "http-equiv",
    "class",
    "id",
    "href",
    "title",
    "role",
    "tabindex",
    "scope",
    "colspan",
    "rowspan",
    "viewbox",
    "width",
    "height",
    "x",
    "y",
    "d",
    "cx",
    "cy",
    "r",
    "transform",
    "text-anchor",
    "aria-label",
    "aria-labelledby",
    "aria-hidden",
    "x1",
    "x2",
    "y1",
    "y2",
    "points",
    "open",
    "patternunits",
    "patterntransform",
    "fill",
    "stroke",
    "dx",
    "dy",
    "rx",
    "stroke-width",
];

/// A start tag: its name, and its attributes with their values as they stand.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

/// The start tags of a page, as a browser takes them that meets no error: every `<` begins a
/// tag, and every value is in double quotes.
fn tags(page: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(end) = rest.strip_prefix('/') {
            let close = end.find('>').expect("the end of a tag");
            rest = &end[close + 1..];
            continue;
        }
        let name_ends = rest.find([' ', '>']).expect("a tag");
        let (name, mut inner) = rest.split_at(name_ends);
        let mut attributes = Vec::new();
        while let Some(attribute) = inner.strip_prefix(' ') {
            let ends = attribute.find(['=', ' ', '>']).expect("an attribute");
            let (name, value) = attribute.split_at(ends);
            if let Some(value) = value.strip_prefix("=\"") {
                let quote = value.find('"').expect("the end of a value");
                attributes.push((name, &value[..quote]));
                inner = &value[quote + 1..];
            } else {
                attributes.push((name, ""));
                inner = value;
            }
        }
        rest = inner
            .strip_prefix('>')
            .unwrap_or_else(|| panic!("<{name} goes on: {inner:.80}"));
        if name == "style" {
            rest = rest.split_once("</style>").expect("the end of the style").1;
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

fn is_ours(page: &str, told: &str) {
    for Tag { name, attributes } in tags(page) {
        assert!(ELEMENTS.contains(&name), "<{name}>: {told}");
        for (attribute, value) in attributes {
            let lower = attribute.to_lowercase();
            assert!(
                ATTRIBUTES.contains(&lower.as_str()),
                "{attribute} of {name}: {told}"
            );
            assert!(
                attribute != "href" || value.starts_with('#'),
                "{value}: {told}"
            );
        }
    }
}

fn all() -> Vec<(&'static str, Run)> {
    vec![
        ("healthy", fixtures::healthy()),
        ("held back", fixtures::held_back()),
        ("failing", fixtures::failing()),
        ("followed", fixtures::followed()),
        ("uneven", fixtures::uneven()),
        ("interrupted", fixtures::interrupted()),
        ("killed", fixtures::killed()),
        ("degraded", fixtures::degraded()),
        ("write-matrix", fixtures::write_matrix()),
        ("stride", fixtures::stride()),
        ("zones", fixtures::zones()),
        ("streams", fixtures::streams()),
        ("tuned", fixtures::tuned()),
        ("copying", fixtures::copying()),
    ]
}

fn page(run: &Run) -> String {
    html::report(&[run])
}

#[test]
fn every_link_leads_to_one_place_of_its_page() {
    let runs = all();
    let mut pages: Vec<String> = runs.iter().map(|(_, run)| page(run)).collect();
    pages.push(html::report(&[&runs[0].1, &runs[1].1, &runs[4].1]));
    for page in pages {
        is_ours(&page, "a run of ours");
        let tags = tags(&page);
        let values = |wanted: &'static str| {
            let attributes = tags.iter().flat_map(|tag| &tag.attributes);
            attributes
                .filter(move |(name, _)| *name == wanted)
                .map(|(_, value)| *value)
        };
        let ids: Vec<&str> = values("id").collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "an id twice");
        for href in values("href") {
            assert!(unique.contains(href.trim_start_matches('#')), "{href}");
        }
        for named in values("aria-labelledby").flat_map(|ids| ids.split(' ')) {
            assert!(unique.contains(named), "{named}");
        }
    }
}

#[test]
fn a_page_says_what_the_first_page_of_the_terminal_says() {
    let run = fixtures::held_back();
    let page = page(&run);
    for finding in &run.findings {
        let text = escaped(&finding.claim);
        assert!(page.contains(&text), "{text}");
        for evidence in &finding.evidence {
            assert!(page.contains(&escaped(evidence)), "{evidence}");
        }
    }
    for limit in run.limits.iter().filter_map(|stage| stage.limits.first()) {
        assert!(page.contains(&escaped(&limit.claim)), "{}", limit.claim);
        assert!(page.contains(&escaped(&limit.remedy)), "{}", limit.remedy);
    }
    for figures in &run.figures {
        assert!(page.contains(&figures.stage), "{}", figures.stage);
    }
}

#[test]
fn a_claim_is_found_by_its_mark_and_by_its_name() {
    let run = fixtures::held_back();
    let links = Links::Server {
        prefix: "/secret".into(),
    };
    let claim = |name: &str| html::claim(&run, name, &links).map(maud::PreEscaped::into_string);
    assert_eq!(claim("1"), claim(&run.findings[0].rule));
    let first = run.limits.iter().find_map(|stage| stage.limits.first());
    assert_eq!(claim("a"), claim(&first.expect("a limit").limiter));
    assert!(claim("a").is_some_and(|claim| claim.contains("What to do")));
    assert_eq!(claim("no-such-claim"), None);
    let page = html::run(&run, 0, &links).into_string();
    let to = format!("href=\"/secret/run/{}/claim/1\"", run.run.id);
    assert!(page.contains(&to), "{page}");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Puts `text` behind every string of these places.
fn append(value: &mut Value, place: &str, wanted: &dyn Fn(&str) -> bool, text: &str) {
    match value {
        Value::String(string) if wanted(place) => string.push_str(text),
        Value::Array(items) => {
            for item in items {
                append(item, &format!("{place}[]"), wanted, text);
            }
        }
        Value::Object(items) => {
            for (key, item) in items {
                append(item, &format!("{place}.{key}"), wanted, text);
            }
        }
        _ => {}
    }
}

fn places(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::String(_) => {
            found.insert(place.to_owned());
        }
        Value::Array(items) => {
            for item in items {
                places(item, &format!("{place}[]"), found);
            }
        }
        Value::Object(items) => {
            for (key, item) in items {
                places(item, &format!("{place}.{key}"), found);
            }
        }
        _ => {}
    }
}

/// The places of a document in which any text may stand.
fn free(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    places(document, "", &mut found);
    found.retain(|place| {
        let mut changed = document.clone();
        append(&mut changed, "", &|at| at == place, "~");
        serde_json::from_value::<Run>(changed).is_ok()
    });
    found
}

#[test]
fn what_somebody_named_a_thing_stays_text() {
    for (name, run) in [
        ("held back", fixtures::held_back()),
        ("uneven", fixtures::uneven()),
        ("degraded", fixtures::degraded()),
        ("tuned", fixtures::tuned()),
        ("stride", fixtures::stride()),
        ("zones", fixtures::zones()),
    ] {
        let document = serde_json::to_value(&run).expect("a document");
        let free = free(&document);
        for part in [
            ".run.labels.name",
            ".target.given",
            ".stack.devices[].model",
            ".machine.host",
        ] {
            let is_there = !document
                .pointer(&part.replace("[]", "/0").replace('.', "/"))
                .is_none_or(Value::is_null);
            assert!(free.contains(part) || !is_there, "{part} of {name}");
        }
        // Each by itself in one of them, all behind each other in the others.
        let together = [HOSTILE.concat()];
        let attacks: Vec<&str> = match name {
            "held back" => HOSTILE.to_vec(),
            _ => together.iter().map(String::as_str).collect(),
        };
        for attack in attacks {
            let mut changed = document.clone();
            append(&mut changed, "", &|at| free.contains(at), attack);
            let run: Run = serde_json::from_value(changed).expect("a run still");
            let page = page(&run);
            is_harmless(&page, &format!("{name}: {attack:?}"));
        }
    }
}

/// Of nothing but what we wrote, and with nothing that cannot be seen.
fn is_harmless(page: &str, told: &str) {
    is_ours(page, told);
    let control = |c: char| c.is_control() && c != '\n';
    let direction = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let seen = page.chars().find(|c| control(*c) || direction(*c));
    assert_eq!(seen, None, "{told}");
}

fn side(run: &Run) -> Selection<'_> {
    Selection {
        given: run.run.id.clone(),
        parts: vec![Part {
            run,
            only: BTreeMap::new(),
        }],
    }
}

/// Pages of what two runs are to each other.
fn pages_of_two(a: &Run, b: &Run) -> Vec<String> {
    let comparison = diskfacts_facts::compare(&side(a), &side(b), 0.05, &[]);
    let runs = [a.clone(), b.clone()];
    let trends = diskfacts_facts::trends(&runs);
    let mut pages = vec![
        html::report_of_comparison(&comparison, (&[a], &[b])),
        html::report_of_trends(&trends, &format!("of {}", a.target.given)),
    ];
    // Of one volume under one setting there is nothing to choose.
    if !a.effects.is_empty() {
        let advice = diskfacts_facts::advise(&runs, None).expect("something to choose between");
        pages.push(html::report_of_advice(&advice));
    }
    pages
}

#[test]
fn in_pages_of_several_runs_it_stays_text_too() {
    for [before, after] in [
        [fixtures::healthy(), fixtures::held_back()],
        [fixtures::tuned(), fixtures::tuned()],
    ] {
        let documents = [&before, &after].map(|run| serde_json::to_value(run).expect("a document"));
        let free = documents.each_ref().map(free);
        for attack in HOSTILE {
            let [a, b] = [0, 1].map(|at| {
                let mut changed = documents[at].clone();
                append(&mut changed, "", &|place| free[at].contains(place), attack);
                serde_json::from_value::<Run>(changed).expect("a run still")
            });
            for page in pages_of_two(&a, &b) {
                is_harmless(&page, &format!("{attack:?}"));
            }
        }
    }
}

#[test]
fn the_page_of_a_comparison_has_its_sentences_conditions_and_figures() {
    let (a, b) = (fixtures::healthy(), fixtures::held_back());
    let comparison = diskfacts_facts::compare(&side(&a), &side(&b), 0.05, &[]);
    let page = html::report_of_comparison(&comparison, (&[&a], &[&b]));
    assert!(page.contains(&escaped(&comparison.summary)), "{page}");
    for stage in &comparison.stages {
        assert!(page.contains(&escaped(&stage.statement)), "{}", stage.stage);
    }
    for condition in &comparison.conditions {
        assert!(page.contains(&escaped(&condition.what)), "{condition:?}");
    }
    assert!(page.contains("<figure id=\"speeds\">"), "{page}");
}

#[test]
fn the_page_of_trends_dates_a_change_and_says_what_else_changed() {
    let runs: Vec<Run> = (1..=8)
        .map(|day| {
            let mut run = fixtures::healthy();
            run.run.id = format!("day-{day}");
            run.run.started = format!("2026-11-{day:02}T00:00:00Z");
            run.machine.kernel = Some(if day < 5 { "6.1" } else { "6.12" }.to_owned());
            for figures in run.figures.iter_mut().filter(|_| day >= 5) {
                for figure in [&mut figures.iops, &mut figures.throughput_bytes_per_s] {
                    figure.median /= 2.0;
                }
            }
            run
        })
        .collect();
    let trends = diskfacts_facts::trends(&runs);
    let page = html::report_of_trends(&trends, "of /srv/db since November");
    assert!(page.contains("What changed, the newest first"), "{page}");
    assert!(page.contains("kernel: 6.1 → 6.12"), "{page}");
    assert!(
        page.contains("From 2026-11-05T00:00:00Z on worse"),
        "{page}"
    );
    assert!(page.contains("of /srv/db since November"), "{page}");
}

#[test]
fn the_page_of_advice_has_its_picks_and_the_order_with_intervals() {
    let advice = diskfacts_facts::advise(&[fixtures::tuned()], None).expect("advice");
    let page = html::report_of_advice(&advice);
    for group in &advice.groups {
        for pick in &group.picks {
            assert!(page.contains(&escaped(pick)), "{pick}");
        }
        for option in &group.group.options {
            assert!(page.contains(&escaped(&option.name)), "{}", option.name);
        }
    }
    assert!(page.contains(">of the best</text>"), "{page}");
    let (_, ranking) = &advice.groups[0].dimensions[0];
    let places = ranking.ranked.len();
    assert!(
        page.matches("<path class=\"interval\"").count() >= places,
        "{page}"
    );
}

#[test]
fn an_attack_that_was_not_escaped_would_be_seen() {
    let whole = |inner: &str| format!("<!DOCTYPE html><html><body>{inner}</body></html>");
    is_ours(&whole("<p class=\"soft\">&lt;script&gt;</p>"), "escaped");
    for attack in [
        "<script>alert(1)</script>",
        "<p onmouseover=\"alert(1)\"></p>",
        "<a href=\"javascript:alert(1)\"></a>",
        "<img src=x>",
    ] {
        let page = whole(attack);
        let found = std::panic::catch_unwind(|| is_ours(&page, "an attack"));
        assert!(found.is_err(), "{attack}");
    }
}
