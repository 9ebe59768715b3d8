//! The old tools beside ours, in alternation, on the same file of a real
//! filesystem: whether they give the same figures for the same work.
//!
//! | peer | ours | work |
//! | --- | --- | --- |
//! | `dd` | `diskfacts dd`, the same operands | reads and writes, buffered, direct, synced |
//! | `hdparm -T`, `-t` | `--plan hdparm`, its stages | the same 2 MiB from memory; the file from its beginning |
//!
//! Before each run the file is written back and dropped from the page cache. Two
//! medians agree when they differ by less than the larger of the spreads of their
//! repeats.

use crate::Options;
use crate::ours::{Diskfacts, filled_file, warm};
use crate::writes::Spread;
use anyhow::{Context, Result, bail};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

/// What hdparm calls a MB, bytes.
const HDPARM_MB: f64 = 1_048_576.0;

/// Bytes of the file that hdparm reads. `hdparm -t` reads for three seconds and
/// gives no figure when the file ends before, so a disk of up to 2.8 GB/s is met.
const HDPARM_FILE_BYTES: u64 = 8 << 30;

/// What dd is asked to do with the file; `IN` and `OUT` stand for it.
const COPIES: [(&str, &str); 6] = [
    ("read 4 KiB, buffered", "if=IN of=/dev/null bs=4k"),
    ("read 1 MiB, buffered", "if=IN of=/dev/null bs=1M"),
    (
        "read 1 MiB, direct",
        "if=IN of=/dev/null bs=1M iflag=direct",
    ),
    (
        "write 64 KiB, direct",
        "if=/dev/zero of=OUT bs=64k conv=notrunc oflag=direct",
    ),
    (
        "write 1 MiB, direct",
        "if=/dev/zero of=OUT bs=1M conv=notrunc oflag=direct",
    ),
    (
        "write 1 MiB, conv=fdatasync",
        "if=/dev/zero of=OUT bs=1M conv=notrunc,fdatasync",
    ),
];

/// The timings of hdparm: its option, and our stage.
const TIMINGS: [(&str, &str); 2] = [("-T", "cached"), ("-t", "disk")];

/// All cases; those whose peer is missing are named and left out.
pub(crate) fn cases(options: &Options) -> Result<bool> {
    let diskfacts = Diskfacts::find()?;
    println!(
        "the old tools beside diskfacts, {} rounds in alternation; MB/s (10^6): median (smallest \
         to largest)",
        options.rounds
    );
    let file = filled_file(&options.folder, options.file_bytes)?;
    let path = file.path();
    // The first reading of a new file is slower, whoever does it: what lies below this
    // machine has not seen it either.
    settle(path)?;
    warm(path)?;
    let (mut agree, mut all) = (0, 0);
    if present("dd", "coreutils") {
        for (name, operands) in COPIES {
            let operands = filled_in(operands, path, options.file_bytes);
            let agrees = compare(
                (&format!("dd: {name}"), "dd"),
                options.rounds,
                path,
                &|| diskfacts.copy(&operands, path),
                &|| dd(&operands),
            )?;
            agree += usize::from(agrees == Some(true));
            all += usize::from(agrees.is_some());
        }
    }
    if present("hdparm", "hdparm") {
        drop(file);
        let bytes = if options.small {
            options.file_bytes
        } else {
            HDPARM_FILE_BYTES
        };
        let file = filled_file(&options.folder, bytes)?;
        let path = file.path();
        for (option, stage) in TIMINGS {
            let agrees = compare(
                (&format!("hdparm {option}"), "hdparm"),
                options.rounds,
                path,
                &|| diskfacts.hdparm(path, stage).map(Some),
                &|| hdparm(path, option),
            )?;
            agree += usize::from(agrees == Some(true));
            all += usize::from(agrees.is_some());
        }
    }
    println!("{agree} of {all} agree within the spread of their repeats");
    // In the small mode the figures mean nothing.
    Ok(agree == all || options.small)
}

/// Whether a peer is installed; says what to type if not.
fn present(program: &str, package: &str) -> bool {
    let present = Command::new(program).arg("--version").output().is_ok()
        || Command::new(program).arg("-V").output().is_ok();
    if !present {
        println!("{program} is missing, so it was not compared: apt-get install {package}");
    }
    present
}

fn filled_in(operands: &str, path: &Path, bytes: u64) -> Vec<String> {
    let path = path.display().to_string();
    let mut words: Vec<String> = operands
        .split_whitespace()
        .map(|word| match word {
            "if=IN" => format!("if={path}"),
            "of=OUT" => format!("of={path}"),
            other => other.to_owned(),
        })
        .collect();
    if operands.contains("of=OUT") {
        words.push(format!("count={bytes}"));
        words.push("iflag=count_bytes".to_owned());
    }
    words
}

/// A figure, or `None` where the tool gave none.
type Measure<'a> = &'a dyn Fn() -> Result<Option<f64>>;

