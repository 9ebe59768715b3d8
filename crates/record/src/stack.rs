//! What lies under a target: mount, filesystem, block devices down to the leaves.

mod impairment;
mod make_up;

pub(crate) use impairment::over_a_run;
pub use impairment::{HealthAfter, ImpairedAfter, Impairment, ImpairmentKind, Unsound};
pub use make_up::{Array, Transport};

use crate::evidence::{SettingInForce, Unseen};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The layers under a target, as they were when the run began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stack {
    /// The filesystem that holds the target; absent for a raw device.
    pub filesystem: Option<Filesystem>,
    /// Every block device below, each before those it stands on.
    pub devices: Vec<BlockDevice>,
    /// What could not be found out, and why.
    pub unseen: Vec<Unseen>,
}

impl Stack {
    /// The devices that stand on no other: what the data finally goes to.
    pub fn leaves(&self) -> impl Iterator<Item = &BlockDevice> {
        self.devices.iter().filter(|device| device.is_leaf())
    }

    /// What is not sound, with the name of the filesystem's mount or of the device, from
    /// the top.
    pub fn impairments(&self) -> impl Iterator<Item = (&str, &Impairment)> {
        let mounted = self.filesystem.iter().flat_map(|filesystem| {
            let name = filesystem.mount_point.as_str();
            filesystem.impaired.iter().map(move |found| (name, found))
        });
        let devices = self.devices.iter().flat_map(|device| {
            let name = device.name.as_str();
            device.impaired.iter().map(move |found| (name, found))
        });
        mounted.chain(devices)
    }

    /// The device of this kernel name.
    pub fn device(&self, name: &str) -> Option<&BlockDevice> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// The devices that are no part of another, each before those it stands on.
    pub fn whole_devices(&self) -> impl Iterator<Item = &BlockDevice> {
        let devices = self.devices.iter();
        devices.filter(|device| device.kind != DeviceKind::Partition)
    }

    /// On each way down, the first device with a queue that orders requests: the disk of
    /// a partition, the members of an array, a loop device.
    pub fn queue_devices(&self) -> Vec<&BlockDevice> {
        let mut found: Vec<&BlockDevice> = Vec::new();
        let mut open: VecDeque<&BlockDevice> = self.top().into_iter().collect();
        while let Some(device) = open.pop_front() {
            let orders = device.scheduler.is_some() || !device.schedulers.is_empty();
            if device.kind == DeviceKind::Partition || !orders {
                open.extend(device.below.iter().filter_map(|name| self.device(name)));
            } else if !found.iter().any(|known| known.name == device.name) {
                found.push(device);
            }
        }
        found
    }

    /// The stack as it was in a trial for which these settings of the kernel were
    /// changed: schedulers, read-ahead, requests. What a drive is (`write_cache`,
    /// `rotational`) is not changed by what the kernel is told of it.
    #[must_use]
    pub fn under(&self, settings: &[SettingInForce]) -> Self {
        let mut stack = self.clone();
        for setting in settings {
            let (Some(name), Some(value)) = (&setting.device, &setting.in_force) else {
                continue;
            };
            let below = |device: &BlockDevice| device.below.contains(name);
            let of_disk = |device: &BlockDevice| {
                // A partition shows the settings of its disk.
                device.name == *name || (device.kind == DeviceKind::Partition && below(device))
            };
            for device in stack.devices.iter_mut().filter(|device| of_disk(device)) {
                device.set(&setting.name, value);
            }
        }
        stack
    }

    /// The device right under the filesystem, or the target itself.
    pub fn top(&self) -> Option<&BlockDevice> {
        self.devices.first()
    }
}

