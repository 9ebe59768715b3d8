//! What exists is only read.

use crate::support::{Case, MIB, hash, one_stage, trials, write_data};
use diskfacts_testkit::{LoopDevice, or_skip};

#[test]
fn an_existing_file_is_only_read_and_it_says_what_was_left_out() {
    let case = Case::new();
    let file = case.data_file("file", 16 * MIB);
    let before = hash(&file);
    case.diskfacts(["measure", "--explain", "--time", "2s"])
        .arg(&file)
        .run()
        .expect_code(0)
        .expect_stdout("Left out the stages that write")
        .expect_stdout("is an existing file")
        .expect_stdout("--destroy-data-on");
    assert_eq!(hash(&file), before);
    let document = case.last();
    assert_eq!(document["target"]["kind"], "file");
    assert_eq!(document["target"]["writable"], false);
    assert!(!trials(&document).is_empty());
    for trial in trials(&document) {
        assert_eq!(trial["evidence"]["issued"]["write_bytes"], 0, "{trial}");
        assert_eq!(trial["errors"], 0, "{trial}");
    }
}

#[test]
fn a_device_is_only_read_and_it_says_what_was_left_out() {
    let case = Case::new();
    let device = or_skip!(LoopDevice::new(32 * MIB));
    write_data(device.backing_file(), 32 * MIB);
    let before = hash(device.backing_file());
    case.diskfacts(["measure", "--explain", "--time", "2s"])
        .arg(device.path())
        .run()
        .expect_code(0)
        .expect_stdout("Left out the stages that write")
        .expect_stdout("is a device")
        .expect_stdout(&format!("--destroy-data-on {}", device.path().display()));
    assert_eq!(hash(device.backing_file()), before);
    let document = case.last();
    assert_eq!(document["target"]["kind"], "device");
    assert_eq!(document["target"]["writable"], false);
}

#[test]
fn a_plan_that_only_writes_cannot_be_done_on_what_is_only_read() {
    let case = Case::new();
    let file = case.data_file("file", MIB);
    let plan = case.text_file("plan.toml", &one_stage("operation = \"write\""));
    case.refuses(
        &case.diskfacts(["measure", "--plan"]).args([&plan, &file]),
        &[
            "every stage of the plan test writes",
            "name a folder",
            "--destroy-data-on",
        ],
    );
    case.refuses(
        &case
            .diskfacts(["measure", "--stage", "log-write"])
            .arg(&file),
        &["every stage", "--destroy-data-on"],
    );
}

#[test]
fn the_size_of_what_exists_cannot_be_chosen() {
    let case = Case::new();
    let file = case.data_file("file", 8 * MIB);
    case.refuses(
        &case.diskfacts(["measure", "--size", "4MiB"]).arg(&file),
        &["--size is for the file that is made in a folder", "span"],
    );
}

#[test]
fn holes_in_an_existing_file_are_named() {
    let case = Case::new();
    let file = case.path("sparse");
    let made = std::fs::File::create(&file).expect("a file");
    made.set_len(16 * MIB).expect("a length");
    case.diskfacts(["measure", "--time", "1s", "--stage", "random-read-qd1"])
        .arg(&file)
        .run()
        .expect_code(0)
        .expect_stdout("holes");
    assert_eq!(case.last()["target"]["extents"]["hole_bytes"], 16 * MIB);
}
