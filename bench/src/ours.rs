//! Runs of diskfacts.

use crate::alternate::Figures;
use anyhow::{Context, Result, bail};
use diskfacts_plan::rng::Rng;
use diskfacts_plan::{Plan, file};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The `diskfacts` program that was built beside this one.
pub(crate) struct Diskfacts {
    program: PathBuf,
}

/// A file of incompressible data.
pub(crate) fn filled_file(folder: &Path, bytes: u64) -> Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(".diskfacts-bench-")
        .tempfile_in(folder)
        .with_context(|| format!("making a file in {}", folder.display()))?;
    let mut rng = Rng::new(1);
    let mut piece = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        for word in piece.chunks_mut(8) {
            word.copy_from_slice(&rng.next_u64().to_le_bytes());
        }
        file.write_all(&piece).context("filling the file")?;
        left = left.saturating_sub(piece.len() as u64);
    }
    file.as_file().sync_all().context("syncing the file")?;
    Ok(file)
}

/// The trials of a document.
fn trials_of(document: &[u8]) -> Result<Vec<Value>> {
    let mut run: Value = serde_json::from_slice(document)?;
    match run["trials"].take() {
        Value::Array(trials) => Ok(trials),
        _ => bail!("the document has no trials"),
    }
}

/// Reads a file, so that it lies in the page cache.
pub(crate) fn warm(path: &Path) -> Result<()> {
    std::io::copy(&mut std::fs::File::open(path)?, &mut std::io::sink())?;
    Ok(())
}

impl Diskfacts {
    /// Milliseconds from the call to the end of `diskfacts --version`: the median
    /// of so many calls.
    pub(crate) fn version_ms(&self, calls: usize) -> Result<f64> {
        let mut took_ms = Vec::with_capacity(calls);
        for _ in 0..calls.max(1) {
            let began = std::time::Instant::now();
            let output = Command::new(&self.program).arg("--version").output()?;
            took_ms.push(began.elapsed().as_secs_f64() * 1e3);
            if !output.status.success() {
                bail!("diskfacts --version ended with {}", output.status);
            }
        }
        took_ms.sort_by(f64::total_cmp);
        Ok(took_ms[took_ms.len() / 2])
    }

    pub(crate) fn find() -> Result<Self> {
        let here = std::env::current_exe()?;
        // Tests run from a folder below the one of programs.
        let folders = here.ancestors().skip(1).take(2);
        let program = folders
            .map(|folder| folder.join("diskfacts"))
            .find(|program| program.is_file())
            .context(
                "there is no diskfacts beside this program: cargo build --release -p diskfacts",
            )?;
        Ok(Self { program })
    }

