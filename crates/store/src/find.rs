//! Finding the run that somebody means.

use crate::error::{Candidate, Candidates, Error};
use crate::open::Store;
use crate::read::{RunSummary, SUMMARIES, summary};
use crate::selector::Selector;
use diskfacts_plan::file::nearest;
use diskfacts_record::labels::is_like_an_id;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

/// Where a run is in the database.
pub(crate) struct Found {
    pub(crate) key: i64,
    pub(crate) id: String,
}

/// How many candidates an error names.
const CANDIDATES: usize = 5;

const LOOKING: &str = "looking for the run";

impl Store {
    /// The id of the run that is meant. `last` and names count back over those that have
    /// ended: `is_made` says of one that is still called running whether somebody makes it at
    /// this moment, and such a one is only meant by its id, or where no other run is.
    ///
    /// # Errors
    /// [`Error::UnknownRun`], [`Error::AmbiguousRun`] or [`Error::Empty`] when no one run is
    /// meant; else what keeps the store from being read.
    pub fn id_of(
        &self,
        selector: &str,
        is_made: impl Fn(&RunSummary) -> bool,
    ) -> Result<String, Error> {
        let transaction = self.read(LOOKING)?;
        Ok(self.find(&transaction, selector, is_made)?.id)
    }

    /// The run that is meant.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        text: &str,
        is_made: impl Fn(&RunSummary) -> bool,
    ) -> Result<Found, Error> {
        let found = match Selector::parse(text) {
            Selector::Last { back } => {
                self.nth(connection, "ORDER BY key DESC", &[], back, &is_made)?
            }
            Selector::Before { name, back } => self.of_name(connection, &name, back, &is_made)?,
            Selector::Word(word) => {
                // A whole id is meant even when it is the beginning of another.
                let whole = self.key_of_id(connection, &word)?;
                let named = match whole {
                    None => self.of_name(connection, &word, 0, &is_made)?,
                    whole => whole,
                };
                match named {
                    None => self.beginning_with(connection, &word)?,
                    named => named,
                }
            }
        };
        match found {
            Some(found) => Ok(found),
            None => Err(self.unknown(connection, text)?),
        }
    }

    /// The run with this id.
    pub(crate) fn key_of_id(
        &self,
        connection: &Connection,
        id: &str,
    ) -> Result<Option<Found>, Error> {
        connection
            .query_row("SELECT key, id FROM run WHERE id = ?", [id], found)
            .optional()
            .map_err(self.sql(LOOKING))
    }

    fn of_name(
        &self,
        connection: &Connection,
        name: &str,
        back: u32,
        is_made: &impl Fn(&RunSummary) -> bool,
    ) -> Result<Option<Found>, Error> {
        let which = "WHERE name = ? ORDER BY key DESC";
        self.nth(connection, which, &[&name], back, is_made)
    }

    /// The run that is so many behind the first of those that have ended; of those that
    /// somebody makes, where none has ended.
    fn nth(
        &self,
        connection: &Connection,
        which: &str,
        values: &[&dyn ToSql],
        back: u32,
        is_made: &impl Fn(&RunSummary) -> bool,
    ) -> Result<Option<Found>, Error> {
        let mut select = connection
            .prepare(&format!("{SUMMARIES} {which}"))
            .map_err(self.sql(LOOKING))?;
        let mut rows = select.query(values).map_err(self.sql(LOOKING))?;
        let (mut left, mut any_ended, mut made) = (back, false, Vec::new());
        while let Some(row) = rows.next().map_err(self.sql(LOOKING))? {
            let run = summary(row).map_err(self.sql(LOOKING))?;
            let found = found(row).map_err(self.sql(LOOKING))?;
            if is_made(&run) {
                made.push(found);
                continue;
            }
            any_ended = true;
            if left == 0 {
                return Ok(Some(found));
            }
            left -= 1;
        }
        let back = usize::try_from(back).unwrap_or(usize::MAX);
        Ok((!any_ended && back < made.len()).then(|| made.swap_remove(back)))
    }

    fn beginning_with(
        &self,
        connection: &Connection,
        beginning: &str,
    ) -> Result<Option<Found>, Error> {
        // Every id begins with nothing, so nothing names none.
        if beginning.is_empty() {
            return Ok(None);
        }
        let mut matching: Vec<Found> = connection
            .prepare(
                "SELECT key, id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY key DESC",
            )
            .and_then(|mut ids| ids.query_map([beginning], found)?.collect())
            .map_err(self.sql(LOOKING))?;
        match (matching.pop(), matching.len()) {
            (only, 0) => Ok(only),
            (_, others) => Err(Error::AmbiguousRun {
                selector: beginning.to_owned(),
                matching: self.candidates(connection, beginning, others + 1)?,
            }),
        }
    }

    /// The error that a run is not there, with what may have been meant. `Err` when even that
    /// cannot be read.
    pub(crate) fn unknown(&self, connection: &Connection, text: &str) -> Result<Error, Error> {
        let runs = connection
            .query_row("SELECT count(*) FROM run", [], |row| row.get::<_, usize>(0))
            .map_err(self.sql("counting the runs"))?;
        if runs == 0 {
            return Ok(Error::Empty {
                path: self.path.clone(),
            });
        }
        Ok(Error::UnknownRun {
            selector: text.to_owned(),
            path: self.path.clone(),
            near: self.near(connection, text)?,
            latest: self.candidates(connection, "", runs)?,
        })
    }

    /// The selector most like the text, of those that name a run.
    fn near(&self, connection: &Connection, text: &str) -> Result<Option<String>, Error> {
        let (word, back) = match text.trim().split_once('~') {
            Some((word, back)) => (word, Some(back)),
            None => (text.trim(), None),
        };
        let column = |column: &str, what: &str| -> Result<Vec<String>, Error> {
            connection
                .prepare(&format!("SELECT DISTINCT {column} FROM run {what}"))
                .and_then(|mut rows| rows.query_map([], |row| row.get(0))?.collect())
                .map_err(self.sql("listing the names of the runs"))
        };
        let mut known = column("name", "WHERE name IS NOT NULL")?;
        known.push("last".to_owned());
        // A name that there is was gone back too far behind.
        if known.iter().any(|name| name == word) {
            let runs: u32 = match word {
                "last" => connection.query_row("SELECT count(*) FROM run", [], |row| row.get(0)),
                name => {
                    connection.query_row("SELECT count(*) FROM run WHERE name = ?", [name], |row| {
                        row.get(0)
                    })
                }
            }
            .map_err(self.sql("counting the runs"))?;
            return Ok(Some(match runs {
                0 | 1 => word.to_owned(),
                runs => format!("{word}~{}", runs - 1),
            }));
        }
        if is_like_an_id(word) {
            // The one that begins most alike; of several the latest.
            let ids = column("id", "ORDER BY key")?;
            let alike = |id: &String| -> usize {
                let both = id.bytes().zip(word.bytes());
                both.take_while(|(a, b)| a == b).count()
            };
            return Ok(ids.into_iter().max_by_key(alike));
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let name = nearest(word, &known);
        Ok(name.map(|name| match back {
            Some(back) if back.parse::<u32>().is_ok() => format!("{name}~{back}"),
            _ => name.to_owned(),
        }))
    }

    /// The latest of the runs whose id begins so, of which there are `all`.
    fn candidates(
        &self,
        connection: &Connection,
        beginning: &str,
        all: usize,
    ) -> Result<Candidates, Error> {
        let some: Vec<Candidate> = connection
            .prepare(
                "SELECT id, name, plan, target FROM run WHERE substr(id, 1, length(?1)) = ?1
                 ORDER BY key DESC LIMIT ?2",
            )
            .and_then(|mut runs| {
                runs.query_map(params![beginning, CANDIDATES], |row| {
                    Ok(Candidate {
                        id: row.get(0)?,
                        name: row.get(1)?,
                        plan: row.get(2)?,
                        target: row.get(3)?,
                    })
                })?
                .collect()
            })
            .map_err(self.sql("listing the runs"))?;
        let more = all.saturating_sub(some.len());
        Ok(Candidates { some, more })
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        key: row.get("key")?,
        id: row.get("id")?,
    })
}
