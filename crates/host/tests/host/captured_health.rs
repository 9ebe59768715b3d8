//! What captured machines say of their arrays and disks: whether they are sound, what
//! they are made of, how they are attached. Each trap has its control, the same machine
//! without the flaw.

use crate::tree::{Tree, device, folder};
use diskfacts_host::{Subject, health_after, stack_of_subject};
use diskfacts_record::{ImpairmentKind, Stack, Transport};

const MD: &str = "sys/devices/virtual/block/md0/md";

fn stack(tree: &Tree, subject: &Subject) -> Stack {
    stack_of_subject(&tree.roots(), subject).expect("a stack")
}

fn impairments(stack: &Stack) -> Vec<(String, ImpairmentKind, String)> {
    let found = stack.impairments();
    found
        .map(|(name, found)| (name.to_owned(), found.kind, found.what.clone()))
        .collect()
}

/// A RAID 5 of three disks, as Linux 6.1 shows one that is sound.
fn array() -> Tree {
    let tree = Tree::unpack("md-raid1");
    for (attribute, text) in [
        ("level", "raid5"),
        ("raid_disks", "3"),
        ("degraded", "0"),
        ("array_state", "clean"),
        ("sync_action", "idle"),
        ("sync_completed", "none"),
        ("sync_speed", "none"),
        ("chunk_size", "65536"),
        ("layout", "2"),
        ("consistency_policy", "bitmap"),
        ("rmw_level", "1"),
        ("dev-sda1/state", "in_sync"),
        ("dev-sdb1/state", "in_sync"),
    ] {
        tree.put(&format!("{MD}/{attribute}"), &format!("{text}\n"));
    }
    tree
}

#[test]
fn a_sound_array_is_told_with_what_it_is_made_of_and_nothing_is_wrong_with_it() {
    let stack = stack(&array(), &folder("/data"));
    assert_eq!(impairments(&stack), []);
    let made = stack.device("md0").and_then(|md| md.array.clone());
    let made = made.expect("its make-up");
    assert_eq!((made.level.as_str(), made.members), ("raid5", 3));
    assert_eq!(made.chunk_bytes, Some(65536));
    assert_eq!(made.layout.as_deref(), Some("left-symmetric"));
    assert_eq!(made.consistency.as_deref(), Some("bitmap"));
    assert_eq!(made.rmw_level, Some(1));
}

#[test]
fn an_array_without_a_member_is_degraded_and_the_failed_one_is_named() {
    let tree = array();
    tree.put(&format!("{MD}/degraded"), "1\n");
    tree.put(&format!("{MD}/dev-sdb1/state"), "faulty,write_error\n");
    let found = impairments(&stack(&tree, &folder("/data")));
    let what = "1 of its 3 members is missing; failed: sdb1";
    assert_eq!(
        found,
        [("md0".into(), ImpairmentKind::Degraded, what.into())]
    );
}

#[test]
fn an_array_that_fills_a_member_again_says_how_far_it_is() {
    use ImpairmentKind::{Checking, Degraded, Rebuilding, Reshaping, Resyncing};
    let tree = array();
    tree.put(&format!("{MD}/degraded"), "1\n");
    tree.put(&format!("{MD}/sync_action"), "recover\n");
    tree.put(&format!("{MD}/sync_completed"), "1024 / 4096\n");
    tree.put(&format!("{MD}/sync_speed"), "100000\n");
    let found = impairments(&stack(&tree, &folder("/data")));
    let kinds: Vec<_> = found.iter().map(|(_, kind, _)| *kind).collect();
    assert_eq!(kinds, [Degraded, Rebuilding]);
    assert_eq!(
        found[1].2,
        "a member is being filled again, 25.0 % done at 102.4 MB/s"
    );
    tree.put(&format!("{MD}/degraded"), "0\n");
    for (action, kind) in [
        ("resync", Resyncing),
        ("reshape", Reshaping),
        ("check", Checking),
    ] {
        tree.put(&format!("{MD}/sync_action"), &format!("{action}\n"));
        let found = impairments(&stack(&tree, &folder("/data")));
        let kinds: Vec<_> = found.iter().map(|(_, kind, _)| *kind).collect();
        assert_eq!(kinds, [kind], "{action}");
    }
    tree.put(&format!("{MD}/sync_completed"), "delayed\n");
    let found = impairments(&stack(&tree, &folder("/data")));
    assert!(
        found[0].2.contains("waits until another array"),
        "{found:?}"
    );
}

