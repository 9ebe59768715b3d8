//! What holds the devices of captured machines.

use crate::tree::{Tree, device};
use diskfacts_host::{Obstacle, ObstacleKind, Usage, usage_by_tables};

fn usage(tree: &Tree, path: &str, major: u32, minor: u32) -> Usage {
    usage_by_tables(&tree.roots(), &device(path, major, minor)).expect("an answer")
}

fn lines(usage: &Usage) -> Vec<String> {
    usage.obstacles.iter().map(Obstacle::to_string).collect()
}

fn has(usage: &Usage, kind: &ObstacleKind, device: &str, what: &str, how: &str) {
    assert!(
        usage.obstacles.iter().any(|obstacle| {
            obstacle.kind == *kind
                && obstacle.device == device
                && obstacle.what.contains(what)
                && obstacle.how_to_go_on.contains(how)
        }),
        "{kind:?} of {device} with `{what}` and `{how}` among {:#?}",
        lines(usage)
    );
    assert!(usage.in_use());
    assert!(!usage.may_be_written());
}

#[test]
fn a_mounted_partition_forbids_the_disk() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let usage = usage(&tree, "/dev/sda", 8, 0);
    has(
        &usage,
        &ObstacleKind::Mounted,
        "sda2",
        "on /boot (ext4)",
        "umount /boot",
    );
    has(
        &usage,
        &ObstacleKind::Mounted,
        "sda1",
        "on /boot/efi (vfat)",
        "umount /boot/efi",
    );
}

#[test]
fn all_that_stands_on_a_partition_forbids_it() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let usage = usage(&tree, "/dev/sda3", 8, 3);
    has(
        &usage,
        &ObstacleKind::Held,
        "sda3",
        "encrypted volume sda3_crypt",
        "cryptsetup close sda3_crypt",
    );
    has(
        &usage,
        &ObstacleKind::Held,
        "dm-0",
        "LVM volume vg-root",
        "lvchange",
    );
    has(
        &usage,
        &ObstacleKind::Mounted,
        "dm-1",
        "on / (ext4)",
        "choose another",
    );
    has(
        &usage,
        &ObstacleKind::Mounted,
        "dm-3",
        "on /srv/my data (xfs)",
        "umount '/srv/my data'",
    );
    has(
        &usage,
        &ObstacleKind::Swap,
        "dm-2",
        "used as swap",
        "swapoff /dev/dm-2",
    );
    // Other partitions of the disk are not concerned.
    assert!(
        usage
            .obstacles
            .iter()
            .all(|obstacle| obstacle.device != "sda1")
    );
}

#[test]
fn a_free_partition_beside_used_ones_is_free() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    tree.put(
        "proc/self/mountinfo",
        "28 1 253:1 / / rw - ext4 /dev/mapper/vg-root rw\n",
    );
    let usage = usage(&tree, "/dev/sda4", 8, 4);
    assert_eq!(lines(&usage), Vec::<String>::new());
    assert!(usage.may_be_written());
    assert_eq!(usage.size_bytes, Some(204_800 * 512));
    assert!(usage.to_string().contains("not in use"));
}

#[test]
fn a_part_that_overlaps_a_mounted_one_is_not_free() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let disk = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    // As an extended partition has the others inside it.
    tree.put(&format!("{disk}/sda4/start"), "0\n");
    tree.put(&format!("{disk}/sda4/size"), "4000000\n");
    let usage = usage(&tree, "/dev/sda4", 8, 4);
    has(&usage, &ObstacleKind::Mounted, "sda2", "on /boot", "umount");
}

#[test]
fn a_partition_of_a_disk_that_is_used_as_a_whole_is_not_free() {
    let tree = Tree::unpack("nvme-partitions");
    tree.put(
        "proc/self/mountinfo",
        "28 1 259:0 / /all rw - ext4 /dev/nvme0n1 rw\n",
    );
    let usage = usage(&tree, "/dev/nvme0n1p1", 259, 1);
    has(
        &usage,
        &ObstacleKind::Mounted,
        "nvme0n1",
        "on /all",
        "umount /all",
    );
}

#[test]
fn a_member_of_a_raid_is_held_by_it() {
    let tree = Tree::unpack("md-raid1");
    let usage = usage(&tree, "/dev/sdb", 8, 16);
    has(
        &usage,
        &ObstacleKind::Held,
        "sdb1",
        "software RAID md0 (raid1)",
        "mdadm --stop /dev/md0",
    );
    has(
        &usage,
        &ObstacleKind::Mounted,
        "md0p1",
        "on /data (xfs)",
        "umount /data",
    );
}

