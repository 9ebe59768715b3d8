//! Statistics of few trials and of many latencies.
//!
//! A trial is a sample of one, so trials are described by order statistics,
//! which assume nothing about their distribution: the median, its exact
//! interval, and the range. Values that are not finite (an import may hold
//! some) are left out everywhere.

mod difference;
mod dixon;
mod fairness;
mod holm;
mod median_interval;
mod order;
mod percentile;
mod student_t;

pub use difference::{CentreDifference, centre_difference, mean_difference};
pub use dixon::{dixon_critical_99, dixon_q};
pub use fairness::fairness;
pub use holm::{Tested, holm};
pub use median_interval::{MedianInterval, median_interval};
pub use order::{finite_sorted, mad, median, quantile};
pub use percentile::percentile_interval;
pub use student_t::{t_critical, t_two_sided};
