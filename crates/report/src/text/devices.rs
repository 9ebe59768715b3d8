//! The stack as a tree: `diskfacts devices [TARGET]`.
//!
//! A device stands indented below what stands on it, with the word "on".

use super::look::{Look, Style};
use super::page::Page;
use super::unseen;
use diskfacts_plan::units::{exact_size, show_size};
use diskfacts_record::{
    Array, BlockDevice, DeviceKind, Filesystem, Impairment, Stack, Target, TargetKind, Zoned,
};

/// The filesystem of a target and the devices under it with their settings;
/// or all devices of a machine, each below those that stand on it.
pub fn devices(target: Option<&Target>, stack: &Stack, look: &Look) -> String {
    let mut page = Page::new(look);
    if let Some(target) = target {
        self::target(&mut page, target);
    }
    let sentences = impairments(stack);
    if !sentences.is_empty() {
        for sentence in sentences {
            page.paragraph(0, Style::Bad, &sentence);
        }
        page.blank();
    }
    let mut depth = 0;
    if let Some(filesystem) = &stack.filesystem {
        self::filesystem(&mut page, filesystem);
        depth = 1;
    }
    if stack.devices.is_empty() {
        page.paragraph(2 * depth, Style::Plain, "on no known block device");
    }
    let mut tree = Tree {
        stack,
        described: Vec::new(),
    };
    let tops = stack.devices.iter().filter(|device| {
        let above = |other: &BlockDevice| other.below.contains(&device.name);
        !stack.devices.iter().any(above)
    });
    for (i, top) in tops.enumerate() {
        if i > 0 {
            page.blank();
        }
        tree.device(&mut page, depth, top);
    }
    let unseen_all: Vec<_> = stack.unseen.iter().collect();
    unseen::write(&mut page, unseen_all);
    page.finish()
}

/// What of a stack is not sound, a sentence each; the first word is in capitals.
fn impairments(stack: &Stack) -> Vec<String> {
    let sentence = |(name, found): (&str, &Impairment)| {
        let kind = found.kind.words().to_uppercase();
        format!("{kind}: {name}: {} ({}).", found.what, found.source)
    };
    stack.impairments().map(sentence).collect()
}

fn target(page: &mut Page<'_>, target: &Target) {
    let kind = match target.kind {
        TargetKind::Folder => "a folder",
        TargetKind::File => "a file",
        TargetKind::Device => "a block device",
        TargetKind::Simulated => "a simulated disk",
        TargetKind::Stream => "a stream",
        TargetKind::Loop => "a loop device of diskfacts",
        TargetKind::Imported => "a document",
    };
    let access = if target.writable {
        "may be written"
    } else {
        "may only be read"
    };
    let text = match target.kind {
        // What fits into it is told with the filesystem.
        TargetKind::Folder => format!("{kind}, {access}"),
        _ => format!("{kind}, {}, {access}", show_size(target.size_bytes)),
    };
    page.titled(
        0,
        (Style::Heading, &format!("{}:", target.path)),
        4,
        Style::Plain,
        &text,
    );
    for obstacle in &target.obstacles {
        page.paragraph(4, Style::Plain, obstacle);
    }
    if let Some(direct) = target.direct {
        let text = if direct.offset_alignment_bytes == 0 {
            "it refuses direct I/O".to_owned()
        } else {
            format!(
                "direct I/O needs offsets and lengths that are multiples of {}, and buffers \
                 aligned to {}",
                setting(u64::from(direct.offset_alignment_bytes)),
                setting(u64::from(direct.memory_alignment_bytes)),
            )
        };
        page.paragraph(4, Style::Plain, &text);
    }
    page.blank();
}

fn filesystem(page: &mut Page<'_>, filesystem: &Filesystem) {
    page.titled(
        0,
        (Style::Heading, &format!("{}:", filesystem.mount_point)),
        4,
        Style::Plain,
        &identity_of_filesystem(filesystem),
    );
    for detail in details_of_filesystem(filesystem) {
        page.paragraph(4, Style::Plain, &detail);
    }
}

/// What it is, and how large.
pub(crate) fn identity_of_filesystem(filesystem: &Filesystem) -> String {
    let mut parts = vec![filesystem.kind.clone()];
    if filesystem.read_only {
        parts.push("read-only".to_owned());
    }
    parts.extend(filesystem.size_bytes.map(show_size));
    parts.extend(
        filesystem
            .available_bytes
            .map(|bytes| format!("{} available", show_size(bytes))),
    );
    parts.join(", ")
}

/// How it is mounted, and how it keeps data: a line each.
pub(crate) fn details_of_filesystem(filesystem: &Filesystem) -> Vec<String> {
    let source = &filesystem.source;
    let mounted = if filesystem.options.is_empty() {
        format!("mounted from {source}")
    } else {
        format!(
            "mounted from {source} with {}",
            filesystem.options.join(", ")
        )
    };
    let mut lines = vec![mounted];
    if !filesystem.data_profiles.is_empty() {
        let profiles = filesystem.data_profiles.join(", ");
        lines.push(format!("data kept as {profiles}"));
    }
    lines
}