#[test]
fn what_happens_to_an_array_while_it_is_measured_is_seen_when_the_run_ends() {
    use ImpairmentKind::{Degraded, Rebuilding};
    let tree = array();
    let before = stack(&tree, &folder("/data"));
    let after = health_after(&tree.roots(), &before);
    assert_eq!((after.impaired, after.unseen), (vec![], vec![]));
    // It loses a member.
    tree.put(&format!("{MD}/degraded"), "1\n");
    tree.put(&format!("{MD}/dev-sdb1/state"), "faulty\n");
    let after = health_after(&tree.roots(), &before);
    let found: Vec<_> = after.impairments().collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1.kind), ("md0", Degraded));
    // And is done with filling another.
    tree.put(&format!("{MD}/sync_action"), "recover\n");
    let before = stack(&tree, &folder("/data"));
    let kinds: Vec<_> = before.impairments().map(|(_, found)| found.kind).collect();
    assert_eq!(kinds, [Degraded, Rebuilding]);
    for (attribute, text) in [
        ("degraded", "0"),
        ("dev-sdb1/state", "in_sync"),
        ("sync_action", "idle"),
    ] {
        tree.put(&format!("{MD}/{attribute}"), &format!("{text}\n"));
    }
    let after = health_after(&tree.roots(), &before);
    assert_eq!((after.impaired, after.unseen), (vec![], vec![]));
}

#[test]
fn what_cannot_be_looked_at_when_the_run_ends_is_named_and_not_sound() {
    let tree = array();
    let mut before = stack(&tree, &folder("/data"));
    before.filesystem.as_mut().expect("ext4").source = "/dev/md77".into();
    // Its number is listed, and what it is is not to be seen.
    tree.remove("sys/devices/virtual/block/md0/md0p1/dev");
    let after = health_after(&tree.roots(), &before);
    let unseen: Vec<_> = after.unseen.iter().map(|u| u.what.as_str()).collect();
    assert_eq!(unseen, ["/data health", "md0p1 health"]);
    assert_eq!(after.impaired, []);
}

#[test]
fn a_device_that_went_away_while_it_was_measured_is_gone_when_the_run_ends() {
    let tree = array();
    let before = stack(&tree, &folder("/data"));
    let gone = |before: &Stack| -> Vec<(String, ImpairmentKind, String)> {
        let after = health_after(&tree.roots(), before);
        assert_eq!(after.unseen, []);
        let found = after.impaired.into_iter();
        found
            .map(|after| (after.name, after.found.kind, after.found.source))
            .collect()
    };
    assert_eq!(gone(&before), []);
    let is = |name: &str, source: &str| {
        let source = source.to_owned();
        vec![(name.to_owned(), ImpairmentKind::Gone, source)]
    };
    // The kernel has nothing of its number, or something else.
    let mut other = before.clone();
    other.devices[1].minor = 77;
    assert_eq!(
        gone(&other),
        is("md0", "dev/block/9:77 of sysfs is missing")
    );
    let mut other = before.clone();
    other.devices[1].name = "md7".into();
    assert_eq!(gone(&other), is("md7", "dev/block/9:0 is md0"));
    // It is being removed: first it loses its size.
    tree.put("sys/devices/virtual/block/md0/size", "0\n");
    assert_eq!(gone(&before), is("md0", "size is 0"));
}

#[test]
fn an_array_that_stands_on_a_spare_or_does_not_stand_says_so() {
    let tree = array();
    tree.put(&format!("{MD}/dev-sdb1/state"), "faulty\n");
    let found = impairments(&stack(&tree, &folder("/data")));
    assert_eq!(found[0].1, ImpairmentKind::MemberFailed);
    tree.put(&format!("{MD}/dev-sdb1/state"), "in_sync\n");
    tree.put(&format!("{MD}/array_state"), "broken\n");
    let found = impairments(&stack(&tree, &folder("/data")));
    assert_eq!(found[0].1, ImpairmentKind::Failed);
}

#[test]
fn a_btrfs_without_a_device_is_degraded_and_its_profile_is_told() {
    let tree = Tree::unpack("btrfs-two-disks");
    let uuid = "sys/fs/btrfs/9a7c1f0e-7a5c-4a3e-9f53-0a1b2c3d4e5f";
    for device in [1, 2] {
        tree.put(&format!("{uuid}/devinfo/{device}/missing"), "0\n");
    }
    tree.put(&format!("{uuid}/allocation/data/raid1/total_bytes"), "9\n");
    tree.put(&format!("{uuid}/allocation/data/flags"), "1\n");
    tree.put(&format!("{uuid}/exclusive_operation"), "none\n");
    let sound = stack(&tree, &folder("/home"));
    assert_eq!(impairments(&sound), []);
    let filesystem = sound.filesystem.expect("a filesystem");
    assert_eq!(filesystem.data_profiles, ["raid1"]);
    tree.put(&format!("{uuid}/devinfo/2/missing"), "1\n");
    tree.put(&format!("{uuid}/exclusive_operation"), "device replace\n");
    let found = impairments(&stack(&tree, &folder("/home")));
    assert_eq!(
        found,
        [
            (
                "/home".into(),
                ImpairmentKind::Degraded,
                "1 of its 2 devices is missing".into()
            ),
            (
                "/home".into(),
                ImpairmentKind::Rebuilding,
                "btrfs does a device replace".into()
            ),
        ]
    );
}

