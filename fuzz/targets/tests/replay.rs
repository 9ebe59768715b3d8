//! Every input that was ever worth keeping still goes well, also cut short and
//! damaged; and nothing of a target is missing.

use diskfacts_fuzz_targets::{TARGETS, Target};
use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of a folder").path())
        .collect();
    entries.sort();
    entries
}

fn names(folder: &str) -> BTreeSet<String> {
    entries(&fuzz().join(folder))
        .iter()
        .map(|path| {
            let stem = path.file_stem().expect("a name");
            stem.to_str().expect("a name in ASCII").to_owned()
        })
        .collect()
}

/// The inputs of a target, with their names.
fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    entries(&fuzz().join("corpus").join(target.name))
        .into_iter()
        .map(|path| {
            let bytes = fs::read(&path).expect("an input of the corpus");
            (path.display().to_string(), bytes)
        })
        .collect()
}

/// Runs the target; what made it panic is said by the panic itself.
fn goes_well(target: Target, input: &[u8]) -> bool {
    let input = input.to_vec();
    catch_unwind(move || (target.run)(&input)).is_ok()
}

#[test]
fn every_target_has_a_program_and_a_corpus_and_there_are_no_others() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|t| t.name.to_owned()).collect();
    assert_eq!(targets, names("fuzz_targets"));
    assert_eq!(targets, names("corpus"));
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("the manifest");
    for target in TARGETS {
        let line = format!("path = \"fuzz_targets/{}.rs\"", target.name);
        assert!(manifest.contains(&line), "no {line}");
        assert!(!inputs(target).is_empty(), "{} has no input", target.name);
    }
}

#[test]
fn every_input_of_every_corpus_goes_well() {
    let mut failed = Vec::new();
    for target in TARGETS {
        for (name, input) in inputs(target) {
            if !goes_well(*target, &input) {
                failed.push(name);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// How often each input is cut, and how often damaged, at most.
const VARIANTS: usize = 200;

#[test]
fn inputs_cut_short_and_damaged_go_well() {
    let mut failed = Vec::new();
    for target in TARGETS {
        for (name, input) in inputs(target) {
            let step = input.len().div_ceil(VARIANTS).max(1);
            for at in (0..input.len()).step_by(step) {
                if !goes_well(*target, &input[..at]) {
                    failed.push(format!("{name} cut at {at}"));
                }
                for flip in [0x01, 0x80, 0xff] {
                    let mut damaged = input.clone();
                    damaged[at] ^= flip;
                    if !goes_well(*target, &damaged) {
                        failed.push(format!("{name} with byte {at} ^ {flip:#04x}"));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
