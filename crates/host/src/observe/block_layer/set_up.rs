//! Which devices of a stack have requests to follow, and a buffer for their events.

use super::request_event::{Decoder, Step};
use super::requests::Followed;
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use crate::trace::{Instance, Options, TraceError, Tracefs, any_of, device_number};
use diskfacts_record::evidence::QueuedFrom;
use diskfacts_record::{BlockDevice, DeviceKind, Stack, Unseen};
use std::fs;

/// Events without which nothing can be said.
const NEEDED: [Step; 2] = [Step::Issue, Step::Complete];
/// Events that tell of less.
const MORE: [Step; 4] = [
    Step::Merge,
    Step::Requeue,
    Step::BackMerge,
    Step::FrontMerge,
];

/// A buffer that takes the events of some devices, and who understands them.
pub(super) struct SetUp {
    pub(super) instance: Instance,
    pub(super) decoder: Decoder,
    pub(super) queued_from: Option<QueuedFrom>,
    /// Events that this kernel lacks.
    pub(super) missing: Vec<&'static str>,
}

impl SetUp {
    pub(super) fn new(roots: &Roots, followed: &[Followed]) -> Result<Self, TraceError> {
        let tracefs = Tracefs::open(roots)?;
        tracefs.need_events(&NEEDED.map(Step::event))?;
        let mut instance = Instance::create(&tracefs, Options::default())?;
        let mut decoder = Decoder::default();
        let mut missing = Vec::new();
        let queued = [
            (Step::Start, QueuedFrom::Start),
            (Step::Insert, QueuedFrom::Insert),
        ];
        let queued = queued
            .into_iter()
            .find(|(step, _)| tracefs.has_event(step.event()));
        let steps = queued
            .map(|(step, _)| step)
            .into_iter()
            .chain(NEEDED)
            .chain(MORE);
        for step in steps {
            if !tracefs.has_event(step.event()) {
                missing.push(step.event());
                continue;
            }
            let numbers = followed.iter().flat_map(|device| {
                let count = if step.is_of_bio() {
                    device.numbers.len()
                } else {
                    1
                };
                device.numbers.iter().take(count).copied()
            });
            let format = instance.enable(step.event(), Some(&any_of("dev", numbers)))?;
            decoder.add(step, &format)?;
        }
        Ok(Self {
            instance,
            decoder,
            queued_from: queued.map(|(_, from)| from),
            missing,
        })
    }
}

/// The devices of a stack that have requests, and what is said of the others.
pub(super) fn followed(roots: &Roots, stack: &Stack) -> (Vec<Followed>, Vec<Unseen>) {
    let mut unfollowed = Vec::new();
    let mut followed = Vec::new();
    let whole = |device: &&BlockDevice| device.kind != DeviceKind::Partition;
    for device in stack.devices.iter().filter(whole) {
        if has_requests(device) {
            followed.push(Followed {
                name: device.name.clone(),
                numbers: numbers(roots, device),
            });
        } else {
            unfollowed.push(Unseen {
                what: format!("{} block_layer", device.name),
                why: "it has no queue of requests: it hands each I/O on, to the devices that \
                          it stands on or to memory; their requests tell what became of it"
                    .to_owned(),
            });
        }
    }
    (followed, unfollowed)
}

/// What cannot be seen on a kernel without some of the events, in sentences.
pub(super) fn not_seen(queued_from: Option<QueuedFrom>, missing: &[&str]) -> Vec<String> {
    let mut said = Vec::new();
    if !missing.is_empty() {
        said.push(format!("this kernel lacks {}", missing.join(", ")));
    }
    match queued_from {
        Some(QueuedFrom::Start) => {}
        Some(QueuedFrom::Insert) => said.push(
            "time in the queue of requests that are sent to the device at once: before Linux 6.5 \
             no event tells when these were made"
                .to_owned(),
        ),
        None => {
            said.push("time in the queue: this kernel has no event for its start".to_owned());
        }
    }
    said
}

/// Whether a device has a queue of requests, as opposed to what takes I/Os and hands
/// them on. Old queues have a scheduler, today's at least one hardware queue.
fn has_requests(device: &BlockDevice) -> bool {
    let scheduler = device.scheduler.as_deref();
    device.hardware_queues.is_some() || scheduler.is_some_and(|name| name != "none")
}

/// Its own number, and those of its partitions.
fn numbers(roots: &Roots, device: &BlockDevice) -> Vec<u64> {
    let mut numbers = vec![device_number(device.major, device.minor)];
    let Ok(Some(disk)) = DeviceDir::of_number(roots, device.major, device.minor) else {
        return numbers;
    };
    // The numbers of partitions are of use for merges alone.
    let entries = fs::read_dir(&disk.path).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.path().join("partition").exists()) {
        if let Ok(Some(partition)) = DeviceDir::open(&entry.path()) {
            numbers.push(device_number(partition.major, partition.minor));
        }
    }
    numbers
}
