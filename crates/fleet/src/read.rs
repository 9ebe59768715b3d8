//! A fleet's files to what its statistics ask for.
//!
//! They are read twice. First which runs there are ([`Fleet::runs`]), of which some hundred bytes each
//! are kept; then the trials of those that somebody chose ([`Fleet::samples`]), from the row groups that have
//! one. So what is in memory goes by the runs, and by the disks that are asked about, not by
//! the rows. Only the columns that are asked for are read, row group after row group, by as many
//! threads as there are processors, each with one file open. Histograms are never read.
//!
//! Most columns are the same in all rows of a run, and are read as spans of rows with one value. A row
//! group is left out where its statistics say that it has no host, group or stage that is asked
//! for, and figures are made of the rows alone that are left when these are known. What is read of a
//! part is what a read of everything has there.

mod groups;
mod looks;
mod pages;
mod parts;
mod runs;
mod spans;
mod table;

pub use runs::{Chosen, Runs, SharedNames};

use crate::error::Error;
use crate::folder::files;
use diskfacts_facts::fleet::Sample;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use table::File;

/// A folder of files.
#[derive(Debug)]
pub struct Fleet {
    files: Vec<PathBuf>,
}

impl Fleet {
    /// The files of a folder.
    ///
    /// # Errors
    /// Where it cannot be read, or has none.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let files = files(folder)?;
        if files.is_empty() {
            return Err(Error::Empty {
                path: folder.to_owned(),
            });
        }
        Ok(Self { files })
    }

    /// The runs of this group, or all, each once: of one that stands in several files, the first
    /// counts. Machines of one name are told apart as all runs of the fleet tell.
    ///
    /// # Errors
    /// Where a file cannot be read, is damaged, or is none of a fleet.
    pub fn runs(&self, group: Option<&str>) -> Result<Runs, Error> {
        match group {
            None => Runs::read_all(&self.files),
            // Of a group there may be one machine of the name alone, as of a second look.
            Some(_) => self.runs_told_apart(group, &Self::shared_names([self])?),
        }
    }

    /// The same, of machines that are told apart under these names: what is compared with another
    /// fleet has to have one machine wherever that has one.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub fn runs_told_apart(
        &self,
        group: Option<&str>,
        shared: &SharedNames,
    ) -> Result<Runs, Error> {
        Runs::read(&self.files, group, shared)
    }

    /// The names that several machines have, by all runs of these fleets.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub fn shared_names<'a>(
        fleets: impl IntoIterator<Item = &'a Self>,
    ) -> Result<SharedNames, Error> {
        let of_each = fleets.into_iter().map(|fleet| known_runs(&fleet.files));
        let of_each: Vec<Runs> = of_each.collect::<Result<_, _>>()?;
        Ok(SharedNames::of(&of_each))
    }

    /// The names of all groups that runs are of.
    ///
    /// # Errors
    /// As [`samples`](Self::samples).
    pub fn groups(&self) -> Result<BTreeSet<String>, Error> {
        known_groups(&self.files)
    }

    /// A sample for each stage of these runs, or for the stage of this name or label alone, in the
    /// order of the files.
    ///
    /// # Errors
    /// Where a file cannot be read, is damaged, or is none of a fleet.
    pub fn samples(&self, chosen: &Chosen, stage: Option<&str>) -> Result<Vec<Sample>, Error> {
        groups::samples(&self.files, chosen, stage)
    }
}

/// The groups that these files have runs of.
fn known_groups(files: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    let mut known = BTreeSet::new();
    for path in files {
        let file = File::open(path)?;
        for part in 0..file.row_groups() {
            // Dictionaries may have texts that no row has.
            let groups = file.texts(part, "run_group")?;
            let of_spans = groups.spans.iter();
            for group in of_spans.filter_map(|span| groups.value(span.entry)) {
                let group = file.text("run_group", Some(group))?;
                if !known.contains(group) {
                    known.insert(group.to_owned());
                }
            }
        }
    }
    Ok(known)
}

/// The runs that these files have, of each machine apart.
pub(crate) fn known_runs(files: &[PathBuf]) -> Result<Runs, Error> {
    Runs::of_machines(files, None)
}
