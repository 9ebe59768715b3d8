//! How far a measurement is, in a line.

use super::look::Look;
use super::words::rate;
use diskfacts_plan::units::show_throughput;

/// A moment of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// Name of the stage.
    pub stage: &'a str,
    /// Which trial of the stage, from 1.
    pub trial: u32,
    /// How many trials the stage has.
    pub trials: u32,
    /// Bytes per second now; absent before anything was done.
    pub throughput_bytes_per_s: Option<f64>,
    /// Operations per second now.
    pub iops: Option<f64>,
    /// Nanoseconds until the whole measurement ends, as far as can be told.
    pub left_ns: Option<u64>,
}

/// One line without its end:
/// `random-read-qd32, trial 2 of 5: 404.2 MB/s (385.5 MiB/s), 98,680 IOPS; 31 s left`.
pub fn progress(progress: &Progress<'_>, look: &Look) -> String {
    let stage = look.clean(progress.stage);
    let (trial, trials) = (progress.trial, progress.trials);
    let mut now = Vec::new();
    now.extend(progress.throughput_bytes_per_s.map(show_throughput));
    now.extend(progress.iops.map(|iops| format!("{} IOPS", rate(iops))));
    let now = if now.is_empty() {
        String::new()
    } else {
        format!(": {}", now.join(", "))
    };
    let left = progress.left_ns.map_or_else(String::new, |ns| {
        // To the second, so that the line does not flicker.
        let whole = ns.div_ceil(1_000_000_000).saturating_mul(1_000_000_000);
        format!("; {} left", look.duration(whole))
    });
    format!("{stage}, trial {trial} of {trials}{now}{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_yet_is_left_out() {
        let begun = Progress {
            stage: "random-read-qd32",
            trial: 2,
            trials: 5,
            throughput_bytes_per_s: None,
            iops: None,
            left_ns: None,
        };
        let look = Look::default();
        assert_eq!(progress(&begun, &look), "random-read-qd32, trial 2 of 5");
        let later = Progress {
            throughput_bytes_per_s: Some(404.2e6),
            iops: Some(98_680.0),
            left_ns: Some(30_200_000_000),
            ..begun
        };
        assert_eq!(
            progress(&later, &look),
            "random-read-qd32, trial 2 of 5: 404.2 MB/s (385.5 MiB/s), 98,680 IOPS; 31 s left"
        );
    }
}
