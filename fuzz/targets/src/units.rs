//! Sizes and durations as people write them.

use diskfacts_plan::units::{
    UnitError, exact_duration, exact_size, parse_duration, parse_size, show_duration, show_size,
    show_throughput,
};

/// What is read, written exactly, is read as the same; what is refused says
/// why; every number can be shown.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    round_trip(text, parse_size, exact_size, show_size);
    round_trip(text, parse_duration, exact_duration, show_duration);
}

fn round_trip(
    text: &str,
    parse: fn(&str) -> Result<u64, UnitError>,
    exact: fn(u64) -> String,
    show: fn(u64) -> String,
) {
    match parse(text) {
        Ok(value) => {
            assert_eq!(parse(&exact(value)), Ok(value), "{text}");
            assert!(!show(value).is_empty());
            assert!(show_throughput(value as f64).contains("MB/s"));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
