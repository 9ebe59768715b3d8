//! Operations that fail while it measures: counted, told, stored, exit code 1.

use crate::support::{Case, Content, MIB, diskfacts, number, rules, run_tool, trials, write_data};
use diskfacts_testkit::{DelayedDisk, LoopDevice, Tmpfs, or_skip, skip};
use std::fs::File;
use std::time::Duration;

/// Long enough that the file can be cut short during the second trial, which ends
/// after so many errors.
const LONG_READS: &str = "name = \"reads\"\ntrials = 3\n\n[[stage]]\nname = \"direct\"\noperation = \"read\"\ntime = \"2s\"\n";

#[test]
fn reads_that_fail_are_counted_told_and_stored() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    write_data(device.backing_file(), 32 * MIB);
    let plan = case.text_file("plan.toml", LONG_READS);
    let running = case
        .diskfacts(["measure", "--explain", "--plan"])
        .args([plan.as_path(), device.path()])
        .start();
    case.wait_for_a_trial(&running);
    // The file behind the device is cut short: from now on reads fail.
    File::options()
        .write(true)
        .open(device.backing_file())
        .and_then(|file| file.set_len(0))
        .expect("a shorter file");
    let finished = running.finish();
    finished
        .expect_code(1)
        .expect_stdout("failed")
        .expect_stdout("Input/output error")
        .expect_stdout("dmesg")
        .expect_stderr("operations failed on")
        .expect_stderr("diskfacts show");

    let document = case.last();
    assert_eq!(document["run"]["status"], "failed");
    let trials = trials(&document);
    assert_eq!(trials.len(), 3);
    assert_eq!(trials[0]["errors"], 0);
    assert!(number(&trials[0]["ops"]) > 0.0);
    let last = &trials[2];
    let errors = &last["evidence"]["errors"][0];
    assert!(number(&last["errors"]) > 0.0, "{last}");
    assert_eq!(last["errors"], errors["count"]);
    assert_eq!(errors["operation"], "read");
    assert_eq!(errors["errno"], rustix::io::Errno::IO.raw_os_error());
    assert_eq!(last["ops"], 0);
    assert_eq!(rules(&document)[0], "io-errors");
    // Shown again, it says the same.
    case.run(["show"])
        .expect_code(0)
        .expect_stdout("Input/output error");
    case.run(["runs"]).expect_code(0).expect_stdout("failed");
}

/// Linux: what the block layer answers for sectors that cannot be read
/// (`BLK_STS_MEDIUM` in `block/blk-core.c`).
const ENODATA: i32 = 61;

#[test]
fn a_sector_that_cannot_be_read_is_a_medium_error_at_its_place_and_no_figure() {
    let disk = or_skip!(DelayedDisk::new(8 * MIB, Duration::ZERO));
    let bad = 3 * MIB..3 * MIB + 4096;
    disk.fail(bad.clone(), ENODATA);
    // Past the page cache, and through it: there what comes before it is read, and the
    // next read has the error.
    for (cache, block) in [("direct", "4KiB"), ("buffered", "64KiB")] {
        let case = Case::new();
        let stage = format!(
            "operation = \"read\"\npattern = \"sequential\"\nengine = \"sync\"\ncache = \"{cache}\"\nblock_size = \"{block}\"\nfraction = 1"
        );
        let finished = case
            .measure_stage(disk.device().path(), &stage)
            .arg("--explain")
            .run();
        finished
            .expect_code(1)
            .expect_stdout("excluded from the results");
        let document = case.last();
        let trial = &trials(&document)[0];
        let errors = trial["evidence"]["errors"].as_array().expect("a list");
        assert_eq!(errors.len(), 1, "{cache}: {errors:?}");
        let error = &errors[0];
        assert!(
            number(&error["errno"]) > 0.0,
            "no end of the target: {error}"
        );
        let place = number(&error["lowest_offset"])..=number(&error["highest_offset"]);
        assert!(place.contains(&number(&error["first_offset"])), "{error}");
        let (low, high) = (*place.start() as u64, *place.end() as u64);
        assert!(
            low <= bad.start && bad.start - low < 64 << 10,
            "{cache}: {error}"
        );
        if cache == "direct" {
            assert_eq!((low, high), (bad.start, bad.start), "{error}");
            assert_eq!(error["errno"], ENODATA, "{error}");
            finished.expect_stdout("ENODATA, medium error");
        }
        assert!(
            document["figures"][0]["iops"]["median"].is_null(),
            "{cache}"
        );
    }
}

