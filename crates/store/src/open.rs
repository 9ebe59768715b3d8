//! Opening and creating the database file.

use crate::error::{BUSY_TIMEOUT_S, Error};
use crate::schema;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An open database of runs.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Whether the connection is to a copy of the file.
    copied: bool,
}

impl Store {
    /// Opens the store for reading and writing, and creates it, with its
    /// folders (for this user only), when it is not there. An older one is
    /// brought to the newest version.
    ///
    /// # Errors
    /// When the folder or the file cannot be made, opened or written, is no
    /// database, is another program's or a newer diskfacts'.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path = absolute(path)?;
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        let create = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Self::connection(&path, create)?;
        schema::prepare(&connection, &path)?;
        let store = Self {
            connection,
            path,
            copied: false,
        };
        if store.is_read_only()? {
            return Err(store.read_only("opening it for writing"));
        }
        Ok(store)
    }

    /// Opens a store that is there, and creates nothing. One that may only be
    /// read is opened for reading; one that may be written is brought to the
    /// newest version, and the remains of a killed process are cleared away.
    /// An older one that may only be read is read from a copy, which is brought
    /// to the newest version in its place.
    ///
    /// # Errors
    /// [`Error::Missing`] when there is none, else those of
    /// [`open`](Self::open).
    pub fn open_existing(path: &Path) -> Result<Self, Error> {
        let path = absolute(path)?;
        match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::Missing { path });
            }
            _ => {}
        }
        let connection = Self::connection(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        match schema::prepare(&connection, &path) {
            Ok(()) => Ok(Self {
                connection,
                path,
                copied: false,
            }),
            // The file, its folder or its filesystem: each has its own word for it.
            Err(Error::ReadOnly { .. } | Error::Open { .. })
                if schema::is_older(&connection, &path) =>
            {
                Self::copy_of(&connection, path)
            }
            Err(error) => Err(error),
        }
    }

    /// A store in a database of its own, with what is in another: in memory, and where
    /// that is too much in a temporary file without a name.
    fn copy_of(original: &Connection, path: PathBuf) -> Result<Self, Error> {
        const COPYING: &str = "copying it, to read what an older version stored";
        let sql = |error| Error::sql(&path, COPYING, error);
        let mut connection = Connection::open("").map_err(sql)?;
        let copied = Backup::new(original, &mut connection).and_then(|copy| copy.step(-1));
        match copied.map_err(sql)? {
            StepResult::Done => {}
            _ => return Err(sql(busy())),
        }
        schema::prepare(&connection, &path)?;
        connection
            .pragma_update(None, "trusted_schema", false)
            .map_err(sql)?;
        Ok(Self {
            connection,
            path,
            copied: true,
        })
    }

    /// Opens a store for a look, as completion in a shell takes one: for reading, without a wait
    /// for who writes, and without bringing it to another version. `None` where that cannot be,
    /// or where its version is another one.
    pub fn glance(path: &Path) -> Option<Self> {
        let path = absolute(path).ok()?;
        refuse_what_is_no_file(&path).ok()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).ok()?;
        connection.busy_timeout(Duration::ZERO).ok()?;
        connection
            .pragma_update(None, "trusted_schema", false)
            .ok()?;
        schema::is_newest(&connection, &path).then_some(Self {
            connection,
            path,
            copied: false,
        })
    }

    fn connection(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
        refuse_what_is_no_file(path)?;
        // Each connection stays on one thread at a time: Rust sees to it.
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| why_it_does_not_open(path, error))?;
        connection
            .busy_timeout(Duration::from_secs(BUSY_TIMEOUT_S))
            .and_then(|()| connection.pragma_update(None, "foreign_keys", true))
            .and_then(|()| connection.pragma_update(None, "trusted_schema", false))
            .and_then(|()| connection.pragma_update(None, "synchronous", "EXTRA"))
            .map_err(|error| Error::sql(path, "opening it", error))?;
        Ok(connection)
    }

    /// Where it is, as an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was opened for reading only, because it may not be written.
    ///
    /// # Errors
    /// When `SQLite` does not answer.
    pub fn is_read_only(&self) -> Result<bool, Error> {
        let connection = self.connection.is_readonly(MAIN_DB);
        Ok(self.copied || connection.map_err(self.sql("opening it"))?)
    }

    /// A number that is another when somebody else has changed the store since it was asked last
    /// of this value (`PRAGMA data_version`). It costs a look at one page.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn version(&self) -> Result<i64, Error> {
        self.connection
            .query_row("PRAGMA data_version", [], |row| row.get(0))
            .map_err(self.sql("asking whether it was changed"))
    }

    fn read_only(&self, doing: &'static str) -> Error {
        Error::ReadOnly {
            doing,
            path: self.path.clone(),
            source: None,
        }
    }

    /// Sorts errors of `SQLite` that came while `doing` something.
    pub(crate) fn sql(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> Error + Copy {
        let path: &Path = &self.path;
        move |error| Error::sql(path, doing, error)
    }

    /// A transaction that locks the database for writing at once: one that
    /// began by reading could not wait for another writer.
    pub(crate) fn write(&self, doing: &'static str) -> Result<Transaction<'_>, Error> {
        // A copy would take what is written with it.
        if self.copied {
            return Err(self.read_only(doing));
        }
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(self.sql(doing))
    }

    /// A transaction that sees one state of the database.
    pub(crate) fn read(&self, doing: &'static str) -> Result<Transaction<'_>, Error> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)
            .map_err(self.sql(doing))
    }
}

