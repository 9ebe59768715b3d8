//! The cells of the plan `write-matrix` beside fio, where both go through the
//! same system calls: `pwrite(2)` of a whole block, from front to back, over
//! blocks that exist and of which nothing is in the page cache.
//!
//! | diskfacts | fio |
//! | --- | --- |
//! | past the page cache | `--direct=1` |
//! | fdatasync, fsync after each write | `--fdatasync=1`, `--fsync=1` |
//! | the same once in the end | `--fdatasync=N`, `--fsync=N`, and one block more than N |
//! | `O_DSYNC`, `O_SYNC` | `--sync=dsync`, `--sync=sync` |
//! | an aligned buffer, one that is not | `--iomem_align=4k`, `--iomem_align=1` |
//!
//! What is compared is **the time of the system calls per write**: the mean latency
//! of the writes, and that of the sync over the writes that it makes durable. What
//! each tool does between its calls is in neither, so the tools' own speed does not
//! count here, and fio's whole time, which it tells in milliseconds, is not needed.
//!
//! fio times every sync but that of `--end_fsync=1`. A sync after N writes is the
//! same call after the same writes; fio makes it when it is about to write once
//! more, hence the block more. fio aligns buffers for direct I/O only: those of
//! buffered writes lie 16 bytes behind a page unless told otherwise, and copying from
//! there took 150 instead of 115 microseconds per MiB. And it asks for no huge pages,
//! where diskfacts does from 2 MiB on: a direct write of 8 MiB took 3.9 ms without
//! and 2.4 ms with them. So both do without (`PR_SET_THP_DISABLE`). These figures are
//! of one machine with fio 3.33.
//!
//! The two agree when their medians differ by no more than the larger of the spreads
//! of their repeats.

use crate::ours::{Diskfacts, filled_file};
use crate::{Options, fio};
use anyhow::{Context, Result};
use diskfacts_plan::units::show_size;
use diskfacts_plan::{BufferAlignment, CacheMode, Plan, Stop, SyncMode, Workload, WriteMode};
use rustix::fs::Advice;
use std::fs::File;
use std::path::Path;

/// Most seconds that a run writes: half a second has hundreds of the slowest
/// writes with a sync each.
const SECONDS_MAX: f64 = 0.5;

/// Most bytes that a run writes: those of a cell of the plan.
const BYTES_MAX: u64 = 128 << 20;

/// Most writes of a run that ends with one sync, so that small ones end as well.
const WRITES_MAX: u64 = 8192;

/// Block sizes that are compared unless all are asked for: a commit, a page of a
/// database, a large write, and one beyond a huge page.
const SIZES: [u64; 4] = [4 << 10, 64 << 10, 1 << 20, 8 << 20];

/// The cells of the plan with these block sizes; with all sizes, when none is given.
fn cells(sizes: &[u64]) -> Result<Vec<(WriteMode, Workload)>> {
    let plan = diskfacts_plan::builtin::plan("write-matrix")
        .context("the plan write-matrix is not built in")?;
    let mut cells: Vec<(WriteMode, Workload)> = plan
        .stages
        .into_iter()
        .filter(|stage| sizes.is_empty() || sizes.contains(&stage.workload.block_size))
        .filter_map(|stage| Some((WriteMode::of(&stage.workload)?, stage.workload)))
        .collect();
    cells.sort_by_key(|(mode, workload)| (workload.block_size, mode.rank()));
    Ok(cells)
}

/// Each cell in turn.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    let Some(version) = fio::version() else {
        println!("fio is missing, so nothing was compared: apt-get install fio");
        return Ok(options.small);
    };
    let sizes = match (options.small, options.all_sizes) {
        (true, _) => &SIZES[1..2],
        (false, true) => &[],
        (false, false) => &SIZES[..],
    };
    let cells = cells(sizes)?;
    let diskfacts = Diskfacts::find()?;
    // Whom this process starts inherits it.
    rustix::thread::disable_transparent_huge_pages(true)
        .context("doing without huge pages (PR_SET_THP_DISABLE)")?;
    println!(
        "{version} beside diskfacts, {} rounds in alternation; microseconds per write, in the \
         system calls\n(the write, and its share of the sync): median (smallest to largest)",
        options.rounds
    );
    let bytes = options.file_bytes.min(BYTES_MAX);
    let largest = cells.iter().map(|(_, workload)| workload.block_size).max();
    // fio writes one block more than it syncs.
    let file = filled_file(&options.folder, bytes + largest.unwrap_or(0))?;
    let mut differ = Vec::new();
    for (mode, workload) in &cells {
        let case = Case {
            path: file.path(),
            cell: workload,
            bytes,
            seconds: options.seconds.min(SECONDS_MAX),
        };
        let name = format!("{} {mode}", show_size(workload.block_size));
        println!("{name}");
        if !case.compare(&diskfacts, options.rounds)? {
            differ.push(name);
        }
    }
    println!(
        "{} of {} ways agree with fio within the spread of their repeats",
        cells.len() - differ.len(),
        cells.len()
    );
    if !differ.is_empty() {
        println!("not: {}", differ.join(", "));
    }
    // In the small mode the figures mean nothing.
    Ok(differ.is_empty() || options.small)
}

