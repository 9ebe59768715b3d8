//! Storing runs.

use crate::error::Error;
use crate::labels::tags;
use crate::open::Store;
use crate::writer::Writer;
use diskfacts_record::{Labels, Packed, PackedBursts, PackedOverTime, Run, RunInfo, Status, Trial};
use rusqlite::{Connection, ErrorCode, OptionalExtension, named_params, params};
use serde_json::Value;
use std::collections::BTreeSet;

impl Store {
    /// Stores a run that begins. `writer` says which process makes it, if that
    /// is known. Trials that the run already has are stored with it, so this
    /// alone stores a run that was made elsewhere.
    ///
    /// # Errors
    /// [`Error::RunExists`] when its id is taken; else what keeps the store
    /// from being written.
    pub fn begin(&mut self, run: &Run, writer: Option<&Writer>) -> Result<(), Error> {
        const DOING: &str = "storing a new run";
        let transaction = self.write(DOING)?;
        self.insert_run(&transaction, DOING, run, writer)?;
        transaction.commit().map_err(self.sql(DOING))
    }

    /// Stores runs that were made elsewhere, with the trials that they have: all
    /// of them or none.
    ///
    /// # Errors
    /// [`Error::RunExists`] when the id of one is taken; else what keeps the
    /// store from being written.
    pub fn add(&mut self, runs: &[Run]) -> Result<(), Error> {
        const DOING: &str = "storing imported runs";
        let transaction = self.write(DOING)?;
        for run in runs {
            let key = self.insert_run(&transaction, DOING, run, None)?;
            self.put_figures(&transaction, key, &run.figures)?;
        }
        transaction.commit().map_err(self.sql(DOING))
    }

    fn insert_run(
        &self,
        transaction: &Connection,
        doing: &'static str,
        run: &Run,
        writer: Option<&Writer>,
    ) -> Result<i64, Error> {
        let key = self.put_run(transaction, doing, (run, &document(run)?), writer)?;
        for trial in &run.trials {
            self.insert_trial(transaction, key, &run.run.id, trial)?;
        }
        Ok(key)
    }

