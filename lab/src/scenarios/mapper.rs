//! Mappings of device mapper, by their tables.

use super::{Scenario, Set};
use crate::checks::{self, Attempt, Leaves, Stack, ensure};
use crate::guest::{self, Built, Guest, Trouble};
use crate::product::{self, SYNCS, Stage};
use crate::sysfs;
use std::time::{Duration, Instant};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "dm-linear",
        about: "a mapping of one disk",
        set: Set::Always,
        disks: &["d0"],
        seconds: 8,
        run: linear,
    },
    Scenario {
        name: "dm-striped",
        about: "a mapping over two disks in turn",
        set: Set::Short,
        disks: &["d0", "d1"],
        seconds: 9,
        run: striped,
    },
    Scenario {
        name: "dm-delay",
        about: "a mapping that answers later",
        set: Set::Short,
        disks: &["d0"],
        seconds: 9,
        run: delay,
    },
    Scenario {
        name: "dm-flakey-errors",
        about: "a mapping whose writes and reads fail",
        set: Set::Short,
        disks: &["d0"],
        seconds: 9,
        run: flakey_errors,
    },
    Scenario {
        name: "dm-flakey-writes",
        about: "a mapping whose writes fail, and whose reads do not",
        set: Set::Short,
        disks: &["d0"],
        seconds: 9,
        run: flakey_writes,
    },
    Scenario {
        name: "dm-flakey-dropped",
        about: "a mapping that swallows writes: no disk took part",
        set: Set::Always,
        disks: &["d0"],
        seconds: 9,
        run: flakey_dropped,
    },
    Scenario {
        name: "dm-zero",
        about: "a mapping without any disk",
        set: Set::Long,
        disks: &[],
        seconds: 6,
        run: zero,
    },
    Scenario {
        name: "dm-suspended",
        about: "a mapping that blocks whoever opens it: nothing may hang",
        set: Set::Short,
        disks: &["d0"],
        seconds: 12,
        run: suspended,
    },
    Scenario {
        name: "dm-multipath",
        about: "two paths to one disk, one of them held",
        set: Set::Short,
        disks: &["paths"],
        seconds: 12,
        run: multipath,
    },
    Scenario {
        name: "dm-multipath-dead",
        about: "a multipath without paths: nothing may hang",
        set: Set::Short,
        disks: &["paths"],
        seconds: 38,
        run: multipath_dead,
    },
    Scenario {
        name: "dm-snapshot",
        about: "a snapshot of a mapping, and its origin",
        set: Set::Short,
        disks: &["d0", "d1"],
        seconds: 12,
        run: snapshot,
    },
    Scenario {
        name: "dm-thin",
        about: "a thin volume: what is not provisioned is answered by itself",
        set: Set::Always,
        disks: &["d0", "d1"],
        seconds: 14,
        run: thin,
    },
    Scenario {
        name: "dm-integrity",
        about: "a mapping with a sum for each sector",
        set: Set::Long,
        disks: &["d0"],
        seconds: 14,
        run: integrity,
    },
    Scenario {
        name: "dm-writecache",
        about: "a cache of writes on another disk",
        set: Set::Long,
        disks: &["d0", "d1"],
        seconds: 12,
        run: writecache,
    },
];

/// Sectors of a device.
pub(crate) fn sectors(device: &str) -> Built<u64> {
    let name = sysfs::name_of(device)?;
    let size = sysfs::number(&name, "size");
    size.ok_or_else(|| Trouble::Failed(format!("{device} has no size in sysfs")))
}

fn linear(guest: &mut Guest) -> Built {
    guest.modules(&["dm_mod"])?;
    let disk = guest.disk("d0")?;
    let length = sectors(&disk)? - 2048;
    let top = guest.mapping("m0", &format!("0 {length} linear {disk} 2048"))?;
    let stack = Stack::new(&top).writes(Leaves::Same).members(&[&disk]);
    checks::examine(guest, &stack.says(&["linear"]))
}

fn striped(guest: &mut Guest) -> Built {
    guest.modules(&["dm_mod"])?;
    let (one, two) = (guest.disk("d0")?, guest.disk("d1")?);
    let table = format!("0 163840 striped 2 128 {one} 0 {two} 0");
    let top = guest.mapping("m0", &table)?;
    let stack = Stack::new(&top).writes(Leaves::Same).members(&[&one, &two]);
    checks::examine(guest, &stack.says(&["striped"]))
}

