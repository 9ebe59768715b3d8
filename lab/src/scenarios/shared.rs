//! A filesystem that several computers measure at one moment.

use super::network::export;
use super::{Scenario, Set};
use crate::checks::{self, Attempt, ensure};
use crate::command::Ended;
use crate::guest::{Built, Guest};
use crate::product;
use crate::remote_shell::Helper;
use crate::sysfs;
use serde_json::Value;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const SCENARIOS: &[Scenario] = &[Scenario {
    name: "nfs-together",
    about: "an export of one computer, measured by two others together",
    set: Set::Long,
    disks: &["big0"],
    seconds: 200,
    run: nfs_together,
}];

/// Guests on the network of the one that does a scenario of this family.
pub(super) const HELPERS: u8 = 2;

/// Where the clients have the export.
const FOLDER: &str = "/mnt/shared";

/// Bytes of a client's file: little for the server's memory.
const SIZE: u64 = 16 << 20;

/// Bytes of an operation.
const BLOCK: u64 = 64 << 10;

/// By how much the server may count otherwise than its clients together.
const OFF: f64 = 0.01;

/// Seconds from the agreement on a start to the start: the clients fill their files meanwhile.
const AHEAD: u64 = 30;

/// Between two trials: a cache is emptied meanwhile.
const GAP: &str = "5s";

/// How often the clients try to do all that was agreed on.
const ATTEMPTS: u32 = 3;

/// A stage of reads.
#[derive(Clone, Copy)]
struct Stage {
    name: &'static str,
    how: &'static str,
    bytes: u64,
    /// Seconds that are more than it takes, by so much that a hundredth of them, by which a client may be
    /// late, is more than an emulated processor takes to begin.
    seconds: u64,
}

/// Past the page cache of the client: so many bytes that what diskfacts reads before its trials,
/// to see how the file can be read, is little beside them.
const DIRECT: Stage = Stage {
    name: "direct",
    how: "cache = \"direct\"\npattern = \"random\"\n",
    bytes: 8 * SIZE,
    seconds: 40,
};
/// Through it, after it was emptied.
const COLD: Stage = Stage {
    name: "cold",
    how: "cache = \"cold\"\npattern = \"sequential\"\n",
    bytes: SIZE,
    seconds: 30,
};
/// From it.
const WARM: Stage = Stage {
    name: "warm",
    how: "cache = \"warm\"\npattern = \"random\"\n",
    ..COLD
};

/// What clients measure together: all bytes come from the server.
const TOGETHER: [Stage; 2] = [DIRECT, COLD];

fn plan(stages: &[Stage]) -> String {
    let mut plan = "name = \"shared\"\ntrials = 1\n".to_owned();
    for stage in stages {
        // Writing to a String cannot fail.
        let _ = write!(
            plan,
            "[[stage]]\nname = \"{}\"\noperation = \"read\"\nblock_size = \"{BLOCK}\"\n\
             bytes = \"{}\"\ntime = \"{}s\"\n{}",
            stage.name, stage.bytes, stage.seconds, stage.how
        );
    }
    plan
}

/// What the server counted since it was booted.
#[derive(Debug, Clone, Copy)]
struct Served {
    /// Bytes that nfsd sent for reads.
    sent: u64,
    /// Bytes that its disk read.
    from_disk: u64,
}

impl Served {
    /// By the line `io READ WRITTEN` of nfsd, and the disk's counters.
    fn now(disk: &str) -> Built<Self> {
        let path = "/proc/net/rpc/nfsd";
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("io "));
        let sent = line.and_then(|line| line.split(' ').next()?.parse().ok());
        let name = sysfs::name_of(disk)?;
        let counted = sysfs::counters().get(&name).copied().unwrap_or_default();
        Ok(Self {
            sent: sent.ok_or_else(|| format!("{path} has no line io with bytes"))?,
            from_disk: counted.read_bytes,
        })
    }

    fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            from_disk: self.from_disk - before.from_disk,
        }
    }
}