#[test]
fn a_holder_that_the_kernel_names_but_does_not_show_still_holds() {
    let tree = Tree::unpack("btrfs-two-disks");
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata3/host3/target3:0:0/3:0:0:0/block/sdd";
    tree.put(&format!("{disk}/holders/dm-7"), "");
    let usage = usage(&tree, "/dev/sdd", 8, 48);
    has(
        &usage,
        &ObstacleKind::Held,
        "sdd",
        "the device dm-7",
        "/dev/dm-7",
    );
}

#[test]
fn every_member_of_a_mounted_btrfs_is_in_use() {
    let tree = Tree::unpack("btrfs-two-disks");
    let named = usage(&tree, "/dev/sdb", 8, 16);
    has(
        &named,
        &ObstacleKind::Mounted,
        "sdb",
        "on /home (btrfs)",
        "umount /home",
    );
    let other = usage(&tree, "/dev/sdc", 8, 32);
    has(
        &other,
        &ObstacleKind::Mounted,
        "sdc",
        "member of a mounted btrfs",
        "findmnt",
    );
    let free = usage(&tree, "/dev/sdd", 8, 48);
    assert_eq!(lines(&free), Vec::<String>::new());
}

#[test]
fn a_mount_in_another_namespace_is_seen_by_the_folder_of_its_filesystem() {
    let tree = Tree::unpack("nvme-partitions");
    tree.put("proc/self/mountinfo", "28 1 0:1 / / rw - tmpfs tmpfs rw\n");
    let usage = usage(&tree, "/dev/nvme0n1", 259, 0);
    has(
        &usage,
        &ObstacleKind::Mounted,
        "nvme0n1p2",
        "not in this mount namespace",
        "grep 259:2",
    );
}

#[test]
fn swap_on_a_partition_forbids_the_disk_and_a_swap_file_does_not_confuse() {
    let tree = Tree::unpack("nvme-partitions");
    let usage = usage(&tree, "/dev/nvme0n1", 259, 0);
    has(
        &usage,
        &ObstacleKind::Swap,
        "nvme0n1p3",
        "swap",
        "swapoff /dev/nvme0n1p3",
    );
    let swaps = usage
        .obstacles
        .iter()
        .filter(|obstacle| obstacle.kind == ObstacleKind::Swap);
    assert_eq!(swaps.count(), 1);
}

#[test]
fn names_with_a_slash_are_found_in_every_table() {
    let tree = Tree::unpack("cciss");
    let usage = usage(&tree, "/dev/cciss/c0d0", 104, 0);
    has(
        &usage,
        &ObstacleKind::Mounted,
        "cciss/c0d0p2",
        "on / (ext3)",
        "choose another",
    );
    has(
        &usage,
        &ObstacleKind::Swap,
        "cciss/c0d0p3",
        "swap",
        "swapoff /dev/cciss/c0d0p3",
    );
}

#[test]
fn a_loop_device_on_a_partition_forbids_it() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    tree.put(
        "sys/devices/virtual/block/loop1/loop/backing_file",
        "/dev/sda4\n",
    );
    let usage = usage(&tree, "/dev/sda", 8, 0);
    has(
        &usage,
        &ObstacleKind::Loop,
        "sda4",
        "loop device loop1",
        "losetup --detach /dev/loop1",
    );
}

#[test]
fn a_read_only_switch_is_an_obstacle_but_no_use() {
    let tree = Tree::unpack("btrfs-two-disks");
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata3/host3/target3:0:0/3:0:0:0/block/sdd";
    tree.put(&format!("{disk}/ro"), "1\n");
    let usage = usage(&tree, "/dev/sdd", 8, 48);
    assert_eq!(usage.obstacles.len(), 1);
    assert_eq!(usage.obstacles[0].kind, ObstacleKind::ReadOnly);
    assert!(!usage.may_be_written());
    assert!(!usage.in_use());
}

