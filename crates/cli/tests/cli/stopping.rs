//! Ctrl-C, SIGTERM, SIGHUP, SIGQUIT and SIGKILL in each phase: nothing is left behind, and what
//! was complete is kept.

use crate::support::{Case, Content, KIB, MIB, free_blocks, one_stage, trials, write_data};
use diskfacts_testkit::{
    FilesystemKind, LoopDevice, Missing, MountedFilesystem, Running, Throttle, ThrottleGroup,
    or_skip,
};
use rustix::fs::{Advice, fadvise};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Two stages of one trial each; with [`SEED`] the short one comes first.
const SHORT_THEN_LONG: &str = "\
name = \"stopped\"
trials = 1

[[stage]]
name = \"short\"
operation = \"read\"
operations = 10

[[stage]]
name = \"long\"
operation = \"read\"
time = \"10min\"
";
const SEED: &str = "1";

fn start(case: &Case, target: &Path, more: &[&str]) -> Running {
    let plan = case.text_file("plan.toml", SHORT_THEN_LONG);
    case.diskfacts(["measure", "--size", "8MiB", "--seed", SEED, "--plan"])
        .args([plan.as_path(), target])
        .args(more)
        .start()
}

#[test]
fn ctrl_c_in_a_trial_keeps_the_trials_before_it() {
    let case = Case::new();
    let folder = case.folder("data");
    let running = start(&case, &folder, &[]);
    running.wait_for_stderr("stage 1 of 2: short");
    running.interrupt();
    let finished = running.finish();
    finished
        .expect_code(130)
        .expect_stdout("INTERRUPTED")
        .expect_stdout("short: ")
        .expect_stderr("stopped by Ctrl-C; 1 complete trial is stored");
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
    let document = case.last();
    assert_eq!(document["run"]["status"], "interrupted");
    assert!(document["run"]["ended"].is_string());
    assert_eq!(trials(&document).len(), 1);
    assert_eq!(trials(&document)[0]["stage"], "short");
    case.run(["runs"])
        .expect_code(0)
        .expect_stdout("interrupted");
}

#[test]
fn sigterm_ends_a_trial_as_ctrl_c_does() {
    let case = Case::new();
    let folder = case.folder("data");
    let running = start(&case, &folder, &["--json"]);
    running.wait_for_stderr("stage 1 of 2: short");
    running.terminate();
    let finished = running.finish();
    // 128 + 15, as a shell reports a process that SIGTERM ended.
    finished.expect_code(143).expect_stderr("SIGTERM");
    let document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(document["run"]["status"], "interrupted");
    assert_eq!(document, case.last());
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}

/// A filesystem that is slow for the processes in the group.
pub(crate) struct Slow {
    pub(crate) group: ThrottleGroup,
    mounted: MountedFilesystem,
}

impl Slow {
    pub(crate) fn to_read(read_bytes_per_s: u64) -> Result<Self, Missing> {
        Self::new(Throttle {
            read_bytes_per_s: Some(read_bytes_per_s),
            ..Throttle::default()
        })
    }

    pub(crate) fn to_write(write_bytes_per_s: u64) -> Result<Self, Missing> {
        Self::new(Throttle {
            write_bytes_per_s: Some(write_bytes_per_s),
            ..Throttle::default()
        })
    }

    fn new(throttle: Throttle) -> Result<Self, Missing> {
        let mounted = MountedFilesystem::new(FilesystemKind::Ext4, 256 * MIB)?;
        let group = ThrottleGroup::new(mounted.device(), throttle)?;
        Ok(Self { group, mounted })
    }

    /// Where it is mounted.
    pub(crate) fn folder(&self) -> &Path {
        self.mounted.path()
    }

    /// A file on it of which nothing is in memory.
    pub(crate) fn cold_file(&self, bytes: u64) -> PathBuf {
        let path = self.mounted.path().join("file");
        write_data(&path, bytes);
        let file = File::open(&path).expect("the file");
        fadvise(&file, 0, None, Advice::DontNeed).expect("an empty cache");
        path
    }
}

