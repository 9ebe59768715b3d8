//! A run that somebody names: a stored one, or the document of one in a file.

use crate::args::Common;
use crate::exit::{Failure, OrFail};
use crate::storing;
use diskfacts_record::{Run, Status};
use diskfacts_report::json;
use diskfacts_store::{RunSummary, Selector, Store};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Whether this is a file that is there.
pub(crate) fn is_document(name: &str) -> bool {
    is_path(name) && Path::new(name).is_file()
}

/// Whether this names a file rather than a stored run: ids have neither slash
/// nor point.
fn is_path(name: &str) -> bool {
    name.contains(['/', '.'])
}

/// The run of a file that was printed with `--json`; `None` of any other file, and of what
/// is no text.
pub(crate) fn of_document(path: &Path) -> Result<Option<Run>, Failure> {
    let text = object(path).ok().flatten();
    let run = text.and_then(|text| json::read_run(&text)).transpose();
    run.map_err(|error| Failure::wrong_call(format!("{} cannot be read: {error}", path.display())))
}

/// The text of a file that begins as an object of JSON does. What does not may be large, and
/// is for others to read piece by piece.
fn object(path: &Path) -> io::Result<Option<String>> {
    let mut file = BufReader::new(File::open(path)?);
    let begins = |byte: &&u8| !byte.is_ascii_whitespace();
    if file.fill_buf()?.iter().find(begins) != Some(&b'{') {
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Where named runs come from; the store is opened when a stored one is asked for.
pub(crate) struct Named<'a> {
    common: &'a Common,
    store: Option<Store>,
}

impl<'a> Named<'a> {
    pub(crate) fn new(common: &'a Common) -> Self {
        Self {
            common,
            store: None,
        }
    }

    /// The run of this name. Where nothing is stored yet, `none_yet` says so.
    pub(crate) fn run(&mut self, name: &str, none_yet: &str) -> Result<Run, Failure> {
        if is_document(name) {
            return of_document(Path::new(name))?.ok_or_else(|| {
                Failure::wrong_call(format!(
                    "{name} is not a run printed with --json; `diskfacts import \
                     {name}` reads results of other programs"
                ))
            });
        }
        let id = self.id(name, none_yet)?;
        let store = self.store.as_ref();
        let store = store.ok_or_else(|| Failure::wrong_call(none_yet))?;
        store.load(&id).or_wrong_call()
    }

    /// The id of the stored run of this name. Where nothing is stored yet, `none_yet` says so.
    pub(crate) fn id(&mut self, name: &str, none_yet: &str) -> Result<String, Failure> {
        if is_path(name) {
            return Err(Failure::wrong_call(format!(
                "there is no file {name}; name a stored run (`diskfacts runs` lists them) or a file \
                 with results"
            )));
        }
        if self.store.is_none() {
            self.store = storing::existing(self.common)?;
        }
        let store = self.store.as_ref();
        let store = store.ok_or_else(|| Failure::wrong_call(none_yet))?;
        if let Selector::Last { back } = Selector::parse(name)
            && let Some(id) = ended(store, back)?
        {
            return Ok(id);
        }
        store.id_of(name).or_wrong_call()
    }

    /// Another run of the store from which one was taken.
    pub(crate) fn stored(&self, id: &str) -> Option<Run> {
        self.store.as_ref()?.load(id).ok()
    }

    /// The store, where a stored run was asked for.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }
}

/// The run that began last, or so many before it, without those that somebody is making at
/// this moment: their figures are not what one wants to see, and change.
fn ended(store: &Store, back: u32) -> Result<Option<String>, Failure> {
    /// Runs that are made side by side on one machine.
    const BESIDE: usize = 64;
    let wanted = usize::try_from(back).unwrap_or(usize::MAX);
    let runs = store.runs(wanted.saturating_add(BESIDE)).or_failed()?;
    let is_made = |run: &RunSummary| {
        run.status == Some(Status::Running) && storing::alive(run.writer.as_ref()) == Some(true)
    };
    let mut ended = runs.into_iter().filter(|run| !is_made(run));
    Ok(ended.nth(wanted).map(|run| run.id))
}