/// A mounted filesystem.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Filesystem {
    /// `ext4`, `xfs`, `tmpfs`, ...
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted there, as the mount table has it.
    pub source: String,
    /// Mount options, those of the mount and those of the filesystem.
    pub options: Vec<String>,
    /// Mounted for reading only.
    pub read_only: bool,
    /// Bytes in all.
    pub size_bytes: Option<u64>,
    /// Bytes free for this user.
    pub available_bytes: Option<u64>,
    /// The UUID that it got when it was made, as `blkid` writes it; absent where it has
    /// none or the system does not tell.
    #[serde(default)]
    pub uuid: Option<String>,
    /// How btrfs spreads data over its devices, several while it is being converted:
    /// `single`, `raid1`, `raid1c3`, `raid5`.
    #[serde(default)]
    pub data_profiles: Vec<String>,
    /// What of it is not sound: devices that are missing, the state of its pool.
    #[serde(default)]
    pub impaired: Vec<Impairment>,
}

/// What kind of block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A disk, or what presents itself as one.
    Disk,
    /// A part of another device.
    Partition,
    /// Device mapper: LVM, LUKS, multipath.
    DeviceMapper,
    /// Linux software RAID.
    SoftwareRaid,
    /// A file seen as a device.
    Loop,
    /// Compressed memory.
    Zram,
    /// A simulated disk.
    Simulated,
    /// None of these.
    Other,
}

/// How a device whose medium is divided into zones takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zoned {
    /// Anywhere; it is faster where zones are written in order.
    HostAware,
    /// In order only, from the write pointer of each zone on.
    HostManaged,
}

