//! What stands between a target and its disks: mappings that answer by themselves, copies
//! and parity, and where flushes are counted. Each trap has its control.
#![expect(clippy::float_cmp, reason = "whole quarters of the bytes are exact")]

use super::*;
use crate::layers::durability::flushes;
use diskfacts_record::{Array, Impairment, ImpairmentKind};

/// A volume (`dm-9`) on a pool (`dm-8`) on the disk, all of which count.
pub(super) fn thin_stack() -> Stack {
    let mut stack = stack();
    stack.filesystem = None;
    stack.devices.remove(0);
    stack.devices[0].counts_io = Some(true);
    stack.devices[0].hardware_queues = Some(1);
    for (name, below) in [("dm-8", "vda"), ("dm-9", "dm-8")] {
        let mut device = BlockDevice::unknown(name, 253, 0, DeviceKind::DeviceMapper);
        device.below = vec![below.into()];
        device.counts_io = Some(false);
        stack.devices.insert(0, device);
    }
    stack
}

fn mapping(workload: &Workload, seen: &Evidence, stack: &Stack) -> (f64, Option<f64>) {
    let layers = layers(workload, seen, stack);
    (layers.mapping, layers.device)
}

#[test]
fn a_thin_volume_answers_reads_of_what_was_never_written_and_no_disk_took_part() {
    let workload = reading(CacheMode::Direct);
    let stack = thin_stack();
    // The control: it was written, and the disk read it.
    let whole = evidence(&workload, OPS, &stack);
    assert_eq!(mapping(&workload, &whole, &stack), (0.0, Some(1.0)));
    for (went_on, share) in [(0, 1.0), (BYTES / 4, 0.75)] {
        let mut seen = evidence(&workload, OPS, &stack);
        for name in ["dm-8", "vda"] {
            device(&mut seen, name).read_bytes = went_on;
            device(&mut seen, name).reads = went_on / 4096;
        }
        assert_eq!(
            mapping(&workload, &seen, &stack),
            (share, Some(1.0 - share))
        );
        let reach = Reach::of(Direction::Read, &workload, &seen, &stack);
        let by: Vec<_> = reach.answered.iter().flatten().collect();
        assert_eq!(by.len(), 1);
        // The disk's counter stood still and is believed; the pool's is only below it.
        let names: &[&str] = if went_on == 0 { &["dm-8"] } else { &["dm-9"] };
        assert_eq!(by[0].names, names);
    }
}

#[test]
fn a_mapping_that_keeps_writes_to_itself_is_told() {
    for sync in [SyncMode::None, SyncMode::Fdatasync] {
        let workload = writing(CacheMode::Direct, sync);
        let mut stack = thin_stack();
        stack.devices.remove(0);
        let mut seen = evidence(&workload, OPS, &stack);
        assert_eq!(mapping(&workload, &seen, &stack), (0.0, Some(1.0)));
        device(&mut seen, "vda").write_bytes = 0;
        device(&mut seen, "vda").writes = 0;
        assert_eq!(mapping(&workload, &seen, &stack), (1.0, Some(0.0)));
        // What no disk has is on no medium, whatever the disk says of its cache.
        assert!(layers(&workload, &seen, &stack).media.abs() < 1e-9);
    }
}

#[test]
fn a_disk_whose_counters_stand_still_is_believed_only_when_it_counts() {
    let workload = reading(CacheMode::Direct);
    for (counts, queues, share) in [
        (Some(true), Some(1), 1.0),
        // A RAM disk does not count, though its switch may say so.
        (Some(true), None, 0.0),
        (Some(false), Some(1), 0.0),
        (None, Some(1), 0.0),
    ] {
        let mut stack = thin_stack();
        let disk = stack.devices.last_mut().unwrap();
        (disk.counts_io, disk.hardware_queues) = (counts, queues);
        let mut seen = evidence(&workload, OPS, &stack);
        device(&mut seen, "vda").read_bytes = 0;
        device(&mut seen, "vda").reads = 0;
        assert_eq!(
            mapping(&workload, &seen, &stack).0,
            share,
            "{counts:?} {queues:?}"
        );
    }
}

#[test]
fn a_device_of_zeros_is_no_disk() {
    let workload = reading(CacheMode::Direct);
    let mut stack = thin_stack();
    stack.devices.drain(1..);
    stack.devices[0].below.clear();
    let seen = evidence(&workload, OPS, &stack);
    // Without root nobody knows what it is.
    assert_eq!(mapping(&workload, &seen, &stack), (0.0, Some(1.0)));
    stack.devices[0].targets = vec!["zero".into()];
    assert_eq!(mapping(&workload, &seen, &stack), (1.0, Some(0.0)));
}