#[test]
fn ctrl_c_while_the_file_is_filled_gives_all_room_back() {
    // 96 MiB take 6 s: the signal comes while they are written.
    let slow = or_skip!(Slow::to_write(16 * MIB));
    let folder = slow.mounted.path();
    let (before, free) = (Content::of(folder), free_blocks(folder));
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let case = Case::new();
        let running = case
            .diskfacts(["measure", "--size", "96MiB"])
            .arg(folder)
            .inside(&slow.group)
            .start();
        running.wait_for_stderr("filling a file of 96 MiB");
        if signal == "INT" {
            running.interrupt();
        } else {
            running.terminate();
        }
        let finished = running.finish();
        finished
            .expect_code(code)
            .expect_stderr("stopped before anything was measured")
            .expect_stderr("nothing is left behind");
        assert_eq!(finished.stdout, "");
        assert_eq!(Content::of(folder), before);
        assert_eq!(free_blocks(folder), free);
        case.run(["runs"])
            .expect_code(0)
            .expect_stdout("No run is stored yet");
    }
}

#[test]
fn ctrl_c_while_a_device_is_filled_says_that_what_was_written_stays() {
    let device = or_skip!(LoopDevice::new(64 * MIB));
    let throttle = Throttle {
        write_bytes_per_s: Some(4 * MIB),
        ..Throttle::default()
    };
    let group = or_skip!(ThrottleGroup::new(&device, throttle));
    let case = Case::new();
    let name = device.path().display().to_string();
    let running = case
        .measure_stage(device.path(), "operation = \"read\"\nvalues = \"fill\"")
        .args(["--destroy-data-on", &name])
        .inside(&group)
        .start();
    running.wait_for_stderr(&format!("filling 64 MiB of {name} with values"));
    running.interrupt();
    running.finish().expect_code(130).expect_stderr(&format!(
        "stopped before anything was measured; what was written on {name} stays written"
    ));
}

/// Whether the process has not ended.
fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    state.is_some_and(|state| state != b'Z')
}

#[test]
fn ctrl_c_between_trials_does_not_wait_for_the_cache_to_be_warmed() {
    let slow = or_skip!(Slow::to_read(4 * MIB));
    let case = Case::new();
    let file = slow.cold_file(64 * MIB);
    // Before the trial the whole file is read, which takes 16 s here.
    let running = case
        .measure_stage(
            &file,
            "operation = \"read\"\ncache = \"warm\"\ntime = \"1s\"",
        )
        .inside(&slow.group)
        .start();
    let served = || slow.group.operations().expect("the group's counters");
    while served() < 4 && runs(running.id()) {
        std::thread::yield_now();
    }
    running.interrupt();
    running
        .finish()
        .expect_code(130)
        .expect_stdout("INTERRUPTED")
        .expect_stderr("0 complete trials");
    // It did not read on.
    assert!(served() < 40, "{}", served());
    let document = case.last();
    assert_eq!(document["run"]["status"], "interrupted");
    assert_eq!(trials(&document).len(), 0);
}

#[test]
fn a_stage_whose_cache_cannot_be_filled_in_the_time_is_left_out_and_said() {
    let slow = or_skip!(Slow::to_read(4 * MIB));
    let case = Case::new();
    let file = slow.cold_file(64 * MIB);
    let plan = "name = \"test\"\ntrials = 2\n\n[[stage]]\nname = \"warm\"\n\
                operation = \"read\"\ncache = \"warm\"\n\n[[stage]]\nname = \"direct\"\n\
                operation = \"read\"\ncache = \"direct\"\n";
    let plan = case.text_file("plan.toml", plan);
    let finished = case
        .diskfacts(["measure", "--explain", "--time", "2s", "--plan"])
        .args([&plan, &file])
        .inside(&slow.group)
        .run();
    // Reading the file takes 16 s here, of which it has 2.
    finished
        .expect_code(0)
        .expect_stdout("Left out warm: reading the 64 MiB that it uses into memory was given 2 s");
    let document = case.last();
    let trials = trials(&document);
    let is_direct = |trial: &serde_json::Value| trial["stage"] == "direct";
    assert!(
        !trials.is_empty() && trials.iter().all(is_direct),
        "{trials:?}"
    );
}

