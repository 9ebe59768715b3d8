//! Filesystems, mounted and measured as folders; their disks are refused.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, ensure};
use crate::guest::{Built, Guest};
use crate::product::{self, SYNCS};

pub(super) const SCENARIOS: &[Scenario] = &[
    kind("ext4", &["big0"], Set::Always, |g| {
        plain(
            g,
            "ext4",
            "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0",
            "e2fsprogs",
        )
    }),
    kind("xfs", &["big0"], Set::Short, |g| {
        plain(g, "xfs", "mkfs.xfs -qf", "xfsprogs")
    }),
    kind("f2fs", &["big0"], Set::Short, |g| {
        plain(g, "f2fs", "mkfs.f2fs -qf", "f2fs-tools")
    }),
    kind("vfat", &["big0"], Set::Long, |g| {
        plain(g, "vfat", "mkfs.vfat", "dosfstools")
    }),
    kind("btrfs", &["big0"], Set::Short, btrfs_synced),
    kind("btrfs-two", &["big0", "big1"], Set::Short, btrfs_two),
    Scenario {
        about: "a filesystem that has lost one of its devices says so first",
        ..kind(
            "btrfs-degraded",
            &["big0", "big1"],
            Set::Long,
            btrfs_degraded,
        )
    },
    kind("overlay", &["big0"], Set::Short, overlay),
];

const fn kind(
    name: &'static str,
    disks: &'static [&'static str],
    set: Set,
    run: fn(&mut Guest) -> Built,
) -> Scenario {
    Scenario {
        name,
        about: "a filesystem of this kind",
        set,
        disks,
        seconds: 20,
        run,
    }
}

fn plain(guest: &mut Guest, module: &str, make: &str, package: &str) -> Built {
    let tool = make.split(' ').next().unwrap_or_default();
    guest.tools(&[(tool, package)])?;
    guest.modules(&[module])?;
    let disk = guest.disk("big0")?;
    guest.sh(&format!("{make} {disk}"))?;
    let folder = guest.mount(&format!("-t {module}"), &disk)?;
    checks::examine_folder(guest, &folder, &[&disk], Leaves::AtLeast)?;
    guest.take_down()?;
    // Not mounted, it is data all the same.
    checks::refused(guest, &[Attempt::on(&disk)])
}

/// Syncs of a file must reach the disk as flushes, or the figure is none.
fn btrfs_synced(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.btrfs", "btrfs-progs")])?;
    guest.modules(&["btrfs"])?;
    let disk = guest.disk("big0")?;
    guest.sh(&format!("mkfs.btrfs -qf {disk}"))?;
    let folder = guest.mount("-t btrfs", &disk)?;
    let run = product::measure(guest, &folder, SYNCS, &["--size", "16MiB"])?;
    let document = run.whole()?;
    let no_figure = document["trials"].as_array().is_none_or(Vec::is_empty);
    let flushes = checks::flushes(&document);
    guest.check(
        "32 syncs are 32 flushes at least, or no figure",
        ensure(no_figure || flushes >= 32, || format!("{flushes} flushes")),
    );
    let left = guest.sh(&format!("ls -A {folder}"))?;
    guest.check(
        "no file is left in the folder",
        ensure(left.is_empty(), || left.clone()),
    );
    checks::examine_folder(guest, &folder, &[&disk], Leaves::AtLeast).map(drop)
}

/// Two copies of everything are not somebody else's work.
fn btrfs_two(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.btrfs", "btrfs-progs")])?;
    guest.modules(&["btrfs"])?;
    let (one, two) = (guest.disk("big0")?, guest.disk("big1")?);
    guest.sh(&format!("mkfs.btrfs -qf -d raid1 -m raid1 {one} {two}"))?;
    let folder = guest.mount("-t btrfs", &one)?;
    let seen = checks::examine_folder(guest, &folder, &[&one, &two], Leaves::AtLeast)?;
    let claims = seen.as_ref().map(product::claims).unwrap_or_default();
    let others = claims
        .iter()
        .any(|claim| claim == "other-io" || claim == "other-process");
    guest.check(
        "its own second copy is not others' I/O",
        ensure(!others, || claims.join(", ")),
    );
    Ok(())
}

/// One of two devices is gone, and it is mounted all the same.
fn btrfs_degraded(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.btrfs", "btrfs-progs")])?;
    guest.modules(&["btrfs"])?;
    let (one, two) = (guest.disk("big0")?, guest.disk("big1")?);
    guest.sh(&format!("mkfs.btrfs -qf -d raid1 -m raid1 {one} {two}"))?;
    // The kernel may have seen it, and would find it again.
    guest.sh(&format!(
        "dd if=/dev/zero of={two} bs=1M count=1 conv=fsync && btrfs device scan --forget"
    ))?;
    let folder = guest.mount("-t btrfs -o degraded", &one)?;
    checks::says_first(guest, &folder, &["1 of its 2 devices is missing"])?;
    guest.sh("sync")?;
    checks::refused(guest, &[Attempt::on(&one).because(&folder)])
}

fn overlay(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.ext4", "e2fsprogs")])?;
    guest.modules(&["overlay", "ext4"])?;
    let disk = guest.disk("big0")?;
    guest.sh(&format!(
        "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 {disk}"
    ))?;
    let base = guest.mount("", &disk)?;
    guest.sh(&format!("mkdir {base}/lower {base}/upper {base}/work"))?;
    let options =
        format!("-t overlay -o lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work");
    let folder = guest.mount(&options, "overlay")?;
    checks::examine_folder(guest, &folder, &[&disk], Leaves::AtLeast).map(drop)
}
