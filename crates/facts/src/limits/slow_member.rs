//! One of several devices that share the work evenly takes much longer for it: an array, or a
//! filesystem of several devices, is as slow as the slowest of them.

use super::prelude::*;
use crate::stage_facts::members::SlowMember;

pub(super) const LIMITER: Limiter = Limiter {
    name: "slow-member",
    needs: &[NoDocument, Blocks, Device, Closed],
    find: one_is_slower,
    ..Limiter::BEHIND_THREADS
};

fn one_is_slower(facts: &StageFacts<'_>) -> Option<Candidate> {
    let found = SlowMember::of(facts)?;
    let (device, work) = found.slow;
    let [slow, others] = [work.each_ns(), found.others_ns].map(duration);
    let with = match found.members.len() {
        2 => "device".to_owned(),
        several => format!("{} devices", several - 1),
    };
    let claim = format!(
        "{} is slower than the {with} it shares the work with: {slow} a request, {others} there.",
        device.name
    );
    let each = found.members.iter().map(|(device, work)| {
        let (requests, takes) = (work.requests, duration(work.each_ns()));
        format!("{} {requests} requests of {takes}", device.name)
    });
    let line = format!("Counted: {}.", list(each));
    let remedy = format!(
        "Look at {} alone: `smartctl -x {}`, its cable, port and link, who else uses it; where \
         nothing helps, replace it.",
        device.name, device.path
    );
    let found = cause(1.0 - found.others_ns / found.mean_ns, Likely, claim);
    Some(found.evidence([line]).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::super::host_tests::said;
    use super::LIMITER;
    use crate::testing::{self, each};
    use diskfacts_record::Run;

    const STAGE: &str = "random-read-qd32";

    /// A filesystem of two devices, of which the second did so many times the requests of the
    /// first, each in so many times its time.
    fn run(requests: u64, times: u64) -> Run {
        let mut stack = testing::stack();
        stack.devices.remove(0);
        let mut second = stack.devices[0].clone();
        second.name = "vdb".into();
        stack.devices.push(second);
        let mut run = testing::on(stack);
        each(&mut run, STAGE, |trial| {
            let [first, second] = trial.evidence.devices.as_mut_slice() else {
                panic!("two devices");
            };
            let number = trial.ops / (1 + requests);
            (first.reads, first.read_ms) = (number, number / 2);
            (second.reads, second.read_ms) = (requests * number, requests * number / 2 * times);
            (first.read_bytes, second.read_bytes) = (4096 * number, 4096 * requests * number);
        });
        run
    }

    #[test]
    fn a_member_that_takes_longer_for_as_much_is_named() {
        let limit = said(&run(1, 9), STAGE, LIMITER.name).expect("it is slower");
        assert_eq!(
            limit.claim,
            "vdb is slower than the device it shares the work with: 4.5 ms a request, 500 us there."
        );
        assert!(
            (limit.share.expect("a share") - 0.8).abs() < 1e-6,
            "{limit:#?}"
        );
    }

    #[test]
    fn equal_ones_and_one_that_has_more_to_do_are_not() {
        assert_eq!(said(&run(1, 1), STAGE, LIMITER.name), None);
        assert_eq!(said(&run(2, 9), STAGE, LIMITER.name), None);
    }
}
