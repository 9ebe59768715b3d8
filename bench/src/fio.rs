//! Runs of fio.

use crate::alternate::Figures;
use crate::ours::warm;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// fio's name and version, if it is installed.
pub(crate) fn version() -> Option<String> {
    let output = Command::new("fio").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The job of a run with these options, as fio reports it.
fn job(arguments: &[String]) -> Result<Value> {
    let output = Command::new("fio")
        .args(["--name=s", "--thread"])
        .args(["--output-format=json", "--group_reporting"])
        .args(arguments)
        .output()
        .context("starting fio")?;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // Messages may stand before the document.
    let start = text.find('{').context("fio printed no JSON")?;
    let mut document: Value = serde_json::from_str(&text[start..]).context("reading fio's JSON")?;
    Ok(document["jobs"][0].take())
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().context("a figure is missing in fio's JSON")
}

/// Writes from front to back, one block at a time, with system calls. Nanoseconds
/// per write in these calls: the mean latency of the writes and, with a sync every
/// `writes_per_sync` writes, the share of a write in that of the syncs.
pub(crate) fn write(path: &Path, options: &str, writes_per_sync: Option<u64>) -> Result<f64> {
    // What is there already is overwritten, as diskfacts does; and no time goes into
    // changing all of a block before each write.
    let mut arguments =
        words("--rw=write --ioengine=psync --iodepth=1 --overwrite=1 --scramble_buffers=0");
    arguments.push(format!("--filename={}", path.display()));
    arguments.extend(words(options));
    let job = job(&arguments)?;
    let write_ns = number(&job["write"]["clat_ns"]["mean"])?;
    let Some(writes_per_sync) = writes_per_sync else {
        return Ok(write_ns);
    };
    let sync = &job["sync"]["lat_ns"];
    // Not `total_ios`, which leaves fdatasync out (fio 3.33).
    if number(&sync["N"])? < 1.0 {
        bail!("fio did not sync with {options}");
    }
    Ok(write_ns + number(&sync["mean"])? / writes_per_sync as f64)
}

fn run(seconds: f64, arguments: &[String]) -> Result<Figures> {
    let mut all = words("--rw=randread --bs=4k --time_based");
    all.push(format!("--runtime={}ms", seconds * 1e3));
    all.extend_from_slice(arguments);
    let job = job(&all)?;
    let operations = number(&job["read"]["total_ios"])?;
    let runtime_ns = number(&job["job_runtime"])? * 1e6;
    let per_io = |percent: f64| percent / 100.0 * runtime_ns / operations;
    Ok(Figures {
        iops: number(&job["read"]["iops"])?,
        user_ns: per_io(number(&job["usr_cpu"])?),
        system_ns: per_io(number(&job["sys_cpu"])?),
    })
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

pub(crate) fn null(depth: u32, seconds: f64, no_map: bool) -> Result<Figures> {
    let mut arguments = words("--ioengine=null --size=1g");
    arguments.push(format!("--iodepth={depth}"));
    arguments.extend(no_map.then(|| "--norandommap".to_owned()));
    run(seconds, &arguments)
}

fn uring(path: &Path, depth: u32, seconds: f64, direct: bool, tuned: bool) -> Result<Figures> {
    let mut arguments = words("--ioengine=io_uring");
    arguments.push(format!("--filename={}", path.display()));
    arguments.push(format!("--iodepth={depth}"));
    arguments.push(format!("--direct={}", u8::from(direct)));
    // fio drops the file from the page cache before it begins, unless told not
    // to; the cached case needs it there.
    arguments.push(format!("--invalidate={}", u8::from(direct)));
    if tuned {
        arguments.extend(words("--fixedbufs --registerfiles --norandommap"));
    }
    run(seconds, &arguments)
}

pub(crate) fn cached(path: &Path, depth: u32, seconds: f64, tuned: bool) -> Result<Figures> {
    warm(path)?;
    uring(path, depth, seconds, false, tuned)
}

pub(crate) fn direct(path: &Path, depth: u32, seconds: f64, tuned: bool) -> Result<Figures> {
    uring(path, depth, seconds, true, tuned)
}
