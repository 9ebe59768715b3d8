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
//! 64 MiB), and the kernel may drop pages when memory is short. 2 % is also
//! where diskfacts itself calls a disagreement of its witnesses a finding.

use crate::support::{Case, MIB, number, rules, trials};
use rustix::fs::{Advice, fadvise};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SIZE: u64 = 64 * MIB;
const TOLERANCE: f64 = 0.02;

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

/// One pass over the file, with this cache mode.
fn one_pass(case: &Case, file: &Path, cache: &str) -> Value {
    let stage = format!(
        "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
         cache = \"{cache}\"\nbytes = \"64MiB\""
    );
    case.measure_stage(file, &stage).run().expect_code(0);
    let document = case.last();
    let trial = &trials(&document)[0];
    assert_eq!(trial["bytes"], SIZE);
    trial.clone()
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
        warm_only(&file, cached.start, cached.end);
        let trial = one_pass(&case, &file, cache);
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
    warm_only(&file, 0, SIZE);
    let trial = one_pass(&case, &file, "direct");
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
    warm_only(&file, 0, SIZE);
    case.measure_stage(
        &file,
        "operation = \"read\"\npattern = \"sequential\"\nblock_size = \"128KiB\"\n\
         cache = \"buffered\"\nbytes = \"64MiB\"",
    )
    .run()
    .expect_code(0)
    .expect_stdout("page cache 100 %");
    assert!(rules(&case.last()).contains(&"served-from-cache"));
}
