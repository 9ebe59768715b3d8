//! Finding and loading runs.

use crate::error::{Candidate, Candidates, Error};
use crate::open::Store;
use crate::selector::Selector;
use crate::writer::Writer;
use diskfacts_record::{Packed, PackedHistograms, Run, SCHEMA, Status, Trial};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::error::Error as StdError;

/// A stored run in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// How it ended; absent when it is a word of a newer diskfacts.
    pub status: Option<Status>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// When it ended.
    pub ended: Option<String>,
    /// Version of the diskfacts that made it.
    pub tool_version: String,
    /// Name of the host.
    pub host: Option<String>,
    /// The target as it was given.
    pub target: String,
    /// The target's real path.
    pub target_path: String,
    /// Name of the plan.
    pub plan: String,
    /// How many trials are stored.
    pub trials: u64,
    /// The process that makes it. A run that is still [`Status::Running`] was
    /// killed when this process is no more.
    pub writer: Option<Writer>,
}

/// Where a run is in the database.
pub(crate) struct Found {
    pub(crate) key: i64,
    pub(crate) id: String,
}

/// What [`summary`] reads.
pub(crate) const SUMMARIES: &str =
    "SELECT id, status, started, ended, tool_version, host, target, target_path, plan,
         (SELECT count(*) FROM trial WHERE trial.run = run.key) AS trials,
         writer_pid, writer_boot_id, writer_start_ticks
     FROM run";

/// How many candidates an error names.
const CANDIDATES: usize = 5;

