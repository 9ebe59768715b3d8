//! Whether the pages of a column chunk are what its file has room for, before any is unpacked.
//!
//! A file may come from anywhere. The crate `parquet` believes what a header says of sizes and
//! numbers, and takes as much memory: a dictionary of a few bytes may say that it has 2^31 texts.
//! So headers are read here first: the thrift struct `PageHeader` of the format's `parquet.thrift`, in
//! the compact protocol (`doc/specs/thrift-compact-protocol.md` of Apache Thrift).
//!
//! # Promises
//! After [`check`] unpacking a chunk takes no more memory than [`PACKED_MOST`] times its bytes, and
//! some 40 bytes for each of its rows, of which a row group has [`ROWS_MAX`] at most.

use parquet::basic::Type;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Rows of a row group at most: what others write by default has no more.
pub(super) const ROWS_MAX: usize = 1 << 20;
/// How many times its packed bytes a page may have at most. A copy of Snappy makes 64 bytes of
/// three.
const PACKED_MOST: u64 = 64;
/// Bytes that a page may have in any case.
const BYTES_ANYWAY: u64 = 1 << 10;
/// Bytes of a header that are read at first; most have a few dozen.
const HEADER_BYTES: u64 = 512;
/// Structs within structs at most: there are three.
const DEPTH_MAX: u32 = 8;

/// Where a column chunk lies, and what it is said to have.
pub(super) struct Chunk {
    /// Where its first page begins, as the metadata says.
    pub(super) start: i64,
    /// Its bytes.
    pub(super) bytes: i64,
    /// The rows of its row group.
    pub(super) rows: usize,
    /// What its values are.
    pub(super) physical: Type,
}

/// Checks all page headers of a chunk.
///
/// # Errors
/// What is wrong, a few words.
pub(super) fn check(file: &File, file_bytes: u64, chunk: &Chunk) -> Result<(), String> {
    let place = u64::try_from(chunk.start).ok();
    let place = place.zip(u64::try_from(chunk.bytes).ok());
    let end = place.and_then(|(start, bytes)| start.checked_add(bytes));
    let (Some((mut at, _)), Some(end)) = (place, end.filter(|end| *end <= file_bytes)) else {
        return Err("it is said to lie outside of the file".to_owned());
    };
    let mut values = 0_u64;
    while at < end {
        let (header, header_bytes) = header(file, at, end)?;
        let body = u64::try_from(header.compressed).map_err(|_| "a page has less than no bytes")?;
        at = (at + header_bytes).saturating_add(body);
        if at > end {
            return Err("a page goes on behind its end".to_owned());
        }
        let bytes = u64::try_from(header.uncompressed).unwrap_or(u64::MAX);
        if bytes
            > body
                .saturating_mul(PACKED_MOST)
                .saturating_add(BYTES_ANYWAY)
        {
            return Err(format!(
                "a page of {body} bytes is said to unpack to {bytes}"
            ));
        }
        let smallest = if chunk.physical == Type::BYTE_ARRAY {
            4
        } else {
            8
        };
        let number = |number: Option<i64>| match number {
            None => Ok(0),
            Some(number) => u64::try_from(number).map_err(|_| "a page has less than no values"),
        };
        let dictionary = number(header.dictionary_values)?;
        if dictionary > bytes / smallest {
            return Err(format!(
                "a dictionary of {bytes} bytes is said to have {dictionary} values"
            ));
        }
        values = values.saturating_add(number(header.values)?);
    }
    if values > chunk.rows as u64 {
        return Err(format!(
            "its pages have {values} values for {} rows",
            chunk.rows
        ));
    }
    Ok(())
}

/// What matters of a page's header.
#[derive(Debug, Default, PartialEq, Eq)]
struct Header {
    uncompressed: i64,
    compressed: i64,
    /// Of a page of data, of either version.
    values: Option<i64>,
    dictionary_values: Option<i64>,
}

/// The header at this place, and its bytes.
fn header(file: &File, at: u64, end: u64) -> Result<(Header, u64), String> {
    let mut bytes = HEADER_BYTES;
    loop {
        let read = bytes.min(end - at);
        let mut buffer = vec![0; usize::try_from(read).map_err(|error| error.to_string())?];
        file.read_exact_at(&mut buffer, at)
            .map_err(|error| format!("its pages cannot be read: {error}"))?;
        let mut thrift = Thrift {
            bytes: &buffer,
            at: 0,
        };
        match thrift.header() {
            Some(header) => return Ok((header, thrift.at as u64)),
            // Perhaps it goes on: statistics may have long texts.
            None if read < end - at => bytes = bytes.saturating_mul(8),
            None => return Err("a page has no header".to_owned()),
        }
    }
}

/// Bytes in the compact protocol; `None` where they end, or are none.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The end of a struct, and the kinds of values, by their numbers in the protocol.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