#[test]
fn stages_for_which_slow_write_back_leaves_no_time_are_left_out_and_named() {
    let slow = or_skip!(Slow::to_write(4 * MIB));
    let case = Case::new();
    // Each leaves the whole file to be written back, 2 s of it: 24 s in all.
    let stages: Vec<String> = (0..12)
        .map(|number| {
            format!(
                "[[stage]]\nname = \"write-{number}\"\noperation = \"write\"\n\
                 pattern = \"sequential\"\nblock_size = \"64KiB\"\ncache = \"buffered\"\n"
            )
        })
        .collect();
    let plan = format!("name = \"test\"\ntrials = 1\n\n{}", stages.join("\n"));
    let plan = case.text_file("plan.toml", &plan);
    let finished = case
        .diskfacts([
            "measure",
            "--explain",
            "--time",
            "8s",
            "--size",
            "8MiB",
            "--plan",
        ])
        .arg(&plan)
        .arg(slow.mounted.path())
        .inside(&slow.group)
        .run();
    let document = case.last();
    let measured = trials(&document).len();
    assert!((1..12).contains(&measured), "{finished}");
    finished.expect_code(0).expect_stdout(&format!(
        "no trial of {} of 12 stages (write-",
        12 - measured
    ));
}

#[test]
fn a_loop_device_whose_file_is_slow_to_fill_is_as_short_as_the_file() {
    let slow = or_skip!(Slow::to_write(4 * MIB));
    let case = Case::new();
    let plan = one_stage("operation = \"read\"\ncache = \"direct\"\noperations = 10");
    let plan = case.text_file("plan.toml", &plan);
    let finished = case
        .diskfacts([
            "measure",
            "--explain",
            "--time",
            "12s",
            "--loop",
            "64MiB",
            "--plan",
        ])
        .arg(&plan)
        .arg(slow.mounted.path())
        .inside(&slow.group)
        .run();
    // Filling it would take 16 s, of which it has 4.
    finished
        .expect_code(0)
        .expect_stdout("instead of 64 MiB: filling it is given a third of the time");
    let document = case.last();
    let size = document["target"]["size_bytes"].as_u64().expect("a size");
    assert!((4 * MIB..64 * MIB).contains(&size), "{size}");
    assert_eq!(document["stack"]["devices"][0]["size_bytes"], size);
    assert_eq!(document["target"]["extents"]["span_bytes"], size);
}

#[test]
fn a_plan_that_a_slow_disk_has_no_time_to_make_the_file_for_is_told_how_much_it_takes() {
    let slow = or_skip!(Slow::to_write(4 * MIB));
    let case = Case::new();
    let plan = one_stage("operation = \"read\"\nspan = \"64MiB\"\noperations = 10");
    let plan = case.text_file("plan.toml", &plan);
    let finished = case
        .diskfacts(["measure", "--time", "6s", "--size", "64MiB", "--plan"])
        .arg(&plan)
        .arg(slow.mounted.path())
        .inside(&slow.group)
        .run();
    // 8 MiB in its third of 6 s; a cache on the way may take some more.
    finished
        .expect_code(2)
        .expect_stderr("64 MiB from 0B goes beyond the end of the target")
        .expect_stderr("A third of --time goes into filling the file, and in that")
        .expect_stderr("of its 64 MiB could be written: give --time");
    let left = fs::read_dir(slow.mounted.path()).expect("the folder");
    assert!(
        left.flatten()
            .all(|entry| entry.file_name() == "lost+found")
    );
}

/// Bytes that were written to a device, by its own counters.
fn written_to(device: &Path) -> u64 {
    let name = device.file_name().expect("a device").to_string_lossy();
    let counters = fs::read_to_string(format!("/sys/block/{name}/stat")).expect("its counters");
    // In sectors of 512 bytes, whatever the device has (Documentation/block/stat.rst of Linux).
    let sectors = counters.split_whitespace().nth(6).expect("a column");
    sectors.parse::<u64>().expect("a number") * 512
}