fn delay(guest: &mut Guest) -> Built {
    guest.modules(&["dm_delay"])?;
    let disk = guest.disk("d0")?;
    let table = format!("0 {} delay {disk} 0 3 {disk} 0 5", sectors(&disk)?);
    let top = guest.mapping("m0", &table)?;
    let stack = Stack::new(&top).writes(Leaves::Same).members(&[&disk]);
    checks::examine(guest, &stack.says(&["delay"]))?;
    let run = product::measure(guest, &top, &product::plan(&[Stage::Reads]), &[])?;
    let document = run.whole()?;
    let budget = &document["figures"][0]["budget"];
    let part = |name: &str| -> f64 {
        let mut parts = budget["parts"].as_array().into_iter().flatten();
        let found = parts.find(|part| part["part"] == name);
        found
            .and_then(|part| part["mean_ns"].as_f64())
            .unwrap_or(0.0)
    };
    // Timers are never early; without events it is not told from the disk.
    let delayed = part("mapping") + part("block-layer") >= 2.9e6;
    let elsewhere = part("completion") + part("scheduler") >= 2.9e6;
    guest.check(
        "the delay is the mapping's in the budget",
        ensure(delayed && !elsewhere, || budget.to_string()),
    );
    Ok(())
}

/// Errors are counted, said, and no medium of a disk is blamed by name.
fn flakey_errors(guest: &mut Guest) -> Built {
    guest.modules(&["dm_flakey"])?;
    let disk = guest.disk("d0")?;
    // Down always: all fails.
    let table = format!("0 {} flakey {disk} 0 0 3600", sectors(&disk)?);
    let top = guest.mapping("m0", &table)?;
    said_to_fail(guest, &top, Stage::Reads, &[])?;
    // What cannot be read cannot be looked at for marks.
    let more = ["--destroy-data-on", top.as_str()];
    let run = product::measure(guest, &top, &product::plan(&[Stage::Writes]), &more)?;
    let refused = run.ended.stderr.contains("not written");
    guest.check(
        "what cannot be read is not written",
        ensure(run.ended.code == Some(2) && refused, || run.ended.summary()),
    );
    checks::refused(guest, &[Attempt::on(&disk)])
}

/// Only writes fail: the disk can be looked at, and is found free.
fn flakey_writes(guest: &mut Guest) -> Built {
    guest.modules(&["dm_flakey"])?;
    let disk = guest.disk("d0")?;
    let table = format!(
        "0 {} flakey {disk} 0 0 3600 1 error_writes",
        sectors(&disk)?
    );
    let top = guest.mapping("m0", &table)?;
    let more = ["--destroy-data-on", top.as_str()];
    said_to_fail(guest, &top, Stage::Writes, &more)?;
    checks::refused(guest, &[Attempt::on(&disk)])
}

/// A run whose operations fail ends with an error, and says so.
fn said_to_fail(guest: &mut Guest, top: &str, stage: Stage, more: &[&str]) -> Built {
    let run = product::measure(guest, top, &product::plan(&[stage]), more)?;
    let claims = run.document.as_ref().map(product::claims);
    let claims = claims.unwrap_or_default();
    let said = claims.iter().any(|claim| claim == "io-errors");
    guest.check(
        &format!("{} that fail are said to fail", stage.name()),
        ensure(run.ended.code == Some(1) && said, || {
            format!("{}; claims: {}", run.ended.summary(), claims.join(", "))
        }),
    );
    Ok(())
}

/// Writes that no disk has seen are not the device's work.
fn flakey_dropped(guest: &mut Guest) -> Built {
    guest.modules(&["dm_flakey"])?;
    let disk = guest.disk("d0")?;
    let table = format!("0 {} flakey {disk} 0 0 3600 1 drop_writes", sectors(&disk)?);
    let top = guest.mapping("m0", &table)?;
    let more = ["--destroy-data-on", top.as_str()];
    let document = checks::measured(guest, &top, &[(Stage::Writes, Leaves::Idle)], &more)?;
    no_disk_took_part(guest, document.as_ref());
    checks::refused(guest, &[Attempt::on(&disk)])
}

/// What a run must say where its leaves moved no byte.
pub(super) fn no_disk_took_part(guest: &mut Guest, document: Option<&serde_json::Value>) {
    let Some(document) = document else { return };
    let trials = document["trials"].as_array().cloned().unwrap_or_default();
    let shares: Vec<f64> = trials
        .iter()
        .filter_map(|trial| trial["layers"]["device"].as_f64())
        .collect();
    guest.check(
        "no share is laid to a device that moved nothing",
        ensure(
            !shares.is_empty() && shares.iter().all(|share| *share < 0.02),
            || format!("shares of the device: {shares:?}"),
        ),
    );
    let text = document["findings"].to_string();
    guest.check(
        "that no disk took part is said",
        ensure(text.contains("no disk took part"), || {
            product::claims(document).join(", ")
        }),
    );
}

fn zero(guest: &mut Guest) -> Built {
    guest.modules(&["dm_zero"])?;
    let top = guest.mapping("m0", "0 65536 zero")?;
    checks::examine(guest, &Stack::new(&top).reads(Leaves::Any).says(&["zero"]))
}