struct Tree<'a> {
    stack: &'a Stack,
    /// Names of the devices that were described: one may carry several others.
    described: Vec<&'a str>,
}

impl<'a> Tree<'a> {
    fn device(&mut self, page: &mut Page<'_>, depth: usize, device: &'a BlockDevice) {
        let indent = 2 * depth;
        let on = if depth == 0 { "" } else { "on " };
        let label = format!("{on}{}:", device.name);
        if self.described.contains(&device.name.as_str()) {
            page.titled(
                indent,
                (Style::Heading, &label),
                4,
                Style::Plain,
                "described above",
            );
            return;
        }
        self.described.push(&device.name);
        page.titled(
            indent,
            (Style::Heading, &label),
            4,
            Style::Plain,
            &identity(device),
        );
        for detail in details(device) {
            page.paragraph(indent + 4, Style::Plain, &detail);
        }
        for name in &device.below {
            match self.stack.device(name) {
                Some(below) => self.device(page, depth + 1, below),
                None => page.paragraph(indent + 2, Style::Plain, &format!("on {name}: unknown")),
            }
        }
    }
}

/// What it is, how large, and who made it.
pub(crate) fn identity(device: &BlockDevice) -> String {
    let kind = match device.kind {
        DeviceKind::Disk => "disk",
        DeviceKind::Partition => "partition",
        DeviceKind::DeviceMapper => "device mapper",
        DeviceKind::SoftwareRaid => "software RAID",
        DeviceKind::Loop => "loop device",
        DeviceKind::Zram => "compressed memory",
        DeviceKind::Simulated => "simulated disk",
        DeviceKind::Other => "block device",
    };
    let mut parts = vec![match &device.layout {
        Some(layout) => format!("{kind} ({layout})"),
        None => kind.to_owned(),
    }];
    // A file or memory says so by its kind.
    let attached = matches!(device.kind, DeviceKind::Disk | DeviceKind::Other);
    parts.extend(
        device
            .transport
            .filter(|_| attached)
            .map(|transport| transport.words().to_owned()),
    );
    parts.extend(device.size_bytes.map(show_size));
    parts.extend(
        device
            .rotational
            .filter(|_| device.is_leaf())
            .map(|rotational| {
                if rotational {
                    turning(device)
                } else {
                    "not rotating".to_owned()
                }
            }),
    );
    parts.extend(device.model.clone());
    parts.extend(
        device
            .serial
            .as_ref()
            .map(|serial| format!("serial {serial}")),
    );
    if device.read_only == Some(true) {
        parts.push("read-only".to_owned());
    }
    parts.push(match device.kind {
        DeviceKind::Simulated => device.path.clone(),
        _ => format!("{} ({}:{})", device.path, device.major, device.minor),
    });
    parts.join(", ")
}

/// `rotating`, and how fast, where the drive states it.
fn turning(device: &BlockDevice) -> String {
    match device.rpm {
        Some(rpm) => format!("rotating at {rpm} rpm"),
        None => "rotating".to_owned(),
    }
}

