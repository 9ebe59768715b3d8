//! Calls that cannot be meant so: refused before anything is touched, with what
//! to type instead.

use crate::support::{Case, diskfacts};

#[test]
fn a_target_that_does_not_exist_is_named() {
    let case = Case::new();
    let missing = case.path("no such file");
    case.refuses(
        &case.diskfacts(["measure"]).arg(&missing),
        &[
            "looking at",
            "no such file",
            "No such file or directory",
            "check the spelling",
        ],
    );
    case.refuses(&case.diskfacts([&missing]), &["no such file"]);
    case.refuses(
        &case.diskfacts(["devices"]).arg(&missing),
        &["no such file", "check the spelling"],
    );
}

#[test]
fn a_path_through_a_file_says_which_part_is_wrong() {
    let case = Case::new();
    let file = case.text_file("file", "x");
    case.refuses(
        &case.diskfacts(["measure"]).arg(file.join("below")),
        &["Not a directory", "a part of the path is a file"],
    );
}

#[test]
fn what_holds_no_data_cannot_be_measured() {
    let case = Case::new();
    for path in ["/dev/null", "/dev/zero"] {
        case.refuses(
            &case.diskfacts(["measure", path]),
            &["is a character device", "name a file, a folder or a block"],
        );
    }
}

#[test]
fn a_mistyped_command_is_answered_with_the_command() {
    let case = Case::new();
    for words in [
        &["measur"][..],
        &["measur", "."],
        &["mesure", ".", "--time", "5s"],
        &["Measure", "."],
    ] {
        case.refuses(
            &case.diskfacts(words).current_dir(case.path("")),
            &["did you mean the command `diskfacts measure`?"],
        );
    }
    case.refuses(
        &case.diskfacts(["device"]),
        &["did you mean the command `diskfacts devices`?"],
    );
    case.refuses(
        &case.diskfacts(["shwo", "last"]),
        &["did you mean the command `diskfacts show`?"],
    );
}

#[test]
fn a_mistyped_option_is_answered_with_the_option() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["measure", ".", "--tiem", "5s"]),
        &["--tiem", "--time"],
    );
}

#[test]
fn a_call_without_a_target_says_what_may_stand_there() {
    let case = Case::new();
    for words in [&["measure"][..], &["--json"], &["measure", "--time", "5s"]] {
        case.refuses(
            &case.diskfacts(words),
            &[
                "<TARGET>",
                "a folder, a file or a block device",
                "measure .",
            ],
        );
    }
    // Nothing at all is a request for help.
    diskfacts::<&str>([])
        .run()
        .expect_code(2)
        .expect_stderr("Usage: diskfacts")
        .expect_stderr("measure");
}

#[test]
fn options_that_stand_before_a_command_count_or_are_refused() {
    let case = Case::new();
    let store = case.store();
    // Those of every command count.
    diskfacts(["--store"])
        .arg(&store)
        .args(["--color", "never", "runs"])
        .run()
        .expect_code(1)
        .expect_stderr(&store.to_string_lossy());
    // Those of one command would be lost.
    case.refuses(
        &case.diskfacts(["--time", "1s", "measure", "."]),
        &[
            "--time stands before the command measure; put it after it",
            "diskfacts measure --help",
        ],
    );
    case.refuses(
        &case.diskfacts([".", "runs"]),
        &["the target stands before the command runs"],
    );
}

#[test]
fn a_folder_that_has_no_room_for_files_at_all_is_named() {
    let case = Case::new();
    case.run(["measure", "/proc"])
        .expect_code(2)
        .expect_stderr("states no room for files, as proc, sysfs and ramfs do")
        .expect_stderr("name a folder on a disk");
}

#[test]
fn no_time_is_refused() {
    let case = Case::new();
    for time in ["0", "0s", "0ms"] {
        case.refuses(
            &case.diskfacts(["measure", ".", "--time", time]),
            &["--time", "leaves no time to measure", "60s is usual"],
        );
    }
}

