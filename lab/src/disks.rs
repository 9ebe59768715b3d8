//! The disks that QEMU can attach, of each kind. A scenario names those that it
//! needs; a guest finds a disk by its size, which no other has, because the
//! kernel names disks in the order in which it happens to find them.

use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// A disk as QEMU is told of it.
pub(crate) struct Disk {
    pub(crate) name: &'static str,
    pub(crate) mib: u64,
    /// More of its `-drive`: throttles, errors to be injected.
    drive: &'static str,
    /// Controllers that it shares with others.
    needs: &'static [&'static str],
    /// Values of `-device`; `NAME` is its name, `SERIAL` its serial number.
    devices: &'static [&'static str],
}

impl Disk {
    pub(crate) const fn bytes(&self) -> u64 {
        self.mib * MIB
    }

    /// How the host reads it.
    pub(crate) fn listed(&self) -> Value {
        // A backend that is named may have several devices.
        // A driver between names the file of that below it. A cache that is
        // unsafe keeps flushes from the host's disk, and would from blkdebug.
        let (file, cache) = if self.drive.contains("file.driver=") {
            ("file.image.filename", "writeback")
        } else {
            ("file", "unsafe")
        };
        let drive = format!(
            "if=none,id={},format=raw,cache={cache},{file}={{file}}{}{}",
            self.name,
            if self.drive.is_empty() { "" } else { "," },
            self.drive
        );
        let mut options = vec![["-drive".to_owned(), drive]];
        if self.drive == SHARED {
            options = vec![[
                "-blockdev".to_owned(),
                format!(
                    "driver=raw,node-name={},cache.no-flush=on,\
                     file.driver=file,file.filename={{file}}",
                    self.name
                ),
            ]];
        }
        for device in self.devices {
            // Not its name: nobody is to know a disk's kind from that.
            let device = device.replace("SERIAL", &format!("lab{}", self.mib));
            options.push(["-device".to_owned(), device.replace("NAME", self.name)]);
        }
        json!({
            "name": self.name,
            "bytes": self.bytes(),
            "needs": self.needs,
            "options": options,
        })
    }
}

/// Reads of the sector in the middle fail, and those beside it in a request.
const READ_ERROR: &str = "file.driver=blkdebug,file.inject-error.0.event=none,\
    file.inject-error.0.iotype=read,file.inject-error.0.sector=60000,\
    file.inject-error.0.errno=5,file.inject-error.0.once=off";

/// Every flush fails.
const FLUSH_ERROR: &str = "file.driver=blkdebug,file.inject-error.0.event=none,\
    file.inject-error.0.iotype=flush,file.inject-error.0.errno=5,\
    file.inject-error.0.once=off";

/// In place of drive options: one backend of several devices.
const SHARED: &str = "shared";

const SCSI: &[&str] = &["virtio-scsi-pci,id=hba"];
const VIRTIO: &[&str] = &["virtio-blk-pci,drive=NAME,serial=SERIAL"];

/// A plain disk for stacks to stand on.
const fn plain(name: &'static str, mib: u64) -> Disk {
    Disk {
        name,
        mib,
        drive: "",
        needs: &[],
        devices: VIRTIO,
    }
}