#[test]
fn values_that_cannot_be_written_in_the_time_are_refused_with_the_time_they_take() {
    let slow = or_skip!(Slow::to_write(4 * MIB));
    let case = Case::new();
    let file = slow.mounted.path().join("file");
    write_data(&file, 64 * MIB);
    let plan =
        one_stage("operation = \"read\"\npattern = \"random\"\nvalues = \"fill\"\noperations = 10");
    let plan = case.text_file("plan.toml", &plan);
    let device = slow.mounted.device().path();
    let before = written_to(device);
    let finished = case
        .diskfacts(["measure", "--time", "6s", "--destroy-data-on"])
        .args([&file, &file, Path::new("--plan"), &plan])
        .inside(&slow.group)
        .run();
    // 8 MiB in its third of 6 s; all of it would take 16 s.
    finished
        .expect_code(2)
        .expect_stderr("A third of --time goes into filling the target with values, and in that")
        .expect_stderr("of its 64 MiB could be written: give --time")
        .expect_stderr("A span that is filled in part cannot be checked, so nothing was measured");
    assert_eq!(finished.stdout, "");
    let written = written_to(device) - before;
    // Not all of it; how far it comes before it notices depends on how busy the machine is.
    assert!((MIB..64 * MIB).contains(&written), "{written} bytes");
    case.run(["runs"])
        .expect_code(0)
        .expect_stdout("No run is stored yet");
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    // Half a minute for each MiB: the first Ctrl-C has to wait for that.
    let slow = or_skip!(Slow::to_read(32 * KIB));
    let case = Case::new();
    let file = slow.cold_file(16 * MIB);
    let running = case
        .measure_stage(
            &file,
            "operation = \"read\"\ncache = \"warm\"\ntime = \"1s\"",
        )
        .inside(&slow.group)
        .start();
    let stored = || case.run(["runs"]).stdout.contains("running");
    while !stored() && runs(running.id()) {}
    // Two that come close together may be one: so as many as it takes.
    while runs(running.id()) {
        running.interrupt();
        std::thread::yield_now();
    }
    let finished = running.finish();
    finished.expect_code(130);
    assert_eq!(finished.stdout, "");
    case.run(["runs"]).expect_code(0).expect_stdout("killed");
}

#[test]
fn sigkill_leaves_no_file_and_its_complete_trials() {
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 64 * MIB));
    let folder = mounted.path();
    let (before, free) = (Content::of(folder), free_blocks(folder));
    let case = Case::new();
    let running = start(&case, folder, &[]);
    running.wait_for_stderr("stage 1 of 2: short");
    assert!(free_blocks(folder) < free);
    case.run(["runs"]).expect_code(0).expect_stdout("running");
    running.kill();
    let finished = running.finish();
    assert_eq!(finished.code(), None, "{finished}");

    case.run(["runs"]).expect_code(0).expect_stdout("killed");
    case.run(["show"])
        .expect_code(0)
        .expect_stdout("NOT FINISHED")
        .expect_stdout("short: ");
    let document = case.last();
    assert_eq!(document["run"]["status"], "running");
    assert!(document["run"]["ended"].is_null());
    assert_eq!(trials(&document).len(), 1);
    assert_eq!(Content::of(folder), before);
    // The kernel takes the rings of a killed process apart after it is gone;
    // its nameless file goes with them.
    for _ in 0..1_000_000 {
        if free_blocks(folder) == free {
            break;
        }
        std::thread::yield_now();
    }
    assert_eq!(free_blocks(folder), free);
    // And the next run finds a store that works.
    case.diskfacts(["measure", "--time", "1s", "--stage", "random-read-qd1"])
        .arg(folder)
        .run()
        .expect_code(0);
}

#[test]
fn nobody_reading_what_it_says_does_not_stop_a_measurement() {
    let case = Case::new();
    let folder = case.folder("data");
    // As `diskfacts measure . 2>&1 | head -1` does it.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_diskfacts"))
        .args(["measure", "--time", "1s", "--size", "8MiB", "--store"])
        .args([&case.store(), &folder])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starting diskfacts");
    drop((child.stdout.take(), child.stderr.take()));
    let status = child.wait().expect("its end");
    assert_eq!(status.code(), Some(0));
    assert_eq!(case.last()["run"]["status"], "complete");
}

