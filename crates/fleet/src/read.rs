//! A fleet's files to what its statistics ask for.
//!
//! Only the columns that are asked for are read, row group after row group, by as many threads as
//! there are processors. Histograms are never read.

mod groups;
mod pages;
mod table;

use crate::error::Error;
use crate::folder::files;
use diskfacts_facts::fleet::Sample;
use groups::Group;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use table::{File, Text};

/// What makes two runs the same. Ids of runs that begin in one second on two hosts may be equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunKey {
    pub(crate) run: String,
    pub(crate) host: String,
    pub(crate) target: String,
}

/// Which rows are wanted: those that are all of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Runs of this group.
    pub group: Option<&'a str>,
    /// The stage of this name, or of this label.
    pub stage: Option<&'a str>,
}

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

    /// A sample for each stage of each run that is wanted, in the order of the files. A run that
    /// stands in several files counts once.
    ///
    /// # Errors
    /// Where a file cannot be read, is damaged, or is none of a fleet.
    pub fn samples(&self, wanted: &Wanted<'_>) -> Result<Vec<Sample>, Error> {
        let files: Vec<File> = self
            .files
            .iter()
            .map(|path| File::open(path))
            .collect::<Result<_, _>>()?;
        let parts: Vec<(usize, usize)> = files
            .iter()
            .enumerate()
            .flat_map(|(file, of)| (0..of.row_groups()).map(move |group| (file, group)))
            .collect();
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, Result<Group, Error>>> = Mutex::new(BTreeMap::new());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(parts.len()) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some((file, group)) = parts.get(at) else {
                            return;
                        };
                        let read = Group::read(&files[*file], *group, wanted);
                        let is_over = read.is_err();
                        let mut done = done
                            .lock()
                            .unwrap_or_else(std::sync::PoisonError::into_inner);
                        done.insert(at, read);
                        if is_over {
                            next.store(parts.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let done = done
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        once(&parts, done)
    }

    /// The names of all groups that runs are of.
    ///
    /// # Errors
    /// As [`samples`](Self::samples).
    pub fn groups(&self) -> Result<BTreeSet<String>, Error> {
        known_groups(&self.files)
    }
}

/// The groups that these files have runs of.
fn known_groups(files: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    let mut known = BTreeSet::new();
    for path in files {
        let file = File::open(path)?;
        for part in 0..file.row_groups() {
            let mut last: Option<Text> = None;
            for group in file.texts(part, "run_group")? {
                if group.is_some() && last.as_ref() != Some(&group) {
                    known.insert(file.text("run_group", &group)?);
                    last = Some(group);
                }
            }
        }
    }
    Ok(known)
}

/// The samples of all parts; of a run that is in several files, those of the first.
fn once(
    parts: &[(usize, usize)],
    done: BTreeMap<usize, Result<Group, Error>>,
) -> Result<Vec<Sample>, Error> {
    let mut samples = Vec::new();
    let mut of_file: BTreeMap<RunKey, usize> = BTreeMap::new();
    for (at, group) in done {
        let file = parts[at].0;
        for sample in group?.samples {
            let key = RunKey {
                run: sample.run.clone(),
                host: sample.member.host.clone(),
                target: sample.member.target.clone(),
            };
            if *of_file.entry(key).or_insert(file) == file {
                samples.push(sample);
            }
        }
    }
    Ok(samples)
}

/// The runs that these files have.
pub(crate) fn known_runs(files: &[PathBuf]) -> Result<BTreeSet<RunKey>, Error> {
    let mut known = BTreeSet::new();
    for path in files {
        let file = File::open(path)?;
        for group in 0..file.row_groups() {
            let [run, host, target] = ["run", "host", "target"].map(|name| file.texts(group, name));
            let (run, host, target) = (run?, host?, target?);
            let mut last: Option<[&Text; 3]> = None;
            for row in run.iter().zip(&host).zip(&target) {
                let ((run, host), target) = row;
                let row = [run, host, target];
                if last == Some(row) {
                    continue;
                }
                known.insert(RunKey {
                    run: file.text("run", run)?,
                    host: file.text("host", host)?,
                    target: file.text("target", target)?,
                });
                last = Some(row);
            }
        }
    }
    Ok(known)
}
