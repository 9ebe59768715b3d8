//! Disks that fail, go, or are held back.

use super::memory::errors_are_placed;
use super::{Scenario, Set};
use crate::checks::{self, ensure};
use crate::command::{self, LIMIT};
use crate::guest::{Built, Guest, until};
use crate::product::{self, SYNCS};
use crate::wire;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "read-error",
        about: "a sector that QEMU does not read",
        set: Set::Short,
        disks: &["bad-sector"],
        seconds: 8,
        run: read_error,
    },
    Scenario {
        name: "flush-error",
        about: "a disk whose flushes fail",
        set: Set::Short,
        disks: &["bad-flush"],
        seconds: 8,
        run: flush_error,
    },
    Scenario {
        name: "throttle",
        about: "a limit on operations is a throttle, not the device",
        set: Set::Short,
        disks: &["throttled"],
        seconds: 20,
        run: throttled,
    },
    Scenario {
        name: "throttle-bytes",
        about: "a limit on bytes is a throttle, not heat",
        set: Set::Short,
        disks: &["throttled-bytes"],
        seconds: 33,
        run: throttled_bytes,
    },
    Scenario {
        name: "throttle-credit",
        about: "a burst on credit, then the base rate",
        set: Set::Short,
        disks: &["credit"],
        seconds: 30,
        run: credit,
    },
    Scenario {
        name: "unplug-nvme",
        about: "an NVMe disk that is taken away while it is measured",
        set: Set::Short,
        disks: &["nvme-pulled"],
        seconds: 15,
        run: |guest| unplugged(guest, "nvme-pulled", "c-nvme-pulled"),
    },
    Scenario {
        name: "unplug-scsi",
        about: "a SCSI disk that is taken away while it is measured",
        set: Set::Short,
        disks: &["scsi-pulled"],
        seconds: 15,
        run: |guest| unplugged(guest, "scsi-pulled", "v-scsi-pulled"),
    },
];

/// The sector that `bad-sector` does not read.
const BAD_SECTOR: u64 = 60_000;

fn read_error(guest: &mut Guest) -> Built {
    let disk = guest.disk("bad-sector")?;
    let plan = "name = \"through\"\ntrials = 1\n[[stage]]\nname = \"through\"\n\
                operation = \"read\"\npattern = \"sequential\"\nblock_size = \"4KiB\"\n\
                cache = \"direct\"\noffset = \"28MiB\"\nbytes = \"4MiB\"\n";
    errors_are_placed(guest, &disk, plan, BAD_SECTOR * 512, "EIO")?;
    checks::refused_with_data(guest, &disk)
}

fn flush_error(guest: &mut Guest) -> Built {
    let disk = guest.disk("bad-flush")?;
    let run = product::measure(guest, &disk, SYNCS, &["--destroy-data-on", &disk])?;
    guest.check(
        "the run ends as one with errors",
        ensure(run.ended.code == Some(1), || run.ended.summary()),
    );
    let claims = run
        .document
        .as_ref()
        .map(product::claims)
        .unwrap_or_default();
    guest.check(
        "failed syncs are errors of the run",
        ensure(claims.iter().any(|claim| claim == "io-errors"), || {
            claims.join(", ")
        }),
    );
    checks::refused_with_copied_data(guest, &disk)
}

/// Operations in flight all the time, over several intervals of a throttle.
fn plan_of(pattern: &str, block: &str, depth: u32, seconds: u32, trials: u32) -> String {
    format!(
        "name = \"steady\"\ntrials = {trials}\n[[stage]]\nname = \"steady\"\n\
         operation = \"read\"\npattern = \"{pattern}\"\nblock_size = \"{block}\"\n\
         cache = \"direct\"\nqueue_depth = {depth}\ntime = \"{seconds}s\"\n"
    )
}