#[test]
fn copies_below_a_mapping_that_keeps_half_of_the_writes_do_not_hide_it() {
    let workload = writing(CacheMode::Direct, SyncMode::None);
    let mut stack = thin_stack();
    stack.devices.truncate(2);
    let mut array = BlockDevice::unknown("md0", 9, 0, DeviceKind::SoftwareRaid);
    array.below = vec!["vda".into(), "vdb".into()];
    array.array = Some(Array {
        level: "raid1".into(),
        members: 2,
        ..Array::default()
    });
    let disk = thin_stack().devices.pop().unwrap();
    let second = BlockDevice {
        name: "vdb".into(),
        ..disk.clone()
    };
    stack.devices[1].below = vec!["md0".into()];
    stack.devices.extend([array, disk, second]);
    // Sound, or with a member lost: each has all of the bytes.
    let whole = evidence(&workload, OPS, &stack);
    assert_eq!(mapping(&workload, &whole, &stack).0, 0.0);
    let mut seen = evidence(&workload, OPS, &stack);
    device(&mut seen, "vdb").write_bytes = 0;
    stack.devices[2].impaired.push(Impairment {
        kind: ImpairmentKind::Degraded,
        what: String::new(),
        source: String::new(),
    });
    assert_eq!(mapping(&workload, &seen, &stack).0, 0.0);
    stack.devices[2].impaired.clear();
    // The array's own counter is missing: only the disks tell.
    let mut half = evidence(&workload, OPS, &stack);
    half.devices.retain(|d| d.name != "md0");
    for name in ["vda", "vdb"] {
        device(&mut half, name).write_bytes = BYTES / 2;
    }
    assert_eq!(mapping(&workload, &half, &stack).0, 0.5);
}

#[test]
fn read_modify_write_of_a_raid_below_is_not_fewer_bytes() {
    let workload = writing(CacheMode::Direct, SyncMode::None);
    let mut stack = thin_stack();
    stack.devices.drain(..2);
    let disk = stack.devices.pop().unwrap();
    let mut array = BlockDevice::unknown("md0", 9, 0, DeviceKind::SoftwareRaid);
    array.array = Some(Array {
        level: "raid5".into(),
        members: 3,
        ..Array::default()
    });
    for name in ["vda", "vdb", "vdc"] {
        array.below.push(name.into());
        stack.devices.push(BlockDevice {
            name: name.into(),
            ..disk.clone()
        });
    }
    stack.devices.insert(0, array);
    let mut seen = evidence(&workload, OPS, &stack);
    // New data and new parity over three disks, and as much again is read.
    for name in ["vda", "vdb", "vdc"] {
        device(&mut seen, name).write_bytes = 2 * BYTES / 3;
        device(&mut seen, name).read_bytes = BYTES / 3;
    }
    assert_eq!(mapping(&workload, &seen, &stack), (0.0, Some(1.0)));
}

#[test]
fn buffered_writes_of_a_filesystem_with_copies_left_when_each_copy_did() {
    let workload = writing(CacheMode::Buffered, SyncMode::None);
    let mut stack = stack();
    stack.filesystem.as_mut().unwrap().kind = "btrfs".into();
    stack.filesystem.as_mut().unwrap().data_profiles = vec!["raid1".into()];
    let mut seen = evidence(&workload, OPS, &stack);
    // All of the bytes were counted, which is one copy of half of them each.
    is(layers(&workload, &seen, &stack), 0.5, 0.5, Some(0.5));
    device(&mut seen, "vda1").write_bytes = 2 * BYTES;
    is(layers(&workload, &seen, &stack), 0.0, 1.0, Some(1.0));
    // With a device missing nobody knows how many copies there were.
    let filesystem = stack.filesystem.as_mut().unwrap();
    filesystem.impaired.push(Impairment {
        kind: ImpairmentKind::Degraded,
        what: String::new(),
        source: String::new(),
    });
    device(&mut seen, "vda1").write_bytes = BYTES;
    is(layers(&workload, &seen, &stack), 0.0, 1.0, Some(1.0));
}

#[test]
fn flushes_of_a_multipath_are_counted_at_it_and_not_at_its_paths() {
    let workload = writing(CacheMode::Direct, SyncMode::Fdatasync);
    let mut stack = thin_stack();
    stack.devices.remove(0);
    stack.devices[0].layout = Some("mpath".into());
    let mut seen = evidence(&workload, OPS, &stack);
    device(&mut seen, "dm-8").flushes = Some(7);
    device(&mut seen, "vda").flushes = Some(0);
    assert_eq!(flushes(&seen, &stack), Some(7));
    // Another mapping hands flushes on, and what the disk counted is what it did.
    stack.devices[0].layout = Some("crypt".into());
    assert_eq!(flushes(&seen, &stack), Some(0));
    // One that serves bios counts none itself.
    stack.devices[0].layout = Some("mpath".into());
    device(&mut seen, "dm-8").flushes = Some(0);
    device(&mut seen, "vda").flushes = Some(7);
    assert_eq!(flushes(&seen, &stack), Some(7));
}