    /// The row of a run with this document; those of its trials are to follow.
    pub(crate) fn put_run(
        &self,
        transaction: &Connection,
        doing: &'static str,
        (run, document): (&Run, &str),
        writer: Option<&Writer>,
    ) -> Result<i64, Error> {
        let labels = &run.run.labels;
        transaction
            .execute(
                "INSERT INTO run (id, schema, status, started, ended, tool_version, host, target,
                     target_path, plan, writer_pid, writer_boot_id, writer_start_ticks,
                     writer_namespace, document, name, note, tags)
                 VALUES (:id, :schema, :status, :started, :ended, :tool_version, :host, :target,
                     :target_path, :plan, :writer_pid, :writer_boot_id, :writer_start_ticks,
                     :writer_namespace, :document, :name, :note, :tags)",
                named_params! {
                    ":id": run.run.id,
                    ":schema": run.schema,
                    ":status": status_word(run.run.status),
                    ":started": run.run.started,
                    ":ended": run.run.ended,
                    ":tool_version": run.run.tool_version,
                    ":host": run.machine.host,
                    ":target": run.target.given,
                    ":target_path": run.target.path,
                    ":plan": run.plan.name,
                    ":writer_pid": writer.map(|writer| writer.pid),
                    ":writer_boot_id": writer.map(|writer| &writer.boot_id),
                    ":writer_start_ticks": writer.and_then(|writer| integer(writer.start_ticks)),
                    ":writer_namespace": writer.and_then(|writer| integer(writer.namespace?)),
                    ":document": document,
                    ":name": labels.name,
                    ":note": labels.note,
                    ":tags": tags(labels),
                },
            )
            .map_err(|error| {
                if is_constraint(&error) {
                    Error::RunExists {
                        id: run.run.id.clone(),
                        path: self.path.clone(),
                    }
                } else {
                    self.sql(doing)(error)
                }
            })?;
        Ok(transaction.last_insert_rowid())
    }

    /// Stores one more trial of a run that has begun.
    ///
    /// # Errors
    /// [`Error::Unstorable`] when one of its rates is not a number,
    /// [`Error::UnknownRun`] when the run is not there, [`Error::TrialExists`]
    /// when a trial of the same [`order`](Trial::order) is; else what keeps the
    /// store from being written.
    pub fn add_trial(&mut self, run_id: &str, trial: &Trial) -> Result<(), Error> {
        const DOING: &str = "storing a trial";
        // Only an import may not know its rates, and is stored whole.
        let rates = [trial.seconds, trial.throughput_bytes_per_s, trial.iops];
        if !rates.iter().all(|rate| rate.is_finite()) {
            return Err(Error::Unstorable {
                what: format!("trial {} (stage {})", trial.order, trial.stage),
                id: run_id.to_owned(),
                source: serde::de::Error::custom("a rate of a measured trial is not a number"),
            });
        }
        let transaction = self.write(DOING)?;
        let key = self.key_of(&transaction, run_id)?;
        self.insert_trial(&transaction, key, run_id, trial)?;
        transaction.commit().map_err(self.sql(DOING))
    }

    /// Stores a trial anew, of which more is known since it was stored.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when the run is not there; else what keeps the
    /// store from being written.
    pub fn replace_trial(&mut self, run_id: &str, trial: &Trial) -> Result<(), Error> {
        const DOING: &str = "storing a trial anew";
        let transaction = self.write(DOING)?;
        let key = self.key_of(&transaction, run_id)?;
        transaction
            .execute(
                "DELETE FROM trial WHERE run = ? AND position = ?",
                params![key, trial.order],
            )
            .map_err(self.sql(DOING))?;
        self.insert_trial(&transaction, key, run_id, trial)?;
        transaction.commit().map_err(self.sql(DOING))
    }

    /// Stores how a run ended: its status, figures, findings and verdicts, and
    /// whichever of its trials are not there yet.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when the run is not there; else what keeps the
    /// store from being written.
    pub fn finish(&mut self, run: &Run) -> Result<(), Error> {
        const DOING: &str = "storing the end of a run";
        let document = document(run)?;
        let transaction = self.write(DOING)?;
        let key = self.key_of(&transaction, &run.run.id)?;
        transaction
            .execute(
                "UPDATE run SET status = ?, ended = ?, document = ? WHERE key = ?",
                params![status_word(run.run.status), run.run.ended, document, key],
            )
            .map_err(self.sql(DOING))?;
        let stored = transaction
            .prepare("SELECT position FROM trial WHERE run = ?")
            .and_then(|mut positions| {
                positions
                    .query_map([key], |row| row.get::<_, u32>(0))?
                    .collect::<Result<BTreeSet<u32>, _>>()
            })
            .map_err(self.sql(DOING))?;
        for trial in run.trials.iter().filter(|t| !stored.contains(&t.order)) {
            self.insert_trial(&transaction, key, &run.run.id, trial)?;
        }
        self.put_figures(&transaction, key, &run.figures)?;
        transaction.commit().map_err(self.sql(DOING))
    }

    pub(crate) fn key_of(&self, connection: &Connection, run_id: &str) -> Result<i64, Error> {
        connection
            .query_row("SELECT key FROM run WHERE id = ?", [run_id], |row| {
                row.get(0)
            })
            .optional()
            .map_err(self.sql("looking for the run"))?
            .map_or_else(|| Err(self.unknown(connection, run_id)?), Ok)
    }

    fn insert_trial(
        &self,
        connection: &Connection,
        key: i64,
        run_id: &str,
        trial: &Trial,
    ) -> Result<(), Error> {
        // What has a column of its own takes ten times the room in the document.
        let bare = Trial {
            latency_over_time: None,
            ..trial.without_details()
        };
        let document = readable::<Trial>(&bare).map_err(|source| Error::Unstorable {
            what: format!("trial {} (stage {})", trial.order, trial.stage),
            id: run_id.to_owned(),
            source,
        })?;
        self.put_trial(connection, key, run_id, (trial, &document))
    }

    /// The row of a trial with this document.
    pub(crate) fn put_trial(
        &self,
        connection: &Connection,
        key: i64,
        run_id: &str,
        (trial, document): (&Trial, &str),
    ) -> Result<(), Error> {
        let latency = &trial.latency_ns;
        connection
            .prepare_cached(
                "INSERT INTO trial (run, position, stage, number, seconds, bytes, operations,
                     errors, throughput_bytes_per_s, iops, latency_p50_ns, latency_p99_ns,
                     latency_p99_9_ns, latency_max_ns, page_cache_share, device_share, document,
                     histogram_read, histogram_write, histogram_service, latency_over_time, bursts)
                 VALUES (:run, :position, :stage, :number, :seconds, :bytes, :operations,
                     :errors, :throughput, :iops, :p50, :p99,
                     :p99_9, :max, :page_cache, :device, :document,
                     :read, :write, :service, :over_time, :bursts)",
            )
            .and_then(|mut insert| {
                insert.execute(named_params! {
                    ":run": key,
                    ":position": trial.order,
                    ":stage": trial.stage,
                    ":number": trial.number,
                    ":seconds": trial.seconds,
                    ":bytes": integer(trial.bytes),
                    ":operations": integer(trial.ops),
                    ":errors": integer(trial.errors),
                    ":throughput": trial.throughput_bytes_per_s,
                    ":iops": trial.iops,
                    ":p50": latency.p50.and_then(integer),
                    ":p99": latency.p99.and_then(integer),
                    ":p99_9": latency.p99_9.and_then(integer),
                    ":max": latency.max.and_then(integer),
                    ":page_cache": trial.layers.page_cache,
                    ":device": trial.layers.device,
                    ":document": document,
                    ":read": trial.histograms.read.as_bytes(),
                    ":write": trial.histograms.write.as_bytes(),
                    ":service": trial.histograms.service.as_ref().map(Packed::as_bytes),
                    ":over_time": trial.latency_over_time.as_ref().map(PackedOverTime::as_bytes),
                    ":bursts": trial.evidence.bursts.as_ref().map(PackedBursts::as_bytes),
                })
            })
            .map(drop)
            .map_err(|error| {
                if is_constraint(&error) {
                    Error::TrialExists {
                        id: run_id.to_owned(),
                        order: trial.order,
                        path: self.path.clone(),
                    }
                } else {
                    self.sql("storing a trial")(error)
                }
            })
    }
}

