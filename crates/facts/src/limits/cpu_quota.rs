//! A control group's quota of processor time is used up, and its threads wait for the next
//! period (kernel, `Documentation/scheduler/sched-bwc.rst`).

use super::prelude::*;
use crate::cpu_quota;
use crate::processor_wait::ProcessorWait;

pub(super) const LIMITER: Limiter = Limiter {
    name: "cpu-quota",
    find: quota_is_used_up,
    ..Limiter::ANY
};

fn quota_is_used_up(facts: &StageFacts<'_>) -> Option<Candidate> {
    let quota = cpu_quota::used_up(facts.stage)?;
    let wait = ProcessorWait::of(facts.stage).filter(|wait| wait.share >= WORTH_A_WORD)?;
    let each = quota.quota_ns as f64 / quota.period_ns as f64;
    let processors = ratio_of(each, "processor", "processors");
    let (folder, waited) = (&quota.folder, percent(wait.share));
    let times = [quota.quota_ns, quota.period_ns, quota.throttled_ns];
    let [allowed, period, throttled] = times.map(show_duration);
    let claim = format!(
        "A control group allows {processors}, and that is used up: the threads wait for more \
         {waited} of the time."
    );
    let evidence = [
        format!("{folder} may have {allowed} of processor time in each {period}: {processors}."),
        format!(
            "It was used up in {} of {} periods, and the group was throttled for {throttled} \
             (cpu.stat).",
            quota.throttled_periods, quota.periods
        ),
        wait.evidence("did not run"),
    ];
    let remedy = format!(
        "Raise `cpu.max` (version 1: `cpu.cfs_quota_us`) of {folder}, or the limit of the service \
         or container that set it; or measure from another control group."
    );
    let found = cause(wait.share, Certain, claim);
    Some(found.evidence(evidence).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use crate::limits::host_tests::said;
    use crate::testing::{self, each};
    use diskfacts_record::Run;
    use diskfacts_record::evidence::CpuQuota;

    const STAGE: &str = "random-read-qd1";

    fn throttled(periods: u64, throttled_periods: u64) -> Run {
        let mut run = testing::healthy();
        each(&mut run, STAGE, |trial| {
            trial.cpu.wait_ns_per_io = trial.latency_ns.mean.map(|mean| 0.8 * mean);
            trial.evidence.cpu_quota = Some(CpuQuota {
                folder: "/sys/fs/cgroup/small".into(),
                quota_ns: 2_000_000,
                period_ns: 20_000_000,
                periods,
                throttled_periods,
                throttled_ns: throttled_periods * 18_000_000,
            });
        });
        run
    }

    #[test]
    fn a_quota_that_is_used_up_is_what_the_threads_wait_for_and_nobody_else_is() {
        let run = throttled(50, 48);
        let limit = said(&run, STAGE, super::LIMITER.name).expect("the quota");
        assert!(
            limit.claim.contains("allows 0.1 processors"),
            "{}",
            limit.claim
        );
        assert!(said(&run, STAGE, "other-process").is_none());
        // One that is there and hardly used up is not what they wait for.
        assert!(said(&throttled(50, 3), STAGE, super::LIMITER.name).is_none());
    }
}
