//! Runs into a new file of the folder.

use crate::column::{Cell, Kind};
use crate::columns::COLUMNS;
use crate::error::Error;
use crate::folder::{self, ENDING};
use crate::read::{Runs, known_runs};
use crate::rows::{NoRows, rows, target};
use diskfacts_facts::fleet::Member;
use diskfacts_record::Run;
use parquet::basic::Compression;
use parquet::data_type::{AsBytes, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// Rows of a row group, at least, but for the last one. What a reader works on at once.
const ROWS: usize = 1 << 16;
/// Bytes of texts and histograms after which a row group ends sooner: it is in memory as a whole.
const BYTES: usize = 32 << 20;

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is in the file.
    Taken {
        /// Its rows: the trials of its plan.
        trials: usize,
    },
    /// The fleet has it already.
    Known,
    /// Nobody knows which host made it, so it has no peers: of imports, and of systems that do not
    /// tell.
    NoHost,
    /// When it began is no moment of RFC 3339.
    NoMoment,
    /// It has no trial of its plan.
    NoTrials,
}

/// Runs that are being added. Without [`finish`](Self::finish) none of them was.
pub struct Adding {
    folder: PathBuf,
    file: NamedTempFile,
    writer: SerializedFileWriter<File>,
    known: Runs,
    waiting: Waiting,
    runs: usize,
}

impl Adding {
    /// Begins a file in the folder, which is made if it is not there.
    ///
    /// # Errors
    /// Where the folder or a file in it cannot be made, or the files that are there not be read.
    pub fn into(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(Error::io("making the folder", folder))?;
        let known = known_runs(&folder::files(folder)?)?;
        let file = tempfile::Builder::new()
            .prefix(".diskfacts-")
            // For who may read new files of this user.
            .permissions(PermissionsExt::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(Error::io("making a file in", folder))?;
        let copy = file
            .as_file()
            .try_clone()
            .map_err(Error::io("making a file in", folder))?;
        let writer = open(copy).map_err(Error::parquet("writing to", folder))?;
        Ok(Self {
            folder: folder.to_owned(),
            file,
            writer,
            known,
            waiting: Waiting::default(),
            runs: 0,
        })
    }

    /// Adds a run, if it is not there yet.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn run(&mut self, run: &Run) -> Result<Added, Error> {
        let rows = match rows(run) {
            Ok(rows) => rows,
            Err(NoRows::Host) => return Ok(Added::NoHost),
            Err(NoRows::Moment) => return Ok(Added::NoMoment),
            Err(NoRows::Trials) => return Ok(Added::NoTrials),
        };
        let trials = rows.len();
        let member = Member {
            host: run.machine.host.clone().unwrap_or_default(),
            machine: run.machine.machine_id.clone(),
            target: target(run).to_owned(),
        };
        if !self.known.note(member, &run.run.id) {
            return Ok(Added::Known);
        }
        for row in rows {
            self.waiting.push(row);
        }
        self.runs += 1;
        // A run is never parted: its rows stand in one row group.
        if self.waiting.rows >= ROWS || self.waiting.bytes >= BYTES {
            self.flush()?;
        }
        Ok(Added::Taken { trials })
    }

    fn flush(&mut self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let mut group = || {
            let mut group = self.writer.next_row_group()?;
            waiting.write(&mut group)?;
            group.close().map(drop)
        };
        group().map_err(Error::parquet("writing to", &self.folder))
    }

    /// Gives the file its name, when all of it is on the disk; `None` where there was nothing new.
    ///
    /// # Errors
    /// Where the file cannot be written; then none of the runs was added.
    pub fn finish(mut self) -> Result<Option<PathBuf>, Error> {
        if self.runs == 0 {
            return Ok(None);
        }
        if self.waiting.rows > 0 {
            self.flush()?;
        }
        let folder = self.folder;
        self.writer
            .close()
            .map_err(Error::parquet("writing to", &folder))?;
        self.file
            .as_file()
            .sync_all()
            .map_err(Error::io("writing to", &folder))?;
        // Two that end in the same moment get two names.
        let mut file = self.file;
        loop {
            let now = jiff::Timestamp::now();
            let name = format!(
                "{}-{:09}.{ENDING}",
                now.strftime("%Y%m%d-%H%M%S"),
                now.subsec_nanosecond()
            );
            let path = folder.join(name);
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(Some(path)),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
                Err(error) => return Err(Error::io("naming", &path)(error.error)),
            }
        }
    }
}

/// The writer of a file with all columns.
fn open(file: File) -> Result<SerializedFileWriter<File>, ParquetError> {
    let mut schema = "message diskfacts_trial {\n".to_owned();
    for column in COLUMNS {
        let (physical, logical) = column.kind.in_schema();
        let repetition = if column.required {
            "REQUIRED"
        } else {
            "OPTIONAL"
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            schema,
            "  {repetition} {physical} {}{logical};",
            column.name
        );
    }
    schema.push('}');
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("diskfacts {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY);
    for column in COLUMNS.iter().filter(|column| column.kind == Kind::Bytes) {
        // No two are equal, and none is larger than another.
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::None);
    }
    let schema = Arc::new(parse_message_type(&schema)?);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

/// Rows that are not written yet, column by column.
struct Waiting {
    rows: usize,
    /// Of texts and histograms, as far as they are not shared.
    bytes: usize,
    columns: Vec<Values>,
}

/// The values of a column, and for each row 1 where it has one.
struct Values {
    levels: Vec<i16>,
    of: Typed,
}

enum Typed {
    Bytes(Vec<ByteArray>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
}

impl Default for Waiting {
    fn default() -> Self {
        let empty = |column: &crate::Column| Values {
            levels: Vec::new(),
            of: match column.kind {
                Kind::Text | Kind::Bytes => Typed::Bytes(Vec::new()),
                Kind::Integer | Kind::Moment => Typed::Integers(Vec::new()),
                Kind::Number => Typed::Numbers(Vec::new()),
            },
        };
        Self {
            rows: 0,
            bytes: 0,
            columns: COLUMNS.iter().map(empty).collect(),
        }
    }
}

impl Waiting {
    fn push(&mut self, row: Vec<Cell>) {
        self.rows += 1;
        for (cell, column) in row.into_iter().zip(&mut self.columns) {
            let level = i16::from(cell != Cell::Null);
            match (cell, &mut column.of) {
                (Cell::Bytes(bytes), Typed::Bytes(values)) => {
                    self.bytes += bytes.len();
                    values.push(bytes);
                }
                (Cell::Integer(number), Typed::Integers(values)) => values.push(number),
                (Cell::Number(number), Typed::Numbers(values)) => values.push(number),
                (Cell::Null, _) => {}
                (cell, _) => panic!("a column of another kind has {cell:?}"),
            }
            column.levels.push(level);
        }
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        for (column, values) in COLUMNS.iter().zip(&self.columns) {
            let levels = (!column.required).then_some(&values.levels[..]);
            match &values.of {
                Typed::Bytes(bytes) => write::<ByteArrayType>(group, bytes, levels)?,
                Typed::Integers(numbers) => write::<Int64Type>(group, numbers, levels)?,
                Typed::Numbers(numbers) => write::<DoubleType>(group, numbers, levels)?,
            }
        }
        Ok(())
    }
}

fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError>
where
    T::T: AsBytes,
{
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column is missing".to_owned()));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
