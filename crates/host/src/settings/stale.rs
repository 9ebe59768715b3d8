//! What dead processes left changed, found and put back.

use super::error::SettingsError;
use super::journal::{Found, Journal, OpenJournal, StateFolder};
use super::lock::Locks;
use super::restore::{PutBack, put_back};
use super::steps::Steps;
use crate::roots::Roots;
use std::path::{Path, PathBuf};

/// What became of one journal.
#[derive(Debug)]
pub enum Restored {
    /// Its process lives: nothing was touched.
    Live {
        /// The number of the process; `None` while it is beginning.
        process: Option<u32>,
        /// What it does, and since when.
        journal: Option<Journal>,
    },
    /// Put back, as far as it could be.
    PutBack {
        /// The journal.
        path: PathBuf,
        /// What was in it.
        journal: Journal,
        /// What came of it; the journal stays where that is not complete.
        back: PutBack,
    },
    /// Nothing had to be put back: the machine was started anew since, or nothing had
    /// been changed yet. The journal is gone.
    Needless {
        /// The journal.
        path: PathBuf,
        /// Why; a few words.
        why: &'static str,
    },
    /// Left as it is.
    Kept {
        /// The journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Puts back what all stale journals of a folder hold, and removes them.
///
/// # Errors
/// When the folder cannot be read, or a journal not be removed.
pub fn restore_stale(
    roots: &Roots,
    folder: &StateFolder,
    steps: &mut Steps,
) -> Result<Vec<Restored>, SettingsError> {
    let mut restored = Vec::new();
    for found in folder.list(roots)? {
        restored.push(match found {
            Found::Live { journal, .. } => Restored::Live {
                process: journal.as_ref().map(|journal| journal.process),
                journal,
            },
            Found::Stale { journal, taken } => {
                let path = taken.path().to_owned();
                // Who measures there by now does so under what is in force.
                let locks = match Locks::for_restoring(roots, folder, &journal) {
                    Ok(locks) => locks,
                    Err(error @ SettingsError::Busy { .. }) => {
                        restored.push(Restored::Kept {
                            path,
                            why: error.to_string(),
                        });
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let back = put_back(roots, &journal, steps);
                drop(locks);
                if back.is_complete() {
                    taken.remove(steps)?;
                }
                Restored::PutBack {
                    path,
                    journal,
                    back,
                }
            }
            Found::OfEarlierBoot { taken } => needless(
                taken,
                "the machine was started anew since, and the settings went with it",
                steps,
            )?,
            Found::Torn { taken } => needless(
                taken,
                "it was not written to its end, so nothing had been changed yet",
                steps,
            )?,
            Found::Kept { path, why } => Restored::Kept { path, why },
        });
    }
    Ok(restored)
}

fn needless(
    taken: OpenJournal,
    why: &'static str,
    steps: &mut Steps,
) -> Result<Restored, SettingsError> {
    let path = Path::to_owned(taken.path());
    taken.remove(steps)?;
    Ok(Restored::Needless { path, why })
}