impl Thrift<'_> {
    fn header(&mut self) -> Option<Header> {
        let mut header = Header::default();
        let mut field = 0;
        loop {
            let kind = self.field(&mut field)?;
            match field {
                _ if kind == STOP => return Some(header),
                2 => header.uncompressed = self.integer(kind)?,
                3 => header.compressed = self.integer(kind)?,
                5 | 8 => header.values = Some(self.first_integer(kind)?),
                7 => header.dictionary_values = Some(self.first_integer(kind)?),
                _ => self.skip(kind, 0)?,
            }
        }
    }

    /// The first field of a struct, its number of values.
    fn first_integer(&mut self, kind: u8) -> Option<i64> {
        if kind != STRUCT {
            return None;
        }
        let (mut field, mut first) = (0, None);
        loop {
            match self.field(&mut field)? {
                STOP => return first,
                kind if field == 1 => first = Some(self.integer(kind)?),
                kind => self.skip(kind, 1)?,
            }
        }
    }

    /// The kind of the next field of a struct, whose number it sets; [`STOP`] at the end.
    fn field(&mut self, number: &mut i64) -> Option<u8> {
        let byte = self.byte()?;
        if byte == STOP {
            return Some(STOP);
        }
        *number = match byte >> 4 {
            0 => self.zigzag()?,
            more => number.checked_add(i64::from(more))?,
        };
        match byte & 0x0f {
            STOP => None,
            kind => Some(kind),
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match kind {
            TRUE | FALSE => {}
            BYTE => self.pass(1)?,
            I16 | I32 | I64 => drop(self.varint()?),
            DOUBLE => self.pass(8)?,
            BINARY => {
                let bytes = self.varint()?;
                self.pass(usize::try_from(bytes).ok()?)?;
            }
            LIST | SET => {
                let byte = self.byte()?;
                let number = match byte >> 4 {
                    15 => self.varint()?,
                    few => u64::from(few),
                };
                for _ in 0..number {
                    // A truth in a list is a byte.
                    match byte & 0x0f {
                        TRUE | FALSE => self.pass(1)?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            STRUCT => {
                let mut field = 0;
                loop {
                    match self.field(&mut field)? {
                        STOP => break,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            // A header has no map, and nothing else is known.
            _ => return None,
        }
        Some(())
    }

    fn integer(&mut self, kind: u8) -> Option<i64> {
        matches!(kind, I16 | I32 | I64).then(|| self.zigzag())?
    }

    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn pass(&mut self, bytes: usize) -> Option<()> {
        self.at = self
            .at
            .checked_add(bytes)
            .filter(|at| *at <= self.bytes.len())?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Type 0 (a page of data), 100 bytes unpacked, 10 packed, and a header of data with 7 values,
    /// encoding 0 for all of it, and statistics with a text of three bytes.
    const DATA: &[u8] = &[
        0x15, 0x00, 0x15, 0xc8, 0x01, 0x15, 0x14, 0x2c, 0x15, 0x0e, 0x15, 0x00, 0x15, 0x00, 0x15,
        0x00, 0x1c, 0x18, 0x03, b'a', b'b', b'c', 0x00, 0x00, 0x00,
    ];

    #[test]
    fn a_header_is_read_to_its_end_and_none_that_is_cut_short() {
        let mut thrift = Thrift { bytes: DATA, at: 0 };
        let header = thrift.header().unwrap();
        assert_eq!((header.uncompressed, header.compressed), (100, 10));
        assert_eq!((header.values, header.dictionary_values), (Some(7), None));
        assert_eq!(thrift.at, DATA.len());
        for end in 0..DATA.len() {
            let mut cut = Thrift {
                bytes: &DATA[..end],
                at: 0,
            };
            assert_eq!(cut.header(), None, "{end}");
        }
    }

    fn checked(bytes: &[u8], rows: usize) -> Result<(), String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let chunk = Chunk {
            start: 0,
            bytes: i64::try_from(bytes.len()).unwrap(),
            rows,
            physical: Type::BYTE_ARRAY,
        };
        check(&file, bytes.len() as u64, &chunk)
    }

    #[test]
    fn pages_that_have_more_than_their_bytes_can_hold_are_refused() {
        let mut whole = DATA.to_vec();
        whole.extend([0; 10]);
        assert_eq!(checked(&whole, 7), Ok(()));
        assert_eq!(
            checked(&whole, 6),
            Err("its pages have 7 values for 6 rows".to_owned())
        );
        assert!(checked(&DATA[..20], 7).unwrap_err().contains("no header"));
        assert!(
            checked(&whole[..30], 7)
                .unwrap_err()
                .contains("behind its end")
        );
        // A dictionary (type 2) of 100 bytes with 26 texts of four bytes at least.
        let mut dictionary = vec![
            0x15, 0x04, 0x15, 0xc8, 0x01, 0x15, 0x14, 0x4c, 0x15, 0x34, 0, 0,
        ];
        dictionary.extend([0; 10]);
        assert!(checked(&dictionary, 7).unwrap_err().contains("26 values"));
        // Ten bytes are no million.
        let mut bomb = vec![0x15, 0x00, 0x15, 0x80, 0x89, 0x7a, 0x15, 0x14, 0x00];
        bomb.extend([0; 10]);
        assert!(checked(&bomb, 7).unwrap_err().contains("unpack to 1000000"));
    }
}