fn nfs_together(guest: &mut Guest) -> Built {
    let (disk, served) = export(guest, "10.0.0.0/24")?;
    let mut clients = Vec::new();
    let mut clock_error = Duration::ZERO;
    for number in 1..=HELPERS {
        let mut client = Helper::reach(number)?;
        client.sh(&format!(
            "modprobe nfsv4 && mkdir -p {FOLDER} && \
             mount -t nfs4 -o vers=4.2,soft 10.0.0.1:/ {FOLDER}"
        ))?;
        clock_error = clock_error.max(client.set_clock()?);
        clients.push(client);
    }
    if let Some(together) = measured_together(guest, &mut clients, &disk, clock_error)? {
        sum_is_of_all(guest, &together);
    }
    server_memory_is_not_seen(guest, &mut clients[0], &disk)?;
    client_memory_serves(guest, &mut clients[1], &disk)?;
    for client in &mut clients {
        client.sh(&format!("umount {FOLDER}"))?;
    }
    guest.sh("sync")?;
    checks::refused(guest, &[Attempt::on(&disk).because(&served)])
}

/// Both clients at one moment; the document of both together.
///
/// Three guests on a machine that others use may be late for the start, or slower than a stage has time
/// for; then they do it once more, and what they cannot do in three times is left out.
fn measured_together(
    guest: &mut Guest,
    clients: &mut [Helper],
    disk: &str,
    clock_error: Duration,
) -> Built<Option<Value>> {
    let mut busy = String::new();
    for attempt in 1..=ATTEMPTS {
        let results = format!("/share/{}/results-{attempt}", guest.name());
        guest.sh(&format!("mkdir -p {results}"))?;
        let at = start_at(guest)?;
        let error_ms = clock_error.as_millis() + 1;
        let more = format!(
            "--start-at {at} --gap {GAP} --group shared --clock-error {error_ms}ms --out {results} \
             --store /tmp/together-{attempt}.db"
        );
        let before = Served::now(disk)?;
        let ends = at_one_moment(clients, &more)?;
        let counted = Served::now(disk)?.since(before);
        if let Some(why) = ends.iter().find_map(too_busy) {
            busy = why;
            continue;
        }
        return judged_together(guest, &ends, counted, &results);
    }
    let why = format!("a machine with time for three guests: {busy}");
    guest.skip("both clients measure together", &why);
    Ok(None)
}

/// How both ended, started by the clock.
fn at_one_moment(clients: &mut [Helper], more: &str) -> Built<Vec<Ended>> {
    let ends: Vec<Built<Ended>> = std::thread::scope(|scope| {
        let started: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(move || measure(client, &TOGETHER, more)))
            .collect();
        let ended = started.into_iter().map(|thread| {
            let lost = |_| Err("a thread of the lab ended".to_owned().into());
            thread.join().unwrap_or_else(lost)
        });
        ended.collect()
    });
    ends.into_iter().collect()
}

/// Why a client has not done all that it was to, where that is the machine's: it came too late, or
/// a stage's time was over before all was read.
fn too_busy(ended: &Ended) -> Option<String> {
    let Ok(document) = serde_json::from_str::<Value>(&ended.stdout) else {
        // Of a run without a trial that counts there is none.
        let said = &ended.stderr;
        let is_late = said.contains("no trial of the group is valid") && said.contains("late");
        return is_late.then(|| ended.summary());
    };
    let agreed = document["together"]["trials"].as_array();
    let void = agreed.into_iter().flatten().find(|trial| {
        ["late", "unprepared"].contains(&trial["void_kind"].as_str().unwrap_or_default())
    });
    if let Some(void) = void {
        return Some(void["void"].to_string());
    }
    trials(&document).find_map(|trial| {
        let stage = TOGETHER.iter().find(|stage| trial["stage"] == stage.name)?;
        let (read, lasted_s) = (trial["bytes"].as_u64()?, trial["seconds"].as_f64()?);
        // The last read that was begun in time ends when it ends.
        let is_cut = read < stage.bytes && lasted_s > 0.9 * stage.seconds as f64;
        is_cut.then(|| format!("{read} bytes of {} in {lasted_s:.1} s", stage.name))
    })
}

