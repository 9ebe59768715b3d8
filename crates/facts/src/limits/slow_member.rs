//! One of several devices that share the work evenly takes much longer for it: an array, or a
//! filesystem of several devices, is as slow as the slowest of them.

use super::prelude::*;
use crate::layers::counted::roots;
use crate::stage_facts::DeviceWork;

pub(super) const LIMITER: Limiter = Limiter {
    name: "slow-member",
    needs: &[NoDocument, Blocks, Device, Closed],
    find: one_is_slower,
    ..Limiter::BEHIND_THREADS
};

/// Requests of each, from which on their means are known: of half of them two means of the same
/// requests differ by less than a tenth.
const REQUESTS: f64 = 100.0;
/// So many times as long as the others: disks of one model differ by a tenth, and what waits in
/// line at one that is somewhat slower adds to it.
const TIMES: f64 = 2.0;
/// Requests, and bytes of one, that one has more than the others have on average, at most: more
/// is another load.
const ALIKE: f64 = 1.25;

/// A member and what it did.
type Member<'a> = (&'a BlockDevice, DeviceWork);

/// Mean time of a request, ns.
fn each_ns(work: &DeviceWork) -> f64 {
    work.waited_s * 1e9 / work.requests
}

/// Those that share the work of one device, or of the filesystem.
fn groups<'a>(facts: &'a StageFacts<'_>) -> impl Iterator<Item = Vec<Member<'a>>> {
    let stack = facts.stack();
    let arrays = stack.devices.iter().filter(|device| device.array.is_some());
    let members = arrays.map(|array| {
        let below = array.below.iter();
        below.filter_map(|name| stack.device(name)).collect()
    });
    let all: Vec<Vec<&BlockDevice>> = members.chain([roots(stack).collect()]).collect();
    all.into_iter().filter_map(|devices| {
        let with_work = |device: &'a BlockDevice| Some((device, facts.work_of(&device.name)?));
        devices.into_iter().map(with_work).collect()
    })
}

/// The slowest of them, and the mean time of a request of the others.
fn slowest<'a>(members: &[Member<'a>]) -> Option<(Member<'a>, f64)> {
    let slow = *members
        .iter()
        .max_by(|a, b| each_ns(&a.1).total_cmp(&each_ns(&b.1)))?;
    let others = members.iter().filter(|one| one.0.name != slow.0.name);
    let number = (members.len() - 1) as f64;
    let sum = |of: fn(&DeviceWork) -> f64| others.clone().map(|one| of(&one.1)).sum::<f64>();
    let (requests, bytes) = (sum(|one| one.requests), sum(|one| one.bytes));
    let others_ns = sum(|one| one.waited_s) * 1e9 / requests;
    let few = members.iter().any(|one| one.1.requests < REQUESTS);
    let size = |work: &DeviceWork| work.bytes / work.requests;
    let is_other_load =
        slow.1.requests > ALIKE * requests / number || size(&slow.1) > ALIKE * bytes / requests;
    let is_slow = each_ns(&slow.1) >= TIMES * others_ns;
    (number >= 1.0 && !few && !is_other_load && is_slow).then_some((slow, others_ns))
}

fn one_is_slower(facts: &StageFacts<'_>) -> Option<Candidate> {
    let of_group = |members: Vec<Member<'_>>| {
        let ((device, work), others_ns) = slowest(&members)?;
        let sum = |of: fn(&DeviceWork) -> f64| members.iter().map(|one| of(&one.1)).sum::<f64>();
        let mean_ns = sum(|one| one.waited_s) * 1e9 / sum(|one| one.requests);
        let [slow, others] = [each_ns(&work), others_ns].map(duration);
        let name = &device.name;
        let claim = format!(
            "{name} is slower than the {} it shares the work with: {slow} a request, {others} there.",
            if members.len() == 2 {
                "device".to_owned()
            } else {
                format!("{} devices", members.len() - 1)
            }
        );
        let each = members.iter().map(|(device, work)| {
            let (requests, takes) = (work.requests, duration(each_ns(work)));
            format!("{} {requests} requests of {takes}", device.name)
        });
        let line = format!("Counted: {}.", list(each));
        let remedy = format!(
            "Look at {name} alone: `smartctl -x {}`, its cable, port and link, who else uses it; \
             where nothing helps, replace it.",
            device.path
        );
        let found = cause(1.0 - others_ns / mean_ns, Likely, claim);
        Some(found.evidence([line]).remedy(remedy))
    };
    groups(facts).find_map(of_group)
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