/// A block device and the settings that its speed may depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Name in the kernel, `sda1` or `dm-0`.
    pub name: String,
    /// Path of its node, `/dev/sda1`.
    pub path: String,
    /// Major device number.
    pub major: u32,
    /// Minor device number.
    pub minor: u32,
    /// What it is.
    pub kind: DeviceKind,
    /// Names of the devices that it stands on; empty for a leaf.
    pub below: Vec<String>,
    /// Bytes.
    pub size_bytes: Option<u64>,
    /// Smallest unit that can be addressed, bytes.
    pub logical_sector_bytes: Option<u32>,
    /// Smallest unit that is written without reading first, bytes.
    pub physical_sector_bytes: Option<u32>,
    /// Whether the kernel takes it for a rotating disk.
    pub rotational: Option<bool>,
    /// `write back` (a volatile cache) or `write through`.
    pub write_cache: Option<String>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// The I/O schedulers that could be used.
    pub schedulers: Vec<String>,
    /// Read-ahead window, bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Largest request the kernel sends, bytes.
    pub max_request_bytes: Option<u64>,
    /// Requests that the block layer holds at most, of each of the
    /// [`hardware_queues`](Self::hardware_queues) (`queue/nr_requests`).
    pub nr_requests: Option<u64>,
    /// Queues between the kernel and the device (`mq/*`); absent where the kernel
    /// has none or does not show them.
    #[serde(default)]
    pub hardware_queues: Option<u64>,
    /// Requests that the device itself takes at a time, over all its queues:
    /// `device/queue_depth` of a SCSI disk, else the tags of the queues
    /// (`mq/*/nr_tags`).
    #[serde(default)]
    pub queue_depth: Option<u64>,
    /// How long the scheduler keeps the device idle for the process whose turn it
    /// is, nanoseconds (`queue/iosched/slice_idle` of cfq and bfq); 0 is not at
    /// all, and absent are schedulers that never do.
    #[serde(default)]
    pub scheduler_idle_ns: Option<u64>,
    /// How it takes writes, if it has zones (`queue/zoned`); absent for others.
    #[serde(default)]
    pub zoned: Option<Zoned>,
    /// Size of its zones, bytes (`queue/chunk_sectors`); the last may be smaller.
    #[serde(default)]
    pub zone_bytes: Option<u64>,
    /// How many zones it has (`queue/nr_zones`).
    #[serde(default)]
    pub zones: Option<u64>,
    /// Zones that can be open for writing at a time (`queue/max_open_zones`); 0 is
    /// any number.
    #[serde(default)]
    pub open_zones_max: Option<u64>,
    /// Zones that can be neither empty nor full at a time
    /// (`queue/max_active_zones`); 0 is any number.
    #[serde(default)]
    pub active_zones_max: Option<u64>,
    /// Read only.
    pub read_only: Option<bool>,
    /// As the device names itself.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Version of its firmware, as it says itself.
    #[serde(default)]
    pub firmware: Option<String>,
    /// Worldwide name in the words of sysfs: `naa.5000c500a1b2c3d4`, `eui.0025385b71b00a1c`,
    /// of paths to one disk the same. Absent where it has none, or one that does not tell
    /// it from others.
    #[serde(default)]
    pub wwid: Option<String>,
    /// Revolutions per minute, as the drive itself states them; absent where it states
    /// none, or does not turn.
    #[serde(default)]
    pub rpm: Option<u32>,
    /// Level of a RAID or name of a mapping: `raid1`, `crypt`.
    pub layout: Option<String>,
    /// Whether a single write can be forced to the medium (`queue/fua`).
    #[serde(default)]
    pub fua: Option<bool>,
    /// Whether the kernel was told to count this device's I/O (`queue/iostats`). Where it
    /// was not, bio-based devices (device mapper, zram, bcache) may count all the same.
    #[serde(default)]
    pub counts_io: Option<bool>,
    /// What else uses it, besides the devices of this stack, a few words each:
    /// `mounted at /boot`, `swap`, `member of md0`.
    #[serde(default)]
    pub holders: Vec<String>,
    /// Size that the device asks requests to be a multiple of (a RAID's stripe),
    /// bytes; absent when it does not say (`queue/optimal_io_size` is 0).
    #[serde(default)]
    pub optimal_request_bytes: Option<u64>,
    /// Bytes by which its first byte is off the alignment of the disk below
    /// (`alignment_offset`); 0 is aligned, -1 cannot be aligned.
    #[serde(default)]
    pub alignment_offset_bytes: Option<i64>,
    /// Start within the device below, bytes; of partitions.
    pub start_bytes: Option<u64>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// Whether a loop device passes its file's page cache.
    pub backing_direct: Option<bool>,
    /// The kind of filesystem on which that file lies, where it could be followed.
    #[serde(default)]
    pub backing_filesystem: Option<String>,
    /// How a disk is attached; absent for what stands on other devices.
    #[serde(default)]
    pub transport: Option<Transport>,
    /// Why what presents itself as a disk is known to be none of hardware that is this
    /// machine's own, a sentence's end: `its model is QEMU HARDDISK`. Absent where nothing
    /// says so.
    #[serde(default)]
    pub virtual_by: Option<String>,
    /// What an array is made of.
    #[serde(default)]
    pub array: Option<Array>,
    /// Types of the targets of a device-mapper device, each once: `crypt`, `thin`; empty
    /// where the kernel does not tell (not root).
    #[serde(default)]
    pub targets: Vec<String>,
    /// How a cache in front of a device treats writes: `writeback`, `writethrough`
    /// (bcache, dm-cache).
    #[serde(default)]
    pub cache_mode: Option<String>,
    /// What of it is not sound.
    #[serde(default)]
    pub impaired: Vec<Impairment>,
}

impl BlockDevice {
    /// A device of which nothing but its identity is known.
    pub fn unknown(name: &str, major: u32, minor: u32, kind: DeviceKind) -> Self {
        Self {
            name: name.to_owned(),
            path: format!("/dev/{name}"),
            major,
            minor,
            kind,
            below: Vec::new(),
            size_bytes: None,
            logical_sector_bytes: None,
            physical_sector_bytes: None,
            rotational: None,
            write_cache: None,
            scheduler: None,
            schedulers: Vec::new(),
            read_ahead_bytes: None,
            max_request_bytes: None,
            nr_requests: None,
            hardware_queues: None,
            queue_depth: None,
            scheduler_idle_ns: None,
            zoned: None,
            zone_bytes: None,
            zones: None,
            open_zones_max: None,
            active_zones_max: None,
            read_only: None,
            model: None,
            serial: None,
            firmware: None,
            wwid: None,
            rpm: None,
            layout: None,
            fua: None,
            holders: Vec::new(),
            optimal_request_bytes: None,
            alignment_offset_bytes: None,
            counts_io: None,
            start_bytes: None,
            backing_file: None,
            backing_direct: None,
            backing_filesystem: None,
            transport: None,
            virtual_by: None,
            array: None,
            targets: Vec::new(),
            cache_mode: None,
            impaired: Vec::new(),
        }
    }

