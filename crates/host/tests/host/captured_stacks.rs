//! Stacks of captured machines.

use crate::tree::{Tree, device, folder};
use diskfacts_host::{Error, Subject, all_devices, stack_of_subject};
use diskfacts_record::{BlockDevice, DeviceKind, Stack, Zoned};

fn stack(tree: &Tree, subject: &Subject) -> Stack {
    let stack = stack_of_subject(&tree.roots(), subject).expect("a stack");
    assert_ordered(&stack);
    stack
}

/// Each device stands before those it stands on, and only once.
fn assert_ordered(stack: &Stack) {
    for (index, device) in stack.devices.iter().enumerate() {
        for below in &device.below {
            let place = stack.devices.iter().position(|other| other.name == *below);
            assert!(
                place.is_some_and(|place| place > index),
                "{below} stands after {}",
                device.name
            );
        }
        let twice = stack.devices[index + 1..]
            .iter()
            .any(|other| other.name == device.name);
        assert!(!twice, "{} twice", device.name);
    }
}

fn names(stack: &Stack) -> Vec<&str> {
    stack.devices.iter().map(|device| &*device.name).collect()
}

fn leaves(stack: &Stack) -> Vec<&str> {
    stack.leaves().map(|device| &*device.name).collect()
}

fn find<'a>(stack: &'a Stack, name: &str) -> &'a BlockDevice {
    stack
        .device(name)
        .unwrap_or_else(|| panic!("{name} in the stack"))
}

fn unseen<'a>(stack: &'a Stack, what: &str) -> &'a str {
    stack
        .unseen
        .iter()
        .find(|unseen| unseen.what == what)
        .map_or_else(
            || panic!("{what} among {:?}", stack.unseen),
            |unseen| &*unseen.why,
        )
}

#[test]
fn a_virtio_disk_is_shown_with_its_settings() {
    let tree = Tree::unpack("vda-and-loop");
    let stack = stack(&tree, &folder("/var/lib"));
    let filesystem = stack.filesystem.as_ref().expect("a filesystem");
    assert_eq!(filesystem.kind, "ext4");
    assert_eq!(filesystem.mount_point, "/");
    assert_eq!(filesystem.source, "/dev/vda");
    assert!(filesystem.options.contains(&"discard".to_owned()));
    assert!(!filesystem.read_only);
    assert_eq!(names(&stack), ["vda"]);
    let disk = find(&stack, "vda");
    assert_eq!((disk.major, disk.minor), (254, 0));
    assert_eq!(disk.kind, DeviceKind::Disk);
    assert_eq!(disk.size_bytes, Some(256 << 30));
    assert_eq!(disk.logical_sector_bytes, Some(512));
    assert_eq!(disk.physical_sector_bytes, Some(4096));
    assert_eq!(disk.rotational, Some(true));
    assert_eq!(disk.write_cache.as_deref(), Some("write back"));
    assert_eq!(disk.fua, Some(false));
    assert_eq!(disk.counts_io, Some(true));
    assert_eq!(disk.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(disk.schedulers, ["none", "mq-deadline", "kyber", "bfq"]);
    assert_eq!(disk.read_ahead_bytes, Some(8 << 20));
    assert_eq!(disk.max_request_bytes, Some(4 << 20));
    assert_eq!(disk.nr_requests, Some(256));
    assert_eq!(
        (disk.hardware_queues, disk.queue_depth),
        (Some(1), Some(128))
    );
    assert_eq!(disk.scheduler_idle_ns, None);
    assert_eq!(disk.read_only, Some(false));
    // virtio's vendor is a number, and it has no model.
    assert_eq!(disk.model, None);
    assert_eq!(disk.serial.as_deref(), Some("overlayblk"));
    assert!(stack.unseen.is_empty(), "{:?}", stack.unseen);
}

#[test]
fn a_loop_device_stands_on_the_disk_of_its_file() {
    let tree = Tree::unpack("vda-and-loop");
    let stack = stack(&tree, &device("/dev/loop0", 7, 0));
    assert_eq!(stack.filesystem, None);
    assert_eq!(names(&stack), ["loop0", "vda"]);
    let looped = find(&stack, "loop0");
    assert_eq!(looped.kind, DeviceKind::Loop);
    assert_eq!(looped.below, ["vda"]);
    assert_eq!(looped.backing_file.as_deref(), Some("/var/tmp/capture.img"));
    assert_eq!(looped.backing_direct, Some(false));
    assert_eq!(leaves(&stack), ["vda"]);
}

#[test]
fn of_two_mounts_on_one_folder_the_later_one_counts() {
    let tree = Tree::unpack("vda-and-loop");
    let mut subject = folder("/dev/shm");
    subject.filesystem_number = (0, 27);
    let stack = stack(&tree, &subject);
    assert_eq!(stack.filesystem.expect("a filesystem").kind, "tmpfs");
}

#[test]
fn lvm_on_luks_on_a_partition_is_followed_down_to_the_disk() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let stack = stack(&tree, &folder("/usr"));
    assert_eq!(names(&stack), ["dm-1", "dm-0", "sda3", "sda"]);
    assert_eq!(leaves(&stack), ["sda"]);
    let volume = find(&stack, "dm-1");
    assert_eq!(volume.kind, DeviceKind::DeviceMapper);
    assert_eq!(volume.layout.as_deref(), Some("lvm"));
    assert_eq!(find(&stack, "dm-0").layout.as_deref(), Some("crypt"));
    let partition = find(&stack, "sda3");
    assert_eq!(partition.kind, DeviceKind::Partition);
    assert_eq!(partition.start_bytes, Some(3_147_776 * 512));
    assert_eq!(partition.size_bytes, Some(990_000_000 * 512));
    // A partition goes through the queue of its disk.
    assert_eq!(partition.scheduler.as_deref(), Some("mq-deadline"));
    let disk = find(&stack, "sda");
    assert_eq!(disk.model.as_deref(), Some("Samsung SSD 860"));
    assert_eq!(disk.serial.as_deref(), Some("S3Z9NB0K123456X"));
    // It states that it does not turn.
    assert_eq!(disk.rpm, None);
    // A SCSI disk says itself how many it takes; 32 is what libata has tags for.
    assert_eq!(
        (disk.hardware_queues, disk.queue_depth),
        (Some(1), Some(31))
    );
    assert_eq!(disk.scheduler_idle_ns, None);
}