/// What both did against the server's counters; the document of both together.
fn judged_together(
    guest: &mut Guest,
    ends: &[Ended],
    counted: Served,
    results: &str,
) -> Built<Option<Value>> {
    let mut documents = Vec::new();
    for ended in ends {
        guest.check(
            "a client measures with the other",
            ensure(ended.ok(), || ended.summary()),
        );
        documents.extend(serde_json::from_str::<Value>(&ended.stdout));
    }
    if documents.len() < ends.len() {
        return Ok(None);
    }
    server_counts_the_same(guest, &documents, counted);
    for document in &documents {
        layers_are_told(guest, document, &TOGETHER);
        time_is_divided(guest, document);
    }
    let merged = guest.sh(&format!(
        "HOME=/tmp diskfacts together {results}/*.dfrun --expect {HELPERS} --json || true"
    ))?;
    let merged = serde_json::from_str(&merged);
    Ok(Some(merged.map_err(|error| format!("together: {error}"))?))
}

/// A moment that all of them can be ready by.
fn start_at(guest: &mut Guest) -> Built<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since.map_err(|error| format!("this guest's clock: {error}"))?;
    guest.sh(&format!("date -u -d @{} +%FT%TZ", now.as_secs() + AHEAD))
}

/// `diskfacts measure` of a client.
fn measure(client: &mut Helper, stages: &[Stage], more: &str) -> Built<Ended> {
    let plan = plan(stages);
    client.try_sh(&format!(
        "cat > /tmp/plan.toml <<'END'\n{plan}END\n\
         HOME=/tmp diskfacts measure {FOLDER} --plan /tmp/plan.toml --size {SIZE} --seed 1 \
         --json {more}"
    ))
}

/// A stage of one client alone; the document of the run.
fn measured_alone(client: &mut Helper, stage: Stage) -> Built<Value> {
    let ended = measure(client, &[stage], "--store /tmp/alone.db")?;
    let document = serde_json::from_str(&ended.stdout);
    Ok(document.map_err(|error| format!("diskfacts of a client {}: {error}", ended.summary()))?)
}

fn trials(document: &Value) -> impl Iterator<Item = &Value> {
    document["trials"].as_array().into_iter().flatten()
}

/// Bytes that the trials read.
fn issued(document: &Value) -> u64 {
    let bytes = trials(document).map(|trial| trial["evidence"]["issued"]["read_bytes"].as_u64());
    bytes.flatten().sum()
}

/// Within what may be counted otherwise, of a file's bytes at the least.
fn near(a: u64, b: u64) -> bool {
    a.abs_diff(b) as f64 <= OFF * a.max(b).max(SIZE) as f64
}

/// What the clients read is what the server sent, from its memory.
fn server_counts_the_same(guest: &mut Guest, documents: &[Value], counted: Served) {
    let read: u64 = documents.iter().map(issued).sum();
    guest.check(
        "the server sent what its clients read, within 1 %",
        ensure(read > 0 && near(read, counted.sent), || {
            format!("the clients read {read} bytes, the server {counted:?}")
        }),
    );
    guest.check(
        "the server's disk read none of it",
        ensure(near(counted.from_disk, 0), || format!("{counted:?}")),
    );
}

/// Who served the bytes of each stage, and the NFS client's account of it.
fn layers_are_told(guest: &mut Guest, document: &Value, stages: &[Stage]) {
    guest.check("nothing false is claimed", checks::never(document));
    for Stage { name: stage, .. } in stages {
        let Some(trial) = trials(document).find(|trial| trial["stage"] == *stage) else {
            let why = format!("there is no trial of {stage}");
            guest.check("a client has a trial of each stage", Err(why));
            continue;
        };
        let (layers, nfs) = (&trial["layers"], &trial["evidence"]["nfs"]);
        let issued = trial["evidence"]["issued"]["read_bytes"].as_u64();
        let (by, from_server) = if *stage == WARM.name {
            ("page_cache", 0)
        } else {
            ("server", issued.unwrap_or(0))
        };
        let share = layers[by].as_f64().unwrap_or(f64::NAN);
        guest.check(
            &format!("{stage} reads are served by the {by}, and by no device"),
            ensure(share > 1.0 - OFF && layers["media"] == 0.0, || {
                format!("{layers} {nfs}")
            }),
        );
        let sent = nfs["server_read_bytes"].as_u64().unwrap_or(u64::MAX);
        guest.check(
            &format!("the client counts what the server sent of the {stage} reads"),
            ensure(near(sent, from_server), || format!("{nfs}, {issued:?}")),
        );
    }
}