/// A program that hangs here would hang for its user.
fn suspended(guest: &mut Guest) -> Built {
    guest.modules(&["dm_mod"])?;
    let disk = guest.disk("d0")?;
    let length = sectors(&disk)?;
    let top = guest.mapping("m0", &format!("0 {length} linear {disk} 0"))?;
    guest.sh("dmsetup suspend m0")?;
    guest.later("dmsetup resume m0");
    // Known before anything is asked of the mapping.
    let shown = ["dmsetup resume m0".to_owned()];
    ends_and_says(guest, &top, "suspended", &shown)
}

/// Within this, `devices` says that a device does not answer: it asks for 5 s. A run, which
/// has patience with disks that sleep, asks for 30.
const SOON: Duration = Duration::from_secs(25);

/// Of a device that answers nobody: what a run must say, and what must be shown of the device
/// itself.
fn ends_and_says(guest: &mut Guest, top: &str, word: &str, shown: &[String]) -> Built {
    let all = product::diskfacts(guest, &["devices"])?;
    guest.check("devices does not hang", ensure(all.ok(), || all.summary()));
    let began = Instant::now();
    let seen = product::devices(guest, top)?;
    let took = began.elapsed();
    guest.check(
        "devices TARGET ends soon",
        ensure(took < SOON, || format!("it took {took:?}")),
    );
    let target = &seen["target"];
    let obstacles = target["obstacles"].to_string();
    let said = |word: &str| obstacles.contains(word);
    let missing = shown.iter().find(|word| !said(word));
    guest.check(
        "devices says that it is not looked at, and what it waits for",
        ensure(
            target["writable"] == false && said("unchecked") && missing.is_none(),
            || format!("{missing:?} in {target}"),
        ),
    );
    let plan = product::plan(&[Stage::Reads]);
    let ended = product::measure(guest, top, &plan, &["--time", "2s"])?.ended;
    guest.check(
        &format!("a run says '{word}'"),
        ensure(!ended.hung && ended.stderr.contains(word), || {
            ended.summary()
        }),
    );
    Ok(())
}

/// The two paths of the disk; the same table for both kernels.
fn paths(guest: &mut Guest) -> Built<Vec<String>> {
    guest.modules(&["dm_multipath", "dm_round_robin"])?;
    guest::paths("paths", 2)
}

fn multipath(guest: &mut Guest) -> Built {
    let paths = paths(guest)?;
    let (one, two) = (&paths[0], &paths[1]);
    let length = sectors(one)?;
    // Only the first is held: the second is the same disk by another way.
    let table = format!("0 {length} multipath 0 0 1 1 round-robin 0 1 1 {one} 1000");
    let top = guest.mapping("m0", &table)?;
    let stack = Stack::new(&top).writes(Leaves::Same).members(&[one, two]);
    checks::examine(guest, &stack.says(&["multipath"]))?;
    let (seen, other) = (product::devices(guest, two)?, sysfs::name_of(one)?);
    guest.check(
        "the other path is named as what stands in the way",
        ensure(
            seen["target"]["obstacles"].to_string().contains(&other),
            || seen["target"].to_string(),
        ),
    );
    let more = ["--destroy-data-on", top.as_str()];
    let document = product::measure(guest, &top, SYNCS, &more)?.whole()?;
    let flushes = checks::flushes(&document);
    guest.check(
        "32 syncs are 32 flushes at least",
        ensure(flushes >= 32, || format!("{flushes} flushes")),
    );
    let claims = product::claims(&document);
    guest.check(
        "syncs are not said to lack flushes",
        ensure(
            !claims.iter().any(|claim| claim == "sync-without-flush"),
            || claims.join(", "),
        ),
    );
    // As kpartx makes one, and a filesystem on the path that nobody holds.
    guest.tools(&[("mkfs.ext4", "e2fsprogs")])?;
    guest.modules(&["ext4"])?;
    let part = guest.mapping("m1", &format!("0 8192 linear {top} 2048"))?;
    guest.sh(&format!(
        "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0 {two} && mkdir -p /tmp/two && mount {two} /tmp/two"
    ))?;
    guest.later("umount /tmp/two");
    checks::refused(guest, &[Attempt::on(&part).because("/tmp/two")])
}

