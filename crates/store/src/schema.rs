//! The tables, and how an older database becomes a newer one.

use crate::error::Error;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// Marks a database as ours (`PRAGMA application_id`): "dskf" in ASCII.
const APPLICATION_ID: i64 = 0x6473_6b66;

/// Step *n* (from 1) makes version *n* of version *n* - 1; version 0 is an
/// empty database. Steps are only ever added.
const MIGRATIONS: [&str; 6] = [
    include_str!("../migrations/1.sql"),
    include_str!("../migrations/2.sql"),
    include_str!("../migrations/3.sql"),
    include_str!("../migrations/4.sql"),
    include_str!("../migrations/5.sql"),
    include_str!("../migrations/6.sql"),
];

/// Brings the database to the newest version.
///
/// # Errors
/// When it is another program's, newer than this, or cannot be written though
/// it must be.
pub(crate) fn prepare(connection: &Connection, path: &Path) -> Result<(), Error> {
    migrate(connection, path, &MIGRATIONS)
}

/// Whether a database is ours and has nothing to be brought to; also `false` where it cannot
/// be read.
pub(crate) fn is_newest(connection: &Connection, path: &Path) -> bool {
    let known = MIGRATIONS.len() as u32;
    let reading = Transaction::new_unchecked(connection, TransactionBehavior::Deferred);
    reading.is_ok_and(|reading| {
        version_within(&reading, path, known).is_ok_and(|version| version == known)
    })
}

/// Whether a database is ours and of an older version; also `false` where it cannot be read.
pub(crate) fn is_older(connection: &Connection, path: &Path) -> bool {
    let known = MIGRATIONS.len() as u32;
    let reading = Transaction::new_unchecked(connection, TransactionBehavior::Deferred);
    reading.is_ok_and(|reading| {
        version_within(&reading, path, known).is_ok_and(|version| (1..known).contains(&version))
    })
}

fn migrate(connection: &Connection, path: &Path, steps: &[&str]) -> Result<(), Error> {
    // A handful.
    let known = steps.len() as u32;
    let begin = |behavior, doing| {
        Transaction::new_unchecked(connection, behavior)
            .map_err(|error| Error::sql(path, doing, error))
    };
    // Nothing is written before the database is known to be ours, and nothing
    // is locked for writing when there is nothing to do.
    let reading = begin(TransactionBehavior::Deferred, READING)?;
    let mut version = version_within(&reading, path, known)?;
    drop(reading);
    while version < known {
        const MIGRATING: &str = "bringing it to the newest version";
        let writing = begin(TransactionBehavior::Immediate, MIGRATING)?;
        // Another process may have been faster.
        version = version_within(&writing, path, known)?;
        if version == known {
            break;
        }
        // At least 0 and below the number of steps, as was just checked.
        writing
            .execute_batch(steps[version as usize])
            .and_then(|()| writing.pragma_update(None, "application_id", APPLICATION_ID))
            .and_then(|()| writing.pragma_update(None, "user_version", version + 1))
            .and_then(|()| writing.commit())
            .map_err(|error| Error::sql(path, MIGRATING, error))?;
        version += 1;
    }
    Ok(())
}

const READING: &str = "reading its version";

