//! What can go wrong, and what to do about it.

use diskfacts_record::labels::LabelError;
use rusqlite::ErrorCode;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How long one process waits for the others before it gives up, seconds.
pub(crate) const BUSY_TIMEOUT_S: u64 = 20;

/// Why the store could not do what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no place that is the user's own.
    #[error(
        "there is no default place for the store of runs: neither XDG_DATA_HOME nor HOME is an \
         absolute path. Set one of them, or choose a place with --store PATH"
    )]
    NoHome,
    /// The folder of the store could not be made.
    #[error(
        "the folder {} for the store of runs cannot be created. Choose another place with \
         --store PATH",
        .path.display()
    )]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is a folder, a device, a socket: anything but a file.
    #[error("the store {} is {what}, not a file. Name a file: --store {name}", .path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
        /// What it is instead, with its article.
        what: &'static str,
        /// What to name: a file in it, where it is a folder.
        name: String,
    },
    /// There is no store yet.
    #[error(
        "no run is stored yet: {} does not exist. 'diskfacts measure TARGET' makes a run; \
         --store PATH names another store",
        .path.display()
    )]
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// The file cannot be opened or created.
    #[error(
        "the store {} cannot be opened; {} --store PATH chooses another place",
        .path.display(),
        open_hint(source.as_ref())
    )]
    Open {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file is something else.
    #[error(
        "{} is not an SQLite database, so it is not a store of runs; it was left as it is. \
         Choose another file with --store PATH",
        .path.display()
    )]
    NotADatabase {
        /// Where.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// A database, but not ours.
    #[error(
        "{} is an SQLite database of another program; it was left as it is. Choose another file \
         with --store PATH",
        .path.display()
    )]
    Foreign {
        /// Where.
        path: PathBuf,
    },
    /// A newer diskfacts has changed its tables.
    #[error(
        "the store {} has version {found}, and this diskfacts knows versions up to {known}. Use \
         the newer diskfacts that wrote it, or another store with --store PATH",
        .path.display()
    )]
    NewerStore {
        /// Where.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: u32,
    },
    /// It may only be read.
    #[error(
        "{doing}: the store {} may only be read here. Choose a place that can be written with \
         --store PATH",
        .path.display()
    )]
    ReadOnly {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What `SQLite` said, if it was asked.
        source: Option<rusqlite::Error>,
    },
    /// A process was killed while it wrote, what it had begun has to be taken back first, and
    /// may not be here.
    #[error(
        "{doing}: a write to the store {} was cut short, and is taken back by whoever opens it \
         next; here it may only be read. Run `diskfacts runs` once where it may be written, or copy \
         it together with {}-journal to such a place and name that with --store PATH",
        .path.display(),
        .path.display()
    )]
    Unfinished {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// No space.
    #[error(
        "{doing}: the filesystem of the store {} is full. What was stored before is safe. Free \
         some space, or choose another place with --store PATH",
        .path.display()
    )]
    Full {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// Others kept it locked.
    #[error(
        "{doing}: another process kept the store {} locked for {BUSY_TIMEOUT_S} s. 'fuser {}' \
         shows which; wait for it or end it, then try again",
        .path.display(),
        .path.display()
    )]
    Busy {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// The file was moved or deleted while it was in use.
    #[error(
        "{doing}: the store {} was moved, deleted or replaced while it was open. What was stored \
         is in the file that was moved; run the command again to go on with the new one",
        .path.display()
    )]
    Moved {
        /// What was tried.
        doing: &'static str,
        /// Where it was.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// The database contradicts itself.
    #[error(
        "{doing}: the store {} is damaged. Copy it away first; 'sqlite3 {} .recover' saves what \
         can be read. --store PATH begins a new one",
        .path.display(),
        .path.display()
    )]
    Damaged {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// Anything else that the database said.
    #[error("{doing} in the store {} did not work", .path.display())]
    Sql {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What `SQLite` said.
        source: rusqlite::Error,
    },
    /// The store holds no run at all.
    #[error(
        "no run is stored yet in {}. 'diskfacts measure TARGET' makes one; --store PATH names \
         another store",
        .path.display()
    )]
    Empty {
        /// Where.
        path: PathBuf,
    },
    /// No run is called so.
    #[error(
        "no run '{selector}' in the store {}{} The latest are\n{latest}\n'diskfacts runs' lists \
         all; name one by its id or the beginning of its id, by its name, or by last; last~1 and \
         NAME~1 are the ones before",
        .path.display(),
        .near.as_ref().map_or_else(|| ".".to_owned(), |near| format!("; did you mean '{near}'?"))
    )]
    UnknownRun {
        /// What was asked for.
        selector: String,
        /// Where.
        path: PathBuf,
        /// The selector most like it.
        near: Option<String>,
        /// The latest runs.
        latest: Candidates,
    },
    /// Several runs are called so.
    #[error(
        "'{selector}' is the beginning of several runs:\n{matching}\nGive more of the id; \
         'diskfacts runs' lists all"
    )]
    AmbiguousRun {
        /// What was asked for.
        selector: String,
        /// The runs that begin so.
        matching: Candidates,
    },
    /// A run of this id is there already.
    #[error("a run {id} is already in the store {}", .path.display())]
    RunExists {
        /// Its id.
        id: String,
        /// Where.
        path: PathBuf,
    },
    /// A run of this id is there already, and it is another one.
    #[error(
        "a run {id} is already in the store {}, and is not the same; nothing was stored. Import \
         into another store with --store PATH, or delete that one first: diskfacts runs delete {id}",
        .path.display()
    )]
    OtherRun {
        /// Its id.
        id: String,
        /// Where.
        path: PathBuf,
    },
    /// The run is being made.
    #[error(
        "the run {id} in the store {} still goes on, so nothing was deleted: wait for it, or end it",
        .path.display()
    )]
    RunGoesOn {
        /// Its id.
        id: String,
        /// Where.
        path: PathBuf,
    },
    /// No run can be called so.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// A trial of this order is there already.
    #[error("trial {order} of the run {id} is already in the store {}", .path.display())]
    TrialExists {
        /// Id of the run.
        id: String,
        /// Which trial of the run, from 1.
        order: u32,
        /// Where.
        path: PathBuf,
    },
    /// A newer diskfacts wrote the run.
    #[error(
        "the run {id} has schema version {found}, and this diskfacts knows versions up to \
         {known}. Use the newer diskfacts that made it"
    )]
    NewerRun {
        /// Its id.
        id: String,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: u32,
    },
    /// What is stored of the run cannot be read.
    #[error(
        "{what} of the run {id} in the store {} cannot be read: it is damaged, or was changed by \
         another program. 'diskfacts runs' lists the others",
        .path.display()
    )]
    DamagedRun {
        /// Which part.
        what: String,
        /// Id of the run.
        id: String,
        /// Where.
        path: PathBuf,
        /// What was wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What was to be stored could not be read again.
    #[error(
        "{what} of the run {id} cannot be stored: it would not read back, because a figure in it \
         is not a number. This is a mistake in diskfacts; please report it"
    )]
    Unstorable {
        /// Which part.
        what: String,
        /// Id of the run.
        id: String,
        /// What was wrong.
        source: serde_json::Error,
    },
}

