//! Some requests take the device much longer than the rest: in one place of it, or a few now
//! and then.

use super::prelude::*;
use crate::stage_facts::gaps::Gaps;
use crate::stage_facts::processor;
use crate::stage_facts::slow::{HALF, Slow, SlowRequests};

pub(super) const LIMITER: Limiter = Limiter {
    name: "slow-requests",
    // A sync waits for more than its write, and what a disk that turns chooses last waits long.
    needs: &[
        NoDocument, Blocks, Device, Direct, Closed, Alone, Unsynced, NoPlatter,
    ],
    find: few_take_much_longer,
    ..Limiter::OF_BUSY_DEVICE
};

/// A slow one takes so many times the median, as in what is sampled of a device.
const TIMES: f64 = 4.0;
/// They are a few up to one in so many; more are what operations take.
const ONE_IN: u64 = 4;
/// Fewest of them: fewer are single events, as hosts have them that do something else.
const LEAST: u64 = 10;
/// Share of what they take longer that the device has to have had.
const AT_DEVICE: f64 = 0.5;

fn few_take_much_longer(facts: &StageFacts<'_>) -> Option<Candidate> {
    // Reads and writes differ by nature.
    unless(!facts.only_reads() && !facts.only_writes())?;
    let seen = SlowRequests::of(facts);
    // The sample alone tells a large place: of the latencies no half is the usual one.
    if let Some(large) = seen.filter(SlowRequests::are_in_a_large_place) {
        return Some(in_place(&large, large.share(), Likely).evidence([large.line()]));
    }
    let slow = Slow::beyond(facts, HALF, |usual_ns| TIMES * usual_ns)?;
    let few = slow.number >= LEAST && slow.number * ONE_IN <= slow.of;
    unless(!few || slow.share < WORTH_A_WORD)?;
    // While nothing else is done meanwhile either, the device stood still.
    let depth = facts.outstanding();
    let gaps = Gaps::of(facts);
    let all_s = slow.number as f64 * slow.each_ns / 1e9 / depth;
    let stood_still = gaps.total_s >= 0.5 * all_s;
    unless(stood_still && (depth > 1.0 || gaps.regular_s().is_some()))?;
    let mut trials = facts.trials().iter();
    let was_followed = trials.any(|trial| trial.evidence.block_layer.is_some());
    let of_device = seen.is_some_and(|seen| seen.share_of(&slow) >= AT_DEVICE);
    unless(was_followed && !of_device)?;
    let kind = if facts.only_reads() {
        "reads"
    } else {
        "writes"
    };
    let [usual, takes] = [slow.usual_ns, slow.usual_ns + slow.each_ns].map(duration);
    let line = format!(
        "{} of {} {kind} took more than {} times the median of {usual}: {takes} on average.",
        slow.number,
        slow.of,
        ratio(TIMES)
    );
    let sure = likely_if(seen.is_some());
    let found = if let Some(place) = seen.filter(SlowRequests::are_in_a_place) {
        in_place(&place, slow.share, sure)
    } else {
        // Who serves a device of this machine's own making waits for a processor wherever it lies.
        processor::not_of_others(facts, slow.share * facts.seconds())?;
        let claim = format!(
            "Tail latency: {} of the {kind} take {takes}, {} times the median, and {} of the time.",
            percent(slow.number as f64 / slow.of as f64),
            ratio(1.0 + slow.each_ns / slow.usual_ns),
            percent(slow.share)
        );
        cause(slow.share, sure, claim).remedy(
            "Look at what the device does now and then: error recovery and housekeeping of a drive \
             (`smartctl -x`), others who share the volume, the host's storage below it (`dmesg -T`).",
        )
    };
    let sampled = seen.map(|seen| seen.line());
    Some(found.evidence([line]).evidence(sampled))
}

fn in_place(place: &SlowRequests<'_>, share: f64, sure: Confidence) -> Candidate {
    let claim = format!("{}; {} of the time.", place.place(), percent(share));
    cause(share, sure, claim).remedy(
        "Read that range alone (`offset` and `span` of the stage), and look at the drive \
         (`smartctl -x`, `nvme smart-log`: pending sectors, media errors), or at what backs that \
         part of the volume.",
    )
}

/// Whether the device is silent for so long because one at a time some take long, or may be because
/// who serves it had no processor.
pub(super) fn are_silences(facts: &StageFacts<'_>, silent_s: f64) -> bool {
    let of_others = || processor::not_of_others(facts, silent_s).is_none();
    facts.outstanding() <= 1.0 && (LIMITER.speaks_of(facts) || of_others())
}

