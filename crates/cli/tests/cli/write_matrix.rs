//! The plan `write-matrix`, in a small variant: all ways to write at three block
//! sizes, a few writes each.

use crate::support::{Case, KIB, MIB, rules, trials, write_data};
use diskfacts_testkit::{
    DeviceClaim, FilesystemKind, LoopDevice, MountedFilesystem, or_skip, require_root, require_tool,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const SIZES: [&str; 3] = ["4KiB", "16KiB", "64KiB"];

/// The built-in plan with these sizes, and so much in a trial.
fn small(case: &Case) -> PathBuf {
    let shown = case.run(["plans", "write-matrix"]);
    shown.expect_code(0);
    let mut lines = Vec::new();
    for line in shown.stdout.lines() {
        let row = line.trim_start();
        let of_sizes = |line: &str| line.contains("iB\", ");
        if row.starts_with("\"4KiB\"") {
            lines.push(format!("{SIZES:?}").trim_matches(['[', ']']).to_owned());
        } else if row.starts_with("{ name = ") && of_sizes(row) {
            if SIZES
                .iter()
                .any(|size| row.contains(&format!("\"{size}\"")))
            {
                let (values, _) = row.split_once("full_operations").expect("an amount");
                lines.push(format!("{values} full_operations = 3 }},"));
            }
        } else if !row.starts_with("\"512KiB\"") {
            let line = line.replace("bytes = \"128MiB\"", "bytes = \"64KiB\"");
            lines.push(line.replace("span = \"128MiB\"", "span = \"1MiB\""));
        }
    }
    // The tests' own plan, so that it is not taken for the built-in one.
    let text = lines
        .join("\n")
        .replace("\"write-matrix\"", "\"small-matrix\"");
    case.text_file("small.toml", &text)
}

/// `TARGET --plan small`, and more: the amounts are small, and the time is enough for all of
/// them on a busy machine too.
fn measure(case: &Case, target: &Path, more: &[&str]) -> diskfacts_testkit::Program {
    case.diskfacts(["measure"])
        .arg(target)
        .args(["--time", "60s", "--plan"])
        .arg(small(case))
        .args(more)
}

/// A line for each of the 63 cells, in the order of the benchmark.
#[track_caller]
fn expect_classic(text: &str, target: &Path) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 63, "{text}");
    let modes: Vec<String> = diskfacts_plan::WriteMode::all()
        .map(|mode| mode.to_string())
        .collect();
    for (i, line) in lines.iter().enumerate() {
        let size = [4 * KIB, 16 * KIB, 64 * KIB][i / 21];
        let begin = format!("{size} | {} | {} | ", target.display(), modes[i % 21]);
        let rate = line
            .strip_prefix(&begin)
            .and_then(|rest| rest.strip_suffix(" MB/s"))
            .unwrap_or_else(|| panic!("{line} should begin with {begin}"));
        let rate: f64 = rate.parse().expect("a rate");
        assert!(rate > 0.0, "{line}");
    }
}

fn settings(document: &Value) -> BTreeSet<String> {
    let all = trials(document).iter();
    all.map(|trial| trial["settings"].to_string()).collect()
}

