//! One block device with the settings that its speed may depend on.

use super::{mapper, md, transport, zones};
use crate::error::Error;
use crate::parse::diskstats::SECTOR_BYTES;
use crate::parse::sysfs_value::{parse_dm_uuid, parse_scheduler, parse_vpd_rpm, parse_vpd_serial};
use crate::roots::Roots;
use crate::sysfs::DeviceDir;
use diskfacts_record::{BlockDevice, DeviceKind, Impairment, ImpairmentKind, Unseen};
use std::io;

/// What the kernel knows of a device, without what stands below it.
///
/// A partition has no queue of its own: its settings are those of its disk,
/// which all its requests go through.
///
/// # Errors
/// When the folder of the whole disk cannot be opened.
pub(crate) fn describe(
    roots: &Roots,
    dir: &DeviceDir,
    unseen: &mut Vec<Unseen>,
) -> Result<BlockDevice, Error> {
    let kind = kind_of(dir);
    let whole = dir.whole_disk()?;
    let mut device = BlockDevice::unknown(&dir.name, dir.major, dir.minor, kind);
    device.path = node_path(roots, dir);

    let mut miss = |what: &str, error: &io::Error| {
        unseen.push(Unseen {
            what: format!("{} {what}", dir.name),
            why: match error.kind() {
                io::ErrorKind::NotFound => {
                    "this kernel does not show it for this device".to_owned()
                }
                _ => format!("reading it from sysfs failed: {error}"),
            },
        });
    };
    // The kernel counts `size` and `start` in 512 bytes whatever the sector is.
    match dir.number("size") {
        Ok(sectors) => device.size_bytes = sectors.checked_mul(SECTOR_BYTES),
        Err(error) => miss("size", &error),
    }
    device.start_bytes = dir
        .number("start")
        .ok()
        .and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
    device.read_only = dir.number("ro").ok().map(|value| value != 0);

    let queue = whole.as_ref().unwrap_or(dir);
    let number = |attribute: &str| queue.number(&format!("queue/{attribute}"));
    let sector = |attribute| {
        number(attribute).and_then(|bytes| {
            u32::try_from(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        })
    };
    match sector("logical_block_size") {
        Ok(bytes) => device.logical_sector_bytes = Some(bytes),
        Err(error) => miss("logical_sector", &error),
    }
    match sector("physical_block_size") {
        Ok(bytes) => device.physical_sector_bytes = Some(bytes),
        Err(error) => miss("physical_sector", &error),
    }
    match number("rotational") {
        Ok(value) => device.rotational = Some(value != 0),
        Err(error) => miss("rotational", &error),
    }
    match queue.text("queue/write_cache") {
        Ok(text) => device.write_cache = Some(text),
        Err(error) => miss("write_cache", &error),
    }
    match queue.text("queue/scheduler") {
        Ok(text) => (device.scheduler, device.schedulers) = parse_scheduler(&text),
        Err(error) => miss("scheduler", &error),
    }
    match number("read_ahead_kb") {
        Ok(kib) => device.read_ahead_bytes = kib.checked_mul(1024),
        Err(error) => miss("read_ahead", &error),
    }
    match number("max_sectors_kb") {
        Ok(kib) => device.max_request_bytes = kib.checked_mul(1024),
        Err(error) => miss("max_request", &error),
    }
    if let Err(error) = zones::describe(queue, &mut device) {
        miss("zoned", &error);
    }
    device.nr_requests = number("nr_requests").ok();
    (device.hardware_queues, device.queue_depth) = depth(queue);
    device.scheduler_idle_ns = scheduler_idle(queue);
    // 0 means that the device does not say.
    device.optimal_request_bytes = number("optimal_io_size").ok().filter(|bytes| *bytes > 0);
    device.alignment_offset_bytes = dir
        .text("alignment_offset")
        .ok()
        .and_then(|bytes| bytes.parse().ok());
    device.fua = number("fua").ok().map(|value| value != 0);
    device.counts_io = number("iostats").ok().map(|value| value != 0);

    let disk = whole.as_ref().unwrap_or(dir);
    states(disk, &mut device);
    device.layout = layout(dir);
    if kind == DeviceKind::Loop {
        device.backing_file = dir.optional_text("loop/backing_file");
        device.backing_direct = dir.number("loop/dio").ok().map(|value| value != 0);
    }
    transport::look(disk, &mut device);
    match kind {
        DeviceKind::SoftwareRaid => md::look(dir, &mut device),
        DeviceKind::DeviceMapper => mapper::look(roots.live(), dir, &mut device, unseen),
        DeviceKind::Disk => device.impaired.extend(offline(dir)),
        _ => bcache(dir, &mut device),
    }
    if kind == DeviceKind::Zram
        && let Some(backing) = dir.optional_text("backing_dev")
        && backing != "none"
    {
        unseen.push(Unseen {
            what: format!("{} backing device", dir.name),
            why: format!(
                "pages may be moved to {backing} when they are idle or do not compress; that \
                 device is not followed"
            ),
        });
    }
    Ok(device)
}

/// A disk that its driver gave up: `device/state` of SCSI and `NVMe`.
///
/// Source: kernel, `drivers/scsi/scsi_sysfs.c`, `drivers/nvme/host/sysfs.c`.
fn offline(disk: &DeviceDir) -> Option<Impairment> {
    const GONE: [&str; 6] = [
        "offline",
        "transport-offline",
        "dead",
        "connecting",
        "deleting",
        "cancel",
    ];
    let state = disk.optional_text("device/state")?;
    GONE.contains(&state.as_str()).then(|| Impairment {
        kind: ImpairmentKind::Failed,
        what: format!("its driver says that it is {state}"),
        source: format!("device/state is {state}"),
    })
}

/// How bcache treats writes, and whether its cache fits what it lies in front of.
///
/// Source: kernel, `Documentation/admin-guide/bcache.rst`.
fn bcache(dir: &DeviceDir, device: &mut BlockDevice) {
    let Some(modes) = dir.optional_text("bcache/cache_mode") else {
        return;
    };
    let (mode, _) = parse_scheduler(&modes);
    match dir.optional_text("bcache/state").as_deref() {
        Some("no cache") => device.cache_mode = Some("no cache attached".to_owned()),
        Some("inconsistent") => {
            device.cache_mode = mode;
            device.impaired.push(Impairment {
                kind: ImpairmentKind::Failed,
                what: "data that only the cache had is lost".to_owned(),
                source: "bcache/state is inconsistent".to_owned(),
            });
        }
        _ => device.cache_mode = mode,
    }
}

/// Queues between the kernel and a disk, and the requests that the disk takes at a
/// time over all of them.
///
/// A SCSI disk has a depth of its own; others are given a tag for each request
/// under way (kernel, `block/blk-mq-sysfs.c`).
fn depth(disk: &DeviceDir) -> (Option<u64>, Option<u64>) {
    let tags: Vec<Option<u64>> = disk
        .entries("mq")
        .iter()
        .map(|queue| disk.number(&format!("mq/{queue}/nr_tags")).ok())
        .collect();
    let queues = (!tags.is_empty()).then_some(tags.len() as u64);
    let of_tags = tags.into_iter().sum::<Option<u64>>().filter(|sum| *sum > 0);
    let own = disk.number("device/queue_depth").ok();
    (queues, own.or(of_tags))
}

/// How long cfq or bfq keep the disk idle: `slice_idle_us`, else `slice_idle` in
/// milliseconds.
fn scheduler_idle(disk: &DeviceDir) -> Option<u64> {
    let of = |file: &str, unit_ns: u64| {
        let value = disk.number(&format!("queue/iosched/{file}")).ok()?;
        value.checked_mul(unit_ns)
    };
    of("slice_idle_us", 1_000).or_else(|| of("slice_idle", 1_000_000))
}

fn kind_of(dir: &DeviceDir) -> DeviceKind {
    if dir.has("partition") {
        DeviceKind::Partition
    } else if dir.has("dm") {
        DeviceKind::DeviceMapper
    } else if dir.has("md") {
        DeviceKind::SoftwareRaid
    } else if dir.has("loop") || dir.name.starts_with("loop") {
        // The folder exists only while a file is attached.
        DeviceKind::Loop
    } else if dir.name.starts_with("zram") {
        DeviceKind::Zram
    } else if dir
        .path
        .parent()
        .is_some_and(|parent| parent.ends_with("virtual/block"))
    {
        // Network, memory and user-space devices: nbd, rbd, ram, ublk, bcache.
        // A disk of NVMe multipath is virtual too, but stands elsewhere.
        DeviceKind::Other
    } else {
        DeviceKind::Disk
    }
}

/// The node that people know it by: for device mapper the one by its name,
/// where it exists.
fn node_path(roots: &Roots, dir: &DeviceDir) -> String {
    let mapper = dir
        .optional_text("dm/name")
        .map(|name| roots.dev.join("mapper").join(name))
        .filter(|path| path.exists());
    mapper
        .unwrap_or_else(|| roots.node(&dir.name))
        .display()
        .to_string()
}

/// SCSI and `NVMe` have `device/model`, MMC `device/name`. The vendor is said
/// too, unless it is only the bus (`ATA`) or a number (virtio).
fn model(disk: &DeviceDir) -> Option<String> {
    let model = disk
        .optional_text("device/model")
        .or_else(|| disk.optional_text("device/name"))?;
    let vendor = disk
        .optional_text("device/vendor")
        .filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    Some(match vendor {
        Some(vendor) if !model.starts_with(&vendor) => format!("{vendor} {model}"),
        _ => model,
    })
}

/// virtio-blk has `serial` on the disk itself, `NVMe` and MMC on the device, SCSI
/// and ATA only inside a page of vital product data.
/// What a whole disk says of itself.
fn states(disk: &DeviceDir, device: &mut BlockDevice) {
    device.model = model(disk);
    device.serial = serial(disk);
    device.firmware = firmware(disk);
    device.wwid = crate::usage::wwid(disk);
    let characteristics = disk.optional_bytes("device/vpd_pgb1");
    device.rpm = characteristics.and_then(|page| parse_vpd_rpm(&page));
}

fn serial(disk: &DeviceDir) -> Option<String> {
    disk.optional_text("serial")
        .or_else(|| disk.optional_text("device/serial"))
        .or_else(|| parse_vpd_serial(&disk.optional_bytes("device/vpd_pg80")?))
}

/// `NVMe` has `device/firmware_rev`, MMC `device/fwrev`, SCSI and ATA the four characters of
/// `device/rev` that an inquiry has room for.
fn firmware(disk: &DeviceDir) -> Option<String> {
    ["device/firmware_rev", "device/fwrev", "device/rev"]
        .iter()
        .find_map(|file| disk.optional_text(file))
}

fn layout(dir: &DeviceDir) -> Option<String> {
    match dir.optional_text("md/level") {
        Some(level) => Some(level),
        None => parse_dm_uuid(&dir.optional_text("dm/uuid")?),
    }
}
