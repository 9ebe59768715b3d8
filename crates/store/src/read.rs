//! Listing and loading runs.

use crate::error::Error;
use crate::kept::Unreadable;
use crate::labels::labels_of;
use crate::open::Store;
use crate::writer::Writer;
use diskfacts_record::{Labels, Run, Status};
use rusqlite::Row;

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
    /// What people call it.
    pub labels: Labels,
}

/// What [`summary`] reads.
pub(crate) const SUMMARIES: &str =
    "SELECT key, id, name, note, tags, status, started, ended, tool_version, host, target, target_path, plan,
         (SELECT count(*) FROM trial WHERE trial.run = run.key) AS trials,
         writer_pid, writer_boot_id, writer_start_ticks, writer_namespace
     FROM run";

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

    /// Loads a run, trials and histograms included. `selector` is its id, a name, the
    /// beginning of its id, `last`, or `last~1` for the one before; see [`Selector`](crate::Selector).
    ///
    /// # Errors
    /// [`Error::UnknownRun`], [`Error::AmbiguousRun`] or [`Error::Empty`] when
    /// no one run is meant; [`Error::NewerRun`] or [`Error::DamagedRun`] when
    /// it cannot be understood; else what keeps the store from being read.
    pub fn load(&self, selector: &str) -> Result<Run, Error> {
        let transaction = self.read("loading a run")?;
        let found = self.find(&transaction, selector, |_| false)?;
        let kept = self.kept_of(&transaction, found.key)?;
        kept.read()
            .map_err(|unreadable| self.damaged(&found.id, unreadable))
    }

    /// The names of the stages of a run, each once, in the order of its plan; without its trials,
    /// which may be many.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn stages(&self, selector: &str) -> Result<Vec<String>, Error> {
        const DOING: &str = "reading the plan of a run";
        let transaction = self.read(DOING)?;
        let found = self.find(&transaction, selector, |_| false)?;
        let document: String = transaction
            .query_row(
                "SELECT document FROM run WHERE key = ?",
                [found.key],
                |row| row.get(0),
            )
            .map_err(self.sql(DOING))?;
        let run: Run = serde_json::from_str(&document).map_err(|error| {
            let unreadable = Unreadable {
                what: "the description".to_owned(),
                source: error.into(),
            };
            self.damaged(&found.id, unreadable)
        })?;
        let mut names: Vec<String> = Vec::new();
        for stage in run.plan.stages {
            if !names.contains(&stage.name) {
                names.push(stage.name);
            }
        }
        Ok(names)
    }
}

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let status: String = row.get("status")?;
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
        writer: writer(row)?,
        labels: labels_of(row)?,
    })
}

/// The process that makes the run of a row.
pub(crate) fn writer(row: &Row<'_>) -> rusqlite::Result<Option<Writer>> {
    Ok(
        match (
            row.get("writer_pid")?,
            row.get("writer_boot_id")?,
            row.get("writer_start_ticks")?,
        ) {
            (Some(pid), Some(boot_id), Some(start_ticks)) => Some(Writer {
                pid,
                boot_id,
                start_ticks,
                namespace: row
                    .get::<_, Option<i64>>("writer_namespace")?
                    .map(i64::cast_unsigned),
            }),
            _ => None,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10 000 surveys it takes 0.02 s so, and 0.5 s where each document is read past.
    #[test]
    fn the_list_of_runs_reads_no_document() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("runs.db")).unwrap();
        let plan: Vec<String> = store
            .connection
            .prepare(&format!(
                "EXPLAIN QUERY PLAN {SUMMARIES} ORDER BY key DESC LIMIT 50"
            ))
            .and_then(|mut rows| rows.query_map([], |row| row.get("detail"))?.collect())
            .unwrap();
        assert_eq!(
            plan[0], "SCAN run USING COVERING INDEX run_summary",
            "{plan:?}"
        );
        assert!(!plan.iter().any(|step| step.contains("SORT")), "{plan:?}");
    }
}