#[test]
fn a_pool_of_zfs_says_its_state() {
    let tree = Tree::unpack("vda-and-loop");
    tree.put(
        "proc/self/mountinfo",
        "23 1 254:0 / / rw - ext4 /dev/vda rw\n\
         60 23 0:45 / /tank/data rw - zfs tank/data rw,xattr\n",
    );
    for (state, kind) in [
        ("ONLINE", None),
        ("DEGRADED", Some(ImpairmentKind::Degraded)),
        ("SUSPENDED", Some(ImpairmentKind::Suspended)),
        ("FAULTED", Some(ImpairmentKind::Failed)),
    ] {
        tree.put("proc/spl/kstat/zfs/tank/state", &format!("{state}\n"));
        let found = impairments(&stack(&tree, &folder("/tank/data")));
        assert_eq!(found.first().map(|(_, kind, _)| *kind), kind, "{state}");
    }
}

#[test]
fn a_multipath_whose_disk_went_offline_has_lost_a_path_for_ordinary_users_too() {
    let tree = Tree::unpack("md-raid1");
    let dm = "sys/devices/virtual/block/md0";
    // The array of the tree, made a multipath of its two partitions.
    tree.remove(&format!("{dm}/md"));
    tree.put(
        &format!("{dm}/dm/uuid"),
        "mpath-360000000000000000e00000000010001\n",
    );
    tree.put(&format!("{dm}/dm/name"), "mpatha\n");
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sdb";
    tree.put(&format!("{disk}/device/state"), "running\n");
    let sound = stack(&tree, &device("/dev/md0", 9, 0));
    assert_eq!(impairments(&sound), []);
    let made = sound.device("md0").and_then(|dm| dm.array.clone());
    assert_eq!(made.map(|made| made.members), Some(2));
    tree.put(&format!("{disk}/device/state"), "offline\n");
    let found = impairments(&stack(&tree, &device("/dev/md0", 9, 0)));
    let kinds: Vec<_> = found
        .iter()
        .map(|(name, kind, _)| (name.as_str(), *kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("md0", ImpairmentKind::Degraded),
            ("sdb", ImpairmentKind::Failed)
        ]
    );
}

#[test]
fn a_disk_says_how_it_is_attached_and_a_hypervisors_is_known_for_one() {
    let of = |tree: &str, name: &str, major, minor| {
        let tree = Tree::unpack(tree);
        let stack = stack(&tree, &device(&format!("/dev/{name}"), major, minor));
        let found = stack.device(name).expect("the disk").clone();
        (found.transport, found.virtual_by)
    };
    let (transport, why) = of("vda-and-loop", "vda", 254, 0);
    assert_eq!(transport, Some(Transport::Virtio));
    assert!(why.is_some_and(|why| why.contains("virtio")));
    let (transport, why) = of("vda-and-loop", "loop0", 7, 0);
    assert_eq!(transport, Some(Transport::File));
    assert!(why.is_some());
    // Hardware.
    assert_eq!(of("md-raid1", "sda", 8, 0), (Some(Transport::Sata), None));
    assert_eq!(
        of("sata-lvm-on-luks", "sda", 8, 0),
        (Some(Transport::Sata), None)
    );
}

/// How a disk of this place in sysfs is attached, and what says that it is no hardware.
fn attached(place: &str, attributes: &[(&str, &str)]) -> (Option<Transport>, Option<String>) {
    let tree = Tree::unpack("md-raid1");
    let (_, name) = place.rsplit_once('/').expect("a path");
    tree.put(&format!("sys/devices/{place}/dev"), "259:77\n");
    tree.put(&format!("sys/devices/{place}/size"), "2097152\n");
    for (attribute, text) in attributes {
        tree.put(
            &format!("sys/devices/{place}/{attribute}"),
            &format!("{text}\n"),
        );
    }
    tree.link("sys/dev/block/259:77", &format!("sys/devices/{place}"));
    let stack = stack(&tree, &device(&format!("/dev/{name}"), 259, 77));
    let found = stack.device(name).expect("the disk").clone();
    (found.transport, found.virtual_by)
}

/// A place in sysfs, attributes there, how it is attached, and a word of what says that it is
/// no hardware.
type Attached<'a> = (
    &'a str,
    &'a [(&'a str, &'a str)],
    Transport,
    Option<&'a str>,
);

