//! A run as JSON: what `--json` prints and `show` reads, also years later.

use diskfacts_record::Run;
use diskfacts_report::json::read_run;

/// What is read, written as JSON, is read and written as the same; and `compare`
/// takes no text for a run that is none.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input)
        && let Some(Ok(_)) = read_run(text)
    {
        assert!(serde_json::from_slice::<Run>(input).is_ok());
    }
    let Ok(run) = serde_json::from_slice::<Run>(input) else {
        return;
    };
    let written = serde_json::to_vec(&run).expect("a run can be written");
    let again: Run = serde_json::from_slice(&written).expect("what was just written");
    // Not as values: what is not a number is not equal to itself.
    let once_more = serde_json::to_vec(&again).expect("a run can be written");
    assert_eq!(once_more, written);
}