#[test]
fn a_folder_is_measured_in_every_mode_and_shown_in_both_styles() {
    let case = Case::new();
    let folder = case.folder("data");
    // The order of the trials comes from the seed.
    let finished = measure(
        &case,
        &folder,
        &["--size", "8MiB", "--seed", "7", "--explain"],
    )
    .run();
    finished
        .expect_code(0)
        .expect_stdout("2 stages in 63 cells, 1 trial of each")
        .expect_stdout("  MB/s     p50     p99 by")
        .expect_stdout("AMORTIZED_FDATASYNC + O_DIRECT")
        .expect_stdout("by is who served most bytes")
        .expect_stdout("write-choice")
        .expect_stderr("synced (block_size=64KiB, mode=O_SYNC + O_DIRECT), 1 trial: ");
    for line in finished.stdout.lines() {
        // What is to be typed stays whole.
        let typed = line.contains('`') || line.trim_start().starts_with("--settle");
        let copied = line.starts_with("Command") || typed || line.contains('/');
        assert!(line.len() <= 80 || copied, "{line}");
    }

    let document = case.last();
    assert_eq!(trials(&document).len(), 63);
    assert_eq!(settings(&document).len(), 63);
    for trial in trials(&document) {
        let workload = &trial["workload"];
        assert_eq!(trial["errors"], 0, "{trial}");
        assert_eq!(trial["evidence"]["engine"]["name"], "sync");
        // What the trial before wrote to memory is none of this one's work.
        let before = &trial["evidence"]["residency_before"];
        assert!(before["dirty_bytes"].as_u64().unwrap_or(0) == 0, "{trial}");
        let plain = !trial["settings"]["mode"]
            .as_str()
            .is_some_and(|mode| mode.contains("ALIGNED") || mode.contains("O_DIRECT"));
        let buffer = if plain { "unaligned" } else { "aligned" };
        assert_eq!(workload["buffer"], buffer, "{trial}");
        let bytes = trial["bytes"].as_u64().expect("bytes");
        assert!((1..=64 * KIB).contains(&bytes), "{trial}");
        let synced = trial["evidence"]["issued"]["syncs"].as_u64();
        let wanted = match workload["sync"].as_str() {
            Some("fsync" | "fdatasync") => trial["ops"].as_u64(),
            Some("at-end" | "fdatasync-at-end") => Some(1),
            _ => Some(0),
        };
        assert_eq!(synced, wanted, "{trial}");
    }
    assert!(rules(&document).contains(&"sync-block-size"));

    let classic = case.run(["show", "last", "--style", "classic"]);
    classic.expect_code(0);
    expect_classic(&classic.stdout, &folder);
}

#[test]
fn a_device_is_measured_in_every_mode_in_the_lines_of_the_benchmark() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(16 * MIB));
    let path = device.path().to_string_lossy().into_owned();
    let more = ["--style", "classic", "--destroy-data-on", &path];
    let finished = measure(&case, device.path(), &more).run();
    finished.expect_code(0);
    expect_classic(&finished.stdout, device.path());
    let first = finished.stdout.lines().next().expect("a line");
    assert!(
        first.starts_with(&format!("4096 | {path} | BUFFERED | ")),
        "{first}"
    );
}

#[test]
fn in_full_it_writes_the_amounts_of_the_plan_and_takes_no_share_of_the_time() {
    let case = Case::new();
    let folder = case.folder("data");
    let more = ["--size", "8MiB", "--full", "--stage", "synced"];
    case.diskfacts(["measure", "--plan"])
        .args([&small(&case), &folder])
        .args(more)
        .run()
        .expect_code(0);
    let document = case.last();
    assert_eq!(trials(&document).len(), 36);
    for trial in trials(&document) {
        assert_eq!(trial["ops"], 3, "{trial}");
        assert_eq!(trial["workload"]["stop"]["time_ns"], Value::Null);
    }
}

#[test]
fn a_plan_without_full_amounts_or_classic_lines_is_told_so() {
    let case = Case::new();
    let folder = case.folder("data");
    let survey = |more: &[&str]| case.diskfacts(["measure"]).arg(&folder).args(more);
    case.refuses(&survey(&["--full"]), &["full_bytes", "survey has none"]);
    case.refuses(
        &survey(&["--plan", "write-matrix", "--full", "--time", "5s"]),
        &["--full", "cannot be used with", "--time"],
    );
    case.refuses(
        &survey(&["--style", "classic"]),
        &["write-matrix", "survey cannot"],
    );
    case.refuses(
        &survey(&["--plan", "write-matrix", "--style", "classic", "--json"]),
        &["--style", "cannot be used with", "--json"],
    );
    case.diskfacts(["measure"])
        .arg(&folder)
        .args(["--plan", "overhead", "--size", "4MiB"])
        .run()
        .expect_code(0);
    case.run(["show", "--style", "classic"])
        .expect_code(2)
        .expect_stderr("overhead cannot");
}

