//! Files of whole runs, as another machine wrote them, or somebody who means harm.

use diskfacts_store::dfrun::{Reader, write};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// What is read is written and read as the same. An input that is no gzip is the lines in a
/// member: the checksum would keep a fuzzer out.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if input.starts_with(&[0x1f, 0x8b]) {
        return read(input);
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(input).expect("memory");
    read(&packed.finish().expect("memory"));
}

fn read(input: &[u8]) {
    let mut runs = Vec::new();
    for parcel in Reader::new(input) {
        let Ok(parcel) = parcel else {
            // None of a file, where one cannot be taken.
            return;
        };
        runs.push(parcel);
    }
    let of = u32::try_from(runs.len()).expect("fewer than bytes");
    let mut written = Vec::new();
    for (number, parcel) in (1..).zip(&runs) {
        write(&mut written, parcel.kept(), (number, of)).expect("what was just read");
    }
    let again: Result<Vec<_>, _> = Reader::new(&written[..]).collect();
    let again = again.expect("what was just written");
    assert_eq!(again.len(), runs.len());
    for (again, parcel) in again.iter().zip(&runs) {
        assert!(again.kept() == parcel.kept());
    }
}