/// The run without its trials, which have rows of their own, and without what people call it,
/// which has columns.
fn document(run: &Run) -> Result<String, Error> {
    // Field by field, so that a new one is not forgotten and no trial copied.
    let bare = Run {
        schema: run.schema,
        run: RunInfo {
            labels: Labels::default(),
            ..run.run.clone()
        },
        machine: run.machine.clone(),
        target: run.target.clone(),
        stack: run.stack.clone(),
        plan: run.plan.clone(),
        preconditioning: run.preconditioning.clone(),
        trials: Vec::new(),
        claim_tests: run.claim_tests.clone(),
        health_after: run.health_after.clone(),
        together: run.together.clone(),
        figures: run.figures.clone(),
        effects: run.effects.clone(),
        findings: run.findings.clone(),
        limits: run.limits.clone(),
        verdicts: run.verdicts.clone(),
    };
    readable::<Run>(&bare).map_err(|source| Error::Unstorable {
        what: "the description".to_owned(),
        id: run.run.id.clone(),
        source,
    })
}

/// The value as JSON that reads back: JSON has no word for a figure that is not
/// a number, and it is better to say so now than when the run is needed.
fn readable<T>(value: &T) -> Result<String, serde_json::Error>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let text = serde_json::to_string(value)?;
    serde_json::from_str::<T>(&text)?;
    Ok(text)
}

/// How a status is written in the document, and so in its column.
fn status_word(status: Status) -> Option<String> {
    match serde_json::to_value(status) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    }
}

/// `SQLite`'s integers end at 2^63 - 1. Beyond, the column for queries stays
/// empty; the document has the number.
pub(crate) fn integer(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}