#[test]
fn what_exists_is_not_written_unless_it_is_named() {
    let case = Case::new();
    let file = case.data_file("data", MIB);
    case.refuses(
        &case
            .diskfacts(["measure", "--plan", "write-matrix"])
            .arg(&file),
        &[
            "every stage of the plan write-matrix writes",
            "--destroy-data-on",
        ],
    );
}

#[test]
fn a_file_that_may_not_be_written_is_refused_with_the_reason() {
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let file = mounted.path().join("data");
    write_data(&file, MIB);
    or_skip!(mounted.remount_read_only());
    let case = Case::new();
    let program = case
        .diskfacts(["measure", "--plan", "write-matrix", "--destroy-data-on"])
        .args([&file, &file]);
    case.refuses(&program, &["Read-only file system"]);
}

#[test]
fn a_file_that_nobody_may_change_is_refused_with_what_it_may_be() {
    let chattr = or_skip!(require_tool("chattr", "e2fsprogs"));
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let file = mounted.path().join("data");
    write_data(&file, MIB);
    let mark = |flag: &str| {
        let status = Command::new(&chattr).arg(flag).arg(&file).status();
        assert!(status.expect("starting chattr").success(), "chattr {flag}");
    };
    mark("+i");
    let case = Case::new();
    let program = case
        .diskfacts(["measure", "--plan", "write-matrix", "--destroy-data-on"])
        .args([&file, &file]);
    case.refuses(&program, &["not permitted", "immutable"]);
    mark("-i");
}

#[test]
fn a_device_in_use_is_refused_with_who_holds_it() {
    let case = Case::new();
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 32 * MIB));
    let device = mounted.device().path();
    let write = |device: &Path| {
        case.diskfacts(["measure", "--plan", "write-matrix", "--destroy-data-on"])
            .args([device, device])
    };
    let umount = format!("umount {}", mounted.path().display());
    case.refuses(&write(device), &["is mounted on", &umount]);

    // A process that claims it: this one.
    let claimed = or_skip!(LoopDevice::new(16 * MIB));
    let holder = DeviceClaim::on(claimed.path()).expect("nobody else holds it");
    let me = std::process::id().to_string();
    case.refuses(&write(claimed.path()), &["is held by someone", &me]);
    holder.release();
}

#[test]
fn a_block_larger_than_the_target_is_told_once_for_all_its_cells() {
    let case = Case::new();
    let file = case.data_file("data", 32 * KIB);
    let text = std::fs::read_to_string(small(&case)).expect("the plan");
    let plan = case.text_file("unbounded.toml", &text.replace("span = \"1MiB\"", ""));
    let program = case
        .diskfacts(["measure", "--plan"])
        .arg(&plan)
        .arg("--destroy-data-on")
        .args([&file, &file]);
    let finished = program.run();
    finished
        .expect_code(2)
        .expect_stderr("synced: block_size: 64 KiB does not fit into the target, which has 32 KiB");
    let told = finished.stderr.matches("64 KiB does not fit").count();
    assert_eq!(told, 2, "once for each stage: {finished}");

    // Of several sizes that do not fit, too.
    let file = case.data_file("tiny", KIB);
    let finished = case
        .diskfacts(["measure", "--plan", "write-matrix", "--destroy-data-on"])
        .args([&file, &file])
        .run();
    finished
        .expect_code(2)
        .expect_stderr("streaming: block_size: 4 KiB to 32 MiB do not fit into the target")
        .expect_stderr("synced: block_size: 4 KiB to 32 MiB do not fit into the target");
    assert_eq!(finished.stderr.lines().count(), 4, "{finished}");
}