#[test]
fn nonsense_units_are_answered_with_those_that_there_are() {
    let case = Case::new();
    for time in ["5 parsecs", "fast", "-5s", "", "1e999s", "99999999999h"] {
        case.refuses(
            &case.diskfacts(["measure", ".", "--time", time]),
            &["--time", time],
        );
    }
    case.refuses(
        &case.diskfacts(["measure", ".", "--time", "5 parsecs"]),
        &["unknown unit 'parsecs'", "ns, us, ms, s, m, h"],
    );
    for size in ["4 apples", "many", "-1GiB", "99999999999999999GiB"] {
        case.refuses(
            &case.diskfacts(["measure", ".", "--size", size]),
            &["--size", size],
        );
    }
    case.refuses(
        &case.diskfacts(["measure", ".", "--size", "4 apples"]),
        &["unknown unit 'apples'", "KiB", "kB"],
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    let case = Case::new();
    for words in [
        &["measure", ".", "--trials", "0"][..],
        &["measure", ".", "--trials", "1001"],
        &["measure", ".", "--trials", "three"],
        &["measure", ".", "--seed", "abc"],
        &["runs", "--limit", "0"],
        &["runs", "--limit", "x"],
    ] {
        case.refuses(&case.diskfacts(words), &[words[words.len() - 2]]);
    }
}

#[test]
fn a_file_that_is_too_small_to_measure_anything_is_not_made() {
    let case = Case::new();
    let folder = case.folder("data");
    for size in ["0", "1", "4095k"] {
        case.refuses(
            &case.diskfacts(["measure", "--size", size]).arg(&folder),
            &["--size", "too small", "at least 4 MiB"],
        );
    }
}

#[test]
fn a_plan_that_is_not_built_in_is_answered_with_the_nearest() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["measure", ".", "--plan", "survy"]),
        &[
            "no plan is called 'survy'",
            "did you mean 'survey'?",
            "diskfacts plans",
        ],
    );
    case.refuses(
        &case.diskfacts(["measure", ".", "--plan", "qqq"]),
        &[
            "no plan is called 'qqq'",
            "survey, write-matrix, bonnie, stride, tune, zones, streams, readahead-matrix, dd, hdparm",
        ],
    );
}

#[test]
fn a_stage_that_the_plan_does_not_have_is_answered_with_the_nearest() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["measure", ".", "--stage", "log-writes"]),
        &["no stage 'log-writes'", "did you mean 'log-write'?"],
    );
}

#[test]
fn an_unknown_use_is_answered_with_those_that_are_known() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["measure", ".", "--for", "etc"]),
        &["no use is called 'etc'", "did you mean 'etcd'?", "kafka"],
    );
    case.refuses(
        &case.diskfacts(["measure", ".", "--for", "basket-weaving"]),
        &["basket-weaving", "Known are: etcd"],
    );
}

#[test]
fn a_folder_for_journals_that_is_no_absolute_path_is_refused() {
    let case = Case::new();
    let file = case.text_file("file", "some data");
    for program in [
        case.diskfacts(["restore"]),
        case.diskfacts(["restore", "--forget"]),
        case.diskfacts(["measure"]).arg(&file),
    ] {
        case.refuses(
            &program.env("DISKFACTS_STATE", "rel"),
            &["DISKFACTS_STATE must be an absolute path, and is rel"],
        );
    }
}

#[test]
fn what_is_out_of_range_stands_alone_or_is_no_file_is_told_as_that() {
    let case = Case::new();
    case.refuses(
        &case.diskfacts(["measure", "sim:ssd-sata", "--trials", "-1"]),
        &["-1 is not in 1..=1000"],
    );
    case.refuses(
        &case.diskfacts(["measure", "sim:ssd-sata", "--observe", "all,none"]),
        &["'all' stands alone; leave out the others"],
    );
    diskfacts(["--store", "/dev/null", "runs"])
        .run()
        .expect_code(1)
        .expect_stderr("Name a file: --store PATH\n");
    let folder = case.folder("folder");
    let inside = folder.join("runs.db");
    diskfacts(["--store"])
        .arg(&folder)
        .arg("runs")
        .run()
        .expect_code(1)
        .expect_stderr(&format!("Name a file: --store {}\n", inside.display()));
}