/// What `SQLite` says where somebody writes.
fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

/// `SQLite` takes relative paths that begin with `file:` or `:` for something
/// else; absolute ones are only paths. They read better in errors, too.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|source| Error::Open {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

/// Creates a folder and those above it that are missing; what runs tell about
/// a machine is nobody else's business.
fn create_folder(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| Error::CreateFolder {
        path: path.to_owned(),
        source,
    })
}

/// Opening a pipe would wait for ever, and a device holds something else.
fn refuse_what_is_no_file(path: &Path) -> Result<(), Error> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    if metadata.is_file() {
        return Ok(());
    }
    let (what, name) = if metadata.is_dir() {
        ("a folder", path.join("runs.db").display().to_string())
    } else {
        ("a device, a pipe or a socket", "PATH".to_owned())
    };
    Err(Error::NotAFile {
        what,
        name,
        path: path.to_owned(),
    })
}

/// `SQLite` only says that it could not open the file; the system knows why.
fn why_it_does_not_open(path: &Path, error: rusqlite::Error) -> Error {
    // Only a file that does not exist may be tried here: closing one would
    // release the locks of this process' other connections to it (POSIX
    // advisory locks belong to the process, fcntl(2)). One that can be created
    // after all is an empty store, and stays.
    match fs::File::create_new(path) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => Error::Open {
            path: path.to_owned(),
            source: Box::new(source),
        },
        _ => Error::sql(path, "opening it", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    /// A process that dies after its changes reached the database file and
    /// before they were committed leaves a journal that takes them back.
    #[test]
    fn a_write_that_was_killed_half_way_is_taken_back_by_the_next_process() {
        const NAME: &str =
            "open::tests::a_write_that_was_killed_half_way_is_taken_back_by_the_next_process";
        const CHILD: &str = "DISKFACTS_STORE_TEST_CHILD";
        const ROWS: &str = "INSERT INTO run (id, schema, status, started, tool_version, target,
                                target_path, plan, document)
                            VALUES (?, 1, 'running', '', '', '', '', '', printf('%.*c', 1 << 20, 'x'))";
        if let Some(path) = std::env::var_os(CHILD) {
            let store = Store::open(Path::new(&path)).unwrap();
            store.connection.execute(ROWS, ["committed"]).unwrap();
            // So small a cache spills into the file before the commit.
            store
                .connection
                .pragma_update(None, "cache_size", 4)
                .unwrap();
            let transaction = store.write("").unwrap();
            transaction.execute("DELETE FROM run", []).unwrap();
            for n in 0..9 {
                transaction
                    .execute(ROWS, [format!("uncommitted {n}")])
                    .unwrap();
            }
            eprintln!("child: half way");
            // Until it is killed, or the parent is gone.
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(CHILD, &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        BufReader::new(child.stderr.as_mut().unwrap())
            .lines()
            .map(Result::unwrap)
            .find(|line| line == "child: half way")
            .expect("the child came half way");
        child.kill().unwrap();
        child.wait().unwrap();
        let journal = fs::metadata(folder.path().join("runs.db-journal")).unwrap();
        assert!(journal.len() > 0);
        let found = contains(&fs::read(&path).unwrap(), b"uncommitted");
        assert!(found, "the file was not changed before the kill");

        let store = Store::open_existing(&path).unwrap();
        let ids: Vec<String> = store
            .runs(9)
            .unwrap()
            .into_iter()
            .map(|run| run.id)
            .collect();
        assert_eq!(ids, ["committed"]);
        let verdict: String = store
            .connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(verdict, "ok");
    }

    fn contains(bytes: &[u8], part: &[u8]) -> bool {
        bytes.windows(part.len()).any(|window| window == part)
    }

    #[test]
    fn the_settings_that_durability_rests_on_are_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("runs.db")).unwrap();
        let ask = |pragma: &str| -> String {
            store
                .connection
                .query_row(
                    &format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}"),
                    [],
                    |row| row.get(0),
                )
                .unwrap()
        };
        // 3 is EXTRA.
        assert_eq!(ask("synchronous"), "3");
        assert_eq!(ask("journal_mode"), "delete");
        assert_eq!(ask("foreign_keys"), "1");
    }

    #[test]
    fn a_store_that_stays_locked_is_an_error_that_says_how_to_find_who_locks_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let other = Store::open(&path).unwrap();
        let mut store = Store::open(&path).unwrap();
        store.connection.busy_timeout(Duration::ZERO).unwrap();
        let lock = other.write("").unwrap();
        // Reading goes on beside a writer.
        assert_eq!(store.runs(1).unwrap(), []);
        let mut rename = || store.relabel(&["a"], |_| {});
        let error = rename().unwrap_err();
        assert!(matches!(error, Error::Busy { .. }), "{error:?}");
        assert!(error.to_string().contains("fuser"), "{error}");
        drop(lock);
        assert!(matches!(rename(), Err(Error::Empty { .. })));
    }
}