impl Error {
    /// Sorts what `SQLite` said by what the user can do about it.
    pub(crate) fn sql(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if source.sqlite_extended_error_code() == Some(rusqlite::ffi::SQLITE_READONLY_DBMOVED) {
            return Self::Moved {
                doing,
                path,
                source,
            };
        }
        if source.sqlite_extended_error_code() == Some(rusqlite::ffi::SQLITE_READONLY_ROLLBACK) {
            return Self::Unfinished {
                doing,
                path,
                source,
            };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => Self::ReadOnly {
                doing,
                path,
                source: Some(source),
            },
            Some(ErrorCode::DiskFull) => Self::Full {
                doing,
                path,
                source,
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy {
                doing,
                path,
                source,
            },
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path, source },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                doing,
                path,
                source,
            },
            Some(ErrorCode::CannotOpen) => Self::Open {
                path,
                source: Box::new(source),
            },
            _ => Self::Sql {
                doing,
                path,
                source,
            },
        }
    }
}

/// What may help against a file that does not open for this reason.
fn open_hint(why: &(dyn std::error::Error + Send + Sync + 'static)) -> &'static str {
    /// Of one process, and of the machine: the same numbers on every Unix.
    const TOO_MANY_FILES: [i32; 2] = [24, 23];
    let system = why.downcast_ref::<std::io::Error>();
    let number = system.and_then(std::io::Error::raw_os_error);
    if system.map(std::io::Error::kind) == Some(std::io::ErrorKind::InvalidFilename) {
        "its name is too long: give it a shorter one."
    } else if number.is_some_and(|number| TOO_MANY_FILES.contains(&number)) {
        "too many files are open: raise `ulimit -n`, or end what has them open."
    } else {
        "may you read and write it and its folder?"
    }
}

/// A run that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// The name of its plan.
    pub plan: String,
    /// Its target as it was given.
    pub target: String,
}

/// Runs that may have been meant, latest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// A few of them.
    pub some: Vec<Candidate>,
    /// How many more there are.
    pub more: usize,
}

impl fmt::Display for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, candidate) in self.some.iter().enumerate() {
            let Candidate {
                id,
                name,
                plan,
                target,
            } = candidate;
            if i > 0 {
                writeln!(f)?;
            }
            let name = name
                .as_ref()
                .map_or(String::new(), |name| format!("{name}: "));
            write!(f, "  {id}  {name}{plan} of {target}")?;
        }
        if self.more > 0 {
            write!(f, "\n  and {} more", self.more)?;
        }
        Ok(())
    }
}
