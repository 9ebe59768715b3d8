//! A control group's quota of processor time, and what it held back.

use crate::refusal;
use diskfacts_host::parse::cpu_quota::{parse_cfs_quota, parse_cpu_max, parse_cpu_stat};

/// A quota, printed as either version prints it, is read as the same; what refuses points
/// into the input.
///
/// # Panics
/// When that does not hold.
pub fn run(input: &[u8]) {
    match parse_cpu_max(input) {
        Ok(Some(quota)) => {
            let again = format!("{} {}\n", quota.quota_us, quota.period_us);
            assert_eq!(parse_cpu_max(again.as_bytes()), Ok(Some(quota)));
            let (us, period) = (quota.quota_us.to_string(), quota.period_us.to_string());
            let first = parse_cfs_quota(us.as_bytes(), period.as_bytes());
            assert_eq!(first, Ok(Some(quota)));
        }
        Ok(None) => {}
        Err(error) => refusal::points_into(input, &error),
    }
    match parse_cpu_stat(input) {
        Ok(throttled) => {
            let again = format!(
                "nr_periods {}\nnr_throttled {}\nthrottled_time {}\n",
                throttled.periods, throttled.throttled_periods, throttled.throttled_ns
            );
            assert_eq!(parse_cpu_stat(again.as_bytes()), Ok(throttled));
        }
        Err(error) => refusal::points_into(input, &error),
    }
}
