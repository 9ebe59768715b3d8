//! Reports and pages: HTML with drawings in SVG, from a run alone. Pure: no time, no files.
//!
//! * [`Document`]: a whole page, as a file or of a server; [`Links`] says where links lead.
//! * `figure`: a drawing with its title, a sentence on what is seen, its legend and numbers;
//!   `svg`, `scale` and `plot` are what it is drawn with, `table` what numbers stand in.
//! * `chart`: one file for each drawing: first what is drawn, as plain data, then its drawing.
//!
//! Everything that stands in a page is escaped by maud, and what cannot be seen is written out
//! by [`visible`]. No page needs a script. Style is in `style.css`: elements have classes and
//! no styles of their own, so that the strictest Content-Security-Policy holds.

mod advise;
mod around;
mod chart;
mod claims;
mod compare;
mod document;
mod drawings;
mod figure;
mod groups;
mod links;
mod live;
mod plot;
mod rows;
mod run;
mod runs;
mod scale;
mod settings;
mod style;
mod svg;
mod sweeps;
mod table;
mod together;
mod trends;

pub use around::{message, navigation, parts, whole_run};
pub use document::{Document, GENERATOR, is_report, visible};
pub use links::Links;
pub use live::{Going, going, live};
pub use maud::Markup;
pub use runs::{Known, Narrowed, RunList, narrowing, runs};
pub use style::STYLE;

use crate::text::Look;
use crate::text::heading::when;
use diskfacts_facts::advise::Advice;
use diskfacts_facts::trends::Trends;
use diskfacts_record::together::Merged;
use diskfacts_record::{Comparison, Run};
use maud::html;
use run::Scope;

/// How words look in a page: in Unicode, and as wide as they are.
pub(crate) const LOOK: Look = Look {
    width: 10_000,
    colour: false,
    unicode: true,
};

/// A file with these runs: what they are to each other where they are several, then each whole.
///
/// # Panics
/// Where there is no run.
pub fn report(runs: &[&Run]) -> String {
    let [first, others @ ..] = runs else {
        panic!("a report is of a run at least");
    };
    let links = &Links::File;
    let title = match others.len() {
        0 => title(first),
        more => format!("{} and {more} more", title(first)),
    };
    let body = html! {
        @if !others.is_empty() { (overview(runs, links)) }
        @for (place, one) in runs.iter().enumerate() {
            (run(one, place, links))
        }
    };
    file(title, body)
}

/// A page as a file.
fn file(title: String, body: Markup) -> String {
    let document = Document {
        title,
        links: &Links::File,
        navigation: None,
        scripts: Vec::new(),
        body,
    };
    document.render()
}

/// What changed between two sides; their runs are those that were compared.
pub fn comparison<'r>(
    comparison: &Comparison,
    (a, b): (&[&'r Run], &[&'r Run]),
    links: &Links,
) -> Markup {
    let named = |side: &str, runs: &[&'r Run]| -> Vec<(String, &'r Run)> {
        let name = |run: &Run| match runs.len() {
            1 => side.to_owned(),
            _ => format!("{side}: {}", drawings::called(run, runs)),
        };
        runs.iter().map(|run| (name(run), *run)).collect()
    };
    let drawings = drawings::of_runs(&[named("A", a), named("B", b)].concat());
    compare::body(
        comparison,
        links,
        &html! { @for figure in &drawings { (figure) } },
    )
}

/// The same as a file.
pub fn report_of_comparison(comparison: &Comparison, sides: (&[&Run], &[&Run])) -> String {
    let title = format!(
        "{} → {}: diskfacts compare",
        comparison.a.given, comparison.b.given
    );
    file(title, self::comparison(comparison, sides, &Links::File))
}

/// Which of several options to take.
pub fn advice(advice: &Advice, links: &Links) -> Markup {
    advise::body(advice, links)
}

/// The same as a file.
pub fn report_of_advice(advice: &Advice) -> String {
    file(
        "diskfacts advise".to_owned(),
        self::advice(advice, &Links::File),
    )
}

/// How stages went from run to run; `of` says which runs they are, in words.
pub fn trends(trends: &Trends, of: &str, links: &Links) -> Markup {
    trends::body(trends, of, links)
}

/// The same as a file.
pub fn report_of_trends(trends: &Trends, of: &str) -> String {
    file(
        "diskfacts trends".to_owned(),
        self::trends(trends, of, &Links::File),
    )
}

/// Hosts that measured together, as a file.
pub fn report_of_hosts(merged: &Merged) -> String {
    let title = format!("{}: diskfacts together", merged.group);
    file(title, together::body(merged))
}

/// A run as an article. `place` is its place in a file of several, from 0.
pub fn run(run: &Run, place: usize, links: &Links) -> Markup {
    run::article(&Scope::new(run, place, links))
}

/// What a run says by a mark of its first page, or by the name of a limiter, a rule or a use;
/// `None` where it says nothing by that name.
pub fn claim(run: &Run, name: &str, links: &Links) -> Option<Markup> {
    claims::claim(&Scope::new(run, 0, links), name)
}

/// What a tab calls the page of a run.
pub fn title(run: &Run) -> String {
    let name = run.run.labels.name.as_ref();
    let name = name.map_or_else(|| run.run.id.clone(), Clone::clone);
    format!("{}: diskfacts {name}", run.target.given)
}

/// Which runs they are, and their latencies over each other.
fn overview(runs: &[&Run], links: &Links) -> Markup {
    let named = runs.iter().map(|run| (drawings::called(run, runs), *run));
    let drawings = drawings::of_runs(&named.collect::<Vec<_>>());
    let rows = runs.iter().enumerate();
    html! {
        header {
            h1 { (runs.len()) " runs" }
            ul {
                @for (place, run) in rows {
                    li {
                        a href=(links.run(place, &run.run.id)) { (drawings::called(run, runs)) }
                        ": " (run.plan.name) " of " (run.target.given) ", " (when(run))
                    }
                }
            }
        }
        @if !drawings.is_empty() {
            section {
                h2 { "Over each other" }
                div class="figures" { @for figure in &drawings { (figure) } }
            }
        }
    }
}