#[test]
fn zones_that_have_to_be_written_in_order_are_an_obstacle() {
    let tree = Tree::unpack("zoned");
    let kinds = |path: &str, major, minor| -> Vec<ObstacleKind> {
        let usage = usage(&tree, path, major, minor);
        assert!(!usage.in_use() || path == "/dev/nvme0n1");
        let obstacles = usage.obstacles.into_iter();
        obstacles.map(|obstacle| obstacle.kind).collect()
    };
    // Device mapper passes the kind on; it also holds the disk.
    assert_eq!(kinds("/dev/dm-0", 253, 0), [ObstacleKind::HostManaged]);
    let disk = kinds("/dev/nvme0n1", 259, 0);
    assert_eq!(disk, [ObstacleKind::Held, ObstacleKind::HostManaged]);
    // Host-aware disks take any write, and so do their partitions.
    assert_eq!(kinds("/dev/sda", 8, 0), []);
    assert_eq!(kinds("/dev/sda1", 8, 1), []);

    let managed = usage(&tree, "/dev/dm-0", 253, 0);
    let said = managed.to_string();
    assert!(
        said.starts_with("dm-0 is a host-managed zoned device"),
        "{said}"
    );
    assert!(said.contains("without --destroy-data-on"), "{said}");

    // No such attribute: a kernel that shows no device of this kind.
    let disk = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    tree.remove(&format!("{disk}/queue/zoned"));
    assert_eq!(kinds("/dev/sda1", 8, 1), []);
    // It is there, and is no answer.
    for answer in ["", "host-ruled\n"] {
        tree.put(&format!("{disk}/queue/zoned"), answer);
        assert_eq!(kinds("/dev/sda1", 8, 1), [ObstacleKind::Unchecked]);
    }
}

#[test]
fn a_path_beside_multipath_is_in_use_like_the_paths_that_it_holds() {
    let tree = Tree::unpack("several-paths");
    for (path, minor) in [("/dev/sda", 0), ("/dev/sdb", 16), ("/dev/sdc", 32)] {
        let usage = usage(&tree, path, 8, minor);
        has(
            &usage,
            &ObstacleKind::Held,
            "sda",
            "multipath device lun",
            "/dev/mapper/lun",
        );
        has(
            &usage,
            &ObstacleKind::Mounted,
            "dm-0",
            "on /srv (ext4)",
            "umount /srv",
        );
    }
    // A part of the path is a part of the disk.
    let part = usage(&tree, "/dev/sdc1", 8, 33);
    has(&part, &ObstacleKind::Mounted, "dm-0", "on /srv", "umount");
    let other = usage(&tree, "/dev/sdd", 8, 48);
    assert_eq!(lines(&other), Vec::<String>::new());
}

#[test]
fn a_multipath_device_is_not_held_by_itself_but_used_by_who_uses_a_path() {
    let tree = Tree::unpack("several-paths");
    tree.put("proc/self/mountinfo", "28 1 0:1 / / rw - tmpfs tmpfs rw\n");
    assert_eq!(
        lines(&usage(&tree, "/dev/dm-0", 253, 0)),
        Vec::<String>::new()
    );
    tree.put(
        "proc/self/mountinfo",
        "28 1 8:33 / /part rw - ext4 /dev/sdc1 rw\n",
    );
    let usage = usage(&tree, "/dev/dm-0", 253, 0);
    has(
        &usage,
        &ObstacleKind::Mounted,
        "sdc1",
        "on /part",
        "umount /part",
    );
}

#[test]
fn a_partition_of_a_multipath_device_is_used_by_who_uses_that_of_a_path() {
    let tree = Tree::unpack("several-paths");
    let part = "sys/devices/virtual/block/dm-1";
    for (attribute, value) in [
        ("dev", "253:1"),
        ("size", "1000000"),
        ("ro", "0"),
        ("dm/name", "lun-part1"),
        ("dm/uuid", "part1-mpath-36001405a1b2c3d4e5f60718293a4b5c6"),
        ("holders/.keep", ""),
    ] {
        tree.put(&format!("{part}/{attribute}"), &format!("{value}\n"));
    }
    tree.put(&format!("{part}/slaves/.keep"), "");
    tree.link(
        &format!("{part}/slaves/dm-0"),
        "sys/devices/virtual/block/dm-0",
    );
    tree.link("sys/devices/virtual/block/dm-0/holders/dm-1", part);
    tree.link("sys/dev/block/253:1", part);
    tree.link("sys/class/block/dm-1", part);
    for keep in ["holders", "slaves"] {
        tree.remove(&format!("{part}/{keep}/.keep"));
    }
    let of = |mounts: &str| {
        let mounts = format!("28 1 0:1 / / rw - tmpfs tmpfs rw\n{mounts}");
        tree.put("proc/self/mountinfo", &mounts);
        usage(&tree, "/dev/dm-1", 253, 1)
    };
    assert_eq!(lines(&of("")), Vec::<String>::new());
    let mounted = of("29 28 8:33 / /part rw - ext4 /dev/sdc1 rw\n");
    has(
        &mounted,
        &ObstacleKind::Mounted,
        "sdc1",
        "on /part",
        "umount /part",
    );
    // Another disk.
    let other = of("29 28 8:48 / /other rw - ext4 /dev/sdd rw\n");
    assert_eq!(lines(&other), Vec::<String>::new());
}

