//! Tests on file trees as other machines have them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, tempdir};

use super::sysfs::SysfsDevice;
use super::{Roots, geometry, holders, serial};
use crate::{Holder, WriteCache, ZoneModel, Zones};

/// A machine's `/proc` and `/sys`, as far as a test needs them.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            folder: tempdir().expect("a temporary folder can be made"),
        };
        for folder in ["sys/dev/block", "sys/block", "proc/self"] {
            fs::create_dir_all(machine.folder.path().join(folder)).expect("a new folder");
        }
        machine
    }

    fn sys(&self) -> PathBuf {
        self.folder.path().join("sys")
    }

    fn proc(&self) -> PathBuf {
        self.folder.path().join("proc")
    }

    /// Writes files, with their folders, below `place`.
    fn files(&self, place: &str, files: &[(&str, &[u8])]) {
        for (name, content) in files {
            let path = self.folder.path().join(place).join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a new folder");
            fs::write(&path, content).expect("a new file");
        }
    }

    /// A block device at `place` below `sys/devices`, with its number.
    fn device(&self, place: &str, number: (u32, u32), files: &[(&str, &[u8])]) {
        let place = format!("sys/devices/{place}");
        let text = format!("{}:{}\n", number.0, number.1);
        self.files(&place, &[("dev", text.as_bytes())]);
        self.files(&place, files);
        let link = self
            .sys()
            .join(format!("dev/block/{}:{}", number.0, number.1));
        symlink(self.folder.path().join(&place), link).expect("a new link");
    }

    fn find(&self, number: (u32, u32)) -> SysfsDevice {
        SysfsDevice::find(&self.sys(), number).expect("the device is in the tree")
    }

    fn holders(&self, number: (u32, u32)) -> Vec<Holder> {
        let (proc, sys) = (self.proc(), self.sys());
        let roots = Roots {
            proc: &proc,
            sys: &sys,
        };
        holders::find(roots, &self.find(number))
    }
}

fn serial(machine: &Machine, number: (u32, u32)) -> Result<String, String> {
    serial::from_sysfs(&machine.find(number))
}

#[test]
fn each_kind_of_disk_tells_its_serial_number_in_its_own_place() {
    let machine = Machine::new();
    machine.device(
        "pci0/nvme/nvme0/nvme0n1",
        (259, 0),
        &[
            ("device/serial", b"S4EWNX0R123456      \n"),
            (
                "device/model",
                b"Samsung SSD 970 EVO Plus 1TB            \n",
            ),
        ],
    );
    machine.device(
        "pci0/nvme/nvme0/nvme0n1/nvme0n1p2",
        (259, 2),
        &[("partition", b"2\n")],
    );
    machine.device(
        "pci0/virtio2/block/vdb",
        (254, 16),
        &[("serial", b"data-01")],
    );
    machine.device(
        "pci0/ata1/block/sda",
        (8, 0),
        &[
            ("device/vpd_pg80", b"\x00\x80\x00\x14     WD-WCC4N1234567"),
            ("device/vendor", b"ATA     \n"),
            ("device/model", b"WDC WD20EFRX-68E\n"),
        ],
    );
    machine.device(
        "pci0/usb1/block/sdb",
        (8, 16),
        &[
            ("device/vendor", b"SanDisk \n"),
            ("device/model", b"Ultra           \n"),
        ],
    );

    assert_eq!(serial(&machine, (259, 0)).as_deref(), Ok("S4EWNX0R123456"));
    assert_eq!(
        serial(&machine, (259, 2)).as_deref(),
        Ok("S4EWNX0R123456"),
        "a partition has its disk's"
    );
    assert_eq!(serial(&machine, (254, 16)).as_deref(), Ok("data-01"));
    assert_eq!(serial(&machine, (8, 0)).as_deref(), Ok("WD-WCC4N1234567"));
    let why = serial(&machine, (8, 16)).expect_err("it tells none");
    assert!(why.contains("vpd_pg80"), "{why}");

    let model = |number| serial::model(&machine.find(number));
    assert_eq!(
        model((259, 2)).as_deref(),
        Some("Samsung SSD 970 EVO Plus 1TB")
    );
    assert_eq!(model((8, 0)).as_deref(), Some("WDC WD20EFRX-68E"));
    assert_eq!(model((8, 16)).as_deref(), Some("SanDisk Ultra"));
    assert_eq!(model((254, 16)), None);
}

#[test]
fn a_device_that_cannot_have_a_serial_number_says_why() {
    let machine = Machine::new();
    for (name, number, why) in [
        ("loop7", (7, 7), "a file"),
        ("dm-3", (253, 3), "made of others"),
        ("md127", (9, 127), "RAID"),
        ("zram0", (252, 0), "memory"),
        ("vda", (254, 0), "hypervisor"),
    ] {
        machine.device(&format!("virtual/block/{name}"), number, &[]);
        let said = serial(&machine, number).expect_err("it has none");
        assert!(said.contains(why), "{name}: {said}");
    }
}

#[test]
fn a_name_with_a_slash_is_written_with_an_exclamation_mark_in_sysfs() {
    let machine = Machine::new();
    machine.device("pci0/block/cciss!c0d0", (104, 0), &[]);
    let device = machine.find((104, 0));
    assert_eq!(device.name(), "cciss/c0d0");
    assert_eq!(device.node(), Path::new("/dev/cciss/c0d0"));
}

