//! Statistics of few trials and of many latencies.
//!
//! A trial is a sample of one, so trials are described by order statistics,
//! which assume nothing about their distribution: the median, its exact
//! interval, and the range. Values that are not finite (an import may hold
//! some) are left out everywhere.

mod anova;
mod autocorrelation;
mod benjamini_hochberg;
mod bootstrap;
mod change_points;
#[cfg(test)]
mod coverage;
mod difference;
mod dixon;
mod f_distribution;
mod fairness;
mod holm;
mod median_interval;
mod modes;
mod order;
mod outliers;
mod percentile;
mod robust_deviation;
mod steady;
mod student_t;
mod trend;
mod warm_up;

pub use anova::{Mean, departures, interaction, one_way};
pub use autocorrelation::{effective_number, is_autocorrelated, lag_1};
pub use benjamini_hochberg::benjamini_hochberg;
pub use bootstrap::{RESAMPLES, bootstrap, bootstrap_pair};
pub use change_points::{change_points, change_points_among_many, levels};
pub use difference::{CentreDifference, centre_difference, mean_difference, paired_difference};
pub use dixon::{dixon_critical_99, dixon_q};
pub use f_distribution::f_at_least;
pub use fairness::fairness;
pub use holm::{Tested, holm};
pub use median_interval::{MedianCi, MedianInterval, median_ci, median_interval};
pub use modes::{cut, dip, dip_critical_99};
pub use order::{finite_sorted, mad, median, median_of, quantile};
pub use outliers::outliers;
pub use percentile::{percentile_interval, percentile_shares};
pub use robust_deviation::robust_deviation;
pub use steady::{Steadiness, steadiness};
pub use student_t::{t_critical, t_two_sided};
pub use trend::{Trend, trend};
pub use warm_up::truncation;