#[test]
fn a_scheduler_that_idles_says_how_long() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let iosched = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/\
                   queue/iosched";
    let idle = || find(&stack(&tree, &folder("/usr")), "sda").scheduler_idle_ns;
    tree.put(&format!("{iosched}/slice_idle"), "8\n");
    assert_eq!(idle(), Some(8_000_000));
    tree.put(&format!("{iosched}/slice_idle_us"), "7500\n");
    assert_eq!(idle(), Some(7_500_000));
}

#[test]
fn a_mapping_is_named_by_its_own_node_where_there_is_one() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let roots = tree.roots();
    let path = |name: &str| {
        let stack = stack_of_subject(&roots, &folder("/usr")).expect("a stack");
        find(&stack, name).path.clone()
    };
    assert!(path("dm-1").ends_with("dev/dm-1"));
    tree.put("dev/mapper/vg-root", "");
    assert!(path("dm-1").ends_with("dev/mapper/vg-root"));
}

#[test]
fn the_external_log_of_xfs_belongs_to_the_stack() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let stack = stack(&tree, &folder("/srv/my data/deep"));
    let filesystem = stack.filesystem.as_ref().expect("a filesystem");
    assert_eq!(filesystem.mount_point, "/srv/my data");
    assert_eq!(names(&stack), ["dm-3", "dm-0", "sda3", "sda4", "sda"]);
    assert_eq!(leaves(&stack), ["sda"]);
}

#[test]
fn a_bind_mount_that_is_read_only_is_told_by_the_number_of_the_mount() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let mut subject = folder("/anywhere");
    subject.mount_id = Some(43);
    let stack = stack(&tree, &subject);
    let filesystem = stack.filesystem.as_ref().expect("a filesystem");
    assert_eq!(filesystem.mount_point, "/srv/exports");
    assert!(filesystem.read_only);
    assert_eq!(stack.top().expect("a device").name, "dm-3");
}

