//! Stages that work on the files of a folder: nothing of them stays, whatever
//! ends them, and nothing that belongs to others is touched.

use crate::support::{Case, MIB, trials};
use diskfacts_testkit::{Running, Tmpfs, or_skip};
use std::fs;
use std::path::Path;

/// Files that are looked up one a second: it goes on until it is stopped.
const SLOW: &str = "operation = \"stat\"\nfiles = 200\nrate = 1\ntime = \"10min\"";
const LEFT: &str = ".diskfacts-files-";

fn listed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            entry.file_name().to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

/// Starts it, and returns when its files are made, in another folder than this.
fn start(case: &Case, folder: &Path, but_for: &str) -> Running {
    let running = case
        .measure_stage(folder, SLOW)
        .args(["--explain", "--size", "4MiB"])
        .start();
    while !listed(folder).iter().any(|name| {
        let files = folder.join(name).join("000");
        name.starts_with(LEFT)
            && name != but_for
            && fs::read_dir(files).is_ok_and(|files| files.count() == 200)
    }) {
        std::thread::yield_now();
    }
    running
}

#[test]
fn files_are_created_looked_up_and_deleted_in_a_folder_that_is_empty_afterwards() {
    let case = Case::new();
    let folder = case.folder("data");
    for operation in ["create", "stat", "delete"] {
        let stage = format!(
            "operation = \"{operation}\"\nfiles = 300\nfile_size_min = \"1KiB\"\n\
             file_size_max = \"9KiB\"\nfolders = 3\nstreams = 2"
        );
        let finished = case
            .measure_stage(&folder, &stage)
            .args(["--size", "4MiB"])
            .run();
        finished.expect_code(0).expect_stdout("files/s");
        assert!(!finished.stdout.contains("served by"), "{finished}");
        assert_eq!(listed(&folder), [""; 0]);
        let document = case.last();
        let trial = &trials(&document)[0];
        assert_eq!(trial["ops"], 300);
        assert_eq!(trial["workload"]["operation"], operation);
        assert_eq!(trial["workload"]["files"]["folders"], 3);
        assert_eq!(trial["layers"]["unknown"], 1.0);
        assert!(document["figures"][0]["cpu_share"].as_f64() > Some(0.0));
    }
}

#[test]
fn ctrl_c_among_the_files_leaves_none_of_them() {
    let case = Case::new();
    let folder = case.folder("data");
    let running = start(&case, &folder, "");
    running.interrupt();
    running.finish().expect_code(130);
    assert_eq!(listed(&folder), [""; 0]);
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_and_a_living_one_keeps_its_own() {
    let case = Case::new();
    let folder = case.folder("data");
    let running = start(&case, &folder, "");
    running.kill();
    drop(running.finish());
    let [left] = &listed(&folder)[..] else {
        panic!("one folder is left: {:?}", listed(&folder));
    };
    let theirs = Case::new();
    let living = start(&theirs, &folder, left);
    // The living one has already removed it.
    let [own] = &listed(&folder)[..] else {
        panic!("one folder is in use: {:?}", listed(&folder));
    };
    assert_ne!(own, left);

    let finished = case
        .measure_stage(&folder, "operation = \"create\"\nfiles = 50")
        .arg("--explain")
        .args(["--size", "4MiB"])
        .run();
    finished.expect_code(0);
    assert_eq!(listed(&folder), std::slice::from_ref(own));
    living.interrupt();
    let finished = living.finish();
    finished
        .expect_code(130)
        .expect_stdout("which a killed diskfacts had")
        .expect_stdout(left);
    assert_eq!(listed(&folder), [""; 0]);
}

#[test]
fn a_folder_of_somebody_else_with_a_name_as_ours_is_named_and_left_alone() {
    let case = Case::new();
    let folder = case.folder("data");
    let theirs = folder.join(format!("{LEFT}0123456789abcdef"));
    fs::create_dir(&theirs).expect("a folder");
    fs::write(theirs.join("0000000000aaaaaaaa"), "years of work").expect("a file");
    let finished = case
        .measure_stage(&folder, "operation = \"delete\"\nfiles = 50")
        .arg("--explain")
        .args(["--size", "4MiB"])
        .run();
    finished
        .expect_code(0)
        .expect_stdout("alone")
        .expect_stdout("it has no mark of diskfacts");
    assert_eq!(
        fs::read_to_string(theirs.join("0000000000aaaaaaaa")).expect("the file"),
        "years of work"
    );
}

#[test]
fn no_room_for_the_files_fails_with_what_to_do() {
    let tmpfs = or_skip!(Tmpfs::new(64 * MIB));
    let case = Case::new();
    // So many that they do not fit, however long a busy machine takes for them.
    let large = "files = 2000\nfile_size_min = \"64KiB\"\nfile_size_max = \"64KiB\"\n\
                 operations = 2000";
    let finished = case
        .measure_stage(tmpfs.path(), &format!("operation = \"create\"\n{large}"))
        .arg("--explain")
        .args(["--size", "4MiB"])
        .run();
    finished
        .expect_code(1)
        .expect_stdout("FAILED")
        .expect_stdout("No space left on device")
        .expect_stdout("first at file ")
        .expect_stdout("n/a files/s");
    assert_eq!(listed(tmpfs.path()), [""; 0]);

    let finished = case
        .measure_stage(tmpfs.path(), &format!("operation = \"stat\"\n{large}"))
        .arg("--explain")
        .args(["--size", "4MiB"])
        .run();
    finished
        .expect_code(1)
        .expect_stderr("making the files in ")
        .expect_stderr("`df -i`")
        .expect_stderr("No space left on device");
    assert_eq!(listed(tmpfs.path()), [""; 0]);
}

#[test]
fn a_range_of_sizes_that_is_upside_down_is_refused() {
    let case = Case::new();
    let folder = case.folder("data");
    let program = case.measure_stage(
        &folder,
        "operation = \"create\"\nfile_size_min = \"9KiB\"\nfile_size_max = \"1KiB\"",
    );
    case.refuses(
        &program,
        &["file_size_min: 9 KiB is more than the 1 KiB of file_size_max"],
    );
    let program = case.measure_stage(&folder, "operation = \"read\"\nfiles = 3");
    case.refuses(&program, &["files: only operation = \"create\""]);
}

#[test]
fn where_there_are_no_files_such_stages_are_left_out_or_refused() {
    let case = Case::new();
    let program = case.measure_stage(Path::new("sim:ssd-sata"), "operation = \"create\"");
    case.refuses(&program, &["works on files", "name a folder"]);
    let file = case.data_file("data.bin", 4 * MIB);
    let program = case.measure_stage(&file, "operation = \"stat\"");
    case.refuses(&program, &["works on files", "is a file"]);
    case.run([
        "measure",
        "--explain",
        "sim:ssd-sata",
        "--plan",
        "bonnie",
        "--time",
        "2s",
    ])
    .expect_code(0)
    .expect_stdout("Left out the stages that work on files (seq-create,");
}
