//! Data that is easily overseen: swap, partitions, files under loop devices,
//! copies of filesystems whose beginning is gone.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, Stack, ensure};
use crate::guest::{Built, Guest, until};
use crate::product::{self, Stage};

pub(super) const SCENARIOS: &[Scenario] = &[
    kind(
        "swap",
        "a disk and a file that memory is swapped to",
        &["d0", "big0"],
        swap,
    ),
    kind(
        "partitions",
        "partitions, their disk, and those that overlap",
        &["d0"],
        partitions,
    ),
    kind(
        "loop-hidden",
        "a file under a loop device that no path leads to",
        &["big0"],
        hidden,
    ),
    kind(
        "loop-overlap",
        "two loop devices over one file",
        &["big0"],
        overlap,
    ),
    kind(
        "copies",
        "filesystems whose beginning was overwritten",
        &["big0"],
        copies,
    ),
];

const fn kind(
    name: &'static str,
    about: &'static str,
    disks: &'static [&'static str],
    run: fn(&mut Guest) -> Built,
) -> Scenario {
    Scenario {
        name,
        about,
        set: Set::Short,
        disks,
        seconds: 14,
        run,
    }
}

/// A folder on a disk, with ext4 below.
fn folder(guest: &mut Guest) -> Built<String> {
    guest.tools(&[("mkfs.ext4", "e2fsprogs"), ("losetup", "mount")])?;
    guest.modules(&["loop", "ext4"])?;
    let disk = guest.disk("big0")?;
    guest.sh(&format!(
        "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 {disk}"
    ))?;
    guest.mount("", &disk)
}

fn swap(guest: &mut Guest) -> Built {
    guest.tools(&[("mkswap", "util-linux"), ("swapon", "mount")])?;
    let disk = guest.disk("d0")?;
    guest.sh(&format!("mkswap {disk} && swapon {disk}"))?;
    guest.later(&format!("swapoff {disk}"));
    checks::refused(guest, &[Attempt::on(&disk).because("swap")])?;
    let folder = folder(guest)?;
    let file = format!("{folder}/with a blank");
    guest.sh(&format!(
        "dd if=/dev/zero of='{file}' bs=1M count=8 conv=fsync; chmod 600 '{file}'; \
         mkswap '{file}' && swapon '{file}'"
    ))?;
    guest.later(&format!("swapoff '{file}'"));
    checks::refused(guest, &[Attempt::on(&file).because("swap")])
}

fn partitions(guest: &mut Guest) -> Built {
    guest.tools(&[("sfdisk", "fdisk"), ("mkfs.ext4", "e2fsprogs")])?;
    guest.modules(&["ext4"])?;
    let disk = guest.disk("d0")?;
    let table = guest.file("table", "label: gpt\nsize=16M\nsize=16M\n")?;
    guest.sh(&format!("sfdisk -q {disk} < {table}"))?;
    let (one, two) = (format!("{disk}1"), format!("{disk}2"));
    let there = until(|| std::path::Path::new(&two).exists().then_some(()));
    there.ok_or_else(|| format!("there is no {two}"))?;
    // Empty, and nobody's: it may be written, its disk may not.
    let stack = Stack::new(&two).writes(Leaves::Same).members(&[&disk]);
    checks::examine(guest, &stack)?;
    guest.sh(&format!("mkfs.ext4 -qF {one}"))?;
    checks::refused(guest, &[Attempt::on(&one), Attempt::on(&disk)])?;
    let folder = guest.mount("", &one)?;
    guest.sh("sync")?;
    checks::refused(
        guest,
        &[Attempt::on(&one).because(&folder), Attempt::on(&disk)],
    )
}

/// The path that sysfs has of a loop device's file is gone: the file is not.
fn hidden(guest: &mut Guest) -> Built {
    let folder = folder(guest)?;
    guest.sh(&format!(
        "cd {folder}; dd if=/dev/zero of=hl bs=1M count=24 conv=fsync; ln hl hl2; \
         losetup /dev/loop6 hl; mkfs.ext4 -qF /dev/loop6"
    ))?;
    guest.later("losetup -d /dev/loop6");
    guest.mount("", "/dev/loop6")?;
    guest.sh(&format!("rm {folder}/hl; sync"))?;
    let other = format!("{folder}/hl2");
    checks::refused(guest, &[Attempt::on(&other).because("loop")])?;
    checks::refused(guest, &[Attempt::on("/dev/loop6")])
}

fn overlap(guest: &mut Guest) -> Built {
    let folder = folder(guest)?;
    guest.sh(&format!(
        "cd {folder}; dd if=/dev/zero of=f bs=1M count=48 conv=fsync; \
         losetup /dev/loop5 f; losetup -o 1048576 --sizelimit 20971520 /dev/loop6 f; \
         losetup -o 25165824 /dev/loop7 f; \
         mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 /dev/loop6"
    ))?;
    guest.later("losetup -d /dev/loop5 || true; losetup -d /dev/loop6; losetup -d /dev/loop7");
    guest.mount("", "/dev/loop6")?;
    guest.sh("sync")?;
    // The first covers the mounted one; the third lies behind it and is free.
    let attempts = [
        Attempt::on("/dev/loop5"),
        Attempt::on("/dev/loop6"),
        Attempt::on(&format!("{folder}/f")),
    ];
    checks::refused(guest, &attempts)?;
    // As long as the first is there, the filesystem on it is behind a device that has
    // these bytes too, and how far it reaches is not worked out.
    guest.sh("losetup -d /dev/loop5")?;
    let plan = product::plan(&[Stage::Writes]);
    let free = product::measure(
        guest,
        "/dev/loop7",
        &plan,
        &["--destroy-data-on", "/dev/loop7"],
    )?;
    let found = ensure(free.ended.ok(), || free.ended.summary());
    guest.check("what does not overlap may be written", found);
    Ok(())
}

/// The kinds that keep copies, and how one is made.
const COPIES: &[(&str, &str, &str)] = &[
    ("ext4", "mkfs.ext4 -qF -b 1024", "e2fsprogs"),
    ("xfs", "mkfs.xfs -qf", "xfsprogs"),
    ("btrfs", "mkfs.btrfs -qf", "btrfs-progs"),
    ("FAT", "mkfs.vfat -F 32", "dosfstools"),
];

/// What somebody wants to recover is data.
fn copies(guest: &mut Guest) -> Built {
    for (kind, make, package) in COPIES {
        let tool = make.split(' ').next().unwrap_or_default();
        guest.tools(&[(tool, package)])?;
        let disk = guest.disk("big0")?;
        // The backups of FAT begin 3 KiB in, those of the others much later.
        let gone = if *kind == "FAT" { 1 } else { 96 };
        guest.sh(&format!(
            "{make} {disk} >/dev/null && \
             dd if=/dev/zero of={disk} bs=1024 count={gone} conv=fsync,notrunc"
        ))?;
        checks::refused(guest, &[Attempt::on(&disk).because(kind)])?;
    }
    Ok(())
}
