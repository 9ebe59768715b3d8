//! Columns of a file of Parquet, by name.

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

/// An open file.
pub(super) struct File {
    path: PathBuf,
    reader: SerializedFileReader<fs::File>,
}

impl File {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        const DOING: &str = "reading";
        let file = fs::File::open(path).map_err(Error::io(DOING, path))?;
        let reader = SerializedFileReader::new(file).map_err(Error::parquet(DOING, path))?;
        Ok(Self {
            path: path.to_owned(),
            reader,
        })
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
        let read = || -> Result<Vec<Option<T::T>>, ParquetError> {
            let group = self.reader.get_row_group(group)?;
            let rows = group.metadata().num_rows();
            let reader = group.get_column_reader(place)?;
            let values = values::<T>(reader, column.max_def_level())?;
            if i64::try_from(values.len()) != Ok(rows) {
                return Err(ParquetError::General(format!(
                    "the column {name} has {} rows of {rows}",
                    values.len()
                )));
            }
            Ok(values)
        };
        read().map_err(Error::parquet("reading", &self.path))
    }
}

/// All values of a column that is not nested.
fn values<T: DataType>(reader: ColumnReader, most: i16) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut reader = get_typed_column_reader::<T>(reader);
    let mut all = Vec::new();
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (records, _, _) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        if records == 0 {
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
