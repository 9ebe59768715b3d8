//! Devices that share the work of an array, or of a filesystem.

use super::{DeviceWork, StageFacts};
use crate::layers::counted::roots;
use crate::prelude::*;

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
pub(crate) type Member<'a> = (&'a BlockDevice, DeviceWork);

/// Members of which one is much slower with as much work.
#[derive(Debug)]
pub(crate) struct SlowMember<'a> {
    /// That one.
    pub(crate) slow: Member<'a>,
    /// All of them.
    pub(crate) members: Vec<Member<'a>>,
    /// Mean time of a request of the others, and of all, ns.
    pub(crate) others_ns: f64,
    pub(crate) mean_ns: f64,
}

impl<'a> SlowMember<'a> {
    /// The first of them below a stage.
    pub(crate) fn of(facts: &'a StageFacts<'_>) -> Option<Self> {
        groups(facts).find_map(Self::among)
    }

    fn among(members: Vec<Member<'a>>) -> Option<Self> {
        let each = members.iter();
        let slow = *each.max_by(|a, b| a.1.each_ns().total_cmp(&b.1.each_ns()))?;
        let works = |others: bool| {
            let wanted = members
                .iter()
                .filter(|one| !others || one.0.name != slow.0.name);
            DeviceWork::of_all(&wanted.map(|one| one.1).collect::<Vec<_>>())
        };
        let (all, others, number) = (works(false), works(true), (members.len() - 1) as f64);
        let few = members.iter().any(|one| one.1.requests < REQUESTS);
        let is_other_load = slow.1.requests > ALIKE * others.requests / number
            || slow.1.each_bytes() > ALIKE * others.each_bytes();
        let is_slow = slow.1.each_ns() >= TIMES * others.each_ns();
        unless(number < 1.0 || few || is_other_load || !is_slow)?;
        Some(Self {
            slow,
            members,
            others_ns: others.each_ns(),
            mean_ns: all.each_ns(),
        })
    }
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
