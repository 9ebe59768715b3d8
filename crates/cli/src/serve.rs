//! The pages of `diskfacts serve`: which there are, and what is read for each.
//!
//! A page is made of what is in the store when it is asked for, and forgotten. Nothing that
//! comes with a request is taken for the name of a file.

mod list;
mod live;
mod metrics;
mod problem;
mod trends;

use crate::args::Common;
use crate::named::explained;
use crate::storing::{self, Here};
use diskfacts_facts::compare;
use diskfacts_facts::compare::{Part, SAME_WITHIN, Selection};
use diskfacts_record::Run;
use diskfacts_report::html::{self, Document, Links};
use diskfacts_serve::{Answer, Request, Site, Status};
use diskfacts_store::Store;
use problem::Problem;
use std::collections::BTreeMap;

/// The only script: it puts what the server drew anew in the place of what stood there.
const SCRIPT: &str = include_str!("serve/live.js");

/// The site.
pub(crate) struct Pages {
    common: Common,
    here: Here,
}

/// What is particular to a page.
struct Page {
    title: String,
    body: html::Markup,
    scripts: Vec<String>,
}

impl Page {
    fn new(title: impl Into<String>, body: html::Markup) -> Self {
        Self {
            title: title.into(),
            body,
            scripts: Vec::new(),
        }
    }
}

impl Pages {
    pub(crate) fn of(common: &Common) -> Self {
        Self {
            common: common.clone(),
            here: Here::new(),
        }
    }

    /// The store as it is now; `None` where none is yet.
    fn store(&self) -> Result<Option<Store>, Problem> {
        storing::existing(&self.common).map_err(Problem::from)
    }

    /// The run that somebody means, with what follows from it, and what is so of its store.
    fn run(&self, selector: &str) -> Result<Run, Problem> {
        let none = || Problem::not_found("No run is stored yet.");
        let store = self.store()?.ok_or_else(none)?;
        let id = store.id_of(selector, |run| self.here.is_made(run))?;
        let run = store.load(&id)?;
        // One that was removed since is no reason to say nothing of the others.
        Ok(explained(run, |id| store.load(id).ok()).swap_remove(0))
    }
}

impl Site for Pages {
    fn answer(&self, request: &Request) -> Answer {
        let links = Links::Server {
            prefix: request.prefix.clone(),
        };
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["style.css"] => Answer::text("text/css; charset=utf-8", html::STYLE),
            ["live.js"] => Answer::text("text/javascript; charset=utf-8", SCRIPT),
            ["live", "events"] => Answer::events(live::watch(&self.common, links)),
            ["metrics"] => self
                .metrics()
                .unwrap_or_else(|problem| whole(Err(problem), "metrics", &links)),
            path => {
                let place = path.first().copied().unwrap_or_default();
                whole(self.page(path, request, &links), place, &links)
            }
        }
    }
}

/// A page with what stands around each; `place` is the first part of its path.
fn whole(page: Result<Page, Problem>, place: &str, links: &Links) -> Answer {
    let (status, page) = match page {
        Ok(page) => (Status::Found, page),
        Err(problem) => {
            let said = html::message(problem.title, &problem.said);
            (problem.status, Page::new(problem.title, said))
        }
    };
    let document = Document {
        title: page.title,
        links,
        navigation: Some(html::navigation(place, links)),
        scripts: page.scripts,
        body: page.body,
    };
    Answer::page(status, document.render())
}

impl Pages {
    fn page(&self, path: &[&str], request: &Request, links: &Links) -> Result<Page, Problem> {
        match path {
            [] => {
                let list = self.list(request)?;
                Ok(Page::new("Runs: diskfacts", html::runs(&list, links)))
            }
            ["run", selector] => {
                let run = self.run(selector)?;
                Ok(Page::new(html::title(&run), html::run(&run, 0, links)))
            }
            ["run", selector, "claim", mark] => {
                let run = self.run(selector)?;
                let none = || Problem::not_found(format!("{} has no claim {mark}.", run.run.id));
                let claim = html::claim(&run, mark, links).ok_or_else(none)?;
                let body = html::parts([html::whole_run(&run, links), claim]);
                Ok(Page::new(format!("{mark}: {}", html::title(&run)), body))
            }
            ["compare"] => self.compare(request, links),
            ["trends"] => {
                let body = self.trends(request, links)?;
                Ok(Page::new("Trends: diskfacts", body))
            }
            ["live"] => {
                let events = links.page("live/events");
                let body = html::live(&self.going()?, links, &events);
                Ok(Page {
                    scripts: vec![links.page("live.js")],
                    ..Page::new("Live: diskfacts", body)
                })
            }
            _ => Err(Problem::not_found(
                "There is no such page. The links above lead to those that there are.",
            )),
        }
    }

    fn compare(&self, request: &Request, links: &Links) -> Result<Page, Problem> {
        let side = |name| {
            let missing = || {
                Problem::wrong(
                    "Choose two runs in the list, one as A and one as B: it has the \
                                form for it.",
                )
            };
            self.run(request.field(name).ok_or_else(missing)?)
        };
        let (a, b) = (side("a")?, side("b")?);
        for run in [&a, &b] {
            if run.trials.is_empty() {
                let id = &run.run.id;
                return Err(Problem::wrong(format!(
                    "The run {id} has no trial, so there is nothing to compare."
                )));
            }
        }
        let of = |run: &'_ Run| run.run.id.clone();
        let comparison = compare(&selection(&a), &selection(&b), SAME_WITHIN, &[]);
        Ok(Page::new(
            format!("{} and {}: diskfacts", of(&a), of(&b)),
            html::comparison(&comparison, (&[&a], &[&b]), links),
        ))
    }
}

/// A run as a side of a comparison.
fn selection(run: &Run) -> Selection<'_> {
    Selection {
        given: run.run.id.clone(),
        parts: vec![Part {
            run,
            only: BTreeMap::default(),
        }],
    }
}