#[test]
fn a_filesystem_without_direct_io_is_measured_through_its_cache_and_says_so() {
    let case = Case::new();
    let ramfs = or_skip!(Ramfs::new(case.folder("ramfs")));
    let file = ramfs.at.join("data");
    write_data(&file, MIB);
    let path = file.to_string_lossy().into_owned();
    let finished = measure(&case, &file, &["--destroy-data-on", &path, "--explain"]).run();
    finished
        .expect_code(0)
        .expect_stdout("served-from-cache")
        .expect_stdout("direct-refused")
        .expect_stdout("refused means that direct I/O was refused");
    let document = case.last();
    // Of what stays in memory nothing about a drive is said.
    assert!(!rules(&document).contains(&"early-acknowledgement"));
    let direct = trials(&document)
        .iter()
        .find(|trial| trial["settings"]["mode"] == "FSYNC + O_DIRECT")
        .expect("the cell");
    assert_eq!(direct["evidence"]["engine"]["direct"], false);
    let reason = &direct["evidence"]["engine"]["direct_refused"];
    let reason = reason.as_str().expect("a reason").trim_end_matches('.');

    // Two thirds of the modes; what was not direct is not shown as direct.
    let more = ["--style", "classic", "--destroy-data-on", &path];
    let measured = measure(&case, &file, &more).run();
    for finished in [measured, case.run(["show", "--style", "classic"])] {
        finished.expect_code(0);
        assert_eq!(finished.stdout.lines().count(), 42, "{finished}");
        assert!(!finished.stdout.contains("O_DIRECT"), "{finished}");
        finished
            .expect_stderr("diskfacts: note: Left out O_DIRECT, ")
            .expect_stderr("O_SYNC + O_DIRECT: direct I/O was refused")
            .expect_stderr("diskfacts: note: A cell that is cut short")
            .expect_stderr("than with --full")
            .expect_stderr(reason);
        let told = finished.stderr.matches("direct I/O was refused").count();
        assert_eq!(told, 1, "{finished}");
    }
}

#[test]
fn a_disk_that_fills_up_fails_with_no_space_and_gives_no_line_for_what_failed() {
    let mounted = or_skip!(MountedFilesystem::new(FilesystemKind::Ext4, 16 * MIB));
    let file = mounted.path().join("sparse");
    // It claims more than the filesystem can give it.
    let sparse = std::fs::File::create(&file).expect("a file");
    sparse.set_len(64 * MIB).expect("a length");
    drop(sparse);
    let case = Case::new();
    let plan = case.text_file(
        "full.toml",
        "name = \"full\"\ntrials = 1\n[[stage]]\nname = \"write\"\noperation = \"write\"\n\
         pattern = \"sequential\"\nengine = \"sync\"\ncache = \"direct\"\nbytes = \"64MiB\"\n\
         [stage.vary]\nblock_size = [\"64KiB\", \"1MiB\"]\nsync = [\"none\", \"fsync\"]\n",
    );
    let finished = case
        .diskfacts(["measure", "--explain", "--time", "5s", "--plan"])
        .arg(&plan)
        .arg("--destroy-data-on")
        .args([&file, &file])
        .run();
    finished
        .expect_code(1)
        .expect_stdout("No space left on device")
        .expect_stdout("ERR")
        .expect_stderr("operations failed on");
    assert_eq!(rules(&case.last())[0], "io-errors");
    let classic = case.run(["show", "--style", "classic"]);
    classic.expect_code(0);
    assert_eq!(classic.stdout, "", "every cell met the end of the disk");
}

/// A mounted ramfs, which has no direct I/O.
struct Ramfs {
    at: PathBuf,
}

impl Ramfs {
    fn new(at: PathBuf) -> Result<Self, diskfacts_testkit::Missing> {
        require_root()?;
        let mount = require_tool("mount", "mount")?;
        let output = Command::new(mount)
            .args(["-t", "ramfs", "ramfs"])
            .arg(&at)
            .output()
            .expect("starting mount");
        if output.status.success() {
            return Ok(Self { at });
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(diskfacts_testkit::Missing::new("ramfs in the kernel", said))
    }
}

impl Drop for Ramfs {
    fn drop(&mut self) {
        let done = Command::new("umount").arg(&self.at).status();
        assert!(
            std::thread::panicking() || done.is_ok_and(|status| status.success()),
            "{} is still mounted",
            self.at.display()
        );
    }
}
