//! What an array is made of, and how a disk is attached.

use serde::{Deserialize, Serialize};

/// How a disk is attached to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// `NVMe` over PCI Express.
    NvmePcie,
    /// `NVMe` over TCP.
    NvmeTcp,
    /// `NVMe` over RDMA.
    NvmeRdma,
    /// `NVMe` over Fibre Channel.
    NvmeFc,
    /// `NVMe` served by this kernel to itself.
    NvmeLoop,
    /// Serial or parallel ATA.
    Sata,
    /// Serial Attached SCSI; the drive itself may be a SATA one.
    Sas,
    /// A SCSI host that does not say what it is: a RAID controller, a hypervisor's.
    Scsi,
    /// USB.
    Usb,
    /// Fibre Channel.
    FibreChannel,
    /// SCSI over TCP.
    Iscsi,
    /// A network block device.
    Nbd,
    /// Ceph's block device.
    Rbd,
    /// A card: MMC, eMMC, SD.
    Mmc,
    /// A hypervisor's virtio device, virtio-scsi included.
    Virtio,
    /// A Xen block device.
    Xen,
    /// A Hyper-V device.
    HyperV,
    /// A file of this machine.
    File,
    /// Memory of this machine: zram, brd, `null_blk`.
    Memory,
    /// A program of this machine (ublk).
    Program,
}

impl Transport {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NvmePcie => "NVMe over PCIe",
            Self::NvmeTcp => "NVMe over TCP",
            Self::NvmeRdma => "NVMe over RDMA",
            Self::NvmeFc => "NVMe over Fibre Channel",
            Self::NvmeLoop => "NVMe loop",
            Self::Sata => "SATA",
            Self::Sas => "SAS",
            Self::Scsi => "SCSI",
            Self::Usb => "USB",
            Self::FibreChannel => "Fibre Channel",
            Self::Iscsi => "iSCSI",
            Self::Nbd => "NBD",
            Self::Rbd => "RBD",
            Self::Mmc => "MMC/SD",
            Self::Virtio => "virtio",
            Self::Xen => "Xen",
            Self::HyperV => "Hyper-V",
            Self::File => "file",
            Self::Memory => "memory",
            Self::Program => "a program (ublk)",
        }
    }
}

/// What an array is made of, md's or device mapper's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Array {
    /// `raid5`, `striped`, `multipath`.
    pub level: String,
    /// Members that it is made for, present or not: disks of a RAID, paths of a
    /// multipath.
    pub members: u64,
    /// Bytes that lie on one member before the next one follows.
    pub chunk_bytes: Option<u64>,
    /// How data is spread: `left-symmetric`, `near=2`.
    pub layout: Option<String>,
    /// How it is made consistent after a crash: `resync`, `bitmap`, `journal`, `ppl`
    /// (`md/consistency_policy`, since Linux 4.12).
    pub consistency: Option<String>,
    /// When small writes to a RAID with parity read what they replace rather than the
    /// rest of the stripe: 0 never, 1 where that is fewer reads, 2 where it is not more
    /// (`md/rmw_level`, since Linux 4.1).
    pub rmw_level: Option<u64>,
}
