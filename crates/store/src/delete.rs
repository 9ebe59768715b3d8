//! Deleting runs: those that are named, in one transaction, or none of them.

use crate::error::Error;
use crate::open::Store;
use crate::read::RunSummary;
use rusqlite::{OptionalExtension, params};

impl Store {
    /// Deletes the runs of these ids with their trials: all of them or none. `is_made` says
    /// of a run, as it stands in the same transaction, whether it still goes on: the process
    /// that makes one would have nothing left to put its trials to.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when one is not there, [`Error::RunGoesOn`] when one is being
    /// made; else what keeps the store from being written.
    pub fn delete(
        &mut self,
        ids: &[&str],
        is_made: impl Fn(&RunSummary) -> bool,
    ) -> Result<(), Error> {
        const DOING: &str = "deleting runs";
        let transaction = self.write(DOING)?;
        for id in ids {
            let run = self.summary_of(&transaction, id)?;
            let Some(run) = run else {
                return Err(self.unknown(&transaction, id)?);
            };
            if is_made(&run) {
                return Err(Error::RunGoesOn {
                    id: run.id,
                    path: self.path.clone(),
                });
            }
            // Its trials go with it: ON DELETE CASCADE.
            transaction
                .execute("DELETE FROM run WHERE id = ?", [id])
                .map_err(self.sql(DOING))?;
        }
        transaction.commit().map_err(self.sql(DOING))
    }

    /// The run of this id in a few words, and the names of its stages that have trials, in
    /// the order in which they were first done.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when it is not there; else what keeps the store from being read.
    pub fn summary(&self, id: &str) -> Result<(RunSummary, Vec<String>), Error> {
        const DOING: &str = "looking at a run";
        let transaction = self.read(DOING)?;
        let run = self.summary_of(&transaction, id)?;
        let Some(run) = run else {
            return Err(self.unknown(&transaction, id)?);
        };
        let stages = transaction
            .prepare(
                "SELECT stage FROM trial WHERE run = (SELECT key FROM run WHERE id = ?)
                 GROUP BY stage ORDER BY min(position)",
            )
            .and_then(|mut stages| {
                stages
                    .query_map(params![id], |row| row.get(0))?
                    .collect::<Result<Vec<String>, _>>()
            })
            .map_err(self.sql(DOING))?;
        Ok((run, stages))
    }

    fn summary_of(
        &self,
        connection: &rusqlite::Connection,
        id: &str,
    ) -> Result<Option<RunSummary>, Error> {
        connection
            .query_row(
                &format!("{} WHERE id = ?", crate::read::SUMMARIES),
                [id],
                crate::read::summary,
            )
            .optional()
            .map_err(self.sql("looking for the run"))
    }
}
