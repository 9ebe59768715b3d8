//! What dead processes left changed, found and put back.

use super::error::SettingsError;
use super::journal::{Found, Journal, OpenJournal, StateFolder};
use super::lock::Locks;
use super::restore::{Comparison, PutBack, present, put_back};
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
        /// Why the journal could not be removed, where all is put back.
        left: Option<SettingsError>,
    },
    /// Nothing had to be put back: the machine was started anew since, or nothing had
    /// been changed yet. The journal is gone.
    Needless {
        /// The journal.
        path: PathBuf,
        /// Why; a few words.
        why: &'static str,
    },
    /// Left as it is, because it could not be read or removed.
    Kept {
        /// The journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Left to another user; this one is not root.
    OfAnother {
        /// The journal.
        path: PathBuf,
        /// The user's number.
        user: u32,
    },
}

/// A journal whose settings were put back by hand, or are to stay.
#[derive(Debug)]
pub enum Forgettable {
    /// How its values stand beside those in force.
    Journal {
        /// What is in it.
        journal: Journal,
        /// How it stands.
        comparison: Comparison,
        /// Taken, so that nobody restores it.
        taken: OpenJournal,
    },
    /// It cannot be understood.
    Damaged {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It stays.
    Kept {
        /// The journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Its process lives: nothing is touched.
    Live {
        /// What it does, and since when; `None` while it is beginning.
        journal: Option<Journal>,
    },
}

/// Puts back what all stale journals of a folder hold, and removes them. A journal stays
/// where anything of it could not be put back, or not be looked at.
///
/// # Errors
/// When the folder cannot be listed.
pub fn restore_stale(
    roots: &Roots,
    folder: &StateFolder,
    steps: &mut Steps,
) -> Result<Vec<Restored>, SettingsError> {
    let found = folder.list(roots)?.into_iter();
    Ok(found
        .map(|found| match found {
            Found::Live { journal, .. } => Restored::Live {
                process: journal.as_ref().map(|journal| journal.process),
                journal,
            },
            Found::Stale { journal, taken } => restored(roots, folder, (journal, taken), steps),
            Found::OfEarlierBoot { taken } => needless(
                taken,
                "the machine was started anew since, and the settings went with it",
                steps,
            ),
            Found::Torn { taken } => needless(
                taken,
                "it was not written to its end, so nothing had been changed yet",
                steps,
            ),
            Found::Kept { path, why }
            | Found::Unseen {
                path,
                journal: None,
                why,
            } => Restored::Kept { path, why },
            Found::Unseen {
                path,
                journal: Some(journal),
                why,
            } => Restored::PutBack {
                path,
                back: PutBack::not_tried(roots, &journal, &why),
                journal,
                left: None,
            },
            Found::OfAnother { path, user } => Restored::OfAnother { path, user },
        })
        .collect())
}

fn restored(
    roots: &Roots,
    folder: &StateFolder,
    (journal, taken): (Journal, OpenJournal),
    steps: &mut Steps,
) -> Restored {
    let path = taken.path().to_owned();
    // Who measures there by now does so under what is in force.
    let back = match Locks::for_restoring(roots, folder, &journal) {
        Ok(_locks) => put_back(roots, &journal, steps),
        Err(error) => PutBack::not_tried(roots, &journal, &error.to_string()),
    };
    let left = if back.is_complete() {
        taken.remove(steps).err()
    } else {
        None
    };
    Restored::PutBack {
        path,
        journal,
        back,
        left,
    }
}

fn needless(taken: OpenJournal, why: &'static str, steps: &mut Steps) -> Restored {
    let path = Path::to_owned(taken.path());
    match taken.remove(steps) {
        Ok(()) => Restored::Needless { path, why },
        Err(error) => Restored::Kept {
            path,
            why: error.to_string(),
        },
    }
}

/// All journals of a folder that could be forgotten, the damaged ones too, and those that
/// cannot. Nothing is removed: it holds the only record of values, which somebody has to
/// have seen first. What is another user's is left out.
///
/// # Errors
/// When the folder cannot be listed.
pub fn forgettable(roots: &Roots, folder: &StateFolder) -> Result<Vec<Forgettable>, SettingsError> {
    let found = folder.list(roots)?.into_iter();
    Ok(found
        .filter_map(|found| match found {
            Found::Stale { journal, taken } => Some(Forgettable::Journal {
                comparison: present(roots, &journal),
                journal,
                taken,
            }),
            Found::Kept { path, why } => Some(Forgettable::Damaged { path, why }),
            Found::Unseen { path, why, .. } => Some(Forgettable::Kept { path, why }),
            Found::Live { journal, .. } => Some(Forgettable::Live { journal }),
            // Torn ones and those of an earlier boot hold nothing that could be forgotten.
            Found::OfEarlierBoot { .. } | Found::Torn { .. } | Found::OfAnother { .. } => None,
        })
        .collect())
}

impl Forgettable {
    /// Removes it, and writes no setting; answers where it was, and `None` when it stays.
    ///
    /// # Errors
    /// When it could not be removed.
    pub fn forget(self, folder: &StateFolder) -> Result<Option<PathBuf>, SettingsError> {
        match self {
            Self::Journal { taken, .. } => {
                let path = taken.path().to_owned();
                taken.remove(&mut Steps::default())?;
                Ok(Some(path))
            }
            Self::Damaged { path, .. } => {
                folder.remove(&path)?;
                Ok(Some(path))
            }
            Self::Kept { .. } | Self::Live { .. } => Ok(None),
        }
    }
}