#[test]
fn a_filesystem_in_a_loop_device_is_followed_through_the_file_with_a_blank() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let stack = stack(&tree, &folder("/mnt/image"));
    assert_eq!(
        names(&stack),
        ["loop0", "dm-3", "dm-0", "sda3", "sda4", "sda"]
    );
    assert_eq!(find(&stack, "loop0").below, ["dm-3", "sda4"]);
    assert_eq!(find(&stack, "loop0").backing_direct, Some(true));
}

#[test]
fn a_loop_device_on_a_deleted_file_is_a_leaf_that_says_why() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let stack = stack(&tree, &device("/dev/loop1", 7, 1));
    assert_eq!(leaves(&stack), ["loop1"]);
    assert!(unseen(&stack, "devices under loop1").contains("deleted"));
}

#[test]
fn an_overlay_stands_on_what_its_folders_stand_on() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let stack = stack(&tree, &folder("/var/lib/docker/overlay2/abc/merged/data"));
    assert_eq!(stack.filesystem.as_ref().expect("one").kind, "overlay");
    assert_eq!(names(&stack), ["dm-1", "dm-0", "sda3", "sda"]);
    assert!(stack.unseen.is_empty(), "{:?}", stack.unseen);
}

#[test]
fn the_overlay_of_a_container_says_that_its_folders_are_elsewhere() {
    let tree = Tree::unpack("container");
    let stack = stack(&tree, &folder("/srv"));
    assert_eq!(stack.filesystem.as_ref().expect("one").kind, "overlay");
    assert!(stack.devices.is_empty());
    assert!(unseen(&stack, "devices under /").contains("container"));
}

#[test]
fn a_volume_of_a_container_is_followed() {
    let tree = Tree::unpack("container");
    let stack = stack(&tree, &folder("/data/db"));
    assert_eq!(names(&stack), ["nvme0n1p2", "nvme0n1"]);
    assert_eq!(stack.filesystem.as_ref().expect("one").kind, "xfs");
}

#[test]
fn filesystems_without_devices_say_what_they_stand_on() {
    let container = Tree::unpack("container");
    let nvme = Tree::unpack("nvme-partitions");
    let sata = Tree::unpack("sata-lvm-on-luks");
    for (tree, path, why) in [
        (&container, "/nfs", "another machine"),
        (&container, "/tank", "zpool status"),
        (&container, "/proc", "kernel makes it up"),
        (&nvme, "/tmp", "memory"),
        (&sata, "/mnt/sshfs", "a program serves it"),
    ] {
        let stack = stack(tree, &folder(path));
        assert!(stack.devices.is_empty(), "{path}");
        let said = unseen(&stack, &format!("devices under {path}"));
        assert!(said.contains(why), "{path}: {said}");
    }
}

#[test]
fn a_raid_of_partitions_ends_at_both_disks() {
    let tree = Tree::unpack("md-raid1");
    let stack = stack(&tree, &folder("/data"));
    assert_eq!(
        names(&stack),
        ["md0p1", "md0", "sda1", "sda", "sdb1", "sdb"]
    );
    assert_eq!(leaves(&stack), ["sda", "sdb"]);
    assert_eq!(find(&stack, "md0").kind, DeviceKind::SoftwareRaid);
    assert_eq!(find(&stack, "md0").layout.as_deref(), Some("raid1"));
    assert_eq!(find(&stack, "md0").below, ["sda1", "sdb1"]);
    assert_eq!(find(&stack, "md0p1").kind, DeviceKind::Partition);
    assert_eq!(
        find(&stack, "sda").model.as_deref(),
        Some("WDC WD20EFRX-68E")
    );
    // As the drive states them; the other does not.
    let stated = |name: &str| {
        let disk = find(&stack, name);
        (disk.rpm, disk.wwid.as_deref())
    };
    assert_eq!(stated("sda"), (Some(5400), Some("naa.50014ee2b5d3a7c1")));
    assert_eq!(stated("sdb"), (None, None));
}

