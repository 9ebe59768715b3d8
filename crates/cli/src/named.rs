//! Runs that somebody names: a stored one, or those of a file.

use crate::args::Common;
use crate::dfrun::{self, Parcels};
use crate::exit::{Failure, OrFail};
use crate::session::conclude_document;
use crate::storing::{self, Here};
use diskfacts_record::Run;
use diskfacts_report::json;
use diskfacts_store::Store;
use std::collections::HashMap;
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

/// What a file holds that is ours.
pub(crate) enum InFile {
    /// A run that was printed with `--json`: as it was explained, without its histograms.
    Printed(Box<Run>),
    /// Runs that were exported whole, one after the other: how many and how large they are is
    /// known only when they have come.
    Whole(Box<Parcels>),
}

/// The runs of a file of ours; `None` of any other file, and of what is no text.
pub(crate) fn in_file(path: &Path) -> Result<Option<InFile>, Failure> {
    if let Some(parcels) = dfrun::open(path)? {
        return Ok(Some(InFile::Whole(Box::new(parcels))));
    }
    let text = object(path).ok().flatten();
    let run = text.and_then(|text| json::read_run(&text)).transpose();
    let run = run.map_err(|error| {
        Failure::wrong_call(format!("{} cannot be read: {error}", path.display()))
    })?;
    Ok(run.map(|run| InFile::Printed(Box::new(run))))
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
    here: Here,
    store: Option<Store>,
}

impl<'a> Named<'a> {
    pub(crate) fn new(common: &'a Common) -> Self {
        Self {
            common,
            here: Here::new(),
            store: None,
        }
    }

    /// The stored run of this name. Where nothing is stored yet, `none_yet` says so.
    pub(crate) fn run(&mut self, name: &str, none_yet: &str) -> Result<Run, Failure> {
        let id = self.id(name, none_yet)?;
        let store = self.store.as_ref();
        let store = store.ok_or_else(|| Failure::wrong_call(none_yet))?;
        store.load(&id).or_wrong_call()
    }

    /// The runs of this name with what follows from them by today's rules: the stored one, then
    /// the others that were read from its document, as far as they are still there; or those of
    /// a file, where one that was printed is as it was explained, because what explains a run
    /// are its whole histograms, and they are in no document.
    pub(crate) fn explained(&mut self, name: &str, none_yet: &str) -> Result<Vec<Run>, Failure> {
        if is_document(name) {
            return match in_file(Path::new(name))? {
                Some(InFile::Printed(run)) => Ok(vec![*run]),
                Some(InFile::Whole(parcels)) => {
                    let runs = parcels.runs()?;
                    // The first, of several with one id.
                    let by_id = runs.iter().rev().map(|run| (&*run.run.id, run));
                    let by_id: HashMap<&str, &Run> = by_id.collect();
                    let other = |id: &str| by_id.get(id).map(|run| (*run).clone());
                    let each = runs
                        .iter()
                        .map(|run| explained(run.clone(), other).swap_remove(0));
                    Ok(each.collect())
                }
                None => Err(Failure::wrong_call(format!(
                    "{name} is no run that diskfacts has exported, or printed with --json; \
                     `diskfacts import {name}` reads results of other programs"
                ))),
            };
        }
        let run = self.run(name, none_yet)?;
        // One that was removed since is no reason to say nothing of the others.
        Ok(explained(run, |id| self.store.as_ref()?.load(id).ok()))
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
        // The figures of one that somebody is making are not what one wants to see, and change.
        store
            .id_of(name, |run| self.here.is_made(run))
            .or_wrong_call()
    }

    /// The store, where a stored run was asked for.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// The store, to be kept, where a stored run was asked for.
    pub(crate) fn into_store(self) -> Option<Store> {
        self.store
    }

    /// What can be seen of runs that have not ended.
    pub(crate) fn here(&self) -> &Here {
        &self.here
    }
}

/// Whether these are one run. Ids are made of a moment, and older versions took what two hosts may have in
/// common for the rest; so they are of one run only where host and boot, as far as both are known, do
/// not say otherwise.
pub(crate) fn is_same_run(a: &Run, b: &Run) -> bool {
    let agree = |a: &Option<String>, b: &Option<String>| a == b || a.is_none() || b.is_none();
    a.run.id == b.run.id
        && agree(&a.machine.host, &b.machine.host)
        && agree(&a.machine.boot_id, &b.machine.boot_id)
}

/// The run with what follows from it, then the others that were read from its document with
/// what follows from them; `other` finds one by its id.
pub(crate) fn explained(run: Run, other: impl Fn(&str) -> Option<Run>) -> Vec<Run> {
    let id = run.run.id.clone();
    let together = run.run.source.as_ref().map(|source| source.runs.clone());
    let mut together = together.unwrap_or_default();
    if !together.contains(&id) {
        together = vec![id.clone()];
    }
    // In the order of the document, as they were explained when they were imported.
    let mut own = Some(run);
    let mut runs: Vec<Run> = together
        .iter()
        .filter_map(|one| if *one == id { own.take() } else { other(one) })
        .collect();
    conclude_document(&mut runs);
    let place = runs.iter().position(|run| run.run.id == id);
    let run = runs.remove(place.expect("it is among them"));
    runs.insert(0, run);
    runs
}
