//! A document from any reader, line by line, in memory that does not grow with
//! it.

use super::{Document, Reader};
use std::fmt;
use std::io::{self, BufRead};

/// Longest line that is kept, bytes: JSON may stand in one line.
const LINE_MAX: usize = 16 << 20;
/// How gzip's files begin, with their only method of compression.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// Why a document could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// It has bytes that no text has.
    Binary {
        /// Number of the line, from 1.
        line: u64,
    },
    /// It is compressed by gzip.
    Gzip,
    /// Reading failed.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary { line } => write!(
                f,
                "line {line} has a NUL byte, so it is no text; if it is UTF-16, `iconv -f UTF-16 \
                 -t UTF-8 FILE | diskfacts import -` reads it"
            ),
            Self::Gzip => {
                f.write_str("it is compressed by gzip; `zcat FILE | diskfacts import -` reads it")
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Binary { .. } | Self::Gzip => None,
            Self::Io(error) => Some(error),
        }
    }
}

/// Reads a document to its end. A line of more than 16 MiB is left out with a
/// note.
///
/// # Errors
/// [`ReadError::Gzip`] for what begins as gzip does; [`ReadError::Binary`] at the first NUL byte, before anything behind it is
/// read; [`ReadError::Io`] when reading fails.
pub fn read(mut from: impl BufRead) -> Result<Document, ReadError> {
    let mut reader = Reader::default();
    let mut line: Vec<u8> = Vec::new();
    let mut too_long = false;
    let mut number = 1;
    loop {
        let chunk = match from.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ReadError::Io(error)),
        };
        if chunk.is_empty() {
            break;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = end.map_or(chunk, |end| &chunk[..=end]);
        // RFC 1952, 2.3.1.
        if number == 1 && line.is_empty() && part.starts_with(&GZIP) {
            return Err(ReadError::Gzip);
        }
        if part.contains(&0) {
            return Err(ReadError::Binary { line: number });
        }
        let length = part.len();
        if too_long || line.len() + length > LINE_MAX {
            too_long = true;
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        from.consume(length);
        if end.is_some() {
            take(&mut reader, &mut line, &mut too_long);
            number += 1;
        }
    }
    if !line.is_empty() || too_long {
        take(&mut reader, &mut line, &mut too_long);
    }
    Ok(reader.finish())
}

fn take(reader: &mut Reader, line: &mut Vec<u8>, too_long: &mut bool) {
    if std::mem::take(too_long) {
        reader.too_long(LINE_MAX);
    } else {
        reader.line(line);
    }
    line.clear();
}
