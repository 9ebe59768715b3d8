//! What can go wrong with the files of a fleet.

use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the files of a fleet cannot be read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// The system refused.
    #[error("{doing} {path} failed: {source}")]
    Io {
        /// What was tried: `reading`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What came back.
        source: io::Error,
    },
    /// The bytes are no Parquet, or damaged.
    #[error("{doing} {path} failed: {source}")]
    Parquet {
        /// What was tried: `reading`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the crate `parquet` says.
        source: ParquetError,
    },
    /// It is Parquet, and has not what a fleet's files have.
    #[error(
        "{path} is no file of a fleet: {what}; keep files of other programs out of the folder of a \
         fleet"
    )]
    NotOurs {
        /// Which file.
        path: PathBuf,
        /// What is missing or wrong.
        what: String,
    },
    /// Nothing is there.
    #[error(
        "{path} is no fleet: there is no *.parquet in it; `diskfacts fleet add RUN.dfrun --into \
         {path}` makes the first"
    )]
    Empty {
        /// The folder.
        path: PathBuf,
    },
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }

    pub(crate) fn parquet(doing: &'static str, path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_owned();
        move |source| Self::Parquet {
            doing,
            path,
            source,
        }
    }
}