/// A file that is written through the page cache by a plan of one trial.
fn buffered_write(case: &Case, file: &Path, time: &str) -> diskfacts_testkit::Program {
    let plan = one_stage(
        "operation = \"write\"\npattern = \"sequential\"\nblock_size = \"1MiB\"\n\
         cache = \"buffered\"\nbytes = \"32MiB\"",
    );
    let plan = case.text_file("plan.toml", &plan);
    case.diskfacts(["measure", "--time", time, "--plan"])
        .args([&plan, file])
        .arg("--destroy-data-on")
        .arg(file)
}

#[test]
fn write_back_after_the_last_trial_has_the_time_of_the_run_and_what_is_left_is_said() {
    let slow = or_skip!(Slow::to_write(2 * MIB));
    let case = Case::new();
    let file = slow.cold_file(32 * MIB);
    let finished = buffered_write(&case, &file, "1s")
        .arg("--explain")
        .inside(&slow.group)
        .run();
    // It would take 16 s.
    finished
        .expect_code(0)
        .expect_stdout("not all written back when the time was over");
    assert_eq!(case.last()["run"]["status"], "complete");
}

#[test]
fn ctrl_c_ends_the_write_back_after_the_last_trial_and_keeps_the_trial() {
    let slow = or_skip!(Slow::to_write(MIB));
    let case = Case::new();
    let file = slow.cold_file(32 * MIB);
    let running = buffered_write(&case, &file, "10min")
        .inside(&slow.group)
        .start();
    let kept = || case.run(["show", "--explain"]).stdout.contains("stage: ");
    running.wait_until("its trial is stored", kept);
    running.interrupt();
    running
        .finish()
        .expect_code(130)
        .expect_stderr("1 complete trial is stored");
    assert_eq!(trials(&case.last()).len(), 1);
}

/// A run that makes so many files in a folder that it is still about it when it is stopped.
fn making_files(case: &Case, folder: &Path) -> [OsString; 5] {
    let plan = one_stage("operation = \"create\"\nfiles = 400000");
    let plan = case.text_file("plan.toml", &plan);
    let words: [&OsStr; 5] = [
        "measure".as_ref(),
        "--time=10min".as_ref(),
        "--plan".as_ref(),
        plan.as_ref(),
        folder.as_ref(),
    ];
    words.map(OsStr::to_owned)
}

fn has_entries(folder: &Path) -> bool {
    fs::read_dir(folder).expect("the folder").count() > 0
}

/// Whether this process, and so what it starts, ignores a signal.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("this process");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = u64::from_str_radix(mask.expect("its signals").trim(), 16).expect("a mask");
    mask & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn a_terminal_that_is_closed_and_sigquit_end_a_run_as_sigterm_does() {
    for (signal, code, name) in [(Signal::HUP, 129, "SIGHUP"), (Signal::QUIT, 131, "SIGQUIT")] {
        if is_ignored(signal) {
            diskfacts_testkit::skip(&format!("{name} is ignored here"));
            continue;
        }
        let case = Case::new();
        let folder = case.folder("data");
        let running = case.diskfacts(making_files(&case, &folder)).start();
        running.wait_until("it made files", || has_entries(&folder));
        running.signal(signal);
        running
            .finish()
            .expect_code(code)
            .expect_stderr(&format!("stopped by {name}"));
        assert!(!has_entries(&folder), "{name}");
        assert_eq!(case.last()["run"]["status"], "interrupted", "{name}");
    }
}

#[test]
fn a_signal_that_is_ignored_from_outside_stays_ignored() {
    let case = Case::new();
    let folder = case.folder("data");
    // As nohup does it.
    let running = diskfacts_testkit::Program::new("/bin/sh")
        .args(["-c", "trap '' HUP QUIT; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_diskfacts"))
        .arg("--store")
        .arg(case.store())
        .args(making_files(&case, &folder))
        .start();
    running.wait_until("it made files", || has_entries(&folder));
    running.signal(Signal::HUP);
    running.signal(Signal::QUIT);
    running.terminate();
    // Had it taken one of the two, the third would have been the second.
    let finished = running.finish();
    finished
        .expect_code(143)
        .expect_stderr("stopped by SIGTERM");
    assert!(!has_entries(&folder));
}
