//! Arrays of device mapper whose I/O the kernel counts twice.
//!
//! The target `raid` is built on md. Each bio is counted when device mapper gets it
//! (`dm_start_io_acct` in drivers/md/dm.c), and where `queue/iostats` is 1, which it is for
//! device mapper since Linux 6.11, once more on the same device by md (`md_account_bio` in
//! drivers/md/md.c): numbers, bytes and times are twice what they were, the time in which
//! the device was busy is not. Seen on 6.12 with `raid1`: 192 reads for 96, and 96 below.
//!
//! No version is asked: what is below the array decides. An array cannot read more than its
//! members do, and each of its writes is on them as often as its level has copies.

use diskfacts_record::{BlockDevice, DeviceCounters, Evidence, Unseen};

/// Half way between what the members of an array without parity move when it is counted
/// once, and when it is counted twice.
const HALF_WAY: f64 = 0.75;
/// With parity the members write more than the array was given, so that less is a sign of
/// counting twice; it is no sign where they write more all the same (small writes of
/// RAID 6), and nothing is said then.
const PARITY: f64 = 1.02;

/// Halves what was counted twice, and says so.
pub(super) fn mend(devices: &[BlockDevice], evidence: &mut Evidence) {
    for device in devices {
        if !is_twice(device, &evidence.devices) {
            continue;
        }
        let counted = evidence.devices.iter_mut();
        for counted in counted.filter(|counted| counted.name == device.name) {
            halve(counted);
        }
        evidence.unseen.push(Unseen {
            what: format!("{} counters", device.name),
            why: "this kernel counts each I/O of an array of device mapper twice, as its members \
                  show; its numbers, bytes and times are halved"
                .to_owned(),
        });
    }
}

fn is_twice(device: &BlockDevice, counters: &[DeviceCounters]) -> bool {
    let counted = |name: &String| counters.iter().find(|one| one.name == *name);
    let (Some(own), Some(array)) = (counted(&device.name), &device.array) else {
        return false;
    };
    let may_be = device.targets == ["raid"] && device.counts_io == Some(true);
    let below: Option<Vec<&DeviceCounters>> = device.below.iter().map(counted).collect();
    let Some(below) = below.filter(|below| may_be && !below.is_empty()) else {
        return false;
    };
    let sum = |of: fn(&DeviceCounters) -> u64| -> f64 { below.iter().map(|d| of(d) as f64).sum() };
    if own.read_bytes > 0 {
        return sum(|one| one.read_bytes) <= HALF_WAY * own.read_bytes as f64;
    }
    if own.write_bytes == 0 {
        return false;
    }
    let written = own.write_bytes as f64;
    let all = sum(|one| one.write_bytes);
    let most = below.iter().map(|one| one.write_bytes).max().unwrap_or(0) as f64;
    match array.level.as_str() {
        // Each member that is there has all of it.
        "raid1" => most <= HALF_WAY * written,
        "raid0" => all <= HALF_WAY * written,
        // Without a member there are fewer copies, and less parity.
        _ if !device.impaired.is_empty() => false,
        // Device mapper makes two copies unless it is told otherwise.
        "raid10" => all <= HALF_WAY * 2.0 * written,
        _ => all <= PARITY * written,
    }
}

fn halve(counted: &mut DeviceCounters) {
    for number in [
        &mut counted.reads,
        &mut counted.read_bytes,
        &mut counted.read_ms,
        &mut counted.writes,
        &mut counted.write_bytes,
        &mut counted.write_ms,
        &mut counted.weighted_ms,
        &mut counted.in_flight_before,
    ] {
        *number /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diskfacts_record::{Array, DeviceKind};

    /// An array on two members of a level, with or without statistics.
    fn array(level: &str, counts_io: bool) -> BlockDevice {
        let mut device = BlockDevice::unknown("dm-4", 253, 4, DeviceKind::DeviceMapper);
        device.targets = vec!["raid".into()];
        device.counts_io = Some(counts_io);
        device.below = vec!["dm-1".into(), "dm-3".into()];
        device.array = Some(Array {
            level: level.into(),
            members: 2,
            ..Array::default()
        });
        device
    }

    fn counted(name: &str, reads: u64, writes: u64) -> DeviceCounters {
        DeviceCounters {
            name: name.into(),
            reads,
            read_bytes: reads * 4096,
            read_ms: reads / 4,
            writes,
            write_bytes: writes * 4096,
            busy_ms: 20,
            ..DeviceCounters::default()
        }
    }

    /// What is left of the array's counts: reads, writes, and whether it was said.
    fn mended(device: &BlockDevice, all: [(u64, u64); 3]) -> (u64, u64, bool) {
        let names = ["dm-4", "dm-1", "dm-3"];
        let counters = names.iter().zip(all);
        let mut evidence = Evidence {
            devices: counters.map(|(name, (r, w))| counted(name, r, w)).collect(),
            ..Evidence::default()
        };
        mend(std::slice::from_ref(device), &mut evidence);
        let top = &evidence.devices[0];
        assert_eq!(top.busy_ms, 20);
        (top.reads, top.writes, !evidence.unseen.is_empty())
    }

    #[test]
    fn what_the_members_did_not_do_was_counted_twice() {
        // As it was counted on Linux 6.12.
        let mirror = array("raid1", true);
        let reads = [(192, 0), (50, 0), (46, 0)];
        assert_eq!(mended(&mirror, reads), (96, 0, true));
        let writes = [(0, 192), (0, 96), (0, 96)];
        assert_eq!(mended(&mirror, writes), (0, 96, true));
        // Small writes of a RAID 5: data and parity.
        let parity = array("raid5_ls", true);
        assert_eq!(mended(&parity, [(0, 192), (0, 96), (0, 96)]), (0, 96, true));
    }

    #[test]
    fn what_the_members_did_was_counted_once() {
        let mirror = array("raid1", true);
        for once in [
            [(96, 0), (50, 0), (46, 0)],
            [(0, 96), (0, 96), (0, 96)],
            // A mirror with one half.
            [(0, 96), (0, 96), (0, 0)],
            // Somebody else beside it.
            [(96, 0), (150, 0), (46, 0)],
            [(0, 0), (0, 0), (0, 0)],
        ] {
            assert_eq!(mended(&mirror, once), (once[0].0, once[0].1, false));
        }
        let parity = array("raid5_ls", true);
        assert_eq!(mended(&parity, [(0, 96), (0, 96), (0, 96)]), (0, 96, false));
    }

    #[test]
    fn only_arrays_of_device_mapper_that_are_counted_are_looked_at() {
        let reads = [(192, 0), (50, 0), (46, 0)];
        assert_eq!(mended(&array("raid1", false), reads), (192, 0, false));
        // A thin volume answers by itself what was never written.
        let mut thin = array("raid1", true);
        thin.targets = vec!["thin".into()];
        assert_eq!(mended(&thin, reads), (192, 0, false));
    }
}
