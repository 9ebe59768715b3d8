//! Lines of iostat, of Linux and of Solaris.

use crate::lines;
use diskfacts_report::formats::iostat_linux::Columns;
use diskfacts_report::formats::iostat_solaris::Row;

/// What is read and printed is read as the same, under the columns above it.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let mut columns = Columns::old();
    lines::each(input, |line| {
        lines::settles::<Row>(line);
        lines::settles::<Columns>(line);
        if let Ok(names) = line.parse() {
            columns = names;
        } else if let Ok(row) = columns.row(line) {
            assert_eq!(row.values.len(), columns.names().len());
            let printed = row.to_string();
            let again = columns.row(&printed).expect("what was just printed");
            assert_eq!(again.to_string(), printed);
            let aligned = columns.aligned(&row);
            let again = columns.row(&aligned).expect("what was just printed");
            assert_eq!(columns.aligned(&again), aligned);
        }
    });
}
