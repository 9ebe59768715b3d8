//! Two readings of one small file of the kernel.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes that are read of a file at the edges of a window, unless it is said
/// otherwise; most have some hundred.
const CAPACITY: usize = 4096;

/// A file that stays open, and what it said when the window was opened and when
/// it was closed.
pub(super) struct Window {
    path: PathBuf,
    file: io::Result<File>,
    before: Reading,
    after: Reading,
    closed: bool,
    /// Opened again for each reading.
    anew: bool,
    /// Read to its end by several calls.
    in_pieces: bool,
}

/// One reading, in memory that is never allocated anew.
struct Reading {
    bytes: Box<[u8]>,
    result: io::Result<usize>,
}

impl Reading {
    fn none(capacity: usize) -> Self {
        Self {
            bytes: vec![0; capacity].into_boxed_slice(),
            result: Ok(0),
        }
    }

    fn take(&mut self, file: &io::Result<File>, in_pieces: bool) {
        let Ok(file) = file else { return };
        self.result = read_at(file, &mut self.bytes[..], 0);
        if in_pieces {
            self.take_rest(file);
        }
    }

    fn take_rest(&mut self, file: &File) {
        while let Ok(len) = self.result
            && (1..self.bytes.len()).contains(&len)
        {
            match read_at(file, &mut self.bytes[len..], len as u64) {
                Ok(0) => break,
                Ok(more) => self.result = Ok(len + more),
                Err(error) => self.result = Err(error),
            }
        }
    }

    fn bytes(&self) -> Result<&[u8], &io::Error> {
        match &self.result {
            Ok(len) => Ok(&self.bytes[..*len]),
            Err(error) => Err(error),
        }
    }
}

impl Window {
    pub(super) fn open(path: &Path) -> Self {
        Self::open_long(path, CAPACITY)
    }

    /// For a file of which so many bytes are wanted.
    pub(super) fn open_long(path: &Path, capacity: usize) -> Self {
        Self {
            file: File::open(path),
            path: path.to_owned(),
            before: Reading::none(capacity),
            after: Reading::none(capacity),
            closed: false,
            anew: false,
            in_pieces: false,
        }
    }

    /// For a file that keeps saying what it said when it was opened, as those of
    /// jbd2 do (`jbd2_seq_info_open`, fs/jbd2/journal.c).
    pub(super) fn open_anew(path: &Path) -> Self {
        Self {
            anew: true,
            ..Self::open(path)
        }
    }

    /// For a file that gives a part of itself to each call, as long as whole records fit into
    /// the kernel's memory for them (`seq_read_iter`, `fs/seq_file.c`).
    pub(super) fn open_in_pieces(path: &Path, capacity: usize) -> Self {
        Self {
            in_pieces: true,
            ..Self::open_long(path, capacity)
        }
    }

    fn open_again(&mut self) {
        if self.anew {
            self.file = File::open(&self.path);
        }
    }

    pub(super) fn start(&mut self) {
        self.closed = false;
        self.open_again();
        self.before.take(&self.file, self.in_pieces);
    }

    /// Takes the last reading, once.
    pub(super) fn halt(&mut self) {
        if !self.closed {
            self.open_again();
            self.after.take(&self.file, self.in_pieces);
            self.closed = true;
        }
    }

    /// The two readings, or in words why there are none.
    pub(super) fn readings(&self) -> Result<(&[u8], &[u8]), String> {
        let why = |doing: &str, error: &io::Error| {
            format!(
                "{doing} {}: {error}; {}",
                self.path.display(),
                crate::error::hint(error)
            )
        };
        if let Err(error) = &self.file {
            return Err(why("opening", error));
        }
        let before = self.before.bytes().map_err(|error| why("reading", error))?;
        let after = self.after.bytes().map_err(|error| why("reading", error))?;
        Ok((before, after))
    }

    /// Parses both readings.
    pub(super) fn parse<T, E: std::fmt::Display>(
        &self,
        parse: impl Fn(&[u8]) -> Result<T, E>,
    ) -> Result<(T, T), String> {
        let (before, after) = self.readings()?;
        let parse =
            |bytes| parse(bytes).map_err(|error| format!("{}: {error}", self.path.display()));
        Ok((parse(before)?, parse(after)?))
    }
}

/// Reads a piece; from the start it makes the kernel write the file anew.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    file.read_at(bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::os::windows::fs::FileExt;
    file.seek_read(bytes, offset)
}
