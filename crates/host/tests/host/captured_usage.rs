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
