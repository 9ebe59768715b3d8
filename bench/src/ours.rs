//! Runs of diskfacts.

use crate::alternate::Figures;
use anyhow::{Context, Result, bail};
use diskfacts_plan::rng::Rng;
use serde_json::Value;
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

/// Reads a file, so that it lies in the page cache.
pub(crate) fn warm(path: &Path) -> Result<()> {
    std::io::copy(&mut std::fs::File::open(path)?, &mut std::io::sink())?;
    Ok(())
}

impl Diskfacts {
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

    fn run(&self, target: &Path, stage: &str) -> Result<Figures> {
        let folder = tempfile::tempdir()?;
        let plan = folder.path().join("plan.toml");
        std::fs::write(
            &plan,
            format!(
                "name = \"bench\"\ntrials = 1\n[[stage]]\nname = \"s\"\noperation = \"read\"\n{stage}"
            ),
        )?;
        let output = Command::new(&self.program)
            .arg("measure")
            .arg(target)
            .arg("--plan")
            .arg(&plan)
            .arg("--store")
            .arg(folder.path().join("runs.db"))
            .arg("--json")
            .output()?;
        if !output.status.success() {
            bail!(
                "diskfacts failed: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let run: Value = serde_json::from_slice(&output.stdout)?;
        let trial = &run["trials"][0];
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