/// A direct read waits for one call, and for little else.
fn time_is_divided(guest: &mut Guest, document: &Value) {
    let figures = document["figures"].as_array().into_iter().flatten();
    let direct = figures
        .clone()
        .find(|figures| figures["stage"] == DIRECT.name);
    let budget = direct.map_or(&Value::Null, |figures| &figures["budget"]);
    let parts = budget["parts"].as_array().into_iter().flatten();
    let server = parts.clone().find(|part| part["part"] == "server");
    let server_ns = server.and_then(|part| part["mean_ns"].as_f64());
    let latency_ns = budget["latency_ns"].as_f64().unwrap_or(f64::NAN);
    guest.check(
        "most of the time of a direct read is the network's and the server's",
        ensure(server_ns.is_some_and(|ns| ns > 0.5 * latency_ns), || {
            budget.to_string()
        }),
    );
}

/// The sum has all of both, and says what is not known of it.
fn sum_is_of_all(guest: &mut Guest, together: &Value) {
    let complete = together["hosts_complete"] == HELPERS;
    let hosts = together["hosts"].to_string();
    guest.check(
        "both clients are in the sum",
        ensure(complete, || format!("{} {hosts}", together["lost"])),
    );
    for stage in together["stages"].as_array().into_iter().flatten() {
        let name = stage["stage"].as_str().unwrap_or_default();
        let samples = stage["latency_ns"]["samples"].as_u64().unwrap_or(0);
        let mut planned = TOGETHER.iter().filter(|stage| stage.name == name);
        let each = planned.next().map_or(0, |stage| stage.bytes / BLOCK);
        let wanted = u64::from(HELPERS) * each;
        guest.check(
            &format!("the sum has all {name} operations of both"),
            ensure(samples == wanted, || format!("{samples}, not {wanted}")),
        );
        let server = stage["layers"]["server"].as_f64().unwrap_or(f64::NAN);
        guest.check(
            &format!("the sum says that the server sent the {name} reads"),
            ensure(server > 1.0 - OFF, || stage["layers"].to_string()),
        );
    }
    let findings = together["findings"].to_string();
    for (said, words) in [
        ("they are said to have measured one storage", "one-storage"),
        (
            "and that the memory of its server is not seen",
            "memory of its server",
        ),
    ] {
        guest.check(said, ensure(findings.contains(words), || findings.clone()));
    }
}

/// The same reads when the server's disk has to do them: a client cannot tell, and claims
/// neither.
fn server_memory_is_not_seen(guest: &mut Guest, client: &mut Helper, disk: &str) -> Built {
    let forget = guest.file(
        "forget",
        "while [ -e /tmp/forget ]; do echo 3 > /proc/sys/vm/drop_caches; sleep 0.05; done\n",
    )?;
    guest.sh(&format!("dash {forget} >/dev/null 2>&1 </dev/null &"))?;
    let before = Served::now(disk)?;
    let again = Stage {
        bytes: SIZE,
        ..DIRECT
    };
    let document = measured_alone(client, again)?;
    let counted = Served::now(disk)?.since(before);
    guest.sh(&format!("rm {forget}"))?;
    let read = issued(&document);
    guest.check(
        "without its memory the server's disk reads",
        ensure(counted.from_disk > read / 2, || {
            format!("{counted:?}, {read} read")
        }),
    );
    layers_are_told(guest, &document, &[again]);
    let claims = product::claims(&document);
    let of_disks = ["device-parallelism", "media-rate", "device-queue"];
    guest.check(
        "no disk is named as the limit",
        ensure(
            !claims
                .iter()
                .any(|claim| of_disks.contains(&claim.as_str())),
            || claims.join(", "),
        ),
    );
    Ok(())
}

/// What the client keeps from one open to the next comes from its memory, and the server knows
/// nothing of it.
fn client_memory_serves(guest: &mut Guest, client: &mut Helper, disk: &str) -> Built {
    let before = Served::now(disk)?;
    let document = measured_alone(client, WARM)?;
    let counted = Served::now(disk)?.since(before);
    layers_are_told(guest, &document, &[WARM]);
    guest.check(
        "the server sent no more than what is read into the client's memory before the trial",
        ensure(counted.sent <= SIZE + SIZE / 8, || format!("{counted:?}")),
    );
    Ok(())
}
