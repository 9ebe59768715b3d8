//! Disks of each kind, by themselves.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, Stack, ensure};
use crate::guest::{Built, Guest};
use crate::product::{self, SYNCS};
use crate::wire;
use serde_json::{Value, json};

pub(super) const SCENARIOS: &[Scenario] = &[
    kind("virtio", &["d0"], Set::Short, |g| {
        whole(g, "d0", "virtio", &[])
    }),
    kind("nvme-512", &["nvme-512"], Set::Always, |g| {
        whole(g, "nvme-512", "nvme_pcie", &[])
    }),
    kind("nvme-4k", &["nvme-4k"], Set::Short, |g| {
        whole(g, "nvme-4k", "nvme_pcie", &[])
    }),
    kind("scsi-hdd", &["scsi-hdd"], Set::Short, |g| {
        whole(g, "scsi-hdd", "virtio", &["rpm: 7200"])
    }),
    kind("scsi-flash", &["scsi-flash"], Set::Short, |g| {
        whole(g, "scsi-flash", "virtio", &[])
    }),
    kind("scsi-4k", &["scsi-4k"], Set::Short, |g| {
        whole(g, "scsi-4k", "virtio", &[])
    }),
    kind("sata", &["sata"], Set::Short, |g| {
        whole(g, "sata", "sata", &[])
    }),
    kind("usb", &["usb"], Set::Short, |g| whole(g, "usb", "usb", &[])),
    Scenario {
        seconds: 20,
        ..kind("sd", &["sd"], Set::Short, |g| whole(g, "sd", "mmc", &[]))
    },
    Scenario {
        about: "a disk that the kernel does not write",
        ..kind("scsi-ro", &["scsi-ro"], Set::Short, read_only)
    },
    Scenario {
        about: "syncs reach a disk with a write cache as flushes, by QEMU's own count",
        ..kind("virtio-flushes", &["d1"], Set::Short, |g| {
            flushes(g, "d1", true)
        })
    },
    Scenario {
        about: "syncs of a disk without a write cache need no flush",
        ..kind("virtio-through", &["virtio-through"], Set::Short, |g| {
            flushes(g, "virtio-through", false)
        })
    },
    Scenario {
        about: "a host-managed zoned disk is only read",
        ..kind("nvme-zoned", &["nvme-zoned"], Set::Always, zoned)
    },
];

const fn kind(
    name: &'static str,
    disks: &'static [&'static str],
    set: Set,
    run: fn(&mut Guest) -> Built,
) -> Scenario {
    Scenario {
        name,
        about: "a disk of this kind, read and written",
        set,
        disks,
        seconds: 8,
        run,
    }
}

/// A disk that nobody uses: every byte that is issued is counted on it, and it is described
/// in these words. With data on it it is refused.
fn whole(guest: &mut Guest, name: &str, transport: &str, says: &[&str]) -> Built {
    let disk = guest.disk(name)?;
    let stack = Stack::new(&disk).writes(Leaves::Same);
    checks::examine(guest, &stack.transport(transport).says(says))?;
    checks::refused_with_data(guest, &disk)
}

fn read_only(guest: &mut Guest) -> Built {
    let disk = guest.disk("scsi-ro")?;
    let seen = product::devices(guest, &disk)?;
    guest.check(
        "it is shown as one that may not be written",
        ensure(seen["target"]["writable"] == false, || {
            seen["target"].to_string()
        }),
    );
    checks::refused(guest, &[Attempt::on(&disk).because("read-only")])?;
    checks::examine(guest, &Stack::new(&disk))
}

/// Syncs of known number; QEMU itself counts what arrives.
fn flushes(guest: &mut Guest, name: &str, cached: bool) -> Built {
    let disk = guest.disk(name)?;
    let mode = if cached {
        "write back"
    } else {
        "write through"
    };
    let seen = checks::shown(guest, &disk, &[&disk], &[mode])?;
    checks::attached_by(guest, &seen, "virtio");
    let before = counted_by_qemu(name)?;
    let run = product::measure(guest, &disk, SYNCS, &["--destroy-data-on", &disk])?;
    let document = run.whole()?;
    let arrived = counted_by_qemu(name)? - before;
    let said = checks::flushes(&document);
    let all = || format!("32 syncs, the run has {said} flushes, QEMU counted {arrived}");
    // The run may sync before and after its trials.
    let holds = if cached {
        said >= 32 && said <= arrived
    } else {
        said == 0 && arrived == 0
    };
    guest.check("flushes are what QEMU counted", ensure(holds, all));
    let claims = product::claims(&document);
    let volatile = claims.iter().any(|claim| claim == "sync-without-flush");
    guest.check(
        "syncs are not said to lack flushes",
        ensure(!volatile, || claims.join(", ")),
    );
    checks::refused_with_data(guest, &disk)
}

/// Flushes that a disk's backend has had.
fn counted_by_qemu(name: &str) -> Result<u64, String> {
    let all = wire::monitor(&json!({ "execute": "query-blockstats" }))?;
    let mut all = all.as_array().into_iter().flatten();
    let one = all.find(|stats| stats["device"] == name);
    let count = one.and_then(|stats| stats["stats"]["flush_operations"].as_u64());
    count.ok_or_else(|| format!("QEMU has no counters of {name}"))
}

fn zoned(guest: &mut Guest) -> Built {
    guest.tools(&[("mkfs.btrfs", "btrfs-progs")])?;
    let disk = guest.disk("nvme-zoned")?;
    checks::examine(guest, &Stack::new(&disk).says(&["host-managed"]))?;
    checks::refused(guest, &[Attempt::on(&disk).because("zone")])?;
    // Its superblock is in the zone log, not where btrfs has it elsewhere.
    guest.modules(&["btrfs"])?;
    guest.sh(&format!(
        "mkfs.btrfs -q -f -O zoned -d single -m single {disk}"
    ))?;
    // For its own sake, not only because the disk is zoned.
    checks::refused(guest, &[Attempt::on(&disk).because("Btrfs (zoned)")])?;
    let seen = product::devices(guest, &disk)?;
    let none = Vec::new();
    let obstacles = seen["target"]["obstacles"].as_array().unwrap_or(&none);
    let says = |word: &str| {
        let mut all = obstacles.iter().filter_map(Value::as_str);
        all.any(|text| text.to_lowercase().contains(word))
    };
    guest.check(
        "that it is zoned is an obstacle",
        ensure(says("zone"), || seen["target"].to_string()),
    );
    Ok(())
}