/// What limits the one stage of a run, by name.
fn limits(document: &Value) -> Vec<String> {
    let limits = document["limits"][0]["limits"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let name = |limit: &Value| limit["limiter"].as_str().unwrap_or_default().to_owned();
    limits.iter().map(name).collect()
}

/// The part of the time from which on a guest that waits for a processor need not come to
/// the limit of its disk. Two guests on two processors that nobody else uses wait for 3 to
/// 12 %; beside four busy loops, where they came to it still, for 24 to 48 %.
const STARVED: f64 = 0.2;

fn limited(guest: &mut Guest, name: &str, plan: &str, word: &str, not: &[&str]) -> Built {
    let disk = guest.disk(name)?;
    let (start, before) = (Instant::now(), wire::waited()?);
    let document = product::measure(guest, &disk, plan, &["--time", "60s"])?.whole()?;
    let waited = wire::waited()?.saturating_sub(before);
    let waited = waited.div_duration_f64(start.elapsed());
    let found = limits(&document);
    let holds = format!("what limits it is a {word}");
    let named = found.first().is_some_and(|first| first.contains(word));
    let why = (!named && waited > STARVED).then(|| {
        let percent = waited * 100.0;
        format!("QEMU waited for a processor for {percent:.0} % of the time")
    });
    match &why {
        Some(why) => guest.skip(&holds, why),
        None => guest.check(&holds, ensure(named, || found.join(", "))),
    }
    let false_ones: Vec<&str> = not
        .iter()
        .copied()
        .filter(|name| found.iter().any(|limit| limit == name))
        .collect();
    let innocent = "the device itself is not blamed";
    let blamed = ensure(false_ones.is_empty(), || false_ones.join(", "));
    // What keeps a throttle from being seen leaves the device as the next explanation.
    match &why {
        Some(why) if blamed.is_err() => guest.skip(innocent, why),
        _ => guest.check(innocent, blamed),
    }
    // Sums over all of it would take minutes at its rate. Nobody else has this disk.
    wire::monitor(&json!({ "execute": "block_set_io_throttle", "arguments": {
        "device": name, "bps": 0, "bps_rd": 0, "bps_wr": 0,
        "iops": 0, "iops_rd": 0, "iops_wr": 0,
    }}))?;
    checks::refused_with_data(guest, &disk)
}

fn throttled(guest: &mut Guest) -> Built {
    let plan = plan_of("random", "4KiB", 8, 3, 3);
    limited(
        guest,
        "throttled",
        &plan,
        "throttle",
        &["device-parallelism", "thermal-throttle"],
    )
}

fn throttled_bytes(guest: &mut Guest) -> Built {
    let plan = plan_of("sequential", "64KiB", 4, 3, 3);
    limited(
        guest,
        "throttled-bytes",
        &plan,
        "throttle",
        &["thermal-throttle", "device-parallelism", "interface"],
    )
}

fn credit(guest: &mut Guest) -> Built {
    let plan = plan_of("random", "4KiB", 8, 14, 1);
    limited(
        guest,
        "credit",
        &plan,
        "credit-throttle",
        &["thermal-throttle", "garbage-collection"],
    )
}

/// The device goes in the middle of a run: it ends, says so, and asks nobody
/// to make a device.
fn unplugged(guest: &mut Guest, disk: &str, device: &str) -> Built {
    let path = guest.disk(disk)?;
    checks::refused_with_data(guest, &path)?;
    guest.take_down()?;
    let plan = guest.file("plan.toml", &plan_of("random", "4KiB", 4, 20, 1))?;
    let mut command = Command::new("/usr/bin/diskfacts");
    command
        .args([
            "measure",
            &path,
            "--plan",
            &plan,
            "--time",
            "60s",
            "--store",
            "/tmp/u.db",
        ])
        .env("HOME", "/tmp")
        .stdin(Stdio::null())
        .stdout(open("/tmp/unplugged.out")?)
        .stderr(open("/tmp/unplugged.err")?);
    let name = crate::sysfs::name_of(&path)?;
    let before = crate::sysfs::counters()
        .get(&name)
        .copied()
        .unwrap_or_default();
    let child = command
        .spawn()
        .map_err(|error| format!("starting diskfacts: {error}"))?;
    // Some thousand reads on: it is in its trial, not before.
    let under_way = until(|| {
        let now = crate::sysfs::counters().get(&name).copied()?;
        (now.since(before).reads > 500).then_some(())
    });
    under_way.ok_or_else(|| "the run reads nothing".to_owned())?;
    wire::monitor(&json!({ "execute": "device_del", "arguments": { "id": device } }))?;
    let gone = until(|| (!std::path::Path::new(&path).exists()).then_some(()));
    let (code, hung) = command::wait(child, LIMIT).map_err(|error| error.to_string())?;
    guest.check(
        "the device is gone",
        gone.ok_or_else(|| format!("{path} is still there")),
    );
    let said = ["/tmp/unplugged.out", "/tmp/unplugged.err"]
        .map(|path| std::fs::read_to_string(path).unwrap_or_default())
        .join("\n");
    let text = said.replace('\n', " | ");
    guest.check(
        "the run ends by itself, as one with errors",
        ensure(!hung && code == Some(1), || format!("{code:?}: {text}")),
    );
    guest.check(
        "nobody is asked to create a device",
        ensure(!text.to_lowercase().contains("create"), || text.clone()),
    );
    guest.check(
        "that the device is gone is said",
        ensure(
            text.contains(&format!("{name} was gone when the run ended")),
            || text.clone(),
        ),
    );
    guest.check(
        "the health of a disk that is gone is not asked for",
        ensure(!text.contains("smartctl"), || text.clone()),
    );
    guest.check(
        "nothing limits what has no figure",
        ensure(!text.contains("What limited it"), || text.clone()),
    );
    Ok(())
}

fn open(path: &str) -> Result<std::fs::File, String> {
    std::fs::File::create(path).map_err(|error| format!("making {path}: {error}"))
}