#[test]
fn what_an_old_kernel_does_not_show_is_named_and_not_guessed() {
    let tree = Tree::unpack("md-raid1");
    let stack = stack(&tree, &folder("/usr"));
    let disk = find(&stack, "sda");
    assert_eq!(disk.write_cache, None);
    assert_eq!(disk.fua, None);
    assert_eq!(disk.scheduler.as_deref(), Some("cfq"));
    assert!(unseen(&stack, "sda write_cache").contains("does not show"));
    assert!(unseen(&stack, "sda2 write_cache").contains("does not show"));
}

#[test]
fn subvolumes_of_btrfs_stand_on_all_its_members() {
    let tree = Tree::unpack("btrfs-two-disks");
    let home = stack(&tree, &folder("/home/user"));
    assert_eq!(names(&home), ["sdb", "sdc"]);
    assert_eq!(leaves(&home), ["sdb", "sdc"]);
    assert!(home.unseen.is_empty(), "{:?}", home.unseen);
    let uuid = home.filesystem.as_ref().expect("one").uuid.as_deref();
    assert_eq!(uuid, Some("9a7c1f0e-7a5c-4a3e-9f53-0a1b2c3d4e5f"));
    let data = stack(&tree, &folder("/data"));
    assert_eq!(names(&data), ["sdb", "sdc"]);
    assert!(data.filesystem.expect("one").read_only);
}

#[test]
fn a_btrfs_whose_members_are_hidden_says_that_there_may_be_more() {
    let tree = Tree::unpack("btrfs-two-disks");
    let members = "sys/fs/btrfs/9a7c1f0e-7a5c-4a3e-9f53-0a1b2c3d4e5f/devices";
    tree.remove(&format!("{members}/sdb"));
    tree.remove(&format!("{members}/sdc"));
    let stack = stack(&tree, &folder("/home"));
    assert_eq!(names(&stack), ["sdb"]);
    assert!(unseen(&stack, "devices under /home").contains("more"));
}

#[test]
fn nvme_disks_tell_model_and_serial_behind_multipath_too() {
    let tree = Tree::unpack("nvme-partitions");
    let root = stack(&tree, &folder("/"));
    assert_eq!(names(&root), ["nvme0n1p2", "nvme0n1"]);
    let disk = find(&root, "nvme0n1");
    assert_eq!(disk.model.as_deref(), Some("Samsung SSD 990 PRO 1TB"));
    assert_eq!(disk.serial.as_deref(), Some("S6Z1NF0W000001"));
    assert_eq!(disk.fua, Some(true));
    let scratch = stack(&tree, &folder("/scratch"));
    let disk = find(&scratch, "nvme1n1");
    assert_eq!(disk.kind, DeviceKind::Disk);
    assert_eq!(disk.model.as_deref(), Some("INTEL SSDPE2KX020T8"));
    assert_eq!(disk.logical_sector_bytes, Some(4096));
    assert_eq!(disk.write_cache.as_deref(), Some("write through"));
}

#[test]
fn compressed_memory_is_a_leaf_and_names_its_backing_device() {
    let tree = Tree::unpack("nvme-partitions");
    let stack = stack(&tree, &device("/dev/zram0", 252, 0));
    assert_eq!(find(&stack, "zram0").kind, DeviceKind::Zram);
    assert_eq!(leaves(&stack), ["zram0"]);
    assert!(unseen(&stack, "zram0 backing device").contains("/dev/nvme0n1p10"));
}

#[test]
fn a_slash_in_a_device_name_is_an_exclamation_mark_in_sysfs_only() {
    let tree = Tree::unpack("cciss");
    let stack = stack(&tree, &folder("/"));
    assert_eq!(names(&stack), ["cciss/c0d0p2", "cciss/c0d0"]);
    assert!(find(&stack, "cciss/c0d0").path.ends_with("dev/cciss/c0d0"));
    assert_eq!(find(&stack, "cciss/c0d0p2").below, ["cciss/c0d0"]);
    assert_eq!(
        find(&stack, "cciss/c0d0").model.as_deref(),
        Some("HP LOGICAL VOLUME")
    );
}