fn multipath_dead(guest: &mut Guest) -> Built {
    let paths = paths(guest)?;
    let (one, two) = (&paths[0], &paths[1]);
    let length = sectors(one)?;
    let table = format!(
        "0 {length} multipath 1 queue_if_no_path 0 1 1 round-robin 0 2 1 {one} 1000 {two} 1000"
    );
    let top = guest.mapping("m0", &table)?;
    for path in [one, two] {
        guest.sh(&format!("dmsetup message m0 0 fail_path {path}"))?;
    }
    guest.later("dmsetup message m0 0 fail_if_no_path");
    let number = |path: &String| -> Built<String> {
        let name = sysfs::name_of(path)?;
        let number = sysfs::attribute(&name, "dev");
        Ok(number.ok_or_else(|| format!("{name} has no number"))?)
    };
    let shown = [
        "2 of its 2 paths failed".to_owned(),
        number(one)?,
        number(two)?,
    ];
    ends_and_says(guest, &top, "2 of its 2 paths failed", &shown)
}

fn snapshot(guest: &mut Guest) -> Built {
    guest.modules(&["dm_snapshot"])?;
    let (disk, store) = (guest.disk("d0")?, guest.disk("d1")?);
    guest.sh(&format!(
        "dd if=/dev/zero of={store} bs=64k count=1 conv=fsync"
    ))?;
    let origin = guest.mapping("m0", &format!("0 65536 snapshot-origin {disk}"))?;
    let copy = guest.mapping("m1", &format!("0 65536 snapshot {disk} {store} P 16"))?;
    // What the copy takes over is read from the origin and written twice.
    let stack = Stack::new(&copy)
        .reads(Leaves::AtLeast)
        .writes(Leaves::AtLeast);
    checks::examine(guest, &stack.members(&[&store, &disk]).says(&["snapshot"]))?;
    checks::shown(guest, &origin, &[&origin], &["snapshot-origin"]).map(drop)
}

fn thin(guest: &mut Guest) -> Built {
    guest.modules(&["dm_thin_pool"])?;
    let (meta, data) = (guest.disk("d0")?, guest.disk("d1")?);
    guest.sh(&format!(
        "dd if=/dev/zero of={meta} bs=64k count=1 conv=fsync"
    ))?;
    let pool = guest.mapping("m0", &format!("0 81920 thin-pool {meta} {data} 128 0"))?;
    guest.sh(&format!("dmsetup message {pool} 0 'create_thin 0'"))?;
    let top = guest.mapping("m1", &format!("0 65536 thin {pool} 0"))?;
    checks::shown(guest, &top, &[&top], &["thin"])?;
    // Nothing is provisioned: the volume answers with zeros.
    let document = checks::measured(guest, &top, &[(Stage::Reads, Leaves::Idle)], &[])?;
    no_disk_took_part(guest, document.as_ref());
    let more = ["--destroy-data-on", top.as_str()];
    checks::measured(guest, &top, &[(Stage::Writes, Leaves::AtLeast)], &more)?;
    let members = [meta, data, pool];
    let attempts: Vec<Attempt> = members.iter().map(|member| Attempt::on(member)).collect();
    checks::refused(guest, &attempts)
}

fn integrity(guest: &mut Guest) -> Built {
    guest.modules(&["dm_integrity"])?;
    let disk = guest.disk("d0")?;
    guest.sh(&format!(
        "dd if=/dev/zero of={disk} bs=64k count=1 conv=fsync"
    ))?;
    let table = |length: u64| format!("0 {length} integrity {disk} 0 - D 1 internal_hash:crc32c");
    // The first mapping writes the format, which says what there is room for.
    let first = guest.file("first.table", &format!("{}\n", table(1)))?;
    let line = guest.sh(&format!(
        "dmsetup create m1 {first} && dmsetup remove --retry m1 && \
         dd if={disk} bs=512 count=1 2>/dev/null | od -An -tu8 -j16 -N8"
    ))?;
    let length: u64 = line
        .trim()
        .parse()
        .map_err(|_| format!("its size is '{line}'"))?;
    let top = guest.mapping("m0", &table(length))?;
    guest.sh(&format!(
        "dd if=/dev/zero of={top} bs=1M conv=fsync 2>&1 || true"
    ))?;
    let stack = Stack::new(&top)
        .reads(Leaves::AtLeast)
        .writes(Leaves::AtLeast);
    checks::examine(guest, &stack.members(&[&disk]).says(&["integrity"]))
}

fn writecache(guest: &mut Guest) -> Built {
    guest.modules(&["dm_writecache"])?;
    let (disk, cache) = (guest.disk("d0")?, guest.disk("d1")?);
    guest.sh(&format!(
        "dd if=/dev/zero of={cache} bs=64k count=1 conv=fsync"
    ))?;
    let length = sectors(&disk)?;
    let top = guest.mapping(
        "m0",
        &format!("0 {length} writecache s {disk} {cache} 4096 0"),
    )?;
    let stack = Stack::new(&top).reads(Leaves::Any).writes(Leaves::Any);
    checks::examine(
        guest,
        &stack.members(&[&disk, &cache]).says(&["writecache"]),
    )
}
