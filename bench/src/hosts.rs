//! A fleet of 10 000 hosts through the whole path: each measures a simulated disk of its own by the plan
//! `fleet`, their files are brought together, and the slow disks are looked for.
//!
//! A host is a UTS namespace, so root is needed. One disk in a hundred is slower by 20 %, in all that it
//! does; all others differ by 2 % (standard deviation).

use crate::Options;
use crate::ours::Diskfacts;
use anyhow::{Context, Result, bail};
use diskfacts_plan::rng::Rng;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const HOSTS: usize = 10_000;
/// The first of each so many hosts has a slow disk.
const ONE_IN: usize = 100;
/// Seconds by the clock from the first host to who is odd, on two processors that nobody else has.
const SECONDS_MOST: f64 = 300.0;
/// Memory that a process may have that has to do with all hosts, in 10^6 bytes.
const MB_MOST: u64 = 1000;

/// What a step took.
struct Step {
    what: &'static str,
    seconds: f64,
    /// Of all its processes, in user mode and in the kernel.
    cpu_s: f64,
    /// The most memory of one process, as far as it was seen.
    peak_mb: u64,
}

/// Does all of it, and answers whether the goals are met.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    let diskfacts = Diskfacts::find()?;
    let unshare = Command::new("unshare").args(["--uts", "true"]).status();
    if !unshare.is_ok_and(|status| status.success()) {
        println!("hosts are UTS namespaces: this needs root, and unshare of util-linux");
        return Ok(options.small);
    }
    let folder = tempfile::tempdir_in(&options.folder)?;
    let asked = diskfacts
        .command()
        .args(["fleet", "odd"])
        .arg(folder.path())
        .output()?;
    if String::from_utf8_lossy(&asked.stderr).contains("without `fleet`") {
        println!(
            "diskfacts was built without fleet: cargo build --release --features diskfacts/fleet"
        );
        return Ok(options.small);
    }
    let hosts = if options.small { 24 } else { HOSTS };
    let at = |name: &str| folder.path().join(name);
    disks(&diskfacts, &at("disks"), hosts)?;
    let (results, fleet) = (at("results"), at("fleet"));

    let measured = step("measured", || measure(&diskfacts, folder.path(), hosts))?;
    let mut files: Vec<OsString> = fs::read_dir(&results)?
        .map(|file| Ok(file?.path().into_os_string()))
        .collect::<Result<_>>()?;
    files.sort();
    let fetched: u64 = files
        .iter()
        .map(|file| Ok(fs::metadata(file)?.len()))
        .sum::<Result<u64>>()?;
    let arguments = ["fleet", "add", "--into"].map(OsString::from);
    let arguments = arguments
        .into_iter()
        .chain([fleet.clone().into_os_string()]);
    let add: Vec<OsString> = arguments.chain(files).collect();
    let added = step("added", || one(&diskfacts, &add).map(|one| one.peak_mb))?;
    let again = step("nothing new added", || {
        one(&diskfacts, &add).map(|one| one.peak_mb)
    })?;
    let odd = ["fleet", "odd", "--json"].map(OsString::from);
    let odd: Vec<OsString> = odd.into_iter().chain([fleet.clone().into()]).collect();
    let mut said = Vec::new();
    let looked = step("odd", || {
        let one = one(&diskfacts, &odd)?;
        said = one.said;
        Ok(one.peak_mb)
    })?;
    let trend = ["fleet", "trend", "--host", "c00007"].map(OsString::from);
    let trend: Vec<OsString> = trend.into_iter().chain([fleet.clone().into()]).collect();
    let followed = step("trend", || one(&diskfacts, &trend).map(|one| one.peak_mb))?;
    let steps = [measured, added, again, looked, followed];

    println!("{hosts} simulated hosts, the plan fleet: 24 trials each\n");
    println!(
        "  {:<18} {:>8} {:>14} {:>8}",
        "", "s", "s of processors", "MB"
    );
    for step in &steps {
        println!(
            "  {:<18} {:>8.1} {:>14.1} {:>8}",
            step.what, step.seconds, step.cpu_s, step.peak_mb
        );
    }
    let stored: u64 = fs::read_dir(&fleet)?
        .map(|file| Ok(file?.metadata()?.len()))
        .sum::<Result<u64>>()?;
    let rows = hosts as f64 * 24.0;
    println!(
        "\n  of a host: {:.0} ms of processors, a file of {:.1} kB; of a row: {:.0} bytes",
        steps[0].cpu_s * 1e3 / hosts as f64,
        fetched as f64 / 1e3 / hosts as f64,
        stored as f64 / rows
    );
    let found = found(&said, hosts)?;
    // What a fleet does once; that a second adding finds nothing new, and a trend, come on top.
    let path = [&steps[0], &steps[1], &steps[3]];
    let seconds = path.iter().map(|step| step.seconds).sum::<f64>();
    let cpu_s = path.iter().map(|step| step.cpu_s).sum::<f64>();
    let peak_mb = steps[1..].iter().map(|step| step.peak_mb).max();
    let peak_mb = peak_mb.unwrap_or(0);
    let met = seconds <= SECONDS_MOST && peak_mb <= MB_MOST && found >= 0.95;
    println!(
        "  {} {seconds:.0} s of {SECONDS_MOST} ({cpu_s:.0} s of processors), {peak_mb} MB of {MB_MOST}, \
         {:.1} % of the slow disks suspected of 95",
        if met { "met:   " } else { "MISSED:" },
        found * 100.0
    );
    // In the small mode the figures mean nothing.
    Ok(met || options.small)
}

