//! `--for USE`: a verdict that a script can ask for.

use crate::support::{Case, MIB};
use diskfacts_testkit::{LoopDevice, Throttle, ThrottleGroup, or_skip};

#[test]
fn a_volume_that_is_too_slow_for_the_use_fails_with_exit_code_3() {
    let device = or_skip!(LoopDevice::new(16 * MIB));
    // etcd wants 50 write + fdatasync per second.
    let throttle = Throttle {
        writes_per_s: Some(20),
        ..Throttle::default()
    };
    let group = or_skip!(ThrottleGroup::new(&device, throttle));
    let case = Case::new();
    let measure = |uses: &[&str]| {
        case.diskfacts([
            "measure",
            "--explain",
            "--time",
            "3s",
            "--stage",
            "log-write",
        ])
        .args(uses)
        .arg("--destroy-data-on")
        .args([device.path(), device.path()])
        .inside(&group)
        .run()
    };
    let finished = measure(&["--for", "etcd"]);
    finished
        .expect_code(3)
        .expect_stdout("FAIL")
        .expect_stdout("etcd: needs write + fdatasync per second at least 50")
        .expect_stderr("is not good enough for etcd, as --for asked");
    assert!(!finished.stdout.contains("kafka"));
    // Shown again with all verdicts, and the failing one among them.
    case.run(["show"])
        .expect_code(0)
        .expect_stdout("Not for   etcd");
    // Nobody asked: a slow disk is no error.
    measure(&[]).expect_code(0).expect_stdout("FAIL");
}

#[test]
fn a_use_that_was_not_measured_neither_passes_nor_fails() {
    let case = Case::new();
    let file = case.data_file("file", 8 * MIB);
    let measure = |options: &[&str]| {
        case.diskfacts([
            "measure",
            "--explain",
            "--time",
            "1s",
            "--stage",
            "random-read-qd1",
        ])
        .args(options)
        .arg(&file)
        .run()
    };
    for (options, code) in [
        (&["--for", "etcd"][..], 4),
        (&["--for", "etcd", "--allow-unjudged"], 0),
    ] {
        measure(options)
            .expect_code(code)
            .expect_stdout("not measured: etcd")
            .expect_stderr("no verdict on etcd")
            .expect_stderr("add --allow-unjudged");
    }
    // It says something of --for only.
    measure(&["--allow-unjudged"])
        .expect_code(2)
        .expect_stderr("--for");
}