#[cfg(test)]
mod tests {
    use super::super::host_tests::said;
    use super::LIMITER;
    use crate::testing::{self, each};
    use diskfacts_record::Run;
    use diskfacts_record::evidence::{BlockLayer, DeviceRequests, Outliers};

    const STAGE: &str = "random-read-qd1";

    /// Of a thousand reads fifty take long, and the device has them for so long.
    fn run(device_ns: f64, from_bytes: u64, to_bytes: u64, within: u64) -> Run {
        let mut run = testing::healthy();
        each(&mut run, STAGE, |trial| {
            testing::set_latencies(trial, &[(500_000, 950), (20_000_000, 50)]);
            trial.evidence.block_layer = Some(BlockLayer {
                devices: vec![DeviceRequests {
                    name: "vda".into(),
                    outliers: Some(Outliers {
                        sampled: 1000,
                        usual_ns: 450_000.0,
                        requests: 50,
                        device_ns,
                        from_bytes,
                        to_bytes,
                        within,
                        visited_bytes: 1 << 30,
                    }),
                    ..DeviceRequests::default()
                }],
                ..BlockLayer::default()
            });
        });
        run
    }

    #[test]
    fn slow_reads_are_of_a_place_or_of_any() {
        let place = said(&run(19.9e6, 512 << 20, 544 << 20, 48), STAGE, LIMITER.name);
        let claim = place.expect("a place").claim;
        assert!(
            claim.starts_with("vda is slow from 512 MiB to 544 MiB: 19.9 ms a request there"),
            "{claim}"
        );
        // As many others lie there, or the range is half of all.
        for (to, within) in [(544 << 20, 200), (1000 << 20, 48)] {
            let any = said(&run(19.9e6, 512 << 20, to, within), STAGE, LIMITER.name);
            let claim = any.expect("a tail").claim;
            assert!(
                claim.starts_with("Tail latency: 5 % of the reads"),
                "{claim}"
            );
        }
    }

    #[test]
    fn a_few_of_each_trial_are_the_device_s_and_tell_no_place() {
        let mut run = run(19.9e6, 512 << 20, 544 << 20, 8);
        each(&mut run, STAGE, |trial| {
            let layer = trial.evidence.block_layer.as_mut().expect("followed");
            let outliers = layer.devices[0].outliers.as_mut().expect("outliers");
            (outliers.sampled, outliers.requests) = (160, 8);
        });
        let limit = said(&run, STAGE, LIMITER.name).expect("a tail");
        assert!(limit.claim.starts_with("Tail latency"), "{}", limit.claim);
        assert_eq!(limit.confidence, diskfacts_record::Confidence::Likely);
    }

    #[test]
    fn what_the_device_was_quick_with_is_not_the_device_s() {
        let elsewhere = run(2e6, 512 << 20, 544 << 20, 48);
        assert_eq!(said(&elsewhere, STAGE, LIMITER.name), None);
        let mut unseen = run(2e6, 0, 0, 0);
        each(&mut unseen, STAGE, |trial| {
            trial.evidence.block_layer = None;
        });
        let limit = said(&unseen, STAGE, LIMITER.name).expect("by the latencies alone");
        assert_eq!(limit.confidence, diskfacts_record::Confidence::Possible);
    }

    #[test]
    fn half_of_all_are_no_few() {
        let mut run = run(19.9e6, 0, 0, 0);
        each(&mut run, STAGE, |trial| {
            testing::set_latencies(trial, &[(500_000, 600), (20_000_000, 400)]);
        });
        assert_eq!(said(&run, STAGE, LIMITER.name), None);
    }

    #[test]
    fn half_of_the_device_is_a_place_where_nearly_all_of_it_are_slow() {
        let half = |within| {
            let mut run = run(5e6, 512 << 20, 1024 << 20, within);
            each(&mut run, STAGE, |trial| {
                let layer = trial.evidence.block_layer.as_mut().expect("followed");
                let outliers = layer.devices[0].outliers.as_mut().expect("outliers");
                outliers.requests = 500;
                testing::set_latencies(trial, &[(500_000, 500), (5_000_000, 500)]);
            });
            said(&run, STAGE, LIMITER.name).map(|limit| limit.claim)
        };
        let claim = half(520).expect("a place");
        assert!(
            claim.starts_with("vda is slow from 512 MiB to 1 GiB"),
            "{claim}"
        );
        assert_eq!(half(900), None);
    }
}