/// Each path as the kernel makes it: `drivers/scsi/scsi_transport_iscsi.c`,
/// `drivers/usb/storage`, `drivers/nvme/host`, `drivers/block/nbd.c` of Linux 6.12.
#[test]
fn how_a_disk_is_attached_is_told_by_its_place_in_sysfs_and_by_its_controller() {
    const PCIE: &str = "pci0000:00/0000:00:1d.0/0000:3d:00.0";
    let nvme = format!("{PCIE}/nvme/nvme0/nvme0n1");
    let rows: [Attached<'_>; 9] = [
        (
            "platform/host3/session1/target3:0:0/3:0:0:1/block/sdq",
            &[],
            Transport::Iscsi,
            Some("iSCSI"),
        ),
        // The same without its session hangs on a host of SCSI, whatever that is.
        (
            "platform/host3/target3:0:0/3:0:0:1/block/sdq",
            &[],
            Transport::Scsi,
            None,
        ),
        (
            "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdq",
            &[],
            Transport::Usb,
            None,
        ),
        (
            &nvme,
            &[("device/transport", "pcie")],
            Transport::NvmePcie,
            None,
        ),
        // Where the controller does not say it.
        (&nvme, &[], Transport::NvmePcie, None),
        // What the controller says counts, and not where it hangs.
        (
            &nvme,
            &[("device/transport", "tcp")],
            Transport::NvmeTcp,
            Some("over TCP"),
        ),
        (
            "virtual/nvme-fabrics/ctl/nvme1/nvme1n1",
            &[("device/transport", "tcp")],
            Transport::NvmeTcp,
            Some("over TCP"),
        ),
        // With several controllers, each has its own.
        (
            "virtual/nvme-subsystem/nvme-subsys0/nvme1n1",
            &[("device/nvme3/transport", "tcp")],
            Transport::NvmeTcp,
            Some("over TCP"),
        ),
        ("virtual/block/nbd0", &[], Transport::Nbd, Some("NBD")),
    ];
    for (place, attributes, transport, why) in rows {
        let (found, said) = attached(place, attributes);
        assert_eq!(found, Some(transport), "{place} {attributes:?}");
        assert_eq!(said.is_some(), why.is_some(), "{place}: {said:?}");
        let why = why.unwrap_or_default();
        assert!(said.unwrap_or_default().contains(why), "{place}: {why}");
    }
    // Of an unknown one nothing is said.
    let unknown = attached(&nvme, &[("device/transport", "pigeon")]);
    assert_eq!(unknown, (None, None));
}

#[test]
fn a_disk_of_a_hypervisor_is_known_by_its_model_whatever_it_hangs_on() {
    let tree = Tree::unpack("md-raid1");
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    for (model, is_virtual) in [
        ("QEMU HARDDISK", true),
        ("VBOX HARDDISK", true),
        ("Virtual disk", true),
        ("Amazon Elastic Block Store", true),
        ("WDC WD20EFRX-68E", false),
    ] {
        tree.put(&format!("{disk}/device/model"), &format!("{model}\n"));
        let stack = stack(&tree, &device("/dev/sda", 8, 0));
        let found = &stack.device("sda").expect("the disk").virtual_by;
        assert_eq!(found.is_some(), is_virtual, "{model}: {found:?}");
    }
}

#[test]
fn each_kind_of_disk_says_its_firmware_in_a_place_of_its_own() {
    let tree = Tree::unpack("md-raid1");
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    let firmware = || {
        let stack = stack(&tree, &device("/dev/sda", 8, 0));
        stack.device("sda").expect("the disk").firmware.clone()
    };
    assert_eq!(firmware(), None);
    for (place, version) in [
        ("rev", "0A82"),
        ("fwrev", "0x2"),
        ("firmware_rev", "4B2QJXD7"),
    ] {
        tree.put(&format!("{disk}/device/{place}"), &format!("{version}  \n"));
        assert_eq!(firmware().as_deref(), Some(version));
    }
}

#[test]
fn bcache_says_how_it_treats_writes() {
    let tree = Tree::unpack("md-raid1");
    let folder = "sys/devices/virtual/block/md0";
    tree.remove(&format!("{folder}/md"));
    // Without its folder `md` it is a device of another kind, here bcache's.
    let bcache = |state: &str| {
        tree.put(
            &format!("{folder}/bcache/cache_mode"),
            "writethrough [writeback] writearound none\n",
        );
        tree.put(&format!("{folder}/bcache/state"), &format!("{state}\n"));
        let stack = stack(&tree, &device("/dev/md0", 9, 0));
        let found = stack.device("md0").expect("the device").clone();
        (found.cache_mode, found.impaired.len())
    };
    assert_eq!(bcache("clean"), (Some("writeback".into()), 0));
    assert_eq!(bcache("no cache"), (Some("no cache attached".into()), 0));
    assert_eq!(bcache("inconsistent"), (Some("writeback".into()), 1));
}