impl Store {
    /// The runs that began last, latest first, at most `limit`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunSummary>, Error> {
        self.connection
            .prepare(&format!("{SUMMARIES} ORDER BY key DESC LIMIT ?"))
            .and_then(|mut runs| {
                runs.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], summary)?
                    .collect()
            })
            .map_err(self.sql("listing the runs"))
    }

    /// Loads a run, trials and histograms included. `selector` is its id, the
    /// beginning of its id, `last`, or `last~1` for the one before; see
    /// [`Selector`].
    ///
    /// # Errors
    /// [`Error::UnknownRun`], [`Error::AmbiguousRun`] or [`Error::Empty`] when
    /// no one run is meant; [`Error::NewerRun`] or [`Error::DamagedRun`] when
    /// it cannot be understood; else what keeps the store from being read.
    pub fn load(&self, selector: &str) -> Result<Run, Error> {
        const DOING: &str = "loading a run";
        let transaction = self.read(DOING)?;
        let found = self.find(&transaction, selector, &Selector::parse(selector))?;
        let (schema, document) = transaction
            .query_row(
                "SELECT schema, document FROM run WHERE key = ?",
                [found.key],
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
            )
            .map_err(self.sql(DOING))?;
        if schema > i64::from(SCHEMA) {
            return Err(Error::NewerRun {
                id: found.id,
                found: schema,
                known: SCHEMA,
            });
        }
        let mut run: Run = serde_json::from_str(&document)
            .map_err(|error| self.damaged(&found.id, "the description", error))?;
        let mut select = transaction
            .prepare(
                "SELECT position, document, histogram_read, histogram_write, histogram_service
                 FROM trial WHERE run = ? ORDER BY position",
            )
            .map_err(self.sql(DOING))?;
        let mut rows = select.query([found.key]).map_err(self.sql(DOING))?;
        while let Some(row) = rows.next().map_err(self.sql(DOING))? {
            let position: i64 = row.get(0).map_err(self.sql(DOING))?;
            let trial = trial(row)
                .map_err(|error| self.damaged(&found.id, &format!("trial {position}"), error))?;
            run.trials.push(trial);
        }
        Ok(run)
    }

    /// The id of the run that is meant.
    ///
    /// # Errors
    /// As of [`load`](Self::load), where no one run is meant.
    pub fn id_of(&self, selector: &str) -> Result<String, Error> {
        let transaction = self.read("looking for the run")?;
        let found = self.find(&transaction, selector, &Selector::parse(selector))?;
        Ok(found.id)
    }

    /// The names of the stages of a run, each once, in the order of its plan; without its trials,
    /// which may be many.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn stages(&self, selector: &str) -> Result<Vec<String>, Error> {
        const DOING: &str = "reading the plan of a run";
        let transaction = self.read(DOING)?;
        let found = self.find(&transaction, selector, &Selector::parse(selector))?;
        let document: String = transaction
            .query_row(
                "SELECT document FROM run WHERE key = ?",
                [found.key],
                |row| row.get(0),
            )
            .map_err(self.sql(DOING))?;
        let run: Run = serde_json::from_str(&document)
            .map_err(|error| self.damaged(&found.id, "the description", error))?;
        let mut names: Vec<String> = Vec::new();
        for stage in run.plan.stages {
            if !names.contains(&stage.name) {
                names.push(stage.name);
            }
        }
        Ok(names)
    }

    /// The run that is meant.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        text: &str,
        selector: &Selector,
    ) -> Result<Found, Error> {
        match selector {
            Selector::Last { back } => connection
                .query_row(
                    "SELECT key, id FROM run ORDER BY key DESC LIMIT 1 OFFSET ?",
                    [back],
                    found,
                )
                .optional()
                .map_err(self.sql("looking for the run"))?
                .map_or_else(|| Err(self.unknown(connection, text)?), Ok),
            Selector::Id(id) => self.find_by_id(connection, id),
        }
    }

    fn find_by_id(&self, connection: &Connection, id: &str) -> Result<Found, Error> {
        const DOING: &str = "looking for the run";
        // A whole id is meant even when it is the beginning of another.
        let whole = connection
            .query_row("SELECT key, id FROM run WHERE id = ?", [id], found)
            .optional()
            .map_err(self.sql(DOING))?;
        if let Some(found) = whole {
            return Ok(found);
        }
        // Every id begins with nothing, so nothing names none.
        let mut matching: Vec<Found> = if id.is_empty() {
            Vec::new()
        } else {
            connection
                .prepare(
                    "SELECT key, id FROM run WHERE substr(id, 1, length(?1)) = ?1
                     ORDER BY key DESC",
                )
                .and_then(|mut ids| ids.query_map([id], found)?.collect())
                .map_err(self.sql(DOING))?
        };
        match (matching.pop(), matching.len()) {
            (None, _) => Err(self.unknown(connection, id)?),
            (Some(only), 0) => Ok(only),
            (Some(_), others) => Err(Error::AmbiguousRun {
                selector: id.to_owned(),
                matching: self.candidates(connection, id, others + 1)?,
            }),
        }
    }

    /// The error that a run is not there, with those that are. `Err` when even
    /// that cannot be read.
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
            latest: self.candidates(connection, "", runs)?,
        })
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
                "SELECT id, plan, target FROM run WHERE substr(id, 1, length(?1)) = ?1
                 ORDER BY key DESC LIMIT ?2",
            )
            .and_then(|mut runs| {
                runs.query_map(params![beginning, CANDIDATES], |row| {
                    Ok(Candidate {
                        id: row.get(0)?,
                        plan: row.get(1)?,
                        target: row.get(2)?,
                    })
                })?
                .collect()
            })
            .map_err(self.sql("listing the runs"))?;
        let more = all.saturating_sub(some.len());
        Ok(Candidates { some, more })
    }

    fn damaged(
        &self,
        id: &str,
        what: &str,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Error {
        Error::DamagedRun {
            what: what.to_owned(),
            id: id.to_owned(),
            path: self.path.clone(),
            source: source.into(),
        }
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        key: row.get(0)?,
        id: row.get(1)?,
    })
}

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let status: String = row.get("status")?;
    let writer = match (
        row.get("writer_pid")?,
        row.get("writer_boot_id")?,
        row.get("writer_start_ticks")?,
    ) {
        (Some(pid), Some(boot_id), Some(start_ticks)) => Some(Writer {
            pid,
            boot_id,
            start_ticks,
        }),
        _ => None,
    };
    Ok(RunSummary {
        id: row.get("id")?,
        // A newer diskfacts may know more words.
        status: serde_json::from_value(status.into()).ok(),
        started: row.get("started")?,
        ended: row.get("ended")?,
        tool_version: row.get("tool_version")?,
        host: row.get("host")?,
        target: row.get("target")?,
        target_path: row.get("target_path")?,
        plan: row.get("plan")?,
        trials: row.get("trials")?,
        writer,
    })
}

/// A trial from its document and its histograms.
fn trial(row: &Row<'_>) -> Result<Trial, Box<dyn StdError + Send + Sync>> {
    let mut trial: Trial = serde_json::from_str(row.get_ref("document")?.as_str()?)?;
    let histogram = |column: &str| -> Result<Packed, Box<dyn StdError + Send + Sync>> {
        Ok(Packed::from_bytes(row.get_ref(column)?.as_blob()?)?)
    };
    trial.histograms = PackedHistograms {
        read: histogram("histogram_read")?,
        write: histogram("histogram_write")?,
        service: match row.get_ref("histogram_service")? {
            ValueRef::Null => None,
            _ => Some(histogram("histogram_service")?),
        },
    };
    Ok(trial)
}
