//! Columns of a file of Parquet, by name.

use super::pages::{self, Chunk, ROWS_MAX};
use super::spans::{self, Column, Plain};
use crate::error::Error;
use parquet::basic::{SortOrder, Type};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

const READING: &str = "reading";

/// Values that are read at once.
const BATCH: usize = 1 << 16;

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
        let file = fs::File::open(path).map_err(Error::io(READING, path))?;
        let metadata = file.metadata().map_err(Error::io(READING, path))?;
        let own = file.try_clone().map_err(Error::io(READING, path))?;
        let reader = SerializedFileReader::new(file).map_err(Error::parquet(READING, path))?;
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

    /// The rows of a row group, of which there are [`ROWS_MAX`] at most.
    pub(super) fn rows(&self, group: usize) -> u32 {
        let rows = self.reader.metadata().row_group(group).num_rows();
        u32::try_from(rows).unwrap_or(0)
    }

    pub(super) fn not_ours(&self, what: String) -> Error {
        Error::NotOurs {
            path: self.path.clone(),
            what,
        }
    }

    /// A column of texts.
    pub(super) fn texts(&self, group: usize, name: &str) -> Result<Column<ByteArray>, Error> {
        self.spans::<ByteArrayType>(group, name, Type::BYTE_ARRAY)
    }

    /// A column of whole numbers.
    pub(super) fn integers(&self, group: usize, name: &str) -> Result<Column<i64>, Error> {
        self.spans::<Int64Type>(group, name, Type::INT64)
    }

    /// The numbers that a column has in these rows, which are in their order.
    pub(super) fn numbers(
        &self,
        group: usize,
        name: &str,
        rows: &[Range<u32>],
    ) -> Result<Vec<Option<f64>>, Error> {
        let chunk = self.chunk(group, name, Type::DOUBLE)?;
        let read = || {
            let reader = self.reader.get_row_group(group)?;
            let reader = reader.get_column_reader(chunk.place)?;
            let mut reader = get_typed_column_reader::<DoubleType>(reader);
            let mut all = Vec::new();
            let mut next = 0;
            for rows in rows {
                let left_out = (rows.start - next) as usize;
                let wanted = all.len() + rows.len();
                let passed = reader.skip_records(left_out)?;
                values(&mut reader, chunk.most, rows.len(), &mut all)?;
                if passed != left_out || all.len() != wanted {
                    let what = format!("the column {name} ends before row {}", rows.end);
                    return Err(ParquetError::General(what));
                }
                next = rows.end;
            }
            Ok(all)
        };
        read().map_err(Error::parquet(READING, &self.path))
    }

    /// Whether a column may have a text of which this is true, as far as its statistics tell: it is
    /// asked about the smallest and the largest. Without any, it may.
    pub(super) fn may_have(
        &self,
        group: usize,
        name: &str,
        any_within: impl FnOnce(&[u8], &[u8]) -> bool,
    ) -> bool {
        let metadata = self.reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let Some(place) = place(schema, name) else {
            return true;
        };
        let column = schema.column(place);
        let chunk = metadata.row_group(group).columns().get(place);
        let Some(statistics) = chunk.and_then(|chunk| chunk.statistics()) else {
            return true;
        };
        // Before there was an order of unsigned bytes, writers compared them as they liked.
        let is_ordered = column.physical_type() == Type::BYTE_ARRAY
            && column.sort_order() == SortOrder::UNSIGNED
            && !statistics.is_min_max_deprecated();
        match (statistics.min_bytes_opt(), statistics.max_bytes_opt()) {
            // Long ones are cut short, so that all texts are between them still.
            (Some(least), Some(most)) if is_ordered => any_within(least, most),
            _ => {
                let rows = u64::try_from(metadata.row_group(group).num_rows());
                statistics.null_count_opt() != rows.ok()
            }
        }
    }

    /// Whether the rows of a row group may have this text in this column.
    pub(super) fn may_have_text(&self, group: usize, name: &str, text: &str) -> bool {
        let text = text.as_bytes();
        self.may_have(group, name, |least, most| least <= text && text <= most)
    }

    /// A text that has to be there, and to be one.
    pub(super) fn text<'a>(
        &self,
        name: &str,
        text: Option<&'a ByteArray>,
    ) -> Result<&'a str, Error> {
        let bytes = text.ok_or_else(|| self.not_ours(format!("a row has no {name}")))?;
        std::str::from_utf8(bytes.data())
            .map_err(|_| self.not_ours(format!("a {name} is no UTF-8")))
    }

    /// Where a column of a row group lies, when its pages are what there is room for.
    fn chunk(&self, group: usize, name: &str, physical: Type) -> Result<Place, Error> {
        let metadata = self.reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let Some(place) = place(schema, name) else {
            return Err(self.not_ours(format!("it has no column {name}")));
        };
        let column = schema.column(place);
        if column.physical_type() != physical || column.max_rep_level() > 0 {
            return Err(self.not_ours(format!("its column {name} holds something else")));
        }
        let damaged = |what: String| ParquetError::General(format!("the column {name}: {what}"));
        let check = || {
            let group = metadata.row_group(group);
            let rows = usize::try_from(group.num_rows())?;
            let chunk = group.columns().get(place);
            let chunk = chunk.ok_or_else(|| damaged("its row group has none".to_owned()))?;
            let data = chunk.data_page_offset();
            let chunk = Chunk {
                start: chunk.dictionary_page_offset().unwrap_or(data),
                bytes: chunk.compressed_size(),
                rows,
                physical,
            };
            pages::check(&self.file, self.bytes, &chunk).map_err(damaged)?;
            Ok(Place {
                place,
                most: column.max_def_level(),
                rows,
            })
        };
        check().map_err(Error::parquet(READING, &self.path))
    }

    fn spans<T: DataType>(
        &self,
        group: usize,
        name: &str,
        physical: Type,
    ) -> Result<Column<T::T>, Error>
    where
        T::T: Plain,
    {
        let chunk = self.chunk(group, name, physical)?;
        let read = || -> Result<Column<T::T>, ParquetError> {
            let group = self.reader.get_row_group(group)?;
            let mut pages = group.get_column_page_reader(chunk.place)?;
            if chunk.most <= 1
                && let Some(column) = spans::of_pages(&mut *pages, chunk.most == 1, chunk.rows)
            {
                return Ok(column);
            }
            let reader = group.get_column_reader(chunk.place)?;
            let mut reader = get_typed_column_reader::<T>(reader);
            let mut all = Vec::new();
            // One more than there are, to see that none follows.
            values(&mut reader, chunk.most, chunk.rows + 1, &mut all)?;
            if all.len() != chunk.rows {
                let (read, rows) = (all.len(), chunk.rows);
                let what = format!("the column {name}: it has {read} rows of {rows}");
                return Err(ParquetError::General(what));
            }
            Ok(Column::of_values(all))
        };
        read().map_err(Error::parquet(READING, &self.path))
    }
}

/// Where a column is found.
struct Place {
    /// Its place among the columns.
    place: usize,
    /// The level of rows that have a value.
    most: i16,
    /// Rows of the row group.
    rows: usize,
}

fn place(schema: &SchemaDescriptor, name: &str) -> Option<usize> {
    let mut columns = schema.columns().iter();
    columns.position(|column| column.path().parts() == [name])
}

/// So many values of a column that is not nested, or those that are left.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: i16,
    rows: usize,
    all: &mut Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        values.clear();
        levels.clear();
        let batch = left.min(BATCH);
        let (records, _, _) = reader.read_records(batch, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Ok(());
        }
        left -= records;
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
    Ok(())
}