/// The version of a database that is ours or empty, in `0..=known`. The three
/// questions need one transaction: another process may just be making the
/// tables.
fn version_within(transaction: &Transaction<'_>, path: &Path, known: u32) -> Result<u32, Error> {
    let ask = |sql| {
        transaction
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(|error| Error::sql(path, READING, error))
    };
    let application = ask("PRAGMA application_id")?;
    let found = ask("PRAGMA user_version")?;
    let tables = ask("SELECT count(*) FROM sqlite_schema")?;
    let ours = application == APPLICATION_ID && found > 0;
    let empty = application == 0 && found == 0 && tables == 0;
    if !ours && !empty {
        return Err(Error::Foreign {
            path: path.to_owned(),
        });
    }
    u32::try_from(found)
        .ok()
        .filter(|version| *version <= known)
        .ok_or_else(|| Error::NewerStore {
            path: path.to_owned(),
            found,
            known,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const PATH: &str = "/somewhere/runs.db";

    fn memory() -> Connection {
        Connection::open_in_memory().unwrap()
    }

    fn user_version(connection: &Connection) -> i64 {
        connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn each_step_is_done_once_and_in_order() {
        let connection = memory();
        let first = "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);";
        let second = "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1;";
        migrate(&connection, Path::new(PATH), &[first]).unwrap();
        migrate(&connection, Path::new(PATH), &[first]).unwrap();
        assert_eq!(user_version(&connection), 1);
        migrate(&connection, Path::new(PATH), &[first, second]).unwrap();
        assert_eq!(user_version(&connection), 2);
        let sum: i64 = connection
            .query_row("SELECT sum(x + y) FROM a", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sum, 3);
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before_it_whole() {
        let connection = memory();
        let good = "CREATE TABLE a (x INTEGER) STRICT";
        let bad = "CREATE TABLE b (x INTEGER) STRICT; CREATE TABLE a (x INTEGER) STRICT";
        let error = migrate(&connection, Path::new(PATH), &[good, bad]).unwrap_err();
        assert!(matches!(error, Error::Sql { .. }), "{error:?}");
        assert_eq!(user_version(&connection), 1);
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1);
    }

    #[test]
    fn a_newer_store_is_refused_with_both_versions() {
        let connection = memory();
        let step = "CREATE TABLE a (x INTEGER) STRICT";
        migrate(
            &connection,
            Path::new(PATH),
            &[step, "SELECT 1", "SELECT 1"],
        )
        .unwrap();
        let error = migrate(&connection, Path::new(PATH), &[step]).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("version 3") && text.contains("up to 1"),
            "{text}"
        );
        assert!(text.contains(PATH) && text.contains("--store"), "{text}");
    }

    #[test]
    fn a_database_of_another_program_is_left_alone() {
        for sql in [
            "CREATE TABLE bookmarks (url TEXT)",
            "PRAGMA user_version = 7",
            "PRAGMA application_id = 252006673",
        ] {
            let connection = memory();
            connection.execute_batch(sql).unwrap();
            let error = prepare(&connection, Path::new(PATH)).unwrap_err();
            assert!(matches!(error, Error::Foreign { .. }), "{sql}: {error:?}");
            let trials: i64 = connection
                .query_row(
                    "SELECT count(*) FROM sqlite_schema WHERE name = 'trial'",
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(trials, 0);
        }
    }

    thread_local! {
        /// The faster of two connections, in the middle of making the tables.
        static FASTER: RefCell<Option<Connection>> = const { RefCell::new(None) };
    }

    #[test]
    fn of_two_that_find_an_empty_database_one_makes_the_tables() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let faster = Connection::open(&path).unwrap();
        faster.execute_batch("BEGIN IMMEDIATE").unwrap();
        faster.execute_batch(MIGRATIONS[0]).unwrap();
        faster
            .pragma_update(None, "application_id", APPLICATION_ID)
            .and_then(|()| faster.pragma_update(None, "user_version", 1))
            .unwrap();
        FASTER.set(Some(faster));
        let mut slower = Connection::open(&path).unwrap();
        // Called when the slower one, having found no tables, wants to make
        // them: now the faster one is done.
        slower
            .busy_handler(Some(|_| {
                FASTER
                    .take()
                    .is_some_and(|faster| faster.execute_batch("COMMIT").is_ok())
            }))
            .unwrap();
        prepare(&slower, &path).unwrap();
        assert!(FASTER.take().is_none(), "the two did not meet");
        assert_eq!(usize::try_from(user_version(&slower)), Ok(MIGRATIONS.len()));
    }

    fn columns(connection: &Connection, table: &str) -> String {
        connection
            .query_row(
                "SELECT group_concat(name, ' ') FROM pragma_table_info(?)",
                [table],
                |row| row.get(0),
            )
            .unwrap()
    }

    /// What other programs may ask for.
    #[test]
    fn the_tables_keep_their_columns() {
        let connection = memory();
        prepare(&connection, Path::new(PATH)).unwrap();
        assert_eq!(
            columns(&connection, "run"),
            "key id schema status started ended tool_version host target target_path plan \
             writer_pid writer_boot_id writer_start_ticks document name note tags arithmetic \
             writer_namespace"
        );
        assert_eq!(
            columns(&connection, "trial"),
            "key run position stage number seconds bytes operations errors \
             throughput_bytes_per_s iops latency_p50_ns latency_p99_ns latency_p99_9_ns \
             latency_max_ns page_cache_share device_share document histogram_read \
             histogram_write histogram_service latency_over_time bursts"
        );
        assert_eq!(
            columns(&connection, "stage_figures"),
            "run name tags note started status host target target_path plan stage settings trials \
             errors throughput_bytes_per_s throughput_bytes_per_s_min throughput_bytes_per_s_max \
             throughput_bytes_per_s_ci95_low throughput_bytes_per_s_ci95_high iops iops_min \
             iops_max iops_ci95_low iops_ci95_high latency_samples latency_mean_ns latency_p50_ns \
             latency_p90_ns latency_p99_ns latency_p99_9_ns latency_p99_99_ns latency_max_ns \
             page_cache_share device_share cpu_user_ns_per_io cpu_system_ns_per_io cpu_share \
             tool_version arithmetic"
        );
        // A program that reads columns by their type finds one.
        let without: i64 = connection
            .query_row(
                "SELECT count(*) FROM pragma_table_info('stage_figures')
                 WHERE type NOT IN ('TEXT', 'INTEGER', 'REAL')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(without, 0);
    }

    #[test]
    fn a_trial_of_the_first_version_has_no_latencies_over_time() {
        let connection = memory();
        migrate(&connection, Path::new(PATH), &MIGRATIONS[..1]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO run (id, schema, status, started, tool_version, target, target_path,
                     plan, document)
                 VALUES ('a', 1, 'complete', '', '', '', '', '', '{}');
                 INSERT INTO trial (run, position, stage, number, document, histogram_read,
                     histogram_write)
                 VALUES (1, 1, 'scan', 1, '{}', x'', x'');",
            )
            .unwrap();
        prepare(&connection, Path::new(PATH)).unwrap();
        let over_time: Option<Vec<u8>> = connection
            .query_row("SELECT latency_over_time FROM trial", [], |row| row.get(0))
            .unwrap();
        assert_eq!(over_time, None);
    }
}
