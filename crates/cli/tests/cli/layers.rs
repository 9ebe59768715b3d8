//! The share of the page cache against the truth: the same real file, read cold,
//! warm and half warm.
//!
//! # Why these shares are exact
//! Each trial reads the file once, in order, from its first byte to its last
//! (`bytes` is the size of the file). What read-ahead fetches early is then
//! asked for later in the same trial, and behind the end of the file there is
//! nothing to fetch: every byte that is not cached beforehand is fetched exactly
//! once, whatever the read-ahead does. Random reads would not do: those of the
//! same block a second time are served from the cache, and the kernel reads
//! ahead where it thinks that it sees a pattern.
//!
//! The test warms its half by itself, with read-ahead switched off for its own
//! open file (`POSIX_FADV_RANDOM`), and `diskfacts` leaves the cache as it is
//! (`cache = "buffered"`). What lay in the cache before the trial is in the
//! evidence, by `cachestat(2)` or `mincore(2)`: another witness than the bytes
//! that were fetched.
//!
//! # Why 2 %
//! The filesystem's own metadata is fetched by the same process (some KiB of
//! 64 MiB). 2 % is also where diskfacts itself calls a disagreement of its
//! witnesses a finding.
//!
//! # When the kernel takes pages away
//! It may do so at any time: when memory is short, or because nobody used them of late
//! (`mm/damon/`; on one machine that took a thirty-second of the file in one pass of
//! twenty). Then the trial is right and the test's premise is not. The kernel counts
//! the pages that had been taken and came back (`workingset_refault_file`,
//! mm/workingset.c), and those of the file that did not (`evicted_bytes`, by
//! `cachestat(2)`); a pass in which there were such is made again.

use crate::support::{Case, MIB, number, rules, trials};
use diskfacts_testkit::Finished;
use rustix::fs::{Advice, fadvise};
use serde_json::Value;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SIZE: u64 = 64 * MIB;
const TOLERANCE: f64 = 0.02;
/// Share of the file that the kernel may have taken away for a pass to count.
const TAKEN: f64 = 0.002;
/// How often a pass is made, the last time whatever the kernel takes.
const TRIES: u32 = 10;

/// Empties the cache of the file, and reads `from..to` of it back.
fn warm_only(file: &Path, from: u64, to: u64) {
    let file = File::open(file).expect("the file");
    fadvise(&file, 0, None, Advice::DontNeed).expect("an empty cache");
    fadvise(&file, 0, None, Advice::Random).expect("no read-ahead");
    let mut piece = vec![0; 1 << 17];
    let mut offset = from;
    while offset < to {
        file.read_exact_at(&mut piece, offset).expect("reading");
        offset += piece.len() as u64;
    }
}

/// One pass over the file, with this cache mode: what was printed, and the trial.
fn one_pass(case: &Case, file: &Path, cache: &str) -> (Finished, Value) {
    let stage = format!(
        "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
         cache = \"{cache}\"\nbytes = \"64MiB\""
    );
    let finished = case.measure_stage(file, &stage).arg("--explain").run();
    finished.expect_code(0);
    let document = case.last();
    let trial = &trials(&document)[0];
    assert_eq!(trial["bytes"], SIZE);
    (finished, trial.clone())
}

/// A pass in which the kernel left alone what this part of the file had in the cache.
fn pass_with_cached(
    case: &Case,
    file: &Path,
    cached: &Range<u64>,
    cache: &str,
) -> (Finished, Value) {
    let mut tries = 0;
    loop {
        tries += 1;
        let before = refaults();
        warm_only(file, cached.start, cached.end);
        let (finished, trial) = one_pass(case, file, cache);
        let back = (refaults() - before) * rustix::param::page_size() as u64;
        // Before Linux 6.5 it is not known.
        let gone = &trial["evidence"]["residency_after"]["evicted_bytes"];
        let taken = back + gone.as_u64().unwrap_or(0);
        if taken as f64 <= TAKEN * SIZE as f64 || tries == TRIES {
            return (finished, trial);
        }
    }
}

