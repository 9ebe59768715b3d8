//! How long the pages of `diskfacts serve` take, from the request to the last byte: of a survey,
//! and of the list of a store with 10 000 runs.

use crate::Options;
use crate::alternate::median;
use crate::ours::Diskfacts;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Runs in the large store.
const RUNS: u32 = 10_000;

/// A page, and the milliseconds that it may take.
struct Goal {
    what: &'static str,
    path: &'static str,
    ms: f64,
}

const GOALS: [Goal; 6] = [
    Goal {
        what: "the page of a survey",
        path: "run/survey",
        ms: 50.0,
    },
    Goal {
        what: "the page of a claim of it",
        path: "run/survey/claim/a",
        ms: 50.0,
    },
    Goal {
        what: "two surveys compared",
        path: "compare?a=survey&b=again",
        ms: 100.0,
    },
    Goal {
        what: "the list of 10 000 runs, its first page",
        path: "",
        ms: 100.0,
    },
    Goal {
        what: "the same, narrowed by all that there is",
        path: "?plan=survey&target=sim:nvme-datacenter&host=nowhere&since=1d&tag=x",
        ms: 100.0,
    },
    Goal {
        what: "what is measured now, of 10 000 runs",
        path: "live",
        ms: 100.0,
    },
];

/// A server that runs; it ends with this value.
struct Serving {
    process: Child,
    host: String,
    prefix: String,
}

impl Serving {
    fn start(diskfacts: &Diskfacts, store: &Path) -> Result<Self> {
        let mut process = diskfacts
            .command()
            .args(["serve", "--store"])
            .arg(store)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let said = process.stdout.take().context("its output")?;
        let mut serving = Self {
            process,
            host: String::new(),
            prefix: String::new(),
        };
        let mut address = String::new();
        BufReader::new(said).read_line(&mut address)?;
        let rest = address.trim().strip_prefix("http://");
        let (host, prefix) = rest
            .and_then(|rest| rest.split_once('/'))
            .context("diskfacts serve printed no address")?;
        host.clone_into(&mut serving.host);
        prefix.trim_end_matches('/').clone_into(&mut serving.prefix);
        Ok(serving)
    }

    /// Milliseconds from the request to the last byte, and how many these were.
    fn get(&self, path: &str) -> Result<(f64, usize)> {
        let began = Instant::now();
        let mut stream = TcpStream::connect(&self.host)?;
        let (prefix, host) = (&self.prefix, &self.host);
        let request =
            format!("GET /{prefix}/{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            let head = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
            bail!("{path}: {head}");
        }
        Ok((took_ms, answer.len()))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // One that has ended already is as it should be.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Times each page so often as there are rounds, and answers whether the goals are met.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    let diskfacts = Diskfacts::find()?;
    let Some(sqlite) = sqlite() else {
        println!("sqlite3 is missing, so nothing was timed: apt-get install sqlite3");
        return Ok(options.small);
    };
    let folder = tempfile::tempdir_in(&options.folder)?;
    let store = folder.path().join("runs.db");
    fill(
        &diskfacts,
        &sqlite,
        &store,
        if options.small { 100 } else { RUNS },
    )?;
    let serving = Serving::start(&diskfacts, &store)?;
    let rounds = options.rounds * 4;
    println!("pages of diskfacts serve, {rounds} times each: median, from request to last byte\n");
    let mut met = true;
    for goal in GOALS {
        // The first brings what is read into memory.
        let (_, bytes) = serving.get(goal.path)?;
        let times: Result<Vec<f64>> = (0..rounds).map(|_| Ok(serving.get(goal.path)?.0)).collect();
        let took_ms = median(times?.into_iter());
        let is_met = took_ms <= goal.ms;
        met &= is_met;
        println!(
            "  {} {took_ms:.1} ms of {}, {} kB: {}",
            if is_met { "met:   " } else { "MISSED:" },
            goal.ms,
            bytes.div_ceil(1000),
            goal.what
        );
    }
    // In the small mode the figures mean nothing.
    Ok(met || options.small)
}

/// The program `sqlite3`, which makes many runs of one.
fn sqlite() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("sqlite3"));
    programs.find(|program| program.is_file())
}

/// Two surveys of a simulated disk, and copies of the first without its trials.
fn fill(diskfacts: &Diskfacts, sqlite: &Path, store: &Path, runs: u32) -> Result<()> {
    for name in ["survey", "again"] {
        let measured = diskfacts
            .command()
            .args([
                "measure",
                "sim:nvme-datacenter",
                "--quiet",
                "--name",
                name,
                "--store",
            ])
            .arg(store)
            .stdout(Stdio::null())
            .status()?;
        if !measured.success() {
            bail!("diskfacts measure ended with {measured}");
        }
    }
    let copies = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {runs})
         INSERT INTO run (id, schema, status, started, ended, tool_version, host, target,
             target_path, plan, document, tags)
         SELECT 'copy-' || i, schema, status, started, ended, tool_version, host, target,
             target_path, plan, document, 'x' FROM n, run WHERE name = 'survey'"
    );
    let status = Command::new(sqlite).arg(store).arg(copies).status()?;
    if !status.success() {
        bail!("sqlite3 ended with {status}");
    }
    Ok(())
}