#[test]
fn devices_that_stand_on_each_other_in_a_circle_are_cut_and_named() {
    let tree = Tree::unpack("loop-circle");
    let stack = stack(&tree, &device("/dev/loop0", 7, 0));
    assert_eq!(names(&stack), ["loop0", "loop1"]);
    assert!(
        stack
            .unseen
            .iter()
            .any(|unseen| unseen.why.contains("circle"))
    );
}

#[test]
fn all_devices_are_listed_once_without_empty_ones() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let all = all_devices(&tree.roots()).expect("devices");
    assert_ordered(&all);
    let mut names = names(&all);
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "dm-0", "dm-1", "dm-2", "dm-3", "loop0", "loop1", "sda", "sda1", "sda2", "sda3", "sda4"
        ]
    );
}

#[test]
fn a_device_that_sysfs_does_not_show_is_an_error_that_says_where_it_looked() {
    let tree = Tree::unpack("cciss");
    let error = stack_of_subject(&tree.roots(), &device("/dev/sdz", 65, 144)).expect_err("none");
    assert!(matches!(error, Error::NotInSysfs { major: 65, .. }));
    assert!(error.to_string().contains("65:144"), "{error}");
    assert!(error.to_string().contains("/dev/sdz"), "{error}");
}

#[test]
fn of_a_path_outside_all_mounts_the_device_is_found_by_its_number() {
    let tree = Tree::unpack("cciss");
    tree.put(
        "proc/self/mountinfo",
        "20 1 104:2 / /jail rw - ext3 /dev/cciss/c0d0p2 rw\n",
    );
    let subject = Subject {
        filesystem_number: (104, 2),
        ..folder("/elsewhere")
    };
    // By its text it lies below no mount, and by its number in one that is elsewhere.
    let stack = stack_of_subject(&tree.roots(), &subject).expect("a stack");
    assert_eq!(stack.filesystem, None);
    assert_eq!(stack.top().map(|top| &*top.name), Some("cciss/c0d0p2"));
    assert_eq!(stack.unseen[0].what, "the filesystem of /elsewhere");

    let subject = Subject {
        filesystem_number: (0, 40),
        ..folder("/elsewhere")
    };
    let stack = stack_of_subject(&tree.roots(), &subject).expect("a stack");
    assert_eq!((stack.devices.len(), stack.unseen.len()), (0, 1));
}

#[test]
fn a_mount_table_of_an_unknown_form_is_named_with_its_line() {
    let tree = Tree::unpack("cciss");
    tree.put(
        "proc/self/mountinfo",
        "1 2 3:4 / / rw - ext4 /dev/sda rw\nnonsense\n",
    );
    let error = stack_of_subject(&tree.roots(), &folder("/")).expect_err("nonsense");
    let said = error.to_string();
    assert!(said.contains("mountinfo, line 2"), "{said}");
    assert!(said.contains("nonsense"), "{said}");
}

fn holders<'a>(stack: &'a Stack, name: &str) -> Vec<&'a str> {
    find(stack, name)
        .holders
        .iter()
        .map(String::as_str)
        .collect()
}

#[test]
fn who_else_uses_a_disk_is_named_but_not_the_stack_itself() {
    let tree = Tree::unpack("sata-lvm-on-luks");
    let stack = stack(&tree, &folder("/usr"));
    assert_eq!(holders(&stack, "dm-1"), Vec::<&str>::new());
    assert_eq!(
        holders(&stack, "dm-0"),
        ["below dm-2 (vg-swap)", "below dm-3 (vg-data)"]
    );
    assert_eq!(holders(&stack, "sda3"), Vec::<&str>::new());
    assert_eq!(
        holders(&stack, "sda"),
        [
            "sda2: mounted at /boot",
            "sda1: mounted at /boot/efi",
            "sda4: mounted at /srv/my data",
            "sda4: mounted at /srv/exports"
        ]
    );
    let data = self::stack(&tree, &folder("/srv/my data"));
    assert_eq!(holders(&data, "dm-3"), ["mounted at /srv/exports"]);
}

