//! Files of a fleet that are damaged, or lie: they are refused with their name, and nothing worse.

use diskfacts_fleet::Fleet;
use diskfacts_plan::rng::Rng;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// A file of two runs of three hosts, of those that the fuzz target begins with.
const WHOLE: &[u8] = include_bytes!("../../../fuzz/corpus/fleet_file/three_hosts");

/// So many files are tried where nobody says another number.
const FILES: u64 = 1500;

fn number(variable: &str, usual: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(usual, |text| text.parse().expect("a whole number"))
}

/// What a folder with this one file is read as.
fn read(folder: &Path, bytes: &[u8]) -> Result<usize, String> {
    fs::write(folder.join("damaged.parquet"), bytes).expect("a file");
    let fleet = Fleet::open(folder).map_err(|error| error.to_string())?;
    let groups = fleet.groups();
    groups.map_err(|error| error.to_string())?;
    let samples = fleet
        .runs(None)
        .and_then(|runs| fleet.samples(&runs.all(), None));
    samples
        .map_err(|error| error.to_string())
        .map(|samples| samples.len())
}

/// A few places of the file are others, most of them in its metadata, which stands at the end.
fn damaged(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = WHOLE.to_vec();
    let footer = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[footer..footer + 4].try_into().expect("four bytes"));
    let metadata = footer - length as usize;
    for _ in 0..=rng.below(4) {
        let from = if rng.below(4) == 0 { 4 } else { metadata };
        let at = from + rng.below((footer - from) as u64) as usize;
        match rng.below(5) {
            0 => bytes[at] = rng.below(256) as u8,
            1 => bytes[at] = [0x00, 0x7f, 0x80, 0xff][rng.below(4) as usize],
            2 => bytes[at] ^= 1 << rng.below(8),
            // Something very large, or below 0, where a number stands.
            3 => {
                let end = (at + 5).min(footer);
                bytes[at..end].fill(0xff);
                bytes[end - 1] = [0x0f, 0x01, 0x07][rng.below(3) as usize];
            }
            _ => {
                let other = from + rng.below((footer - from) as u64) as usize;
                bytes[at] = bytes[other];
            }
        }
    }
    bytes
}

#[test]
fn whatever_is_changed_in_a_file_it_is_read_or_refused_with_its_name() {
    let first = number("DISKFACTS_DAMAGED_SEED", 1);
    let last = first + number("DISKFACTS_DAMAGED", FILES);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut refused, mut panicked) = (0_u64, Vec::new());
    for seed in first..last {
        let bytes = damaged(&mut Rng::new(seed));
        match catch_unwind(|| read(folder.path(), &bytes)) {
            Ok(Ok(_)) => {}
            Ok(Err(said)) => {
                assert!(said.contains("damaged.parquet"), "seed {seed}: {said}");
                refused += 1;
            }
            Err(_) => panicked.push(seed),
        }
    }
    println!("seeds {first} to {last}: {refused} were refused");
    assert!(panicked.is_empty(), "seeds {panicked:?}");
    assert!(
        refused > (last - first) / 2,
        "seeds {first} to {last}: {refused}"
    );
}

#[test]
fn the_whole_file_is_read_and_every_part_of_it_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(read(folder.path(), WHOLE), Ok(6));
    for length in (0..WHOLE.len()).step_by(97) {
        let said = read(folder.path(), &WHOLE[..length]).expect_err("a part is no file");
        assert!(said.contains("damaged.parquet"), "{said}");
    }
}