/// Pages of files that the kernel had taken away and that were read again, since the
/// machine was started.
fn refaults() -> u64 {
    let vmstat = std::fs::read_to_string("/proc/vmstat").expect("the counters");
    let mut lines = vmstat.lines();
    // One counter for both kinds before Linux 5.9.
    let line = lines.find_map(|line| line.strip_prefix("workingset_refault_file "));
    line.map_or(0, |count| count.parse().expect("a count"))
}

#[track_caller]
fn near(what: &str, is: &Value, should: f64) {
    let is = number(is);
    assert!(
        (is - should).abs() <= TOLERANCE,
        "{what}: {is}, not {should}"
    );
}

/// Share of the span that was in the cache before the trial.
fn resident_before(trial: &Value) -> Value {
    let before = &trial["evidence"]["residency_before"];
    assert_eq!(before["span_bytes"], SIZE);
    Value::from(number(&before["cached_bytes"]) / number(&before["span_bytes"]))
}

#[test]
fn the_share_of_the_page_cache_is_right_cold_warm_and_half_warm() {
    let case = Case::new();
    let file = case.data_file("file", SIZE);
    let devices = case.run(["devices", "--json", &file.to_string_lossy()]);
    let document: Value = serde_json::from_str(&devices.stdout).expect("JSON");
    let stack = document["stack"]["devices"].as_array().expect("a list");
    if stack.is_empty() {
        diskfacts_testkit::skip("a disk under the target folder: set CARGO_TARGET_DIR to one");
        return;
    }

    for (name, cache, cached, share) in [
        // `cold` drops what is cached: so let there be something to drop.
        ("cold", "cold", 0..SIZE, 0.0),
        // `warm` reads what is not: so let there be nothing.
        ("warm", "warm", 0..0, 1.0),
        // `buffered` takes the cache as it is.
        ("as it is: nothing", "buffered", 0..0, 0.0),
        ("as it is: the first half", "buffered", 0..SIZE / 2, 0.5),
        ("as it is: the second half", "buffered", SIZE / 2..SIZE, 0.5),
        ("as it is: a quarter", "buffered", SIZE / 4..SIZE / 2, 0.25),
        ("as it is: all", "buffered", 0..SIZE, 1.0),
    ] {
        let (_, trial) = pass_with_cached(&case, &file, &cached, cache);
        let layers = &trial["layers"];
        near(&format!("{name}: page cache"), &layers["page_cache"], share);
        near(&format!("{name}: device"), &layers["device"], 1.0 - share);
        near(
            &format!("{name}: cached before"),
            &resident_before(&trial),
            share,
        );
        // What was read is in the cache afterwards, but for direct I/O.
        let after = &trial["evidence"]["residency_after"]["cached_bytes"];
        near(
            &format!("{name}: cached after"),
            &Value::from(number(after) / SIZE as f64),
            1.0,
        );
    }

    // Past the cache, even when all of it is cached.
    let (_, trial) = pass_with_cached(&case, &file, &(0..SIZE), "direct");
    if trial["evidence"]["engine"]["direct"] == true {
        near("direct: page cache", &trial["layers"]["page_cache"], 0.0);
        near("direct: device", &trial["layers"]["device"], 1.0);
    } else {
        diskfacts_testkit::skip("direct I/O in the target folder: set CARGO_TARGET_DIR to a disk");
    }
}

#[test]
fn a_figure_of_the_cache_is_called_one() {
    let case = Case::new();
    let file = case.data_file("file", SIZE);
    let (finished, trial) = pass_with_cached(&case, &file, &(0..SIZE), "buffered");
    // What the kernel took away meanwhile (see above) is seen in the digits.
    let share = number(&trial["layers"]["page_cache"]);
    assert!(share >= 1.0 - TOLERANCE, "{share}:\n{finished}");
    let digits = if share < 0.9995 { "9" } else { "100 %" };
    finished.expect_stdout(&format!("page cache {digits}"));
    assert!(rules(&case.last()).contains(&"served-from-cache"));
}