#[test]
fn swap_raid_and_every_member_of_a_btrfs_are_named() {
    let nvme = Tree::unpack("nvme-partitions");
    assert_eq!(
        holders(&stack(&nvme, &folder("/")), "nvme0n1"),
        ["nvme0n1p3: swap"]
    );
    let raid = Tree::unpack("md-raid1");
    let root = stack(&raid, &folder("/usr"));
    assert_eq!(holders(&root, "sda"), ["sda1: member of md0"]);
    let btrfs = Tree::unpack("btrfs-two-disks");
    let member = stack(&btrfs, &device("/dev/sdc", 8, 32));
    assert_eq!(
        holders(&member, "sdc"),
        ["mounted at /home", "mounted at /data"]
    );
}

#[test]
fn a_filesystem_that_is_mounted_many_times_is_not_listed_for_ever() {
    let tree = Tree::unpack("cciss");
    let mounts: Vec<String> = (0..30)
        .map(|index| format!("{index} 1 104:2 / /m{index} rw - ext3 /dev/cciss/c0d0p2 rw"))
        .collect();
    tree.put("proc/self/mountinfo", &mounts.join("\n"));
    let stack = stack(&tree, &device("/dev/cciss/c0d0p2", 104, 2));
    let holders = holders(&stack, "cciss/c0d0p2");
    assert_eq!(holders.len(), 9);
    assert_eq!(holders[8], "22 more");
}

#[test]
fn the_alignment_and_the_best_request_size_are_told_where_they_are_known() {
    let tree = Tree::unpack("md-raid1");
    let raid = "sys/devices/virtual/block/md0";
    tree.put(&format!("{raid}/queue/optimal_io_size"), "1048576\n");
    tree.put(&format!("{raid}/md0p1/alignment_offset"), "3584\n");
    let stack = stack(&tree, &folder("/data"));
    assert_eq!(find(&stack, "md0").optimal_request_bytes, Some(1 << 20));
    assert_eq!(find(&stack, "md0p1").optimal_request_bytes, Some(1 << 20));
    assert_eq!(find(&stack, "md0p1").alignment_offset_bytes, Some(3584));
    assert_eq!(find(&stack, "sda").optimal_request_bytes, None);
    assert_eq!(find(&stack, "sda").alignment_offset_bytes, None);
}

#[test]
fn zones_are_told_with_their_size_and_how_many_may_be_open() {
    let tree = Tree::unpack("zoned");
    let nvme = stack(&tree, &device("/dev/dm-0", 253, 0));
    let told = |device: &BlockDevice| {
        let limits = (device.open_zones_max, device.active_zones_max);
        (device.zoned, device.zone_bytes, device.zones, limits)
    };
    let managed = Some(Zoned::HostManaged);
    let zone = Some(64 << 20);
    let limits = (Some(14), Some(28));
    assert_eq!(
        told(find(&nvme, "nvme0n1")),
        (managed, zone, Some(64), limits)
    );
    assert_eq!(told(find(&nvme, "dm-0")), (managed, zone, Some(32), limits));
    // A partition has the zones of its disk.
    let sata = stack(&tree, &device("/dev/sda1", 8, 1));
    let aware = Some(Zoned::HostAware);
    for name in ["sda", "sda1"] {
        assert_eq!(
            told(find(&sata, name)),
            (aware, Some(256 << 20), Some(29809), (Some(0), Some(0)))
        );
    }
    // A word that is not known is no word for "none".
    tree.put(
        "sys/devices/pci0000:00/0000:00:04.0/nvme/nvme0/nvme0n1/queue/zoned",
        "host-ruled\n",
    );
    let unknown = stack(&tree, &device("/dev/nvme0n1", 259, 0));
    assert_eq!(find(&unknown, "nvme0n1").zoned, None);
    assert!(unseen(&unknown, "nvme0n1 zoned").contains("host-ruled"));
    // The chunks of an array are no zones.
    let raid = Tree::unpack("md-raid1");
    let md = "sys/devices/virtual/block/md0";
    raid.put(&format!("{md}/queue/zoned"), "none\n");
    raid.put(&format!("{md}/queue/chunk_sectors"), "1024\n");
    let raid = stack(&raid, &folder("/data"));
    assert_eq!(told(find(&raid, "md0")), (None, None, None, (None, None)));
}
