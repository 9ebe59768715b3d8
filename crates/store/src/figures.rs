//! The figures of the stages, in columns for other programs: table `stage`, and the view
//! `stage_figures` of them with their runs. `docs/reference/sql.md` is what is promised of it.

use crate::error::Error;
use crate::open::Store;
use crate::write::integer;
use diskfacts_record::{ARITHMETIC, StageFigures};
use rusqlite::{Connection, named_params, params};

impl Store {
    /// The ids of the runs whose figures older arithmetic made than today's, or none yet
    /// though they have trials: those of a run that was killed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of_older_arithmetic(&self) -> Result<Vec<String>, Error> {
        self.connection
            .prepare(
                "SELECT id FROM run WHERE coalesce(arithmetic, 0) < ?
                 AND EXISTS (SELECT 1 FROM trial WHERE trial.run = run.key) ORDER BY key",
            )
            .and_then(|mut ids| {
                ids.query_map([ARITHMETIC], |row| row.get(0))?
                    .collect::<Result<_, _>>()
            })
            .map_err(self.sql("looking for figures of older arithmetic"))
    }

    /// Stores the figures of the stages of a run as today's arithmetic makes them.
    ///
    /// # Errors
    /// [`Error::UnknownRun`] when the run is not there; else what keeps the store from being
    /// written.
    pub fn figure_anew(&mut self, run_id: &str, figures: &[StageFigures]) -> Result<(), Error> {
        const DOING: &str = "storing the figures of a run";
        let transaction = self.write(DOING)?;
        let key = self.key_of(&transaction, run_id)?;
        self.put_figures(&transaction, key, figures)?;
        transaction.commit().map_err(self.sql(DOING))
    }

    /// How many rows `stage_figures` has, and of how many runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_figures(&self) -> Result<(u64, u64), Error> {
        self.connection
            .query_row(
                "SELECT count(*), count(DISTINCT run) FROM stage",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(self.sql("counting the figures"))
    }

    /// Puts the figures of a run in the place of older ones.
    pub(crate) fn put_figures(
        &self,
        connection: &Connection,
        key: i64,
        figures: &[StageFigures],
    ) -> Result<(), Error> {
        const DOING: &str = "storing the figures of a run";
        connection
            .execute("DELETE FROM stage WHERE run = ?", [key])
            .and_then(|_| {
                connection.execute(
                    "UPDATE run SET arithmetic = ? WHERE key = ?",
                    params![ARITHMETIC, key],
                )
            })
            .map_err(self.sql(DOING))?;
        for (position, figures) in (1_i64..).zip(figures) {
            insert(connection, key, position, figures).map_err(self.sql(DOING))?;
        }
        Ok(())
    }
}

fn insert(
    connection: &Connection,
    key: i64,
    position: i64,
    figures: &StageFigures,
) -> rusqlite::Result<()> {
    let settings: serde_json::Map<String, serde_json::Value> = figures
        .settings
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    let (throughput, iops) = (&figures.throughput_bytes_per_s, &figures.iops);
    let latency = &figures.latency_ns;
    let nanoseconds = |value: Option<u64>| value.and_then(integer);
    connection
        .prepare_cached(
            "INSERT INTO stage (run, position, stage, settings, trials, errors,
                 throughput_bytes_per_s, throughput_bytes_per_s_min, throughput_bytes_per_s_max,
                 throughput_bytes_per_s_ci95_low, throughput_bytes_per_s_ci95_high,
                 iops, iops_min, iops_max, iops_ci95_low, iops_ci95_high,
                 latency_samples, latency_mean_ns, latency_p50_ns, latency_p90_ns,
                 latency_p99_ns, latency_p99_9_ns, latency_p99_99_ns, latency_max_ns,
                 page_cache_share, device_share, cpu_user_ns_per_io, cpu_system_ns_per_io,
                 cpu_share)
             VALUES (:run, :position, :stage, :settings, :trials, :errors,
                 :throughput, :throughput_min, :throughput_max,
                 :throughput_low, :throughput_high,
                 :iops, :iops_min, :iops_max, :iops_low, :iops_high,
                 :samples, :mean, :p50, :p90,
                 :p99, :p99_9, :p99_99, :max,
                 :page_cache, :device, :cpu_user, :cpu_system,
                 :cpu_share)",
        )?
        .execute(named_params! {
            ":run": key,
            ":position": position,
            ":stage": figures.stage,
            ":settings": serde_json::Value::Object(settings).to_string(),
            ":trials": iops.trials,
            ":errors": integer(figures.errors),
            ":throughput": throughput.median,
            ":throughput_min": throughput.min,
            ":throughput_max": throughput.max,
            ":throughput_low": throughput.ci95.map(|ends| ends[0]),
            ":throughput_high": throughput.ci95.map(|ends| ends[1]),
            ":iops": iops.median,
            ":iops_min": iops.min,
            ":iops_max": iops.max,
            ":iops_low": iops.ci95.map(|ends| ends[0]),
            ":iops_high": iops.ci95.map(|ends| ends[1]),
            ":samples": integer(latency.samples),
            ":mean": latency.mean,
            ":p50": nanoseconds(latency.p50),
            ":p90": nanoseconds(latency.p90),
            ":p99": nanoseconds(latency.p99),
            ":p99_9": nanoseconds(latency.p99_9),
            ":p99_99": nanoseconds(latency.p99_99),
            ":max": nanoseconds(latency.max),
            ":page_cache": figures.layers.page_cache,
            ":device": figures.layers.device,
            ":cpu_user": figures.cpu_user_ns_per_io,
            ":cpu_system": figures.cpu_system_ns_per_io,
            ":cpu_share": figures.cpu_share,
        })
        .map(drop)
}
