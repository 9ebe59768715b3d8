//! Files of whole runs, opened.

use crate::exit::{Exit, Failure};
use diskfacts_record::Run;
use diskfacts_store::Parcel;
use diskfacts_store::dfrun::{Error, RUNS_BYTES_MAX, Reader};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

/// The runs of a file, one after the other.
pub(crate) struct Parcels {
    /// The one that told that there are some.
    first: Option<Parcel>,
    rest: Reader<Box<dyn BufRead>>,
    /// Name of the file, for errors.
    shown: String,
}

/// The runs of a file; `None` where it is another kind of file, or cannot be opened, which
/// whoever takes it for that other kind will tell. `-` is standard input.
///
/// # Errors
/// Where it cannot be read, or is ours and its first run is not as it should be.
pub(crate) fn open(path: &Path) -> Result<Option<Parcels>, Failure> {
    open_within(path, 0, u64::MAX)
}

/// As [`open`], for who keeps the runs of several files in memory: with the `came` bytes of those
/// before they are `bytes_max` at most, unpacked.
///
/// # Errors
/// As of [`open`]; and where the first run is too much.
pub(crate) fn open_within(
    path: &Path,
    came: u64,
    bytes_max: u64,
) -> Result<Option<Parcels>, Failure> {
    let input: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        match File::open(path) {
            Ok(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
            Err(_) => return Ok(None),
        }
    };
    let shown = match path.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => path.display().to_string(),
    };
    let mut rest = Reader::new(input);
    rest.limit(bytes_max);
    rest.came_before(came);
    match rest.next() {
        None | Some(Err(Error::NotOurs)) => Ok(None),
        Some(Err(Error::Io(error))) if error.kind() == ErrorKind::IsADirectory => Ok(None),
        Some(Err(error)) => Err(failure(&shown, error)),
        Some(Ok(first)) => Ok(Some(Parcels {
            first: Some(first),
            rest,
            shown,
        })),
    }
}

impl Parcels {
    /// All of the runs, for who needs them at once.
    ///
    /// # Errors
    /// Where they cannot be read, or are more than is taken into memory.
    pub(crate) fn runs(mut self) -> Result<Vec<Run>, Failure> {
        self.rest.limit(RUNS_BYTES_MAX);
        self.map(|parcel| Ok(parcel?.run)).collect()
    }

    /// Bytes of the runs that came, unpacked, with those of the files before.
    pub(crate) fn came(&self) -> u64 {
        self.rest.came()
    }
}

impl Iterator for Parcels {
    type Item = Result<Parcel, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let next = self.rest.next()?;
        Some(next.map_err(|error| failure(&self.shown, error)))
    }
}

/// Why runs cannot be read from this file.
pub(crate) fn failure(shown: &str, error: Error) -> Failure {
    let exit = match error {
        Error::Io(_) => Exit::Failed,
        _ => Exit::WrongCall,
    };
    let sentence = format!("{shown} cannot be read: {error}");
    let error = match error {
        Error::Damaged {
            source: Some(source),
            ..
        } => anyhow::Error::from_boxed(source).context(sentence),
        _ => anyhow::anyhow!(sentence),
    };
    Failure::of(exit, error)
}
