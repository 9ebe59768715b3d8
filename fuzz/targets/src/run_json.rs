//! A run as JSON: what `--json` prints and `show` reads, also years later.

use diskfacts_record::Run;

/// What is read, written as JSON, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(run) = serde_json::from_slice::<Run>(input) else {
        return;
    };
    let written = serde_json::to_vec(&run).expect("a run can be written");
    let again: Run = serde_json::from_slice(&written).expect("what was just written");
    assert_eq!(again, run);
}