/// Disks of chance, a profile for each host.
fn disks(diskfacts: &Diskfacts, folder: &Path, hosts: usize) -> Result<()> {
    fs::create_dir(folder)?;
    let printed = diskfacts.command().args(["sim", "ssd-sata"]).output()?;
    let profile = String::from_utf8(printed.stdout)?;
    let times = [
        ("read", 46.0),
        ("program", 390.0),
        ("flush", 3200.0),
        ("command", 20.0),
    ];
    let rates = [("channel", 400.0), ("link", 560.0)];
    let mut rng = Rng::new(1);
    for host in 0..hosts {
        // Twelve of [0, 1) vary as a normal distribution does, with a deviation of 1.
        let normal = (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let slow = if host % ONE_IN == 0 { 1.0 / 0.8 } else { 1.0 };
        let slower = (0.02 * normal).exp() * slow;
        let line = |line: &str| {
            let name = line.split(" =").next().unwrap_or_default();
            if let Some((_, us)) = times.iter().find(|(of, _)| *of == name) {
                format!("{name} = \"{:.0}ns\"\n", us * 1e3 * slower)
            } else if let Some((_, mb)) = rates.iter().find(|(of, _)| *of == name) {
                format!("{name} = \"{:.0}kB/s\"\n", mb * 1e3 / slower)
            } else {
                format!("{line}\n")
            }
        };
        let own: String = profile.lines().map(line).collect();
        fs::write(folder.join(format!("c{host:05}.toml")), own)?;
    }
    Ok(())
}

/// All hosts; their files are in the folder `results`.
fn measure(diskfacts: &Diskfacts, folder: &Path, hosts: usize) -> Result<u64> {
    const AS: &str = r#"printf %s "$0" > /proc/sys/kernel/hostname && exec "$@""#;
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let measure = |host: usize| -> Result<()> {
        let name = format!("c{host:05}");
        let store = folder.join(format!("{name}.db"));
        let output = Command::new("unshare")
            .args(["--uts", "sh", "-c", AS, &name])
            .arg(diskfacts.command().get_program())
            .arg("--store")
            .arg(&store)
            .arg("measure")
            .arg(format!("sim:{}", folder.join("disks").join(&name).display()) + ".toml")
            .args(["--plan", "fleet", "--group", "monday", "--quiet", "--seed"])
            .arg(host.to_string())
            .arg("--out")
            .arg(folder.join("results"))
            .output()?;
        if !output.status.success() {
            bail!("{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        // Each host has a disk of its own for it.
        for ending in ["", "-wal", "-shm"] {
            let mut path = store.clone().into_os_string();
            path.push(ending);
            match fs::remove_file(PathBuf::from(path)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        Ok(())
    };
    let work = || {
        loop {
            let host = next.fetch_add(1, Ordering::Relaxed);
            if host >= hosts {
                return;
            }
            if let Err(error) = measure(host) {
                next.store(hosts, Ordering::Relaxed);
                if let Ok(mut failed) = failed.lock() {
                    failed.get_or_insert(error);
                }
            }
        }
    };
    // Four times as many at once as there are processors: each waits for its store to be on the disk,
    // which all of them share here.
    std::thread::scope(|scope| {
        for _ in 0..4 * std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    match failed.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(0),
    }
}

/// What one call said.
struct One {
    said: Vec<u8>,
    peak_mb: u64,
}

/// One call of the program, with its memory looked at while it runs.
fn one<A: AsRef<OsStr>>(diskfacts: &Diskfacts, arguments: &[A]) -> Result<One> {
    let said = tempfile::NamedTempFile::new()?;
    let mut process = diskfacts
        .command()
        .args(arguments)
        .stdout(said.reopen()?)
        .stderr(Stdio::inherit())
        .spawn()?;
    let status = format!("/proc/{}/status", process.id());
    let mut peak_mb = 0;
    let ended = loop {
        if let Some(ended) = process.try_wait()? {
            break ended;
        }
        // One that has just ended has no such line any more.
        let status = fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak_mb = kib.map_or(peak_mb, |kib| kib * 1024 / 1_000_000);
        std::thread::sleep(Duration::from_millis(5));
    };
    if !ended.success() {
        bail!("diskfacts ended with {ended}");
    }
    Ok(One {
        said: fs::read(said.path())?,
        peak_mb,
    })
}

/// Times what answers how much memory it took.
fn step(what: &'static str, run: impl FnOnce() -> Result<u64>) -> Result<Step> {
    let (began, cpu_s) = (Instant::now(), children_cpu_s()?);
    let peak_mb = run()?;
    Ok(Step {
        what,
        seconds: began.elapsed().as_secs_f64(),
        cpu_s: children_cpu_s()? - cpu_s,
        peak_mb,
    })
}

/// Processor time of all processes that were waited for, and of theirs: `cutime` and `cstime` of
/// `proc_pid_stat(5)`.
fn children_cpu_s() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program, in brackets, may have anything in it.
    let (_, fields) = stat
        .rsplit_once(") ")
        .context("/proc/self/stat has no name")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |at: usize| -> Result<u64> {
        let field = fields.get(at).context("/proc/self/stat is too short")?;
        Ok(field.parse()?)
    };
    let per_second = rustix::param::clock_ticks_per_second();
    Ok((ticks(13)? + ticks(14)?) as f64 / per_second as f64)
}

/// The share of the slow disks that are suspects.
fn found(document: &[u8], hosts: usize) -> Result<f64> {
    let document: Value = serde_json::from_slice(document)?;
    let suspects = document["suspects"].as_array().context("no suspects")?;
    let suspects: BTreeSet<&str> = suspects.iter().filter_map(|s| s["host"].as_str()).collect();
    let slow = (0..hosts).step_by(ONE_IN);
    let found = slow
        .clone()
        .filter(|host| suspects.contains(&*format!("c{host:05}")));
    let found = found.count();
    println!(
        "\n  {} of {} slow disks are suspects, and {} others of {hosts}",
        found,
        slow.len(),
        suspects.len() - found
    );
    Ok(found as f64 / slow.len() as f64)
}