/// Its settings, a line for each matter. A partition has the queue of its disk,
/// so they are told once, with the disk.
pub(crate) fn details(device: &BlockDevice) -> Vec<String> {
    let mut lines = vec![made_of(device)];
    if device.kind != DeviceKind::Partition || device.is_leaf() {
        lines.extend([
            sizes(device),
            zones(device),
            queue(device),
            write_cache(device),
        ]);
    }
    lines.push(place(device));
    if !device.holders.is_empty() {
        lines.push(format!("in use: {}", device.holders.join("; ")));
    }
    if device.counts_io == Some(false) {
        lines.push(
            "the kernel was told not to count its I/O (queue/iostats is 0); its counters are \
             believed only if they move"
                .to_owned(),
        );
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// What an array or mapping is made of, and what a disk is known not to be.
fn made_of(device: &BlockDevice) -> String {
    let mut parts = Vec::new();
    // The layout says `crypt` already.
    let known = device
        .layout
        .iter()
        .chain(device.array.iter().map(|array| &array.level));
    let known: Vec<&String> = known.collect();
    if device.targets.iter().any(|target| !known.contains(&target)) {
        parts.push(format!("made of {}", device.targets.join(", ")));
    }
    if let Some(Array {
        level,
        members,
        chunk_bytes,
        layout,
        consistency,
        ..
    }) = &device.array
    {
        let what = if level == "multipath" {
            "paths"
        } else {
            "members"
        };
        if device.layout.as_ref() != Some(level) && level != "multipath" {
            parts.push(level.clone());
        }
        parts.push(format!("{members} {what}"));
        parts.extend(chunk_bytes.map(|bytes| format!("chunks of {}", setting(bytes))));
        parts.extend(layout.clone());
        parts.extend(consistency.iter().map(|how| format!("consistent by {how}")));
    }
    let mode = device.cache_mode.iter();
    parts.extend(mode.map(|mode| format!("cache: {mode}")));
    // That a loop device is a file is said by its kind.
    if let (Some(why), DeviceKind::Disk | DeviceKind::Other) = (&device.virtual_by, device.kind) {
        parts.push(format!("not a drive of this machine: {why}"));
    }
    parts.join(", ")
}

/// A size that was set to something exact: `1280 KiB`, not `1.2 MiB`.
fn setting(bytes: u64) -> String {
    let exact = exact_size(bytes);
    let digits = exact.bytes().take_while(u8::is_ascii_digit).count();
    format!("{} {}", &exact[..digits], &exact[digits..])
}

fn sizes(device: &BlockDevice) -> String {
    let mut parts = Vec::new();
    match (device.logical_sector_bytes, device.physical_sector_bytes) {
        (Some(logical), Some(physical)) if logical == physical => {
            parts.push(format!("sectors of {}", setting(u64::from(logical))));
        }
        (Some(logical), Some(physical)) => parts.push(format!(
            "sectors of {} logical and {} physical",
            setting(u64::from(logical)),
            setting(u64::from(physical))
        )),
        (Some(logical), None) => {
            parts.push(format!(
                "sectors of {} logical",
                setting(u64::from(logical))
            ));
        }
        _ => {}
    }
    parts.extend(
        device
            .max_request_bytes
            .map(|bytes| format!("requests of up to {}", setting(bytes))),
    );
    parts.extend(
        device
            .optimal_request_bytes
            .map(|bytes| format!("best in multiples of {}", setting(bytes))),
    );
    parts.join(", ")
}

/// `zoned, host-managed: 64 zones of 256 MiB, at most 14 open and 14 active`.
fn zones(device: &BlockDevice) -> String {
    let kind = match device.zoned {
        Some(Zoned::HostAware) => "host-aware",
        Some(Zoned::HostManaged) => "host-managed (written in order only)",
        None => return String::new(),
    };
    let size = device
        .zone_bytes
        .map(|bytes| format!("zones of {}", setting(bytes)));
    let mut parts: Vec<String> = match (device.zones, size) {
        (Some(count), Some(size)) => vec![format!("{count} {size}")],
        (Some(count), None) => vec![format!("{count} zones")],
        (None, size) => size.into_iter().collect(),
    };
    // 0 is any number.
    let limit = |max: Option<u64>, what: &str| {
        max.filter(|max| *max > 0)
            .map(|max| format!("at most {max} {what}"))
    };
    parts.extend(limit(device.open_zones_max, "open"));
    parts.extend(limit(device.active_zones_max, "active"));
    if parts.is_empty() {
        format!("zoned, {kind}")
    } else {
        format!("zoned, {kind}: {}", parts.join(", "))
    }
}

fn queue(device: &BlockDevice) -> String {
    let mut parts = Vec::new();
    if let Some(scheduler) = &device.scheduler {
        let others: Vec<&str> = device
            .schedulers
            .iter()
            .map(String::as_str)
            .filter(|other| other != scheduler)
            .collect();
        parts.push(if others.is_empty() {
            format!("scheduler {scheduler}")
        } else {
            format!("scheduler {scheduler} (could be {})", others.join(", "))
        });
    }
    parts.extend(device.nr_requests.map(|n| format!("queue of {n} requests")));
    parts.extend(
        device
            .read_ahead_bytes
            .map(|bytes| format!("read-ahead {}", setting(bytes))),
    );
    parts.join(", ")
}

fn write_cache(device: &BlockDevice) -> String {
    let cache = match device.write_cache.as_deref() {
        Some("write back") => "write back (volatile: a power failure loses what was not synced)",
        Some("write through") => "write through (no volatile cache)",
        Some(other) => other,
        None => return String::new(),
    };
    let fua = match device.fua {
        Some(true) => ", FUA writes",
        Some(false) => ", no FUA writes",
        None => "",
    };
    format!("write cache: {cache}{fua}")
}

/// Where it lies in what is below it.
fn place(device: &BlockDevice) -> String {
    let mut parts = Vec::new();
    let sector = u64::from(device.physical_sector_bytes.unwrap_or(0));
    if let Some(start) = device.start_bytes {
        parts.push(if sector == 0 {
            format!("starts at {}", setting(start))
        } else if start.is_multiple_of(sector) {
            format!("starts at {}, aligned to its sectors", setting(start))
        } else {
            format!(
                "NOT ALIGNED: starts at {}, within a physical sector of {}, so that writes of \
                 whole sectors make the disk read first",
                setting(start),
                setting(sector)
            )
        });
    }
    match device.alignment_offset_bytes {
        None | Some(0) => {}
        Some(offset) if offset > 0 => parts.push(format!(
            "NOT ALIGNED: {offset} bytes off the alignment of the disk below"
        )),
        Some(_) => parts.push("NOT ALIGNED: it cannot be aligned to the disks below".to_owned()),
    }
    if let Some(file) = &device.backing_file {
        parts.push(match device.backing_direct {
            Some(true) => format!("backed by {file}, bypassing the page cache"),
            Some(false) => format!("backed by {file}, through the page cache"),
            None => format!("backed by {file}"),
        });
    }
    parts.join(", ")
}
