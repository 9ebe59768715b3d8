//! What stands around the pages of a server, and in the place of one that cannot be shown.

use super::links::Links;
use diskfacts_record::Run;
use maud::{Markup, html};

/// The pages that are always there: the first part of their path, and what they are called.
const PAGES: [(&str, &str); 3] = [("", "Runs"), ("trends", "Trends"), ("live", "Live")];

/// Links to the pages that are always there; `here` is the first part of the path of this one.
pub fn navigation(here: &str, links: &Links) -> Markup {
    html! {
        @for (path, name) in PAGES {
            a href=(links.page(path)) aria-current=[(path == here).then_some("page")] { (name) }
        }
    }
}

/// Parts of a page below each other.
pub fn parts(parts: [Markup; 2]) -> Markup {
    html! { @for part in parts { (part) } }
}

/// The way back from a part of a run to all of it.
pub fn whole_run(run: &Run, links: &Links) -> Markup {
    html! {
        p {
            "Of the run " a href=(links.run(0, &run.run.id)) { (run.run.id) } ": "
            (run.plan.name) " of " (run.target.given) "."
        }
    }
}

/// A page that says only this, in paragraphs.
pub fn message(title: &str, said: &[String]) -> Markup {
    html! {
        h1 { (title) }
        @for paragraph in said { p { (paragraph) } }
    }
}
