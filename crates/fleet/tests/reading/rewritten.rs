//! A file of a fleet as another program may have put it together anew: in row groups, pages and encodings of its own.

use parquet::basic::Type;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{AsBytes, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Writes a file again, with so many rows in each row group.
pub(crate) fn rewrite(path: &Path, rows: usize, properties: WriterProperties) {
    let to = path.with_extension("new");
    let from = SerializedFileReader::new(File::open(path).expect("the file")).expect("a file");
    let schema = from.metadata().file_metadata().schema_descr();
    let root = schema.root_schema_ptr();
    let file = File::create(&to).expect("a file");
    let mut writer = SerializedFileWriter::new(file, root, Arc::new(properties)).expect("a file");
    let all = usize::try_from(from.metadata().file_metadata().num_rows()).expect("few rows");
    for first in (0..all).step_by(rows) {
        let rows = first..(first + rows).min(all);
        let mut group = writer.next_row_group().expect("a row group");
        for (place, column) in schema.columns().iter().enumerate() {
            let rows = rows.clone();
            match column.physical_type() {
                Type::BYTE_ARRAY => copy::<ByteArrayType>(&from, place, rows, &mut group),
                Type::INT64 => copy::<Int64Type>(&from, place, rows, &mut group),
                Type::DOUBLE => copy::<DoubleType>(&from, place, rows, &mut group),
                other => panic!("no column is a {other}"),
            }
        }
        group.close().expect("a row group");
    }
    writer.close().expect("a file");
    std::fs::rename(to, path).expect("the file is replaced");
}

fn copy<T: DataType>(
    from: &SerializedFileReader<File>,
    place: usize,
    rows: Range<usize>,
    to: &mut SerializedRowGroupWriter<'_, File>,
) where
    T::T: AsBytes,
{
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for group in 0..from.num_row_groups() {
        let group = from.get_row_group(group).expect("a row group");
        let reader = group.get_column_reader(place).expect("a column");
        let mut reader = get_typed_column_reader::<T>(reader);
        let most = usize::try_from(group.metadata().num_rows()).expect("few rows");
        let read = reader.read_records(most, Some(&mut levels), None, &mut values);
        read.expect("the column is read");
    }
    let mut column = to.next_column().expect("a column").expect("one more");
    let written = if levels.is_empty() {
        column.typed::<T>().write_batch(&values[rows], None, None)
    } else {
        let present = |levels: &[i16]| levels.iter().filter(|level| **level > 0).count();
        let first = present(&levels[..rows.start]);
        let values = &values[first..first + present(&levels[rows.clone()])];
        column
            .typed::<T>()
            .write_batch(values, Some(&levels[rows]), None)
    };
    written.expect("the column is written");
    column.close().expect("the column is written");
}