#[test]
fn a_device_that_stands_still_for_most_of_a_trial_is_named_with_the_trial() {
    // As many as it takes, so that the device stands still among them however busy the machine is.
    let reads = "operation = \"read\"\npattern = \"random\"\ncache = \"direct\"\nengine = \"sync\"\noperations = 3000";
    for pause in [None, Some(Duration::from_secs(3))] {
        let disk = or_skip!(DelayedDisk::new(8 * MIB, Duration::from_micros(200)));
        if let Some(pause) = pause {
            // Some of them are for who looks at a new device.
            disk.stall_after(1000, pause);
        }
        let case = Case::new();
        case.measure_stage(disk.device().path(), reads)
            .run()
            .expect_code(0);
        let document = case.last();
        let slowest = number(&trials(&document)[0]["latency_ns"]["max"]);
        let findings = document["findings"].to_string();
        // Other than shorter ones, which a busy machine makes too.
        let named = findings.contains("a quarter of or more: stage 1.");
        if pause.is_some() {
            assert!(slowest >= 3e9, "{slowest}");
            let seconds = number(&trials(&document)[0]["seconds"]);
            if seconds > 11.0 {
                return skip("this machine is too busy now for 3 s to be a quarter of a trial");
            }
            assert!(named && rules(&document).contains(&"stalled"), "{findings}");
        } else if slowest < 0.2e9 {
            assert!(!named, "{findings}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_filled_is_given_up_and_nothing_stays() {
    // A filesystem that believes in 128 MiB, on a device over a file in 24 MiB
    // of memory: writes fail with an I/O error.
    let tmpfs = or_skip!(Tmpfs::new(24 * MIB));
    let image = tmpfs.path().join("image");
    File::create(&image)
        .and_then(|file| file.set_len(128 * MIB))
        .expect("a sparse file");
    let (image, at) = (
        image.to_string_lossy().into_owned(),
        tmpfs.path().join("at"),
    );
    std::fs::create_dir(&at).expect("a folder");
    let mounted = at.to_string_lossy().into_owned();
    or_skip!(run_tool("mkfs.ext4", "e2fsprogs", &["-q", "-F", &image]));
    or_skip!(run_tool(
        "mount",
        "mount",
        &["-o", "loop", &image, &mounted]
    ));
    let case = Case::new();
    let before = Content::of(&at);
    let finished = case
        .diskfacts(["measure", "--size", "64MiB"])
        .arg(&at)
        .run();
    let after = Content::of(&at);
    or_skip!(run_tool("umount", "mount", &[&mounted]));
    finished
        .expect_code(1)
        .expect_stderr("filling the file failed in write at offset")
        // ENOSPC or EIO, by its name.
        .expect_stderr(": E")
        .expect_stderr("Nothing is left behind");
    assert_eq!(finished.stdout, "", "{finished}");
    assert_eq!(after, before);
    case.run(["runs"]).expect_stdout("No run is stored yet");
}

/// Many trials of many different latencies: more than a small store holds.
const MANY_TRIALS: &str = "\
name = \"many\"
trials = 200

[[stage]]
name = \"reads\"
operation = \"read\"
operations = 200
";

#[test]
fn a_store_that_is_full_in_the_middle_costs_the_storing_and_not_the_figures() {
    let case = Case::new();
    let tmpfs = or_skip!(Tmpfs::new(256 * 1024));
    let folder = case.folder("data");
    let plan = case.text_file("plan.toml", MANY_TRIALS);
    let store = tmpfs.path().join("runs.db");
    let finished = diskfacts(["--store"])
        .arg(&store)
        .args(["measure", "--explain", "--size", "8MiB", "--plan"])
        .args([plan, folder])
        .run();
    finished
        .expect_code(1)
        .expect_stderr(&store.to_string_lossy())
        .expect_stderr("full")
        .expect_stdout("The run ended early")
        .expect_stdout("\nreads: ");
}

/// A plan of writes through the page cache, 30 MiB a trial.
fn buffered_writes(trials: u32, engine: &str) -> String {
    format!(
        "name = \"writes\"\ntrials = {trials}\n\n[[stage]]\nname = \"writes\"\n\
         operation = \"write\"\npattern = \"sequential\"\nblock_size = \"1MiB\"\n\
         cache = \"buffered\"\nengine = \"{engine}\"\nbytes = \"30MiB\"\n"
    )
}

#[test]
fn what_could_not_be_written_back_is_an_error_of_the_trial_that_wrote_it() {
    // A file of 32 MiB that has room for less than 8 behind a device that believes in all of it.
    let tmpfs = or_skip!(Tmpfs::new(8 * MIB));
    let thin = tmpfs.path().join("thin");
    File::create(&thin)
        .and_then(|file| file.set_len(32 * MIB))
        .expect("a sparse file");
    let device = or_skip!(LoopDevice::over_file(&thin));
    for (count, engine) in [(1, "sync"), (1, "mmap"), (3, "sync")] {
        let case = Case::new();
        let plan = case.text_file("plan.toml", &buffered_writes(count, engine));
        let finished = case
            .diskfacts(["measure", "--explain", "--plan"])
            .args([plan.as_path(), device.path(), "--destroy-data-on".as_ref()])
            .arg(device.path())
            .run();
        finished
            .expect_code(1)
            .expect_stdout("write-back failed")
            .expect_stderr("(write-back: EIO");
        let document = case.last();
        assert_eq!(document["run"]["status"], "failed", "{engine}");
        assert_eq!(rules(&document)[0], "io-errors", "{engine}");
        assert_eq!(trials(&document).len(), count as usize);
        for trial in trials(&document) {
            assert_eq!(trial["errors"], 1, "{engine}: {trial}");
            let errors = &trial["evidence"]["errors"];
            assert_eq!(errors[0]["operation"], "write-back", "{errors}");
            assert_eq!(errors[0]["errno"], rustix::io::Errno::IO.raw_os_error());
        }
        assert!(document["figures"][0]["iops"]["median"].is_null());
    }
    // A device that takes all of it has no such error.
    let healthy = or_skip!(LoopDevice::new(32 * MIB));
    let case = Case::new();
    let plan = case.text_file("plan.toml", &buffered_writes(2, "sync"));
    case.diskfacts(["measure", "--explain", "--plan"])
        .args([plan.as_path(), healthy.path(), "--destroy-data-on".as_ref()])
        .arg(healthy.path())
        .run()
        .expect_code(0);
    assert_eq!(trials(&case.last())[1]["errors"], 0);
}

#[test]
fn a_run_in_which_no_operation_completed_has_failed_and_has_no_figure() {
    let case = Case::new();
    let file = case.data_file("data", MIB);
    // Arrivals of one in a second, on average: none falls into the first 5 ms of these seeds.
    let stage = "operation = \"read\"\nrate = 1\narrivals = \"poisson\"\ntime = \"5ms\"";
    let measured = |more: &str| {
        let plan = format!("{}{more}", crate::support::one_stage(stage));
        let plan = case.text_file("plan.toml", &plan);
        case.diskfacts(["measure", "--explain", "--seed", "1", "--plan"])
            .args([&plan, &file])
            .run()
    };
    measured("")
        .expect_code(1)
        .expect_stdout("stage was not measured: no operation completed")
        .expect_stderr("Nothing was measured");
    let document = case.last();
    assert_eq!(document["run"]["status"], "failed");
    assert_eq!(trials(&document)[0]["ops"], 0);
    assert!(document["figures"][0]["iops"]["median"].is_null());
    // Where another stage has a figure, the run is one.
    measured("[[stage]]\nname = \"reads\"\noperation = \"read\"\noperations = 10\n")
        .expect_code(0)
        .expect_stdout("stage was not measured: no operation completed");
}