/// One way to write one size, the same by both.
struct Case<'a> {
    path: &'a Path,
    cell: &'a Workload,
    /// Bytes of the file that may be written.
    bytes: u64,
    /// Seconds after which a run ends that is not to sync once in the end.
    seconds: f64,
}

impl Case<'_> {
    /// What ends a run. With one sync in the end both write the same amount, so
    /// that both sync as much.
    fn stop(&self) -> Stop {
        let writes = self.bytes / self.cell.block_size;
        if self.cell.sync.at_end() {
            return Stop {
                operations: Some(writes.clamp(1, WRITES_MAX)),
                ..Stop::default()
            };
        }
        Stop {
            // Well below what 64 bits hold.
            time_ns: Some((self.seconds * 1e9) as u64),
            operations: Some(writes.max(1)),
            ..Stop::default()
        }
    }

    fn ours(&self, diskfacts: &Diskfacts) -> Result<f64> {
        let workload = Workload {
            stop: self.stop(),
            span: Some(self.bytes),
            ..self.cell.clone()
        };
        let plan = Plan {
            name: "bench".to_owned(),
            about: String::new(),
            trials: 1,
            time_ns: None,
            until: diskfacts_plan::Until::default(),
            precondition: Vec::new(),
            stages: vec![diskfacts_plan::Stage {
                name: "s".to_owned(),
                about: String::new(),
                workload,
                settings: std::collections::BTreeMap::new(),
                kernel: std::collections::BTreeMap::new(),
                full: None,
            }],
        };
        diskfacts.write(self.path, &plan)
    }

    /// The options of fio for it, and how many writes each sync makes durable.
    fn options(&self) -> (String, Option<u64>) {
        let block = self.cell.block_size;
        let Stop {
            time_ns,
            operations,
            ..
        } = self.stop();
        let writes = operations.unwrap_or(1);
        let (sync, writes_per_sync) = match self.cell.sync {
            SyncMode::None => (String::new(), None),
            SyncMode::ODsync => ("--sync=dsync".to_owned(), None),
            SyncMode::OSync => ("--sync=sync".to_owned(), None),
            SyncMode::Fdatasync => ("--fdatasync=1".to_owned(), Some(1)),
            SyncMode::Fsync => ("--fsync=1".to_owned(), Some(1)),
            SyncMode::FdatasyncAtEnd => (format!("--fdatasync={writes}"), Some(writes)),
            SyncMode::AtEnd => (format!("--fsync={writes}"), Some(writes)),
        };
        let more = u64::from(self.cell.sync.at_end());
        let runtime = time_ns.map_or_else(String::new, |ns| format!("--runtime={}us", ns / 1000));
        let direct = u8::from(self.cell.cache == CacheMode::Direct);
        let align = match self.cell.buffer {
            BufferAlignment::Aligned => "4k",
            BufferAlignment::Unaligned => "1",
        };
        let options = format!(
            "--bs={block} --size={} --direct={direct} --iomem_align={align} {runtime} {sync}",
            (writes + more) * block
        );
        (options, writes_per_sync)
    }

    fn theirs(&self) -> Result<f64> {
        let (options, writes_per_sync) = self.options();
        fio::write(self.path, &options, writes_per_sync)
    }

    /// Runs both in turn and prints what came of it.
    fn compare(&self, diskfacts: &Diskfacts, rounds: usize) -> Result<bool> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            for turn in 0..2 {
                self.settle()?;
                if (round + turn) % 2 == 0 {
                    ours.push(self.ours(diskfacts)?);
                } else {
                    theirs.push(self.theirs()?);
                }
            }
        }
        let (ours, theirs) = (Spread::of(ours), Spread::of(theirs));
        let agrees = ours.agrees(&theirs);
        println!("  diskfacts {}", ours.told());
        println!(
            "  fio       {}   ratio {:.3}: {}",
            theirs.told(),
            ours.median / theirs.median,
            if agrees { "agree" } else { "DIFFER" }
        );
        Ok(agrees)
    }

    /// What the run before left to be written back is not the next one's, and the
    /// next begins with nothing of the file in memory, whoever it is.
    fn settle(&self) -> Result<()> {
        let file = File::open(self.path)?;
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)
            .with_context(|| format!("dropping {} from the page cache", self.path.display()))
    }
}

/// Repeats of one figure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Of one value or more.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Self {
            low: values[0],
            median,
            high: values[values.len() - 1],
        }
    }

    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let spread = (self.high - self.low).max(other.high - other.low);
        (self.median - other.median).abs() <= spread
    }

    fn told(&self) -> String {
        format!(
            "median {:>9.2} ({:.2} to {:.2})",
            self.median / 1e3,
            self.low / 1e3,
            self.high / 1e3
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_agree_when_they_differ_by_less_than_the_larger_spread() {
        let noisy = Spread::of(vec![120.0, 80.0, 100.0]);
        let near = Spread::of(vec![139.0, 140.0, 139.5]);
        let far = Spread::of(vec![141.0, 141.5, 142.0]);
        assert!(noisy.agrees(&near) && near.agrees(&noisy));
        assert!(!noisy.agrees(&far) && !near.agrees(&far));
        assert!((Spread::of(vec![1.0, 3.0]).median - 2.0).abs() < 1e-12);
    }
}