    /// A setting of its queue, as the kernel writes it; one that is none of those that
    /// stand here, or no number, is left.
    fn set(&mut self, setting: &str, value: &str) {
        let number = value.parse::<u64>().ok();
        let bytes = number.and_then(|kib| kib.checked_mul(1024));
        match setting {
            "scheduler" if self.scheduler.as_deref() != Some(value) => {
                self.scheduler = Some(value.to_owned());
                // Of the new one it is not known, unless it is asked for, too.
                self.scheduler_idle_ns = None;
            }
            "read_ahead_kb" => self.read_ahead_bytes = bytes.or(self.read_ahead_bytes),
            "max_sectors_kb" => self.max_request_bytes = bytes.or(self.max_request_bytes),
            "nr_requests" => self.nr_requests = number.or(self.nr_requests),
            "iosched/slice_idle" => {
                let ns = number.and_then(|ms| ms.checked_mul(1_000_000));
                self.scheduler_idle_ns = ns.or(self.scheduler_idle_ns);
            }
            "iosched/slice_idle_us" => {
                let ns = number.and_then(|us| us.checked_mul(1_000));
                self.scheduler_idle_ns = ns.or(self.scheduler_idle_ns);
            }
            _ => {}
        }
    }

    /// Whether it stands on no other device that is known.
    pub fn is_leaf(&self) -> bool {
        self.below.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(device: &str, name: &str, value: &str) -> SettingInForce {
        SettingInForce {
            device: Some(device.to_owned()),
            name: name.to_owned(),
            asked: value.to_owned(),
            before: None,
            in_force: Some(value.to_owned()),
            note: None,
        }
    }

    #[test]
    fn a_trial_sees_the_settings_that_were_in_force_in_it() {
        let mut part = BlockDevice::unknown("sda1", 8, 1, DeviceKind::Partition);
        part.below = vec!["sda".to_owned()];
        let mut disk = BlockDevice::unknown("sda", 8, 0, DeviceKind::Disk);
        disk.scheduler = Some("none".to_owned());
        disk.read_ahead_bytes = Some(131_072);
        disk.write_cache = Some("write back".to_owned());
        let stack = Stack {
            devices: vec![part, disk],
            ..Stack::default()
        };
        let mut machine = setting("", "vm/dirty_ratio", "5");
        machine.device = None;
        // In the order of the evidence: a scheduler before its own settings.
        let under = stack.under(&[
            machine,
            setting("sda", "scheduler", "bfq"),
            setting("sda", "nr_requests", "16"),
            setting("sda", "iosched/slice_idle", "8"),
            setting("sda", "read_ahead_kb", "16"),
            setting("sda", "write_cache", "write through"),
            setting("sdb", "max_sectors_kb", "4"),
        ]);
        for device in &under.devices {
            assert_eq!(device.scheduler.as_deref(), Some("bfq"));
            assert_eq!(device.scheduler_idle_ns, Some(8_000_000));
            assert_eq!(device.read_ahead_bytes, Some(16_384));
            assert_eq!(
                (device.nr_requests, device.max_request_bytes),
                (Some(16), None)
            );
        }
        // The drive has its cache all the same.
        assert_eq!(under.devices[1].write_cache, stack.devices[1].write_cache);
        assert_eq!(stack.under(&[]), stack);
    }
}
