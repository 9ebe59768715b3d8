//! The ways to write of the plan `write-matrix` beside fio's, where both go
//! through the same system calls: `pwrite(2)` of a whole block, from an aligned
//! buffer, over blocks that exist.
//!
//! | diskfacts | fio |
//! | --- | --- |
//! | direct | `--direct=1` |
//! | one fsync in the end | `--end_fsync=1` |
//! | fdatasync, fsync after each write | `--fdatasync=1`, `--fsync=1` |
//! | `O_DSYNC`, `O_SYNC` | `--sync=dsync`, `--sync=sync` |
//!
//! fio has no fdatasync in the end. What is compared is the mean time of a write
//! with its sync, without what each tool does around it; where one sync stands in
//! the end, all of the time over the number of writes. The two agree when their
//! medians differ by less than the larger of their spreads.

use crate::ours::{Count, Diskfacts, filled_file};
use crate::{Options, fio};
use anyhow::Result;
use std::path::Path;

/// A way to write: its name, its lines of a plan, its options of fio.
type Way = (&'static str, &'static str, &'static str);

const WAYS: [Way; 6] = [
    ("no sync", "", ""),
    (AT_END, "sync = \"at-end\"", "--end_fsync=1"),
    ("fdatasync", "sync = \"fdatasync\"", "--fdatasync=1"),
    ("fsync", "sync = \"fsync\"", "--fsync=1"),
    ("O_DSYNC", "sync = \"o-dsync\"", "--sync=dsync"),
    ("O_SYNC", "sync = \"o-sync\"", "--sync=sync"),
];

/// The way whose sync is not one of a write.
const AT_END: &str = "fsync at the end";

/// Most seconds of a run: a second has hundreds of the slowest writes.
const SECONDS_MAX: f64 = 1.0;

/// Block sizes: a commit, and a large write.
const SIZES: [u64; 2] = [4 << 10, 1 << 20];

/// Each way, buffered and direct, at each size.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    let Some(version) = fio::version() else {
        println!("fio is missing, so nothing was compared: apt-get install fio");
        return Ok(options.small);
    };
    let diskfacts = Diskfacts::find()?;
    println!(
        "{version} beside diskfacts, {} rounds in alternation; microseconds per write: median \
         (smallest to largest)",
        options.rounds
    );
    // Large enough that a buffered write of all of it takes a while.
    let bytes = options.file_bytes.min(256 << 20);
    let file = filled_file(&options.folder, bytes)?;
    let (mut agree, mut all) = (0, 0);
    for size in SIZES {
        for direct in [false, true] {
            for (name, lines, flags) in WAYS {
                let case = Case {
                    path: file.path(),
                    size,
                    bytes,
                    direct,
                    count: if name == AT_END {
                        Count::All
                    } else {
                        Count::Calls
                    },
                    seconds: options.seconds.min(SECONDS_MAX),
                };
                let cache = if direct { "direct" } else { "buffered" };
                println!("{} KiB, {cache}, {name}", size >> 10);
                let agrees = case.compare(&diskfacts, options.rounds, lines, flags)?;
                agree += usize::from(agrees);
                all += 1;
                file.as_file().sync_all()?;
            }
        }
    }
    println!("{agree} of {all} ways agree with fio within the spread of their repeats");
    // In the small mode the figures mean nothing.
    Ok(agree == all || options.small)
}

/// What is written, the same by both.
struct Case<'a> {
    path: &'a Path,
    size: u64,
    bytes: u64,
    direct: bool,
    /// What the time of a write is. With a sync in the end all bytes are written,
    /// so that both sync as many.
    count: Count,
    /// How long it writes otherwise.
    seconds: f64,
}

impl Case<'_> {
    fn ours(&self, diskfacts: &Diskfacts, lines: &str) -> Result<f64> {
        let cache = if self.direct { "direct" } else { "cold" };
        let stop = match self.count {
            Count::Calls => format!("time = \"{}ms\"", self.seconds * 1e3),
            Count::All => format!("bytes = \"{}B\"", self.bytes),
        };
        let stage = format!(
            "engine = \"sync\"\ncache = \"{cache}\"\nblock_size = \"{}B\"\n{stop}\n{lines}\n",
            self.size
        );
        diskfacts.write(self.path, &stage, self.count)
    }

    fn theirs(&self, flags: &str) -> Result<f64> {
        let stop = match self.count {
            Count::Calls => format!("--runtime={}ms", self.seconds * 1e3),
            Count::All => String::new(),
        };
        let direct = u8::from(self.direct);
        fio::write(
            self.path,
            &format!(
                "--bs={} --size={} --direct={direct} {stop} {flags}",
                self.size, self.bytes
            ),
            self.count,
        )
    }

    /// Runs both in turn and prints what came of it.
    fn compare(
        &self,
        diskfacts: &Diskfacts,
        rounds: usize,
        lines: &str,
        flags: &str,
    ) -> Result<bool> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            for turn in 0..2 {
                // What the run before left to be written back is not this one's.
                std::fs::File::open(self.path)?.sync_all()?;
                if (round + turn) % 2 == 0 {
                    ours.push(self.ours(diskfacts, lines)?);
                } else {
                    theirs.push(self.theirs(flags)?);
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
