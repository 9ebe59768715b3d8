//! Statistics of few trials and of many latencies.
//!
//! A trial is a sample of one, so trials are described by order statistics,
//! which assume nothing about their distribution: the median, its exact
//! interval, and the range. Values that are not finite (an import may hold
//! some) are left out everywhere.

mod autocorrelation;
mod bootstrap;
#[cfg(test)]
mod coverage;
mod distributions;
mod dixon;
mod fairness;
mod median_interval;
mod order;
mod percentile;

pub use autocorrelation::{effective_number, is_autocorrelated, lag_1};
pub use bootstrap::{RESAMPLES, bootstrap, bootstrap_pair};
pub use dixon::{dixon_critical_99, dixon_q};
pub use fairness::fairness;
pub use median_interval::{MedianCi, MedianInterval, median_ci, median_interval};
pub use order::{finite_sorted, mad, median, quantile};
pub use percentile::percentile_interval;
