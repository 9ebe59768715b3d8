//! Columns of a file of Parquet, by name.

use super::pages::{self, Chunk, ROWS_MAX};
use crate::error::Error;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs;
use std::path::{Path, PathBuf};

/// Values that are read at once.
const BATCH: usize = 1 << 16;

/// A text of a column, or none. Texts of a dictionary share their bytes.
pub(super) type Text = Option<ByteArray>;

/// Rows that a byte of a file may stand for at most. A row has a column of figures, so that most have
/// some dozen bytes; a file that says it has more than this lies about it.
const ROWS_OF_A_BYTE: u64 = 8;

/// An open file.
pub(super) struct File {
    path: PathBuf,
    /// The same as the reader's, to look at pages before they are unpacked.
    file: fs::File,
    bytes: u64,
    reader: SerializedFileReader<fs::File>,
}

impl File {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        const DOING: &str = "reading";
        let file = fs::File::open(path).map_err(Error::io(DOING, path))?;
        let metadata = file.metadata().map_err(Error::io(DOING, path))?;
        let own = file.try_clone().map_err(Error::io(DOING, path))?;
        let reader = SerializedFileReader::new(file).map_err(Error::parquet(DOING, path))?;
        let file = Self {
            path: path.to_owned(),
            file: own,
            bytes: metadata.len(),
            reader,
        };
        file.check_rows()?;
        Ok(file)
    }

    /// Refuses more rows than there can be: they would all be in memory.
    fn check_rows(&self) -> Result<(), Error> {
        let mut all = 0_u64;
        for group in self.reader.metadata().row_groups() {
            let rows = group.num_rows();
            let Some(few) = usize::try_from(rows).ok().filter(|rows| *rows <= ROWS_MAX) else {
                return Err(self.not_ours(format!(
                    "it has a row group of {rows} rows, and {ROWS_MAX} are the most"
                )));
            };
            all = all.saturating_add(few as u64);
        }
        if all > self.bytes.saturating_mul(ROWS_OF_A_BYTE) {
            return Err(self.not_ours(format!(
                "it says that it has {all} rows, which its {} bytes cannot hold",
                self.bytes
            )));
        }
        Ok(())
    }

    pub(super) fn row_groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    pub(super) fn not_ours(&self, what: String) -> Error {
        Error::NotOurs {
            path: self.path.clone(),
            what,
        }
    }

    /// A column of texts.
    pub(super) fn texts(&self, group: usize, name: &str) -> Result<Vec<Text>, Error> {
        self.column::<ByteArrayType>(group, name, Type::BYTE_ARRAY)
    }

    /// A column of whole numbers.
    pub(super) fn integers(&self, group: usize, name: &str) -> Result<Vec<Option<i64>>, Error> {
        self.column::<Int64Type>(group, name, Type::INT64)
    }

    /// A column of numbers.
    pub(super) fn numbers(&self, group: usize, name: &str) -> Result<Vec<Option<f64>>, Error> {
        self.column::<DoubleType>(group, name, Type::DOUBLE)
    }

    /// A text that has to be there, and to be one.
    pub(super) fn text(&self, name: &str, text: &Text) -> Result<String, Error> {
        let bytes = text
            .as_ref()
            .ok_or_else(|| self.not_ours(format!("a row has no {name}")))?;
        match std::str::from_utf8(bytes.data()) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(self.not_ours(format!("a {name} is no UTF-8"))),
        }
    }

    fn column<T: DataType>(
        &self,
        group: usize,
        name: &str,
        physical: Type,
    ) -> Result<Vec<Option<T::T>>, Error> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let columns = schema.columns();
        let found = columns
            .iter()
            .position(|column| column.path().parts() == [name]);
        let Some(place) = found else {
            return Err(self.not_ours(format!("it has no column {name}")));
        };
        let column = &columns[place];
        if column.physical_type() != physical || column.max_rep_level() > 0 {
            return Err(self.not_ours(format!("its column {name} holds something else")));
        }
        let damaged = |what: String| ParquetError::General(format!("the column {name}: {what}"));
        let read = || -> Result<Vec<Option<T::T>>, ParquetError> {
            let group = self.reader.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows())?;
            let chunk = group.metadata().columns().get(place);
            let chunk = chunk.ok_or_else(|| damaged("its row group has none".to_owned()))?;
            let data = chunk.data_page_offset();
            let chunk = Chunk {
                start: chunk.dictionary_page_offset().unwrap_or(data),
                bytes: chunk.compressed_size(),
                rows,
                physical,
            };
            pages::check(&self.file, self.bytes, &chunk).map_err(damaged)?;
            let reader = group.get_column_reader(place)?;
            let values = values::<T>(reader, column.max_def_level(), rows)?;
            if values.len() != rows {
                return Err(damaged(format!("it has {} rows of {rows}", values.len())));
            }
            Ok(values)
        };
        read().map_err(Error::parquet("reading", &self.path))
    }
}

/// All values of a column that is not nested, of so many rows.
fn values<T: DataType>(
    reader: ColumnReader,
    most: i16,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut reader = get_typed_column_reader::<T>(reader);
    let mut all = Vec::new();
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (records, _, _) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        // What goes on behind the last row is no matter; that it does is told by whoever asked.
        if records == 0 || all.len() > rows {
            return Ok(all);
        }
        if most == 0 {
            all.extend(values.drain(..).map(Some));
        } else {
            let mut present = values.drain(..);
            all.extend(levels.iter().map(
                |level| {
                    if *level == most { present.next() } else { None }
                },
            ));
        }
    }
}
