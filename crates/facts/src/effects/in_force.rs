//! Which cells of a matrix are what the machine had before it was changed.

use crate::stages::one_value;
use diskfacts_plan::{Stage, kernel};
use diskfacts_record::{BlockDevice, Stack};

/// Whether all that a stage asks of the kernel is as the stack was found; `None` when it
/// asks for nothing, or when all that is known of it is so and some is not known.
pub(super) fn is_in_force(stack: &Stack, stage: &Stage) -> Option<bool> {
    let mut all_known = !stage.kernel.is_empty();
    for (name, asked) in &stage.kernel {
        match found(stack, name) {
            Some(found) if found == *asked => {}
            Some(_) => return Some(false),
            None => all_known = false,
        }
    }
    all_known.then_some(true)
}

/// The value of a setting that the stack was found with, as the kernel writes it; `None`
/// where that is not known, or not one value.
fn found(stack: &Stack, name: &str) -> Option<String> {
    let of = |value: fn(&BlockDevice) -> Option<String>, devices: &[&BlockDevice]| {
        one_value(devices.iter().map(|device| value(device))).flatten()
    };
    let queues = stack.queue_devices();
    match name {
        // The read-ahead is that of the file's or the device's backing: the topmost
        // whole device.
        "read_ahead_kb" => {
            let top: Vec<&BlockDevice> = stack.whole_devices().take(1).collect();
            of(|device| kib(device.read_ahead_bytes), &top)
        }
        // Each device on the way may cut a request.
        "max_sectors_kb" => {
            let last = queues.last().and_then(|last| position(stack, last));
            let way: Vec<&BlockDevice> = stack
                .whole_devices()
                .filter(|device| position(stack, device) <= last)
                .collect();
            of(|device| kib(device.max_request_bytes), &way)
        }
        "scheduler" => of(|device| device.scheduler.clone(), &queues),
        "nr_requests" => of(|device| Some(device.nr_requests?.to_string()), &queues),
        "write_cache" => of(|device| device.write_cache.clone(), &queues),
        "rotational" => of(
            |device| Some(u8::from(device.rotational?).to_string()),
            &queues,
        ),
        _ => None,
    }
    .and_then(|found| kernel::value(name, &found).ok())
}

fn kib(bytes: Option<u64>) -> Option<String> {
    Some((bytes? / 1024).to_string())
}

fn position(stack: &Stack, device: &BlockDevice) -> Option<usize> {
    stack
        .devices
        .iter()
        .position(|other| other.name == device.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::DeviceKind;

    /// A partition of an array of two disks.
    fn stack() -> Stack {
        let device = |name: &str, kind, below: &[&str]| BlockDevice {
            below: below.iter().map(|name| (*name).to_owned()).collect(),
            max_request_bytes: Some(512 << 10),
            ..BlockDevice::unknown(name, 1, 1, kind)
        };
        let part = device("md0p1", DeviceKind::Partition, &["md0"]);
        let mut array = device("md0", DeviceKind::SoftwareRaid, &["sda", "sdb"]);
        array.read_ahead_bytes = Some(1 << 20);
        let mut disk = device("sda", DeviceKind::Disk, &[]);
        disk.read_ahead_bytes = Some(128 << 10);
        disk.scheduler = Some("mq-deadline".into());
        disk.schedulers = vec!["none".into(), "mq-deadline".into()];
        disk.nr_requests = Some(64);
        disk.rotational = Some(true);
        disk.write_cache = Some("write back".into());
        let other = BlockDevice {
            name: "sdb".into(),
            ..disk.clone()
        };
        Stack {
            devices: vec![part, array, disk, other],
            ..Stack::default()
        }
    }

    fn asks(settings: &[(&str, &str)]) -> Stage {
        let plan = diskfacts_plan::builtin::plan("survey").unwrap();
        let settings = settings.iter().map(|(a, b)| ((*a).into(), (*b).into()));
        Stage {
            kernel: settings.collect(),
            ..plan.stages[0].clone()
        }
    }

    #[test]
    fn the_read_ahead_is_that_of_the_topmost_whole_device_and_queues_are_those_of_the_disks() {
        let stack = stack();
        let all = [
            ("max_sectors_kb", "512"),
            ("nr_requests", "64"),
            ("read_ahead_kb", "1024"),
            ("rotational", "1"),
            ("scheduler", "mq-deadline"),
            ("write_cache", "write back"),
        ];
        assert_eq!(is_in_force(&stack, &asks(&all)), Some(true));
        for (name, value) in [("read_ahead_kb", "128"), ("scheduler", "none")] {
            assert_eq!(is_in_force(&stack, &asks(&[(name, value)])), Some(false));
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let mut stack = stack();
        assert_eq!(is_in_force(&stack, &asks(&[])), None);
        assert_eq!(is_in_force(&stack, &asks(&[("nomerges", "0")])), None);
        let both = [("nomerges", "0"), ("scheduler", "none")];
        assert_eq!(is_in_force(&stack, &asks(&both)), Some(false));
        stack.devices[3].scheduler = Some("bfq".into());
        let scheduler = [("scheduler", "mq-deadline")];
        assert_eq!(is_in_force(&stack, &asks(&scheduler)), None);
        assert_eq!(is_in_force(&Stack::default(), &asks(&scheduler)), None);
    }
}
