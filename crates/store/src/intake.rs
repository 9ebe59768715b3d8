//! Runs of another store: all of a file are taken in, or none.

use crate::error::Error;
use crate::find::Found;
use crate::kept::{Kept, Parcel};
use crate::open::Store;
use diskfacts_record::StageFigures;
use rusqlite::Transaction;

const DOING: &str = "storing runs of another store";

/// Runs that are being taken in. Without [`commit`](Self::commit) none of them was.
pub struct Intake<'a> {
    store: &'a Store,
    transaction: Transaction<'a>,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// It is stored now.
    Stored,
    /// The same run was there, and is as it was, with what it is called here.
    Known,
    /// It is stored now, under another id: a run of another host has the one that it had.
    StoredAs {
        /// Its id here. It follows from the run, so the same run has it again.
        id: String,
    },
    /// The same run was there under another id, and is as it was.
    KnownAs {
        /// Its id here.
        id: String,
    },
}

impl Store {
    /// Begins to take runs in.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn intake(&mut self) -> Result<Intake<'_>, Error> {
        Ok(Intake {
            transaction: self.write(DOING)?,
            store: self,
        })
    }
}

impl Intake<'_> {
    /// Takes a run in, as it was kept where it is from, with the figures of its stages by
    /// today's arithmetic. Ids are drawn by each host for itself: where a run of another host has
    /// its id, it is stored under one of its own.
    ///
    /// # Errors
    /// [`Error::OtherRun`] when its id is that of a run of the same host, or of nobody knows which,
    /// that is not the same; else what keeps the store from being written.
    pub fn take(&self, parcel: &Parcel, figures: &[StageFigures]) -> Result<Taken, Error> {
        let Some(found) = self.store.key_of_id(&self.transaction, &parcel.kept.id)? else {
            self.put(parcel, figures)?;
            return Ok(Taken::Stored);
        };
        let other = self.other_run(&found.id);
        let Some(known) = self.known(&found)? else {
            return Err(other);
        };
        if known.is_same(&parcel.kept) {
            return Ok(Taken::Known);
        }
        let Some(parcel) = parcel.beside(&known) else {
            return Err(other);
        };
        let id = parcel.kept.id.clone();
        match self.store.key_of_id(&self.transaction, &id)? {
            None => {
                self.put(&parcel, figures)?;
                Ok(Taken::StoredAs { id })
            }
            Some(found) => match self.known(&found)? {
                Some(known) if known.is_same(&parcel.kept) => Ok(Taken::KnownAs { id }),
                _ => Err(other),
            },
        }
    }

    /// The run that is there; `None` of one that cannot be read, which is not the same as any.
    fn known(&self, found: &Found) -> Result<Option<Kept>, Error> {
        match self.store.kept_of(&self.transaction, found.key) {
            Ok(known) => Ok(Some(known)),
            Err(Error::NewerRun { .. } | Error::DamagedRun { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn other_run(&self, id: &str) -> Error {
        Error::OtherRun {
            id: id.to_owned(),
            path: self.store.path.clone(),
        }
    }

    fn put(&self, Parcel { run, kept }: &Parcel, figures: &[StageFigures]) -> Result<(), Error> {
        let Self { store, transaction } = self;
        let document = (run, kept.document.as_str());
        let key = store.put_run(transaction, DOING, document, kept.writer.as_ref())?;
        for (trial, kept) in run.trials.iter().zip(&kept.trials) {
            store.put_trial(transaction, key, &run.run.id, (trial, &kept.document))?;
        }
        store.put_figures(transaction, key, figures)
    }

    /// Keeps what was taken in.
    ///
    /// # Errors
    /// What keeps the store from being written; then nothing was taken in.
    pub fn commit(self) -> Result<(), Error> {
        self.transaction.commit().map_err(self.store.sql(DOING))
    }
}
