//! `/proc/pressure/io`.

use crate::refusal;
use diskfacts_host::parse::pressure::parse_pressure;

/// What is read, printed as the kernel prints it, is read as the same.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_pressure(input) {
        Ok(totals) => {
            let line =
                |kind, total| format!("{kind} avg10=0.00 avg60=0.00 avg300=0.00 total={total}\n");
            let mut text = line("some", totals.some_us);
            if let Some(full_us) = totals.full_us {
                text += &line("full", full_us);
            }
            assert_eq!(parse_pressure(text.as_bytes()), Ok(totals));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
