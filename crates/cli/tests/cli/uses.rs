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
        case.diskfacts(["measure", "--time", "3s", "--stage", "log-write"])
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
    case.run(["show"]).expect_code(0).expect_stdout("FAIL");
    // Nobody asked: a slow disk is no error.
    measure(&[]).expect_code(0).expect_stdout("FAIL");
}

#[test]
fn a_use_that_was_not_measured_is_no_failure_and_said() {
    let case = Case::new();
    let file = case.data_file("file", 8 * MIB);
    case.diskfacts(["measure", "--time", "1s", "--for", "etcd"])
        .args(["--stage", "random-read-qd1"])
        .arg(file)
        .run()
        .expect_code(0)
        .expect_stdout("not measured: etcd")
        .expect_stderr("no verdict on etcd");
}
