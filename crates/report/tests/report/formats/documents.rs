//! Lines of the documents are read and printed again to the character.

use diskfacts_report::formats::bonnie::text::{self, EDITED_TITLE, Look};
use diskfacts_report::formats::{
    dd, iostat_linux, iostat_solaris, readahead, stride, write_matrix,
};
use std::fmt::Display;
use std::str::FromStr;

const TAKASHI: &str = include_str!("../../documents/000_406dd5c1dd98a7d4.txt");
const STREAMS: &str = include_str!("../../documents/001_b18fe905e4c757db.txt");
const FACTS: &str = include_str!("../../documents/002_216efc4d5ed1186a.txt");
const MATRIX: &str = include_str!("../../documents/003_2351a42a53108e94.txt");
const RAW: &str = include_str!("../../documents/004_260ad3a749590942.txt");

/// How many lines are rows of this kind; each must print as it stands.
fn to_the_character<T: FromStr + Display>(document: &str) -> usize {
    let rows = document.lines().filter_map(|line| {
        let row: T = line.parse().ok()?;
        assert_eq!(row.to_string(), line.trim_end());
        Some(())
    });
    rows.count()
}

#[test]
fn strided_lines_print_as_they_stand() {
    assert_eq!(to_the_character::<stride::Row>(TAKASHI), 42);
    assert_eq!(to_the_character::<stride::Header>(TAKASHI), 4);
}

#[test]
fn summaries_of_dd_within_other_text_print_as_they_stand() {
    let mut count = 0;
    for line in TAKASHI.lines() {
        if let Some(found) = dd::Summary::find(line) {
            let summary = found.summary.unwrap();
            assert_eq!(format!("{}{summary}{}", found.before, found.behind), line);
            count += 1;
        }
    }
    assert_eq!(count, 23);
}

#[test]
fn repeats_of_dd_print_as_they_stand_with_both_decimal_marks() {
    assert_eq!(to_the_character::<dd::Repeat>(STREAMS), 182);
}

#[test]
fn read_ahead_lines_print_as_they_stand() {
    assert_eq!(to_the_character::<readahead::Trace>(STREAMS), 26);
    assert_eq!(to_the_character::<readahead::Statistics>(STREAMS), 14);
    assert!(STREAMS.lines().any(|line| line == readahead::STATISTICS));
}

#[test]
fn the_table_of_bonnie_prints_as_it_stands() {
    assert!(FACTS.contains(EDITED_TITLE));
    let rows: Vec<&str> = FACTS.lines().filter(|l| l.starts_with("Raid")).collect();
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_eq!(text::io(row).unwrap().line(Look::Edited), row);
    }
}

#[test]
fn the_write_matrix_prints_as_it_stands() {
    assert_eq!(to_the_character::<write_matrix::Row>(MATRIX), 294);
}

#[test]
fn rows_of_iostat_print_as_they_stand() {
    let lines: Vec<&str> = RAW.lines().collect();
    let mut linux = 0;
    for pair in lines.windows(2) {
        let Ok(columns) = pair[0].parse::<iostat_linux::Columns>() else {
            continue;
        };
        assert_eq!(columns.to_string(), pair[0]);
        assert_eq!(columns, iostat_linux::Columns::old());
        assert_eq!(columns.row(pair[1]).unwrap().to_string(), pair[1]);
        linux += 1;
    }
    assert_eq!(linux, 2);
    assert_eq!(to_the_character::<iostat_solaris::Row>(RAW), 3);
    let mib = iostat_solaris::Unit::Mib;
    let above = |line: &&str| iostat_solaris::Unit::of_columns(line) == Some(mib);
    assert_eq!(RAW.lines().filter(above).count(), 3);
}
