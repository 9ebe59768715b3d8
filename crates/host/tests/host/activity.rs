//! Two readings of captured counters, and what lies between them.

use crate::tree::Tree;
use diskfacts_host::activity::{Reading, Wanted, device_names, named_device, processors};
use diskfacts_record::{Activity, ChangeKind, DeviceCounters};
use std::path::Path;

fn reading(kernel: &str, which: &str, wanted: &Wanted) -> Reading {
    let tree = Tree::unpack(&format!("iostat/{kernel}-{which}"));
    Reading::take(&tree.roots(), wanted).expect("a reading")
}

fn between(kernel: &str, wanted: &Wanted) -> Activity {
    let first = reading(kernel, "first", wanted);
    reading(kernel, "second", wanted).since(&first)
}

fn counted<'a>(activity: &'a Activity, name: &str) -> &'a DeviceCounters {
    let mut devices = activity.devices.iter();
    let device = devices.find(|device| device.counted.name == name);
    &device.unwrap_or_else(|| panic!("no {name}")).counted
}

#[test]
fn the_first_report_is_of_the_time_since_the_system_started() {
    let activity = reading("linux-6.18", "first", &Wanted::Disks).since_start();
    assert!(activity.since_start);
    assert_eq!(activity.centiseconds, 2_382_189);
    let vda = counted(&activity, "vda");
    assert_eq!(
        (vda.reads, vda.read_bytes),
        (26_818_304, 2_279_486_262 * 512)
    );
    assert_eq!(vda.discard_bytes, Some(631_249_312 * 512));
    assert_eq!(
        (vda.discard_ms, vda.discard_merges),
        (Some(164_480), Some(271))
    );
    assert_eq!(activity.cpu.total, 2_386_460);
    assert_eq!(activity.cpu.system, 291_827 + 21_023);
}

#[test]
fn disks_come_in_the_order_of_their_names_bytes() {
    let activity = reading("linux-3.10", "first", &Wanted::Disks).since_start();
    let names: Vec<&str> = activity
        .devices
        .iter()
        .map(|device| &*device.counted.name)
        .collect();
    assert_eq!(names, ["dm-0", "sda", "sdb", "sdc", "sdk"]);
}

#[test]
fn a_time_that_wraps_is_a_small_step_and_iowait_that_falls_is_none() {
    let activity = between("linux-3.10", &Wanted::Disks);
    assert_eq!(counted(&activity, "sda").read_ms, 5123);
    assert_eq!(activity.cpu.iowait, 0);
    assert_eq!(activity.centiseconds, 101);
    assert!(activity.changes.is_empty(), "{:?}", activity.changes);
}

#[test]
fn devices_that_go_and_come_are_named_and_count_from_their_beginning() {
    let activity = between("linux-4.19", &Wanted::Disks);
    let changes: Vec<(&str, &ChangeKind)> = activity
        .changes
        .iter()
        .map(|change| (&*change.device, &change.what))
        .collect();
    assert_eq!(
        changes,
        [
            ("nvme2n1", &ChangeKind::Appeared),
            ("nvme1n1", &ChangeKind::Vanished)
        ]
    );
    assert_eq!(counted(&activity, "nvme2n1").reads, 40);
}

#[test]
fn a_device_whose_counters_all_fell_was_replaced() {
    let activity = between("linux-6.18", &Wanted::Disks);
    let [change] = &*activity.changes else {
        panic!("{:?}", activity.changes)
    };
    assert_eq!(change.device, "sdb");
    assert_eq!(
        change.what,
        ChangeKind::Replaced {
            counter: "operations",
            before: 817_263 + 51_423 + 12 + 817,
            after: 90 + 12 + 2,
        }
    );
    assert_eq!(counted(&activity, "sdb").reads, 90);
}

#[test]
fn one_counter_that_fell_is_named() {
    let tree = Tree::unpack("iostat/linux-3.10-first");
    let wanted = Wanted::Named(vec!["sdb".to_owned()]);
    let first = Reading::take(&tree.roots(), &wanted).expect("a reading");
    // Reads fell, and sectors did not.
    tree.put("sys/block/sdb/stat", "80 3 6600 999 0 0 0 0 0 812 999\n");
    let activity = Reading::take(&tree.roots(), &wanted)
        .expect("a reading")
        .since(&first);
    assert_eq!(
        activity.changes[0].what,
        ChangeKind::Replaced {
            counter: "reads",
            before: 812,
            after: 80,
        }
    );
    assert_eq!(counted(&activity, "sdb").reads, 80);
}

#[test]
fn partitions_of_old_kernels_say_that_they_count_requests_only() {
    let activity = reading("linux-2.6.18", "first", &Wanted::Everything).since_start();
    let of = |name: &str| {
        let mut devices = activity.devices.iter();
        let device = devices.find(|device| device.counted.name == name);
        device.expect(name).requests_only
    };
    assert!(of("hda1") && of("cciss/c0d0p1") && !of("hda") && !of("cciss/c0d0"));
    let named = Wanted::Named(vec!["cciss/c0d0p1".to_owned()]);
    let activity = reading("linux-2.6.18", "first", &named).since_start();
    assert!(activity.devices[0].requests_only);
    assert_eq!(activity.devices[0].counted.reads, 30_801);
}

#[test]
fn devices_that_were_never_used_can_be_left_out() {
    let all = reading("linux-6.18", "first", &Wanted::Disks);
    let used = all.clone().without_unused();
    let has = |reading: &Reading| {
        let activity = reading.since_start();
        activity.devices.iter().any(|d| d.counted.name == "zram0")
    };
    assert!(has(&all) && !has(&used));
}

#[test]
fn names_lead_to_devices_and_other_paths_do_not() {
    let tree = Tree::unpack("iostat/linux-2.6.18-first");
    let roots = tree.roots();
    let named = |name: &str| named_device(&roots, Path::new(name)).expect("an answer");
    for name in ["hda", "hda1", "cciss/c0d0", "cciss/c0d0p1"] {
        assert_eq!(named(name).as_deref(), Some(name));
    }
    assert_eq!(named("hdz"), None);
    assert_eq!(named("../hda"), None);
    assert!(
        device_names(&roots)
            .expect("names")
            .contains(&"md0".to_owned())
    );
    let error = named_device(&roots, &roots.sys).expect_err("a folder");
    assert!(
        error
            .to_string()
            .contains("is a folder, not a block device")
    );
    assert_eq!(processors(&roots), 1);
    let tree = Tree::unpack("cciss");
    assert_eq!(processors(&tree.roots()), 0);
}

#[test]
fn what_is_missing_is_named() {
    let tree = Tree::unpack("iostat/linux-6.18-first");
    let take = |wanted: &Wanted| {
        let error = Reading::take(&tree.roots(), wanted).expect_err("something is missing");
        error.to_string()
    };
    tree.remove("proc/diskstats");
    let said = take(&Wanted::Everything);
    assert!(
        said.contains("proc/diskstats") && said.contains("run diskfacts on the host"),
        "{said}"
    );
    tree.put("sys/block/vda/stat", "1 2 three\n");
    let said = take(&Wanted::Disks);
    assert!(
        said.contains("block/vda/stat") && said.contains("`three`"),
        "{said}"
    );
    tree.remove("proc/uptime");
    assert!(take(&Wanted::Disks).contains("proc/uptime"));
}