#[test]
fn a_multipath_device_without_paths_is_known_by_its_own_name() {
    let tree = Tree::unpack("several-paths");
    for path in ["sda", "sdb"] {
        tree.remove(&format!("sys/devices/virtual/block/dm-0/slaves/{path}"));
    }
    for (number, path) in [(0, "sda"), (1, "sdb")] {
        let disk = format!(
            "sys/devices/pci0000:00/host{number}/target{number}:0:0/{number}:0:0:0/block/{path}"
        );
        tree.remove(&format!("{disk}/holders/dm-0"));
    }
    let usage = usage(&tree, "/dev/sdc", 8, 32);
    has(&usage, &ObstacleKind::Mounted, "dm-0", "on /srv", "umount");
}

#[test]
fn a_namespace_of_nvme_is_in_use_by_its_other_path() {
    let tree = Tree::unpack("several-paths");
    let usage = usage(&tree, "/dev/nvme1n1", 259, 1);
    has(
        &usage,
        &ObstacleKind::Mounted,
        "nvme0n1",
        "on /fast (xfs)",
        "umount /fast",
    );
}

#[test]
fn a_member_of_a_raid_is_held_by_its_other_path_too() {
    let tree = Tree::unpack("several-paths");
    for (path, minor) in [("/dev/sdh", 112), ("/dev/sdh1", 113)] {
        let usage = usage(&tree, path, 8, minor);
        has(
            &usage,
            &ObstacleKind::Held,
            "sdg1",
            "software RAID md0 (raid1)",
            "mdadm --stop",
        );
    }
    // Another part of the disk is not concerned.
    let other = usage(&tree, "/dev/sdh2", 8, 114);
    assert_eq!(lines(&other), Vec::<String>::new());
}

#[test]
fn a_disk_of_a_virtual_machine_that_is_attached_twice_is_one_disk() {
    let tree = Tree::unpack("several-paths");
    let usage = usage(&tree, "/dev/vdb", 254, 16);
    has(&usage, &ObstacleKind::Mounted, "vda", "on /vol", "umount");
}

#[test]
fn an_identity_that_says_nothing_joins_no_disks() {
    let tree = Tree::unpack("several-paths");
    for (path, major, minor) in [("/dev/sdf", 8, 80), ("/dev/vdd", 254, 48)] {
        let usage = usage(&tree, path, major, minor);
        assert_eq!(lines(&usage), Vec::<String>::new());
    }
}

#[test]
fn two_loop_devices_over_one_file_share_the_bytes_that_both_have() {
    let tree = Tree::unpack("several-paths");
    tree.put(
        "proc/self/mountinfo",
        "28 1 7:1 / /image rw - ext4 /dev/loop1 rw\n",
    );
    // Sectors of 512 bytes; the offset is in bytes.
    for (minor, offset, sectors) in [
        (0, 0, 2048),
        (1, 1_048_064, 2048),
        (2, 2_096_640, 2048),
        (3, 1_048_576, 0),
    ] {
        let device = format!("sys/devices/virtual/block/loop{minor}");
        for (attribute, value) in [
            ("dev", format!("7:{minor}")),
            ("size", sectors.to_string()),
            ("ro", "0".to_owned()),
            ("loop/backing_file", "/srv/image".to_owned()),
            ("loop/offset", offset.to_string()),
        ] {
            tree.put(&format!("{device}/{attribute}"), &format!("{value}\n"));
        }
        tree.link(&format!("sys/dev/block/7:{minor}"), &device);
        tree.link(&format!("sys/class/block/loop{minor}"), &device);
    }
    // It ends one sector after the other begins.
    let overlapping = usage(&tree, "/dev/loop0", 7, 0);
    has(
        &overlapping,
        &ObstacleKind::Mounted,
        "loop1",
        "on /image",
        "umount /image",
    );
    // It begins where the other ends; and it has no byte at all.
    for minor in [2, 3] {
        let apart = usage(&tree, &format!("/dev/loop{minor}"), 7, minor);
        assert_eq!(lines(&apart), Vec::<String>::new());
    }
}

#[test]
fn a_device_swapped_to_by_a_path_that_leads_nowhere_is_unchecked() {
    let tree = Tree::unpack("several-paths");
    tree.put(
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/gone partition 1020 0 -2\n",
    );
    let usage = usage(&tree, "/dev/sdd", 8, 48);
    assert_eq!(usage.obstacles.len(), 1, "{usage}");
    assert_eq!(usage.obstacles[0].kind, ObstacleKind::Unchecked);
    assert!(!usage.may_be_written());
}
