//! Whether the threads of a stage waited for the next period of their control group's quota of
//! processor time (kernel, `Documentation/scheduler/sched-bwc.rst`).

use crate::stages::Stage;
use diskfacts_record::evidence::CpuQuota;

/// Share of the periods in which the quota was used up, from which on the threads' waiting
/// is for the next: as much as the processors were theirs and they used them.
const OFTEN: f64 = 0.5;

/// The quota, summed up over the trials of a stage; `None` where one of them had none, or it
/// was not what the threads waited for.
pub(crate) fn used_up(stage: &Stage<'_>) -> Option<CpuQuota> {
    let quotas = stage
        .trials
        .iter()
        .map(|trial| trial.evidence.cpu_quota.clone());
    let sum = quotas.reduce(|sum, quota| {
        let (mut sum, quota) = sum.zip(quota)?;
        sum.periods += quota.periods;
        sum.throttled_periods += quota.throttled_periods;
        sum.throttled_ns += quota.throttled_ns;
        Some(sum)
    })??;
    let often = sum.throttled_periods as f64 >= OFTEN * sum.periods as f64;
    (sum.periods > 0 && often).then_some(sum)
}

/// Whether threads of this stage waited for their group's next period, and not for a
/// processor that somebody else has.
pub(crate) fn holds_back(stage: &Stage<'_>) -> bool {
    used_up(stage).is_some()
}