const fn scsi(name: &'static str, mib: u64, devices: &'static [&'static str]) -> Disk {
    Disk {
        name,
        mib,
        drive: "",
        needs: SCSI,
        devices,
    }
}

const fn alone(name: &'static str, mib: u64, devices: &'static [&'static str]) -> Disk {
    Disk {
        name,
        mib,
        drive: "",
        needs: &[],
        devices,
    }
}

/// All disks of the lab. A test holds their sizes apart.
pub(crate) const DISKS: &[Disk] = &[
    plain("d0", 48),
    plain("d1", 49),
    plain("d2", 50),
    plain("d3", 51),
    plain("d4", 52),
    plain("d5", 53),
    plain("big0", 400),
    plain("big1", 401),
    alone(
        "virtio-through",
        33,
        &["virtio-blk-pci,drive=NAME,serial=SERIAL,write-cache=off"],
    ),
    alone(
        "nvme-512",
        34,
        &[
            "nvme,id=c-NAME,serial=SERIAL",
            "nvme-ns,drive=NAME,bus=c-NAME",
        ],
    ),
    alone(
        "nvme-4k",
        35,
        &[
            "nvme,id=c-NAME,serial=SERIAL",
            "nvme-ns,drive=NAME,bus=c-NAME,logical_block_size=4096,physical_block_size=4096",
        ],
    ),
    alone(
        "nvme-zoned",
        // btrfs wants five zones of at least 4 MiB.
        256,
        &[
            "nvme,id=c-NAME,serial=SERIAL",
            "nvme-ns,drive=NAME,bus=c-NAME,logical_block_size=4096,physical_block_size=4096,\
             zoned=true,zoned.zone_size=16M,zoned.zone_capacity=16M",
        ],
    ),
    alone(
        "nvme-pulled",
        36,
        &[
            "nvme,id=c-NAME,serial=SERIAL",
            "nvme-ns,drive=NAME,bus=c-NAME",
        ],
    ),
    scsi(
        "scsi-hdd",
        37,
        &["scsi-hd,bus=hba.0,drive=NAME,serial=SERIAL,rotation_rate=7200"],
    ),
    scsi(
        "scsi-flash",
        38,
        &["scsi-hd,bus=hba.0,drive=NAME,serial=SERIAL,rotation_rate=1"],
    ),
    scsi(
        "scsi-4k",
        39,
        &[
            "scsi-hd,bus=hba.0,drive=NAME,serial=SERIAL,logical_block_size=4096,physical_block_size=4096",
        ],
    ),
    Disk {
        drive: "readonly=on",
        ..scsi(
            "scsi-ro",
            40,
            &["scsi-hd,bus=hba.0,drive=NAME,serial=SERIAL"],
        )
    },
    scsi(
        "scsi-pulled",
        41,
        &["scsi-hd,id=v-NAME,bus=hba.0,drive=NAME,serial=SERIAL"],
    ),
    Disk {
        drive: SHARED,
        ..scsi(
            "paths",
            42,
            &[
                "scsi-hd,bus=hba.0,drive=NAME,serial=SERIAL,wwn=0x5000c50015ea71ac,share-rw=on",
                "scsi-hd,bus=hba.0,drive=NAME,serial=SERIAL,wwn=0x5000c50015ea71ac,share-rw=on",
            ],
        )
    },
    Disk {
        drive: "throttling.iops-total=500",
        ..alone("throttled", 56, VIRTIO)
    },
    Disk {
        // 4 MB/s; a bucket of a tenth of a second goes at once.
        drive: "throttling.bps-total=4000000",
        ..alone("throttled-bytes", 57, VIRTIO)
    },
    Disk {
        // 100 operations a second, 400 on credit for some 7 s: both are little for a
        // guest, also where the machine has other work.
        drive: "throttling.iops-total=100,throttling.iops-total-max=400,\
                throttling.iops-total-max-length=5",
        ..alone("credit", 58, VIRTIO)
    },
    Disk {
        drive: READ_ERROR,
        ..alone("bad-sector", 59, VIRTIO)
    },
    Disk {
        drive: FLUSH_ERROR,
        ..alone("bad-flush", 60, VIRTIO)
    },
    Disk {
        needs: &["ahci,id=ahci"],
        ..alone("sata", 43, &["ide-hd,bus=ahci.0,drive=NAME,serial=SERIAL"])
    },
    Disk {
        needs: &["qemu-xhci,id=xhci"],
        ..alone(
            "usb",
            44,
            &["usb-storage,bus=xhci.0,drive=NAME,serial=SERIAL"],
        )
    },
    Disk {
        needs: &["sdhci-pci,id=sdhci"],
        // A card's size is a power of two. QEMU moves it byte after byte: it is a small one.
        ..alone("sd", 16, &["sd-card,drive=NAME"])
    },
];

/// The disk of a name.
pub(crate) fn find(name: &str) -> Option<&'static Disk> {
    DISKS.iter().find(|disk| disk.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_disks_have_one_name_or_one_size() {
        let names: BTreeSet<&str> = DISKS.iter().map(|disk| disk.name).collect();
        let sizes: BTreeSet<u64> = DISKS.iter().map(|disk| disk.mib).collect();
        assert_eq!((names.len(), sizes.len()), (DISKS.len(), DISKS.len()));
    }
}