/// `/dev/sda` with two partitions, of which the second is a RAID's member, and
/// its neighbour `/dev/sdb`.
fn machine_with_partitions() -> Machine {
    let machine = Machine::new();
    machine.device("ata1/block/sda", (8, 0), &[]);
    machine.device("ata1/block/sda/sda1", (8, 1), &[("partition", b"1\n")]);
    machine.device("ata1/block/sda/sda2", (8, 2), &[("partition", b"2\n")]);
    machine.device("ata2/block/sdb", (8, 16), &[]);
    machine.files(
        "sys/devices/ata1/block/sda/sda2/holders",
        &[("md127/dev", b"9:127\n")],
    );
    machine.files(
        "proc",
        &[
            (
                "self/mountinfo",
                b"30 1 8:1 / /boot rw - ext4 /dev/sda1 rw\n31 1 0:40 / /data rw - btrfs /dev/sdb rw\n",
            ),
            ("swaps", b"Filename Type Size Used Priority\n/dev/sda2 partition 8 0 -2\n"),
        ],
    );
    machine
}

#[test]
fn a_disk_is_held_by_what_holds_its_partitions() {
    let found = machine_with_partitions().holders((8, 0));
    assert_eq!(
        found,
        [
            Holder::Mount {
                device: "/dev/sda1".into(),
                mount_point: "/boot".into(),
                namespace_of: None,
            },
            Holder::Swap {
                device: "/dev/sda2".into(),
            },
            Holder::Device {
                device: "/dev/sda2".into(),
                by: "/dev/md127".into(),
            },
        ]
    );
}

#[test]
fn a_partition_is_not_held_by_its_neighbour() {
    let found = machine_with_partitions().holders((8, 1));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(matches!(&found[0], Holder::Mount { device, .. }
        if device == Path::new("/dev/sda1")));
}

#[test]
fn a_filesystem_that_numbers_its_volumes_itself_is_found_by_its_source() {
    let found = machine_with_partitions().holders((8, 16));
    assert_eq!(
        found,
        [Holder::Mount {
            device: "/dev/sdb".into(),
            mount_point: "/data".into(),
            namespace_of: None,
        }]
    );
}

#[test]
fn a_mount_in_a_container_is_found_once_and_names_a_process_there() {
    let machine = machine_with_partitions();
    for (process, namespace) in [("self", 1), ("10", 1), ("20", 2), ("21", 2)] {
        let folder = machine.proc().join(process);
        fs::create_dir_all(folder.join("ns")).expect("a new folder");
        symlink(format!("mnt:[{namespace}]"), folder.join("ns/mnt")).expect("a new link");
    }
    for process in ["20", "21"] {
        machine.files(
            &format!("proc/{process}"),
            &[("mountinfo", b"40 1 8:16 / /srv rw - xfs /dev/sdb rw\n")],
        );
    }
    let found = machine.holders((8, 16));
    assert!(
        found.contains(&Holder::Mount {
            device: "/dev/sdb".into(),
            mount_point: "/srv".into(),
            namespace_of: Some(20),
        }),
        "{found:?}"
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[1]
            .to_string()
            .contains("in the mount namespace of process 20")
    );
}

#[test]
fn a_machine_without_these_trees_has_no_holders_and_no_panic() {
    let machine = Machine::new();
    machine.device("ata1/block/sda", (8, 0), &[]);
    assert_eq!(machine.holders((8, 0)), []);
    assert!(SysfsDevice::find(&machine.sys(), (8, 99)).is_err());
}

#[test]
fn a_zoned_disk_tells_its_zones_and_every_disk_its_cache() {
    let machine = Machine::new();
    machine.device(
        "pci0/ata1/block/sda",
        (8, 0),
        &[
            ("queue/write_cache", b"write back\n"),
            ("queue/fua", b"0\n"),
            ("queue/zoned", b"host-managed\n"),
            ("queue/chunk_sectors", b"524288\n"),
            ("queue/nr_zones", b"55880\n"),
            ("queue/zone_write_granularity", b"4096\n"),
            ("queue/max_open_zones", b"128\n"),
            ("queue/max_active_zones", b"0\n"),
        ],
    );
    machine.device(
        "pci0/nvme/nvme0/nvme0n1",
        (259, 0),
        &[
            ("queue/write_cache", b"write through\n"),
            ("queue/fua", b"1\n"),
            ("queue/zoned", b"none\n"),
            ("queue/chunk_sectors", b"256\n"),
            ("queue/nr_zones", b"0\n"),
        ],
    );
    machine.device("virtual/block/old", (251, 0), &[]);
    let asked = |number| geometry::described(&Ok(machine.find(number)), 512, 4096, 1 << 40);

    let zoned = asked((8, 0));
    assert_eq!(zoned.write_cache, Some(WriteCache::WriteBack));
    assert_eq!(zoned.force_unit_access, Some(false));
    assert_eq!(
        zoned.zones,
        Some(Zones {
            model: ZoneModel::HostManaged,
            size: 256 << 20,
            count: Some(55_880),
            write_granularity: Some(4096),
            max_open: Some(128),
            max_active: None,
        })
    );
    let plain = asked((259, 0));
    assert_eq!(plain.write_cache, Some(WriteCache::WriteThrough));
    assert_eq!(plain.force_unit_access, Some(true));
    assert_eq!(plain.zones, None);
    let silent = asked((251, 0));
    assert_eq!(silent.write_cache, None);
    assert_eq!(silent.force_unit_access, None);
    assert_eq!(silent.zones, None);
}
