//! What is measured at this moment, drawn anew when more of it is stored.

use super::{Pages, Problem};
use crate::args::Common;
use crate::storing::Here;
use diskfacts_facts::explain;
use diskfacts_report::html::{Going, Links, going, visible};
use diskfacts_serve::Draw;
use diskfacts_store::{RunSummary, Store};

/// Among so many runs that began last those are looked for that are being made.
const LATEST: usize = 200;

/// The runs that are being made, as far as they are stored.
pub(super) fn runs_of(store: &Store, here: &Here) -> Result<Vec<Going>, diskfacts_store::Error> {
    let mut runs = Vec::new();
    for summary in being_made(store, here)? {
        let run = store.load(&summary.id)?;
        let explanation = explain(&run);
        runs.push(Going::of(&run, explanation));
    }
    Ok(runs)
}

fn being_made(store: &Store, here: &Here) -> Result<Vec<RunSummary>, diskfacts_store::Error> {
    let mut runs = store.runs(LATEST)?;
    runs.retain(|run| here.is_made(run));
    Ok(runs)
}

/// Draws what goes on whenever the store was changed, or a process that made a run is gone.
struct Watching {
    pages: Pages,
    links: Links,
    store: Option<Store>,
    /// Of what was drawn last: the version of the store, and the runs.
    drawn_of: Option<(i64, Vec<RunSummary>)>,
    drawn: String,
}

impl Pages {
    /// What goes on now.
    pub(super) fn going(&self) -> Result<Vec<Going>, Problem> {
        match self.store()? {
            Some(store) => Ok(runs_of(&store, &self.here)?),
            None => Ok(Vec::new()),
        }
    }
}

/// What draws it again and again. It ends where the store cannot be read.
pub(super) fn watch(common: &Common, links: Links) -> Draw {
    let mut watching = Watching {
        pages: Pages::of(common),
        links,
        store: None,
        drawn_of: None,
        drawn: String::new(),
    };
    Box::new(move || watching.draw().ok())
}

impl Watching {
    fn draw(&mut self) -> Result<String, Problem> {
        if self.store.is_none() {
            self.store = self.pages.store()?;
        }
        let here = &self.pages.here;
        let runs = match &self.store {
            None => Vec::new(),
            Some(store) => {
                let version = store.version()?;
                // A process that was killed changes nothing in the store.
                let is_same = |(of, runs): &(i64, Vec<RunSummary>)| {
                    *of == version && runs.iter().all(|run| here.is_made(run))
                };
                if self.drawn_of.as_ref().is_some_and(is_same) {
                    return Ok(self.drawn.clone());
                }
                self.drawn_of = Some((version, being_made(store, here)?));
                runs_of(store, here)?
            }
        };
        self.drawn = visible(going(&runs, &self.links));
        Ok(self.drawn.clone())
    }
}