    /// The program, to be given its arguments.
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// The trials of a plan, as they stand in the document.
    fn trials(&self, target: &Path, plan: &str, more: &[&OsStr]) -> Result<Vec<Value>> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("plan.toml");
        std::fs::write(&file, plan)?;
        let output = Command::new(&self.program)
            .arg("measure")
            .arg(target)
            .arg("--plan")
            .arg(&file)
            .arg("--store")
            .arg(folder.path().join("runs.db"))
            .arg("--json")
            .args(more)
            .output()?;
        if !output.status.success() {
            bail!(
                "diskfacts failed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        trials_of(&output.stdout)
    }

    /// The only trial of a plan.
    fn trial(&self, target: &Path, plan: &str, more: &[&OsStr]) -> Result<Value> {
        let trials = self.trials(target, plan, more)?;
        trials.into_iter().next().context("no trial was made")
    }

    /// All trials of a plan on a loop device over a file in `folder`.
    pub(crate) fn looped(&self, folder: &Path, bytes: u64, plan: &str) -> Result<Vec<Value>> {
        let bytes = bytes.to_string();
        let more = ["--loop", &bytes, "--time", "24h"].map(OsStr::new);
        self.trials(folder, plan, &more)
    }

    /// The same on a terminal of 120 columns and 40 rows, with an option more.
    pub(crate) fn on_a_terminal(
        &self,
        script: &Path,
        (folder, bytes): (&Path, u64),
        plan: &str,
        option: &str,
    ) -> Result<Vec<Value>> {
        let scratch = tempfile::tempdir()?;
        let (file, out) = (scratch.path().join("plan.toml"), scratch.path().join("out"));
        std::fs::write(&file, plan)?;
        let line = format!(
            "stty cols 120 rows 40; '{}' measure '{}' --loop {bytes} --time 24h --plan '{}' \
             --store '{}' --json {option} > '{}'",
            self.program.display(),
            folder.display(),
            file.display(),
            scratch.path().join("runs.db").display(),
            out.display()
        );
        let output = Command::new(script)
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .stdin(std::process::Stdio::null())
            .output()?;
        if !output.status.success() {
            bail!(
                "diskfacts failed: {}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
        trials_of(&std::fs::read(out)?)
    }

    /// All trials of a plan that reads a file.
    pub(crate) fn of_file(&self, file: &Path, plan: &str) -> Result<Vec<Value>> {
        self.trials(file, plan, &["--time", "24h"].map(OsStr::new))
    }

    /// Does a plan of one trial that writes, to a file that may be overwritten.
    /// Nanoseconds per write in system calls: the mean latency of the writes, which
    /// has that of a sync after each, and the share of a write in a sync at the end.
    pub(crate) fn write(&self, path: &Path, plan: &Plan) -> Result<f64> {
        let destroy = [OsStr::new("--destroy-data-on"), path.as_os_str()];
        let trial = self.trial(path, &file::print(plan), &destroy)?;
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        let write_ns = number(&trial["latency_ns"]["mean"])?;
        let at_end = plan
            .stages
            .first()
            .is_some_and(|stage| stage.workload.sync.at_end());
        if !at_end {
            return Ok(write_ns);
        }
        let sync_ns = number(&trial["evidence"]["issued"]["final_sync_ns"])?;
        Ok(write_ns + sync_ns / number(&trial["ops"])?)
    }

    /// A plan of bonnie's stages in a folder, as the CSV of bonnie++.
    pub(crate) fn bonnie(
        &self,
        folder: &Path,
        bytes: u64,
        plan: &str,
        more: &[&str],
    ) -> Result<String> {
        let store = tempfile::tempdir()?;
        let file = store.path().join("plan.toml");
        std::fs::write(&file, plan)?;
        let output = Command::new(&self.program)
            .args(["measure", "--style", "classic-csv", "--plan"])
            .arg(&file)
            .args(["--size", &bytes.to_string()])
            .args(more)
            .arg("--store")
            .arg(store.path().join("runs.db"))
            .arg(folder)
            .output()?;
        if !output.status.success() {
            bail!(
                "diskfacts failed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn run(&self, target: &Path, stage: &str) -> Result<Figures> {
        let plan = format!(
            "name = \"bench\"\ntrials = 1\n[[stage]]\nname = \"s\"\noperation = \"read\"\n{stage}"
        );
        let trial = self.trial(target, &plan, &[])?;
        let number = |value: &Value| value.as_f64().context("a figure is missing");
        Ok(Figures {
            iops: number(&trial["iops"])?,
            user_ns: number(&trial["cpu"]["user_ns_per_io"])?,
            system_ns: number(&trial["cpu"]["system_ns_per_io"])?,
        })
    }

    pub(crate) fn null(&self, depth: u32, seconds: f64) -> Result<Figures> {
        let file = filled_file(&std::env::temp_dir(), 4 << 20)?;
        let stage = format!(
            "engine = \"null\"\ncache = \"buffered\"\nqueue_depth = {depth}\ntime = \"{}ms\"\n",
            seconds * 1e3
        );
        self.run(file.path(), &stage)
    }

    pub(crate) fn cached(&self, path: &Path, depth: u32, seconds: f64) -> Result<Figures> {
        let stage = format!(
            "engine = \"io_uring\"\ncache = \"warm\"\nqueue_depth = {depth}\ntime = \"{}ms\"\n",
            seconds * 1e3
        );
        self.run(path, &stage)
    }

    pub(crate) fn direct(&self, path: &Path, depth: u32, seconds: f64) -> Result<Figures> {
        let stage = format!(
            "engine = \"io_uring\"\ncache = \"direct\"\nqueue_depth = {depth}\ntime = \"{}ms\"\n",
            seconds * 1e3
        );
        self.run(path, &stage)
    }
}