/// Runs both in turn and prints what came of it; `None` where the peer gave no
/// figure.
fn compare(
    (name, peer): (&str, &str),
    rounds: usize,
    path: &Path,
    ours: Measure<'_>,
    theirs: Measure<'_>,
) -> Result<Option<bool>> {
    let (mut mine, mut others) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for turn in 0..2 {
            settle(path)?;
            if (round + turn) % 2 == 0 {
                mine.extend(ours()?);
            } else {
                others.extend(theirs()?);
            }
        }
    }
    println!("{name}");
    if mine.is_empty() || others.is_empty() {
        println!("  {peer} gave no figure: the file ends before its time does");
        return Ok(None);
    }
    let (mine, others) = (Spread::of(mine), Spread::of(others));
    let agrees = mine.agrees(&others);
    let told = |who: &str, spread: &Spread| {
        format!(
            "  {who:<9} median {:>9.1} ({:.1} to {:.1})",
            spread.median, spread.low, spread.high
        )
    };
    println!("{}", told("diskfacts", &mine));
    println!(
        "{}   ratio {:.3}: {}",
        told(peer, &others),
        mine.median / others.median,
        if agrees { "agree" } else { "DIFFER" }
    );
    Ok(Some(agrees))
}

/// Nothing of the file is dirty or cached after this.
fn settle(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

fn checked(output: &Output, what: &str) -> Result<String> {
    if !output.status.success() {
        bail!("{what} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    // dd and hdparm differ in where they say it.
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    Ok(text)
}

/// MB/s of GNU dd, from its bytes and seconds.
fn dd(operands: &[String]) -> Result<Option<f64>> {
    let output = Command::new("dd")
        .env("LC_ALL", "C")
        .args(operands)
        .output()
        .context("starting dd")?;
    rate_of_dd(&checked(&output, "dd")?).map(Some)
}

/// From `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.519 s, 2.1 GB/s`.
fn rate_of_dd(text: &str) -> Result<f64> {
    let line = text
        .lines()
        .find(|line| line.contains(" copied, "))
        .context("dd printed no summary")?;
    let (before, behind) = line.split_once(" copied, ").context("a summary of dd")?;
    let bytes = before.split_whitespace().next().context("bytes of dd")?;
    let seconds = behind.split_whitespace().next().context("seconds of dd")?;
    Ok(bytes.parse::<f64>()? / seconds.parse::<f64>()? / 1e6)
}

/// MB/s of hdparm; `None` when the file was at its end too early.
fn hdparm(path: &Path, option: &str) -> Result<Option<f64>> {
    let output = Command::new("hdparm")
        .arg(option)
        .arg(path)
        .output()
        .context("starting hdparm")?;
    rate_of_hdparm(&String::from_utf8_lossy(&output.stdout))
}

/// From ` Timing cached reads:   38120 MB in  1.99 seconds = 19160.44 MB/sec`.
fn rate_of_hdparm(text: &str) -> Result<Option<f64>> {
    let Some(line) = text.lines().find(|line| line.contains(" seconds = ")) else {
        return Ok(None);
    };
    let numbers: Vec<f64> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [mib, seconds, _] = numbers[..] else {
        bail!("no line of hdparm: {line}");
    };
    Ok(Some(mib * HDPARM_MB / seconds / 1e6))
}

impl Diskfacts {
    /// MB/s of `diskfacts dd` with the same operands.
    fn copy(&self, operands: &[String], path: &Path) -> Result<Option<f64>> {
        let folder = tempfile::tempdir()?;
        let mut command = self.command();
        command
            .arg("dd")
            .args(operands)
            .args(["--style", "classic", "--store"])
            .arg(folder.path().join("runs.db"));
        if operands.iter().any(|word| word.starts_with("if=/dev/zero")) {
            command.arg("--destroy-data-on").arg(path);
        }
        let text = checked(&command.output()?, "diskfacts dd")?;
        rate_of_dd(&text).map(Some)
    }

    /// MB/s of a stage of the plan `hdparm`.
    fn hdparm(&self, path: &Path, stage: &str) -> Result<f64> {
        let folder = tempfile::tempdir()?;
        let output = self
            .command()
            .arg("measure")
            .arg(path)
            .args(["--plan", "hdparm", "--trials", "1", "--stage", stage])
            .args(["--style", "classic", "--store"])
            .arg(folder.path().join("runs.db"))
            .output()?;
        let text = checked(&output, "diskfacts measure --plan hdparm")?;
        rate_of_hdparm(&text)?.context("diskfacts printed no line of hdparm")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_worked_out_from_what_the_tools_print() {
        let dd = "3+1 records in\n3+1 records out\n2000000 bytes (2.0 MB, 1.9 MiB) copied, 0.5 s, 4.0 MB/s\n";
        assert!((rate_of_dd(dd).expect("a rate") - 4.0).abs() < 1e-9);
        assert!(rate_of_dd("dd: failed").is_err());
        let hdparm = "\nx:\n Timing cached reads:   6106 MB in  2.00 seconds = 3048.36 MB/sec\n";
        let rate = rate_of_hdparm(hdparm).expect("a line").expect("a rate");
        assert!((rate - 3201.3).abs() < 0.1, "{rate}");
        let early = "\nx:\n Timing buffered disk reads: read() hit EOF - device too small\n";
        assert_eq!(rate_of_hdparm(early).expect("no line"), None);
    }

    #[test]
    fn operands_name_the_file() {
        let path = Path::new("/srv/f");
        let words = filled_in("if=/dev/zero of=OUT bs=1M", path, 4096);
        assert_eq!(
            words,
            [
                "if=/dev/zero",
                "of=/srv/f",
                "bs=1M",
                "count=4096",
                "iflag=count_bytes"
            ]
        );
    }
}
