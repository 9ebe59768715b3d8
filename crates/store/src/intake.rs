//! Runs of another store: all of a file are taken in, or none.

use crate::error::Error;
use crate::kept::Parcel;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is stored now.
    Stored,
    /// The same run was there, and is as it was, with what it is called here.
    Known,
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
    /// today's arithmetic.
    ///
    /// # Errors
    /// [`Error::OtherRun`] when its id is that of a run that is not the same; else what keeps
    /// the store from being written.
    pub fn take(&self, parcel: &Parcel, figures: &[StageFigures]) -> Result<Taken, Error> {
        let Parcel { run, kept } = parcel;
        let Self { store, transaction } = self;
        if let Some(found) = store.key_of_id(transaction, &kept.id)? {
            // One that cannot be read is not the same.
            return match store.kept_of(transaction, found.key) {
                Ok(known) if known.is_same(kept) => Ok(Taken::Known),
                Ok(_) | Err(Error::NewerRun { .. } | Error::DamagedRun { .. }) => {
                    Err(Error::OtherRun {
                        id: found.id,
                        path: store.path.clone(),
                    })
                }
                Err(error) => Err(error),
            };
        }
        let document = (run, kept.document.as_str());
        let key = store.put_run(transaction, DOING, document, kept.writer.as_ref())?;
        for (trial, kept) in run.trials.iter().zip(&kept.trials) {
            store.put_trial(transaction, key, &run.run.id, (trial, &kept.document))?;
        }
        store.put_figures(transaction, key, figures)?;
        Ok(Taken::Stored)
    }

    /// Keeps what was taken in.
    ///
    /// # Errors
    /// What keeps the store from being written; then nothing was taken in.
    pub fn commit(self) -> Result<(), Error> {
        self.transaction.commit().map_err(self.store.sql(DOING))
    }
}
