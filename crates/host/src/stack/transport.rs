//! How a disk is attached, and whether it is hardware of this machine at all.
//!
//! The path of a device in sysfs names each bus on the way to it; of `NVMe` the controller
//! says what it speaks over. What a hypervisor or a server shows as a disk may be
//! anything behind that: nothing about platters, flash or links follows from it.

use crate::sysfs::DeviceDir;
use diskfacts_record::{BlockDevice, DeviceKind, Transport};

/// Names of disks that hypervisors, clouds and servers of disks give: nothing else that
/// is sold has them.
const VIRTUAL_NAMES: [&str; 19] = [
    "QEMU",
    "VBOX",
    "VMware",
    "Msft",
    "MSFT NVMe Accelerator",
    "Microsoft NVMe Direct Disk",
    "Virtual Disk",
    "Virtual disk",
    "Virtual HDD",
    "VIRTUAL-DISK",
    "BHYVE",
    "NUTANIX",
    "Amazon Elastic Block Store",
    "PersistentDisk",
    "nvme_card",
    "Alibaba Cloud",
    "BlockVolume",
    "LIO-ORG",
    "scsi_debug",
];

/// Fills in how a disk is attached and what says that it is no hardware.
pub(super) fn look(disk: &DeviceDir, device: &mut BlockDevice) {
    let path = disk.path.to_string_lossy();
    device.transport = match device.kind {
        DeviceKind::Disk => of_disk(disk, &path),
        DeviceKind::Loop => Some(Transport::File),
        DeviceKind::Zram => Some(Transport::Memory),
        DeviceKind::Other => of_name(&device.name),
        DeviceKind::Partition
        | DeviceKind::DeviceMapper
        | DeviceKind::SoftwareRaid
        | DeviceKind::Simulated => None,
    };
    device.virtual_by = device
        .transport
        .and_then(by_transport)
        .map(str::to_owned)
        .or_else(|| by_name(device.model.as_deref()?));
}

/// Whether a part of the path is this word with a number behind it.
fn passes(path: &str, bus: &str) -> bool {
    path.split('/').any(|part| {
        part.strip_prefix(bus)
            .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

fn of_disk(disk: &DeviceDir, path: &str) -> Option<Transport> {
    if disk.name.starts_with("nvme") {
        return of_nvme(disk, path);
    }
    // Buses that carry others come first: a SCSI host hangs on all of them.
    let transport = if passes(path, "virtio") {
        Transport::Virtio
    } else if path.contains("/vbd-") {
        Transport::Xen
    } else if path.to_ascii_lowercase().contains("/vmbus") {
        Transport::HyperV
    } else if passes(path, "usb") {
        Transport::Usb
    } else if passes(path, "session") {
        Transport::Iscsi
    } else if path.contains("/rport-") {
        Transport::FibreChannel
    } else if path.contains("/end_device-") {
        Transport::Sas
    } else if passes(path, "ata") {
        Transport::Sata
    } else if path.contains("/mmc_host/") || disk.name.starts_with("mmcblk") {
        Transport::Mmc
    } else if passes(path, "host") {
        Transport::Scsi
    } else {
        return None;
    };
    Some(transport)
}

/// The controller says it itself; a disk with several of them (`nvme-subsys0`) has a link
/// to each.
fn of_nvme(disk: &DeviceDir, path: &str) -> Option<Transport> {
    let controllers = disk.entries("device").into_iter();
    let said = disk.optional_text("device/transport").or_else(|| {
        controllers
            .filter(|entry| entry.starts_with("nvme"))
            .find_map(|entry| disk.optional_text(&format!("device/{entry}/transport")))
    });
    match said.as_deref() {
        Some("pcie") => Some(Transport::NvmePcie),
        Some("tcp") => Some(Transport::NvmeTcp),
        Some("rdma") => Some(Transport::NvmeRdma),
        Some("fc") => Some(Transport::NvmeFc),
        Some("loop") => Some(Transport::NvmeLoop),
        Some(_) => None,
        None => path.contains("/pci").then_some(Transport::NvmePcie),
    }
}

fn of_name(name: &str) -> Option<Transport> {
    let begins = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if begins("nbd") {
        Some(Transport::Nbd)
    } else if begins("rbd") {
        Some(Transport::Rbd)
    } else if begins("ram") || begins("nullb") || begins("pmem") {
        Some(Transport::Memory)
    } else if begins("ublkb") {
        Some(Transport::Program)
    } else {
        None
    }
}

/// What such an attachment says of what is behind it.
fn by_transport(transport: Transport) -> Option<&'static str> {
    Some(match transport {
        Transport::Virtio => "it is a virtio device, which a hypervisor makes",
        Transport::Xen => "it is a Xen device, which a hypervisor makes",
        Transport::HyperV => "it is a Hyper-V device, which a hypervisor makes",
        Transport::Iscsi => "another machine serves it over iSCSI",
        Transport::Nbd => "another program or machine serves it (NBD)",
        Transport::Rbd => "other machines serve it (RBD)",
        Transport::NvmeTcp => "another machine serves it over TCP",
        Transport::NvmeRdma => "another machine serves it over RDMA",
        Transport::NvmeLoop => "this kernel serves it to itself",
        Transport::File => "it is a file",
        Transport::Memory => "it is memory",
        Transport::Program => "a program serves it",
        // An array of disks behind Fibre Channel is hardware that is sold as such.
        Transport::NvmePcie
        | Transport::NvmeFc
        | Transport::Sata
        | Transport::Sas
        | Transport::Scsi
        | Transport::Usb
        | Transport::FibreChannel
        | Transport::Mmc => return None,
    })
}

fn by_name(model: &str) -> Option<String> {
    let virtual_name = VIRTUAL_NAMES.iter().any(|name| model.contains(name));
    virtual_name.then(|| format!("its model is {model}"))
}
