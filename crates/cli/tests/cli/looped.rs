//! `--loop`: a block device to try things on, of which nothing stays.

use crate::support::{Case, number, rules, trials};
use diskfacts_testkit::{LoopDevice, or_skip, require_root};
use std::fs;
use std::path::Path;

/// How often it is looked whether a device is gone: some seconds in all.
const LOOKS: u32 = 20_000;

/// Whether loop devices can be made here: the same that the tests' own need.
fn loops() -> Result<(), diskfacts_testkit::Missing> {
    require_root()?;
    LoopDevice::new(1 << 20).map(drop)
}

/// The backing file of the loop device at this path; `None` once it is detached.
fn backing(device: &str) -> Option<String> {
    let name = Path::new(device).file_name()?.to_str()?;
    fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()
}

/// Waits until no loop device stands on a file of this folder.
#[track_caller]
fn nothing_stays(folder: &Path) {
    assert_eq!(fs::read_dir(folder).expect("the folder").count(), 0);
    let shown = folder.display().to_string();
    let stands = || {
        (0..64).any(|n| backing(&format!("/dev/loop{n}")).is_some_and(|on| on.starts_with(&shown)))
    };
    // The kernel detaches a little after the last close.
    for _ in 0..LOOKS {
        if !stands() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("a loop device stays over a file in {shown}");
}

#[test]
fn a_folder_lends_a_device_and_a_file_beside_it() {
    or_skip!(loops());
    let case = Case::new();
    let folder = case.folder("data");
    let finished = case
        .diskfacts([
            "measure",
            "--explain",
            "--loop",
            "16MiB",
            "--time",
            "4s",
            "--trials",
            "1",
        ])
        .args(["--plan", "raw-vs-block"])
        .arg(&folder)
        .run();
    finished
        .expect_code(0)
        .expect_stdout("a loop device of 16 MiB over a new file in")
        .expect_stdout("What the device saw")
        .expect_stdout("both are gone when");
    nothing_stays(&folder);
    let document = case.last();
    assert_eq!(document["target"]["kind"], "loop");
    let devices = document["stack"]["devices"].as_array().expect("devices");
    let device = document["target"]["path"].as_str().expect("a path");
    assert_eq!(devices[0]["path"], device);
    assert_eq!(devices[0]["kind"], "loop");
    // What lies under the folder lies under the device.
    assert_eq!(
        devices[0]["below"].as_array().map_or(0, Vec::len) > 0,
        devices.len() > 1
    );
    let stages: Vec<&str> = trials(&document)
        .iter()
        .filter_map(|t| t["stage"].as_str())
        .collect();
    for stage in ["block", "raw", "file"] {
        assert!(stages.contains(&stage), "{stages:?}");
    }
    let of = |stage: &str| {
        let mut trials = trials(&document).iter();
        trials
            .find(|trial| trial["stage"] == stage)
            .expect("its trial")
    };
    // What was written through the cache reached the device by the fsync.
    let block = of("block");
    let written = number(&block["evidence"]["devices"][0]["write_bytes"]);
    assert!(
        written >= number(&block["bytes"]).min(16e6) * 0.9,
        "{block}"
    );
    let raw = &of("raw")["evidence"]["devices"][0];
    let size = number(&raw["write_bytes"]) / number(&raw["writes"]);
    assert!((size - 16384.0).abs() < 1.0, "{raw}");
    let name = devices[0]["name"].as_str();
    let beside = of("file")["evidence"]["devices"]
        .as_array()
        .expect("devices");
    assert!(
        beside.iter().all(|device| device["name"].as_str() != name),
        "{beside:?}"
    );
    assert!(!rules(&document).contains(&"io-errors"));
}

#[test]
fn a_killed_measurement_leaves_neither_device_nor_file() {
    or_skip!(loops());
    let case = Case::new();
    let folder = case.folder("data");
    let running = case
        .diskfacts([
            "measure", "--loop", "8MiB", "--time", "60s", "--plan", "hdparm",
        ])
        .arg(&folder)
        .start();
    case.wait_for_a_trial(&running);
    running.kill();
    running.finish();
    nothing_stays(&folder);
}

#[test]
fn hdparm_and_dd_have_their_classic_lines_on_a_loop_device() {
    or_skip!(loops());
    let case = Case::new();
    let folder = case.folder("data");
    let classic = |plan: &str, time: &str| {
        case.diskfacts(["measure", "--loop", "8MiB", "--trials", "1"])
            .args(["--style", "classic", "--plan", plan, "--time", time])
            .arg(&folder)
            .run()
    };
    let hdparm = classic("hdparm", "4s");
    hdparm.expect_code(0);
    for line in [
        "\n/dev/loop",
        " Timing cached reads:   ",
        " Timing buffered disk reads:   8 MB in ",
        " Timing O_DIRECT disk reads: ",
    ] {
        hdparm.expect_stdout(line);
    }
    // Each stage ends when it has gone through the device.
    let dd = classic("dd", "60s");
    dd.expect_code(0).expect_stdout("bs=64k count=");
    assert_eq!(dd.stdout.lines().count(), 20, "{dd}");
    nothing_stays(&folder);
}

#[test]
fn only_a_folder_lends_a_device_and_only_one_that_fits() {
    let case = Case::new();
    let file = case.data_file("file", 1 << 20);
    for target in [file.as_path(), Path::new("sim:ssd-sata")] {
        let program = case.diskfacts(["measure", "--loop", "8MiB"]).arg(target);
        case.refuses(&program, &["--loop makes a loop device", "is not one"]);
    }
    let both = case
        .diskfacts(["measure", ".", "--loop", "8MiB"])
        .args(["--size", "8MiB"]);
    case.refuses(&both, &["cannot be used with"]);
    or_skip!(loops());
    let folder = case.folder("data");
    let small = case.diskfacts(["measure", "--loop", "1MiB"]).arg(&folder);
    case.refuses(&small, &["--loop 1 MiB is too small"]);
    let large = case
        .diskfacts(["measure", "--loop", "900TiB"])
        .arg(&folder)
        .run();
    large
        .expect_code(1)
        .expect_stderr("Ask for at most --loop ");
    nothing_stays(&folder);
}
