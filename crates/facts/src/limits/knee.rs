//! The knee of throughput against queue depth.
//!
//! By Little's law (Little, "A Proof for the Queuing Formula: L = lambda W",
//! Operations Research 9, 1961) a closed loop with `n` in flight does `n / latency`
//! operations per second. While the device has room, the latency stays what it is for
//! one alone, and the rate grows with `n`; when the device is full the rate stays, and
//! the latency grows. The bounds `min(n / L, X)` meet at `n = X L` (Denning and Buzen,
//! "The Operational Analysis of Queueing Network Models", Computing Surveys 10, 1978).
//! `L` and `X` are fitted to the stages of a run that differ in depth only, by least
//! squares of the logarithms.

use super::Subject;
use diskfacts_plan::Workload;

/// Throughput against depth, fitted.
#[derive(Debug, Clone)]
pub(super) struct Knee {
    /// Latency of an operation that finds nothing before it, ns.
    pub(super) alone_ns: f64,
    /// The most operations a second.
    pub(super) most: f64,
    /// Depth and operations per second of each stage, by depth.
    pub(super) points: Vec<(f64, f64, String)>,
    /// How far the points are off the fit, as a share, in the root of the mean square.
    pub(super) off: f64,
}

impl Knee {
    /// Of a stage and those that differ from it in depth or streams only; `None` where
    /// there are no others.
    pub(super) fn of(subject: &Subject<'_>) -> Option<Self> {
        let own = (
            subject.outstanding(),
            subject.iops()?,
            subject.stage.label(),
        );
        let mut points = vec![own];
        for other in subject.others() {
            let mut known = points.iter();
            let new = known.all(|(depth, ..)| (other.outstanding() - *depth).abs() >= 1.0);
            if new && is_like(subject.workload(), other.workload()) {
                points.push((other.outstanding(), other.iops()?, other.stage.label()));
            }
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        (points.len() > 1).then(|| fit(points))
    }

    /// Where the two bounds meet.
    pub(super) fn depth(&self) -> f64 {
        self.most * self.alone_ns / 1e9
    }
}

/// Whether two workloads differ in their depth only.
fn is_like(a: &Workload, b: &Workload) -> bool {
    a.operation == b.operation
        && a.pattern == b.pattern
        && a.block_size == b.block_size
        && a.offset == b.offset
        && a.span == b.span
        && a.cache == b.cache
        && a.sync == b.sync
        && a.rate.is_none()
        && b.rate.is_none()
}

/// Every split of the points into a rising and a level part is tried: each part's
/// least squares are its mean of the logarithms.
fn fit(points: Vec<(f64, f64, String)>) -> Knee {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .map(|(depth, rate, _)| (depth.ln(), rate.ln()))
        .collect();
    let n = logs.len();
    let mut best = (f64::INFINITY, 0.0, 0.0);
    for split in 1..=n {
        let (rising, level) = logs.split_at(split);
        // ln rate = ln depth - ln L
        let alone = rising.iter().map(|(d, x)| d - x).sum::<f64>() / split as f64;
        let most = if level.is_empty() {
            // Never full: at least the last.
            logs[n - 1].1
        } else {
            level.iter().map(|(_, x)| x).sum::<f64>() / level.len() as f64
        };
        let squares: f64 = logs
            .iter()
            .map(|(d, x)| (x - (d - alone).min(most)).powi(2))
            .sum();
        if squares < best.0 {
            best = (squares, alone, most);
        }
    }
    Knee {
        alone_ns: best.1.exp() * 1e9,
        most: best.2.exp(),
        points,
        off: (best.0 / n as f64).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rate: impl Fn(f64) -> f64, depths: &[f64]) -> Vec<(f64, f64, String)> {
        depths
            .iter()
            .map(|d| (*d, rate(*d), String::new()))
            .collect()
    }

    #[test]
    fn the_knee_is_where_the_rate_stops_growing() {
        // 100 us alone, 80 000 a second at most: full with 8 in flight.
        let rate = |depth: f64| (depth / 100e-6).min(80_000.0);
        for depths in [
            &[1.0, 32.0][..],
            &[1.0, 2.0, 4.0, 16.0, 64.0],
            &[4.0, 64.0, 128.0],
        ] {
            let knee = fit(points(rate, depths));
            assert!((knee.depth() - 8.0).abs() < 1e-6, "{knee:?}");
            assert!(knee.off < 1e-9);
        }
        // With noise it is near.
        let noisy = |depth: f64| rate(depth) * (1.0 + 0.03 * (depth * 7.0).sin());
        let knee = fit(points(noisy, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]));
        assert!((knee.depth() - 8.0).abs() < 0.6, "{knee:?}");
    }

    #[test]
    fn a_device_that_is_never_full_has_its_knee_beyond_the_last_depth() {
        let knee = fit(points(|depth| depth * 1e4, &[1.0, 8.0, 32.0]));
        assert!(knee.depth() > 31.9, "{knee:?}");
    }
}
