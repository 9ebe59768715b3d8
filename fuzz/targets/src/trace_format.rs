//! `events/*/*/format`.

use crate::refusal;
use diskfacts_host::parse::trace::format::{EventFormat, Place, parse_event_format};
use std::fmt::Write;

/// What is read, printed as the kernel prints it, is read as the same; and no field
/// is read beyond the end of an event.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_event_format(input) {
        Ok(format) => {
            assert_eq!(
                parse_event_format(print(&format).as_bytes()),
                Ok(format.clone())
            );
            for described in &format.fields {
                let field = described.field;
                // The input is an event as good as any.
                let bytes = field.bytes(input);
                assert!(bytes.is_none_or(|bytes| bytes.len() <= input.len()));
                if let Some(value) = field.integer(input).filter(|value| *value >= 0) {
                    assert_eq!(field.unsigned(input), Some(value.unsigned_abs()));
                }
                assert_eq!(field.bytes(&[]).unwrap_or(&[]), b"");
            }
        }
        Err(error) => refusal::points_into(input, &error),
    }
}

fn print(format: &EventFormat) -> String {
    let mut text = format!("name: {}\nID: {}\nformat:\n", format.name, format.id);
    for described in &format.fields {
        let field = described.field;
        let place = match field.place {
            Place::Here => "",
            Place::DataLoc => "__data_loc ",
            Place::RelLoc => "__rel_loc ",
        };
        let line = writeln!(
            text,
            "\tfield:{place}type {};\toffset:{};\tsize:{};\tsigned:{};",
            described.name,
            field.offset,
            field.size,
            u8::from(field.signed)
        );
        line.expect("text takes all");
    }
    text
}
